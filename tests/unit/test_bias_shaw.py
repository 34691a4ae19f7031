"""Shaw's keys and values against the formula with its n × n × d tensor, and the shift."""

import tracemalloc

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posenc.attention import softmax
from posenc.bias import relative_shift, shaw_index, shaw_scores, shaw_values

X = np.array([[1.0, 0], [0, 1], [1, 1]])
KEY_TABLE = np.array([[0.1, 0.2], [0, 0], [-0.3, 0.4]])
VALUE_TABLE = np.array([[1.0, 0], [0, 0], [0, 1]])
SCORES = np.array(
    [
        [0.7071067811865475, -0.21213203435596423, 0.4949747468305832],
        [0.1414213562373095, 0.7071067811865475, 0.9899494936611664],
        [0.9192388155425117, 0.9192388155425117, 1.414213562373095],
    ]
)
THREE = np.arange(3)
rng = np.random.default_rng(13)


def pair_vectors(table, queries, keys):
    """The tensor (queries, keys, width) of relative vectors, one clipped offset at a time."""
    k = (len(table) - 1) // 2
    return np.array(
        [[table[k + max(-k, min(k, int(n) - int(m)))] for n in keys] for m in queries]
    ).reshape(len(queries), len(keys), table.shape[1])


def naive_scores(q, k, table, queries, keys):
    moved = k[None] + pair_vectors(table, queries, keys)
    return np.einsum("id,ijd->ij", q, moved) / np.sqrt(q.shape[-1])


def naive_values(weights, v, table, queries, keys):
    return np.einsum("ij,ijd->id", weights, v[None] + pair_vectors(table, queries, keys))


def test_worked_example():
    assert shaw_index(THREE, THREE, 1).tolist() == [[1, 2, 2], [0, 1, 2], [0, 0, 1]]
    scores = shaw_scores(X, X, KEY_TABLE, THREE, THREE)
    assert scores == pytest.approx(SCORES, rel=1e-14)
    output = shaw_values(softmax(scores), X, VALUE_TABLE, THREE, THREE)
    assert output == pytest.approx(
        np.array(
            [
                [0.8193477173197345, 1.0940717673058526],
                [0.8507602369536791, 1.262162541139535],
                [1.274690801648464, 0.7253091983515363],
            ]
        ),
        rel=1e-14,
    )


def test_both_terms_are_scaled():
    assert shaw_scores(X, X, KEY_TABLE, THREE, THREE, scale=1.0) == pytest.approx(
        SCORES * np.sqrt(2), rel=1e-14
    )
    late = X @ X.T / np.sqrt(2) + np.einsum("id,ijd->ij", X, pair_vectors(KEY_TABLE, THREE, THREE))
    assert abs(late - SCORES).max() > 0.05


def test_the_sign_is_key_minus_query():
    """A table for a shift to the right: only the row of offset +1 is not zero."""
    table = np.zeros((5, 1))
    table[3] = 1
    scores = shaw_scores(np.ones((3, 1)), np.zeros((3, 1)), table, THREE, THREE)
    assert scores.tolist() == [[0, 1, 0], [0, 0, 1], [0, 0, 0]]


def test_the_value_side_counts():
    weights = np.full((3, 3), 1 / 3)
    moved = shaw_values(weights, X, VALUE_TABLE, THREE, THREE) - weights @ X
    assert moved == pytest.approx(np.array([[0, 2], [1, 1], [2, 0]]) / 3, rel=1e-14)


@pytest.mark.parametrize("k", [0, 1, 8, 16, 20, 32])
def test_rows_of_the_table(k):
    places = np.array([-100, -k - 1, -k, 0, k, k + 1, 100])
    index = shaw_index([0], places, k)[0]
    assert index.tolist() == [0, 0, 0, k, 2 * k, 2 * k, 2 * k]
    assert len(set(shaw_index([0], range(-100, 101), k)[0].tolist())) == 2 * k + 1


places = st.lists(st.integers(-60, 60), min_size=1, max_size=6)


@given(places, places, st.integers(0, 9), st.integers(1, 5), st.integers(-(10**15), 10**15))
def test_agrees_with_the_naive_tensor(queries, keys, clip, width, shift):
    q, k = rng.normal(size=(len(queries), width)), rng.normal(size=(len(keys), width))
    table = rng.normal(size=(2 * clip + 1, width))
    m, n = np.array(queries) + shift, np.array(keys) + shift
    scores = shaw_scores(q, k, table, m, n)
    assert scores == pytest.approx(naive_scores(q, k, table, queries, keys), abs=1e-12)
    weights = softmax(scores)
    assert shaw_values(weights, k, table, m, n) == pytest.approx(
        naive_values(weights, k, table, queries, keys), abs=1e-12
    )


