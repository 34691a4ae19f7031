"""One look for every figure of the book: deterministic SVG with a text alternative.

Colours come from `PALETTE` only. The book's pages replace each by a variable,
so that the same stored figure is right on a light and on a dark page.
"""

import io
import re
from typing import Any

import matplotlib as mpl
from cycler import cycler
from matplotlib.figure import Figure

__all__ = ["PALETTE", "Picture", "colour", "show", "use"]

PALETTE: dict[str, tuple[str, str]] = {
    "ink": ("#1f2328", "#e6e8eb"),
    "muted": ("#6a737d", "#9aa4af"),
    "grid": ("#d5d9de", "#3a4149"),
    # Hues of Okabe and Ito, apart for colour-blind readers; lightness fitted to each page.
    "blue": ("#0068a8", "#6cb8f0"),
    "orange": ("#c04f00", "#ff9a55"),
    "green": ("#007a5a", "#3fc79a"),
    "purple": ("#a8478a", "#e39bc9"),
}
"""Name of a colour -> (on a light page, on a dark page), as hexadecimal RGB."""

_WIDTH_INCHES = 6.4  # 614 CSS pixels: inside the text column without shrinking the letters


def colour(name: str) -> str:
    """Return the colour `name` of `PALETTE`, as stored in figures.

    Raises
    ------
    ValueError
        If there is no such colour.
    """
    if name not in PALETTE:
        raise ValueError(f"name must be one of {', '.join(PALETTE)}, got {name!r}")
    return PALETTE[name][0]


def use() -> None:
    """Set Matplotlib to the style of the book, for all figures that follow."""
    ink, muted, grid = colour("ink"), colour("muted"), colour("grid")
    hues = [colour(name) for name in ("blue", "orange", "green", "purple")]
    mpl.rcdefaults()
    mpl.use("agg")
    mpl.rcParams.update(
        {
            "svg.hashsalt": "posenc",  # identifiers that do not change from run to run
            "svg.fonttype": "path",  # letters that do not depend on the reader's fonts
            "figure.figsize": (_WIDTH_INCHES, 3.4),
            "figure.facecolor": "none",
            "figure.constrained_layout.use": True,
            "axes.facecolor": "none",
            "savefig.facecolor": "none",
            "font.size": 11,
            "axes.labelsize": 11,
            "axes.titlesize": 11,
            "xtick.labelsize": 10,
            "ytick.labelsize": 10,
            "legend.fontsize": 10,
            "mathtext.fontset": "cm",
            "text.color": ink,
            "axes.labelcolor": ink,
            "axes.edgecolor": muted,
            "xtick.color": muted,
            "ytick.color": muted,
            "xtick.labelcolor": ink,
            "ytick.labelcolor": ink,
            "grid.color": grid,
            "grid.linewidth": 0.8,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.axisbelow": True,
            "axes.prop_cycle": cycler(color=hues),
            "lines.linewidth": 1.8,
            "lines.solid_capstyle": "round",
            "legend.frameon": False,
        }
    )


class Picture:
    """A figure as SVG and in words; Jupyter shows the first, or else the second.

    Parameters
    ----------
    svg : str
        The figure; its root element gets the text alternative.
    alt : str
        What the figure shows.
    """

    def __init__(self, svg: str, alt: str) -> None:
        self.svg = svg
        self.alt = alt

    def __repr__(self) -> str:
        return f"Figure: {self.alt}"

    def _repr_svg_(self) -> str:
        return self.svg


def show(figure: Figure, *, alt: str) -> Picture:
    """Return `figure` as an SVG picture that says in words what it shows.

    Make it the last expression of a cell. The figure itself is closed.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        Drawn after :func:`use`, in colours of `PALETTE`.
    alt : str
        For readers who cannot see the figure: what it shows, in a sentence or two.

    Raises
    ------
    TypeError
        If `figure` is no Matplotlib figure.
    ValueError
        If `alt` says nothing, or the figure holds a colour outside `PALETTE`,
        which could not be right on a dark page.
    """
    if not isinstance(figure, Figure):
        raise TypeError(f"figure must be a Matplotlib figure, got {type(figure).__name__}")
    text = " ".join(alt.split())
    if len(text.split()) < 4:
        raise ValueError(f"alt must say what the figure shows, got {alt!r}")
    svg = _svg(figure)
    _close(figure)
    known = {light for light, _ in PALETTE.values()}
    foreign = sorted(set(re.findall(r"#[0-9a-fA-F]{6}\b", _without_ids(svg))) - known)
    if foreign:
        raise ValueError(f"figure must use the colours of PALETTE only, got {', '.join(foreign)}")
    return Picture(
        svg.replace("<svg ", f'<svg role="img" aria-label="{_attribute(text)}" ', 1), text
    )


def _svg(figure: Figure) -> str:
    buffer = io.StringIO()
    figure.savefig(
        buffer, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None}
    )
    svg = buffer.getvalue()
    return svg[svg.index("<svg ") :]


def _without_ids(svg: str) -> str:
    """Drop references such as `#m1a2b3c4d5`, which can look like colours."""
    return re.sub(r'(?:xlink:href="|url\()#[^")]*', "", svg)


def _attribute(text: str) -> str:
    for character, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;")):
        text = text.replace(character, entity)
    return text


def _close(figure: Any) -> None:
    # Imported late: pyplot is needed only where it has made the figure.
    from matplotlib import pyplot as plt

    plt.close(figure)
