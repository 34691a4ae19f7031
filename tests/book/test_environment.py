"""pyproject.toml, requirements.lock and environment.yml ask for one and the same environment."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
BOOK_SPEC = ">=1.0.4.post1,<2"
# Where the floor of Python is written, and what stands before and after it.
FLOORS = {
    "pyproject.toml": (r'requires-python = ">=(3\.\d+)"', r'target-version = "py(3\d+)"'),
    "environment.yml": (r"- python>=(3\.\d+)$",),
    "Makefile": (r"Python (3\.\d+) or newer", r"< \((3, \d+)\)", r"--python-version (3\.\d+)"),
    "README.md": (r"Python (3\.\d+)",),
    "CONTRIBUTING.md": (r"Python (3\.\d+)",),
}


def direct(pyproject):
    """What the library, the book and the checks ask for, by name."""
    project = tomllib.loads(pyproject)["project"]
    extras = project["optional-dependencies"]
    wanted = map(Requirement, [*project["dependencies"], *extras["book"], *extras["test"]])
    return {canonicalize_name(requirement.name): requirement.specifier for requirement in wanted}


def locked(lock):
    """Name -> version of each entry of the lock."""
    return {
        canonicalize_name(name): version
        for name, version in re.findall(r"^([\w.-]+)==(\S+)", lock, flags=re.MULTILINE)
    }


def conda(environment):
    """Name -> version or range of each package that conda or its pip section installs."""
    entries = yaml.safe_load(environment)["dependencies"]
    plain = [entry for entry in entries if isinstance(entry, str)]
    nested = [line for entry in entries if isinstance(entry, dict) for line in entry["pip"]]
    found = {}
    for entry in plain + [line for line in nested if not line.startswith("-")]:
        name, specifier = re.fullmatch(r"([\w.-]+)\s*(.*)", entry).groups()
        found[canonicalize_name(name)] = specifier
    return found


def lock_faults(pyproject, lock):
    """Direct dependencies that the lock misses or holds in a version they exclude."""
    versions = locked(lock)
    return [
        f"{name}{specifier}: locked is {versions.get(name)}"
        for name, specifier in direct(pyproject).items()
        if name not in versions or versions[name] not in specifier
    ]


def lock_form_faults(lock):
    """Entries without a hash, and lines that name a place to install from."""
    faults = []
    for entry in re.split(r"^(?=[^\s#])", lock, flags=re.MULTILINE)[1:]:
        first = entry.splitlines()[0].rstrip("\\ ")
        if not re.match(r"[\w.-]+==[\w.!+]+(?: ; .*)?$", first):
            faults.append(f"not a package with one version: {first}")
        elif "--hash=sha256:" not in entry:
            faults.append(f"no hash: {first}")
    faults += [
        f"names a place: {line.strip()}"
        for line in lock.splitlines()
        if re.search(r"://|--(?:extra-)?index|--find-links|\bfile:|(?:^|\s)\.{0,2}/\w", line)
    ]
    return faults


def conda_faults(pyproject, lock, environment):
    """Where conda would install another version than the lock, or another package."""
    versions, entries = locked(lock), conda(environment)
    faults = []
    for name in direct(pyproject):
        wanted = [BOOK_SPEC] if name == "jupyter-book" else [f"={versions.get(name)}"]
        wanted += [f"={wanted[0]}"] if wanted[0].startswith("=") else []
        if entries.get(name) not in wanted:
            faults.append(f"{name}: must be {wanted[0]}, got {entries.get(name)}")
    known = {*direct(pyproject), "python", "pip"}
    return faults + [f"{name}: not in pyproject.toml" for name in entries if name not in known]


def book_spec_faults(text):
    """Ranges given for jupyter-book other than the one that keeps the book on version 1."""
    found = re.findall(r"""jupyter-book *([<>=!~][^\s"'`;)]*)""", text)
    return [
        f"jupyter-book{spec}" for spec in found if SpecifierSet(spec) != SpecifierSet(BOOK_SPEC)
    ]


def floors(text, patterns):
    """Each floor of Python in the text, written as 3.11; "none" for a pattern not found."""
    return {
        floor.replace(", ", ".") if not floor.isdecimal() else f"{floor[0]}.{floor[1:]}"
        for pattern in patterns
        for floor in re.findall(pattern, text, flags=re.MULTILINE) or ["none"]
    }


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


# --- the files -----------------------------------------------------------------------------


def test_lock_satisfies_pyproject():
    assert lock_faults(read("pyproject.toml"), read("requirements.lock")) == []


def test_lock_has_hashes_and_names_no_place():
    assert lock_form_faults(read("requirements.lock")) == []


def test_conda_gets_the_locked_versions():
    files = map(read, ("pyproject.toml", "requirements.lock", "environment.yml"))
    assert conda_faults(*files) == []


def test_jupyter_book_stays_on_version_1():
    files = [ROOT / name for name in ("pyproject.toml", "environment.yml", "Makefile")]
    files += [*ROOT.glob("*.md"), *(ROOT / "book").glob("*.md")]
    faults = {path.name: book_spec_faults(path.read_text(encoding="utf-8")) for path in files}
    assert {name: found for name, found in faults.items() if found} == {}
    for name in ("pyproject.toml", "environment.yml"):
        assert f"jupyter-book{BOOK_SPEC}" in read(name)


def test_one_floor_of_python():
    assert {name: floors(read(name), patterns) for name, patterns in FLOORS.items()} == {
        name: {"3.11"} for name in FLOORS
    }


# --- the rules -----------------------------------------------------------------------------

PYPROJECT = """
[project]
dependencies = ["numpy>=2.1"]
[project.optional-dependencies]
book = ["jupyter-book>=1.0.4.post1,<2", "flit_core==4.2.0"]
test = ["nbval==0.11.0"]
peers = ["torch==2.13.0"]
"""
LOCK = """# made by hand
flit-core==4.2.0 \\
    --hash=sha256:aa
    # via posenc (pyproject.toml)
jupyter-book==1.0.4.post1 ; python_version < '4' \\
    --hash=sha256:bb
nbval==0.11.0 \\
    --hash=sha256:cc
numpy==2.4.6 \\
    --hash=sha256:dd
"""
CONDA = """
dependencies:
  - python>=3.11
  - numpy=2.4.6
  - jupyter-book>=1.0.4.post1,<2
  - nbval=0.11.0
  - pip:
      - flit_core==4.2.0
      - -e .
"""


def test_good_files_have_no_faults():
    assert lock_faults(PYPROJECT, LOCK) == []
    assert lock_form_faults(LOCK) == []
    assert conda_faults(PYPROJECT, LOCK, CONDA) == []


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("numpy==2.4.6", "numpy==2.0.1", "numpy>=2.1: locked is 2.0.1"),
        ("nbval==", "nbval2==", "nbval==0.11.0: locked is None"),
        ("1.0.4.post1 ;", "2.0.1 ;", "jupyter-book<2,>=1.0.4.post1: locked is 2.0.1"),
    ],
)
def test_a_lock_that_does_not_satisfy(old, new, fault):
    assert lock_faults(PYPROJECT, LOCK.replace(old, new)) == [fault]


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("    --hash=sha256:bb\n", "", "no hash: jupyter-book==1.0.4.post1 ; python_version < '4'"),
        ("numpy==2.4.6", "numpy>=2.4.6", "not a package with one version: numpy>=2.4.6"),
        (
            "# made by hand",
            "# from https://example.org",
            "names a place: # from https://example.org",
        ),
        ("# made by hand", "# --find-links x", "names a place: # --find-links x"),
        ("# made by hand", "# in /data/wheels", "names a place: # in /data/wheels"),
    ],
)
def test_a_lock_of_another_form(old, new, fault):
    assert lock_form_faults(LOCK.replace(old, new)) == [fault]


