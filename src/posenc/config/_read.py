"""From the configuration of a model to the positions it computes."""

import os
from collections.abc import Mapping

from posenc import _checks
from posenc._checks import Layout
from posenc.absolute import frequencies
from posenc.config import _kinds, _models
from posenc.config._blocks import blocks_of
from posenc.config._fields import LARGEST_LENGTH, ConfigError, Fields, load, show
from posenc.config._layers import layers
from posenc.config._rope import Setting, compute, method_of, qwen_dynamic, softmax_growth
from posenc.config._scheme import PositionScheme
from posenc.config._sizes import Sizes
from posenc.scaling import Rope

__all__ = ["read"]


def read(
    config: Mapping[str, object] | str | os.PathLike[str],
    *,
    length: int | None = None,
    layer: int | str | None = None,
) -> PositionScheme:
    """Return what a model really does about positions, from its configuration.

    Fields are read as transformers 5.24.0 reads them, in the old spelling
    (``rope_scaling``, ``type``) and the new one (``rope_parameters``,
    ``rope_type``). Nothing is guessed silently: what is not in the file is a
    note, what cannot be known is an error.

    Parameters
    ----------
    config : mapping or path
        The configuration itself, a JSON file, or a directory with config.json.
    length : int, optional
        Current length in positions, for methods that depend on it ("dynamic",
        "longrope"). Without it the answer is for the trained length.
    layer : int or str, optional
        Layer index from 0, or a layer type such as "full_attention". Without it
        the answer is for the full-attention layers that rotate, and a note says
        where others differ.

    Returns
    -------
    PositionScheme

    Raises
    ------
    ConfigError
        If the file cannot be read, a field is missing or breaks its rule, two
        spellings disagree, or a method or model is not known. It is a ValueError.
    TypeError
        If `length` is no integer, or `layer` neither an integer nor a text.
    ValueError
        If `length` is not positive or too large, or the model has no such layer.

    Examples
    --------
    >>> scheme = read({"model_type": "llama", "hidden_size": 8, "num_attention_heads": 1,
    ...                "max_position_embeddings": 2048, "rope_theta": 10000.0,
    ...                "rope_scaling": {"type": "linear", "factor": 4.0}})
    >>> scheme.rope.frequencies.tolist()
    [0.25, 0.025, 0.0025, 0.00025]
    >>> scheme.layout
    'half-split'
    """
    if length is not None:
        length = _checks.at_least("length", length, 1)
        if length > LARGEST_LENGTH:
            raise ValueError(f"length must be at most {LARGEST_LENGTH}, got {show(length)}")
    if layer is not None and not isinstance(layer, str):
        layer = _checks.at_least("layer", layer, 0)
    notes: list[str] = []
    fields, model = _kinds.text_model(Fields(load(config)), notes)
    kind = _kinds.kind_of(fields, model, notes)
    if kind == "rope":
        return _Rotary(fields, model, length, layer, notes).scheme()
    details = _kinds.details_of(kind, fields, model, notes)
    _kinds.report_unread(fields, notes)
    return PositionScheme(
        kind=kind,
        model_type=model,
        max_length=_max_length(fields),
        layer=layer,
        details=details,
        notes=tuple(notes),
    )


def _max_length(fields: Fields) -> int | None:
    for name in ("max_position_embeddings", "n_positions", "seq_length", "max_sequence_length"):
        if fields.has(name):
            return fields.length(name)
    return None


