"""`make run` stores what a fresh kernel gives, once, and loses nothing when a cell fails."""

import nbformat
import pytest

import canonical
import run_notebooks
import sample
import toc
from sample import code, markdown, notebook, printed, raised


@pytest.fixture
def book(tmp_path):
    """A book of two notebooks in a folder of its own; the first needs the library."""
    (tmp_path / "notebooks" / "part").mkdir(parents=True)
    (tmp_path / "src" / "posenc").mkdir(parents=True)
    (tmp_path / "src" / "posenc" / "a.py").write_text("x = 1\n")
    (tmp_path / "requirements.lock").write_text("numpy==1\n")
    (tmp_path / "_toc.yml").write_text(
        "format: jb-book\nroot: book/start\nparts:\n- chapters:\n"
        "  - file: notebooks/part/one\n    sections:\n    - file: notebooks/part/two\n"
    )
    write(tmp_path, "one", markdown("# One"), code("print(6 * 7)"))
    write(tmp_path, "two", markdown("# Two"), code("6 * 9"))
    return tmp_path


def path(book, name):
    return book / "notebooks" / "part" / f"{name}.ipynb"


def write(book, name, *cells):
    path(book, name).write_text(canonical.dumps(notebook(*cells)), encoding="utf-8")


def outputs(book, name, cell):
    return canonical.read(path(book, name)).cells[cell].outputs


def stale(book, capsys):
    """Names of the notebooks that `--check` would run."""
    status = run_notebooks.main(["--check"], book)
    found = [
        line.partition(":")[0].removeprefix("notebooks/part/")
        for line in capsys.readouterr().out.splitlines()
        if line.endswith("out of date")
    ]
    assert status == int(bool(found))
    return found


def times(book):
    """When each file of the book was last written."""
    return {file: file.stat().st_mtime_ns for file in book.rglob("*") if file.is_file()}


def test_runs_what_is_out_of_date_and_nothing_else(book, capsys):
    assert run_notebooks.main(["--jobs", "2"], book) == 0
    assert capsys.readouterr().out == (
        "0 of 2 notebooks are up to date\n"
        "notebooks/part/one.ipynb: outputs stored\n"
        "notebooks/part/two.ipynb: outputs stored\n"
    )
    assert outputs(book, "one", 1) == [printed("42\n")]
    assert outputs(book, "two", 1)[0].data == {"text/plain": "54"}
    assert canonical.read(path(book, "two")).cells[1].execution_count == 1
    written = times(book)

    assert run_notebooks.main([], book) == 0
    assert capsys.readouterr().out == "2 of 2 notebooks are up to date\n"
    assert times(book) == written

    text = path(book, "one").read_text(encoding="utf-8")
    path(book, "one").write_text(text.replace("42", "43"), encoding="utf-8")
    assert stale(book, capsys) == ["one.ipynb"]
    assert run_notebooks.main([], book) == 0
    assert path(book, "one").read_text(encoding="utf-8") == text
    assert stale(book, capsys) == []

    for name in ("src/posenc/a.py", "requirements.lock"):
        before = (book / name).read_text()
        (book / name).write_text("y = 2\n")
        assert stale(book, capsys) == ["one.ipynb", "two.ipynb"]
        (book / name).write_text(before)
        assert stale(book, capsys) == []
    (book / "src" / "posenc" / "b.py").touch()
    assert stale(book, capsys) == ["one.ipynb", "two.ipynb"]

    capsys.readouterr()
    written = path(book, "one").stat().st_mtime_ns
    assert run_notebooks.main([str(path(book, "one"))], book) == 0
    assert path(book, "one").stat().st_mtime_ns == written
    assert capsys.readouterr().out == "notebooks/part/one.ipynb: nothing changed\n"
    assert stale(book, capsys) == ["two.ipynb"]


def test_a_failure_is_told_and_nothing_is_lost(book, capsys):
    write(
        book,
        "one",
        markdown("# One"),
        code("print(1)", printed("1\n")),
        code('raise ValueError("\\n".join(["no"] * 9))', printed("as before\n")),
        code("print(2)"),
    )
    write(book, "two", code("x = 1", raised("E", "before"), tags=("raises-exception",)))
    before = {name: path(book, name).read_bytes() for name in ("one", "two")}
    assert run_notebooks.main([], book) == 1
    assert capsys.readouterr().err == (
        "notebooks/part/one.ipynb: cell 3: ValueError: no\n  no\n  no\n  no\n  no\n  no\n  ...\n"
        "notebooks/part/two.ipynb: cell 1: is tagged raises-exception, but raised nothing\n"
    )
    assert {name: path(book, name).read_bytes() for name in ("one", "two")} == before
    assert stale(book, capsys) == ["one.ipynb", "two.ipynb"]


