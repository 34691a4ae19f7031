"""How the rotary score changes with the frequencies."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc import _checks
from posenc._checks import Layout

__all__ = ["score_frequency_gradient"]


def score_frequency_gradient(
    q: ArrayLike,
    k: ArrayLike,
    offset: ArrayLike,
    frequencies: ArrayLike,
    *,
    layout: Layout = "interleaved",
) -> NDArray[np.float64]:
    r"""Return the derivative of the rotary score in each frequency.

    The score is :math:`s=\sum_r q_r^\top R(\Delta\omega_r)k_r`, hence

    .. math:: \frac{\partial s}{\partial\omega_r} = \Delta\,\bigl[
        (q_{r1}k_{r0}-q_{r0}k_{r1})\cos\Delta\omega_r
        -(q_{r0}k_{r0}+q_{r1}k_{r1})\sin\Delta\omega_r\bigr].

    Parameters
    ----------
    q, k : array_like of real numbers, shape (..., 2 * pairs)
        Query and key before rotation.
    offset : array_like of real numbers, shape (...)
        Key position minus query position.
    frequencies : array_like, shape (pairs,)
        Radians per position.
    layout : {"interleaved", "half-split"}, optional
        See :func:`posenc.rotary.rotate`.

    Returns
    -------
    ndarray of float64, shape (..., pairs)
        Score units per (radian per position); the score is not divided by
        :math:`\sqrt{d}`.

    Raises
    ------
    TypeError
        If an argument holds no real numbers.
    ValueError
        If an argument is not finite, shapes do not fit, or `layout` is unknown.
    """
    speeds = _checks.frequency_vector("frequencies", frequencies)
    _checks.layout_name(layout)
    q0, q1 = _pairs("q", q, speeds.size, layout)
    k0, k1 = _pairs("k", k, speeds.size, layout)
    distance = _checks.finite("offset", offset)[..., np.newaxis]
    angle = distance * speeds
    cross, dot = q1 * k0 - q0 * k1, q0 * k0 + q1 * k1
    return np.asarray(distance * (cross * np.cos(angle) - dot * np.sin(angle)))


def _pairs(
    name: str, value: ArrayLike, pairs: int, layout: Layout
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return first and second components of the pairs of `value`."""
    array = _checks.finite(name, value)
    if array.ndim == 0 or array.shape[-1] != 2 * pairs:
        raise ValueError(
            f"the last axis of {name} must hold 2 * {pairs} components, "
            f"one pair per frequency; got shape {array.shape}"
        )
    if layout == "interleaved":
        return array[..., 0::2], array[..., 1::2]
    return array[..., :pairs], array[..., pairs:]
