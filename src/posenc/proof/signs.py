"""Decisions about zeros and signs.

Each is proved or left open; algebraic numbers are compared by a root bound, not by digits alone.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import reduce as fold
from math import lcm
from typing import Any

import numpy as np
import sympy
from sympy import Expr, Mul, Symbol
from sympy.core.function import AppliedUndef

from posenc.proof.enclosures import Enclosures, below, contains_zero
from posenc.proof.kernels import Kernel
from posenc.proof.undecided import Undecided

_MOST_BITS = 20_000


class Signs(Enclosures):
    """Whether expressions in kernels are zero, vanish somewhere, or keep one sign."""

    def __init__(self, scales: dict[Expr, int]) -> None:
        super().__init__(scales)
        self.assumed: set[Expr] = set()
        self.signs: dict[Expr, int] = {}

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
        return {*poles, *(g for g, _ in self.factors(numer)[1])}

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
            raise Undecided("an algebraic number of too high a degree must be compared")
        for box in self.boxes(expression, 2 * bits + 128):
            if not contains_zero(box):
                return False
            if below(box, bits):
                return True
        raise Undecided("an algebraic number could not be enclosed")

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

    def _house_of_kernel(self, kernel: Kernel) -> tuple[int, int]:
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
                return self.all_nonzero(kernel.data[0])
        if self.known(g, "algebraic"):
            return not self._number_is_zero(g)
        if self.known(g, "constant"):
            return any(not contains_zero(box) for box in self.boxes(g, 2048))
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
                return self.all_nonzero(norm)
        return False

    def all_nonzero(self, expression: Expr) -> bool:
        """Return whether every factor of the numerator is proved to vanish nowhere."""
        f = self.fraction(expression)
        return bool(f.numer) and all(self.nonzero(g) for g, _ in self.factors(f.numer)[1])

    def sign(self, expression: Expr) -> int:
        """Return 2, 1, -1, -2 for > 0, >= 0, <= 0, < 0 where proved, else 0."""
        if expression not in self.signs:
            self.signs[expression] = self._sign(expression)
        return self.signs[expression]

    def _sign(self, expression: Expr) -> int:
        f = self.fraction(expression)
        if not f.numer:
            return 0
        if self.known(f.as_expr(), "constant"):
            if not self.known(f.as_expr(), "real"):
                return 0
            for box in self.boxes(f.as_expr(), 512):
                if not contains_zero(box):
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


def _product_of_signs(signs: list[int]) -> int:
    product = 2
    for sign in signs:
        if sign == 0:
            return 0
        size = min(abs(product), abs(sign))
        product = size if (product > 0) == (sign > 0) else -size
    return product
