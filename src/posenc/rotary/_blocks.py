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

__all__ = ["Factors", "multiply_pairs"]

Factors = Callable[[np.dtype[Any]], NDArray[Any]]
"""Gives the factors of the pairs in a complex dtype, shape (*positions, pairs)."""

# Bytes of a block. A few arrays of this size fit into a second-level cache.
_BLOCK = 1 << 17

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
    factors: Factors,
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
        Its shape is that of the factors without the pairs; broadcasts against ``x.shape[:-1]``.
    factors : callable
        Called once, when all arguments are known to fit.
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
    working = _working(vectors.dtype)
    numbers = factors(_pair(working))
    if vectors.shape[-1] > width:
        if result is not vectors:
            result[..., width:] = vectors[..., width:]
        vectors, turned = vectors[..., :width], result[..., :width]
    else:
        turned = result
    if vectors.size:
        _multiply(vectors, numbers, layout, turned, working)
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
    x: NDArray[Any],
    factors: NDArray[Any],
    layout: Layout,
    out: NDArray[Any],
    working: np.dtype[Any],
) -> None:
    """Write to `out` the products of `x` with factors whose axes broadcast against its own."""
    ready = x.dtype == working and x.flags.c_contiguous and out.flags.c_contiguous
    if ready and layout == "interleaved":
        x, out = x.view(factors.dtype), out.view(factors.dtype)
        if _multiply_at_once(x, factors, out):
            return
    added = x.ndim - factors.ndim
    varies = [False] * added + [length != 1 for length in factors.shape[:-1]]
    cuts = _cuts(x.shape[:-1], max(1, _BLOCK // (factors.shape[-1] * factors.itemsize)))
    prepare = _interleaved if layout == "interleaved" else _halves
    scratch = None if ready else np.empty((_rows(cuts), 2 * factors.shape[-1]), working)
    # Along an axis on which the factors do not vary, the same ones serve all parts.
    for place in product(*(c if v else [slice(None)] for c, v in zip(cuts, varies, strict=True))):
        blocks = [[p] if v else c for c, v, p in zip(cuts, varies, place, strict=True)]
        kernel = prepare(factors[place[added:]], [*map(_longest, blocks)])
        _apply(kernel, x, blocks, out, scratch)
        del kernel  # it holds tables, for which the next one needs the room


def _apply(
    kernel: _Kernel,
    x: NDArray[Any],
    blocks: list[list[slice]],
    out: NDArray[Any],
    scratch: NDArray[Any] | None,
) -> None:
    """Apply `kernel` to each block of `x`, through contiguous copies if there is a `scratch`."""
    width = x.shape[-1]
    for block in product(*blocks):
        source, target = x[block], out[block]
        if scratch is None:
            kernel(source.reshape(-1, width), target.reshape(-1, width))
        else:
            rows = scratch[: source.size // width]
            copy = rows.reshape(source.shape)
            copy[...] = source
            kernel(rows, rows)
            target[...] = copy


def _multiply_at_once(x: NDArray[Any], factors: NDArray[Any], out: NDArray[Any]) -> bool:
    """Write to `out` the products of complex numbers, if NumPy is fast at it without blocks."""
    last = factors.shape[_leading_ones(factors.shape) :]
    if factors.size <= _BROADCAST and last == x.shape[x.ndim - len(last) :]:
        _repeat(x, factors, out)
    elif x.size <= _SMALL or _run(factors.shape, x.shape) >= _BROADCAST:
        np.multiply(x, factors, out=out)
    else:
        return False
    return True


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
    """Return the length of the first part."""
    length: int = parts[0].stop - parts[0].start
    return length


def _rows(cuts: list[list[slice]]) -> int:
    return math.prod(map(_longest, cuts))


def _run(shape: tuple[int, ...], target: tuple[int, ...]) -> int:
    """Return how many entries stand one after the other before `shape` is broadcast."""
    run = 1
    for length, wanted in zip(reversed(shape), reversed(target), strict=False):
        if length != wanted:
            break
        run *= length
    return run


def _fill(table: NDArray[Any], rows: list[int]) -> NDArray[Any]:
    """Repeat `table` to `rows`, as a matrix: NumPy is slow where it broadcasts a short row."""
    width = table.shape[-1]
    if table.size != math.prod(rows) * width:
        filled = np.empty((*rows, width), table.dtype)
        filled[...] = table
        table = filled
    return table.reshape(-1, width)


def _interleaved(factors: NDArray[Any], rows: list[int]) -> _Kernel:
    numbers = _fill(factors, rows)

    def kernel(source: NDArray[Any], target: NDArray[Any]) -> None:
        pairs = source.view(numbers.dtype)
        np.multiply(pairs, numbers[: len(pairs)], out=target.view(numbers.dtype))

    return kernel


def _halves(factors: NDArray[Any], rows: list[int]) -> _Kernel:
    # (a, b) becomes (a cos - b sin, b cos + a sin): the vector times the cosines, plus the
    # vector with its halves swapped times the signed sines. All rows are then contiguous.
    cosines = _fill(np.concatenate([factors.real, factors.real], axis=-1), rows)
    sines = _fill(np.concatenate([-factors.imag, factors.imag], axis=-1), rows)
    half = np.dtype((np.void, factors.shape[-1] * cosines.itemsize))
    spare = np.empty_like(cosines)
    whole = cosines, sines, spare, spare.view(half)

    def kernel(source: NDArray[Any], target: NDArray[Any]) -> None:
        fits = len(source) == len(cosines)
        cosine, sine, swapped, halves = whole if fits else (a[: len(source)] for a in whole)
        halves[...] = source.view(half)[:, ::-1]
        np.multiply(swapped, sine, out=swapped)
        np.multiply(source, cosine, out=target)
        np.add(target, swapped, out=target)

    return kernel
