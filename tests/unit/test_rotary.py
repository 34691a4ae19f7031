"""posenc.rotary against worked examples, brute force and its own laws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from posenc.absolute import frequencies
from posenc.rotary import rotate, rotation, score_frequency_gradient

LAYOUTS = ("interleaved", "half-split")
rng = np.random.default_rng(7)


def by_loop(x, positions, speeds, layout):
    """Pair by pair with the 2x2 matrix: slow, and obviously what is meant."""
    out = np.array(x, dtype=float)
    positions = np.broadcast_to(positions, out.shape[:-1])
    pairs = len(speeds)
    for index in np.ndindex(*out.shape[:-1]):
        for r, speed in enumerate(speeds):
            i, j = (2 * r, 2 * r + 1) if layout == "interleaved" else (r, r + pairs)
            a = positions[index] * speed
            first, second = out[(*index, i)], out[(*index, j)]
            out[(*index, i)] = first * np.cos(a) - second * np.sin(a)
            out[(*index, j)] = first * np.sin(a) + second * np.cos(a)
    return out


def test_rotation_turns_counter_clockwise():
    assert rotation(np.pi / 2) @ [1, 0] == pytest.approx([0, 1], abs=1e-15)
    assert rotation([0.3, -2.0]).shape == (2, 2, 2)
    assert rotation(0.3)[0, 1] == -np.sin(0.3)
    assert rotation(0.3)[1, 0] == np.sin(0.3)


def test_worked_example_one_plane():
    q, k = np.array([1.0, 2.0]), np.array([3.0, -1.0])
    turned_q, turned_k = rotate(q, 1, [1.0]), rotate(k, 3, [1.0])
    assert turned_q == pytest.approx([-1.1426396637476533, 1.9220755965441759], rel=1e-15)
    assert turned_k == pytest.approx([-2.8288574817414692, 1.4133525207800471], rel=1e-15)
    assert turned_q @ turned_k == pytest.approx(5.9489351512326294808, rel=1e-15)
    assert rotate(q, 6, [1.0]) @ rotate(k, 8, [1.0]) == pytest.approx(5.94893515123263, rel=1e-14)
    assert rotate(q, 1, [1.0]) @ rotate(k, 1, [1.0]) == pytest.approx(1, rel=1e-15)


@pytest.mark.parametrize(
    ("position", "layout", "expected"),
    [
        (1, "interleaved", [-1.1426396637477, 1.9220755965442, 2.9598506679133, 4.0297995016692]),
        (2, "interleaved", [-2.2347416901985, 0.077003753731397, 2.9194053532264, 4.0591960267463]),
        (3, "interleaved", [-1.2722325127202, -1.8388649851410, 2.8786681004370, 4.0881866356034]),
        (1, "half-split", [-1.9841106485555, 1.9599006674967, 2.4623779024123, 4.0197996683350]),
        (2, "half-split", [-3.1440391170242, 1.9196053465598, -0.33914308281575, 4.0391973600530]),
        (3, "half-split", [-1.4133525207800, 1.8791180666880, -2.8288574817415, 4.0581911354009]),
    ],
)
def test_golden_vectors_two_planes(position, layout, expected):
    turned = rotate([1.0, 2.0, 3.0, 4.0], position, frequencies(4), layout=layout)
    assert turned == pytest.approx(expected, rel=1e-13)


def test_partial_rotation_copies_the_rest():
    x = np.arange(1.0, 9.0)
    turned = rotate(x, 2, frequencies(4), layout="half-split")
    assert turned[:4] == pytest.approx(
        [-3.144039117, 1.919605347, -0.339143083, 4.039197360], abs=1e-9
    )
    assert turned[4:].tolist() == [5, 6, 7, 8]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
@pytest.mark.parametrize(("width", "pairs"), [(2, 1), (6, 3), (7, 2), (16, 8)])
def test_agrees_with_the_loop(layout, dtype, width, pairs):
    x = rng.normal(size=(2, 3, 5, width)).astype(dtype)
    positions = rng.integers(-4000, 4000, size=(3, 5))
    speeds = frequencies(2 * pairs)
    turned = rotate(x, positions, speeds, layout=layout)
    assert turned.dtype == dtype
    bound = 8 * np.finfo(dtype).eps * np.max(np.abs(x.astype(float)))
    assert np.max(np.abs(turned - by_loop(x, positions, speeds, layout))) <= bound


@pytest.mark.parametrize("layout", LAYOUTS)
def test_strided_input_and_output(layout):
    storage = rng.normal(size=(4, 12))
    x = storage[:, ::2]
    speeds, positions = frequencies(6), np.arange(4) + 5
    expected = by_loop(x, positions, speeds, layout)
    assert np.allclose(rotate(x, positions, speeds, layout=layout), expected, atol=1e-14)
    out = np.zeros((4, 12))[:, 1::2]
    assert rotate(x, positions, speeds, layout=layout, out=out) is out
    assert np.allclose(out, expected, atol=1e-14)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_out_may_be_the_input_or_overlap_it(layout):
    speeds = frequencies(4)
    x = rng.normal(size=(3, 5))
    expected = by_loop(x, 9, speeds, layout)
    assert np.allclose(rotate(x, 9, speeds, layout=layout, out=x), expected, atol=1e-14)

    storage = rng.normal(size=16)
    expected = by_loop(storage[:15].reshape(3, 5), 9, speeds, layout)
    shifted = storage[1:].reshape(3, 5)
    rotate(storage[:15].reshape(3, 5), 9, speeds, layout=layout, out=shifted)
    assert np.allclose(shifted, expected, atol=1e-14)


def test_input_is_left_alone_and_integers_become_float64():
    x = np.array([3, 4])
    assert rotate(x, 1, [np.pi / 2]) == pytest.approx([-4, 3], abs=1e-15)
    assert x.tolist() == [3, 4]
    y = np.array([3.0, 4.0])
    rotate(y, 1, [1.0])
    assert y.tolist() == [3, 4]


def test_empty_length_is_allowed():
    assert rotate(np.empty((2, 0, 4)), np.arange(0), frequencies(4)).shape == (2, 0, 4)


finite = st.floats(-100, 100, width=32)
places = st.integers(-(10**6), 10**6)


@given(
    hnp.arrays(float, st.sampled_from([(4,), (3, 6), (2, 2, 8)]), elements=finite),
    places,
    places,
    st.sampled_from(LAYOUTS),
)
def test_laws(x, m, n, layout):
    speeds = frequencies(x.shape[-1])
    turned = rotate(x, m, speeds, layout=layout)
    scale = 1e-9 * (1 + np.max(np.abs(x)))
    # Length is kept, the inverse undoes, positions add.
    assert np.allclose(np.linalg.norm(turned, axis=-1), np.linalg.norm(x, axis=-1), atol=scale)
    assert np.allclose(rotate(turned, m, speeds, layout=layout, inverse=True), x, atol=scale)
    assert np.allclose(
        rotate(turned, n, speeds, layout=layout),
        rotate(x, m + n, speeds, layout=layout),
        atol=scale,
    )


@given(hnp.arrays(float, (2, 6), elements=finite), places, places, places, st.sampled_from(LAYOUTS))
def test_score_keeps_under_a_common_shift(qk, m, n, shift, layout):
    def score(i, j):
        speeds = frequencies(6)
        q, k = rotate(qk[0], i, speeds, layout=layout), rotate(qk[1], j, speeds, layout=layout)
        return q @ k

    scale = 1 + np.abs(qk).max() ** 2
    assert score(m, n) == pytest.approx(score(m + shift, n + shift), abs=1e-8 * scale)
    assert score(m, n) == pytest.approx(score(0, n - m), abs=1e-8 * scale)


def test_gradient_worked_example():
    gradient = score_frequency_gradient([1, 2], [3, -1], 2, [1.0])
    assert gradient == pytest.approx([-7.6446505653113568088], rel=1e-15)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("offset", [-37, 0, 2, 300])
@pytest.mark.parametrize("width", [2, 6])
def test_gradient_agrees_with_finite_differences(layout, offset, width):
    q, k = rng.normal(size=(2, width))
    speeds = frequencies(width) * 0.7
    step = 1e-6

    def score(w):
        return rotate(q, 0, w, layout=layout) @ rotate(k, offset, w, layout=layout)

    numeric = [
        (score(speeds + step * unit) - score(speeds - step * unit)) / (2 * step)
        for unit in np.eye(width // 2)
    ]
    exact = score_frequency_gradient(q, k, offset, speeds, layout=layout)
    assert exact == pytest.approx(numeric, rel=1e-5, abs=1e-6)


def test_gradient_broadcasts():
    q, k = rng.normal(size=(2, 5, 4))
    offsets = np.arange(5) - 2
    batch = score_frequency_gradient(q, k, offsets, frequencies(4))
    assert batch.shape == (5, 2)
    assert batch[4] == pytest.approx(score_frequency_gradient(q[4], k[4], 2, frequencies(4)))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: rotation(np.nan), ValueError, "angle must be finite, got nan"),
        (lambda: rotation(1j), TypeError, "angle must hold real numbers, got dtype complex128"),
        (lambda: rotation("1"), TypeError, "angle must hold real numbers"),
        (lambda: rotation(True), TypeError, "angle must hold real numbers, got dtype bool"),
        (lambda: rotate([1.0, 2], np.inf, [1.0]), ValueError, "positions must be finite, got inf"),
        (lambda: rotate([1.0, 2], 1, [np.nan]), ValueError, "frequencies must be finite"),
        (lambda: rotate([1.0, 2], 1, []), ValueError, "frequencies must be a vector"),
        (lambda: rotate([1.0, 2], 1, [[1.0]]), ValueError, r"got shape \(1, 1\)"),
        (lambda: rotate([1j, 2], 1, [1.0]), TypeError, "x must hold real numbers"),
        (lambda: rotate([[1.0], [2, 3]], 1, [1.0]), ValueError, "x must be a regular array"),
        (lambda: rotate(3.0, 1, [1.0]), ValueError, "last axis of x must hold at least 2 \\* 1"),
        (lambda: rotate(np.ones(3), 1, [1.0, 2]), ValueError, r"got shape \(3,\)"),
        (
            lambda: rotate(np.ones((4, 2)), [0, 1, 2], [1.0]),
            ValueError,
            r"positions must broadcast against x.shape\[:-1\] = \(4,\), got shape \(3,\)",
        ),
        (lambda: rotate([1.0, 2], [0, 1], [1.0]), ValueError, r"got shape \(2,\)"),
        (
            lambda: rotate([1.0, 2], 0, [1.0], layout="neox"),
            ValueError,
            'layout must be "interleaved" or "half-split", got \'neox\'',
        ),
        (
            lambda: rotate([1.0, 2], 0, [1.0], out=np.zeros(2, np.float32)),
            TypeError,
            "out must be an array of dtype float64, got float32",
        ),
        (lambda: rotate([1.0, 2], 0, [1.0], out=[0, 0]), TypeError, "float64, got list"),
        (
            lambda: rotate([1.0, 2], 0, [1.0], out=np.zeros(3)),
            ValueError,
            r"out must have the shape of x, \(2,\), got \(3,\)",
        ),
        (
            lambda: score_frequency_gradient([1, 2, 3], [1, 2, 3], 1, [1.0]),
            ValueError,
            r"last axis of q must hold 2 \* 1 components",
        ),
        (
            lambda: score_frequency_gradient([1, 2], [1], 1, [1.0]),
            ValueError,
            "last axis of k",
        ),
        (
            lambda: score_frequency_gradient([1, np.inf], [1, 2], 1, [1.0]),
            ValueError,
            "q must be finite, got inf",
        ),
    ],
)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize("angle", [-400.0, -7.0, -3.5, 3.5, 400.0])
def test_rotation_by_more_than_half_a_turn(angle):
    c, s = np.cos(angle), np.sin(angle)
    assert rotation(angle).tolist() == [[c, -s], [s, c]]


@pytest.mark.parametrize("position", [20_000_001, 123_456_789, -999_999_937])
def test_far_positions_in_float64(position):
    turned = np.exp(1j * position)
    assert rotate([1.0, 0.0], position, [1.0]).tolist() == [turned.real, turned.imag]


def test_far_positions_in_float32():
    far = 1_000_000_000 + np.arange(100)
    turned = rotate(np.tile(np.float32([1, 0]), (100, 1)), far, [1.0])
    assert np.abs(turned[:, 0] - np.cos(far.astype(float))).max() < 2e-7


@pytest.mark.parametrize("layout", ["interleaved", "half-split"])
def test_the_transpose_of_the_input_may_be_the_output(layout):
    x = np.random.default_rng(5).normal(size=(512, 512))
    wanted = rotate(x, np.arange(512), [1.0, 0.1], layout=layout)
    assert np.array_equal(rotate(x, np.arange(512), [1.0, 0.1], layout=layout, out=x.T), wanted)
