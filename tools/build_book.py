"""Build the book into _build/html: from scratch, every warning a fault, quiet when all is well.

A whole build takes seconds, so nothing of an earlier one is kept and no page can be out of date.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from toc import documents

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "_build"
HTML = BUILD / "html"
LOG = BUILD / "build.log"

# `jupyter-book build` with -W (a warning is a fault), -n (so is a dangling reference)
# and --keep-going (report all faults, not the first one).
COMMAND = [
    sys.executable, "-c", "from jupyter_book.cli.main import main; main()",
    "build", str(ROOT), "--path-output", str(ROOT), "-W", "-n", "--keep-going", "-q",
]  # fmt: skip

# Same commit, same bytes: no hash order, date or language of the machine shows in a page.
REPRODUCIBLE = {
    "PYTHONHASHSEED": "0",
    "SOURCE_DATE_EPOCH": "0",
    "TZ": "UTC",
    "LC_ALL": "C.UTF-8",
    "NO_COLOR": "1",
}

INDEX = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Position in Transformers</title>
<meta http-equiv="refresh" content="0; url={first}">
</head>
<body><h1>Position in Transformers</h1><p><a href="{first}">Open the book</a></p></body>
</html>
"""


def reasons(log: str) -> list[str]:
    """Return the lines of `log` that say what is wrong, each once and without machine paths."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", log).replace(f"{ROOT}{os.sep}", "")
    # MyST-NB counts 10,000 lines for each cell.
    plain = re.sub(r"(\.ipynb):(\d+)\d{4}:", r"\1, cell \2:", plain)
    pattern = re.compile(r"\b(?:WARNING|ERROR|CRITICAL|SEVERE): .|(?:Error|Exception): .")
    faults = dict.fromkeys(line.strip() for line in plain.splitlines() if pattern.search(line))
    # An error that was raised because of another one quotes it.
    told = [fault.split(": ", 1)[1] for fault in faults]
    return [
        fault
        for fault, text in zip(faults, told, strict=True)
        if not any(text in other and text != other for other in told)
    ]


def build() -> list[str]:
    """Build the book and return the faults found."""
    for folder in (HTML, BUILD / ".doctrees", BUILD / "jupyter_execute"):
        shutil.rmtree(folder, ignore_errors=True)
    BUILD.mkdir(exist_ok=True)
    # A file, because a pipe would stay open as long as any program that the build has started.
    with LOG.open("w", encoding="utf-8") as log_file:
        result = subprocess.run(
            COMMAND,
            cwd=ROOT,
            env=os.environ | REPRODUCIBLE,
            stdout=log_file,
            stderr=subprocess.STDOUT,
            check=False,
        )
    log = LOG.read_text("utf-8")
    faults = reasons(log)
    if result.returncode and not faults:
        faults = [log.strip() or f"jupyter-book ended with code {result.returncode}"]
    return faults or finish()


def finish() -> list[str]:
    """Write the page that leads to the first one, and return what is missing."""
    first = f"{documents(ROOT / '_toc.yml')[0]}.html"
    if not (HTML / first).is_file():
        return [f"_build/html/{first} was not built"]
    (HTML / "index.html").write_text(INDEX.format(first=first), "utf-8")
    # Holds a digest of the environment, of use only to an incremental build.
    (HTML / ".buildinfo").unlink(missing_ok=True)
    return []


def main() -> int:
    """Build, and say where the book is or what is wrong."""
    faults = build()
    if faults:
        print("The book was not built:", *faults, sep="\n  ", file=sys.stderr)
        return 1
    print("The book: _build/html/index.html")
    return 0


if __name__ == "__main__":
    sys.exit(main())
