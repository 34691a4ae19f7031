"""ALiBi and its kin KERPLE: slopes, distances and the forms that softmax cannot tell apart."""

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posenc.attention import attention, causal_mask, softmax
from posenc.bias import alibi_bias, alibi_key_bias, alibi_slopes, kerple_bias

EIGHT = [2.0**-h for h in range(1, 9)]
FOUR_OF_SIXTEEN = [0.7071067811865476, 0.35355339059327384, 0.17677669529663695, 0.0883883476483184]
rng = np.random.default_rng(11)


@pytest.mark.parametrize(
    ("heads", "expected"),
    [
        (1, [2.0**-8]),
        (2, [2.0**-4, 2.0**-8]),
        (3, [0.0625, 0.00390625, 0.25]),
        (4, [0.25, 0.0625, 0.015625, 0.00390625]),
        (6, [0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125]),
        (8, EIGHT),
        (12, EIGHT + FOUR_OF_SIXTEEN),
        (16, [2.0 ** (-h / 2) for h in range(1, 17)]),
    ],
)
def test_slopes_of_the_released_code(heads, expected):
    assert alibi_slopes(heads) == pytest.approx(expected, rel=1e-15)


def test_slopes_of_the_paper_are_geometric():
    assert alibi_slopes(12, "paper") == pytest.approx(
        [
            0.6299605249,
            0.396850263,
            0.25,
            0.1574901312,
            0.09921256575,
            0.0625,
            0.03937253281,
            0.02480314144,
            0.015625,
            0.009843133202,
            0.006200785359,
            0.00390625,
        ],
        rel=1e-9,
    )


@pytest.mark.parametrize("heads", [1, 2, 4, 8, 16, 32, 64, 128])
def test_variants_agree_on_powers_of_two(heads):
    assert alibi_slopes(heads, "paper").tolist() == alibi_slopes(heads, "released").tolist()


@pytest.mark.parametrize("heads", [3, 5, 6, 7, 9, 12, 25, 40])
def test_variants_differ_elsewhere(heads):
    paper, released = alibi_slopes(heads, "paper"), alibi_slopes(heads)
    assert abs(paper - released).max() > 0.05
    assert (np.diff(paper) < 0).all()
    # The slopes rise once, where those of twice as many heads begin.
    below = 2 ** int(np.log2(heads))
    assert np.flatnonzero(np.diff(released) > 0).tolist() == [below - 1]


@given(st.integers(1, 300))
def test_slopes_as_the_strided_list_of_other_code(heads):
    """The same list from the next power of two: its odd places first, then its even ones."""
    above = 1 << (heads - 1).bit_length()
    slopes = 2.0 ** (-8 * np.arange(1, above + 1) / above)
    strided = slopes if above == heads else np.concatenate([slopes[1::2], slopes[::2]])[:heads]
    assert alibi_slopes(heads) == pytest.approx(strided, rel=1e-14)


def test_first_slope_is_not_one():
    """With exponents counted from 0 the slopes are twice as large."""
    assert alibi_slopes(8)[0] == 0.5
    penalty = alibi_bias(alibi_slopes(8), [10], [0])[:, 0, 0]
    assert penalty[[0, 7]].tolist() == [-5, -0.0390625]
    assert np.exp(penalty[[0, 7]]) == pytest.approx([0.00673794699909, 0.961690601605], rel=1e-12)


def test_largest_exponent():
    assert alibi_slopes(4, max_exponent=4).tolist() == [0.5, 0.25, 0.125, 0.0625]
    assert alibi_slopes(3, max_exponent=4).tolist() == [0.25, 0.0625, 0.5]


def test_slopes_rounded_to_bfloat16():
    rounded = alibi_slopes(12).astype(ml_dtypes.bfloat16)
    assert rounded[8:].astype(float) == pytest.approx(
        [0.70703125, 0.353515625, 0.1767578125, 0.0883789062], rel=1e-9
    )


