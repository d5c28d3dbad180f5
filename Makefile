# `make run` and `make test` work on a fresh machine with Python 3.11 or newer, a C++20 compiler and make.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV ?= .venv
BIN = $(VENV)/bin
# full or quick, for the reproductions
PROFILE ?= full
# Folder with the data sets that are not bundled; empty to use those bundled, fetched or named by OBLIQUE_DATA
DATA ?=

export OBLIQUE_DATA := $(if $(DATA),$(DATA),$(OBLIQUE_DATA))

INSTALLED = $(VENV)/.installed
SOURCES = pyproject.toml $(shell find oblique_cli/core -type f)

.PHONY: run test lint format bench figures reproduce clean

run: $(INSTALLED)  ## the main job: HHGDT on BUPA beside the published numbers
	$(BIN)/oblique run configs/bupa_hhgdt.yaml

test: $(INSTALLED)  ## all tests
	$(BIN)/python -m pytest -n auto --dist loadfile

lint: $(INSTALLED)  ## style, types, and the C++ with warnings as errors
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "ruff>=0.6" "mypy>=1.11" "clang-format==14.0.6"
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(CLANG_FORMAT) --dry-run -Werror $(CORE_SOURCES)
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir build/strict \
	  --config-settings=cmake.define.OBLIQUE_WARNINGS_AS_ERRORS=ON --config-settings=build-dir=build/strict/cmake .

# One major version, because others break lines elsewhere.
CLANG_FORMAT ?= $(BIN)/clang-format
CORE_SOURCES = $(shell find oblique_cli/core -name '*.[ch]pp')

format: $(INSTALLED)  ## lay out the C++ by .clang-format
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "clang-format==14.0.6"
	$(CLANG_FORMAT) -i $(CORE_SOURCES)

bench: $(INSTALLED)  ## every speed claim, side by side
	$(BIN)/python -m benchmarks

figures: $(INSTALLED)  ## the figures of the papers, drawn again, and docs/figures/README.md
	$(BIN)/oblique figures

reproduce: $(INSTALLED)  ## every published table beside ours; PROFILE=quick for the small bundled sets
	$(BIN)/oblique reproduce all --profile $(PROFILE)

# reproduce-chapter3, reproduce-chapter5, reproduce-chapter6, reproduce-gdt: one study of `oblique reproduce`
reproduce-%: $(INSTALLED)
	$(BIN)/oblique reproduce $* --profile $(PROFILE)

$(INSTALLED): $(SOURCES)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[test]"
	touch $@

clean:  ## everything that was built; results stay
	rm -rf $(VENV) build .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
