"""posenc.attention against worked examples and hand-made masks."""

import numpy as np
import pytest

from posenc.attention import attention, causal_mask, softmax

X = np.array([[1.0, 0], [0, 2], [1, 1]])
ORDER = [2, 0, 1]


def test_softmax():
    assert softmax([0.0, np.log(3)]) == pytest.approx([0.25, 0.75], rel=1e-15)
    assert softmax([1000.0, 1000.0, -np.inf]).tolist() == [0.5, 0.5, 0]
    columns = softmax([[0.0, 5.0], [np.log(4), 5.0]], axis=0)
    assert columns == pytest.approx(np.array([[0.2, 0.5], [0.8, 0.5]]), rel=1e-15)
    assert softmax(np.zeros(3, np.float32)).dtype == np.float32
    assert softmax([1, 1]).tolist() == [0.5, 0.5]


def test_causal_mask():
    assert causal_mask(3).tolist() == [[True, False, False], [True, True, False], [True] * 3]


def test_self_attention_moves_with_its_tokens():
    output, weights = attention(X, X, X)
    assert output == pytest.approx(
        np.array(
            [
                [0.802224185, 0.796663722],
                [0.232082064, 1.722529573],
                [0.598887907, 1.203336278],
            ]
        ),
        abs=1e-9,
    )
    assert weights.sum(axis=-1) == pytest.approx(np.ones(3), rel=1e-15)
    assert attention(X[ORDER], X[ORDER], X[ORDER])[0] == pytest.approx(output[ORDER], rel=1e-14)


def test_causal_attention_does_not():
    output, weights = attention(X, X, X, mask=causal_mask(3))
    assert output[1] == pytest.approx([0.055807219, 1.888385562], abs=1e-9)
    assert (weights[~causal_mask(3)] == 0).all()
    moved, _ = attention(X[ORDER], X[ORDER], X[ORDER], mask=causal_mask(3))
    assert moved == pytest.approx(
        np.array([[1, 1], [1, 0.5], [0.232082064, 1.722529573]]), abs=1e-9
    )


def test_four_token_step_without_positions():
    q = np.array([[1.0, 0]])
    k = np.array([[0.9, 0.1], [1, 0], [0.2, 0.2], [0.4, 0.6]])
    v = np.array([[0.5, 0.5], [2, 0], [0, 0.1], [0.7, 0.3]])
    output, weights = attention(q, k, v)
    assert weights[0] == pytest.approx(
        [0.295417007253633, 0.317062406426310, 0.180082160730251, 0.207438425589806], rel=1e-14
    )
    assert output[0] == pytest.approx([0.927040214392302, 0.227948247376783], rel=1e-14)


def test_bias_is_added_after_scaling():
    scores = np.array([0.2, 1, -0.5, 0.3])
    bias = -0.5 * np.array([3, 2, 1, 0])
    _, weights = attention(np.ones((1, 1)), scores[:, None], np.ones((4, 1)), bias=bias)
    assert weights[0] == pytest.approx(
        [0.091139526, 0.334417958, 0.123025491, 0.451417025], abs=1e-9
    )
    _, scaled = attention(
        np.ones((1, 1)), 4 * scores[:, None], np.ones((4, 1)), bias=bias, scale=0.25
    )
    assert scaled == pytest.approx(weights, rel=1e-14)


def test_batch_axes_and_value_width():
    rng = np.random.default_rng(3)
    q, k, v = rng.normal(size=(2, 5, 3, 4)), rng.normal(size=(5, 7, 4)), rng.normal(size=(7, 6))
    output, weights = attention(q, k, v)
    assert output.shape == (2, 5, 3, 6)
    alone, _ = attention(q[1, 3], k[3], v)
    assert output[1, 3] == pytest.approx(alone, rel=1e-13)
    assert weights.shape == (2, 5, 3, 7)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: softmax([-np.inf, -np.inf]), ValueError, "finite largest entry, got -inf"),
        (lambda: softmax([0.0, np.nan]), ValueError, "finite largest entry, got nan"),
        (lambda: softmax([]), ValueError, "scores must hold at least one number"),
        (lambda: softmax("a"), TypeError, "scores must hold real numbers"),
        (lambda: causal_mask(0), ValueError, "length must be positive, got 0"),
        (lambda: causal_mask(2.0), TypeError, "length must be an integer, got 2.0"),
        (lambda: attention([1.0], X, X), ValueError, r"q must have shape .* got \(1,\)"),
        (lambda: attention(X, X[:, :1], X), ValueError, "q and k must have the same width"),
        (lambda: attention(X, X, X[:2]), ValueError, "k and v must have the same length"),
        (lambda: attention(X, X, X, mask=np.tri(3)), TypeError, "mask must be boolean"),
        (
            lambda: attention(X, X, X, mask=np.tri(3, k=-1, dtype=bool)),
            ValueError,
            r"mask must allow each query some key, but row \(0,\) allows none",
        ),
        (
            lambda: attention(X, X, X, mask=causal_mask(2)),
            ValueError,
            r"mask must broadcast against \(..., queries, keys\) = \(3, 3\), got shape \(2, 2\)",
        ),
        (lambda: attention(X, X, X, bias=np.zeros(2)), ValueError, "bias must broadcast"),
        (lambda: attention(X * 1j, X, X), TypeError, "q must hold real numbers"),
    ],
)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_a_scale_of_zero_is_a_scale():
    _, weights = attention([[3.0]], [[1.0], [2.0]], np.eye(2), scale=0.0)
    assert weights.tolist() == [[0.5, 0.5]]


def test_mask_and_bias_of_each_batch_are_its_own():
    rng = np.random.default_rng(4)
    q, k, v = rng.normal(size=(3, 2, 3, 4))
    mask = np.array([np.eye(3, dtype=bool), np.tri(3, dtype=bool)])
    bias = rng.normal(size=(2, 3, 3))
    together, _ = attention(q, k, v, mask=mask, bias=bias)
    for i in range(2):
        alone, _ = attention(q[i], k[i], v[i], mask=mask[i], bias=bias[i])
        assert together[i] == pytest.approx(alone, rel=1e-13)
    mask[1, 2] = False
    with pytest.raises(ValueError, match=r"row \(1, 2\)"):
        attention(q, k, v, mask=mask)


def test_what_is_masked_has_no_weight_however_large_its_score():
    _, weights = attention([[1.0]], [[0.0], [1e12]], np.eye(2), mask=[[True, False]])
    assert weights.tolist() == [[1.0, 0.0]]
