"""Tie the claims in book/claims.yml to the notebook cells that settle them.

The role `{claim}` marks a claim in the text; the directive `{claim-ledger} part` lists the claims
of a part of the book, and each links to the other. `{claim-summary}` counts them.
"""

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.errors import ExtensionError
from sphinx.transforms import SphinxTransform
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective, SphinxRole
from sphinx.util.nodes import make_refnode

logger = logging.getLogger(__name__)

SOURCE = "book/claims.yml"
VERDICTS = {"holds": "✓ holds", "holds if": "◐ holds if", "false": "✗ false"}
EVIDENCE = ("symbolic", "argued", "numeric", "counterexample", "experiment", "source")
FIELDS = (
    "id", "statement", "verdict", "condition", "misstated", "section", "evidence", "source",
    "register",
)  # fmt: skip
SETTLED = re.compile(r"^[∎✓✗] ([a-z0-9]+(?:-[a-z0-9]+)*) \((\w+)\)", re.MULTILINE)


# --- The file -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Claim:
    """One entry of the ledger; the fields are those of the file."""

    id: str
    statement: str
    verdict: str
    condition: str | None
    misstated: str | None
    section: str
    evidence: tuple[str, ...]
    source: tuple[str, ...]
    register: tuple[str, ...]


def load(path: Path, sections: Sequence[str] | None = None) -> list[Claim]:
    """Read the file at `path`; see :func:`parse`."""
    return parse(yaml.safe_load(path.read_text("utf-8")), sections)


def parse(entries: Any, sections: Sequence[str] | None = None) -> list[Claim]:
    """Return the claims, section by section.

    Parameters
    ----------
    entries : list of dict
        What the file holds.
    sections : sequence of str, optional
        The sections of the book, such as ``rotary/rotation``, in reading order. If not given,
        claims may name any section and keep the order of the file.

    Raises
    ------
    ValueError
        If an entry breaks a rule; the message names entry, field, rule and value.
    """
    if not isinstance(entries, list):
        raise ValueError(f"the file must hold a list of claims, got {type(entries).__name__}")
    claims = [_claim(entry, number, sections) for number, entry in enumerate(entries, 1)]
    seen: set[str] = set()
    for number, claim in enumerate(claims, 1):
        if claim.id in seen:
            raise ValueError(f"claim {number}: id must be unique, got {claim.id!r} again")
        seen.add(claim.id)
    return claims if sections is None else sorted(claims, key=lambda c: sections.index(c.section))


def _claim(entry: Any, number: int, sections: Sequence[str] | None) -> Claim:
    if not isinstance(entry, dict):
        raise ValueError(f"claim {number} must be a mapping, got {entry!r}")
    name = f"claim {number} ({entry.get('id', 'without id')})"

    def require(field: str, holds: bool, rule: str) -> None:
        if not holds:
            raise ValueError(f"{name}: {field} must {rule}, got {entry.get(field)!r}")

    for field in FIELDS:
        if field not in entry:
            raise ValueError(f"{name}: the field {field} is missing")
    for field in entry:
        if field not in FIELDS:
            raise ValueError(f"{name}: {field} is no field; the fields are {', '.join(FIELDS)}")

    identifier = entry["id"]
    kebab = _is_text(identifier) and re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", identifier)
    require("id", bool(kebab), "be words of lower-case letters and digits joined by hyphens")
    require("statement", _is_text(entry["statement"]), "be text")
    # YAML reads a bare `false` as the truth value.
    verdict = "false" if entry["verdict"] is False else entry["verdict"]
    require(
        "verdict",
        isinstance(verdict, str) and verdict in VERDICTS,
        f"be one of {', '.join(VERDICTS)}",
    )
    condition = entry["condition"]
    if verdict == "holds if":
        require("condition", _is_text(condition), "be text when the verdict is 'holds if'")
    else:
        require("condition", condition is None, "be null unless the verdict is 'holds if'")
    misstated = entry["misstated"]
    require("misstated", misstated is None or _is_text(misstated), "be text or null")
    require("section", _is_text(entry["section"]), "be text")
    if sections is not None:
        require("section", entry["section"] in sections, f"be one of {', '.join(sections)}")
    kinds = entry["evidence"]
    require("evidence", _is_texts(kinds) and len(kinds) > 0, "be a list with at least one kind")
    require("evidence", set(kinds) <= set(EVIDENCE), f"hold only {', '.join(EVIDENCE)}")
    require("evidence", len(set(kinds)) == len(kinds), "name each kind once")
    source = [] if entry["source"] is None else entry["source"]
    require("source", _is_texts(source), "be null or a list of texts")
    require("register", _is_texts(entry["register"]), "be a list of texts")
    return Claim(
        id=identifier,
        statement=entry["statement"].strip(),
        verdict=verdict,
        condition=condition,
        misstated=misstated,
        section=entry["section"],
        evidence=tuple(kinds),
        source=tuple(source),
        register=tuple(entry["register"]),
    )


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def sections_of(app: Sphinx) -> list[str]:
    """Return the sections that the table of contents names, in reading order."""
    site_map = app.config.external_site_map

    def walk(docname: str) -> Iterable[str]:
        yield docname
        for tree in site_map[docname].subtrees:
            for item in tree.files():
                yield from walk(Path(item).with_suffix("").as_posix())

    pages = walk(site_map.root.docname)
    return [page.removeprefix("notebooks/") for page in pages if page.startswith("notebooks/")]


