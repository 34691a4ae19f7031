"""A configuration as a table to read or as JSON: ``python -m posenc config FILE``."""

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from math import pi

from posenc.config._fields import ConfigError
from posenc.config._read import read
from posenc.config._scheme import PositionScheme

__all__ = ["as_dict", "as_text", "main"]


def main(argv: Sequence[str]) -> int:
    """Print what a configuration says about positions; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m posenc config",
        description="Show which positions a model computes, from its config.json.",
    )
    parser.add_argument("file", help="a config.json, or the directory that holds it")
    parser.add_argument("--length", type=int, help="current length in positions")
    parser.add_argument("--layer", help="layer index from 0, or a layer type")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args(argv)
    layer = options.layer
    try:
        if layer is not None and layer.lstrip("-").isdecimal():
            layer = int(layer)
        scheme = read(options.file, length=options.length, layer=layer)
    except ValueError as error:  # ConfigError is one
        print(f"error: {error}", file=sys.stderr)
        return 1 if isinstance(error, ConfigError) else 2
    print(json.dumps(as_dict(scheme), indent=2) if options.json else as_text(scheme))
    return 0


def as_dict(scheme: PositionScheme) -> dict[str, object]:
    """Return everything about a scheme in types that JSON has."""
    rope = scheme.rope
    return {
        "kind": scheme.kind,
        "model_type": scheme.model_type,
        "layer": scheme.layer,
        "layer_type": scheme.layer_type,
        "layer_types": list(scheme.layer_types),
        "turning_layers": list(scheme.turning_layers),
        "method": scheme.method,
        "base": scheme.base,
        "head_width": scheme.head_width,
        "rotary_width": scheme.rotary_width,
        "layout": scheme.layout,
        "trained_length": scheme.trained_length,
        "max_length": scheme.max_length,
        "attention_factor": None if rope is None else rope.attention_factor,
        "softmax_factor": scheme.softmax_factor,
        "details": dict(scheme.details),
        "planes": list(_planes(scheme)),
        "notes": list(scheme.notes),
    }


def _planes(scheme: PositionScheme) -> Iterator[dict[str, object]]:
    """Yield what is known of each pair; a pair that does not turn has no wavelength."""
    if scheme.rope is None or scheme.unscaled is None:
        return
    pairs = zip(scheme.rope.frequencies.tolist(), scheme.unscaled.tolist(), strict=True)
    for index, (frequency, unscaled) in enumerate(pairs):
        wavelength = 2 * pi / frequency if frequency else None
        length = scheme.trained_length
        yield {
            "pair": index,
            "frequency": frequency,
            "unscaled_frequency": unscaled,
            "wavelength": wavelength,
            "turns": None if length is None else length * unscaled / (2 * pi),
            "slowdown": unscaled / frequency if frequency else None,
        }


def as_text(scheme: PositionScheme) -> str:
    """Return a table for people."""
    return "\n".join([*_head(scheme), *_table(scheme), *_notes(scheme.notes)])


def _head(scheme: PositionScheme) -> Iterator[str]:
    def line(name: str, value: object) -> str:
        return f"{name:<18}{value}"

    yield line("positions", scheme.kind)
    yield line("model type", scheme.model_type or "not given")
    if scheme.layer_type is not None or scheme.layer is not None:
        index = "" if isinstance(scheme.layer, str | None) else f"{scheme.layer} "
        yield line("layer", f"{index}{scheme.layer_type or ''}".strip())
    for name, value in scheme.details.items():
        yield line(name.replace("_", " "), value)
    if scheme.max_length is not None:
        yield line("declared length", scheme.max_length)
    if scheme.rope is None:
        return
    yield line("method", scheme.method)
    yield line("base", f"{scheme.base:.15g}")
    yield line("trained length", scheme.trained_length or "not given")
    head = "" if scheme.head_width is None else f" of {scheme.head_width}"
    yield line("rotary width", f"{scheme.rotary_width}{head}")
    yield line("layout", scheme.layout or "not known")
    factor = scheme.rope.attention_factor
    yield line("attention factor", f"{factor:.12g} (rotated scores times {factor**2:.12g})")
    yield line("softmax factor", f"{scheme.softmax_factor:.12g} (all scores)")


def _table(scheme: PositionScheme) -> Iterator[str]:
    if scheme.rope is None:
        return
    yield ""
    yield f"{'pair':>5} {'frequency':>14} {'wavelength':>14} {'turns':>12}  scaling"
    for plane in _planes(scheme):
        yield (
            f"{plane['pair']:>5} {_number(plane['frequency'])} {_number(plane['wavelength'])} "
            f"{_number(plane['turns'], 12)}  {_scaling(plane['slowdown'])}"
        )
    yield "wavelength in positions; turns within the trained length, before scaling"


def _number(value: object, width: int = 14) -> str:
    return f"{value:>{width}.6g}" if isinstance(value, float) else f"{'-':>{width}}"


def _scaling(slowdown: object) -> str:
    if not isinstance(slowdown, float):
        return "does not turn"
    return "kept" if abs(slowdown - 1) < 1e-12 else f"slower by {slowdown:.6g}"


def _notes(notes: Iterable[str]) -> Iterator[str]:
    lines = [f"- {note}" for note in notes]
    if lines:
        yield from ("", "notes", *lines)
