"""Absolute positions: a vector for each position, added to the token's."""

import math
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc import _checks
from posenc._checks import Layout

__all__ = ["frequencies", "learned", "shift_matrix", "sinusoid", "timing_signal"]


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
    return _ladder(_checks.even_width("width", width), base)


def sinusoid(
    positions: ArrayLike,
    width: int,
    *,
    base: float = 10_000.0,
    layout: Layout = "interleaved",
    odd: Literal["sine", "zero"] | None = None,
) -> NDArray[np.float64]:
    r"""Return the sinusoidal code of each position.

    Pair r of position t is :math:`(\sin t\omega_r, \cos t\omega_r)` with the
    frequencies of :func:`frequencies`.

    Parameters
    ----------
    positions : array_like of real numbers, any shape
        Positions t, counted from 0. Negative and fractional ones are allowed.
    width : int
        Width of the code; positive, and even unless `odd` says what to do.
    base : float, optional
        See :func:`frequencies`.
    layout : {"interleaved", "half-split"}, optional
        Where the two components of pair r stand: at 2r and 2r + 1, or at r and
        r + pairs (all sines first, then all cosines).
    odd : {"sine", "zero"}, optional
        What an odd width means. Default: nothing, it is refused, since neither
        of these is more right than the other and the frequencies differ.
        "sine": one more pair, of which only the sine is kept; exponents are
        -2r / width. "zero": the code of width - 1, then a component that is 0.
        An even width is not affected.

    Returns
    -------
    ndarray of float64, shape (*positions.shape, width)

    Raises
    ------
    TypeError
        If `positions` holds no real numbers or `width` is no integer.
    ValueError
        If a position is not finite, `width` is not positive, or odd without
        `odd` ("zero" needs at least 3), `base` is not positive, or `layout` or
        `odd` is unknown.

    References
    ----------
    Vaswani et al., "Attention Is All You Need" (2017), section 3.5.
    """
    _checks.layout_name(layout)
    steps = _checks.finite("positions", positions)
    if odd is None:
        return _waves(steps, frequencies(width, base), layout)
    _checks.choice("odd", odd, ("sine", "zero"))
    count = _checks.at_least("width", width, 1 if odd == "sine" else 2)
    if count % 2 and odd == "zero":
        return _with_zero(_waves(steps, _ladder(count - 1, base), layout))
    code = _waves(steps, _ladder(count, base), layout)
    return code if count % 2 == 0 else np.delete(code, -1, axis=-1)


def timing_signal(
    positions: ArrayLike,
    width: int,
    *,
    min_timescale: float = 1.0,
    max_timescale: float = 10_000.0,
) -> NDArray[np.float64]:
    r"""Return the sinusoidal code of tensor2tensor, which is not that of its paper.

    All n = width // 2 sines come first, then all cosines, and the frequencies
    reach the end of their range:

    .. math:: \omega_r = \tau_{\min}\,
        (\tau_{\max} / \tau_{\min})^{-r / \max(n - 1, 1)}

    instead of :math:`10000^{-r / n}`. Only the first frequency is the same. An
    odd width gets a last component that is 0.

    Parameters
    ----------
    positions : array_like of real numbers, any shape
        Positions t, counted from 0.
    width : int
        Width of the code; at least 2.
    min_timescale : float, optional
        :math:`\tau_{\min}`, positive. The code multiplies by it where a smallest
        period would ask for a division; with 1 there is no difference.
    max_timescale : float, optional
        :math:`\tau_{\max}`, positive. The longest wave takes
        :math:`2\pi\tau_{\max}` positions if :math:`\tau_{\min}` is 1.

    Returns
    -------
    ndarray of float64, shape (*positions.shape, width)

    Raises
    ------
    TypeError
        If `positions` or a timescale holds no real numbers, or `width` is no
        integer.
    ValueError
        If a position is not finite, `width` is below 2, or a timescale is not
        positive.

    References
    ----------
    Vaswani et al., "Tensor2Tensor for Neural Machine Translation" (2018);
    ``get_timing_signal_1d`` of version 1.15.

    Examples
    --------
    >>> import numpy as np
    >>> np.round(timing_signal(1, 4), 6).tolist()
    [0.841471, 0.0001, 0.540302, 1.0]
    """
    steps = _checks.finite("positions", positions)
    count = _checks.at_least("width", width, 2)
    shortest = _checks.number("min_timescale", min_timescale, above=0)
    longest = _checks.number("max_timescale", max_timescale, above=0)
    pairs = count // 2
    fall = (math.log(longest) - math.log(shortest)) / max(pairs - 1, 1)
    code = _waves(steps, shortest * np.exp(-fall * np.arange(pairs)), "half-split")
    return _with_zero(code) if count % 2 else code


