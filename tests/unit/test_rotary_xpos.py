"""posenc.rotary.xpos against worked examples, its law, and the range of each dtype."""

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posenc.absolute import frequencies
from posenc.rotary import rotate, xpos, xpos_decay

LAYOUTS = ("interleaved", "half-split")
X, Y = np.array([1.0, 2.0, 3.0, 4.0]), np.array([0.5, -1.0, 2.0, 1.0])
rng = np.random.default_rng(2)


def score(q, k, m, n, speeds=None, **settings):
    speeds = frequencies(len(q)) if speeds is None else speeds
    turned_q = xpos(q, m, speeds, role="query", **settings)
    return turned_q @ xpos(k, n, speeds, role="key", **settings)


def test_decay():
    assert xpos_decay(2) == pytest.approx([0.285714285714, 0.642857142857], abs=1e-12)
    assert xpos_decay(4) == pytest.approx(
        [0.285714285714, 0.464285714286, 0.642857142857, 0.821428571429], abs=1e-12
    )
    wide = xpos_decay(64)
    assert wide[[0, 31, 63]] == pytest.approx(
        [0.285714285714, 0.631696428571, 0.988839285714], abs=1e-12
    )
    assert wide[[0, 31, 63]] ** (1 / 512) == pytest.approx(
        [0.997556188309, 0.999103241518, 0.999978079415], abs=1e-12
    )
    assert xpos_decay(2) ** (128 / 512) == pytest.approx([0.731110446, 0.895423769], abs=1e-9)
    assert xpos_decay(2)[0] ** (4096 / 512) == pytest.approx(4.44e-5, rel=1e-3)
    assert xpos_decay(1, gamma=1).tolist() == [0.5]


def test_worked_scores():
    assert score(X, Y, 130, 2) == pytest.approx(-2.0162760691530623, rel=1e-13)
    assert score(X, Y, 130, 2, centre=66) == pytest.approx(-2.0162760691530623, rel=1e-13)
    assert score(X, Y, 258, 130) == pytest.approx(-2.0162760691530623, rel=1e-13)
    plain = rotate(X, 130, frequencies(4)) @ rotate(Y, 2, frequencies(4))
    assert plain == pytest.approx(-2.325658893249786, rel=1e-13)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("role", ["query", "key"])
def test_is_rotation_times_the_factor_of_each_pair(layout, role):
    x = rng.normal(size=(2, 3, 7, 14))
    positions = rng.integers(-300, 300, size=(3, 7))
    speeds = frequencies(12)
    sign = {"query": 1, "key": -1}[role]
    factors = xpos_decay(6, gamma=0.7) ** (sign * (positions[..., np.newaxis] - 5.0) / 100)
    both = np.repeat(factors, 2, axis=-1) if layout == "interleaved" else np.tile(factors, 2)
    expected = rotate(x, positions, speeds, layout=layout)
    expected[..., :12] *= both
    grown = xpos(
        x, positions, speeds, role=role, scale_base=100, gamma=0.7, centre=5, layout=layout
    )
    assert grown == pytest.approx(expected, rel=1e-12, abs=1e-13)
    assert np.array_equal(grown[..., 12:], x[..., 12:])


@given(
    st.integers(-500, 500), st.integers(-500, 500), st.integers(-500, 500), st.sampled_from(LAYOUTS)
)
def test_score_depends_on_the_offset_alone(m, n, shift, layout):
    here = score(X, Y, m, n, layout=layout)
    there = score(X, Y, m + shift, n + shift, layout=layout)
    centred = score(X, Y, m, n, layout=layout, centre=shift)
    scale = 1 + xpos_decay(2)[0] ** (-max(0, n - m) / 512)
    assert there == pytest.approx(here, abs=1e-9 * scale)
    assert centred == pytest.approx(here, abs=1e-9 * scale)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, ml_dtypes.bfloat16])
def test_dtype_is_kept(dtype):
    x = rng.normal(size=(4, 100, 8)).astype(dtype)
    positions = np.arange(100)
    grown = xpos(x, positions, frequencies(8), role="key")
    exact = xpos(x.astype(np.float64), positions, frequencies(8), role="key")
    assert grown.dtype == dtype
    epsilon = {2: 2.0**-7, 4: 2.0**-23, 8: 2.0**-52}[x.itemsize]
    assert np.abs(grown.astype(float) - exact).max() <= epsilon * np.abs(exact).max()
    assert xpos([1, 2], 1, [1.0], role="query").dtype == np.float64


