"""posenc.diagnose on rotations that are right: conventions are told, no fault is found."""

import json
import re

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posenc.absolute import frequencies
from posenc.diagnose import FAULTS, NOTES, Report, diagnose, from_tables
from posenc.rotary import rotate

LAYOUTS = ("interleaved", "half-split")

# Rotations as people write them: tables of cosines and sines, and a function
# that swaps components.

DTYPES = {"bfloat16": ml_dtypes.bfloat16, "float16": np.float16, "float32": np.float32}


def speeds(width, base=10_000.0):
    return base ** (-np.arange(0, width, 2) / width)


def swap_halves(x):
    half = x.shape[-1] // 2
    return np.concatenate([-x[..., half:], x[..., :half]], axis=-1)


def swap_neighbours(x):
    return np.stack([-x[..., 1::2], x[..., 0::2]], axis=-1).reshape(x.shape)


def for_halves(angles):
    return np.concatenate([angles, angles], axis=-1)


def for_neighbours(angles):
    return np.repeat(angles, 2, axis=-1)


STYLES = {
    "half-split": (swap_halves, for_halves),
    "interleaved": (swap_neighbours, for_neighbours),
}


def from_channels(channel_angles, swap, *, start=0, width=None):
    """Rotate x * cos + swap(x) * sin, given angles (length, channels)."""

    def rotate(x, positions):
        angles = channel_angles(positions)
        stop = start + angles.shape[-1]
        part = x[..., start:stop].astype(np.float64)
        turned = part * np.cos(angles) + swap(part) * np.sin(angles)
        return np.concatenate(
            [x[..., :start], turned.astype(x.dtype), x[..., stop:]], axis=-1
        ).astype(x.dtype)

    return rotate


def from_speeds(w, layout="half-split", *, start=0, sign=1, origin=0):
    """Rotate correctly, with any frequencies."""
    swap, repeat = STYLES[layout]

    def angles(positions):
        return repeat(sign * (positions[:, None] + float(origin)) * w)

    return from_channels(angles, swap, start=start)


def rounded(layout="half-split", *, w, frequencies=None, positions=None, product=None):
    """Rotate with angles that went through narrower dtypes; None keeps float32."""
    swap, repeat = STYLES[layout]

    def narrow(value, dtype):
        with np.errstate(over="ignore"):
            return value.astype(DTYPES[dtype or "float32"]).astype(np.float32)

    def angles(places):
        p = narrow(places.astype(np.float32), positions)
        return repeat(narrow(p[:, None] * narrow(w, frequencies), product))

    return from_channels(angles, swap)


