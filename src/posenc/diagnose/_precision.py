"""In which precision angles were computed."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posenc.diagnose._planes import wrap

Array = NDArray[np.float64]

# Significant bits, the hidden one included.
_BITS = {"bfloat16": 8, "float16": 11, "float32": 24}


def round_to(dtype: str, value: Array) -> Array:
    """Return `value` rounded to the nearest number of `dtype`, ties to even."""
    with np.errstate(all="ignore"):
        if dtype == "float16":
            return np.asarray(value.astype(np.float16), dtype=np.float64)
        if dtype == "float32":
            return np.asarray(value.astype(np.float32), dtype=np.float64)
        mantissa, exponent = np.frexp(value)
        whole = np.rint(np.ldexp(mantissa, _BITS[dtype]))
        return np.asarray(np.ldexp(whole, exponent - _BITS[dtype]), dtype=np.float64)


def resolution(dtype: np.dtype[Any]) -> float:
    """Return the distance from 1 to the next number of `dtype`."""
    return 2.0**-7 if dtype.name == "bfloat16" else float(np.finfo(dtype).eps)


def table_dtype(entries: Array, step: float) -> str | None:
    """Return the narrowest dtype that holds all entries, if 1 + `step` is finer than it."""
    telling = entries[(np.abs(entries) > 1e-3) & (np.abs(entries) != 1)]
    if telling.size < 4:
        return None
    for name, bits in _BITS.items():
        if 2.0 ** (1 - bits) <= step:
            break
        if np.array_equal(round_to(name, telling), telling):
            return name
    return None


def _roundings(dtype: str) -> Iterator[tuple[str, Callable[[Array, Array], Array]]]:
    """Yield what may be rounded on the way to an angle, least first."""

    def t(value: Array) -> Array:
        return round_to(dtype, value)

    yield "frequencies", lambda p, w: p * t(w)
    yield "positions", lambda p, w: t(p) * w
    yield "positions", lambda p, w: t(p) * t(w)
    yield "angles", lambda p, w: t(p * w)
    yield "angles", lambda p, w: t(p * t(w))
    yield "angles", lambda p, w: t(t(p) * w)
    yield "angles", lambda p, w: t(t(p) * t(w))


def angle_precision(
    phases: Array, positions: Array, speeds: Array, errors: Array, noise: float
) -> str | None:
    """Return how angles were rounded; None if they are not position times speed.

    `phases` has shape (positions, pairs), modulo a turn; `speeds` are known up
    to `errors`.
    """
    p, w = positions[:, np.newaxis], speeds[np.newaxis]

    def miss(angles: Array) -> Array:
        with np.errstate(invalid="ignore"):
            return np.abs(wrap(phases - angles))

    fine = 4 * noise + np.abs(p) * (errors + 1e-14 * np.abs(w))
    coarse = fine + np.abs(p * w) * 4e-6
    exact = p * w
    if (miss(exact) <= fine).all():
        narrow = round_to("float32", round_to("float32", w) * p)
        told_apart = (np.abs(wrap(narrow - exact)) > fine).any()
        return "float64" if told_apart else "float32 or better"
    if (miss(exact) <= coarse).all():
        return "float32"
    best, agreement = None, 0.97
    for dtype in ("bfloat16", "float16"):
        for what, angles in _roundings(dtype):
            # A product next to a tie may have gone either way in float32.
            share = float((miss(angles(p, w)) <= coarse).mean())
            if share > agreement:
                best, agreement = f"{dtype} {what}", share
    return best


def first_miss(
    phases: Array, positions: Array, speeds: Array, errors: Array, noise: float
) -> tuple[int, int] | None:
    """Return (position index, pair) of the first angle worse than float32 allows."""
    p, w = positions[:, np.newaxis], speeds[np.newaxis]
    allowed = 4 * noise + np.abs(p) * errors + np.abs(p * w) * 4e-6
    bad = np.argwhere(np.abs(wrap(phases - p * w)) > allowed)
    return None if not len(bad) else (int(bad[0][0]), int(bad[0][1]))
