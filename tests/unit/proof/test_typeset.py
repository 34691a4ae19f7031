"""What is shown as text and as LaTeX."""

import pytest
from sympy import Function, Mul, Ne, Symbol, acos, cos, gamma, log, re, sin, symbols

from posenc.proof import Derivation
from posenc.proof.typeset import latex, text
from posenc.symbolic import R, product, total, transpose, vector

x, y, phi, delta, omega = symbols("x y varphi Delta omega")
a, b = symbols("a b", real=True)
f, g = Function("f"), Function("g")
v = vector(x, y)


def shown():
    return (
        Derivation(product(transpose(R(a)), R(b)), r"R(a)^\top R(b)", assuming=(Ne(a, b),))
        .step(R(b - a), "add the angles, 100% of $a_1$ & more")
        .argue(R(b - a).doit(), "as above", cases=[{a: 1}, {a: 2}])
        .qed("relative-rotation")
    )


TEXT = r"""
R(a)^\top R(b)  where Ne(a, b)
  = R(a).T*R(b)
  = R(b - a)  [add the angles, 100% of $a_1$ & more]
  ≟ Matrix([[cos(a - b), sin(a - b)], [-sin(a - b), cos(a - b)]])  [argued: as above]
∎ relative-rotation (argued)
""".strip()

LATEX = r"""
$$\begin{aligned}
R(a)^\top R(b) &= R(a)^{\top} R(b) \\
&\quad {\small \text{where } a \neq b} \\
&= R(b - a) \\
&\quad {\small \text{add the angles, 100\% of $a_1$ \& more}} \\
&\overset{\text{argued}}{=} \begin{bmatrix}\cos(a - b) & \sin(a - b)\\- \sin(a - b) & \cos(a - b)\end{bmatrix} \\
&\quad {\small \text{as above}} \quad \blacksquare
\end{aligned}$$
""".strip()  # noqa: E501


def test_text_and_latex():
    assert repr(shown()) == TEXT
    assert shown()._repr_latex_() == LATEX


def test_without_a_name_the_chain_starts_with_the_expression():
    done = Derivation(x - 1).step(-1 + x, "same")
    assert repr(done) == "x - 1\n  = x - 1  [same]"
    assert done._repr_latex_().splitlines()[1:3] == [r"& x - 1 \\", r"&= x - 1 \\"]


def test_long_reasons_are_wrapped_outside_formulas():
    reason = "word " * 11 + "$a + b + c + d + e$ end_1"
    rows = Derivation(x).step(x, reason)._repr_latex_().splitlines()
    assert rows[3:5] == [
        r"&\quad {\small \text{" + "word " * 10 + r"word}} \\",
        r"&\quad {\small \text{$a + b + c + d + e$ end\_1}}",
    ]


def test_messages_are_exact(refuses):
    error = refuses(product(transpose(R(a)), R(b)), R(a - b))
    assert str(error) == (
        'step 1 ("why") does not follow: the sides differ in row 0, column 1 by\n'
        "  2*sin(a)*cos(b) - 2*sin(b)*cos(a)\n"
        "for example at a = 1, b = 1/2: 0.479426 against -0.479426"
    )
    assert str(refuses((x**2 - 1) / (x - 1), x + 1)) == (
        'step 1 ("why") does not follow everywhere: the left side is undefined where x - 1 = 0, '
        "and the right side need not be; assume Ne(x - 1, 0) if that is meant"
    )
    assert str(refuses(f(x), g(x))) == (
        'step 1 ("why") could not be decided: no proof and no counterexample was found for\n'
        "  f(x) - g(x) = 0"
    )


