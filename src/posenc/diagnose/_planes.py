"""From matrices, one for each position, to the planes in which a map turns."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from posenc._checks import Layout

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

# Unit vectors go in, so that what a component does not depend on is exactly 0.
_NOTHING = 1e-10


@dataclass(frozen=True)
class Planes:
    """Which pairs of components a map mixes, and the 2 x 2 block of each.

    `blocks` has shape (positions, pairs, 2, 2). Output component i of the map
    holds what `order[i]` became, negated if `signs[i]` is -1. `alone` are
    components without a partner, and `alone_values`, shape (positions, alone),
    what they are multiplied by.
    """

    first: Indices
    second: Indices
    order: Indices
    signs: Array
    blocks: Array
    alone: Indices
    alone_values: Array
    tangled: Indices

    @property
    def components(self) -> Indices:
        """All components that have a partner, in order."""
        return np.sort(np.concatenate([self.first, self.second]))

    def layout(self) -> tuple[Layout | None, int] | None:
        """Return the layout and the offset of partners, None if neither fits.

        The layout of a single pair of neighbours is None: both fit.
        """
        pairs = self.first.size
        start = int(self.first[0])
        places = np.arange(pairs)
        gap = int(self.second[0]) - start
        if pairs == 1 and gap == 1:
            return None, 1
        if _same(self.first, start + 2 * places) and _same(self.second, self.first + 1):
            return "interleaved", 1
        if _same(self.first, start + places) and _same(self.second, self.first + gap):
            return "half-split", gap
        return None


def find_planes(matrices: Mapping[int, Array]) -> Planes:
    """Return the planes of maps with one matrix for each position, 0 among them."""
    stack = np.stack(list(matrices.values()))
    order, signs = _order(matrices[0])
    straight = np.empty_like(stack)
    straight[:, order] = (
        signs[:, np.newaxis] * stack
    )  # row order[i] of the straight map is row i of the given one
    width = order.size
    mixes = np.asarray((np.abs(straight) > _NOTHING).any(axis=0))
    mixes |= mixes.T
    np.fill_diagonal(mixes, False)
    count = mixes.sum(axis=1)
    partner = np.where(count == 1, mixes.argmax(axis=1), np.arange(width))
    first = np.flatnonzero((partner > np.arange(width)) & (partner[partner] == np.arange(width)))
    second = partner[first]
    both = np.stack([first, second], axis=-1)
    blocks = straight[:, both[:, :, np.newaxis], both[:, np.newaxis, :]]
    alone = np.flatnonzero(count == 0)
    return Planes(
        first=first,
        second=second,
        order=order,
        signs=signs,
        blocks=blocks,
        alone=alone,
        alone_values=straight[:, alone, alone],
        tangled=np.flatnonzero(count > 1),
    )


def _order(at_zero: Array) -> tuple[Indices, Array]:
    """Return the signed permutation that the map is at position 0, the identity if it is none."""
    nonzero = np.abs(at_zero) > _NOTHING
    if (nonzero.sum(axis=0) == 1).all() and (nonzero.sum(axis=1) == 1).all():
        order = np.asarray(nonzero.argmax(axis=1))
        return order, np.sign(at_zero[np.arange(len(order)), order])
    return np.arange(len(at_zero)), np.ones(len(at_zero))


def _same(a: Indices, b: Indices) -> bool:
    return np.array_equal(a, b)


def wrap(angle: Array) -> Array:
    """Return the angle in [-pi, pi) that differs by whole turns."""
    return np.asarray((angle + np.pi) % (2 * np.pi) - np.pi)


def measure_speeds(phases: Array, positions: Indices, noise: float) -> tuple[Array, Array]:
    """Return radians per position and their uncertainty, from phases modulo a turn.

    `phases` has shape (positions, pairs). The speed seen from 0 to 1, at most
    half a turn, predicts the phase at 2 well enough to count whole turns, and so
    on. Powers of two are exact in every floating dtype, so that rounded
    positions and products do not disturb the measurement.
    """
    at = {int(p): row for p, row in zip(positions, phases, strict=True)}
    speed = wrap(at[1] - at[0])
    error = np.full_like(speed, 2 * noise)
    trusted = np.ones(speed.shape, dtype=np.bool_)
    power = 2
    while power in at:
        miss = wrap(at[power] - at[0] - speed * power)
        trusted &= np.abs(miss) < 0.3
        speed = np.where(trusted, speed + miss / power, speed)
        error = np.where(trusted, 2 * noise / power, error)
        power *= 2
    # Angles in float64 are rounded themselves.
    return speed, error + 1e-15 * np.abs(speed)
