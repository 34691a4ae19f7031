"""posenc.diagnose on functions that misbehave, and as a command."""

import json
import re
import sys
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from posenc.absolute import frequencies
from posenc.diagnose import Report, diagnose, main
from posenc.rotary import rotate


def good(x, positions):
    return rotate(x, positions, frequencies(x.shape[-1]))


def raising(error):
    def function(x, positions):
        raise error

    return function


class UnprintableError(Exception):
    def __str__(self):
        raise RuntimeError("no text")


class Unreadable:
    def __array__(self, dtype=None, copy=None):
        raise TypeError("this tensor requires a gradient")


def in_place(x, positions):
    x[:] = good(x, positions)
    return x


def writes_positions(x, positions):
    answer = good(x, positions)
    positions += 1
    return answer


def constant_offset(x, positions):
    return good(x, positions[0] + np.arange(x.shape[-2]))


def from_zero(x, positions):
    return good(x, np.arange(x.shape[-2]))


def by_batch_row(x, positions):
    """Take the first axis for the sequence, as code for (length, batch, width) does."""
    return good(x, np.arange(x.shape[0])[:, None, None])


def first_row_only(x, positions):
    answer = x.copy()
    answer[:1] = good(x[:1], positions)
    return answer


def first_row_only_when_decoding(x, positions):
    return first_row_only(x, positions) if x.shape[-2] == 1 else good(x, positions)


def normalised(x, positions):
    size = np.linalg.norm(x, axis=-1, keepdims=True)
    return good((x / np.where(size == 0, 1, size)).astype(x.dtype), positions)


def with_bias(x, positions):
    return (good(x, positions) + 0.1).astype(x.dtype)


def neighbours_leak(x, positions):
    answer = good(x, positions)
    if (positions != positions[0]).any():
        answer[..., 1:, :] += x[..., :-1, :]
    return answer


def squares_two_positions(x, positions):
    """Go wrong for two vectors at a time, as a special path for that length may."""
    return good(x, positions**2 if x.shape[-2] == 2 else positions)


def not_finite_from(limit):
    def function(x, positions):
        answer = good(x, positions)
        answer[..., positions >= limit, 0] = np.nan
        return answer

    return function


class Reuses:
    """Returns the same memory each time."""

    def __init__(self):
        self.memory = {}

    def __call__(self, x, positions):
        memory = self.memory.setdefault(x.shape, np.empty_like(x))
        return rotate(x, positions, frequencies(x.shape[-1]), out=memory)


def drifting():
    calls = iter(range(10**6))
    return lambda x, p: (good(x, p) * (1 + 1e-3 * next(calls))).astype(x.dtype)


MISBEHAVIOUR = {
    "raises": ("raises", raising(ValueError("no such\nthing"))),
    "raises without a text": ("raises", raising(KeyError())),
    "raises what cannot be printed": ("raises", raising(UnprintableError())),
    "exits": ("raises", raising(SystemExit(3))),
    "takes other arguments": ("raises", lambda x: x),
    "divides by zero": ("raises", lambda x, p: 1 / 0),
    "returns nothing": ("result-dtype", lambda x, p: None),
    "returns text": ("result-dtype", lambda x, p: "rotated"),
    "returns a number": ("result-shape", lambda x, p: 1.0),
    "returns objects": ("result-dtype", lambda x, p: x.astype(object)),
    "returns complex numbers": ("result-dtype", lambda x, p: x[..., 0::2] + 1j * x[..., 1::2]),
    "returns integers": ("result-dtype", lambda x, p: x.astype(int)),
    "returns booleans": ("result-dtype", lambda x, p: x > 0),
    "returns query and key": ("result-shape", lambda x, p: (good(x, p), good(x, p))),
    "returns unequal parts": ("result-conversion", lambda x, p: [x, x[..., :1, :]]),
    "returns what NumPy cannot read": ("result-conversion", lambda x, p: Unreadable()),
    "drops an axis": ("result-shape", lambda x, p: x[0]),
    "swaps axes": ("result-shape", lambda x, p: good(x, p).swapaxes(-1, 0)),
    "returns float64": ("result-dtype", lambda x, p: good(x, p).astype(float)),
    "returns float16": ("result-dtype", lambda x, p: good(x, p).astype(np.float16)),
    "returns NaN": ("not-finite", not_finite_from(0)),
    "overflows far out": ("not-finite", not_finite_from(1000)),
    "writes into x": ("mutates-input", in_place),
    "writes into positions": ("mutates-input", writes_positions),
    "changes from call to call": ("not-deterministic", drifting()),
    "counts from an offset": ("ignores-positions", constant_offset),
    "counts from zero": ("ignores-positions", from_zero),
    "rotates by batch row": ("batch-rows-differ", by_batch_row),
    "rotates one batch row": ("batch-rows-differ", first_row_only),
    "rotates one batch row when decoding": ("batch-rows-differ", first_row_only_when_decoding),
    "normalises": ("not-linear", normalised),
    "adds a bias": ("not-linear", with_bias),
    "goes wrong for two vectors": ("not-relative", squares_two_positions),
    "lets neighbours leak": ("ignores-positions", neighbours_leak),
}