def section_title(app: Sphinx, section: str) -> str:
    """Return the title of a section: the heading of its notebook's first cell."""
    path = Path(app.srcdir, "notebooks", f"{section}.ipynb")
    first = json.loads(path.read_text("utf-8"))["cells"][0]
    title = re.search(r"^# (.+)$", "".join(first["source"]), re.MULTILINE)
    return title[1].strip() if title else section


# --- What Sphinx remembers ----------------------------------------------------------------------


def read_claims(app: Sphinx) -> None:
    """Read the file into ``env.claims``; notebooks fill ``env.claim_cells`` later."""
    try:
        claims = load(Path(app.srcdir, SOURCE), sections_of(app))
    except (OSError, ValueError, yaml.YAMLError) as error:
        reason = " ".join(str(error).split())  # an error of YAML has several lines
        raise ExtensionError(f"{SOURCE}: {reason}") from error
    app.env.claims = {claim.id: claim for claim in claims}
    for store in ("claim_cells", "claim_ledgers"):
        if not hasattr(app.env, store):
            setattr(app.env, store, {})


def forget(app: Sphinx, env: BuildEnvironment, docname: str) -> None:
    """Forget what a page has said before it is read anew."""
    env.claim_cells.pop(docname, None)
    env.claim_ledgers.pop(docname, None)


def merge(
    app: Sphinx, env: BuildEnvironment, docnames: Collection[str], other: BuildEnvironment
) -> None:
    """Bring together what parallel readers have found."""
    for docname in docnames:
        for store in ("claim_cells", "claim_ledgers"):
            if docname in getattr(other, store):
                getattr(env, store)[docname] = getattr(other, store)[docname]


def anchor(claim_id: str, kind: str) -> str:
    """Return the id of the cell that gives evidence of this kind."""
    return f"evidence-{claim_id}-{kind}"


class AnchorEvidence(SphinxTransform):
    """Give an id to each cell whose stored output settles a claim."""

    default_priority = 210

    def apply(self) -> None:
        """Look for a line like `∎ claim-id (kind)` in the plain text of each cell's outputs."""
        found: set[tuple[str, str]] = set()
        for cell in self.document.findall(nodes.container):
            if cell.get("nb_element") != "cell_code":
                continue
            outputs = (
                output
                for output in cell.findall(nodes.container)
                if output.get("mime_type") == "text/plain"
            )
            text = "\n".join(output.astext() for output in outputs)
            for evidence in SETTLED.findall(text):
                if evidence not in found:
                    found.add(evidence)
                    cell["ids"].append(anchor(*evidence))
        if found:
            self.env.claim_cells[self.env.docname] = found


# --- In the text --------------------------------------------------------------------------------


