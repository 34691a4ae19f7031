"""The ledger of claims says what the notebooks executed, and the rules for that can fail."""

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

import canonical
import claim_rules as rules
import claims
import sample

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def ledger():
    found = claims.load(ROOT / "book" / "claims.yml")
    assert found, "the ledger is empty"
    return found


@pytest.fixture(scope="module")
def notebooks():
    folder = ROOT / "notebooks"
    found = {
        path.relative_to(folder).with_suffix("").as_posix(): canonical.read(path)
        for path in sorted(folder.rglob("*.ipynb"))
        if ".ipynb_checkpoints" not in path.parts
    }
    assert found, "there is no notebook"
    return found


@pytest.mark.parametrize("rule", rules.LEDGER_RULES, ids=lambda rule: rule.__name__)
def test_ledger(rule, ledger, notebooks):
    assert rule(ledger, notebooks) == []


def test_evidence_is_displayed(notebooks):
    assert rules.evidence_is_displayed(notebooks) == []


# --- the rules -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Claim:
    id: str = "rotation-composition"
    section: str = "rotary/rotation"
    evidence: tuple[str, ...] = ("numeric", "symbolic")


GOOD = Claim()


def book():
    return {"rotary/rotation": sample.section()}


def test_a_good_ledger_breaks_no_rule():
    for rule in rules.LEDGER_RULES:
        assert rule([GOOD], book()) == []
    assert rules.evidence_is_displayed(book()) == []


def test_sections_exist():
    claim = replace(GOOD, section="rotary/rotatoin")
    assert rules.sections_exist([claim], book()) == [
        "rotation-composition: there is no section rotary/rotatoin"
    ]


@pytest.mark.parametrize(
    ("evidence", "faults"),
    [
        (("symbolic",), ["shows numeric, which is not declared"]),
        (("numeric", "symbolic", "source"), ["shows no evidence of kind source"]),
        (("numeric", "symbolic", "numeric"), None),
        (
            ("argued", "symbolic"),
            ["shows no evidence of kind argued", "shows numeric, which is not declared"],
        ),
    ],
)
def test_evidence_is_executed(evidence, faults):
    if faults is None:
        wanted = ["rotation-composition: declares numeric 2 times"]
    else:
        wanted = [f"rotation-composition: rotary/rotation {fault}" for fault in faults]
    assert rules.evidence_is_executed([replace(GOOD, evidence=evidence)], book()) == wanted


def test_evidence_of_another_section_does_not_count():
    notebooks = {"rotary/gradients": sample.section(), "rotary/rotation": sample.notebook()}
    assert rules.evidence_is_executed([GOOD], notebooks) == [
        "rotation-composition: rotary/rotation shows no evidence of kind numeric",
        "rotation-composition: rotary/rotation shows no evidence of kind symbolic",
    ]
    assert rules.evidence_is_claimed([GOOD], notebooks) == [
        "rotary/gradients: settles rotation-composition, which belongs to rotary/rotation"
    ]


def test_printed_evidence_does_not_count():
    line = sample.printed("∎ rotation-composition (symbolic)\n")
    assert rules.settled(sample.notebook(sample.code("print(x)", line))) == []


def test_evidence_is_claimed():
    assert rules.evidence_is_claimed([replace(GOOD, id="rotation-length")], book()) == [
        "rotary/rotation: settles rotation-composition, which is not in the ledger"
    ]


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        ('proof = d.qed("a-b")', "1 call(s) settle a-b, 0 shown"),
        ('evidence("a-b", holds=True)\nx = 1', "1 call(s) settle a-b, 0 shown"),
        ("d.qed(name)", "qed or evidence without a literal claim id"),
        ("d.qed()", "qed or evidence without a literal claim id"),
    ],
)
def test_evidence_that_is_not_displayed(source, fault):
    notebooks = {"rotary/rotation": sample.notebook(sample.code(source))}
    assert rules.evidence_is_displayed(notebooks) == [f"rotary/rotation, cell 1: {fault}"]


def test_shown_evidence_stands_in_the_code_of_its_cell():
    shown = sample.show("∎ a-b (numeric)")
    once = sample.code('d.qed("a-b")\nd.qed("a-b")', shown)
    elsewhere = sample.code("Stolen()", shown)
    notebooks = {"rotary/rotation": sample.notebook(once, elsewhere)}
    assert rules.evidence_is_displayed(notebooks) == [
        "rotary/rotation, cell 1: 2 call(s) settle a-b, 1 shown",
        "rotary/rotation, cell 2: shows a-b as settled, but no qed or evidence in the cell names "
        "it",
    ]


def test_a_refused_proof_settles_nothing():
    refused = sample.code(
        'd.step(x, "slip").qed("a-b")',
        sample.raised("DerivationError", "no"),
        tags=("raises-exception",),
    )
    notebooks = {"rotary/rotation": sample.notebook(refused)}
    assert rules.evidence_is_displayed(notebooks) == []


def test_claims_are_linked():
    notebooks = book()
    summary = notebooks["rotary/rotation"].cells[-1]
    summary.source = "{claim}`rotation-composition`\n\n## Summary\n\n{claim}`rotation-length`"
    assert rules.claims_are_linked([GOOD], notebooks) == [
        "rotation-composition: the summary of rotary/rotation has no {claim}`rotation-composition`"
    ]


def test_summaries_name_their_own():
    claim = replace(GOOD, section="rotary/gradients")
    assert rules.summaries_name_their_own([claim], book()) == [
        "rotary/rotation: the summary names rotation-composition, which belongs to rotary/gradients"
    ]
