"""Phases exp(i m w) of positions m and frequencies w, from few sines and cosines."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc import _checks

__all__ = ["Place", "Table", "phases", "table"]

Place = tuple[slice, ...]
"""Which positions: a slice for each axis of the array of positions."""

Table = Callable[[Place], NDArray[np.complex128]]
"""Gives the factors of the pairs at some positions, shape (*positions, pairs)."""

# Rotations compose: exp(imw) = exp(icw) exp(ifw) for m = c + f, where c is a multiple of the span
# and |f| <= span / 2. Each factor serves many positions: of 2048 positions from 0, 33 coarse parts
# and 65 fine ones need sines and cosines. The sum is exact, and the factors of a position do not
# depend on the other positions: prefill and decoding multiply by the same numbers.
_SPAN = 64.0

# Angles whose sines and cosines are computed at a time; they stay in the cache.
_ANGLES = 1 << 13


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


def table(positions: NDArray[np.float64], speeds: NDArray[np.float64], *, fast: bool) -> Table:
    """Return the phases of parts of `positions`, as a function of the part.

    What it returns may be overwritten by the next call. `fast` phases differ from the others
    by the rounding of the angle, a relative 1e-16 of it: nothing after rounding to float32.
    """
    if not fast:
        return lambda place: _turns(positions[place], speeds)
    coarse = np.rint(positions / _SPAN) * _SPAN
    fine = positions - coarse
    try:
        with np.errstate(over="raise"):
            if positions.size <= _SPAN:
                few = np.multiply(_spin(coarse, speeds), _spin(fine, speeds))
                return lambda place: few[place]
            coarse, coarse_index = np.unique(coarse, return_inverse=True)
            fine, fine_index = np.unique(fine, return_inverse=True)
            coarse_turns, fine_turns = _spin(coarse, speeds), _spin(fine, speeds)
    except FloatingPointError:
        raise _too_fast(positions, speeds) from None
    spare: list[NDArray[np.complex128]] = []

    def many(place: Place) -> NDArray[np.complex128]:
        shape = (*coarse_index[place].shape, speeds.size)
        if not spare or spare[0].shape != shape:
            # New memory costs more than the product, so parts of equal shape share it.
            spare[:] = np.empty(shape, np.complex128), np.empty(shape, np.complex128)
        result, other = spare
        # "clip" lets take write to `out` at once; all indices are within bounds.
        np.take(coarse_turns, coarse_index[place], axis=0, out=result, mode="clip")
        np.take(fine_turns, fine_index[place], axis=0, out=other, mode="clip")
        return np.multiply(result, other, out=result)

    return many


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
