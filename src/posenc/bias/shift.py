"""From scores against distances to scores against keys, without an index for each pair."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc import _checks
from posenc.bias._scores import matrices

__all__ = ["relative_shift"]


def relative_shift(x: ArrayLike, *, keys: int | None = None, fill: float = -np.inf) -> NDArray[Any]:
    r"""Move each row of `x` so that columns, which are distances, become keys.

    Column c of `x` holds the score at distance keys - 1 - c, so the distances
    fall from keys - 1 to 0 and on to negative ones, keys after the query. The
    queries stand at the last positions: query i at keys - queries + i.

    Rows are made longer by `queries` columns and the memory is read with rows
    one shorter, which moves each row by one more than the one above ("skewing").
    Distances that `x` does not hold become `fill`. The trick as published leaves
    numbers of other rows there, so that a causal mask must follow.

    Parameters
    ----------
    x : array_like of real numbers, shape (..., queries, distances)
    keys : int, optional
        Number of keys; default the number of distances, which are then
        keys - 1, ..., 0. At most keys + queries - 1 distances have a use.
    fill : float, optional

    Returns
    -------
    ndarray, shape (..., queries, keys)
        In the dtype of `x` (float64 for integers).

    Raises
    ------
    TypeError
        If `x` holds no real numbers or `keys` is no integer.
    ValueError
        If shapes do not fit or there are more queries than keys.

    References
    ----------
    Dai et al., "Transformer-XL: Attentive Language Models beyond a Fixed-Length
    Context" (2019), appendix B. Huang et al., "Music Transformer" (2018),
    section 3.4.

    Examples
    --------
    >>> relative_shift([[2, 1, 0], [12, 11, 10], [22, 21, 20]], fill=-1).tolist()
    [[0.0, -1.0, -1.0], [11.0, 10.0, -1.0], [22.0, 21.0, 20.0]]
    """
    table = matrices("x", x, "queries, distances")
    *batch, queries, distances = table.shape
    length = distances if keys is None else _checks.integer("keys", keys)
    if length < max(queries, 1):
        raise ValueError(f"x must not have more queries than keys, got {queries} and {length}")
    longer = max(queries, 1)
    most = length + longer - 1
    if distances > most:
        raise ValueError(
            f"x must hold at most {most} distances for {queries} queries and {length} keys, "
            f"got {distances}"
        )
    wide = np.full((*batch, queries, length + longer), fill, dtype=table.dtype)
    wide[..., :distances] = table
    flat = wide.reshape(*batch, queries * (most + 1))
    rows = flat[..., longer - 1 : longer - 1 + queries * most]
    return rows.reshape(*batch, queries, most)[..., :length]
