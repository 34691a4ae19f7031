"""Which layers of a model are alike, and which of them have no positions."""

from dataclasses import dataclass

from posenc.config._fields import LARGEST_COUNT, ConfigError, Fields, words

__all__ = ["Layers", "layers"]

# Layer types that are no attention, and carry order by themselves.
_NO_ATTENTION = frozenset(
    words(
        """
    conv linear_attention mamba recurrent moe mlp
    """
    )
)
# Types in which full attention has no positions where other layers have a window.
_FULL_IS_FREE = frozenset(["afmoe", "cohere2", "exaone4", "exaone_moe"])
_DEEPSEEK_V4 = {
    0: "sliding_attention",
    4: "compressed_sparse_attention",
    128: "heavily_compressed_attention",
}
# Field of the distance between full layers, its default, the name of the other layers, and
# which layer of each group is the full one (-1: the last).
_PATTERNS = {
    "afmoe": ("global_attn_every_n_layers", 4, "sliding_attention", -1),
    "cohere2": ("sliding_window_pattern", 4, "sliding_attention", -1),
    "exaone4": ("sliding_window_pattern", 4, "sliding_attention", -1),
    "gemma3_text": ("sliding_window_pattern", 6, "sliding_attention", -1),
    "gemma3n_text": ("", 5, "sliding_attention", -1),
    "gemma4_text": ("", 6, "sliding_attention", -1),
    "modernbert": ("global_attn_every_n_layers", 3, "sliding_attention", 0),
    "modernbert-decoder": ("global_attn_every_n_layers", 3, "sliding_attention", 0),
    "olmo3": ("", 4, "sliding_attention", -1),
    "qwen3_5_moe_text": ("full_attention_interval", 4, "linear_attention", -1),
    "qwen3_5_text": ("full_attention_interval", 4, "linear_attention", -1),
    "qwen3_next": ("full_attention_interval", 4, "linear_attention", -1),
}


@dataclass(frozen=True)
class Layers:
    """Type of each layer, and whether it turns its queries and keys.

    Both are empty if the configuration does not tell the number of layers.
    """

    types: tuple[str, ...] = ()
    turns: tuple[bool, ...] = ()


def layers(fields: Fields, model: str, notes: list[str]) -> Layers:
    """Return what is known of every layer of a rotary model."""
    count = fields.spelled("num_hidden_layers", "n_layer", "n_layers", "num_layers")
    types = _types(fields, model, count, notes)
    if count is None:
        return Layers(types, tuple(_turns(fields, model, types, notes)))
    if not types:
        types = ("attention",) * count
    if model == "gemma4_text" and types[-1] != "full_attention":
        types = (*types[:-1], "full_attention")
        notes.append("the last layer is made a full_attention layer, as the model class does")
    return Layers(types, tuple(_turns(fields, model, types, notes)))


def _types(fields: Fields, model: str, count: int | None, notes: list[str]) -> tuple[str, ...]:
    for name in ("layer_types", "layers_block_type"):
        given = fields.sequence(name)
        if given is not None:
            return _given_types(fields, name, given, count, notes)
    if count is None:
        return ()
    if model == "mimo_v2_flash":
        notes.append("layer_types is missing; layer 0 and 1 of 6 are full_attention by default")
        return tuple(
            "sliding_attention" if layer and (layer + 1) % 6 else "full_attention"
            for layer in range(count)
        )
    if model in _PATTERNS:
        return _by_pattern(fields, model, count, notes)
    for name, other in (("full_attn_idxs", "conv"), ("attn_layer_indices", "linear_attention")):
        chosen = _indices(fields, name)
        if chosen:
            return tuple("full_attention" if i in chosen else other for i in range(count))
    if model == "deepseek_v4":
        return _by_compression(fields, count)
    if model == "mllama_text_model":
        crossed = _indices(fields, "cross_attention_layers")
        return tuple("cross_attention" if i in crossed else "attention" for i in range(count))
    if model == "recurrent_gemma":
        return tuple(("recurrent", "recurrent", "attention")[i % 3] for i in range(count))
    if model == "bamba":
        raise fields.missing("attn_layer_indices", "it tells which layers have attention")
    if model == "minimax":
        return tuple("linear_attention" if i % 2 else "full_attention" for i in range(count))
    return ()


