"""Rotary positions: queries and keys turn, plane by plane, with their position."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc import _checks
from posenc._checks import Layout

__all__ = ["rotate", "rotation", "score_frequency_gradient"]


def rotation(angle: ArrayLike) -> NDArray[np.float64]:
    r"""Return the matrix that turns the plane counter-clockwise by `angle`.

    .. math:: R(a) = \begin{bmatrix} \cos a & -\sin a \\ \sin a & \cos a \end{bmatrix}

    Parameters
    ----------
    angle : array_like of real numbers, shape (...)
        Radians.

    Returns
    -------
    ndarray of float64, shape (..., 2, 2)

    Raises
    ------
    TypeError
        If `angle` holds no real numbers.
    ValueError
        If an angle is not finite.

    Examples
    --------
    >>> import numpy as np
    >>> np.round(rotation(np.pi / 2) @ [1, 0], 12).tolist()
    [0.0, 1.0]
    """
    turn = _checks.finite("angle", angle)
    cosine, sine = np.cos(turn), np.sin(turn)
    rows = np.stack([cosine, -sine, sine, cosine], axis=-1)
    return rows.reshape(*turn.shape, 2, 2)


def rotate(
    x: ArrayLike,
    positions: ArrayLike,
    frequencies: ArrayLike,
    *,
    layout: Layout = "interleaved",
    inverse: bool = False,
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    r"""Turn each pair of components of `x` by its position times its frequency.

    Pair r of the vector at position m is multiplied by
    :math:`R(m\omega_r)`. Components beyond the last pair are copied, which is
    partial rotation.

    Parameters
    ----------
    x : array_like of real numbers, shape (..., length, width)
        Queries or keys.
    positions : array_like of real numbers
        Position of each vector; broadcasts against ``x.shape[:-1]``.
    frequencies : array_like, shape (pairs,)
        Radians per position, one for each pair; 2 * pairs <= width.
    layout : {"interleaved", "half-split"}, optional
        Which components make pair r: 2r and 2r + 1, or r and r + pairs.
    inverse : bool, optional
        Turn clockwise instead; undoes the rotation, and is its transpose.
    out : ndarray, optional
        Where to write the result; same shape and dtype as the result. May be
        `x` itself.

    Returns
    -------
    ndarray, shape of `x`
        In the dtype of `x` (float64 for integers). Angles are float64.

    Raises
    ------
    TypeError
        If an argument holds no real numbers, or `out` has another dtype.
    ValueError
        If a position or frequency is not finite, shapes do not fit, or
        `layout` is unknown.

    References
    ----------
    Su et al., "RoFormer: Enhanced Transformer with Rotary Position Embedding"
    (2021), section 3.2.
    """
    vectors = _checks.real("x", x)
    speeds = _checks.frequency_vector("frequencies", frequencies)
    steps = _checks.finite("positions", positions)
    _checks.layout_name(layout)
    if vectors.ndim == 0 or vectors.shape[-1] < 2 * speeds.size:
        raise ValueError(
            f"the last axis of x must hold at least 2 * {speeds.size} components, "
            f"one pair per frequency; got shape {vectors.shape}"
        )
    _checks.broadcastable("positions", steps, "x.shape[:-1]", vectors.shape[:-1])
    result = _result_array(vectors, out)
    if _overlap_partly(vectors, result):
        vectors = vectors.copy()

    phases = _phases(steps, -speeds if inverse else speeds)
    rotary_width = 2 * speeds.size
    if result is not vectors:
        result[..., rotary_width:] = vectors[..., rotary_width:]
    if layout == "interleaved":
        _rotate_interleaved(vectors[..., :rotary_width], phases, result[..., :rotary_width])
    else:
        _rotate_halves(vectors[..., :rotary_width], phases, result[..., :rotary_width])
    return result


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
        See :func:`rotate`.

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


def _result_array(vectors: NDArray[Any], out: NDArray[Any] | None) -> NDArray[Any]:
    if out is None:
        return np.empty_like(vectors, order="C")
    if not isinstance(out, np.ndarray) or out.dtype != vectors.dtype:
        got = out.dtype if isinstance(out, np.ndarray) else type(out).__name__
        raise TypeError(f"out must be an array of dtype {vectors.dtype}, got {got}")
    if out.shape != vectors.shape:
        raise ValueError(f"out must have the shape of x, {vectors.shape}, got {out.shape}")
    return out


def _overlap_partly(x: NDArray[Any], out: NDArray[Any]) -> bool:
    """Tell whether writing to `out` could destroy components of `x` not yet read."""
    same = x.__array_interface__["data"] == out.__array_interface__["data"]
    return not (same and x.strides == out.strides) and np.may_share_memory(x, out)


def _phases(positions: NDArray[np.float64], speeds: NDArray[np.float64]) -> NDArray[np.complex128]:
    """Return exp(i * position * speed); the product and its sine are float64."""
    angles = np.multiply.outer(positions, speeds)
    phases = np.empty(angles.shape, dtype=np.complex128)
    np.cos(angles, out=phases.real)
    np.sin(angles, out=phases.imag)
    return phases


# A pair of neighbouring floats is a complex number in memory, so that one
# complex multiplication turns it. Narrower floats have no complex partner.
_COMPLEX = {np.dtype(np.float32): np.complex64, np.dtype(np.float64): np.complex128}


def _rotate_interleaved(x: NDArray[Any], phases: NDArray[np.complex128], out: NDArray[Any]) -> None:
    pair = _COMPLEX.get(x.dtype)
    contiguous = x.strides[-1] == x.itemsize and out.strides[-1] == out.itemsize
    if pair is None or not contiguous:
        _turn(x[..., 0::2], x[..., 1::2], phases, out[..., 0::2], out[..., 1::2])
    else:
        np.multiply(x.view(pair), phases.astype(pair, copy=False), out=out.view(pair))


def _rotate_halves(x: NDArray[Any], phases: NDArray[np.complex128], out: NDArray[Any]) -> None:
    half = x.shape[-1] // 2
    _turn(x[..., :half], x[..., half:], phases, out[..., :half], out[..., half:])


def _turn(
    first: NDArray[Any],
    second: NDArray[Any],
    phases: NDArray[np.complex128],
    first_out: NDArray[Any],
    second_out: NDArray[Any],
) -> None:
    # float32 arithmetic for float32 and narrower, so that only the final
    # rounding to the narrow dtype is lost.
    working = np.result_type(first.dtype, np.float32) if first.dtype.kind == "f" else np.float32
    cosine, sine = phases.real.astype(working), phases.imag.astype(working)
    first, second = first.astype(working, copy=False), second.astype(working, copy=False)
    # Both results exist before either is written: out may be x.
    turned_first = first * cosine - second * sine
    turned_second = first * sine + second * cosine
    first_out[...] = turned_first
    second_out[...] = turned_second
