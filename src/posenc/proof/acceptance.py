"""What a derivation takes as input.

Floats, infinities and symbols that only look alike are refused, since no proof covers them.
"""

from collections.abc import Iterable
from numbers import Rational as PythonRational
from typing import Any

import numpy as np
import sympy
from sympy import Basic, Expr, MatrixBase, MatrixExpr, Ne, Symbol, sympify

from posenc.proof.typeset import text


def accept(name: str, value: Any) -> Any:
    """Return `value` as an immutable SymPy scalar or matrix, or say why it cannot be one."""
    if isinstance(value, MatrixBase):
        result = value.as_immutable()
    elif isinstance(value, MatrixExpr):
        result = value
    elif isinstance(value, bool | str | float | complex | np.floating) or (
        not isinstance(value, Expr | PythonRational | np.integer)
    ):
        hint = "; write a sympy.Rational" if isinstance(value, float | np.floating) else ""
        raise TypeError(
            f"{name} must be a SymPy scalar or matrix, got {type(value).__name__}{hint}"
        )
    else:
        result = sympify(value)
    floats = sorted(result.atoms(sympy.Float), key=str)
    if floats:
        raise TypeError(
            f"{name} must be exact, got the float {text(floats[0])}; write a sympy.Rational"
        )
    if result.has(sympy.nan, sympy.zoo, sympy.oo, -sympy.oo, sympy.AccumBounds):
        raise ValueError(f"{name} must be finite, got {text(result)}")
    entries = result.flat() if isinstance(result, MatrixBase) else [result]
    scalars = [*result.atoms(Symbol), *(e for e in entries if not isinstance(e, MatrixExpr))]
    if any(e.is_commutative is False for e in scalars):
        raise TypeError(f"{name} must commute under multiplication, got {text(result)}")
    if any(s.is_infinite for s in result.atoms(Symbol)):
        raise ValueError(f"{name} must have finite symbols, got {text(result)}")
    if isinstance(result, MatrixBase) and 0 in result.shape:
        raise ValueError(f"{name} must not be empty, got shape {result.shape}")
    if isinstance(result, MatrixExpr) and not all(
        sympify(n).is_Integer and n > 0 for n in result.shape
    ):
        raise TypeError(f"{name} must have a shape of numbers, got {result.shape}")
    return result


def accept_conditions(value: Any) -> tuple[Any, ...]:
    """Return the inequations in `value` that SymPy does not know already."""
    if isinstance(value, Basic | str) or not isinstance(value, Iterable):
        raise TypeError(f"assuming must be a tuple of sympy.Ne(...), got {value!r}")
    conditions = []
    for condition in value:
        if condition in (True, sympy.true):  # SymPy knew it from the symbols
            continue
        if condition in (False, sympy.false):
            raise ValueError("assuming must not hold a condition that is false")
        if not isinstance(condition, Ne):
            raise TypeError(f"assuming must be a tuple of sympy.Ne(...), got {condition!r}")
        accept("assuming", condition.lhs - condition.rhs)
        conditions.append(condition)
    return tuple(conditions)


def refuse_namesakes(values: Iterable[Any]) -> None:
    """Refuse different symbols that print alike: they would make any message a riddle."""
    seen: dict[str, Symbol] = {}
    for value in values:
        for symbol in value.free_symbols:
            if seen.setdefault(str(symbol), symbol) != symbol:
                raise ValueError(
                    f"two different symbols are called {symbol}; "
                    "give them the same assumptions, or different names"
                )
