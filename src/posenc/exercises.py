"""Checks of a reader's answers that do not give the right one away.

The stored form of an answer is a digest of its rounded value, made once with
:func:`digest`; functions are compared with a reference on given inputs.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from types import EllipsisType
from typing import Any

import numpy as np

__all__ = ["Check", "check", "digest"]

_PLACES = 6


def digest(answer: Any, places: int = _PLACES) -> str:
    """Return the stored form of `answer`: one short hash per number in it.

    Parameters
    ----------
    answer : number, SymPy number, or array_like of either
        The right answer.
    places : int, optional
        Decimal places that have to agree; the last may be off by one.
    """
    return "-".join(_hash(i, n) for i, n in enumerate(_integers(answer, places)))


class Check:
    """The checks of an answer, under one short name, `check`."""

    @staticmethod
    def value(
        answer: Any,
        expected: str,
        *,
        slips: Mapping[str, str] | None = None,
        places: int = _PLACES,
    ) -> None:
        """Print whether `answer` has the digest `expected`.

        Parameters
        ----------
        answer : number, SymPy number, array_like, or ...
            The reader's answer; the literal `...` means not answered yet.
        expected : str
            What :func:`digest` returned for the right answer.
        slips : mapping of digest to text, optional
            What to say about well-known wrong answers.
        places : int, optional
            As given to :func:`digest`.
        """
        if _missing(answer):
            return
        try:
            numbers = _integers(answer, places)
        except (TypeError, ValueError) as error:
            print(f"That is no number or list of numbers: {error}")
            return
        if _matches(numbers, expected):
            print("Right.")
            return
        for slip, remark in (slips or {}).items():
            if _matches(numbers, slip):
                print(f"Not right: {remark}")
                return
        parts = expected.count("-") + 1
        if len(numbers) != parts:
            print(f"Not right: {parts} number(s) expected, got {len(numbers)}.")
        else:
            print("Not right yet.")

    @staticmethod
    def function(
        candidate: Callable[..., Any] | EllipsisType,
        reference: Callable[..., Any],
        inputs: Iterable[tuple[Any, ...]],
        *,
        wrap: Callable[[Callable[..., Any]], Callable[..., Any]] | None = None,
        tolerance: float = 1e-9,
    ) -> None:
        """Print whether `candidate` agrees with `reference` on every input.

        Parameters
        ----------
        candidate : callable or ...
            The reader's function; the literal `...` means not answered yet.
        reference : callable
            Returns the right result.
        inputs : iterable of tuples
            Arguments to try, in order.
        wrap : callable, optional
            Makes of the candidate the function that is compared.
        tolerance : float, optional
            Largest difference allowed, relative to the size of the right result or 1.
        """
        if _missing(candidate):
            return
        if not callable(candidate):
            print(f"That is no function but {type(candidate).__name__}.")
            return
        compared = wrap(candidate) if wrap else candidate
        tried = 0
        for arguments in inputs:
            tried += 1
            expected = np.asarray(reference(*_copies(arguments)), dtype=float)
            try:
                got = np.asarray(compared(*_copies(arguments)), dtype=float)
            except Exception as error:  # noqa: BLE001 - a reader's error is shown, not thrown
                print(f"Not right: input {tried} raises {type(error).__name__}: {error}")
                return
            if got.shape != expected.shape:
                print(
                    f"Not right: for input {tried} the shape must be {expected.shape}, "
                    f"got {got.shape}."
                )
                return
            scale = max(1.0, float(np.max(np.abs(expected), initial=0.0)))
            if not np.all(np.abs(got - expected) <= tolerance * scale):
                print(f"Not right yet: input {tried}, {arguments}, must not give {got}.")
                return
        if not tried:
            raise ValueError("inputs must hold at least one tuple of arguments, got none")
        print(f"Right, on all {tried} inputs.")


check = Check()
"""What the notebooks import: ``check.value`` and ``check.function``."""


def _missing(answer: Any) -> bool:
    if answer is ...:
        print("Not answered yet.")
        return True
    return False


def _copies(arguments: tuple[Any, ...]) -> list[Any]:
    """Copy arrays, so that a candidate which writes to them spoils nothing."""
    return [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]


def _integers(answer: Any, places: int) -> list[int]:
    numbers = np.asarray(answer, dtype=float).ravel()
    if not numbers.size or not np.isfinite(numbers).all():
        raise ValueError(f"every number must be finite, and there must be one; got {answer!r}")
    return [round(float(x) * 10**places) for x in numbers]


def _hash(index: int, number: int) -> str:
    return hashlib.sha256(f"posenc {index} {number}".encode()).hexdigest()[:10]


def _matches(numbers: list[int], expected: str) -> bool:
    hashes = expected.split("-")
    return len(hashes) == len(numbers) and all(
        wanted in {_hash(i, n + d) for d in (-1, 0, 1)}
        for i, (n, wanted) in enumerate(zip(numbers, hashes, strict=True))
    )
