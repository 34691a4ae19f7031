"""From one block of rope parameters to frequencies."""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, log, log2, pi

from posenc.absolute import frequencies
from posenc.config._fields import LARGEST_LENGTH, ConfigError, Fields, show, words
from posenc.scaling import (
    Rope,
    dynamic_ntk,
    llama3,
    longrope,
    ntk_aware,
    position_interpolation,
    proportional,
    yarn,
)

__all__ = ["Setting", "compute", "method_of", "qwen_dynamic", "softmax_growth"]

_ALIASES = {"mrope": "default", "su": "longrope"}
_LARGEST_FACTOR = 1e9

# What each method reads, besides the fields that all of them share.
_READS = {
    "default": "",
    "linear": "factor",
    "dynamic": "factor",
    "yarn": """factor attention_factor beta_fast beta_slow mscale mscale_all_dim truncate
        original_max_position_embeddings""",
    "longrope": """factor attention_factor short_factor long_factor
        original_max_position_embeddings""",
    "llama3": "factor low_freq_factor high_freq_factor original_max_position_embeddings",
    "proportional": "factor",
}
_SHARED = frozenset(
    words(
        """
    rope_type type rope_theta partial_rotary_factor mrope_section mrope_interleaved
    max_position_embeddings llama_4_scaling_beta
    """
    )
)
_ANY = frozenset(" ".join(_READS.values()).split())


@dataclass
class Setting:
    """What a block of rope parameters is read together with."""

    model: str
    width: int
    head_width: int
    share: float
    base: float
    max_length: int | None
    original_length: int | None
    nested: bool
    length: int | None


def method_of(block: Fields) -> str:
    """Return the name of the method, or refuse one that is not known."""
    new, old = block.text("rope_type"), block.text("type")
    names = {_ALIASES.get(name, name) for name in (new, old) if name is not None}
    if len(names) > 1:
        raise ConfigError(
            f"{block.where}rope_type and {block.where}type disagree: {show(new)} and {show(old)}"
        )
    method = names.pop() if names else "default"
    if method == "axial":
        raise ConfigError(f'{block.where}rope_type "axial" is for images, and is not read here')
    if method not in _READS:
        raise ConfigError(
            f"{block.where}rope_type {show(method)} is not known; known are {', '.join(_READS)}"
        )
    return method


def compute(method: str, block: Fields, setting: Setting, notes: list[str]) -> tuple[str, Rope]:
    """Return the name of the method that is really used, and its rope."""
    if method == "dynamic" and block.has("alpha") and setting.model.startswith("hunyuan"):
        method = "ntk-aware"
        notes.append("the block says dynamic, but the model uses a fixed alpha: NTK-aware")
    try:
        rope = _METHODS[method](block, setting, notes)
    except ConfigError:
        raise
    except (ValueError, TypeError) as error:  # a rule of posenc.scaling
        raise ConfigError(f"{block.where or 'the configuration: '}{error}") from None
    _report_unread(method, block, notes)
    return method, rope


def softmax_growth(method: str, block: Fields, notes: list[str]) -> float:
    """Return the number by which DeepSeek's attention multiplies all its scores."""
    weight = block.number("mscale_all_dim", most=1e3)
    factor = block.number("factor", most=_LARGEST_FACTOR)
    if method == "default" or not weight or factor is None or factor <= 1:
        return 1.0
    if not block.has("mscale") and not block.has("attention_factor"):
        notes.append(
            "only mscale_all_dim is given: the temperature reaches cosine and sine as well "
            "as the softmax, so the rotated part counts it twice"
        )
    return (0.1 * weight * log(factor) + 1) ** 2


def _default(block: Fields, setting: Setting, notes: list[str]) -> Rope:
    return Rope(frequencies(setting.width, setting.base))


def _linear(block: Fields, setting: Setting, notes: list[str]) -> Rope:
    plain = frequencies(setting.width, setting.base)
    return position_interpolation(plain, _factor(block, "linear"))


