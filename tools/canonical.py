"""The one form in which notebooks are stored: what Git shows as changed, changed for readers."""

import copy
import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path

import nbformat
from nbformat import NotebookNode, v4

NOTEBOOK_METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
CELL_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def read(path: Path) -> NotebookNode:
    """Read a notebook exactly as it is stored.

    `nbformat.read` would give random ids to cells that lack one and so hide the fault.

    Raises
    ------
    ValueError
        If there is no such file, or it is not a notebook of format 4.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ValueError(f"{path}: no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: cannot be read: {error}") from None
    try:
        stored = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"{path}: not a notebook: {error}") from None
    if not isinstance(stored, dict) or not isinstance(stored.get("cells"), list):
        raise ValueError(f"{path}: not a notebook: it has no list of cells")
    if stored.get("nbformat") != 4:
        raise ValueError(f"{path}: nbformat must be 4, got {stored.get('nbformat')!r}")
    try:
        notebook = v4.reads(text)
        nbformat.validate(canonical(notebook))
    except Exception as error:  # noqa: BLE001 - malformed cells fail in many ways
        raise ValueError(f"{path}: not a valid notebook: {str(error).splitlines()[0]}") from None
    return notebook


def canonical(notebook: NotebookNode) -> NotebookNode:
    """A copy of the notebook in the form in which it is stored.

    Sources and the content of outputs are untouched, except that the traceback of an error is
    reduced to its last line: the rest names the files of one machine.
    """
    result = nbformat.from_dict(
        {
            "cells": [],
            "metadata": copy.deepcopy(NOTEBOOK_METADATA),
            "nbformat": 4,
            "nbformat_minor": 5,
        }
    )
    taken: set[str] = set()
    for number, cell in enumerate(notebook.cells, start=1):
        cell = copy.deepcopy(cell)
        cell.id = _cell_id(cell, number, taken)
        taken.add(cell.id)
        tags = cell.get("metadata", {}).get("tags")
        cell.metadata = nbformat.from_dict({"tags": tags} if tags else {})
        if cell.cell_type == "code":
            cell.outputs = list(_outputs(cell.get("outputs", []), cell.get("execution_count")))
            cell.setdefault("execution_count", None)
        result.cells.append(cell)
    return result


def dumps(notebook: NotebookNode) -> str:
    """The text of the file of a notebook."""
    return v4.writes(notebook) + "\n"


def _cell_id(cell: NotebookNode, number: int, taken: set[str]) -> str:
    """The cell's id, or one made from its number and source if that is missing or in use."""
    wanted = cell.get("id")
    if isinstance(wanted, str) and CELL_ID.fullmatch(wanted) and wanted not in taken:
        return wanted
    attempt = 0
    while True:
        seed = f"{number}\n{attempt}\n{cell.source}"
        made = hashlib.sha256(seed.encode()).hexdigest()[:8]
        if made not in taken:
            return made
        attempt += 1


def _outputs(outputs: list[NotebookNode], execution_count: int | None) -> Iterator[NotebookNode]:
    """Outputs without metadata, with neighbouring pieces of one stream joined."""
    stream = None
    for output in outputs:
        if output.output_type == "stream":
            if stream is not None and stream.name == output.name:
                stream.text += output.text
                continue
            if stream is not None:
                yield stream
            stream = output
            continue
        if stream is not None:
            yield stream
            stream = None
        if output.output_type in ("display_data", "execute_result"):
            output.metadata = NotebookNode()
        if output.output_type == "execute_result":
            output.execution_count = execution_count
        if output.output_type == "error":
            output.traceback = [f"{output.ename}: {output.evalue}"]
        yield output
    if stream is not None:
        yield stream
