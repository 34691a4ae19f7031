"""Rules that keep what looks like evidence in a notebook from being anything else.

Each takes a notebook and its path, as those of `notebook_rules` do, and returns the faults.
"""

import ast
import itertools
import re
from collections.abc import Iterator
from pathlib import Path

from nbformat import NotebookNode

import cells
import prose
from claims import SETTLED

# Where a name of the library must come from. Nothing else may bear it.
HOME = {
    "evidence": "posenc.proof",
    "Derivation": "posenc.proof",
    "check": "posenc.exercises",
    "figures": "posenc",
}
TAGS = {"hide-input", "raises-exception"}
# What is computed for evidence: one of these must be more than a constant.
COMPUTED = {"error", "holds", "observed", "actual"}


def names_are_the_library_s(notebook: NotebookNode, path: Path) -> list[str]:
    """No namesake, patch or representation of one's own stands in for the library."""
    return [
        f"cell {number}: {fault}"
        for number, cell in cells.code(notebook)
        for node in cells.nodes(cell.source)
        for fault in _false_names(node)
    ]


def _false_names(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import | ast.ImportFrom):
        module = getattr(node, "module", None) or ""
        for alias in node.names:
            name = alias.asname or alias.name
            if name in HOME and (HOME[name], name) != (module, alias.name):
                yield f"{name} must be that of {HOME[name]}, got {alias.name} of {module}"
    if isinstance(node, ast.FunctionDef | ast.ClassDef) and (
        node.name in HOME or node.name in ("qed", "__repr__") or node.name.startswith("_repr_")
    ):
        yield f"defines {node.name}, which is the library's to define"
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in HOME:
        yield f"assigns to {node.id}"
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
        yield f"changes {ast.unparse(node)}"
    if isinstance(node, ast.Name) and node.id in ("setattr", "exec", "eval", "globals"):
        yield f"uses {node.id}"
    if isinstance(node, ast.keyword) and node.arg == "raw":
        yield "displays raw data"


def evidence_is_computed(notebook: NotebookNode, path: Path) -> list[str]:
    """Evidence is the value that a cell shows, and comes from more than constants."""
    faults = []
    for number, cell in cells.code(notebook):
        refuses = "raises-exception" in cell.metadata.get("tags", [])
        shown = set(_shown(cell.source))
        for node in cells.nodes(cell.source):
            if not isinstance(node, ast.Call) or cells.name(node.func) not in ("qed", "evidence"):
                continue
            if not refuses and ast.dump(node) not in shown:
                faults.append(
                    f"cell {number}: {cells.name(node.func)}(...) is not what the cell shows"
                )
            given = [keyword.value for keyword in node.keywords if keyword.arg in COMPUTED]
            if given and not any(
                isinstance(part, ast.Name | ast.Call) for value in given for part in ast.walk(value)
            ):
                faults.append(f"cell {number}: evidence of constants")
        for output in cell.outputs:
            if output.output_type == "stream" and re.search(r"^[∎✓✗] ", output.text, re.MULTILINE):
                faults.append(f"cell {number}: prints what looks like evidence")
            if refuses and SETTLED.search(str(output.get("data", {}).get("text/plain", ""))):
                faults.append(f"cell {number}: settles a claim and raises")
    return faults


def derivations_move(notebook: NotebookNode, path: Path) -> list[str]:
    """No step of a derivation repeats the expression before it."""
    faults = []
    for number, cell in cells.code(notebook):
        for output in cell.outputs:
            text = str(output.get("data", {}).get("text/plain", ""))
            if not re.search(r"^∎ ", text, re.MULTILINE):
                continue
            # A line of the chain is "  = expression  [reason]"; without a name the first is bare.
            chain = [
                re.sub(r"^  [=≟] |  +\[[^\[]*\]$", "", line)
                for line in text.splitlines()
                if not line.startswith("∎")
            ]
            faults += [
                f"cell {number}: a step repeats {after}"
                for before, after in itertools.pairwise(chain)
                if before == after
            ]
    return faults


def tags_are_known(notebook: NotebookNode, path: Path) -> list[str]:
    """No tag takes a cell or an output off the page."""
    # Those that switch off the comparison are the business of `notebook_rules.no_escape`.
    return [
        f"cell {number}: the tag {tag} is not one of {', '.join(sorted(TAGS))}"
        for number, cell in enumerate(notebook.cells, start=1)
        for tag in cell.metadata.get("tags", [])
        if tag not in TAGS and not tag.startswith(("nbval-", "pytest-", "skip-"))
    ]


def exercises_are_open_and_solved(notebook: NotebookNode, path: Path) -> list[str]:
    """As stored, no exercise is answered, and each solution passes the check of its exercise."""
    faults = []
    open_cells: list[tuple[int, NotebookNode]] | None = None
    solution: list[tuple[int, NotebookNode]] | None = None
    for number, cell in enumerate(notebook.cells, start=1):
        names = []
        if cell.cell_type == "markdown":
            names = [directive.name for directive in prose.directives(cell.source)]
        if "exercise" in names:
            open_cells, solution = [], None
        elif "solution-start" in names:
            solution = []
        elif "solution-end" in names and open_cells is not None and solution is not None:
            faults += _exercise_faults(number, open_cells, solution)
            open_cells = solution = None
        elif cell.cell_type == "code":
            part = open_cells if solution is None else solution
            if part is not None:
                part.append((number, cell))
    return faults


def _exercise_faults(
    end: int, asked: list[tuple[int, NotebookNode]], solved: list[tuple[int, NotebookNode]]
) -> Iterator[str]:
    printed = "".join(_printed(cell) for _, cell in asked)
    if "Not answered yet." not in printed:
        yield f"cell {end}: as stored, the exercise is not open: 'Not answered yet.' is missing"
    verdicts = "".join(_printed(cell) for _, cell in solved)
    if not re.search(r"^Right\b", verdicts, re.MULTILINE) or "Not right" in verdicts:
        yield f"cell {end}: the solution does not print 'Right' and nothing else of the check"
    expected = {digest for _, cell in asked for digest in _digests(cell.source)}
    for number, cell in solved:
        for digest in _digests(cell.source):
            if digest not in expected:
                yield f"cell {number}: the digest {digest} is not that of the exercise"
    for number, cell in [*asked, *solved]:
        for node in cells.nodes(cell.source):
            if isinstance(node, ast.keyword) and isinstance(node.value, ast.Constant):
                value = node.value.value
                if node.arg == "tolerance" and not 0 <= value <= 0.01:
                    yield f"cell {number}: tolerance {value} accepts nearly anything"
                if node.arg == "places" and not 3 <= value <= 12:
                    yield f"cell {number}: {value} places accept nearly anything"


RULES = (
    names_are_the_library_s,
    evidence_is_computed,
    derivations_move,
    tags_are_known,
    exercises_are_open_and_solved,
)


# --- parts shared by rules -----------------------------------------------------------------


def _shown(source: str) -> Iterator[str]:
    """Every expression in what a cell shows: its last one, and the arguments of `display`."""
    body = cells.statements(source)
    for statement in body:
        if not isinstance(statement, ast.Expr):
            continue
        call = statement.value
        displayed = isinstance(call, ast.Call) and cells.name(call.func) == "display"
        if displayed or statement is body[-1]:
            yield from (ast.dump(node) for node in ast.walk(statement))


def _printed(cell: NotebookNode) -> str:
    return "".join(o.text for o in cell.outputs if o.output_type == "stream")


def _digests(source: str) -> list[str]:
    return re.findall(r"\b[0-9a-f]{10}(?:-[0-9a-f]{10})*\b", source)
