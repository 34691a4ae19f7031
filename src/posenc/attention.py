"""Scaled dot-product attention with a mask and a bias."""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc import _checks

__all__ = ["attention", "causal_mask", "softmax"]


def softmax(scores: ArrayLike, axis: int = -1) -> NDArray[Any]:
    r"""Return :math:`e^{s_j}/\sum_i e^{s_i}` along `axis`.

    Parameters
    ----------
    scores : array_like of real numbers
        May hold :math:`-\infty`, which gets weight 0.
    axis : int, optional

    Returns
    -------
    ndarray, shape of `scores`
        In its dtype (float64 for integers); sums to 1 along `axis`.

    Raises
    ------
    TypeError
        If `scores` holds no real numbers.
    ValueError
        If a row holds NaN, :math:`+\infty`, or nothing but :math:`-\infty`:
        its weights are undefined.
    """
    array = _checks.real("scores", scores)
    if array.ndim == 0 or array.size == 0:
        raise ValueError(f"scores must hold at least one number, got shape {array.shape}")
    largest = array.max(axis=axis, keepdims=True)
    if not np.isfinite(largest).all():
        first = largest[~np.isfinite(largest)].flat[0]
        raise ValueError(f"each row of scores must have a finite largest entry, got {first}")
    weights = np.exp(array - largest)
    return np.asarray(weights / weights.sum(axis=axis, keepdims=True))


def causal_mask(length: int) -> NDArray[np.bool_]:
    """Return the mask in which each position attends to itself and to earlier ones.

    Parameters
    ----------
    length : int
        Number of positions; positive.

    Returns
    -------
    ndarray of bool, shape (length, length)
        True at (i, j) where query i may attend to key j, that is j <= i.

    Raises
    ------
    TypeError
        If `length` is no integer.
    ValueError
        If `length` is not positive.
    """
    size = _checks.integer("length", length)
    if size < 1:
        raise ValueError(f"length must be positive, got {size}")
    return np.tri(size, dtype=np.bool_)


def attention(
    q: ArrayLike,
    k: ArrayLike,
    v: ArrayLike,
    *,
    mask: ArrayLike | None = None,
    bias: ArrayLike | None = None,
    scale: float | None = None,
) -> tuple[NDArray[Any], NDArray[Any]]:
    r"""Return :math:`\mathrm{softmax}(\text{scale}\,qk^\top+\text{bias})\,v` and the weights.

    Parameters
    ----------
    q : array_like of real numbers, shape (..., queries, width)
    k : array_like of real numbers, shape (..., keys, width)
    v : array_like of real numbers, shape (..., keys, value_width)
    mask : array_like of bool, optional
        Broadcasts against (..., queries, keys); True where a query may attend.
    bias : array_like of real numbers, optional
        Broadcasts against (..., queries, keys); added after scaling.
    scale : float, optional
        Default :math:`1/\sqrt{\text{width}}`.

    Returns
    -------
    output : ndarray, shape (..., queries, value_width)
    weights : ndarray, shape (..., queries, keys)
        Rows sum to 1.

    Raises
    ------
    TypeError
        If an argument holds no real numbers, or `mask` is not boolean.
    ValueError
        If shapes do not fit, or a query may attend to nothing.

    References
    ----------
    Vaswani et al., "Attention Is All You Need" (2017), section 3.2.1.
    """
    queries, keys, values = (_checks.real(n, x) for n, x in (("q", q), ("k", k), ("v", v)))
    for name, array in (("q", queries), ("k", keys), ("v", values)):
        if array.ndim < 2:
            raise ValueError(f"{name} must have shape (..., length, width), got {array.shape}")
    if queries.shape[-1] != keys.shape[-1]:
        raise ValueError(
            f"q and k must have the same width, got shapes {queries.shape} and {keys.shape}"
        )
    if keys.shape[-2] != values.shape[-2]:
        raise ValueError(
            f"k and v must have the same length, got shapes {keys.shape} and {values.shape}"
        )
    factor = 1 / math.sqrt(queries.shape[-1]) if scale is None else scale
    scores = np.asarray(queries @ keys.mT * factor)
    if bias is not None:
        scores = scores + _scores_like("bias", _checks.real("bias", bias), scores)
    if mask is not None:
        allowed = np.asarray(mask)
        if allowed.dtype != np.bool_:
            raise TypeError(f"mask must be boolean, True = may attend; got dtype {allowed.dtype}")
        allowed = np.broadcast_to(_scores_like("mask", allowed, scores), scores.shape)
        empty = ~allowed.any(axis=-1)
        if empty.any():
            row = tuple(int(i) for i in np.argwhere(empty)[0])
            raise ValueError(f"mask must allow each query some key, but row {row} allows none")
        scores = np.where(allowed, scores, -np.inf)
    weights = softmax(scores)
    return np.asarray(weights @ values), weights


def _scores_like(name: str, array: NDArray[Any], scores: NDArray[Any]) -> NDArray[Any]:
    return _checks.broadcastable(name, array, "(..., queries, keys)", scores.shape)