@pytest.mark.parametrize(("name", "function"), MISBEHAVIOUR.values(), ids=MISBEHAVIOUR)
def test_misbehaviour_is_a_finding(name, function):
    report = diagnose(function, head_dim=8)
    assert name in [fault.name for fault in report.faults], str(report)
    assert not report.ok
    fault = next(fault for fault in report.faults if fault.name == name)
    assert fault.evidence is not None
    assert fault.remedy
    assert "FAULT" in str(report)
    json.dumps(report.to_dict())


def test_what_was_raised_is_told():
    fault = diagnose(raising(ValueError("no such\nthing")), head_dim=8).faults[0]
    assert fault.message == "it raises ValueError: no such"
    assert fault.evidence.positions == (0,)
    assert "it raises UnprintableError" in str(diagnose(raising(UnprintableError()), head_dim=8))


def test_a_fault_of_the_call_does_not_hide_the_rotation():
    report = diagnose(in_place, head_dim=8)
    assert [f.name for f in report.faults] == ["mutates-input"]
    assert (report.layout, report.base, report.relative) == ("interleaved", 10_000, True)
    far = diagnose(not_finite_from(1000), head_dim=8)
    assert far.base == 10_000
    assert far.faults[0].evidence.positions == (1023,)


def test_interrupts_are_not_swallowed():
    with pytest.raises(KeyboardInterrupt):
        diagnose(raising(KeyboardInterrupt()), head_dim=8)


def test_warnings_of_the_function_are_its_own():
    def loud(x, positions):
        warnings.warn("deprecated", DeprecationWarning, stacklevel=1)
        np.array([1.0]) / np.array([0.0])
        return good(x, positions)

    assert diagnose(loud, head_dim=8).ok


def test_memory_may_be_reused():
    assert diagnose(Reuses(), head_dim=8, dtype=np.float64).ok


@settings(max_examples=50, deadline=None)
@given(
    st.sampled_from([(8,), (8, 8), (2, 2, 8, 8), (2, 2, 1, 8)]).flatmap(
        lambda shape: hnp.arrays(np.float32, shape, elements=st.floats(width=32))
    )
)
def test_never_crashes_on_any_answer(answer):
    report = diagnose(lambda x, p: answer, head_dim=8)
    assert isinstance(report, Report)
    assert not report.ok
    assert str(report)