def _dynamic(block: Fields, setting: Setting, notes: list[str]) -> Rope:
    factor = _factor(block, "dynamic")
    trained = setting.max_length
    if trained is None:
        raise block.missing("max_position_embeddings", 'method "dynamic" starts from it')
    given = block.length("original_max_position_embeddings")
    if given is not None and given != trained:
        notes.append(
            "dynamic starts from max_position_embeddings and ignores "
            f"original_max_position_embeddings {given}"
        )
    if setting.length is None:
        notes.append(
            f"frequencies change beyond {trained} positions; these are for up to {trained} "
            "(ask with length=)"
        )
    length = setting.length or trained
    return dynamic_ntk(setting.width, setting.base, factor, length, trained)


def _ntk_alpha(block: Fields, setting: Setting, notes: list[str]) -> Rope:
    alpha = block.number("alpha", least=1, most=_LARGEST_FACTOR)
    for name in ("factor", "mscale"):
        if block.number(name) not in (None, 1.0):
            notes.append(f"{block.where}{name} is ignored by this model")
    return ntk_aware(setting.width, setting.base, alpha or 1.0)


def _yarn(block: Fields, setting: Setting, notes: list[str]) -> Rope:
    original = _original(block, setting, notes)
    if "factor" in block.values and not block.has("factor") and setting.max_length is not None:
        factor = max(1.0, setting.max_length / original)
        notes.append(f"factor is null; the ratio of the two lengths is used, {factor:g}")
    else:
        factor = _factor(block, "yarn")
    _compare_lengths(factor, original, setting, notes)
    truncate = block.flag("truncate")
    if truncate is False and setting.nested:
        notes.append(
            "truncate false stands in a block per layer type, where transformers 5.24.0 does "
            "not read it; the ramp is rounded"
        )
        truncate = True
    fast = _turns(block, "beta_fast", 32.0, notes)
    slow = _turns(block, "beta_slow", 1.0, notes)
    rope = yarn(
        setting.width,
        setting.base,
        factor,
        original,
        beta_fast=fast,
        beta_slow=slow,
        truncate=truncate is not False,
        attention_factor=block.number("attention_factor", most=1e6, above=True),
        mscale=block.number("mscale", most=1e3),
        mscale_all_dim=block.number("mscale_all_dim", most=1e3),
    )
    plain = frequencies(setting.width, setting.base)
    turns = original * plain / (2 * pi)
    if (turns[-1] > fast and rope.frequencies[-1] < plain[-1]) or (
        turns[0] < slow and rope.frequencies[0] > plain[0] / factor
    ):
        notes.append(
            "the trained length is so far from the wavelengths that the released ramp runs "
            "backwards: pairs are scaled that should not be, or the reverse"
        )
    return rope


def _longrope(block: Fields, setting: Setting, notes: list[str]) -> Rope:
    original = _original(block, setting, notes)
    factor = block.number("factor", least=1, most=_LARGEST_FACTOR)
    if factor is None:
        if setting.max_length is None:
            raise block.missing("factor", "max_position_embeddings is missing as well")
        factor = max(1.0, setting.max_length / original)
        notes.append(f"factor is missing; the ratio of the two lengths is used, {factor:g}")
    short, long = block.numbers("short_factor"), block.numbers("long_factor")
    if short is None or long is None:
        raise block.missing("short_factor or long_factor", 'method "longrope" needs both')
    if setting.length is None and short != long:
        notes.append(
            f"frequencies change beyond {original} positions; these are for up to {original} "
            "(ask with length=)"
        )
    return longrope(
        setting.width,
        setting.base,
        short,
        long,
        factor,
        original,
        length=setting.length,
        attention_factor=block.number("attention_factor", most=1e6, above=True),
    )


