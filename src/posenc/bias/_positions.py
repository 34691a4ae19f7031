"""Positions of queries and keys, and the offsets between them."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc import _checks

# Two positions below it in absolute value have a difference that int64 holds.
LIMIT = 2**62


def positions(name: str, value: ArrayLike, *, whole: bool) -> NDArray[Any]:
    """Return `value` as positions, shape (..., length): int64, or float64 if not `whole`."""
    if whole:
        array: NDArray[Any] = _checks.integers(name, value)
    else:
        array = _checks.finite(name, value)
        # As float64, neighbours beyond 2**53 would fall together.
        if np.asarray(value).dtype.kind in "iu":
            array = _checks.integers(name, value)
    if array.ndim == 0:
        raise ValueError(f"{name} must have shape (..., length), got a single position")
    beyond = (array <= -LIMIT) | (array >= LIMIT)
    if beyond.any():
        raise ValueError(
            f"{name} must lie strictly between -2**62 and 2**62, got {array[beyond].flat[0]}"
        )
    return array


def offsets(queries: ArrayLike, keys: ArrayLike, *, whole: bool = True) -> NDArray[Any]:
    """Return key position minus query position, shape (..., queries, keys)."""
    places = positions("queries", queries, whole=whole)
    others = positions("keys", keys, whole=whole)
    try:
        np.broadcast_shapes(places.shape[:-1], others.shape[:-1])
    except ValueError:
        raise ValueError(
            "queries and keys must have batch axes that broadcast, "
            f"got shapes {places.shape} and {others.shape}"
        ) from None
    return np.asarray(others[..., np.newaxis, :] - places[..., :, np.newaxis])


def offsets_of_vectors(
    queries: ArrayLike,
    query_shape: tuple[int, ...],
    keys: ArrayLike,
    key_shape: tuple[int, ...],
    owners: tuple[str, str] = ("q", "k"),
) -> NDArray[np.int64]:
    """Return the offsets of positions that belong to arrays of shape (..., length, width).

    The arrays are named `owners` in messages.
    """
    arrays = (("queries", queries, owners[0], query_shape), ("keys", keys, owners[1], key_shape))
    for name, value, owner, (*batch, length, _) in arrays:
        array = positions(name, value, whole=True)
        if array.shape[-1] != length:
            raise ValueError(
                f"{name} must hold {length} positions, one for each row of {owner}, "
                f"got shape {array.shape}"
            )
        _checks.broadcastable(name, array, f"{owner}.shape[:-1]", (*batch, length))
    return offsets(queries, keys)
