"""The recorded vectors are what the installed peers compute."""

import json

import pytest
from record import FOLDER, everything


@pytest.fixture(scope="module")
def computed():
    return everything()


@pytest.mark.parametrize("name", ["absolute", "bias", "rotary", "scaling"])
def test_recorded_vectors(computed, name):
    stored = json.loads((FOLDER / f"{name}.json").read_text())
    assert len(stored["records"]) > 1
    same(computed[name], stored["records"], name)


def test_no_file_is_left_out(computed):
    assert {path.name for path in FOLDER.iterdir()} == {f"{name}.json" for name in computed}


def same(made, stored, place):
    """Compare everything; numbers to a few roundings, which other processors do otherwise."""
    assert type(made) is type(stored), place
    if isinstance(made, dict):
        assert made.keys() == stored.keys(), place
        for key in made:
            same(made[key], stored[key], f"{place}[{key!r}]")
    elif isinstance(made, list):
        assert len(made) == len(stored), place
        for index, pair in enumerate(zip(made, stored, strict=True)):
            same(*pair, f"{place}[{index}]")
    elif isinstance(made, float):
        assert made == pytest.approx(stored, rel=1e-6, abs=2e-6), place
    else:
        assert made == stored, place
