"""What a diagnosis says."""

from dataclasses import asdict, dataclass, field
from typing import Any

from posenc._checks import Layout


@dataclass(frozen=True)
class Evidence:
    """An input that shows a finding, to be tried again.

    Attributes
    ----------
    x : tuple of float
        One vector; repeated for each position.
    positions : tuple of int
    got, wanted : str
        What came out, and what a rotation would have given.
    """

    x: tuple[float, ...]
    positions: tuple[int, ...]
    got: str
    wanted: str

    def __str__(self) -> str:
        """Return the input and both outcomes in one line."""
        places = ", ".join(str(p) for p in self.positions)
        noun = "position" if len(self.positions) == 1 else "positions"
        return f"x = {_vector(self.x)}, {noun} {places}: got {self.got}; wanted {self.wanted}"


@dataclass(frozen=True)
class Finding:
    """One thing a diagnosis found.

    Attributes
    ----------
    name : str
        Short name, a key of `FAULTS` or `NOTES` of :mod:`posenc.diagnose`.
    fault : bool
        Whether it makes the report fail; otherwise it is worth knowing.
    message, remedy : str
    evidence : Evidence or None
        The first input that shows it.
    """

    name: str
    fault: bool
    message: str
    remedy: str = ""
    evidence: Evidence | None = None

    def __str__(self) -> str:
        """Return the finding as a few lines."""
        lines = [f"{'FAULT' if self.fault else 'note'} {self.name}: {self.message}"]
        if self.evidence is not None:
            lines.append(f"  seen with {self.evidence}")
        if self.remedy:
            lines.append(f"  {'remedy' if self.fault else 'hint'}: {self.remedy}")
        return "\n".join(lines)


@dataclass(frozen=True)
class Report:
    """What a function that rotates turned out to do; None means it could not be told.

    Attributes
    ----------
    head_dim : int
    layout : {"interleaved", "half-split"} or None
        Which components make a pair; also None if one pair alone leaves it open.
    output_layout : {"interleaved", "half-split"} or None
        Where the pairs stand in the result.
    direction : {"counter-clockwise", "clockwise"} or None
        How a pair turns as the position grows.
    rotary_width : int or None
        Components that turn.
    first_component : int or None
        Where the rotated components start.
    base : float or None
        Of the geometric series, if the frequencies are one.
    denominator : {"rotary width", "head width", "half minus one"} or None
        What divides the exponents: the frequency of pair r is base ** (-2r /
        rotary width), base ** (-2r / head_dim), or base ** (-r / (pairs - 1)).
    frequencies : tuple of float
        Radians per position, pair by pair, as measured.
    factor : float or None
        By which all frequencies are divided (position interpolation).
    origin : int or None
        Angles are (position + origin) times frequency.
    attention_factor : float or None
        By which the rotated components are scaled at every position.
    angle_precision : str or None
        "float64", "float32", "float32 or better", or "bfloat16" or "float16" with
        what is rounded: "frequencies", "positions" or "angles".
    relative : bool or None
        Whether scores depend on differences of positions only.
    norms_kept : bool or None
        Whether each vector keeps its length.
    mixes_layouts : bool
        Whether angles are laid out for one layout and components for the other.
    findings : tuple of Finding
    """

    head_dim: int
    layout: Layout | None = None
    output_layout: Layout | None = None
    direction: str | None = None
    rotary_width: int | None = None
    first_component: int | None = None
    base: float | None = None
    denominator: str | None = None
    frequencies: tuple[float, ...] = ()
    factor: float | None = None
    origin: int | None = None
    attention_factor: float | None = None
    angle_precision: str | None = None
    relative: bool | None = None
    norms_kept: bool | None = None
    mixes_layouts: bool = False
    findings: tuple[Finding, ...] = field(default=())

    @property
    def faults(self) -> tuple[Finding, ...]:
        """The findings that are faults."""
        return tuple(finding for finding in self.findings if finding.fault)

    @property
    def ok(self) -> bool:
        """Whether no fault was found."""
        return not self.faults

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain values, ready for JSON."""
        return {**asdict(self), "ok": self.ok}

    def _layout(self, layout: Layout | None) -> str | None:
        either = any(finding.name == "one-pair" for finding in self.findings)
        return "either, with one pair" if layout is None and either else layout

    def __str__(self) -> str:
        """Return the report as a table, followed by the findings."""
        rows: list[tuple[str, object]] = [
            ("layout", self._layout(self.layout)),
            ("output layout", self._layout(self.output_layout)),
            ("direction", self.direction),
            ("rotary width", _of(self.rotary_width, self.head_dim)),
            ("first component", self.first_component),
            ("base", None if self.base is None else f"{self.base:.9g}"),
            ("denominator", self.denominator),
            ("frequencies", _series(self.frequencies)),
            ("divided by", None if self.factor is None else f"{self.factor:.9g}"),
            ("position origin", self.origin),
            ("attention factor", _number(self.attention_factor)),
            ("angle precision", self.angle_precision),
            ("scores relative", _yes(self.relative)),
            ("norms kept", _yes(self.norms_kept)),
            ("mixes layouts", _yes(self.mixes_layouts)),
        ]
        lines = [f"{name:<17}{'unknown' if value is None else value}" for name, value in rows]
        lines += [str(finding) for finding in self.findings]
        count = len(self.faults)
        lines.append("no fault found" if not count else f"{count} fault{'s' * (count > 1)} found")
        return "\n".join(lines)


def _vector(x: tuple[float, ...]) -> str:
    """Return a unit vector as e3, and a long vector in short."""
    nonzero = [i for i, value in enumerate(x) if value]
    if len(nonzero) == 1 and x[nonzero[0]] == 1:
        return f"e{nonzero[0]} (1 in component {nonzero[0]}, else 0)"
    shown = ", ".join(f"{value:.6g}" for value in x[:4])
    return f"({shown}, ... {len(x)} components)" if len(x) > 4 else f"({shown})"


def _number(value: float | None) -> str | None:
    return None if value is None else f"{value:.7g}"


def _of(width: int | None, head_dim: int) -> str | None:
    return None if width is None else f"{width} of {head_dim}"


def _series(values: tuple[float, ...]) -> str | None:
    if not values:
        return None
    shown = [f"{value:.6g}" for value in values]
    return ", ".join(shown if len(shown) <= 5 else [*shown[:3], "...", shown[-1]])


def _yes(value: bool | None) -> str | None:
    return None if value is None else "yes" if value else "no"
