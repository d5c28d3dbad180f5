# `make run` and `make test` work on a fresh machine with Python 3.11 or newer, a C++20 compiler and make.
# CXX=clang++ builds with another compiler (after `make clean`).

# The Python that the virtual environment is made from
PYTHON ?= $(shell command -v python3.11 || command -v python3)
# Where the virtual environment is
VENV ?= .venv
# full or quick, for the reproductions
PROFILE ?= full
# Folder with the data sets that are not bundled; empty: bundled ones, fetched ones and those in OBLIQUE_DATA
DATA ?=
# How much of the soak
SHARE ?= 1
# Other cases of the soak
SEED ?= 1
# Where `make wheels` puts the wheel
DIST ?= dist

ifneq ($(DATA),)
export OBLIQUE_DATA := $(DATA)
endif

BIN = $(VENV)/bin
PIP = $(BIN)/python -m pip --quiet --disable-pip-version-check
INSTALLED = $(VENV)/.installed
SOURCES = pyproject.toml $(shell find oblique_cli/core -type f -o -type d)
STUB = oblique_cli/estimators/oblique/classifiers.pyi
DECLARED = tools/stubs.py $(wildcard oblique_cli/proposers/*.py oblique_cli/tree/pruning.py) \
  $(wildcard oblique_cli/estimators/oblique/groups.py oblique_cli/estimators/oblique/top_down.py)
CPP = $(shell find oblique_cli/core -name '*.cpp' -o -name '*.hpp')

.PHONY: bytecode core run test test-long test-versions soak sanitize style lint format generated wheels bench figures docs screenshots reproduce help clean

run: $(INSTALLED)  ## the main job: HHGDT on BUPA beside the published numbers
	$(BIN)/oblique run configs/bupa_hhgdt.yaml

test: $(INSTALLED) $(STUB) bytecode  ## all tests but the long ones
	$(BIN)/python -m pytest -n auto --dist loadfile -m "not long"

test-long: $(INSTALLED) $(STUB) bytecode  ## the tests that `make test` leaves out: long attacks, builds, whole products of cases
	$(BIN)/python -m pytest -n auto --dist worksteal -m long

test-versions: $(VENV)/.versions  ## the tests with every Python here, newest and lowest packages (docs/versions.md); PYTHON=python3.13 for one
	$(BIN)/python -m tools.versions --store $(if $(filter-out file,$(origin PYTHON)),--python $(PYTHON))

soak: $(INSTALLED)  ## the attack of tests/robustness at full length (docs/reliability.md): hours; SHARE=0.1 for a tenth, SEED=7 for other cases
	OBLIQUE_SOAK=$(SHARE) OBLIQUE_SEED=$(SEED) OBLIQUE_COUNTS=$(CURDIR)/results/tables/attacks.csv $(BIN)/python -m pytest -n auto --dist load tests/robustness

core: $(BIN)/python  ## builds the compiled core alone, after a change in oblique_cli/core/
	$(PIP) install --no-deps --editable .
	if [ -f $(INSTALLED) ]; then touch $(INSTALLED); fi

sanitize: $(INSTALLED)  ## tests of the core under the address, undefined-behavior and thread sanitizers
	$(BIN)/python tools/sanitize.py
	$(BIN)/python tools/sanitize.py --thread

style: $(INSTALLED) $(STUB) $(VENV)/.lint  ## style, types, and forms of metadata
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run --Werror $(CPP)
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.dependabot .github/dependabot.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-issue-forms .github/ISSUE_TEMPLATE/[!c]*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.citation-file-format CITATION.cff

lint: style  ## style, and a C++ build with warnings as errors
	$(PIP) wheel --no-deps --wheel-dir build/strict \
	  --config-settings=cmake.define.OBLIQUE_WARNINGS_AS_ERRORS=ON --config-settings=build-dir=build/strict/cmake .

format: $(VENV)/.lint  ## Python and C++ in the project's style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CPP)

generated: $(INSTALLED) $(STUB)  ## what is written from the code: classes for type checkers, tables in pages of algorithms
	$(BIN)/python -m tools.algorithm_pages --text

wheels: $(VENV)/.wheels  ## a manylinux wheel for PYTHON in DIST, checked where there is no compiler
	rm -rf build/wheels
	$(PIP) wheel --no-deps --wheel-dir build/wheels .
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/auditwheel repair --wheel-dir $(DIST) build/wheels/*.whl
	$(BIN)/python tools/check_wheel.py --dist $(DIST)

bench: $(INSTALLED)  ## every speed claim, side by side
	$(BIN)/python -m benchmarks

docs: $(INSTALLED) $(VENV)/.docs  ## the documentation as a site, build/site/index.html; a broken link is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

figures: $(INSTALLED)  ## the figures of the papers, drawn again, and pictures and tables of the pages of algorithms
	$(BIN)/oblique figures
	$(BIN)/python -m tools.algorithm_pages

screenshots: $(INSTALLED) $(VENV)/.browser  ## docs/images/, by a Chromium that is on the PATH
	$(BIN)/python tools/screenshots.py

reproduce: $(INSTALLED)  ## every published table beside ours; PROFILE=quick for the small bundled sets
	$(BIN)/oblique reproduce all --profile $(PROFILE)

reproduce-%: $(INSTALLED)  ## one study, such as reproduce-chapter3; `oblique reproduce` lists the studies
	$(BIN)/oblique reproduce $* --profile $(PROFILE)

help:  ## this list
	@awk -F ':[^#]*## ' '/^[a-z%-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
	@echo "Variables:"
	@awk '/^# / { text = substr($$0, 3) } /^[A-Z]+ \?=/ { printf "  %-12s %s\n", $$1, text }' $(firstword $(MAKEFILE_LIST))

clean:  ## removes everything that was built; results stay
	rm -rf $(VENV) $(DIST) $(STUB) build .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(INSTALLED): $(BIN)/python $(SOURCES)
	$(PIP) install --editable ".[test]"
	touch $@

# Tests begin hundreds of processes. Where Python is told to write no bytecode, each would compile all modules again.
bytecode: $(INSTALLED)
	$(BIN)/python -m compileall -q oblique_cli

# The build writes it as well; this is for a heuristic that was changed since.
$(STUB): $(DECLARED) | $(BIN)/python
	$(BIN)/python tools/stubs.py

# The tools of an extra of pyproject.toml, without the package itself
$(VENV)/.lint $(VENV)/.docs $(VENV)/.wheels $(VENV)/.browser $(VENV)/.tables $(VENV)/.versions: $(VENV)/.%: pyproject.toml | $(BIN)/python
	$(BIN)/python tools/requirements.py $* > $@.txt
	$(PIP) install --requirement $@.txt
	touch $@
