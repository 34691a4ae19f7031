"""The examination of one function, step by step."""

import numpy as np
from numpy.typing import NDArray

from posenc._checks import Layout
from posenc.diagnose._calls import Foreign
from posenc.diagnose._planes import Planes, find_planes, measure_speeds
from posenc.diagnose._precision import resolution, table_dtype
from posenc.diagnose._record import Record, Stated
from posenc.diagnose._report import Evidence, Report
from posenc.diagnose._turning import read_turning

Array = NDArray[np.float64]

# Beside powers of two: where bfloat16 and float16 first skip integers, and
# positions met in reports of such faults.
_AWKWARD = (3, 5, 6, 7, 10, 11, 100, 257, 258, 259, 260, 515, 1023, 1857, 2047, 2049, 2051, 3001)
_FARTHER = (4095, 5003, 8190, 8191, 16385, 32767, 65535, 65792, 65793, 131071)

# (m, n) and the common shift under which its score must not change.
_SHIFTS = (
    (1, 0, 1),
    (1, 0, 10),
    (3, 1, 4),
    (0, 5, 20),
    (11, 2, 246),
    (258, 256, 1),
    (2050, 2048, 1),
)


class Examination:
    """Calls one function, and turns what it returns into a report."""

    def __init__(self, foreign: Foreign, head_dim: int, max_position: int, stated: Stated) -> None:
        self.foreign = foreign
        self.record = Record(head_dim, stated, 4 * resolution(foreign.dtype))
        powers = [2**i for i in range(max_position.bit_length())]
        places = {0, *powers, *_AWKWARD, *_FARTHER, max_position}
        self._places = sorted(p for p in places if p <= max_position)

    def report(self) -> Report:
        """Examine the function and return what was found."""
        record = self.record
        if self._read_matrices() and self._check_calls():
            _examine_map(record)
            record.facts["norms_kept"] = _norms_kept(record)
            relative, evidence = self.scores_relative(self.foreign)
            record.facts["relative"] = relative
            if relative is False and not self._faulty():
                message = "a score changes when both positions grow by the same"
                record.fault("not-relative", message, evidence)
        findings = (*self.foreign.findings.values(), *record.findings)
        return Report(head_dim=record.head_dim, findings=findings, **record.facts)

    def _faulty(self) -> bool:
        return bool(self.foreign.findings) or any(f.fault for f in self.record.findings)

    def _read_matrices(self) -> bool:
        """Call with unit vectors; each position gives one matrix."""
        record, unit = self.record, np.eye(self.record.head_dim)
        for place in self._places:
            known = set(self.foreign.findings)
            answer = self.foreign(unit, np.full(len(unit), place))
            if answer is None:
                if place <= 4:
                    return False
                if set(self.foreign.findings) - known == {"raises"}:
                    # Refusing far positions is right if there is a limit.
                    error = self.foreign.findings.pop("raises")
                    last = max(record.matrices)
                    message = f"position {last} is the last that works: at {place} {error.message}"
                    record.note("position-limit", message)
                break
            rows = answer.reshape(-1, *unit.shape)
            if np.abs(rows - rows[0]).max() > record.noise:
                row = int(np.abs(rows - rows[0]).max(axis=(1, 2)).argmax())
                message = f"row {row} of a batch of equal rows comes out different"
                evidence = record.seen(0, place, f"another result in row {row}", "equal results")
                record.fault("batch-rows-differ", message, evidence)
            record.matrices[place] = rows[0].T
        return True

    def _check_calls(self) -> bool:
        """Check that a vector's result depends on it and on its position alone."""
        record, unit = self.record, np.eye(self.record.head_dim)
        ones = np.ones(len(unit), dtype=np.int64)
        again, backwards = self.foreign(unit, ones), self.foreign(unit[::-1], ones)
        if again is None or backwards is None:
            return False
        front = again.reshape(-1, *unit.shape)[0].T
        back = backwards.reshape(-1, *unit.shape)[0][::-1].T
        changed = np.abs(front - record.matrices[1]).max(axis=0)
        if changed.any():
            evidence = record.seen(int(changed.argmax()), 1, "two results", "the same result twice")
            record.fault("not-deterministic", "the same call gives another result", evidence)
            return False
        moved = np.abs(back - front).max(axis=0)
        if moved.max() > record.noise:
            k = int(moved.argmax())
            message = "a vector comes out different at another place in the array"
            got = f"a difference of {moved[k]:.4g} at the same position"
            record.fault("ignores-positions", message, record.seen(k, 1, got, "no difference"))
            return False
        return self._check_rows()

    def _check_rows(self) -> bool:
        """Compare random vectors, alike, mixed and alone, with the matrices."""
        record, rng = self.record, np.random.default_rng(0)
        places = rng.permutation(np.array(list(record.matrices)))
        x = rng.normal(size=(places.size, record.head_dim))
        x = x.astype(self.foreign.dtype).astype(np.float64)
        for name, message, used in (
            ("not-linear", "it is no linear map of the vector", np.ones_like(places)),
            ("ignores-positions", "a vector among others is not turned by its position", places),
            ("batch-rows-differ", "a single vector in each row is turned otherwise", places[:1]),
        ):
            vectors = x[: used.size]
            answer = self.foreign(vectors, used)
            if answer is None:
                return False
            pairs = zip(used.tolist(), vectors, strict=True)
            wanted = np.stack([record.matrices[p] @ v for p, v in pairs])
            miss = np.abs(answer - wanted).reshape(-1, *wanted.shape).max(axis=(0, 2))
            size = np.array([max(1.0, np.abs(record.matrices[p]).max()) for p in used.tolist()])
            bad = miss > 4 * record.noise * size * np.abs(vectors).sum(axis=1)
            if bad.any():
                row = int(bad.argmax())
                got = f"a difference of {miss[row]:.4g}"
                evidence = Evidence(tuple(x[row].tolist()), (int(used[row]),), got, "none")
                record.fault(name, message, evidence)
                return name == "batch-rows-differ"
        return True

    def scores_relative(self, key: Foreign) -> tuple[bool | None, Evidence | None]:
        """Check that scores of this function and `key` depend on differences alone."""
        record, rng = self.record, np.random.default_rng(1)
        q, k = rng.normal(size=(2, record.head_dim))
        last = max(record.matrices)
        shifts = [(m, n, shift) for m, n, shift in _SHIFTS if max(m, n) + shift <= last]
        if last > 32:
            shifts.append((9, 2, last - 16))
        for m, n, shift in shifts:
            queries = self.foreign(np.stack([q, q]), np.array([m, m + shift]))
            keys = key(np.stack([k, k]), np.array([n, n + shift]))
            if queries is None or keys is None:
                return None, None
            left, right = (a.reshape(-1, 2, record.head_dim)[0] for a in (queries, keys))
            one, other = np.sum(left * right, axis=-1)
            size = float(np.linalg.norm(left, axis=-1).max() * np.linalg.norm(right, axis=-1).max())
            if abs(one - other) > size * (16 * record.noise + 4e-6 * (max(m, n) + shift)):
                places = (m, n, m + shift, n + shift)
                got = f"scores {one:.6g} and {other:.6g} with a second vector"
                return False, Evidence(tuple(q.tolist()), places, got, "equal scores")
        return True, None


