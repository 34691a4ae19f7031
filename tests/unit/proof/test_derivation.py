"""Chains of equal expressions: reasons, argued steps, the end."""

import doctest

import pytest
from sympy import (
    Function,
    Identity,
    ImmutableMatrix,
    Matrix,
    Ne,
    Rational,
    Sum,
    cos,
    sin,
    symbols,
)

from posenc.proof import Derivation, DerivationError, derivation
from posenc.symbolic import R

x, y, z, c = symbols("x y z c")
a = symbols("a", real=True)
n, m, k = symbols("n m k", integer=True)
f, g = Function("f"), Function("g")
A = Matrix([[x, y], [z, c]])


@pytest.mark.parametrize(
    ("left", "right"),
    [(A, Matrix([x, y])), (A, x), (Matrix([x, y]), Matrix([[x, y]])), (R(a), Identity(3))],
)
def test_shapes_must_agree(refuses, left, right):
    assert "the sides are" in str(refuses(left, right))


@pytest.mark.parametrize("reason", ["", "  "])
def test_a_reason_is_needed(reason):
    with pytest.raises(ValueError, match="reason must not be empty"):
        Derivation(x).step(x, reason)
    with pytest.raises(ValueError, match="reason must not be empty"):
        Derivation(x).argue(x, reason, cases=[{x: 1}])


def test_a_reason_must_be_readable_text():
    with pytest.raises(TypeError, match="reason must be text"):
        Derivation(x).step(x, None)
    with pytest.raises(ValueError, match=r"\$ signs in pairs"):
        Derivation(x).step(x, "costs 5$")


REVERSED = (Sum(f(n - k), (k, 0, n)), Sum(f(k), (k, 0, n)))


def test_an_argued_step_is_checked_in_every_case(refuses):
    done = Derivation(REVERSED[0]).argue(
        REVERSED[1], "count backwards", cases=({n: i} for i in range(4))
    )
    assert done.kind == "argued"
    assert done.qed("sum-reversed").kind == "argued"
    refuses(*REVERSED)


def test_the_case_that_fails_is_named():
    # True for n = 0, 1, 2 only.
    left, right = n**3 + 2 * n, 3 * n**2
    assert Derivation(left).argue(right, "by luck", cases=[{n: i} for i in range(3)])
    with pytest.raises(
        DerivationError, match=r"fails in the case n = 3: it does not follow"
    ) as caught:
        Derivation(left).argue(right, "by luck", cases=[{n: i} for i in range(5)])
    assert caught.value.residual == 6


def test_a_case_that_cannot_be_decided_is_refused():
    with pytest.raises(DerivationError, match=r"case n = 1: it could not be decided"):
        Derivation(f(n)).argue(g(n), "by hope", cases=[{n: 1}])


@pytest.mark.parametrize(
    ("cases", "error", "message"),
    [
        ([], ValueError, "at least one"),
        ([{}], TypeError, "non-empty"),
        ({n: 1}, TypeError, "iterable of dicts"),
        ([{m: 1}], ValueError, "symbols of the step"),
        ([{n: Rational(1, 2)}], ValueError, "assumptions on n"),
        ([{n: 0.5}], TypeError, "must"),
        ([{"n": 1}], ValueError, "symbols of the step"),
    ],
)
def test_cases_must_be_cases(cases, error, message):
    with pytest.raises(error, match=message):
        Derivation(n).argue(n, "why", cases=cases)


def test_cases_must_respect_what_is_assumed():
    with pytest.raises(ValueError, match="respect assuming"):
        Derivation(x, assuming=(Ne(x, 1),)).argue(x, "why", cases=[{x: 1}])


def test_a_failed_step_leaves_the_derivation_as_it_was():
    start = Derivation((x + 1) ** 2, "s").step(x**2 + 2 * x + 1, "expand")
    before = repr(start)
    with pytest.raises(DerivationError) as caught:
        start.step(x**2 + 1, "forget")
    assert repr(start) == before
    error = caught.value
    assert error.index == 2
    assert error.reason == "forget"
    assert error.residual == 2 * x
    assert (error.left, error.right) == (x**2 + 2 * x + 1, x**2 + 1)
    assert start.step(x * (x + 2) + 1, "factor").qed("square-of-a-sum").kind == "symbolic"


def test_steps_compare_with_the_step_before_and_not_with_the_start():
    chain = Derivation(cos(x) ** 2).step(1 - sin(x) ** 2, "Pythagoras")
    assert chain.step(1 - (1 - cos(2 * x)) / 2, "double angle").result == (1 - (1 - cos(2 * x)) / 2)


def test_a_step_after_an_argued_one_compares_with_the_argued_one():
    chain = Derivation(REVERSED[0]).argue(REVERSED[1], "backwards", cases=[{n: 2}])
    assert chain.step(Sum(f(k + 1), (k, -1, n - 1)), "shift").kind == "argued"
    with pytest.raises(DerivationError, match="could not be decided"):
        chain.step(REVERSED[0], "and back")


def test_two_ways_on_from_one_step():
    start = Derivation(x * (x + 1))
    one, other = start.step(x**2 + x, "expand"), start.step(x + x**2, "expand, too")
    assert [len(chain._steps) for chain in (start, one, other)] == [0, 1, 1]


def test_qed_closes_once_and_needs_a_step():
    closed = Derivation(x).step(x, "same").qed("x-is-x")
    with pytest.raises(ValueError, match="closed already"):
        closed.qed("x-is-x")
    with pytest.raises(ValueError, match="no step can follow"):
        closed.step(x, "again")
    with pytest.raises(ValueError, match="no step can follow"):
        closed.argue(x, "again", cases=[{x: 1}])
    with pytest.raises(ValueError, match="at least one step"):
        Derivation(x).qed("x-is-x")


def test_mutable_matrices_are_copied():
    matrix = Matrix([[x, 1]])
    start = Derivation(matrix)
    matrix[0, 0] = y
    assert start.result == ImmutableMatrix([[x, 1]])


def test_the_examples_in_the_documentation():
    results = doctest.testmod(derivation)
    assert (results.failed, results.attempted > 2) == (0, True)
