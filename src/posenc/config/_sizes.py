"""Widths and bases, which many fields may tell and all of them alike."""

from posenc.config import _models
from posenc.config._fields import ConfigError, Fields, words

__all__ = ["Sizes"]

_LARGEST_WIDTH = 65_536
_ROTARY_DIM = frozenset(words("codegen gptj minimax_m2 minimax_m3_vl_text phi-msft"))


class Sizes:
    """The widths and the base of one layer type, and the notes of reading them."""

    def __init__(self, fields: Fields, model: str, notes: list[str]) -> None:
        self.fields, self.model, self.notes = fields, model, notes

    def widths(self, name: str, block: Fields, method: str) -> tuple[int | None, int, float]:
        """Return the width of a head, the rotary width, and the share that is rotated."""
        fields = self.fields
        rotary = fields.integer("qk_rope_head_dim", least=0, most=_LARGEST_WIDTH)
        if rotary is None and self.model in _models.ROPE_SLICES:
            rotary = _models.ROPE_SLICES[self.model]
            self.notes.append(f"qk_rope_head_dim is missing; {self.model} has {rotary} by default")
        if rotary is not None and self.model != "deepseek_v4":
            fields.get("partial_rotary_factor")  # says the same about another width
            unrotated = fields.integer("qk_nope_head_dim", least=0, most=_LARGEST_WIDTH)
            head = None if unrotated is None else unrotated + rotary
            self.notes.append(f"a slice of {rotary} components beside the others is rotated")
            return head, _even(rotary, "qk_rope_head_dim"), 1.0
        width = self._head_width(name)
        if rotary is not None:
            return width, _even(rotary, "qk_rope_head_dim"), rotary / width
        share = self._share(block, width)
        turned = width if method == "proportional" else int(width * share)
        return width, _even(turned, f"head width {width} times {share:g}"), share

    def _head_width(self, name: str) -> int:
        fields = self.fields
        if name == "full_attention" and self.model == "gemma4_text":
            return self._gemma4_width()
        given = fields.spelled("head_dim", "attention_head_dim", "kv_channels")
        if given is not None:
            return given
        default = _models.HEAD_WIDTHS.get(self.model)
        if default is not None:
            self.notes.append(f"head_dim is missing; {self.model} has {default} by default")
            return default
        hidden = fields.spelled("hidden_size", "n_embd", "d_model")
        heads = fields.spelled("num_attention_heads", "n_head", "n_heads")
        if hidden is None or heads is None:
            raise fields.missing(
                "head_dim", "nor do hidden_size and num_attention_heads give the width of a head"
            )
        hidden *= 2 if self.model == "zamba2" else 1
        if hidden % heads:
            raise ConfigError(
                f"{fields.where}hidden_size must be a multiple of num_attention_heads {heads}, "
                f"got {hidden}"
            )
        return hidden // heads

    def _gemma4_width(self) -> int:
        given = self.fields.integer("global_head_dim")
        if given is None and self.fields.has("per_layer_config"):
            raise self.fields.error("per_layer_config", "is not read; global_head_dim is")
        if given is None:
            self.notes.append("global_head_dim is missing; gemma4 has 512 by default")
        return given or 512

    def _share(self, block: Fields, width: int) -> float:
        """Return the share of a head that is rotated; all fields that tell it must agree."""
        fields, model = self.fields, self.model
        known = _models.known(model)
        found = {f"{block.where}partial_rotary_factor": block.number("partial_rotary_factor")}
        if model != "gpt_neox":
            found["partial_rotary_factor"] = fields.number("partial_rotary_factor")
        if not known or model in ("gpt_neox", "gpt_neox_japanese", "qwen"):
            found["rotary_pct"] = fields.number("rotary_pct")
        rotary = fields.integer("rotary_dim")
        if not known or model in _ROTARY_DIM:
            found["rotary_dim"] = None if rotary is None else rotary / width
        given = {name: share for name, share in found.items() if share is not None}
        for name, share in given.items():
            if share > 1:
                raise ConfigError(f"{name} must rotate at most the whole head, got {share:g}")
        if given:
            share = next(iter(given.values()))
            told = {int(width * other) for other in given.values()}
            if len(told | ({rotary} - {None})) > 1:
                raise ConfigError(
                    "fields disagree about the rotated share of a head of width "
                    f"{width}: {given}, rotary_dim {rotary}"
                )
            return share
        share = _models.SHARES.get(model, 1.0)
        if model in ("codegen", "gptj"):
            if "rotary_dim" in fields.values:
                raise fields.error("rotary_dim", "must be a number")
            share = 64 / width
        if share != 1:
            self.notes.append(
                f"no field tells the rotated share; {model} rotates {int(width * share)} of "
                f"{width} by default"
            )
        if rotary is not None and rotary != int(width * share):
            self.notes.append(f"rotary_dim {rotary} is ignored: {model} does not read it")
        return share

    def base(self, name: str, block: Fields, *, nested: bool) -> float:
        """Return the base; fields that tell it for every layer must agree."""
        fields, model = self.fields, self.model
        beside, default = self._base_field(name)
        found = {f"{block.where}rope_theta": block.number("rope_theta", least=1, above=True)}
        if beside:
            found[beside] = fields.number(beside, least=1, above=True)
        if not _models.known(model) and beside == "rope_theta":
            found["rotary_emb_base"] = fields.number("rotary_emb_base", least=1, above=True)
        ratio = fields.number("rope_ratio", above=True) if model == "chatglm" else None
        given = {key: base for key, base in found.items() if base is not None}
        if len(set(given.values())) > 1 and not nested:
            raise ConfigError(f"fields disagree about the base: {given}")
        if given:
            return next(iter(given.values()))
        if not beside:
            self.notes.append(f"no field tells the base; the code of {model} has {default:g}")
            return default
        default *= ratio or 1.0
        if not 1 < default <= 1e30:
            raise fields.error("rope_ratio", "must leave a base between 1 and 1e30")
        before = _models.BASES_BEFORE.get(model)
        earlier = "" if before is None else f" (transformers 4.57.6: {before:g})"
        self.notes.append(f"{beside} is missing; the default {default:g} is used{earlier}")
        return default

    def _base_field(self, name: str) -> tuple[str, float]:
        """Return the field beside the block that may hold the base, and the default."""
        model = self.model
        if model in _models.TWO_ROPES and name:
            full, full_default, local, local_default, _ = _models.TWO_ROPES[model]
            self._belong(full, local)
            if model == "olmo3" and name != "full_attention" and self.fields.has(full):
                self.notes.append(f"{full} reaches full attention only, as the class has it")
            return (full, full_default) if name == "full_attention" else (local, local_default)
        if model == "deepseek_v4":
            self._belong("rope_theta", "compress_rope_theta", "partial_rotary_factor")
            return ("rope_theta", 1e4) if name == "main" else ("compress_rope_theta", 1.6e5)
        if model in ("gpt_neox", "gpt_neox_japanese", "qwen"):
            return "rotary_emb_base", 1e4
        if model in ("codegen", "gptj"):
            return "", 1e4
        return "rope_theta", _models.BASES.get(model, 1e4)

    def _belong(self, *names: str) -> None:
        """Mark fields that are read for another layer type as read."""
        for name in names:
            self.fields.get(name)


def _even(width: int, what: str) -> int:
    if width < 2 or width % 2 or width > _LARGEST_WIDTH:
        raise ConfigError(
            f"the rotary width ({what}) must be even, from 2 to {_LARGEST_WIDTH}, got {width}"
        )
    return width
