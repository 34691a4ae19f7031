"""What benchmarks/README.md says of the measurements stands in benchmarks/results.json."""

import json
import re
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "benchmarks"
AIMS = {"1.25", "1.5"}


def _numbers(node):
    if isinstance(node, dict):
        for child in node.values():
            yield from _numbers(child)
    elif isinstance(node, float):
        yield node


def test_every_decimal_is_measured():
    stored = set(_numbers(json.loads((FOLDER / "results.json").read_text())))
    measured = {f"{number:.{digits}f}" for number in stored for digits in (1, 2)}
    said = set(re.findall(r"\d+\.\d+", (FOLDER / "README.md").read_text()))
    assert said - measured - AIMS == set()
    assert len(said) > 15


def test_the_aims_of_prefill_are_met():
    prefill = json.loads((FOLDER / "results.json").read_text())["prefill"]
    with_out, without = (
        prefill[name] for name in ("with out, over np.copyto", "without out, over x.copy()")
    )
    assert with_out["interleaved"] <= 1.25
    assert with_out["half-split"] <= 3
    assert without["interleaved"] <= 1.5
    peers = prefill["peers, over x.copy()"]
    slower = [
        "torch, eager, half-split",
        "torch, complex, interleaved",
        "ONNX Runtime, interleaved",
    ]
    assert all(peers["posenc, interleaved"] < peers[name] for name in slower)
