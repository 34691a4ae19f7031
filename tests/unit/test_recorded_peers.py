"""posenc against vectors recorded from the implementations people run.

The files of data/peers say which package and version made each vector. tests/peers/record.py
wrote them, and `make peers` compares them with what the installed packages compute.
"""

import importlib
import json
from pathlib import Path

import numpy as np
import pytest

from posenc.absolute import frequencies
from posenc.attention import softmax
from posenc.rotary import rotate

FOLDER = Path(__file__).parent / "data" / "peers"
UNIT = 2.0**-24
"""Largest relative error of one rounding to float32, in which the peers compute."""


def records(name):
    return json.loads((FOLDER / f"{name}.json").read_text())["records"]


ROTARY, SCALING, BIAS, ABSOLUTE = map(records, ("rotary", "scaling", "bias", "absolute"))


def name_of(record):
    return record["name"]


def turned(record, **changes):
    """Return what posenc makes of the vectors before rotation."""
    asked = {**record, **changes}
    x = np.array(record["before"], dtype=np.float32)
    part = slice(asked["start"], None)
    x[:, part] = rotate(
        x[:, part],
        record["positions"],
        frequencies(asked["width"], asked["base"]),
        layout=asked["layout"],
        inverse=asked["inverse"],
    )
    return x


def rotation_error(record):
    """Bound for each vector: its length times the errors of the angle and of the turn.

    A frequency w costs a rounded exponent, |ln w| units, and power, quotient and product one
    each; the angle another. Cosine, sine, products and sum are off by less than 8 units, and
    each recorded number by its ninth digit.
    """
    speeds = frequencies(record["width"], record["base"])
    relative = (np.abs(np.log(speeds)) + 5) * UNIT
    angle = np.max(np.multiply.outer(record["positions"], speeds * relative), axis=1)
    length = np.linalg.norm(record["before"], axis=1)
    return (length * (angle + 8 * UNIT) + 1e-8)[:, np.newaxis]


@pytest.mark.parametrize("record", ROTARY, ids=name_of)
def test_rotated_queries(record):
    after = np.array(record["after"])
    assert np.max(np.abs(after - record["before"])) > 0.1
    assert np.all(np.abs(turned(record) - after) <= rotation_error(record))


@pytest.mark.parametrize("record", ROTARY, ids=name_of)
@pytest.mark.parametrize("wrong", ["layout", "direction", "base"])
def test_a_mistake_is_seen(record, wrong):
    other = "interleaved" if record["layout"] == "half-split" else "half-split"
    change = {
        "layout": {"layout": other},
        "direction": {"inverse": not record["inverse"]},
        "base": {"base": record["base"] * 1.1},
    }[wrong]
    after = np.array(record["after"])
    assert np.any(np.abs(turned(record, **change) - after) > rotation_error(record))


def test_both_layouts_are_common():
    layouts = [record["layout"] for record in ROTARY]
    assert min(layouts.count(layout) for layout in ("interleaved", "half-split")) >= 8
    assert len({record["peer"] for record in ROTARY}) >= 30


def asked(record):
    """Return what posenc gives for the recorded call."""
    module, _, function = record["function"].rpartition(".")
    arguments = {
        key: np.array(value, dtype=np.float32) if nested_floats(value) else value
        for key, value in record["arguments"].items()
    }
    result = getattr(importlib.import_module(module), function)(**arguments)
    return softmax(result) if record["weights"] else result


def nested_floats(value):
    """Tell a recorded float32 array from a list of integers and from a plain number."""
    while isinstance(value, list) and isinstance(value[0], list):
        value = value[0]
    return isinstance(value, list) and isinstance(value[0], float)


@pytest.mark.parametrize("record", SCALING, ids=name_of)
def test_scaled_frequencies(record):
    ours = asked(record)
    *speeds, factor = record["result"]
    # As above for the frequency, and 16 roundings of a ramp between two of them.
    with np.errstate(divide="ignore"):
        logarithm = np.where(ours.frequencies > 0, np.abs(np.log(ours.frequencies)), 0)
    bound = ours.frequencies * (logarithm + 20) * UNIT
    assert np.all(np.abs(ours.frequencies - speeds) <= bound)
    assert ours.attention_factor == pytest.approx(factor, rel=1e-8)


@pytest.mark.parametrize("record", BIAS, ids=name_of)
def test_relative_scores(record):
    ours, theirs = asked(record), np.array(record["result"])
    assert ours.shape == theirs.shape
    if theirs.dtype.kind == "i":
        assert np.array_equal(ours, theirs)
    else:
        # Sums of at most 8 products in float32, of the size of the largest score.
        assert np.max(np.abs(ours - theirs)) <= 1e-6 * max(1, np.max(np.abs(theirs)))


@pytest.mark.parametrize("record", ABSOLUTE, ids=name_of)
def test_absolute_positions(record):
    theirs = np.array(record["result"])
    # Positions up to 11: two roundings of an angle below 16, one of its sine.
    assert np.max(np.abs(asked(record) - theirs)) <= 16 * 3 * UNIT
    assert np.ptp(theirs) > 1
