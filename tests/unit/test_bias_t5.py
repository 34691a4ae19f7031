"""T5's buckets against integers, decimals of fifty digits and the logarithms of released code."""

import math
from decimal import Decimal, localcontext

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posenc.attention import attention
from posenc.bias import t5_bias, t5_bucket, t5_bucket_starts

BIDIRECTIONAL_STARTS = [0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 23, 32, 46, 64, 91]
CAUSAL_STARTS = [*range(17), 19, 21, 24, 27, 31, 35, 40, 46, 52, 59, 67, 77, 87, 99, 113]
# (buckets, bidirectional, max_distance)
RELEASED = [
    (buckets, side, distance)
    for buckets, distance in ((32, 128), (32, 256), (64, 256), (64, 512), (320, 800), (32, 1024))
    for side in (True, False)
]
UNUSUAL = [(36, False, 32), (19, False, 16), (9, False, 128), (2, False, 2), (4, True, 2)]
rng = np.random.default_rng(5)


def by_power(x, side, furthest):
    """The bucket of one distance, from the powers that the logarithms compare."""
    exact = side // 2
    if x < exact:
        return x
    steps = side - exact
    left, right = x**steps, exact**steps
    reached = [j for j in range(steps + 1) if left * exact**j >= furthest**j * right]
    return min(side - 1, exact + max(reached))


def by_decimal(x, side, furthest):
    """The bucket of one distance, from logarithms of fifty digits.

    A bucket that starts at a whole distance makes the quotient an integer, from which fifty
    digits leave an error far below 1e-40; no other quotient of these sizes comes as near.
    """
    exact = side // 2
    if x < exact:
        return x
    with localcontext(prec=50):
        ratio = (Decimal(x) / exact).ln() / (Decimal(furthest) / exact).ln() * (side - exact)
        return min(side - 1, exact + int(ratio + Decimal("1e-40")))


def by_logarithm(x, side, furthest, dtype):
    """The buckets of distances as released code has them, each operation rounded to `dtype`."""
    exact = side // 2
    ratio = (np.maximum(x, 1) / exact).astype(dtype)
    # The logarithm itself is rounded from float64: those of float32 differ between machines.
    logarithm = np.log(ratio.astype(np.float64)).astype(dtype)
    quotient = logarithm / np.asarray(math.log(furthest / exact), dtype)
    far = exact + (quotient * np.asarray(side - exact, dtype)).astype(np.int64)
    return np.where(x < exact, x, np.minimum(far, side - 1))


def bucket_of_distance(x, buckets, bidirectional, furthest):
    return t5_bucket(
        -np.asarray(x), bidirectional=bidirectional, buckets=buckets, max_distance=furthest
    )


def test_starts_of_the_default_buckets():
    assert t5_bucket_starts(bidirectional=True).tolist() == BIDIRECTIONAL_STARTS
    assert t5_bucket_starts(bidirectional=False).tolist() == CAUSAL_STARTS


def test_worked_example_bidirectional():
    far = [0, 1, 7, 8, 9, 11, 12, 15, 16, 22, 23, 31, 32, 45, 46, 63, 64, 90, 91, 127, 128, 1000]
    left = [0, 1, 7, 8, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13, 14, 14, 15, 15, 15, 15]
    assert t5_bucket(np.negative(far), bidirectional=True).tolist() == left
    assert t5_bucket(far, bidirectional=True).tolist() == [0] + [16 + b for b in left[1:]]


def test_worked_example_causal():
    far = [0, 1, 15, 16, 18, 19, 21, 24, 113, 128, 500]
    buckets = [0, 1, 15, 16, 16, 17, 18, 19, 31, 31, 31]
    assert t5_bucket(np.negative(far), bidirectional=False).tolist() == buckets
    assert t5_bucket([5, 1000], bidirectional=False).tolist() == [0, 0]


