"""Tables of transformers that need no query: slopes, buckets, sinusoids."""

import numpy as np
import torch
from calls import Call
from transformers.models.bloom import modeling_bloom as bloom
from transformers.models.marian.modeling_marian import MarianSinusoidalPositionalEmbedding
from transformers.models.t5.modeling_t5 import T5Attention
from transformers.models.whisper import modeling_whisper as whisper


def alibi_slopes_of_bloom(heads: int) -> Call:
    """Return the slopes that BLOOM was trained with."""
    return Call(
        name=f"slopes of {heads} heads",
        peer=f"{bloom.__name__}._get_alibi_slopes",
        function="posenc.bias.alibi_slopes",
        arguments={"heads": heads},
        result=bloom._get_alibi_slopes(heads, "cpu").numpy(),
    )


def t5_buckets(buckets: int, max_distance: int, bidirectional: bool) -> Call:
    """Return the buckets of distances near and far."""
    offsets = np.concatenate([np.arange(-130, 131), [-1000, -500, 500, 1000]])
    result = T5Attention._relative_position_bucket(
        torch.from_numpy(offsets), bidirectional, buckets, max_distance
    )
    return Call(
        name=f"{buckets} buckets to {max_distance}, bidirectional: {bidirectional}",
        peer="transformers.models.t5.modeling_t5.T5Attention._relative_position_bucket",
        function="posenc.bias.t5_bucket",
        arguments={
            "relative_position": offsets,
            "bidirectional": bidirectional,
            "buckets": buckets,
            "max_distance": max_distance,
        },
        result=result.numpy(),
    )


def sinusoids_of_models() -> list[Call]:
    """Return the sinusoid of the paper and that of tensor2tensor."""
    width, length = 6, 12
    common = {"positions": np.arange(length), "width": width}
    return [
        Call(
            name="sinusoid of the paper",
            peer="transformers.models.marian.modeling_marian.MarianSinusoidalPositionalEmbedding",
            function="posenc.absolute.sinusoid",
            arguments={**common, "layout": "half-split"},
            result=MarianSinusoidalPositionalEmbedding(length, width).create_weight().numpy(),
        ),
        Call(
            name="sinusoid of tensor2tensor",
            peer=f"{whisper.__name__}.sinusoids",
            function="posenc.absolute.timing_signal",
            arguments=common,
            result=whisper.sinusoids(length, width).numpy(),
        ),
    ]