@settings(max_examples=80, deadline=None)
@given(
    hnp.arrays(np.float64, (6, 6), elements=st.sampled_from([0.0, 0.0, 1.0, -1.0, 0.3, 5.0])),
    hnp.arrays(np.float64, (6, 6), elements=st.sampled_from([0.0, 0.0, 1.0, 1e-3, 2.0, 40.0])),
    st.sampled_from([np.cos, np.sin, np.sqrt, np.exp, np.ones_like]),
    st.sampled_from([None, 4]),
)
def test_never_crashes_on_any_linear_map(weights, angles, function, rotary_width):
    def linear(x, positions):
        matrices = weights * function(np.minimum(positions[:, None, None] * angles, 20.0))
        return np.einsum("lij,...lj->...li", matrices, x).astype(x.dtype)

    report = diagnose(linear, head_dim=6, rotary_width=rotary_width, base=10_000.0)
    assert str(report)
    json.dumps(report.to_dict())


MODULE = """
import numpy as np
from posenc.absolute import frequencies
from posenc.rotary import rotate

def good(x, positions):
    return rotate(x, positions, frequencies(x.shape[-1]))

class Holder:
    @staticmethod
    def half(x, positions):
        return rotate(x, positions, frequencies(x.shape[-1]), layout="half-split")

number = 3
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    (tmp_path / "rotations_under_test.py").write_text(MODULE)
    (tmp_path / "broken_under_test.py").write_text("raise RuntimeError('not today')")
    (tmp_path / "leaving_under_test.py").write_text("raise SystemExit(0)")
    yield "rotations_under_test"
    sys.modules.pop("rotations_under_test", None)


def test_command_finds_no_fault(module, capsys):
    assert main([f"{module}:good", "--head-dim", "8"]) == 0
    out, err = capsys.readouterr()
    assert "layout           interleaved" in out
    assert out.endswith("no fault found\n")
    assert err == ""


def test_command_finds_a_fault(module, capsys):
    function = f"{module}:Holder.half"
    assert main([function, "--head-dim", "8", "--layout", "interleaved", "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["layout"] == "half-split"
    assert told["findings"][0]["name"] == "other-layout"
    options = ["--base", "5e5", "--rotary-width", "4", "--direction", "clockwise"]
    assert main([function, "--head-dim", "8", *options]) == 1
    text = capsys.readouterr().out
    assert all(name in text for name in ("other-base", "other-width", "other-direction"))
    assert main([function, "--head-dim", "8", "--key", f"{module}:good"]) == 1
    assert "query-key-differ" in capsys.readouterr().out


def test_command_options(module, capsys):
    options = ["--dtype", "float64", "--leading", "", "--max-position", "100"]
    assert main([f"{module}:good", "--head-dim", "8", *options]) == 0
    assert "angle precision  float64" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["rotations_under_test", "--head-dim", "8"], "must be given as MODULE:FUNCTION"),
        ([":good", "--head-dim", "8"], "must be given as MODULE:FUNCTION"),
        (["no_such_module:f", "--head-dim", "8"], "cannot load no_such_module:f: ModuleNotFound"),
        (["rotations_under_test:no", "--head-dim", "8"], "cannot load .*AttributeError"),
        (["rotations_under_test:number", "--head-dim", "8"], "rotate must be a function"),
        (["broken_under_test:f", "--head-dim", "8"], "RuntimeError: not today"),
        (["leaving_under_test:f", "--head-dim", "8"], "SystemExit"),
        (["rotations_under_test:good", "--head-dim", "1"], "head_dim must be at least 2"),
        (["rotations_under_test:good", "--head-dim", "x"], "invalid int value"),
        (["rotations_under_test:good"], "--head-dim"),
        (["rotations_under_test:good", "--head-dim", "8", "--leading", "a"], "invalid literal"),
        (["rotations_under_test:good", "--head-dim", "8", "--dtype", "int8"], "dtype must be one"),
        (["rotations_under_test:good", "--head-dim", "8", "--layout", "neox"], "invalid choice"),
    ],
)
def test_command_with_bad_arguments(module, capsys, arguments, message):
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert re.search(message, err)


def test_command_help(capsys):
    assert main(["--help"]) == 0
    assert "MODULE:FUNCTION" in capsys.readouterr().out
