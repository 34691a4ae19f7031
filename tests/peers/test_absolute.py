"""posenc.absolute and posenc.positions against the embeddings of transformers."""

import numpy as np
import pytest
import torch
from tolerances import UNIT, angle_error, assert_within
from transformers.models.marian.modeling_marian import MarianSinusoidalPositionalEmbedding
from transformers.models.opt.modeling_opt import OPTLearnedPositionalEmbedding
from transformers.models.roberta.modeling_roberta import RobertaEmbeddings
from transformers.models.roformer.modeling_roformer import RoFormerSinusoidalPositionalEmbedding
from transformers.models.speech_to_text.modeling_speech_to_text import (
    Speech2TextSinusoidalPositionalEmbedding,
)
from transformers.models.wav2vec2_bert.modeling_wav2vec2_bert import (
    Wav2Vec2BertConfig,
    Wav2Vec2BertRelPositionalEmbedding,
)
from transformers.models.whisper.modeling_whisper import sinusoids

from posenc.absolute import frequencies, sinusoid, timing_signal
from posenc.positions import from_attention_mask

MASK = np.array([[0, 0, 1, 1, 1], [1, 1, 1, 1, 1], [1, 1, 1, 0, 0], [0, 1, 0, 1, 1]])


@pytest.mark.parametrize("width", [4, 10, 64])
@pytest.mark.parametrize(
    "table", [MarianSinusoidalPositionalEmbedding, RoFormerSinusoidalPositionalEmbedding]
)
def test_the_sinusoid_of_the_paper_half_split(table, width):
    theirs = table(600, width).create_weight().numpy()
    # The table is computed in float64 and rounded once.
    assert_within(sinusoid(np.arange(600), width, layout="half-split"), theirs, UNIT + 1e-12)


@pytest.mark.parametrize("width", [4, 10, 64])
def test_the_sinusoid_of_the_paper_interleaved_and_before_position_zero(width):
    config = Wav2Vec2BertConfig(hidden_size=width, max_source_positions=40)
    theirs = Wav2Vec2BertRelPositionalEmbedding(config).pe[0].numpy()
    positions = np.arange(39, -40, -1)
    angles = angle_error(positions, frequencies(width))
    bound = np.repeat(angles, 2, axis=-1) + 2 * UNIT
    assert_within(sinusoid(positions, width), theirs, bound)


@pytest.mark.parametrize("width", [4, 10, 64])
def test_the_timing_signal_of_tensor2tensor(width):
    """Its frequencies are those of the paper for another base, and reach 1/10000."""
    positions = np.arange(500)
    speeds = frequencies(width, 10_000.0 ** (width / (width - 2)))
    assert speeds[-1] == pytest.approx(1e-4, rel=1e-12)
    ours = timing_signal(positions, width)
    bound = np.tile(angle_error(positions, speeds), 2) + 2 * UNIT
    assert_within(ours, sinusoids(500, width).numpy(), bound)
    speech = Speech2TextSinusoidalPositionalEmbedding.get_embedding(500, width)
    assert_within(ours, speech.numpy(), bound)
    assert np.max(np.abs(sinusoid(positions, width, layout="half-split") - ours)) > 0.5


def test_an_odd_width_ends_in_a_zero():
    theirs = Speech2TextSinusoidalPositionalEmbedding.get_embedding(9, 7).numpy()
    ours = timing_signal(np.arange(9), 7)
    assert_within(ours, theirs, 16 * 3 * UNIT)
    assert np.array_equal(ours[:, -1], np.zeros(9))


def test_positions_of_roberta():
    padding = 1
    tokens = torch.from_numpy(np.where(MASK, 7, padding))
    theirs = RobertaEmbeddings.create_position_ids_from_input_ids(tokens, padding)
    assert np.array_equal(from_attention_mask(MASK, padding_idx=padding), theirs.numpy())


def test_rows_of_opt():
    """Padding gets -1 before the two extra rows are skipped, real tokens count from 0."""
    embedding = OPTLearnedPositionalEmbedding(5, 4)
    theirs = embedding(torch.from_numpy(MASK)).detach().numpy()
    table = embedding.weight.detach().numpy()
    rows = from_attention_mask(MASK, padding_idx=-1) + 2
    assert rows.min() == 1
    assert np.array_equal(table[rows], theirs)