def _llama3(block: Fields, setting: Setting, notes: list[str]) -> Rope:
    original = _original(block, setting, notes)
    bounds = {}
    for name in ("low_freq_factor", "high_freq_factor"):
        bound = block.number(name, least=1e-6, most=1e6)
        if bound is None:
            raise block.missing(name, 'method "llama3" needs it')
        bounds[name] = bound
    if bounds["low_freq_factor"] == bounds["high_freq_factor"]:
        notes.append(
            "low_freq_factor equals high_freq_factor: the blend between the bands would be "
            "0/0, and no plane uses it; there is a hard step"
        )
    if setting.max_length is not None and original >= setting.max_length:
        notes.append(
            f"original_max_position_embeddings {original} is not below max_position_embeddings "
            f"{setting.max_length}"
        )
    return llama3(
        setting.width,
        setting.base,
        _factor(block, "llama3"),
        original,
        low_freq_factor=bounds["low_freq_factor"],
        high_freq_factor=bounds["high_freq_factor"],
    )


def _proportional(block: Fields, setting: Setting, notes: list[str]) -> Rope:
    factor = block.number("factor", least=1, most=_LARGEST_FACTOR)
    if setting.share == 1:
        notes.append("proportional without partial_rotary_factor turns every plane")
    return proportional(setting.head_width, setting.base, setting.share, factor=factor or 1.0)


_METHODS: dict[str, Callable[[Fields, Setting, list[str]], Rope]] = {
    "default": _default,
    "linear": _linear,
    "dynamic": _dynamic,
    "ntk-aware": _ntk_alpha,
    "yarn": _yarn,
    "longrope": _longrope,
    "llama3": _llama3,
    "proportional": _proportional,
}


def qwen_dynamic(setting: Setting, trained: int) -> Rope:
    """Return the first Qwen's dynamic NTK, whose alpha grows in steps."""
    length = setting.length or trained
    alpha = max(2 ** ceil(log2(length / trained) + 1) - 1, 1)
    return ntk_aware(setting.width, setting.base, alpha)


def _factor(block: Fields, method: str) -> float:
    factor = block.number("factor", least=1, most=_LARGEST_FACTOR)
    if factor is None:
        raise block.missing("factor", f'method "{method}" needs it')
    return factor


def _turns(block: Fields, name: str, default: float, notes: list[str]) -> float:
    turns = block.number(name, most=1e6)
    if turns is not None and 0 < turns < 1e-6:
        raise block.error(name, "must be 0 or at least 1e-06")
    if turns == 0:
        notes.append(f"{block.where}{name} 0 counts as not given; {default:g} is used")
    return turns or default


def _original(block: Fields, setting: Setting, notes: list[str]) -> int:
    inside = block.integer("original_max_position_embeddings", most=LARGEST_LENGTH)
    outside = setting.original_length
    if inside is not None and outside is not None and inside != outside:
        raise ConfigError(
            f"original_max_position_embeddings stands twice and disagrees: {outside} beside "
            f"and {inside} inside {block.where or 'the block'}"
        )
    if inside is None and outside is None:
        if setting.max_length is None:
            raise block.missing(
                "original_max_position_embeddings", "max_position_embeddings is missing as well"
            )
        notes.append(
            "original_max_position_embeddings is missing; max_position_embeddings "
            f"{setting.max_length} is taken for the trained length, as transformers does"
        )
        return setting.max_length
    return inside or outside or 1


def _compare_lengths(factor: float, original: int, setting: Setting, notes: list[str]) -> None:
    if setting.max_length is None:
        return
    ratio = setting.max_length / original
    if ratio not in (1.0, factor):
        notes.append(
            f"max_position_embeddings {setting.max_length} is {ratio:g} times "
            f"original_max_position_embeddings {original}, but factor is {factor:g}; factor is used"
        )


def _report_unread(method: str, block: Fields, notes: list[str]) -> None:
    read = _SHARED | frozenset(_READS.get(method, "factor mscale alpha").split())
    for name in block.values:
        if name in read or not block.has(name) or name in block.used:
            continue
        if name in _ANY:
            notes.append(f'{block.where}{name} is ignored: method "{method}" does not read it')
        else:
            notes.append(f"{block.where}{show(name)} is not known and is ignored")
