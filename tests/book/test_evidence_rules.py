"""Each rule on evidence keeps silent on a good section and names the fault of a broken one."""

from pathlib import Path

import pytest

import evidence_rules as rules
from sample import code, printed, raised, section, show

PATH = Path("notebooks/rotary/rotation.ipynb")
SETTLES = "✓ rotation-composition (numeric): every error is at most 1.5e-07"


@pytest.mark.parametrize("rule", rules.RULES)
def test_a_good_section_breaks_no_rule(rule):
    assert rule(section(), PATH) == []


def faults(rule, number, cell):
    """What a rule says of the good section with one cell (counted from 1) replaced."""
    broken = section()
    broken.cells[number - 1] = cell
    return rule(broken, PATH)


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        ("from posenc.bias import evidence", "evidence must be that of posenc.proof"),
        ("from mine import figures", "figures must be that of posenc, got figures of mine"),
        ("from posenc.proof import settled as evidence", "got settled of posenc.proof"),
        ("import check", "check must be that of posenc.exercises"),
        ("def evidence(*a, **k):\n    return 1", "defines evidence"),
        ("class Derivation:\n    pass", "defines Derivation"),
        ("class A:\n    def __repr__(self):\n        return ''", "defines __repr__"),
        ("class A:\n    def _repr_latex_(self):\n        return ''", "defines _repr_latex_"),
        ("class A:\n    def qed(self, id):\n        return self", "defines qed"),
        ("check = print", "assigns to check"),
        ("for evidence in x:\n    pass", "assigns to evidence"),
        ("proof.disagreement = lambda *a: None", "changes proof.disagreement"),
        ("setattr(proof, 'disagreement', print)", "uses setattr"),
        ("exec('x')", "uses exec"),
        ("display({'text/plain': x}, raw=True)", "displays raw data"),
    ],
)
def test_names_are_the_library_s(source, fault):
    (found, *more) = faults(rules.names_are_the_library_s, 8, code(source))
    assert fault in found
    assert not more


@pytest.mark.parametrize(
    "source",
    [
        "from posenc.proof import evidence",
        "import posenc",
        "x.shape",
        "d.qed('a-b')",
        "x = {'a': 1}",
    ],
)
def test_names_that_are_the_library_s(source):
    assert faults(rules.names_are_the_library_s, 8, code(source)) == []


@pytest.mark.parametrize(
    ("cell", "fault"),
    [
        (code('evidence("a", holds=True)', show(SETTLES)), "evidence of constants"),
        (code('evidence("a", error=0.0, tolerance=1)'), "evidence of constants"),
        (code('evidence("a", claimed=x, actual=[1, 2])'), "evidence of constants"),
        (code('if False:\n    evidence("a", error=x)\ndisplay(y)'), "is not what the cell shows"),
        (code('d.qed("a")\nx'), "qed(...) is not what the cell shows"),
        (code("print(x)", printed("∎ a (symbolic)\n")), "prints what looks like evidence"),
        (
            code("d.qed('a')", show("∎ a (symbolic)"), raised("E", ""), tags=("raises-exception",)),
            "settles a claim and raises",
        ),
    ],
)
def test_evidence_is_computed(cell, fault):
    (found, *more) = faults(rules.evidence_is_computed, 8, cell)
    assert fault in found
    assert not more


@pytest.mark.parametrize(
    "source",
    [
        'evidence("a", error=x, tolerance=1e-9)',
        'evidence("a", holds=[x == 1, True])',
        'evidence("a", source="Su et al.")',
        'display(evidence("a", error=f(1), tolerance=1e-9))\nx',
    ],
)
def test_evidence_that_is_computed(source):
    assert faults(rules.evidence_is_computed, 8, code(source)) == []


@pytest.mark.parametrize(
    "text",
    [
        "x\n  = x  [obvious]\n∎ riemann-hypothesis (symbolic)",
        "s\n  = a + b\n  = b + a  [sort]\n  = b + a  [so]\n∎ a (symbolic)",
        "x\n  ≟ x  [argued: obvious]\n∎ a (argued)",
    ],
)
def test_derivations_move(text):
    (found,) = faults(rules.derivations_move, 6, code("d.qed('a')", show(text)))
    assert found.startswith("cell 6: a step repeats ")


@pytest.mark.parametrize("tag", ["remove-cell", "remove-output", "hide-cell", "full-width"])
def test_tags_are_known(tag):
    (found,) = faults(rules.tags_are_known, 8, code("x", show("1"), tags=(tag,)))
    assert found == f"cell 8: the tag {tag} is not one of hide-input, raises-exception"


@pytest.mark.parametrize(
    ("number", "cell", "fault"),
    [
        (16, code('check.value(1, "digest")', printed("Right.\n")), "the exercise is not open"),
        (16, code('def f():\n    check.value(..., "digest")'), "the exercise is not open"),
        (18, code("x = 1"), "the solution does not print 'Right'"),
        (18, code("check.value(2, x)", printed("Not right yet.\n")), "does not print 'Right'"),
        (
            18,
            code('check.value(1, "0123456789")', printed("Right.\n")),
            "cell 18: the digest 0123456789 is not that of the exercise",
        ),
        (
            16,
            code("check.function(..., f, tolerance=9)", printed("Not answered yet.\n")),
            "cell 16: tolerance 9 accepts nearly anything",
        ),
        (
            16,
            code('check.value(..., "digest", places=1)', printed("Not answered yet.\n")),
            "cell 16: 1 places accept nearly anything",
        ),
    ],
)
def test_exercises_are_open_and_solved(number, cell, fault):
    (found, *more) = faults(rules.exercises_are_open_and_solved, number, cell)
    assert fault in found
    assert not more
