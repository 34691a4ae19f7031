"""What the score terms share: checks of vectors and tables, precision, scale, gathering."""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc import _checks


def matrices(name: str, value: ArrayLike, axes: str) -> NDArray[Any]:
    """Return `value` as real numbers of shape (..., `axes`), two axes, the last not empty."""
    array = _checks.real(name, value)
    if array.ndim < 2 or array.shape[-1] == 0:
        raise ValueError(f"{name} must have shape (..., {axes}), got {array.shape}")
    return array


def same_width(name: str, array: NDArray[Any], other: str, width: int) -> None:
    """Refuse vectors whose last axis is not `width`, that of `other`."""
    if array.shape[-1] != width:
        raise ValueError(f"{name} must have the width of {other}, {width}, got shape {array.shape}")


def batch_axes(**shapes: tuple[int, ...]) -> tuple[int, ...]:
    """Return what the given batch axes broadcast to."""
    try:
        return np.broadcast_shapes(*shapes.values())
    except ValueError:
        names = ", ".join(shapes)
        got = ", ".join(str(shape) for shape in shapes.values())
        raise ValueError(f"batch axes of {names} must broadcast, got {got}") from None


def working(*arrays: NDArray[Any]) -> list[NDArray[Any]]:
    """Return the arrays in one dtype, float32 or wider.

    Sums of float16 or bfloat16 products are rounded once, at the end.
    """
    dtype = np.result_type(np.float32, *(array.dtype for array in arrays))
    return [array.astype(dtype, copy=False) for array in arrays]


def factor(scale: float | None, width: int, terms: int = 1) -> float:
    """Return `scale`, by default 1 / sqrt(terms * width)."""
    return 1 / math.sqrt(terms * width) if scale is None else _checks.number("scale", scale)


def gather(rows: NDArray[Any], index: NDArray[np.int64]) -> NDArray[Any]:
    """Return ``rows[..., i, index[..., i, j]]`` at (..., i, j); batch axes broadcast."""
    axes = max(rows.ndim, index.ndim)
    rows, index = (
        array.reshape((1,) * (axes - array.ndim) + array.shape) for array in (rows, index)
    )
    return np.take_along_axis(rows, index, axis=-1)