def test_rows_of_the_causal_bias():
    inf = np.inf
    assert alibi_bias([0.5, 0.25], range(4), range(4)).tolist() == [
        [[0, -inf, -inf, -inf], [-0.5, 0, -inf, -inf], [-1, -0.5, 0, -inf], [-1.5, -1, -0.5, 0]],
        [
            [0, -inf, -inf, -inf],
            [-0.25, 0, -inf, -inf],
            [-0.5, -0.25, 0, -inf],
            [-0.75, -0.5, -0.25, 0],
        ],
    ]


def test_rows_of_the_symmetric_bias():
    assert alibi_bias([0.5], range(3), range(3), symmetric=True)[0].tolist() == [
        [0, -0.5, -1],
        [-0.5, 0, -0.5],
        [-1, -0.5, 0],
    ]


def test_no_minus_zero():
    assert not np.signbit(np.diagonal(alibi_bias([0.5], range(3), range(3))[0])).any()
    assert not np.signbit(kerple_bias([0.5], [1], [3], [3])).any()


@given(
    st.integers(1, 9),
    st.lists(st.integers(-(10**9), 10**9), max_size=4),
    st.lists(st.integers(-(10**9), 10**9), max_size=5),
    st.booleans(),
    st.sampled_from([np.float64, np.float32, np.float16, ml_dtypes.bfloat16]),
)
def test_bias_agrees_with_the_loop(heads, queries, keys, symmetric, dtype):
    slopes = alibi_slopes(heads).astype(dtype)
    places, others = np.array(queries, np.int32), np.array(keys, np.int64)
    bias = alibi_bias(slopes, places, others, symmetric=symmetric)
    assert bias.shape == (heads, len(queries), len(keys))
    assert bias.dtype == dtype
    for h, slope in enumerate(slopes):
        for i, m in enumerate(queries):
            for j, n in enumerate(keys):
                exact = -float(slope) * abs(n - m)
                with np.errstate(over="ignore"):
                    expected = np.float64(exact).astype(dtype)
                if n > m and not symmetric:
                    expected = -np.inf
                assert bias[h, i, j] == expected


def test_batch_axes_stand_before_the_heads():
    queries, keys = np.array([[3, 4], [10, 11]]), np.array([[0, 1, 2, 3, 4], [7, 8, 9, 10, 11]])
    bias = alibi_bias([0.5, 0.25, 2], queries, keys)
    assert bias.shape == (2, 3, 2, 5)
    assert bias[1, 2].tolist() == [[-6, -4, -2, 0, -np.inf], [-8, -6, -4, -2, 0]]
    assert alibi_key_bias([0.5, 0.25, 2], keys).shape == (2, 3, 1, 5)
    assert kerple_bias([1, 2], [1, 2], queries, keys).shape == (2, 2, 2, 5)


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("cached", [0, 1, 5])
def test_decoding_behind_a_cache_gives_the_rows_of_the_whole(cached, symmetric):
    slopes = alibi_slopes(6)
    whole = alibi_bias(slopes, range(8), range(8), symmetric=symmetric)
    step = alibi_bias(slopes, range(cached, 8), range(8), symmetric=symmetric)
    assert step.tolist() == whole[:, cached:].tolist()
    restarted = alibi_bias(slopes, range(8 - cached), range(8), symmetric=symmetric)
    assert cached == 0 or restarted.tolist() != whole[:, cached:].tolist()


def test_neighbours_stay_apart_at_very_large_positions():
    last = 2**62 - 1
    assert alibi_bias([1.0], [last], [last - 3, last - 1, last])[0, 0].tolist() == [-3, -1, 0]
    assert alibi_bias([1.0], [-last], [-last - 0, -last + 1])[0, 0].tolist() == [0, -np.inf]
    assert alibi_bias([1.0], [last], [-last])[0, 0, 0] == -(2.0**63)
    unsigned = np.array([3], np.uint8), np.array([5, 1], np.uint8)
    assert alibi_bias([1.0], *unsigned, symmetric=True)[0, 0].tolist() == [-2, -2]


