"""How far rounding may carry a peer away from posenc.

A peer computes frequency, angle, cosine and sine in float32 (JAX here in float64, too); posenc
has float64 angles. Each bound counts roundings, so that a wrong exponent, sign or pair cannot
hide in it: `test_the_other_layout_base_width_and_direction_are_seen` tries.
"""

import numpy as np

UNIT = 2.0**-24
"""Largest relative error of one rounding to float32."""
UNIT64 = 2.0**-53


def frequency_error(frequencies, unit=UNIT):
    """Relative: the exponent is rounded, which costs |ln w| units; then power, quotient, factor."""
    frequencies = np.asarray(frequencies, dtype=float)
    logarithm = np.log(frequencies, out=np.zeros_like(frequencies), where=frequencies > 0)
    return (np.abs(logarithm) + 4) * unit


def angle_error(positions, frequencies, *, relative=None, unit=UNIT):
    """Radians, shape (..., pairs): error of the frequency and of one product, times the angle."""
    relative = frequency_error(frequencies, unit) if relative is None else relative
    return np.abs(np.multiply.outer(positions, frequencies)) * (relative + unit)


def rotation_error(x, positions, frequencies, layout, *, relative=None, unit=UNIT):
    """Bound for each component of rotated `x`: angle, cosine and sine, two products, one sum."""
    pairs = len(frequencies)
    rotary = np.asarray(x, dtype=float)[..., : 2 * pairs]
    axis, shape = (-1, (pairs, 2)) if layout == "interleaved" else (-2, (2, pairs))
    length = np.linalg.norm(rotary.reshape(*rotary.shape[:-1], *shape), axis=axis)
    angle = angle_error(positions, frequencies, relative=relative, unit=unit)
    error = length * (angle + 8 * unit)
    bound = np.zeros(np.shape(x))
    bound[..., : 2 * pairs] = np.stack([error, error], axis=axis).reshape(rotary.shape)
    return bound


def assert_within(actual, expected, bound):
    """Fail with the place of the worst disagreement."""
    actual, expected = np.asarray(actual, dtype=float), np.asarray(expected, dtype=float)
    assert actual.shape == expected.shape
    bound = np.broadcast_to(bound, actual.shape)
    # Written so that a NaN on either side is a disagreement.
    wrong = ~(np.abs(actual - expected) <= bound)
    if wrong.any():
        excess = np.where(wrong, np.abs(actual - expected) - bound, -np.inf)
        worst = np.unravel_index(np.nanargmax(np.nan_to_num(excess, nan=np.inf)), excess.shape)
        raise AssertionError(
            f"{wrong.sum()} of {wrong.size} differ by more than their bound; at "
            f"{tuple(map(int, worst))}: {actual[worst]} and {expected[worst]}, {bound[worst]:.3g}"
        )
