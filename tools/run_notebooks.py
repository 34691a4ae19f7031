"""Execute the notebooks whose stored outputs are out of date, and store what they give.

Outputs are out of date if the notebook, the library or the locked versions changed since this
tool last ran the notebook. What it ran is recorded in `_build/run`, which Git does not track.
"""

import argparse
import hashlib
import multiprocessing
import os
import platform
import re
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

import canonical
import toc
from kernels import own_socket

ROOT = Path(__file__).resolve().parent.parent
STAMPS = "_build/run"
CELL_SECONDS = 900
MESSAGE_LINES = 6


class NotebookError(Exception):
    """A notebook that did not run to its end; the message names the cell."""


@dataclass(frozen=True)
class Outcome:
    """What became of one notebook: a line to print, and whether it is a failure."""

    line: str
    failed: bool


def fingerprint(root: Path, name: str) -> str:
    """Digest of all that decides the outputs of the notebook `name`, and of the notebook."""
    inputs = [root / name, root / "requirements.lock"]
    inputs += [root / "tools" / "canonical.py", root / "tools" / "run_notebooks.py"]
    inputs += sorted(
        path
        for path in (root / "src" / "posenc").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    )
    digest = hashlib.sha256(platform.python_version().encode())
    for path in inputs:
        content = path.read_bytes() if path.exists() else b""
        digest.update(f"{path.relative_to(root).as_posix()}\n{len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()


def stamp(root: Path, name: str) -> Path:
    """The file that records the last execution of the notebook `name`."""
    return (root / STAMPS / name).with_suffix(".sha256")


def is_current(root: Path, name: str) -> bool:
    """Whether nothing changed since this tool last ran the notebook `name`."""
    path = stamp(root, name)
    return path.exists() and path.read_text() == fingerprint(root, name)


def execute(notebook: NotebookNode, directory: Path) -> NotebookNode:
    """A canonical copy of the notebook with the outputs of a fresh kernel.

    Raises
    ------
    NotebookError
        If a cell raises, a cell tagged `raises-exception` does not, or the kernel gives up.
    """
    result = canonical.canonical(notebook)
    for cell in result.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    # Without directories to search, `python3` is the interpreter that runs this tool.
    manager = AsyncKernelManager(
        kernel_name="python3",
        kernel_spec_manager=KernelSpecManager(kernel_dirs=[]),
        **own_socket(),
    )
    client = NotebookClient(
        result,
        km=manager,
        timeout=CELL_SECONDS,
        record_timing=False,
        extra_arguments=["--log-level=ERROR"],
        resources={"metadata": {"path": str(directory)}},
    )
    try:
        client.execute()
    except CellExecutionError as error:
        raise NotebookError(
            f"cell {_failed_cell(result)}: {_short(error.ename, error.evalue)}"
        ) from None
    except CellTimeoutError:
        cell = _last_started(result)
        raise NotebookError(f"cell {cell}: still running after {CELL_SECONDS} seconds") from None
    except DeadKernelError:
        raise NotebookError(f"cell {_last_started(result)}: the kernel died") from None
    for number, cell in enumerate(result.cells, start=1):
        expected = "raises-exception" in cell.metadata.get("tags", [])
        if expected and not any(o.output_type == "error" for o in cell.outputs):
            raise NotebookError(f"cell {number}: is tagged raises-exception, but raised nothing")
    return canonical.canonical(result)


def run(root: Path, name: str) -> Outcome:
    """Execute the notebook `name`, store it if its text changed, and record that it ran.

    If it fails, the file stays as it was.
    """
    path = root / name
    try:
        before = canonical.read(path)
        text = canonical.dumps(execute(before, path.parent))
    except (NotebookError, ValueError) as error:
        message = str(error).removeprefix(f"{path}: ")
        return Outcome(f"{name}: {message}", failed=True)
    changed = text != path.read_text(encoding="utf-8")
    if changed:
        _write(path, text)
    _write(stamp(root, name), fingerprint(root, name))
    return Outcome(f"{name}: {'outputs stored' if changed else 'nothing changed'}", failed=False)


def main(arguments: list[str] | None = None, root: Path = ROOT) -> int:
    """Run the command line; the exit status is 1 if a notebook fails, or is stale in a check."""
    options = _parser().parse_args(arguments)
    try:
        names = [_name(root, given) for given in options.notebooks]
        if not names:
            listed = [f"{document}.ipynb" for document in toc.notebooks(root / "_toc.yml")]
            names = [name for name in listed if not is_current(root, name)]
            print(f"{len(listed) - len(names)} of {len(listed)} notebooks are up to date")
        for name in names:
            canonical.read(root / name)
    except ValueError as error:
        print(str(error).replace(f"{root}{os.sep}", ""), file=sys.stderr)
        return 2
    if options.check:
        for name in names:
            print(f"{name}: out of date")
        return int(bool(names))
    failed = False
    # Processes are spawned, since a forked one would share the sockets of a running kernel.
    with ProcessPoolExecutor(options.jobs, multiprocessing.get_context("spawn")) as pool:
        for outcome in pool.map(run, [root] * len(names), names):
            print(outcome.line, file=sys.stderr if outcome.failed else sys.stdout, flush=True)
            failed = failed or outcome.failed
    return int(failed)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "notebooks",
        nargs="*",
        metavar="NOTEBOOK",
        help="run these, up to date or not (default: all in _toc.yml that are out of date)",
    )
    parser.add_argument(
        "--jobs", type=_positive, default=1, metavar="N", help="run N at a time (default: 1)"
    )
    parser.add_argument(
        "--check", action="store_true", help="run nothing; list what would run, and fail if any"
    )
    return parser


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number from 1 on, got {text!r}")
    return int(text)


def _name(root: Path, given: str) -> str:
    """The name of a notebook relative to the root of the book."""
    path = Path(given).resolve()
    if not path.is_relative_to(root):
        raise ValueError(f"{given}: not inside the book")
    if path.suffix != ".ipynb":
        raise ValueError(f"{given}: not a notebook: its name does not end in .ipynb")
    return path.relative_to(root).as_posix()


def _failed_cell(notebook: NotebookNode) -> int:
    return next(
        number
        for number, cell in enumerate(notebook.cells, start=1)
        if cell.cell_type == "code"
        and "raises-exception" not in cell.metadata.get("tags", [])
        and any(output.output_type == "error" for output in cell.outputs)
    )


def _last_started(notebook: NotebookNode) -> int:
    """The first cell of code without a count; the count arrives when a cell is done."""
    return next(
        (
            number
            for number, cell in enumerate(notebook.cells, start=1)
            if cell.cell_type == "code" and cell.source.strip() and cell.execution_count is None
        ),
        len(notebook.cells),
    )


def _short(name: str, message: str) -> str:
    """An exception without colours, and without the tail of a long message."""
    lines = re.sub(r"\x1b\[[0-9;]*m", "", f"{name}: {message}").strip().splitlines()
    if len(lines) > MESSAGE_LINES:
        lines = [*lines[:MESSAGE_LINES], "..."]
    return "\n  ".join(lines)


def _write(path: Path, text: str) -> None:
    """Write at once, so that an interruption leaves the old file or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.partial")
    partial.write_text(text, encoding="utf-8", newline="\n")
    os.replace(partial, path)


if __name__ == "__main__":
    sys.exit(main())
