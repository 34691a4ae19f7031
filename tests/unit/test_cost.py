"""posenc.cost against known sizes, and against programs whose arithmetic is counted."""

import itertools
import math

import numpy as np
import pytest

from posenc import cost
from posenc.cost import Cost

LAYERS, HEADS, DIM, WIDTH, QUERIES, KEYS = 3, 2, 4, 6, 5, 7
SCORES = cost.score_count(layers=LAYERS, heads=HEADS, queries=QUERIES, keys=KEYS)


class Number:
    """A number that counts the flops spent on it."""

    spent = 0

    def __init__(self, value=0.5):
        self.value = value

    def _binary(self, other, operation):
        Number.spent += 1
        other = other.value if isinstance(other, Number) else other
        return Number(operation(self.value, other))

    def __add__(self, other):
        return self._binary(other, lambda a, b: a + b)

    def __mul__(self, other):
        return self._binary(other, lambda a, b: a * b)

    def __sub__(self, other):
        return self._binary(other, lambda a, b: a - b)

    def __truediv__(self, other):
        return self._binary(other, lambda a, b: a / b)

    def __pow__(self, other):
        return self._binary(other, lambda a, b: abs(a) ** b)

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, other):
        return self._binary(other, lambda a, b: b - a)

    def function(self):
        """Stand for an exponential, a logarithm or a sigmoid."""
        Number.spent += 1
        return Number(self.value)


def numbers(*shape):
    return np.array([Number() for _ in range(math.prod(shape))], dtype=object).reshape(shape)


def add_dot(start, a, b):
    for x, y in zip(a, b, strict=True):
        start = start + x * y
    return start


def product(matrix, rows):
    """Each row times the matrix, as accumulations that start from zero."""
    return np.array([[add_dot(Number(0), row, c) for c in matrix.T] for row in rows], object)


def flops_of(program):
    Number.spent = 0
    program()
    return Number.spent


def every_score():
    return itertools.product(range(LAYERS), range(HEADS), range(QUERIES), range(KEYS))


def add_to_inputs():
    for _ in range(QUERIES):
        numbers(WIDTH) + numbers(WIDTH)


def add_shaw(values):
    score, query, vector, weight = Number(), numbers(DIM), numbers(DIM), Number()
    for _ in every_score():
        add_dot(score, query, vector)
        if values:
            numbers(DIM) + numbers(DIM) * weight


def add_transformer_xl():
    u, v = numbers(HEADS, DIM), numbers(HEADS, DIM)
    for _ in range(LAYERS):
        product(numbers(WIDTH, HEADS * DIM), numbers(KEYS, WIDTH))
        for _ in range(QUERIES):
            query = numbers(HEADS, DIM)
            query + u
            query + v
    for _ in every_score():
        add_dot(Number(), numbers(DIM), numbers(DIM))


def add_table():
    for _ in every_score():
        Number() + Number()


def add_alibi_without_table():
    for *_, query, key in every_score():
        Number() + Number() * (key - query)


def add_tupe(relative):
    for _ in range(2):
        product(numbers(WIDTH, HEADS * DIM), numbers(QUERIES, WIDTH))
    numbers(QUERIES, HEADS * DIM) * Number()
    for _ in range(HEADS * QUERIES**2):
        position = add_dot(Number(0), numbers(DIM), numbers(DIM))
        if relative:
            position + Number()
    for _ in range(LAYERS * HEADS * QUERIES**2):
        Number() + Number()


def add_deberta(span):
    rows = 2 * span
    for _ in range(LAYERS):
        for _ in range(2):
            product(numbers(WIDTH, HEADS * DIM), numbers(rows, WIDTH))
        for _ in range(QUERIES * HEADS * rows):
            for _ in range(2):
                add_dot(Number(0), numbers(DIM), numbers(DIM))
    for _ in range(LAYERS * HEADS * QUERIES**2):
        Number() + Number() + Number()


