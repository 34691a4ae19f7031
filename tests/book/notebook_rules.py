"""Rules on stored notebooks: one small function for each way in which they drift from the truth.

Each rule takes a notebook and its path and returns what is wrong, one message for each fault;
cells are numbered from 1, markdown cells included.

What nbval 0.11.0 does, measured by `test_notebook_rules.py`:

- It fails if stdout, text/plain, text/latex, text/markdown, text/html or image/svg+xml differ in
  a single character, if a cell that has a count lost its outputs, if outputs stand in a cell
  without a count, and if a `raises-exception` cell raises another error than the stored one.
- It passes a cell without count and outputs, whatever the cell prints; counts in any order; any
  PNG; the tags and comments that switch it off; a `raises-exception` cell that never raised; any
  traceback; and, since it compares each MIME type by itself, outputs in another order.
  `conftest.py` at the root closes the last hole, the rules here close the others.
"""

import ast
import io
import re
import tokenize
from collections.abc import Callable, Iterator
from pathlib import Path
from xml.etree import ElementTree

from nbformat import NotebookNode

import canonical
import cells
import prose

Rule = Callable[[NotebookNode, Path], list[str]]

SECTION_START = ("**Question.**", "**You will be able to**", "**You need**", "**Time.**")
SECTION_PARTS = (
    "The idea",
    "The statement",
    "The derivation",
    "The check",
    "The picture",
    "Where it stops being true",
    "In real models",
    "Exercises",
    "Summary",
)
STATEMENTS = {"prf:theorem", "prf:definition", "prf:proposition", "prf:lemma", "prf:corollary"}
EXERCISES = range(3, 6)

SVG = "image/svg+xml"
OUTPUT_TYPES = {"text/plain", "text/latex", "text/markdown", "text/html", SVG}

# Expressions that Jupyter shows unless their value is None, which these seldom or never have.
NEVER_NONE = (
    ast.Name,
    ast.Attribute,
    ast.Subscript,
    ast.Constant,
    ast.JoinedStr,
    ast.BinOp,
    ast.UnaryOp,
    ast.Compare,
    ast.Tuple,
    ast.List,
    ast.Dict,
)

# Names and places that are written with a point without being a number.
VERSIONED = (
    "Python|NumPy|SymPy|Matplotlib|JAX|Llama|Qwen|Gemma|Mistral|Phi|GPT|GPT-|OLMo|GLM-|DeepSeek-V"
    "|[Vv]ersion|[Ss]ections?|[Tt]heorem|[Ll]emma|[Tt]able|[Ff]igure|[Aa]ppendix|§"
)

ESCAPING_COMMENTS = {
    "NBVAL_IGNORE_OUTPUT",
    "NBVAL_SKIP",
    "NBVAL_RAISES_EXCEPTION",
    "PYTEST_VALIDATE_IGNORE_OUTPUT",
}
ESCAPING_TAG = re.compile(r"nbval-(?!check-output$).*|pytest-validate-ignore-output|skip-execution")
REASON = re.compile(r"^\s*# not compared: \S+(?:[^\S\n]+\S+){2,}", re.MULTILINE)

MACHINE = {
    "a memory address": re.compile(r"\b0x[0-9a-fA-F]{6,}\b"),
    "a path of one machine": re.compile(
        r"(?<![\w.])/(?:home|Users|root|tmp|work|var|usr|opt|mnt|private|builds?)/\w"
        r"|\b[A-Za-z]:\\(?:Users|Windows|Temp|Program)|(?:site|dist)-packages|\bipykernel_\d+"
    ),
    "a date": re.compile(
        r"\b(?:19|20)\d\d-[01]\d-[0-3]\d\b|\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\w*,? +"
        r"(?:\d+ +)?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
    ),
}
DURATION = re.compile(
    r"\b\d+(?:\.\d+)? ?(?:ns|[uµμ]s|ms|seconds?)\b|\b\d+\.\d+ ?s\b|\b\d?\d:\d\d:\d\d\b"
    r"|\b(?:took|elapsed|after) \d+ ?s\b|Wall time|CPU times"
)


# --- execution -----------------------------------------------------------------------------


