"""Shaw's relative positions: a learned vector for each clipped offset, on keys and values."""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc import _checks
from posenc.bias import _scores
from posenc.bias._positions import offsets, offsets_of_vectors

__all__ = ["shaw_index", "shaw_scores", "shaw_values"]


def shaw_index(queries: ArrayLike, keys: ArrayLike, clip: int) -> NDArray[np.int64]:
    r"""Return the row of the table for each query and key.

    .. math:: \mathrm{clip}(n-m,\,-k,\,k)+k

    Parameters
    ----------
    queries : array_like of int, shape (..., queries)
        Positions m of the queries.
    keys : array_like of int, shape (..., keys)
        Positions n of the keys.
    clip : int
        The offset k from which on all keys of one side share a row; not negative.

    Returns
    -------
    ndarray of int64, shape (..., queries, keys)
        From 0 to 2k.

    Raises
    ------
    TypeError
        If an argument is no integer.
    ValueError
        If `clip` is negative, a position reaches 2**62, or shapes do not fit.

    Examples
    --------
    >>> shaw_index([0, 1, 2], [0, 1, 2], 1).tolist()
    [[1, 2, 2], [0, 1, 2], [0, 0, 1]]
    """
    furthest = _checks.at_least("clip", clip, 0)
    return np.asarray(np.clip(offsets(queries, keys), -furthest, furthest) + furthest)


def shaw_scores(
    q: ArrayLike,
    k: ArrayLike,
    table: ArrayLike,
    queries: ArrayLike,
    keys: ArrayLike,
    *,
    scale: float | None = None,
) -> NDArray[Any]:
    r"""Return the scaled scores with a relative vector added to each key.

    .. math:: e_{ij}=\text{scale}\;q_i^\top(k_j+a^K_{ij})

    Each query meets each row of the table once, and the products are then
    looked up, so that memory grows with queries × keys and not also with width.

    Parameters
    ----------
    q : array_like of real numbers, shape (..., queries, width)
    k : array_like of real numbers, shape (..., keys, width)
    table : array_like of real numbers, shape (..., 2k + 1, width)
        Row k + r is the vector of offset r, the key's position minus the
        query's, clipped to -k, ..., k. tensor2tensor shares it among the
        heads of a layer; each head of the paper's base model has its own.
    queries : array_like of int, shape (..., queries)
        Position of each query; broadcasts against ``q.shape[:-1]``.
    keys : array_like of int, shape (..., keys)
        Position of each key; broadcasts against ``k.shape[:-1]``.
    scale : float, optional
        Default :math:`1/\sqrt{\text{width}}`; it multiplies both terms.

    Returns
    -------
    ndarray, shape (..., queries, keys)
        In the dtype of `q` (float64 for integers).

    Raises
    ------
    TypeError
        If an argument holds no real numbers, or positions are no integers.
    ValueError
        If shapes do not fit, `table` has an even number of rows, a position
        reaches 2**62, or `scale` is not finite.

    References
    ----------
    Shaw, Uszkoreit, Vaswani, "Self-Attention with Relative Position
    Representations" (2018), section 3.2 and, for the computation, 3.3.
    """
    query_vectors = _scores.matrices("q", q, "queries, width")
    key_vectors = _scores.matrices("k", k, "keys, width")
    vectors = _table(table)
    width = query_vectors.shape[-1]
    _scores.same_width("k", key_vectors, "q", width)
    _scores.same_width("table", vectors, "q", width)
    _scores.batch_axes(
        q=query_vectors.shape[:-2], k=key_vectors.shape[:-2], table=vectors.shape[:-2]
    )
    offset = offsets_of_vectors(queries, query_vectors.shape, keys, key_vectors.shape)
    multiplier = _scores.factor(scale, width)

    a, b, rows = _scores.working(query_vectors, key_vectors, vectors)
    relative = _scores.gather(a @ rows.mT, _row(offset, vectors))
    return np.asarray((a @ b.mT + relative) * multiplier).astype(query_vectors.dtype)


def shaw_values(
    weights: ArrayLike, v: ArrayLike, table: ArrayLike, queries: ArrayLike, keys: ArrayLike
) -> NDArray[Any]:
    r"""Return the output of attention with a relative vector added to each value.

    .. math:: z_i=\sum_j\alpha_{ij}\,(v_j+a^V_{ij})

    The weights of the keys that share a row of the table are added up first.

    Parameters
    ----------
    weights : array_like of real numbers, shape (..., queries, keys)
        Weights after softmax.
    v : array_like of real numbers, shape (..., keys, width)
    table : array_like of real numbers, shape (..., 2k + 1, width)
        As in :func:`shaw_scores`, a table of its own.
    queries : array_like of int, shape (..., queries)
        Position of each query; broadcasts against ``weights.shape[:-1]``.
    keys : array_like of int, shape (..., keys)
        Position of each key; broadcasts against ``v.shape[:-1]``.

    Returns
    -------
    ndarray, shape (..., queries, width)
        In the dtype of `v` (float64 for integers).

    Raises
    ------
    TypeError
        If an argument holds no real numbers, or positions are no integers.
    ValueError
        If shapes do not fit, `table` has an even number of rows, or a position
        reaches 2**62.

    References
    ----------
    Shaw, Uszkoreit, Vaswani (2018), section 3.2.
    """
    alpha = _checks.real("weights", weights)
    values = _scores.matrices("v", v, "keys, width")
    vectors = _table(table)
    if alpha.ndim < 2 or alpha.shape[-1] != values.shape[-2]:
        raise ValueError(
            f"weights must have shape (..., queries, {values.shape[-2]}), a weight for each "
            f"vector of v; got {alpha.shape}"
        )
    _scores.same_width("table", vectors, "v", values.shape[-1])
    _scores.batch_axes(weights=alpha.shape[:-2], v=values.shape[:-2], table=vectors.shape[:-2])
    offset = offsets_of_vectors(queries, alpha.shape, keys, values.shape, owners=("weights", "v"))

    a, b, rows = _scores.working(alpha, values, vectors)
    shared = _sum_by_row(a, _row(offset, vectors), vectors.shape[-2]).astype(a.dtype)
    return np.asarray(a @ b + shared @ rows).astype(values.dtype)


def _table(value: ArrayLike) -> NDArray[Any]:
    vectors = _scores.matrices("table", value, "2k + 1, width")
    if vectors.shape[-2] % 2 == 0:
        raise ValueError(
            "table must have an odd number of rows, one for each offset -k, ..., k; "
            f"got shape {vectors.shape}"
        )
    return vectors


def _row(offset: NDArray[np.int64], vectors: NDArray[Any]) -> NDArray[np.int64]:
    """Return the row of the table for each offset; the table decides where to clip."""
    furthest = vectors.shape[-2] // 2
    return np.asarray(np.clip(offset, -furthest, furthest) + furthest)


def _sum_by_row(weights: NDArray[Any], index: NDArray[np.int64], rows: int) -> NDArray[np.float64]:
    """Return, for each query and row of the table, the sum of the weights with that index."""
    shape = np.broadcast_shapes(weights.shape, index.shape)
    count = math.prod(shape[:-1])
    # Each query has its own cells, so that one count serves the whole batch.
    first = rows * np.arange(count).reshape(*shape[:-1], 1)
    cells = (index + first).ravel()
    amounts = np.broadcast_to(weights, shape).ravel()
    sums = np.bincount(cells, weights=amounts, minlength=count * rows)
    return np.asarray(sums, dtype=np.float64).reshape(*shape[:-1], rows)
