"""From interleaved pairs to half-split ones and back, in vectors and in weights."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc import _checks

__all__ = ["layout_permutation", "permute_projection"]


def layout_permutation(width: int, *, rotary_width: int | None = None) -> NDArray[np.int64]:
    r"""Return the order p of components that takes interleaved pairs to half-split ones.

    Half-split rotation of ``x[..., p]`` equals interleaved rotation of `x`,
    followed by ``[..., p]``. Of the components that are rotated, p lists the
    even ones, then the odd ones; the others stay.

    Parameters
    ----------
    width : int
        Number of components of a head; positive.
    rotary_width : int, optional
        How many of them are rotated, from the first; positive, even, and not
        above `width`. Default all.

    Returns
    -------
    ndarray of int64, shape (width,)
        ``np.argsort(p)`` is the order that leads back.

    Raises
    ------
    TypeError
        If a width is no integer.
    ValueError
        If `rotary_width` is odd, not positive or above `width`.

    Examples
    --------
    >>> layout_permutation(6).tolist()
    [0, 2, 4, 1, 3, 5]
    >>> layout_permutation(6, rotary_width=4).tolist()
    [0, 2, 1, 3, 4, 5]
    """
    if rotary_width is None:
        turned = whole = _checks.even_width("width", width)
    else:
        whole = _checks.at_least("width", width, 1)
        turned = _checks.even_width("rotary_width", rotary_width)
        if turned > whole:
            raise ValueError(f"rotary_width must not exceed width = {whole}, got {turned}")
    parts = np.arange(0, turned, 2), np.arange(1, turned, 2), np.arange(turned, whole)
    return np.concatenate(parts, dtype=np.int64)


def permute_projection(
    weight: ArrayLike,
    heads: int,
    *,
    head_width: int,
    rotary_width: int | None = None,
    axis: int = 0,
    inverse: bool = False,
) -> NDArray[Any]:
    r"""Return a projection for interleaved rotation in the order of half-split rotation.

    Apply it to the weights and biases that make queries and keys, and to what
    is scaled or added per component before the rotation. Scores then stay as
    they were. Values and the output projection are not rotated and stay.

    Parameters
    ----------
    weight : array_like of real numbers
        Weight or bias, with ``heads * head_width`` outputs along `axis`: head
        by head, as in a matrix of shape (heads * head_width, inputs).
    heads : int
        Number of heads *of this projection*. With grouped queries keys have
        fewer heads than queries; permuting them with the number of query heads
        mixes components of different pairs, or does nothing at all.
    head_width : int
        Number of components of a head; even, unless `rotary_width` is given.
        Together with `heads` it must account for each output.
    rotary_width : int, optional
        See :func:`layout_permutation`.
    axis : int, optional
        The axis of the outputs: 0 where they are rows, -1 for ``x @ weight``.
    inverse : bool, optional
        From half-split to interleaved instead.

    Returns
    -------
    ndarray, shape and dtype of `weight`
        A copy.

    Raises
    ------
    TypeError
        If `weight` holds no real numbers, or a count is no integer.
    ValueError
        If `weight` has no such axis, its length is not heads * head_width, or a
        width is not allowed.

    Examples
    --------
    >>> permute_projection([0, 1, 2, 3, 4, 5, 6, 7], heads=2, head_width=4).tolist()
    [0, 2, 1, 3, 4, 6, 5, 7]
    """
    _checks.real("weight", weight)
    array = np.asarray(weight)
    count = _checks.at_least("heads", heads, 1)
    order = layout_permutation(head_width, rotary_width=rotary_width)
    which = _checks.integer("axis", axis)
    if not -array.ndim <= which < array.ndim:
        raise ValueError(f"axis must be an axis of weight, got {which} for shape {array.shape}")
    if array.shape[which] != count * order.size:
        raise ValueError(
            f"weight must have heads * head_width = {count} * {order.size} outputs along axis "
            f"{which}, got shape {array.shape}"
        )
    if inverse:
        order = np.argsort(order)
    rows = np.add.outer(np.arange(count) * order.size, order).ravel()
    return np.asarray(np.take(array, rows, axis=which))