class ClaimBadge(nodes.Inline, nodes.TextElement):
    """Becomes a link to the ledger when all pages are read."""


class ClaimEvidence(nodes.Inline, nodes.TextElement):
    """Becomes links to the cells that settle a claim when all pages are read."""


def verdict_mark(claim: Claim) -> nodes.inline:
    """Return the badge of a claim: a sign and a word, so that it does not depend on colour."""
    kind = claim.verdict.replace(" ", "-")
    return nodes.inline("", VERDICTS[claim.verdict], classes=["claim-verdict", f"claim-{kind}"])


class ClaimPart(nodes.Inline, nodes.TextElement):
    """Becomes a link to the ledger of a part when all pages are read."""


class ClaimRole(SphinxRole):
    """``{claim}`rotations-add` `` shows "rotations add" and the verdict, linked to the ledger."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Return the badge, or the faulty text with a warning."""
        claim = self.env.claims.get(self.text)
        if claim is None:
            logger.warning(
                "claim must be an id in %s, got %r", SOURCE, self.text, location=self.get_location()
            )
            return [nodes.problematic(self.rawtext, self.rawtext)], []
        name = nodes.Text(claim.id.replace("-", " ") + " ")
        badge = ClaimBadge("", "", name, verdict_mark(claim), claim=claim.id)
        self.set_source_info(badge)
        return [badge], []


def part(claim: Claim) -> str:
    """Return the part of the book that a claim belongs to: the folder of its section."""
    return claim.section.partition("/")[0]


class ClaimSummary(SphinxDirective):
    """``{claim-summary}`` is a table of the parts with their numbers of claims."""

    def run(self) -> list[nodes.Node]:
        """Return the table; its last row adds up the others."""
        self.env.note_dependency(str(Path(self.env.srcdir, SOURCE)))
        claims = list(self.env.claims.values())
        rows: list[tuple[nodes.Node, list[Claim]]] = [
            (ClaimPart("", name, part=name), [claim for claim in claims if part(claim) == name])
            for name in dict.fromkeys(map(part, claims))
        ]
        rows.append((nodes.Text("all"), claims))
        group = nodes.tgroup(cols=2 + len(VERDICTS))
        group += [nodes.colspec(colwidth=width) for width in (4, 1, *(1 for _ in VERDICTS))]
        group += nodes.thead("", _row(*map(nodes.Text, ["part", "claims", *VERDICTS.values()])))
        body = nodes.tbody()
        for name, listed in rows:
            count = Counter(claim.verdict for claim in listed)
            numbers = [len(listed), *(count[verdict] for verdict in VERDICTS)]
            body += _row(name, *(nodes.Text(str(number)) for number in numbers))
        group += body
        return [nodes.table("", group, classes=["claim-summary"])]


def _row(*cells: nodes.Node) -> nodes.row:
    return nodes.row("", *(nodes.entry("", nodes.paragraph("", "", cell)) for cell in cells))


class ClaimLedger(SphinxDirective):
    """``{claim-ledger} part`` lists the claims of a part, section by section."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return one section of the page per section of the part."""
        self.env.note_dependency(str(Path(self.env.srcdir, SOURCE)))
        (name,) = self.arguments
        claims = [claim for claim in self.env.claims.values() if part(claim) == name]
        if not claims:
            raise self.error(f"{SOURCE} has no claims of a part {name!r}")
        self.env.claim_ledgers[self.env.docname] = name
        content: list[nodes.Node] = []
        for section in dict.fromkeys(claim.section for claim in claims):
            title = section_title(self.env.app, section)
            group = nodes.section(ids=[f"claims-{section.replace('/', '-')}"])
            group += nodes.title("", title)
            group += [self.entry(claim, title) for claim in claims if claim.section == section]
            content.append(group)
        return content

    def entry(self, claim: Claim, title: str) -> nodes.container:
        """Lay out one claim."""
        box = nodes.container(ids=[f"claim-{claim.id}"], classes=["claim-entry"])
        self.set_source_info(box)
        head = nodes.paragraph("", "", verdict_mark(claim), classes=["claim-head"])
        head += nodes.Text(" ")
        head += nodes.literal("", claim.id, classes=["claim-id"])
        box += head
        box += self.text(claim.statement, "claim-statement")
        facts = nodes.field_list(classes=["claim-facts"])
        if claim.condition:
            facts += self.fact("Condition", self.text(claim.condition))
        if claim.misstated:
            facts += self.fact("Often mis-stated as", self.text(claim.misstated))
        links = ClaimEvidence("", title, claim=claim.id)
        facts += self.fact("Settled in", nodes.paragraph("", "", links))
        for source in claim.source:
            facts += self.fact("Source", self.text(source))
        box += facts
        return box

    def text(self, source: str, *classes: str) -> nodes.paragraph:
        """Parse text of the file as the pages are parsed."""
        children, messages = self.state.inline_text(source, self.lineno)
        return nodes.paragraph(source, "", *children, *messages, classes=list(classes))

    def fact(self, name: str, body: nodes.Node) -> nodes.field:
        """Return one line of an entry."""
        return nodes.field("", nodes.field_name("", name), nodes.field_body("", body))