def turn(vectors, rotary_width, scaled=False):
    cosine, sine = Number(), Number()
    for _ in range(vectors):
        for _ in range(rotary_width // 2):
            x, y = Number(), Number()
            x, y = x * cosine - y * sine, x * sine + y * cosine
            if scaled:
                x * Number()
                y * Number()


def add_kerple(variant):
    for _ in range(HEADS * KEYS):
        if variant == "log":
            Number() * (1 + Number() * 3).function()
        else:
            Number() * Number(3) ** 0.5
    add_table()


def add_fire(hidden):
    psi = [(Number() * i + 1).function() for i in range(KEYS)]
    norms = [(Number() * i + 1).function() + 1e-6 for i in range(QUERIES)]
    for norm, distance in itertools.product(norms, psi):
        x = distance / norm
        units = [Number() + Number() * x for _ in range(hidden)]
        for _ in range(HEADS):
            add_dot(Number(), units, numbers(hidden))
    add_table()


def add_cope(positions):
    for _ in range(LAYERS * QUERIES * HEADS * positions):
        add_dot(Number(0), numbers(DIM), numbers(DIM))
    total = Number(0)
    for _ in every_score():
        total = total + Number().function()
        part = total - math.floor(total.value)
        Number() + (part * Number() + (1 - part) * Number())


@pytest.mark.parametrize(
    ("counted", "program"),
    [
        (cost.no_positions(), lambda: None),
        (cost.learned_absolute(table_length=KEYS, width=WIDTH), add_to_inputs),
        (cost.sinusoidal(length=KEYS, width=WIDTH), add_to_inputs),
        (
            cost.shaw(layers=LAYERS, head_dim=DIM, clip=2, queries=QUERIES, keys=KEYS),
            lambda: add_shaw(values=True),
        ),
        (
            cost.shaw(
                layers=LAYERS, head_dim=DIM, clip=2, queries=QUERIES, keys=KEYS, values=False
            ),
            lambda: add_shaw(values=False),
        ),
        (
            cost.transformer_xl(layers=LAYERS, heads=HEADS, head_dim=DIM, width=WIDTH, keys=KEYS),
            add_transformer_xl,
        ),
        (cost.t5(heads=HEADS, queries=QUERIES, keys=KEYS), add_table),
        (cost.alibi(heads=HEADS, keys=KEYS), add_table),
        (cost.alibi(heads=HEADS, keys=KEYS, table=False), add_alibi_without_table),
        (cost.kerple(heads=HEADS, keys=KEYS), lambda: add_kerple("log")),
        (cost.kerple(heads=HEADS, keys=KEYS, variant="power"), lambda: add_kerple("power")),
        (cost.fire(heads=HEADS, queries=QUERIES, keys=KEYS, hidden=8), lambda: add_fire(8)),
        (cost.cope(layers=LAYERS, heads=HEADS, head_dim=DIM, positions=3), lambda: add_cope(3)),
        (
            cost.rope(layers=LAYERS, heads=HEADS, head_dim=DIM, length=KEYS),
            lambda: turn(QUERIES * LAYERS * 2 * HEADS, DIM),
        ),
        (
            cost.rope(
                layers=LAYERS, heads=HEADS, head_dim=DIM, length=KEYS, kv_heads=1, rotary_width=2
            ),
            lambda: turn(QUERIES * LAYERS * (HEADS + 1), 2),
        ),
        (
            cost.xpos(layers=LAYERS, heads=HEADS, head_dim=DIM, length=KEYS),
            lambda: turn(QUERIES * LAYERS * 2 * HEADS, DIM, scaled=True),
        ),
    ],
)
def test_flops_agree_with_a_program(counted, program):
    assert counted.flops(tokens=QUERIES, scores=SCORES) == flops_of(program)


@pytest.mark.parametrize("relative", [False, True])
def test_tupe_flops(relative):
    counted = cost.tupe(heads=HEADS, head_dim=DIM, width=WIDTH, length=QUERIES, relative=relative)
    scores = cost.score_count(layers=LAYERS, heads=HEADS, queries=QUERIES, keys=QUERIES)
    program = flops_of(lambda: add_tupe(relative))
    assert counted.flops(tokens=QUERIES, scores=scores) == program


def test_deberta_flops():
    counted = cost.deberta(layers=LAYERS, heads=HEADS, head_dim=DIM, width=WIDTH, span=3)
    scores = cost.score_count(layers=LAYERS, heads=HEADS, queries=QUERIES, keys=QUERIES)
    assert counted.flops(tokens=QUERIES, scores=scores) == flops_of(lambda: add_deberta(3))


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("queries", "keys"), [(1, 1), (1, 9), (4, 4), (3, 8)])
def test_score_count(queries, keys, causal):
    pairs = [
        (i, j) for i in range(keys - queries, keys) for j in range(keys) if j <= i or not causal
    ]
    counted = cost.score_count(layers=2, heads=3, queries=queries, keys=keys, causal=causal)
    assert counted == 6 * len(pairs)


BERT = {"layers": 12, "heads": 12, "head_dim": 64, "width": 768}


