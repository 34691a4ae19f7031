"""Multiplication of pairs by complex factors, in blocks that stay in the cache.

Each pair (a, b) is the complex number a + ib, and its factor turns and scales it.
"""

# Kernels are made for each call; their annotations must not be worked out each time.
from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc import _checks
from posenc._checks import Layout
from posenc.rotary.angles import Table

__all__ = ["multiply_pairs"]

# Components of a block. A few arrays of this many float32 fit into a second-level cache.
_BLOCK = 1 << 15

# From this many factors in a row, NumPy repeats them over an axis without copying them first:
# the size of its buffers.
_BROADCAST = 1 << 13

# Up to this many pairs, cutting an array into blocks costs more than the product.
_SMALL = 1 << 17

_Kernel = Callable[[NDArray[Any], NDArray[Any]], None]


def multiply_pairs(
    x: ArrayLike,
    pairs: int,
    positions: NDArray[Any],
    table: Callable[[bool], Table],
    *,
    layout: Layout,
    out: NDArray[Any] | None = None,
    name: str = "positions",
) -> NDArray[Any]:
    """Return `x` with each pair multiplied by its factor; the rest is copied.

    Parameters
    ----------
    x : array_like of real numbers, shape (..., length, width)
    pairs : int
        Number of pairs that are multiplied, from the first.
    positions : ndarray
        Its shape is that of the table without the pairs; broadcasts against ``x.shape[:-1]``.
    table : callable
        Returns the factors, where True asks for those that suffice for float32; called once
        all arguments are known to fit.
    layout : {"interleaved", "half-split"}
    out : ndarray, optional
    name : str, optional
        What an error calls `positions`.

    Raises
    ------
    TypeError
        If `x` holds no real numbers, or `out` has another dtype.
    ValueError
        If shapes do not fit, or `layout` is unknown.
    """
    vectors = _checks.real("x", x)
    _checks.layout_name(layout)
    width = 2 * pairs
    if vectors.ndim == 0 or vectors.shape[-1] < width:
        raise ValueError(
            f"the last axis of x must hold at least 2 * {pairs} components, "
            f"one pair per frequency; got shape {vectors.shape}"
        )
    _checks.broadcastable(name, positions, "x.shape[:-1]", vectors.shape[:-1])
    result = _result_array(vectors, out)
    if out is not None and _overlap_partly(vectors, result):
        vectors = vectors.copy()
    factors = table(_working(vectors.dtype) == np.float32)
    if vectors.shape[-1] > width and result is not vectors:
        result[..., width:] = vectors[..., width:]
    _multiply(vectors[..., :width], positions.shape, factors, layout, result[..., :width])
    return result


def _result_array(vectors: NDArray[Any], out: NDArray[Any] | None) -> NDArray[Any]:
    if out is None:
        return np.empty_like(vectors, order="C")
    if not isinstance(out, np.ndarray) or out.dtype != vectors.dtype:
        got = out.dtype if isinstance(out, np.ndarray) else type(out).__name__
        raise TypeError(f"out must be an array of dtype {vectors.dtype}, got {got}")
    if out.shape != vectors.shape:
        raise ValueError(f"out must have the shape of x, {vectors.shape}, got {out.shape}")
    return out


def _overlap_partly(x: NDArray[Any], out: NDArray[Any]) -> bool:
    """Tell whether writing to `out` could destroy components of `x` not yet read."""
    if not np.may_share_memory(x, out):
        return False
    same = x.__array_interface__["data"] == out.__array_interface__["data"]
    return not (same and x.strides == out.strides)


