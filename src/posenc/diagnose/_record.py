"""What an examination has found out so far, and how it is written down."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posenc._checks import Layout
from posenc.diagnose._catalog import FAULTS, NOTES
from posenc.diagnose._planes import Planes
from posenc.diagnose._report import Evidence, Finding

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Stated:
    """What the caller knows about the function."""

    layout: Layout | None = None
    direction: str | None = None
    base: float | None = None
    rotary_width: int | None = None
    frequencies: Array | None = None


@dataclass
class Record:
    """Facts and findings about one function.

    `matrices` holds the linear map at each position; `noise` is how far its
    entries may be off; `facts` become attributes of the report.
    """

    head_dim: int
    stated: Stated
    noise: float
    matrices: dict[int, Array] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)

    def fault(self, name: str, message: str, evidence: Evidence | None) -> None:
        """Write down a fault, once for each name."""
        if not self.has(name):
            self.findings.append(Finding(name, True, message, FAULTS[name], evidence))

    def note(self, name: str, message: str) -> None:
        """Write down what is no fault."""
        self.findings.append(Finding(name, False, message, NOTES[name]))

    def has(self, name: str) -> bool:
        """Tell whether the finding is written down."""
        return any(finding.name == name for finding in self.findings)

    def seen(self, k: int, place: int, got: str, wanted: str) -> Evidence:
        """Return evidence about the unit vector of component k."""
        return Evidence(tuple(np.eye(self.head_dim)[k].tolist()), (place,), got, wanted)

    def turn(self, planes: Planes, r: int, place: int, angle: float) -> Evidence:
        """Return what the first component of pair r became, beside a turn by `angle`."""
        got = planes.blocks[list(self.matrices).index(place), r, :, 0]
        wanted = f"({np.cos(angle):.9g}, {np.sin(angle):.9g})"
        return self.seen(
            int(planes.first[r]), place, f"({got[0]:.9g}, {got[1]:.9g}) in pair {r}", wanted
        )

    def norm(self, k: int) -> Evidence | None:
        """Return the first position at which the unit vector changes its length."""
        for place, matrix in self.matrices.items():
            length = float(np.linalg.norm(matrix[:, k]))
            if abs(length - 1) > 4 * self.noise:
                return self.seen(k, place, f"length {length:.9g}", "length 1")
        return None

    def score(self, i: int, j: int) -> Evidence | None:
        """Return positions that change the score of a vector with itself, growing alike."""
        unit = np.eye(self.head_dim)
        for x in (unit[i], unit[j], unit[i] + unit[j]):
            for m, n in ((1, 0), (2, 0), (3, 1)):
                places = (m, n, m + 1, n + 1)
                a, b, c, d = (self.matrices[p] @ x for p in places)
                if abs(a @ b - c @ d) > 16 * self.noise:
                    got = f"scores {a @ b:.9g} and {c @ d:.9g}"
                    return Evidence(tuple(x.tolist()), places, got, "equal scores")
        return None
