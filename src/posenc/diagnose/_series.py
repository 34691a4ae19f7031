"""Which formula gave a set of frequencies."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Largest relative error of frequencies computed in float32 through exponential
# and logarithm, and of frequencies rounded to float16 (11 bits) and bfloat16 (8).
ROUNDINGS = (4e-6, 2.0**-11, 2.0**-8)

# Bases of released models, for formulas from which the base cannot be read.
_BASES = (1e4, 5e5, 1e6, 1e5, 5e4, 1.5e5, 1.6e5, 2.5e5, 5e6, 8e6, 1e7)


@dataclass(frozen=True)
class Series:
    """A formula that gives the measured frequencies.

    `exact` holds its values before they are divided by `factor`; they are
    `certain` if base and factor are stated or round numbers. `name` is the name
    of a fault or note, if any.
    """

    exact: Array
    base: float | None = None
    denominator: str | None = None
    factor: float = 1.0
    name: str | None = None
    fault: bool = False
    certain: bool = True


def geometric(base: float, exponents: Array) -> Array:
    """Return base ** -exponents; an underflow is 0."""
    with np.errstate(all="ignore"):
        return np.asarray(base**-exponents, dtype=np.float64)


def name_series(
    speeds: Array,
    errors: Array,
    *,
    width: int,
    head_dim: int,
    across: bool,
    base: float | None,
) -> Series | None:
    """Return the formula of `speeds`, pair by pair; None if it is no known one.

    `across` tells that pairs reach half the head although only a part turns.
    Without a stated `base` a round number is preferred.
    """
    if base is not None:
        for rounding in ROUNDINGS:
            for series in _formulas(base, speeds.size, width, head_dim, across):
                if agree(speeds, series.exact, errors, rounding):
                    return series
    for rounding in ROUNDINGS:
        found = _inferred(speeds, errors, rounding, width, head_dim, across, base)
        if found is not None:
            return found
    return None


def agree(speeds: Array, exact: Array, errors: Array, rounding: float) -> bool:
    """Tell whether measured frequencies are `exact` ones, rounded by that much."""
    return bool((np.abs(speeds - exact) <= 2 * errors + 1.05 * rounding * exact).all())


def _formulas(base: float, pairs: int, width: int, head_dim: int, across: bool) -> Iterator[Series]:
    """Yield what a stated base may have been turned into, the right one first."""
    r = np.arange(pairs, dtype=np.float64)
    rotary, head = "rotary width", "head width"
    standard = geometric(base, 2 * r / width)
    if across:
        yield Series(geometric(base, 2 * r / head_dim), base, head, name="proportional")
        yield Series(standard, base, rotary, name="partial-pair-offset", fault=True)
    else:
        yield Series(standard, base, rotary)
        if width < head_dim:
            yield Series(
                geometric(base, 2 * r / head_dim), base, head, 1.0, "head-width-denominator", True
            )
    if pairs < 2:
        return
    if pairs > 2:
        yield Series(
            geometric(base, r / (pairs - 1)), base, "half minus one", 1.0, "half-minus-one", True
        )
    for name, exponents in (
        ("doubled-exponent", 4 * r / width),
        ("halved-exponent", r / width),
        ("index-off-by-one", 2 * (r + 1) / width),
        ("index-off-by-one", (2 * r + 1) / width),
        ("reversed-frequencies", 2 * (pairs - 1 - r) / width),
    ):
        yield Series(geometric(base, exponents), base, rotary, 1.0, name, True)


def _inferred(
    speeds: Array,
    errors: Array,
    rounding: float,
    width: int,
    head_dim: int,
    across: bool,
    stated: float | None,
) -> Series | None:
    """Return the geometric series through the speeds, if there is one."""
    pairs = speeds.size
    r = np.arange(pairs, dtype=np.float64)
    if (speeds <= 0).any():
        return None
    if pairs == 1:
        exact = np.ones(1)
        if agree(speeds, exact, errors, rounding):
            return Series(exact, stated)
        factor = _snap(1 / float(speeds[0]), float(errors[0] / speeds[0]) + rounding)
        certain = _is_round(factor)
        return replace(_divided(exact, factor, stated, None), certain=certain)
    doubt = errors / speeds + rounding
    slopes = np.log(speeds[1:] / speeds[0]) / r[1:]
    best = int(np.argmin((doubt[1:] + doubt[0]) / r[1:]))
    slope = float(slopes[best])
    slope_error = float(((doubt[1:] + doubt[0]) / r[1:])[best])
    fitted = speeds[0] * np.exp(slope * r)
    allowed = 2 * errors + fitted * (2 * rounding + 2 * doubt[0] + r * slope_error)
    if (np.abs(speeds - fitted) > allowed).any():
        return None
    special = _slope_alone(speeds, slope, max(slope_error, 1e-9), r)
    if special is not None:
        return special
    bases = _bases(slope, slope_error, width, head_dim, pairs, across, speeds[0], rounding)
    denominator, base = _preferred(bases, across)
    if rounding > ROUNDINGS[0] and not _is_round(base):
        return None  # a coarse fit says nothing unless it points at a round base
    series = geometric(base, _exponents(denominator, r, width, head_dim, pairs))
    factor = _snap(1 / float(speeds[0]), float(doubt[0]))
    if agree(speeds[:1], np.ones(1), errors[:1], rounding):
        found = _settled(series, base, denominator, width, head_dim, across, stated)
    else:
        found = _shifted(series, base, denominator, slope, factor, stated, pairs)
    certain = _is_round(base) and _is_round(found.factor)
    return replace(found, certain=certain)


def _slope_alone(speeds: Array, slope: float, error: float, r: Array) -> Series | None:
    """Return a series that its ratio gives away."""
    if abs(slope) <= error:
        exact = np.full(r.shape, speeds[0])
        return Series(exact, name="equal-frequencies", fault=True, certain=False)
    if slope > 0:
        exact = np.asarray(speeds[-1] * np.exp(slope * (r - r[-1])))
        return Series(exact, name="reversed-frequencies", fault=True, certain=False)
    for whole in (-1.0, -2.0):
        if abs(slope - whole) <= max(error, 1e-5) and r.size > 2:
            return Series(np.exp(whole * r), name="floored-exponent", fault=True)
    return None


def _exponents(denominator: str, r: Array, width: int, head_dim: int, pairs: int) -> Array:
    if denominator == "half minus one":
        return np.asarray(r / (pairs - 1))
    return np.asarray(2 * r / (width if denominator == "rotary width" else head_dim))


def _bases(
    slope: float,
    error: float,
    width: int,
    head_dim: int,
    pairs: int,
    across: bool,
    first: float,
    rounding: float,
) -> dict[str, float]:
    """Return the base that each denominator asks for, rounded if that is allowed."""
    halves = {"rotary width": width / 2}
    if width < head_dim:
        halves["head width"] = head_dim / 2
    if pairs > 2 and not across and abs(first - 1) <= rounding + 1e-6:
        halves["half minus one"] = pairs - 1
    with np.errstate(over="ignore"):
        return {
            name: _snap(float(np.exp(-slope * half)), 2 * half * error)
            for name, half in halves.items()
        }


def _snap(base: float, error: float) -> float:
    """Return the roundest number within the relative error, up to three digits."""
    if not 0 < base < np.inf:
        return base
    for digits in (1, 2, 3):
        rounded = float(f"{base:.{digits - 1}e}")
        if abs(rounded - base) <= (error + 1e-6) * base:
            return rounded
    return base


def _is_round(number: float) -> bool:
    return 0 < number < np.inf and number == float(f"{number:.2e}")


def _rank(base: float) -> int:
    """Tell how likely a base is one that somebody chose."""
    if not _is_round(base):
        return 0
    return 2 if 1e4 <= base <= 1e7 else int(1e3 <= base <= 1e9)


def _preferred(bases: dict[str, float], across: bool) -> tuple[str, float]:
    usual = "head width" if across else "rotary width"
    best = max(bases, key=lambda name: (_rank(bases[name]), name == usual))
    one_digit = bases[best] == float(f"{bases[best]:.0e}") if bases[best] < np.inf else False
    if best == "half minus one" and not (_rank(bases[best]) == 2 and one_digit):
        best = usual
    return best, bases[best]


def _settled(
    exact: Array,
    base: float,
    denominator: str,
    width: int,
    head_dim: int,
    across: bool,
    stated: float | None,
) -> Series:
    """Return a series that starts at 1, with its name if it has one."""
    name, fault = None, False
    if stated is not None:
        name, fault = "other-base", True
        # Two numbers are a geometric series in any case: name the base by the usual rule.
        denominator = "head width" if across else "rotary width"
        half = (head_dim if across else width) / 2
        base = _snap(float((exact[1] / exact[0]) ** -half), 1e-5)
    elif across:
        name = "proportional" if denominator == "head width" else "partial-pair-offset"
        fault = name == "partial-pair-offset"
    elif denominator == "head width":
        name, fault = "head-width-denominator", True
    elif denominator == "half minus one":
        name = "second-definition"
    return Series(exact, base, denominator, name=name, fault=fault)


def _shifted(
    exact: Array,
    base: float,
    denominator: str,
    slope: float,
    factor: float,
    stated: float | None,
    pairs: int,
) -> Series:
    """Return a series that does not start at 1: counted from 1, or divided."""
    if stated is not None and abs(base / stated - 1) > 1e-4:
        return Series(exact, base, denominator, factor, "other-base", True)
    whole = abs(factor - round(factor)) <= 1e-4 * factor
    for step in (slope, slope / 2):
        counted = abs(np.log(factor) + step) <= 1e-4
        if counted and pairs > 2 and not whole:
            return Series(exact / factor, base, denominator, 1.0, "index-off-by-one", True, False)
    return _divided(exact, factor, base, denominator)


def _divided(exact: Array, factor: float, base: float | None, denominator: str | None) -> Series:
    return Series(exact, base, denominator, factor, "interpolated")


def positive_exponent(
    phases: Array, noise: float, width: int, base: float | None
) -> tuple[float, Array] | None:
    """Return base and frequencies if pair r turns by base ** (2r / width) radians.

    `phases` are those from position 0 to 1, modulo a turn; such speeds cannot be
    measured, only compared.
    """
    r = np.arange(phases.size)
    for candidate in (base,) if base is not None else _BASES:
        angles = candidate ** (2 * r / width)
        doubt = 4 * noise + angles * 2.0**-21
        telling = doubt < 0.1
        if telling.sum() < 2 or telling.sum() < min(phases.size, 3):
            continue
        for sign in (1, -1):
            turns = (phases - sign * angles + np.pi) % (2 * np.pi) - np.pi
            if (np.abs(turns[telling]) <= doubt[telling]).all():
                return candidate, angles
    return None


def slowed_by_parts(speeds: Array, errors: Array, base: float, width: int) -> bool:
    """Tell whether the fast end has the frequencies of `base` and the rest ever lower ones."""
    slowing = geometric(base, 2 * np.arange(speeds.size) / width) / speeds
    doubt = ROUNDINGS[0] + errors / speeds
    return bool(
        abs(slowing[0] - 1) <= 10 * doubt[0]
        and (np.diff(slowing) >= -10 * doubt[1:] * slowing[1:]).all()
    )
