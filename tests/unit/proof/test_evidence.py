"""Evidence holds, or is refused."""

import doctest
import sys

import numpy as np
import pytest
from sympy import (
    I,
    Matrix,
    pi,
    sqrt,
    symbols,
)

from posenc.proof import Evidence, EvidenceError, evidence

x = symbols("x")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"error": 0.0, "tolerance": 1e-15}, "✓ c (numeric): every error is at most 1e-15"),
        (
            {"error": {"float64": [1e-16, -2e-16], "float32": np.float32(1e-7)}, "tolerance": 1e-6},
            "✓ c (numeric): every error is at most 1e-06",
        ),
        ({"error": [3 + 4j], "tolerance": 5}, "✓ c (numeric): every error is at most 5.0"),
        ({"holds": True}, "✓ c (numeric): holds"),
        ({"holds": np.ones((2, 3), bool)}, "✓ c (numeric): holds in all 6 cases"),
        ({"observed": [True, True]}, "✓ c (experiment): observed in all 2 cases"),
        ({"source": "Su et al. 2021, eq. 34"}, "✓ c (source): Su et al. 2021, eq. 34"),
        (
            {"claimed": sqrt(2), "actual": 1.5},
            "✗ c (counterexample): claimed 1.41421, in fact 1.5",
        ),
        (
            {"claimed": [1, 2 / 3], "actual": np.array([1, 0.5]), "digits": 3},
            "✗ c (counterexample): claimed [1, 0.667], in fact [1, 0.5]",
        ),
        (
            {"claimed": Matrix([[1, pi]]), "actual": [[1, 3]], "digits": 2},
            "✗ c (counterexample): claimed [[1, 3.1]], in fact [[1, 3]]",
        ),
        (
            {"claimed": [1, 0], "actual": [-2.34196e-17, 1]},
            "✗ c (counterexample): claimed [1, 0], in fact [0, 1]",
        ),
        (
            {"claimed": 1, "actual": 1e-16},
            "✗ c (counterexample): claimed 1, in fact 0",
        ),
        (
            {"claimed": 2e6, "actual": 3e-5, "digits": 2},
            "✗ c (counterexample): claimed 2e+06, in fact 3e-05",
        ),
        (
            {"claimed": [1, 1j], "actual": [1 - 1e-17j, 2e-16 - 1j]},
            "✗ c (counterexample): claimed [1 + 0i, 0 + 1i], in fact [1 + 0i, 0 - 1i]",
        ),
        (
            {"claimed": 1 - 2j, "actual": I},
            "✗ c (counterexample): claimed 1 - 2i, in fact 0 + 1i",
        ),
    ],
)
def test_evidence_that_holds(arguments, text):
    assert repr(evidence("c", **arguments)) == text
    assert repr(evidence("c", **arguments, detail=" in words ")) == f"{text}; in words"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"error": [0, np.nan], "tolerance": 1}, "error is not finite"),
        ({"error": [0, np.inf], "tolerance": 1}, "error is not finite"),
        ({"error": [0, -2e-15], "tolerance": 1e-15}, "error is up to 2e-15, more than 1e-15"),
        ({"error": {"a": 0, "b": [1, 3]}, "tolerance": 2}, r"error\['b'\] is up to 3"),
        ({"error": [3 + 4j], "tolerance": 4.9}, "up to 5"),
        ({"holds": False}, "1 of 1 do not hold"),
        ({"holds": np.array([True, False, True])}, "1 of 3 do not hold"),
        ({"observed": [False]}, "1 of 1 do not hold"),
        ({"claimed": 1, "actual": 1}, "do not differ"),
        ({"claimed": 1, "actual": 1 + 1e-9, "digits": 12}, "do not differ"),
        ({"claimed": 1e9, "actual": 1e9 + 100, "digits": 12}, "do not differ"),
        ({"claimed": 1, "actual": 1.001, "digits": 3}, "do not differ"),
        ({"claimed": [1, 2], "actual": [1, 2]}, "do not differ"),
        ({"claimed": np.nan, "actual": 1}, "claimed is not finite"),
        ({"claimed": 1, "actual": np.inf}, "actual is not finite"),
    ],
)
def test_evidence_that_does_not_hold(arguments, message):
    with pytest.raises(EvidenceError, match=message):
        evidence("c", **arguments)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({}, TypeError, "exactly one of.*Got none"),
        ({"error": 0}, TypeError, "Got error$"),
        ({"tolerance": 1}, TypeError, "Got tolerance$"),
        ({"claimed": 1}, TypeError, "Got claimed$"),
        ({"holds": True, "source": "x"}, TypeError, "Got holds, source$"),
        ({"error": 0, "tolerance": 1, "digits": 3}, TypeError, "Got digits, error, tolerance$"),
        ({"error": 0, "tolerance": 0}, ValueError, "tolerance must be positive"),
        ({"error": 0, "tolerance": np.inf}, ValueError, "tolerance must be positive and finite"),
        ({"error": 0, "tolerance": np.nan}, ValueError, "tolerance must be positive and finite"),
        ({"error": 0, "tolerance": True}, TypeError, "tolerance must be a number"),
        ({"error": 0, "tolerance": "1"}, TypeError, "tolerance must be a number"),
        ({"error": [], "tolerance": 1}, ValueError, "error must not be empty"),
        ({"error": {}, "tolerance": 1}, ValueError, "error must not be empty"),
        ({"error": {"a": []}, "tolerance": 1}, ValueError, r"error\['a'\] must not be empty"),
        ({"error": [True], "tolerance": 1}, TypeError, "error must hold numbers"),
        ({"error": ["0"], "tolerance": 1}, TypeError, "error must hold numbers"),
        ({"error": [None], "tolerance": 1}, TypeError, "error must hold numbers"),
        ({"holds": 1}, TypeError, "holds must hold booleans"),
        ({"holds": [True, 1]}, TypeError, "holds must hold booleans"),
        ({"holds": "yes"}, TypeError, "holds must hold booleans"),
        ({"holds": np.array([], bool)}, ValueError, "holds must not be empty"),
        ({"source": " "}, TypeError, "source must be text"),
        ({"source": 34}, TypeError, "source must be text"),
        ({"claimed": [1, 2], "actual": 1}, ValueError, "one shape"),
        ({"claimed": x, "actual": 1}, TypeError, "claimed must be a constant"),
        ({"claimed": "1", "actual": 2}, TypeError, "claimed must hold numbers"),
        ({"claimed": np.zeros(17), "actual": np.ones(17)}, ValueError, "at most 16"),
        ({"claimed": 1, "actual": 2, "digits": 0}, ValueError, "digits must be from 1"),
        ({"claimed": 1, "actual": 2, "digits": 2.0}, TypeError, "digits must be a whole"),
        ({"holds": True, "detail": ""}, TypeError, "detail must be text"),
    ],
)
def test_evidence_must_be_one_of_its_kinds(arguments, error, message):
    with pytest.raises(error, match=message):
        evidence("c", **arguments)


def test_evidence_on_the_page():
    line = evidence("a-b", holds=True, detail="x_1 < [2]*3")
    assert line == Evidence("a-b", "numeric", "holds; x_1 < [2]*3")
    assert line._repr_markdown_() == r"✓ `a-b` (*numeric*): holds; x\_1 \< \[2\]\*3"
    code = evidence("a-b", source="file_1.py: `an_array[0]`, twice")
    assert code._repr_markdown_().endswith(r": file\_1.py: `an_array[0]`, twice")


def test_the_example_in_the_documentation():
    module = sys.modules[evidence.__module__]
    results = doctest.testmod(module)
    assert (results.failed, results.attempted) == (0, 1)


@pytest.mark.parametrize(
    "error", [{"a": 2.0, "b": 0.0}, {"a": 0.0, "b": 2.0}, np.nextafter(1.0, 2.0)]
)
def test_no_part_may_exceed_the_tolerance(error):
    with pytest.raises(EvidenceError):
        evidence("x", error=error, tolerance=1.0)
