"""Checks of arguments, shared by the public functions.

Each returns the argument as an array and raises an error that names the
argument, the rule and what was got.
"""

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Layout = Literal["interleaved", "half-split"]


def real(name: str, value: ArrayLike) -> NDArray[Any]:
    """Return `value` as an array of real numbers; integers become float64."""
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise ValueError(f"{name} must be a regular array of real numbers: {error}") from None
    # Custom types such as bfloat16 are of kind "V" for NumPy, yet convert to float.
    if array.dtype.kind in "iu":
        return array.astype(np.float64)
    if array.dtype.kind == "f" or array.dtype.name == "bfloat16":
        return array
    raise TypeError(f"{name} must hold real numbers, got dtype {array.dtype}")


def finite(name: str, value: ArrayLike) -> NDArray[np.float64]:
    """Return `value` as float64, all of it finite."""
    array = real(name, value).astype(np.float64)
    if not np.isfinite(array).all():
        first = array[~np.isfinite(array)].flat[0]
        raise ValueError(f"{name} must be finite, got {first}")
    return array


def frequency_vector(name: str, value: ArrayLike) -> NDArray[np.float64]:
    """Return `value` as a non-empty vector of finite frequencies."""
    array = finite(name, value)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(
            f"{name} must be a vector with one frequency per pair, got shape {array.shape}"
        )
    return array


def layout_name(layout: str) -> None:
    """Refuse any name of a layout but the two that exist."""
    if layout not in ("interleaved", "half-split"):
        raise ValueError(f'layout must be "interleaved" or "half-split", got {layout!r}')


def integer(name: str, value: int) -> int:
    """Return `value` as an int; booleans and fractions are none."""
    if isinstance(value, bool | np.bool_) or not hasattr(value, "__index__"):
        raise TypeError(f"{name} must be an integer, got {value!r}")
    return value.__index__()


def even_width(name: str, value: int) -> int:
    """Return `value` as a positive, even int."""
    width = integer(name, value)
    if width < 2 or width % 2:
        raise ValueError(f"{name} must be a positive even number, got {width}")
    return width


def broadcastable(
    name: str, array: NDArray[Any], target: str, shape: tuple[int, ...]
) -> NDArray[Any]:
    """Return `array`, which must broadcast to `shape`, the shape of `target`."""
    try:
        fits = np.broadcast_shapes(array.shape, shape) == shape
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(
            f"{name} must broadcast against {target} = {shape}, got shape {array.shape}"
        )
    return array
