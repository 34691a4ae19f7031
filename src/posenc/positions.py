"""Position ids and masks of padded, packed, cached and pictured sequences.

Which number a token carries and which tokens it may see are two choices: none
of these functions settles both.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc import _checks

__all__ = ["block_mask", "from_attention_mask", "mrope_positions", "next_positions", "packed"]

_LARGEST = int(np.iinfo(np.int64).max)


def from_attention_mask(mask: ArrayLike, *, padding_idx: int | None = None) -> NDArray[np.int64]:
    """Return the positions of real tokens, wherever the padding stands.

    Parameters
    ----------
    mask : array_like of bool or of the integers 0 and 1, shape (..., length)
        True or 1 for a real token, False or 0 for padding. This is the mask of
        the tokens, not the (..., queries, keys) mask of attention.
    padding_idx : int, optional
        RoBERTa's rule: real tokens count from ``padding_idx + 1`` and padding
        gets `padding_idx`. The table then needs ``padding_idx + 1`` rows more
        than the longest sequence. At least -1; with -1 the result is OPT's, to
        which OPT adds 2 before the lookup. Default: real tokens count from 0,
        padding gets 0.

    Returns
    -------
    ndarray of int64, shape of `mask`
        Padding carries a position that every table has; it must still be
        masked as a key.

    Raises
    ------
    TypeError
        If `mask` holds neither booleans nor integers, or `padding_idx` is no
        integer.
    ValueError
        If `mask` has no axis or an entry other than 0 and 1, or `padding_idx`
        is below -1 or too large.

    References
    ----------
    Liu et al., "RoBERTa" (2019), as released in fairseq; Zhang et al., "OPT"
    (2022), as released.

    Examples
    --------
    >>> from_attention_mask([0, 0, 1, 1, 1]).tolist()
    [0, 0, 0, 1, 2]
    >>> from_attention_mask([0, 0, 1, 1, 1], padding_idx=1).tolist()
    [1, 1, 2, 3, 4]
    """
    real = _token_mask(mask)
    filler, first = 0, 0
    if padding_idx is not None:
        filler = _checks.at_least("padding_idx", padding_idx, -1)
        first = filler + 1
        if first + real.shape[-1] > _LARGEST:
            raise ValueError(f"padding_idx + length must fit in 64 bits, got {filler}")
    counted = np.cumsum(real, axis=-1, dtype=np.int64) - 1 + first
    return np.where(real, counted, np.int64(filler))


def packed(lengths: ArrayLike) -> NDArray[np.int64]:
    """Return the positions in documents packed into one sequence, each from 0.

    Numbering them without a restart is ``numpy.arange(sum(lengths))``. Either
    way a document reads the ones before it unless :func:`block_mask` forbids it.

    Parameters
    ----------
    lengths : array_like of int, shape (documents,)
        Tokens of each document; positive.

    Returns
    -------
    ndarray of int64, shape (sum of lengths,)

    Raises
    ------
    TypeError
        If `lengths` holds no integers.
    ValueError
        If `lengths` is no vector, is empty, or holds a number below 1.

    Examples
    --------
    >>> packed([3, 2]).tolist()
    [0, 1, 2, 0, 1]
    """
    sizes = _document_lengths(lengths)
    starts = np.cumsum(sizes) - sizes
    return np.arange(sizes.sum(), dtype=np.int64) - np.repeat(starts, sizes)


def block_mask(lengths: ArrayLike, causal: bool = True) -> NDArray[np.bool_]:
    """Return the mask that keeps packed documents from reading one another.

    Parameters
    ----------
    lengths : array_like of int, shape (documents,)
        Tokens of each document; positive.
    causal : bool, optional
        Whether a token may attend to earlier tokens of its document only.

    Returns
    -------
    ndarray of bool, shape (tokens, tokens)
        True at (i, j) where query i may attend to key j. Each token may attend
        to itself.

    Raises
    ------
    TypeError
        If `lengths` holds no integers or `causal` is no boolean.
    ValueError
        If `lengths` is no vector, is empty, or holds a number below 1.

    References
    ----------
    Krell et al., "Efficient Sequence Packing without Cross-contamination"
    (2021).

    Examples
    --------
    >>> block_mask([2, 1]).astype(int).tolist()
    [[1, 0, 0], [1, 1, 0], [0, 0, 1]]
    """
    sizes = _document_lengths(lengths)
    if not isinstance(causal, bool | np.bool_):
        raise TypeError(f"causal must be a boolean, got {causal!r}")
    document = np.repeat(np.arange(sizes.size), sizes)
    together = document[:, np.newaxis] == document
    return np.asarray(np.tril(together) if causal else together)


def next_positions(cached: ArrayLike, new: int) -> NDArray[np.int64]:
    """Return the positions of tokens that follow those in a cache.

    Parameters
    ----------
    cached : array_like of int, shape (...)
        Real tokens already seen in each sequence: its count of ones in the
        attention mask. The length of a padded cache is another number.
    new : int
        Tokens to append to each sequence; positive.

    Returns
    -------
    ndarray of int64, shape (..., new)
        `cached`, `cached` + 1, ...; nothing is remembered between calls, so
        every layer of a model gets the same positions.

    Raises
    ------
    TypeError
        If an argument holds no integers.
    ValueError
        If a number in `cached` is negative, `new` is not positive, or a
        position exceeds 64 bits.

    Examples
    --------
    >>> next_positions([5, 9], 1).tolist()
    [[5], [9]]
    """
    seen = _checks.integers("cached", cached)
    if seen.size and seen.min() < 0:
        raise ValueError(f"cached must not be negative, got {seen.min()}")
    count = _checks.at_least("new", new, 1)
    if count > _LARGEST - int(seen.max(initial=0)):
        raise ValueError(f"cached + new must fit in 64 bits with a sign, got new = {count}")
    return seen[..., np.newaxis] + np.arange(count, dtype=np.int64)


def mrope_positions(
    segments: Sequence[int | tuple[int, int, int]],
    *,
    advance: Literal["all-axes", "spatial"] = "all-axes",
) -> tuple[NDArray[np.int64], int]:
    """Return the positions of text and pictures on three axes (time, row, column).

    Text advances all axes by one per token. A picture or film starts where the
    text stopped, and runs through its grid; the text after it starts past it.

    Parameters
    ----------
    segments : sequence of int or (int, int, int)
        In order: the number of tokens of a text, or the grid (times, rows,
        columns) of a picture after spatial merging.
    advance : {"all-axes", "spatial"}, optional
        How far a grid moves the position of what follows: by its largest axis,
        as in the released Qwen2-VL, or by the larger of rows and columns, as in
        transformers 5.24. They differ for films with more times than rows and
        columns, where "spatial" gives the text positions of the film.

    Returns
    -------
    positions : ndarray of int64, shape (tokens, 3)
    following : int
        Position of the next text token on all three axes. The difference
        ``following - tokens`` is a constant of the prompt: generated token
        number n stands at ``n + difference`` whatever the chunks of the prefill.

    Raises
    ------
    TypeError
        If a size is no integer.
    ValueError
        If a size is not positive, a grid has not three of them, `segments` is
        empty, or `advance` is unknown.

    References
    ----------
    Wang et al., "Qwen2-VL" (2024), section 2.1.

    Examples
    --------
    >>> positions, following = mrope_positions([2, (1, 1, 2), 1])
    >>> positions.tolist()
    [[0, 0, 0], [1, 1, 1], [2, 2, 2], [2, 2, 3], [4, 4, 4]]
    >>> following
    5
    """
    _checks.choice("advance", advance, ("all-axes", "spatial"))
    if isinstance(segments, str) or not isinstance(segments, Sequence):
        raise TypeError(f"segments must be a sequence, got {type(segments).__name__}")
    if not segments:
        raise ValueError("segments must hold at least one text or picture, got none")
    blocks: list[NDArray[np.int64]] = []
    start = 0
    for index, segment in enumerate(segments):
        name = f"segments[{index}]"
        if isinstance(segment, Sequence):
            if isinstance(segment, str) or len(segment) != 3:
                raise ValueError(f"{name} must be (times, rows, columns), got {segment!r}")
            times, rows, columns = (_checks.at_least(name, size, 1) for size in segment)
            grid = np.indices((times, rows, columns), dtype=np.int64).reshape(3, -1).T
            length = max(times, rows, columns) if advance == "all-axes" else max(rows, columns)
        else:
            length = _checks.at_least(name, segment, 1)
            grid = np.repeat(np.arange(length, dtype=np.int64)[:, np.newaxis], 3, axis=1)
        blocks.append(start + grid)
        start += length
    return np.concatenate(blocks), start


def _token_mask(mask: ArrayLike) -> NDArray[np.bool_]:
    try:
        array = np.asarray(mask)
    except ValueError as error:
        raise ValueError(f"mask must be a regular array: {error}") from None
    if array.dtype.kind not in "biu":
        raise TypeError(f"mask must hold booleans or the integers 0 and 1, got {array.dtype}")
    if array.ndim == 0:
        raise ValueError("mask must have shape (..., length), got shape ()")
    other = array[(array != 0) & (array != 1)]
    if other.size:
        raise ValueError(f"mask must hold 0 and 1 only, got {other.flat[0]}")
    return array.astype(np.bool_)


def _document_lengths(lengths: ArrayLike) -> NDArray[np.int64]:
    sizes = _checks.integers("lengths", lengths)
    if sizes.ndim != 1 or sizes.size == 0:
        raise ValueError(f"lengths must be a vector, one per document, got shape {sizes.shape}")
    if sizes.min() < 1:
        raise ValueError(f"lengths must be positive, got {sizes.min()}")
    total = sum(sizes.tolist())
    if total > _LARGEST // 8:
        raise ValueError(f"lengths must add up to an array that can be addressed, got {total}")
    return sizes
