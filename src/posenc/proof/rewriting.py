"""Rules that turn a SymPy expression into kernels.

Sines, powers and sums come out in few kernels, so that known formulas are polynomial identities.
"""

from typing import Any

import sympy
from sympy import (
    Add,
    Eq,
    Expr,
    I,
    Integer,
    Mul,
    Ne,
    Pow,
    Product,
    Rational,
    Sum,
    Symbol,
    pi,
)
from sympy.core.function import Application, AppliedUndef
from sympy.matrices.expressions.matexpr import MatrixElement

from posenc.proof.matrices import explicit
from posenc.proof.powers import Powers
from posenc.proof.typeset import text
from posenc.proof.undecided import Undefined

# Functions with a value at every point, so that they may vanish from one side of a step.
_TOTAL = (
    sympy.floor,
    sympy.ceiling,
    sympy.sign,
    sympy.Max,
    sympy.Min,
    sympy.Heaviside,
    sympy.KroneckerDelta,
)
_IN_TERMS_OF_EXP = (
    sympy.sin,
    sympy.cos,
    sympy.tan,
    sympy.cot,
    sympy.sec,
    sympy.csc,
    sympy.sinh,
    sympy.cosh,
    sympy.tanh,
    sympy.coth,
    sympy.sech,
    sympy.csch,
)
_LONGEST_SUM = 4096
# Marks the points at which an opaque expression has no value.
_DOMAIN = sympy.Function("domain")


