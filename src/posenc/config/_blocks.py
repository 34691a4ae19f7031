"""Where the rope parameters of each layer type stand, in the old and the new spelling."""

from collections.abc import Mapping

from posenc.config import _models
from posenc.config._fields import ConfigError, Fields, show
from posenc.config._rope import method_of

__all__ = ["Blocks", "blocks_of"]

# Rope parameters of each layer type; None where the type has no positions. A model with
# one set for all layers has it under the empty name.
Blocks = dict[str, Fields | None]


def blocks_of(fields: Fields, model: str, notes: list[str]) -> tuple[Blocks, bool]:
    """Return the blocks, and whether the file itself has one per layer type."""
    new, old = fields.block("rope_parameters"), fields.block("rope_scaling")
    if new is not None and old is not None:
        _agree(new, old)
    block = new if old is None else old
    if block is not None and _is_nested(block):
        return _nested(block, model), True
    if model in _models.PER_LAYER_TYPE:
        raise fields.missing(
            "rope_parameters", f"{show(model)} has other positions in each layer type"
        )
    if model in _models.TWO_ROPES:
        return _two(old, new, fields, model, notes), False
    if block is None and model in _models.DEFAULT_BLOCKS:
        notes.append(f"no scaling in the file; {model} scales by default, as its class does")
        block = Fields(_models.DEFAULT_BLOCKS[model], "default.")
    if block is None:
        block = Fields({}, fields.where)
    if model == "deepseek_v4":
        return _deepseek_v4(block, notes), False
    return {"": block}, False


def _agree(new: Fields, old: Fields) -> None:
    """Refuse two spellings of the parameters that are not the same."""
    names = [name for name in {**new.values, **old.values} if name not in ("type", "rope_type")]
    differing = [
        show(name) for name in names if not _same(new.values.get(name), old.values.get(name))
    ]
    if not differing and not _is_nested(new) and method_of(new) != method_of(old):
        differing = ["rope_type"]
    if differing:
        raise ConfigError(
            f"{old.where}* and {new.where}* are both given and disagree in {', '.join(differing)}"
        )


def _same(first: object, second: object) -> bool:
    try:
        return bool(first == second)
    except (ValueError, TypeError, RecursionError):
        return False


def _is_nested(block: Fields) -> bool:
    inner = [name for name, value in block.values.items() if isinstance(value, Mapping)]
    if not inner:
        return False
    rest = [name for name in block.values if name not in inner and block.has(name)]
    if rest:
        raise ConfigError(
            f"{block.where}* mixes parameters ({show(rest[0])}) with a block per layer type "
            f"({show(inner[0])})"
        )
    return True


def _nested(block: Fields, model: str) -> Blocks:
    blocks: Blocks = {}
    for name in block.values:
        if not isinstance(name, str):
            raise ConfigError(f"{block.where}{show(name)} must be the name of a layer type")
        inner = block.block(name)
        # An empty object is a block of defaults, JSON null a layer type without positions.
        blocks[name] = inner or (Fields({}, block.where) if block.has(name) else None)
    if model in _models.TWO_ROPES:
        for name in ("full_attention", "sliding_attention"):
            if blocks.get(name) is None:
                blocks[name] = Fields({}, f"{block.where}{name}.")
    return blocks


def _two(
    old: Fields | None, new: Fields | None, fields: Fields, model: str, notes: list[str]
) -> Blocks:
    """Return a block for full and one for sliding attention, from one block for both."""
    if new is not None and old is None:
        raise ConfigError(
            f"{new.where}* must hold a block per layer type for {model}; the class ignores a "
            "block for all layers"
        )
    reached = _models.TWO_ROPES[model][4]
    values = dict(old.values) if old is not None else {}
    if values and not reached:
        notes.append(f"{fields.where}rope_scaling is ignored by {model}")
    if reached and values.get("rope_type") is None and values.get("type") is not None:
        notes.append(
            f"{fields.where}rope_scaling has the old key type {show(values['type'])}, which "
            f"transformers 5.24.0 ignores for {model}: nothing is scaled (older versions and "
            "rope_type do scale)"
        )
        values = {name: value for name, value in values.items() if name != "type"}
    where = f"{fields.where}rope_scaling."
    return {
        name: Fields(values if name in reached else {}, where)
        for name in ("full_attention", "sliding_attention")
    }


def _deepseek_v4(block: Fields, notes: list[str]) -> Blocks:
    values = dict(block.values)
    values.pop("rope_theta", None)  # the two bases stand beside the block
    if method_of(block) == "yarn" and not block.has("attention_factor"):
        values["attention_factor"] = 1.0
        notes.append("attention_factor is 1 in compressed layers, as the model class sets it")
    return {"main": Fields({}, block.where), "compress": Fields(values, block.where)}
