"""Matrices of the book as SymPy objects that print by name until they are worked out."""

from typing import Any, Self

import sympy
from sympy import (
    Basic,
    Expr,
    ImmutableMatrix,
    MatAdd,
    MatMul,
    MatrixExpr,
    Transpose,
    cos,
    sin,
    sympify,
)
from sympy.core.symbol import Str

__all__ = ["Named", "R", "product", "total", "transpose", "vector"]


class R(MatrixExpr):  # type: ignore[misc]
    """Rotation of the plane by `angle`, counter-clockwise; prints as R(angle).

    Parameters
    ----------
    angle : expression
        Radians.

    Examples
    --------
    >>> from sympy.abc import a
    >>> R(a), R(a).doit()
    (R(a), Matrix([
    [cos(a), -sin(a)],
    [sin(a),  cos(a)]]))
    """

    def __new__(cls, angle: Any) -> Self:  # noqa: D102 - the class says it
        obj: Self = Basic.__new__(cls, sympify(angle))
        return obj

    @property
    def angle(self) -> Expr:
        """Radians."""
        return self.args[0]

    @property
    def shape(self) -> tuple[Expr, Expr]:
        """Always (2, 2)."""
        return sympy.Integer(2), sympy.Integer(2)

    def doit(self, **hints: Any) -> ImmutableMatrix:
        """Return the explicit matrix."""
        a = self.angle
        return ImmutableMatrix([[cos(a), -sin(a)], [sin(a), cos(a)]])

    def _entry(self, i: Any, j: Any, **kwargs: Any) -> Expr:
        return self.doit()[i, j]

    def _latex(self, printer: Any) -> str:
        angle = printer._print(self.angle)
        return rf"R\left({angle}\right)" if r"\frac" in angle else f"R({angle})"

    def _sympystr(self, printer: Any) -> str:
        return f"R({printer._print(self.angle)})"


class Named(MatrixExpr):  # type: ignore[misc]
    """A matrix that prints as its name until it is worked out.

    Parameters
    ----------
    name : str
        LaTeX.
    matrix : Matrix

    Examples
    --------
    >>> from sympy import eye
    >>> swap = Named("P", eye(2)[::-1, :])
    >>> swap, swap.doit()
    (P, Matrix([
    [0, 1],
    [1, 0]]))
    """

    def __new__(cls, name: str, matrix: Any) -> Self:  # noqa: D102 - the class says it
        obj: Self = Basic.__new__(cls, Str(str(name)), ImmutableMatrix(matrix))
        return obj

    @property
    def shape(self) -> tuple[Expr, Expr]:
        """Rows and columns."""
        rows, columns = self.args[1].shape
        return sympify(rows), sympify(columns)

    def doit(self, **hints: Any) -> ImmutableMatrix:
        """Return the explicit matrix."""
        return self.args[1]

    def _entry(self, i: Any, j: Any, **kwargs: Any) -> Expr:
        return self.args[1][i, j]

    def _latex(self, printer: Any) -> str:
        return str(self.args[0].name)

    def _sympystr(self, printer: Any) -> str:
        return str(self.args[0].name)


def product(*factors: Any) -> MatMul:
    """Return the product of `factors` as written, not worked out."""
    return MatMul(*factors, evaluate=False)


def total(*terms: Any) -> MatAdd:
    """Return the sum of the matrices `terms` as written, not worked out."""
    return MatAdd(*terms, evaluate=False)


def vector(*components: Any) -> ImmutableMatrix:
    """Return a column of `components`."""
    return ImmutableMatrix([sympify(c) for c in components])


def transpose(matrix: Any) -> Transpose:
    """Return the transpose of `matrix` as written, not worked out."""
    return Transpose(matrix)
