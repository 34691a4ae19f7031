"""Writes what the peers compute on small inputs to tests/unit/data/peers.

`python tests/peers/record.py`, in the environment of the peers. The tests of the library read
the files, so that it is compared with the peers where those are not installed; `make peers`
checks that the files are what the installed peers compute.
"""

import json
import sys
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).parents[1] / "unit" / "data" / "peers"
POSITIONS = np.array([[0, 1, 7, 4095, 131_071]])
PACKAGES = ("transformers", "torch", "onnxruntime", "onnx")


def rotary() -> list[dict[str, Any]]:
    """Return queries of one head before and after they turn."""
    from families import FAMILIES, build, names, queries_and_keys

    records = []
    for name, family in zip(names(FAMILIES), FAMILIES, strict=True):
        model = build(family.model_type, family.config)
        ((before, _),) = queries_and_keys(model, np.zeros_like(POSITIONS))
        ((after, _),) = queries_and_keys(model, POSITIONS)
        records.append(
            {
                "name": name,
                "peer": f"transformers, model type {family.model_type}",
                "layout": family.layout,
                "width": family.width,
                "base": family.base,
                "start": family.start,
                "inverse": family.inverse,
                "positions": POSITIONS[0],
                "before": before[0, 0],
                "after": after[0, 0],
            }
        )
    return records + onnx_operators()


def onnx_operators() -> list[dict[str, Any]]:
    """Return what the operators of ONNX do, in the same form."""
    from operators import LAYOUTS, turn

    records = []
    positions = np.array([[0, 1, 7, 30, 31]])
    before = np.random.default_rng(9).normal(size=(1, 1, 5, 16)).astype(np.float32)
    for domain, evaluator, peer in [
        ("com.microsoft", "runtime", "onnxruntime, com.microsoft RotaryEmbedding"),
        ("", "runtime", "onnxruntime, ai.onnx RotaryEmbedding 23"),
        ("", "reference", "onnx, reference evaluator of RotaryEmbedding 23"),
    ]:
        for layout in LAYOUTS:
            after = turn(before, positions, domain, evaluator, layout, width=8)
            records.append(
                {
                    "name": f"{peer}, {layout}",
                    "peer": peer,
                    "layout": layout,
                    "width": 8,
                    "base": 10_000.0,
                    "start": 0,
                    "inverse": False,
                    "positions": positions[0],
                    "before": before[0, 0],
                    "after": after[0, 0],
                }
            )
    return records


def calls() -> dict[str, list[dict[str, Any]]]:
    """Return results beside the call of posenc that gives them."""
    from relative import (
        deberta_weights,
        shaw_of_a_speech_encoder,
        transformer_xl_of_a_speech_encoder,
        transformer_xl_of_xlnet,
    )
    from scaled import SETTINGS
    from tables import alibi_slopes_of_bloom, sinusoids_of_models, t5_buckets

    small = {"heads": 2, "width": 4}
    return {
        "scaling": _records(setting.call(name) for name, setting in SETTINGS.items()),
        "bias": _records(
            [
                *(alibi_slopes_of_bloom(heads) for heads in (1, 3, 6, 8, 12, 16)),
                *(
                    t5_buckets(buckets, furthest, bidirectional)
                    for buckets, furthest in ((32, 128), (64, 256), (320, 800))
                    for bidirectional in (True, False)
                ),
                deberta_weights(1, 6, span=2, **small),
                deberta_weights(2, 12, span=4, **small),
                shaw_of_a_speech_encoder(6, clip=2, **small),
                transformer_xl_of_a_speech_encoder(5, **small),
                transformer_xl_of_xlnet(4, 3, clamp=None, **small),
                transformer_xl_of_xlnet(4, 3, clamp=2, **small),
            ]
        ),
        "absolute": _records(sinusoids_of_models()),
    }


def _records(made: Iterable[Any]) -> list[dict[str, Any]]:
    return [
        {
            "name": call.name,
            "peer": call.peer,
            "function": call.function,
            "arguments": dict(call.arguments),
            "weights": call.weights,
            "result": call.result,
        }
        for call in made
    ]


def plain(value: Any) -> Any:
    """Return what JSON can hold; nine digits carry any float32."""
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float | np.floating):
        return float(f"{value:.9g}")
    return value.item() if isinstance(value, np.generic) else value


def everything() -> dict[str, list[dict[str, Any]]]:
    """Return the records of every file."""
    return plain({"rotary": rotary(), **calls()})


def write(name: str, records: list[dict[str, Any]]) -> Path:
    """Write one record a line, so that a change shows which."""
    path = FOLDER / f"{name}.json"
    made_with = {package: version(package) for package in PACKAGES}
    lines = ",\n".join(json.dumps(record) for record in records)
    path.write_text(f'{{"made_with": {json.dumps(made_with)},\n"records": [\n{lines}\n]}}\n')
    return path


def main() -> None:
    """Write every file."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, records in everything().items():
        path = write(name, records)
        print(f"{path.name}: {len(records)} records, {path.stat().st_size} bytes")


if __name__ == "__main__":
    here = Path(__file__).parent
    sys.path[:0] = [str(here), str(here.parents[1] / "src")]
    import conftest  # noqa: F401 - settings that must hold before a peer is imported

    main()
