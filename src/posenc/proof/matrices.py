"""Scalars and matrix expressions worked out to explicit matrices.

The parts are kept as well: a product may hide where one of its factors is undefined.
"""

from collections.abc import Iterable
from functools import reduce as fold
from typing import Any

import sympy
from sympy import Expr, ImmutableMatrix, MatrixBase, MatrixExpr, Pow

from posenc.proof.typeset import text
from posenc.proof.undecided import Undecided, Undefined


def explicit(value: Any) -> tuple[ImmutableMatrix, list[Expr]]:
    """Return the matrix that `value` is, and the expressions it was worked out from.

    The second tell where the whole is undefined even if a product cancels it.
    """
    if isinstance(value, MatrixBase):
        return value.as_immutable(), list(value.flat())
    if not isinstance(value, MatrixExpr):
        return ImmutableMatrix([[value]]), [value]
    if isinstance(value, sympy.MatMul):
        return _combined(value.args, lambda a, b: a * b)
    if isinstance(value, sympy.MatAdd):
        return _combined(value.args, lambda a, b: a + b)
    if isinstance(value, sympy.Transpose):
        matrix, leaves = explicit(value.arg)
        return matrix.T, leaves
    if isinstance(value, sympy.Adjoint):
        matrix, leaves = explicit(value.arg)
        return matrix.H, leaves
    if isinstance(value, sympy.MatPow):  # Inverse is one, too
        return _power_of_matrix(value)
    if isinstance(value, sympy.BlockMatrix):
        grid = value.blocks.tolist()
        rows = [[explicit(block) for block in row] for row in grid]
        joined = [ImmutableMatrix.hstack(*(matrix for matrix, _ in row)) for row in rows]
        return ImmutableMatrix.vstack(*joined), [e for row in rows for _, le in row for e in le]
    inside = [explicit(a)[1] for a in value.args if isinstance(a, MatrixBase | MatrixExpr)]
    done = value.doit()
    matrix, leaves = explicit(done if done != value else value.as_explicit())
    return matrix, sum(inside, leaves)


def _combined(parts: Iterable[Any], combine: Any) -> tuple[ImmutableMatrix, list[Expr]]:
    done = [
        explicit(part) if isinstance(part, MatrixBase | MatrixExpr) else (part, [part])
        for part in parts
    ]
    return fold(combine, (m for m, _ in done)), [e for _, leaves in done for e in leaves]


def _power_of_matrix(value: Any) -> tuple[ImmutableMatrix, list[Expr]]:
    matrix, leaves = explicit(value.base)
    n = value.exp
    if not n.is_Integer:
        raise Undecided(f"a matrix has the exponent {text(n)}")
    if n >= 0:
        return matrix ** int(n), leaves
    det = matrix.det(method="berkowitz")
    if det == 0:
        raise Undefined
    inverse = matrix.adjugate(method="berkowitz") / det
    return inverse ** int(-n), [*leaves, Pow(det, -1)]
