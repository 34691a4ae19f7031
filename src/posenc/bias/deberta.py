"""DeBERTa: content and position apart, in three terms of the score."""

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc import _checks
from posenc.bias import _scores
from posenc.bias._positions import LIMIT, offsets, offsets_of_vectors

__all__ = ["deberta_bucket", "deberta_index", "deberta_scores"]


def deberta_bucket(
    offset: ArrayLike, *, buckets: int = 256, max_distance: int = 512
) -> NDArray[np.int64]:
    r"""Return the signed logarithmic bucket of each offset.

    With h = buckets / 2 an offset up to h is its own bucket; beyond, with
    :math:`x=|\Delta|`, it is

    .. math:: \mathrm{sign}(\Delta)\Bigl(h+\Bigl\lceil
        \frac{\ln(x/h)}{\ln((\text{max\_distance}-1)/h)}(h-1)\Bigr\rceil\Bigr).

    Parameters
    ----------
    offset : array_like of int, any shape
        A difference of positions. The function is odd, so it serves both signs.
    buckets : int, optional
        ``position_buckets`` of a configuration; even and at least 4.
    max_distance : int, optional
        ``max_relative_positions`` of a configuration; more than h + 1.

    Returns
    -------
    ndarray of int64, shape of `offset`
        Distances from `max_distance` on, where the formula passes `buckets`,
        get `buckets`: a table has no rows beyond.

    Raises
    ------
    TypeError
        If an argument is no integer.
    ValueError
        If `buckets` or `max_distance` is out of range.

    Notes
    -----
    The boundaries are found in integers. T5's buckets round down, these up.

    References
    ----------
    He, Liu, Gao, Chen, "DeBERTa: Decoding-enhanced BERT with Disentangled
    Attention" (2021); the buckets are those of the released code of version 2.

    Examples
    --------
    >>> deberta_bucket([128, 129, 200, -511, 512]).tolist()
    [128, 129, 169, -255, 256]
    """
    difference = _checks.integers("offset", offset)
    count = _checks.at_least("buckets", buckets, 4)
    if count % 2:
        raise ValueError(f"buckets must be even, got {count}")
    half = count // 2
    furthest = _checks.at_least("max_distance", max_distance, half + 2)
    if furthest >= LIMIT:
        raise ValueError(f"max_distance must be below 2**62, got {furthest}")
    # Clipping first: the absolute value of the least int64 is no int64.
    difference = np.clip(difference, -furthest, furthest)
    lasts = [_last_distance(half, furthest - 1, j) for j in range(half)]
    distance = np.abs(difference)
    # Bucket half + j ends with the distance lasts[j].
    beyond = half + np.searchsorted(np.array(lasts, dtype=np.int64), distance, side="left")
    bucket = np.where(distance <= half, distance, beyond)
    return np.asarray(np.sign(difference) * bucket, dtype=np.int64)


def deberta_index(
    queries: ArrayLike, keys: ArrayLike, span: int, *, max_distance: int | None = None
) -> NDArray[np.int64]:
    r"""Return the row :math:`\delta` of the relative table for each query and key.

    .. math:: \delta(m,n)=\mathrm{clip}(m-n+k,\;0,\;2k-1)

    Here the *query's* position comes first, opposite to the offset elsewhere in
    this library, and the two ends differ: k - 1 rows for keys before the query
    and k for keys after it.

    Parameters
    ----------
    queries : array_like of int, shape (..., queries)
        Positions m of the queries.
    keys : array_like of int, shape (..., keys)
        Positions n of the keys.
    span : int
        Half the rows of the table, k; positive.
    max_distance : int, optional
        If given, m - n is replaced by its bucket, ``deberta_bucket(m - n,
        buckets=span, max_distance=max_distance)``, as in version 2 and 3.

    Returns
    -------
    ndarray of int64, shape (..., queries, keys)

    Raises
    ------
    TypeError
        If an argument is no integer.
    ValueError
        If `span` or `max_distance` is out of range, a position reaches 2**62, or
        shapes do not fit.

    References
    ----------
    He, Liu, Gao, Chen, "DeBERTa: Decoding-enhanced BERT with Disentangled
    Attention" (2021), section 3.1.

    Examples
    --------
    >>> deberta_index([0, 1, 2, 3], [0, 1, 2, 3], 2).tolist()
    [[2, 1, 0, 0], [3, 2, 1, 0], [3, 3, 2, 1], [3, 3, 3, 2]]
    """
    half = _checks.at_least("span", span, 1)
    return _rows(-offsets(queries, keys), half, max_distance)