@given(st.integers(1, 7), st.integers(0, 5), st.integers(0, 4))
def test_skewing_agrees_with_looking_up(queries, memory, clip):
    keys = queries + memory
    q, k = rng.normal(size=(queries, 3)), rng.normal(size=(keys, 3))
    table = rng.normal(size=(2 * clip + 1, 3))
    distance = np.arange(keys - 1, -queries, -1)
    by_distance = q @ table[np.clip(-distance, -clip, clip) + clip].T
    skewed = (q @ k.T + relative_shift(by_distance, keys=keys)) / np.sqrt(3)
    scores = shaw_scores(q, k, table, np.arange(memory, keys), np.arange(keys))
    assert skewed == pytest.approx(scores, abs=1e-13)


def test_memory_does_not_grow_with_queries_times_keys_times_width():
    length, width = 256, 128
    q, table = rng.normal(size=(length, width)), rng.normal(size=(9, width))
    at = np.arange(length)
    tensor = length * length * width * 8

    def peak(call):
        tracemalloc.start()
        call()
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    weights = np.full((length, length), 1 / length)
    assert peak(lambda: naive_scores(q, q, table, at, at)) > tensor
    assert peak(lambda: shaw_scores(q, q, table, at, at)) < tensor / 10
    assert peak(lambda: shaw_values(weights, q, table, at, at)) < tensor / 10


def test_batch_axes_and_tables_of_their_own():
    q, k, v = rng.normal(size=(2, 3, 4, 5)), rng.normal(size=(2, 3, 6, 5)), rng.normal(size=(6, 2))
    shared, own = rng.normal(size=(7, 5)), rng.normal(size=(3, 7, 2))
    queries = np.array([[[2, 3, 4, 5]], [[9, 7, 5, 3]]])
    keys = np.array([[[0, 1, 2, 3, 4, 5]], [[4, 5, 6, 7, 8, 9]]])
    scores = shaw_scores(q, k, shared, queries, keys)
    weights = softmax(scores)
    output = shaw_values(weights, np.broadcast_to(v, (2, 1, 6, 2)), own, queries, keys)
    assert scores.shape == (2, 3, 4, 6)
    assert output.shape == (2, 3, 4, 2)
    for b, h in np.ndindex(2, 3):
        m, n = queries[b, 0], keys[b, 0]
        assert scores[b, h] == pytest.approx(naive_scores(q[b, h], k[b, h], shared, m, n))
        assert output[b, h] == pytest.approx(naive_values(weights[b, h], v, own[h], m, n))


def test_positions_of_a_batch_may_be_finer_than_queries():
    """One query vector for all, keys of two sequences with positions of their own."""
    q, k = rng.normal(size=(1, 2)), rng.normal(size=(2, 3, 2))
    keys = np.array([[0, 1, 2], [5, 4, 3]])
    scores = shaw_scores(q, k, KEY_TABLE, [1], keys)
    for b in range(2):
        assert scores[b] == pytest.approx(naive_scores(q, k[b], KEY_TABLE, [1], keys[b]))


@pytest.mark.parametrize("cached", [0, 1, 4])
def test_decoding_behind_a_cache_gives_the_rows_of_the_whole(cached):
    q, k, table = (rng.normal(size=(n, 2)) for n in (5, 5, 5))
    at = np.arange(5)
    whole = shaw_scores(q, k, table, at, at)
    step = shaw_scores(q[cached:], k, table, at[cached:], at)
    assert step == pytest.approx(whole[cached:], abs=1e-14)
    weights = softmax(whole)
    assert shaw_values(weights[cached:], k, table, at[cached:], at) == pytest.approx(
        shaw_values(weights, k, table, at, at)[cached:], abs=1e-14
    )


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, ml_dtypes.bfloat16])
def test_dtype_of_the_input_is_kept_and_rounded_once(dtype):
    q, k, table = (rng.normal(size=(n, 8)).astype(dtype) for n in (4, 6, 5))
    m, n = np.arange(2, 6), np.arange(6)
    scores = shaw_scores(q, k, table, m, n)
    exact = naive_scores(*(x.astype(float) for x in (q, k, table)), m, n)
    assert scores.dtype == dtype
    eps = float(ml_dtypes.finfo(dtype).eps)
    # Half a unit for the rounding at the end; float32 sums of 8 products are far below it.
    bound = 0.51 * eps * abs(exact) + 1e-6 if eps > 1e-4 else 32 * eps * abs(exact).max()
    assert (abs(scores.astype(float) - exact) <= bound).all()
    weights = softmax(exact).astype(dtype)
    output = shaw_values(weights, k, table, m, n)
    expected = naive_values(*(x.astype(float) for x in (weights, k, table)), m, n)
    assert output.dtype == dtype
    bound = 0.51 * eps * abs(expected) + 1e-6 if eps > 1e-4 else 32 * eps * abs(expected).max()
    assert (abs(output.astype(float) - expected) <= bound).all()


