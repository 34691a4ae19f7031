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


def finite_complex(name: str, value: ArrayLike) -> NDArray[Any]:
    """Return `value` as an array of complex numbers, all of them finite."""
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise ValueError(f"{name} must be a regular array of complex numbers: {error}") from None
    if array.dtype.kind != "c":
        raise TypeError(f"{name} must hold complex numbers, got dtype {array.dtype}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite, got {array[~np.isfinite(array)].flat[0]}")
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
    choice("layout", layout, ("interleaved", "half-split"))


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


def number(
    name: str, value: float, *, least: float | None = None, above: float | None = None
) -> float:
    """Return `value` as one finite float, not below `least` and greater than `above`."""
    array = finite(name, value)
    rule = "at least" if above is None else "greater than"
    bound = least if above is None else above
    if (
        array.ndim
        or (least is not None and array < least)
        or (above is not None and array <= above)
    ):
        raise ValueError(
            f"{name} must be one number"
            + ("" if bound is None else f" {rule} {bound:g}")
            + f", got {value!r}"
        )
    return float(array)


def broadcastable(
    name: str, array: NDArray[Any], target: str, shape: tuple[int, ...]
) -> NDArray[Any]:
    """Return `array`, which must broadcast to `shape`, the shape of `target`."""
    lengths = zip(reversed(array.shape), reversed(shape), strict=False)
    if array.ndim > len(shape) or any(length not in (1, wanted) for length, wanted in lengths):
        raise ValueError(
            f"{name} must broadcast against {target} = {shape}, got shape {array.shape}"
        )
    return array


def integers(name: str, value: ArrayLike) -> NDArray[np.int64]:
    """Return `value` as int64; booleans and whole floats are no integers."""
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise ValueError(f"{name} must be a regular array of integers: {error}") from None
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name} must hold integers, got dtype {array.dtype}")
    if array.size and array.max() > np.iinfo(np.int64).max:
        raise ValueError(f"{name} must fit in 64 bits with a sign, got {array.max()}")
    return array.astype(np.int64)


def at_least(name: str, value: int, least: int) -> int:
    """Return `value` as an int not below `least`."""
    count = integer(name, value)
    if count < least:
        raise ValueError(f"{name} must be at least {least}, got {count}")
    return count


def choice(name: str, value: str, allowed: tuple[str, ...]) -> None:
    """Refuse any `value` but those in `allowed`."""
    if value not in allowed:
        options = " or ".join(f'"{option}"' for option in allowed)
        raise ValueError(f"{name} must be {options}, got {value!r}")
