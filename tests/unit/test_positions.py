"""posenc.positions against worked examples, loops, and what the ids do to scores."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from posenc.absolute import frequencies, sinusoid
from posenc.attention import attention, causal_mask
from posenc.positions import (
    block_mask,
    from_attention_mask,
    mrope_positions,
    next_positions,
    packed,
)
from posenc.rotary import rotate

LEFT_PADDED = [0, 0, 1, 1, 1]


def test_padding_is_not_counted():
    assert from_attention_mask(LEFT_PADDED).tolist() == [0, 0, 0, 1, 2]
    assert from_attention_mask([1, 1, 1, 0, 0]).tolist() == [0, 1, 2, 0, 0]
    assert from_attention_mask([True, False, True]).tolist() == [0, 0, 1]
    assert from_attention_mask(np.array(LEFT_PADDED, np.uint8)).dtype == np.int64


def test_roberta_and_opt_rules():
    assert from_attention_mask(LEFT_PADDED, padding_idx=1).tolist() == [1, 1, 2, 3, 4]
    # Tokens (0, 5, 6, 2, 1, 1) with padding token 1: rows 0 and 1 serve no text.
    assert from_attention_mask([1, 1, 1, 1, 0, 0], padding_idx=1).tolist() == [2, 3, 4, 5, 1, 1]
    opt = from_attention_mask(LEFT_PADDED, padding_idx=-1)
    assert opt.tolist() == [-1, -1, 0, 1, 2]
    assert (opt + 2).tolist() == [1, 1, 2, 3, 4]


@pytest.mark.parametrize(("padding_idx", "rows", "longest"), [(1, 514, 512), (3, 514, 510)])
def test_roberta_table_holds_fewer_tokens_than_rows(padding_idx, rows, longest):
    ids = from_attention_mask(np.ones(longest, int), padding_idx=padding_idx)
    assert ids[0] == padding_idx + 1
    assert ids[-1] == rows - 1


@given(
    hnp.arrays(bool, hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=9)),
    st.none() | st.integers(-1, 5),
)
def test_ids_agree_with_counting(mask, padding_idx):
    ids = from_attention_mask(mask, padding_idx=padding_idx)
    assert ids.shape == mask.shape
    filler, first = (0, 0) if padding_idx is None else (padding_idx, padding_idx + 1)
    for row in np.ndindex(mask.shape[:-1]):
        seen = first
        for place, real in enumerate(mask[row]):
            assert ids[(*row, place)] == (seen if real else filler)
            seen += int(real)


def test_packed():
    assert packed([3, 2]).tolist() == [0, 1, 2, 0, 1]
    assert packed([1]).tolist() == [0]
    assert packed(np.array([1, 1, 3], np.uint8)).tolist() == [0, 0, 0, 1, 2]


@given(st.lists(st.integers(1, 6), min_size=1, max_size=6), st.booleans())
def test_packed_and_block_mask_agree_with_loops(lengths, causal):
    ids = [i for size in lengths for i in range(size)]
    document = [d for d, size in enumerate(lengths) for _ in range(size)]
    assert packed(lengths).tolist() == ids
    mask = block_mask(lengths, causal)
    assert mask.dtype == np.bool_
    for i in range(len(ids)):
        for j in range(len(ids)):
            assert mask[i, j] == (document[i] == document[j] and (j <= i or not causal))


def test_six_of_fifteen_causal_pairs_cross_the_border():
    crossing = causal_mask(5) & ~block_mask([3, 2])
    assert causal_mask(5).sum() == 15
    assert crossing.sum() == 6


def second_document(ids, mask, *, rotary):
    """Output for the last three tokens; positions by rotation or by addition."""
    rng = np.random.default_rng(0)
    tokens, weights = rng.normal(size=(6, 8)), rng.normal(size=(3, 8, 8))
    count = len(ids)
    x = tokens[6 - count :]
    if not rotary:
        x = x + sinusoid(ids, 8)
    q, k, v = (x @ w for w in weights)
    if rotary:
        q, k = (rotate(a, ids, frequencies(8)) for a in (q, k))
    return attention(q, k, v, mask=mask)[0][-3:]


@pytest.mark.parametrize(
    ("rotary", "restart", "blocked", "same"),
    [
        (True, False, True, True),
        (True, True, True, True),
        (True, True, False, False),
        (True, False, False, False),
        (False, False, True, False),
        (False, True, True, True),
    ],
)
def test_restarting_and_blocking_are_two_choices(rotary, restart, blocked, same):
    alone = second_document(packed([3]), block_mask([3]), rotary=rotary)
    ids = packed([3, 3]) if restart else np.arange(6)
    mask = block_mask([3, 3]) if blocked else causal_mask(6)
    difference = np.abs(second_document(ids, mask, rotary=rotary) - alone).max()
    assert difference < 1e-13 if same else difference > 0.1


def test_next_positions():
    assert next_positions(6, 3).tolist() == [6, 7, 8]
    # One new token for two rows must not become two steps of one row.
    assert next_positions([5, 9], 1).tolist() == [[5], [9]]
    assert next_positions([[0], [2]], 2).tolist() == [[[0, 1]], [[2, 3]]]
    assert next_positions(np.empty(0, int), 2).shape == (0, 2)


def test_decoding_continues_the_padded_prompt():
    mask = np.array([LEFT_PADDED, [1, 1, 1, 1, 1]])
    following = next_positions(mask.sum(axis=-1), 1)
    assert following.tolist() == [[3], [5]]
    longer = np.concatenate([mask, [[1], [1]]], axis=1)
    assert from_attention_mask(longer)[:, -1:].tolist() == following.tolist()

    def score(query, key):
        turned = rotate([[1.0, 0.0], [1.0, 0.0]], [query, key], [1.0])
        return turned[0] @ turned[1]

    last = from_attention_mask(mask)[0, -1]
    assert score(following[0, 0], last) == pytest.approx(0.540302305868, abs=1e-12)
    shared_counter = 5
    assert score(shared_counter, last) == pytest.approx(-0.9899924966, abs=1e-10)


def test_each_layer_gets_the_same_positions():
    assert [next_positions(4, 1).tolist() for _ in range(3)] == [[4]] * 3


@given(st.integers(0, 50), st.lists(st.integers(1, 9), min_size=1, max_size=5))
def test_chunks_are_numbered_like_the_whole(start, chunks):
    parts, seen = [], start
    for chunk in chunks:
        parts.append(next_positions(seen, chunk))
        seen += chunk
    assert np.concatenate(parts).tolist() == next_positions(start, sum(chunks)).tolist()


def test_pictures_advance_by_their_longer_side():
    positions, following = mrope_positions([2, (1, 2, 3), 1])
    assert positions.tolist() == [
        [0, 0, 0],
        [1, 1, 1],
        [2, 2, 2],
        [2, 2, 3],
        [2, 2, 4],
        [2, 3, 2],
        [2, 3, 3],
        [2, 3, 4],
        [5, 5, 5],
    ]
    assert positions.dtype == np.int64
    assert following - len(positions) == -3
    positions, following = mrope_positions([3, (1, 2, 2), 2])
    assert positions[3:].tolist() == [[3, 3, 3], [3, 3, 4], [3, 4, 3], [3, 4, 4], [5] * 3, [6] * 3]
    assert following == 7


def test_films_longer_than_wide():
    positions, _ = mrope_positions([2, (5, 2, 2), 3])
    assert sorted(set(positions[2:-3, 0].tolist())) == [2, 3, 4, 5, 6]
    assert positions[-3:, 0].tolist() == [7, 8, 9]
    overlapping, _ = mrope_positions([2, (5, 2, 2), 3], advance="spatial")
    assert overlapping[-3:, 0].tolist() == [4, 5, 6]


def test_text_has_one_position_on_three_axes():
    positions, following = mrope_positions([4, 3])
    assert positions.tolist() == [[i, i, i] for i in range(7)]
    assert following == 7


HUGE = 2**63


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: from_attention_mask([0.0, 1]), TypeError, "mask must hold booleans or the int"),
        (lambda: from_attention_mask("01"), TypeError, "mask must hold booleans"),
        (lambda: from_attention_mask([1j]), TypeError, "got complex128"),
        (lambda: from_attention_mask([]), TypeError, "got float64"),
        (lambda: from_attention_mask(1), ValueError, r"mask must have shape \(..., length\)"),
        (lambda: from_attention_mask([0, 2]), ValueError, "mask must hold 0 and 1 only, got 2"),
        (lambda: from_attention_mask([-1, 1]), ValueError, "0 and 1 only, got -1"),
        (lambda: from_attention_mask([[1], [1, 0]]), ValueError, "mask must be a regular array"),
        (lambda: from_attention_mask([1], padding_idx=1.0), TypeError, "padding_idx must be an"),
        (lambda: from_attention_mask([1], padding_idx=True), TypeError, "got True"),
        (lambda: from_attention_mask([1], padding_idx=-2), ValueError, "at least -1, got -2"),
        (
            lambda: from_attention_mask([1], padding_idx=HUGE - 1),
            ValueError,
            r"padding_idx \+ length must fit in 64 bits",
        ),
        (lambda: packed([]), TypeError, "lengths must hold integers, got dtype float64"),
        (lambda: packed(np.empty(0, int)), ValueError, r"one per document, got shape \(0,\)"),
        (lambda: packed(3), ValueError, r"lengths must be a vector, .* got shape \(\)"),
        (lambda: packed([[3]]), ValueError, r"got shape \(1, 1\)"),
        (lambda: packed([3, 0]), ValueError, "lengths must be positive, got 0"),
        (lambda: packed([3, -1]), ValueError, "lengths must be positive, got -1"),
        (lambda: packed([2.0]), TypeError, "lengths must hold integers"),
        (lambda: packed([np.nan]), TypeError, "lengths must hold integers"),
        (lambda: packed([True]), TypeError, "got dtype bool"),
        (lambda: packed("3"), TypeError, "lengths must hold integers"),
        (lambda: packed(np.array([HUGE], np.uint64)), ValueError, "lengths must fit in 64 bits"),
        (lambda: packed([HUGE // 2, HUGE // 2]), ValueError, f"lengths must add up .* got {HUGE}"),
        (lambda: block_mask([0]), ValueError, "lengths must be positive"),
        (lambda: block_mask([2], causal=1), TypeError, "causal must be a boolean, got 1"),
        (lambda: next_positions(-1, 1), ValueError, "cached must not be negative, got -1"),
        (lambda: next_positions(1.0, 1), TypeError, "cached must hold integers"),
        (lambda: next_positions(np.inf, 1), TypeError, "cached must hold integers"),
        (lambda: next_positions(True, 1), TypeError, "got dtype bool"),
        (lambda: next_positions(0, 0), ValueError, "new must be at least 1, got 0"),
        (lambda: next_positions(0, 1.0), TypeError, "new must be an integer"),
        (lambda: next_positions(0, [1]), TypeError, "new must be an integer"),
        (lambda: next_positions(HUGE - 2, 2), ValueError, r"cached \+ new must fit in 64 bits"),
        (lambda: mrope_positions([]), ValueError, "segments must hold at least one"),
        (lambda: mrope_positions(3), TypeError, "segments must be a sequence, got int"),
        (lambda: mrope_positions("3"), TypeError, "segments must be a sequence, got str"),
        (lambda: mrope_positions([(2, 2)]), ValueError, r"segments\[0\] must be \(times, rows"),
        (lambda: mrope_positions([1, "222"]), ValueError, r"segments\[1\] must be \(times"),
        (lambda: mrope_positions([1, (1, 0, 1)]), ValueError, r"segments\[1\] must be at least 1"),
        (lambda: mrope_positions([1.5]), TypeError, r"segments\[0\] must be an integer, got 1.5"),
        (lambda: mrope_positions([1], advance="rows"), ValueError, "advance must be"),
    ],
)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_a_wide_film_advances_by_its_columns():
    assert mrope_positions([(5, 2, 3)], advance="spatial")[1] == 3
    assert mrope_positions([(5, 2, 3)], advance="all-axes")[1] == 5
