r"""Derivations whose every step is checked exactly, and evidence of other kinds.

A `Derivation` is a chain of equal SymPy expressions. Each `step` is proved when it is
added, or refused with `DerivationError`. `evidence` records what was settled by numbers,
by a counterexample, by an experiment or by a source.

How a step is proved
--------------------
Both sides are written as fractions of polynomials with rational coefficients in
*kernels*: symbols, exponentials, roots, logarithms and whatever else is opaque.
Sines, cosines and powers become exponentials, so that the angle additions, the laws of
powers and Euler's formula are identities between polynomials. Only rules that hold under
the assumptions of the symbols are used, roots obey ``r**n = base``, and algebraic numbers
are compared by a root bound, never by digits alone. A step holds if the numerator of the
difference is the zero polynomial and both sides are undefined at the same points: a factor
of a denominator may go only if it cannot be zero. `sympy.simplify` and tests by
sampling play no part; samples serve to *refute* a step.

What cannot be seen: SymPy itself cancels ``x/x`` when the expression is written.
A summation over ``k = m .. n`` with symbolic bounds means Karr's sum, as in SymPy.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from functools import cache
from functools import reduce as fold
from itertools import islice
from math import lcm
from numbers import Rational as PythonRational
from typing import Any, Literal

import numpy as np
import sympy
from mpmath.ctx_iv import MPIntervalContext  # type: ignore[import-untyped]
from sympy import (
    QQ,
    Add,
    Basic,
    Eq,
    Expr,
    I,
    ImmutableMatrix,
    Integer,
    MatrixBase,
    MatrixExpr,
    Mul,
    Ne,
    Pow,
    Product,
    Rational,
    Sum,
    Symbol,
    exp,
    log,
    pi,
    sympify,
)
from sympy.core.evalf import PrecisionExhausted
from sympy.core.function import Application, AppliedUndef
from sympy.matrices.expressions.matexpr import MatrixElement
from sympy.polys.fields import field
from sympy.printing.latex import LatexPrinter
from sympy.printing.str import StrPrinter

__all__ = ["Derivation", "DerivationError", "Evidence", "EvidenceError", "evidence"]

Kind = Literal["symbolic", "argued", "numeric", "counterexample", "experiment", "source"]

# ---------------------------------------------------------------------------------------
# Errors
# ---------------------------------------------------------------------------------------


class DerivationError(AssertionError):
    """A step that does not follow, or could not be decided.

    Attributes
    ----------
    residual : Expr, Matrix or None
        Left side minus right side, where that makes sense.
    reason : str
        The reason that was given for the step.
    index : int
        Number of the step, from 1.
    left, right : Expr or Matrix
        The two sides as they were written.
    """

    def __init__(
        self,
        message: str,
        *,
        residual: Any = None,
        reason: str = "",
        index: int = 0,
        left: Any = None,
        right: Any = None,
    ) -> None:
        super().__init__(message)
        self.residual = residual
        self.reason = reason
        self.index = index
        self.left = left
        self.right = right


class EvidenceError(AssertionError):
    """Evidence that does not hold."""


class _Undecided(Exception):  # noqa: N818
    """The question is beyond the rules of this module."""


class _Undefined(Exception):  # noqa: N818
    """An expression has no value anywhere."""


class _Rescale(Exception):  # noqa: N818
    """An exponent needs a finer unit; the comparison starts again with it."""

    def __init__(self, key: Expr, scale: int) -> None:
        super().__init__(key, scale)
        self.key = key
        self.scale = scale


# ---------------------------------------------------------------------------------------
# Exact arithmetic
# ---------------------------------------------------------------------------------------

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
# Functions defined everywhere, of which a side may gain or lose any number.
_ENTIRE = (sympy.sin, sympy.cos, sympy.exp, sympy.sinh, sympy.cosh)
_PARTS = (sympy.re, sympy.im, sympy.conjugate, sympy.Abs)
_LONGEST_SUM = 4096
# Marks the points at which an opaque expression has no value.
_DOMAIN = sympy.Function("domain")
_MOST_BITS = 20_000


@dataclass(frozen=True)
class _Kernel:
    """A generator of the polynomials: what it stands for and what is known of it."""

    kind: str
    value: Expr
    index: int
    data: Any = None
    relation: tuple[int, Expr] | None = None  # (n, b): kernel**n == b
    constant: bool = False
    algebraic: bool = False
    real: bool = False
    integer: bool = False
    nonzero: bool = False
    sign: int = 0  # 2: > 0, 1: >= 0, -1: <= 0, -2: < 0, 0: not known


class _Algebra:
    """Expressions as fractions of polynomials in kernels.

    Parameters
    ----------
    scales : dict
        For an exponent or a base, the common denominator of the exponents in use.
    conditions : tuple of Ne
        What may be taken as different.
    """

    def __init__(self, scales: dict[Expr, int], conditions: tuple[Any, ...] = ()) -> None:
        self.scales = scales
        self.kernels: dict[Symbol, _Kernel] = {}
        self.symbols: dict[Any, Symbol] = {}
        self.memo: dict[Expr, tuple[Expr, dict[Expr, Expr]]] = {}
        self.fractions: dict[Expr, Any] = {}
        self.conjugates: dict[Symbol, Expr] = {}
        self.signs: dict[Expr, int] = {}
        self.poles: dict[Expr, Expr] = {}
        self.cache: dict[tuple[Symbol, int], Any] = {}
        self.i = self._kernel(
            "i", "i", I, relation=(2, Integer(-1)), constant=True, algebraic=True, nonzero=True
        )
        self.assumed: set[Expr] = set()
        for condition in conditions:
            difference = self.fraction(self.rational(condition.lhs - condition.rhs))
            self.assumed.update(g for g, _ in self._factors(difference.numer)[1])
        self.poles = {}

    # --- kernels ------------------------------------------------------------------------

    def _kernel(self, key: Any, kind: str, value: Expr, **facts: Any) -> Symbol:
        symbol = self.symbols.get(key)
        if symbol is None:
            index = len(self.kernels)
            symbol = Symbol(f"_k{index}")
            self.symbols[key] = symbol
            self.kernels[symbol] = _Kernel(kind, value, index, **facts)
        return symbol

    def value(self, expression: Expr) -> Expr:
        """Return what `expression` in kernels stands for."""
        return expression.xreplace({s: k.value for s, k in self.kernels.items()})

    def _scale(self, key: Expr, exponent: Rational) -> int:
        scale = self.scales.get(key, 1)
        if scale % exponent.q:
            raise _Rescale(key, lcm(scale, int(exponent.q)))
        return scale

    def _kernels_in(self, expression: Expr) -> list[_Kernel]:
        return [self.kernels[s] for s in expression.free_symbols]

    def _is(self, expression: Expr, fact: str) -> bool:
        return all(getattr(k, fact) for k in self._kernels_in(expression))

    # --- fractions ----------------------------------------------------------------------

    def fraction(self, expression: Expr) -> Any:
        """Return `expression` in kernels as a reduced fraction of polynomials."""
        known = self.fractions.get(expression)
        if known is None:
            K = self._field(expression)
            numer, denom = _over_one_denominator(expression, K.ring, {})
            if not denom:
                raise _Undefined
            known = self._reduce(K.new(numer, denom))
            self.fractions[expression] = known
        return known

    def canonical(self, expression: Expr) -> Expr:
        return self.fraction(expression).as_expr()

    def _field(self, expression: Expr) -> Any:
        found = {self.i}
        new = set(expression.free_symbols)
        while new:
            found |= new
            relations = (self.kernels[s].relation for s in new)
            new = set().union(*(r[1].free_symbols for r in relations if r)) - found
        return field(sorted(found, key=lambda s: self.kernels[s].index), QQ)[0]

    def _reduce(self, f: Any) -> Any:
        K = f.field
        for j in reversed(range(len(K.symbols))):
            relation = self.kernels[K.symbols[j]].relation
            if relation is not None:
                numer = self._lower(f.numer, j, relation, K)
                denom = self._lower(f.denom, j, relation, K)
                if numer is not None or denom is not None:
                    numer = K.new(f.numer, K.ring.one) if numer is None else numer
                    denom = K.new(f.denom, K.ring.one) if denom is None else denom
                    if denom == 0:
                        raise _Undefined
                    f = numer / denom
        position = K.symbols.index(self.i)
        if any(monomial[position] for monomial in f.denom):
            other = K.ring.zero
            for monomial, coefficient in f.denom.terms():
                other[monomial] = -coefficient if monomial[position] else coefficient
            f = self._reduce(K.new(f.numer * other, K.ring.one)) / self._reduce(
                K.new(f.denom * other, K.ring.one)
            )
        return f

    def _lower(self, p: Any, j: int, relation: tuple[int, Expr], K: Any) -> Any:
        """Return `p` with the power of generator `j` below the relation's, None if it is."""
        n, base = relation
        if all(monomial[j] < n for monomial in p):
            return None
        parts: dict[int, Any] = {}
        for monomial, coefficient in p.terms():
            times, rest = divmod(monomial[j], n)
            lower = (*monomial[:j], rest, *monomial[j + 1 :])
            part = parts.setdefault(times, K.ring.zero)
            part[lower] = part.get(lower, QQ(0)) + coefficient
        b = K.new(*_over_one_denominator(self.canonical(base), K.ring, {}))
        total = K.zero
        for times, part in parts.items():
            part.strip_zero()
            total += K.new(part, K.ring.one) * b**times
        return total

    def _factors(self, p: Any) -> tuple[Rational, list[tuple[Expr, int]]]:
        """Return a rational number and the irreducible factors with their powers."""
        coefficient, factors = p.factor_list()
        rational = Rational(int(coefficient.numerator), int(coefficient.denominator))
        out = []
        for g, power in factors:
            content, g = g.primitive()
            rational *= Rational(int(content.numerator), int(content.denominator)) ** power
            if g.LC < 0:
                g, rational = -g, rational * (-1) ** power
            out.append((g.as_expr(), power))
        return rational, out

    @contextmanager
    def assuming(self, factors: set[Expr]) -> Iterator[None]:
        """Take the factors as different from zero for a while."""
        before = self.assumed
        self.assumed, self.signs = before | factors, {}
        try:
            yield
        finally:
            self.assumed, self.signs = before, {}

    def factors_of_product(self, poles: Iterable[Expr]) -> set[Expr]:
        """Return expressions that do not vanish where no pole does."""
        product = Mul(*(g for g in poles if not isinstance(g, AppliedUndef)))
        numer = self.fraction(product).numer
        return {*poles, *(g for g, _ in self._factors(numer)[1])}

    # --- decisions ----------------------------------------------------------------------

    def is_zero(self, expression: Expr) -> bool:
        """Return whether `expression` in kernels is proved to be zero."""
        numer = self.fraction(expression).numer
        if not numer:
            return True
        gens = numer.ring.symbols
        constants = [j for j, s in enumerate(gens) if self.kernels[s].algebraic]
        groups: dict[tuple[int, ...], Any] = {}
        for monomial, coefficient in numer.terms():
            key = tuple(0 if j in constants else e for j, e in enumerate(monomial))
            left = tuple(e if j in constants else 0 for j, e in enumerate(monomial))
            groups.setdefault(key, numer.ring.zero)[left] = coefficient
        return all(self._number_is_zero(g.as_expr()) for g in groups.values())

    def _number_is_zero(self, expression: Expr) -> bool:
        """Decide whether an algebraic number is zero.

        N/D with algebraic integers N and D: the product of the conjugates of N is an
        integer, so that |N| is either 0 or at least U**(1 - degree), where U bounds all
        conjugates. Interval arithmetic decides which.
        """
        if not self.fraction(expression).numer:
            return True
        upper, lower = self._house(expression)
        degree = 1
        found: set[Symbol] = set()
        new = set(expression.free_symbols)
        while new:
            found |= new
            relations = [self.kernels[s].relation for s in new]
            degree *= int(np.prod([r[0] for r in relations if r], dtype=object))
            new = set().union(*(r[1].free_symbols for r in relations if r)) - found
        bits = (degree - 1) * upper.bit_length() + lower.bit_length() + 1
        if bits > _MOST_BITS:
            raise _Undecided("an algebraic number of too high a degree must be compared")
        for box in self.boxes(expression, 2 * bits + 128):
            if not _contains_zero(box):
                return False
            if _below(box, bits):
                return True
        raise _Undecided("an algebraic number could not be enclosed")

    def _house(self, expression: Expr) -> tuple[int, int]:
        """Return bounds on all conjugates of N and D, where `expression` is N/D."""
        f = self.fraction(expression)
        above, below = self._house_of(f.numer)
        above_, below_ = self._house_of(f.denom)
        return above * below_, above_ * below

    def _house_of(self, p: Any) -> tuple[int, int]:
        gens = [
            (j, *self._house_of_kernel(self.kernels[s]))
            for j, s in enumerate(p.ring.symbols)
            if any(monomial[j] for monomial in p)
        ]
        common = fold(lcm, (int(c.denominator) for c in p.values()), 1)
        most = {j: max(monomial[j] for monomial in p) for j, _, _ in gens}
        above = 0
        for monomial, coefficient in p.terms():
            term = abs(int(coefficient * common))
            for j, u, v in gens:
                term *= u ** monomial[j] * v ** (most[j] - monomial[j])
            above += term
        below = common
        for j, _, v in gens:
            below *= v ** most[j]
        return max(above, 1), below

    def _house_of_kernel(self, kernel: _Kernel) -> tuple[int, int]:
        assert kernel.relation is not None
        n, base = kernel.relation
        u, v = self._house(base)
        root, exact = sympy.integer_nthroot(u * v ** (n - 1), n)
        return int(root) + (not exact), v

    def nonzero(self, g: Expr) -> bool:
        """Return whether the polynomial `g` is proved to vanish nowhere."""
        if isinstance(g, AppliedUndef):  # the domain of an opaque expression
            return False
        if g.is_Rational:
            return bool(g != 0)
        if g in self.assumed:
            return True
        if g in self.kernels:
            kernel = self.kernels[g]
            if kernel.nonzero or abs(kernel.sign) == 2:
                return True
            if kernel.kind == "root":
                return self._all_nonzero(kernel.data[0])
        if self._is(g, "algebraic"):
            return not self._number_is_zero(g)
        if self._is(g, "constant"):
            return any(not _contains_zero(box) for box in self.boxes(g, 2048))
        if abs(self.sign(g)) == 2:
            return True
        # The norm over a root: where it does not vanish, no factor of it does.
        related = [s for s in g.free_symbols if self.kernels[s].relation]
        if related:
            r = max(related, key=lambda s: self.kernels[s].index)
            n, base = self.kernels[r].relation  # type: ignore[misc]
            b = self.fraction(base)
            norm = sympy.resultant(g, b.denom.as_expr() * r**n - b.numer.as_expr(), r)
            if norm != 0 and r not in norm.free_symbols:
                return self._all_nonzero(norm)
        return False

    def _all_nonzero(self, expression: Expr) -> bool:
        f = self.fraction(expression)
        return bool(f.numer) and all(self.nonzero(g) for g, _ in self._factors(f.numer)[1])

    def is_real(self, expression: Expr) -> bool:
        if self._is(expression, "real"):
            return True
        return self.is_zero(self.conjugate(expression) - expression)

    def sign(self, expression: Expr) -> int:
        """Return 2, 1, -1, -2 for > 0, >= 0, <= 0, < 0 where proved, else 0."""
        if expression not in self.signs:
            self.signs[expression] = self._sign(expression)
        return self.signs[expression]

    def _sign(self, expression: Expr) -> int:
        f = self.fraction(expression)
        if not f.numer:
            return 0
        if self._is(f.as_expr(), "constant"):
            if not self._is(f.as_expr(), "real"):
                return 0
            for box in self.boxes(f.as_expr(), 512):
                if not _contains_zero(box):
                    return 2 if box.real.a > 0 else -2
            return 0
        return _product_of_signs([self._sign_of(f.numer), self._sign_of(f.denom)])

    def _sign_of(self, p: Any) -> int:
        signs = []
        for monomial, coefficient in p.terms():
            sign = 2 if coefficient > 0 else -2
            for symbol, power in zip(p.ring.symbols, monomial, strict=True):
                kernel = self.kernels[symbol]
                if power == 0:
                    continue
                if not kernel.real:
                    return 0
                strict = kernel.nonzero or abs(kernel.sign) == 2 or symbol in self.assumed
                part = kernel.sign if power % 2 else 2 if strict else 1
                sign = _product_of_signs([sign, part])
            signs.append(sign)
        if all(s > 0 for s in signs):
            return max(signs)
        if all(s < 0 for s in signs):
            return min(signs)
        return 0

    # --- enclosures of constants --------------------------------------------------------

    def boxes(self, expression: Expr, bits: int) -> Iterator[Any]:
        """Yield ever smaller boxes of the complex plane that hold a constant."""
        precision = 64
        while True:
            context = _intervals(precision)
            try:
                yield self._box(expression, context)
            except _Undecided:
                return
            except ZeroDivisionError:  # a smaller box is needed
                pass
            if precision >= bits:
                return
            precision = min(2 * precision, max(bits, 64))

    def _box(self, expression: Expr, context: Any) -> Any:
        f = self.fraction(expression)
        numer, denom = self._box_of(f.numer, context), self._box_of(f.denom, context)
        if _contains_zero(denom):
            raise ZeroDivisionError
        return numer / denom

    def _box_of(self, p: Any, context: Any) -> Any:
        zero = context.mpf(0)
        total = context.mpc(zero, zero)
        for monomial, coefficient in p.terms():
            number = context.mpf(int(coefficient.numerator)) / int(coefficient.denominator)
            term = context.mpc(number, zero)
            for symbol, power in zip(p.ring.symbols, monomial, strict=True):
                if power:
                    base = self._box_of_kernel(symbol, context)
                    for _ in range(power):
                        term = term * base
            total = total + term
        return total

    def _box_of_kernel(self, symbol: Symbol, context: Any) -> Any:
        key = (symbol, context.prec)
        if key not in self.cache:
            box = self._enclose(self.kernels[symbol], context)
            if self.kernels[symbol].real:
                box = context.mpc(box.real, context.mpf(0))
            self.cache[key] = box
        return self.cache[key]

    def _enclose(self, kernel: _Kernel, context: Any) -> Any:
        if kernel.kind == "i":
            return context.mpc(context.mpf(0), context.mpf(1))
        if kernel.kind == "pi":
            return context.mpc(+context.pi, context.mpf(0))
        if kernel.kind == "unit":
            return context.exp(context.mpc(context.mpf(0), context.pi / kernel.data))
        if kernel.kind == "exp":
            m, scale = kernel.data
            return context.exp(self._box(m, context) / scale)
        if kernel.kind == "log":
            return self._box_of_log(kernel.data, context)
        if kernel.kind == "root":
            base, n = kernel.data
            return context.exp(self._box_of_log(base, context) / n)
        if kernel.kind == "conjugate":
            box = self._box_of_kernel(kernel.data, context)
            return context.mpc(box.real, -box.imag)
        raise _Undecided("a constant has no enclosure")

    def _box_of_log(self, base: Expr, context: Any) -> Any:
        box = self._box(base, context)
        if _contains_zero(box):
            raise ZeroDivisionError
        if self._is(base, "real"):
            if box.real.a > 0:
                return context.mpc(context.log(box.real), context.mpf(0))
            return context.mpc(context.log(-box.real), +context.pi)
        if box.real.a <= 0 and box.imag.a <= 0 <= box.imag.b:  # across the branch cut
            raise ZeroDivisionError
        return context.log(box)

    # --- from SymPy to kernels ----------------------------------------------------------

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
            raise TypeError(f"an expression must be exact, got the float {_str(e)}")
        if isinstance(e, Symbol | sympy.Indexed):
            return self._atom(e)
        if e is pi:
            return self._kernel("pi", "pi", pi, constant=True, real=True, nonzero=True, sign=2)
        if isinstance(e, Add | Mul):
            return e.func(*(self.rational(a) for a in e.args))
        if isinstance(e, Pow):
            return self._power(e.base, e.exp)
        if e is sympy.E:
            return self._exp(Integer(1))
        if isinstance(e, sympy.exp):
            return self._exp(self.rational(e.args[0]))
        if isinstance(e, sympy.log) and len(e.args) == 1:
            return self._log(self.rational(e.args[0]), e.args[0])
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
            return self._root(z * z_, Rational(1, 2), nonnegative=True)
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
        return self._kernel(
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
        symbol = self._kernel(key, "opaque", e, **known)
        if not isinstance(e, (AppliedUndef, *_TOTAL)):
            self.poles[_DOMAIN(symbol)] = e
        return symbol

    def _pole(self, expression: Expr, origin: Expr) -> None:
        """Note that the side is undefined where `expression` vanishes."""
        f = self.fraction(expression)
        if not f.numer:
            raise _Undefined
        for g, _ in self._factors(f.numer)[1]:
            kernel = self.kernels.get(g)
            if kernel is not None and kernel.kind == "root":
                self._pole(kernel.data[0], self.value(kernel.data[0]))
            elif kernel is None or not (kernel.nonzero or abs(kernel.sign) == 2):
                self.poles[g] = origin

    def _trigonometric(self, e: Expr) -> Expr:
        u = self.rational(e.args[0])
        name = type(e).__name__
        hyperbolic = name.endswith("h")
        E = self._exp(u if hyperbolic else self.i * u)
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
            self._pole(over[name], origin)
        return above[name] / over[name]

    def _exp(self, u: Expr) -> Expr:
        """Return exp(u), split along the terms of u."""
        f = self.fraction(u)
        K = f.field
        result = Integer(1)
        for monomial, coefficient in f.numer.terms():
            piece = K.new(K.ring.from_dict({monomial: coefficient}), f.denom)
            content, denom = piece.denom.primitive()
            ((monomial_, above),) = piece.numer.terms()
            c = Rational(int(above), 1) / Rational(int(content.numerator), int(content.denominator))
            m = K.ring.from_dict({monomial_: QQ(1)}).as_expr() / denom.as_expr()
            result *= self._exp_term(c, m)
        return result

    def _exp_term(self, c: Rational, m: Expr) -> Expr:
        """Return exp(c*m) for a rational number c and a term m without a coefficient."""
        angle = self._whole_turns(m)
        if angle is not None:
            if angle == 1 and (2 * c).is_Integer:
                return (Integer(1), self.i, Integer(-1), -self.i)[int(2 * c) % 4]
            scale = self._scale(self.value(m), c)
            constant = angle == 1
            symbol = self._kernel(
                ("unit", m),
                "unit",
                exp(self.value(m) / scale),
                data=scale,
                relation=(2 * scale, Integer(1)),
                constant=constant,
                algebraic=constant,
                nonzero=True,
                real=scale == 1,
            )
            return symbol ** int(c * scale)
        kernel = self.kernels.get(m)
        if kernel is not None and kernel.kind == "log":
            return kernel.data**c if c.is_Integer else self._root(kernel.data, c)
        scale = self._scale(self.value(m), c)
        real = self._is(m, "real")
        symbol = self._kernel(
            ("exp", m),
            "exp",
            exp(self.value(m) / scale),
            data=(m, scale),
            constant=self._is(m, "constant"),
            nonzero=True,
            real=real,
            sign=2 if real else 0,
        )
        return symbol ** int(c * scale)

    def _whole_turns(self, m: Expr) -> Expr | None:
        """Return n if m is i*pi*n with an integer n, else None."""
        if self.i not in m.free_symbols or "pi" not in self.symbols:
            return None
        n = m / self.i / self.symbols["pi"]
        powers = n.as_powers_dict()
        whole = all(
            s.is_Symbol and self.kernels[s].integer and power.is_Integer and power > 0
            for s, power in powers.items()
            if s != 1
        )
        return n if whole else None

    def _split(self, u: Expr) -> tuple[Rational, list[tuple[Expr, int]], Expr]:
        """Return c > 0, factors >= 0 with their powers, and what is left of u."""
        f = self.fraction(u)
        c, above = self._factors(f.numer)
        d, below = self._factors(f.denom)
        c /= d
        rest = Integer(1 if c > 0 else -1)
        good, factors = self._pairs(above + [(g, -power) for g, power in below])
        for g, power in factors:
            sign = self.sign(g)
            if sign > 0:
                good.append((g, power))
            elif sign < 0:
                good.append((-g, power))
                rest *= (-1) ** power
            elif power % 2 == 0 and self.is_real(g):
                good.append((g**2, power // 2))
            else:
                rest *= g**power
        return abs(c), good, self.canonical(rest)

    def _pairs(
        self, factors: list[tuple[Expr, int]]
    ) -> tuple[list[tuple[Expr, int]], list[tuple[Expr, int]]]:
        """Return the products g*conjugate(g) among the factors, and the other factors."""
        powers = dict(factors)
        pairs = []
        for g, power in factors:
            other = self.canonical(self.conjugate(g))
            if g in powers and other != g and powers.get(other) == power:
                pairs.append((g * other, power))
                del powers[g], powers[other]
        return pairs, list(powers.items())

    def _log(self, u: Expr, origin: Expr) -> Expr:
        self._pole(u, origin)
        c, good, rest = self._split(u)
        result = Integer(0)
        for prime, power in _prime_powers(c):
            result += power * self._log_kernel(prime, real=True)
        for g, power in good:
            result += power * self._log_of_positive(g)
        if rest == -1:
            return result + self.i * self.rational(pi)
        if rest in (self.i, -self.i):
            return result + rest * self.rational(pi) / 2
        if rest != 1:
            result += self._log_kernel(rest, real=False)
        return result

    def _log_of_positive(self, g: Expr) -> Expr:
        kernel = self.kernels.get(g)
        if kernel is not None and kernel.kind == "exp":
            m, scale = kernel.data
            return m / scale
        if kernel is not None and kernel.kind == "root" and self.sign(kernel.data[0]) > 0:
            base, n = kernel.data
            return self._log(base, self.value(base)) / n
        return self._log_kernel(self.canonical(g), real=True)

    def _log_kernel(self, base: Expr, *, real: bool) -> Symbol:
        return self._kernel(
            ("log", base),
            "log",
            log(self.value(base)),
            data=base,
            constant=self._is(base, "constant"),
            real=real,
            nonzero=base.is_Integer,
            sign=2 if base.is_Integer else 0,
        )

    def _power(self, base: Expr, exponent: Expr) -> Expr:
        b = self.rational(base)
        if exponent.is_Rational:
            if exponent.is_negative:
                self._pole(b, base)
            return b**exponent if exponent.is_Integer else self._root(b, exponent)
        e = self.rational(exponent)
        if not self.fraction(b).numer:
            raise _Undecided("zero has a symbolic exponent")
        if exponent.is_integer:
            return self._exp(e * self._any_log(b, base))
        # The definition of a power, with the principal logarithm.
        return self._exp(e * self._log(b, base))

    def _any_log(self, u: Expr, origin: Expr) -> Expr:
        """Return a logarithm of u, not always the principal one: all serve for whole powers."""
        self._pole(u, origin)
        f = self.fraction(u)
        c, above = self._factors(f.numer)
        d, below = self._factors(f.denom)
        result = self.i * self.rational(pi) if c / d < 0 else Integer(0)
        for prime, power in _prime_powers(abs(c / d)):
            result += power * self._log_kernel(prime, real=True)
        for g, power in above + [(g, -power) for g, power in below]:
            kernel = self.kernels.get(g)
            if kernel is not None and kernel.kind == "exp":
                m, scale = kernel.data
                result += power * m / scale
            else:
                result += power * self._log(g, self.value(g))
        return result

    def _root(self, u: Expr, s: Rational, *, nonnegative: bool = False) -> Expr:
        """Return the principal value of u**s for a rational number s."""
        if not self.fraction(u).numer:
            return Integer(0)
        c, good, rest = self._split(u)
        result = Integer(1)
        for prime, power in _prime_powers(c):
            result *= self._root_kernel(prime, power * s, sign=2)
        for g, power in good:
            result *= self._root_of_nonnegative(g, power * s)
        if rest == -1:
            return result * self._exp(self.i * self.rational(pi) * s)
        if rest != 1:
            result *= self._root_kernel(rest, s, sign=int(nonnegative))
        return result

    def _root_of_nonnegative(self, g: Expr, s: Rational) -> Expr:
        kernel = self.kernels.get(g)
        if kernel is not None and kernel.kind == "exp":
            m, scale = kernel.data
            return self._exp_term(s / scale, m)
        if kernel is not None and kernel.kind == "root" and self.sign(kernel.data[0]) > 0:
            base, n = kernel.data
            return self._root(base, s / n)
        return self._root_kernel(self.canonical(g), s, sign=max(self.sign(g), 1))

    def _root_kernel(self, base: Expr, s: Rational, *, sign: int) -> Expr:
        if s.is_Integer:
            return base**s
        n = self._scale(self.value(base), s)
        symbol = self._kernel(
            ("root", base),
            "root",
            Pow(self.value(base), Rational(1, n)),
            data=(base, n),
            relation=(n, base),
            constant=self._is(base, "constant"),
            algebraic=self._is(base, "algebraic"),
            real=sign > 0,
            sign=sign,
        )
        return symbol ** int(s * n)

    def conjugate(self, expression: Expr) -> Expr:
        """Return the complex conjugate of an expression in kernels."""
        return expression.xreplace({s: self._conjugate(s) for s in expression.free_symbols})

    def _conjugate(self, symbol: Symbol) -> Expr:
        if symbol not in self.conjugates:
            result = self._conjugate_kernel(symbol, self.kernels[symbol])
            self.conjugates[symbol] = result
            if result.is_Symbol:
                self.conjugates[result] = symbol
        return self.conjugates[symbol]

    def _conjugate_kernel(self, symbol: Symbol, kernel: _Kernel) -> Expr:
        if kernel.real:
            return symbol
        if kernel.kind == "i" or (kernel.kind == "atom" and kernel.value.is_imaginary):
            return -symbol
        if kernel.kind == "unit":
            return 1 / symbol
        if kernel.kind == "exp":
            m, scale = kernel.data
            return self._exp(self.conjugate(m) / scale)
        if kernel.kind == "sum":
            term, index, length = kernel.data
            return self._linear_sum(self.conjugate(term), index, self.conjugate(length))
        relation = kernel.relation
        if relation is not None:
            relation = (relation[0], self.conjugate(relation[1]))
        return self._kernel(
            ("conjugate", symbol),
            "conjugate",
            sympy.conjugate(kernel.value),
            data=symbol,
            relation=relation,
            constant=kernel.constant,
            algebraic=kernel.algebraic,
            nonzero=kernel.nonzero,
        )

    def _piecewise(self, e: Expr) -> Expr:
        for branch, condition in e.args:
            truth = self._truth(condition)
            if truth is None:
                return self._opaque(e)
            if truth:
                return self.rational(branch)
        raise _Undefined

    def _truth(self, condition: Any) -> bool | None:
        if condition in (sympy.true, sympy.false):
            return bool(condition)
        if not isinstance(condition, sympy.core.relational.Relational):
            return None
        d = self.rational(condition.lhs - condition.rhs)
        if isinstance(condition, Eq | Ne):
            equal = True if self.is_zero(d) else False if self._all_nonzero(d) else None
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
        return self._linear_sum(term, self._atom(index), self.rational(length))

    def _linear_sum(self, term: Expr, index: Symbol, length: Expr) -> Expr:
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
        return self._kernel(
            ("sum", term, index, length),
            "sum",
            Sum(self.value(term), (self.kernels[index].value, 0, self.value(length))),
            data=(term, index, length),
            real=self._is(term, "real") and self._is(length, "real"),
        )

    def _of_matrix(self, e: Expr) -> Expr:
        matrix, leaves = _explicit(e.args[0])
        for leaf in leaves:
            self.rational(leaf)
        if isinstance(e, sympy.Trace):
            return self.rational(Add(*(matrix[i, i] for i in range(matrix.rows))))
        return self.rational(matrix.det(method="berkowitz"))


def _over_one_denominator(e: Expr, ring: Any, done: dict[Expr, Any]) -> tuple[Any, Any]:
    """Return the numerator and the denominator of a rational expression, not reduced.

    Does what ``field.from_expr`` does, without reducing after every operation.
    """
    if e not in done:
        if e.is_Rational:
            done[e] = ring(QQ(e.p, e.q)), ring.one
        elif e.is_Symbol:
            done[e] = ring.gens[ring.symbols.index(e)], ring.one
        elif isinstance(e, Pow):
            numer, denom = _over_one_denominator(e.base, ring, done)
            n = int(e.exp)
            done[e] = (numer**n, denom**n) if n >= 0 else (denom**-n, numer**-n)
        else:
            parts = [_over_one_denominator(a, ring, done) for a in e.args]
            done[e] = fold(_sum_of if isinstance(e, Add) else _product_of, parts)
    numer, denom = done[e]
    return numer, denom


def _product_of(a: tuple[Any, Any], b: tuple[Any, Any]) -> tuple[Any, Any]:
    return a[0] * b[0], a[1] * b[1]


def _sum_of(a: tuple[Any, Any], b: tuple[Any, Any]) -> tuple[Any, Any]:
    if a[1] == b[1]:
        return a[0] + b[0], a[1]
    _, above, below = a[1].cofactors(b[1])
    return a[0] * below + b[0] * above, a[1] * below


def _height(e: Expr) -> int:
    """Return how many sums stand inside one another in `e`."""
    inside = max((_height(a) for a in e.args), default=0)
    return inside + (len(e.limits) if isinstance(e, Sum) else 0)


def _index(height: int) -> Symbol:
    return Symbol(f"_index{height}", integer=True)


def _prime_powers(c: Rational) -> list[tuple[Integer, int]]:
    """Return the primes of a positive rational number with their powers."""
    above = [(Integer(p), n) for p, n in sympy.factorint(c.p).items()]
    below = [(Integer(p), -n) for p, n in sympy.factorint(c.q).items()]
    return [(p, n) for p, n in above + below if p != 1]


@cache
def _intervals(precision: int) -> Any:
    """Return interval arithmetic with `precision` bits."""
    context = MPIntervalContext()
    context.prec = precision
    return context


def _contains_zero(box: Any) -> bool:
    return bool(box.real.a <= 0 <= box.real.b and box.imag.a <= 0 <= box.imag.b)


def _below(box: Any, bits: int) -> bool:
    """Return whether every number in `box` is smaller than 2**-bits in size."""
    bound = box.ctx.ldexp(box.ctx.mpf(1), -bits - 1)
    sides = (box.real.a, box.real.b, box.imag.a, box.imag.b)
    return all(-bound.a < side < bound.a for side in sides)


def _product_of_signs(signs: list[int]) -> int:
    product = 2
    for sign in signs:
        if sign == 0:
            return 0
        size = min(abs(product), abs(sign))
        product = size if (product > 0) == (sign > 0) else -size
    return product


# ---------------------------------------------------------------------------------------
# Scalars and matrices
# ---------------------------------------------------------------------------------------


def _explicit(value: Any) -> tuple[ImmutableMatrix, list[Expr]]:
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
        matrix, leaves = _explicit(value.arg)
        return matrix.T, leaves
    if isinstance(value, sympy.Adjoint):
        matrix, leaves = _explicit(value.arg)
        return matrix.H, leaves
    if isinstance(value, sympy.MatPow):  # Inverse is one, too
        return _power_of_matrix(value)
    if isinstance(value, sympy.BlockMatrix):
        grid = value.blocks.tolist()
        rows = [[_explicit(block) for block in row] for row in grid]
        joined = [ImmutableMatrix.hstack(*(matrix for matrix, _ in row)) for row in rows]
        return ImmutableMatrix.vstack(*joined), [e for row in rows for _, le in row for e in le]
    inside = [_explicit(a)[1] for a in value.args if isinstance(a, MatrixBase | MatrixExpr)]
    done = value.doit()
    matrix, leaves = _explicit(done if done != value else value.as_explicit())
    return matrix, sum(inside, leaves)


def _combined(parts: Iterable[Any], combine: Any) -> tuple[ImmutableMatrix, list[Expr]]:
    done = [
        _explicit(part) if isinstance(part, MatrixBase | MatrixExpr) else (part, [part])
        for part in parts
    ]
    return fold(combine, (m for m, _ in done)), [e for _, leaves in done for e in leaves]


def _power_of_matrix(value: Any) -> tuple[ImmutableMatrix, list[Expr]]:
    matrix, leaves = _explicit(value.base)
    n = value.exp
    if not n.is_Integer:
        raise _Undecided(f"a matrix has the exponent {_str(n)}")
    if n >= 0:
        return matrix ** int(n), leaves
    det = matrix.det(method="berkowitz")
    if det == 0:
        raise _Undefined
    inverse = matrix.adjugate(method="berkowitz") / det
    return inverse ** int(-n), [*leaves, Pow(det, -1)]


def _accept(name: str, value: Any) -> Any:
    """Return `value` as an immutable SymPy scalar or matrix, or say why it cannot be one."""
    if isinstance(value, MatrixBase):
        result = value.as_immutable()
    elif isinstance(value, MatrixExpr):
        result = value
    elif isinstance(value, bool | str | float | complex | np.floating) or (
        not isinstance(value, Expr | PythonRational | np.integer)
    ):
        hint = "; write a sympy.Rational" if isinstance(value, float | np.floating) else ""
        raise TypeError(
            f"{name} must be a SymPy scalar or matrix, got {type(value).__name__}{hint}"
        )
    else:
        result = sympify(value)
    floats = sorted(result.atoms(sympy.Float), key=str)
    if floats:
        raise TypeError(
            f"{name} must be exact, got the float {_str(floats[0])}; write a sympy.Rational"
        )
    if result.has(sympy.nan, sympy.zoo, sympy.oo, -sympy.oo, sympy.AccumBounds):
        raise ValueError(f"{name} must be finite, got {_str(result)}")
    entries = result.flat() if isinstance(result, MatrixBase) else [result]
    scalars = [*result.atoms(Symbol), *(e for e in entries if not isinstance(e, MatrixExpr))]
    if any(e.is_commutative is False for e in scalars):
        raise TypeError(f"{name} must commute under multiplication, got {_str(result)}")
    if any(s.is_infinite for s in result.atoms(Symbol)):
        raise ValueError(f"{name} must have finite symbols, got {_str(result)}")
    if isinstance(result, MatrixBase) and 0 in result.shape:
        raise ValueError(f"{name} must not be empty, got shape {result.shape}")
    if isinstance(result, MatrixExpr) and not all(
        sympify(n).is_Integer and n > 0 for n in result.shape
    ):
        raise TypeError(f"{name} must have a shape of numbers, got {result.shape}")
    return result


def _accept_conditions(value: Any) -> tuple[Any, ...]:
    if isinstance(value, Basic | str) or not isinstance(value, Iterable):
        raise TypeError(f"assuming must be a tuple of sympy.Ne(...), got {value!r}")
    conditions = []
    for condition in value:
        if condition in (True, sympy.true):  # SymPy knew it from the symbols
            continue
        if condition in (False, sympy.false):
            raise ValueError("assuming must not hold a condition that is false")
        if not isinstance(condition, Ne):
            raise TypeError(f"assuming must be a tuple of sympy.Ne(...), got {condition!r}")
        _accept("assuming", condition.lhs - condition.rhs)
        conditions.append(condition)
    return tuple(conditions)


def _refuse_namesakes(values: Iterable[Any]) -> None:
    """Two symbols that print alike but are different would make any message a riddle."""
    seen: dict[str, Symbol] = {}
    for value in values:
        for symbol in value.free_symbols:
            if seen.setdefault(str(symbol), symbol) != symbol:
                raise ValueError(
                    f"two different symbols are called {symbol}; "
                    "give them the same assumptions, or different names"
                )


# ---------------------------------------------------------------------------------------
# Comparison
# ---------------------------------------------------------------------------------------

_TRIALS = 24
_NUMBERS = [Rational(n, d) for n, d in ((1, 1), (1, 2), (2, 1), (-1, 1), (1, 3), (3, 1), (-2, 1))]
_NUMBERS += [Rational(n, d) for n, d in ((-1, 2), (3, 2), (0, 1), (5, 1), (4, 1), (-3, 1), (7, 1))]
_COMPLEX = [1 + I, -1 + I / 2, 2 - I, -I, -3 - I / 3, 2 + 4 * I, I / 4 - 2, *_NUMBERS]


def _disagreement(left: Any, right: Any, conditions: tuple[Any, ...]) -> str | None:
    """Return None if `left` is proved to equal `right`, else what is wrong."""
    scales: dict[Expr, int] = {}
    while True:
        try:
            return _compare(left, right, _Algebra(scales, conditions))
        except _Rescale as finer:
            scales[finer.key] = finer.scale
        except _Undecided as why:
            return f"could not be decided: {why}"
        except (_Undefined, ZeroDivisionError):
            return "could not be decided: a side is undefined everywhere, it divides by zero"


def _compare(left: Any, right: Any, algebra: _Algebra) -> str | None:
    sides = []
    for value in (left, right):
        matrix, leaves = _explicit(value)
        if matrix.has(sympy.nan, sympy.zoo, sympy.oo):
            raise _Undefined
        if matrix.has(sympy.Float):
            raise TypeError(f"an expression must be exact, got floats in {_str(matrix)}")
        sides.append((matrix, _poles(leaves, algebra)))
    (left_, left_poles), (right_, right_poles) = sides
    for one, other in zip(left_.flat(), right_.flat(), strict=True):
        if one != other and not algebra.is_zero(algebra.rational(one) - algebra.rational(other)):
            return "does not follow"
    for name, here, there in (
        ("left", left_poles, right_poles),
        ("right", right_poles, left_poles),
    ):
        # Where the other side is defined, no pole of it vanishes.
        with algebra.assuming(algebra.factors_of_product(there)):
            for factor, origin in here.items():
                if factor not in there and not algebra.nonzero(factor):
                    return _domain_message(name, factor, origin)
    return None


def _poles(leaves: list[Expr], algebra: _Algebra) -> dict[Expr, Expr]:
    algebra.poles = {}
    for leaf in leaves:
        if not _defined_everywhere(leaf):
            algebra.rational(leaf)
    poles, algebra.poles = algebra.poles, {}
    for factor, origin in poles.items():
        if not isinstance(factor, AppliedUndef) and algebra.is_zero(factor):
            raise _Undecided(f"{_str(origin)} is zero, and it is divided by")
    return poles


def _defined_everywhere(e: Expr) -> bool:
    if not e.args:
        return True
    if isinstance(e, Pow):
        whole = e.exp.is_Integer and e.exp.is_positive
        return bool(whole and _defined_everywhere(e.base))
    return isinstance(e, (Add, Mul, *_ENTIRE, *_PARTS)) and all(map(_defined_everywhere, e.args))


def _domain_message(name: str, factor: Expr, origin: Expr) -> str:
    other = "right" if name == "left" else "left"
    if isinstance(factor, AppliedUndef):
        return (
            f"could not be decided: {_str(origin)} stands on the {name} side only, "
            "and it may be undefined somewhere"
        )
    return (
        f"does not follow everywhere: the {name} side is undefined where {_str(origin)} = 0, "
        f"and the {other} side need not be; assume Ne({_str(origin)}, 0) if that is meant"
    )


@cache
def _choices(symbol: Symbol) -> tuple[Expr, ...]:
    """Return exact numbers that respect the assumptions on a symbol."""
    facts = symbol.assumptions0.items()
    pool = _NUMBERS if symbol.is_real else _COMPLEX
    return tuple(x for x in pool if all(getattr(x, f"is_{f}", None) == truth for f, truth in facts))


def _points(symbols: set[Symbol], conditions: tuple[Any, ...]) -> Iterator[dict[Symbol, Expr]]:
    """Yield values for the symbols that respect all assumptions, always the same ones."""
    symbols = symbols.union(*(c.free_symbols for c in conditions))
    ordered = sorted(symbols, key=str)
    choices = [_choices(symbol) for symbol in ordered]
    if not all(choices):
        return
    for trial in range(_TRIALS):
        point = {
            symbol: choice[(trial * (j + 1) + j) % len(choice)]
            for j, (symbol, choice) in enumerate(zip(ordered, choices, strict=True))
        }
        if all(_box(point, c.lhs, c.rhs) is not None for c in conditions):
            yield point


def _box(point: Mapping[Symbol, Expr], left: Expr, right: Expr | None = None) -> Any:
    """Return a box of the complex plane that holds `left` at `point`.

    With `right`, the box holds the difference and not zero. None if there is none.
    """
    scales: dict[Expr, int] = {}
    while True:
        algebra = _Algebra(scales)
        try:
            number = algebra.rational(_substitute(left, point))
            if right is not None:
                number -= algebra.rational(_substitute(right, point))
            for box in algebra.boxes(number, 1024 if right is not None else 128):
                if right is None or not _contains_zero(box):
                    return box
        except _Rescale as finer:
            scales[finer.key] = finer.scale
        except (_Undecided, _Undefined, ZeroDivisionError):
            return None
        else:
            return None


def _witness(
    left: Expr, right: Expr, conditions: tuple[Any, ...]
) -> tuple[dict[Symbol, Any], Any, Any] | None:
    """Return a point where two scalars differ beyond doubt, with boxes for their values."""
    symbols = left.free_symbols | right.free_symbols
    for point in _points(symbols, conditions):
        if _box(point, left, right) is not None:
            boxes = (_box(point, left), _box(point, right))
            if None not in boxes:
                return {s: v for s, v in point.items() if s in symbols}, *boxes
    return None


def _residual(left: Expr, right: Expr) -> Expr:
    """Return left - right in the shortest of a few forms."""
    difference = left - right
    expanded = sympy.expand(difference)
    forms = [difference, expanded, sympy.expand(sympy.expand_trig(expanded))]
    return min(forms, key=lambda form: (sympy.count_ops(form), len(_str(form))))


def _explain(left: Any, right: Any, trouble: str, conditions: tuple[Any, ...]) -> tuple[str, Any]:
    """Return a message and left minus right."""
    try:
        a, b = _explicit(left)[0], _explicit(right)[0]
    except (_Undecided, _Undefined):
        return trouble, None
    entries = [_residual(*pair) for pair in zip(a.flat(), b.flat(), strict=True)]
    scalar = a.shape == (1, 1)
    residual = entries[0] if scalar else ImmutableMatrix(*a.shape, entries)
    if trouble != "does not follow":
        return trouble, residual
    undecided = None
    for position, entry in enumerate(entries):
        if entry == 0:
            continue
        i, j = divmod(position, a.cols)
        where = "" if scalar else f" in row {i}, column {j}"
        difference = f"the sides differ{where} by\n  {_str(entry)}"
        found = _witness(a[i, j], b[i, j], conditions)
        if found is not None:
            return f"does not follow: {difference}\n{_at(*found)}", residual
        undecided = undecided or (
            f"could not be decided: no proof and no counterexample was found{where} for\n"
            f"  {_str(entry)} = 0"
        )
    return undecided or "could not be decided", residual


def _at(point: Mapping[Symbol, Any], left: Any, right: Any) -> str:
    values = [_rounded(box) for box in (left, right)]
    shown = f"{values[0]} against {values[1]}"
    if values[0] == values[1]:
        shown += ", not equal in further digits"
    if not point:
        return f"in numbers: {shown}"
    return f"for example at {_values(point)}: {shown}"


def _values(point: Mapping[Symbol, Any]) -> str:
    return ", ".join(f"{s} = {_str(v)}" for s, v in point.items())


def _rounded(box: Any) -> str:
    real, imag = (0.0 if 0 in part else float(part.mid) for part in (box.real, box.imag))
    if imag == 0:
        return f"{real:.6g}"
    return f"{real:.6g} {'-' if imag < 0 else '+'} {abs(imag):.6g}i"


# ---------------------------------------------------------------------------------------
# Derivations
# ---------------------------------------------------------------------------------------

_CLAIM = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_LINE = 60


@dataclass(frozen=True)
class _Step:
    expression: Any
    reason: str
    argued: bool


class Derivation:
    r"""A chain of equal expressions, each link with its reason.

    Derivations do not change: `step`, `argue` and `qed` return a longer one, so that a step
    that fails leaves nothing behind.

    Parameters
    ----------
    expr : Expr, Matrix or MatrixExpr
        Where the chain starts. Products of matrices may be unevaluated; objects of one's
        own are worked out by their method ``doit``. A 1 by 1 matrix counts as its entry.
    name : str, optional
        LaTeX for the left-hand side.
    assuming : tuple of Ne, optional
        What may be taken as different, e.g. ``Ne(x, 1)``. All other assumptions are those
        of the symbols, e.g. ``Symbol("x", positive=True)``.

    Raises
    ------
    TypeError
        For floats, strings and other things that are not exact expressions.
    ValueError
        For expressions that are not finite.

    Examples
    --------
    >>> from sympy import Symbol
    >>> x = Symbol("x")
    >>> Derivation((x + 1)**2, "f(x)").step(x**2 + 2*x + 1, "expand").qed("binomial-square")
    f(x)
      = (x + 1)**2
      = x**2 + 2*x + 1  [expand]
    ∎ binomial-square (symbolic)
    """

    def __init__(self, expr: Any, name: str | None = None, *, assuming: Any = ()) -> None:
        if name is not None and (not isinstance(name, str) or not name.strip()):
            raise TypeError(f"name must be LaTeX text or None, got {name!r}")
        conditions = _accept_conditions(assuming)
        start = _accept("expr", expr)
        _refuse_namesakes([start, *conditions])
        self.expr = start
        self.name = name
        self.assuming = conditions
        self._steps: tuple[_Step, ...] = ()
        self._claim: str | None = None

    def _with(self, step: _Step | None = None, claim: str | None = None) -> "Derivation":
        other = copy(self)
        other._steps += (step,) if step is not None else ()
        other._claim = claim
        return other

    @property
    def kind(self) -> Kind:
        """``"argued"`` if any step is, else ``"symbolic"``."""
        return "argued" if any(step.argued for step in self._steps) else "symbolic"

    @property
    def result(self) -> Any:
        """The last expression of the chain."""
        return self._steps[-1].expression if self._steps else self.expr

    def step(self, expr: Any, reason: str) -> "Derivation":
        """Add an equal expression.

        Parameters
        ----------
        expr : Expr, Matrix or MatrixExpr
            Must equal the expression before it wherever the assumptions hold.
        reason : str
            Why, for the reader; may hold mathematics between ``$`` signs.

        Returns
        -------
        Derivation
            Longer by one step.

        Raises
        ------
        DerivationError
            If the two are not equal, or if that cannot be decided.
        """
        right = self._next(expr, reason)
        trouble = _disagreement(self.result, right, self.assuming)
        if trouble is None and self._refuted(right):
            trouble = "does not follow"
        if trouble is not None:
            message, residual = _explain(self.result, right, trouble, self.assuming)
            raise self._error(message, right, reason, residual)
        return self._with(step=_Step(right, reason.strip(), argued=False))

    def argue(self, expr: Any, why: str, cases: Iterable[Mapping[Symbol, Any]]) -> "Derivation":
        """Add an expression whose equality is argued in words and checked in cases.

        Parameters
        ----------
        expr : Expr, Matrix or MatrixExpr
            The next expression.
        why : str
            The whole argument.
        cases : iterable of dict
            Values for symbols. With each, the two sides must be equal by the rules of `step`.

        Returns
        -------
        Derivation
            Longer by one step, and of the kind ``"argued"``.

        Raises
        ------
        DerivationError
            If a case fails, or cannot be decided.
        """
        right = self._next(expr, why)
        checked = [self._case(case, right) for case in _as_cases(cases)]
        if not checked:
            raise ValueError("cases must hold at least one substitution, got none")
        for case in checked:
            conditions = self._conditions_of(case)
            left, after = (_substitute(side, case) for side in (self.result, right))
            trouble = _disagreement(left, after, conditions)
            if trouble is not None:
                message, residual = _explain(left, after, trouble, conditions)
                raise self._error(
                    f"fails in the case {_values(case)}: it {message}", right, why, residual
                )
        return self._with(step=_Step(right, why.strip(), argued=True))

    def qed(self, claim: str) -> "Derivation":
        """Close the derivation as what settles a claim.

        Parameters
        ----------
        claim : str
            The id of the claim: words of small letters and digits, joined by hyphens.
        """
        if self._claim is not None:
            raise ValueError(f"the derivation is closed already, by qed({self._claim!r})")
        if not self._steps:
            raise ValueError("a derivation needs at least one step before qed")
        return self._with(claim=_accept_claim(claim))

    def _next(self, expr: Any, reason: Any) -> Any:
        if self._claim is not None:
            raise ValueError(f"no step can follow qed({self._claim!r})")
        if not isinstance(reason, str):
            raise TypeError(f"reason must be text, got {type(reason).__name__}")
        if not reason.strip():
            raise ValueError("reason must not be empty")
        if reason.count("$") % 2:
            raise ValueError(f"reason must have its $ signs in pairs, got {reason!r}")
        right = _accept("expr", expr)
        _refuse_namesakes([self.expr, *(s.expression for s in self._steps), right, *self.assuming])
        shapes = [getattr(side, "shape", (1, 1)) for side in (self.result, right)]
        if shapes[0] != shapes[1]:
            sizes = " and ".join(f"{m} by {n}" for m, n in shapes)
            raise self._error(f"does not follow: the sides are {sizes}", right, reason, None)
        return right

    def _refuted(self, right: Any) -> bool:
        """Evaluate a proved step at two points; a difference would be a fault of the proof."""
        sides = [_explicit(side)[0].flat() for side in (self.result, right)]
        for before, after in zip(*sides, strict=True):
            if before == after:
                continue
            symbols = before.free_symbols | after.free_symbols
            for point in islice(_points(symbols, self.assuming), 1, 3):
                # Twice, since the evaluation of a point on a branch cut is a matter of luck.
                if all(_differ_at(point, before, after, digits) for digits in (15, 40)):
                    return True
        return False

    def _case(self, case: Any, right: Any) -> dict[Symbol, Expr]:
        if not isinstance(case, Mapping) or not case:
            raise TypeError(f"cases must hold non-empty dicts of substitutions, got {case!r}")
        used = self.result.free_symbols | right.free_symbols
        out = {}
        for symbol, value in case.items():
            if not isinstance(symbol, Symbol) or symbol not in used:
                raise ValueError(f"cases must substitute symbols of the step, got {symbol!r}")
            number = _accept(f"the case of {symbol}", value)
            facts = symbol.assumptions0.items()
            if any(getattr(number, f"is_{fact}", None) is (not truth) for fact, truth in facts):
                raise ValueError(
                    f"cases must respect the assumptions on {symbol}, got {_str(number)}"
                )
            out[symbol] = number
        return out

    def _conditions_of(self, case: Mapping[Symbol, Any]) -> tuple[Any, ...]:
        try:
            return _accept_conditions(
                tuple(c.subs(list(case.items()), simultaneous=True) for c in self.assuming)
            )
        except ValueError:
            raise ValueError(f"cases must respect assuming, got {case}") from None

    def _error(self, message: str, right: Any, reason: str, residual: Any) -> DerivationError:
        index = len(self._steps) + 1
        return DerivationError(
            f'step {index} ("{reason.strip()}") {message}',
            residual=residual,
            reason=reason.strip(),
            index=index,
            left=self.result,
            right=right,
        )

    def __repr__(self) -> str:
        conditions = "".join(f", {_str(c)}" for c in self.assuming).removeprefix(", ")
        suffix = f"  where {conditions}" if conditions else ""
        if self.name is None:
            lines = [_str(self.expr) + suffix]
        else:
            lines = [self.name + suffix, f"  = {_str(self.expr)}"]
        for step in self._steps:
            mark = "≟" if step.argued else "="
            reason = ("argued: " if step.argued else "") + step.reason
            lines.append(f"  {mark} {_str(step.expression)}  [{reason}]")
        if self._claim is not None:
            lines.append(f"∎ {self._claim} ({self.kind})")
        return "\n".join(lines)

    def _repr_latex_(self) -> str:
        first = _latex(self.expr)
        rows = [f"{self.name} &= {first}" if self.name is not None else f"& {first}"]
        if self.assuming:
            conditions = ",\\ ".join(_latex(c) for c in self.assuming)
            rows.append(rf"&\quad {{\small \text{{where }} {conditions}}}")
        for step in self._steps:
            relation = r"\overset{\text{argued}}{=}" if step.argued else "="
            rows.append(f"&{relation} {_latex(step.expression)}")
            rows.extend(rf"&\quad {{\small {line}}}" for line in _reason_lines(step.reason))
        if self._claim is not None:
            rows[-1] += r" \quad \blacksquare"
        body = " \\\\\n".join(rows)
        return f"$$\\begin{{aligned}}\n{body}\n\\end{{aligned}}$$"


def _as_cases(cases: Any) -> list[Any]:
    if isinstance(cases, Mapping | str) or not isinstance(cases, Iterable):
        raise TypeError(f"cases must be an iterable of dicts, got {type(cases).__name__}")
    return list(cases)


def _substitute(value: Any, case: Mapping[Symbol, Any]) -> Any:
    if value.has(sympy.Derivative):
        value = value.replace(sympy.Derivative, lambda *args: sympy.diff(*args))
    return value.subs(list(case.items()), simultaneous=True)


def _differ_at(point: Mapping[Symbol, Any], left: Expr, right: Expr, digits: int) -> bool:
    """Compare by SymPy's own evaluation, which shares nothing with the proof."""
    try:
        a, b = (complex(e.evalf(digits, subs=point, strict=True)) for e in (left, right))
    except (PrecisionExhausted, ValueError, TypeError, NotImplementedError, ZeroDivisionError):
        return False
    return abs(a - b) > 1e-9 * (1 + abs(a) + abs(b))


def _accept_claim(claim: Any) -> str:
    if not isinstance(claim, str):
        raise TypeError(f"claim must be text, got {type(claim).__name__}")
    if not _CLAIM.fullmatch(claim):
        raise ValueError(f"claim must be words of a-z and 0-9 joined by hyphens, got {claim!r}")
    return claim


# ---------------------------------------------------------------------------------------
# Typesetting
# ---------------------------------------------------------------------------------------

_SPECIAL = {c: f"\\{c}" for c in "%#&_{}"}
_SPECIAL |= {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
# KaTeX knows these in formulas only.
_SPECIAL |= {"−": "$-$", "≤": r"$\le$", "≥": r"$\ge$", "≠": r"$\ne$", "→": r"$\to$"}
_SPECIAL |= {"π": r"$\pi$", "θ": r"$\theta$", "ω": r"$\omega$", "Δ": r"$\Delta$"}


class _PositiveFirst:
    """Printers that write b - a rather than -a + b."""

    def _as_ordered_terms(self, expr: Any, order: Any = None) -> list[Any]:
        terms = list(super()._as_ordered_terms(expr, order))  # type: ignore[misc]
        if not expr.free_symbols:
            return terms
        first = next((t for t in terms if not t.could_extract_minus_sign()), terms[0])
        terms.remove(first)
        return [first, *terms]


class _Str(_PositiveFirst, StrPrinter):  # type: ignore[misc]
    """SymPy's text in one line."""

    def _print_MatrixBase(self, expr: Any) -> str:  # noqa: N802
        rows = (", ".join(map(self._print, row)) for row in expr.tolist())
        return "Matrix([" + ", ".join(f"[{row}]" for row in rows) + "])"


class _Latex(_PositiveFirst, LatexPrinter):  # type: ignore[misc]
    """SymPy's LaTeX with an upright sign for the transpose."""

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


def _str(value: Any) -> str:
    return str(_Str().doprint(value))


def _latex(value: Any) -> str:
    # The matrices bring their own brackets.
    printer = _Latex({"mat_str": "bmatrix", "mat_delim": ""})
    return str(printer.doprint(value))


def _reason_lines(reason: str) -> list[str]:
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


# ---------------------------------------------------------------------------------------
# Evidence that is not a derivation
# ---------------------------------------------------------------------------------------

_MOST_SHOWN = 16


@dataclass(frozen=True, repr=False)
class Evidence:
    """What settles a claim other than a derivation; made by `evidence`.

    Attributes
    ----------
    claim : str
        The id of the claim.
    kind : str
        ``"numeric"``, ``"counterexample"``, ``"experiment"`` or ``"source"``.
    summary : str
        What was found, in one line that is the same on every machine.
    """

    claim: str
    kind: Kind
    summary: str

    def __repr__(self) -> str:
        return f"∎ {self.claim} ({self.kind}): {self.summary}"

    def _repr_markdown_(self) -> str:
        summary = re.sub(r"([\\*_<\[\]])", r"\\\1", self.summary)
        return f"∎ `{self.claim}` (*{self.kind}*): {summary}"


def evidence(
    claim: str,
    *,
    error: Any = None,
    tolerance: float | None = None,
    claimed: Any = None,
    actual: Any = None,
    digits: int | None = None,
    holds: Any = None,
    observed: Any = None,
    source: str | None = None,
    detail: str | None = None,
) -> Evidence:
    """Return evidence for a claim, or raise if it does not hold.

    Exactly one group of arguments is given, and it decides the kind.

    Parameters
    ----------
    claim : str
        The id of the claim.
    error, tolerance : number, array or dict of these; float
        Numeric: no error may exceed the tolerance in size. The tolerance is shown, not the
        errors, which differ between machines.
    claimed, actual, digits : number, array or SymPy constant; int, optional
        Counterexample: what a false claim gives and what is the case. Somewhere they must
        differ by more than ``1e-6 * max(1, |claimed|, |actual|)``, and visibly so when
        rounded to `digits` significant digits (6 if not given).
    holds : bool or array of bool
        Numeric: every one must be true.
    observed : bool or array of bool
        Experiment: every one must be true.
    source : str
        Source: where it is stated.
    detail : str, optional
        What was compared with what, in a few words; for every kind.

    Returns
    -------
    Evidence
        Shows the claim, the kind and what was found.

    Raises
    ------
    EvidenceError
        If the evidence does not hold.
    TypeError
        If the arguments are not exactly one of the groups, or of the wrong type.
    ValueError
        If an argument is empty, not finite or out of range.

    Examples
    --------
    >>> evidence("length-kept", error=[0.0, -3e-17], tolerance=1e-15, detail="1000 vectors")
    ∎ length-kept (numeric): every error <= 1e-15; 1000 vectors
    """
    _accept_claim(claim)
    given = {
        "error": error,
        "tolerance": tolerance,
        "claimed": claimed,
        "actual": actual,
        "digits": digits,
        "holds": holds,
        "observed": observed,
        "source": source,
    }
    names = {name for name, value in given.items() if value is not None}
    if detail is not None and (not isinstance(detail, str) or not detail.strip()):
        raise TypeError(f"detail must be text or None, got {detail!r}")
    kind: Kind
    if names == {"error", "tolerance"}:
        kind, summary = "numeric", _within(claim, error, tolerance)
    elif names in ({"claimed", "actual"}, {"claimed", "actual", "digits"}):
        kind, summary = "counterexample", _differ(claim, claimed, actual, digits)
    elif names == {"holds"}:
        kind, summary = "numeric", _all_true(claim, "holds", holds)
    elif names == {"observed"}:
        kind, summary = "experiment", _all_true(claim, "observed", observed)
    elif names == {"source"}:
        if not isinstance(source, str) or not source.strip():
            raise TypeError(f"source must be text, got {source!r}")
        kind, summary = "source", source.strip()
    else:
        raise TypeError(
            "evidence needs exactly one of: error and tolerance; claimed and actual; holds; "
            f"observed; source. Got {', '.join(sorted(names)) or 'none'}"
        )
    if detail is not None:
        summary += f"; {detail.strip()}"
    return Evidence(claim, kind, summary)


def _within(claim: str, error: Any, tolerance: Any) -> str:
    if isinstance(tolerance, bool) or not isinstance(tolerance, float | int | np.floating):
        raise TypeError(f"tolerance must be a number, got {tolerance!r}")
    if not 0 < tolerance < float("inf"):
        raise ValueError(f"tolerance must be positive and finite, got {tolerance}")
    parts = dict(error) if isinstance(error, Mapping) else {None: error}
    if not parts:
        raise ValueError("error must not be empty, got {}")
    for label, part in parts.items():
        name = "error" if label is None else f"error[{label!r}]"
        array = _numbers(name, part)
        if not np.isfinite(array).all():
            raise EvidenceError(f"{claim}: {name} is not finite everywhere")
        worst = float(np.abs(array).max())
        if worst > tolerance:
            raise EvidenceError(
                f"{claim}: {name} is up to {worst:.3g}, more than {float(tolerance)!r}"
            )
    return f"every error <= {float(tolerance)!r}"


def _numbers(name: str, value: Any) -> np.ndarray[Any, Any]:
    array = np.asarray(value)
    if array.dtype.name == "bfloat16":
        array = array.astype(np.float32)
    if array.dtype.kind not in "iufc":
        raise TypeError(f"{name} must hold numbers, got dtype {array.dtype}")
    if array.size == 0:
        raise ValueError(f"{name} must not be empty")
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def _differ(claim: str, claimed: Any, actual: Any, digits: int | None) -> str:
    digits = 6 if digits is None else digits
    if isinstance(digits, bool) or not isinstance(digits, int):
        raise TypeError(f"digits must be a whole number, got {digits!r}")
    if not 1 <= digits <= 15:
        raise ValueError(f"digits must be from 1 to 15, got {digits}")
    sides = []
    for name, value in (("claimed", claimed), ("actual", actual)):
        array = _numbers(name, _numeric(name, value))
        if array.size > _MOST_SHOWN:
            raise ValueError(f"{name} must hold at most {_MOST_SHOWN} numbers, got {array.size}")
        if not np.isfinite(array).all():
            raise EvidenceError(f"{claim}: {name} is not finite everywhere")
        sides.append(array)
    a, b = sides
    if a.shape != b.shape:
        raise ValueError(f"claimed and actual must have one shape, got {a.shape} and {b.shape}")
    size = np.maximum(1.0, np.maximum(np.abs(a), np.abs(b)))
    shown = [_list(side, digits) for side in sides]
    if not (np.abs(a - b) > 1e-6 * size).any() or shown[0] == shown[1]:
        raise EvidenceError(f"{claim}: claimed {shown[0]} and actual {shown[1]} do not differ")
    return f"claimed {shown[0]}, in fact {shown[1]}"


def _numeric(name: str, value: Any) -> Any:
    """Return SymPy constants as Python numbers, and everything else as it is."""
    if isinstance(value, MatrixBase):
        return [[_numeric(name, e) for e in row] for row in value.tolist()]
    if isinstance(value, list | tuple):
        return [_numeric(name, e) for e in value]
    if isinstance(value, Basic):
        number = sympy.N(value, 20)
        if not isinstance(value, Expr) or number.free_symbols or not number.is_number:
            raise TypeError(f"{name} must be a constant, got {_str(value)}")
        result = complex(number)
        return result.real if result.imag == 0 else result
    return value


def _list(array: np.ndarray[Any, Any], digits: int) -> str:
    if array.ndim:
        return "[" + ", ".join(_list(part, digits) for part in array) + "]"
    number = complex(array)
    real = _number(number.real, digits)
    if array.dtype.kind != "c":
        return real
    sign = "-" if number.imag < 0 else "+"
    return f"{real} {sign} {_number(abs(number.imag), digits)}i"


def _number(number: float, digits: int) -> str:
    return f"{number + 0.0:.{digits}g}"


def _all_true(claim: str, name: str, value: Any) -> str:
    array = np.asarray(value)
    if array.dtype != np.bool_:
        raise TypeError(f"{name} must hold booleans, got dtype {array.dtype}")
    if array.size == 0:
        raise ValueError(f"{name} must not be empty")
    if not array.all():
        wrong = int(array.size - array.sum())
        raise EvidenceError(f"{claim}: {wrong} of {array.size} do not hold")
    verb = "holds" if name == "holds" else "observed"
    if array.size == 1:
        return verb
    return f"{verb} in all {array.size} cases"