def across_halves(w, head_dim):
    """Rotate pairs (r, r + head_dim / 2) for the given frequencies only."""

    def rotate(x, positions):
        angles = positions[:, None] * np.concatenate([w, np.zeros(head_dim // 2 - w.size)])
        wide = x.astype(np.float64)
        cosine, sine = np.cos(for_halves(angles)), np.sin(for_halves(angles))
        return (wide * cosine + swap_halves(wide) * sine).astype(x.dtype)

    return rotate


def blocks(first_row, second_row, w):
    """Rotate halves with a 2 x 2 block of any two functions of the angle."""

    def rotate(x, positions):
        angles = positions[:, None] * w
        half = w.size
        a, b = x[..., :half].astype(np.float64), x[..., half:].astype(np.float64)
        top, bottom = first_row(angles), second_row(angles)
        halves = [a * top[0] + b * top[1], a * bottom[0] + b * bottom[1]]
        return np.concatenate(halves, axis=-1).astype(x.dtype)

    return rotate


def names(report):
    return [finding.name for finding in report.findings]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("head_dim", [4, 6, 64, 128])
@pytest.mark.parametrize("base", [10_000.0, 500_000.0, 150_000.0])
def test_the_library_itself(layout, head_dim, base):
    report = diagnose(
        lambda x, p: rotate(x, p, frequencies(head_dim, base), layout=layout),
        head_dim=head_dim,
        leading=(2,),
    )
    assert report.findings == ()
    assert report.ok
    assert (report.layout, report.output_layout) == (layout, layout)
    assert report.direction == "counter-clockwise"
    assert (report.rotary_width, report.first_component) == (head_dim, 0)
    assert (report.base, report.denominator, report.factor) == (base, "rotary width", 1)
    assert report.frequencies == pytest.approx(frequencies(head_dim, base), rel=1e-3, abs=1e-9)
    assert (report.origin, report.attention_factor) == (0, 1)
    assert report.angle_precision in ("float64", "float32 or better")
    assert report.relative is True
    assert report.norms_kept is True
    assert report.mixes_layouts is False


@settings(max_examples=60, deadline=None)
@given(
    half=st.integers(2, 20),
    rest=st.integers(0, 9),
    layout=st.sampled_from(LAYOUTS),
    base=st.sampled_from([1e4, 5e4, 1e5, 1.5e5, 5e5, 1e6, 5e6, 1e7]),
    inverse=st.booleans(),
    dtype=st.sampled_from([np.float64, np.float32, np.float16, ml_dtypes.bfloat16]),
    leading=st.sampled_from([(), (1,), (3,), (2, 2), (1, 2, 1)]),
    last=st.sampled_from([4096, 2048, 131_072, 5000]),
)
def test_no_fault_in_correct_rotations(half, rest, layout, base, inverse, dtype, leading, last):
    width = 2 * half
    report = diagnose(
        lambda x, p: rotate(x, p, frequencies(width, base), layout=layout, inverse=inverse),
        head_dim=width + rest,
        max_position=last,
        dtype=dtype,
        leading=leading,
        base=base,
        rotary_width=width,
        layout=layout,
    )
    assert report.ok, str(report)
    assert report.layout == layout
    assert report.direction == ("clockwise" if inverse else "counter-clockwise")
    assert report.base == base
    assert report.rotary_width == width
    assert report.relative
    assert report.angle_precision in ("float64", "float32 or better")


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("start", [0, 4])
def test_partial_rotation_of_the_first_or_last_components(layout, start):
    report = diagnose(from_speeds(speeds(4), layout, start=start), head_dim=8, rotary_width=4)
    assert report.ok
    assert (report.layout, report.rotary_width, report.first_component) == (layout, 4, start)
    assert (report.base, report.denominator) == (10_000, "rotary width")


@pytest.mark.parametrize(("head_dim", "width"), [(64, 16), (128, 32), (128, 64), (80, 32)])
@pytest.mark.parametrize("base", [1e4, 5e5])
def test_partial_rotation_is_told_from_the_wrong_denominator(head_dim, width, base):
    right = diagnose(from_speeds(speeds(width, base)), head_dim=head_dim, leading=())
    assert right.ok
    assert (right.base, right.denominator) == (base, "rotary width")
    wrong = diagnose(
        from_speeds(speeds(head_dim, base)[: width // 2]), head_dim=head_dim, leading=()
    )
    assert [f.name for f in wrong.faults] == ["head-width-denominator"]
    assert (wrong.base, wrong.denominator) == (base, "head width")
    meant = base ** (width / head_dim)
    assert diagnose(
        from_speeds(speeds(head_dim, base)[: width // 2]), head_dim=head_dim, base=meant
    ).ok


def test_proportional_rotation_reaches_across_the_head():
    report = diagnose(
        across_halves(speeds(512, 1e6)[:64], 512), head_dim=512, leading=(), max_position=512
    )
    assert report.ok
    assert names(report) == ["proportional"]
    assert (report.base, report.denominator, report.rotary_width) == (1e6, "head width", 128)
    assert diagnose(across_halves(speeds(8)[:2], 8), head_dim=8, base=10_000).ok


def test_directions_are_conventions():
    ccw = diagnose(from_speeds(speeds(8)), head_dim=8)
    cw = diagnose(from_speeds(speeds(8), sign=-1), head_dim=8)
    assert (ccw.direction, names(ccw)) == ("counter-clockwise", [])
    assert (cw.direction, cw.ok, names(cw)) == ("clockwise", True, ["clockwise"])
    assert cw.base == 10_000
    assert names(diagnose(from_speeds(speeds(8), sign=-1), head_dim=8, direction="clockwise")) == []


def test_output_in_another_order_is_a_convention():
    order = [0, 2, 4, 6, 1, 3, 5, 7]

    def reordered(x, p):
        return rotate(x, p, frequencies(8))[..., order]

    report = diagnose(reordered, head_dim=8)
    assert report.ok
    assert (report.layout, report.output_layout) == ("interleaved", "half-split")
    assert names(report) == ["output-reordered"]
    assert report.relative
    assert report.norms_kept
    assert reordered(np.array([[1.0, 2, 3, 4, 0, 0, 0, 0]]), 3)[0, [0, 1, 4, 5]] == pytest.approx(
        [-1.272232513, 1.683928641, -1.838864985, 4.707906576], abs=1e-9
    )
    mirrored = diagnose(reflected, head_dim=8)
    assert (mirrored.ok, mirrored.relative, mirrored.base) == (True, True, 10_000)
    assert "components 0, 1, 2, 3, -4, -5, -6, -7 of x" in str(mirrored)
    # The same on one side only is no convention.
    mixed = diagnose(reordered, key=lambda x, p: rotate(x, p, frequencies(8)), head_dim=8)
    assert [f.name for f in mixed.faults] == ["query-key-differ"]
    assert mixed.relative is False


@pytest.mark.parametrize("origin", [1, 2, -1])
def test_origin(origin):
    report = diagnose(from_speeds(speeds(8), origin=origin), head_dim=8)
    assert report.ok
    assert (report.origin, names(report)) == (origin, ["origin"])
    assert report.relative
    assert report.angle_precision == "float64"


def test_attention_factor():
    factor = 1.138629436

    def scaled(x, p):
        return (factor * rotate(x, p, frequencies(8)).astype(float)).astype(x.dtype)

    report = diagnose(scaled, head_dim=8)
    assert report.ok
    assert names(report) == ["attention-factor"]
    assert report.attention_factor == pytest.approx(factor, rel=1e-6)
    assert report.norms_kept is False
    assert report.relative


YARN = [1, 0.1, 0.00625, 0.00025]
LLAMA3 = [1, 0.1, 0.003086760967, 0.000125]


@pytest.mark.parametrize("scaled", [YARN, LLAMA3])
def test_frequencies_scaled_by_parts(scaled):
    function = from_speeds(np.array(scaled))
    report = diagnose(function, head_dim=8, base=10_000)
    assert report.ok
    assert names(report) == ["scaled-by-parts"]
    assert names(diagnose(function, head_dim=8)) == ["no-series"]
    assert names(diagnose(function, head_dim=8, frequencies=scaled)) == []
    wrong = diagnose(function, head_dim=8, frequencies=speeds(8))
    assert [f.name for f in wrong.faults] == ["other-frequencies"]
    assert "pair 2" in wrong.faults[0].message


def test_frequencies_near_a_series_are_not_taken_for_rounded_ones():
    function = from_speeds(speeds(64) / np.linspace(1, 1.002, 32))
    report = diagnose(function, head_dim=64, base=10_000)
    assert names(report) == ["scaled-by-parts"]
    assert "divided by 1.002" in report.findings[0].message
    assert report.angle_precision == "float64"


def test_scaling_that_leaves_a_series():
    divided = diagnose(from_speeds(speeds(64) / 4), head_dim=64)
    assert (divided.base, divided.factor, names(divided)) == (10_000, 4, ["interpolated"])
    assert diagnose(from_speeds(speeds(64) / 4), head_dim=64, base=10_000).ok
    ntk = diagnose(from_speeds(speeds(8, 63_496.04208)), head_dim=8)
    assert ntk.base == pytest.approx(63_496.04208, rel=1e-6)
    assert (ntk.ok, ntk.angle_precision) == (True, "float64")


def test_second_definition_of_frequencies():
    w = np.array([1, 0.0464158883361, 0.00215443469003, 0.0001])
    report = diagnose(from_speeds(w), head_dim=8)
    assert report.ok
    assert (report.base, report.denominator) == (10_000, "half minus one")
    assert names(report) == ["second-definition"]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("head_dim", [8, 64, 128])
def test_float32_angles_are_told_and_no_fault(layout, head_dim):
    report = diagnose(rounded(layout, w=speeds(head_dim)), head_dim=head_dim)
    assert report.findings == ()
    assert report.angle_precision == "float32"
    assert report.base == 10_000


def test_float32_angles_by_quotient_product_and_exponential():
    def quotient(p):
        return p.astype(np.float32)[:, None] / (np.float32(10_000) ** (np.arange(64) / 64)).astype(
            np.float32
        )

    def exponential(p):
        step = np.float32(-np.log(10_000.0) / 64)
        w = np.exp(np.arange(64, dtype=np.float32) * step)
        return p.astype(np.float32)[:, None] * w

    for angles in (quotient, exponential):
        report = diagnose(
            from_channels(lambda p, a=angles: STYLES["half-split"][1](a(p)), swap_halves),
            head_dim=128,
            max_position=8192,
            base=10_000,
        )
        assert report.findings == ()
        assert report.angle_precision == "float32"


def test_one_pair_has_both_layouts():
    report = diagnose(lambda x, p: rotate(x, p, [1.0]), head_dim=2, layout="half-split", base=1e4)
    assert report.ok
    assert report.layout is None
    assert names(report) == ["one-pair"]
    assert "either" in str(report)
    slow = diagnose(lambda x, p: rotate(x, p, [0.25]), head_dim=2)
    assert (slow.factor, names(slow)) == (4, ["one-pair", "interpolated"])


def test_a_limited_table_is_no_fault():
    def limited(x, p):
        if p.max() >= 1000:
            raise IndexError(f"position {p.max()} is not in the table")
        return rotate(x, p, frequencies(8))

    report = diagnose(limited, head_dim=8)
    assert report.ok
    assert names(report) == ["position-limit"]
    assert "position 515 is the last that works" in report.findings[0].message
    assert report.base == 10_000


def test_arrays_of_other_libraries_are_read_through_the_protocol():
    class Tensor:
        def __init__(self, array):
            self.array = array

        def __array__(self, dtype=None, copy=None):
            return np.array(self.array, dtype=dtype)

    report = diagnose(lambda x, p: Tensor(rotate(x, p, frequencies(8))), head_dim=8)
    assert report.findings == ()
    listed = diagnose(
        lambda x, p: rotate(x, p, frequencies(4)).tolist(), head_dim=4, dtype=np.float64
    )
    assert listed.findings == ()


def apply_rotary(q, k, cos, sin):
    return q * cos + swap_halves(q) * sin, k * cos + swap_halves(k) * sin


def tables(positions):
    angles = STYLES["half-split"][1](positions[:, None] * speeds(8))
    return np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)


def test_code_that_takes_queries_keys_and_tables():
    query, key = (from_tables(apply_rotary, tables, which=which) for which in ("query", "key"))
    report = diagnose(query, key=key, head_dim=8)
    assert report.findings == ()
    assert report.layout == "half-split"
    other = from_tables(lambda q, k, cos, sin: (q, k * cos - swap_halves(k) * sin), tables)
    assert [f.name for f in diagnose(other, head_dim=8).faults] == ["not-rotated"]
    other = from_tables(
        lambda q, k, cos, sin: (q, k * cos - swap_halves(k) * sin), tables, which="key"
    )
    assert diagnose(other, head_dim=8).direction == "clockwise"
    wide = from_tables(apply_rotary, tables, convert=lambda x: x.astype(np.float64))
    assert [f.name for f in diagnose(wide, head_dim=8).faults] == ["result-dtype"]


def test_equal_keys_add_nothing():
    function = from_speeds(speeds(8), sign=-1)
    assert names(diagnose(function, key=function, head_dim=8)) == ["clockwise"]


@pytest.mark.parametrize(
    ("other", "differ"),
    [
        (from_speeds(speeds(8), "interleaved"), "layout, output_layout"),
        (from_speeds(speeds(8), sign=-1), "direction"),
        (from_speeds(speeds(8, 20_000)), "frequencies"),
        (from_speeds(speeds(4)), "rotary_width, frequencies"),
        (from_speeds(speeds(8), origin=1), "origin"),
    ],
)
def test_queries_and_keys_that_differ(other, differ):
    report = diagnose(from_speeds(speeds(8)), key=other, head_dim=8)
    assert [f.name for f in report.faults] == ["query-key-differ"]
    assert report.faults[0].message.endswith(f"differ in {differ}")
    assert report.relative is (differ == "origin")


def test_faults_of_the_keys_are_told():
    wrong = from_channels(
        lambda p: STYLES["half-split"][1](p[:, None] * speeds(8)), swap_neighbours
    )
    report = diagnose(from_speeds(speeds(8)), key=wrong, head_dim=8)
    assert {"mixed-layouts", "query-key-differ"} == {f.name for f in report.faults}
    assert "for keys: " in str(report)
    broken = diagnose(from_speeds(speeds(8)), key=lambda x, p: None, head_dim=8)
    assert "result-dtype" in [f.name for f in broken.faults]


# Mistakes ------------------------------------------------------------------------

i8, i16, i64 = np.arange(4), np.arange(8), np.arange(32)


def halves(function):
    return from_channels(function, swap_halves)


def neighbours(function):
    return from_channels(function, swap_neighbours)


def nothing(x, positions):
    return x.copy()


def angles_from(w):
    return lambda p: p[:, None] * w


def integer_exponents(p):
    exponent = -(np.arange(0, 64, 2) / 64 * 0.5).astype(int)  # all 0
    return for_halves(p[:, None] * 10_000.0**exponent)


def floored(p):
    step = -np.log(10_000.0) / 256 // 2  # meant: / 256 * 2
    return for_halves(p[:, None] * np.exp(np.arange(0, 256, 2) * step))


def base_zero(x, positions):
    with np.errstate(divide="ignore", invalid="ignore"):
        w = 1 / np.zeros(4) ** (np.arange(0, 8, 2) / 8)
        angles = for_halves(positions[:, None] * w)
        turned = x * np.cos(angles) + swap_halves(x) * np.sin(angles)
    return turned.astype(x.dtype)


def autocast(x, positions):
    """Multiply in bfloat16, positions and frequencies included."""
    p = positions.astype(ml_dtypes.bfloat16)[:, None]
    angles = (p * speeds(64).astype(ml_dtypes.bfloat16)).astype(np.float32)
    return halves(lambda _: for_halves(angles))(x, positions)


def bfloat16_tables(x, positions):
    angles = for_halves(positions[:, None] * speeds(64))
    cosine, sine = (f(angles).astype(ml_dtypes.bfloat16) for f in (np.cos, np.sin))
    return (x * cosine.astype(x.dtype) + swap_halves(x) * sine.astype(x.dtype)).astype(x.dtype)


def float16_tables(x, positions):
    angles = for_halves(positions[:, None] * speeds(64))
    cosine, sine = (f(angles).astype(np.float16) for f in (np.cos, np.sin))
    return (x * cosine + swap_halves(x) * sine).astype(x.dtype)


def xpos(x, positions):
    scale = ((np.arange(0, 64, 2) / 64 + 0.4) / 1.4) ** (positions[:, None] / 512)
    return (from_speeds(speeds(64))(x, positions) * for_halves(scale)).astype(x.dtype)


def dynamic(x, positions):
    """Raise the base with the length, and leave the positions before as they are."""
    last = np.maximum(positions, 2048)[:, None]
    base = 10_000 * (2 * last / 2048 - 1) ** (64 / 62)
    return halves(lambda p: for_halves(p[:, None] * base ** -(np.arange(0, 64, 2) / 64)))(
        x, positions
    )


def unpaired(x, positions):
    """Rotate 5 components as (0, 2), (1, 3), and 4 with nobody."""
    turned = from_speeds(speeds(4))(x, positions)
    turned[..., 4] = x[..., 4] * np.cos(positions * 1e-2)
    return turned


def scaled_rest(x, positions):
    turned = from_speeds(speeds(4))(x, positions)
    turned[..., :4] *= 1.25
    turned[..., 4:] *= 1.25
    return turned


def tangled(x, positions):
    turned = from_speeds(speeds(8))(x, positions)
    turned[..., 0] += x[..., 3] * np.sin(positions).astype(x.dtype)
    return turned


def scattered(x, positions):
    order = [0, 3, 1, 2, 4, 5, 6, 7]
    turned = from_speeds(speeds(8), "interleaved")(x[..., order], positions)
    return turned[..., np.argsort(order)]


def unevenly_scaled(x, positions):
    return from_speeds(speeds(8))(x, positions) * np.array([1, 2, 1, 1] * 2, x.dtype)


def reflected(x, positions):
    return blocks(lambda a: (np.cos(a), np.sin(a)), lambda a: (np.sin(a), -np.cos(a)), speeds(8))(
        x, positions
    )


MISTAKES = {
    # Pairs.
    "angles for neighbours, halves swapped": (
        "mixed-layouts",
        halves(lambda p: for_neighbours(p[:, None] * speeds(64))),
        64,
        {},
    ),
    "angles for neighbours, halves swapped, two pairs": (
        "mixed-layouts",
        halves(lambda p: for_neighbours(p[:, None] * speeds(4))),
        4,
        {},
    ),
    "angles for halves, neighbours swapped": (
        "mixed-layouts",
        neighbours(lambda p: for_halves(p[:, None] * speeds(64))),
        64,
        {},
    ),
    "mixed in the rotated part only": (
        "mixed-layouts",
        halves(lambda p: for_neighbours(p[:, None] * speeds(16))),
        64,
        {},
    ),
    "half-split for weights that need neighbours": (
        "other-layout",
        from_speeds(speeds(8)),
        8,
        {"layout": "interleaved"},
    ),
    "neighbours for weights that need halves": (
        "other-layout",
        from_speeds(speeds(64), "interleaved"),
        64,
        {"layout": "half-split"},
    ),
    "head width as exponent and offset": (
        "partial-pair-offset",
        across_halves(speeds(8)[:2], 8),
        8,
        {"rotary_width": 4},
    ),
    "right tables, head width as offset": (
        "partial-pair-offset",
        across_halves(speeds(4), 8),
        8,
        {},
    ),
    "right tables, head width as offset, 16 of 128": (
        "partial-pair-offset",
        across_halves(speeds(16), 128),
        128,
        {"rotary_width": 16},
    ),
    "head width as exponent": (
        "head-width-denominator",
        from_speeds(speeds(8)[:2]),
        8,
        {"base": 10_000},
    ),
    "partial factor dropped": ("other-width", from_speeds(speeds(256)), 256, {"rotary_width": 64}),
    "rotated less than wanted": ("other-width", from_speeds(speeds(4)), 8, {"rotary_width": 8}),
    # Frequencies.
    "channel instead of pair index, halves": (
        "angle-per-channel",
        halves(lambda p: p[:, None] * 10_000.0 ** (-2 * np.arange(8) / 8)),
        8,
        {},
    ),
    "channel instead of pair index, neighbours": (
        "angle-per-channel",
        neighbours(lambda p: p[:, None] * 10_000.0 ** (-2 * np.arange(64) / 64)),
        64,
        {},
    ),
    "exponent k / d of channel k": (
        "angle-per-channel",
        neighbours(lambda p: p[:, None] * 10_000.0 ** (-np.arange(256) / 256)),
        256,
        {},
    ),
    "exponent k / d, sines before they are swapped": (
        "angle-per-channel",
        lambda x, p: (
            x * np.cos(a := p[:, None] * 10_000.0 ** (-np.arange(8) / 8))
            + swap_neighbours(x * np.sin(a))
        ).astype(x.dtype),
        8,
        {},
    ),
    "cosine of the next channel": (
        "sine-cosine-mismatch",
        blocks(
            lambda a: (np.cos(a * 10_000 ** (-2 / 6)), -np.sin(a)),
            lambda a: (np.sin(a), np.cos(a * 10_000 ** (-2 / 6))),
            10_000.0 ** (-2 * np.arange(0, 6, 2) / 6),
        ),
        6,
        {},
    ),
    "position times the power": ("positive-exponent", from_speeds(1 / speeds(4)), 4, {}),
    "position times the power, known base": (
        "positive-exponent",
        from_speeds(1 / speeds(64, 5e5)),
        64,
        {"base": 5e5},
    ),
    "exponent 4r / d": (
        "doubled-exponent",
        from_speeds(10_000.0 ** (-4 * i8 / 8)),
        8,
        {"base": 10_000},
    ),
    "exponent r / d": (
        "halved-exponent",
        from_speeds(10_000.0 ** (-i8 / 8)),
        8,
        {"base": 10_000},
    ),
    "one pair less in the denominator": (
        "half-minus-one",
        from_speeds(10_000.0 ** (-i8 / 3)),
        8,
        {"base": 10_000},
    ),
    "floor division": ("floored-exponent", halves(floored), 256, {}),
    "floor division, base known": ("floored-exponent", halves(floored), 256, {"base": 10_000}),
    "truncated to integers": ("equal-frequencies", halves(integer_exponents), 64, {}),
    "truncated, base known": (
        "equal-frequencies",
        halves(integer_exponents),
        64,
        {"base": 10_000},
    ),
    "pairs from 1": (
        "index-off-by-one",
        from_speeds(10_000.0 ** (-2 * (i64 + 1) / 64)),
        64,
        {},
    ),
    "pairs from 1, base known": (
        "index-off-by-one",
        from_speeds(10_000.0 ** (-2 * (i8[:2] + 1) / 4)),
        4,
        {"base": 10_000},
    ),
    "(2k - 1) / d with k from 1": (
        "index-off-by-one",
        from_speeds(10_000.0 ** (-(2 * i64 + 1) / 64)),
        64,
        {},
    ),
    "(2k - 1) / d, base known": (
        "index-off-by-one",
        from_speeds(10_000.0 ** (-(2 * i8[:2] + 1) / 4)),
        4,
        {"base": 10_000},
    ),
    "slowest pair first": ("reversed-frequencies", from_speeds(speeds(64)[::-1]), 64, {}),
    "slowest pair first, base known": (
        "reversed-frequencies",
        from_speeds(speeds(64)[::-1]),
        64,
        {"base": 10_000},
    ),
    "base of the configuration ignored": (
        "other-base",
        from_speeds(speeds(128)),
        128,
        {"base": 5_000_000},
    ),
    "another base, divided": ("other-base", from_speeds(speeds(64) / 8), 64, {"base": 1e6}),
    "base 0": ("base-zero", base_zero, 8, {}),
    "no series at all": (
        "other-frequencies",
        from_speeds(np.array([1, 0.3, 0.2, 0.01])),
        8,
        {"base": 10_000},
    ),
    "frequencies not as stated": (
        "other-frequencies",
        from_speeds(speeds(8)),
        8,
        {"frequencies": [1, 0.1, 0.01, 0.002]},
    ),
    "fewer frequencies than stated": (
        "other-frequencies",
        from_speeds(speeds(4)),
        8,
        {"frequencies": speeds(8)},
    ),
    # Precision.
    "float16 frequencies, positions and product": (
        "float16-angles",
        rounded(w=speeds(32), frequencies="float16", positions="float16", product="float16"),
        32,
        {},
    ),
    "float16 product": ("float16-angles", rounded(w=speeds(64), product="float16"), 64, {}),
    "float16 positions": ("float16-positions", rounded(w=speeds(64), positions="float16"), 64, {}),
    "float16 frequencies": (
        "float16-frequencies",
        rounded(w=speeds(64), frequencies="float16"),
        64,
        {},
    ),
    "bfloat16 positions": (
        "bfloat16-positions",
        rounded("interleaved", w=speeds(64), positions="bfloat16"),
        64,
        {},
    ),
    "bfloat16 positions and frequencies": (
        "bfloat16-positions",
        rounded(w=speeds(64), positions="bfloat16", frequencies="bfloat16"),
        64,
        {},
    ),
    "bfloat16 frequencies, cast with the model": (
        "bfloat16-frequencies",
        rounded(w=speeds(8), frequencies="bfloat16"),
        8,
        {},
    ),
    "bfloat16 frequencies, base known": (
        "bfloat16-frequencies",
        rounded(w=speeds(128, 5e5), frequencies="bfloat16"),
        128,
        {"base": 5e5},
    ),
    "bfloat16 product under autocast": ("bfloat16-angles", autocast, 64, {"base": 10_000}),
    "bfloat16 product, exact factors": (
        "bfloat16-angles",
        rounded(w=speeds(64), product="bfloat16"),
        64,
        {"max_position": 131_072},
    ),
    "bfloat16 tables": ("bfloat16-tables", bfloat16_tables, 64, {}),
    "float16 tables": ("float16-tables", float16_tables, 64, {"dtype": np.float64}),
    "base grows with the position": ("angle-not-proportional", dynamic, 64, {}),
    # Maps that are no rotation.
    "both sines positive": (
        "missing-minus",
        blocks(lambda a: (np.cos(a), np.sin(a)), lambda a: (np.sin(a), np.cos(a)), speeds(8)),
        8,
        {},
    ),
    "first component written before it is read": (
        "overwritten-input",
        blocks(
            lambda a: (np.cos(a), -np.sin(a)),
            lambda a: (np.sin(a) * np.cos(a), np.cos(a) - np.sin(a) ** 2),
            speeds(8),
        ),
        8,
        {},
    ),
    "second component written before it is read": (
        "overwritten-input",
        blocks(
            lambda a: (np.cos(a) - np.sin(a) ** 2, -np.sin(a) * np.cos(a)),
            lambda a: (np.sin(a), np.cos(a)),
            speeds(8),
        ),
        8,
        {},
    ),
    "shear": (
        "pair-not-rotated",
        blocks(lambda a: (1 + 0 * a, -a), lambda a: (0 * a, 1 + 0 * a), speeds(8)),
        8,
        {},
    ),
    "angles of two bases in a pair": (
        "pair-not-rotated",
        blocks(
            lambda a: (np.cos(a), -np.sin(a)),
            lambda a: (np.sin(a**1.0 * 0.7), np.cos(a * 0.7)),
            np.array([1, 0.3, 0.2, 0.01]),
        ),
        8,
        {},
    ),
    "identity": ("not-rotated", nothing, 8, {}),
    "xPos": ("norm-changes", xpos, 64, {}),
    "lone component": ("unpaired-component", unpaired, 6, {}),
    "scaled rest": ("unpaired-component", scaled_rest, 8, {}),
    "three components mixed": ("not-in-planes", tangled, 8, {}),
    "pairs all over": ("scattered-pairs", scattered, 8, {}),
    "factor in one pair": ("pairs-scaled-apart", unevenly_scaled, 8, {}),
    "one pair backwards": (
        "mixed-directions",
        from_speeds(speeds(8) * np.array([1, 1, -1, 1])),
        8,
        {},
    ),
    "turned by half a position": (
        "not-identity-at-zero",
        halves(lambda p: for_halves((p[:, None] + 0.5) * speeds(8))),
        8,
        {},
    ),
    "clockwise for weights that need the other": (
        "other-direction",
        from_speeds(speeds(8), sign=-1),
        8,
        {"direction": "counter-clockwise"},
    ),
    "counter-clockwise for weights that need the other": (
        "other-direction",
        from_speeds(speeds(8)),
        8,
        {"direction": "clockwise"},
    ),
}


@pytest.mark.parametrize(("name", "function", "head_dim", "known"), MISTAKES.values(), ids=MISTAKES)
def test_known_mistakes_are_named(name, function, head_dim, known):
    leading = (2, 2) if head_dim < 32 else ()  # for speed
    report = diagnose(function, head_dim=head_dim, leading=leading, **known)
    assert [fault.name for fault in report.faults] == [name], str(report)
    assert not report.ok
    fault = report.faults[0]
    assert fault.remedy == FAULTS[name]
    assert fault.evidence is not None
    assert len(fault.evidence.x) == head_dim
    assert fault.evidence.got != fault.evidence.wanted
    assert str(report).count("FAULT") == 1


def test_evidence_of_mixed_layouts_is_the_known_score():
    fault = diagnose(MISTAKES["angles for neighbours, halves swapped, two pairs"][1], head_dim=4)
    assert fault.mixes_layouts
    assert fault.layout is None
    assert fault.relative is False
    assert fault.norms_kept is False
    evidence = fault.faults[0].evidence
    assert evidence.x == (1, 0, 0, 0)
    assert evidence.positions == (1, 0, 2, 1)
    numbers = [float(n) for n in re.findall(r"-?\d\.\d+", evidence.got)]
    assert numbers == pytest.approx([0.540302305868, -0.224645112032], abs=1e-6)


def test_evidence_of_rounded_positions_is_the_first_that_is_off():
    report = diagnose(rounded(w=speeds(64), positions="bfloat16"), head_dim=64)
    fault = report.faults[0]
    assert fault.evidence.positions == (257,)
    assert "257 becomes 256" in fault.message
    assert report.angle_precision == "bfloat16 positions"
    assert report.base == 10_000
    later = diagnose(rounded(w=speeds(64), positions="float16"), head_dim=64).faults[0]
    assert later.evidence.positions == (2049,)
    assert "2049 becomes 2048" in later.message


@pytest.mark.parametrize(
    ("narrow", "base"), [("bfloat16", 10_000), ("float16", 10_000), ("bfloat16", 500_000)]
)
def test_rounded_frequencies_still_show_their_base(narrow, base):
    report = diagnose(rounded(w=speeds(128, base), frequencies=narrow), head_dim=128)
    assert report.base == base
    assert report.angle_precision == f"{narrow} frequencies"
    assert report.relative is True


def test_both_orders_of_one_layout_are_right():
    """Neither layout is a mistake, and permuted weights make their scores equal."""
    x, order = np.array([[1.0, 2, 3, 4]]), [0, 2, 1, 3]
    interleaved, half = (from_speeds(speeds(4), layout) for layout in LAYOUTS)
    at = np.array([1])
    assert interleaved(x, at)[0] == pytest.approx(
        [-1.142639664, 1.922075597, 2.959850668, 4.029799502], abs=1e-9
    )
    assert half(x[:, order], at) == pytest.approx(interleaved(x, at)[:, order])
    assert diagnose(interleaved, head_dim=4).ok
    assert diagnose(half, head_dim=4).ok


def test_pair_index_of_a_channel_is_its_half():
    def by_channel(p):
        channel = np.arange(16)
        return p[:, None] / 10_000.0 ** (2 * (channel // 2) / 16)

    report = diagnose(neighbours(by_channel), head_dim=16)
    assert report.findings == ()
    assert report.layout == "interleaved"


def test_the_report_reads_as_a_table_and_as_json():
    report = diagnose(from_speeds(speeds(64), sign=-1), head_dim=64, layout="interleaved")
    text = str(report)
    assert "layout           half-split\n" in text
    assert "base             10000\n" in text
    assert "rotary width     64 of 64\n" in text
    assert "frequencies      1, 0.749894, 0.562341, ..., 0.000133352\n" in text
    assert "FAULT other-layout: pairs are half-split, not interleaved\n" in text
    assert "seen with x = e0 (1 in component 0, else 0), position 1: got a part in comp" in text
    assert "remedy: permute the rows" in text
    assert "note clockwise" in text
    assert text.endswith("1 fault found")
    again = json.loads(json.dumps(report.to_dict()))
    assert again["ok"] is False
    assert again["findings"][0]["evidence"]["positions"] == [1]
    assert "unknown" in str(Report(head_dim=4))
    assert str(Report(head_dim=4)).endswith("no fault found")


# Faults of the calls themselves are in test_diagnose_calls.py.
CALLS = {"raises", "result-conversion", "result-shape", "result-dtype", "not-finite"}
CALLS |= {"mutates-input", "not-deterministic", "batch-rows-differ", "ignores-positions"}
CALLS |= {"not-linear", "not-relative", "query-key-differ"}


def test_every_fault_has_a_remedy_and_a_broken_function():
    assert set(FAULTS) == CALLS | {name for name, *_ in MISTAKES.values()}
    assert not set(FAULTS) & set(NOTES)
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) for name in FAULTS | NOTES)
    assert all(FAULTS.values())


def good(x, positions):
    return rotate(x, positions, frequencies(8))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: diagnose(3, head_dim=8), TypeError, "rotate must be a function"),
        (lambda: diagnose(good, head_dim=8, key="f"), TypeError, "key must be a function"),
        (lambda: diagnose(good, head_dim=8.0), TypeError, "head_dim must be an integer, got 8.0"),
        (lambda: diagnose(good, head_dim=True), TypeError, "head_dim must be an integer"),
        (lambda: diagnose(good, head_dim="8"), TypeError, "head_dim must be an integer"),
        (lambda: diagnose(good, head_dim=1), ValueError, "head_dim must be at least 2, got 1"),
        (lambda: diagnose(good, head_dim=8, layout="neox"), ValueError, "layout must be"),
        (lambda: diagnose(good, head_dim=8, direction="left"), ValueError, "direction must be"),
        (lambda: diagnose(good, head_dim=8, base=1.0), ValueError, "base must be"),
        (lambda: diagnose(good, head_dim=8, base=np.nan), ValueError, "base must be finite"),
        (lambda: diagnose(good, head_dim=8, base="1"), TypeError, "base must hold real numbers"),
        (lambda: diagnose(good, head_dim=8, rotary_width=3), ValueError, "rotary_width must be a"),
        (
            lambda: diagnose(good, head_dim=8, rotary_width=10),
            ValueError,
            "rotary_width must not exceed head_dim = 8, got 10",
        ),
        (
            lambda: diagnose(good, head_dim=8, frequencies=[1, 1, 1, 1, 1]),
            ValueError,
            "frequencies must be at most head_dim / 2 = 4 numbers",
        ),
        (lambda: diagnose(good, head_dim=8, frequencies=[-1.0]), ValueError, "none negative"),
        (lambda: diagnose(good, head_dim=8, frequencies=[]), ValueError, "frequencies must be a v"),
        (lambda: diagnose(good, head_dim=8, frequencies=[1j]), TypeError, "frequencies must hold"),
        (lambda: diagnose(good, head_dim=8, frequencies=[np.inf]), ValueError, "must be finite"),
        (lambda: diagnose(good, head_dim=8, max_position=8), ValueError, "max_position must be at"),
        (
            lambda: diagnose(good, head_dim=8, max_position=2**32),
            ValueError,
            r"max_position must not exceed 2\*\*31",
        ),
        (lambda: diagnose(good, head_dim=8, dtype="int64"), ValueError, "dtype must be one of"),
        (lambda: diagnose(good, head_dim=8, dtype="wide"), TypeError, "dtype must be one of"),
        (lambda: diagnose(good, head_dim=8, leading=(0,)), ValueError, "leading must be at least"),
        (lambda: diagnose(good, head_dim=8, leading=(2.0,)), TypeError, "leading must be an int"),
        (lambda: from_tables(1, tables), TypeError, "apply must be a function"),
        (lambda: from_tables(apply_rotary, 1), TypeError, "tables must be a function"),
        (
            lambda: from_tables(apply_rotary, tables, convert=1),
            TypeError,
            "convert must be a function",
        ),
        (lambda: from_tables(apply_rotary, tables, which="v"), ValueError, "which must be"),
    ],
)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()
