"""Whether two expressions are equal, and undefined at the same points.

A step needs both: cancelling a factor that may be zero keeps the value but not the domain.
"""

from typing import Any

import sympy
from sympy import Add, Expr, Mul, Pow
from sympy.core.function import AppliedUndef

from posenc.proof.matrices import explicit
from posenc.proof.rewriting import Algebra
from posenc.proof.typeset import text
from posenc.proof.undecided import Rescale, Undecided, Undefined

# Functions defined everywhere, of which a side may gain or lose any number.
_ENTIRE = (sympy.sin, sympy.cos, sympy.exp, sympy.sinh, sympy.cosh)
_PARTS = (sympy.re, sympy.im, sympy.conjugate, sympy.Abs)


def disagreement(left: Any, right: Any, conditions: tuple[Any, ...]) -> str | None:
    """Return None if `left` is proved to equal `right`, else what is wrong."""
    scales: dict[Expr, int] = {}
    while True:
        try:
            return _compare(left, right, Algebra(scales, conditions))
        except Rescale as finer:
            scales[finer.key] = finer.scale
        except Undecided as why:
            return f"could not be decided: {why}"
        except (Undefined, ZeroDivisionError):
            return "could not be decided: a side is undefined everywhere, it divides by zero"


def _compare(left: Any, right: Any, algebra: Algebra) -> str | None:
    sides = []
    for value in (left, right):
        matrix, leaves = explicit(value)
        if matrix.has(sympy.nan, sympy.zoo, sympy.oo):
            raise Undefined
        if matrix.has(sympy.Float):
            raise TypeError(f"an expression must be exact, got floats in {text(matrix)}")
        sides.append((matrix, _poles(leaves, algebra)))
    (left_, left_poles), (right_, right_poles) = sides
    for one, other in zip(left_.flat(), right_.flat(), strict=True):
        if one != other and not algebra.is_zero(algebra.rational(one) - algebra.rational(other)):
            return "does not follow"
    for name, here, there in (
        ("left", left_poles, right_poles),
        ("right", right_poles, left_poles),
    ):
        # Where the other side is defined, no pole of it vanishes.
        with algebra.assuming(algebra.factors_of_product(there)):
            for factor, origin in here.items():
                if factor not in there and not algebra.nonzero(factor):
                    return _domain_message(name, factor, origin)
    return None


def _poles(leaves: list[Expr], algebra: Algebra) -> dict[Expr, Expr]:
    algebra.poles = {}
    for leaf in leaves:
        if not _defined_everywhere(leaf):
            algebra.rational(leaf)
    poles, algebra.poles = algebra.poles, {}
    for factor, origin in poles.items():
        if not isinstance(factor, AppliedUndef) and algebra.is_zero(factor):
            raise Undecided(f"{text(origin)} is zero, and it is divided by")
    return poles


def _defined_everywhere(e: Expr) -> bool:
    if not e.args:
        return True
    if isinstance(e, Pow):
        whole = e.exp.is_Integer and e.exp.is_positive
        return bool(whole and _defined_everywhere(e.base))
    return isinstance(e, (Add, Mul, *_ENTIRE, *_PARTS)) and all(map(_defined_everywhere, e.args))


def _domain_message(name: str, factor: Expr, origin: Expr) -> str:
    other = "right" if name == "left" else "left"
    if isinstance(factor, AppliedUndef):
        return (
            f"could not be decided: {text(origin)} stands on the {name} side only, "
            "and it may be undefined somewhere"
        )
    return (
        f"does not follow everywhere: the {name} side is undefined where {text(origin)} = 0, "
        f"and the {other} side need not be; assume Ne({text(origin)}, 0) if that is meant"
    )