# --- Links, when all pages are read -------------------------------------------------------------


def ledger_page(env: BuildEnvironment, name: str) -> str | None:
    """Return the page that holds the ledger of a part."""
    return next((page for page, held in sorted(env.claim_ledgers.items()) if held == name), None)


def check_ledger(app: Sphinx, env: BuildEnvironment) -> None:
    """Warn unless each part has one ledger: a claim must have one place."""
    for name in dict.fromkeys(map(part, env.claims.values())):
        pages = [page for page, held in sorted(env.claim_ledgers.items()) if held == name]
        if len(pages) != 1:
            found = ", ".join(pages) or "none"
            logger.warning("the claim-ledger of %s must stand on one page, got %s", name, found)


def resolve(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Turn badges and evidence into links."""
    env, builder = app.env, app.builder
    for row in list(doctree.findall(ClaimPart)):
        ledger = ledger_page(env, row["part"])
        if ledger is not None:
            title = nodes.Text(env.titles[ledger].astext())
            row.replace_self(make_refnode(builder, docname, ledger, "", title))
    for badge in list(doctree.findall(ClaimBadge)):
        identifier = badge["claim"]
        ledger = ledger_page(env, part(env.claims[identifier]))
        if ledger is None:  # check_ledger has warned
            badge.replace_self(badge.children)
            continue
        link = make_refnode(builder, docname, ledger, f"claim-{identifier}", badge.children)
        link["reftitle"] = f"Claim {identifier}: see the ledger"
        link["classes"].append("claim-badge")
        badge.replace_self(link)

    for place in list(doctree.findall(ClaimEvidence)):
        claim = env.claims[place["claim"]]
        page = f"notebooks/{claim.section}"
        title = nodes.Text(place.astext())
        parts: list[nodes.Node] = [make_refnode(builder, docname, page, "", title)]
        for kind in claim.evidence:
            parts.append(nodes.Text(": " if len(parts) == 1 else ", "))
            text = nodes.Text(kind)
            if (claim.id, kind) in env.claim_cells.get(page, ()):
                parts.append(make_refnode(builder, docname, page, anchor(claim.id, kind), text))
            else:
                logger.warning(
                    "%s: claim %s: no cell of notebooks/%s.ipynb gives %s evidence",
                    SOURCE, claim.id, claim.section, kind,
                )  # fmt: skip
                parts.append(text)
        place.replace_self(parts)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register role, directive and links."""
    app.add_node(ClaimBadge)
    app.add_node(ClaimPart)
    app.add_node(ClaimEvidence)
    app.add_role("claim", ClaimRole())
    app.add_directive("claim-ledger", ClaimLedger)
    app.add_directive("claim-summary", ClaimSummary)
    app.add_transform(AnchorEvidence)
    app.connect("builder-inited", read_claims)
    app.connect("env-purge-doc", forget)
    app.connect("env-merge-info", merge)
    app.connect("env-check-consistency", check_ledger)
    app.connect("doctree-resolved", resolve)
    return {"parallel_read_safe": True, "parallel_write_safe": True, "env_version": 2}