class _Rotary:
    """One reading of a rotary model."""

    def __init__(
        self,
        fields: Fields,
        model: str,
        length: int | None,
        layer: int | str | None,
        notes: list[str],
    ) -> None:
        self.fields, self.model, self.length, self.layer = fields, model, length, layer
        self.notes = notes
        self.max_length = _max_length(fields)
        self.blocks, self.nested = blocks_of(fields, model, notes)
        self.layers = layers(fields, model, notes)

    def scheme(self) -> PositionScheme:
        if self.fields.has("layer_rope_theta"):
            raise self.fields.error("layer_rope_theta", "(a base for each layer) is not read")
        name = self._chosen()
        block = self.blocks.get(name) if name is not None else None
        if name is None or block is None:
            return self._without(name)
        return self._rotating(name, block)

    # Which layer is asked for.

    def _chosen(self) -> str | None:
        """Return the name of the block that answers, or None if the layer does not turn."""
        if isinstance(self.layer, str):
            return self._of_type(self.layer)
        if self.layer is not None:
            return self._of_index(self.layer)
        turning = [
            name
            for name, block in self.blocks.items()
            if block is not None and (not name or self._ever_turns(name))
        ]
        if not turning or (self.layers.turns and not any(self.layers.turns)):
            return None
        chosen = "full_attention" if "full_attention" in turning else turning[0]
        if len(self.blocks) > 1:
            self.notes.append(
                f"layer types differ ({', '.join(self.blocks)}); this is for {chosen} "
                "(ask with layer=)"
            )
        free = [str(index) for index, turn in enumerate(self.layers.turns) if not turn]
        if free:
            shown = ", ".join(free[:8]) + (", ..." if len(free) > 8 else "")
            self.notes.append(f"{len(free)} layers do not rotate: {shown}")
        return chosen

    def _ever_turns(self, name: str) -> bool:
        if not self.layers.types:
            return True
        return any(
            turn and self._block_name(kind) == name
            for kind, turn in zip(self.layers.types, self.layers.turns, strict=True)
        )

    def _block_name(self, kind: str) -> str:
        if "" in self.blocks:
            return ""
        if self.model == "deepseek_v4":
            return "main" if kind == "sliding_attention" else "compress"
        return kind

    def _of_index(self, index: int) -> str | None:
        types, turns = self.layers.types, self.layers.turns
        if not types:
            raise self.fields.missing("num_hidden_layers", "a layer is asked for by its index")
        if index >= len(types):
            raise ValueError(f"layer must be below the {len(types)} layers, got {index}")
        if not turns[index]:
            return None
        name = self._block_name(types[index])
        if name not in self.blocks:
            raise ConfigError(
                f"layer {index} is of type {show(types[index])}, for which there are no rope "
                f"parameters, only for {', '.join(self.blocks)}"
            )
        return name

    def _of_type(self, kind: str) -> str | None:
        if kind in self.blocks:
            return kind
        if kind not in self.layers.types:
            names = sorted({*self.blocks, *self.layers.types} - {""})
            raise ValueError(f"layer must be one of {', '.join(names) or 'none'}, got {kind!r}")
        return self._of_index(self.layers.types.index(kind))

    def _layer_type(self, name: str | None) -> str | None:
        if isinstance(self.layer, str):
            return self.layer
        if self.layer is not None:
            return self.layers.types[self.layer]
        return name or None

    def _without(self, name: str | None) -> PositionScheme:
        self.notes.append("this layer does not rotate; what order it knows comes from elsewhere")
        return PositionScheme(
            kind="none",
            model_type=self.model,
            max_length=self.max_length,
            layer=self.layer,
            layer_type=self._layer_type(name),
            layer_types=self.layers.types,
            turning_layers=self.layers.turns,
            notes=tuple(self.notes),
        )

    # What it computes.

    def _rotating(self, name: str, block: Fields) -> PositionScheme:
        method = method_of(block)
        if self.model == "phi3" and method == "yarn":
            self.notes.append("phi3 reads yarn as longrope, as its class does")
            method = "longrope"
        sizes = Sizes(self.fields, self.model, self.notes)
        head, width, share = sizes.widths(name, block, method)
        setting = Setting(
            model=self.model,
            width=width,
            head_width=head or width,
            share=share,
            base=sizes.base(name, block, nested=self.nested),
            max_length=self.max_length,
            original_length=self.fields.length("original_max_position_embeddings"),
            nested=self.nested,
            length=self.length,
        )
        method, rope = compute(method, block, setting, self.notes)
        if self.model == "qwen" and self.fields.flag("use_dynamic_ntk") and method == "default":
            method, rope = self._qwen(setting, rope)
        self._remark(block, rope, head, width)
        softmax = 1.0
        if self.model in _models.MSCALE_ON_SOFTMAX:
            softmax = softmax_growth(method, block, self.notes)
        layout = self._layout()
        trained = self._trained_length(block, setting, method)
        _kinds.report_unread(self.fields, self.notes)
        return PositionScheme(
            kind="rope",
            model_type=self.model,
            rope=rope,
            unscaled=frequencies(width, setting.base),
            method=method,
            base=setting.base,
            rotary_width=width,
            head_width=head,
            layout=layout,
            softmax_factor=softmax,
            trained_length=trained,
            max_length=self.max_length,
            layer=self.layer,
            layer_type=self._layer_type(name),
            layer_types=self.layers.types,
            turning_layers=self.layers.turns,
            notes=tuple(self.notes),
        )

    def _qwen(self, setting: Setting, rope: Rope) -> tuple[str, Rope]:
        trained = self.fields.length("seq_length") or self.max_length
        if trained is None:
            raise self.fields.missing("seq_length", "use_dynamic_ntk starts from it")
        if self.length is None or self.length <= trained:
            self.notes.append(f"beyond {trained} positions the base grows in steps")
            return "default", rope
        try:
            return "ntk-aware", qwen_dynamic(setting, trained)
        except ValueError as error:
            raise ConfigError(f"the configuration: {error}") from None

    def _trained_length(self, block: Fields, setting: Setting, method: str) -> int | None:
        if method in ("yarn", "longrope", "llama3"):
            return (
                block.length("original_max_position_embeddings")
                or setting.original_length
                or self.max_length
            )
        if method == "linear" and self.max_length is not None:
            self.notes.append(
                "linear scaling does not tell the trained length; max_position_embeddings "
                f"{self.max_length} may already be the stretched one"
            )
        return self.max_length

    # The rest.

    def _layout(self) -> Layout | None:
        layout = _models.layout(self.model)
        if layout == "interleaved" and self.fields.flag("rope_interleave") is False:
            return "half-split"
        return layout

    def _remark(self, block: Fields, rope: Rope, head: int | None, width: int) -> None:
        """Note what frequencies alone do not tell."""
        fields, notes = self.fields, self.notes
        sections = block.sequence("mrope_section")
        if sections is not None:
            notes.append(
                f"pairs are shared out to three axes, {show(list(sections))}; for text all three "
                "positions are equal and this is ordinary rotation"
            )
            if _total(sections) != width // 2:
                notes.append(f"mrope_section does not sum to {width // 2} pairs")
        if block.number("llama_4_scaling_beta"):
            notes.append("llama_4_scaling_beta also multiplies queries by a factor that grows")
        if self.model == "llama4_text" and fields.flag("attn_temperature_tuning") is not False:
            notes.append("layers that do not rotate multiply queries by a factor that grows")
        if fields.has("dual_chunk_attention_config"):
            notes.append("dual_chunk_attention_config changes positions in ways not read here")
        if fields.flag("use_logn_attn"):
            notes.append("use_logn_attn also multiplies queries by a factor that grows")
        if self.model == "nanochat":
            notes.append("this model rotates clockwise")
        if self.model == "deepseek_v4":
            notes.append("the last components of a head are rotated, not the first")
        if rope.attention_factor != 1 and head is not None and head != width:
            notes.append("the attention factor reaches the rotated components only")


def _total(values: object) -> int:
    numbers = values if isinstance(values, list | tuple) else ()
    return sum(value for value in numbers if isinstance(value, int))
