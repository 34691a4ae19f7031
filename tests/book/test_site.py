"""The built site in _build/html keeps the rules, and each rule finds what it is there to find."""

import importlib
import re
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

import site_rules as rules
import toc

ROOT = Path(__file__).parents[2]
SITE = ROOT / "_build" / "html"

PageRule = Callable[[BeautifulSoup], list[str]]


@pytest.fixture(scope="module")
def files() -> set[str]:
    assert SITE.is_dir(), "_build/html is missing: run `make book` first"
    return {path.relative_to(SITE).as_posix() for path in SITE.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def pages(files: set[str]) -> dict[str, BeautifulSoup]:
    return {name: read(name) for name in sorted(files) if name.endswith(".html") and is_page(name)}


def is_page(name: str) -> bool:
    return not name.startswith(("_static/", "_sources/"))


def read(name: str) -> BeautifulSoup:
    return html((SITE / name).read_text("utf-8"))


def html(text: str) -> BeautifulSoup:
    return BeautifulSoup(text, "html.parser")


def report(faults: Iterable[str]) -> None:
    lines = list(faults)
    assert not lines, "\n" + "\n".join(lines)


def texts(files: set[str], suffix: str) -> dict[str, str]:
    return {n: (SITE / n).read_text("utf-8") for n in sorted(files) if n.endswith(suffix)}


# --- The site -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "rule",
    [
        rules.external_loads,
        rules.raw_source,
        rules.formula_faults,
        rules.without_alternative,
        rules.repeated_ids,
        rules.outline_faults,
    ],
)
def test_pages_keep(rule: PageRule, pages: dict[str, BeautifulSoup]) -> None:
    report(f"{name}: {fault}" for name, page in pages.items() for fault in rule(page))


def test_links_resolve(pages: dict[str, BeautifulSoup], files: set[str]) -> None:
    ids = {name: {str(t["id"]) for t in page.find_all(id=True)} for name, page in pages.items()}
    report(
        f"{name}: {fault}"
        for name, page in pages.items()
        for fault in rules.broken_links(name, page, ids, files)
    )


def test_stylesheets_load_nothing_external(files: set[str]) -> None:
    sheets = texts(files, ".css")
    assert "_static/katex/katex.min.css" in sheets
    report(f"{n}: {f}" for n, text in sheets.items() for f in rules.external_loads_in_css(text))


def test_scripts_load_nothing_external(files: set[str]) -> None:
    scripts = texts(files, ".js")
    assert scripts
    report(f"{n}: {f}" for n, s in scripts.items() for f in rules.external_loads_in_script(s))


def test_fonts_of_formulas_are_there(files: set[str]) -> None:
    folder = "_static/katex/"
    sheet = (SITE / folder / "katex.min.css").read_text("utf-8")
    named = {folder + (url or imported) for url, imported in rules.URL_IN_CSS.findall(sheet)}
    assert len(named) > 10
    report(f"{name} is missing" for name in sorted(named - files))


def test_one_place_to_search(pages: dict[str, BeautifulSoup]) -> None:
    themed = {name: page for name, page in pages.items() if name != "index.html"}
    report(f"{n}: {fault}" for n, page in themed.items() for fault in rules.search_faults(page))


def test_weight(files: set[str]) -> None:
    sizes = {name: (SITE / name).stat().st_size for name in files}
    print(f"{sum(sizes.values()) / 1e6:.1f} MB in {len(sizes)} files")
    report(rules.weight_faults(sizes))


def test_every_page_of_the_contents_is_built(files: set[str]) -> None:
    documents = toc.documents(ROOT / "_toc.yml")
    assert documents
    report(f"{d}.html is missing" for d in documents if f"{d}.html" not in files)


def test_first_page_leads_to_the_book(files: set[str]) -> None:
    refresh = read("index.html").find("meta", attrs={"http-equiv": "refresh"})
    assert refresh is not None
    assert str(refresh["content"]).removeprefix("0; url=") in files


