"""T5: one learned bias for each bucket of offsets."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc import _checks
from posenc.bias._positions import LIMIT, offsets

__all__ = ["t5_bias", "t5_bucket", "t5_bucket_starts"]


def t5_bucket(
    relative_position: ArrayLike,
    *,
    bidirectional: bool,
    buckets: int = 32,
    max_distance: int = 128,
) -> NDArray[np.int64]:
    r"""Return the bucket of each offset.

    Let B be the buckets of one side: all of them, or half if `bidirectional`.
    With :math:`e=\lfloor B/2\rfloor` a distance :math:`x<e` is its own bucket,
    and a longer one has

    .. math:: \min\Bigl(B-1,\; e+\Bigl\lfloor
        \frac{\ln(x/e)}{\ln(\text{max\_distance}/e)}\,(B-e)\Bigr\rfloor\Bigr).

    With `bidirectional`, x is the absolute offset, and B is added for keys after
    the query; so bucket B stays empty, because such keys are at least 1 away.
    Without, keys after the query share bucket 0 with the query's own.

    Parameters
    ----------
    relative_position : array_like of int, any shape
        Key position minus query position.
    bidirectional : bool
        Whether keys after the query are told apart.
    buckets : int, optional
        Number of buckets of both sides together.
    max_distance : int, optional
        Distances from here on share the last bucket; so do some before it.

    Returns
    -------
    ndarray of int64, shape of `relative_position`

    Raises
    ------
    TypeError
        If an argument is no integer.
    ValueError
        If `buckets` is below 2, or with `bidirectional` odd or below 4, or if
        `max_distance` is not above e.

    Notes
    -----
    The boundaries are found in integers. The released code takes float32
    logarithms, which give the same buckets for the settings of released models.
    Elsewhere they may fall short where the quotient is an integer: of 48 buckets
    without direction up to distance 81, 54 gets 39 instead of 40. In bfloat16 even
    the defaults differ: 45 gets 13 instead of 12.

    References
    ----------
    Raffel et al., "Exploring the Limits of Transfer Learning with a Unified
    Text-to-Text Transformer" (2020), section 2.1; the formula is that of the
    released code.

    Examples
    --------
    >>> t5_bucket([-200, -8, -1, 0, 1, 8, 200], bidirectional=True).tolist()
    [15, 8, 1, 0, 17, 24, 31]
    """
    offset = _checks.integers("relative_position", relative_position)
    starts = t5_bucket_starts(
        bidirectional=bidirectional, buckets=buckets, max_distance=max_distance
    )
    # Clipping first: the absolute value of the least int64 is no int64.
    last = int(starts[-1])
    offset = np.clip(offset, -last, last)
    distance = np.abs(offset) if bidirectional else np.maximum(-offset, 0)
    bucket = np.searchsorted(starts, distance, side="right") - 1
    if bidirectional:
        bucket = bucket + starts.size * (offset > 0)
    return np.asarray(bucket, dtype=np.int64)


def t5_bucket_starts(
    *, bidirectional: bool, buckets: int = 32, max_distance: int = 128
) -> NDArray[np.int64]:
    r"""Return the smallest distance of each bucket of one side.

    Bucket e + j starts at the least integer x with
    :math:`x^{B-e}e^{\,j}\ge\text{max\_distance}^{\,j}e^{\,B-e}`, which is the
    formula of :func:`t5_bucket` without logarithms. Two equal entries mean that
    the first of the two buckets is never used.

    Parameters
    ----------
    bidirectional : bool
    buckets : int, optional
    max_distance : int, optional
        As in :func:`t5_bucket`.

    Returns
    -------
    ndarray of int64, shape (B,)
        In non-decreasing order; B is buckets // 2 if `bidirectional`, else buckets.

    Raises
    ------
    TypeError, ValueError
        As :func:`t5_bucket`.

    Examples
    --------
    >>> t5_bucket_starts(bidirectional=True)[8:].tolist()
    [8, 12, 16, 23, 32, 46, 64, 91]
    """
    count = _checks.at_least("buckets", buckets, 4 if bidirectional else 2)
    if bidirectional and count % 2:
        raise ValueError(f"buckets must be even if bidirectional, got {count}")
    side = count // 2 if bidirectional else count
    exact = side // 2
    furthest = _checks.at_least("max_distance", max_distance, exact + 1)
    if furthest >= LIMIT:
        raise ValueError(f"max_distance must be below 2**62, got {furthest}")
    power = side - exact
    logarithmic = [_first_distance(exact, furthest, j, power) for j in range(1, power)]
    return np.array([*range(exact + 1), *logarithmic], dtype=np.int64)


def t5_bias(
    table: ArrayLike,
    queries: ArrayLike,
    keys: ArrayLike,
    *,
    bidirectional: bool,
    max_distance: int = 128,
) -> NDArray[Any]:
    r"""Return the learned bias of each query and key, to be added to the scores.

    Without `bidirectional`, keys after the query have the bias of bucket 0: a
    causal mask must be given apart. T5 does not divide its scores by
    :math:`\sqrt d`, and adds no bias in attention from decoder to encoder,
    where a difference of positions has no meaning.

    Parameters
    ----------
    table : array_like of real numbers, shape (buckets, heads)
    queries : array_like of int, shape (..., queries)
        Positions of the queries. Behind a cache they start after the cached keys.
    keys : array_like of int, shape (..., keys)
        Positions of the keys.
    bidirectional : bool
        True in an encoder, False in a decoder.
    max_distance : int, optional
        See :func:`t5_bucket`.

    Returns
    -------
    ndarray, shape (..., heads, queries, keys)
        In the dtype of `table` (float64 for integers).

    Raises
    ------
    TypeError
        If `table` holds no real numbers or positions are no integers.
    ValueError
        If shapes do not fit, a position reaches 2**62, or as :func:`t5_bucket`.

    References
    ----------
    Raffel et al. (2020), section 2.1.
    """
    values = _checks.real("table", table)
    if values.ndim != 2:
        raise ValueError(f"table must have shape (buckets, heads), got {values.shape}")
    bucket = t5_bucket(
        offsets(queries, keys),
        bidirectional=bidirectional,
        buckets=values.shape[0],
        max_distance=max_distance,
    )
    return np.moveaxis(values[bucket], -1, -3)


def _first_distance(exact: int, furthest: int, j: int, power: int) -> int:
    """Return the least x with (x / exact)**power >= (furthest / exact)**j, in integers."""
    bound = furthest**j * exact ** (power - j)
    low, high = exact, furthest
    while low < high:
        middle = (low + high) // 2
        if middle**power >= bound:
            high = middle
        else:
            low = middle + 1
    return low
