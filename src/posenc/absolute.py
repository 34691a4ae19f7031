"""Absolute positions: a vector for each position, added to the token's."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc import _checks
from posenc._checks import Layout

__all__ = ["frequencies", "shift_matrix", "sinusoid"]


def frequencies(width: int, base: float = 10_000.0) -> NDArray[np.float64]:
    r"""Return the geometric frequencies :math:`\omega_r = \text{base}^{-2r/\text{width}}`.

    Parameters
    ----------
    width : int
        Number of components that are encoded or rotated; positive and even.
    base : float, optional
        Positive number. The frequencies fall from 1 towards 1 / `base`.

    Returns
    -------
    ndarray of float64, shape (width // 2,)
        Radians per position; pair index r = 0, 1, ..., width // 2 - 1.

    Raises
    ------
    TypeError
        If `width` is no integer.
    ValueError
        If `width` is odd or not positive, or `base` is not positive and finite.

    References
    ----------
    Vaswani et al., "Attention Is All You Need" (2017), section 3.5.

    Examples
    --------
    >>> frequencies(8).tolist()
    [1.0, 0.1, 0.01, 0.001]
    """
    width = _checks.even_width("width", width)
    ratio = _checks.finite("base", base)
    if ratio.ndim or ratio <= 0:
        raise ValueError(f"base must be one positive number, got {base!r}")
    exponents: NDArray[np.float64] = -np.arange(0, width, 2) / width
    return np.asarray(ratio**exponents, dtype=np.float64)


def sinusoid(
    positions: ArrayLike,
    width: int,
    *,
    base: float = 10_000.0,
    layout: Layout = "interleaved",
) -> NDArray[np.float64]:
    r"""Return the sinusoidal code of each position.

    Pair r of position t is :math:`(\sin t\omega_r, \cos t\omega_r)` with the
    frequencies of :func:`frequencies`.

    Parameters
    ----------
    positions : array_like of real numbers, any shape
        Positions t, counted from 0. Negative and fractional ones are allowed.
    width : int
        Width of the code; positive and even.
    base : float, optional
        See :func:`frequencies`.
    layout : {"interleaved", "half-split"}, optional
        Where the two components of pair r stand: at 2r and 2r + 1, or at r and
        r + width // 2 (all sines first, then all cosines).

    Returns
    -------
    ndarray of float64, shape (*positions.shape, width)

    Raises
    ------
    TypeError
        If `positions` holds no real numbers or `width` is no integer.
    ValueError
        If a position is not finite, `width` is odd or not positive, `base` is
        not positive, or `layout` is unknown.

    References
    ----------
    Vaswani et al., "Attention Is All You Need" (2017), section 3.5.
    """
    _checks.layout_name(layout)
    angles = np.multiply.outer(_checks.finite("positions", positions), frequencies(width, base))
    pairs = np.stack([np.sin(angles), np.cos(angles)], axis=-1 if layout == "interleaved" else -2)
    return pairs.reshape(*angles.shape[:-1], width)


def shift_matrix(offset: ArrayLike, frequencies: ArrayLike) -> NDArray[np.float64]:
    r"""Return the matrix that moves a sinusoidal code by `offset` positions.

    With ``w = frequencies(width)``,
    ``sinusoid(t + offset, width) == shift_matrix(offset, w) @ sinusoid(t, width)``
    for every t, up to rounding. Block r is

    .. math:: \begin{bmatrix} \cos\Delta\omega_r & \sin\Delta\omega_r \\
                             -\sin\Delta\omega_r & \cos\Delta\omega_r \end{bmatrix}.

    In the order (sin, cos) a later position turns clockwise, so the block is
    :math:`R(-\Delta\omega_r)`.

    Parameters
    ----------
    offset : array_like of real numbers, shape (...)
        How many positions to move; may be negative.
    frequencies : array_like, shape (pairs,)
        Radians per position.

    Returns
    -------
    ndarray of float64, shape (..., 2 * pairs, 2 * pairs)
        Block-diagonal, for the interleaved layout.

    Raises
    ------
    TypeError
        If an argument holds no real numbers.
    ValueError
        If an argument is not finite or `frequencies` is no vector.
    """
    speeds = _checks.frequency_vector("frequencies", frequencies)
    angles = np.multiply.outer(_checks.finite("offset", offset), speeds)
    sine: NDArray[Any] = np.arange(0, 2 * speeds.size, 2)
    cosine = sine + 1
    matrix = np.zeros((*angles.shape[:-1], 2 * speeds.size, 2 * speeds.size))
    matrix[..., sine, sine] = matrix[..., cosine, cosine] = np.cos(angles)
    matrix[..., sine, cosine] = np.sin(angles)
    matrix[..., cosine, sine] = -np.sin(angles)
    return matrix