def _multiply(
    x: NDArray[Any], places: tuple[int, ...], table: Table, layout: Layout, out: NDArray[Any]
) -> None:
    """Write to `out` the products of `x` with factors that vary along the axes `places`."""
    if not x.size:
        return
    working = _working(x.dtype)
    width = x.shape[-1]
    ready = x.flags.c_contiguous and out.flags.c_contiguous and x.dtype == working
    if ready and layout == "interleaved":
        pair = _pair(working)
        x, out = x.view(pair), out.view(pair)
        period = math.prod(places) * x.shape[-1]
        last = places[_leading_ones(places) :]
        whole = (slice(None),) * len(places)
        if period <= _BROADCAST and last == x.shape[x.ndim - 1 - len(last) : -1]:
            _repeat(x, table(whole).astype(pair), out)
            return
        if x.size <= _SMALL:
            np.multiply(x, table(whole).astype(pair), out=out)
            return
    cuts = _cuts(x.shape[:-1], max(1, _BLOCK // width))
    # Along an axis on which the positions do not vary, the same factors serve all parts.
    added = len(cuts) - len(places)
    varies = [False] * added + [length != 1 for length in places]
    if ready and layout == "interleaved" and _run(cuts, varies) * x.shape[-1] >= _BROADCAST:
        cuts = [c if v else [slice(None)] for c, v in zip(cuts, varies, strict=True)]
    scratch = None if ready else np.empty((*map(_longest, cuts), width), working)
    prepare = _interleaved if layout == "interleaved" else _halves
    for place in product(*(c if v else [slice(None)] for c, v in zip(cuts, varies, strict=True))):
        blocks = [[p] if v else c for c, v, p in zip(cuts, varies, place, strict=True)]
        kernel = prepare(table(place[added:]), [*map(_longest, blocks)], working)
        for block in product(*blocks):
            if scratch is None:
                kernel(x[block], out[block])
            else:
                _through(scratch, kernel, x[block], out[block])


def _repeat(x: NDArray[Any], factors: NDArray[Any], out: NDArray[Any]) -> None:
    """Write to `out` the products of `x` with the factors of its last axes, again and again."""
    x, factors, out = x.reshape(-1), factors.reshape(-1), out.reshape(-1)
    times = -(-_BROADCAST // factors.size)
    tile = np.empty((times, factors.size), factors.dtype)
    tile[...] = factors
    tile = tile.reshape(-1)
    rows = x.size // tile.size
    whole = rows * tile.size
    shape = (rows, tile.size)
    np.multiply(x[:whole].reshape(shape), tile, out=out[:whole].reshape(shape))
    np.multiply(x[whole:], tile[: x.size - whole], out=out[whole:])


def _leading_ones(shape: tuple[int, ...]) -> int:
    return next((axis for axis, length in enumerate(shape) if length != 1), len(shape))


def _working(dtype: np.dtype[Any]) -> np.dtype[Any]:
    # Narrower floats are computed in float32, so that only the final rounding is lost.
    return np.result_type(dtype, np.float32) if dtype.kind == "f" else np.dtype(np.float32)


def _pair(working: np.dtype[Any]) -> np.dtype[Any]:
    # Two neighbouring floats are a complex number in memory, and one product turns the pair.
    return np.result_type(working, np.complex64)


def _cuts(shape: tuple[int, ...], rows: int) -> list[list[slice]]:
    """Cut each axis into parts, so that a block has at most `rows` rows, contiguous if x is."""
    cuts: list[list[slice]] = []
    for length in reversed(shape):
        step = max(1, min(length, rows))
        cuts.append([slice(i, min(i + step, length)) for i in range(0, length, step)])
        rows //= length
    return cuts[::-1]


def _longest(parts: list[slice]) -> int:
    """Return the length of the first part; that of a whole axis counts as 1."""
    return 1 if parts[0].stop is None else parts[0].stop - parts[0].start


def _run(cuts: list[list[slice]], varies: list[bool]) -> int:
    """Return how many rows one after the other have factors of their own."""
    run = 1
    for parts, own in zip(reversed(cuts), reversed(varies), strict=True):
        if not own and len(parts) * _longest(parts) > 1:
            break
        run *= _longest(parts)
    return run


def _through(
    scratch: NDArray[Any], kernel: _Kernel, source: NDArray[Any], final: NDArray[Any]
) -> None:
    """Apply `kernel` to a contiguous copy of `source` in the dtype of `scratch`."""
    copy = scratch[_first(source)]
    copy[...] = source
    kernel(copy, copy)
    final[...] = copy


def _fill(factors: NDArray[Any], rows: list[int]) -> NDArray[Any]:
    """Repeat `factors` to `rows`: NumPy is slow where it broadcasts a short row itself."""
    shape = (*rows, factors.shape[-1])
    if factors.size == math.prod(shape):
        return factors.reshape(shape)
    filled = np.empty(shape, factors.dtype)
    filled[...] = factors
    return filled


def _interleaved(
    factors: NDArray[np.complex128], rows: list[int], working: np.dtype[Any]
) -> _Kernel:
    pair = _pair(working)
    numbers = _fill(factors.astype(pair), rows)

    def kernel(source: NDArray[Any], target: NDArray[Any]) -> None:
        if source.dtype != pair:
            source, target = source.view(pair), target.view(pair)
        np.multiply(source, numbers[_first(source)], out=target)

    return kernel


def _halves(factors: NDArray[np.complex128], rows: list[int], working: np.dtype[Any]) -> _Kernel:
    # (a, b) becomes (a cos - b sin, b cos + a sin): the vector times the cosines, plus the
    # vector with its halves swapped times the signed sines. All rows are then contiguous.
    cosines = np.concatenate([factors.real, factors.real], axis=-1, dtype=working)
    sines = np.concatenate([-factors.imag, factors.imag], axis=-1, dtype=working)
    cosines, sines = _fill(cosines, rows), _fill(sines, rows)
    spare = np.empty_like(cosines)
    half = np.dtype((np.void, factors.shape[-1] * working.itemsize))

    def kernel(source: NDArray[Any], target: NDArray[Any]) -> None:
        part = _first(source)
        swapped = spare[part]
        swapped.view(half)[...] = source.view(half)[..., ::-1]
        swapped *= sines[part]
        np.multiply(source, cosines[part], out=target)
        target += swapped

    return kernel


def _first(block: NDArray[Any]) -> tuple[slice, ...]:
    """Return the index of as many rows as `block` has."""
    return tuple(map(slice, block.shape[:-1]))
