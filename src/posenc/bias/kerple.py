"""KERPLE: a bias that falls with the logarithm or a power of the distance."""

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc import _checks
from posenc.bias._positions import offsets

__all__ = ["kerple_bias"]


def kerple_bias(
    r1: ArrayLike,
    r2: ArrayLike,
    queries: ArrayLike,
    keys: ArrayLike,
    *,
    kernel: Literal["log", "power"] = "log",
) -> NDArray[Any]:
    r"""Return the bias of each head, to be added to the scaled scores.

    With the distance :math:`a=|n-m|` it is :math:`-r_1\ln(1+r_2a)` for "log" and
    :math:`-r_1a^{r_2}` for "power". The power :math:`r_2=1` is ALiBi with slope
    :math:`r_1`. A causal mask must be given apart.

    Parameters
    ----------
    r1 : array_like of real numbers, shape (heads,)
        Positive. "p" in the released code for "log", "a" for "power".
    r2 : array_like of real numbers, shape (heads,)
        Positive; at most 2 for "power", beyond which the kernel is not
        conditionally positive definite.
    queries : array_like of real numbers, shape (..., queries)
        Positions of the queries.
    keys : array_like of real numbers, shape (..., keys)
        Positions of the keys.
    kernel : {"log", "power"}, optional

    Returns
    -------
    ndarray, shape (..., heads, queries, keys)
        In the dtype of `r1` (float64 for integers); computed in float64.
        A penalty beyond the range of the dtype becomes :math:`-\infty`.

    Raises
    ------
    TypeError
        If an argument holds no real numbers.
    ValueError
        If an argument is not finite, a parameter is out of range, a position
        reaches 2**62, shapes do not fit, or `kernel` is unknown.

    Notes
    -----
    The released code clamps both parameters to at least 0.01, and the power
    to at most 2, on every forward pass.

    References
    ----------
    Chi, Fan, Ramadge, Rudnicky, "KERPLE: Kernelized Relative Positional
    Embedding for Length Extrapolation" (2022), section 4.

    Examples
    --------
    >>> kerple_bias([0.5], [1.0], [3], [0, 1, 2, 3], kernel="power")[0].tolist()
    [[-1.5, -1.0, -0.5, 0.0]]
    """
    _checks.choice("kernel", kernel, ("log", "power"))
    dtype = _checks.real("r1", r1).dtype
    first, second = (_positive(name, value) for name, value in (("r1", r1), ("r2", r2)))
    if first.shape != second.shape:
        raise ValueError(
            f"r1 and r2 must have the same length, got shapes {first.shape} and {second.shape}"
        )
    if kernel == "power" and (second > 2).any():
        raise ValueError(f"r2 must be at most 2 for a power, got {second.max()}")
    distance = np.abs(offsets(queries, keys, whole=False))[..., np.newaxis, :, :].astype(float)
    r_1, r_2 = first[:, np.newaxis, np.newaxis], second[:, np.newaxis, np.newaxis]
    growth = np.log1p(r_2 * distance) if kernel == "log" else distance**r_2
    # An overflow is meant: exp(-inf) is the weight that such a penalty has.
    with np.errstate(over="ignore"):
        return np.asarray(0.0 - r_1 * growth).astype(dtype)


def _positive(name: str, value: ArrayLike) -> NDArray[np.float64]:
    array = _checks.finite(name, value)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"{name} must be a vector, one for each head; got shape {array.shape}")
    if (array <= 0).any():
        raise ValueError(f"{name} must be positive, got {array[array <= 0][0]}")
    return array
