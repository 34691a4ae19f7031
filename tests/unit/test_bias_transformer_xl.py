"""Transformer-XL's score against its formula, entry by entry."""

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posenc.absolute import frequencies
from posenc.bias import transformer_xl_scores

Q, K = np.array([[1.0, 2], [0, 1]]), np.array([[1.0, 0], [0, 1], [1, 1]])
U, V, W = np.array([0.1, 0.2]), np.array([-0.1, 0.3]), np.eye(2)
rng = np.random.default_rng(17)


def naive(q, k, u, v, w, *, causal=True, clamp=None, base=10_000.0):
    (queries, width), keys, model_width = q.shape, len(k), w.shape[1]
    scores = np.full((queries, keys), -np.inf)
    for i, j in np.ndindex(queries, keys):
        distance = i + keys - queries - j
        if distance < 0 and causal:
            continue
        if clamp is not None:
            distance = min(max(distance, -clamp), clamp)
        angles = distance * frequencies(model_width, base)
        r = np.concatenate([np.sin(angles), np.cos(angles)])
        scores[i, j] = ((q[i] + u) @ k[j] + (q[i] + v) @ (w @ r)) / np.sqrt(width)
    return scores


def test_worked_example():
    assert transformer_xl_scores(Q, K, U, V, W) == pytest.approx(
        np.array(
            [
                [2.192044590932856, 3.181980515339464, -np.inf],
                [-0.3761246846630955, 1.285694005152035, 1.8384776310850235],
            ]
        ),
        rel=1e-14,
    )


def test_upper_triangle_is_minus_infinity_and_not_what_the_shift_left_there():
    scores = transformer_xl_scores(Q, K, U, V, W)
    assert np.isneginf(scores).tolist() == [[False, False, True], [False, False, False]]
    square = transformer_xl_scores(K, K, U, V, W)
    assert (np.isneginf(square) == ~np.tri(3, dtype=bool)).all()


@given(
    st.integers(1, 6),
    st.integers(0, 5),
    st.integers(1, 4),
    st.integers(1, 3),
    st.booleans(),
    st.one_of(st.none(), st.integers(0, 8)),
    st.sampled_from([10.0, 10_000.0]),
)
def test_agrees_with_the_formula(queries, memory, width, pairs, causal, clamp, base):
    q, k = rng.normal(size=(queries, width)), rng.normal(size=(queries + memory, width))
    u, v, w = rng.normal(size=width), rng.normal(size=width), rng.normal(size=(width, 2 * pairs))
    scores = transformer_xl_scores(q, k, u, v, w, causal=causal, clamp=clamp, base=base)
    expected = naive(q, k, u, v, w, causal=causal, clamp=clamp, base=base)
    assert scores == pytest.approx(expected, abs=1e-12)


def test_keys_on_the_two_sides_are_told_apart():
    """The sine is odd: distance -1 has (-0.8415, 0.5403), not the pair of distance +1."""
    zero = np.zeros((2, 2))
    sine = transformer_xl_scores(zero, zero, [0, 0], [1, 0], W, causal=False, scale=1)
    assert sine == pytest.approx(np.array([[0, -0.841470984808], [0.841470984808, 0]]), abs=1e-12)
    cosine = transformer_xl_scores(zero, zero, [0, 0], [0, 1], W, causal=False, scale=1)
    assert cosine == pytest.approx(np.array([[1, 0.540302305868], [0.540302305868, 1]]), abs=1e-12)


def test_sines_stand_before_cosines():
    w = np.zeros((1, 4))
    w[0, 1] = 1  # picks the sine of the second frequency, not the cosine of the first
    scores = transformer_xl_scores(np.zeros((1, 1)), np.zeros((4, 1)), [0], [1], w, scale=1)
    assert scores[0] == pytest.approx(np.sin(0.01 * np.array([3, 2, 1, 0])), rel=1e-14)


def test_clamp_freezes_far_distances():
    zero = np.zeros((1, 2))
    scores = transformer_xl_scores(zero, np.zeros((6, 2)), [0, 0], [1, 0], W, clamp=2, scale=1)
    assert scores[0] == pytest.approx(np.sin([2, 2, 2, 2, 1, 0]), rel=1e-14)
    both = transformer_xl_scores(
        np.zeros((3, 2)), np.zeros((3, 2)), [0, 0], [1, 0], W, clamp=1, causal=False, scale=1
    )
    assert both[0] == pytest.approx(np.sin([0, -1, -1]), rel=1e-14)


@pytest.mark.parametrize("memory", [0, 1, 4])
def test_memory_gives_the_rows_of_the_whole(memory):
    q, k = rng.normal(size=(5, 2)), rng.normal(size=(5, 2))
    for causal in (True, False):
        whole = transformer_xl_scores(q, k, U, V, W, causal=causal)
        rest = transformer_xl_scores(q[memory:], k, U, V, W, causal=causal)
        assert rest == pytest.approx(whole[memory:], abs=1e-14)


