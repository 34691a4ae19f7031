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

from posenc.proof.derivation import Derivation, DerivationError
from posenc.proof.evidence import Evidence, EvidenceError, evidence

__all__ = ["Derivation", "DerivationError", "Evidence", "EvidenceError", "evidence"]
