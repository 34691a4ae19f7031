"""posenc.config on files that are wrong: a clear ConfigError, and never a wrong number."""

import json
import math
import os

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from posenc.config import ConfigError, read

LLAMA3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 2048,
}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 2048}
LONGROPE = {
    "rope_type": "longrope",
    "short_factor": [1.0] * 4,
    "long_factor": [2.0] * 4,
    "original_max_position_embeddings": 2048,
}


def llama(**fields):
    return {
        "model_type": "llama",
        "hidden_size": 32,
        "num_attention_heads": 4,
        "num_hidden_layers": 4,
        "max_position_embeddings": 8192,
        "rope_theta": 10_000.0,
        **fields,
    }


def scaled(**block):
    return llama(rope_scaling=block)


def without(name):
    return {key: value for key, value in llama().items() if key != name}


def itself():
    config = {"model_type": "llava"}
    config["text_config"] = config
    return config


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("config", "message"),
    [
        # What is no configuration at all.
        (None, "config must be a mapping or a path, got NoneType"),
        ([llama()], "config must be a mapping or a path, got list"),
        (7, "config must be a mapping or a path, got int"),
        (json.dumps(llama()), "this text is JSON, parse it first"),
        ("/no/such/file.json", "cannot be read: No such file"),
        ("a\0b", "is no JSON file"),
        ({}, "model_type None is not known and no field tells its positions"),
        ({"model_type": "made_up"}, "model_type 'made_up' is not known and no field"),
        # Wrong types.
        (llama(rope_theta="10000"), "rope_theta must be a number, got '10000'"),
        (llama(rope_theta=True), "rope_theta must be a number, got True"),
        (llama(rope_theta=[1e4]), "rope_theta must be a number"),
        (llama(hidden_size="32"), "hidden_size must be a number, got '32'"),
        (llama(hidden_size=32.5), "hidden_size must be a whole number, got 32.5"),
        (llama(model_type=3), "model_type must be a text, got 3"),
        (llama(rope_scaling="linear"), "rope_scaling must be an object, got 'linear'"),
        (llama(rope_scaling=[1]), "rope_scaling must be an object"),
        (llama(text_config=[]), r"text_config must be an object, got \[\]"),
        (scaled(type=1, factor=2), "rope_scaling.type must be a text, got 1"),
        (scaled(type="linear", factor="4"), "rope_scaling.factor must be a number, got '4'"),
        (scaled(**{**YARN, "truncate": 1}), "truncate must be true or false, got 1"),
        (scaled(**{**LONGROPE, "long_factor": 2.0}), "long_factor must be a list, got 2.0"),
        (scaled(**{**LONGROPE, "long_factor": ["2"] * 4}), "long_factor must be a number"),
        (llama(layer_types="full_attention"), "layer_types must be a list"),
        (llama(layer_types=[1, 2, 3, 4]), "layer_types must be a list of texts"),
        # Numbers no model has.
        (llama(rope_theta=math.nan), "rope_theta must be finite, got nan"),
        (llama(rope_theta=math.inf), "rope_theta must be finite, got inf"),
        (llama(rope_theta=0), "rope_theta must be greater than 1, got 0"),
        (llama(rope_theta=-1e4), "rope_theta must be greater than 1, got -10000.0"),
        (llama(rope_theta=1), "rope_theta must be greater than 1, got 1"),
        (llama(rope_theta=10**400), "rope_theta must be at most"),
        (llama(rope_theta=10**5000), "rope_theta must be at most 1e\\+30, got a huge int"),
        (llama(rope_theta=1e300), "rope_theta must be at most 1e\\+30"),
        (llama(hidden_size=0), "hidden_size must be at least 1, got 0"),
        (llama(hidden_size=-32), "hidden_size must be at least 1, got -32"),
        (llama(hidden_size=10**12), "hidden_size must be at most 1e\\+06"),
        (llama(hidden_size=30), "hidden_size must be a multiple of num_attention_heads 4"),
        (llama(head_dim=7), "rotary width .* must be even, from 2 to 65536, got 7"),
        (llama(head_dim=100_000), "rotary width .* got 100000"),
        (llama(partial_rotary_factor=0), "rotary width .* got 0"),
        (llama(partial_rotary_factor=1.5), "must rotate at most the whole head, got 1.5"),
        (llama(partial_rotary_factor=math.nan), "partial_rotary_factor must be finite"),
        (llama(head_dim=64, partial_rotary_factor=0.4), "rotary width .* got 25"),
        (llama(qk_rope_head_dim=3), "rotary width .qk_rope_head_dim. must be even"),
        (llama(qk_rope_head_dim=0), "rotary width .* got 0"),
        (llama(num_hidden_layers=0), "num_hidden_layers must be at least 1, got 0"),
        (llama(max_position_embeddings=-1), "max_position_embeddings must be at least 1"),
        (llama(max_position_embeddings=10**30), "max_position_embeddings must be at most"),
        (scaled(type="linear", factor=0.5), "factor must be at least 1, got 0.5"),
        (scaled(type="linear", factor=0), "factor must be at least 1, got 0"),
        (scaled(type="linear", factor=1e12), "factor must be at most 1e\\+09"),
        (scaled(type="linear", factor=math.nan), "factor must be finite"),
        (scaled(**{**YARN, "original_max_position_embeddings": 0}), "must be at least 1, got 0"),
        (scaled(**{**YARN, "beta_fast": 1, "beta_slow": 2}), "beta_fast must be one number at"),
        (scaled(**{**YARN, "beta_slow": -1}), "beta_slow must be at least 0, got -1"),
        (scaled(**{**YARN, "attention_factor": 0}), "attention_factor must be greater than 0"),
        (scaled(**{**YARN, "mscale": -1, "mscale_all_dim": 1}), "mscale must be at least 0"),
        (scaled(**{**LLAMA3, "high_freq_factor": 0.5}), "high_freq_factor must be one number at"),
        (scaled(**{**LLAMA3, "low_freq_factor": 0}), "low_freq_factor must be at least"),
        (scaled(**{**LONGROPE, "short_factor": [1.0] * 3}), "short_factor must hold 4 numbers"),
        (scaled(**{**LONGROPE, "long_factor": [0.0] * 4}), "long_factor must be at least"),
        (scaled(**{**LONGROPE, "long_factor": [math.nan] * 4}), "long_factor must be finite"),
        (scaled(**{**LONGROPE, "original_max_position_embeddings": 1}), "greater than 1"),
        (llama(head_dim=2, rope_scaling={"type": "dynamic", "factor": 2}), "width must be at"),
        # What is missing.
        (without("hidden_size"), "head_dim is missing: nor do hidden_size"),
        (without("num_attention_heads"), "head_dim is missing"),
        (scaled(type="linear"), 'rope_scaling.factor is missing: method "linear" needs it'),
        (scaled(type="yarn", original_max_position_embeddings=64), "factor is missing"),
        (scaled(type="llama3", factor=8.0), "low_freq_factor is missing"),
        (scaled(type="longrope", factor=8.0), "short_factor or long_factor is missing"),
        (
            {
                **without("max_position_embeddings"),
                "rope_scaling": {"type": "dynamic", "factor": 2},
            },
            "max_position_embeddings is missing",
        ),
        (
            {**without("max_position_embeddings"), "rope_scaling": {"type": "yarn", "factor": 2}},
            "original_max_position_embeddings is missing",
        ),
        ({"model_type": "gpt2"}, "max_position_embeddings is missing"),
        ({"model_type": "bloom"}, "num_attention_heads is missing"),
        (llama(model_type="gemma4_text"), "'gemma4_text' has other positions in each layer type"),
        (llama(model_type="bamba"), "attn_layer_indices is missing"),
        # Methods that are not known are named, not guessed.
        (scaled(type="ntk", factor=2), "rope_type 'ntk' is not known; known are default, linear"),
        (scaled(type="YaRN", factor=2), "rope_type 'YaRN' is not known"),
        (scaled(type="", factor=2), "rope_type '' is not known"),
        (scaled(rope_type="axial"), '"axial" is for images'),
        (llama(layer_rope_theta=[0, 1]), "layer_rope_theta .* is not read"),
        # One thing said twice.
        (scaled(type="linear", factor=2, rope_theta=5e5), "fields disagree about the base"),
        (
            llama(partial_rotary_factor=1.0, rope_parameters={"partial_rotary_factor": 0.5}),
            "fields disagree about the rotated share",
        ),
        (llama(partial_rotary_factor=0.5, rotary_dim=8), "fields disagree about the rotated"),
        (llama(n_embd=64), "gives one thing twice: hidden_size 32, n_embd 64"),
        (llama(head_dim=16, kv_channels=8), "gives one thing twice: head_dim 16, kv_channels 8"),
        (
            llama(rope_scaling=YARN, rope_parameters={**YARN, "factor": 8.0}),
            "are both given and disagree in 'factor'",
        ),
        (
            llama(rope_scaling=YARN, rope_parameters={**YARN, "rope_type": "linear"}),
            "are both given and disagree in rope_type",
        ),
        (
            llama(rope_scaling=YARN, rope_parameters={**YARN, "rope_theta": 5e5}),
            "are both given and disagree in 'rope_theta'",
        ),
        (
            llama(original_max_position_embeddings=1024, rope_scaling=YARN),
            "stands twice and disagrees: 1024 beside and 2048 inside",
        ),
        (llama(text_config=llama(), llm_config=llama()), "text_config and llm_config both hold"),
        (
            llama(rope_parameters={"full_attention": YARN, "factor": 2}),
            "mixes parameters .'factor'. with a block per layer type",
        ),
        (
            llama(model_type="gemma3_text", rope_parameters={"rope_type": "default"}),
            "must hold a block per layer type for gemma3_text",
        ),
        # Layers.
        (llama(layer_types=["full_attention"] * 3), "has 3 entries for 4 layers"),
        (llama(model_type="smollm3", no_rope_layers=[]), "0 or 1 for each of 4 layers"),
        (llama(model_type="smollm3", no_rope_layers=[1, 2, 1, 1]), "0 or 1 for each of 4 layers"),
        (llama(model_type="llama4", no_rope_layers=[3]), "0 or 1 for each of 4 layers"),
        (llama(model_type="deepseek_v4", compress_ratios=[0, 0, 5, 0]), "must hold 0, 4 or 128"),
        (llama(model_type="lfm2", full_attn_idxs=[-1]), "must be a list of layer indices"),
        (
            llama(model_type="exaone4", sliding_window=8, sliding_window_pattern="XY"),
            "consist of the letters L and G",
        ),
        # Kinds.
        ({"model_type": "kimi_linear", "mla_use_nope": False}, "mla_use_nope must be true"),
        ({"model_type": "mpt", "attn_config": {"alibi": False}}, "mpt without alibi"),
        ({"model_type": "falcon", "alibi": "yes"}, "alibi must be true or false, got 'yes'"),
        ({"model_type": "gpt2", "n_positions": "1024"}, "n_positions must be a number"),
        ({"model_type": "roberta", "max_position_embeddings": 2}, "must exceed 2, got 2"),
        # Nesting.
        (itself(), "nested more deeply than any model"),
        (llama(rope_theta=nested(100_000)), "rope_theta must be a number"),
        (llama(rope_scaling=nested(5)), "rope_scaling must be an object"),
    ],
)
def test_wrong_configurations(config, message):
    with pytest.raises(ConfigError, match=message):
        read(config)