def executed_in_order(notebook: NotebookNode, path: Path) -> list[str]:
    """Every code cell was run once, from top to bottom, in a fresh kernel."""
    faults = []
    for expected, (number, cell) in enumerate(cells.code(notebook), start=1):
        if not cell.source.strip():
            faults.append(f"cell {number}: is an empty code cell")
        elif cell.execution_count is None:
            faults.append(f"cell {number}: was never run")
        elif cell.execution_count != expected:
            faults.append(
                f"cell {number}: has count {cell.execution_count}, run in order it has {expected}"
            )
    return faults


def outputs_stored(notebook: NotebookNode, path: Path) -> list[str]:
    """A cell that surely shows something has an output.

    nbval notices a missing output if the cell kept its count; this notices it without running.
    """
    return [
        f"cell {number}: shows a value, but no output is stored"
        for number, cell in cells.code(notebook)
        if not cell.outputs and _surely_shows(cell.source)
    ]


def no_escape(notebook: NotebookNode, path: Path) -> list[str]:
    """No cell leaves the comparison without a written reason; what should raise has raised."""
    faults = []
    for number, cell in cells.code(notebook):
        tags = cell.metadata.get("tags", [])
        escapes = [f"tag {tag}" for tag in tags if ESCAPING_TAG.fullmatch(tag)]
        comments = {
            line.strip().lstrip("#").strip()
            for line in cell.source.splitlines()
            if line.strip().startswith("#")
        }
        escapes += [f"comment {comment}" for comment in sorted(comments & ESCAPING_COMMENTS)]
        if escapes and not REASON.search(cell.source):
            faults.append(
                f"cell {number}: {', '.join(escapes)} without a line "
                "`# not compared: <reason of three words or more>`"
            )
        raised = any(output.output_type == "error" for output in cell.outputs)
        if "raises-exception" in tags and not raised:
            faults.append(f"cell {number}: is tagged raises-exception, but no error is stored")
        if raised and "raises-exception" not in tags:
            faults.append(f"cell {number}: stores an error, but is not tagged raises-exception")
    return faults


def plain_python(notebook: NotebookNode, path: Path) -> list[str]:
    """Code is Python without magics, output hidden by `;`, or a printer set for the session."""
    faults = []
    for number, cell in cells.code(notebook):
        try:
            tree = ast.parse(cell.source)
        except SyntaxError as error:
            faults.append(f"cell {number}: line {error.lineno} is not Python (a magic?)")
            continue
        if _last_token(cell.source) == ";":
            faults.append(f"cell {number}: ends in `;`, which hides no output; assign to `_`")
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        names |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        names |= {node.name for node in ast.walk(tree) if isinstance(node, ast.alias)}
        if "init_printing" in names:
            faults.append(f"cell {number}: calls init_printing, which changes every later output")
        if "get_ipython" in names:
            faults.append(f"cell {number}: calls get_ipython, so it is a magic in disguise")
    return faults


# --- outputs -------------------------------------------------------------------------------


def figures_are_svg(notebook: NotebookNode, path: Path) -> list[str]:
    """Figures are SVG, the one kind of picture that is compared; other data is text."""
    faults = []
    for number, cell in cells.code(notebook):
        for output in cell.outputs:
            data = output.get("data", {})
            strange = sorted(set(data) - OUTPUT_TYPES)
            if strange:
                faults.append(f"cell {number}: output of type {', '.join(strange)}")
            if SVG in data and set(data) != {SVG, "text/plain"}:
                faults.append(
                    f"cell {number}: a figure must hold image/svg+xml and text/plain, "
                    f"got {', '.join(sorted(data))}"
                )
            if any(re.search(r"data:image/(?!svg)", _text(value)) for value in data.values()):
                faults.append(f"cell {number}: a raster image inside an output")
    for number, cell in enumerate(notebook.cells, start=1):
        if cell.get("attachments"):
            faults.append(f"cell {number}: holds an attachment; draw it in a code cell")
    return faults


