"""DeBERTa's index, buckets and three-term score, as printed and as released."""

from decimal import Decimal, localcontext

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posenc.bias import deberta_bucket, deberta_index, deberta_scores

Q, K = np.array([[1.0, 0], [0, 1]]), np.array([[1.0, 1], [2, -1]])
# Rows of the tables for k = 2.
POSITION_Q = np.array([[0.1, 0], [0.2, 0.1], [0.3, 0.2], [0.4, 0.3]])
POSITION_K = np.array([[0, 0.1], [0.1, 0.2], [0.2, 0.3], [0.3, 0.4]])
TWO = np.arange(2)
rng = np.random.default_rng(19)


def delta(i, j, k):
    if i - j <= -k:
        return 0
    return 2 * k - 1 if i - j >= k else i - j + k


def naive(q, k, position_q, position_k, queries, keys, variant):
    span = len(position_q) // 2
    scores = np.empty((len(q), len(k)))
    for i, j in np.ndindex(scores.shape):
        m, n = int(queries[i]), int(keys[j])
        row = delta(m, n, span) if variant == "released" else delta(n, m, span)
        scores[i, j] = q[i] @ k[j] + q[i] @ position_k[delta(m, n, span)] + k[j] @ position_q[row]
    return scores / np.sqrt(3 * q.shape[-1])


def test_index_of_four_tokens():
    expected = [[2, 1, 0, 0], [3, 2, 1, 0], [3, 3, 2, 1], [3, 3, 3, 2]]
    assert deberta_index(range(4), range(4), 2).tolist() == expected
    assert deberta_index([-100, 100], [0], 3).ravel().tolist() == [0, 5]


def test_index_has_the_query_first():
    """Negating it, as half of a published gather does, is right on the diagonal alone."""
    assert deberta_index([2], [0], 4).tolist() == [[6]]
    assert deberta_index([0], [2], 4).tolist() == [[2]]
    far = 2**62 - 1
    assert deberta_index([far], [-far], 4).tolist() == [[7]]
    assert deberta_index([-far], [far], 4).tolist() == [[0]]


def test_worked_example_of_both_variants():
    released = deberta_scores(Q, K, POSITION_Q, POSITION_K, TWO, TWO)
    assert released == pytest.approx(
        np.array(
            [[0.6940220937885672, 0.9797958971132714], [0.8573214099741122, -0.12247448713915891]]
        ),
        rel=1e-14,
    )
    paper = deberta_scores(Q, K, POSITION_Q, POSITION_K, TWO, TWO, variant="paper")
    assert paper == pytest.approx(
        np.array(
            [[0.6940220937885672, 1.061445555206044], [0.6940220937885672, -0.12247448713915891]]
        ),
        rel=1e-14,
    )


positions = st.lists(st.integers(-12, 12), max_size=5)


@given(positions, positions, st.integers(1, 6), st.integers(1, 4), st.integers(-(10**15), 10**15),
       st.sampled_from(["released", "paper"]))  # fmt: skip
def test_agrees_with_the_formula(queries, keys, span, width, shift, variant):
    m, n = np.array(queries, int), np.array(keys, int)
    q, k = rng.normal(size=(len(m), width)), rng.normal(size=(len(n), width))
    pq, pk = rng.normal(size=(2, 2 * span, width))
    scores = deberta_scores(q, k, pq, pk, m + shift, n + shift, variant=variant)
    assert scores.shape == (len(m), len(n))
    assert scores == pytest.approx(naive(q, k, pq, pk, m, n, variant), abs=1e-12)


def test_scale_counts_the_terms():
    zero = np.zeros((1, 2))
    content = deberta_scores(Q, K, None, np.zeros((4, 2)), TWO, TWO)
    assert content == pytest.approx(Q @ K.T / np.sqrt(4), rel=1e-15)
    only_k = deberta_scores(Q, zero, None, POSITION_K, TWO, [0])
    assert only_k.tolist() == pytest.approx(np.array([[0.2], [0.4]]) / 2)
    only_q = deberta_scores(zero, K, POSITION_Q, None, [0], TWO)
    assert only_q == pytest.approx(np.array([[0.5, 2 * 0.2 - 0.1]]) / 2)
    paper = deberta_scores(zero, K, POSITION_Q, None, [0], TWO, variant="paper", scale=1)
    assert paper == pytest.approx(np.array([[0.5, 2 * 0.4 - 0.3]]))


