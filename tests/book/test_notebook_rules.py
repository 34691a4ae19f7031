"""Each rule on notebooks keeps silent on a good section and names the fault of a broken one."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import canonical
import notebook_rules as rules
import run_notebooks
import sample
from sample import code, printed, raised, section, show

PATH = Path("notebooks/rotary/rotation.ipynb")
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("rule", rules.RULES)
def test_a_good_section_breaks_no_rule(rule):
    assert rule(section(), PATH) == []


def faults(rule, cell, change):
    """What a rule says of the good section after a change to one cell (counted from 1)."""
    broken = section()
    change(broken.cells[cell - 1])
    return rule(broken, PATH)


def put(**fields):
    """A change that sets fields of a cell."""
    return lambda cell: cell.update(fields)


def outputs(*new, source=None, tags=None):
    """A change that replaces the outputs of a cell, and perhaps its code and tags."""

    def change(cell):
        cell.outputs = list(new)
        if source is not None:
            cell.source = source
        if tags is not None:
            cell.metadata = {"tags": tags}

    return change


@pytest.mark.parametrize(
    ("cell", "change", "message"),
    [
        # nbval passes all three.
        (8, put(execution_count=None, outputs=[]), "cell 8: was never run"),
        (8, put(execution_count=9), "cell 8: has count 9, run in order it has 3"),
        (8, put(source=" \n", execution_count=None), "cell 8: is an empty code cell"),
    ],
)
def test_executed_in_order(cell, change, message):
    assert faults(rules.executed_in_order, cell, change) == [message]


def test_two_cells_run_in_the_wrong_order():
    broken = section()
    broken.cells[5].execution_count, broken.cells[7].execution_count = 3, 2
    assert rules.executed_in_order(broken, PATH) == [
        "cell 6: has count 3, run in order it has 2",
        "cell 8: has count 2, run in order it has 3",
    ]


@pytest.mark.parametrize("source", ["print(1)", "display(x)", "x", "1 + 1", 'd.qed("x-y")', "x[0]"])
def test_outputs_stored(source):
    assert faults(rules.outputs_stored, 8, outputs(source=source)) == [
        "cell 8: shows a value, but no output is stored"
    ]


@pytest.mark.parametrize("source", ["x = 1", "use()", "for x in y:\n    print(x)", "None"])
def test_outputs_that_need_not_be_there(source):
    assert faults(rules.outputs_stored, 8, outputs(source=source)) == []


@pytest.mark.parametrize(
    ("source", "tags", "what"),
    [
        ("f()", ["nbval-ignore-output"], "tag nbval-ignore-output"),
        ("f()", ["nbval-skip"], "tag nbval-skip"),
        ("f()", ["nbval-raises-exception"], "tag nbval-raises-exception"),
        ("f()", ["skip-execution"], "tag skip-execution"),
        ("# NBVAL_SKIP\nf()", [], "comment NBVAL_SKIP"),
        ("  ## NBVAL_IGNORE_OUTPUT  \nf()", [], "comment NBVAL_IGNORE_OUTPUT"),
        ("#PYTEST_VALIDATE_IGNORE_OUTPUT", [], "comment PYTEST_VALIDATE_IGNORE_OUTPUT"),
        ("# not compared: too slow\nf()", ["nbval-skip"], "tag nbval-skip"),
    ],
)
def test_no_escape(source, tags, what):
    assert faults(rules.no_escape, 8, outputs(source=source, tags=tags)) == [
        f"cell 8: {what} without a line `# not compared: <reason of three words or more>`"
    ]


def test_an_escape_with_a_reason_is_allowed():
    change = outputs(
        source="# not compared: differs between processors\nf()", tags=["nbval-ignore-output"]
    )
    assert faults(rules.no_escape, 8, change) == []


def test_exceptions_are_stored_and_announced():
    # nbval passes a cell that was tagged and never raised.
    assert faults(rules.no_escape, 12, outputs()) == [
        "cell 12: is tagged raises-exception, but no error is stored"
    ]
    assert faults(rules.no_escape, 8, outputs(raised("TypeError", "no"))) == [
        "cell 8: stores an error, but is not tagged raises-exception"
    ]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("x = 1\n%time f()", "line 2 is not Python (a magic?)"),
        ("!ls", "line 1 is not Python (a magic?)"),
        ("f?", "line 1 is not Python (a magic?)"),
        ("plt.plot(x);  # hidden", "ends in `;`, which hides no output; assign to `_`"),
        (
            "sympy.init_printing()",
            "calls init_printing, which changes every later output",
        ),
        (
            "from sympy import init_printing as p",
            "calls init_printing, which changes every later output",
        ),
        (
            'get_ipython().run_line_magic("time", "f()")',
            "calls get_ipython, so it is a magic in disguise",
        ),
    ],
)
def test_plain_python(source, message):
    assert faults(rules.plain_python, 8, outputs(source=source)) == [f"cell 8: {message}"]


def test_a_semicolon_in_a_string_or_comment_hides_nothing():
    assert faults(rules.plain_python, 8, outputs(source='print("a;")  # b;')) == []


PNG = {"image/png": "iVBORw0KGgo=", "text/plain": "<Figure>"}


@pytest.mark.parametrize(
    ("output", "message"),
    [
        # nbval compares neither PNG nor JPEG.
        (show("iVBORw0KGgo=", "image/png"), "output of type image/png"),
        (show("/9j/4AAQ", "image/jpeg"), "output of type image/jpeg"),
        (show("{}", "application/vnd.jupyter.widget-view+json"), None),
        (show('<img alt="x" src="data:image/png;base64,iVB=">', "text/html"), "a raster image"),
        (
            show(sample.SVG, "image/svg+xml"),
            "a figure must hold image/svg+xml and text/plain, got image/svg+xml",
        ),
    ],
)
def test_figures_are_svg(output, message):
    found = faults(rules.figures_are_svg, 10, outputs(output))
    assert len(found) == 1
    assert found[0].startswith(f"cell 10: {message or 'output of type application/vnd'}")


def test_a_picture_inside_an_svg_is_a_raster_image():
    def change(cell):
        data = cell.outputs[0].data
        data["image/svg+xml"] = '<svg><image href="data:image/png;base64,iVB="/></svg>'

    assert faults(rules.figures_are_svg, 10, change) == ["cell 10: a raster image inside an output"]


def test_attachments_are_no_figures():
    change = put(attachments={"a.png": {"image/png": "iVBORw0KGgo="}})
    assert faults(rules.figures_are_svg, 3, change) == [
        "cell 3: holds an attachment; draw it in a code cell"
    ]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            ' aria-label="A circle &amp; a point"',
            "",
            "a figure without alt text (aria-label of the SVG)",
        ),
        (
            "A circle &amp; a point",
            " ",
            "a figure without alt text (aria-label of the SVG)",
        ),
        (' role="img"', "", "a figure whose SVG lacks role=img"),
        (
            "A circle",
            "A square",
            "the text of a figure must be 'Figure: ' and its alt text, "
            "got 'Figure: A circle & a point'",
        ),
    ],
)
def test_figures_have_words(old, new, message):
    def change(cell):
        data = cell.outputs[0].data
        data["image/svg+xml"] = data["image/svg+xml"].replace(old, new)

    assert faults(rules.figures_have_words, 10, change) == [f"cell 10: {message}"]


def test_an_svg_that_no_browser_could_read():
    change = outputs(show("<svg>", "image/svg+xml"))
    (found,) = faults(rules.figures_have_words, 10, change)
    assert found.startswith("cell 10: the SVG is not well formed: ")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("![](turn.svg)", "![](...) without alt text"),
        ('<img src="turn.svg">', "<img> without alt text"),
        ('<img src="turn.svg" alt="">', "<img> without alt text"),
        ("```{image} turn.svg\n:width: 3\n```", "{image} without :alt:"),
        (":::{figure} turn.svg\n:name: turn\nCaption\n:::", "{figure} without :alt:"),
    ],
)
def test_pictures_in_markdown_have_words(source, message):
    assert faults(rules.figures_have_words, 3, put(source=source)) == [f"cell 3: {message}"]


@pytest.mark.parametrize(
    "source",
    ["![turn](a.svg)", "`![](a.svg)`", "```{image} a.svg\n:alt: turn\n```", '<img alt="turn">'],
)
def test_pictures_in_markdown_with_words(source):
    assert faults(rules.figures_have_words, 3, put(source=source)) == []


def test_an_image_in_html_output_has_words():
    output = show('<img src="a.svg">', "text/html")
    assert faults(rules.figures_have_words, 8, outputs(output)) == [
        "cell 8: <img> without alt text in an output"
    ]


@pytest.mark.parametrize(
    ("output", "message"),
    [
        (show("<f at 0x7f3a5c0d>"), "a memory address in text/plain: '0x7f3a5c0d'"),
        (printed("read /" + "home/ann/a.json"), "a path of one machine in stdout: '/home/a'"),
        (printed("/" + "opt/x"), "a path of one machine in stdout: '/opt/x'"),
        (show("C:\\" + "Users\\ann"), "a path of one machine in text/plain: 'C:\\\\Users'"),
        (
            show("lib/site-packages/a.py", "text/html"),
            "a path of one machine in text/html: 'site-packages'",
        ),
        (raised("E", "ipykernel_4711"), "a path of one machine in error: 'ipykernel_4711'"),
        (printed("2031-04-05"), "a date in stdout: '2031-04-05'"),
        (printed("Mon 5 Apr"), "a date in stdout: 'Mon 5 Apr'"),
        (show("<svg>2031-04-05</svg>", "image/svg+xml"), "a date in image/svg+xml: '2031-04-05'"),
        (printed("took 0.12 s"), "a duration or time in stdout: '0.12 s'"),
        (printed("took 12 s"), "a duration or time in stdout: 'took 12 s'"),
        (printed("1.23 ms ± 4"), "a duration or time in stdout: '1.23 ms'"),
        (printed("14:05:59"), "a duration or time in stdout: '14:05:59'"),
        (printed("Wall time: none"), "a duration or time in stdout: 'Wall time'"),
    ],
)
def test_outputs_fit_any_machine(output, message):
    assert faults(rules.outputs_fit_any_machine, 8, outputs(output)) == [f"cell 8: {message}"]


@pytest.mark.parametrize(
    "output",
    [
        show(r"$\frac{0.5 s}{2} 3 ms$", "text/latex"),
        show("a/opt/b 0.5 ± 0.1 0xff steps"),
        show("<svg><path d='M 0.5 s'/></svg>", "image/svg+xml"),
    ],
)
def test_outputs_that_fit_any_machine(output):
    assert faults(rules.outputs_fit_any_machine, 8, outputs(output)) == []


def test_no_warnings():
    change = outputs(printed("a\nb\n", name="stderr"))
    assert faults(rules.no_warnings, 8, change) == ["cell 8: stderr: a"]
    change = outputs(printed("x.py:1: RuntimeWarning: overflow"))
    assert faults(rules.no_warnings, 8, change) == ["cell 8: a warning in stdout"]
    assert faults(rules.no_warnings, 8, outputs(printed("A warning to the reader"))) == []


def test_kernelspec_is_python3():
    # nbval run in the current environment ignores the kernelspec.
    broken = section()
    broken.metadata.kernelspec.name = "conda-env-ann"
    wanted = "{'display_name': 'Python 3', 'language': 'python', 'name': 'python3'}"
    assert rules.stored_canonically(broken, PATH) == [
        f"metadata must be {{'kernelspec': {wanted}, 'language_info': {{'name': 'python'}}}}, "
        f"got {{'kernelspec': {wanted.replace('python3', 'conda-env-ann')}, "
        "'language_info': {'name': 'python'}}"
    ]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (put(metadata={"tags": [], "scrolled": True}), "metadata must be {}, got "),
        (put(id="a b"), "id must be '"),
        (lambda cell: cell.outputs[0].update(text="a") or cell.outputs.insert(0, printed("b")), ""),
        (lambda cell: cell.outputs[1].update(metadata={"a": 1}), ""),
        (lambda cell: cell.outputs[1].update(execution_count=7), ""),
    ],
)
def test_stored_canonically(change, message):
    found = faults(rules.stored_canonically, 8, change)
    assert len(found) == 1
    assert found[0].startswith(f"cell 8: {message or 'outputs are not in the form of `make run`'}")


def test_a_traceback_is_one_line():
    # nbval compares no traceback.
    def change(cell):
        cell.outputs[0].traceback = ["ValueError: a turn"]

    assert faults(rules.stored_canonically, 12, change) == [
        "cell 12: outputs are not in the form of `make run`"
    ]


def test_ids_are_unique():
    broken = section()
    broken.cells[3].id = broken.cells[2].id
    (found,) = rules.stored_canonically(broken, PATH)
    assert found.startswith("cell 4: id must be '")
    assert found.endswith(f"got {broken.cells[2].id!r}")


def test_one_title():
    rule = rules.one_title
    assert faults(rule, 3, put(source="# Again")) == ["cell 3: a second title (`# ...`)"]
    assert faults(rule, 3, put(source="Again\n===")) == ["cell 3: a second title (`# ...`)"]
    assert faults(rule, 3, put(source="```python\n# Again\n```")) == []
    assert faults(rule, 1, put(source="# A\n# B")) == ["cell 1: a second title (`# ...`)"]
    assert faults(rule, 1, put(source="## A")) == [
        "cell 1: must start with the title, a heading `# ...`"
    ]
    assert faults(rule, 3, put(cell_type="raw")) == [
        "cell 3: is of type raw, neither markdown nor code"
    ]
    assert faults(rule, 1, put(cell_type="code")) == [
        "cell 1: must be markdown, since it holds the title"
    ]


@pytest.mark.parametrize("start", rules.SECTION_START)
def test_opening_is_complete(start):
    def change(cell):
        cell.source = cell.source.replace(start, start.strip("*"))

    assert faults(rules.opening_is_complete, 1, change) == [
        f"no line starts with {start} before the first part"
    ]


def test_an_opening_after_the_first_part_is_too_late():
    broken = section()
    broken.cells[2].source += "\n\n**Time.** 5 minutes."
    broken.cells[0].source = broken.cells[0].source.replace("**Time.**", "")
    assert rules.opening_is_complete(broken, PATH) == [
        "no line starts with **Time.** before the first part"
    ]


def test_parts_in_order():
    rule = rules.parts_in_order
    assert faults(rule, 13, put(source="## In some models")) == ["no part `## In real models`"]
    assert faults(rule, 13, put(source="### In real models")) == ["no part `## In real models`"]
    assert faults(rule, 13, put(source="## In real models: today\n\n## Aside")) == []
    assert faults(rule, 13, put(source="## In real models\n\n## The idea")) == [
        "2 parts `## The idea`"
    ]
    broken = section()
    broken.cells[2], broken.cells[3] = broken.cells[3], broken.cells[2]
    (found,) = rule(broken, PATH)
    assert found.endswith("got " + str(["The statement", "The idea", *rules.SECTION_PARTS[2:]]))


def test_states_and_proves():
    rule = rules.states_and_proves
    statement = "no {prf:theorem}, {prf:definition} or the like with a :label:"
    source = "## The statement\n\n```{prf:theorem} Composition\n\n$R$\n```"
    assert faults(rule, 4, put(source=source)) == [statement]
    source = "## The statement\n\n````\n```{prf:theorem}\n:label: a\n```\n````"
    assert faults(rule, 4, put(source=source)) == [statement]
    assert faults(rule, 6, put(source="# d.qed(1)\nd")) == ["no derivation ends in qed(...)"]
    assert faults(rule, 10, outputs(printed("Figure: a"))) == ["no figure"]


@pytest.mark.parametrize(
    ("cell", "change", "message"),
    [
        (15, put(source="Turn"), "3 to 5 exercises are wanted, got 2"),
        (
            15,
            put(source="```{exercise}\nTurn.\n```"),
            "cell 15: {exercise} without a :label:",
        ),
        (
            16,
            put(source="checked = 1"),
            "cell 15: no cell calls check.... before the solution of ex-turn-1",
        ),
        (17, put(source="```{solution-start} ex-turn-1\n```"), "without :class: dropdown"),
        (
            17,
            put(source="So:\n\n```{solution-start} ex-turn-1\n:class: dropdown\n```"),
            "cell 17: {solution-start} must stand in a cell of its own",
        ),
        (18, put(cell_type="markdown"), "cell 17: the solution of ex-turn-1 holds no code"),
        (19, put(source="The end."), "cell 17: {solution-start} without an end"),
        (17, put(source="Start."), "cell 19: {solution-end} without a start"),
        (
            17,
            put(source="```{solution-start} ex-turn\n:class: dropdown\n```"),
            "cell 17: a solution of 'ex-turn', which is no exercise here",
        ),
        (2, put(source="import posenc"), "no cell holds `from posenc.exercises import check`"),
    ],
)
def test_exercises_check_themselves(cell, change, message):
    found = faults(rules.exercises_check_themselves, cell, change)
    assert any(message in fault for fault in found)


def test_a_sixth_exercise_is_too_many():
    broken = section()
    exercise = broken.cells[14:19]
    broken.cells[14:14] = exercise * 3
    assert "3 to 5 exercises are wanted, got 6" in rules.exercises_check_themselves(broken, PATH)


def test_summary_names_claims():
    rule = rules.summary_names_claims
    message = ["the part Summary has no {claim} role"]
    assert faults(rule, 30, put(source="## Summary\n\nTurns add.")) == message
    assert faults(rule, 30, put(source="{claim}`a`\n\n## Summary\n\nTurns add.")) == message
    assert faults(rule, 30, put(source="## Summary\n\n```\n{claim}`a`\n```")) == message
    assert faults(rule, 30, put(source="## Summary\n\n<!-- {claim}`a` -->")) == message


@pytest.mark.parametrize(
    ("source", "unknown"),
    [
        ("It is 5.9489.", "5.9489"),
        ("It is 0.250, not 0.25.", "0.250"),
        ("It is 10.25.", "10.25"),
        ("It is .25 here.", ".25"),
        ("$x=0.5$", "0.5"),
        (r"$\cdot0.5$", "0.5"),
        (r"$\sqrt[3]{0.5}$ and $f[a](0.5)$", "0.5"),
        ("$$\n0.5\n$$", "0.5"),
        ("{math}`0.5`", "0.5"),
        ("```{math}\n:label: eq-0.25\n0.5\n```", "0.5"),
        ("````{exercise} Half\n:label: a\n\n0.5\n\n```\n0.75\n```\n````", "0.5"),
        ("```{prf:theorem} Of 0.5\n:label: a\n```", "0.5"),
        ("| a | b |\n|---|---|\n| 1 | 0.5 |", "0.5"),
        ("[0.5](https://example.org/0.25/0.75)", "0.5"),
        (r"$2.5\times10^{-7}$", "2.5e-7"),
        (r"$1.5\cdot 10^{-8}$", "1.5e-8"),
        ("1.5 × 10⁻⁸", "1.5e-8"),
        ("1.5", "1.5"),
        ("2.5k tokens", "2.5"),
    ],
)
def test_numbers_are_computed(source, unknown):
    assert faults(rules.numbers_are_computed, 3, put(source=source)) == [
        f"cell 3: {unknown} stands in no output of this notebook"
    ]


@pytest.mark.parametrize(
    "source",
    [
        "It is 0.25, in short $0.25$.",
        "Less than $1.5\\times10^{-7}$, that is 1.5e-07 or 1.5 × 10⁻⁷.",
        "`0.5`, ``0.5``, {claim}`a-0.5` and {cite}`b0.5`",
        "```python\n0.5\n```\n\n~~~\n0.5\n~~~",
        "```{code-block} python\n0.5\n```",
        "```{figure} a-0.5.svg\n:width: 0.5\n:alt: Half\n```",
        "(sec-0.5)=\n## A",
        "[half](half-0.5.md), <https://example.org/0.5> and https://example.org/0.5",
        "Python 3.11, Section 3.4, nbval 0.11.0, v1.2, Llama 3.1, Llama-3.2, Qwen2.5",
        "arXiv:2104.09864",
        "<!-- 0.5 -->",
    ],
)
def test_numbers_that_need_no_output(source):
    assert faults(rules.numbers_are_computed, 3, put(source=source)) == []


def test_a_number_in_a_figure_is_not_computed():
    # Alternative text is typed like prose; a drawing is full of numbers that nobody reads.
    broken = section()
    broken.cells[2].source = "0.5"
    broken.cells[9].outputs[0].data.update(
        {"image/svg+xml": "<svg>0.5</svg>", "text/plain": "Figure: 0.5"}
    )
    broken.cells[7].outputs.append(show('<td width="0.5">1</td>', "text/html"))
    message = ["cell 3: 0.5 stands in no output of this notebook"]
    assert rules.numbers_are_computed(broken, PATH) == message
    broken.cells[7].outputs.append(show("<td>0.5</td>", "text/html"))
    assert rules.numbers_are_computed(broken, PATH) == []


def test_toc_matches_files():
    a, b, c = "notebooks/rotary/a", "notebooks/rotary/b", "notebooks/Rotary/c 1"
    assert rules.toc_matches_files([a, b], [a, b]) == []
    assert rules.toc_matches_files([a], [a, b]) == [f"{b}: not in _toc.yml"]
    assert rules.toc_matches_files([a, b], [a]) == [f"{b}: in _toc.yml, but not stored"]
    assert rules.toc_matches_files([a, a], [a]) == [f"{a}: 2 times in _toc.yml"]
    assert rules.toc_matches_files([c], [c]) == [
        f"{c}: the name must be notebooks/<part>/<name>, in lower case, digits and hyphens"
    ]


def test_stored_text():
    good = section()
    assert rules.stored_text(canonical.dumps(good), good) == []
    assert len(rules.stored_text(canonical.dumps(good) + "\n", good)) == 1


# --- nbval ---------------------------------------------------------------------------------

SOURCES = (
    "print(6 * 7)",
    'display({"text/latex": "$x$", "text/html": "<p>x", "text/markdown": "*x*"}, raw=True)',
    'display({"text/plain": "Figure: a", "image/svg+xml": "<svg/>"}, raw=True)',
    'display({"text/plain": "a", "image/png": "AAAA"}, raw=True)',
    'print("first")\ndisplay({"text/plain": "second"}, raw=True)',
    'raise ValueError("no")',
)


def tampered(good, cell, change):
    result = canonical.canonical(good)
    change(result.cells[cell])
    return result


def data(**changes):
    """A change to the data of the only output of a cell."""
    return lambda cell: cell.outputs[0].data.update(
        {kind.replace("_", "/").replace("svg", "svg+xml"): value for kind, value in changes.items()}
    )


def test_nbval_compares_as_the_rules_assume(tmp_path):
    good = sample.notebook(*(code(source) for source in SOURCES))
    good.cells[5].metadata.tags = ["raises-exception"]
    (tmp_path / "good.ipynb").write_text(canonical.dumps(good), encoding="utf-8")
    assert run_notebooks.main([str(tmp_path / "good.ipynb")], tmp_path) == 0
    good = canonical.read(tmp_path / "good.ipynb")
    seen = {
        "strict/text": tampered(good, 0, lambda cell: cell.outputs[0].update(text="43\n")),
        "strict/latex": tampered(good, 1, data(text_latex="$y$")),
        "strict/html": tampered(good, 1, data(text_html="<p>y")),
        "strict/markdown": tampered(good, 1, data(text_markdown="*y*")),
        "strict/svg": tampered(good, 2, data(image_svg="<svg />")),
        "strict/stripped": tampered(good, 0, put(outputs=[])),
        "strict/no-count": tampered(good, 0, put(execution_count=None)),
        "strict/message": tampered(good, 5, lambda cell: cell.outputs[0].update(evalue="yes")),
        "strict/order": tampered(good, 4, lambda cell: cell.outputs.reverse()),
    }
    holes = {
        "strict/good": good,
        "strict/never-run": tampered(good, 0, put(outputs=[], execution_count=None)),
        "strict/counts": tampered(good, 0, put(execution_count=9)),
        "strict/png": tampered(good, 3, data(image_png="BBBB")),
        "strict/no-error": tampered(good, 5, put(source="x = 1", outputs=[])),
        "strict/traceback": tampered(good, 5, lambda cell: cell.outputs[0].traceback.append("a")),
        "strict/skip": tampered(good, 0, put(source="# NBVAL_IGNORE_OUTPUT\nprint(1)")),
        # Without the conftest of the book.
        "plain/order": tampered(good, 4, lambda cell: cell.outputs.reverse()),
    }
    for name, notebook in (seen | holes).items():
        path = tmp_path / f"{name}.ipynb"
        path.parent.mkdir(exist_ok=True)
        path.write_text(canonical.dumps(notebook), encoding="utf-8")
    shutil.copy(ROOT / "conftest.py", tmp_path / "strict")
    command = (
        "pytest -n 2 --dist loadfile -rfE -q --color=no --nbval --nbval-current-env "
        "--rootdir . strict plain -c"
    )
    result = subprocess.run(
        [sys.executable, "-m", *command.split(), ROOT / "pyproject.toml"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    failed = re.findall(r"^(?:FAILED|ERROR) (.*)\.ipynb::Cell", result.stdout, re.MULTILINE)
    assert sorted(failed) == sorted(seen), result.stdout
    passed = len(seen | holes) * len(SOURCES) - len(failed)
    assert f"{passed} passed" in result.stdout
