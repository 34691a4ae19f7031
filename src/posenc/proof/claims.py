"""The line that tells which claim is settled, and how.

Derivations and evidence share it, since the book finds its claims by this line.
"""

import re
from typing import Any, Literal

Kind = Literal["symbolic", "argued", "numeric", "counterexample", "experiment", "source"]

# Proved, confirmed or refuted: the sign in front of the line.
MARKS: dict[Kind, str] = {
    "symbolic": "∎",
    "argued": "∎",
    "numeric": "✓",
    "experiment": "✓",
    "source": "✓",
    "counterexample": "✗",
}
_CLAIM = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


def settled(claim: str, kind: Kind) -> str:
    """Return the line for a claim."""
    return f"{MARKS[kind]} {claim} ({kind})"


def accept_claim(claim: Any) -> str:
    """Return `claim` if it is the id of a claim."""
    if not isinstance(claim, str):
        raise TypeError(f"claim must be text, got {type(claim).__name__}")
    if not _CLAIM.fullmatch(claim):
        raise ValueError(f"claim must be words of a-z and 0-9 joined by hyphens, got {claim!r}")
    return claim
