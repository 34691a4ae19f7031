"""posenc.rotary: positions with several axes."""

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posenc.absolute import frequencies
from posenc.rotary import axial, mrope, mrope_axes, rotate

LAYOUTS = ("interleaved", "half-split")
rng = np.random.default_rng(4)


def pair_by_pair(x, coordinates, axes, speeds, layout):
    """Turn each pair by a rotation with the one coordinate and frequency it has."""
    result = np.array(x, dtype=float)
    pairs = len(speeds)
    for r, (axis, speed) in enumerate(zip(axes, speeds, strict=True)):
        where = [2 * r, 2 * r + 1] if layout == "interleaved" else [r, r + pairs]
        result[..., where] = rotate(
            np.asarray(x, dtype=float)[..., where], coordinates[..., axis], [speed]
        )
    return result


def test_axial_worked_example():
    turned = axial(np.arange(1.0, 9), [2, 3], frequencies(4, base=100))
    expected = [
        *(-2.234741690198506, 0.0770037537313969, 2.1455224103434802, 4.5162743037501505),
        *(-5.79668253136143, -5.234354939303337, 4.323193770588525, 9.711333359634224),
    ]
    assert turned == pytest.approx(expected, rel=1e-13)


def test_axial_exponents_run_over_the_share_of_an_axis():
    # 256 components, 128 for each axis: pair 10 of an axis.
    speeds = frequencies(128)
    assert speeds[10] == pytest.approx(0.237137370566, abs=1e-12)
    x = np.zeros(256)
    x[128 + 20] = 1.0
    turned = axial(x, [5, 1], speeds)
    assert turned[148:150] == pytest.approx([np.cos(speeds[10]), np.sin(speeds[10])], rel=1e-14)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize(("axes", "width", "share"), [(1, 8, 4), (2, 8, 2), (3, 15, 2), (2, 13, 3)])
def test_axial_agrees_with_pairs(axes, width, share, dtype, layout):
    x = rng.normal(size=(2, 3, 70, width)).astype(dtype)
    positions = rng.integers(-40, 40, size=(2, 1, 70, axes))
    speeds = frequencies(2 * share, base=100)
    turned = axial(x, positions, speeds, layout=layout)
    assert turned.dtype == dtype
    expected = pair_by_pair(
        x, positions, np.repeat(np.arange(axes), share), np.tile(speeds, axes), layout
    )
    epsilon = {8: 2.0**-50, 4: 2.0**-22, 2: 2.0**-7}[x.itemsize]
    assert np.abs(turned.astype(float) - expected).max() <= epsilon * np.abs(expected).max()
    back = axial(turned, positions, speeds, layout=layout, inverse=True)
    assert np.abs(back.astype(float) - x.astype(float)).max() <= 8 * epsilon
    copy = x.copy()
    assert axial(copy, positions, speeds, layout=layout, out=copy) is copy
    assert np.abs(copy.astype(float) - expected).max() <= epsilon * np.abs(expected).max()


coordinates = st.tuples(*[st.integers(-1000, 1000)] * 2)


@given(coordinates, coordinates, coordinates, st.sampled_from(LAYOUTS))
def test_axial_score_depends_on_differences_of_coordinates(m, n, shift, layout):
    q, k = np.random.default_rng(1).normal(size=(2, 8))
    speeds = frequencies(4, base=100)

    def score(i, j):
        return axial(q, i, speeds, layout=layout) @ axial(k, j, speeds, layout=layout)

    moved = np.add(m, shift), np.add(n, shift)
    assert score(*moved) == pytest.approx(score(m, n), abs=1e-10)
    # Both coordinates count, and each by itself.
    assert score((0, 0), (1, 0)) != pytest.approx(score((0, 0), (0, 1)), abs=1e-3)


def test_axes_of_sections():
    assert mrope_axes([2, 3, 3]).tolist() == [0, 0, 1, 1, 1, 2, 2, 2]
    assert mrope_axes([4, 2, 2], order="alternating").tolist() == [0, 1, 2, 0, 1, 2, 0, 0]
    wide = mrope_axes([24, 20, 20], order="alternating")
    assert np.bincount(wide).tolist() == [24, 20, 20]
    assert wide[56:].tolist() == [2, 0, 1, 2, 0, 0, 0, 0]
    assert wide[:6].tolist() == [0, 1, 2, 0, 1, 2]
    partial = mrope_axes([11, 11, 10], order="alternating")
    assert np.bincount(partial).tolist() == [11, 11, 10]
    assert mrope_axes([16, 24, 24])[[15, 16, 39, 40, 63]].tolist() == [0, 1, 1, 2, 2]
    assert mrope_axes([3]).tolist() == [0, 0, 0]
    assert mrope_axes([3, 0, 1]).tolist() == [0, 0, 0, 2]