def test_integers_become_float64_and_empty_lengths_stay():
    assert shaw_scores([[1, 2]], [[3, 4]], [[1, 1]], [0], [0], scale=1).tolist() == [[14.0]]
    none = np.empty(0, int)
    assert shaw_scores(np.empty((2, 0, 3)), X @ np.ones((2, 3)), np.ones((3, 3)), none,
                       THREE).shape == (2, 0, 3)  # fmt: skip
    assert shaw_scores(X, np.empty((0, 2)), KEY_TABLE, THREE, none).shape == (3, 0)
    assert shaw_values(np.empty((0, 3)), X, VALUE_TABLE, none, THREE).shape == (0, 2)
    assert shaw_values(np.empty((3, 0)), X[:0], VALUE_TABLE, THREE, none).tolist() == [[0, 0]] * 3


def test_shift_drops_the_first_numbers_and_fills_the_triangle():
    """Entries are 10 * row + distance; dropping the last row instead moves every row."""
    x = 10 * np.arange(3)[:, None] + np.array([2, 1, 0])
    assert relative_shift(x, fill=-1).tolist() == [[0, -1, -1], [11, 10, -1], [22, 21, 20]]
    assert relative_shift(x)[0].tolist() == [0, -np.inf, -np.inf]


@given(st.integers(0, 6), st.integers(0, 6), st.data())
def test_shift_agrees_with_indexing(queries, memory, data):
    keys = max(queries + memory, 1)
    memory = keys - queries
    distances = data.draw(st.integers(1, keys + max(queries, 1) - 1))
    x = rng.normal(size=(2, queries, distances))
    moved = relative_shift(x, keys=keys, fill=7)
    assert moved.shape == (2, queries, keys)
    for i, j in np.ndindex(queries, keys):
        column = keys - 1 - (i + memory - j)
        expected = x[:, i, column] if column < distances else [7, 7]
        assert moved[:, i, j].tolist() == list(expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16])
