# Every target sets up what it needs; `make help` lists them.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# Named after the contents of the files that decide what is installed: a change is
# picked up, and without one nothing is installed.
LOCKED := $(VENV)/locked-$(shell cksum < requirements.lock | tr ' ' '-')
STAMP  := $(VENV)/posenc-$(shell cat requirements.lock pyproject.toml | cksum | tr ' ' '-')
# The implementations that posenc is compared with, in an environment of their own.
PEERS  := .venv-peers
PEERED := $(PEERS)/locked-$(shell cksum < tests/peers/requirements.lock | tr ' ' '-')
JOBS   ?= 2
NB     ?=
PORT   ?= 8000

# Notebook kernels and Node.js are found through PATH; the virtual environment comes first.
export PATH := $(CURDIR)/$(BIN):$(PATH)
# The reader's own settings must not change what a figure or a page looks like.
export MPLCONFIGDIR := $(CURDIR)/_build/matplotlib
export JUPYTER_CONFIG_DIR := $(CURDIR)/_build/jupyter
export IPYTHONDIR := $(CURDIR)/_build/ipython
export PYTHONNOUSERSITE := 1

.DEFAULT_GOAL := help
.PHONY: help book test run nbval lint peers bench serve clean lock peers-lock

help:  ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

book: $(STAMP)  ## build the book into _build/html
	@$(BIN)/python tools/build_book.py

test: $(STAMP) lint book  ## everything that a submission must pass
	@$(BIN)/python -m pytest -n $(JOBS) --dist loadfile tests --nbval --nbval-current-env notebooks

run: $(STAMP)  ## execute notebooks whose outputs are out of date (NB=path: these), store the outputs
	@$(BIN)/python tools/run_notebooks.py --jobs $(JOBS) $(NB)

nbval: $(STAMP)  ## only the notebook checks: re-run and compare each output, then the rules of the book
	@$(BIN)/python -m pytest -n $(JOBS) --dist loadfile --nbval --nbval-current-env notebooks tests/book/test_notebooks.py

lint: $(STAMP)  ## ruff on code and notebooks, mypy in strict mode on src
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

peers: $(PEERED)  ## compare posenc with transformers, torch, ONNX Runtime and JAX
	@cd tests/peers && ../../$(PEERS)/bin/python -m pytest -q

bench: $(STAMP) $(PEERED)  ## measure rotate beside copying and the peers; store ratios in benchmarks/
	@PYTHONPATH=src $(PEERS)/bin/python benchmarks/bench_rotate.py
	@$(BIN)/python benchmarks/bench_rotate.py --draw

serve: book  ## build, then serve the book at PORT (8000)
	@$(BIN)/python -m http.server --bind 127.0.0.1 --directory _build/html $(PORT)

clean:  ## remove what was built; `rm -r .venv .venv-peers` removes the installations, too
	rm -rf _build .pytest_cache .mypy_cache .ruff_cache .hypothesis

lock:  ## write requirements.lock anew from pyproject.toml (needs uv on PATH)
	uv pip compile pyproject.toml --extra book --extra test --universal --python-version 3.11 \
	  --generate-hashes --only-binary :all: --fork-strategy fewest --quiet \
	  --custom-compile-command "make lock" --upgrade --output-file requirements.lock

peers-lock:  ## write tests/peers/requirements.lock anew (needs uv on PATH)
	uv pip compile tests/peers/requirements.in --universal --python-version 3.11 \
	  --generate-hashes --only-binary :all: --fork-strategy fewest --quiet \
	  --custom-compile-command "make peers-lock" --upgrade --output-file tests/peers/requirements.lock

$(STAMP): | $(LOCKED)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

# Says in one line what is missing.
define CHECK_PYTHON
@command -v $(PYTHON) >/dev/null || { echo "Python 3.11 or newer is needed, and there is no $(PYTHON); set PYTHON=..." >&2; exit 1; }
@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed, and $(PYTHON) is $$($(PYTHON) -V 2>&1); set PYTHON=..." >&2; exit 1; }
@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "the module venv of $(PYTHON) is missing (on Debian and Ubuntu: apt install python3-venv)" >&2; exit 1; }
endef

$(LOCKED):
	$(CHECK_PYTHON)
	@echo "Setting up $(VENV), which is done once ..."
	@$(PYTHON) -m venv --clear $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --only-binary :all: -r requirements.lock
	@touch $@

$(PEERED):
	$(CHECK_PYTHON)
	@echo "Setting up $(PEERS), which is done once ..."
	@$(PYTHON) -m venv --clear $(PEERS)
	@$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --only-binary :all: -r tests/peers/requirements.lock
	@$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check torch==2.13.0
	@touch $@
