"""What each position method costs: parameters, arithmetic and memory.

Conventions, the same for every function:

- A multiplication and an addition count one flop each; subtraction counts as
  addition. A product of two vectors of n components counts 2n: it is added to
  something, if only to zero. An exponential, logarithm, power, division or
  sigmoid counts one. Lookups, comparisons, clipping, casts and sign changes
  count nothing, nor does arithmetic on integers such as key - query.
- Only what the method adds to attention without positions is counted, in the
  forward pass. Building a table that depends on nothing but the length is not
  counted; applying it is.
- Sizes are those of one sequence: `layers` layers of `heads` heads of
  `head_dim` components, embeddings of `width`, `queries` and `keys` positions.
- Memory is what must be held beside the parameters: tables, projected
  positions, or a bias that is written out. A table shared by all layers counts
  once, and what a layer frees for the next one counts once.

Position interpolation, NTK-aware scaling, YaRN, LongRoPE and the scaling of
Llama 3 change the numbers in the tables of :func:`rope`, not its cost.
"""

from dataclasses import dataclass
from typing import Literal

from posenc import _checks

__all__ = [
    "Cost",
    "alibi",
    "cope",
    "deberta",
    "fire",
    "kerple",
    "learned_absolute",
    "no_positions",
    "rope",
    "score_count",
    "shaw",
    "sinusoidal",
    "t5",
    "transformer_xl",
    "tupe",
    "xpos",
]


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Cost of a position method on top of attention without positions.

    Attributes
    ----------
    parameters : int
        Learned numbers of the whole model.
    flops_per_token : int
        For each new token, all layers and heads together.
    flops_per_score : int
        For each (query, key) pair that is scored, in one head of one layer.
    flops_per_pass : int
        Once for each forward pass, all layers and heads together.
    table_bytes : int
        Bytes held beside the parameters.
    """

    parameters: int = 0
    flops_per_token: int = 0
    flops_per_score: int = 0
    flops_per_pass: int = 0
    table_bytes: int = 0

    def flops(self, *, tokens: int, scores: int) -> int:
        """Return the flops of one forward pass.

        Parameters
        ----------
        tokens : int
            New tokens: all of a prompt, or one when decoding with a cache.
        scores : int
            Pairs that are scored, see :func:`score_count`.
        """
        tokens = _checks.at_least("tokens", tokens, 0)
        scores = _checks.at_least("scores", scores, 0)
        return self.flops_per_token * tokens + self.flops_per_score * scores + self.flops_per_pass


def score_count(*, layers: int, heads: int, queries: int, keys: int, causal: bool = False) -> int:
    """Return how many (query, key) pairs a forward pass scores.

    Parameters
    ----------
    layers, heads, queries, keys : int
    causal : bool, optional
        Leave out keys after the query; the queries are the last positions.

    Raises
    ------
    TypeError
        If a size is no integer.
    ValueError
        If a size is not positive, or `causal` and there are more queries than
        keys.

    Examples
    --------
    >>> score_count(layers=1, heads=1, queries=3, keys=5, causal=True)
    12
    """
    layers, heads = _size("layers", layers), _size("heads", heads)
    queries, keys = _size("queries", queries), _size("keys", keys)
    if not causal:
        return layers * heads * queries * keys
    if queries > keys:
        raise ValueError(f"queries must not exceed keys = {keys} if causal, got {queries}")
    return layers * heads * (queries * (keys - queries) + queries * (queries + 1) // 2)


def no_positions() -> Cost:
    """Return the cost of using no position method: none."""
    return Cost()


def learned_absolute(*, table_length: int, width: int) -> Cost:
    """Return the cost of a learned vector for each position, added to the token's.

    Parameters
    ----------
    table_length : int
        Rows of the table; models may keep more than the longest input, such as
        514 for 512 tokens in RoBERTa.
    width : int

    Examples
    --------
    >>> learned_absolute(table_length=512, width=768).parameters
    393216
    """
    rows, width = _size("table_length", table_length), _size("width", width)
    return Cost(parameters=rows * width, flops_per_token=width)


def sinusoidal(*, length: int, width: int, itemsize: int = 4) -> Cost:
    """Return the cost of a sinusoidal code added to each token, from a table.

    Parameters
    ----------
    length : int
        Positions in the table.
    width : int
    itemsize : int, optional
        Bytes of one number.
    """
    length, width = _size("length", length), _size("width", width)
    return Cost(flops_per_token=width, table_bytes=length * width * _size("itemsize", itemsize))


def shaw(
    *,
    layers: int,
    head_dim: int,
    clip: int,
    queries: int,
    keys: int,
    values: bool = True,
    tables: int = 1,
    skewed: bool = True,
    itemsize: int = 4,
) -> Cost:
    """Return the cost of Shaw's vectors for relative positions.

    Parameters
    ----------
    layers, head_dim : int
    clip : int
        Distance from which on all keys of one side share a vector.
    queries, keys : int
    values : bool, optional
        Whether vectors are added to the values too.
    tables : int, optional
        Tables in each layer, for keys and as many for values: 1 if its heads
        share them, as in tensor2tensor; the number of heads if each has its
        own, as in the base model of the paper.
    skewed : bool, optional
        Hold one vector per distance (Huang et al. 2018) instead of one per
        pair of positions.
    itemsize : int, optional
        Bytes of one number.

    References
    ----------
    Shaw et al., "Self-Attention with Relative Position Representations" (2018);
    Huang et al., "Music Transformer" (2018).

    Examples
    --------
    >>> shaw(layers=1, head_dim=64, clip=16, queries=1, keys=1).parameters
    4224
    """
    layers, head_dim = _size("layers", layers), _size("head_dim", head_dim)
    clip = _checks.at_least("clip", clip, 0)
    queries, keys = _size("queries", queries), _size("keys", keys)
    sides = 2 if values else 1
    rows = queries + keys - 1 if skewed else queries * keys
    return Cost(
        parameters=layers * _size("tables", tables) * sides * (2 * clip + 1) * head_dim,
        flops_per_score=sides * 2 * head_dim,
        table_bytes=sides * rows * head_dim * _size("itemsize", itemsize),
    )


def transformer_xl(
    *,
    layers: int,
    heads: int,
    head_dim: int,
    width: int,
    keys: int,
    untied: bool = False,
    itemsize: int = 4,
) -> Cost:
    """Return the cost of Transformer-XL's relative score.

    Parameters
    ----------
    layers, heads, head_dim, width : int
    keys : int
        Positions that are projected in each layer, memory included.
    untied : bool, optional
        Whether each layer has its own u and v.
    itemsize : int, optional
        Bytes of one number.

    References
    ----------
    Dai et al., "Transformer-XL" (2019), section 3.3.
    """
    layers, heads, head_dim = _model(layers, heads, head_dim)
    width, keys = _size("width", width), _size("keys", keys)
    inner = heads * head_dim
    return Cost(
        parameters=layers * width * inner + 2 * inner * (layers if untied else 1),
        flops_per_token=layers * 2 * inner,  # q + u and q + v
        flops_per_score=2 * head_dim,
        flops_per_pass=layers * keys * 2 * width * inner,
        table_bytes=layers * keys * inner * _size("itemsize", itemsize),
    )


def t5(
    *,
    heads: int,
    queries: int,
    keys: int,
    buckets: int = 32,
    stacks: int = 1,
    itemsize: int = 4,
) -> Cost:
    """Return the cost of T5's bias, written out once for all layers of a stack.

    Parameters
    ----------
    heads, queries, keys : int
    buckets : int, optional
    stacks : int, optional
        2 for encoder and decoder, each with its own table.
    itemsize : int, optional
        Bytes of one number.

    References
    ----------
    Raffel et al., "Exploring the Limits of Transfer Learning" (2020), section 2.1.
    """
    heads, stacks = _size("heads", heads), _size("stacks", stacks)
    queries, keys = _size("queries", queries), _size("keys", keys)
    return Cost(
        parameters=stacks * _size("buckets", buckets) * heads,
        flops_per_score=1,
        table_bytes=stacks * heads * queries * keys * _size("itemsize", itemsize),
    )


def tupe(
    *,
    heads: int,
    head_dim: int,
    width: int,
    length: int,
    table_length: int | None = None,
    relative: bool = False,
    itemsize: int = 4,
) -> Cost:
    """Return the cost of TUPE: a score of positions, shared by all layers.

    Parameters
    ----------
    heads, head_dim, width : int
        The projections have width ``heads * head_dim``.
    length : int
        Positions of the input.
    table_length : int, optional
        Longest input; default `length`. The released table has one row more.
    relative : bool, optional
        TUPE-R: add a bias with 33 entries per head.
    itemsize : int, optional
        Bytes of one number.

    Notes
    -----
    Counted as released: projections with biases, and a layer norm of the
    positions, whose 2 * width parameters count and whose arithmetic does not.

    References
    ----------
    Ke et al., "Rethinking Positional Encoding in Language Pre-training" (2021).
    """
    heads, head_dim, width = (
        _size("heads", heads),
        _size("head_dim", head_dim),
        _size("width", width),
    )
    length = _size("length", length)
    rows = 1 + (length if table_length is None else _size("table_length", table_length))
    if rows <= length:
        raise ValueError(f"table_length must be at least length = {length}, got {table_length}")
    inner = heads * head_dim
    pairs = heads * length**2
    return Cost(
        parameters=rows * width
        + 2 * (width + 1) * inner
        + 2 * width
        + (33 * heads if relative else 0),
        flops_per_score=1,
        flops_per_pass=2 * length * 2 * width * inner
        + length * inner  # the scale, applied to the queries
        + pairs * 2 * head_dim
        + (pairs if relative else 0),
        table_bytes=pairs * _size("itemsize", itemsize),
    )


def deberta(
    *, layers: int, heads: int, head_dim: int, width: int, span: int, shared: bool = False
) -> Cost:
    """Return the cost of DeBERTa's content-to-position and position-to-content terms.

    Parameters
    ----------
    layers, heads, head_dim, width : int
    span : int
        Largest relative distance k; the table has 2k rows.
    shared : bool, optional
        Whether positions are projected with the content's matrices, as in the
        released version 2 and 3 models.

    Notes
    -----
    Each token meets all 2k positions once as a query and once as a key; scores
    then gather two numbers each. Biases of the projections are not counted.

    References
    ----------
    He et al., "DeBERTa" (2021), section 3.1.
    """
    layers, heads, head_dim = _model(layers, heads, head_dim)
    width, rows = _size("width", width), 2 * _size("span", span)
    inner = heads * head_dim
    return Cost(
        parameters=rows * width + (0 if shared else layers * 2 * width * inner),
        flops_per_token=layers * 2 * rows * 2 * inner,
        flops_per_score=2,
        flops_per_pass=layers * 2 * rows * 2 * width * inner,
    )


def rope(
    *,
    layers: int,
    heads: int,
    head_dim: int,
    length: int,
    kv_heads: int | None = None,
    rotary_width: int | None = None,
    full_width: bool = False,
    itemsize: int = 4,
) -> Cost:
    """Return the cost of rotating queries and keys with a table of cosines and sines.

    Parameters
    ----------
    layers, heads, head_dim : int
    length : int
        Positions in the table.
    kv_heads : int, optional
        Heads of keys if fewer than `heads`.
    rotary_width : int, optional
        Components that are rotated; default `head_dim`.
    full_width : bool, optional
        Hold each cosine and sine twice, so that tables are as wide as vectors.
    itemsize : int, optional
        Bytes of one number.

    References
    ----------
    Su et al., "RoFormer" (2021), section 3.4.2.

    Examples
    --------
    >>> rope(layers=1, heads=1, head_dim=128, length=131072).table_bytes // 2**20
    64
    """
    layers, heads, head_dim = _model(layers, heads, head_dim)
    width = head_dim if rotary_width is None else rotary_width
    width = _checks.even_width("head_dim" if rotary_width is None else "rotary_width", width)
    if width > head_dim:
        raise ValueError(f"rotary_width must not exceed head_dim = {head_dim}, got {width}")
    vectors = layers * (heads + (heads if kv_heads is None else _size("kv_heads", kv_heads)))
    numbers = _size("length", length) * width * (2 if full_width else 1)
    return Cost(
        flops_per_token=vectors * 3 * width,  # 4 products and 2 sums for each pair
        table_bytes=numbers * _size("itemsize", itemsize),
    )


def xpos(
    *,
    layers: int,
    heads: int,
    head_dim: int,
    length: int,
    kv_heads: int | None = None,
    itemsize: int = 4,
) -> Cost:
    """Return the cost of xPos: rotation, and a scale for each pair.

    Parameters are those of :func:`rope`.

    References
    ----------
    Sun et al., "A Length-Extrapolatable Transformer" (2022).
    """
    turned = rope(
        layers=layers,
        heads=heads,
        head_dim=head_dim,
        length=length,
        kv_heads=kv_heads,
        itemsize=itemsize,
    )
    # One product per component beside three flops, one scale beside a cosine and a sine.
    return Cost(
        flops_per_token=turned.flops_per_token // 3 * 4,
        table_bytes=turned.table_bytes // 2 * 3,
    )


def alibi(*, heads: int, keys: int, table: bool = True, itemsize: int = 4) -> Cost:
    """Return the cost of ALiBi.

    Parameters
    ----------
    heads, keys : int
    table : bool, optional
        Hold slope times distance for each head and distance; otherwise hold
        the slopes, and multiply for each score.
    itemsize : int, optional
        Bytes of one number.

    References
    ----------
    Press et al., "Train Short, Test Long" (2022), section 3.
    """
    numbers = _size("heads", heads) * (_size("keys", keys) if table else 1)
    return Cost(
        flops_per_score=1 if table else 2,
        table_bytes=numbers * _size("itemsize", itemsize),
    )


def kerple(
    *, heads: int, keys: int, variant: Literal["log", "power"] = "log", itemsize: int = 4
) -> Cost:
    """Return the cost of KERPLE, its bias computed once per head and distance.

    Parameters
    ----------
    heads, keys : int
    variant : {"log", "power"}, optional
        ``-r1 * log(1 + r2 * distance)`` or ``-r1 * distance ** r2``.
    itemsize : int, optional
        Bytes of one number.

    References
    ----------
    Chi et al., "KERPLE" (2022).
    """
    _checks.choice("variant", variant, ("log", "power"))
    heads, distances = _size("heads", heads), _size("keys", keys)
    return Cost(
        parameters=2 * heads,
        flops_per_score=1,
        flops_per_pass=heads * distances * (4 if variant == "log" else 2),
        table_bytes=heads * distances * _size("itemsize", itemsize),
    )


def fire(*, heads: int, queries: int, keys: int, hidden: int = 32, itemsize: int = 4) -> Cost:
    """Return the cost of FIRE, one module shared by all layers.

    Parameters
    ----------
    heads, queries, keys : int
    hidden : int, optional
        Hidden units of the network that maps a distance to a bias per head.
    itemsize : int, optional
        Bytes of one number.

    Notes
    -----
    The bias depends on the query's position too, so the network is evaluated
    for each (query, key) pair.

    References
    ----------
    Li et al., "Functional Interpolation for Relative Positions" (2024).
    """
    heads, hidden = _size("heads", heads), _size("hidden", hidden)
    queries, keys = _size("queries", queries), _size("keys", keys)
    network = 2 * hidden + 2 * hidden * heads
    return Cost(
        parameters=2 * hidden + hidden * heads + heads + 2,
        flops_per_score=1,
        flops_per_pass=3 * keys  # log(c * distance + 1)
        + 4 * queries  # the same of the query's position, and + epsilon
        + queries * keys * (1 + network),
        table_bytes=heads * queries * keys * _size("itemsize", itemsize),
    )


def cope(*, layers: int, heads: int, head_dim: int, positions: int) -> Cost:
    """Return the cost of contextual positions (CoPE).

    Parameters
    ----------
    layers, heads, head_dim : int
    positions : int
        Largest position plus one; vectors are shared by the heads of a layer.

    Notes
    -----
    A score needs its gate, one step of the running sum, an interpolation
    (5 flops as the paper writes it) and the addition.

    References
    ----------
    Golovneva et al., "Contextual Position Encoding" (2024).
    """
    layers, heads, head_dim = _model(layers, heads, head_dim)
    positions = _size("positions", positions)
    return Cost(
        parameters=layers * positions * head_dim,
        flops_per_token=layers * heads * positions * 2 * head_dim,
        flops_per_score=1 + 1 + 5 + 1,
    )


def _size(name: str, value: int) -> int:
    return _checks.at_least(name, value, 1)


def _model(layers: int, heads: int, head_dim: int) -> tuple[int, int, int]:
    return _size("layers", layers), _size("heads", heads), _size("head_dim", head_dim)
