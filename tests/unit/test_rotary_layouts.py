"""posenc.rotary: interleaved pairs to half-split ones, in vectors and in weights."""

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posenc.absolute import frequencies
from posenc.rotary import layout_permutation, permute_projection, rotate

rng = np.random.default_rng(5)


def test_permutation_lists_even_components_then_odd_ones():
    assert layout_permutation(4).tolist() == [0, 2, 1, 3]
    assert layout_permutation(6).tolist() == [0, 2, 4, 1, 3, 5]
    assert np.argsort(layout_permutation(6)).tolist() == [0, 3, 1, 4, 2, 5]
    assert layout_permutation(7, rotary_width=4).tolist() == [0, 2, 1, 3, 4, 5, 6]
    assert layout_permutation(2).tolist() == [0, 1]
    assert layout_permutation(np.int32(8)).dtype == np.int64


def test_worked_example():
    x = np.array([1.0, 2.0, 3.0, 4.0])
    order = layout_permutation(4)
    half = rotate(x[order], 1, frequencies(4), layout="half-split")
    assert half == pytest.approx([-1.142639664, 2.959850668, 1.922075597, 4.029799502], abs=1e-9)
    assert half == pytest.approx(rotate(x, 1, frequencies(4))[order], rel=1e-15)


@given(
    st.integers(1, 12), st.integers(0, 5), st.integers(-(10**6), 10**6), st.integers(0, 2**32 - 1)
)
def test_permutation_commutes_with_rotation(pairs, rest, position, seed):
    x = np.random.default_rng(seed).normal(size=(2, 2 * pairs + rest))
    order = layout_permutation(2 * pairs + rest, rotary_width=2 * pairs)
    speeds = frequencies(2 * pairs)
    half = rotate(x[..., order], position, speeds, layout="half-split")
    assert half == pytest.approx(rotate(x, position, speeds)[..., order], abs=1e-14)


def test_rows_of_two_heads():
    rows = np.arange(16)
    assert permute_projection(rows, 2, head_width=8).tolist() == [
        *(0, 2, 4, 6, 1, 3, 5, 7),
        *(8, 10, 12, 14, 9, 11, 13, 15),
    ]
    assert permute_projection(rows, 2, head_width=8, rotary_width=4).tolist() == [
        *(0, 2, 1, 3, 4, 5, 6, 7),
        *(8, 10, 9, 11, 12, 13, 14, 15),
    ]
    assert permute_projection(np.arange(14), 2, head_width=7, rotary_width=4).tolist() == [
        *(0, 2, 1, 3, 4, 5, 6),
        *(7, 9, 8, 10, 11, 12, 13),
    ]


def test_grouped_queries_need_the_number_of_key_heads():
    # Two key heads of width 4. With four heads of width 2 nothing would be permuted.
    rows = np.arange(8)
    assert permute_projection(rows, 2, head_width=4).tolist() == [0, 2, 1, 3, 4, 6, 5, 7]
    assert permute_projection(rows, 4, head_width=2).tolist() == rows.tolist()
    with pytest.raises(ValueError, match="heads \\* head_width = 8 \\* 4 outputs along axis 0"):
        permute_projection(rows, 8, head_width=4)