def deberta_scores(
    q: ArrayLike,
    k: ArrayLike,
    position_q: ArrayLike | None,
    position_k: ArrayLike | None,
    queries: ArrayLike,
    keys: ArrayLike,
    *,
    variant: Literal["released", "paper"] = "released",
    max_distance: int | None = None,
    scale: float | None = None,
) -> NDArray[Any]:
    r"""Return the scaled scores of disentangled attention.

    .. math:: \text{scale}\,\bigl[q_m^\top k_n+q_m^\top K^r_{\delta(m,n)}
        +k_n^\top Q^r_{\rho}\bigr]

    The paper has :math:`\rho=\delta(n,m)` in the last term, the released code and
    its ports :math:`\rho=\delta(m,n)`. Trained models need "released". Because
    both tables are projections of one, this is no mere renaming of rows.

    Parameters
    ----------
    q : array_like of real numbers, shape (..., queries, width)
    k : array_like of real numbers, shape (..., keys, width)
    position_q : array_like of real numbers, shape (..., 2 * span, width), or None
        The relative table after the projection of queries, :math:`Q^r`; None
        leaves out the term position-to-content.
    position_k : array_like of real numbers, shape (..., 2 * span, width), or None
        The relative table after the projection of keys, :math:`K^r`; None leaves
        out the term content-to-position.
    queries : array_like of int, shape (..., queries)
        Position of each query; broadcasts against ``q.shape[:-1]``.
    keys : array_like of int, shape (..., keys)
        Position of each key; broadcasts against ``k.shape[:-1]``.
    variant : {"released", "paper"}, optional
    max_distance : int, optional
        See :func:`deberta_index`.
    scale : float, optional
        Default :math:`1/\sqrt{t\cdot\text{width}}` with t the number of terms
        present, 3 if none is left out.

    Returns
    -------
    ndarray, shape (..., queries, keys)
        In the dtype of `q` (float64 for integers).

    Raises
    ------
    TypeError
        If an argument holds no real numbers, or positions are no integers.
    ValueError
        If shapes do not fit, both tables are None, a table has an odd number of
        rows, a position reaches 2**62, or `variant` is unknown.

    References
    ----------
    He, Liu, Gao, Chen (2021), section 3.1; the released code.
    """
    _checks.choice("variant", variant, ("released", "paper"))
    query_vectors = _scores.matrices("q", q, "queries, width")
    key_vectors = _scores.matrices("k", k, "keys, width")
    width = query_vectors.shape[-1]
    _scores.same_width("k", key_vectors, "q", width)
    tables = {
        name: _table(name, value, width)
        for name, value in (("position_q", position_q), ("position_k", position_k))
        if value is not None
    }
    if not tables:
        raise ValueError("position_q or position_k must be given, got None for both")
    sizes = {table.shape[-2] for table in tables.values()}
    if len(sizes) > 1:
        raise ValueError(f"position_q and position_k must have as many rows, got {sorted(sizes)}")
    _scores.batch_axes(
        q=query_vectors.shape[:-2],
        k=key_vectors.shape[:-2],
        **{name: table.shape[:-2] for name, table in tables.items()},
    )
    span = sizes.pop() // 2
    difference = -offsets_of_vectors(queries, query_vectors.shape, keys, key_vectors.shape)
    multiplier = _scores.factor(scale, width, 1 + len(tables))

    a, b, *rest = _scores.working(query_vectors, key_vectors, *tables.values())
    rows = dict(zip(tables, rest, strict=True))
    scores = a @ b.mT
    index = _rows(difference, span, max_distance)
    if "position_k" in rows:
        scores = scores + _scores.gather(a @ rows["position_k"].mT, index)
    if "position_q" in rows:
        if variant == "paper":
            index = _rows(-difference, span, max_distance)
        # One row for each key, as the products are; the scores have one for each query.
        scores = scores + _scores.gather(b @ rows["position_q"].mT, index.mT).mT
    return np.asarray(scores * multiplier).astype(query_vectors.dtype)


def _table(name: str, value: ArrayLike, width: int) -> NDArray[Any]:
    table = _scores.matrices(name, value, "2 * span, width")
    _scores.same_width(name, table, "q", width)
    if table.shape[-2] == 0 or table.shape[-2] % 2:
        raise ValueError(f"{name} must have a positive even number of rows, got {table.shape}")
    return table


def _rows(difference: NDArray[np.int64], span: int, max_distance: int | None) -> NDArray[np.int64]:
    """Return the row of the table for query position minus key position."""
    if max_distance is not None:
        difference = deberta_bucket(difference, buckets=span, max_distance=max_distance)
    return np.asarray(np.clip(difference, -span, span - 1) + span)


def _last_distance(half: int, furthest: int, j: int) -> int:
    """Return the greatest x with (x / half)**(half - 1) <= (furthest / half)**j, in integers."""
    bound = furthest**j * half ** (half - 1 - j)
    low, high = half, furthest
    while low < high:
        middle = (low + high + 1) // 2
        if middle ** (half - 1) <= bound:
            low = middle
        else:
            high = middle - 1
    return low
