"""posenc.exercises: right is right, wrong is wrong, and nothing is given away."""

import numpy as np
import pytest
import sympy

from posenc.exercises import check, digest


def said(capsys):
    return capsys.readouterr().out.strip()


def test_value(capsys):
    stored = digest(sympy.cos(2))
    for answer, verdict in [
        (np.cos(2), "Right."),
        (sympy.cos(2), "Right."),
        (-0.416147, "Right."),
        (-0.41615, "Not right yet."),
        (0.416147, "Not right yet."),
        (..., "Not answered yet."),
        ([1, 2], "Not right: 1 number(s) expected, got 2."),
    ]:
        check.value(answer, stored)
        assert said(capsys) == verdict
    assert "416" not in stored


@pytest.mark.parametrize("answer", ["cos 2", None, np.nan, [], sympy.Symbol("x")])
def test_value_that_is_no_number(capsys, answer):
    check.value(answer, digest(1))
    assert said(capsys).startswith("That is no number or list of numbers")


def test_order_of_several_values_matters(capsys):
    stored = digest([1, 2.5])
    check.value((1, sympy.Rational(5, 2)), stored)
    assert said(capsys) == "Right."
    check.value([2.5, 1], stored)
    assert said(capsys) == "Not right yet."


def test_known_slip_is_named(capsys):
    check.value(3, digest(-3), slips={digest(3): "the sign is turned round."})
    assert said(capsys) == "Not right: the sign is turned round."


def test_places(capsys):
    check.value(0.12, digest(0.1234, places=2), places=2)
    assert said(capsys) == "Right."
    check.value(0.15, digest(0.1234, places=2), places=2)
    assert said(capsys) == "Not right yet."


INPUTS = [(np.array([1.0, 2.0]),), (np.array([-3.0, 0.5]),)]


@pytest.mark.parametrize(
    ("candidate", "verdict"),
    [
        (lambda x: 2 * x, "Right, on all 2 inputs."),
        (
            lambda x: x * [2, 3],
            "Not right yet: input 1, (array([1., 2.]),), must not give [2. 6.].",
        ),
        (
            lambda x: x * [2, 2.0000001],
            "Not right yet: input 1, (array([1., 2.]),), must not give [2.        4.0000002].",
        ),
        (np.abs, "Not right yet: input 1, (array([1., 2.]),), must not give [1. 2.]."),
        (
            lambda x: 2 * np.abs(x),
            "Not right yet: input 2, (array([-3. ,  0.5]),), must not give [6. 1.].",
        ),
        (
            lambda x: x * np.nan,
            "Not right yet: input 1, (array([1., 2.]),), must not give [nan nan].",
        ),
        (lambda x: x[:1], "Not right: for input 1 the shape must be (2,), got (1,)."),
        (lambda x: 1 / 0, "Not right: input 1 raises ZeroDivisionError: division by zero"),
        (..., "Not answered yet."),
        (3, "That is no function but int."),
    ],
)
def test_function(capsys, candidate, verdict):
    check.function(candidate, lambda x: 2 * x, INPUTS)
    assert said(capsys) == verdict


def test_function_wrapped(capsys):
    def doubled(function):
        return lambda x: 2 * function(x)

    check.function(lambda x: x, lambda x: 2 * x, INPUTS, wrap=doubled)
    assert said(capsys) == "Right, on all 2 inputs."
    check.function(..., lambda x: 2 * x, INPUTS, wrap=doubled)
    assert said(capsys) == "Not answered yet."


def test_function_cannot_spoil_the_inputs(capsys):
    def spoil(x):
        x *= 2
        return x

    check.function(spoil, lambda x: 2 * x, INPUTS)
    assert said(capsys) == "Right, on all 2 inputs."
    assert INPUTS[0][0].tolist() == [1, 2]


def test_function_without_inputs_is_an_error():
    with pytest.raises(ValueError, match="inputs must hold at least one tuple"):
        check.function(abs, abs, [])


@pytest.mark.parametrize(("answer", "said"), [(1.000001, "Right."), (1.000002, "Not right yet.")])
def test_the_last_place_may_be_off_by_one(answer, said, capsys):
    check.value(answer, digest(1.0))
    assert capsys.readouterr().out == said + "\n"


def test_infinity_is_not_near_anything(capsys):
    check.function(lambda x: np.inf, lambda x: x, [(1.0,)])
    assert capsys.readouterr().out.startswith("Not right yet")
