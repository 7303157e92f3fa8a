# Every target sets itself up: .venv is made, and made anew when pyproject.toml or constraints.txt change.
.DEFAULT_GOAL := help
.PHONY: help demo test check bench format build clean

BIN := .venv/bin
READY := .venv/.ready
PYTEST_ARGS ?=
BENCH_ARGS ?=

# Pyright asks the package index for a newer pyright at each start otherwise.
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1

help:
	@echo 'make demo      the demonstration: real advisories against a real module graph (under a minute)'
	@echo 'make test      all tests; choose with PYTEST_ARGS, e.g. make test PYTEST_ARGS="-k oracle"'
	@echo 'make check     formatting, lint, strict types (tests included), house rules'
	@echo 'make bench     the benchmarks; choose with BENCH_ARGS'
	@echo 'make format    format and fix what ruff can fix'
	@echo 'make build     the wheel, into dist/'
	@echo 'make clean     remove .venv, dist/ and caches'
	@echo 'Each sets up .venv first. Needs Python 3.11 or newer; PYTHON=... names one.'

demo: $(READY)
	@$(BIN)/tether demo

test: $(READY)
	$(BIN)/python -m pytest -n auto --maxprocesses 4 $(PYTEST_ARGS)

check: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright --warnings
	$(BIN)/python -m pytest -q tests/house

bench: $(READY)
	$(BIN)/python -m benchmarks $(BENCH_ARGS)

format: $(READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

build: $(READY)
	@rm -rf dist
	$(BIN)/python -m hatchling build -t wheel -d dist

clean:
	rm -rf .venv dist build .pytest_cache .ruff_cache .hypothesis bench-results
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(READY): pyproject.toml constraints.txt .ci/setup
	@sh .ci/setup
	@touch $@
