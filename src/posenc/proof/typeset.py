"""Expressions and reasons as text and as LaTeX.

A reader meets every step in print, so it shows what was written, in the order it was written.
"""

from typing import Any

import sympy
from sympy import Expr, Mul, Symbol
from sympy.printing.latex import LatexPrinter
from sympy.printing.precedence import PRECEDENCE, precedence_traditional
from sympy.printing.str import StrPrinter

from posenc.proof.brackets import argument, finished

_LINE = 60
_SPECIAL = {c: f"\\{c}" for c in "%#&_{}"}
_SPECIAL |= {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
# KaTeX knows these in formulas only.
_SPECIAL |= {"−": "$-$", "≤": r"$\le$", "≥": r"$\ge$", "≠": r"$\ne$", "→": r"$\to$"}
_SPECIAL |= {"π": r"$\pi$", "θ": r"$\theta$", "ω": r"$\omega$", "Δ": r"$\Delta$"}
# Functions whose argument stands without brackets if it is one letter.
_NAMED: tuple[Any, ...] = (sympy.sin, sympy.cos, sympy.tan, sympy.cot, sympy.sec, sympy.csc)
_NAMED += (sympy.sinh, sympy.cosh, sympy.tanh, sympy.coth)


class _AsWritten:
    """Printers that write b - a rather than -a + b, and sums of matrices as they were written."""

    def _as_ordered_terms(self, expr: Any, order: Any = None) -> list[Any]:
        terms = list(super()._as_ordered_terms(expr, order))  # type: ignore[misc]
        if not expr.free_symbols:
            return terms
        first = next((t for t in terms if not t.could_extract_minus_sign()), terms[0])
        terms.remove(first)
        return [first, *terms]

    def _print_MatAdd(self, expr: Any) -> str:  # noqa: N802
        printer: Any = self
        shown = ""
        for term in expr.args:
            # A sum inside gets brackets, a minus in front of a product does not.
            level = PRECEDENCE["Add"] if isinstance(term, sympy.MatAdd) else 0
            part = str(printer.parenthesize(term, level))
            if not shown:
                shown = part
            elif part.startswith("-"):
                shown += f" - {part[1:].lstrip()}"
            else:
                shown += f" + {part}"
        return shown


class _Str(_AsWritten, StrPrinter):  # type: ignore[misc]
    """SymPy's text in one line."""

    def _print_MatrixBase(self, expr: Any) -> str:  # noqa: N802
        rows = (", ".join(map(self._print, row)) for row in expr.tolist())
        return "Matrix([" + ", ".join(f"[{row}]" for row in rows) + "])"

    def _print_MatMul(self, expr: Any) -> str:  # noqa: N802
        sign, scalar, matrices = _scalar_first(expr)
        shown = [self.parenthesize(matrix, PRECEDENCE["Mul"]) for matrix in matrices]
        if scalar is not None:
            whole = sympy.fraction(scalar)[1] == 1
            shown.insert(0, self.parenthesize(scalar, PRECEDENCE["Mul"], strict=whole))
        return sign + "*".join(shown)


class _Latex(_AsWritten, LatexPrinter):  # type: ignore[misc]
    """SymPy's LaTeX with an upright sign for the transpose, and fewer and smaller brackets."""

    def doprint(self, expr: Any) -> str:
        return finished(super().doprint(expr))

    def _print_Function(self, expr: Any, exp: Any = None) -> str:  # noqa: N802
        shown = str(super()._print_Function(expr, exp))
        inside = ",".join(str(self._print(a)) for a in expr.args)
        bracketed = rf"{{\left({inside} \right)}}"
        if not shown.endswith(bracketed):
            return shown
        alone = isinstance(expr, _NAMED) and isinstance(expr.args[0], Symbol)
        return shown.removesuffix(bracketed) + argument(inside, may_stand_alone=alone)

    def _print_log(self, expr: Any, exp: Any = None) -> str:
        inside = self._print(expr.args[0])
        shown = str(super()._print_log(expr, exp))
        return shown.replace(rf"{{\left({inside} \right)}}", argument(inside), 1)

    def _print_re(self, expr: Any, exp: Any = None) -> str:
        shown = rf"\operatorname{{{expr.func.__name__}}}{argument(self._print(expr.args[0]))}"
        return str(self._do_exponent(shown, exp))

    _print_im = _print_re

    def _print_MatMul(self, expr: Any) -> str:  # noqa: N802
        sign, scalar, matrices = _scalar_first(expr)
        level = precedence_traditional(expr)
        shown = [self.parenthesize(matrix, level) for matrix in matrices]
        if scalar is not None:
            factor = self._print(scalar)
            brackets = self._needs_mul_brackets(scalar, first=not sign)
            shown.insert(0, rf"\left({factor}\right)" if brackets else factor)
        return f"{sign} {' '.join(shown)}".strip()

    def _print_Transpose(self, expr: Any) -> str:  # noqa: N802
        return self._superscript(expr.arg, r"\top")

    def _print_Adjoint(self, expr: Any) -> str:  # noqa: N802
        return self._superscript(expr.arg, r"\ast")

    def _superscript(self, base: Any, sign: str) -> str:
        shown = self._print(base)
        simple = not isinstance(base, sympy.MatAdd | sympy.MatMul | sympy.MatPow)
        if not simple or isinstance(base, sympy.Transpose | sympy.Adjoint):
            shown = rf"\left({shown}\right)"
        return f"{shown}^{{{sign}}}"


def _scalar_first(expr: Any) -> tuple[str, Expr | None, list[Any]]:
    """Return the sign, the scalar factor if there is one, and the matrices of a product."""
    scalars = [factor for factor in expr.args if not factor.is_Matrix]
    matrices = [factor for factor in expr.args if factor.is_Matrix]
    if len(scalars) > 1:
        scalars = Mul(*scalars, evaluate=False).as_ordered_factors()
    sign = ""
    if scalars and scalars[0] == -1:
        sign, scalars = "-", scalars[1:]
    elif len(scalars) == 1 and scalars[0].could_extract_minus_sign() and not scalars[0].is_Add:
        sign, scalars = "-", [-scalars[0]]
    return sign, Mul(*scalars, evaluate=False) if scalars else None, matrices


def text(value: Any) -> str:
    """Return `value` as text in one line."""
    return str(_Str().doprint(value))


def latex(value: Any) -> str:
    """Return `value` as LaTeX."""
    # The matrices bring their own brackets.
    printer = _Latex({"mat_str": "bmatrix", "mat_delim": ""})
    return str(printer.doprint(value))


def reason_lines(reason: str) -> list[str]:
    r"""Return `reason` as one or more ``\text{...}``, none of them wide."""
    # Spaces inside a formula are no places to break a line.
    parts = reason.split("$")
    whole = "$".join(p.replace(" ", "\0") if k % 2 else p for k, p in enumerate(parts))
    lines = [""]
    for word in whole.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and len(longer) > _LINE:
            lines.append(word)
        else:
            lines[-1] = longer
    return [rf"\text{{{_escape(line)}}}" for line in lines]


def _escape(line: str) -> str:
    parts = line.split("$")
    return "$".join(
        part.replace("\0", " ") if k % 2 else "".join(_SPECIAL.get(c, c) for c in part)
        for k, part in enumerate(parts)
    )
