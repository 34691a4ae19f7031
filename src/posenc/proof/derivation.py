"""Chains of equal expressions.

Each link is proved when it is added, so that a chain that exists is a proof.
"""

from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import dataclass
from typing import Any

from sympy import Expr, Symbol

from posenc.proof.acceptance import accept, accept_conditions, refuse_namesakes
from posenc.proof.claims import Kind, accept_claim, settled
from posenc.proof.comparison import disagreement
from posenc.proof.counterexamples import explain, refuted, substitute, values_of
from posenc.proof.typeset import latex, reason_lines, text


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
        conditions = accept_conditions(assuming)
        start = accept("expr", expr)
        refuse_namesakes([start, *conditions])
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
        trouble = disagreement(self.result, right, self.assuming)
        if trouble is None and refuted(self.result, right, self.assuming):
            trouble = "does not follow"
        if trouble is not None:
            message, residual = explain(self.result, right, trouble, self.assuming)
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
            left, after = (substitute(side, case) for side in (self.result, right))
            trouble = disagreement(left, after, conditions)
            if trouble is not None:
                message, residual = explain(left, after, trouble, conditions)
                raise self._error(
                    f"fails in the case {values_of(case)}: it {message}", right, why, residual
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
        return self._with(claim=accept_claim(claim))

    def _next(self, expr: Any, reason: Any) -> Any:
        if self._claim is not None:
            raise ValueError(f"no step can follow qed({self._claim!r})")
        if not isinstance(reason, str):
            raise TypeError(f"reason must be text, got {type(reason).__name__}")
        if not reason.strip():
            raise ValueError("reason must not be empty")
        if reason.count("$") % 2:
            raise ValueError(f"reason must have its $ signs in pairs, got {reason!r}")
        right = accept("expr", expr)
        refuse_namesakes([self.expr, *(s.expression for s in self._steps), right, *self.assuming])
        shapes = [getattr(side, "shape", (1, 1)) for side in (self.result, right)]
        if shapes[0] != shapes[1]:
            sizes = " and ".join(f"{m} by {n}" for m, n in shapes)
            raise self._error(f"does not follow: the sides are {sizes}", right, reason, None)
        return right

    def _case(self, case: Any, right: Any) -> dict[Symbol, Expr]:
        if not isinstance(case, Mapping) or not case:
            raise TypeError(f"cases must hold non-empty dicts of substitutions, got {case!r}")
        used = self.result.free_symbols | right.free_symbols
        out = {}
        for symbol, value in case.items():
            if not isinstance(symbol, Symbol) or symbol not in used:
                raise ValueError(f"cases must substitute symbols of the step, got {symbol!r}")
            number = accept(f"the case of {symbol}", value)
            facts = symbol.assumptions0.items()
            if any(getattr(number, f"is_{fact}", None) is (not truth) for fact, truth in facts):
                raise ValueError(
                    f"cases must respect the assumptions on {symbol}, got {text(number)}"
                )
            out[symbol] = number
        return out

    def _conditions_of(self, case: Mapping[Symbol, Any]) -> tuple[Any, ...]:
        try:
            return accept_conditions(
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
        conditions = "".join(f", {text(c)}" for c in self.assuming).removeprefix(", ")
        suffix = f"  where {conditions}" if conditions else ""
        if self.name is None:
            lines = [text(self.expr) + suffix]
        else:
            lines = [self.name + suffix, f"  = {text(self.expr)}"]
        for step in self._steps:
            mark = "≟" if step.argued else "="
            reason = ("argued: " if step.argued else "") + step.reason
            lines.append(f"  {mark} {text(step.expression)}  [{reason}]")
        if self._claim is not None:
            lines.append(settled(self._claim, self.kind))
        return "\n".join(lines)

    def _repr_latex_(self) -> str:
        first = latex(self.expr)
        rows = [f"{self.name} &= {first}" if self.name is not None else f"& {first}"]
        if self.assuming:
            conditions = ",\\ ".join(latex(c) for c in self.assuming)
            rows.append(rf"&\quad {{\small \text{{where }} {conditions}}}")
        for step in self._steps:
            relation = r"\overset{\text{argued}}{=}" if step.argued else "="
            rows.append(f"&{relation} {latex(step.expression)}")
            rows.extend(rf"&\quad {{\small {line}}}" for line in reason_lines(step.reason))
        if self._claim is not None:
            rows[-1] += r" \quad \blacksquare"
        body = " \\\\\n".join(rows)
        return f"$$\\begin{{aligned}}\n{body}\n\\end{{aligned}}$$"


def _as_cases(cases: Any) -> list[Any]:
    if isinstance(cases, Mapping | str) or not isinstance(cases, Iterable):
        raise TypeError(f"cases must be an iterable of dicts, got {type(cases).__name__}")
    return list(cases)
