"""Tells what a function that rotates queries or keys really does.

Hand :func:`diagnose` any function of an array and positions; it says which
layout, direction, frequencies and precision the function has, and names what is
wrong with it, with an input that shows it and a remedy.

``FAULTS`` maps the name of each fault that it knows to the remedy, ``NOTES`` the
name of each harmless peculiarity to what should be kept in mind.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from posenc import _checks
from posenc._checks import Layout
from posenc.diagnose._calls import Foreign, Rotate
from posenc.diagnose._catalog import FAULTS, NOTES
from posenc.diagnose._cli import main
from posenc.diagnose._examine import Examination
from posenc.diagnose._record import Stated
from posenc.diagnose._report import Evidence, Finding, Report

__all__ = [
    "FAULTS",
    "NOTES",
    "Evidence",
    "Finding",
    "Report",
    "diagnose",
    "from_tables",
    "main",
]

_DIRECTIONS = ("counter-clockwise", "clockwise")
_DTYPES = ("float64", "float32", "float16", "bfloat16")


def diagnose(
    rotate: Rotate,
    *,
    head_dim: int,
    key: Rotate | None = None,
    layout: Layout | None = None,
    direction: Literal["counter-clockwise", "clockwise"] | None = None,
    base: float | None = None,
    rotary_width: int | None = None,
    frequencies: ArrayLike | None = None,
    max_position: int = 4096,
    dtype: DTypeLike = np.float32,
    leading: Sequence[int] = (2, 2),
) -> Report:
    r"""Say what a function that rotates queries or keys really does.

    The function is called with unit vectors at chosen positions, which shows
    its matrix at each of them, and with random ones. It may do anything:
    whatever it raises or returns becomes a finding.

    Parameters
    ----------
    rotate : callable
        ``rotate(x, positions)`` with NumPy arrays x of shape
        (\*leading, length, head_dim) and positions of shape (length,), int64;
        returns x rotated, as anything that NumPy can read.
    head_dim : int
        Width of the vectors; at least 2.
    key : callable, optional
        The function for keys, if it is another than that for queries; it must
        do the same.
    layout, direction, base, rotary_width : optional
        What is wanted; anything else becomes a fault. Without them the
        convention is read off and reported. `base` means the frequencies
        ``base ** (-2r / rotary_width)``, possibly all divided by one factor.
        Some mistakes are another convention in disguise, such as a doubled
        exponent, which is a squared base: they need the wanted value to be
        told apart.
    frequencies : array_like, shape (pairs,), optional
        The wanted frequencies, for schedules that no base describes.
    max_position : int, optional
        The largest position to try, 16 to 2**31.
    dtype : dtype-like, optional
        Of x: float64, float32, float16 or bfloat16.
    leading : sequence of int, optional
        Axes of x before its length, for example batch and heads; may be empty.

    Returns
    -------
    Report
        Its `ok` tells whether no fault was found; printed, it is a table.

    Raises
    ------
    TypeError
        If `rotate` or `key` cannot be called or an argument has the wrong type.
    ValueError
        If an argument is out of range.

    Notes
    -----
    Code that takes queries, keys and tables needs a small adapter, or
    :func:`from_tables`::

        def rotate(x, positions):
            cos, sin = make_tables(torch.from_numpy(positions))
            q = torch.from_numpy(x)
            return apply_rotary(q, q, cos, sin)[0]

    For code that counts positions from an offset, hand it one vector at a time::

        def rotate(x, positions):
            parts = [turn(x[..., i : i + 1, :], offset=p) for i, p in enumerate(positions)]
            return np.concatenate(parts, axis=-2)

    Examples
    --------
    >>> from posenc.absolute import frequencies
    >>> from posenc.rotary import rotate
    >>> report = diagnose(lambda x, p: rotate(x, p, frequencies(8)), head_dim=8)
    >>> report.layout, report.direction, report.base, report.ok
    ('interleaved', 'counter-clockwise', 10000.0, True)
    """
    size = _checks.at_least("head_dim", head_dim, 2)
    for name, function in (("rotate", rotate), ("key", rotate if key is None else key)):
        if not callable(function):
            raise TypeError(f"{name} must be a function of x and positions, got {function!r}")
    stated = _stated(size, layout, direction, base, rotary_width, frequencies)
    last = _checks.at_least("max_position", max_position, 16)
    if last > 2**31:
        raise ValueError(f"max_position must not exceed 2**31, got {last}")
    kind = _float_dtype(dtype)
    axes = tuple(_checks.at_least("leading", axis, 1) for axis in leading)

    foreign = Foreign(rotate, kind, axes)
    examination = Examination(foreign, size, last, stated)
    # Foreign numbers may be too large to be compared; that is no fault of ours.
    with np.errstate(all="ignore"):
        report = examination.report()
        if key is None:
            return report
        other = Foreign(key, kind, axes)
        about_key = Examination(other, size, last, stated).report()
        return _with_key(report, examination, other, about_key)


def from_tables(
    apply: Callable[..., Any],
    tables: Callable[[NDArray[np.int64]], tuple[Any, Any]],
    *,
    which: Literal["query", "key"] = "query",
    convert: Callable[[Any], Any] | None = None,
) -> Rotate:
    """Return a function of x and positions from code that takes (q, k, cos, sin).

    Parameters
    ----------
    apply : callable
        ``apply(q, k, cos, sin)`` returns the rotated query and key.
    tables : callable
        ``tables(positions)`` returns cosines and sines in the shape that
        `apply` wants.
    which : {"query", "key"}, optional
        Which of the two results to return. Diagnose both, one of them as `key`.
    convert : callable, optional
        From NumPy to the arrays `apply` wants, for example ``torch.from_numpy``;
        applied to x only.

    Returns
    -------
    callable

    Raises
    ------
    TypeError
        If an argument cannot be called.
    ValueError
        If `which` is unknown.
    """
    for name, function in (("apply", apply), ("tables", tables), ("convert", convert or apply)):
        if not callable(function):
            raise TypeError(f"{name} must be a function, got {function!r}")
    _checks.choice("which", which, ("query", "key"))

    def rotate(x: NDArray[Any], positions: NDArray[np.int64]) -> Any:
        cosine, sine = tables(positions)
        vectors = x if convert is None else convert(x)
        return apply(vectors, vectors, cosine, sine)[0 if which == "query" else 1]

    return rotate


def _stated(
    head_dim: int,
    layout: Layout | None,
    direction: str | None,
    base: float | None,
    rotary_width: int | None,
    frequencies: ArrayLike | None,
) -> Stated:
    if layout is not None:
        _checks.layout_name(layout)
    if direction is not None:
        _checks.choice("direction", direction, _DIRECTIONS)
    if base is not None:
        base = _checks.number("base", base, above=1.0)
    if rotary_width is not None:
        rotary_width = _checks.even_width("rotary_width", rotary_width)
        if rotary_width > head_dim:
            raise ValueError(
                f"rotary_width must not exceed head_dim = {head_dim}, got {rotary_width}"
            )
    speeds = None
    if frequencies is not None:
        speeds = _checks.frequency_vector("frequencies", frequencies)
        if 2 * speeds.size > head_dim or (speeds < 0).any():
            raise ValueError(
                f"frequencies must be at most head_dim / 2 = {head_dim // 2} numbers, none "
                f"negative, got {speeds.size} from {speeds.min():.9g}"
            )
    return Stated(layout, direction, base, rotary_width, speeds)


def _float_dtype(dtype: DTypeLike) -> np.dtype[Any]:
    try:
        kind = np.dtype(dtype)
    except TypeError:
        raise TypeError(f"dtype must be one of {', '.join(_DTYPES)}, got {dtype!r}") from None
    if kind.name not in _DTYPES:
        raise ValueError(f"dtype must be one of {', '.join(_DTYPES)}, got {kind}")
    return kind


def _with_key(report: Report, examination: Examination, key: Foreign, other: Report) -> Report:
    """Return the report on queries, with what is wrong about keys beside them."""
    findings = list(report.findings)
    known = {finding.name for finding in findings}
    findings += [
        replace(finding, message=f"for keys: {finding.message}")
        for finding in other.faults
        if finding.name not in known
    ]
    same = ("layout", "output_layout", "direction", "rotary_width", "first_component", "origin")
    differ = [name for name in same if getattr(report, name) != getattr(other, name)]
    speeds, others = np.array(report.frequencies), np.array(other.frequencies)
    if speeds.shape != others.shape or not np.allclose(speeds, others, rtol=1e-5, atol=1e-9):
        differ.append("frequencies")
    relative, evidence = report.relative, None
    if report.relative and other.relative:
        relative, evidence = examination.scores_relative(key)
    if differ or (relative is False and report.relative):
        message = f"queries and keys differ in {', '.join(differ) or 'their scores'}"
        finding = Finding("query-key-differ", True, message, FAULTS["query-key-differ"], evidence)
        findings.append(finding)
    return replace(report, relative=relative, findings=tuple(findings))