def _examine_map(record: Record) -> None:
    planes = find_planes(record.matrices)
    if planes.tangled.size:
        k = int(planes.tangled[0])
        message = f"component {k} is mixed with more than one other"
        evidence = record.seen(k, 1, "parts in more than two components", "parts in two")
        record.fault("not-in-planes", message, evidence)
        return
    if not planes.first.size:
        message = "no component depends on another at any position"
        record.fault(
            "not-rotated", message, record.seen(0, 1, "no part in another", "a part in one")
        )
        return
    _check_tables(record, planes)
    across = _name_layout(record, planes)
    near = 4 * record.noise * max(1.0, float(np.abs(planes.blocks).max()))
    _check_alone(record, planes, near)
    block = planes.blocks
    wrong = np.abs(block[..., 0, 0] - block[..., 1, 1]) > near
    wrong |= np.abs(block[..., 0, 1] + block[..., 1, 0]) > near
    if wrong.any():
        _name_blocks(record, planes, np.asarray(wrong.any(axis=0)), near)
    else:
        read_turning(record, planes, np.array(list(record.matrices)), across)


def _check_tables(record: Record, planes: Planes) -> None:
    """Find out whether entries were rounded, which makes all else less exact."""
    name = table_dtype(planes.blocks, record.noise / 4)
    if name is None:
        return
    record.noise = {"bfloat16": 2.0**-6, "float16": 2.0**-9, "float32": 2.0**-21}[name]
    message = f"every cosine and sine is a {name} number"
    if name == "float32":
        record.note("float32-tables", message)
        return
    row, r = 1, int(np.abs(planes.blocks[1, :, 1, 0]).argmax())
    got = f"{planes.blocks[row, r, 1, 0]:.9g}, a {name} number, in pair {r}"
    evidence = record.seen(int(planes.first[r]), 1, got, "a sine as exact as x")
    record.fault(f"{name}-tables", message, evidence)