@pytest.mark.parametrize(
    ("counted", "parameters"),
    [
        (cost.no_positions(), 0),
        (cost.learned_absolute(table_length=512, width=512), 262_144),
        (cost.learned_absolute(table_length=512, width=768), 393_216),
        (cost.learned_absolute(table_length=1024, width=768), 786_432),
        (cost.sinusoidal(length=512, width=768), 0),
        (cost.shaw(layers=1, head_dim=64, clip=16, queries=1, keys=1), 4_224),
        (cost.shaw(layers=1, head_dim=64, clip=16, queries=1, keys=1, values=False), 2_112),
        (cost.shaw(layers=12, head_dim=64, clip=16, queries=1, keys=1), 12 * 4_224),
        (cost.shaw(layers=12, head_dim=64, clip=16, queries=1, keys=1, tables=8), 405_504),
        (cost.transformer_xl(**BERT, keys=512), 12 * 768**2 + 2 * 768),
        (cost.transformer_xl(**BERT, keys=512, untied=True), 12 * (768**2 + 2 * 768)),
        (cost.t5(heads=8, queries=1, keys=1), 256),
        (cost.t5(heads=12, queries=1, keys=1, stacks=2), 768),
        (
            cost.tupe(heads=12, head_dim=64, width=768, length=512),
            513 * 768 + 2 * (768**2 + 768) + 2 * 768,
        ),
        (
            cost.tupe(
                heads=12, head_dim=64, width=768, length=128, table_length=512, relative=True
            ),
            513 * 768 + 2 * (768**2 + 768) + 2 * 768 + 33 * 12,
        ),
        (cost.deberta(**BERT, span=512), 786_432 + 12 * 2 * 768**2),
        (cost.deberta(**BERT, span=512, shared=True), 786_432),
        (cost.rope(layers=32, heads=32, head_dim=128, length=4096), 0),
        (cost.xpos(layers=32, heads=32, head_dim=128, length=4096), 0),
        (cost.alibi(heads=12, keys=512), 0),
        (cost.kerple(heads=12, keys=512), 24),
        (cost.fire(heads=12, queries=4, keys=4), 462),
        (cost.cope(layers=12, heads=12, head_dim=64, positions=64), 12 * 64 * 64),
    ],
)
def test_parameters(counted, parameters):
    assert counted.parameters == parameters


@pytest.mark.parametrize(("length", "mebibytes"), [(4_096, 2), (131_072, 64), (1_048_576, 512)])
def test_rotary_tables(length, mebibytes):
    sizes = {"layers": 32, "heads": 32, "head_dim": 128, "length": length}
    assert cost.rope(**sizes).table_bytes == mebibytes * 2**20
    assert cost.rope(**sizes, full_width=True).table_bytes == 2 * mebibytes * 2**20
    assert cost.rope(**sizes, itemsize=2).table_bytes == mebibytes * 2**19
    assert cost.rope(**sizes, rotary_width=32).table_bytes == mebibytes * 2**18
    assert cost.xpos(**sizes).table_bytes == 3 * mebibytes * 2**19


@pytest.mark.parametrize(
    ("counted", "array"),
    [
        (cost.learned_absolute(table_length=9, width=6), np.zeros(0, np.float32)),
        (cost.sinusoidal(length=9, width=6, itemsize=8), np.zeros((9, 6))),
        (
            cost.shaw(layers=2, head_dim=4, clip=1, queries=3, keys=5, skewed=False),
            np.zeros((2, 3, 5, 4), np.float32),
        ),
        (
            cost.shaw(layers=2, head_dim=4, clip=1, queries=3, keys=5, values=False),
            np.zeros((len({j - i for i in range(3) for j in range(5)}), 4), np.float32),
        ),
        (
            cost.transformer_xl(layers=2, heads=3, head_dim=4, width=7, keys=5),
            np.zeros((2, 5, 3, 4), np.float32),
        ),
        (cost.t5(heads=3, queries=4, keys=5, stacks=2), np.zeros((2, 3, 4, 5), np.float32)),
        (cost.tupe(heads=3, head_dim=2, width=6, length=5), np.zeros((3, 5, 5), np.float32)),
        (cost.alibi(heads=3, keys=5), np.zeros((3, 5), np.float32)),
        (cost.alibi(heads=3, keys=5, table=False), np.zeros(3, np.float32)),
        (cost.kerple(heads=3, keys=5), np.zeros((3, 5), np.float32)),
        (cost.fire(heads=3, queries=2, keys=5), np.zeros((3, 2, 5), np.float32)),
    ],
)
def test_tables_are_as_large_as_the_arrays(counted, array):
    assert counted.table_bytes == array.nbytes


