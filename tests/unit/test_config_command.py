"""python -m posenc config FILE: what people and programs see."""

import json
import math
import subprocess
import sys
from pathlib import Path

import pytest

from posenc.__main__ import main

CONFIGS = {
    (item["model"], item["spelling"]): item["config"]
    for item in json.loads(
        (Path(__file__).parent / "data" / "configs" / "configs.json").read_text()
    )
}


@pytest.fixture
def file(tmp_path):
    def write(model):
        path = tmp_path / "config.json"
        path.write_text(json.dumps(CONFIGS[model, "as published"]))
        return str(path)

    return write


def run(capsys, *arguments):
    code = main(["config", *arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_table(file, capsys):
    code, out, err = run(capsys, file("meta-llama/Llama-3.1-405B"))
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert "method            llama3" in lines
    assert "base              500000" in lines
    assert "rotary width      128 of 128" in lines
    assert "layout            half-split" in lines
    assert "attention factor  1 (rotated scores times 1)" in lines
    planes = [line.split() for line in lines if line.strip()[:1].isdigit()]
    assert len(planes) == 64
    assert planes[0] == ["0", "1", "6.28319", "1303.8", "kept"]
    assert planes[28][4:] == ["kept"]
    assert planes[29][4:] == ["slower", "by", "1.20748"]
    assert planes[35][4:] == planes[63][4:] == ["slower", "by", "8"]


def test_attention_and_softmax_factors(file, capsys):
    _, out, _ = run(capsys, file("openai/gpt-oss-20b"))
    assert "attention factor  1.34657359028 (rotated scores times 1.81326043404)" in out
    _, out, _ = run(capsys, file("deepseek-ai/DeepSeek-R1"))
    assert "softmax factor    1.87385420709 (all scores)" in out
    assert "attention factor  1 (" in out
    assert "rotary width      64 of 192" in out


def test_layers(file, capsys):
    path = file("LGAI-EXAONE/EXAONE-4.0-32B")
    _, out, _ = run(capsys, path, "--layer", "3")
    assert "positions         none" in out
    assert "layer             3 full_attention" in out
    assert "pair" not in out
    _, out, _ = run(capsys, path, "--layer", "sliding_attention")
    assert "positions         rope" in out
    _, out, _ = run(capsys, path)
    assert "- 16 layers do not rotate: 3, 7, 11, 15, 19, 23, 27, 31, ..." in out


def test_length(file, capsys):
    path = file("microsoft/Phi-4-mini-instruct")
    short, long = (run(capsys, path, "--length", length)[1] for length in ("4096", "4097"))
    assert "slower by" not in short
    assert "slower by 47.77" in long


def test_kinds_without_rotation(file, capsys):
    _, out, _ = run(capsys, file("bigscience/bloom-560m"))
    assert "positions         alibi" in out
    assert "heads             16" in out
    assert "- offset_alibi is ignored: this model does not read it" in out


def test_json(file, capsys):
    code, out, _ = run(capsys, file("meta-llama/Llama-3.1-405B"), "--json")
    assert code == 0
    document = json.loads(out)
    assert document["kind"] == "rope"
    assert document["base"] == 500_000
    assert document["notes"] == []
    assert [plane["pair"] for plane in document["planes"]] == list(range(64))
    last = document["planes"][63]
    assert last["slowdown"] == pytest.approx(8)
    assert last["wavelength"] == pytest.approx(2 * math.pi / last["frequency"])
    assert last["turns"] == pytest.approx(8192 * last["unscaled_frequency"] / (2 * math.pi))


def test_planes_that_do_not_turn(tmp_path, capsys):
    path = tmp_path / "config.json"
    block = {"rope_type": "proportional", "partial_rotary_factor": 0.5}
    path.write_text(json.dumps({"model_type": "llama", "head_dim": 8, "rope_parameters": block}))
    _, out, _ = run(capsys, str(path))
    assert out.count("does not turn") == 2
    _, out, _ = run(capsys, str(path), "--json")
    still = json.loads(out)["planes"][3]
    assert (still["frequency"], still["wavelength"], still["slowdown"]) == (0, None, None)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["/no/such/file"], 1, "error: '/no/such/file' cannot be read: No such file"),
        (["FILE", "--layer", "999"], 2, "error: layer must be below the 126 layers, got 999"),
        (["FILE", "--layer", "global"], 2, "error: layer must be one of attention, got 'global'"),
        (["FILE", "--length", "0"], 2, "error: length must be at least 1, got 0"),
    ],
)
def test_errors_are_one_line(file, capsys, arguments, code, message):
    path = file("meta-llama/Llama-3.1-405B")
    got, out, err = run(capsys, *(path if word == "FILE" else word for word in arguments))
    assert (got, out) == (code, "")
    assert err.startswith(message)
    assert err.count("\n") == 1


@pytest.mark.parametrize("arguments", [["config"], ["config", "a", "--length", "many"]])
def test_wrong_usage(arguments, capsys):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert "usage: python -m posenc config" in capsys.readouterr().err


def test_commands_are_listed(capsys):
    assert main([]) == 2
    assert "config FILE" in capsys.readouterr().err
    assert main(["--help"]) == 0
    assert "diagnose MODULE:FUNCTION" in capsys.readouterr().out
    assert main(["made-up"]) == 2


def test_as_a_program(file):
    command = [sys.executable, "-m", "posenc", "config", file("gpt2")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "positions         learned" in done.stdout