def test_known_mistakes_clamp_logarithm_and_sign():
    offsets = [-200, -128, -127, -64, -32, -16, -15, -8, -7, -1, 0, 1, 7, 8, 16, 64, 128]
    buckets = [15, 15, 15, 14, 12, 10, 9, 8, 7, 1, 0, 17, 23, 24, 26, 30, 31]
    assert t5_bucket(offsets, bidirectional=True).tolist() == buckets


def test_bucket_of_the_query_s_own_side_is_never_used():
    every = t5_bucket(np.arange(-500, 501), bidirectional=True)
    assert sorted(set(range(32)) - set(every.tolist())) == [16]
    assert set(t5_bucket(np.arange(-500, 501), bidirectional=False).tolist()) == set(range(32))


@pytest.mark.parametrize(("buckets", "bidirectional", "furthest"), RELEASED + UNUSUAL)
def test_every_boundary_by_powers_and_by_fifty_digits(buckets, bidirectional, furthest):
    side = buckets // 2 if bidirectional else buckets
    starts = t5_bucket_starts(bidirectional=bidirectional, buckets=buckets, max_distance=furthest)
    assert len(starts) == side
    near = sorted({max(0, x + d) for x in (*starts.tolist(), furthest) for d in (-1, 0, 1)})
    found = bucket_of_distance(near, buckets, bidirectional, furthest).tolist()
    assert found == [by_power(x, side, furthest) for x in near]
    assert found == [by_decimal(x, side, furthest) for x in near]
    # The distances just before a start belong to an earlier bucket, the start does not.
    for j in range(1, side):
        if starts[j] > starts[j - 1]:
            assert by_power(int(starts[j]) - 1, side, furthest) < j
            assert by_power(int(starts[j]), side, furthest) >= j


@given(st.integers(2, 24), st.integers(1, 60), st.integers(0, 500))
def test_any_setting_agrees_with_powers(side, more, x):
    furthest = side // 2 + more
    assert bucket_of_distance(x, side, False, furthest) == by_power(x, side, furthest)
    assert bucket_of_distance(x, 2 * side, True, furthest) == by_power(x, side, furthest)


@pytest.mark.parametrize(("buckets", "bidirectional", "furthest"), RELEASED)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_logarithms_agree_for_released_settings(buckets, bidirectional, furthest, dtype):
    side = buckets // 2 if bidirectional else buckets
    x = np.arange(3000)
    logarithmic = by_logarithm(x, side, furthest, dtype)
    assert bucket_of_distance(x, buckets, bidirectional, furthest).tolist() == logarithmic.tolist()


@pytest.mark.parametrize(
    ("buckets", "bidirectional", "furthest", "dtype", "differences"),
    [
        # (distance, exact bucket, bucket from rounded logarithms)
        (36, False, 32, np.float64, [(24, 27, 26)]),
        (72, True, 32, np.float64, [(24, 27, 26)]),
        (19, False, 16, np.float64, [(12, 14, 13)]),
        (9, False, 128, np.float64, [(8, 5, 4), (16, 6, 5), (64, 8, 7)]),
        (48, False, 81, np.float32, [(36, 32, 31), (54, 40, 39)]),
        (24, False, 10**6, np.float32, [(388_984, 22, 23)]),
        (32, True, 128, ml_dtypes.bfloat16, [(45, 12, 13), (90, 14, 15)]),
        (32, False, 128, ml_dtypes.bfloat16, [(76, 27, 28), (112, 30, 31)]),
    ],
)
def test_rounded_logarithms_miss_boundaries(buckets, bidirectional, furthest, dtype, differences):
    side = buckets // 2 if bidirectional else buckets
    starts = t5_bucket_starts(bidirectional=bidirectional, buckets=buckets, max_distance=furthest)
    x = np.unique(np.maximum(starts[:, None] + np.arange(-40, 41), 0))
    ours = bucket_of_distance(x, buckets, bidirectional, furthest)
    theirs = by_logarithm(x, side, furthest, dtype)
    off = ours != theirs
    found = zip(x[off].tolist(), ours[off].tolist(), theirs[off].tolist(), strict=True)
    assert list(found) == differences
    assert all(by_power(d, side, furthest) == bucket for d, bucket, _ in differences)