SECTIONS = [([2, 3, 3], "contiguous"), ([4, 2, 2], "alternating"), ([5, 0, 3], "contiguous")]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("sections", "order"), SECTIONS)
@pytest.mark.parametrize("width", [16, 19])
def test_mrope_agrees_with_pairs(sections, order, width, layout):
    x = rng.normal(size=(2, 3, 70, width))
    positions = rng.integers(0, 90, size=(2, 1, 70, 3))
    speeds = frequencies(16)
    turned = mrope(x, positions, speeds, sections=sections, order=order, layout=layout)
    axes = mrope_axes(sections, order=order)
    assert turned == pytest.approx(pair_by_pair(x, positions, axes, speeds, layout), abs=1e-13)
    settings = {"sections": sections, "order": order, "layout": layout}
    assert mrope(turned, positions, speeds, inverse=True, **settings) == pytest.approx(x, abs=1e-13)
    copy = x.copy()
    assert mrope(copy, positions, speeds, out=copy, **settings) is copy
    assert copy == pytest.approx(turned, abs=1e-15)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("sections", "order"), SECTIONS)
def test_text_is_plain_rotation(sections, order, dtype, layout):
    x = rng.normal(size=(2, 500, 16)).astype(dtype)
    steps = np.arange(500) + 7000
    speeds = frequencies(16)
    turned = mrope(
        x,
        np.repeat(steps[:, np.newaxis], 3, axis=1),
        speeds,
        sections=sections,
        order=order,
        layout=layout,
    )
    assert turned.dtype == dtype
    assert np.array_equal(turned, rotate(x, steps, speeds, layout=layout))


X, W = np.ones((5, 8)), frequencies(8)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: axial(X, 1, [1.0]), ValueError, r"last axis of positions .* got shape \(\)"),
        (lambda: axial(X, np.ones((5, 0)), [1.0]), ValueError, r"got shape \(5, 0\)"),
        (lambda: axial(X, [[np.nan, 1]] * 5, [1.0]), ValueError, "positions must be finite"),
        (lambda: axial(X, [["a", "b"]], [1.0]), TypeError, "positions must hold real numbers"),
        (lambda: axial(X, [[True, False]], [1.0]), TypeError, "positions must hold real numbers"),
        (lambda: axial(X, [[1, 2], [1]], [1.0]), ValueError, "positions must be a regular array"),
        (lambda: axial(X, [1, 2], [np.inf]), ValueError, "frequencies must be finite"),
        (lambda: axial(X, [1, 2], []), ValueError, "frequencies must be a vector"),
        (lambda: axial(X, [1, 2], [1.0] * 3), ValueError, r"at least 2 \* 6 components"),
        (
            lambda: axial(X, np.ones((4, 2)), [1.0]),
            ValueError,
            r"positions without their last axis must broadcast .* = \(5,\), got shape \(4,\)",
        ),
        (lambda: axial(X * 1j, [1, 2], [1.0]), TypeError, "x must hold real numbers"),
        (lambda: axial(3.0, [1, 2], [1.0]), ValueError, "last axis of x"),
        (lambda: axial(X, [1, 2], [1.0], layout="x"), ValueError, "layout must be"),
        (lambda: axial(X, [1, 2], [1.0], out=[0]), TypeError, "out must be an array"),
        (lambda: axial(X, [1e300, 2], [1e10]), ValueError, "must be finite angles"),
        (
            lambda: mrope(X, [1, 2], W, sections=[2, 1, 1]),
            ValueError,
            r"positions must have one coordinate for each of the 3 sections, got shape \(2,\)",
        ),
        (
            lambda: mrope(X, [1, 2, 3], W, sections=[2, 1, 2]),
            ValueError,
            r"sections must add up to the 4 pairs of frequencies, got \[2, 1, 2\]",
        ),
        (
            # The whole head of width 8 where the sections are those of half of it.
            lambda: mrope(X, [1, 2, 3], W, sections=[1, 1, 0]),
            ValueError,
            "sections must add up to the 4 pairs",
        ),
        (lambda: mrope(X, 1, W, sections=[4]), ValueError, "last axis of positions"),
        (
            lambda: mrope(X, [1, 2, 3], W, sections=[2, 1, 1], order="interleaved"),
            ValueError,
            'order must be "contiguous" or "alternating", got \'interleaved\'',
        ),
        (lambda: mrope_axes([1.0, 2.0]), TypeError, "sections must hold integers"),
        (lambda: mrope_axes([True]), TypeError, "sections must hold integers"),
        (lambda: mrope_axes([]), TypeError, "sections must hold integers, got dtype float64"),
        (lambda: mrope_axes(4), ValueError, "sections must be a vector of counts of pairs"),
        (lambda: mrope_axes([2, -1]), ValueError, r"none negative .* got \[2, -1\]"),
        (lambda: mrope_axes([0, 0]), ValueError, "not all zero"),
        (lambda: mrope_axes([[1, 2]]), ValueError, "sections must be a vector"),
        (
            lambda: mrope_axes([2, 3, 3], order="alternating"),
            ValueError,
            r"sections must leave axis 0 enough pairs to alternate with, got \[2, 3, 3\]",
        ),
    ],
)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()
