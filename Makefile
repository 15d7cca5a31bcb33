# From a bare machine: python3 (3.11 or newer, with pip and venv) and make; uv is used when it is there.
#
#   make serve ARGS="--data-dir /var/lib/weaklink"
#   make test
#   make docs           builds the documentation as a site, into site/; ARGS=serve serves it
#   make phoenix        installs the Phoenix that tests run, once
#   make mem0           installs the mem0 that tests wrap, once
#   make collector      builds the OpenTelemetry Collector that tests run, once; needs Go

ARGS ?=
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.DEFAULT_GOAL := test
.PHONY: install serve test lint types architecture unit docs collector phoenix mem0 bench clean

install: $(STAMP)

serve: $(STAMP)
	@exec $(BIN)/weaklink serve $(ARGS)

test: lint types architecture unit

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

architecture: $(STAMP)
	$(BIN)/lint-imports --no-logo

# Tests start hundreds of processes. Where no bytecode may be written, each would compile what it imports.
unit: $(STAMP)
	PYTHONDONTWRITEBYTECODE= $(BIN)/pytest --numprocesses auto --dist loadfile --no-loadscope-reorder $(ARGS)

docs: $(STAMP)
	$(BIN)/python tools/reference.py
	@$(BIN)/python tools/build_site.py $(ARGS)

collector:
	@python3 tests/collector/build.py

phoenix:
	@python3 tests/pinned/install.py arize-phoenix

mem0:
	@python3 tests/pinned/install.py mem0ai

bench: $(STAMP)
	$(BIN)/python bench/ingest.py $(ARGS)

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis dist .site site

# pip from 25.1 on reads dependency groups; an older one is brought up to date first.
$(STAMP): pyproject.toml
	@python=; \
	for candidate in "$(PYTHON)" python3 python3.13 python3.12 python3.11; do \
	  if [ -n "$$candidate" ] && "$$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	    python=$$candidate; break; \
	  fi; \
	done; \
	if [ -z "$$python" ]; then \
	  echo "weaklink needs Python 3.11 or newer; found: $$(python3 --version 2>&1 || echo none). Name one with PYTHON=/path/to/python3." >&2; \
	  exit 2; \
	fi; \
	set -e; \
	if command -v uv >/dev/null 2>&1; then \
	  [ -x $(BIN)/python ] || uv venv --quiet --python "$$python" $(VENV); \
	  uv pip install --quiet --python $(BIN)/python --editable . --group dev; \
	else \
	  [ -x $(BIN)/python ] || "$$python" -m venv $(VENV); \
	  $(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"; \
	  $(BIN)/python -m pip install --quiet --disable-pip-version-check --editable . --group dev; \
	fi
	@touch $@
