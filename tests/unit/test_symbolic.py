"""posenc.symbolic: prints as written, works out to the right matrix."""

import pytest
from sympy import ImmutableMatrix, cos, eye, latex, sin, sstr, symbols

from posenc.proof import Derivation, DerivationError
from posenc.symbolic import Named, R, product, total, transpose, vector

a, b, q0, q1 = symbols("a b q0 q1", real=True)


def test_rotation_prints_by_name_and_works_out():
    assert sstr(R(a - b)) == "R(a - b)"
    assert latex(R(2 * a)) == "R(2 a)"
    assert latex(R(a / 2)) == r"R\left(\frac{a}{2}\right)"
    assert R(a).doit() == ImmutableMatrix([[cos(a), -sin(a)], [sin(a), cos(a)]])
    assert R(a).shape == (2, 2)
    assert R(a)[1, 0] == sin(a)


def test_products_stay_as_written():
    written = product(transpose(vector(q0, q1)), transpose(R(a)), R(b))
    assert sstr(product(transpose(R(a)), R(b))) == "R(a).T*R(b)"
    assert written.doit() == ImmutableMatrix([[q0, q1]]) * R(a).doit().T * R(b).doit()


def test_sums_stay_as_written():
    x = vector(q0, q1)
    written = total(product(cos(a), x), product(sin(a), vector(-q1, q0)))
    assert sstr(written).count("Matrix") == 2
    assert written.doit() == R(a).doit() * x


def test_a_named_matrix_prints_by_name_and_is_its_matrix():
    cycle = ImmutableMatrix([[0, 0, 1], [1, 0, 0], [0, 1, 0]])
    P = Named(r"\Pi", cycle)
    assert sstr(product(P, transpose(P))) == r"\Pi*\Pi.T"
    assert latex(P) == r"\Pi"
    assert P.shape == (3, 3)
    assert P[0, 2] == 1
    assert P.doit() == cycle
    Derivation(product(P, transpose(P))).step(eye(3), "orthogonal")
    with pytest.raises(DerivationError, match="does not follow"):
        Derivation(product(P, P)).step(eye(3), "of order three, not two")
