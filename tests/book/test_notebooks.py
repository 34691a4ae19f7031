"""The stored notebooks keep every rule of `notebook_rules` and `evidence_rules`."""

from functools import cache
from pathlib import Path

import pytest

import canonical
import evidence_rules
import notebook_rules
import toc

ROOT = Path(__file__).parents[2]
PATHS = sorted(
    path for path in (ROOT / "notebooks").rglob("*.ipynb") if ".ipynb_checkpoints" not in path.parts
)
NAMES = [path.relative_to(ROOT).with_suffix("").as_posix() for path in PATHS]

each_notebook = pytest.mark.parametrize("path", PATHS, ids=NAMES)
read = cache(canonical.read)


RULES = [*notebook_rules.RULES, *evidence_rules.RULES]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
@each_notebook
def test_rule(path, rule):
    assert rule(read(path), path) == []


@each_notebook
def test_file_is_as_make_run_writes_it(path):
    assert notebook_rules.stored_text(path.read_text(encoding="utf-8"), read(path)) == []


def test_table_of_contents():
    assert NAMES, "there is no notebook"
    assert notebook_rules.toc_matches_files(toc.notebooks(ROOT / "_toc.yml"), NAMES) == []
