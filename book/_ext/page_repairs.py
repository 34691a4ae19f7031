"""Mend what the theme and its extensions write: ids drawn by lot, tables out of reach by keyboard.

Each function says which of them needs it; drop it when they no longer do.
"""

from typing import Any

from docutils import nodes
from myst_parser.mdit_to_docutils.sphinx_ import SphinxRenderer
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform


class UniqueContentIds(SphinxTransform):
    """Number the ids that sphinx-proof and sphinx-exercise give to every block of a page."""

    default_priority = 20  # right after sphinx-exercise has merged the solutions

    def apply(self) -> None:
        """Visit each section that is the body of a block."""
        repeated = [["proof-content"], ["exercise-content"], ["solution-content"]]
        bodies = [s for s in self.document.findall(nodes.section) if s["ids"] in repeated]
        for number, body in enumerate(bodies, 1):
            body["ids"] = [f"{body['ids'][0]}-{number}"]


def steady_label(renderer: SphinxRenderer) -> str:
    """Label an equation without label by page and count; MyST-Parser draws lots."""
    env = renderer.sphinx_env
    return f"{env.docname}-{env.new_serialno('unlabelled-equation')}"


def reach_tables(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    """Let the keyboard scroll wide tables; the theme makes their box scroll for the mouse only."""
    if "body" in context:
        box = 'class="pst-scrollable-table-container"'
        context["body"] = context["body"].replace(f"<div {box}>", f'<div {box} tabindex="0">')


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the repairs."""
    # Jupyter Book sets this option of an extension that the book leaves out.
    app.add_config_value("comments_config", {}, "")
    SphinxRenderer._random_label = steady_label
    app.add_transform(UniqueContentIds)
    app.connect("html-page-context", reach_tables)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
