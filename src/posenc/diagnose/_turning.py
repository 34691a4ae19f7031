"""Reads direction, frequencies, origin and precision from planes that turn."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from posenc.diagnose import _series
from posenc.diagnose._planes import Planes, measure_speeds, wrap
from posenc.diagnose._precision import angle_precision, first_miss, round_to
from posenc.diagnose._record import Record
from posenc.diagnose._series import Series

Array = NDArray[np.float64]
Indices = NDArray[np.int64]


@dataclass(frozen=True)
class Turning:
    """Phases of the pairs, shape (positions, pairs), counted in their own direction."""

    planes: Planes
    positions: Indices
    phases: Array
    speeds: Array
    errors: Array
    noise: float
    sign: float


def read_turning(record: Record, planes: Planes, positions: Indices, across: bool) -> None:
    """Write down what can be read from planes whose blocks turn as one."""
    cosine, sine = planes.blocks[..., 0, 0], planes.blocks[..., 1, 0]
    lengths, phases = np.hypot(cosine, sine), np.arctan2(sine, cosine)
    noise = record.noise / max(float(lengths.min()), 1e-3)
    if not _check_lengths(record, planes, positions, lengths, phases, noise):
        return
    if _positive_exponent(record, planes, phases, noise):
        return
    speeds, errors = measure_speeds(phases, positions, noise)
    sign = 1.0 if np.sign(speeds).sum() >= 0 else -1.0
    against = sign * speeds < -errors
    if against.any():
        r = int(np.argmax(against))
        record.fault(
            "mixed-directions",
            f"pair {r} turns against the others",
            record.turn(planes, r, 1, sign * abs(float(speeds[r]))),
        )
        return
    turning = Turning(planes, positions, sign * phases, np.abs(speeds), errors, noise, sign)
    _name_direction(record, turning)
    origin = _origin(record, turning)
    if origin is not None:
        record.facts["frequencies"] = tuple(turning.speeds.tolist())
        _name_angles(record, turning, positions + origin, across)


def _check_lengths(
    record: Record,
    planes: Planes,
    positions: Indices,
    lengths: Array,
    phases: Array,
    noise: float,
) -> bool:
    """Check that each pair keeps its length, up to one factor for all of them."""
    near = 4 * record.noise
    drift = np.abs(lengths - lengths[0])
    if drift.max() <= near and np.ptp(lengths[0]) <= near:
        factor = float(lengths.mean())
        record.facts["attention_factor"] = 1.0 if abs(factor - 1) <= near else factor
        if record.facts["attention_factor"] != 1:
            record.note("attention-factor", f"rotated components are scaled by {factor:.7g}")
        return True
    if drift.max() <= near:
        r = int(np.abs(lengths[0] - lengths[0, 0]).argmax())
        message = f"pair 0 is scaled by {lengths[0, 0]:.6g}, pair {r} by {lengths[0, r]:.6g}"
        record.fault("pairs-scaled-apart", message, record.norm(int(planes.first[r])))
        return False
    r = int(np.argwhere(drift > near)[0][1])
    speeds, errors = measure_speeds(phases, positions, noise)
    steps = phases - phases[0]
    steady = first_miss(steps, positions.astype(np.float64), speeds, errors, noise) is None
    if steady or np.abs(planes.blocks).max() > 1 + near:
        name, message = "norm-changes", f"the length of pair {r} changes with the position"
    else:
        name = "sine-cosine-mismatch"
        message = f"cosine and sine of pair {r} do not belong to one angle"
    record.fault(name, message, record.norm(int(planes.first[r])))
    return False


def _positive_exponent(record: Record, planes: Planes, phases: Array, noise: float) -> bool:
    width = planes.components.size
    steps = wrap(phases[1] - phases[0])
    found = _series.positive_exponent(steps, noise, width, record.stated.base)
    if found is None:
        return False
    base, angles = found
    record.facts |= {"base": base, "denominator": "rotary width"}
    message = f"pair 1 turns by {angles[1]:.6g} radians per position, not by {1 / angles[1]:.6g}"
    record.fault("positive-exponent", message, record.turn(planes, 1, 1, float(1 / angles[1])))
    return True


def _name_direction(record: Record, turning: Turning) -> None:
    direction = "counter-clockwise" if turning.sign > 0 else "clockwise"
    record.facts["direction"] = direction
    stated = record.stated.direction
    if stated is not None and stated != direction:
        angle = -turning.sign * float(turning.speeds[0])
        message = f"pairs turn {direction}, not {stated}"
        record.fault("other-direction", message, record.turn(turning.planes, 0, 1, angle))
    elif stated is None and turning.sign < 0:
        record.note("clockwise", "pairs turn clockwise, which those of most models do not")


def _origin(record: Record, turning: Turning) -> int | None:
    """Return the o for which angles are (position + o) times frequency."""
    at_zero = turning.phases[0]
    for origin in (0, 1, 2, -1, -2, 3, 4, -3, -4):
        doubt = turning.errors + 4e-6 * turning.speeds
        allowed = 4 * turning.noise + abs(origin) * doubt
        if (np.abs(wrap(at_zero - origin * turning.speeds)) <= allowed).all():
            record.facts["origin"] = origin
            if origin:
                record.note("origin", f"a vector at position 0 is turned as if at {origin}")
            return origin
    k = int(turning.planes.first[int(np.abs(at_zero).argmax())])
    message = "vectors at position 0 are turned, and not by a whole number of positions"
    record.fault("not-identity-at-zero", message, record.seen(k, 0, "another vector", "itself"))
    return None


def _name_angles(record: Record, turning: Turning, places: Indices, across: bool) -> None:
    """Name the frequencies, and the precision of their products with positions."""
    series = _series_of(record, turning, across)
    speeds, errors = turning.speeds, turning.errors
    exact, doubt = speeds, errors
    if series is not None and series.certain:
        exact, doubt = series.exact / series.factor, np.zeros_like(speeds)
    where = places.astype(np.float64)
    precision = angle_precision(turning.phases, where, exact, doubt, turning.noise)
    if precision is None and exact is not speeds:
        # The formula fits coarsely, but rounding does not explain the rest.
        again = angle_precision(turning.phases, where, speeds, errors, turning.noise)
        if again is not None:
            series, exact, doubt, precision = None, speeds, errors, again
    if series is None:
        _say_no_series(record, turning)
    else:
        record.facts |= {
            "base": series.base,
            "denominator": series.denominator,
            "factor": series.factor,
        }
        _say_series(record, turning, series)
    record.facts["angle_precision"] = precision
    if precision is None or " " in precision.replace(" or better", ""):
        _say_precision(record, turning, where, exact, doubt, precision)


def _series_of(record: Record, turning: Turning, across: bool) -> Series | None:
    stated, speeds = record.stated, turning.speeds
    if stated.frequencies is not None:
        wanted = stated.frequencies[stated.frequencies != 0]
        if wanted.size == speeds.size:
            for rounding in _series.ROUNDINGS:
                if _series.agree(speeds, wanted, turning.errors, rounding):
                    return Series(wanted, stated.base)
        return None
    return _series.name_series(
        speeds,
        turning.errors,
        width=turning.planes.components.size,
        head_dim=record.head_dim,
        across=across,
        base=stated.base,
    )


def _say_series(record: Record, turning: Turning, series: Series) -> None:
    name, base, speeds, planes = series.name, series.base or 0.0, turning.speeds, turning.planes
    if name is None or record.has("partial-pair-offset"):
        return
    if not series.fault:
        text = {
            "interpolated": f"all frequencies are divided by {series.factor:.9g}",
            "proportional": f"the {speeds.size} fastest of {record.head_dim // 2} pairs turn, with "
            "the frequencies of the whole head",
            "second-definition": f"the last frequency is 1 / {base:.9g}, so exponents are divided "
            "by the number of pairs less one",
        }
        record.note(name, text[name])
        return
    shown = ", ".join(f"{w:.6g}" for w in speeds[:3]) + (", ..." if speeds.size > 3 else "")
    default = ", the usual default" if base == 10_000 else ""
    text = {
        "equal-frequencies": f"all pairs turn by {speeds[0]:.6g} radians per position",
        "floored-exponent": f"frequencies are {shown}: powers of 1 / e, whatever the base",
        "other-base": f"the base is {base:.9g}{default}, not {record.stated.base or 0.0:.9g}",
        "partial-pair-offset": "partners stand head_dim / 2 apart, but frequencies are those of "
        f"{2 * speeds.size} rotated components",
    }
    if name == "partial-pair-offset":
        i, j = int(planes.first[0]), int(planes.second[0])
        wanted = f"a part in component {i + speeds.size}"
        evidence = record.seen(i, 1, f"a part in component {j}", wanted)
    else:
        aim = record.stated.base or series.base
        r, angle = 0, 1.0
        if aim is not None:
            right = _series.geometric(aim, 2 * np.arange(speeds.size) / (2 * speeds.size))
            r = int(np.argmax(np.abs(speeds - right) > 2 * turning.errors + 1e-5 * right))
            angle = float(right[r])
        elif name != "reversed-frequencies":
            r, angle = 1, float(speeds[0]) / 2
        evidence = record.turn(planes, r, 1, turning.sign * angle)
        if aim is None:
            evidence = record.seen(
                int(planes.first[r]), 1, f"a turn by {speeds[r]:.9g}", "the frequency of a base"
            )
    record.fault(name, text.get(name, f"frequencies are {shown}"), evidence)


def _say_no_series(record: Record, turning: Turning) -> None:
    stated, speeds, errors = record.stated, turning.speeds, turning.errors
    width = 2 * speeds.size
    wanted = None
    if stated.frequencies is not None:
        wanted = stated.frequencies[stated.frequencies != 0]
        if wanted.size != speeds.size:
            message = f"{speeds.size} pairs turn, not {wanted.size}"
            k = int(turning.planes.first[-1])
            got = f"pair {speeds.size - 1} as the last that turns"
            record.fault(
                "other-frequencies", message, record.seen(k, 1, got, f"{wanted.size} pairs")
            )
            return
    elif stated.base is not None:
        wanted = _series.geometric(stated.base, 2 * np.arange(speeds.size) / width)
        if _series.slowed_by_parts(speeds, errors, stated.base, width):
            record.facts["base"] = stated.base
            slowest = wanted[-1] / speeds[-1]
            message = "fast pairs keep the frequencies of the base, the slowest is divided by "
            record.note("scaled-by-parts", f"{message}{slowest:.6g}")
            return
    if wanted is None:
        record.note("no-series", "frequencies are not one geometric series")
        return
    r = int(np.argmax(np.abs(speeds - wanted) > 2 * errors + 4e-6 * wanted))
    record.fault(
        "other-frequencies",
        f"pair {r} turns by {speeds[r]:.9g} radians per position, not by {wanted[r]:.9g}",
        record.turn(turning.planes, r, 1, turning.sign * float(wanted[r])),
    )


def _say_precision(
    record: Record,
    turning: Turning,
    where: Array,
    speeds: Array,
    errors: Array,
    precision: str | None,
) -> None:
    miss = first_miss(turning.phases, where, speeds, errors, turning.noise)
    evidence = None
    if miss is not None:
        row, r = miss
        angle = turning.sign * float(where[row] * speeds[r])
        evidence = record.turn(turning.planes, r, int(turning.positions[row]), angle)
    if precision is None:
        message = "angles are not position times one frequency"
        record.fault("angle-not-proportional", message, evidence)
        return
    dtype, what = precision.split()
    met = {257: round_to(dtype, np.array(257.0)), 2049: round_to(dtype, np.array(2049.0))}
    changed = "".join(f", {p} becomes {q:.0f}" for p, q in met.items() if p != q)
    message = {
        "frequencies": f"frequencies are rounded to {dtype}",
        "positions": f"positions are rounded to {dtype}{changed}",
        "angles": f"position times frequency is rounded to {dtype}",
    }[what]
    record.fault(f"{dtype}-{what}", message, evidence)