def test_starts_may_coincide_when_buckets_outnumber_distances():
    starts = t5_bucket_starts(bidirectional=False, buckets=8, max_distance=5)
    assert starts.tolist() == [0, 1, 2, 3, 4, 5, 5, 5]
    assert bucket_of_distance([4, 5, 9], 8, False, 5).tolist() == [4, 7, 7]


def test_the_whole_range_of_int64():
    ends = np.array([np.iinfo(np.int64).min, np.iinfo(np.int64).max])
    assert t5_bucket(ends, bidirectional=True).tolist() == [15, 31]
    assert t5_bucket(ends, bidirectional=False).tolist() == [31, 0]


def test_shape_and_dtype_of_buckets():
    assert t5_bucket(-3, bidirectional=True).shape == ()
    bucket = t5_bucket(np.array([[-128, 127]], np.int8), bidirectional=True)
    assert bucket.tolist() == [[15, 31]]
    assert bucket.dtype == np.int64
    assert t5_bucket(np.array([3, 200], np.uint8), bidirectional=True).tolist() == [19, 31]
    assert t5_bucket(np.empty((2, 0), int), bidirectional=False).shape == (2, 0)


@pytest.mark.parametrize("bidirectional", [True, False])
@pytest.mark.parametrize("heads", [3, 6, 8, 12, 16])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, ml_dtypes.bfloat16])
def test_bias_looks_up_the_table(bidirectional, heads, dtype):
    table = rng.normal(size=(32, heads)).astype(dtype)
    queries, keys = [[40, 41], [7, 3]], list(range(-60, 150, 11))
    side = 16 if bidirectional else 32
    bias = t5_bias(table, queries, keys, bidirectional=bidirectional)
    assert bias.dtype == dtype
    assert bias.shape == (2, heads, 2, len(keys))
    for b, i, j in np.ndindex(2, 2, len(keys)):
        offset = keys[j] - queries[b][i]
        row = by_power(abs(offset) if bidirectional else max(-offset, 0), side, 128)
        row += side * (bidirectional and offset > 0)
        assert (bias[b, :, i, j] == table[row]).all()


def test_bias_uses_the_buckets_of_the_table_and_max_distance():
    table = np.arange(8.0)[:, None]
    assert t5_bias(table, [20], [0], bidirectional=False, max_distance=21)[0, 0, 0] == 7
    assert t5_bias(table, [20], [0], bidirectional=False, max_distance=100)[0, 0, 0] == 6
    assert t5_bias(table, [0], [1, 15, 16], bidirectional=True)[0, 0].tolist() == [5, 6, 7]


@given(st.integers(0, 9), st.integers(-(10**12), 10**12), st.booleans())
def test_bias_behind_a_cache_and_under_a_common_shift(cached, shift, bidirectional):
    table = np.arange(64.0).reshape(32, 2)
    whole = t5_bias(table, range(9), range(9), bidirectional=bidirectional)
    step = t5_bias(
        table,
        np.arange(cached, 9) + shift,
        np.arange(9) + shift,
        bidirectional=bidirectional,
    )
    assert (step == whole[:, cached:]).all()


def test_encoder_decoder_attention_has_no_bias():
    """The causal rule would give max(i - j, 0) for lengths 5 and 7, not the zeros it has."""
    table = np.arange(32.0)[:, None]
    rule = t5_bias(table, range(5), range(7), bidirectional=False)[0]
    assert rule.tolist() == [[max(i - j, 0) for j in range(7)] for i in range(5)]
    q, k = rng.normal(size=(5, 4)), rng.normal(size=(7, 4))
    without, _ = attention(q, k, k)
    zeros, _ = attention(q, k, k, bias=np.zeros((5, 7)))
    wrong, _ = attention(q, k, k, bias=rule)
    assert (zeros == without).all()
    assert abs(wrong - without).max() > 0.1


