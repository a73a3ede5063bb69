# Everything happens in .venv; the first target that needs it makes it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
DEMO_INSTALLED := $(VENV)/.demo-installed
DOCS_INSTALLED := $(VENV)/.docs-installed
AXE := $(VENV)/axe/node_modules/axe-core

ADAPTERS := .venv-adapters
CLEAN := .venv-dist
# What the compiled kernel is made of; a change of it is a reason to install again.
KERNEL := setup.py $(wildcard src/uptonoise/fourier/_*.[ch])

# Tests start many processes, and without bytecode each of them would compile all modules anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: install demo test test-slow test-numpy test-browser test-adapters test-sanitized lint bench docs dist test-dist clean

install: $(INSTALLED)

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(INSTALLED): pyproject.toml constraints.txt $(KERNEL) | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[all,dev]"
	touch $@ $(DEMO_INSTALLED)

# What the command line needs, and no more.
$(DEMO_INSTALLED): pyproject.toml $(KERNEL) | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --editable ".[cli]"
	touch $@

$(DOCS_INSTALLED): $(INSTALLED)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[docs]"
	touch $@

demo: $(DEMO_INSTALLED)
	$(BIN)/uptonoise demo --report report.html --force

# The tests of a file stay together, as they share what takes long to make: a cluster, a fitted model.
# More threads than the two processes on two cores would only wait for each other.
test: $(INSTALLED)
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadfile

test-slow: $(INSTALLED)
	$(BIN)/python -m pytest -n 2 -m slow

# All tests without the compiled kernel.
test-numpy: $(INSTALLED)
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 UPTONOISE_KERNEL=numpy $(BIN)/python -m pytest -n 2 --dist loadfile tests

# The kernel with the sanitizers of gcc, which stop at a bad access and at undefined behaviour. Python itself was not made with
# them, so they come first, what Python does not free is no fault of the kernel, and their allocator does not stand a fork.
SANITIZED := build/sanitized
test-sanitized: $(INSTALLED)
	rm -rf $(SANITIZED)
	mkdir -p $(SANITIZED)
	cp -r src/uptonoise $(SANITIZED)/
	rm -f $(SANITIZED)/uptonoise/fourier/_kernel*.so
	gcc -shared -fPIC -g -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all -Wall -Wextra \
		-Wno-missing-field-initializers -DPy_LIMITED_API=0x030B0000 \
		-I"$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_paths()["include"])')" \
		src/uptonoise/fourier/_kernel.c -o $(SANITIZED)/uptonoise/fourier/_kernel.abi3.so
	for kernel in compiled baseline; do \
		PYTHONPATH=$(SANITIZED) UPTONOISE_KERNEL=$$kernel LD_PRELOAD="$$(gcc -print-file-name=libasan.so)" \
		ASAN_OPTIONS=detect_leaks=0 $(BIN)/python -m pytest -p no:cacheprovider -k "not fork" \
		tests/fourier/test_compiled.py || exit 1; \
	done

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
	$(BIN)/python benchmarks/shell.py

# What the pages say of the tables in docs/results is checked first, and that no picture is older than what it shows;
# links and the search afterwards.
docs: $(DOCS_INSTALLED)
	$(BIN)/python -m pytest --quiet docs/check_findings.py docs/check_pictures.py
	$(BIN)/sphinx-build --fail-on-warning --keep-going -b html docs docs/_build/html
	$(BIN)/python -m pytest --quiet docs/check_site.py

# A wheel with the kernel, and the source to make it from.
dist: $(INSTALLED)
	rm -rf dist build
	$(BIN)/python -m build --outdir dist .

# The wheel in an environment of its own, and the source where there is no compiler: there numpy does the work.
test-dist: dist
	rm -rf $(CLEAN)
	$(PYTHON) -m venv $(CLEAN)
	$(CLEAN)/bin/python -m pip install --quiet "$$(ls dist/*.whl)[cli]"
	cd $(CLEAN) && UPTONOISE_KERNEL=compiled bin/uptonoise --version && bin/uptonoise demo --report report.html
	CC=false $(CLEAN)/bin/python -m pip install --quiet --force-reinstall --no-deps dist/*.tar.gz
	cd $(CLEAN) && bin/uptonoise --version | grep "numpy (no compiled kernel)" && bin/uptonoise demo

clean:
	rm -rf $(VENV) $(ADAPTERS) $(CLEAN) build dist docs/_build .mypy_cache .pytest_cache .ruff_cache
