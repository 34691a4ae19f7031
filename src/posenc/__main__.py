"""Command line: ``python -m posenc config FILE`` and ``python -m posenc diagnose ...``."""

import sys
from collections.abc import Sequence

__all__ = ["main"]

_USAGE = """usage: python -m posenc COMMAND ...

  config FILE [--length N] [--layer L] [--json]
      show which positions a model computes, from its config.json
  diagnose MODULE:FUNCTION --head-dim N
      find out what a rotation of another library does

Each command explains itself with --help."""


def main(argv: Sequence[str]) -> int:
    """Run one command and return its exit code."""
    command, rest = (argv[0], list(argv[1:])) if argv else ("", [])
    # Each command loads only what it needs.
    if command == "config":
        from posenc.config._report import main as config

        return config(rest)
    if command == "diagnose":
        from posenc.diagnose import main as diagnose

        return diagnose(rest)
    wanted = command in ("-h", "--help")
    print(_USAGE, file=sys.stdout if wanted else sys.stderr)
    return 0 if wanted else 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