def test_the_error_is_a_value_error():
    assert issubclass(ConfigError, ValueError)


def test_long_values_are_shortened():
    with pytest.raises(ConfigError) as caught:
        read(llama(rope_theta="9" * 100_000))
    assert len(str(caught.value)) < 200


class TestFiles:
    @pytest.mark.parametrize(
        ("content", "message"),
        [
            (b"", "is no JSON file"),
            (b"hidden_size: 32", "is no JSON file"),
            (b'{"hidden_size": 32', "is no JSON file"),
            (b"\xff\xfe\x00garbage", "is no JSON file"),
            (b"[1, 2]", "must hold a JSON object, got list"),
            (b'"llama"', "must hold a JSON object, got str"),
            (b'{"rope_theta": 1e4, "rope_theta": 5e5}', "key 'rope_theta' stands twice"),
            (b'{"a": {"factor": 1, "factor": 1}}', "key 'factor' stands twice"),
            (b"[" * 1_000_000, "is nested too deeply"),
            (b'{"a":' * 1_000_000, "is nested too deeply"),
            (b'{"rope_theta": ' + b"9" * 100_000 + b"}", "is no JSON file"),
        ],
    )
    def test_content(self, tmp_path, content, message):
        path = tmp_path / "config.json"
        path.write_bytes(content)
        with pytest.raises(ConfigError, match=message):
            read(path)

    def test_numbers_that_json_does_not_have(self, tmp_path):
        path = tmp_path / "config.json"
        for text in ("NaN", "Infinity", "1e999"):
            path.write_text(json.dumps(llama()).replace("10000.0", text))
            with pytest.raises(ConfigError, match="rope_theta must be finite"):
                read(path)

    def test_a_hundred_megabytes(self, tmp_path):
        path = tmp_path / "config.json"
        with path.open("wb") as file:
            file.truncate(100 * 1024 * 1024)
        with pytest.raises(ConfigError, match="is larger than 16777216 bytes"):
            read(path)

    def test_what_is_no_regular_file(self, tmp_path):
        (tmp_path / "config.json").mkdir()
        for path in (tmp_path, os.devnull):
            with pytest.raises(ConfigError, match="is no regular file"):
                read(path)

    def test_directory_without_a_configuration(self, tmp_path):
        with pytest.raises(ConfigError, match="config.json' cannot be read: No such file"):
            read(tmp_path)