TABLE = np.zeros((32, 2))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: t5_bucket([1.0], bidirectional=True),
            TypeError,
            "relative_position must hold integers, got dtype float64",
        ),
        (lambda: t5_bucket([np.nan], bidirectional=True), TypeError, "must hold integers"),
        (lambda: t5_bucket([], bidirectional=True), TypeError, "must hold integers"),
        (lambda: t5_bucket([True], bidirectional=True), TypeError, "got dtype bool"),
        (lambda: t5_bucket("1", bidirectional=True), TypeError, "must hold integers"),
        (lambda: t5_bucket([1j], bidirectional=True), TypeError, "got dtype complex128"),
        (
            lambda: t5_bucket([[1], [2, 3]], bidirectional=True),
            ValueError,
            "relative_position must be a regular array of integers",
        ),
        (
            lambda: t5_bucket([2**63], bidirectional=True),
            ValueError,
            "relative_position must fit in 64 bits with a sign, got 9223372036854775808",
        ),
        (lambda: t5_bucket([2**64], bidirectional=True), TypeError, "must hold integers"),
        (
            lambda: t5_bucket(1, bidirectional=True, buckets=33),
            ValueError,
            "buckets must be even if bidirectional, got 33",
        ),
        (
            lambda: t5_bucket(1, bidirectional=True, buckets=2),
            ValueError,
            "buckets must be at least 4, got 2",
        ),
        (
            lambda: t5_bucket(1, bidirectional=False, buckets=1),
            ValueError,
            "buckets must be at least 2, got 1",
        ),
        (lambda: t5_bucket(1, bidirectional=False, buckets=2.0), TypeError, "buckets must be an"),
        (
            lambda: t5_bucket(1, bidirectional=True, max_distance=8),
            ValueError,
            "max_distance must be at least 9, got 8",
        ),
        (
            lambda: t5_bucket(1, bidirectional=False, max_distance=16),
            ValueError,
            "max_distance must be at least 17, got 16",
        ),
        (
            lambda: t5_bucket(1, bidirectional=False, max_distance=2**62),
            ValueError,
            r"max_distance must be below 2\*\*62",
        ),
        (
            lambda: t5_bucket(1, bidirectional=False, max_distance=np.inf),
            TypeError,
            "max_distance must be an integer, got inf",
        ),
        (lambda: t5_bucket_starts(bidirectional=True, buckets=5), ValueError, "buckets must be ev"),
        (
            lambda: t5_bias(np.zeros(32), [0], [0], bidirectional=True),
            ValueError,
            r"table must have shape \(buckets, heads\), got \(32,\)",
        ),
        (lambda: t5_bias(TABLE * 1j, [0], [0], bidirectional=True), TypeError, "table must hold"),
        (lambda: t5_bias(TABLE[:3], [0], [0], bidirectional=True), ValueError, "buckets must be"),
        (lambda: t5_bias(TABLE[:0], [0], [0], bidirectional=True), ValueError, "buckets must be"),
        (lambda: t5_bias(TABLE, [0.5], [0], bidirectional=True), TypeError, "queries must hold"),
        (lambda: t5_bias(TABLE, [0], [np.nan], bidirectional=True), TypeError, "keys must hold"),
        (lambda: t5_bias(TABLE, 0, [0], bidirectional=True), ValueError, "queries must have shape"),
        (
            lambda: t5_bias(TABLE, [0], [2**62], bidirectional=True),
            ValueError,
            "keys must lie strictly between",
        ),
        (
            lambda: t5_bias(TABLE, [[0], [1]], np.zeros((3, 2), int), bidirectional=True),
            ValueError,
            "queries and keys must have batch axes that broadcast",
        ),
    ],
)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()
