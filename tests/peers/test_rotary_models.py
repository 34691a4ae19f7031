"""posenc.rotary against whole models of transformers."""

import ml_dtypes
import numpy as np
import pytest
import torch
from families import FAMILIES, HEAD_WIDTH, HEADS, Family, build, names, queries_and_keys
from tolerances import UNIT, assert_within, rotation_error

from posenc.absolute import frequencies
from posenc.attention import attention, causal_mask
from posenc.rotary import rotate

# Start, neighbours, the end of a usual window, the end of a long one, and out of order.
POSITIONS = np.array([[0, 1, 2, 7, 4095, 131_071], [5, 3, 1000, 1001, 65_536, 9]])
LLAMA = Family("llama", "half-split")


def turned(x, family, positions):
    """Rotate what `family` rotates of x, shape (batch, heads, length, head width)."""
    out = x.copy()
    part = slice(family.start, None)
    out[..., part] = rotate(
        x[..., part],
        positions[:, np.newaxis],
        frequencies(family.width, family.base),
        layout=family.layout,
        inverse=family.inverse,
    )
    return out


def bound(x, family, positions):
    error = np.zeros(x.shape)
    part = slice(family.start, None)
    error[..., part] = rotation_error(
        x[..., part],
        positions[:, np.newaxis],
        frequencies(family.width, family.base),
        family.layout,
    )
    return error


@pytest.mark.parametrize("family", FAMILIES, ids=names(FAMILIES))
def test_queries_and_keys_of_a_whole_model(family):
    model = build(family.model_type, family.config)
    (plain,) = queries_and_keys(model, np.zeros_like(POSITIONS))
    (rotated,) = queries_and_keys(model, POSITIONS)
    heads = [x.shape[1] for x in plain]
    assert heads[0] == 4
    assert all(x.shape[-1] == HEAD_WIDTH for x in plain)
    for before, after in zip(plain, rotated, strict=True):
        assert np.max(np.abs(before - after)) > 0.1  # something turned
        assert_within(turned(before, family, POSITIONS), after, bound(before, family, POSITIONS))


@pytest.mark.parametrize(
    ("model_type", "layout", "base"),
    [
        ("smollm3", "half-split", 2_000_000.0),
        ("cohere2", "interleaved", 10_000.0),
        ("exaone4", "half-split", 10_000.0),
        ("llama4_text", "interleaved", 500_000.0),
    ],
)
def test_every_fourth_layer_turns_nothing(model_type, layout, base):
    family = Family(model_type, layout, base=base)
    model = build(model_type, {**HEADS, "num_hidden_layers": 5})
    # Below the length where the fourth layer of Llama 4 begins to scale queries.
    positions = np.array([[0, 1, 30, 4095]])
    plain = queries_and_keys(model, np.zeros_like(positions))
    rotated = queries_and_keys(model, positions)
    assert len(plain) == 5
    for layer, (before, after) in enumerate(zip(plain, rotated, strict=True)):
        for x, y in zip(before, after, strict=True):
            expected = x if layer == 3 else turned(x, family, positions)
            assert_within(expected, y, bound(x, family, positions))


def test_local_and_global_layers_have_different_bases():
    model = build("gemma3_text", {**HEADS, "num_hidden_layers": 7})
    plain = queries_and_keys(model, np.zeros_like(POSITIONS))
    rotated = queries_and_keys(model, POSITIONS)
    for layer, (before, after) in enumerate(zip(plain, rotated, strict=True)):
        family = Family("gemma3_text", "half-split", base=1e6 if layer == 5 else 1e4)
        for x, y in zip(before, after, strict=True):
            assert_within(turned(x, family, POSITIONS), y, bound(x, family, POSITIONS))


