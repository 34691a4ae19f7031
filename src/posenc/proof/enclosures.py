"""Interval arithmetic for constants.

Rounding errors cannot deceive it: a number outside a box differs from the constant for sure.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any

from mpmath.ctx_iv import MPIntervalContext  # type: ignore[import-untyped]
from sympy import Expr, Symbol

from posenc.proof.kernels import Kernel, Kernels
from posenc.proof.undecided import Undecided


class Enclosures(Kernels):
    """Boxes of the complex plane that hold the constants among the expressions."""

    def __init__(self, scales: dict[Expr, int]) -> None:
        super().__init__(scales)
        self.cache: dict[tuple[Symbol, int], Any] = {}

    def boxes(self, expression: Expr, bits: int) -> Iterator[Any]:
        """Yield ever smaller boxes of the complex plane that hold a constant."""
        precision = 64
        while True:
            context = _intervals(precision)
            try:
                yield self._box(expression, context)
            except Undecided:
                return
            except ZeroDivisionError:  # a smaller box is needed
                pass
            if precision >= bits:
                return
            precision = min(2 * precision, max(bits, 64))

    def _box(self, expression: Expr, context: Any) -> Any:
        f = self.fraction(expression)
        numer, denom = self._box_of(f.numer, context), self._box_of(f.denom, context)
        if contains_zero(denom):
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

    def _enclose(self, kernel: Kernel, context: Any) -> Any:
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
        raise Undecided("a constant has no enclosure")

    def _box_of_log(self, base: Expr, context: Any) -> Any:
        box = self._box(base, context)
        if contains_zero(box):
            raise ZeroDivisionError
        if self.known(base, "real"):
            if box.real.a > 0:
                return context.mpc(context.log(box.real), context.mpf(0))
            return context.mpc(context.log(-box.real), +context.pi)
        if box.real.a <= 0 and box.imag.a <= 0 <= box.imag.b:  # across the branch cut
            raise ZeroDivisionError
        return context.log(box)


@cache
def _intervals(precision: int) -> Any:
    """Return interval arithmetic with `precision` bits."""
    context = MPIntervalContext()
    context.prec = precision
    return context


def contains_zero(box: Any) -> bool:
    """Return whether zero is in `box`."""
    return bool(box.real.a <= 0 <= box.real.b and box.imag.a <= 0 <= box.imag.b)


def below(box: Any, bits: int) -> bool:
    """Return whether every number in `box` is smaller than 2**-bits in size."""
    bound = box.ctx.ldexp(box.ctx.mpf(1), -bits - 1)
    sides = (box.real.a, box.real.b, box.imag.a, box.imag.b)
    return all(-bound.a < side < bound.a for side in sides)