def figures_have_words(notebook: NotebookNode, path: Path) -> list[str]:
    """Every picture has a text alternative; a figure says the same words as its text output."""
    faults = []
    for number, cell in cells.code(notebook):
        for output in cell.outputs:
            data = output.get("data", {})
            if SVG in data:
                fault = _figure_fault(_text(data[SVG]), _text(data.get("text/plain", "")))
                if fault:
                    faults.append(f"cell {number}: {fault}")
            if _image_without_alt(_text(data.get("text/html", ""))):
                faults.append(f"cell {number}: <img> without alt text in an output")
    for number, cell in cells.markdown(notebook):
        outside_code = "\n".join(prose.lines(cell.source))
        outside_code = re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", " ", outside_code)
        if re.search(r"!\[\s*\]", outside_code):
            faults.append(f"cell {number}: ![](...) without alt text")
        if _image_without_alt(outside_code):
            faults.append(f"cell {number}: <img> without alt text")
        for directive in prose.directives(cell.source):
            if directive.name in prose.ADDRESSED and not directive.options.get("alt"):
                faults.append(f"cell {number}: {{{directive.name}}} without :alt:")
    return faults


def outputs_fit_any_machine(notebook: NotebookNode, path: Path) -> list[str]:
    """No output holds an address, a path, a date or a duration."""
    faults = []
    for number, cell in cells.code(notebook):
        for kind, content in _output_texts(cell):
            patterns = dict(MACHINE)
            # In formulas and drawings a number before a letter is no duration.
            if kind not in (SVG, "text/latex"):
                patterns["a duration or time"] = DURATION
            for what, pattern in patterns.items():
                found = pattern.search(content)
                if found:
                    faults.append(f"cell {number}: {what} in {kind}: {found[0]!r}")
    return faults


def no_warnings(notebook: NotebookNode, path: Path) -> list[str]:
    """Nothing was written to stderr, and no output is a warning."""
    faults = []
    for number, cell in cells.code(notebook):
        for kind, content in _output_texts(cell):
            if kind == "stderr":
                faults.append(f"cell {number}: stderr: {content.strip().partition(chr(10))[0]}")
            elif re.search(r"\b\w*Warning:", content):
                faults.append(f"cell {number}: a warning in {kind}")
    return faults


# --- form ----------------------------------------------------------------------------------


def stored_canonically(notebook: NotebookNode, path: Path) -> list[str]:
    """Ids, metadata, kernelspec and outputs have the form that `make run` writes."""
    wanted = canonical.canonical(notebook)
    faults = [
        f"{key} must be {wanted[key]!r}, got {notebook.get(key)!r}"
        for key in ("metadata", "nbformat", "nbformat_minor")
        if notebook.get(key) != wanted[key]
    ]
    for number, (cell, good) in enumerate(zip(notebook.cells, wanted.cells, strict=True), start=1):
        for key in sorted(set(cell) | set(good)):
            if cell.get(key) == good.get(key):
                continue
            if key == "outputs":
                faults.append(f"cell {number}: outputs are not in the form of `make run`")
            else:
                faults.append(
                    f"cell {number}: {key} must be {good.get(key)!r}, got {cell.get(key)!r}"
                )
    return faults


def one_title(notebook: NotebookNode, path: Path) -> list[str]:
    """The notebook starts with its only first-level heading, and holds no raw cells."""
    faults = [
        f"cell {number}: is of type {cell.cell_type}, neither markdown nor code"
        for number, cell in enumerate(notebook.cells, start=1)
        if cell.cell_type not in ("markdown", "code")
    ]
    if not notebook.cells or notebook.cells[0].cell_type != "markdown":
        return [*faults, "cell 1: must be markdown, since it holds the title"]
    titles = [
        number
        for number, cell in cells.markdown(notebook)
        for level, _ in prose.headings(cell.source)
        if level == 1
    ]
    if titles[:1] != [1] or next(prose.headings(notebook.cells[0].source))[0] != 1:
        faults.append("cell 1: must start with the title, a heading `# ...`")
    faults += [f"cell {number}: a second title (`# ...`)" for number in titles if number != 1]
    faults += ["cell 1: a second title (`# ...`)"] * (titles.count(1) - 1)
    return faults


# --- section -------------------------------------------------------------------------------


