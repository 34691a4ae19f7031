"""Score terms of transformers that depend on the distance of query and key."""

import numpy as np
import torch
from calls import Call
from transformers.models.deberta import DebertaConfig
from transformers.models.deberta import modeling_deberta as deberta
from transformers.models.deberta_v2 import DebertaV2Config
from transformers.models.deberta_v2 import modeling_deberta_v2 as deberta_v2
from transformers.models.wav2vec2_bert import Wav2Vec2BertConfig
from transformers.models.wav2vec2_bert import modeling_wav2vec2_bert as conformer
from transformers.models.xlnet import XLNetConfig
from transformers.models.xlnet import modeling_xlnet as xlnet


def fill(module):
    """Give every parameter random values of a size that matters; biases start at 0 otherwise."""
    generator = torch.Generator().manual_seed(2)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator) / 4)
    return module.eval()


def normal(seed, *shape):
    """Return float32 numbers of the size of a query after a norm."""
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def array(tensor):
    """Return the numbers of a parameter or a result."""
    return tensor.detach().numpy()


def deberta_weights(version: int, length: int, heads: int, width: int, span: int) -> Call:
    """Run the disentangled attention of DeBERTa (1) or DeBERTa-v2 and v3 (2)."""
    settings = {
        "hidden_size": heads * width,
        "num_attention_heads": heads,
        "relative_attention": True,
        "pos_att_type": ["c2p", "p2c"],
        "hidden_dropout_prob": 0.0,
        "attention_probs_dropout_prob": 0.0,
    }
    if version == 1:
        module, furthest = deberta, None
        config = DebertaConfig(max_relative_positions=span, **settings)
    else:
        module, furthest = deberta_v2, 2 * span
        config = DebertaV2Config(position_buckets=span, max_relative_positions=furthest, **settings)
    attention = fill(module.DisentangledSelfAttention(config))
    hidden = torch.from_numpy(normal(1, 1, length, heads * width))
    table = torch.from_numpy(normal(2, 2 * span, heads * width))
    places = torch.arange(length)
    with torch.no_grad():
        _, weights = attention(
            hidden,
            torch.ones(1, 1, length, length),
            output_attentions=True,
            # Version 2 makes its buckets itself.
            relative_pos=(places[:, None] - places)[None] if version == 1 else None,
            rel_embeddings=table,
        )
        if version == 1:
            fused = attention.transpose_for_scores(attention.in_proj(hidden))
            q, k, _ = fused.chunk(3, dim=-1)
            q = q + attention.transpose_for_scores(attention.q_bias[None, None, :])
            position_k = attention.transpose_for_scores(attention.pos_proj(table[None]))
            position_q = attention.transpose_for_scores(attention.pos_q_proj(table[None]))
        else:
            q, k, position_k, position_q = (
                attention.transpose_for_scores(project(x), heads)[None]
                for project, x in [
                    (attention.query_proj, hidden),
                    (attention.key_proj, hidden),
                    (attention.pos_key_proj, table[None]),
                    (attention.pos_query_proj, table[None]),
                ]
            )
    return Call(
        name=f"deberta version {version}, length {length}, span {span}",
        peer=f"{module.__name__}.DisentangledSelfAttention",
        function="posenc.bias.deberta_scores",
        arguments={
            "q": array(q[0]),
            "k": array(k[0]),
            "position_q": array(position_q[0]),
            "position_k": array(position_k[0]),
            "queries": np.arange(length),
            "keys": np.arange(length),
            "max_distance": furthest,
        },
        result=array(weights[0]),
        weights=True,
    )


def _conformer(kind, heads, width, **settings):
    config = Wav2Vec2BertConfig(
        hidden_size=heads * width,
        num_attention_heads=heads,
        position_embeddings_type=kind,
        **settings,
    )
    return config, fill(conformer.Wav2Vec2BertSelfAttention(config))


