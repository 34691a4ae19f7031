"""Cells of a notebook and their code, as the rules on notebooks look at them."""

import ast
from collections.abc import Iterator

from nbformat import NotebookNode


def code(notebook: NotebookNode) -> Iterator[tuple[int, NotebookNode]]:
    """Code cells with their numbers; cells are numbered from 1, markdown cells included."""
    return ((n, c) for n, c in enumerate(notebook.cells, start=1) if c.cell_type == "code")


def markdown(notebook: NotebookNode) -> Iterator[tuple[int, NotebookNode]]:
    """Markdown cells with their numbers."""
    return ((n, c) for n, c in enumerate(notebook.cells, start=1) if c.cell_type == "markdown")


def statements(source: str) -> list[ast.stmt]:
    """The statements of a cell; none if it is not Python."""
    try:
        return ast.parse(source).body
    except SyntaxError:
        return []


def nodes(source: str) -> Iterator[ast.AST]:
    """Every node of a cell's syntax tree."""
    for statement in statements(source):
        yield from ast.walk(statement)


def calls(source: str) -> Iterator[ast.Call]:
    """Every call in a cell."""
    return (node for node in nodes(source) if isinstance(node, ast.Call))


def name(function: ast.expr) -> str:
    """`show` for both `show(...)` and `figures.show(...)`."""
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""
