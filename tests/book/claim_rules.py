"""Rules that tie the ledger of claims to what the notebooks executed.

As in `notebook_rules`, each function returns what is wrong, one message for each fault.
A section is the name of a notebook without folder and extension, such as `rotary/rotation`.
"""

import ast
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from nbformat import NotebookNode

import cells
from claims import SETTLED, Claim
from notebook_rules import claims_in_summary

Notebooks = Mapping[str, NotebookNode]


def sections_exist(claims: Sequence[Claim], notebooks: Notebooks) -> list[str]:
    """Every claim names a section that there is."""
    return [
        f"{claim.id}: there is no section {claim.section}"
        for claim in claims
        if claim.section not in notebooks
    ]


def evidence_is_executed(claims: Sequence[Claim], notebooks: Notebooks) -> list[str]:
    """The kinds of evidence a claim declares are exactly those its section executed."""
    faults = []
    for claim in claims:
        if claim.section not in notebooks:
            continue
        executed = {kind for id_, kind in settled(notebooks[claim.section]) if id_ == claim.id}
        for kind in sorted(set(claim.evidence) - executed):
            faults.append(f"{claim.id}: {claim.section} shows no evidence of kind {kind}")
        for kind in sorted(executed - set(claim.evidence)):
            faults.append(f"{claim.id}: {claim.section} shows {kind}, which is not declared")
        for kind, count in Counter(claim.evidence).items():
            if count > 1:
                faults.append(f"{claim.id}: declares {kind} {count} times")
    return faults


def evidence_is_claimed(claims: Sequence[Claim], notebooks: Notebooks) -> list[str]:
    """What a notebook settles is in the ledger, under that section."""
    sections = {claim.id: claim.section for claim in claims}
    faults = []
    for section, notebook in notebooks.items():
        for id_ in dict.fromkeys(id_ for id_, _ in settled(notebook)):
            if id_ not in sections:
                faults.append(f"{section}: settles {id_}, which is not in the ledger")
            elif sections[id_] != section:
                faults.append(f"{section}: settles {id_}, which belongs to {sections[id_]}")
    return faults


def evidence_is_displayed(notebooks: Notebooks) -> list[str]:
    """Each `qed` and `evidence` in the code names its claim literally and shows its result."""
    faults = []
    for section, notebook in notebooks.items():
        for number, cell in enumerate(notebook.cells, start=1):
            # A cell that shows a refusal settles nothing.
            if cell.cell_type != "code" or "raises-exception" in cell.metadata.get("tags", []):
                continue
            shown = Counter(id_ for output in cell.outputs for id_, _ in _settled(output))
            called = Counter(_closing_ids(cell.source))
            for id_, count in called.items():
                if id_ is None:
                    faults.append(
                        f"{section}, cell {number}: qed or evidence without a literal claim id"
                    )
                elif shown[id_] < count:
                    faults.append(
                        f"{section}, cell {number}: {count} call(s) settle {id_}, "
                        f"{shown[id_]} shown"
                    )
            for id_ in shown:
                if id_ not in called:
                    faults.append(
                        f"{section}, cell {number}: shows {id_} as settled, but no qed or evidence "
                        "in the cell names it"
                    )
    return faults


def claims_are_linked(claims: Sequence[Claim], notebooks: Notebooks) -> list[str]:
    """The summary of a section links to each claim of the section."""
    return [
        f"{claim.id}: the summary of {claim.section} has no {{claim}}`{claim.id}`"
        for claim in claims
        if claim.section in notebooks
        and claim.id not in claims_in_summary(notebooks[claim.section])
    ]


def summaries_name_their_own(claims: Sequence[Claim], notebooks: Notebooks) -> list[str]:
    """The summary of a section says "settled here" of its own claims only."""
    home = {claim.id: claim.section for claim in claims}
    return [
        f"{section}: the summary names {id_}, which belongs to {home.get(id_, 'no section')}"
        for section, notebook in notebooks.items()
        for id_ in claims_in_summary(notebook)
        if home.get(id_) != section
    ]


LEDGER_RULES = (
    sections_exist,
    evidence_is_executed,
    evidence_is_claimed,
    claims_are_linked,
    summaries_name_their_own,
)


def settled(notebook: NotebookNode) -> list[tuple[str, str]]:
    """Claim and kind of every piece of evidence in the stored outputs."""
    return [
        pair
        for cell in notebook.cells
        if cell.cell_type == "code"
        for output in cell.outputs
        for pair in _settled(output)
    ]


def _settled(output: NotebookNode) -> list[tuple[str, str]]:
    # Only displayed objects count: a printed line could say anything.
    return SETTLED.findall(output.get("data", {}).get("text/plain", ""))


def _closing_ids(source: str) -> Iterator[str | None]:
    """Claim of each `qed(...)` and `evidence(...)`, None where it is no literal."""
    for call in cells.calls(source):
        if cells.name(call.func) not in ("qed", "evidence"):
            continue
        first = call.args[0] if call.args else None
        literal = isinstance(first, ast.Constant) and isinstance(first.value, str)
        yield first.value if literal else None