def learned(table: ArrayLike, ids: ArrayLike, *, offset: int = 0) -> NDArray[Any]:
    r"""Return the row of a learned table for each position.

    Position m has row m + `offset`. There is no row beyond the table, and none
    is made up: an id is neither wrapped nor clamped.

    Parameters
    ----------
    table : array_like of real numbers, shape (rows, width)
        One learned vector per row.
    ids : array_like of int, any shape
        Positions, counted from 0.
    offset : int, optional
        Rows before that of position 0: 2 in OPT, whose table has two rows more
        than it has positions. Positions from -`offset` then have rows, as the
        padding of OPT needs; without an offset no negative position has.

    Returns
    -------
    ndarray, shape (*ids.shape, width)
        In the dtype of `table` (float64 for integers).

    Raises
    ------
    TypeError
        If `table` holds no real numbers, `ids` no integers, or `offset` is none.
    ValueError
        If `table` is no matrix, `offset` is negative, or a position has no row.

    References
    ----------
    Gehring et al., "Convolutional Sequence to Sequence Learning" (2017),
    section 3.1; Zhang et al., "OPT" (2022), for the offset its released code.

    Examples
    --------
    >>> learned([[0.0, 0.5], [1.0, 1.5], [2.0, 2.5]], [2, 0]).tolist()
    [[2.0, 2.5], [0.0, 0.5]]
    """
    vectors = _checks.real("table", table)
    if vectors.ndim != 2:
        raise ValueError(f"table must have shape (rows, width), got shape {vectors.shape}")
    places = _checks.integers("ids", ids)
    shift = _checks.at_least("offset", offset, 0)
    least, beyond = -shift, len(vectors) - shift
    outside = (places < least) | (places >= beyond)
    if outside.any():
        index = tuple(int(i) for i in np.argwhere(outside)[0])
        raise ValueError(
            f"ids must be at least {least} and below {beyond} for a table of "
            f"{len(vectors)} rows with offset {shift}, got {places[index]} at index {index}"
        )
    return np.asarray(np.take(vectors, places + shift, axis=0))


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


def _ladder(width: int, base: float) -> NDArray[np.float64]:
    """Return base**(-2r / width) for each r with 2r < width; the width may be odd."""
    ratio = _checks.finite("base", base)
    if ratio.ndim or ratio <= 0:
        raise ValueError(f"base must be one positive number, got {base!r}")
    exponents: NDArray[np.float64] = -np.arange(0, width, 2) / width
    return np.asarray(ratio**exponents, dtype=np.float64)


def _waves(
    positions: NDArray[np.float64], speeds: NDArray[np.float64], layout: Layout
) -> NDArray[np.float64]:
    """Return sine and cosine of each angle, in the order of `layout`."""
    angles = np.multiply.outer(positions, speeds)
    pairs = np.stack([np.sin(angles), np.cos(angles)], axis=-1 if layout == "interleaved" else -2)
    return pairs.reshape(*positions.shape, 2 * speeds.size)


def _with_zero(code: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.concatenate([code, np.zeros((*code.shape[:-1], 1))], axis=-1)
