"""Frequencies for contexts longer than the one trained on.

Every method changes the frequencies of rotary positions; some also multiply the
rotated queries and keys by an attention factor. Both together are a :class:`Rope`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, sqrt
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc import _checks
from posenc.absolute import frequencies as geometric

__all__ = [
    "Rope",
    "dynamic_ntk",
    "linear_schedule",
    "llama3",
    "longrope",
    "ntk_aware",
    "position_interpolation",
    "proportional",
    "yarn",
]


@dataclass(frozen=True, slots=True, eq=False)
class Rope:
    """What a rotary layer needs: how fast each plane turns, and how much it grows.

    Parameters
    ----------
    frequencies : array_like of real numbers, shape (pairs,)
        Radians per position of pair r = 0, 1, ..., pairs - 1.
    attention_factor : float, optional
        Number by which rotated queries and rotated keys are multiplied each
        (cosine and sine in most programs). Scores grow by its square.

    Raises
    ------
    TypeError
        If an argument holds no real numbers.
    ValueError
        If `frequencies` is no vector or not finite, or `attention_factor` is
        not positive.
    """

    frequencies: NDArray[np.float64]
    attention_factor: float = 1.0

    def __post_init__(self) -> None:
        speeds = _checks.frequency_vector("frequencies", self.frequencies)
        speeds.flags.writeable = False
        object.__setattr__(self, "frequencies", speeds)
        growth = _checks.number("attention_factor", self.attention_factor, above=0)
        object.__setattr__(self, "attention_factor", growth)


def position_interpolation(frequencies: ArrayLike, factor: float) -> Rope:
    r"""Return frequencies divided by `factor`: positions are squeezed evenly.

    Turning by :math:`m\,(\omega_r/s)` or by :math:`(m/s)\,\omega_r` is the same.

    Parameters
    ----------
    frequencies : array_like of real numbers, shape (pairs,)
        Radians per position before scaling.
    factor : float
        Stretch s of the context, at least 1.

    Returns
    -------
    Rope
        With attention factor 1.

    Raises
    ------
    TypeError
        If an argument holds no real numbers.
    ValueError
        If `frequencies` is no vector or not finite, or `factor` is below 1.

    References
    ----------
    Chen et al., "Extending Context Window of Large Language Models via
    Positional Interpolation" (2023), section 2.3.
    """
    speeds = _checks.frequency_vector("frequencies", frequencies)
    return Rope(speeds / _checks.number("factor", factor, least=1))


def ntk_aware(width: int, base: float, factor: float) -> Rope:
    r"""Return the frequencies of a larger base that slows the last pair by `factor`.

    .. math:: \text{base}' = \text{base}\cdot s^{d/(d-2)}, \qquad
        \omega'_r = \omega_r\, s^{-2r/(d-2)}

    The first pair keeps its frequency, the last one is divided by s exactly.

    Parameters
    ----------
    width : int
        Rotary width d: number of components that are rotated; even, at least 4.
    base : float
        Base before scaling, greater than 1.
    factor : float
        Slow-down s of the last pair, at least 1.

    Returns
    -------
    Rope
        With attention factor 1.

    Raises
    ------
    TypeError
        If `width` is no integer or another argument no real number.
    ValueError
        If `width` is odd or below 4 (one pair would be the first and the last),
        `base` is not greater than 1, `factor` is below 1, or the larger base is
        no finite number.

    References
    ----------
    Peng et al., "YaRN: Efficient Context Window Extension of Large Language
    Models" (2023), section 3.1 and appendix A.1.
    """
    _, ground = _width_and_base(width, base)
    stretch = _checks.number("factor", factor, least=1)
    return Rope(geometric(width, _larger_base(width, ground, stretch)))


def dynamic_ntk(
    width: int, base: float, factor: float, length: float, original_length: float
) -> Rope:
    r"""Return NTK-aware frequencies for a sequence of the given length.

    For a length l beyond the trained length L the base becomes

    .. math:: \text{base}\cdot\bigl(f\,l/L-(f-1)\bigr)^{d/(d-2)}

    and stays as it is up to L. This is the rule of released code. The paper has
    no f: its scale is :math:`\max(1, l/L)`, which is the rule with `factor` 1.
    The factor is no ratio of lengths.

    Parameters
    ----------
    width : int
        Rotary width d; even, at least 4.
    base : float
        Base before scaling, greater than 1.
    factor : float
        The f above, at least 1.
    length : float
        Current length l in positions, positive.
    original_length : float
        Trained length L in positions, positive.

    Returns
    -------
    Rope
        With attention factor 1. Keys rotated for another length do not fit.

    Raises
    ------
    TypeError
        If `width` is no integer or another argument no real number.
    ValueError
        See :func:`ntk_aware`; also if a length is not positive.

    References
    ----------
    Peng et al. (2023), section 3.3 and appendix A.1.
    """
    _, ground = _width_and_base(width, base)
    growth = _checks.number("factor", factor, least=1)
    now = _checks.number("length", length, above=0)
    trained = _checks.number("original_length", original_length, above=0)
    scale = growth * max(now, trained) / trained - (growth - 1)
    return Rope(geometric(width, _larger_base(width, ground, scale)))


def yarn(
    width: int,
    base: float,
    factor: float,
    original_length: float,
    *,
    beta_fast: float = 32.0,
    beta_slow: float = 1.0,
    truncate: bool = True,
    attention_factor: float | None = None,
    mscale: float | None = None,
    mscale_all_dim: float | None = None,
    ramp: Literal["released", "paper"] = "released",
) -> Rope:
    r"""Return YaRN frequencies: fast pairs kept, slow ones divided, a ramp between.

    With :math:`\gamma_r` the share that is kept,
    :math:`\omega'_r = \gamma_r\,\omega_r + (1-\gamma_r)\,\omega_r/s`. The paper and
    the released code have different ramps, and both are available:

    * paper: linear in the number of turns within the trained length,
      :math:`\gamma=\operatorname{clip}((L\omega_r/2\pi-\beta_\text{slow})/
      (\beta_\text{fast}-\beta_\text{slow}),0,1)`;
    * released: linear in the pair index, from the pair that makes `beta_fast`
      turns to the one that makes `beta_slow`; both ends are rounded outwards if
      `truncate`, then clipped to 0 and d - 1. (There are only d/2 pairs. If the
      trained length is so long or so short that the clipped ends change places,
      the released formula runs backwards; it is returned as it is.)

    Parameters
    ----------
    width : int
        Rotary width d; positive and even.
    base : float
        Base before scaling, greater than 1.
    factor : float
        Stretch s of the context, at least 1.
    original_length : float
        Trained length L in positions, positive; not the extended one.
    beta_fast, beta_slow : float, optional
        Turns within L above which a pair is kept and below which it is divided.
    truncate : bool, optional
        Whether the ends of the released ramp are rounded.
    attention_factor : float, optional
        Replaces the formula :math:`0.1\ln s+1`.
    mscale, mscale_all_dim : float, optional
        If both are given and not 0, the attention factor is
        :math:`(0.1\,\text{mscale}\ln s+1)/(0.1\,\text{mscale\_all\_dim}\ln s+1)`.
    ramp : {"released", "paper"}, optional
        Which of the two ramps.

    Returns
    -------
    Rope

    Raises
    ------
    TypeError
        If `width` is no integer, `truncate` no bool, or another argument no real
        number.
    ValueError
        If `width` is odd or not positive, `base` is not greater than 1, `factor`
        is below 1, a length or beta is not positive, `beta_fast` is below
        `beta_slow`, an mscale is negative, or `ramp` is unknown.

    References
    ----------
    Peng et al. (2023), sections 3.2 and 3.4, and the authors' released code.
    """
    _, ground = _width_and_base(width, base)
    stretch = _checks.number("factor", factor, least=1)
    trained = _checks.number("original_length", original_length, above=0)
    slow = _checks.number("beta_slow", beta_slow, above=0)
    fast = _checks.number("beta_fast", beta_fast, least=slow)
    if not isinstance(truncate, bool | np.bool_):
        raise TypeError(f"truncate must be True or False, got {truncate!r}")
    _checks.choice("ramp", ramp, ("released", "paper"))
    speeds = geometric(width, ground)
    if ramp == "paper":
        kept = _kept_by_turns(speeds, trained, slow, fast)
    else:
        kept = _kept_by_index(speeds.size, ground, trained, slow, fast, bool(truncate))
    if attention_factor is None:
        attention_factor = _yarn_attention_factor(stretch, mscale, mscale_all_dim)
    return Rope(kept * speeds + (1 - kept) * speeds / stretch, attention_factor)


def longrope(
    width: int,
    base: float,
    short_factor: ArrayLike,
    long_factor: ArrayLike,
    factor: float,
    original_length: float,
    *,
    length: float | None = None,
    attention_factor: float | None = None,
    variant: Literal["released", "paper"] = "released",
) -> Rope:
    r"""Return LongRoPE frequencies: each pair divided by a searched number.

    Beyond the trained length L the frequencies of all positions are divided by
    `long_factor`, up to L by `short_factor`. Released code multiplies cosine and
    sine by :math:`\sqrt{1+\ln s/\ln L}` at every length; that factor is not in
    the paper. (The paper also leaves the first positions of a sequence
    unscaled, which no single vector of frequencies can say.)

    Parameters
    ----------
    width : int
        Rotary width d; positive and even.
    base : float
        Base before scaling, greater than 1.
    short_factor, long_factor : array_like of real numbers, shape (width // 2,)
        Positive divisors, one for each pair.
    factor : float
        Stretch s of the context, at least 1; used for the attention factor only.
    original_length : float
        Trained length L in positions, greater than 1.
    length : float, optional
        Current length in positions; without it at most L.
    attention_factor : float, optional
        Replaces the formula.
    variant : {"released", "paper"}, optional
        With the attention factor of released code, or with none.

    Returns
    -------
    Rope

    Raises
    ------
    TypeError
        If `width` is no integer or another argument holds no real numbers.
    ValueError
        If `width` is odd or not positive, `base` or `original_length` is not
        greater than 1, `factor` is below 1, `length` is not positive, a list has
        the wrong length or a number that is not positive, or `variant` is
        unknown.

    References
    ----------
    Ding et al., "LongRoPE: Extending LLM Context Window Beyond 2 Million Tokens"
    (2024), section 3, and the authors' released code.
    """
    _, ground = _width_and_base(width, base)
    stretch = _checks.number("factor", factor, least=1)
    trained = _checks.number("original_length", original_length, above=1)
    now = trained if length is None else _checks.number("length", length, above=0)
    speeds = geometric(width, ground)
    short = _divisors("short_factor", short_factor, speeds.size)
    long = _divisors("long_factor", long_factor, speeds.size)
    _checks.choice("variant", variant, ("released", "paper"))
    if attention_factor is None:
        released = variant == "released"
        attention_factor = sqrt(1 + log(stretch) / log(trained)) if released else 1.0
    return Rope(speeds / (long if now > trained else short), attention_factor)


def llama3(
    width: int,
    base: float,
    factor: float,
    original_length: float,
    *,
    low_freq_factor: float = 1.0,
    high_freq_factor: float = 4.0,
) -> Rope:
    r"""Return Llama 3.1 frequencies: three bands of wavelength.

    Pairs that make more than `high_freq_factor` turns within the trained length
    are kept, those that make fewer than `low_freq_factor` are divided by `factor`,
    and between the two the share that is kept is linear in the turns. This is
    :func:`yarn` with the paper's ramp and attention factor 1. If both bounds are
    equal there is a step, and a pair exactly on it is kept.

    Parameters
    ----------
    width : int
        Rotary width; positive and even.
    base : float
        Base before scaling, greater than 1.
    factor : float
        Divisor of the slow pairs, at least 1.
    original_length : float
        Trained length in positions, positive.
    low_freq_factor, high_freq_factor : float, optional
        Turns within the trained length that bound the bands.

    Returns
    -------
    Rope
        With attention factor 1.

    Raises
    ------
    TypeError
        If `width` is no integer or another argument no real number.
    ValueError
        If `width` is odd or not positive, `base` is not greater than 1, `factor`
        is below 1, another number is not positive, or `high_freq_factor` is below
        `low_freq_factor`.

    References
    ----------
    Llama team, "The Llama 3 Herd of Models" (2024), and the reference code of
    Llama 3.1.
    """
    _, ground = _width_and_base(width, base)
    stretch = _checks.number("factor", factor, least=1)
    trained = _checks.number("original_length", original_length, above=0)
    low = _checks.number("low_freq_factor", low_freq_factor, above=0)
    high = _checks.number("high_freq_factor", high_freq_factor, least=low)
    speeds = geometric(width, ground)
    kept = _kept_by_turns(speeds, trained, low, high)
    return Rope(kept * speeds + (1 - kept) * speeds / stretch)


def proportional(width: int, base: float, fraction: float, *, factor: float = 1.0) -> Rope:
    r"""Return p-RoPE frequencies: the fastest pairs of the whole head, then zeros.

    The first :math:`\lfloor pd/2\rfloor` pairs keep :math:`\text{base}^{-2r/d}`, the
    others do not turn. Partial rotation differs: it spreads its frequencies over
    the smaller rotary width.

    Parameters
    ----------
    width : int
        Width d of the whole head; positive and even.
    base : float
        Greater than 1.
    fraction : float
        Share p of pairs that turn, from 0 (no positions) to 1 (plain rotation).
    factor : float, optional
        All frequencies are divided by it; at least 1.

    Returns
    -------
    Rope
        With width // 2 frequencies and attention factor 1.

    Raises
    ------
    TypeError
        If `width` is no integer or another argument no real number.
    ValueError
        If `width` is odd or not positive, `base` is not greater than 1,
        `fraction` is outside [0, 1], or `factor` is below 1.

    References
    ----------
    Barbero et al., "Round and Round We Go! What Makes Rotary Positional
    Encodings Useful?" (2024), section 6.
    """
    _, ground = _width_and_base(width, base)
    share = _checks.number("fraction", fraction, least=0)
    if share > 1:
        raise ValueError(f"fraction must be at most 1, got {fraction!r}")
    speeds = np.asarray(geometric(width, ground) / _checks.number("factor", factor, least=1))
    speeds[int(share * width / 2) :] = 0
    return Rope(speeds)


def linear_schedule(width: int, base: float = 1.0) -> Rope:
    r"""Return frequencies in equal steps, :math:`\omega_r = 2\pi\,\text{base}\,r/d`.

    The first pair does not turn and the last turns fastest. With an integer base
    every pair comes back after d positions, so that positions m and m + d are the
    same: a counterexample rather than a method.

    Parameters
    ----------
    width : int
        Rotary width d; positive and even.
    base : float, optional
        Positive number.

    Returns
    -------
    Rope
        With attention factor 1.

    Raises
    ------
    TypeError
        If `width` is no integer or `base` no real number.
    ValueError
        If `width` is odd or not positive, or `base` is not positive.
    """
    width = _checks.even_width("width", width)
    step = 2 * np.pi * _checks.number("base", base, above=0) / width
    return Rope(np.asarray(step * np.arange(width // 2), dtype=np.float64))


def _width_and_base(width: int, base: float) -> tuple[int, float]:
    return _checks.even_width("width", width), _checks.number("base", base, above=1)


def _larger_base(width: int, base: float, scale: float) -> float:
    """Return base * scale**(d / (d - 2))."""
    if width == 2:
        raise ValueError("width must be at least 4: a single pair is the first and the last")
    try:
        return _checks.finite("base", base * scale ** (width / (width - 2))).item()
    except (OverflowError, ValueError):
        raise ValueError(
            f"factor must leave the larger base finite, got base {base} with scale {scale}"
        ) from None


def _kept_by_turns(
    speeds: NDArray[np.float64], length: float, slow: float, fast: float
) -> NDArray[np.float64]:
    """Return the share kept, linear in the turns within `length`; a step if slow == fast."""
    turns = length * speeds / (2 * np.pi)
    if fast == slow:
        return np.where(turns >= slow, 1.0, 0.0)
    return np.asarray(np.clip((turns - slow) / (fast - slow), 0.0, 1.0))


def _kept_by_index(
    pairs: int, base: float, length: float, slow: float, fast: float, truncate: bool
) -> NDArray[np.float64]:
    """Return the share kept, linear in the pair index, as released code has it."""
    low, high = (pairs * log(length / (2 * np.pi * turns)) / log(base) for turns in (fast, slow))
    if truncate:
        low, high = float(np.floor(low)), float(np.ceil(high))
    low, high = max(low, 0.0), min(high, 2 * pairs - 1.0)
    if low == high:
        high += 0.001  # as the released code does, so that there is a step
    return np.asarray(1 - np.clip((np.arange(pairs) - low) / (high - low), 0.0, 1.0))


def _yarn_attention_factor(
    factor: float, mscale: float | None, mscale_all_dim: float | None
) -> float:
    def growth(weight: float) -> float:
        return 0.1 * weight * log(factor) + 1

    above = None if mscale is None else _checks.number("mscale", mscale, least=0)
    below = (
        None
        if mscale_all_dim is None
        else _checks.number("mscale_all_dim", mscale_all_dim, least=0)
    )
    # Released code asks whether both are true, so 0 counts as not given.
    return growth(above) / growth(below) if above and below else growth(1)


def _divisors(name: str, value: ArrayLike | Sequence[float], pairs: int) -> NDArray[np.float64]:
    array = _checks.finite(name, value)
    if array.shape != (pairs,):
        raise ValueError(f"{name} must hold {pairs} numbers, one per pair, got shape {array.shape}")
    if (array <= 0).any():
        raise ValueError(f"{name} must hold positive numbers, got {array[array <= 0][0]}")
    return array
