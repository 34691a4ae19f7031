"""Kernels, and expressions as fractions of polynomials in them.

Two such fractions are equal only if their difference reduces to zero, so that can be decided.
"""

from dataclasses import dataclass
from functools import reduce as fold
from math import lcm
from typing import Any

from sympy import QQ, Add, Expr, I, Integer, Pow, Rational, Symbol
from sympy.polys.fields import field

from posenc.proof.undecided import Rescale, Undefined


@dataclass(frozen=True)
class Kernel:
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


class Kernels:
    """Expressions as fractions of polynomials in kernels.

    Parameters
    ----------
    scales : dict
        For an exponent or a base, the common denominator of the exponents in use.
    """

    def __init__(self, scales: dict[Expr, int]) -> None:
        self.scales = scales
        self.kernels: dict[Symbol, Kernel] = {}
        self.symbols: dict[Any, Symbol] = {}
        self.fractions: dict[Expr, Any] = {}
        self.i = self.kernel(
            "i", "i", I, relation=(2, Integer(-1)), constant=True, algebraic=True, nonzero=True
        )

    def kernel(self, key: Any, kind: str, value: Expr, **facts: Any) -> Symbol:
        """Return the symbol of the kernel with this key, made if it is new."""
        symbol = self.symbols.get(key)
        if symbol is None:
            index = len(self.kernels)
            symbol = Symbol(f"_k{index}")
            self.symbols[key] = symbol
            self.kernels[symbol] = Kernel(kind, value, index, **facts)
        return symbol

    def value(self, expression: Expr) -> Expr:
        """Return what `expression` in kernels stands for."""
        return expression.xreplace({s: k.value for s, k in self.kernels.items()})

    def scale(self, key: Expr, exponent: Rational) -> int:
        """Return the common denominator for `key`; start again if `exponent` needs a finer one."""
        scale = self.scales.get(key, 1)
        if scale % exponent.q:
            raise Rescale(key, lcm(scale, int(exponent.q)))
        return scale

    def _kernels_in(self, expression: Expr) -> list[Kernel]:
        return [self.kernels[s] for s in expression.free_symbols]

    def known(self, expression: Expr, fact: str) -> bool:
        """Return whether `fact` is known of every kernel in `expression`."""
        return all(getattr(k, fact) for k in self._kernels_in(expression))

    def fraction(self, expression: Expr) -> Any:
        """Return `expression` in kernels as a reduced fraction of polynomials."""
        known = self.fractions.get(expression)
        if known is None:
            K = self._field(expression)
            numer, denom = _over_one_denominator(expression, K.ring, {})
            if not denom:
                raise Undefined
            known = self._reduce(K.new(numer, denom))
            self.fractions[expression] = known
        return known

    def canonical(self, expression: Expr) -> Expr:
        """Return the one form of all equal expressions in the same kernels."""
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
                        raise Undefined
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

    def factors(self, p: Any) -> tuple[Rational, list[tuple[Expr, int]]]:
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