@pytest.mark.parametrize("rotary_width", [None, 4])
def test_scores_of_a_converted_checkpoint(rotary_width):
    head_width, query_heads, key_heads, inputs, length = 8, 4, 2, 5, 6
    speeds = frequencies(rotary_width or head_width)
    tokens = rng.normal(size=(length, inputs))
    positions = np.arange(length) + 3

    def scores(layout, weights):
        turned = []
        for heads, (weight, bias) in zip((query_heads, key_heads), weights, strict=True):
            vectors = (tokens @ weight.T + bias).reshape(length, heads, head_width)
            turned.append(rotate(vectors.swapaxes(0, 1), positions, speeds, layout=layout))
        q, k = turned
        return q @ np.repeat(k, query_heads // key_heads, axis=0).mT

    weights = [
        (rng.normal(size=(heads * head_width, inputs)), rng.normal(size=heads * head_width))
        for heads in (query_heads, key_heads)
    ]
    converted = [
        tuple(
            permute_projection(part, heads, head_width=head_width, rotary_width=rotary_width)
            for part in parts
        )
        for heads, parts in zip((query_heads, key_heads), weights, strict=True)
    ]
    expected = scores("interleaved", weights)
    assert scores("half-split", converted) == pytest.approx(expected, abs=1e-12)
    assert np.abs(scores("half-split", weights) - expected).max() > 0.1
    assert np.abs(scores("half-split", [converted[0], weights[1]]) - expected).max() > 0.1


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16, np.int8])
def test_inverse_leads_back_on_any_axis_in_the_same_dtype(dtype):
    weight = rng.integers(-50, 50, size=(3, 24, 2)).astype(dtype)
    settings = {"head_width": 8, "rotary_width": 6}  # with 4, the way back is the way there
    for axis in (1, -2):
        there = permute_projection(weight, 3, axis=axis, **settings)
        assert there.dtype == dtype
        assert np.array_equal(there, weight[:, permute_projection(np.arange(24), 3, **settings)])
        assert not np.array_equal(there, weight)
        back = permute_projection(there, 3, axis=axis, inverse=True, **settings)
        assert np.array_equal(back, weight)
    bias = np.arange(24.0)
    assert not np.shares_memory(permute_projection(bias, 12, head_width=2), bias)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: layout_permutation(5), ValueError, "width must be a positive even number, got 5"),
        (lambda: layout_permutation(0), ValueError, "width must be a positive even number, got 0"),
        (lambda: layout_permutation(4.0), TypeError, "width must be an integer, got 4.0"),
        (lambda: layout_permutation(True), TypeError, "width must be an integer, got True"),
        (lambda: layout_permutation("4"), TypeError, "width must be an integer, got '4'"),
        (
            lambda: layout_permutation(4, rotary_width=3),
            ValueError,
            "rotary_width must be a positive even number, got 3",
        ),
        (
            lambda: layout_permutation(4, rotary_width=0),
            ValueError,
            "rotary_width must be a positive even number, got 0",
        ),
        (
            lambda: layout_permutation(4, rotary_width=6),
            ValueError,
            "rotary_width must not exceed width = 4, got 6",
        ),
        (
            lambda: permute_projection(np.ones(8), 2, head_width=2),
            ValueError,
            r"weight must have heads \* head_width = 2 \* 2 outputs along axis 0, got shape \(8,\)",
        ),
        (
            lambda: permute_projection(np.ones((8, 3)), 2, head_width=4, axis=1),
            ValueError,
            r"outputs along axis 1, got shape \(8, 3\)",
        ),
        (
            lambda: permute_projection(np.ones(8), 2, head_width=4, axis=1),
            ValueError,
            r"axis must be an axis of weight, got 1 for shape \(8,\)",
        ),
        (
            lambda: permute_projection(3.0, 1, head_width=2),
            ValueError,
            r"axis must be an axis of weight, got 0 for shape \(\)",
        ),
        (
            lambda: permute_projection(np.ones(0), 0, head_width=2),
            ValueError,
            "heads must be at least 1, got 0",
        ),
        (lambda: permute_projection(np.ones(0), 1, head_width=2), ValueError, r"got shape \(0,\)"),
        (
            lambda: permute_projection(np.ones(4), 2.0, head_width=2),
            TypeError,
            "heads must be an integer, got 2.0",
        ),
        (
            lambda: permute_projection(np.ones(6), 2, head_width=3),
            ValueError,
            "width must be a positive even number, got 3",
        ),
        (
            lambda: permute_projection(np.ones(4) * 1j, 2, head_width=2),
            TypeError,
            "weight must hold real numbers, got dtype complex128",
        ),
        (
            lambda: permute_projection(["a", "b"], 1, head_width=2),
            TypeError,
            "weight must hold real numbers",
        ),
        (
            lambda: permute_projection([True, False], 1, head_width=2),
            TypeError,
            "weight must hold real numbers, got dtype bool",
        ),
        (
            lambda: permute_projection([[1.0], [1.0, 2.0]], 1, head_width=2),
            ValueError,
            "weight must be a regular array",
        ),
    ],
)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()
