"""Brackets in LaTeX, as few and as small as a reader needs.

Whether the argument of a function needs them depends on what follows it in the whole formula.
"""

import re

_NAMES = r"\\(?:sin|cos|tan|cot|sec|csc)h?(?![A-Za-z])"
_LETTER = re.compile(r"(?:[A-Za-z]|\\[A-Za-z]+(?:\{[A-Za-z]\})?)'*(?:_\{[^{}]*\}|_\w)?'*")
# Where an argument without brackets ends beyond doubt: at a sign, a bracket, a matrix or the next
# function.
_ENDS = re.compile(
    rf"\s*(?:$|[-+=<>,;:&|)\]}}\x02]|\\\\|\\(?:right|end|neq|leq|geq)(?![A-Za-z])"
    rf"|\\begin\{{bmatrix\}}|{_NAMES})"
)
_TALL = re.compile(
    r"\\(?:[dt]?frac|binom|begin|sum|prod|i*int|lim|sqrt|(?:over|under)(?:set|brace))"
)
# In unfinished LaTeX, \x01...\x02 is the argument of a function, \x03...\x04 one of one letter.
_ARGUMENT = re.compile(r"\x01([^\x01\x02]*)\x02")
_LETTER_ARGUMENT = re.compile(r"\x03([^\x04]*)\x04")
_DELIMITER = re.compile(r"\\(left|right)(?![A-Za-z])\s*(\\[A-Za-z]+|\\.|.)")


def argument(inside: str, *, may_stand_alone: bool = False) -> str:
    """Return the argument of a function, whose brackets `finished` decides on."""
    if may_stand_alone and _LETTER.fullmatch(inside):
        return f"\x03{inside}\x04"
    return f"\x01{inside}\x02"


def finished(unfinished: str) -> str:
    """Return LaTeX with all brackets decided on."""
    shown = _LETTER_ARGUMENT.sub(_one_letter, unfinished)
    while "\x01" in shown:  # from the inside out
        shown = _ARGUMENT.sub(_in_brackets, shown)
    return _plain_where_low(shown)


def _one_letter(match: re.Match[str]) -> str:
    rest = match.string[match.end() :]
    return f" {match[1]}" if _ENDS.match(rest) else f"({match[1]})"


def _in_brackets(match: re.Match[str]) -> str:
    # The braces spare the space that LaTeX puts in front of a growing bracket.
    return rf"{{\left({match[1]} \right)}}" if _TALL.search(match[1]) else f"({match[1]})"


def _plain_where_low(shown: str) -> str:
    r"""Return `shown` with ``\left(`` and ``\right)`` only around what is tall."""
    opened: list[re.Match[str]] = []
    changes: list[tuple[int, int, str]] = []
    for match in _DELIMITER.finditer(shown):
        if match[1] == "left":
            opened.append(match)
            continue
        if not opened:  # in the name of a symbol
            break
        left = opened.pop()
        inside = shown[left.end() : match.start()]
        if left[2] == "(" and match[2] == ")" and not _TALL.search(inside):
            start = left.end() + len(inside) - len(inside.lstrip())
            changes.append((left.start(), start, "("))
            changes.append((left.end() + len(inside.rstrip()), match.end(), ")"))
    for start, end, plain in sorted(changes, reverse=True):
        shown = shown[:start] + plain + shown[end:]
    return shown