def test_batch_axes_and_positions_of_their_own():
    q, k = rng.normal(size=(2, 3, 4, 5)), rng.normal(size=(2, 3, 6, 5))
    pq, pk = rng.normal(size=(3, 8, 5)), rng.normal(size=(8, 5))
    queries, keys = np.array([[[2, 3, 4, 5]], [[9, 7, 5, 3]]]), np.arange(6)
    for variant in ("released", "paper"):
        scores = deberta_scores(q, k, pq, pk, queries, keys, variant=variant)
        for b, h in np.ndindex(2, 3):
            expected = naive(q[b, h], k[b, h], pq[h], pk, queries[b, 0], keys, variant)
            assert scores[b, h] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, ml_dtypes.bfloat16])
def test_dtype_of_the_input_is_kept_and_rounded_once(dtype):
    q, k = (rng.normal(size=(n, 8)).astype(dtype) for n in (3, 5))
    pq, pk = rng.normal(size=(2, 6, 8)).astype(dtype)
    scores = deberta_scores(q, k, pq, pk, range(3), range(5))
    exact = naive(*(x.astype(float) for x in (q, k, pq, pk)), range(3), range(5), "released")
    assert scores.dtype == dtype
    eps = float(ml_dtypes.finfo(dtype).eps)
    bound = 0.51 * eps * abs(exact) + 1e-6 if eps > 1e-4 else 32 * eps * abs(exact).max()
    assert (abs(scores.astype(float) - exact) <= bound).all()


def test_bucket_worked_example():
    offsets = [0, 1, 127, 128, 129, 130, 150, 200, 255, 256, 300, 400, 500, 510, 511]
    buckets = [0, 1, 127, 128, 129, 130, 143, 169, 192, 192, 207, 233, 254, 255, 255]
    assert deberta_bucket(offsets).tolist() == buckets
    assert deberta_bucket(np.negative(offsets)).tolist() == np.negative(buckets).tolist()


def by_decimal(x, half, furthest):
    """The formula with fifty digits; see the like function of the tests of T5."""
    if x <= half:
        return x
    with localcontext(prec=50):
        ratio = (Decimal(x) / half).ln() / (Decimal(furthest - 1) / half).ln() * (half - 1)
        up = int((ratio - Decimal("1e-40")).to_integral_value("ROUND_CEILING"))
        return min(2 * half, half + up)


