"""posenc.rotary.mrope and axial against models of pictures and films."""

import numpy as np
import pytest
import torch
from tolerances import assert_within, rotation_error
from transformers.models.gemma4 import modeling_gemma4 as gemma4
from transformers.models.gemma4.configuration_gemma4 import Gemma4VisionConfig
from transformers.models.qwen2_vl import modeling_qwen2_vl as qwen2_vl
from transformers.models.qwen2_vl.configuration_qwen2_vl import (
    Qwen2VLTextConfig,
    Qwen2VLVisionConfig,
)
from transformers.models.qwen3_vl import modeling_qwen3_vl as qwen3_vl
from transformers.models.qwen3_vl.configuration_qwen3_vl import Qwen3VLTextConfig

from posenc.absolute import frequencies
from posenc.rotary import axial, mrope, rotate

rng = np.random.default_rng(23)
# Time, row and column: text, then a picture of two by two, then text.
PLACES = np.array(
    [[0, 0, 0], [1, 1, 1], [2, 2, 2], [2, 2, 3], [2, 3, 2], [2, 3, 3], [4, 4, 4], [900, 17, 250]]
)


def vectors(width):
    return rng.normal(size=(1, 4, len(PLACES), width)).astype(np.float32)


def bound(x, speeds):
    """Each pair turns by one of the coordinates, the largest of which bounds its error."""
    return rotation_error(x, np.max(PLACES, axis=-1), speeds, "half-split")


@pytest.mark.parametrize(
    ("module", "rope", "config", "order", "sections"),
    [
        (qwen2_vl, "Qwen2VLRotaryEmbedding", Qwen2VLTextConfig, "contiguous", [4, 6, 6]),
        (qwen2_vl, "Qwen2VLRotaryEmbedding", Qwen2VLTextConfig, "contiguous", [8, 4, 4]),
        (qwen3_vl, "Qwen3VLTextRotaryEmbedding", Qwen3VLTextConfig, "alternating", [6, 5, 5]),
        (qwen3_vl, "Qwen3VLTextRotaryEmbedding", Qwen3VLTextConfig, "alternating", [8, 4, 4]),
    ],
    ids=["qwen2_vl", "qwen2_vl-more-time", "qwen3_vl", "qwen3_vl-more-time"],
)
def test_three_coordinates_drive_one_ladder(module, rope, config, order, sections):
    settings = config(
        hidden_size=128,
        num_attention_heads=4,
        head_dim=32,
        rope_parameters={
            "rope_type": "default",
            "rope_theta": 1e6,
            "mrope_section": sections,
        },
    )
    tables = getattr(module, rope)(settings)
    cosine, sine = tables(torch.zeros(1), torch.from_numpy(PLACES.T.copy())[:, None])
    x = vectors(32)
    turned, _ = module.apply_rotary_pos_emb(torch.from_numpy(x), torch.from_numpy(x), cosine, sine)
    speeds = frequencies(32, 1e6)
    ours = mrope(x, PLACES, speeds, sections=sections, order=order, layout="half-split")
    assert_within(ours, turned.numpy(), bound(x, speeds))
    # Text has three equal coordinates and turns as it always did.
    text = [0, 1, 2, 6]
    plain = rotate(x[..., text, :], PLACES[text, 0], speeds, layout="half-split")
    assert_within(plain, turned.numpy()[..., text, :], bound(x, speeds)[..., text, :])
    # Another assignment of pairs to coordinates is another rotation.
    wrong = mrope(x, PLACES, speeds, sections=sections[::-1], layout="half-split")
    assert np.max(np.abs(wrong - turned.numpy())) > 0.1


def test_rows_and_columns_of_qwen2_vl_share_one_half_split():
    """Quarters of the components turn by row, column, row, column."""
    config = Qwen2VLVisionConfig(embed_dim=128, num_heads=4)
    tables = qwen2_vl.Qwen2VLVisionRotaryEmbedding(config)
    grid = PLACES[:, 1:]
    cosine, sine = tables(torch.zeros(1), torch.from_numpy(grid))
    x = vectors(32)
    # The vision code has heads behind the length.
    given = torch.from_numpy(x[0]).transpose(0, 1)
    turned, _ = qwen2_vl.apply_rotary_pos_emb_vision(given, given, cosine, sine)
    speeds = frequencies(16)
    ours = axial(x, grid, speeds, layout="half-split")
    assert_within(ours[0], turned.transpose(0, 1).numpy(), bound(x, np.tile(speeds, 2))[0])


def test_rows_and_columns_of_gemma_4_are_split_apart():
    """Each half of the components is a half-split rotation of its own, by its coordinate."""
    config = Gemma4VisionConfig(hidden_size=128, num_attention_heads=4, head_dim=32)
    tables = gemma4.Gemma4VisionRotaryEmbedding(config)
    grid = PLACES[:, 1:]
    cosine, sine = tables(torch.zeros(1), torch.from_numpy(grid)[None])
    x = vectors(32)
    turned = gemma4.apply_multidimensional_rope(
        torch.from_numpy(x), cosine, sine, torch.from_numpy(grid)[None], unsqueeze_dim=1
    ).numpy()
    base = config.rope_parameters["rope_theta"]
    speeds = frequencies(16, base)
    for axis, part in enumerate((slice(0, 16), slice(16, 32))):
        ours = rotate(x[..., part], grid[:, axis], speeds, layout="half-split")
        error = rotation_error(x[..., part], grid[:, axis], speeds, "half-split")
        assert_within(ours, turned[..., part], error)
