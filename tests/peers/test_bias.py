"""posenc.bias against the score terms of transformers: ALiBi, T5, DeBERTa, Shaw, Transformer-XL.

Scores of float32 peers are sums of at most 64 products; 1e-5 of their size is some 80 roundings,
far below the change that a neighbouring bucket, slope or row of a table would make.
"""

import ml_dtypes
import numpy as np
import pytest
import torch
from relative import (
    array,
    deberta_weights,
    fill,
    shaw_of_a_speech_encoder,
    transformer_xl_of_a_speech_encoder,
    transformer_xl_of_xlnet,
)
from tolerances import UNIT, assert_within
from transformers import AutoConfig, AutoModel
from transformers.models.bloom import modeling_bloom as bloom
from transformers.models.deberta_v2.modeling_deberta_v2 import make_log_bucket_position
from transformers.models.falcon import modeling_falcon as falcon
from transformers.models.mpt import modeling_mpt as mpt
from transformers.models.t5 import T5Config
from transformers.models.t5.modeling_t5 import T5Attention

from posenc.attention import softmax
from posenc.bias import alibi_bias, alibi_key_bias, alibi_slopes, deberta_bucket, t5_bias, t5_bucket

HEADS = (1, 3, 4, 6, 8, 12, 16, 32, 71, 112)
LENGTH = 9
PLACES = np.arange(LENGTH)


def close(ours, theirs):
    assert_within(ours, theirs, 1e-5 * max(1, np.max(np.abs(ours))))


# --- ALiBi


@pytest.mark.parametrize("heads", HEADS)
def test_alibi_of_bloom_and_mpt(heads):
    slopes = alibi_slopes(heads)
    ours = alibi_key_bias(slopes, PLACES)[:, 0]
    mask = torch.ones(1, LENGTH, dtype=torch.long)
    theirs = bloom.build_alibi_tensor(mask, heads, torch.float32)[:, 0].numpy()
    # The base of the slopes is rounded before it is raised to a power up to 2 * heads.
    assert_within(ours, theirs, (2 * heads + 2) * UNIT * ours)
    # MPT counts keys back from the last one, which is the distance from the last query.
    theirs = mpt.build_mpt_alibi_tensor(heads, LENGTH)[:, 0].numpy()
    last = alibi_bias(slopes, [LENGTH - 1], PLACES)[:, 0]
    assert_within(last, theirs, 4 * UNIT * np.abs(last))


@pytest.mark.parametrize("heads", HEADS)
def test_falcon_rounds_its_slopes_to_bfloat16(heads):
    mask = torch.ones(1, LENGTH, dtype=torch.long)
    theirs = falcon.build_alibi_tensor(mask, heads, torch.float32)[:, 0].numpy()
    slopes = alibi_slopes(heads)
    rounded = slopes.astype(np.float32).astype(ml_dtypes.bfloat16)
    # Slopes and biases, each rounded to 8 bits.
    ours = alibi_key_bias(rounded.astype(float), PLACES)[:, 0]
    assert_within(ours, theirs, 2.0**-8 * ours)
    assert np.array_equal(theirs[:, 1], rounded.astype(np.float32))
    powers_of_two = np.log2(slopes) % 1 == 0
    assert np.array_equal(rounded.astype(float) == slopes, powers_of_two)


def weights_of(model_type, **settings):
    """Return what the first layer's projection gave, its attention module and its weights."""
    config = AutoConfig.for_model(model_type, vocab_size=32, **settings)
    model = fill(AutoModel.from_config(config, attn_implementation="eager"))
    seen = {}
    for name, module in model.named_modules():
        if name.endswith(("query_key_value", "Wqkv")):
            module.register_forward_hook(lambda _, given, result: seen.update(fused=result))
        if name.endswith(("self_attention", "attn")):
            seen["attention"] = module
    with torch.no_grad():
        result = model(
            input_ids=3 + torch.arange(LENGTH)[None], output_attentions=True, use_cache=False
        )
    (weights,) = result.attentions
    return seen["fused"], seen["attention"], weights[0].numpy()


