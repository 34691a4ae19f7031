"""The line that settles a claim."""

import pytest
from sympy import (
    symbols,
)

from posenc.proof import Derivation, evidence
from posenc.proof.claims import MARKS, settled

x = symbols("x")


@pytest.mark.parametrize("claim", ["", "A-b", "a_b", "a--b", "-a", "a-", "a b", "ä", "a\n"])
def test_claims_are_kebab_case(claim):
    with pytest.raises(ValueError, match="claim must be words"):
        Derivation(x).step(x, "same").qed(claim)
    with pytest.raises(ValueError, match="claim must be words"):
        evidence(claim, holds=True)


def test_every_kind_has_its_mark():
    lines = [settled("a-b", kind) for kind in MARKS]
    assert lines == [
        "∎ a-b (symbolic)",
        "∎ a-b (argued)",
        "✓ a-b (numeric)",
        "✓ a-b (experiment)",
        "✓ a-b (source)",
        "✗ a-b (counterexample)",
    ]