# --- The rules ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "good", "bad"),
    [
        (
            rules.external_loads,
            '<a href="https://example.org">x</a><script src="_static/a.js"></script>',
            '<script src="https://example.org/a.js"></script>',
        ),
        (
            rules.external_loads,
            '<link rel="canonical" href="https://example.org/">',
            '<link rel="preload stylesheet" href="//example.org/a.css">',
        ),
        (
            rules.external_loads,
            '<p style="background: url(data:image/png;base64,AA)">x</p>',
            '<p style="background: url(http://example.org/a.png)">x</p>',
        ),
        (
            rules.external_loads,
            "<style>@import 'a.css';</style>",
            "<style>@import 'https://example.org/a.css';</style>",
        ),
        (
            rules.external_loads,
            '<img src="a.png" srcset="b.png 2x">',
            '<img src="a.png" srcset="https://example.org/b.png 2x">',
        ),
        (
            rules.external_loads,
            "<script>var a = 1;</script>",
            "<script>load('https://unpkg.com/thebe')</script>",
        ),
        (
            rules.raw_source,
            r"<p>five $ and <code>$x$</code>, <code>\begin{align}</code></p>",
            "<p>so $x + 1$ it is</p>",
        ),
        (
            rules.raw_source,
            r'<span class="katex"><annotation>\begin{x}</annotation></span>',
            r"<p>\begin{align} a &amp;= b \end{align}</p>",
        ),
        (rules.raw_source, "<p>{x}</p>", "<p>see {doc}`start`</p>"),
        (
            rules.formula_faults,
            '<span class="math"><math></math><b class="katex-html"></b></span>',
            '<span class="math">x + 1</span>',
        ),
        (rules.formula_faults, "<p>x</p>", '<span class="katex-error">\\frac</span>'),
        (rules.without_alternative, '<img src="a" alt="A dial">', '<img src="a" alt=" ">'),
        (
            rules.without_alternative,
            '<svg role="img" aria-label="Two lines"></svg>',
            '<svg role="img"></svg>',
        ),
        (
            rules.without_alternative,
            '<span aria-hidden="true"><svg></svg></span>',
            '<svg aria-label="no role"></svg>',
        ),
        (rules.repeated_ids, '<p id="a"></p><p id="b"></p>', '<p id="a"></p><i id="a"></i>'),
        (
            rules.outline_faults,
            '<html lang="en"><h1>A</h1><div class="onlyprint"><h1>A</h1></div></html>',
            "<html><h1>A</h1></html>",
        ),
        (
            rules.outline_faults,
            '<html lang="en"><h1>A</h1></html>',
            '<html lang="en"><h1>A</h1><h1>B</h1></html>',
        ),
        (
            rules.search_faults,
            '<button class="search-button-field"></button><button class="search-button"></button>',
            '<button class="search-button-field"></button><button class="search-button"></button>'
            '<button class="search-button-field"></button>',
        ),
    ],
)
def test_rule_tells_good_from_bad(rule: PageRule, good: str, bad: str) -> None:
    assert rule(html(good)) == []
    assert len(rule(html(bad))) == 1


@pytest.mark.parametrize(
    ("link", "fault"),
    [
        ("b.html", None),
        ("b.html#there", None),
        ("#here", None),
        ("https://example.org/missing", None),
        ("c.html", "c.html: no such file"),
        ("b.html#here", "b.html#here: no such anchor"),
        ("#there", "#there: no such anchor"),
        ("../b.html", "../b.html: no such file"),
    ],
)
def test_broken_links(link: str, fault: str | None) -> None:
    ids = {"x/a.html": {"here"}, "x/b.html": {"there"}}
    page = html(f'<a href="{link}">x</a>')
    expected = [] if fault is None else [fault]
    assert rules.broken_links("x/a.html", page, ids, set(ids)) == expected


def test_broken_links_sees_missing_pictures() -> None:
    page = html('<img src="missing.png" alt="A dial">')
    assert rules.broken_links("a.html", page, {}, {"a.html"}) == ["missing.png: no such file"]


def test_external_loads_in_css() -> None:
    good = "/* url(https://example.org) */ @font-face {src: url(fonts/a.woff2)}"
    bad = '@import url("https://fonts.googleapis.com/css"); a {background: url(//example.org/a)}'
    assert rules.external_loads_in_css(good) == []
    assert len(rules.external_loads_in_css(bad)) == 2


def test_external_loads_in_script() -> None:
    assert rules.external_loads_in_script("// see https://example.org; initThebe()") == []
    bad = 'load("https://cdn.jsdelivr.net/npm/mathjax@3/es5/tex-mml-chtml.js")'
    assert len(rules.external_loads_in_script(bad)) == 1


def test_weight_faults() -> None:
    assert rules.weight_faults({"a.html": 900_000, "a.js": 2_000_000}) == []
    assert len(rules.weight_faults({"a.html": 1_000_001})) == 1
    assert len(rules.weight_faults({"a.js": 30_000_001})) == 1


def test_each_public_module_has_a_page(files: set[str]) -> None:
    source = ROOT / "src" / "posenc"
    public = {path.stem for path in source.iterdir() if not path.name.startswith(("_", "py.typed"))}
    pages = {Path(name).stem for name in files if re.fullmatch(r"book/library/\w+\.html", name)}
    assert pages == public


def test_the_reference_lists_every_public_name(files: set[str]) -> None:
    for page in sorted(name for name in files if re.fullmatch(r"book/library/\w+\.html", name)):
        module = f"posenc.{Path(page).stem}"
        text = (SITE / page).read_text(encoding="utf-8")
        names = importlib.import_module(module).__all__
        # A constant is named in the text of its module; all else has an entry of its own.
        missing = [n for n in names if f'id="{module}.{n}"' not in text and f">{n}<" not in text]
        assert missing == [], module
