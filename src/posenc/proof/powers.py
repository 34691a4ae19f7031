"""Laws of exponentials, logarithms, powers and roots.

They hold for principal values only under conditions, and each is used only where it holds.
"""

from abc import ABC, abstractmethod

import sympy
from sympy import QQ, Expr, Integer, Pow, Rational, Symbol, exp, log, pi

from posenc.proof.kernels import Kernel
from posenc.proof.signs import Signs
from posenc.proof.undecided import Undecided, Undefined


class Powers(Signs, ABC):
    """Exponentials, logarithms, powers, roots and conjugates in kernels."""

    def __init__(self, scales: dict[Expr, int]) -> None:
        super().__init__(scales)
        self.conjugates: dict[Symbol, Expr] = {}
        self.poles: dict[Expr, Expr] = {}

    @abstractmethod
    def rational(self, e: Expr) -> Expr:
        """Return `e` as a rational expression of kernels; its poles go to `self.poles`."""

    @abstractmethod
    def linear_sum(self, term: Expr, index: Symbol, length: Expr) -> Expr:
        """Return the sum of `term` over index = 0 .. length, by linearity."""

    def is_real(self, expression: Expr) -> bool:
        """Return whether `expression` in kernels is proved to be real."""
        if self.known(expression, "real"):
            return True
        return self.is_zero(self.conjugate(expression) - expression)

    def note_pole(self, expression: Expr, origin: Expr) -> None:
        """Note that the side is undefined where `expression` vanishes."""
        f = self.fraction(expression)
        if not f.numer:
            raise Undefined
        for g, _ in self.factors(f.numer)[1]:
            kernel = self.kernels.get(g)
            if kernel is not None and kernel.kind == "root":
                self.note_pole(kernel.data[0], self.value(kernel.data[0]))
            elif kernel is None or not (kernel.nonzero or abs(kernel.sign) == 2):
                self.poles[g] = origin

    def exp_of(self, u: Expr) -> Expr:
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
            scale = self.scale(self.value(m), c)
            constant = angle == 1
            symbol = self.kernel(
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
            return kernel.data**c if c.is_Integer else self.root_of(kernel.data, c)
        scale = self.scale(self.value(m), c)
        real = self.known(m, "real")
        symbol = self.kernel(
            ("exp", m),
            "exp",
            exp(self.value(m) / scale),
            data=(m, scale),
            constant=self.known(m, "constant"),
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
        c, above = self.factors(f.numer)
        d, below = self.factors(f.denom)
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

    def log_of(self, u: Expr, origin: Expr) -> Expr:
        """Return the principal logarithm of u, which was written as `origin`."""
        self.note_pole(u, origin)
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
            return self.log_of(base, self.value(base)) / n
        return self._log_kernel(self.canonical(g), real=True)

    def _log_kernel(self, base: Expr, *, real: bool) -> Symbol:
        return self.kernel(
            ("log", base),
            "log",
            log(self.value(base)),
            data=base,
            constant=self.known(base, "constant"),
            real=real,
            nonzero=base.is_Integer,
            sign=2 if base.is_Integer else 0,
        )

    def power_of(self, base: Expr, exponent: Expr) -> Expr:
        """Return the principal value of a power of SymPy expressions."""
        b = self.rational(base)
        if exponent.is_Rational:
            if exponent.is_negative:
                self.note_pole(b, base)
            return b**exponent if exponent.is_Integer else self.root_of(b, exponent)
        e = self.rational(exponent)
        if not self.fraction(b).numer:
            raise Undecided("zero has a symbolic exponent")
        if exponent.is_integer:
            return self.exp_of(e * self._any_log(b, base))
        # The definition of a power, with the principal logarithm.
        return self.exp_of(e * self.log_of(b, base))

    def _any_log(self, u: Expr, origin: Expr) -> Expr:
        """Return a logarithm of u, not always the principal one: all serve for whole powers."""
        self.note_pole(u, origin)
        f = self.fraction(u)
        c, above = self.factors(f.numer)
        d, below = self.factors(f.denom)
        result = self.i * self.rational(pi) if c / d < 0 else Integer(0)
        for prime, power in _prime_powers(abs(c / d)):
            result += power * self._log_kernel(prime, real=True)
        for g, power in above + [(g, -power) for g, power in below]:
            kernel = self.kernels.get(g)
            if kernel is not None and kernel.kind == "exp":
                m, scale = kernel.data
                result += power * m / scale
            else:
                result += power * self.log_of(g, self.value(g))
        return result

    def root_of(self, u: Expr, s: Rational, *, nonnegative: bool = False) -> Expr:
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
            return result * self.exp_of(self.i * self.rational(pi) * s)
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
            return self.root_of(base, s / n)
        return self._root_kernel(self.canonical(g), s, sign=max(self.sign(g), 1))

    def _root_kernel(self, base: Expr, s: Rational, *, sign: int) -> Expr:
        if s.is_Integer:
            return base**s
        n = self.scale(self.value(base), s)
        symbol = self.kernel(
            ("root", base),
            "root",
            Pow(self.value(base), Rational(1, n)),
            data=(base, n),
            relation=(n, base),
            constant=self.known(base, "constant"),
            algebraic=self.known(base, "algebraic"),
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

    def _conjugate_kernel(self, symbol: Symbol, kernel: Kernel) -> Expr:
        if kernel.real:
            return symbol
        if kernel.kind == "i" or (kernel.kind == "atom" and kernel.value.is_imaginary):
            return -symbol
        if kernel.kind == "unit":
            return 1 / symbol
        if kernel.kind == "exp":
            m, scale = kernel.data
            return self.exp_of(self.conjugate(m) / scale)
        if kernel.kind == "sum":
            term, index, length = kernel.data
            return self.linear_sum(self.conjugate(term), index, self.conjugate(length))
        relation = kernel.relation
        if relation is not None:
            relation = (relation[0], self.conjugate(relation[1]))
        return self.kernel(
            ("conjugate", symbol),
            "conjugate",
            sympy.conjugate(kernel.value),
            data=symbol,
            relation=relation,
            constant=kernel.constant,
            algebraic=kernel.algebraic,
            nonzero=kernel.nonzero,
        )


def _prime_powers(c: Rational) -> list[tuple[Integer, int]]:
    """Return the primes of a positive rational number with their powers."""
    above = [(Integer(p), n) for p, n in sympy.factorint(c.p).items()]
    below = [(Integer(p), -n) for p, n in sympy.factorint(c.q).items()]
    return [(p, n) for p, n in above + below if p != 1]