def test_an_index_in_the_lock():
    assert "names a place: --index-url x" in lock_form_faults("--index-url x\n" + LOCK)


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("numpy=2.4.6", "numpy=2.4.5", "numpy: must be =2.4.6, got =2.4.5"),
        ("numpy=2.4.6", "numpy>=2.1", "numpy: must be =2.4.6, got >=2.1"),
        ("  - nbval=0.11.0\n", "", "nbval: must be =0.11.0, got None"),
        (",<2", "", "jupyter-book: must be >=1.0.4.post1,<2, got >=1.0.4.post1"),
        ("flit_core==4.2.0", "flit_core==4.2.1", "flit-core: must be =4.2.0, got ==4.2.1"),
        ("  - pip:", "  - torch=2.13.0\n  - pip:", "torch: not in pyproject.toml"),
    ],
)
def test_a_conda_environment_that_differs(old, new, fault):
    assert conda_faults(PYPROJECT, LOCK, CONDA.replace(old, new)) == [fault]


def test_another_jupyter_book():
    assert book_spec_faults('pip install "jupyter-book>=1.0.4.post1,<2" and `jupyter-book`') == []
    assert book_spec_faults("jupyter-book <2,>=1.0.4.post1") == []
    assert book_spec_faults('"jupyter-book<2"') == ["jupyter-book<2"]
    assert book_spec_faults("jupyter-book==2.0.0") == ["jupyter-book==2.0.0"]


def test_another_floor():
    assert floors(
        'requires-python = ">=3.11"\ntarget-version = "py312"', FLOORS["pyproject.toml"]
    ) == {
        "3.11",
        "3.12",
    }
    assert floors("  - python>=3.10\n", FLOORS["environment.yml"]) == {"3.10"}
    assert floors("Python 3.11 or newer < (3, 12)", FLOORS["Makefile"]) == {"3.11", "3.12", "none"}