def opening_is_complete(notebook: NotebookNode, path: Path) -> list[str]:
    """Before the first part stand the question, the aims, what is needed and the minutes."""
    opening: list[str] = []
    for cell in notebook.cells:
        if cell.cell_type != "markdown":
            continue
        before, found, _ = f"\n{cell.source}".partition("\n## ")
        opening += before.splitlines()
        if found:
            break
    return [
        f"no line starts with {start} before the first part"
        for start in SECTION_START
        if not any(line.startswith(start) for line in opening)
    ]


def parts_in_order(notebook: NotebookNode, path: Path) -> list[str]:
    """The parts of a section are there, once each, in their order."""
    found = [part for _, part in _parts(notebook)]
    faults = [f"no part `## {part}`" for part in SECTION_PARTS if part not in found]
    faults += [
        f"{found.count(part)} parts `## {part}`" for part in SECTION_PARTS if found.count(part) > 1
    ]
    if not faults and found != list(SECTION_PARTS):
        faults.append(f"parts must come in the order {', '.join(SECTION_PARTS)}, got {found}")
    return faults


def states_and_proves(notebook: NotebookNode, path: Path) -> list[str]:
    """A labelled statement, a derivation brought to its end, and a figure."""
    faults = []
    if not any(
        directive.name in STATEMENTS and directive.options.get("label")
        for _, cell in cells.markdown(notebook)
        for directive in prose.directives(cell.source)
    ):
        faults.append("no {prf:theorem}, {prf:definition} or the like with a :label:")
    if not any("qed" in _called(cell.source) for _, cell in cells.code(notebook)):
        faults.append("no derivation ends in qed(...)")
    if not any(
        SVG in output.get("data", {}) for _, cell in cells.code(notebook) for output in cell.outputs
    ):
        faults.append("no figure")
    return faults


def exercises_check_themselves(notebook: NotebookNode, path: Path) -> list[str]:
    """Three to five exercises, each with a cell that checks and an executed, folded solution."""
    faults = []
    exercises: list[tuple[int, str]] = []
    solutions: dict[str, tuple[int, int]] = {}
    started: tuple[int, str] | None = None
    for number, cell in cells.markdown(notebook):
        for directive in prose.directives(cell.source):
            name, argument, options = directive.name, directive.argument, directive.options
            if name == "exercise":
                if not options.get("label"):
                    faults.append(f"cell {number}: {{exercise}} without a :label:")
                exercises.append((number, options.get("label", "")))
            if name in ("solution-start", "solution-end") and _stands_with_more(cell.source):
                faults.append(f"cell {number}: {{{name}}} must stand in a cell of its own")
            if name == "solution-start":
                if options.get("class") != "dropdown":
                    faults.append(f"cell {number}: {{solution-start}} without :class: dropdown")
                if started:
                    faults.append(f"cell {started[0]}: {{solution-start}} without an end")
                started = (number, argument)
            if name == "solution-end":
                if started is None:
                    faults.append(f"cell {number}: {{solution-end}} without a start")
                else:
                    if started[1] in solutions:
                        faults.append(f"cell {started[0]}: a second solution of {started[1]}")
                    solutions[started[1]] = (started[0], number)
                started = None
    if started:
        faults.append(f"cell {started[0]}: {{solution-start}} without an end")
    if len(exercises) not in EXERCISES:
        faults.append(
            f"{EXERCISES[0]} to {EXERCISES[-1]} exercises are wanted, got {len(exercises)}"
        )
    code = dict(cells.code(notebook))
    for number, label in exercises:
        if not label:
            continue
        if label not in solutions:
            faults.append(f"cell {number}: exercise {label} has no solution")
            continue
        start, end = solutions[label]
        if not any(i in code for i in range(start + 1, end)):
            faults.append(f"cell {start}: the solution of {label} holds no code")
        if not any(i in code and _checks(code[i].source) for i in range(number + 1, start)):
            faults.append(f"cell {number}: no cell calls check.... before the solution of {label}")
    labels = [label for _, label in exercises]
    faults += [
        f"cell {start}: a solution of {label!r}, which is no exercise here"
        for label, (start, _) in solutions.items()
        if label not in labels
    ]
    if exercises and not any(_imports_check(cell.source) for _, cell in cells.code(notebook)):
        faults.append("no cell holds `from posenc.exercises import check`")
    return faults


