"""posenc.rotary against JAX: a third opinion, written here and differentiated by JAX."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.scipy.linalg import expm
from tolerances import UNIT, UNIT64, assert_within, frequency_error, rotation_error

from posenc.absolute import frequencies
from posenc.rotary import rotate, rotation, score_frequency_gradient

LAYOUTS = ("interleaved", "half-split")
rng = np.random.default_rng(3)


@jax.jit
def turn_interleaved(x, positions, speeds):
    """Multiply complex numbers."""
    pairs = x.reshape(*x.shape[:-1], -1, 2)
    numbers = jax.lax.complex(pairs[..., 0], pairs[..., 1])
    turned = numbers * jnp.exp(1j * positions[..., None] * speeds)
    return jnp.stack([turned.real, turned.imag], axis=-1).reshape(x.shape)


@jax.jit
def turn_halves(x, positions, speeds):
    """Add the vector and its quarter turn, weighted by cosine and sine."""
    angles = positions[..., None] * speeds
    first, second = jnp.split(x, 2, axis=-1)
    cosine = jnp.tile(jnp.cos(angles), 2)
    sine = jnp.tile(jnp.sin(angles), 2)
    return x * cosine + jnp.concatenate([-second, first], axis=-1) * sine


TURN = {"interleaved": turn_interleaved, "half-split": turn_halves}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("width", [2, 6, 64])
@pytest.mark.parametrize(
    ("dtype", "unit"), [(np.float32, UNIT), (np.float64, UNIT64)], ids=["float32", "float64"]
)
def test_rotation(layout, width, dtype, unit):
    positions = np.array([[0, 1, -1, 4095, 1_000_003], [-70_000, 5, 5, 2, 31]])
    x = rng.normal(size=(3, 2, 5, width)).astype(dtype)
    exponents = -jnp.arange(0, width, 2, dtype=dtype) / width
    speeds = jnp.asarray(10_000.0, dtype) ** exponents
    theirs = TURN[layout](jnp.asarray(x), jnp.asarray(positions, dtype), speeds)
    assert theirs.dtype == dtype
    ours = frequencies(width)
    assert_within(ours, speeds, ours * frequency_error(ours, unit))
    bound = rotation_error(x, positions, ours, layout, unit=unit)
    assert_within(rotate(x, positions, ours, layout=layout), theirs, bound)


def test_a_rotation_is_the_exponential_of_a_quarter_turn():
    angles = np.linspace(-7, 7, 29)
    quarter = jnp.array([[0.0, -1.0], [1.0, 0.0]])
    theirs = jax.vmap(lambda angle: expm(angle * quarter))(angles)
    # JAX sums a series for a fraction of the matrix and squares; that costs it three digits.
    assert_within(rotation(angles), theirs, 1e-12)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_gradient_of_the_score_in_each_frequency(layout):
    q, k = rng.normal(size=(2, 4, 8))
    query, key = np.array([0, 3, 9, 40]), np.array([0, 4, 1, 900])
    speeds = frequencies(8)

    def score(speeds, q, k, query, key):
        return TURN[layout](q, query, speeds) @ TURN[layout](k, key, speeds)

    gradient = jax.vmap(jax.grad(score), in_axes=(None, 0, 0, 0, 0))
    theirs = gradient(speeds, q, k, query.astype(float), key.astype(float))
    ours = score_frequency_gradient(q, k, key - query, speeds, layout=layout)
    # JAX subtracts two terms, of the size of the positions, where posenc has their difference.
    size = np.linalg.norm(q, axis=-1) * np.linalg.norm(k, axis=-1) * (query + key + 1)
    assert_within(ours, theirs, 1e3 * UNIT64 * (size * (query + key + 1))[:, np.newaxis])


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_gradient_in_the_vector_turns_back(layout):
    x, cotangent = rng.normal(size=(2, 5, 8))
    positions = np.array([0.0, 1, -3, 77, 4095])
    speeds = frequencies(8)
    _, back = jax.vjp(lambda x: TURN[layout](x, positions, speeds), x)
    (theirs,) = back(jnp.asarray(cotangent))
    ours = rotate(cotangent, positions, speeds, layout=layout, inverse=True)
    bound = rotation_error(cotangent, positions, speeds, layout, unit=UNIT64)
    assert_within(ours, theirs, bound)
