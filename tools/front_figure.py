"""Write the figure of the front page, book/_static/front.svg.

One query and one key, at every pair of 24 positions: with position added to
the vectors, and with the vectors turned by their position. Written as SVG
directly: a thousand cells would be ten times the bytes through Matplotlib.
"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from posenc.absolute import frequencies, sinusoid
from posenc.figures import colour
from posenc.rotary import rotate

TARGET = Path(__file__).parent.parent / "book" / "_static" / "front.svg"
LENGTH, WIDTH, SHADES, CELL = 24, 8, 6, 12
PANEL, LEFT, TOP, GAP = LENGTH * CELL, 26, 26, 38
ALT = (
    "Two squares of 24 by 24 cells, the scores of one query and one key at all pairs of positions. "
    "Left, position added: a pattern without rule. Right, position as a turn: every diagonal has "
    "one colour, because the score depends on the difference of the positions alone."
)


def added(q: NDArray[np.float64], k: NDArray[np.float64], map_: NDArray[np.float64]) -> NDArray:
    """Return the scores with sinusoidal positions added before the score is taken."""
    p = sinusoid(np.arange(LENGTH), WIDTH)
    return (q + p) @ map_ @ (k + p).T


def turned(q: NDArray[np.float64], k: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the scores with query and key turned by their positions."""
    w, places = 0.6 * frequencies(WIDTH, base=100.0), np.arange(LENGTH)
    turned_q, turned_k = (rotate(np.tile(v, (LENGTH, 1)), places, w) for v in (q, k))
    return np.asarray(turned_q @ turned_k.T)


def cells(mask: NDArray[np.bool_]) -> str:
    """Return path data that cover the true cells, one rectangle for each run in a row."""
    data = []
    for row, line in enumerate(mask):
        edges = np.flatnonzero(np.diff(np.concatenate([[0], line.astype(int), [0]])))
        for start, stop in zip(edges[::2], edges[1::2], strict=True):
            run = (stop - start) * CELL
            data.append(f"M{start * CELL} {row * CELL}h{run}v{CELL}h-{run}z")
    return "".join(data)


def panel(scores: NDArray[np.float64], left: int, title: str) -> str:
    """Return one square, blue where the score is positive and orange where negative."""
    shade = np.ceil(np.abs(scores) / np.abs(scores).max() * SHADES).astype(int) * np.sign(scores)
    paths = "".join(
        f'<path fill="{colour("blue" if level > 0 else "orange")}" '
        f'fill-opacity="{abs(level) / SHADES:.2f}" d="{cells(shade == level)}"/>\n'
        for level in sorted({int(s) for s in shade.ravel()} - {0})
    )
    middle = PANEL // 2
    return (
        f'<g transform="translate({left} {TOP})">\n{paths}'
        f'<text x="{middle}" y="-9" font-weight="600">{title}</text>\n'
        f'<text x="{middle}" y="{PANEL + 19}">key position</text>\n'
        f'<text transform="translate(-9 {middle}) rotate(-90)">query position</text>\n</g>\n'
    )


def front_figure() -> str:
    """Return the figure as SVG."""
    rng = np.random.default_rng(5)
    q, k = rng.normal(size=(2, WIDTH))
    width, height = LEFT + 2 * PANEL + GAP, TOP + PANEL + 28
    return (
        f'<svg role="img" aria-label="{ALT}" xmlns="http://www.w3.org/2000/svg" '
        f'viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'fill="{colour("ink")}" font-family="sans-serif" font-size="15" text-anchor="middle">\n'
        + panel(added(q, k, rng.normal(size=(WIDTH, WIDTH))), LEFT, "position added")
        + panel(turned(q, k), LEFT + PANEL + GAP, "position as a turn")
        + "</svg>\n"
    )


if __name__ == "__main__":
    TARGET.write_text(front_figure(), encoding="utf-8")
