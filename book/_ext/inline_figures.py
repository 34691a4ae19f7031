"""Put the SVG figures of the book into the page itself, with colours that follow its theme.

An SVG in an <img> cannot see the page's CSS: it would stay light on a dark page.
"""

import html
import re
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

from posenc.figures import PALETTE

STYLESHEET = "figures.css"


def stylesheet(palette: dict[str, tuple[str, str]]) -> str:
    """Return the CSS that defines the variable `--figure-<name>` for both themes."""
    light = "".join(f"  --figure-{name}: {pair[0]};\n" for name, pair in palette.items())
    dark = "".join(f"  --figure-{name}: {pair[1]};\n" for name, pair in palette.items())
    # Print is always light, whatever theme the screen has.
    return f':root {{\n{light}}}\n@media screen {{\n html[data-theme="dark"] {{\n{dark} }}\n}}\n'


def inline(svg: str, prefix: str, palette: dict[str, tuple[str, str]]) -> str:
    """Return `svg` as a fragment of a page.

    Parameters
    ----------
    svg : str
        A whole SVG document.
    prefix : str
        Put before each id, which has to be unique among all figures of the page.
    palette : dict
        Name -> (colour in the file, colour on a dark page).
    """
    svg = svg[svg.index("<svg") :].strip()
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<!--.*?-->\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\bid="', f'id="{prefix}', svg)
    svg = re.sub(r'\bhref="#', f'href="#{prefix}', svg)
    svg = re.sub(r"url\(#", f"url(#{prefix}", svg)
    for name, (light, _) in palette.items():
        svg = re.sub(rf"{light}\b", f"var(--figure-{name})", svg, flags=re.IGNORECASE)
    return svg


def describe(svg: str, alt: str) -> str:
    """Return `svg` with the text alternative `alt`, in place of its own if it has one."""
    opening, rest = svg.split(">", 1)
    opening = re.sub(r'\s(?:role|aria-label)="[^"]*"', "", opening)
    label = html.escape(alt, quote=True)
    return f'{opening} role="img" aria-label="{label}">{rest}'


class InlineFigures(SphinxTransform):
    """Replace the image nodes of SVG files, of notebook outputs and of pages, by the SVG itself."""

    # Before Sphinx collects images, which would copy each file into the site as well.
    default_priority = 200

    def apply(self) -> None:
        """Visit each image that is an SVG of the book's own."""
        images = [
            image
            for image in self.document.findall(nodes.image)
            if image["uri"].endswith(".svg") and "://" not in image["uri"]
        ]
        for number, image in enumerate(images, 1):
            relative, path = self.env.relfn2path(image["uri"], self.env.docname)
            self.env.note_dependency(relative)
            svg = inline(Path(path).read_text("utf-8"), f"figure-{number}-", PALETTE)
            if "alt" in image:
                svg = describe(svg, image["alt"])
            # In the tab order, because on a narrow page the figure scrolls in its box.
            figure = f'<div class="book-figure" tabindex="0">{svg}</div>'
            image.replace_self(nodes.raw("", figure, format="html"))


def write_stylesheet(app: Sphinx) -> None:
    """Write the colours of the palette for the pages."""
    path = Path(app.outdir, "_static", STYLESHEET)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(stylesheet(PALETTE), "utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the transform and the stylesheet."""
    app.add_transform(InlineFigures)
    app.add_css_file(STYLESHEET)
    app.connect("builder-inited", write_stylesheet)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
