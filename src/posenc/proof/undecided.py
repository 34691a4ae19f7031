"""What stops a comparison before it has an answer.

A comparison never guesses: these exceptions carry the reason up to whoever reports it.
"""

from sympy import Expr


class Undecided(Exception):  # noqa: N818
    """The question is beyond the rules of this module."""


class Undefined(Exception):  # noqa: N818
    """An expression has no value anywhere."""


class Rescale(Exception):  # noqa: N818
    """An exponent needs a finer unit; the comparison starts again with it."""

    def __init__(self, key: Expr, scale: int) -> None:
        super().__init__(key, scale)
        self.key = key
        self.scale = scale