def summary_names_claims(notebook: NotebookNode, path: Path) -> list[str]:
    """The summary links to the claims that the section settles."""
    if claims_in_summary(notebook):
        return []
    return ["the part Summary has no {claim} role"]


def numbers_are_computed(notebook: NotebookNode, path: Path) -> list[str]:
    """A decimal in prose stands, digit for digit, in a text output of the notebook.

    Signs are not compared: `-` between two numbers is not told from `-` before one.
    """
    computed: set[str] = set()
    for _, cell in cells.code(notebook):
        for output in cell.outputs:
            # The text of a figure is its alternative text, typed like prose.
            if SVG in output.get("data", {}):
                continue
            for kind, content in _texts(output):
                if kind == "text/html":
                    content = re.sub(r"<[^>]*>", " ", content)
                computed |= set(decimals(content))
    return [
        f"cell {number}: {decimal} stands in no output of this notebook"
        for number, cell in cells.markdown(notebook)
        for decimal in dict.fromkeys(decimals(_without_versions(prose.text(cell.source))))
        if decimal not in computed
    ]


RULES: tuple[Rule, ...] = (
    executed_in_order,
    outputs_stored,
    no_escape,
    plain_python,
    figures_are_svg,
    figures_have_words,
    outputs_fit_any_machine,
    no_warnings,
    stored_canonically,
    one_title,
    opening_is_complete,
    parts_in_order,
    states_and_proves,
    exercises_check_themselves,
    summary_names_claims,
    numbers_are_computed,
)


# --- the book ------------------------------------------------------------------------------


def toc_matches_files(listed: list[str], stored: list[str]) -> list[str]:
    """Every notebook stands once in the table of contents, and under a name that pytest collects.

    Both lists hold names like `notebooks/rotary/rotation`.
    """
    faults = [f"{name}: not in _toc.yml" for name in stored if name not in listed]
    faults += [f"{name}: in _toc.yml, but not stored" for name in listed if name not in stored]
    faults += [
        f"{name}: {listed.count(name)} times in _toc.yml"
        for name in dict.fromkeys(listed)
        if listed.count(name) > 1
    ]
    faults += [
        f"{name}: the name must be notebooks/<part>/<name>, in lower case, digits and hyphens"
        for name in stored
        if not re.fullmatch(r"notebooks/[a-z0-9-]+/[a-z0-9-]+", name)
    ]
    return faults


def stored_text(content: str, notebook: NotebookNode) -> list[str]:
    """The file is, byte for byte, what `make run` would write for this notebook."""
    if content == canonical.dumps(notebook):
        return []
    return ["the file is not in the form of `make run` (order of keys, indent, final newline)"]


# --- parts shared by rules -----------------------------------------------------------------


def decimals(text: str) -> list[str]:
    """Decimals of a text, unsigned, those in scientific notation as `1.5e-7`.

    >>> decimals(r"5.9489, and $1.5\\times10^{-7}$, but not 0.11.0 or v1.2")
    ['5.9489', '1.5e-7']
    """
    text = text.translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789"))
    text = re.sub(r"\s*(?:\\times|\\cdot|×|·)\s*10\s*(?:\^|(?=-?\d))\{?([-+]?\d+)\}?", r"e\1", text)
    text = re.sub(r"(\\[a-zA-Z]+)(?=[\d.])", r"\1 ", text)
    found = re.findall(r"(?<![\w.])(\d*\.\d+)(?:[eE]([-+]?\d+))?(?!\.?\d)", text)
    return [mantissa + (f"e{int(exponent)}" if exponent else "") for mantissa, exponent in found]


def claims_in_summary(notebook: NotebookNode) -> list[str]:
    """Ids of the claims that the part Summary links to."""
    numbers = [number for number, part in _parts(notebook) if part == "Summary"]
    if not numbers:
        return []
    summary = ""
    for number, cell in cells.markdown(notebook):
        if number == numbers[0]:
            summary = re.split(r"^## Summary\b", cell.source, maxsplit=1, flags=re.MULTILINE)[-1]
        elif number > numbers[0]:
            summary += f"\n\n{cell.source}"
    shown = re.sub(r"<!--.*?-->", " ", "\n".join(prose.lines(summary)), flags=re.DOTALL)
    return re.findall(r"\{claim\}`([^`]+)`", shown)


