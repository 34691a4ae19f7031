"""Rotary families of transformers: what each model does to queries and keys, by its own words.

A model is built from a tiny configuration and run; an attention function of our own takes the
queries and keys at the moment they are compared. At position 0 nothing turns, so a run with all
positions 0 gives the vectors before rotation, whatever projection, bias or norm made them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from transformers import AutoConfig, AutoModelForCausalLM
from transformers.masking_utils import AttentionMaskInterface
from transformers.modeling_utils import AttentionInterface

HEAD_WIDTH = 16
TINY = {
    "vocab_size": 32,
    "hidden_size": 64,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "num_hidden_layers": 1,
    "intermediate_size": 32,
    "max_position_embeddings": 131_072,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
HEADS = {"head_dim": HEAD_WIDTH}
OLD_NAMES = {"n_embd": 64, "n_head": 4, "n_layer": 1, "rotary_dim": 8, "n_positions": 131_072}
LATENT = {
    "qk_rope_head_dim": 8,
    "qk_nope_head_dim": 8,
    "v_head_dim": HEAD_WIDTH,
    "kv_lora_rank": 8,
    "q_lora_rank": 8,
    "n_routed_experts": 2,
    "first_k_dense_replace": 1,
}
DENSE = {"first_k_dense_replace": 1}


@dataclass(frozen=True)
class Family:
    """What `posenc.rotary.rotate` must be told in order to agree with a model type."""

    model_type: str
    layout: str
    width: int = HEAD_WIDTH
    base: float = 10_000.0
    start: int = 0
    """First rotated component of a head; the others pass through."""
    inverse: bool = False
    config: Mapping[str, Any] = field(default_factory=dict)


FAMILIES = [
    Family("llama", "half-split"),
    Family("mistral", "half-split"),
    Family("qwen3", "half-split", config=HEADS),
    Family("gemma", "half-split", config=HEADS),
    Family("gemma2", "half-split", config=HEADS),
    # Its first layer is local.
    Family("gemma3_text", "half-split", config=HEADS),
    # Its layer counted as global; the same model has two bases.
    Family(
        "gemma3_text",
        "half-split",
        base=1_000_000.0,
        config={**HEADS, "layer_types": ["full_attention"]},
    ),
    Family("phi3", "half-split"),
    Family("qwen2", "half-split"),
    Family("mixtral", "half-split", base=1_000_000.0),
    Family("starcoder2", "half-split"),
    # Normalises after rotating, with weights that are 1 here.
    Family("hunyuan_v1_dense", "half-split", config=HEADS),
    Family("olmo2", "half-split"),
    Family("smollm3", "half-split", base=2_000_000.0),
    Family(
        "gpt_oss",
        "half-split",
        base=150_000.0,
        config={**HEADS, "rope_parameters": {"rope_type": "default", "rope_theta": 150_000.0}},
    ),
    # A part of each head turns.
    Family("gpt_neox", "half-split", width=4),
    Family("stablelm", "half-split", width=4),
    Family("phi", "half-split", width=8),
    Family("persimmon", "half-split", width=8),
    Family("nemotron", "half-split", width=8),
    Family("glm4_moe", "half-split", width=8, config={**HEADS, **DENSE}),
    Family("minimax_m2", "half-split", base=5_000_000.0, config=HEADS),
    # Pairs are neighbours.
    Family("gptj", "interleaved", width=8, config=OLD_NAMES),
    Family("codegen", "interleaved", width=8, config=OLD_NAMES),
    Family("glm", "interleaved", width=8, config=HEADS),
    Family("glm4", "interleaved", width=8, config=HEADS),
    Family("cohere", "interleaved", base=500_000.0),
    Family("cohere2", "interleaved"),
    Family("ernie4_5", "interleaved", base=500_000.0, config=HEADS),
    Family("llama4_text", "interleaved", base=500_000.0, config=HEADS),
    Family("deepseek_v2", "interleaved", width=8, start=8, config=LATENT),
    # Reads interleaved pairs and writes half-split ones, queries and keys alike. What is
    # compared, already in the written order at position 0, turns in the half-split layout.
    Family("deepseek_v3", "half-split", width=8, start=8, config=LATENT),
    # Turns clockwise: what others know as position m is -m here.
    Family("nanochat", "half-split", inverse=True),
]


def names(families: list[Family]) -> list[str]:
    """Return a label for each family, unique where a model type occurs twice."""
    return [f"{f.model_type}-{f.base:g}" for f in families]


def _compared(module, query, key, value, attention_mask, **rest):
    """Keep what is compared; attend to nothing, so that no layer's input depends on positions."""
    # float32 holds the narrower types exactly.
    module.compared = (query.float().numpy().copy(), key.float().numpy().copy())
    shape = (query.shape[0], query.shape[2], query.shape[1], value.shape[-1])
    return torch.zeros(shape, dtype=value.dtype), None


AttentionInterface.register("compared", _compared)
AttentionMaskInterface.register("compared", lambda *arguments, **options: None)


def build(
    model_type: str,
    config: Mapping[str, Any],
    dtype=torch.float32,
    *,
    cast: bool = False,
    attention: str = "compared",
):
    """Return a tiny model with seeded random weights; `cast` it when built, or build it so."""
    settings = AutoConfig.for_model(model_type, **{**TINY, **config})
    model = AutoModelForCausalLM.from_config(
        settings, attn_implementation=attention, dtype=torch.float32 if cast else dtype
    )
    # Larger than the usual 0.02, so that a query is of the size of a real one.
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim == 2:
                parameter.copy_(torch.randn(parameter.shape, generator=generator) / 8)
    return (model.to(dtype) if cast else model).eval()


def queries_and_keys(model, positions: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return what each layer compares, shapes (batch, heads, length, head width)."""
    positions = np.asarray(positions)
    tokens = 3 + np.arange(positions.size).reshape(positions.shape) % 29
    with torch.no_grad():
        model(
            input_ids=torch.from_numpy(tokens),
            position_ids=torch.from_numpy(positions),
            use_cache=False,
        )
    return [module.compared for module in model.modules() if hasattr(module, "compared")]