FIELDS = """
    model_type hidden_size num_attention_heads num_hidden_layers head_dim rope_theta
    max_position_embeddings original_max_position_embeddings rope_scaling rope_parameters
    rope_type type factor beta_fast beta_slow mscale mscale_all_dim attention_factor truncate
    short_factor long_factor low_freq_factor high_freq_factor partial_rotary_factor rotary_dim
    rotary_pct rotary_emb_base qk_rope_head_dim qk_nope_head_dim layer_types no_rope_layers
    no_rope_layer_interval sliding_window sliding_window_pattern text_config rope_local_base_freq
    full_attention sliding_attention alibi position_embedding_type mrope_section compress_ratios
    use_dynamic_ntk seq_length rope_ratio pad_token_id attn_config full_attn_idxs alpha
"""
NAMES = st.sampled_from(FIELDS.split())
WORDS = """
    default linear dynamic yarn longrope llama3 proportional mrope su axial ntk llama llama4
    gemma3 gemma4 smollm3 cohere2 exaone4 modernbert olmo3 mimo_v2_flash deepseek_v3 deepseek_v4
    phi3 gpt_neox gptj chatglm qwen hunyuan_v1_dense gpt_oss t5 bloom gpt2 roberta esm mpt falcon
    bamba lfm2 mllama kimi_linear zamba2 granitemoehybrid full_attention sliding_attention LLLG
    10000
"""
TEXTS = st.sampled_from(WORDS.split())
NUMBERS = st.one_of(
    st.integers(-2, 130),
    st.sampled_from([256, 2048, 8192, 131072, 10**6, 10**18, 10**400, -(10**400)]),
    st.floats(),
    st.sampled_from([0.25, 0.5, 1.0, 1e4, 5e5, 1e300, -0.0]),
)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=5), st.dictionaries(NAMES, inner, max_size=6)),
    max_leaves=12,
)


