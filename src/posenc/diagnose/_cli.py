"""The command ``python -m posenc diagnose MODULE:FUNCTION --head-dim N``."""

import argparse
import importlib
import json
import sys
from typing import Any


def main(argv: list[str]) -> int:
    """Diagnose the function named on the command line and print the report.

    Parameters
    ----------
    argv : list of str
        Arguments after ``diagnose``.

    Returns
    -------
    int
        0 if no fault was found, 1 if one was, 2 if the function could not be
        had or an argument is wrong.
    """
    try:
        options = _parser().parse_args(argv)
    except SystemExit as end:  # argparse has printed what is wrong
        return 0 if end.code == 0 else 2
    from posenc.diagnose import diagnose  # the package imports this module

    try:
        rotate = _load(options.function)
        key = None if options.key is None else _load(options.key)
        report = diagnose(
            rotate,
            head_dim=options.head_dim,
            key=key,
            layout=options.layout,
            direction=options.direction,
            base=options.base,
            rotary_width=options.rotary_width,
            max_position=options.max_position,
            dtype=options.dtype,
            leading=tuple(int(n) for n in options.leading.split(",") if n.strip()),
        )
    except (TypeError, ValueError) as error:
        print(f"posenc diagnose: {error}", file=sys.stderr)
        return 2
    print(json.dumps(report.to_dict(), indent=2) if options.json else report)
    return 0 if report.ok else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m posenc diagnose",
        description="Say what a function f(x, positions) that rotates queries or keys really does.",
    )
    parser.add_argument("function", metavar="MODULE:FUNCTION")
    parser.add_argument("--head-dim", type=int, required=True, metavar="N")
    parser.add_argument(
        "--key", metavar="MODULE:FUNCTION", help="the function for keys, if another"
    )
    parser.add_argument("--layout", choices=("interleaved", "half-split"), help="what is wanted")
    parser.add_argument("--direction", choices=("counter-clockwise", "clockwise"))
    parser.add_argument("--base", type=float)
    parser.add_argument("--rotary-width", type=int)
    parser.add_argument("--max-position", type=int, default=4096)
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--leading", default="2,2", help="axes of x before its length, e.g. 2,2")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    return parser


def _load(name: str) -> Any:
    """Return the function that MODULE:FUNCTION names."""
    module_name, colon, path = name.partition(":")
    if not (module_name and colon and path):
        raise ValueError(f"the function must be given as MODULE:FUNCTION, got {name!r}")
    try:
        found: Any = importlib.import_module(module_name)
        for part in path.split("."):
            found = getattr(found, part)
    # A foreign module may do anything while it is imported.
    except (Exception, SystemExit) as error:
        raise ValueError(f"cannot load {name}: {type(error).__name__}: {error}") from error
    return found