def _name_layout(record: Record, planes: Planes) -> bool:
    """Name layout, width and output order; tell whether pairs reach half the head."""
    components = planes.components
    width, half = int(components.size), record.head_dim // 2
    record.facts |= {"rotary_width": width, "first_component": int(components[0])}
    i, j = int(planes.first[0]), int(planes.second[0])
    found = planes.layout()
    if found is None or (found[0] == "half-split" and found[1] not in (width // 2, half)):
        some = zip(planes.first[:3].tolist(), planes.second[:3].tolist(), strict=True)
        message = f"pairs are {', '.join(str(pair) for pair in some)}, ..."
        evidence = record.seen(i, 1, f"a part in component {j}", "a part in its partner")
        record.fault("scattered-pairs", message, evidence)
        return False
    layout, gap = found
    across = layout == "half-split" and gap == half != width // 2
    record.facts["layout"] = layout
    if layout is None:
        record.note("one-pair", "a single pair of neighbours is the same in both layouts")
    _name_order(record, planes, layout)
    _compare_layout(record, planes, layout, across)
    return across


def _compare_layout(record: Record, planes: Planes, layout: Layout | None, across: bool) -> None:
    """Compare layout and width with what the caller knows."""
    stated, width = record.stated, int(planes.components.size)
    i, j = int(planes.first[0]), int(planes.second[0])
    got = f"a part in component {j}"
    if stated.layout and layout and layout != stated.layout:
        message = f"pairs are {layout}, not {stated.layout}"
        partner = i + 1 if stated.layout == "interleaved" else i + width // 2
        evidence = record.seen(i, 1, got, f"a part in component {partner}")
        record.fault("other-layout", message, evidence)
    if stated.rotary_width is None:
        return
    if across and stated.rotary_width < record.head_dim:
        gap = stated.rotary_width // 2
        message = f"partners stand head_dim / 2 = {j - i} apart, not rotary_width / 2 = {gap}"
        evidence = record.seen(i, 1, got, f"a part in component {i + gap}")
        record.fault("partial-pair-offset", message, evidence)
    elif width != stated.rotary_width:
        message = f"{width} components turn, not {stated.rotary_width}"
        last = int(planes.components[-1])
        evidence = record.seen(last, 1, f"component {last} as the last to turn", message)
        record.fault("other-width", message, evidence)


def _name_order(record: Record, planes: Planes, layout: Layout | None) -> None:
    """Name where pairs stand in the result, which at position 0 need not be x."""
    record.facts["output_layout"] = layout
    if np.array_equal(planes.order, np.arange(record.head_dim)) and (planes.signs > 0).all():
        return
    where = np.argsort(planes.order)
    first, second = where[planes.first], where[planes.second]
    pairs, start = np.arange(first.size), int(first.min())
    if np.array_equal(first, start + pairs) and np.array_equal(second, first + first.size):
        record.facts["output_layout"] = "half-split"
    elif np.array_equal(first, start + 2 * pairs) and np.array_equal(second, first + 1):
        record.facts["output_layout"] = "interleaved"
    else:
        record.facts["output_layout"] = None
    signed = zip(planes.order[:8].tolist(), planes.signs[:8].tolist(), strict=True)
    order = ", ".join(f"-{k}" if sign < 0 else str(k) for k, sign in signed)
    more = ", ..." if record.head_dim > 8 else ""
    record.note("output-reordered", f"at position 0 the result is components {order}{more} of x")


def _check_alone(record: Record, planes: Planes, near: float) -> None:
    changed = np.argwhere(np.abs(planes.alone_values - 1) > near)
    if len(changed):
        row, which = changed[0]
        k, place = int(planes.alone[which]), list(record.matrices)[row]
        got = f"{planes.alone_values[row, which]:.9g} in component {k}"
        message = f"component {k} has no partner, but does not stay as it is"
        record.fault("unpaired-component", message, record.seen(k, place, got, "1"))


def _name_blocks(record: Record, planes: Planes, wrong: NDArray[np.bool_], near: float) -> None:
    """Name what blocks that are no rotations do instead."""
    block = planes.blocks[:, wrong]
    c1, s1, s2, c2 = block[..., 0, 0], block[..., 0, 1], block[..., 1, 0], block[..., 1, 1]
    i, j = int(planes.first[wrong.argmax()]), int(planes.second[wrong.argmax()])

    def vanish(*differences: Array) -> bool:
        return all(bool((np.abs(d) <= near).all()) for d in differences)

    if vanish(c1 - c2, s1 - s2):
        name, message = "missing-minus", "both sines have the same sign"
    elif vanish(c2 - c1 + s1**2, s2 + s1 * c1) or vanish(c1 - c2 + s2**2, s1 + s2 * c2):
        name, message = "overwritten-input", "one new component is computed from the other"
    else:
        name, message = _name_unequal_angles(record, planes)
    if name == "mixed-layouts":
        record.facts |= {"layout": None, "output_layout": None, "mixes_layouts": True}
    record.fault(name, message, record.score(i, j) or record.norm(i))


def _name_unequal_angles(record: Record, planes: Planes) -> tuple[str, str]:
    """Name blocks of which the two rows, or columns, turn by different angles."""
    positions = np.array(list(record.matrices))
    block = planes.blocks
    near = 4 * record.noise
    for sine1, sine2 in (
        (-block[..., 0, 1], block[..., 1, 0]),
        (block[..., 1, 0], -block[..., 0, 1]),
    ):
        angles = (
            np.arctan2(sine1, block[..., 0, 0]),
            np.arctan2(sine2, block[..., 1, 1]),
        )
        lengths = np.stack([np.hypot(sine1, block[..., 0, 0]), np.hypot(sine2, block[..., 1, 1])])
        if np.abs(lengths - lengths[:, :1]).max() > near:
            continue
        speeds, errors = np.zeros(record.head_dim), np.zeros(record.head_dim)
        for part, phases in zip((planes.first, planes.second), angles, strict=True):
            speed, errors[part] = measure_speeds(phases, positions, record.noise)
            speeds[part] = np.abs(speed)
        return _compare_channels(record, planes, speeds, errors)
    return "pair-not-rotated", "the blocks are neither rotations nor known mistakes"


def _compare_channels(
    record: Record, planes: Planes, speeds: Array, errors: Array
) -> tuple[str, str]:
    start, width = int(planes.components[0]), planes.components.size
    row, doubt = speeds[start : start + width], errors[start : start + width]
    near, half, layout = 4 * doubt + 1e-5 * row, width // 2, record.facts.get("layout")
    if layout == "half-split" and (np.abs(row[0::2] - row[1::2]) <= near[0::2]).all():
        return "mixed-layouts", "pairs are half-split, but angles are laid out interleaved"
    if layout == "interleaved" and (np.abs(row[:half] - row[half:]) <= near[:half]).all():
        return "mixed-layouts", "pairs are interleaved, but angles are laid out half-split"
    known = np.flatnonzero(row > 100 * doubt)
    if known.size > 2 and known[0] == 0:
        # The farthest channel that is fast enough tells the ratio best.
        slope = np.log(row[known[-1]] / row[0]) / known[-1]
        fitted = row[0] * np.exp(slope * np.arange(width))
        if slope < 0 and (np.abs(row - fitted) <= 4 * doubt + 1e-2 * fitted).all():
            message = f"each channel turns {np.exp(slope):.6g} times as fast as the one before it"
            return "angle-per-channel", f"{message}, also inside a pair"
    return "pair-not-rotated", "the two components of a pair turn by different angles"


def _norms_kept(record: Record) -> bool:
    """Tell whether all matrices are orthogonal."""
    unit = np.eye(record.head_dim)
    return all(
        bool(np.abs(matrix.T @ matrix - unit).max() <= 16 * record.noise)
        for matrix in record.matrices.values()
    )
