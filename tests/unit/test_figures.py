"""posenc.figures: the same bytes each time, words for each picture, known colours only."""

import matplotlib.pyplot as plt
import pytest

from posenc import figures


def draw(**style):
    figures.use()
    figure, axes = plt.subplots()
    axes.plot([0, 1, 2], [0, 1, 4], **style)
    axes.set_xlabel(r"offset $\Delta$")
    axes.fill_between([0, 1], [0, 1], alpha=0.3)
    return figure


ALT = 'A parabola through the origin, rising & "steep"'


def test_svg_is_deterministic_and_says_what_it_shows():
    first, second = figures.show(draw(), alt=ALT), figures.show(draw(), alt=ALT)
    assert first.svg == second.svg
    assert first.svg.startswith(
        '<svg role="img" aria-label="A parabola through the origin, '
        'rising &amp; &quot;steep&quot;" '
    )
    assert repr(first) == f"Figure: {ALT}"
    assert first._repr_svg_() == first.svg
    assert "<dc:date>" not in first.svg
    assert not plt.get_fignums()


def test_different_figures_differ():
    assert figures.show(draw(), alt=ALT).svg != figures.show(draw(linewidth=3), alt=ALT).svg


def test_colour():
    assert figures.colour("ink") == figures.PALETTE["ink"][0]
    with pytest.raises(ValueError, match="name must be one of ink, muted, .* got 'red'"):
        figures.colour("red")


def test_foreign_colour_is_refused():
    with pytest.raises(ValueError, match="colours of PALETTE only, got #ff0000"):
        figures.show(draw(color="red"), alt=ALT)


@pytest.mark.parametrize("alt", ["", "a plot"])
def test_alt_must_say_something(alt):
    with pytest.raises(ValueError, match="alt must say what the figure shows"):
        figures.show(draw(), alt=alt)


def test_other_objects_are_refused():
    with pytest.raises(TypeError, match="figure must be a Matplotlib figure, got list"):
        figures.show([], alt=ALT)


def _luminance(colour):
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("name", [n for n in figures.PALETTE if n != "grid"])
def test_every_colour_is_readable_on_both_pages(name):
    light, dark = figures.PALETTE[name]
    on_white = 1.05 / (_luminance(light) + 0.05)
    on_dark = (_luminance(dark) + 0.05) / (_luminance("#14181e") + 0.05)
    assert on_white >= 4.5
    assert on_dark >= 4.5
