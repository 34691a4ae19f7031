"""xPos: rotation with a length that grows for keys and decays for queries."""

import math
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc import _checks
from posenc._checks import Layout
from posenc.rotary._blocks import multiply_pairs
from posenc.rotary.angles import factors

__all__ = ["xpos", "xpos_decay"]


def xpos_decay(pairs: int, *, gamma: float = 0.4) -> NDArray[np.float64]:
    r"""Return :math:`\zeta_r=\frac{2r/d+\gamma}{1+\gamma}` of each pair, with d = 2 * pairs.

    The fastest plane, r = 0, has the smallest, the slowest one the largest.

    Parameters
    ----------
    pairs : int
        Positive.
    gamma : float, optional
        Positive; 0.4 in the released code.

    Returns
    -------
    ndarray of float64, shape (pairs,)
        Between 0 and 1.

    Raises
    ------
    TypeError
        If `pairs` is no integer or `gamma` no real number.
    ValueError
        If one of them is not positive.

    References
    ----------
    Sun et al., "A Length-Extrapolatable Transformer" (2022), and torchscale,
    the code released with it.

    Examples
    --------
    >>> import numpy as np
    >>> np.round(xpos_decay(2), 6).tolist()
    [0.285714, 0.642857]
    """
    count = _checks.at_least("pairs", pairs, 1)
    shift = _checks.number("gamma", gamma, above=0)
    return np.asarray((np.arange(count) / count + shift) / (1 + shift))


def xpos(
    x: ArrayLike,
    positions: ArrayLike,
    frequencies: ArrayLike,
    *,
    role: Literal["query", "key"],
    scale_base: float = 512.0,
    gamma: float = 0.4,
    centre: float = 0.0,
    layout: Layout = "interleaved",
) -> NDArray[Any]:
    r"""Turn each pair as :func:`posenc.rotary.rotate` does, and change its length.

    At position m pair r of a query is multiplied by
    :math:`\zeta_r^{(m-c)/B}R(m\omega_r)` and that of a key by
    :math:`\zeta_r^{-(m-c)/B}R(m\omega_r)`, with :math:`\zeta` of
    :func:`xpos_decay`, scale base B and centre c. The score of a query at m and
    a key at n then holds :math:`\zeta_r^{(m-n)/B}`: it depends on n - m alone,
    and decays with distance where the key comes first.

    Parameters
    ----------
    x : array_like of real numbers, shape (..., length, width)
        Queries or keys.
    positions : array_like of real numbers
        Position of each vector; broadcasts against ``x.shape[:-1]``.
    frequencies : array_like, shape (pairs,)
        Radians per position; 2 * pairs <= width. The width d in the decay is
        2 * pairs.
    role : {"query", "key"}
        What `x` is.
    scale_base : float, optional
        B in positions; positive.
    gamma : float, optional
        See :func:`xpos_decay`.
    centre : float, optional
        Position c at which lengths are kept; the same for queries and keys.
        Scores do not depend on it, but the range of the factors does.
    layout : {"interleaved", "half-split"}, optional
        See :func:`posenc.rotary.rotate`; the released code is interleaved.

    Returns
    -------
    ndarray, shape of `x`
        In the dtype of `x` (float64 for integers). Angles and factors are
        float64.

    Raises
    ------
    TypeError
        If an argument holds no real numbers.
    ValueError
        If a position or frequency is not finite, shapes do not fit, `layout`
        or `role` is unknown, or a factor or a result leaves the range of the
        dtype of the result.

    Notes
    -----
    Meant for causal attention: for keys that come after the query the factor
    of the score grows with distance. The released code centres positions on
    half the current length, for which keys must be cached without rotation.

    References
    ----------
    Sun et al., "A Length-Extrapolatable Transformer" (2022), and torchscale,
    the code released with it.
    """
    _checks.choice("role", role, ("query", "key"))
    speeds = _checks.frequency_vector("frequencies", frequencies)
    steps = _checks.finite("positions", positions)
    base = _checks.number("scale_base", scale_base, above=0)
    middle = _checks.number("centre", centre)
    vectors = _checks.real("x", x)
    with np.errstate(over="ignore"):  # a tiny base: such factors are refused below
        growth = np.log(xpos_decay(speeds.size, gamma=gamma)) / base
    if role == "key":
        growth = -growth
    _factors_within(vectors.dtype, steps - middle, growth)

    def growing(pair: np.dtype[Any]) -> NDArray[Any]:
        lengths = np.exp(np.multiply.outer(steps - middle, growth))
        return (factors(steps, speeds, pair) * lengths).astype(pair, copy=False)

    with np.errstate(over="ignore", invalid="ignore"):
        result = multiply_pairs(vectors, speeds.size, steps, growing, layout=layout)
    if not np.isfinite(result).all() and np.isfinite(vectors).all():
        raise ValueError(
            f"x times its growth must stay within the range of {vectors.dtype}; "
            "choose another centre, a larger scale_base or a wider dtype"
        )
    return result


def _factors_within(
    dtype: np.dtype[Any], distances: NDArray[np.float64], growth: NDArray[np.float64]
) -> None:
    """Refuse factors that are no normal numbers of `dtype`."""
    if not distances.size:
        return
    # bfloat16 has the exponents of float32. Factors themselves are float64.
    limits = np.finfo(np.float32 if dtype.kind != "f" else min(dtype, np.dtype(float)))
    steepest = growth[np.argmax(np.abs(growth))]
    farthest = np.array([distances.min(), distances.max()])
    with np.errstate(over="ignore"):
        exponents = farthest * steepest
    worst = np.argmax(np.abs(exponents))
    if not math.log(limits.tiny) <= exponents[worst] <= math.log(limits.max):
        raise ValueError(
            f"positions must keep zeta**((position - centre) / scale_base) within the range of "
            f"{dtype}, got position - centre = {farthest[worst]:g}, which makes it "
            f"exp({exponents[worst]:.6g})"
        )
