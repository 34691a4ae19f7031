"""posenc.absolute: odd widths, the signal of tensor2tensor, and learned tables."""

import math

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from posenc.absolute import frequencies, learned, sinusoid, timing_signal

LAYOUTS = ("interleaved", "half-split")


def test_odd_width_with_a_sine_of_its_own():
    expected = [0.8414709848, 0.5403023059, 0.02511622291, 0.9996845379, 0.0006309573026]
    assert sinusoid(1, 5, odd="sine") == pytest.approx(expected, abs=1e-10)
    half = sinusoid(1, 5, odd="sine", layout="half-split")
    assert half.tolist() == sinusoid(1, 5, odd="sine")[[0, 2, 4, 1, 3]].tolist()
    assert sinusoid([2, 3], 1, odd="sine").tolist() == [[math.sin(2)], [math.sin(3)]]


def test_odd_width_with_a_zero():
    for layout in LAYOUTS:
        code = sinusoid([[1, 7]], 5, odd="zero", layout=layout)
        assert code.shape == (1, 2, 5)
        assert np.array_equal(code[..., :4], sinusoid([[1, 7]], 4, layout=layout))
        assert not code[..., 4].any()


@given(
    hnp.arrays(float, st.sampled_from([(), (3,), (2, 0), (2, 3)]), elements=st.floats(-1e6, 1e6)),
    st.integers(1, 40),
    st.sampled_from(["sine", "zero"]),
    st.sampled_from(LAYOUTS),
    st.floats(1.5, 1e6),
)
def test_odd_widths_have_their_shape_and_leave_even_ones_alone(positions, half, odd, layout, base):
    even = sinusoid(positions, 2 * half, layout=layout, base=base)
    chosen = sinusoid(positions, 2 * half, layout=layout, base=base, odd=odd)
    assert np.array_equal(chosen, even)
    code = sinusoid(positions, 2 * half + 1, layout=layout, base=base, odd=odd)
    assert code.shape == (*positions.shape, 2 * half + 1)
    # Whole pairs lie on circles; the rest is a sine with its own frequency, or zero.
    alone = half if odd == "sine" and layout == "half-split" else 2 * half
    pairs = np.delete(code, alone, axis=-1)
    assert np.sum(pairs**2, axis=-1) == pytest.approx(np.full(positions.shape, float(half)))
    width = 2 * half + 1
    expected = np.sin(positions * base ** (-2 * half / width)) if odd == "sine" else positions * 0
    assert code[..., alone] == pytest.approx(expected, abs=1e-9)


def test_timing_signal_worked_examples():
    assert timing_signal(1, 4) == pytest.approx(
        [0.8414709848078965, 9.999999983333325e-05, 0.5403023058681398, 0.999999995], rel=1e-14
    )
    assert timing_signal(3, 8) == pytest.approx(
        [
            *(0.1411200080598672, 0.13879810108005047, 0.0064632590701896395, 0.0002999999954999),
            *(-0.9899924966004454, 0.990320699135675, 0.9999791129229608, 0.9999999550000004),
        ],
        rel=1e-12,
    )
    # One timescale only, and one too few for a range: tensor2tensor divides by max(n - 1, 1).
    assert timing_signal(5, 2) == pytest.approx([math.sin(5), math.cos(5)], rel=1e-15)
    assert timing_signal(5, 3) == pytest.approx([math.sin(5), math.cos(5), 0], rel=1e-15)
    # It multiplies the frequencies by the smallest timescale.
    signal = timing_signal(1, 4, min_timescale=2.0, max_timescale=50.0)
    assert signal[:2] == pytest.approx([math.sin(2), math.sin(2 * 2 / 50)], rel=1e-14)


@given(st.integers(-(10**6), 10**6), st.integers(2, 65))
def test_timing_signal_frequencies(position, width):
    signal = timing_signal([[position]], width)
    assert signal.shape == (1, 1, width)
    pairs = width // 2
    last = max(pairs - 1, 1)
    angles = [position * 10_000.0 ** (-r / last) for r in range(pairs)]
    expected = [*map(math.sin, angles), *map(math.cos, angles), *[0.0] * (width % 2)]
    assert signal[0, 0] == pytest.approx(expected, abs=1e-8)


def test_timing_signal_is_not_the_code_of_the_paper():
    paper = sinusoid(1, 8, layout="half-split")
    signal = timing_signal(1, 8)
    assert signal[[0, 4]] == pytest.approx(paper[[0, 4]], rel=1e-15)
    assert np.abs(np.delete(signal - paper, [0, 4])).max() > 0.05
    assert np.arcsin(signal[1:4]) == pytest.approx(
        [0.0464158883361, 0.00215443469003, 0.0001], rel=1e-11
    )
    assert frequencies(8)[1:].tolist() == [0.1, 0.01, 0.001]


TABLE = np.arange(12.0).reshape(6, 2)


def test_learned_rows():
    assert learned(TABLE, 3).tolist() == [6, 7]
    assert learned(TABLE, [[0, 5], [1, 1]]).tolist() == [[[0, 1], [10, 11]], [[2, 3], [2, 3]]]
    assert learned(TABLE, np.empty((2, 0), int)).shape == (2, 0, 2)
    assert learned([[1, 2]], 0).dtype == np.float64
    row = learned(TABLE, 3)
    row += 1
    assert TABLE[3].tolist() == [6, 7]


