"""posenc.rotary against rotation functions that no whole model of the other file reaches."""

import numpy as np
import pytest
import torch
from tolerances import assert_within, rotation_error
from transformers.models.deepseek_v3 import modeling_deepseek_v3 as deepseek_v3
from transformers.models.falcon import FalconConfig
from transformers.models.falcon import modeling_falcon as falcon
from transformers.models.llama import modeling_llama as llama
from transformers.models.roformer import modeling_roformer as roformer

from posenc.absolute import frequencies
from posenc.rotary import rotate

POSITIONS = np.array([0, 1, 2, 30, 4095, 131_071])
rng = np.random.default_rng(11)


@pytest.fixture
def queries_and_keys():
    """Return q of shape (2, 4, 6, 16) and k with fewer heads, (2, 2, 6, 16)."""
    return (
        rng.normal(size=(2, 4, 6, 16)).astype(np.float32),
        rng.normal(size=(2, 2, 6, 16)).astype(np.float32),
    )


def tables(base=10_000.0, width=16):
    """Return cosine and sine as the models make them, shape (1, length, width)."""
    exponent = torch.arange(0, width, 2, dtype=torch.float) / width
    angles = torch.from_numpy(POSITIONS)[:, None].float() / base**exponent
    both = torch.cat([angles, angles], dim=-1)[None]
    return both.cos(), both.sin()


def test_llama_with_tables_of_our_own(queries_and_keys):
    turned = llama.apply_rotary_pos_emb(*map(torch.from_numpy, queries_and_keys), *tables())
    for x, y in zip(queries_and_keys, turned, strict=True):
        speeds = frequencies(16)
        ours = rotate(x, POSITIONS, speeds, layout="half-split")
        assert_within(ours, y.numpy(), rotation_error(x, POSITIONS, speeds, "half-split"))


def test_falcon(queries_and_keys):
    config = FalconConfig(hidden_size=64, num_attention_heads=4, alibi=False)
    positions = torch.from_numpy(POSITIONS)[None]
    cosine, sine = falcon.FalconRotaryEmbedding(config)(torch.zeros(1), positions)
    turned = falcon.apply_rotary_pos_emb(*map(torch.from_numpy, queries_and_keys), cosine, sine)
    for x, y in zip(queries_and_keys, turned, strict=True):
        speeds = frequencies(16)
        ours = rotate(x, POSITIONS, speeds, layout="half-split")
        assert_within(ours, y.numpy(), rotation_error(x, POSITIONS, speeds, "half-split"))


def test_roformer_of_the_first_paper(queries_and_keys):
    q, k = queries_and_keys
    table = roformer.RoFormerSinusoidalPositionalEmbedding(4096, 16)
    table.weight = torch.nn.Parameter(table.create_weight(), requires_grad=False)
    positions = np.arange(4090, 4096)
    sinusoidal = table.weight[positions][None, None]
    turn = roformer.RoFormerSelfAttention.apply_rotary_position_embeddings
    turned = turn(sinusoidal, torch.from_numpy(q), torch.from_numpy(k))
    speeds = frequencies(16)
    for x, y in zip((q, k), turned, strict=True):
        # Its table is computed in float64 and rounded once.
        error = rotation_error(x, positions, speeds, "interleaved", relative=np.zeros(8))
        assert_within(rotate(x, positions, speeds), y.numpy(), error)


def test_deepseek_v3_reads_interleaved_and_writes_half_split(queries_and_keys):
    q, k = queries_and_keys
    turned = deepseek_v3.apply_rotary_pos_emb_interleave(
        torch.from_numpy(q), torch.from_numpy(k), *tables()
    )
    evens_then_odds = [*range(0, 16, 2), *range(1, 16, 2)]
    speeds = frequencies(16)
    for x, y in zip((q, k), turned, strict=True):
        error = rotation_error(x, POSITIONS, speeds, "interleaved")
        ours = rotate(x, POSITIONS, speeds)
        assert_within(ours[..., evens_then_odds], y.numpy(), error[..., evens_then_odds])
        moved = rotate(x[..., evens_then_odds], POSITIONS, speeds, layout="half-split")
        assert_within(moved, y.numpy(), error[..., evens_then_odds])
