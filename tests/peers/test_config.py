"""posenc.config reads what whole models of transformers do, from what they would save."""

import json

import numpy as np
import pytest
from families import FAMILIES, HEADS, TINY, build, names
from scaled import SETTINGS
from tolerances import UNIT, assert_within, frequency_error
from transformers import AutoConfig

from posenc import config
from posenc.absolute import frequencies


def saved(model_type, settings, tmp_path):
    """Return the configuration file that transformers writes, read back as a path."""
    AutoConfig.for_model(model_type, **{**TINY, **settings}).save_pretrained(tmp_path)
    return tmp_path


def assert_reads(source, family):
    scheme = config.read(source, layer=0)
    assert scheme.kind == "rope"
    # DeepSeek-V3 reads pairs in one layout and writes them in the other; weights have the first.
    expected = "interleaved" if family.model_type == "deepseek_v3" else family.layout
    assert scheme.layout == expected
    assert scheme.rotary_width == family.width
    assert scheme.rope.attention_factor == 1
    speeds = frequencies(family.width, family.base)
    assert_within(scheme.rope.frequencies, speeds, 1e-14 * speeds)


@pytest.mark.parametrize("family", FAMILIES, ids=names(FAMILIES))
def test_families_from_the_file_that_is_saved(family, tmp_path):
    assert_reads(saved(family.model_type, family.config, tmp_path), family)


@pytest.mark.parametrize("family", FAMILIES, ids=names(FAMILIES))
def test_families_from_a_file_that_leaves_out_their_defaults(family):
    assert_reads({"model_type": family.model_type, **TINY, **family.config}, family)


@pytest.mark.parametrize("name", SETTINGS)
def test_scaled_llama(name, tmp_path):
    setting = SETTINGS[name]
    settings = {
        "max_position_embeddings": setting.trained,
        "rope_parameters": {"rope_theta": 10_000.0, **setting.parameters},
    }
    scheme = config.read(saved("llama", settings, tmp_path), length=setting.length)
    ours = setting.ours()
    assert_within(scheme.rope.frequencies, ours.frequencies, 1e-14 * ours.frequencies)
    assert scheme.rope.attention_factor == pytest.approx(ours.attention_factor, rel=1e-14)


def test_layers_of_one_model_that_differ(tmp_path):
    path = saved("gemma3_text", {**HEADS, "num_hidden_layers": 7}, tmp_path)
    for layer in range(7):
        speeds = frequencies(16, 1e6 if layer == 5 else 1e4)
        read = config.read(path, layer=layer).rope.frequencies
        assert_within(read, speeds, 1e-14 * speeds)


@pytest.mark.parametrize("model_type", ["smollm3", "cohere2", "exaone4"])
def test_layers_that_do_not_turn(model_type, tmp_path):
    path = saved(model_type, {"num_hidden_layers": 5}, tmp_path)
    kinds = [config.read(path, layer=layer).kind for layer in range(5)]
    assert kinds == ["rope", "rope", "rope", "none", "rope"]


def test_the_buffers_of_a_model(tmp_path):
    """Frequencies as the running model holds them, in float32."""
    parameters = {**SETTINGS["yarn"].parameters, "rope_theta": 1e6}
    settings = {"max_position_embeddings": 65_536, "rope_parameters": parameters}
    scheme = config.read(saved("qwen3", {**HEADS, **settings}, tmp_path))
    rope = build("qwen3", {**HEADS, **settings}).model.rotary_emb
    ours = scheme.rope.frequencies
    assert_within(ours, rope.inv_freq.numpy(), ours * (frequency_error(ours) + 16 * UNIT))
    assert rope.attention_scaling == pytest.approx(scheme.rope.attention_factor, rel=1e-14)
    written = json.loads((tmp_path / "config.json").read_text())
    assert written["model_type"] == "qwen3"
    assert np.all(ours > 0)
