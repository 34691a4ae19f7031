"""Points at which two sides differ, and messages that show them.

Samples prove nothing here: they refute a step, or tell why it was refused.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import islice
from typing import Any

import sympy
from sympy import Expr, I, ImmutableMatrix, Rational, Symbol
from sympy.core.evalf import PrecisionExhausted
from sympy.matrices.expressions.matexpr import MatrixElement

from posenc.proof.enclosures import contains_zero
from posenc.proof.matrices import explicit
from posenc.proof.rewriting import Algebra
from posenc.proof.typeset import text
from posenc.proof.undecided import Rescale, Undecided, Undefined

_TRIALS = 24
_NUMBERS = [Rational(n, d) for n, d in ((1, 1), (1, 2), (2, 1), (-1, 1), (1, 3), (3, 1), (-2, 1))]
_NUMBERS += [Rational(n, d) for n, d in ((-1, 2), (3, 2), (0, 1), (5, 1), (4, 1), (-3, 1), (7, 1))]
_COMPLEX = [1 + I, -1 + I / 2, 2 - I, -I, -3 - I / 3, 2 + 4 * I, I / 4 - 2, *_NUMBERS]


@cache
def _choices(symbol: Symbol) -> tuple[Expr, ...]:
    """Return exact numbers that respect the assumptions on a symbol."""
    facts = symbol.assumptions0.items()
    pool = _NUMBERS if symbol.is_real else _COMPLEX
    return tuple(x for x in pool if all(getattr(x, f"is_{f}", None) == truth for f, truth in facts))


def _points(symbols: set[Symbol], conditions: tuple[Any, ...]) -> Iterator[dict[Symbol, Expr]]:
    """Yield values for the symbols that respect all assumptions, always the same ones."""
    symbols = symbols.union(*(c.free_symbols for c in conditions))
    ordered = sorted(symbols, key=str)
    choices = [_choices(symbol) for symbol in ordered]
    if not all(choices):
        return
    for trial in range(_TRIALS):
        point = {
            symbol: choice[(trial * (j + 1) + j) % len(choice)]
            for j, (symbol, choice) in enumerate(zip(ordered, choices, strict=True))
        }
        if all(_box_at(point, c.lhs, c.rhs) is not None for c in conditions):
            yield point


def _box_at(point: Mapping[Symbol, Expr], left: Expr, right: Expr | None = None) -> Any:
    """Return a box of the complex plane that holds `left` at `point`.

    With `right`, the box holds the difference and not zero. None if there is none.
    """
    scales: dict[Expr, int] = {}
    while True:
        algebra = Algebra(scales)
        try:
            number = algebra.rational(substitute(left, point))
            if right is not None:
                number -= algebra.rational(substitute(right, point))
            for box in algebra.boxes(number, 1024 if right is not None else 128):
                if right is None or not contains_zero(box):
                    return box
        except Rescale as finer:
            scales[finer.key] = finer.scale
        except (Undecided, Undefined, ZeroDivisionError):
            return None
        else:
            return None


def _witness(
    left: Expr, right: Expr, conditions: tuple[Any, ...]
) -> tuple[dict[Symbol, Any], Any, Any] | None:
    """Return a point where two scalars differ beyond doubt, with boxes for their values."""
    # An entry of a named matrix takes any value, as a symbol of its own does.
    entries = {e: Symbol(str(e)) for e in left.atoms(MatrixElement) | right.atoms(MatrixElement)}
    left, right = left.xreplace(entries), right.xreplace(entries)
    symbols = left.free_symbols | right.free_symbols
    for point in _points(symbols, conditions):
        if _box_at(point, left, right) is not None:
            boxes = (_box_at(point, left), _box_at(point, right))
            if None not in boxes:
                return {s: v for s, v in point.items() if s in symbols}, *boxes
    return None


def _residual(left: Expr, right: Expr) -> Expr:
    """Return left - right in the shortest of a few forms."""
    difference = left - right
    expanded = sympy.expand(difference)
    forms = [difference, expanded, sympy.expand(sympy.expand_trig(expanded))]
    return min(forms, key=lambda form: (sympy.count_ops(form), len(text(form))))


def explain(left: Any, right: Any, trouble: str, conditions: tuple[Any, ...]) -> tuple[str, Any]:
    """Return a message and left minus right."""
    try:
        a, b = explicit(left)[0], explicit(right)[0]
    except (Undecided, Undefined):
        return trouble, None
    entries = [_residual(*pair) for pair in zip(a.flat(), b.flat(), strict=True)]
    scalar = a.shape == (1, 1)
    residual = entries[0] if scalar else ImmutableMatrix(*a.shape, entries)
    if trouble != "does not follow":
        return trouble, residual
    undecided = None
    for position, entry in enumerate(entries):
        if entry == 0:
            continue
        i, j = divmod(position, a.cols)
        where = "" if scalar else f" in row {i}, column {j}"
        difference = f"the sides differ{where} by\n  {text(entry)}"
        found = _witness(a[i, j], b[i, j], conditions)
        if found is not None:
            return f"does not follow: {difference}\n{_at(*found)}", residual
        undecided = undecided or (
            f"could not be decided: no proof and no counterexample was found{where} for\n"
            f"  {text(entry)} = 0"
        )
    return undecided or "could not be decided", residual


def _at(point: Mapping[Symbol, Any], left: Any, right: Any) -> str:
    values = [_rounded(box) for box in (left, right)]
    shown = f"{values[0]} against {values[1]}"
    if values[0] == values[1]:
        shown += ", not equal in further digits"
    if not point:
        return f"in numbers: {shown}"
    return f"for example at {values_of(point)}: {shown}"


def values_of(point: Mapping[Symbol, Any]) -> str:
    """Return the values of a point as text."""
    return ", ".join(f"{s} = {text(v)}" for s, v in point.items())


def _rounded(box: Any) -> str:
    real, imag = (0.0 if 0 in part else float(part.mid) for part in (box.real, box.imag))
    if imag == 0:
        return f"{real:.6g}"
    return f"{real:.6g} {'-' if imag < 0 else '+'} {abs(imag):.6g}i"


def substitute(value: Any, case: Mapping[Symbol, Any]) -> Any:
    """Return `value` with all symbols of `case` replaced at once."""
    if value.has(sympy.Derivative):
        value = value.replace(sympy.Derivative, lambda *args: sympy.diff(*args))
    return value.subs(list(case.items()), simultaneous=True)


def _differ_at(point: Mapping[Symbol, Any], left: Expr, right: Expr, digits: int) -> bool:
    """Compare by SymPy's own evaluation, which shares nothing with the proof."""
    try:
        a, b = (complex(e.evalf(digits, subs=point, strict=True)) for e in (left, right))
    except (PrecisionExhausted, ValueError, TypeError, NotImplementedError, ZeroDivisionError):
        return False
    return abs(a - b) > 1e-9 * (1 + abs(a) + abs(b))


def refuted(left: Any, right: Any, conditions: tuple[Any, ...]) -> bool:
    """Evaluate a proved step at two points; a difference would be a fault of the proof."""
    sides = [explicit(side)[0].flat() for side in (left, right)]
    for before, after in zip(*sides, strict=True):
        if before == after:
            continue
        symbols = before.free_symbols | after.free_symbols
        for point in islice(_points(symbols, conditions), 1, 3):
            # Twice, since the evaluation of a point on a branch cut is a matter of luck.
            if all(_differ_at(point, before, after, digits) for digits in (15, 40)):
                return True
    return False
