"""posenc.rotary: large and awkward arrays, every float dtype, and how much memory it takes."""

import tracemalloc

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posenc.absolute import frequencies
from posenc.rotary import angles, apply_phases, phases, rotate

LAYOUTS = ("interleaved", "half-split")
EPSILON = {
    np.dtype(np.float64): 2.0**-52,
    np.dtype(np.float32): 2.0**-23,
    np.dtype(np.float16): 2.0**-10,
    np.dtype(ml_dtypes.bfloat16): 2.0**-7,
    np.dtype(">f4"): 2.0**-23,
    np.dtype(">f8"): 2.0**-52,
    np.dtype(np.longdouble): 2.0**-52,
}
# Shapes of x and of the positions: one block and many, an axis of length 1 before and after the
# heads, a length that blocks do not divide, no rows, no axes, and runs of 2048 and 8192 factors.
CASES = [
    ((6,), ()),
    ((3, 0, 8), (0,)),
    ((2, 3, 5, 14), (2, 1, 5)),
    ((2, 3, 5, 14), (1, 1, 5)),
    ((2, 32, 32, 128), (2, 1, 32)),
    ((9, 150, 128), (1, 1)),
    ((32, 9, 1, 128), (32, 1, 1)),
    ((32, 33, 1, 128), ()),
    ((2, 3, 1031, 64), (1031,)),
    ((2, 2, 700, 64), (1, 700)),
    ((2, 5, 32, 128), (32,)),
    ((2, 5, 128, 128), (128,)),
    ((5000, 10), (5000,)),
    ((3, 4000), (3,)),
    ((1, 40_000), (1,)),
    ((7, 300, 6), (7, 1)),
]
rng = np.random.default_rng(11)


