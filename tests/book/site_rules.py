"""Rules on the built pages. Each function returns what is wrong, one message for each fault."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from posixpath import dirname, join, normpath
from urllib.parse import unquote, urlsplit

from bs4 import BeautifulSoup, Tag

# Where an element names something that a browser fetches at once.
LOADING = {
    "script": "src", "img": "src", "iframe": "src", "source": "src", "audio": "src",
    "video": "src", "embed": "src", "input": "src", "object": "data", "link": "href",
    "use": "href", "image": "href",
}  # fmt: skip
# Links in the head that only name another page.
NAMING = {"alternate", "author", "canonical", "index", "license", "next", "prev", "search"}
URL_IN_CSS = re.compile(r"""url\(\s*["']?([^"')]+)|@import\s+["']([^"']+)""")
THIRD_PARTY = re.compile(
    r"//[^\s\"'`<>]*(?:unpkg|jsdelivr|cdnjs|mathjax|googleapis|gstatic|plausible|mybinder)"
    r"[^\s\"'`<>]*",
    re.IGNORECASE,
)
RAW_TEX = re.compile(r"\$[^$\n]{1,300}\$|\\\(|\\\[|\\(?:begin|end|frac|text|cos|sin)\b")
RAW_ROLE = re.compile(r"\{[a-z]+(?::[a-z]+)*\}`[^`]*`|^:::|^```", re.MULTILINE)
PAGE_BYTES = 1_000_000
SITE_BYTES = 30_000_000


def external_loads(page: BeautifulSoup) -> list[str]:
    """A page fetches nothing from another site."""
    return [
        f"<{tag.name}> loads {address}" for tag, address in _loads(page) if _is_external(address)
    ] + [
        f"<script> names {match}"
        for tag in page.find_all("script", src=False)
        for match in THIRD_PARTY.findall(tag.get_text())
    ]


def external_loads_in_css(css: str) -> list[str]:
    """A stylesheet fetches nothing from another site."""
    return [f"loads {address}" for address in _addresses(css) if _is_external(address)]


def external_loads_in_script(script: str) -> list[str]:
    """A script names no address that is known to serve scripts or fonts."""
    return [f"names {match}" for match in THIRD_PARTY.findall(script)]


def raw_source(page: BeautifulSoup) -> list[str]:
    """No TeX and no MyST is left in the text for the reader to decipher."""
    faults = []
    for text in page.find_all(string=True):
        hidden = text.find_parent(["script", "style", "code", "pre", "annotation", "head", "svg"])
        if hidden is not None or text.find_parent(class_="katex") is not None:
            continue
        found = RAW_TEX.search(text) or RAW_ROLE.search(text)
        if found:
            faults.append(f"raw source in the text: {found[0]}")
    return faults


def formula_faults(page: BeautifulSoup) -> list[str]:
    """Every formula was understood, and is there as picture and as MathML."""
    faults = [f"not typeset: {tag.get_text()}" for tag in page.find_all(class_="katex-error")]
    for tag in page.select("span.math, div.math"):
        if tag.find("math") is None or tag.find(class_="katex-html") is None:
            faults.append(f"not typeset: {tag.get_text().strip()[:60]}")
    return faults


def broken_links(
    name: str, page: BeautifulSoup, ids: Mapping[str, set[str]], files: set[str]
) -> list[str]:
    """Every file a page loads or links to is there, with the anchor named.

    `ids` has the ids of each page, `files` all files of the site; both go by the path in it.
    """
    addresses = [str(tag["href"]) for tag in page.find_all("a", href=True)]
    addresses += [address for _, address in _loads(page)]
    faults = []
    for address in dict.fromkeys(addresses):
        parts = urlsplit(address)
        if parts.scheme or parts.netloc:
            continue
        path = unquote(parts.path)
        target = normpath(join(dirname(name), path)) if path else name
        anchor = unquote(parts.fragment)
        if target not in files:
            faults.append(f"{address}: no such file")
        elif anchor and anchor not in ids.get(target, ()):
            faults.append(f"{address}: no such anchor")
    return faults


def without_alternative(page: BeautifulSoup) -> list[str]:
    """Every picture says in words what it shows, or that it is ornament."""
    faults = [
        f"<img> without alt: {tag.get('src')}"
        for tag in page.find_all("img")
        if not str(tag.get("alt", "")).strip()
    ]
    for tag in page.find_all("svg"):
        described = str(tag.get("aria-label", "")).strip() and tag.get("role") == "img"
        # KaTeX draws long signs as SVG inside a part that is hidden from screen readers.
        if not described and tag.find_parent(attrs={"aria-hidden": "true"}) is None:
            faults.append("<svg> without role and aria-label")
    return faults


def repeated_ids(page: BeautifulSoup) -> list[str]:
    """No id is given twice."""
    count = Counter(str(tag["id"]) for tag in page.find_all(id=True))
    return [f"id {name} stands {n} times" for name, n in count.items() if n > 1]


def outline_faults(page: BeautifulSoup) -> list[str]:
    """A page names its language and has one heading of the first level."""
    faults = []
    if page.html is None or not page.html.get("lang"):
        faults.append("<html> without lang")
    # The theme repeats the title in a part that only paper shows.
    titles = [h1 for h1 in page.find_all("h1") if h1.find_parent(class_="onlyprint") is None]
    if len(titles) != 1:
        faults.append(f"{len(titles)} headings of level 1")
    return faults


def search_faults(page: BeautifulSoup) -> list[str]:
    """There is one place to search from on a wide page, and one on a narrow page."""
    faults = []
    for kind, button in (("wide", "search-button-field"), ("narrow", "search-button")):
        count = len(page.find_all("button", class_=button))
        if count != 1:
            faults.append(f"{count} search buttons for a {kind} page")
    return faults


def weight_faults(sizes: Mapping[str, int]) -> list[str]:
    """No page is heavier than its budget, nor the site; `sizes` are bytes by path."""
    faults = [
        f"{name}: {size} bytes, the budget is {PAGE_BYTES}"
        for name, size in sizes.items()
        if name.endswith(".html") and size > PAGE_BYTES
    ]
    total = sum(sizes.values())
    if total > SITE_BYTES:
        faults.append(f"the site: {total} bytes, the budget is {SITE_BYTES}")
    return faults


def _loads(page: BeautifulSoup) -> Iterator[tuple[Tag, str]]:
    """Yield what a page fetches: the element and the address."""
    for tag in page.find_all(list(LOADING)):
        if tag.name == "link" and NAMING & set(tag.get_attribute_list("rel")):
            continue
        for attribute in {LOADING[tag.name], "xlink:href", "poster"} & set(tag.attrs):
            yield tag, str(tag[attribute])
        for candidate in str(tag.get("srcset", "")).split(","):
            if candidate.strip():
                yield tag, candidate.split()[0]
    for tag in page.find_all("style"):
        yield from ((tag, address) for address in _addresses(tag.get_text()))
    for tag in page.find_all(style=True):
        yield from ((tag, address) for address in _addresses(str(tag["style"])))


def _addresses(css: str) -> list[str]:
    css = re.sub(r"/\*.*?\*/", "", css, flags=re.DOTALL)
    return [url or imported for url, imported in URL_IN_CSS.findall(css)]


def _is_external(address: str) -> bool:
    parts = urlsplit(address)
    return parts.scheme not in ("", "data") or bool(parts.netloc)