def test_fractional_positions_are_allowed():
    assert alibi_bias([2.0], [1.5], [0.25, 1.5])[0, 0].tolist() == [-2.5, 0]
    assert alibi_bias([2.0], [3], [0.5])[0, 0].tolist() == [-5]


def test_penalty_beyond_float16_is_minus_infinity():
    assert alibi_bias(np.array([0.5], np.float16), [200_000], [0, 200_000])[0, 0].tolist() == [
        -np.inf,
        0,
    ]


def test_distance_and_key_form_give_the_same_weights():
    scores = np.array([0.2, 1, -0.5, 0.3])
    expected = [0.09113952560339714, 0.3344179575849439, 0.12302549135404427, 0.4514170254576148]
    for bias in (alibi_bias([0.5], [3], range(4)), alibi_key_bias([0.5], range(4))):
        assert softmax(scores + bias[0, 0]) == pytest.approx(expected, rel=1e-14)
    zeros = np.zeros(3)
    right = [0.1863237232, 0.3071958857, 0.5064803911]
    assert softmax(zeros + alibi_bias([0.5], [2], range(3))[0, 0]) == pytest.approx(right, rel=1e-9)
    assert alibi_key_bias([0.5], range(3)).tolist() == [[[0, 0.5, 1]]]


@given(st.integers(1, 6), st.integers(1, 12), st.integers(-(10**4), 10**4))
def test_forms_agree_under_a_causal_mask(heads, length, start):
    q, k = rng.normal(size=(2, heads, length, 4))
    slopes, places = alibi_slopes(heads), np.arange(start, start + length)
    mask = causal_mask(length)
    _, distance = attention(q, k, k, mask=mask, bias=alibi_bias(slopes, places, places))
    _, row = attention(q, k, k, mask=mask, bias=alibi_key_bias(slopes, places))
    assert row == pytest.approx(distance, rel=1e-9, abs=1e-12)
    # The causal bias is its own mask.
    _, alone = attention(q, k, k, bias=alibi_bias(slopes, places, places))
    assert (alone == distance).all()


def test_key_form_is_wrong_for_bidirectional_attention():
    symmetric = softmax(alibi_bias([0.5], [1], range(3), symmetric=True)[0, 0])
    assert symmetric == pytest.approx([0.2740686191, 0.4518627619, 0.2740686191], rel=1e-9)
    shortcut = softmax(alibi_key_bias([0.5], range(3))[0, 0])
    assert shortcut == pytest.approx([0.1863237232, 0.3071958857, 0.5064803911], rel=1e-9)


def test_key_form_loses_small_distances_in_bfloat16():
    slopes = np.array([0.5], ml_dtypes.bfloat16)
    keys = np.arange(9_998, 10_001)
    assert alibi_bias(slopes, [10_000], keys)[0, 0].astype(float).tolist() == [-1, -0.5, 0]
    assert len(set(alibi_key_bias(slopes, keys)[0, 0].astype(float).tolist())) == 1


def test_bias_is_added_after_scaling():
    scores, bias = np.array([8.0, 16, 24]), alibi_bias([0.5], [2], range(3))[0]
    q, k = np.zeros((1, 64)), np.zeros((3, 64))
    q[0, 0], k[:, 0] = 1, scores
    _, after = attention(q, k, k, bias=bias)
    assert after[0] == pytest.approx([0.03911257327, 0.1752903921, 0.7855970346], rel=1e-9)
    # A family of models adds first: its slopes are smaller by sqrt(64).
    _, before = attention(q, k, k, bias=bias / 8)
    assert before[0] == pytest.approx([0.08152289043, 0.2358943051, 0.6825828045], rel=1e-9)
    _, four = attention(
        np.ones((1, 1)), np.array([[0.2], [1], [-0.5], [0.3]]), np.ones((4, 1)),
        bias=alibi_bias([0.5], [3], range(4))[0] / 2,
    )  # fmt: skip
    assert four[0] == pytest.approx(
        [0.14253077338640635, 0.40730322392607154, 0.11669432743143965, 0.33347167525608246],
        rel=1e-14,
    )


