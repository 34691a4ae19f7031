"""Phases exp(i m w) of positions m and frequencies w, from few sines and cosines."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc import _checks

__all__ = ["factors", "phases"]

# Rotations compose: exp(imw) = exp(icw) exp(ifw) for m = c + f, where c is a multiple of the span
# and |f| <= span / 2. Each factor serves many positions: of 2048 positions from 0, 33 coarse parts
# and 65 fine ones need sines and cosines. The sum is exact, and the factors of a position do not
# depend on the other positions: prefill and decoding multiply by the same numbers.
_SPAN = 64.0

# Angles whose sines and cosines are computed at a time; they stay in the cache.
_ANGLES = 1 << 13

# Turns that are composed at a time, for the same reason.
_TURNS = 1 << 14


def phases(positions: ArrayLike, frequencies: ArrayLike) -> NDArray[np.complex128]:
    r"""Return :math:`e^{im\omega_r}` for each position m and pair r.

    Real parts are the cosines, imaginary parts the sines of the usual tables.

    Parameters
    ----------
    positions : array_like of real numbers, shape (...)
    frequencies : array_like, shape (pairs,)
        Radians per position.

    Returns
    -------
    ndarray of complex128, shape (..., pairs)

    Raises
    ------
    TypeError
        If an argument holds no real numbers.
    ValueError
        If an argument or an angle is not finite, or `frequencies` is no vector.

    Examples
    --------
    >>> import numpy as np
    >>> np.round(phases([0, 1, 2], [np.pi / 2]).ravel(), 12).tolist()
    [(1+0j), 1j, (-1+0j)]
    """
    steps = _checks.finite("positions", positions)
    speeds = _checks.frequency_vector("frequencies", frequencies)
    return _turns(steps, speeds)


def factors(
    positions: NDArray[np.float64], speeds: NDArray[np.float64], pair: np.dtype[Any]
) -> NDArray[Any]:
    """Return the phases in the dtype `pair`, shape (*positions, pairs).

    Those of complex64 take a short cut: they differ from the others by the rounding of the
    angle, a relative 1e-16 of it, which is nothing after rounding to float32.
    """
    if pair != np.complex64:
        return _turns(positions, speeds).astype(pair, copy=False)
    try:
        with np.errstate(over="raise"):
            return _composed(positions, speeds)
    except FloatingPointError:
        raise _too_fast(positions, speeds) from None


def _composed(positions: NDArray[np.float64], speeds: NDArray[np.float64]) -> NDArray[np.complex64]:
    """Return exp(i * position * speed) as the product of a coarse and a fine turn."""
    parts = np.empty((2, *positions.shape))
    np.multiply(np.rint(positions / _SPAN), _SPAN, out=parts[0, ...])
    np.subtract(positions, parts[0], out=parts[1, ...])
    if positions.size <= _SPAN:
        turns = _spin(parts, speeds)
        product: NDArray[np.complex64] = np.multiply(turns[0], turns[1]).astype(np.complex64)
        return product
    coarse, coarse_index = np.unique(parts[0], return_inverse=True)
    fine, fine_index = np.unique(parts[1], return_inverse=True)
    coarse_turns, fine_turns = _spin(coarse, speeds), _spin(fine, speeds)
    coarse_index, fine_index = coarse_index.reshape(-1), fine_index.reshape(-1)
    result = np.empty((positions.size, speeds.size), np.complex64)
    rows = max(1, _TURNS // speeds.size)
    first = np.empty((min(rows, positions.size), speeds.size), np.complex128)
    second = np.empty_like(first)
    for start in range(0, positions.size, rows):
        part = slice(start, start + rows)
        a, b = first[: len(result[part])], second[: len(result[part])]
        # "clip" lets take write to `out` at once; all indices are within bounds.
        np.take(coarse_turns, coarse_index[part], axis=0, out=a, mode="clip")
        np.take(fine_turns, fine_index[part], axis=0, out=b, mode="clip")
        result[part] = np.multiply(a, b, out=a)
    return result.reshape(*positions.shape, speeds.size)


def _turns(positions: NDArray[np.float64], speeds: NDArray[np.float64]) -> NDArray[np.complex128]:
    """Return exp(i * position * speed); the product and its sine are float64."""
    turns = np.empty((positions.size, speeds.size), dtype=np.complex128)
    column = positions.reshape(-1, 1)
    step = max(1, _ANGLES // speeds.size)
    try:
        with np.errstate(over="raise"):
            for start in range(0, positions.size, step):
                angles = column[start : start + step] * speeds
                np.cos(angles, out=turns.real[start : start + step])
                np.sin(angles, out=turns.imag[start : start + step])
    except FloatingPointError:
        raise _too_fast(positions, speeds) from None
    return turns.reshape(*positions.shape, speeds.size)


def _spin(positions: NDArray[np.float64], speeds: NDArray[np.float64]) -> NDArray[np.complex128]:
    """Return exp(i * position * speed): fewer steps than `_turns`, for few positions."""
    angles = positions[..., np.newaxis] * speeds
    turns = np.empty(angles.shape, dtype=np.complex128)
    np.cos(angles, out=turns.real)
    np.sin(angles, out=turns.imag)
    return turns


def _too_fast(positions: NDArray[np.float64], speeds: NDArray[np.float64]) -> ValueError:
    return ValueError(
        "positions times frequencies must be finite angles, got positions up to "
        f"{np.abs(positions).max():g} and frequencies up to {np.abs(speeds).max():g}"
    )
