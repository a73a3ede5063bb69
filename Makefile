# Everything happens in .venv; the first target that needs it makes it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
DOCS_INSTALLED := $(VENV)/.docs-installed
AXE := $(VENV)/axe/node_modules/axe-core

ADAPTERS := .venv-adapters

.PHONY: install demo test test-slow test-browser test-adapters lint bench docs clean

install: $(INSTALLED)

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(INSTALLED): pyproject.toml constraints.txt | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[all,dev]"
	touch $@

$(DOCS_INSTALLED): $(INSTALLED)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[docs]"
	touch $@

demo: $(INSTALLED)
	$(BIN)/uptonoise demo --report report.html --force

test: $(INSTALLED)
	$(BIN)/python -m pytest -n 2

test-slow: $(INSTALLED)
	$(BIN)/python -m pytest -n 2 -m slow

test-browser: $(INSTALLED) $(AXE)
	$(BIN)/python -m pytest -m browser tests/browser

# The engines bring many packages, and warnings of their own, so they have an environment of their own.
test-adapters: $(ADAPTERS)/.installed
	$(ADAPTERS)/bin/python -m pytest -o filterwarnings=default tests/inference/test_adapters.py

$(ADAPTERS)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(ADAPTERS)
	$(ADAPTERS)/bin/python -m pip install --quiet --constraint constraints.txt --editable ".[adapters]" pytest
	touch $@

# What checks accessibility in the browser; its test is skipped where there is no npm.
$(AXE):
	-npm install --silent --no-audit --no-fund --prefix $(VENV)/axe axe-core@4

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(INSTALLED)
	$(BIN)/python benchmarks/core.py
	$(BIN)/python benchmarks/two_sample.py
	$(BIN)/python benchmarks/up_to_noise.py
	$(BIN)/python benchmarks/files.py
	$(BIN)/python benchmarks/bags.py
	$(BIN)/python benchmarks/inference.py
	$(BIN)/python benchmarks/networks.py
	$(BIN)/python benchmarks/scale.py

# What the pages say of the tables in docs/results is checked first.
docs: $(DOCS_INSTALLED)
	$(BIN)/python -m pytest --quiet docs/check_findings.py
	$(BIN)/sphinx-build --fail-on-warning --keep-going -b html docs docs/_build/html

clean:
	rm -rf $(VENV) $(ADAPTERS) docs/_build .mypy_cache .pytest_cache .ruff_cache
