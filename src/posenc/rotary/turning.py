"""Rotation of the plane, and of each pair of a vector by its position."""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc import _checks
from posenc._checks import Layout
from posenc.rotary._blocks import multiply_pairs
from posenc.rotary.angles import factors

__all__ = ["apply_phases", "rotate", "rotation"]


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
    speeds = _checks.frequency_vector("frequencies", frequencies)
    steps = _checks.finite("positions", positions)
    if inverse:
        speeds = -speeds
    return multiply_pairs(
        x, speeds.size, steps, partial(factors, steps, speeds), layout=layout, out=out
    )


def apply_phases(
    x: ArrayLike,
    phases: ArrayLike,
    *,
    layout: Layout = "interleaved",
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    r"""Multiply each pair of components of `x`, as a complex number, by its phase.

    With the phases of :func:`posenc.rotary.phases` this is :func:`rotate`. A model that computes
    them once uses them for queries and keys in all of its layers.

    Parameters
    ----------
    x : array_like of real numbers, shape (..., length, width)
        Queries or keys.
    phases : array_like of complex numbers, shape (..., pairs)
        One for each pair; 2 * pairs <= width. Without the last axis it broadcasts against
        ``x.shape[:-1]``. Numbers of another modulus than 1 change lengths, too.
    layout : {"interleaved", "half-split"}, optional
        See :func:`rotate`.
    out : ndarray, optional
        See :func:`rotate`.

    Returns
    -------
    ndarray, shape of `x`
        In the dtype of `x` (float64 for integers).

    Raises
    ------
    TypeError
        If `x` holds no real or `phases` no complex numbers, or `out` has another dtype.
    ValueError
        If a phase is not finite, shapes do not fit, or `layout` is unknown.

    Examples
    --------
    >>> import numpy as np
    >>> apply_phases([1.0, 2.0, 3.0], np.array([1j])).tolist()
    [-2.0, 1.0, 3.0]
    """
    turns = _checks.finite_complex("phases", phases)
    if turns.ndim == 0 or turns.shape[-1] == 0:
        raise ValueError(
            f"the last axis of phases must hold one for each pair, got shape {turns.shape}"
        )
    return multiply_pairs(
        x,
        turns.shape[-1],
        turns[..., 0],
        lambda pair: turns.astype(pair, copy=False),
        layout=layout,
        out=out,
        name="phases without their last axis",
    )