def test_the_range_of_each_dtype():
    # zeta of the only pair is 2 / 7: its power leaves the normal numbers of float16 after 3966
    # positions, downwards, and 4532 upwards.
    x = np.ones(2, np.float16)
    assert np.abs(xpos(x, 3960, [1.0], role="query")).max() < 1e-4
    with pytest.raises(ValueError, match=r"within the range of float16, got .* = 3970"):
        xpos(x, 3970, [1.0], role="query")
    assert np.isfinite(xpos(x, 4500, [1.0], role="key", scale_base=520)).all()
    with pytest.raises(ValueError, match=r"within the range of float16, got .* = -4600"):
        xpos(np.ones((2, 2), np.float16), [0, -4600], [1.0], role="query")
    assert np.isfinite(xpos(x, 1_003_970, [1.0], role="query", centre=1_000_000 + 10)).all()
    for dtype in (np.float32, ml_dtypes.bfloat16):
        assert xpos(np.ones(2, dtype), 35_000, [1.0], role="query").any()
        with pytest.raises(ValueError, match="positions must keep"):
            xpos(np.ones(2, dtype), 37_000, [1.0], role="key")
    assert np.isfinite(xpos(np.ones(2), 280_000, [1.0], role="key")).all()
    with pytest.raises(ValueError, match="positions must keep"):
        xpos(np.ones(2), 300_000, [1.0], role="key")


def test_a_result_out_of_range_is_refused():
    with pytest.raises(ValueError, match="x times its growth must stay within .* float16"):
        xpos(np.full(2, 3e4, np.float16), 2000, [1.0], role="key")
    with pytest.raises(ValueError, match="x times its growth must stay within .* float32"):
        xpos(np.full(2, 1e38, np.float32), 2000, [1.0], role="key")
    # What was not finite before is not blamed on growth.
    assert np.isnan(xpos([np.nan, 1.0], 1, [1.0], role="key")).all()


def test_no_positions():
    assert xpos(np.ones((0, 4)), [], frequencies(4), role="key").shape == (0, 4)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: xpos_decay(0), ValueError, "pairs must be at least 1, got 0"),
        (lambda: xpos_decay(2.0), TypeError, "pairs must be an integer, got 2.0"),
        (lambda: xpos_decay(2, gamma=0), ValueError, "gamma must be one number greater than 0"),
        (lambda: xpos_decay(2, gamma=np.nan), ValueError, "gamma must be finite"),
        (
            lambda: xpos(X, 1, frequencies(4), role="value"),
            ValueError,
            'role must be "query" or "key", got \'value\'',
        ),
        (lambda: xpos(X, np.inf, frequencies(4), role="key"), ValueError, "positions must be fin"),
        (lambda: xpos(X, 1j, frequencies(4), role="key"), TypeError, "positions must hold real"),
        (lambda: xpos(X, 1, [np.nan], role="key"), ValueError, "frequencies must be finite"),
        (lambda: xpos(X, 1, [], role="key"), ValueError, "frequencies must be a vector"),
        (lambda: xpos("x", 1, [1.0], role="key"), TypeError, "x must hold real numbers"),
        (lambda: xpos(X, 1, [1.0] * 3, role="key"), ValueError, "at least 2 \\* 3 components"),
        (lambda: xpos(X, [1, 2], [1.0], role="key"), ValueError, "positions must broadcast"),
        (
            lambda: xpos(X, 1, [1.0], role="key", scale_base=0),
            ValueError,
            "scale_base must be one number greater than 0, got 0",
        ),
        (
            lambda: xpos(X, 1, [1.0], role="key", scale_base=[1, 2]),
            ValueError,
            "scale_base must be one number",
        ),
        (
            lambda: xpos(X, 1, [1.0], role="key", scale_base=1e-320),
            ValueError,
            "positions must keep",
        ),
        (
            lambda: xpos(X, 1, [1.0], role="key", centre=np.inf),
            ValueError,
            "centre must be finite",
        ),
        (
            lambda: xpos(X, 1, [1.0], role="key", layout="neox"),
            ValueError,
            "layout must be",
        ),
    ],
)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_growth_far_on_the_negative_side():
    growth = xpos_decay(1)[0] ** (-5000 / 512)
    expected = growth * np.array([np.cos(1e4), -np.sin(1e4)])
    turned = xpos([1.0, 0.0], -5000, [2.0], role="query")
    assert turned == pytest.approx(expected, rel=1e-11)
