"""posenc.absolute against worked examples and the shift identity."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posenc.absolute import frequencies, shift_matrix, sinusoid

D4 = [  # t, sin t, cos t, sin(t/100), cos(t/100): width 4, base 10000
    (0, 0, 1, 0, 1),
    (1, 0.8414709848078965, 0.5403023058681397, 0.009999833334166665, 0.9999500004166653),
    (2, 0.9092974268256817, -0.4161468365471424, 0.01999866669333308, 0.9998000066665778),
    (3, 0.1411200080598672, -0.9899924966004455, 0.02999550020249566, 0.9995500337489875),
    (4, -0.7568024953079283, -0.6536436208636119, 0.03998933418663416, 0.9992001066609779),
]


def test_frequencies():
    assert frequencies(8) == pytest.approx([1, 0.1, 0.01, 0.001], rel=1e-15)
    assert frequencies(128)[63] == pytest.approx(1.15478198468945818e-4, rel=1e-14)
    assert frequencies(512)[1] == pytest.approx(0.964661619911199214, rel=1e-14)
    assert frequencies(4, base=500_000.0) == pytest.approx([1, 500_000**-0.5], rel=1e-15)
    assert frequencies(np.int64(2)).tolist() == [1.0]


@pytest.mark.parametrize("row", D4)
def test_table_of_width_four(row):
    t, *components = row
    assert sinusoid(t, 4) == pytest.approx(components, rel=1e-15, abs=0)


def test_layouts_hold_the_same_numbers():
    code = sinusoid(3, 8)
    assert code == pytest.approx(
        [
            *(0.141120008, -0.989992497, 0.295520207, 0.955336489),
            *(0.029995500, 0.999550034, 0.002999996, 0.999995500),
        ],
        abs=1e-9,
    )
    half = sinusoid(3, 8, layout="half-split")
    assert half.tolist() == [*code[0::2], *code[1::2]]


def test_shape_follows_positions():
    assert sinusoid(np.arange(6).reshape(2, 3), 10).shape == (2, 3, 10)
    assert sinusoid(np.arange(6).reshape(2, 3), 10, layout="half-split")[1, 2] == pytest.approx(
        sinusoid(5, 10, layout="half-split")
    )


def test_shift_matrix_worked_example():
    matrix = shift_matrix(1, frequencies(4))
    slow, tiny = 0.9999500004166653, 0.009999833334166665
    assert matrix == pytest.approx(
        np.array(
            [
                [0.5403023058681397, 0.8414709848078965, 0, 0],
                [-0.8414709848078965, 0.5403023058681397, 0, 0],
                [0, 0, slow, tiny],
                [0, 0, -tiny, slow],
            ]
        ),
        rel=1e-15,
    )
    # In the order (sin, cos) the opposite orientation is wrong, and visibly so.
    assert np.abs(matrix.T @ sinusoid(1, 4) - sinusoid(2, 4)).max() > 0.9


@given(
    st.integers(-(10**5), 10**5),
    st.integers(-(10**5), 10**5),
    st.sampled_from([2, 4, 10]),
    st.sampled_from([10_000.0, 500.0]),
)
def test_shift_identity_and_group(t, offset, width, base):
    w = frequencies(width, base)
    moved = shift_matrix(offset, w) @ sinusoid(t, width, base=base)
    assert moved == pytest.approx(sinusoid(t + offset, width, base=base), abs=1e-10)
    there, back = shift_matrix([offset, -offset], w)
    assert there @ back == pytest.approx(np.eye(width), abs=1e-12)
    assert back == pytest.approx(there.T, abs=1e-15)
    assert there @ shift_matrix(t, w) == pytest.approx(shift_matrix(t + offset, w), abs=1e-10)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: frequencies(5), ValueError, "width must be a positive even number, got 5"),
        (lambda: frequencies(0), ValueError, "width must be a positive even number, got 0"),
        (lambda: frequencies(-2), ValueError, "got -2"),
        (lambda: frequencies(4.0), TypeError, "width must be an integer, got 4.0"),
        (lambda: frequencies(True), TypeError, "width must be an integer, got True"),
        (lambda: frequencies(4, 0), ValueError, "base must be one positive number, got 0"),
        (lambda: frequencies(4, -1.0), ValueError, "base must be one positive number, got -1.0"),
        (lambda: frequencies(4, np.inf), ValueError, "base must be finite, got inf"),
        (lambda: frequencies(4, [2, 3]), ValueError, "base must be one positive number"),
        (lambda: frequencies(4, "10"), TypeError, "base must hold real numbers"),
        (lambda: sinusoid(1, 3), ValueError, "width must be a positive even number, got 3"),
        (lambda: sinusoid([0, np.nan], 4), ValueError, "positions must be finite, got nan"),
        (lambda: sinusoid(1j, 4), TypeError, "positions must hold real numbers"),
        (lambda: sinusoid(1, 4, layout="concat"), ValueError, "layout must be"),
        (lambda: shift_matrix(np.inf, [1.0]), ValueError, "offset must be finite, got inf"),
        (lambda: shift_matrix(1, 1.0), ValueError, r"frequencies must be a vector .* shape \(\)"),
    ],
)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_odd_width_with_a_zero_keeps_the_base():
    padded = sinusoid([5], 5, base=100.0, odd="zero")[0]
    assert padded.tolist() == [*sinusoid(5, 4, base=100.0), 0.0]


def test_far_positions_have_the_sine_of_their_float64_angle():
    t = 123_456_789.0
    assert sinusoid(t, 2).tolist() == [np.sin(t), np.cos(t)]