class Algebra(Powers):
    """SymPy expressions in kernels.

    Parameters
    ----------
    scales : dict
        For an exponent or a base, the common denominator of the exponents in use.
    conditions : tuple of Ne
        What may be taken as different.
    """

    def __init__(self, scales: dict[Expr, int], conditions: tuple[Any, ...] = ()) -> None:
        super().__init__(scales)
        self.memo: dict[Expr, tuple[Expr, dict[Expr, Expr]]] = {}
        for condition in conditions:
            difference = self.fraction(self.rational(condition.lhs - condition.rhs))
            self.assumed.update(g for g, _ in self.factors(difference.numer)[1])
        self.poles = {}

    def rational(self, e: Expr) -> Expr:
        """Return `e` as a rational expression of kernels; its poles go to `self.poles`."""
        if e not in self.memo:
            outer, self.poles = self.poles, {}
            try:
                result = self._rational(e)
                self.memo[e] = (result, self.poles)
            finally:
                self.poles = outer
        result, poles = self.memo[e]
        self.poles.update(poles)
        return result

    def _rational(self, e: Expr) -> Expr:
        if e.is_Rational:
            return e
        if e is I:
            return self.i
        if e.is_Float:  # brought in by an object's own doit
            raise TypeError(f"an expression must be exact, got the float {text(e)}")
        if isinstance(e, Symbol | sympy.Indexed):
            return self._atom(e)
        if e is pi:
            return self.kernel("pi", "pi", pi, constant=True, real=True, nonzero=True, sign=2)
        if isinstance(e, Add | Mul):
            return e.func(*(self.rational(a) for a in e.args))
        if isinstance(e, Pow):
            return self.power_of(e.base, e.exp)
        if e is sympy.E:
            return self.exp_of(Integer(1))
        if isinstance(e, sympy.exp):
            return self.exp_of(self.rational(e.args[0]))
        if isinstance(e, sympy.log) and len(e.args) == 1:
            return self.log_of(self.rational(e.args[0]), e.args[0])
        if isinstance(e, _IN_TERMS_OF_EXP):
            return self._trigonometric(e)
        if isinstance(e, sympy.conjugate | sympy.adjoint):
            return self.conjugate(self.rational(e.args[0]))
        if isinstance(e, sympy.transpose | sympy.UnevaluatedExpr):
            return self.rational(e.args[0])
        if isinstance(e, sympy.re | sympy.im | sympy.Abs):
            z = self.rational(e.args[0])
            z_ = self.conjugate(z)
            if isinstance(e, sympy.re):
                return (z + z_) / 2
            if isinstance(e, sympy.im):
                return (z - z_) / (2 * self.i)
            return self.root_of(z * z_, Rational(1, 2), nonnegative=True)
        if isinstance(e, sympy.Piecewise):
            return self._piecewise(e)
        if isinstance(e, Sum):
            return self._sum(e)
        if isinstance(e, Product):
            return self._finite(e, Mul)
        if e is sympy.GoldenRatio:
            return self.rational(e.expand(func=True))
        if isinstance(e, sympy.Determinant | sympy.Trace):
            return self._of_matrix(e)
        foreign = not isinstance(e, Application) and not type(e).__module__.startswith("sympy.")
        if foreign or isinstance(e, sympy.Derivative | MatrixElement):
            done = e.doit()
            if done != e:
                return self.rational(done)
            if isinstance(e, MatrixElement):
                return self._atom(e)
        return self._opaque(e)

    def _atom(self, e: Expr) -> Symbol:
        sign = 2 * bool(e.is_positive) - 2 * bool(e.is_negative)
        sign = sign or bool(e.is_nonnegative) - bool(e.is_nonpositive)
        return self.kernel(
            ("atom", e),
            "atom",
            e,
            real=e.is_real is True,
            integer=e.is_integer is True,
            nonzero=e.is_zero is False,
            sign=int(sign),
        )

    def _opaque(self, e: Expr) -> Symbol:
        """Return a kernel for `e`, of which only equality of arguments is known."""
        key: tuple[Any, ...] = ("opaque", e)
        if isinstance(e, Application) and all(isinstance(a, Expr) for a in e.args):
            arguments = tuple(self.canonical(self.rational(a)) for a in e.args)
            key = ("opaque", e.func, arguments)
        known = {
            "real": e.is_real is True,
            "integer": e.is_integer is True,
            "constant": not e.free_symbols,
        }
        symbol = self.kernel(key, "opaque", e, **known)
        if not isinstance(e, (AppliedUndef, *_TOTAL)):
            self.poles[_DOMAIN(symbol)] = e
        return symbol

    def _trigonometric(self, e: Expr) -> Expr:
        u = self.rational(e.args[0])
        name = type(e).__name__
        hyperbolic = name.endswith("h")
        E = self.exp_of(u if hyperbolic else self.i * u)
        sine = (E - 1 / E) / 2 if hyperbolic else (E - 1 / E) / (2 * self.i)
        cosine = (E + 1 / E) / 2
        over = {"sin": Integer(1), "cos": Integer(1), "tan": cosine, "cot": sine}
        over |= {"sec": cosine, "csc": sine}
        above = {"sin": sine, "cos": cosine, "tan": sine, "cot": cosine}
        above |= {"sec": Integer(1), "csc": Integer(1)}
        name = name.removesuffix("h")
        if over[name] != 1:
            origin = (sympy.cosh if hyperbolic else sympy.cos)(e.args[0])
            if name in ("cot", "csc"):
                origin = (sympy.sinh if hyperbolic else sympy.sin)(e.args[0])
            self.note_pole(over[name], origin)
        return above[name] / over[name]

    def _piecewise(self, e: Expr) -> Expr:
        for branch, condition in e.args:
            truth = self._truth(condition)
            if truth is None:
                return self._opaque(e)
            if truth:
                return self.rational(branch)
        raise Undefined

    def _truth(self, condition: Any) -> bool | None:
        if condition in (sympy.true, sympy.false):
            return bool(condition)
        if not isinstance(condition, sympy.core.relational.Relational):
            return None
        d = self.rational(condition.lhs - condition.rhs)
        if isinstance(condition, Eq | Ne):
            equal = True if self.is_zero(d) else False if self.all_nonzero(d) else None
            return equal if equal is None or isinstance(condition, Eq) else not equal
        sign = self.sign(d)
        if isinstance(condition, sympy.Lt | sympy.Le):
            sign = -sign
        strict = isinstance(condition, sympy.Gt | sympy.Lt)
        if sign == 2 or (sign == 1 and not strict):
            return True
        if sign == -2 or (sign == -1 and strict):
            return False
        return None

    def _finite(self, e: Expr, combine: Any) -> Expr:
        """Write out a sum or product whose outermost range has a known length."""
        *inner, outermost = e.limits
        if len(outermost) != 3:
            return self._opaque(e)
        k, low, high = outermost
        length = sympy.expand(high - low)
        if not length.is_Integer or length > _LONGEST_SUM or length < -1:
            return self._opaque(e)
        body = e.func(e.function, *inner) if inner else e.function
        terms = (body.subs(k, low + step) for step in range(int(length) + 1))
        return combine(*(self.rational(term) for term in terms))

    def _sum(self, e: Expr) -> Expr:
        *inner, outermost = e.limits
        if len(outermost) != 3:
            return self._opaque(e)
        k, low, high = outermost
        length = sympy.expand(high - low)
        if length.is_Integer:
            return self._finite(e, Add)
        if low.is_integer is not True or length.is_integer is not True:
            return self._opaque(e)
        # Every symbolic range starts at 0 and has the same index, so that re-indexed sums agree.
        body = e.func(e.function, *inner) if inner else e.function
        index = _index(_height(body))
        if index in e.free_symbols:
            return self._opaque(e)
        term = self.rational(body.subs(k, low + index))
        return self.linear_sum(term, self._atom(index), self.rational(length))

    def linear_sum(self, term: Expr, index: Symbol, length: Expr) -> Expr:
        """Return the sum of `term` over index = 0 .. length, by linearity."""
        f = self.fraction(term)
        variable = self.kernels[index].value
        bound = {s for s in f.field.symbols if variable in self.kernels[s].value.free_symbols}
        moves = f.denom.as_expr().free_symbols & bound
        total = Integer(0)
        for monomial, coefficient in f.numer.terms():
            inside, outside = Integer(1), Rational(int(coefficient), 1)
            for symbol, power in zip(f.field.symbols, monomial, strict=True):
                if symbol in bound:
                    inside *= symbol**power
                else:
                    outside *= symbol**power
            if moves:
                inside /= f.denom.as_expr()
            else:
                outside /= f.denom.as_expr()
            total += outside * self._sum_kernel(self.canonical(inside), index, length)
        return total

    def _sum_kernel(self, term: Expr, index: Symbol, length: Expr) -> Expr:
        length = self.canonical(length)
        if term == 1:
            return length + 1
        # The name of the index must depend on nothing but what is summed.
        value, variable = self.value(term), self.kernels[index].value
        name = _index(_height(value))
        if variable != name:
            index = self._atom(name)
            term = self.canonical(self.rational(value.subs(variable, name)))
        return self.kernel(
            ("sum", term, index, length),
            "sum",
            Sum(self.value(term), (self.kernels[index].value, 0, self.value(length))),
            data=(term, index, length),
            real=self.known(term, "real") and self.known(length, "real"),
        )

    def _of_matrix(self, e: Expr) -> Expr:
        matrix, leaves = explicit(e.args[0])
        for leaf in leaves:
            self.rational(leaf)
        if isinstance(e, sympy.Trace):
            return self.rational(Add(*(matrix[i, i] for i in range(matrix.rows))))
        return self.rational(matrix.det(method="berkowitz"))


def _height(e: Expr) -> int:
    """Return how many sums stand inside one another in `e`."""
    inside = max((_height(a) for a in e.args), default=0)
    return inside + (len(e.limits) if isinstance(e, Sum) else 0)


def _index(height: int) -> Symbol:
    return Symbol(f"_index{height}", integer=True)