def _parts(notebook: NotebookNode) -> list[tuple[int, str]]:
    """Cell and name of each second-level heading that is a part of every section."""
    return [
        (number, words.partition(":")[0])
        for number, cell in cells.markdown(notebook)
        for level, words in prose.headings(cell.source)
        if level == 2 and words.partition(":")[0] in SECTION_PARTS
    ]


def _text(value: object) -> str:
    return value if isinstance(value, str) else str(value)


def _texts(output: NotebookNode) -> Iterator[tuple[str, str]]:
    """Kind and content of each text in an output."""
    if output.output_type == "stream":
        yield output.name, output.text
    elif output.output_type == "error":
        yield "error", "\n".join([output.ename, output.evalue, *output.traceback])
    for kind, value in output.get("data", {}).items():
        if kind in OUTPUT_TYPES:
            yield kind, _text(value)


def _output_texts(cell: NotebookNode) -> Iterator[tuple[str, str]]:
    for output in cell.outputs:
        yield from _texts(output)


def _surely_shows(source: str) -> bool:
    """Whether the last statement, or a call outside any block, cannot but show something."""
    body = cells.statements(source)
    for statement in body:
        if not isinstance(statement, ast.Expr):
            continue
        value = statement.value
        last = statement is body[-1]
        if isinstance(value, ast.Call):
            name = cells.name(value.func)
            if name in ("print", "display") or (last and name in ("show", "qed", "evidence")):
                return True
        elif last and isinstance(value, NEVER_NONE) and getattr(value, "value", "") is not None:
            return True
    return False


def _called(source: str) -> set[str]:
    return {cells.name(call.func) for call in cells.calls(source)}


def _checks(source: str) -> bool:
    return any(
        isinstance(call.func, ast.Attribute)
        and isinstance(call.func.value, ast.Name)
        and call.func.value.id == "check"
        for call in cells.calls(source)
    )


def _imports_check(source: str) -> bool:
    return any(
        isinstance(node, ast.ImportFrom)
        and node.module == "posenc.exercises"
        and any(alias.name == "check" and alias.asname is None for alias in node.names)
        for node in cells.nodes(source)
    )


def _last_token(source: str) -> str:
    silent = {tokenize.NEWLINE, tokenize.NL, tokenize.COMMENT, tokenize.ENDMARKER, tokenize.DEDENT}
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return ([t.string for t in tokens if t.type not in silent] or [""])[-1]


def _stands_with_more(source: str) -> bool:
    """Whether a cell holds more than one directive with options and nothing in it."""
    lines = [line for line in source.strip().splitlines() if line.strip()]
    body = [line for line in lines[1:-1] if not re.match(r"\s*:[\w-]+:", line)]
    return bool(body) or not re.match(r"(?:`{3,}|~{3,}|:{3,})\{", lines[0])


def _figure_fault(svg: str, words: str) -> str:
    try:
        root = ElementTree.fromstring(svg)
    except ElementTree.ParseError as error:
        return f"the SVG is not well formed: {error}"
    label = root.get("aria-label", "").strip()
    if not label:
        return "a figure without alt text (aria-label of the SVG)"
    if root.get("role") != "img":
        return "a figure whose SVG lacks role=img"
    if words != f"Figure: {label}":
        return f"the text of a figure must be 'Figure: ' and its alt text, got {words!r}"
    return ""


def _image_without_alt(markup: str) -> bool:
    images = re.findall(r"<img\b[^>]*>", markup, flags=re.IGNORECASE)
    return any(not re.search(r"""\balt\s*=\s*(["'])\s*[^"'\s]""", image) for image in images)


def _without_versions(text: str) -> str:
    return re.sub(rf"(?<!\w)(?:{VERSIONED})[\s~-]*\d+(?:\.\d+)+", " ", text)