def shaw_of_a_speech_encoder(length: int, heads: int, width: int, clip: int) -> Call:
    """Run the relative keys of Wav2Vec2-BERT, which are Shaw's."""
    _, attention = _conformer(
        "relative_key",
        heads,
        width,
        left_max_position_embeddings=clip,
        right_max_position_embeddings=clip,
    )
    q, k = normal(3, heads, length, width), normal(4, heads, length, width)
    with torch.no_grad():
        query, bias = conformer._apply_relative_key_position_encoding(
            attention, torch.from_numpy(q)[None], torch.from_numpy(k)[None]
        )
    return Call(
        name=f"relative keys, length {length}, clipped at {clip}",
        peer=f"{conformer.__name__}._apply_relative_key_position_encoding",
        function="posenc.bias.shaw_scores",
        arguments={
            "q": q,
            "k": k,
            "table": array(attention.distance_embedding.weight),
            "queries": np.arange(length),
            "keys": np.arange(length),
        },
        result=(array(query[0]) @ k.mT) * attention.scaling + array(bias[0]),
    )


def transformer_xl_of_a_speech_encoder(length: int, heads: int, width: int) -> Call:
    """Run the relative terms of Wav2Vec2-BERT, which are Transformer-XL's on both sides.

    It interleaves sines and cosines, which a permutation of the projection undoes.
    """
    config, attention = _conformer("relative", heads, width, max_source_positions=64)
    embedding = conformer.Wav2Vec2BertRelPositionalEmbedding(config)
    q, k = normal(5, heads, length, width), normal(6, heads, length, width)
    with torch.no_grad():
        query, bias = conformer._apply_relative_position_encoding(
            attention,
            torch.from_numpy(q)[None],
            torch.from_numpy(k)[None],
            embedding(torch.zeros(1, length)),
        )
    model_width = heads * width
    sines_then_cosines = [*range(0, model_width, 2), *range(1, model_width, 2)]
    projection = array(attention.linear_pos.weight)[:, sines_then_cosines]
    return Call(
        name=f"terms of Transformer-XL in a speech encoder, length {length}",
        peer=f"{conformer.__name__}._apply_relative_position_encoding",
        function="posenc.bias.transformer_xl_scores",
        arguments={
            "q": q,
            "k": k,
            "u": array(attention.pos_bias_u),
            "v": array(attention.pos_bias_v),
            "projection": projection.reshape(heads, width, model_width),
            "causal": False,
        },
        result=(array(query[0]) @ k.mT) * attention.scaling + array(bias[0]),
    )


def transformer_xl_of_xlnet(
    length: int, memory: int, heads: int, width: int, clamp: int | None
) -> Call:
    """Run the relative attention of XLNet without its segments."""
    model_width = heads * width
    config = XLNetConfig(
        vocab_size=32,
        d_model=model_width,
        n_head=heads,
        n_layer=1,
        d_inner=16,
        clamp_len=-1 if clamp is None else clamp,
        dropout=0.0,
    )
    model = fill(xlnet.XLNetModel(config))
    attention = model.layer[0].rel_attn
    keys = memory + length
    q, k = normal(7, heads, length, width), normal(8, heads, keys, width)
    with torch.no_grad():
        code = model.relative_positional_encoding(length, keys, bsz=1)
        _, weights = attention.rel_attn_core(
            torch.from_numpy(q).permute(1, 0, 2)[:, None],
            torch.from_numpy(k).permute(1, 0, 2)[:, None],
            torch.zeros(keys, 1, heads, width),
            torch.einsum("ibh,hnd->ibnd", code, attention.r),
            output_attentions=True,
        )
    return Call(
        name=f"xlnet, length {length}, memory {memory}, clamp {clamp}",
        peer=f"{xlnet.__name__}.XLNetRelativeAttention",
        function="posenc.bias.transformer_xl_scores",
        arguments={
            "q": q,
            "k": k,
            "u": array(attention.r_w_bias),
            "v": array(attention.r_r_bias),
            "projection": array(attention.r).transpose(1, 2, 0),
            "causal": False,
            "clamp": clamp,
        },
        result=array(weights[:, :, 0].permute(2, 0, 1)),
        weights=True,
    )