def test_kerple_worked_examples():
    keys = [0, -1, -2, -8]
    assert kerple_bias([1], [0.5], [0], keys)[0, 0] == pytest.approx(
        [0, -0.4054651081081644, -0.6931471805599453, -1.6094379124341003], rel=1e-15
    )
    power = kerple_bias([0.3, 0.3], [0.5, 1], [0], keys, kernel="power")
    assert power[0, 0] == pytest.approx([0, -0.3, -0.4242640687119285, -0.848528137423857])
    assert power[1, 0] == pytest.approx([0, -0.3, -0.6, -2.4])


@given(
    st.lists(st.integers(-(10**7), 10**7), max_size=4),
    st.lists(st.integers(-(10**7), 10**7), max_size=4),
)
def test_kerple_is_symmetric_and_holds_alibi(queries, keys):
    m, n, slopes = np.array(queries, int), np.array(keys, int), alibi_slopes(5)
    for kernel in ("log", "power"):
        bias = kerple_bias(slopes, 2 * slopes, m, n, kernel=kernel)
        assert bias.shape == (5, len(m), len(n))
        assert (bias == kerple_bias(slopes, 2 * slopes, n, m, kernel=kernel).mT).all()
    power = kerple_bias(slopes, np.ones(5), m, n, kernel="power")
    assert power == pytest.approx(alibi_bias(slopes, m, n, symmetric=True), rel=1e-15)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, ml_dtypes.bfloat16])