def check(config, **options):
    """Read, and accept a ConfigError or a scheme whose numbers make sense."""
    try:
        scheme = read(config, **options)
    except ConfigError:
        return None
    except ValueError as error:
        # The one fault of the caller, who cannot know how many layers a damaged file has.
        if "layer" not in options or not str(error).startswith("layer must be below"):
            raise
        return None
    assert scheme.kind in {"rope", "alibi", "learned", "sinusoidal", "relative-bias", "none"}
    assert (scheme.kind == "rope") == (scheme.rope is not None)
    if scheme.rope is not None:
        speeds = scheme.rope.frequencies
        assert speeds.shape == (scheme.rotary_width // 2,) == scheme.unscaled.shape
        assert np.isfinite(speeds).all()
        assert (speeds >= 0).all()
        assert 0 < scheme.rope.attention_factor < math.inf
        assert 0 < scheme.softmax_factor < math.inf
    json.dumps(scheme.notes)
    return scheme


@settings(max_examples=400, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.dictionaries(NAMES, VALUES, max_size=12))
def test_any_object(config):
    check(config)


@settings(max_examples=600, deadline=None)
@given(
    st.dictionaries(NAMES, VALUES, max_size=3),
    st.one_of(st.none(), st.sampled_from([LLAMA3, YARN, LONGROPE])),
    st.dictionaries(NAMES, VALUES, max_size=3),
    st.one_of(st.none(), st.integers(1, 10**6)),
)
def test_a_good_configuration_with_some_fields_changed(fields, block, inner, length):
    config = llama()
    if block is not None:
        config["rope_scaling"] = {**block, **inner}
    check({**config, **fields}, length=length)


@settings(max_examples=200, deadline=None)
@given(TEXTS, st.dictionaries(NAMES, VALUES, max_size=2), st.integers(0, 3))
def test_every_type_and_layer(model, fields, layer):
    check({**llama(model_type=model), **fields}, layer=layer)


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("bytes") / "config.json"
    path.write_bytes(content)
    check(path)


@given(
    st.integers(1, 16).map(lambda pairs: 2 * pairs),
    st.floats(1.5, 1e12),
    st.floats(1, 1e6),
    st.sampled_from(["linear", "dynamic", "yarn", "llama3"]),
)
def test_good_numbers_are_never_refused(width, base, factor, method):
    extra = {"low_freq_factor": 1, "high_freq_factor": 4} if method == "llama3" else {}
    block = {"rope_type": method, "factor": factor, "original_max_position_embeddings": 2048}
    assume(width > 2 or method != "dynamic")
    scheme = check(llama(head_dim=width, rope_theta=base, rope_scaling={**block, **extra}))
    assert scheme is not None
    assert scheme.method == method