# What is read differently without brackets keeps them.
BRACKETS = [
    (cos(a), r"\cos a"),
    (sin(phi), r"\sin \varphi"),
    (cos(symbols("theta_m")), r"\cos \theta_{m}"),
    (cos(a) ** 2, r"\cos^{2} a"),
    (cos(a + b), r"\cos(a + b)"),
    (cos(2 * a), r"\cos(2 a)"),
    (cos(delta * omega), r"\cos(\Delta \omega)"),
    (cos(symbols(r"\Delta\omega")), r"\cos(\Delta\omega)"),
    (cos(a / 2), r"\cos{\left(\frac{a}{2} \right)}"),
    (sin(cos(a)), r"\sin(\cos a)"),
    (cos(a) * cos(b), r"\cos a \cos b"),
    (cos(a) - sin(b), r"\cos a - \sin b"),
    (sin(a) * x, r"x \sin a"),
    (Mul(sin(a), gamma(x)), r"\sin(a) \Gamma(x)"),
    (sin(a) * acos(x), r"\sin(a) \operatorname{acos}(x)"),
    (sin(a) / b, r"\frac{\sin a}{b}"),
    (f(x), "f(x)"),
    (f(x / 2), r"f{\left(\frac{x}{2} \right)}"),
    (log(x) + re(y), r"\log(x) + \operatorname{re}(y)"),
    ((x + y) ** 2 * sin(a), r"(x + y)^{2} \sin a"),
    ((x / 2 + y) ** 2, r"\left(\frac{x}{2} + y\right)^{2}"),
    (product(cos(a), v), r"\cos a \begin{bmatrix}x\\y\end{bmatrix}"),
]


@pytest.mark.parametrize(("value", "expected"), BRACKETS, ids=str)
def test_brackets_are_few_and_small(value, expected):
    assert latex(value) == expected


AS_WRITTEN = [
    # (what is written, as text, as LaTeX)
    (total(R(b), R(a)), "R(b) + R(a)", "R(b) + R(a)"),
    (total(R(b), product(-1, R(a))), "R(b) - R(a)", "R(b) - R(a)"),
    (total(product(-1, R(b)), R(a)), "-R(b) + R(a)", "- R(b) + R(a)"),
    (total(R(b), total(R(b), R(a))), "R(b) + (R(b) + R(a))", "R(b) + (R(b) + R(a))"),
    (
        total(product(cos(a), v), product(sin(a), vector(-y, x))),
        "cos(a)*Matrix([[x], [y]]) + sin(a)*Matrix([[-y], [x]])",
        r"\cos a \begin{bmatrix}x\\y\end{bmatrix} + \sin a \begin{bmatrix}- y\\x\end{bmatrix}",
    ),
    (product(R(b), x, 2, R(a)), "2*x*R(b)*R(a)", "2 x R(b) R(a)"),
    (product(x * y, R(a)), "x*y*R(a)", "x y R(a)"),
    (product(x + y, R(a)), "(x + y)*R(a)", "(x + y) R(a)"),
    (product(-x - y, R(a)), "(-x - y)*R(a)", "(- x - y) R(a)"),
    (product(-x / 2, R(a)), "-(x/2)*R(a)", r"- \frac{x}{2} R(a)"),
    (product(-1, x, R(a)), "-x*R(a)", "- x R(a)"),
    (product(-1, -x, R(a)), "-(-x)*R(a)", "- (- x) R(a)"),
    (product(x, 1 / x, R(a)), "(x/x)*R(a)", r"\frac{x}{x} R(a)"),
    (product(R(a), total(R(b), R(a))), "R(a)*(R(b) + R(a))", "R(a) (R(b) + R(a))"),
    (transpose(product(x, R(a))), "(x*R(a)).T", r"(x R(a))^{\top}"),
]


@pytest.mark.parametrize(("value", "plain", "typeset"), AS_WRITTEN, ids=str)
def test_matrices_are_shown_as_written(value, plain, typeset):
    assert text(value) == plain
    assert latex(value) == typeset


def test_the_name_of_a_symbol_may_hold_a_lone_bracket():
    assert latex(symbols("x") + Symbol(r"\right)")) != ""