@pytest.mark.parametrize("heads", [3, 6, 8, 12, 16])
def test_heads_and_batch(heads):
    q, k = rng.normal(size=(2, heads, 3, 4)), rng.normal(size=(2, heads, 5, 4))
    u, v = rng.normal(size=(2, heads, 4))
    w = rng.normal(size=(heads * 4, 6)).reshape(heads, 4, 6)
    scores = transformer_xl_scores(q, k, u, v, w)
    assert scores.shape == (2, heads, 3, 5)
    for b, h in np.ndindex(2, heads):
        expected = naive(q[b, h], k[b, h], u[h], v[h], w[h])
        assert scores[b, h] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, ml_dtypes.bfloat16])
def test_dtype_of_the_input_is_kept_and_rounded_once(dtype):
    q, k = rng.normal(size=(3, 8)).astype(dtype), rng.normal(size=(700, 8)).astype(dtype)
    u, v = rng.normal(size=(2, 8)).astype(dtype)
    w = rng.normal(size=(8, 4)).astype(dtype)
    scores = transformer_xl_scores(q, k, u, v, w)
    exact = naive(*(x.astype(float) for x in (q, k, u, v, w)))
    assert scores.dtype == dtype
    below = np.isfinite(exact)
    assert (np.isneginf(scores.astype(float)) == ~below).all()
    eps = float(ml_dtypes.finfo(dtype).eps)
    bound = 0.51 * eps * abs(exact[below]) + 1e-5 if eps > 1e-4 else 300 * eps
    assert (abs(scores.astype(float)[below] - exact[below]) <= bound).all()


def test_integers_become_float64_and_empty_segments_stay():
    assert transformer_xl_scores([[1, 0]], [[2, 0]], [0, 0], [0, 0], W, scale=1).tolist() == [[2.0]]
    for causal in (True, False):
        for keys in (1, 3):
            none = transformer_xl_scores(Q[:0], K[:keys], U, V, W, causal=causal)
            assert none.shape == (0, keys)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: transformer_xl_scores(K, Q, U, V, W),
            ValueError,
            "k must have at least as many vectors as q, and one; got 2 and 3",
        ),
        (lambda: transformer_xl_scores(Q[:0], K[:0], U, V, W), ValueError, "and one; got 0 and 0"),
        (lambda: transformer_xl_scores(Q[0], K, U, V, W), ValueError, r"q must have .* got \(2,\)"),
        (lambda: transformer_xl_scores(Q, K[0], U, V, W), ValueError, r"k must have .* got \(2,\)"),
        (lambda: transformer_xl_scores(Q, K[:, :1], U, V, W), ValueError, "k must have the width"),
        (
            lambda: transformer_xl_scores(Q, K, U[:1].repeat(3), V, W),
            ValueError,
            r"u must broadcast against q.shape without queries = \(2,\), got shape \(3,\)",
        ),
        (lambda: transformer_xl_scores(Q, K, U, Q, W), ValueError, "v must broadcast against"),
        (
            lambda: transformer_xl_scores(Q, K, U, V, np.ones((3, 2))),
            ValueError,
            r"projection must have shape \(..., 2, model_width\), got \(3, 2\)",
        ),
        (
            lambda: transformer_xl_scores(Q, K, U, V, np.ones((2, 3))),
            ValueError,
            "width must be a positive even number, got 3",
        ),
        (lambda: transformer_xl_scores(Q, K, U, V, U), ValueError, "projection must have shape"),
        (
            lambda: transformer_xl_scores(np.ones((2, 1, 2)), K, U, V, np.ones((3, 2, 2))),
            ValueError,
            r"batch axes of q, k, projection must broadcast, got \(2,\), \(\), \(3,\)",
        ),
        (lambda: transformer_xl_scores(Q * 1j, K, U, V, W), TypeError, "q must hold real numbers"),
        (lambda: transformer_xl_scores(Q, K > 0, U, V, W), TypeError, "k must hold real numbers"),
        (lambda: transformer_xl_scores(Q, K, "u", V, W), TypeError, "u must hold real numbers"),
        (lambda: transformer_xl_scores(Q, K, U, [1, [2]], W), ValueError, "v must be a regular"),
        (lambda: transformer_xl_scores(Q, K, U, V, W, clamp=-1), ValueError, "clamp must be at l"),
        (lambda: transformer_xl_scores(Q, K, U, V, W, clamp=1.5), TypeError, "clamp must be an in"),
        (
            lambda: transformer_xl_scores(Q, K, U, V, W, base=0),
            ValueError,
            "base must be one posit",
        ),
        (
            lambda: transformer_xl_scores(Q, K, U, V, W, scale=np.inf),
            ValueError,
            "scale must be fi",
        ),
    ],
)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()
