"""Rotation by positions with several axes: rows and columns, or time, height and width."""

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc import _checks
from posenc._checks import Layout
from posenc.rotary._blocks import multiply_pairs
from posenc.rotary.angles import factors

__all__ = ["axial", "mrope", "mrope_axes"]

SectionOrder = Literal["contiguous", "alternating"]


def axial(
    x: ArrayLike,
    positions: ArrayLike,
    frequencies: ArrayLike,
    *,
    layout: Layout = "interleaved",
    inverse: bool = False,
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    r"""Turn an equal share of the pairs of `x` by each coordinate of its position.

    With n frequencies, pair r belongs to axis r // n and turns by
    :math:`p_{r // n}\,\omega_{r \bmod n}`: the first n pairs follow the first
    coordinate, the next n the second, and so on. The score of a query and a key
    depends on the difference of their coordinates only.

    Parameters
    ----------
    x : array_like of real numbers, shape (..., length, width)
        Queries or keys.
    positions : array_like of real numbers, shape (..., axes)
        Coordinates of each vector; without the last axis it broadcasts against
        ``x.shape[:-1]``. Released models disagree whether x or y comes first.
    frequencies : array_like, shape (pairs per axis,)
        Radians per unit of a coordinate, the same for each axis;
        2 * axes * pairs per axis <= width. For two axes and a rotated width d
        it is usual to take ``posenc.absolute.frequencies(d // 2, base)``: each
        axis has a ladder of its own.
    layout : {"interleaved", "half-split"}, optional
        Which components make pair r, over all axes together; see
        :func:`posenc.rotary.rotate`. To split each axis on its own, rotate
        slices of `x`.
    inverse : bool, optional
        Turn clockwise instead.
    out : ndarray, optional
        See :func:`posenc.rotary.rotate`.

    Returns
    -------
    ndarray, shape of `x`
        In the dtype of `x` (float64 for integers). Angles are float64.

    Raises
    ------
    TypeError
        If an argument holds no real numbers, or `out` has another dtype.
    ValueError
        If a coordinate or frequency is not finite, shapes do not fit, or
        `layout` is unknown.

    References
    ----------
    Heo et al., "Rotary Position Embedding for Vision Transformer" (2024),
    the axial form of it.
    """
    places = _coordinates(positions)
    speeds = _checks.frequency_vector("frequencies", frequencies)
    axes = places.shape[-1]
    axis_of_pair = np.repeat(np.arange(axes), speeds.size)
    return _by_axis(x, places, axis_of_pair, np.tile(speeds, axes), layout, inverse, out)


def mrope(
    x: ArrayLike,
    positions: ArrayLike,
    frequencies: ArrayLike,
    *,
    sections: ArrayLike,
    order: SectionOrder = "contiguous",
    layout: Layout = "interleaved",
    inverse: bool = False,
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    r"""Turn the pairs of one ladder of frequencies by several coordinates.

    Pair r turns by :math:`p_{a(r)}\,\omega_r`, where :func:`mrope_axes` says
    which coordinate a(r) drives it. Where all coordinates of a position are
    equal, as in text, this is :func:`posenc.rotary.rotate`.

    Parameters
    ----------
    x : array_like of real numbers, shape (..., length, width)
        Queries or keys.
    positions : array_like of real numbers, shape (..., axes)
        Coordinates of each vector, in released models time, height and width;
        without the last axis it broadcasts against ``x.shape[:-1]``.
    frequencies : array_like, shape (pairs,)
        Radians per unit; 2 * pairs <= width.
    sections : array_like of int, shape (axes,)
        How many pairs each coordinate drives; their sum is `pairs`.
    order : {"contiguous", "alternating"}, optional
        See :func:`mrope_axes`.
    layout : {"interleaved", "half-split"}, optional
        Which components make pair r. The released models are half-split.
    inverse : bool, optional
        Turn clockwise instead.
    out : ndarray, optional
        See :func:`posenc.rotary.rotate`.

    Returns
    -------
    ndarray, shape of `x`
        In the dtype of `x` (float64 for integers). Angles are float64.

    Raises
    ------
    TypeError
        If an argument holds no real numbers or no integers, or `out` has
        another dtype.
    ValueError
        If a coordinate or frequency is not finite, shapes or sections do not
        fit, or `layout` or `order` is unknown.

    References
    ----------
    Wang et al., "Qwen2-VL" (2024), section 2.1 (contiguous); Qwen Team,
    "Qwen3-VL Technical Report" (2025) (alternating, there called interleaved).
    """
    places = _coordinates(positions)
    speeds = _checks.frequency_vector("frequencies", frequencies)
    axis_of_pair = mrope_axes(sections, order=order)
    counts = np.size(sections)
    if places.shape[-1] != counts:
        raise ValueError(
            f"positions must have one coordinate for each of the {counts} sections, "
            f"got shape {places.shape}"
        )
    if axis_of_pair.size != speeds.size:
        raise ValueError(
            f"sections must add up to the {speeds.size} pairs of frequencies, "
            f"got {np.asarray(sections).tolist()}"
        )
    return _by_axis(x, places, axis_of_pair, speeds, layout, inverse, out)


def mrope_axes(sections: ArrayLike, *, order: SectionOrder = "contiguous") -> NDArray[np.int64]:
    """Return for each pair the axis that drives it.

    Parameters
    ----------
    sections : array_like of int, shape (axes,)
        How many pairs each axis drives; not negative, at least one in all.
    order : {"contiguous", "alternating"}, optional
        Contiguous: first all pairs of axis 0, the fastest ones, then those of
        axis 1, and so on (Qwen2-VL). Alternating: axis a > 0 takes every
        axes-th pair from pair a on, until it has its number, and axis 0 takes
        what is left (Qwen3-VL).

    Returns
    -------
    ndarray of int64, shape (pairs,)

    Raises
    ------
    TypeError
        If `sections` holds no integers.
    ValueError
        If `sections` is no vector of counts, `order` is unknown, or an axis
        cannot have its number of pairs in alternation.

    Examples
    --------
    >>> mrope_axes([2, 3, 3]).tolist()
    [0, 0, 1, 1, 1, 2, 2, 2]
    >>> mrope_axes([4, 2, 2], order="alternating").tolist()
    [0, 1, 2, 0, 1, 2, 0, 0]
    """
    counts = _checks.integers("sections", sections)
    if counts.ndim != 1 or not counts.any() or (counts < 0).any():
        raise ValueError(
            "sections must be a vector of counts of pairs, none negative and not all zero, "
            f"got {counts.tolist()}"
        )
    _checks.choice("order", order, ("contiguous", "alternating"))
    if order == "contiguous":
        return np.repeat(np.arange(counts.size), counts)
    axis_of_pair = np.zeros(counts.sum(), dtype=np.int64)
    for axis, count in enumerate(counts[1:], start=1):
        axis_of_pair[axis : axis + counts.size * count : counts.size] = axis
    if not np.array_equal(np.bincount(axis_of_pair, minlength=counts.size), counts):
        raise ValueError(
            f"sections must leave axis 0 enough pairs to alternate with, got {counts.tolist()}"
        )
    return axis_of_pair


def _coordinates(positions: ArrayLike) -> NDArray[np.float64]:
    places = _checks.finite("positions", positions)
    if places.ndim == 0 or places.shape[-1] == 0:
        raise ValueError(
            f"the last axis of positions must hold the coordinates, got shape {places.shape}"
        )
    return places


def _by_axis(
    x: ArrayLike,
    places: NDArray[np.float64],
    axis_of_pair: NDArray[np.int64],
    speeds: NDArray[np.float64],
    layout: Layout,
    inverse: bool,
    out: NDArray[Any] | None,
) -> NDArray[Any]:
    """Turn pair r by coordinate ``axis_of_pair[r]`` times ``speeds[r]``."""
    if inverse:
        speeds = -speeds
    rows = places[..., 0]

    def by_axis(pair: np.dtype[Any]) -> NDArray[Any]:
        # Each axis has the factors that `rotate` would use, so that text agrees with it exactly.
        result = np.empty((*rows.shape, speeds.size), dtype=pair)
        for axis in range(places.shape[-1]):
            pairs = np.flatnonzero(axis_of_pair == axis)
            if pairs.size:
                result[..., pairs] = factors(places[..., axis], speeds[pairs], pair)
        return result

    return multiply_pairs(
        x,
        speeds.size,
        rows,
        by_axis,
        layout=layout,
        out=out,
        name="positions without their last axis",
    )
