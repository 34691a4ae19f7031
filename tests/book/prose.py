"""What a reader reads in a MyST markdown cell, without code, addresses and labels."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

# Directives whose body or argument is no prose.
LITERAL = {"code", "code-block", "code-cell", "literalinclude", "mermaid", "raw", "toctree"}
ADDRESSED = {"image", "figure"}
LABELLED = {"solution-start", "solution-end", "solution", "exercise-start", "exercise-end"}

_FENCE = re.compile(r"^\s*(`{3,}(?=[^`]*$)|~{3,}|:{3,})\s*(.*?)\s*$")
_DIRECTIVE = re.compile(r"^\{([\w:-]+)\}\s*(.*)$")
_TAGS = "a|abbr|br|details|div|em|figcaption|figure|img|kbd|p|span|strong|sub|summary|sup"
_OPTION = re.compile(r"^\s*:([\w-]+):\s*(.*)$")


@dataclass
class Directive:
    """Opening of a directive: its name, what follows on the line, and its options."""

    name: str
    argument: str
    options: dict[str, str] = field(default_factory=dict)


def _walk(markdown: str) -> Iterator[Directive | str]:
    """Directives, complete with options, and the lines outside literal blocks, in order."""
    fences: list[tuple[str, bool]] = []  # marks that opened each block; whether it is literal
    opened: Directive | None = None
    for line in markdown.splitlines():
        literal = bool(fences) and fences[-1][1]
        option = _OPTION.match(line)
        if opened and option:
            opened.options[option[1]] = option[2].strip()
            continue
        if opened:
            yield opened
            opened = None
        fence = _FENCE.match(line)
        if not fence:
            if not literal:
                yield line
            continue
        marks, info = fence.groups()
        if fences and not info and marks.startswith(fences[-1][0]):
            fences.pop()
        elif not literal:
            directive = _DIRECTIVE.match(info)
            name = directive[1] if directive else ""
            fences.append((marks, name in LITERAL if directive else marks[0] != ":"))
            if directive:
                opened = Directive(name, directive[2])
    if opened:
        yield opened


def lines(markdown: str) -> Iterator[str]:
    """Lines of a cell outside literal blocks; a directive gives its argument and its body."""
    for item in _walk(markdown):
        if isinstance(item, str):
            if not item.lstrip().startswith("% "):
                yield item
        elif item.name not in LITERAL | ADDRESSED | LABELLED:
            yield item.argument


def directives(markdown: str) -> Iterator[Directive]:
    """The directives of a cell, nested ones included."""
    return (item for item in _walk(markdown) if isinstance(item, Directive))


def text(markdown: str) -> str:
    """The prose of a cell: words and mathematics."""
    result = "\n".join(lines(markdown))
    result = re.sub(r"\{math\}(`+)(.+?)\1", r" \2 ", result)
    result = re.sub(r"(?:\{[\w:-]+\})?(`+)(?!`).+?(?<!`)\1(?!`)", " ", result, flags=re.DOTALL)
    result = re.sub(r"^\s*\([\w:.-]+\)=\s*$", "", result, flags=re.MULTILINE)
    result = re.sub(r"(\$\$)\s*\([\w:.-]+\)\s*$", r"\1", result, flags=re.MULTILINE)
    # An address holds a letter or sign that an argument such as the one of [f](0.5) does not.
    result = re.sub(r"(!?\[[^\]]*\])\([^)]*[A-Za-z/#][^)]*\)", r"\1", result)
    result = re.sub(r"^\s*\[[^\]]+\]:\s*\S+.*$", "", result, flags=re.MULTILINE)
    result = re.sub(r"<!--.*?-->", " ", result, flags=re.DOTALL)
    result = re.sub(r"<https?:[^>]*>|https?://\S+", " ", result)
    result = re.sub(rf"</?(?:{_TAGS})\b[^<>]*>", " ", result)
    return re.sub(r"(?i)\b(?:arxiv|doi):\s?\S+", " ", result)


def headings(markdown: str) -> Iterator[tuple[int, str]]:
    """Level and words of each heading of a cell."""
    previous = ""
    for line in lines(markdown):
        heading = re.match(r"^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$", line)
        if heading:
            yield len(heading[1]), heading[2]
        elif re.fullmatch(r" {0,3}=+\s*", line) and previous.strip():
            yield 1, previous.strip()
        previous = line