def test_learned_offset_of_opt():
    # Left padding of two: position -1 twice, then 0, 1, 2, which have rows 1, 1, 2, 3, 4.
    assert learned(TABLE, [-1, -1, 0, 1, 2], offset=2)[:, 0].tolist() == [2, 2, 4, 6, 8]
    assert learned(TABLE, np.uint8([3]), offset=np.int64(2)).tolist() == [[10, 11]]
    with pytest.raises(
        ValueError,
        match="ids must be at least -2 and below 4 for a table of 6 rows with offset 2, got 4 at",
    ):
        learned(TABLE, [0, 4], offset=2)
    with pytest.raises(ValueError, match=r"got -3 at index \(0,\)"):
        learned(TABLE, [-3], offset=2)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, ml_dtypes.bfloat16])
def test_learned_keeps_the_dtype(dtype):
    vectors = learned(TABLE.astype(dtype), [4, 0])
    assert vectors.dtype == dtype
    assert vectors.astype(float).tolist() == [[8, 9], [0, 1]]


@given(
    st.integers(1, 9),
    hnp.arrays(np.int64, st.sampled_from([(), (3,), (2, 4)]), elements=st.integers(-12, 12)),
    st.integers(0, 4),
)
def test_learned_gives_the_row_or_names_the_position(rows, ids, offset):
    table = np.arange(rows * 3.0).reshape(rows, 3)
    outside = [int(i) for i in ids.ravel() if not 0 <= i + offset < rows]
    if outside:
        with pytest.raises(ValueError, match=f"table of {rows} rows .* got {outside[0]} at index"):
            learned(table, ids, offset=offset)
    else:
        assert np.array_equal(learned(table, ids, offset=offset)[..., 0], 3.0 * (ids + offset))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: sinusoid(1, 5), ValueError, "width must be a positive even number, got 5"),
        (lambda: sinusoid(1, 0, odd="sine"), ValueError, "width must be at least 1, got 0"),
        (lambda: sinusoid(1, 1, odd="zero"), ValueError, "width must be at least 2, got 1"),
        (lambda: sinusoid(1, -3, odd="zero"), ValueError, "width must be at least 2, got -3"),
        (lambda: sinusoid(1, 5.0, odd="sine"), TypeError, "width must be an integer, got 5.0"),
        (lambda: sinusoid(1, True, odd="sine"), TypeError, "width must be an integer, got True"),
        (
            lambda: sinusoid(1, 5, odd="pad"),
            ValueError,
            'odd must be "sine" or "zero", got \'pad\'',
        ),
        (lambda: sinusoid(1, 4, odd=True), ValueError, "odd must be"),
        (lambda: sinusoid(1, 5, odd="sine", base=-1), ValueError, "base must be one positive"),
        (lambda: sinusoid(np.inf, 5, odd="sine"), ValueError, "positions must be finite, got inf"),
        (lambda: timing_signal(1, 1), ValueError, "width must be at least 2, got 1"),
        (lambda: timing_signal(1, 4.0), TypeError, "width must be an integer, got 4.0"),
        (lambda: timing_signal(np.nan, 4), ValueError, "positions must be finite, got nan"),
        (lambda: timing_signal("a", 4), TypeError, "positions must hold real numbers"),
        (lambda: timing_signal([[1], [1, 2]], 4), ValueError, "positions must be a regular array"),
        (
            lambda: timing_signal(1, 4, min_timescale=0),
            ValueError,
            "min_timescale must be one number greater than 0, got 0",
        ),
        (
            lambda: timing_signal(1, 4, max_timescale=[1.0, 2.0]),
            ValueError,
            "max_timescale must be one number",
        ),
        (
            lambda: timing_signal(1, 4, max_timescale=np.inf),
            ValueError,
            "max_timescale must be finite, got inf",
        ),
        (
            lambda: learned(TABLE, 6),
            ValueError,
            r"at least 0 and below 6 for a table of 6 rows with offset 0, got 6 at index \(\)",
        ),
        (lambda: learned(TABLE, [[0, -1]]), ValueError, r"got -1 at index \(0, 1\)"),
        (lambda: learned(TABLE, 2**63 - 1, offset=1), ValueError, "got 9223372036854775807 at"),
        (lambda: learned(TABLE, 2**63), ValueError, "ids must fit in 64 bits"),
        (lambda: learned(TABLE, 2**70), TypeError, "ids must hold integers"),
        (lambda: learned(TABLE, 1.0), TypeError, "ids must hold integers, got dtype float64"),
        (lambda: learned(TABLE, True), TypeError, "ids must hold integers, got dtype bool"),
        (lambda: learned(TABLE, "1"), TypeError, "ids must hold integers"),
        (lambda: learned(TABLE, [[1], [1, 2]]), ValueError, "ids must be a regular array"),
        (lambda: learned(TABLE, 0, offset=-1), ValueError, "offset must be at least 0, got -1"),
        (lambda: learned(TABLE, 0, offset=1.0), TypeError, "offset must be an integer, got 1.0"),
        (lambda: learned(TABLE, 0, offset=2**70), ValueError, "ids must be at least"),
        (lambda: learned([1.0, 2.0], 0), ValueError, r"table must have shape .* got shape \(2,\)"),
        (lambda: learned(np.empty((0, 2)), 0), ValueError, "table of 0 rows"),
        (lambda: learned([[1j]], 0), TypeError, "table must hold real numbers"),
        (lambda: learned([[1.0], [1.0, 2.0]], 0), ValueError, "table must be a regular array"),
    ],
)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()