@pytest.mark.parametrize(
    ("buckets", "furthest"), [(256, 512), (4, 4), (4, 100), (8, 33), (32, 128), (64, 4097)]
)
def test_every_bucket_by_fifty_digits(buckets, furthest):
    x = list(range(furthest + 3))
    expected = [by_decimal(n, buckets // 2, furthest) for n in x]
    assert deberta_bucket(x, buckets=buckets, max_distance=furthest).tolist() == expected
    # The last distance within reach has the last bucket but one, as it has in the formula.
    assert expected[furthest - 1 : furthest + 1] == [buckets - 1, buckets]


def test_bucket_of_the_whole_range_of_int64():
    ends = np.array([np.iinfo(np.int64).min, np.iinfo(np.int64).max])
    assert deberta_bucket(ends).tolist() == [-256, 256]
    assert deberta_bucket(5).shape == ()


def test_scores_with_logarithmic_buckets():
    """A table of 2 * 8 rows reaches as far as max_distance."""
    q, k, pq, pk = (rng.normal(size=(n, 3)) for n in (2, 6, 16, 16))
    queries, keys = np.array([0, 30]), np.array([0, 3, 7, 29, 45, 90])
    for variant in ("released", "paper"):
        scores = deberta_scores(q, k, pq, pk, queries, keys, variant=variant, max_distance=40)
        for i, j in np.ndindex(2, 6):
            apart = int(queries[i] - keys[j])
            bucket = by_decimal(abs(apart), 4, 40) * (1 if apart > 0 else -1)
            row = min(max(bucket + 8, 0), 15)
            assert deberta_index(queries, keys, 8, max_distance=40)[i, j] == row
            other = row if variant == "released" else min(max(-bucket + 8, 0), 15)
            expected = (q[i] @ k[j] + q[i] @ pk[row] + k[j] @ pq[other]) / 3
            assert scores[i, j] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: deberta_index([0], [0], 0), ValueError, "span must be at least 1, got 0"),
        (lambda: deberta_index([0], [0], 2.0), TypeError, "span must be an integer, got 2.0"),
        (lambda: deberta_index([0.0], [0], 2), TypeError, "queries must hold integers"),
        (lambda: deberta_index([0], [np.nan], 2), TypeError, "keys must hold integers"),
        (lambda: deberta_index([2**62], [0], 2), ValueError, "queries must lie strictly between"),
        (lambda: deberta_bucket([1.5]), TypeError, "offset must hold integers, got dtype float64"),
        (lambda: deberta_bucket("1"), TypeError, "offset must hold integers"),
        (lambda: deberta_bucket(True), TypeError, "offset must hold integers, got dtype bool"),
        (lambda: deberta_bucket([2**63]), ValueError, "offset must fit in 64 bits"),
        (lambda: deberta_bucket(1, buckets=2), ValueError, "buckets must be at least 4, got 2"),
        (lambda: deberta_bucket(1, buckets=7), ValueError, "buckets must be even, got 7"),
        (
            lambda: deberta_bucket(1, max_distance=129),
            ValueError,
            "max_distance must be at least 130, got 129",
        ),
        (lambda: deberta_bucket(1, max_distance=2**62), ValueError, "max_distance must be below"),
        (lambda: deberta_bucket(1, max_distance=1e3), TypeError, "max_distance must be an integer"),
        (
            lambda: deberta_scores(Q, K, POSITION_Q, POSITION_K, TWO, TWO, variant="code"),
            ValueError,
            'variant must be "released" or "paper", got \'code\'',
        ),
        (
            lambda: deberta_scores(Q, K, None, None, TWO, TWO),
            ValueError,
            "position_q or position_k must be given, got None for both",
        ),
        (
            lambda: deberta_scores(Q, K, POSITION_Q[:2], POSITION_K, TWO, TWO),
            ValueError,
            r"position_q and position_k must have as many rows, got \[2, 4\]",
        ),
        (
            lambda: deberta_scores(Q, K, POSITION_Q[:3], None, TWO, TWO),
            ValueError,
            r"position_q must have a positive even number of rows, got \(3, 2\)",
        ),
        (
            lambda: deberta_scores(Q, K, None, POSITION_K[:0], TWO, TWO),
            ValueError,
            "position_k must",
        ),
        (
            lambda: deberta_scores(Q, K, None, POSITION_K[:, :1], TWO, TWO),
            ValueError,
            "position_k must have the width of q, 2",
        ),
        (
            lambda: deberta_scores(Q, K[:, :1], POSITION_Q, None, TWO, TWO),
            ValueError,
            "k must have",
        ),
        (lambda: deberta_scores(Q[0], K, POSITION_Q, None, [0], TWO), ValueError, "q must have sh"),
        (lambda: deberta_scores(Q * 1j, K, POSITION_Q, None, TWO, TWO), TypeError, "q must hold"),
        (lambda: deberta_scores(Q, K, "p", None, TWO, TWO), TypeError, "position_q must hold real"),
        (
            lambda: deberta_scores(Q, K, POSITION_Q, None, [0], TWO),
            ValueError,
            r"queries must hold 2 positions, one for each row of q, got shape \(1,\)",
        ),
        (
            lambda: deberta_scores(Q, K, POSITION_Q, None, TWO, [0.0, 1]),
            TypeError,
            "keys must hold",
        ),
        (
            lambda: deberta_scores(np.ones((2, 2, 2)), K, np.ones((3, 4, 2)), None, TWO, TWO),
            ValueError,
            r"batch axes of q, k, position_q must broadcast, got \(2,\), \(\), \(3,\)",
        ),
        (
            lambda: deberta_scores(Q, K, POSITION_Q, None, TWO, TWO, scale="1"),
            TypeError,
            "scale must hold real numbers",
        ),
        (
            lambda: deberta_scores(Q, K, POSITION_Q, None, TWO, TWO, max_distance=9),
            ValueError,
            "buckets must be at least 4, got 2",
        ),
    ],
)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()
