"""posenc.scaling against the registry of transformers and against whole models."""

import numpy as np
import pytest
from families import HEADS, build, queries_and_keys
from scaled import BANDS, SETTINGS, YARN, registry
from tolerances import UNIT, assert_within, frequency_error, rotation_error
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

from posenc.absolute import frequencies
from posenc.rotary import rotate
from posenc.scaling import dynamic_ntk, llama3, longrope, position_interpolation, proportional, yarn


def scaled_error(speeds):
    """Relative: as for plain frequencies, and four roundings of a ramp between two of them.

    A ramp in turns subtracts: where a pair makes t turns, t rounded to its size is off by t
    units; the ramps here reach 32 turns over a range of at least 3.
    """
    return frequency_error(speeds) + 16 * UNIT


def assert_same(ours, speeds, factor):
    assert_within(ours.frequencies, speeds, ours.frequencies * scaled_error(ours.frequencies))
    assert factor == pytest.approx(ours.attention_factor, rel=1e-15)


def assert_turned_by(rope, plain, positions, turned):
    """Assert that a model turned `plain` by the frequencies and the factor of `rope`."""
    speeds, growth = rope.frequencies, rope.attention_factor
    expected = growth * rotate(plain, positions[:, None], speeds, layout="half-split")
    bound = rotation_error(
        plain, positions[:, None], speeds, "half-split", relative=scaled_error(speeds)
    )
    assert_within(expected, turned, bound * growth + 2 * UNIT * np.abs(expected))


def test_every_method_of_the_registry_is_compared():
    compared = {setting.parameters["rope_type"] for setting in SETTINGS.values()}
    assert compared == set(ROPE_INIT_FUNCTIONS)


@pytest.mark.parametrize("name", SETTINGS)
def test_registry(name):
    setting = SETTINGS[name]
    assert_same(setting.ours(), *setting.theirs())


@pytest.mark.parametrize(
    ("width", "base", "factor", "trained"),
    [(128, 1e4, 16, 4096), (128, 5e5, 8, 8192), (64, 1e6, 4, 32_768), (96, 1e4, 32, 4096)],
)
@pytest.mark.parametrize("method", ["yarn", "llama3", "dynamic", "linear"])
def test_at_the_widths_of_real_models(method, width, base, factor, trained):
    ours = {
        "yarn": yarn(width, base, factor, trained),
        "llama3": llama3(width, base, factor, trained),
        "dynamic": dynamic_ntk(width, base, factor, 3 * trained, trained),
        "linear": position_interpolation(frequencies(width, base), factor),
    }[method]
    parameters = {
        "yarn": YARN,
        "llama3": BANDS,
        "dynamic": {"rope_type": "dynamic"},
        "linear": {"rope_type": "linear"},
    }[method] | {"factor": float(factor), "rope_theta": base}
    if method in ("yarn", "llama3"):
        parameters["original_max_position_embeddings"] = trained
    longest = trained if method == "dynamic" else int(trained * factor)
    assert_same(ours, *registry(parameters, longest, 3 * trained, width))


def test_the_ramp_of_the_paper_is_not_the_ramp_of_the_code():
    speeds, _ = SETTINGS["yarn"].theirs()
    paper = yarn(16, 1e4, 16, 4096, ramp="paper").frequencies
    assert np.max(np.abs(paper / speeds - 1)) > 0.1


@pytest.mark.parametrize("name", ["linear", "yarn", "longrope, beyond", "llama3"])
def test_a_whole_scaled_model(name):
    """Queries turn by the scaled frequencies and grow by the attention factor."""
    setting = SETTINGS[name]
    ours = setting.ours()
    settings = {
        "max_position_embeddings": setting.trained,
        "rope_parameters": {"rope_theta": 10_000.0, **setting.parameters},
    }
    positions = np.array([[0, 1, 100, 5000]])
    ((plain, _),) = queries_and_keys(build("llama", {}), np.zeros_like(positions))
    ((turned, _),) = queries_and_keys(build("llama", settings), positions)
    assert_turned_by(ours, plain, positions, turned)


def test_proportional_layers_of_gemma_4():
    """Global heads of 512 turn their 64 fastest pairs; local heads turn whole, by another base."""
    model = build("gemma4_text", {**HEADS, "num_hidden_layers": 6})
    positions = np.array([[0, 1, 100, 131_071]])
    plain = queries_and_keys(model, np.zeros_like(positions))
    turned = queries_and_keys(model, positions)
    assert [x.shape[-1] for x, _ in plain] == [16, 16, 16, 16, 16, 512]
    for layer, (before, after) in enumerate(zip(plain, turned, strict=True)):
        speeds = proportional(512, 1e6, 0.25).frequencies if layer == 5 else frequencies(16)
        assert np.count_nonzero(speeds) == (64 if layer == 5 else 8)
        for x, y in zip(before, after, strict=True):
            ours = rotate(x, positions[:, None], speeds, layout="half-split")
            assert_within(ours, y, rotation_error(x, positions[:, None], speeds, "half-split"))


@pytest.mark.parametrize(("length", "beyond"), [(8, False), (16, False), (17, True)])
def test_longrope_changes_lists_beyond_the_trained_length(length, beyond):
    """Phi-3 asks for the largest position; its factor of attention does not depend on it."""
    short, long = [1.0] * 8, [float(n) for n in range(1, 9)]
    settings = {
        "max_position_embeddings": 64,
        "original_max_position_embeddings": 16,
        "rope_parameters": {
            "rope_type": "longrope",
            "rope_theta": 10_000.0,
            "short_factor": short,
            "long_factor": long,
        },
    }
    positions = np.arange(length)[None]
    ((plain, _),) = queries_and_keys(build("phi3", {}), np.zeros_like(positions))
    ((turned, _),) = queries_and_keys(build("phi3", settings), positions)
    ours = longrope(16, 1e4, short, long, 4, 16, length=length)
    assert ours.attention_factor == pytest.approx(np.sqrt(1.5), rel=1e-15)
    assert (ours.frequencies[1] < frequencies(16)[1]) == beyond
    assert_turned_by(ours, plain, positions, turned)