def test_kerple_keeps_the_dtype(dtype):
    bias = kerple_bias(np.ones(1, dtype), np.ones(1), [10**9], [0, 10**9])
    assert bias.dtype == dtype
    expected = np.array([-np.log1p(1e9), 0]).astype(dtype)
    assert bias[0, 0].tolist() == expected.tolist()
    far = kerple_bias(np.ones(1, dtype), [2.0], [10**9], [0], kernel="power")
    assert (far == (-np.inf if dtype == np.float16 else np.float64(-1e18).astype(dtype))).all()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: alibi_slopes(0), ValueError, "heads must be at least 1, got 0"),
        (lambda: alibi_slopes(-8), ValueError, "heads must be at least 1, got -8"),
        (lambda: alibi_slopes(8.0), TypeError, "heads must be an integer, got 8.0"),
        (lambda: alibi_slopes(True), TypeError, "heads must be an integer, got True"),
        (lambda: alibi_slopes("8"), TypeError, "heads must be an integer, got '8'"),
        (lambda: alibi_slopes([8]), TypeError, r"heads must be an integer, got \[8\]"),
        (
            lambda: alibi_slopes(8, "official"),
            ValueError,
            'variant must be "released" or "paper", got \'official\'',
        ),
        (
            lambda: alibi_slopes(8, max_exponent=0),
            ValueError,
            "max_exponent must be one number greater than 0, got 0",
        ),
        (lambda: alibi_slopes(8, max_exponent=np.nan), ValueError, "max_exponent must be finite"),
        (
            lambda: alibi_slopes(8, max_exponent=[8.0]),
            ValueError,
            "max_exponent must be one number",
        ),
        (lambda: alibi_bias(0.5, [0], [0]), ValueError, r"slopes must be a vector.*got shape \(\)"),
        (lambda: alibi_bias([], [0], [0]), ValueError, r"slopes must be a vector.*\(0,\)"),
        (lambda: alibi_bias([[0.5]], [0], [0]), ValueError, r"slopes must be .* \(1, 1\)"),
        (lambda: alibi_bias([np.nan], [0], [0]), ValueError, "slopes must be finite, got nan"),
        (lambda: alibi_bias([1j], [0], [0]), TypeError, "slopes must hold real numbers"),
        (lambda: alibi_bias([True], [0], [0]), TypeError, "slopes must hold real numbers"),
        (lambda: alibi_bias("a", [0], [0]), TypeError, "slopes must hold real numbers"),
        (lambda: alibi_bias([0.5], 3, [0]), ValueError, r"queries must have shape \(..., length\)"),
        (lambda: alibi_bias([0.5], [0], 3), ValueError, r"keys must have shape \(..., length\)"),
        (lambda: alibi_bias([0.5], [np.inf], [0]), ValueError, "queries must be finite, got inf"),
        (lambda: alibi_bias([0.5], [0], [np.nan]), ValueError, "keys must be finite, got nan"),
        (lambda: alibi_bias([0.5], [1j], [0]), TypeError, "queries must hold real numbers"),
        (lambda: alibi_bias([0.5], [0], [True]), TypeError, "keys must hold real numbers"),
        (lambda: alibi_bias([0.5], ["0"], [0]), TypeError, "queries must hold real numbers"),
        (lambda: alibi_bias([0.5], [[0], [1, 2]], [0]), ValueError, "queries must be a regular"),
        (
            lambda: alibi_bias([0.5], [2**62], [0]),
            ValueError,
            r"queries must lie strictly between -2\*\*62 and 2\*\*62, got 4611686018427387904",
        ),
        (lambda: alibi_bias([0.5], [0], [-(2**62)]), ValueError, "keys must lie strictly between"),
        (lambda: alibi_bias([0.5], [-1e300], [0]), ValueError, "queries must lie strictly between"),
        (lambda: alibi_bias([0.5], [2**63], [0]), ValueError, "queries must fit in 64 bits"),
        (lambda: alibi_bias([0.5], [2**64], [0]), TypeError, "queries must hold real numbers"),
        (
            lambda: alibi_bias([0.5], np.zeros((2, 3), int), np.zeros((3, 3), int)),
            ValueError,
            r"queries and keys must have batch axes that broadcast, got shapes \(2, 3\) and \(3, 3",
        ),
        (lambda: alibi_key_bias([np.inf], [0]), ValueError, "slopes must be finite, got inf"),
        (lambda: alibi_key_bias([0.5], 0), ValueError, "keys must have shape"),
        (lambda: alibi_key_bias([0.5], [np.nan]), ValueError, "keys must be finite, got nan"),
        (lambda: kerple_bias([0.0], [1], [0], [0]), ValueError, "r1 must be positive, got 0.0"),
        (lambda: kerple_bias([1], [-2.0], [0], [0]), ValueError, "r2 must be positive, got -2.0"),
        (lambda: kerple_bias([1, 1], [1], [0], [0]), ValueError, "r1 and r2 must have the same"),
        (lambda: kerple_bias(1.0, 1.0, [0], [0]), ValueError, "r1 must be a vector"),
        (lambda: kerple_bias([], [], [0], [0]), ValueError, "r1 must be a vector"),
        (lambda: kerple_bias([1], [np.nan], [0], [0]), ValueError, "r2 must be finite, got nan"),
        (lambda: kerple_bias([1j], [1], [0], [0]), TypeError, "r1 must hold real numbers"),
        (
            lambda: kerple_bias([1], [2.5], [0], [0], kernel="power"),
            ValueError,
            "r2 must be at most 2 for a power, got 2.5",
        ),
        (
            lambda: kerple_bias([1], [1], [0], [0], kernel="exp"),
            ValueError,
            'kernel must be "log" or "power", got \'exp\'',
        ),
        (lambda: kerple_bias([1], [1], [0], [2**62]), ValueError, "keys must lie strictly"),
    ],
)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_the_future_begins_right_after_the_query():
    assert alibi_bias([0.5], [1.0], [1.5])[0].tolist() == [[-np.inf]]


def test_key_positions_are_not_rounded_before_the_product():
    slope = np.float16(1 / 3)
    (bias,) = alibi_key_bias(np.array([slope]), [2049]).ravel()
    assert bias == np.float16(float(slope) * 2049)


def test_kerple_with_a_tiny_second_parameter():
    (bias,) = kerple_bias([1.0], [1e-12], [1], [0]).ravel()
    assert bias == pytest.approx(-1e-12, rel=1e-12, abs=0)
