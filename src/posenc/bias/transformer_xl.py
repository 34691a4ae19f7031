"""Transformer-XL: the four terms of a score, with the sinusoid of the distance."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc import _checks
from posenc.absolute import sinusoid
from posenc.bias import _scores
from posenc.bias.shift import relative_shift

__all__ = ["transformer_xl_scores"]


def transformer_xl_scores(
    q: ArrayLike,
    k: ArrayLike,
    u: ArrayLike,
    v: ArrayLike,
    projection: ArrayLike,
    *,
    causal: bool = True,
    clamp: int | None = None,
    base: float = 10_000.0,
    scale: float | None = None,
) -> NDArray[Any]:
    r"""Return the scaled scores with relative positions and a memory.

    .. math:: A_{ij}=\text{scale}\,\bigl[(q_i+u)^\top k_j+(q_i+v)^\top W_{k,R}\,r_\Delta\bigr],
        \qquad \Delta=i+M-j

    The first M = keys - queries keys are the memory, so query i stands at
    position i + M. :math:`r_\Delta` is the sinusoid of the distance in half-split
    layout, all sines first. The sine of a negative distance is negative: keys
    on the two sides are told apart.

    Parameters
    ----------
    q : array_like of real numbers, shape (..., queries, width)
    k : array_like of real numbers, shape (..., keys, width)
        Keys of the memory, then of the segment; at least as many as queries.
    u, v : array_like of real numbers, shape (..., width)
        What takes the place of the query's position in the content term and in
        the position term; broadcast against `q` without its length axis, as
        (heads, width) does.
    projection : array_like of real numbers, shape (..., width, model_width)
        :math:`W_{k,R}` of each head; `model_width` is even. Batch axes broadcast
        against those of `q`. A weight of shape (heads * width, model_width) is
        reshaped to (heads, width, model_width).
    causal : bool, optional
        If true, keys after the query have :math:`-\infty`; if false, the score
        at the negative distance, as in XLNet.
    clamp : int, optional
        Distances beyond it, on both sides, count as `clamp`.
    base : float, optional
        See :func:`posenc.absolute.frequencies`.
    scale : float, optional
        Default :math:`1/\sqrt{\text{width}}`; it multiplies both terms.

    Returns
    -------
    ndarray, shape (..., queries, keys)
        In the dtype of `q` (float64 for integers). The sinusoid is float64.

    Raises
    ------
    TypeError
        If an argument holds no real numbers, or `clamp` is no integer.
    ValueError
        If shapes do not fit, there are more queries than keys, `model_width` is
        odd, `clamp` is negative, or `base` or `scale` is out of range.

    References
    ----------
    Dai et al., "Transformer-XL: Attentive Language Models beyond a Fixed-Length
    Context" (2019), section 3.3; the two-sided range is that of Yang et al.,
    "XLNet" (2019).
    """
    query_vectors = _scores.matrices("q", q, "queries, width")
    key_vectors = _scores.matrices("k", k, "keys, width")
    weights = _scores.matrices("projection", projection, "width, model_width")
    *batch, queries, width = query_vectors.shape
    keys = key_vectors.shape[-2]
    _scores.same_width("k", key_vectors, "q", width)
    if keys < max(queries, 1):
        raise ValueError(
            f"k must have at least as many vectors as q, and one; got {keys} and {queries}"
        )
    content, position = (
        _checks.broadcastable(
            name, _checks.real(name, value), "q.shape without queries", (*batch, width)
        )
        for name, value in (("u", u), ("v", v))
    )
    if weights.shape[-2] != width:
        raise ValueError(
            f"projection must have shape (..., {width}, model_width), got {weights.shape}"
        )
    _scores.batch_axes(q=tuple(batch), k=key_vectors.shape[:-2], projection=weights.shape[:-2])
    multiplier = _scores.factor(scale, width)

    distance = np.arange(keys - 1, -1 if causal else -max(queries, 1), -1)
    if clamp is not None:
        furthest = _checks.at_least("clamp", clamp, 0)
        distance = np.clip(distance, -furthest, furthest)
    code = sinusoid(distance, weights.shape[-1], base=base, layout="half-split")
    relative_keys = code @ weights.astype(np.float64).mT

    a, b, c, d = _scores.working(query_vectors, key_vectors, content, position)
    by_distance = (a + d[..., np.newaxis, :]) @ relative_keys.mT.astype(a.dtype)
    scores = (a + c[..., np.newaxis, :]) @ b.mT + relative_shift(by_distance, keys=keys)
    return np.asarray(scores * multiplier).astype(query_vectors.dtype)
