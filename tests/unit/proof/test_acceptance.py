"""What is not exact, finite and readable is refused before it is compared."""

import numpy as np
import pytest
import sympy
from sympy import (
    Function,
    ImmutableMatrix,
    Matrix,
    Ne,
    Rational,
    Sum,
    oo,
    symbols,
    zoo,
)

from posenc.proof import Derivation
from posenc.symbolic import R

x, y = symbols("x y")
a = symbols("a", real=True)
p = symbols("p", positive=True)
n, k = symbols("n k", integer=True)
f = Function("f")


WRONG_TYPE = [0.5, 1.0, 1j, "x", True, None, [x], (x, y), np.array([1]), np.float64(1), x > 1]
WRONG_TYPE += [0.5 * x, sympy.Float(1) + x, Matrix([[0.5]]), symbols("C", commutative=False)]


@pytest.mark.parametrize("value", WRONG_TYPE, ids=repr)
def test_inexact_and_foreign_objects_are_refused(value):
    with pytest.raises(TypeError, match="expr must"):
        Derivation(value)
    with pytest.raises(TypeError, match="expr must"):
        Derivation(x).step(value, "why")


def test_floats_are_told_apart_by_name():
    with pytest.raises(TypeError, match=r"got the float 0\.5.*write a sympy\.Rational"):
        Derivation(x / 2).step(0.5 * x, "why")


def test_floats_made_by_an_object_are_refused():
    class Inexact(R):
        def doit(self, **hints):
            return ImmutableMatrix([[0.5, 0], [0, 1]])

    with pytest.raises(TypeError, match="exact"):
        Derivation(Inexact(a)).step(Matrix([[Rational(1, 2), 0], [0, 1]]), "why")
    with pytest.raises(TypeError, match="exact"):
        Derivation(Inexact(a)).step(Inexact(a), "why")


@pytest.mark.parametrize(
    "value", [sympy.nan, zoo, oo, -oo, Matrix([[x, oo]]), Sum(f(k), (k, 0, oo))]
)
def test_what_is_not_finite_is_refused(value):
    with pytest.raises(ValueError, match="expr must be finite"):
        Derivation(value)


@pytest.mark.parametrize(
    ("assuming", "error"),
    [
        (Ne(x, 1), TypeError),
        ((x,), TypeError),
        ((x > 0,), TypeError),
        ((sympy.Eq(x, 1),), TypeError),
        ("x", TypeError),
        ((Ne(x, x, evaluate=True),), ValueError),
        ((Ne(x, 0.5),), TypeError),
    ],
)
def test_assuming_holds_inequations_only(assuming, error):
    with pytest.raises(error, match="assuming"):
        Derivation(x, assuming=assuming)


def test_what_the_symbols_tell_need_not_be_assumed():
    assert Derivation(p, assuming=(Ne(p, 0),)).assuming == ()


def test_symbols_that_only_look_alike_are_refused():
    with pytest.raises(ValueError, match="two different symbols are called a"):
        Derivation(a).step(symbols("a"), "why")
