"""posenc.symbolic: prints as written, works out to the right matrix."""

from sympy import ImmutableMatrix, cos, latex, sin, sstr, symbols

from posenc.symbolic import R, product, total, transpose, vector

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
