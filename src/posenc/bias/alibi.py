"""ALiBi: each head subtracts its slope times the distance."""

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc import _checks
from posenc.bias._positions import offsets, positions

__all__ = ["alibi_bias", "alibi_key_bias", "alibi_slopes"]


def alibi_slopes(
    heads: int,
    variant: Literal["released", "paper"] = "released",
    *,
    max_exponent: float = 8.0,
) -> NDArray[np.float64]:
    r"""Return the slope of each head.

    For a power of two both variants are :math:`2^{-8(h+1)/H}` for heads
    h = 0, ..., H - 1. For other numbers of heads

    - "paper" keeps that formula, a geometric sequence;
    - "released" takes the slopes of the largest power of two C below H, then
      the first H - C of every second slope of 2C heads. Trained models use it.
      The slopes do not fall from head to head.

    Parameters
    ----------
    heads : int
        Number of heads H; positive.
    variant : {"released", "paper"}, optional
    max_exponent : float, optional
        The last head of a power of two has slope 2**-max_exponent; the paper
        and its code use 8.

    Returns
    -------
    ndarray of float64, shape (heads,)
        Score units per position.

    Raises
    ------
    TypeError
        If `heads` is no integer or `max_exponent` no real number.
    ValueError
        If `heads` or `max_exponent` is not positive, or `variant` is unknown.

    References
    ----------
    Press, Smith, Lewis, "Train Short, Test Long: Attention with Linear Biases
    Enables Input Length Extrapolation" (2022), section 3; the released code for
    numbers of heads that are no power of two.

    Examples
    --------
    >>> alibi_slopes(3).tolist()
    [0.0625, 0.00390625, 0.25]
    >>> alibi_slopes(3, "paper").round(6).tolist()
    [0.15749, 0.024803, 0.003906]
    """
    count = _checks.at_least("heads", heads, 1)
    _checks.choice("variant", variant, ("released", "paper"))
    exponent = _checks.number("max_exponent", max_exponent, above=0)

    def geometric(size: int) -> NDArray[np.float64]:
        return np.exp2(-exponent * np.arange(1, size + 1) / size)

    if variant == "paper":
        return geometric(count)
    below = 1 << (count.bit_length() - 1)
    return np.concatenate([geometric(below), geometric(2 * below)[::2][: count - below]])


def alibi_bias(
    slopes: ArrayLike, queries: ArrayLike, keys: ArrayLike, *, symmetric: bool = False
) -> NDArray[Any]:
    r"""Return minus the slope times the distance, to be added to the scaled scores.

    For a query at m and a key at n the entry is :math:`-s\,(m-n)`, and
    :math:`-\infty` for n > m, where the paper has no value. With `symmetric` it is
    :math:`-s\,|n-m|` on both sides, an extension for bidirectional attention
    that the paper leaves open.

    Parameters
    ----------
    slopes : array_like of real numbers, shape (heads,)
        See :func:`alibi_slopes`.
    queries : array_like of real numbers, shape (..., queries)
        Positions of the queries. Behind a cache they start after the cached keys.
    keys : array_like of real numbers, shape (..., keys)
        Positions of the keys.
    symmetric : bool, optional

    Returns
    -------
    ndarray, shape (..., heads, queries, keys)
        In the dtype of `slopes` (float64 for integers); the product is float64.
        A penalty beyond the range of the dtype becomes :math:`-\infty`.

    Raises
    ------
    TypeError
        If an argument holds no real numbers.
    ValueError
        If a slope or position is not finite, a position reaches 2**62, or
        shapes do not fit.

    See Also
    --------
    alibi_key_bias : the same up to a constant for each query.

    Notes
    -----
    The bias is not divided by :math:`\sqrt d`. Falcon adds it before that
    division, so its effective slopes are smaller by that factor.

    References
    ----------
    Press, Smith, Lewis (2022), section 3 and its footnote on the scale.

    Examples
    --------
    >>> alibi_bias([0.5], [2], [0, 1, 2, 3])[0].tolist()
    [[-1.0, -0.5, 0.0, -inf]]
    """
    table, steps = _slopes(slopes)
    offset = offsets(queries, keys, whole=False)[..., np.newaxis, :, :]
    # Subtracted from zero, so that a distance of 0 gives 0.0 and not -0.0.
    bias = 0.0 - steps[:, np.newaxis, np.newaxis] * np.abs(offset)
    if not symmetric:
        bias = np.where(offset > 0, -np.inf, bias)
    return _narrow(bias, table)


def alibi_key_bias(slopes: ArrayLike, keys: ArrayLike) -> NDArray[Any]:
    r"""Return the slope times the key position, one row for all queries.

    It is what the released code adds. From the bias of the paper it differs by
    :math:`s\,m` for the query at m, the same for all its keys, which softmax
    removes. That holds only under a causal mask, which must be given apart:
    for a key after the query the value grows with the distance.
    In float16 or bfloat16 it loses the small distances at large positions, where
    :func:`alibi_bias` keeps them.

    Parameters
    ----------
    slopes : array_like of real numbers, shape (heads,)
    keys : array_like of real numbers, shape (..., keys)
        Positions of the keys.

    Returns
    -------
    ndarray, shape (..., heads, 1, keys)
        In the dtype of `slopes` (float64 for integers).

    Raises
    ------
    TypeError
        If an argument holds no real numbers.
    ValueError
        If a slope or position is not finite, a position reaches 2**62, or
        shapes do not fit.

    References
    ----------
    Press, Smith, Lewis (2022), the released code.
    """
    table, steps = _slopes(slopes)
    places = positions("keys", keys, whole=False)[..., np.newaxis, np.newaxis, :]
    return _narrow(steps[:, np.newaxis, np.newaxis] * places, table)


def _slopes(value: ArrayLike) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Return the slopes as given and as float64."""
    table, steps = _checks.real("slopes", value), _checks.finite("slopes", value)
    if steps.ndim != 1 or steps.size == 0:
        raise ValueError(f"slopes must be a vector, one for each head; got shape {steps.shape}")
    return table, steps


def _narrow(bias: NDArray[np.float64], table: NDArray[Any]) -> NDArray[Any]:
    # An overflow is meant: exp(-inf) is the weight that such a penalty has.
    with np.errstate(over="ignore"):
        return bias.astype(table.dtype)
