"""The pages and notebooks of the book, in reading order."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml


def documents(toc: Path) -> list[str]:
    """Every document named in `_toc.yml`, in order, as written there (without extension).

    Raises
    ------
    ValueError
        If the file is missing or holds no table of contents.
    """
    try:
        content = yaml.safe_load(Path(toc).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ValueError(f"{toc}: no such file") from None
    except yaml.YAMLError as error:
        raise ValueError(f"{toc}: not YAML: {str(error).splitlines()[0]}") from None
    if not isinstance(content, dict) or "root" not in content:
        raise ValueError(f"{toc}: not a table of contents: it has no root")
    return list(_walk(content))


def notebooks(toc: Path) -> list[str]:
    """The documents of `_toc.yml` that are sections: `notebooks/<part>/<name>`."""
    return [name for name in documents(toc) if name.startswith("notebooks/")]


def _walk(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        for key, value in node.items():
            if key in ("root", "file") and isinstance(value, str):
                yield value.removesuffix(".ipynb").removesuffix(".md")
            else:
                yield from _walk(value)
    elif isinstance(node, list):
        for item in node:
            yield from _walk(item)
