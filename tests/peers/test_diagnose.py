"""posenc.diagnose on the rotations of transformers: conventions reported, one fault found."""

import importlib

import numpy as np
import pytest
import torch

from posenc.diagnose import diagnose, from_tables


def tables(frequencies_dtype=torch.float32, width=16, base=10_000.0):
    """Return a function that makes cosine and sine as llama does, shape (1, length, width)."""
    exponent = torch.arange(0, width, 2, dtype=torch.float) / width
    speeds = (1.0 / base**exponent).to(frequencies_dtype).float()

    def at(positions):
        angles = torch.from_numpy(positions)[:, None].float() * speeds
        both = torch.cat([angles, angles], dim=-1)[None]
        return both.cos(), both.sin()

    return at


def function_of(model_type, name="apply_rotary_pos_emb", **options):
    module = importlib.import_module(f"transformers.models.{model_type}.modeling_{model_type}")
    apply = getattr(module, name)
    return from_tables(apply, tables(**options), convert=torch.from_numpy)


@pytest.mark.parametrize(
    ("model_type", "layout", "direction", "width"),
    [
        ("llama", "half-split", "counter-clockwise", 16),
        ("qwen3", "half-split", "counter-clockwise", 16),
        ("gemma", "half-split", "counter-clockwise", 16),
        ("gpt_neox", "half-split", "counter-clockwise", 8),
        ("nemotron", "half-split", "counter-clockwise", 8),
        ("glm", "interleaved", "counter-clockwise", 8),
        ("glm4", "interleaved", "counter-clockwise", 16),
        ("ernie4_5", "interleaved", "counter-clockwise", 16),
        ("nanochat", "half-split", "clockwise", 16),
    ],
)
def test_conventions_are_no_faults(model_type, layout, direction, width):
    report = diagnose(function_of(model_type, width=width), head_dim=16)
    assert report.ok, str(report)
    assert report.layout == report.output_layout == layout
    assert report.direction == direction
    assert report.rotary_width == width
    assert report.base == pytest.approx(10_000, rel=1e-4)
    assert report.relative is True


def test_gptj_with_the_axes_as_it_has_them():
    module = importlib.import_module("transformers.models.gptj.modeling_gptj")
    sincos = module.create_sinusoidal_positions(8192, 16)

    def rotate(x, positions):
        sine, cosine = sincos[positions][None].chunk(2, dim=-1)
        given = torch.from_numpy(x).transpose(1, 2)
        return module.apply_rotary_pos_emb(given, sine, cosine).transpose(1, 2)

    report = diagnose(rotate, head_dim=16)
    assert report.ok, str(report)
    assert report.layout == "interleaved"
    assert report.base == pytest.approx(10_000, rel=1e-4)


def test_deepseek_v3_reorders_what_it_turns():
    function = function_of("deepseek_v3", "apply_rotary_pos_emb_interleave")
    report = diagnose(function, head_dim=16)
    assert report.ok, str(report)
    assert (report.layout, report.output_layout) == ("interleaved", "half-split")
    assert "output-reordered" in {finding.name for finding in report.findings}


def test_frequencies_of_a_cast_model_are_found():
    function = function_of("llama", frequencies_dtype=torch.bfloat16)
    report = diagnose(function, head_dim=16)
    assert not report.ok
    assert "bfloat16-frequencies" in {finding.name for finding in report.faults}


def test_tables_for_the_other_layout_are_found():
    """Angles laid out for halves, used by a function that pairs neighbours."""
    module = importlib.import_module("transformers.models.cohere.modeling_cohere")
    function = from_tables(
        module.apply_rotary_pos_emb, tables(), convert=lambda x: torch.from_numpy(np.copy(x))
    )
    report = diagnose(function, head_dim=16)
    assert "mixed-layouts" in {finding.name for finding in report.faults}
