"""What the extensions of the book do to claims, figures and the log of a build."""

import pytest

import build_book
import claims
import inline_figures
import prerender

PALETTE = {"ink": ("#1f2328", "#e6e8eb"), "blue": ("#0068a8", "#6cb8f0")}
SECTIONS = ["absolute/shift-matrix", "rotary/rotation"]


def entry(**changes: object) -> dict[str, object]:
    fields: dict[str, object] = {
        "id": "turns-add",
        "statement": "$R(a)R(b)=R(a+b)$",
        "verdict": "holds",
        "condition": None,
        "misstated": None,
        "section": "rotary/rotation",
        "evidence": ["symbolic", "numeric"],
        "source": None,
        "register": [],
    }
    return fields | changes


def without(field: str) -> dict[str, object]:
    return {key: value for key, value in entry().items() if key != field}


# --- Claims -------------------------------------------------------------------------------------


def test_claims_come_in_the_order_of_the_sections() -> None:
    entries = [entry(), entry(id="shift", section="absolute/shift-matrix")]
    assert [claim.id for claim in claims.parse(entries, SECTIONS)] == ["shift", "turns-add"]
    assert [claim.id for claim in claims.parse(entries)] == ["turns-add", "shift"]


def test_fields_of_a_claim() -> None:
    (claim,) = claims.parse([entry(verdict=False, source=["Su et al., 2021"])], SECTIONS)
    assert claim.verdict == "false"
    assert claim.evidence == ("symbolic", "numeric")
    assert claim.source == ("Su et al., 2021",)
    (claim,) = claims.parse([entry(verdict="holds if", condition="$d$ is even")], SECTIONS)
    assert claim.condition == "$d$ is even"


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({}, "the file must hold a list of claims, got dict"),
        (["x"], "claim 1 must be a mapping, got 'x'"),
        ([without("misstated")], r"claim 1 \(turns-add\): the field misstated is missing"),
        ([entry(statment="x")], "statment is no field"),
        ([entry(id="Turns add")], "id must be words .* got 'Turns add'"),
        ([entry(statement=" ")], "statement must be text, got ' '"),
        ([entry(verdict="maybe")], "verdict must be one of holds, holds if, false, got 'maybe'"),
        ([entry(verdict=["holds"])], "verdict must be one of"),
        ([entry(verdict="holds if")], "condition must be text when the verdict is 'holds if'"),
        ([entry(condition="x")], "condition must be null unless"),
        ([entry(misstated=3)], "misstated must be text or null, got 3"),
        ([entry(section="rotary/none")], "section must be one of .* got 'rotary/none'"),
        ([entry(evidence=[])], "evidence must be a list with at least one kind"),
        ([entry(evidence=["guess"])], r"evidence must hold only symbolic, .* got \['guess'\]"),
        ([entry(evidence=["numeric"] * 2)], "evidence must name each kind once"),
        ([entry(source="Su")], "source must be null or a list of texts, got 'Su'"),
        ([entry(register=None)], "register must be a list of texts, got None"),
        ([entry(), entry()], "claim 2: id must be unique, got 'turns-add' again"),
    ],
)
def test_faulty_claims(entries: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        claims.parse(entries, SECTIONS)


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("∎ turns-add (symbolic)", [("turns-add", "symbolic")]),
        ("a\n∎ turns-add (numeric): 3 cases", [("turns-add", "numeric")]),
        ("so ∎ turns-add (numeric)", []),
        ("∎ Turns (numeric)", []),
    ],
)
def test_line_that_settles_a_claim(line: str, found: list[tuple[str, str]]) -> None:
    assert claims.SETTLED.findall(line) == found


# --- Figures ------------------------------------------------------------------------------------


def test_inline_figure() -> None:
    svg = (
        '<?xml version="1.0"?>\n<!DOCTYPE svg>\n<svg viewBox="0 0 9 9">'
        "<metadata>who, when</metadata><!-- note -->"
        '<path id="m1" clip-path="url(#p1)" style="fill: #0068A8"/><use xlink:href="#m1"/>'
        '<use href="#m1" fill="#1f2328"/></svg>\n'
    )
    assert inline_figures.inline(svg, "f2-", PALETTE) == (
        '<svg viewBox="0 0 9 9">'
        '<path id="f2-m1" clip-path="url(#f2-p1)" style="fill: var(--figure-blue)"/>'
        '<use xlink:href="#f2-m1"/><use href="#f2-m1" fill="var(--figure-ink)"/></svg>'
    )


def test_page_says_what_a_figure_shows() -> None:
    svg = '<svg role="img" aria-label="old" viewBox="0 0 9 9"><title>t</title></svg>'
    assert inline_figures.describe(svg, 'a "b" < c') == (
        '<svg viewBox="0 0 9 9" role="img" aria-label="a &quot;b&quot; &lt; c">'
        "<title>t</title></svg>"
    )


def test_each_colour_is_defined_for_both_themes() -> None:
    light, dark = inline_figures.stylesheet(PALETTE).split("@media screen")
    for name, (on_light, on_dark) in PALETTE.items():
        assert f"--figure-{name}: {on_light};" in light
        assert f"--figure-{name}: {on_dark};" in dark


# --- Building -----------------------------------------------------------------------------------


def test_node_comes_with_the_environment() -> None:
    assert prerender.node_program().is_file()


def test_reasons_of_a_failed_build() -> None:
    log = (
        f"reading sources\n\x1b[91m{build_book.ROOT}/book/a.md:3: WARNING: undefined label: 'x'\n"
        f"{build_book.ROOT}/book/b.md:5: WARNING: undefined label: 'x'\n"
        f"{build_book.ROOT}/notebooks/a.ipynb:120002: WARNING: odd\n"
        "ValueError: id must be unique\nRuntimeError: \n"
        "sphinx.errors.ExtensionError: book/claims.yml: id must be unique\n"
    )
    assert build_book.reasons(log) == [
        "book/a.md:3: WARNING: undefined label: 'x'",
        "book/b.md:5: WARNING: undefined label: 'x'",
        "notebooks/a.ipynb, cell 12: WARNING: odd",
        "sphinx.errors.ExtensionError: book/claims.yml: id must be unique",
    ]
    assert build_book.reasons("all is well\nbuild succeeded\n") == []