def test_an_announced_error_is_stored_in_one_line(book):
    write(book, "one", code('raise ValueError("no turn")', tags=("raises-exception",)), code("7"))
    assert run_notebooks.main([str(path(book, "one"))], book) == 0
    assert outputs(book, "one", 0) == [raised("ValueError", "no turn")]
    assert outputs(book, "one", 1)[0].data == {"text/plain": "7"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "notebooks/part/one.ipynb: no such file"),
        ("{", "notebooks/part/one.ipynb: not a notebook: Expecting property name"),
        ("[]", "notebooks/part/one.ipynb: not a notebook: it has no list of cells"),
        ('{"cells": [], "nbformat": 3}', "notebooks/part/one.ipynb: nbformat must be 4, got 3"),
        (
            '{"cells": [{"cell_type": "code"}], "nbformat": 4}',
            "notebooks/part/one.ipynb: not a valid notebook: ",
        ),
    ],
)
def test_bad_notebooks(book, capsys, content, message):
    path(book, "one").unlink()
    if content is not None:
        path(book, "one").write_text(content)
    assert run_notebooks.main([str(path(book, "one"))], book) == 2
    error = capsys.readouterr().err
    assert error.startswith(message)
    assert error.count("\n") == 1


def test_bad_names(book, capsys):
    assert run_notebooks.main([str(book / "_toc.yml")], book) == 2
    assert capsys.readouterr().err.endswith(
        "_toc.yml: not a notebook: its name does not end in .ipynb\n"
    )
    assert run_notebooks.main([str(book.parent / "a.ipynb")], book) == 2
    assert capsys.readouterr().err.endswith("a.ipynb: not inside the book\n")
    (book / "_toc.yml").unlink()
    assert run_notebooks.main([], book) == 2
    assert capsys.readouterr().err == "_toc.yml: no such file\n"


@pytest.mark.parametrize("jobs", ["0", "-1", "two"])
def test_bad_jobs(book, capsys, jobs):
    with pytest.raises(SystemExit):
        run_notebooks.main([f"--jobs={jobs}"], book)
    assert f"must be a whole number from 1 on, got '{jobs}'" in capsys.readouterr().err


# --- the form of stored notebooks ----------------------------------------------------------


def test_the_form_is_kept_by_itself():
    good = sample.section()
    assert canonical.canonical(good) == good
    assert canonical.dumps(canonical.v4.reads(canonical.dumps(good))) == canonical.dumps(good)
    nbformat.validate(good)


def test_ids_are_kept_or_made_from_the_cell():
    cells = [markdown("a"), markdown("a"), markdown("b")]
    cells[0].id = cells[1].id = "kept"
    del cells[2]["id"]
    stored = nbformat.from_dict({"cells": cells})
    first, second = canonical.canonical(stored), canonical.canonical(stored)
    ids = [cell.id for cell in first.cells]
    assert ids == [cell.id for cell in second.cells]
    assert ids[0] == "kept"
    assert len(set(ids)) == 3


def test_neighbouring_pieces_of_a_stream_are_joined():
    pieces = [printed("a"), printed("b"), printed("c", name="stderr"), printed("d")]
    (cell,) = notebook(code("f()", *pieces)).cells
    assert cell.outputs == [printed("ab"), printed("c", name="stderr"), printed("d")]


def test_only_tags_remain_of_metadata():
    cell = code("f()", sample.show("x"), tags=("hide-input",))
    cell.metadata.scrolled = True
    cell.outputs[0].metadata.width = 3
    (stored,) = notebook(cell).cells
    assert stored.metadata == {"tags": ["hide-input"]}
    assert stored.outputs[0].metadata == {}


def test_toc_lists_in_reading_order(book):
    assert toc.documents(book / "_toc.yml") == [
        "book/start",
        "notebooks/part/one",
        "notebooks/part/two",
    ]
    (book / "_toc.yml").write_text("- a")
    with pytest.raises(ValueError, match="it has no root"):
        toc.documents(book / "_toc.yml")