def by_definition(x, positions, speeds, layout):
    """All pairs at once, in float64 and without blocks."""
    result = np.array(x, dtype=float)
    width = 2 * len(speeds)
    angle = np.asarray(positions, dtype=float)[..., np.newaxis] * speeds
    if layout == "interleaved":
        first, second = slice(0, width, 2), slice(1, width, 2)
    else:
        first, second = slice(0, width // 2), slice(width // 2, width)
    a, b = result[..., first].copy(), result[..., second].copy()
    result[..., first] = a * np.cos(angle) - b * np.sin(angle)
    result[..., second] = a * np.sin(angle) + b * np.cos(angle)
    return result


def same(turned, expected, layout):
    """Tell whether results agree: to the last bit, or to the last but one where NumPy decides.

    A complex product may or may not be rounded in between, depending on the processor and on
    strides.
    """
    if layout == "half-split":
        return np.array_equal(turned, expected)
    difference = np.abs(turned.astype(np.longdouble) - expected.astype(np.longdouble))
    epsilon = max(EPSILON[turned.dtype], 2.0**-52)
    scale = np.abs(expected.astype(np.longdouble)).max(initial=0) + epsilon
    return difference.max(initial=0) <= epsilon * scale


def arrangements(x):
    """Yield the same numbers in other places of memory."""
    yield x.copy()
    yield np.array(x, order="F")
    yield x[..., ::-1].copy()[..., ::-1]
    wide = np.zeros((*x.shape[:-1], x.shape[-1] + 3), dtype=x.dtype)
    wide[..., 2:-1] = x
    yield wide[..., 2:-1]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", EPSILON, ids=str)
@pytest.mark.parametrize("share", [0.5, 1.0])
@pytest.mark.parametrize(("shape", "places"), CASES)
def test_agrees_with_the_definition(shape, places, share, dtype, layout):
    x = rng.normal(size=shape).astype(dtype)
    positions = rng.integers(-4000, 4000, size=places)
    speeds = frequencies(max(2, int(shape[-1] * share) // 2 * 2))
    expected = by_definition(x, positions, speeds, layout)
    bound = 4 * EPSILON[np.dtype(dtype)] * np.abs(expected).max(initial=1)
    turned = rotate(x, positions, speeds, layout=layout)
    assert turned.dtype == dtype
    assert turned.shape == shape
    assert np.abs(turned.astype(float) - expected).max(initial=0) <= bound
    for other in list(arrangements(x)):
        # The same result, wherever the numbers stand and wherever they are written.
        before = other.copy()
        assert same(rotate(other, positions, speeds, layout=layout), turned, layout)
        assert np.array_equal(other, before)
        assert rotate(other, positions, speeds, layout=layout, out=other) is other
        assert same(other, turned, layout)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, ml_dtypes.bfloat16])
def test_prefill_and_decoding_agree(layout, dtype):
    x = rng.normal(size=(2, 3, 300, 32)).astype(dtype)
    start, speeds = 131_000, frequencies(32)
    whole = rotate(x, start + np.arange(300), speeds, layout=layout)
    for low, high in [(0, 1), (1, 64), (64, 130), (299, 300)]:
        steps = start + np.arange(low, high)
        part = rotate(x[:, :, low:high], steps, speeds, layout=layout)
        assert same(part, whole[:, :, low:high], layout)


@given(
    st.lists(
        st.floats(-1e9, 1e9) | st.integers(-(2**40), 2**40).map(float), min_size=1, max_size=90
    ),
    st.sampled_from(LAYOUTS),
)
@settings(max_examples=60)
def test_float32_is_turned_by_the_phases_of_float64(positions, layout):
    # The shortcut for float32 must differ from the direct phases by the rounding of angles only.
    speeds = frequencies(8)
    x = np.random.default_rng(3).normal(size=(len(positions), 8)).astype(np.float32)
    turned = rotate(x, positions, speeds, layout=layout)
    expected = by_definition(x, positions, speeds, layout)
    bound = 2.0**-22 + 2.0**-51 * np.abs(positions)[:, np.newaxis]
    assert (np.abs(turned - expected) <= bound * np.abs(x).max()).all()


def test_phases():
    positions = np.array([[0, 3, -70], [131_071, 8, 2**40]])
    table = phases(positions, [1.0, 0.01])
    assert table.shape == (2, 3, 2)
    assert table.dtype == np.complex128
    assert table[0, 1] == pytest.approx([np.exp(3j), np.exp(0.03j)], rel=1e-15)
    angle = positions[..., np.newaxis] * np.array([1.0, 0.01])
    assert np.array_equal(table.real, np.cos(angle))
    assert np.array_equal(table.imag, np.sin(angle))
    long = phases(np.arange(20_001) / 4, [0.3])
    assert np.array_equal(long[:, 0].imag, np.sin(np.arange(20_001) / 4 * 0.3))
    assert phases(2, [0.5]).shape == (1,)
    assert phases([], [0.5]).shape == (0, 1)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize(("shape", "places"), CASES)
def test_phases_that_are_given_turn_as_rotate_does(shape, places, dtype, layout):
    x = rng.normal(size=shape).astype(dtype)
    positions = rng.integers(-4000, 4000, size=places)
    speeds = frequencies(max(2, shape[-1] // 4 * 2))
    expected = by_definition(x, positions, speeds, layout)
    bound = 4 * EPSILON[np.dtype(dtype)] * np.abs(expected).max(initial=1)
    out = np.empty_like(x)
    assert apply_phases(x, phases(positions, speeds), layout=layout, out=out) is out
    assert np.abs(out.astype(float) - expected).max(initial=0) <= bound


def test_phases_of_another_modulus_change_lengths():
    turned = apply_phases([1.0, 2.0, 3.0, 4.0], np.array([2j, 0.5]), layout="half-split")
    assert turned.tolist() == [-6.0, 1.0, 2.0, 2.0]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_phases_are_computed_once_for_all_heads(layout, monkeypatch):
    asked = []

    def counting(compute):
        def counted(positions, speeds):
            asked.append(positions.size)
            return compute(positions, speeds)

        return counted

    for name in ("_turns", "_spin"):
        monkeypatch.setattr(angles, name, counting(getattr(angles, name)))
    positions, speeds = np.arange(2048), frequencies(64)
    rotate(np.ones((2, 8, 2048, 64)), positions, speeds, layout=layout)
    assert sum(asked) == 2048
    asked.clear()
    rotate(np.ones((2, 8, 2048, 64), np.float32), positions, speeds, layout=layout)
    assert sum(asked) == 33 + 65  # coarse and fine parts


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize("in_place", [True, False])
def test_memory_is_that_of_the_phases_and_a_few_blocks(layout, dtype, in_place):
    x = np.ones((16, 1024, 128), dtype)
    out = x if in_place else np.zeros_like(x)
    positions, speeds = np.arange(1024), frequencies(128)
    tracemalloc.start()
    try:
        rotate(x, positions, speeds, layout=layout, out=out)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    phase_bytes, block_bytes = 1024 * 64 * 16, 2**17
    # Interleaved: the two buffers of NumPy's own. Half-split: cosines, sines and a spare block,
    # and a copy in float32 of what is narrower.
    assert peak <= phase_bytes + (2.2 if layout == "interleaved" else 4.2) * block_bytes
    assert peak < 0.6 * 16 * 1024 * 128 * 4  # nowhere near a copy of x in float32


@pytest.mark.parametrize("layout", LAYOUTS)
def test_decoding_of_a_batch_turns_every_row(layout):
    # A batch of single tokens once was taken for one sequence, elsewhere.
    x = np.ones((2, 1, 1, 256), np.float32)
    turned = rotate(x, 6, frequencies(256), layout=layout)
    assert np.array_equal(turned[0], turned[1])
    if layout == "half-split":
        assert turned[0, 0, 0, :4] == pytest.approx(
            [1.239585785, 1.409030045, 1.350210754, 1.114842949], rel=1e-6
        )
    apart = rotate(x, [[[5]], [[9]]], frequencies(256), layout=layout)
    assert same(apart[1], rotate(x[1], 9, frequencies(256), layout=layout), layout)
    assert not np.array_equal(apart[0], apart[1])


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: phases(np.nan, [1.0]), ValueError, "positions must be finite, got nan"),
        (lambda: phases("1", [1.0]), TypeError, "positions must hold real numbers"),
        (lambda: phases(True, [1.0]), TypeError, "positions must hold real numbers"),
        (lambda: phases(10**30, [1.0]), TypeError, "positions must hold real numbers"),
        (lambda: phases([[1], [1, 2]], [1.0]), ValueError, "positions must be a regular array"),
        (lambda: phases(1, 1.0), ValueError, "frequencies must be a vector"),
        (lambda: phases(1, [1j]), TypeError, "frequencies must hold real numbers"),
        (
            lambda: phases([1e300], [1e10]),
            ValueError,
            r"must be finite angles, got positions up to 1e\+300 and frequencies up to 1e\+10",
        ),
        (lambda: apply_phases([1.0, 2], [1.0]), TypeError, "phases must hold complex numbers"),
        (lambda: apply_phases([1.0, 2], 1j), ValueError, "one for each pair, got shape \\(\\)"),
        (lambda: apply_phases([1.0, 2], [np.nan * 1j]), ValueError, "phases must be finite"),
        (lambda: apply_phases([1.0, 2], [[1j], [1j, 1]]), ValueError, "must be a regular array"),
        (lambda: apply_phases([1.0, 2], [1j, 1]), ValueError, "must hold at least 2 \\* 2 comp"),
        (
            lambda: apply_phases(np.ones((3, 2)), np.ones((2, 1), complex)),
            ValueError,
            "phases without their last axis must broadcast",
        ),
        (
            lambda: rotate(np.ones((3, 2), np.float32), -1e300, [1e10]),
            ValueError,
            "must be finite angles",
        ),
    ],
)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()