def _given_types(
    fields: Fields, name: str, given: object, count: int | None, notes: list[str]
) -> tuple[str, ...]:
    assert isinstance(given, list | tuple)
    if not given or not all(isinstance(item, str) for item in given):
        raise fields.error(name, "must be a list of texts")
    if count is not None and len(given) < count:
        raise ConfigError(f"{fields.where}{name} has {len(given)} entries for {count} layers")
    if count is not None and len(given) > count:
        notes.append(f"{name} has {len(given)} entries; those beyond {count} layers are left out")
    return tuple(given[:count])


def _by_pattern(fields: Fields, model: str, count: int, notes: list[str]) -> tuple[str, ...]:
    name, group, other, full = _PATTERNS[model]
    given = fields.get(name) if name else None
    if isinstance(given, str):
        return _by_letters(fields, name, given, count)
    if name:
        group = fields.integer(name) or group
    if model == "exaone4" and not fields.has("sliding_window"):
        return ("full_attention",) * count
    if given is None:
        notes.append(f"layer_types is missing; 1 of {group} layers is full_attention by default")
    return tuple(
        "full_attention" if layer % group == full % group else other for layer in range(count)
    )


def _by_letters(fields: Fields, name: str, letters: str, count: int) -> tuple[str, ...]:
    """Read a pattern such as LLLG: local, local, local, global, and the last layer global."""
    if not letters or set(letters) - {"L", "G"}:
        raise fields.error(name, "must be a number or consist of the letters L and G")
    types = [
        "sliding_attention" if letters[layer % len(letters)] == "L" else "full_attention"
        for layer in range(count)
    ]
    return (*types[:-1], "full_attention")


def _by_compression(fields: Fields, count: int) -> tuple[str, ...]:
    name = "compress_ratios"
    ratios = fields.sequence(name)
    if ratios is None:
        kinds = ("heavily_compressed_attention", "compressed_sparse_attention")
        return tuple(kinds[0] if layer < 2 else kinds[layer % 2] for layer in range(count))
    if len(ratios) < count or not all(
        isinstance(ratio, int) and ratio in _DEEPSEEK_V4 for ratio in ratios
    ):
        raise fields.error(name, f"must hold 0, 4 or 128 for each of {count} layers")
    return tuple(_DEEPSEEK_V4[ratio] for ratio in ratios[:count] if isinstance(ratio, int))


def _indices(fields: Fields, name: str) -> frozenset[int]:
    values = fields.sequence(name) or ()
    found = [value for value in values if isinstance(value, int) and not isinstance(value, bool)]
    if len(found) != len(values) or any(not 0 <= value < LARGEST_COUNT for value in found):
        raise fields.error(name, "must be a list of layer indices")
    return frozenset(found)


def _turns(fields: Fields, model: str, types: tuple[str, ...], notes: list[str]) -> list[bool]:
    """Tell for each layer whether it turns queries and keys."""
    turns = [kind not in _NO_ATTENTION and kind != "cross_attention" for kind in types]
    windowed = not model.startswith("exaone") or fields.has("sliding_window")
    if model in _FULL_IS_FREE and windowed:
        turns = [turn and kind != "full_attention" for turn, kind in zip(turns, types, strict=True)]
    if model in ("llama4_text", "smollm3"):
        turns = [
            turn and flag
            for turn, flag in zip(turns, _rope_flags(fields, model, len(types), notes), strict=True)
        ]
    return turns


def _rope_flags(fields: Fields, model: str, count: int, notes: list[str]) -> list[bool]:
    """Read no_rope_layers, in which 1 means that the layer does have rope."""
    name = "no_rope_layers"
    flags = fields.sequence(name)
    every = fields.integer("no_rope_layer_interval") or 4
    if flags is None or (not flags and model == "llama4_text"):
        notes.append(f"no_rope_layers is missing; 1 of {every} layers does not rotate by default")
        return [(layer + 1) % every != 0 for layer in range(count)]
    if len(flags) != count or not all(isinstance(flag, int) and flag in (0, 1) for flag in flags):
        raise fields.error(name, f"must hold 0 or 1 for each of {count} layers")
    return [bool(flag) for flag in flags]