def test_weights_of_bloom_add_the_bias_after_scaling():
    fused, attention, weights = weights_of("bloom", hidden_size=96, n_head=6, n_layer=1)
    q, k, _ = (x[0].numpy() for x in attention._reshape(fused))
    scores = q @ k.mT / np.sqrt(16) + alibi_bias(alibi_slopes(6), PLACES, PLACES)
    close(softmax(scores), weights)


def test_weights_of_mpt_add_the_bias_after_scaling():
    fused, _, weights = weights_of("mpt", d_model=96, n_heads=6, n_layers=1)
    q, k, _ = (x.reshape(LENGTH, 6, 16).transpose(0, 1).numpy() for x in fused[0].chunk(3, dim=-1))
    scores = q @ k.mT / np.sqrt(16) + alibi_bias(alibi_slopes(6), PLACES, PLACES)
    close(softmax(scores), weights)


def test_mpt_ignores_the_largest_exponent_of_its_configuration():
    """transformers 5.24.0 does not hand alibi_bias_max on: trained with 16, a model gets 8."""
    settings = {"d_model": 96, "n_heads": 6, "n_layers": 1}
    fused, _, weights = weights_of("mpt", **settings, attn_config={"alibi_bias_max": 16})
    q, k, _ = (x.reshape(LENGTH, 6, 16).transpose(0, 1).numpy() for x in fused[0].chunk(3, dim=-1))
    wanted, used = (
        softmax(q @ k.mT / 4 + alibi_bias(alibi_slopes(6, max_exponent=e), PLACES, PLACES))
        for e in (16, 8)
    )
    close(used, weights)
    assert np.abs(wanted - weights).max() > 0.01


@pytest.mark.parametrize(("implementation", "times"), [("sdpa", 1), ("eager", 2)])
def test_falcon_scales_the_bias_too_and_eagerly_adds_it_twice(implementation, times):
    """Falcon divides the bias by the root of the head width, and no other model here does.

    In transformers 5.24.0 the mask carries the scaled bias. With sdpa the mask is all that is
    added; the eager code adds the bias to the scores as well, so that it counts twice and the
    two implementations of one model disagree.
    """
    config = AutoConfig.for_model(
        "falcon",
        vocab_size=32,
        hidden_size=96,
        num_attention_heads=6,
        num_hidden_layers=1,
        alibi=True,
        multi_query=False,
    )
    model = fill(AutoModel.from_config(config, attn_implementation=implementation))
    attention = model.h[0].self_attention
    seen = {}
    attention.query_key_value.register_forward_hook(lambda _, x, y: seen.update(fused=y))
    attention.dense.register_forward_pre_hook(lambda _, x: seen.update(heads=x[0]))
    with torch.no_grad():
        model(input_ids=3 + torch.arange(LENGTH)[None], use_cache=False)
    q, k, v = (x[0].transpose(0, 1).numpy() for x in attention._split_heads(seen["fused"]))
    heads = seen["heads"][0].reshape(LENGTH, 6, 16).transpose(0, 1).numpy()
    rounded = alibi_slopes(6).astype(np.float32).astype(ml_dtypes.bfloat16).astype(float)
    # Biases are rounded as well; up to position 8 these six slopes stay within 8 bits.
    bias = alibi_bias(rounded, PLACES, PLACES)
    close(softmax((q @ k.mT + times * bias) / np.sqrt(16)) @ v, heads)
    for other in ((q @ k.mT + (3 - times) * bias) / np.sqrt(16), q @ k.mT / np.sqrt(16) + bias):
        assert np.max(np.abs(softmax(other) @ v - heads)) > 0.1


# --- T5


@pytest.mark.parametrize("bidirectional", [True, False])
@pytest.mark.parametrize(
    ("buckets", "max_distance"),
    [(32, 128), (32, 256), (64, 256), (64, 512), (320, 800), (32, 1024), (8, 20), (12, 100)],
)
def test_t5_buckets(buckets, max_distance, bidirectional):
    offsets = np.concatenate([np.arange(-5000, 5001), [-(10**6), 10**6]])
    theirs = T5Attention._relative_position_bucket(
        torch.from_numpy(offsets), bidirectional, buckets, max_distance
    )
    ours = t5_bucket(
        offsets, bidirectional=bidirectional, buckets=buckets, max_distance=max_distance
    )
    assert np.array_equal(ours, theirs.numpy())
    live = buckets - 1 if bidirectional else buckets
    assert len(np.unique(ours)) == live


