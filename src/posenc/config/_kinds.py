"""Which kind of positions a configuration has, and what the kinds without rotation need."""

from posenc.config import _models
from posenc.config._fields import ConfigError, Fields, show, words

__all__ = ["POSITION_FIELDS", "details_of", "kind_of", "report_unread", "text_model"]

Details = dict[str, int | float | str]

_TEXT_MODELS = ("text_config", "llm_config", "language_config", "thinker_config")
_ROPE_FIELDS = words(
    """
    rope_theta rope_scaling rope_parameters partial_rotary_factor rotary_dim rotary_pct
    rotary_emb_base qk_rope_head_dim rope_local_base_freq rope_ratio
    """
)
# Fields about positions; one of them that nothing read is worth a note.
POSITION_FIELDS = (
    *_ROPE_FIELDS,
    *words(
        """
    alibi global_rope_theta local_rope_theta swa_rope_theta compress_rope_theta
    no_rope_layers rope_interleaved rope_interleave position_embedding_type mla_use_nope
    use_dynamic_ntk use_mem_rope offset_alibi original_max_position_embeddings rope_type
    rope_scaling_factor
    """
    ),
)


def text_model(fields: Fields, notes: list[str]) -> tuple[Fields, str]:
    """Return the fields of the language model and its type, from inside a wrapper."""
    model = fields.text("model_type")
    for _ in range(len(_TEXT_MODELS)):
        inner = [block for name in _TEXT_MODELS if (block := fields.block(name)) is not None]
        if not inner:
            return fields, _models.ALIASES.get(model or "", model or "")
        if len(inner) > 1:
            names = " and ".join(block.where.rstrip(".") for block in inner)
            raise ConfigError(f"{names} both hold a text model; which one is meant is not clear")
        for name in POSITION_FIELDS:
            if fields.has(name):
                notes.append(f"{fields.where}{name} is ignored: {inner[0].where}* is read instead")
        fields = inner[0]
        model = fields.text("model_type") or model
    raise ConfigError(f"{fields.where}* is nested more deeply than any model")


def kind_of(fields: Fields, model: str, notes: list[str]) -> str:
    """Return the kind of positions, or refuse a configuration that does not tell."""
    if model in _models.NO_POSITIONS:
        if fields.flag("mla_use_nope") is False:
            raise fields.error("mla_use_nope", "must be true for a model without positions")
        return "none"
    named = fields.text("position_embedding_type")
    if model == "granitemoehybrid":
        return "rope" if named == "rope" else "none"
    if model == "zamba2":
        return "rope" if fields.flag("use_mem_rope") else "none"
    if _is_alibi(fields, model, named, notes):
        return "alibi"
    if named in ("relative_key", "relative_key_query"):
        notes.append("vectors for relative positions as in Shaw et al., beside a learned table")
        return "relative-bias"
    if model in _models.RELATIVE_BIAS:
        return "relative-bias"
    if model == "distilbert":
        return "sinusoidal" if fields.flag("sinusoidal_pos_embds") else "learned"
    if model in _models.SINUSOIDAL:
        return "sinusoidal"
    if model in _models.LEARNED or (model == "esm" and named in (None, "absolute")):
        return "learned"
    if _models.known(model) or named in ("rope", "rotary"):
        return "rope"
    if not any(fields.has(name) for name in _ROPE_FIELDS):
        raise ConfigError(
            f"model_type {show(model or None)} is not known and no field tells its positions"
        )
    whose = f"model_type {show(model)} is not known" if model else "model_type is missing"
    notes.append(f"{whose}: rotation as in Llama is assumed, for every layer; layout not known")
    return "rope"


def _is_alibi(fields: Fields, model: str, named: str | None, notes: list[str]) -> bool:
    if model == "mpt":
        attention = fields.block("attn_config")
        if attention is not None and (
            attention.flag("alibi") is False or attention.flag("rope") is True
        ):
            raise ConfigError("attn_config: mpt without alibi is not known")
        return True
    if model == "baichuan" and fields.spelled("hidden_size") == 5120:
        notes.append("hidden_size 5120 is the 13B model, whose code has ALiBi instead of rotation")
        return True
    if model in ("falcon", "RefinedWeb", "RefinedWebModel"):
        return bool(fields.flag("alibi"))
    return model in _models.ALIBI or named == "alibi"


def details_of(kind: str, fields: Fields, model: str, notes: list[str]) -> Details:
    """Return the numbers that describe positions without rotation."""
    if kind == "alibi":
        details: Details = {"heads": _need(fields, "num_attention_heads", "n_head", "n_heads")}
        block = fields.block("attn_config") if model == "mpt" else None
        exponent = block.number("alibi_bias_max", above=True) if block is not None else None
        if exponent is not None:
            details["max_exponent"] = exponent
            if exponent != 8:
                notes.append(
                    f"slopes go down to 2 ** -{exponent:g}, as trained; "
                    "the code of transformers 5.24.0 ignores alibi_bias_max and uses 8"
                )
        return details
    if kind == "learned":
        return _table(fields, model, notes)
    if kind == "sinusoidal":
        return {"width": _need(fields, "d_model", "hidden_size", "dim", "n_embd")}
    if kind == "relative-bias" and model in _models.RELATIVE_BIAS:
        notes.append("keys on both sides have buckets of their own in the encoder only")
        return {
            "heads": _need(fields, "num_heads", "num_attention_heads"),
            "buckets": _defaulted(fields, "relative_attention_num_buckets", 32, notes),
            "max_distance": _defaulted(fields, "relative_attention_max_distance", 128, notes),
        }
    return {}


def _table(fields: Fields, model: str, notes: list[str]) -> Details:
    size = _need(fields, "max_position_embeddings", "n_positions", "n_ctx", "max_target_positions")
    offset = _models.LEARNED.get(model, 0)
    if model == "esm" or offset is None:
        padding = fields.integer("pad_token_id", least=0)
        if padding is None:
            padding = 1
            notes.append("pad_token_id is missing; 1 is assumed")
        notes.append(f"positions count from the padding token's id + 1, which is {padding + 1}")
        if size <= padding + 1:
            raise fields.error("max_position_embeddings", f"must exceed {padding + 1}")
        return {"rows": size, "position_offset": padding + 1, "longest": size - padding - 1}
    return {"rows": size + offset, "position_offset": offset, "longest": size}


def _need(fields: Fields, *names: str) -> int:
    value = fields.spelled(*names)
    if value is None:
        raise fields.missing(names[0], "this kind of positions needs it")
    return value


def _defaulted(fields: Fields, name: str, default: int, notes: list[str]) -> int:
    value = fields.integer(name)
    if value is None:
        notes.append(f"{name} is missing; the default {default} is used")
    return value or default


def report_unread(fields: Fields, notes: list[str]) -> None:
    """Note every field about positions that nothing has read."""
    for name in POSITION_FIELDS:
        if fields.has(name) and name not in fields.used:
            notes.append(f"{fields.where}{name} is ignored: this model does not read it")
