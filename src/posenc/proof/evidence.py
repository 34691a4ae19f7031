"""Evidence that is not a derivation: numbers, counterexamples, experiments and sources.

It is checked when it is made, and shows only what is the same on every machine.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy
from sympy import Basic, Expr, MatrixBase

from posenc.proof.claims import MARKS, Kind, accept_claim, settled
from posenc.proof.typeset import text

_MOST_SHOWN = 16
# Next to the largest number, anything smaller is rounding, and differs between machines.
_NOISE = 1e-12


class EvidenceError(AssertionError):
    """Evidence that does not hold."""


@dataclass(frozen=True, repr=False)
class Evidence:
    """What settles a claim other than a derivation; made by `evidence`.

    Attributes
    ----------
    claim : str
        The id of the claim.
    kind : str
        ``"numeric"``, ``"counterexample"``, ``"experiment"`` or ``"source"``.
    summary : str
        What was found, in one line that is the same on every machine.
    """

    claim: str
    kind: Kind
    summary: str

    def __repr__(self) -> str:
        return f"{settled(self.claim, self.kind)}: {self.summary}"

    def _repr_markdown_(self) -> str:
        # What stands between backticks is code, and shown as it is.
        parts = self.summary.split("`")
        summary = "`".join(
            part if k % 2 else re.sub(r"([\\*_<\[\]])", r"\\\1", part)
            for k, part in enumerate(parts)
        )
        return f"{MARKS[self.kind]} `{self.claim}` (*{self.kind}*): {summary}"


def evidence(
    claim: str,
    *,
    error: Any = None,
    tolerance: float | None = None,
    claimed: Any = None,
    actual: Any = None,
    digits: int | None = None,
    holds: Any = None,
    observed: Any = None,
    source: str | None = None,
    detail: str | None = None,
) -> Evidence:
    """Return evidence for a claim, or raise if it does not hold.

    Exactly one group of arguments is given, and it decides the kind.

    Parameters
    ----------
    claim : str
        The id of the claim.
    error, tolerance : number, array or dict of these; float
        Numeric: no error may exceed the tolerance in size. The tolerance is shown, not the
        errors, which differ between machines.
    claimed, actual, digits : number, array or SymPy constant; int, optional
        Counterexample: what a false claim gives and what is the case. Somewhere they must
        differ by more than ``1e-6 * max(1, |claimed|, |actual|)``, and visibly so when
        rounded to `digits` significant digits (6 if not given). What is below 1e-12 times the
        largest of all these numbers is shown as 0.
    holds : bool or array of bool
        Numeric: every one must be true.
    observed : bool or array of bool
        Experiment: every one must be true.
    source : str
        Source: where it is stated.
    detail : str, optional
        What was compared with what, in a few words; for every kind.

    Returns
    -------
    Evidence
        Shows the claim, the kind and what was found.

    Raises
    ------
    EvidenceError
        If the evidence does not hold.
    TypeError
        If the arguments are not exactly one of the groups, or of the wrong type.
    ValueError
        If an argument is empty, not finite or out of range.

    Examples
    --------
    >>> evidence("length-kept", error=[0.0, -3e-17], tolerance=1e-15, detail="1000 vectors")
    ✓ length-kept (numeric): every error is at most 1e-15; 1000 vectors
    """
    accept_claim(claim)
    given = {
        "error": error,
        "tolerance": tolerance,
        "claimed": claimed,
        "actual": actual,
        "digits": digits,
        "holds": holds,
        "observed": observed,
        "source": source,
    }
    names = {name for name, value in given.items() if value is not None}
    if detail is not None and (not isinstance(detail, str) or not detail.strip()):
        raise TypeError(f"detail must be text or None, got {detail!r}")
    kind: Kind
    if names == {"error", "tolerance"}:
        kind, summary = "numeric", _within(claim, error, tolerance)
    elif names in ({"claimed", "actual"}, {"claimed", "actual", "digits"}):
        kind, summary = "counterexample", _differ(claim, claimed, actual, digits)
    elif names == {"holds"}:
        kind, summary = "numeric", _all_true(claim, "holds", holds)
    elif names == {"observed"}:
        kind, summary = "experiment", _all_true(claim, "observed", observed)
    elif names == {"source"}:
        if not isinstance(source, str) or not source.strip():
            raise TypeError(f"source must be text, got {source!r}")
        kind, summary = "source", source.strip()
    else:
        raise TypeError(
            "evidence needs exactly one of: error and tolerance; claimed and actual; holds; "
            f"observed; source. Got {', '.join(sorted(names)) or 'none'}"
        )
    if detail is not None:
        summary += f"; {detail.strip()}"
    return Evidence(claim, kind, summary)


def _within(claim: str, error: Any, tolerance: Any) -> str:
    if isinstance(tolerance, bool) or not isinstance(tolerance, float | int | np.floating):
        raise TypeError(f"tolerance must be a number, got {tolerance!r}")
    if not 0 < tolerance < float("inf"):
        raise ValueError(f"tolerance must be positive and finite, got {tolerance}")
    parts = dict(error) if isinstance(error, Mapping) else {None: error}
    if not parts:
        raise ValueError("error must not be empty, got {}")
    for label, part in parts.items():
        name = "error" if label is None else f"error[{label!r}]"
        array = _numbers(name, part)
        if not np.isfinite(array).all():
            raise EvidenceError(f"{claim}: {name} is not finite everywhere")
        worst = float(np.abs(array).max())
        if worst > tolerance:
            raise EvidenceError(
                f"{claim}: {name} is up to {worst:.3g}, more than {float(tolerance)!r}"
            )
    return f"every error is at most {float(tolerance)!r}"


def _numbers(name: str, value: Any) -> np.ndarray[Any, Any]:
    array = np.asarray(value)
    if array.dtype.name == "bfloat16":
        array = array.astype(np.float32)
    if array.dtype.kind not in "iufc":
        raise TypeError(f"{name} must hold numbers, got dtype {array.dtype}")
    if array.size == 0:
        raise ValueError(f"{name} must not be empty")
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def _differ(claim: str, claimed: Any, actual: Any, digits: int | None) -> str:
    digits = 6 if digits is None else digits
    if isinstance(digits, bool) or not isinstance(digits, int):
        raise TypeError(f"digits must be a whole number, got {digits!r}")
    if not 1 <= digits <= 15:
        raise ValueError(f"digits must be from 1 to 15, got {digits}")
    sides = []
    for name, value in (("claimed", claimed), ("actual", actual)):
        array = _numbers(name, _numeric(name, value))
        if array.size > _MOST_SHOWN:
            raise ValueError(f"{name} must hold at most {_MOST_SHOWN} numbers, got {array.size}")
        if not np.isfinite(array).all():
            raise EvidenceError(f"{claim}: {name} is not finite everywhere")
        sides.append(array)
    a, b = sides
    if a.shape != b.shape:
        raise ValueError(f"claimed and actual must have one shape, got {a.shape} and {b.shape}")
    size = np.maximum(1.0, np.maximum(np.abs(a), np.abs(b)))
    noise = _NOISE * float(max(np.abs(a).max(), np.abs(b).max()))
    shown = [_list(_without_noise(side, noise), digits) for side in sides]
    if not (np.abs(a - b) > 1e-6 * size).any() or shown[0] == shown[1]:
        raise EvidenceError(f"{claim}: claimed {shown[0]} and actual {shown[1]} do not differ")
    return f"claimed {shown[0]}, in fact {shown[1]}"


def _numeric(name: str, value: Any) -> Any:
    """Return SymPy constants as Python numbers, and everything else as it is."""
    if isinstance(value, MatrixBase):
        return [[_numeric(name, e) for e in row] for row in value.tolist()]
    if isinstance(value, list | tuple):
        return [_numeric(name, e) for e in value]
    if isinstance(value, Basic):
        number = sympy.N(value, 20)
        if not isinstance(value, Expr) or number.free_symbols or not number.is_number:
            raise TypeError(f"{name} must be a constant, got {text(value)}")
        result = complex(number)
        return result.real if result.imag == 0 else result
    return value


def _without_noise(array: np.ndarray[Any, Any], noise: float) -> np.ndarray[Any, Any]:
    """Return `array` with zeros for all parts smaller than `noise`."""
    if array.dtype.kind == "c":
        return _without_noise(array.real, noise) + 1j * _without_noise(array.imag, noise)
    return np.where(np.abs(array) < noise, 0.0, array)


def _list(array: np.ndarray[Any, Any], digits: int) -> str:
    if array.ndim:
        return "[" + ", ".join(_list(part, digits) for part in array) + "]"
    number = complex(array)
    real = _number(number.real, digits)
    if array.dtype.kind != "c":
        return real
    sign = "-" if number.imag < 0 else "+"
    return f"{real} {sign} {_number(abs(number.imag), digits)}i"


def _number(number: float, digits: int) -> str:
    return f"{number + 0.0:.{digits}g}"


def _all_true(claim: str, name: str, value: Any) -> str:
    array = np.asarray(value)
    if array.dtype != np.bool_:
        raise TypeError(f"{name} must hold booleans, got dtype {array.dtype}")
    if array.size == 0:
        raise ValueError(f"{name} must not be empty")
    if not array.all():
        wrong = int(array.size - array.sum())
        raise EvidenceError(f"{claim}: {wrong} of {array.size} do not hold")
    verb = "holds" if name == "holds" else "observed"
    if array.size == 1:
        return verb
    return f"{verb} in all {array.size} cases"