@pytest.mark.parametrize(
    ("buckets", "max_distance", "distance", "exact"), [(48, 81, 54, 40), (128, 441, 168, 96)]
)
def test_t5_float32_logarithm_misses_an_exact_boundary(buckets, max_distance, distance, exact):
    """Where the quotient of logarithms is an integer, float32 may fall short of it by a unit.

    ln(54 / 24) / ln(81 / 24) is 2/3 exactly, and 24 times that is 16: bucket 40. No released
    model uses such a setting.
    """
    offsets = -np.arange(distance - 1, distance + 2)
    ours = t5_bucket(offsets, bidirectional=False, buckets=buckets, max_distance=max_distance)
    theirs = T5Attention._relative_position_bucket(
        torch.from_numpy(offsets), False, buckets, max_distance
    )
    assert ours.tolist() == [exact - 1, exact, exact]
    assert theirs.tolist() == [exact - 1, exact - 1, exact]


@pytest.mark.parametrize("decoder", [True, False])
@pytest.mark.parametrize("cached", [0, 40])
def test_t5_bias_of_the_module(decoder, cached):
    config = T5Config(d_model=64, num_heads=4, d_kv=16, is_decoder=decoder)
    attention = fill(T5Attention(config, has_relative_attention_bias=True, layer_idx=0))
    table = array(attention.relative_attention_bias.weight)
    queries, keys = cached + np.arange(50), np.arange(cached + 50)
    theirs = array(attention.compute_bias(50, cached + 50, past_seen_tokens=cached)[0])
    ours = t5_bias(table, queries, keys, bidirectional=not decoder)
    assert ours.dtype == np.float32
    assert np.array_equal(ours, theirs)


# --- DeBERTa, Shaw, Transformer-XL


@pytest.mark.parametrize("length", [5, 20], ids=["within the table", "beyond the table"])
@pytest.mark.parametrize("version", [1, 2])
def test_deberta_uses_the_released_row_of_its_third_term(version, length):
    call = deberta_weights(version, length, heads=3, width=16, span=8)
    close(call.ours(), call.result)
    assert np.max(np.abs(call.ours(variant="paper") - call.result)) > 0.01


@pytest.mark.parametrize(("buckets", "max_distance"), [(256, 512), (64, 512), (8, 16), (32, 128)])
def test_deberta_buckets(buckets, max_distance):
    offsets = np.arange(1 - max_distance, max_distance)
    theirs = make_log_bucket_position(torch.from_numpy(offsets), buckets, max_distance)
    ours = deberta_bucket(offsets, buckets=buckets, max_distance=max_distance)
    assert np.array_equal(ours, theirs.numpy())


def test_shaw_keys_of_a_speech_encoder():
    call = shaw_of_a_speech_encoder(LENGTH, heads=3, width=16, clip=3)
    close(call.ours(), call.result)
    backwards = call.ours(table=call.arguments["table"][::-1])
    assert np.max(np.abs(backwards - call.result)) > 0.1


def test_transformer_xl_terms_of_a_speech_encoder():
    call = transformer_xl_of_a_speech_encoder(LENGTH, heads=3, width=16)
    close(call.ours(), call.result)
    swapped = call.ours(u=call.arguments["v"], v=call.arguments["u"])
    assert np.max(np.abs(swapped - call.result)) > 0.1


@pytest.mark.parametrize("clamp", [None, 4])
@pytest.mark.parametrize("memory", [0, 5])
def test_transformer_xl_terms_of_xlnet(memory, clamp):
    call = transformer_xl_of_xlnet(LENGTH, memory, heads=3, width=16, clamp=clamp)
    close(call.ours(), call.result)
    other = call.ours(clamp=3 if clamp is None else None)
    assert np.max(np.abs(other - call.result)) > 0.01