def test_flops_of_one_decoding_step():
    sizes = {"layers": 32, "heads": 32, "kv_heads": 8, "head_dim": 128}
    counted = cost.rope(**sizes, length=4096)
    assert counted.flops_per_token == 32 * 40 * 3 * 128
    assert counted.flops(tokens=1, scores=10**9) == counted.flops_per_token
    assert Cost(flops_per_score=2, flops_per_pass=5).flops(tokens=7, scores=3) == 11


SIZES = {"layers": 1, "heads": 1, "head_dim": 4, "width": 4, "length": 2, "queries": 1, "keys": 2}
FUNCTIONS = {
    "score_count": ("layers", "heads", "queries", "keys"),
    "learned_absolute": ("table_length", "width"),
    "sinusoidal": ("length", "width", "itemsize"),
    "shaw": ("layers", "head_dim", "clip", "queries", "keys", "itemsize"),
    "transformer_xl": ("layers", "heads", "head_dim", "width", "keys", "itemsize"),
    "t5": ("heads", "queries", "keys", "buckets", "stacks", "itemsize"),
    "tupe": ("heads", "head_dim", "width", "length", "table_length", "itemsize"),
    "deberta": ("layers", "heads", "head_dim", "width", "span"),
    "rope": ("layers", "heads", "head_dim", "length", "kv_heads", "rotary_width", "itemsize"),
    "xpos": ("layers", "heads", "head_dim", "length", "kv_heads", "itemsize"),
    "alibi": ("heads", "keys", "itemsize"),
    "kerple": ("heads", "keys", "itemsize"),
    "fire": ("heads", "queries", "keys", "hidden", "itemsize"),
    "cope": ("layers", "heads", "head_dim", "positions"),
}
OTHERS = {"table_length": 2, "clip": 1, "buckets": 32, "stacks": 1, "span": 2, "kv_heads": 1}
OTHERS |= {"rotary_width": 2, "hidden": 8, "positions": 3, "itemsize": 4}


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        (-1, ValueError, "{name} must be"),
        (-(10**30), ValueError, "{name} must be"),
        (2.0, TypeError, "{name} must be an integer, got 2.0"),
        (float("nan"), TypeError, "{name} must be an integer"),
        (True, TypeError, "{name} must be an integer, got True"),
        ("2", TypeError, "{name} must be an integer, got '2'"),
        ([2], TypeError, "{name} must be an integer"),
        (2j, TypeError, "{name} must be an integer"),
    ],
)
@pytest.mark.parametrize(("function", "names"), FUNCTIONS.items())
def test_bad_sizes(function, names, value, error, message):
    good = {name: (SIZES | OTHERS)[name] for name in names}
    assert getattr(cost, function)(**good) is not None
    for name in names:
        with pytest.raises(error, match=message.format(name=name)):
            getattr(cost, function)(**good | {name: value})


@pytest.mark.parametrize("function", FUNCTIONS)
def test_sizes_are_positive(function):
    good = {name: (SIZES | OTHERS)[name] for name in FUNCTIONS[function]}
    for name in set(good) - {"clip"}:
        with pytest.raises(ValueError, match=f"{name} must be"):
            getattr(cost, function)(**good | {name: 0})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: cost.score_count(layers=1, heads=1, queries=3, keys=2, causal=True),
            "queries must not exceed keys = 2 if causal, got 3",
        ),
        (
            lambda: cost.rope(layers=1, heads=1, head_dim=5, length=1),
            "head_dim must be a positive even number, got 5",
        ),
        (
            lambda: cost.rope(layers=1, heads=1, head_dim=4, length=1, rotary_width=3),
            "rotary_width must be a positive even number, got 3",
        ),
        (
            lambda: cost.rope(layers=1, heads=1, head_dim=4, length=1, rotary_width=6),
            "rotary_width must not exceed head_dim = 4, got 6",
        ),
        (
            lambda: cost.tupe(heads=1, head_dim=4, width=4, length=5, table_length=4),
            "table_length must be at least length = 5, got 4",
        ),
        (lambda: cost.kerple(heads=1, keys=1, variant="exp"), 'variant must be "log" or "power"'),
        (lambda: Cost().flops(tokens=-1, scores=0), "tokens must be at least 0, got -1"),
        (lambda: Cost().flops(tokens=0, scores=-1), "scores must be at least 0, got -1"),
    ],
)
def test_sizes_that_do_not_fit(call, message):
    with pytest.raises(ValueError, match=message):
        call()