def test_shift_keeps_the_dtype(dtype):
    moved = relative_shift(np.ones((2, 2), dtype))
    assert moved.dtype == dtype
    assert moved.tolist() == [[1, -np.inf], [1, 1]]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: shaw_index(THREE, THREE, -1), ValueError, "clip must be at least 0, got -1"),
        (lambda: shaw_index(THREE, THREE, 1.0), TypeError, "clip must be an integer, got 1.0"),
        (
            lambda: shaw_index([0.0], THREE, 1),
            TypeError,
            "queries must hold integers, got dtype fl",
        ),
        (
            lambda: shaw_index(THREE, [True], 1),
            TypeError,
            "keys must hold integers, got dtype bool",
        ),
        (lambda: shaw_index(THREE, 1, 1), ValueError, "keys must have shape"),
        (lambda: shaw_index([2**62], THREE, 1), ValueError, "queries must lie strictly between"),
        (lambda: shaw_index([2**63], THREE, 1), ValueError, "queries must fit in 64 bits"),
        (
            lambda: shaw_scores([1.0], X, KEY_TABLE, [0], THREE),
            ValueError,
            r"q must have shape \(..., queries, width\), got \(1,\)",
        ),
        (
            lambda: shaw_scores(np.ones((2, 0)), X, KEY_TABLE, [0, 1], THREE),
            ValueError,
            r"q must have shape .* got \(2, 0\)",
        ),
        (
            lambda: shaw_scores(X, X[:, :1], KEY_TABLE, THREE, THREE),
            ValueError,
            "k must have the w",
        ),
        (
            lambda: shaw_scores(X, X, KEY_TABLE[:, :1], THREE, THREE),
            ValueError,
            r"table must have the width of q, 2, got shape \(3, 1\)",
        ),
        (
            lambda: shaw_scores(X, X, KEY_TABLE[:2], THREE, THREE),
            ValueError,
            r"table must have an odd number of rows.* got shape \(2, 2\)",
        ),
        (
            lambda: shaw_scores(X, X, KEY_TABLE[:0], THREE, THREE),
            ValueError,
            "table must have an o",
        ),
        (
            lambda: shaw_scores(X, X, KEY_TABLE[0], THREE, THREE),
            ValueError,
            "table must have shape",
        ),
        (lambda: shaw_scores(X * 1j, X, KEY_TABLE, THREE, THREE), TypeError, "q must hold real"),
        (lambda: shaw_scores(X, "k", KEY_TABLE, THREE, THREE), TypeError, "k must hold real"),
        (lambda: shaw_scores(X, X, KEY_TABLE > 0, THREE, THREE), TypeError, "table must hold real"),
        (
            lambda: shaw_scores([[1], [1, 2]], X, KEY_TABLE, [0], THREE),
            ValueError,
            "q must be a reg",
        ),
        (
            lambda: shaw_scores(X, X, KEY_TABLE, [0, 1], THREE),
            ValueError,
            r"queries must hold 3 positions, one for each row of q, got shape \(2,\)",
        ),
        (
            lambda: shaw_scores(X, X, KEY_TABLE, THREE, [0]),
            ValueError,
            r"keys must hold 3 positions, one for each row of k, got shape \(1,\)",
        ),
        (
            lambda: shaw_scores(X, X, KEY_TABLE, [THREE, THREE], THREE),
            ValueError,
            r"queries must broadcast against q.shape\[:-1\] = \(3,\), got shape \(2, 3\)",
        ),
        (
            lambda: shaw_scores(X, X, KEY_TABLE, [0, 1, np.nan], THREE),
            TypeError,
            "queries must hold",
        ),
        (
            lambda: shaw_scores(np.ones((2, 3, 2)), np.ones((5, 3, 2)), KEY_TABLE, THREE, THREE),
            ValueError,
            r"batch axes of q, k, table must broadcast, got \(2,\), \(5,\), \(\)",
        ),
        (
            lambda: shaw_scores(X, X, KEY_TABLE, THREE, THREE, scale=np.nan),
            ValueError,
            "scale must be finite, got nan",
        ),
        (
            lambda: shaw_scores(X, X, KEY_TABLE, THREE, THREE, scale=[1.0, 2]),
            ValueError,
            r"scale must be one number, got \[1.0, 2\]",
        ),
        (
            lambda: shaw_values(np.ones((3, 2)), X, VALUE_TABLE, THREE, THREE),
            ValueError,
            r"weights must have shape \(..., queries, 3\).* got \(3, 2\)",
        ),
        (
            lambda: shaw_values(np.ones(3), X, VALUE_TABLE, [0], THREE),
            ValueError,
            "weights must have",
        ),
        (
            lambda: shaw_values(X @ X.T > 0, X, VALUE_TABLE, THREE, THREE),
            TypeError,
            "weights must ho",
        ),
        (
            lambda: shaw_values(X @ X.T, X[0], VALUE_TABLE, THREE, THREE),
            ValueError,
            "v must have sha",
        ),
        (
            lambda: shaw_values(X @ X.T, X, np.ones((3, 3)), THREE, THREE),
            ValueError,
            "table must have the width of v, 2",
        ),
        (
            lambda: shaw_values(X @ X.T, X, VALUE_TABLE, [0], THREE),
            ValueError,
            "queries must hold 3 positions, one for each row of weights",
        ),
        (
            lambda: shaw_values(X @ X.T, X, VALUE_TABLE, THREE, [0]),
            ValueError,
            "keys must hold 3 positions, one for each row of v",
        ),
        (lambda: relative_shift([1.0]), ValueError, r"x must have shape .* got \(1,\)"),
        (lambda: relative_shift(np.ones((2, 0))), ValueError, r"x must have shape .* got \(2, 0\)"),
        (lambda: relative_shift([[1j]]), TypeError, "x must hold real numbers"),
        (
            lambda: relative_shift(np.ones((3, 2))),
            ValueError,
            "x must not have more queries than keys, got 3 and 2",
        ),
        (
            lambda: relative_shift(np.ones((2, 5)), keys=3),
            ValueError,
            "x must hold at most 4 distances for 2 queries and 3 keys, got 5",
        ),
        (lambda: relative_shift(np.ones((2, 5)), keys=5.0), TypeError, "keys must be an integer"),
    ],
)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()