@pytest.mark.parametrize("model_type", ["llama", "cohere", "glm", "gpt_neox"])
def test_one_attention_step(model_type):
    """What the heads of a layer give, from its queries and keys before rotation and its values."""
    family = next(f for f in FAMILIES if f.model_type == model_type)
    positions = np.arange(7)[np.newaxis]
    compared = build(model_type, family.config)
    ((q, k),) = queries_and_keys(compared, np.zeros_like(positions))
    seen = {}
    eager = build(model_type, family.config, attention="eager")
    for name, module in eager.named_modules():
        if name.endswith((".v_proj", ".query_key_value")):
            module.register_forward_hook(lambda _, x, y: seen.update(values=y[0].numpy()))
        if name.endswith((".o_proj", "attention.dense")):
            module.register_forward_pre_hook(lambda _, x: seen.update(heads=x[0][0].numpy()))
    queries_and_keys(eager, positions)
    values = seen["values"]
    if model_type == "gpt_neox":  # one projection holds query, key and value of each head
        values = values.reshape(7, 4, 3 * HEAD_WIDTH)[..., 2 * HEAD_WIDTH :]
    v = values.reshape(7, -1, HEAD_WIDTH).swapaxes(0, 1)
    # Each key and value serves the queries of four heads, or of two.
    k, v = (np.repeat(x, 4 // x.shape[-3], axis=-3) for x in (k, v))
    output, _ = attention(
        turned(q, family, positions)[0], turned(k, family, positions)[0], v, mask=causal_mask(7)
    )
    heads = seen["heads"].reshape(7, 4, HEAD_WIDTH).swapaxes(0, 1)
    assert_within(output, heads, 1e-5 * max(1, np.max(np.abs(heads))))
    without, _ = attention(q[0], k[0], v, mask=causal_mask(7))
    assert np.max(np.abs(without - heads)) > 0.1


def test_the_other_layout_base_width_and_direction_are_seen():
    """The bound is tight enough to refuse each of the usual mistakes."""
    model = build("llama", {})
    ((before, _),) = queries_and_keys(model, np.zeros_like(POSITIONS))
    ((after, _),) = queries_and_keys(model, POSITIONS)
    for wrong in (
        Family("llama", "interleaved"),
        Family("llama", "half-split", base=10_001.0),
        Family("llama", "half-split", width=14),
        Family("llama", "half-split", inverse=True),
    ):
        with pytest.raises(AssertionError, match="differ by more than their bound"):
            assert_within(turned(before, wrong, POSITIONS), after, bound(before, LLAMA, POSITIONS))
    with pytest.raises(AssertionError, match="differ by more than their bound"):
        assert_within(turned(before, LLAMA, POSITIONS + 1), after, bound(before, LLAMA, POSITIONS))


@pytest.mark.parametrize(
    ("torch_type", "numpy_type", "unit"),
    [(torch.float16, np.float16, 2.0**-11), (torch.bfloat16, ml_dtypes.bfloat16, 2.0**-9)],
    ids=["float16", "bfloat16"],
)
def test_narrow_models_differ_by_the_rounding_of_their_tables(torch_type, numpy_type, unit):
    """Transformers rounds cosine, sine and each product; posenc rounds the result alone.

    Cosine and sine lose one unit, as do the products (|x| + |y| is at most the length of the
    pair times the root of 2) and the sum: 3.83 units of that length. posenc loses one unit.
    """
    model = build("llama", {}, torch_type, cast=False)
    assert model.model.rotary_emb.inv_freq.dtype == torch.float32
    ((before, _),) = queries_and_keys(model, np.zeros_like(POSITIONS))
    ((after, _),) = queries_and_keys(model, POSITIONS)
    ours = turned(before.astype(numpy_type), LLAMA, POSITIONS)
    assert ours.dtype == numpy_type
    precise = bound(before, LLAMA, POSITIONS)
    half = before.shape[-1] // 2
    length = np.hypot(before[..., :half], before[..., half:])
    rounding = 5 * unit * np.concatenate([length, length], axis=-1)
    assert_within(ours, after, precise + rounding)
    # And the difference is there: the two are not the same computation.
    assert np.any(ours.astype(float) != after)


def test_a_model_cast_to_bfloat16_turns_by_rounded_frequencies():
    """`model.to(torch.bfloat16)` rounds the frequencies, too: 0.1 becomes 0.10009765625."""
    model = build("llama", {}, torch.bfloat16, cast=True)
    ((before, _),) = queries_and_keys(model, np.zeros_like(POSITIONS))
    ((after, _),) = queries_and_keys(model, POSITIONS)
    speeds = frequencies(HEAD_WIDTH)
    rounded = speeds.astype(ml_dtypes.bfloat16).astype(float)
    assert rounded[2] == 0.10009765625
    half = HEAD_WIDTH // 2
    length = np.hypot(before[..., :half], before[..., half:])
    rounding = 5 * 2.0**-9 * np.concatenate([length, length], axis=-1)
    places = POSITIONS[:, np.newaxis]
    # The rounded frequencies are exact in float32; the angle is rounded once.
    error = rotation_error(before, places, rounded, "half-split", relative=np.full(half, UNIT))
    assert_within(rotate(before, places, rounded, layout="half-split"), after, error + rounding)
    # At position 4095 the angle of this pair is off by 0.4 rad: another rotation.
    with pytest.raises(AssertionError, match="differ by more than their bound"):
        assert_within(rotate(before, places, speeds, layout="half-split"), after, error + rounding)
