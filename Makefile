# Four words to remember; each builds what it needs from nothing but Python 3.11+.
#   make demo   make test   make check   make bench
# And `make faults`: every fault case in full, with counts of what was tried; takes some ten minutes.
# And `make bench-peers LOCOMO=file.json`: what others find on the same questions; takes some twenty minutes.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMPS := $(VENV)/.stamps
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check
PEERS  := $(VENV)/peers

.PHONY: demo test test-semantic faults check bench bench-peers clean

demo: $(STAMPS)/demo
	$(BIN)/hippo demo

test: $(STAMPS)/test
	$(BIN)/pytest -q -m "not semantic"

# The embedder on PyTorch: the CPU build goes in first, else pip takes gigabytes of CUDA.
test-semantic: $(STAMPS)/semantic
	$(BIN)/pytest -q -m semantic

faults: $(STAMPS)/test
	HIPPO_LONG=1 $(BIN)/pytest -q -rP --show-capture=stdout --timeout 1800 tests/faults tests/journal tests/memory

check: $(STAMPS)/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pyright --pythonpath $(BIN)/python
	PYTHONPATH=.:adapters $(BIN)/lint-imports

bench: $(STAMPS)/test
	$(BIN)/python tests/benchmarks/run.py

# Peers never come into our own environment: they have one of their own.
bench-peers: given-LOCOMO $(STAMPS)/peers
	PYTHONPATH=tests/benchmarks $(PEERS)/bin/python -m peers $(LOCOMO)

given-%:
	@test -n "$($*)" || { echo "say which: make bench-peers $*=file.json" >&2; exit 2; }

$(STAMPS)/venv:
	$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed, this is " + sys.version) if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)
	mkdir -p $(STAMPS)
	touch $@

$(STAMPS)/demo: $(STAMPS)/venv pyproject.toml
	$(PIP) -e '.[langchain,multilingual]'
	touch $@

$(STAMPS)/test: $(STAMPS)/venv pyproject.toml
	$(PIP) -e '.[test]'
	touch $@ $(STAMPS)/demo

$(STAMPS)/dev: $(STAMPS)/venv pyproject.toml
	$(PIP) -e '.[dev]'
	touch $@ $(STAMPS)/test $(STAMPS)/demo

$(STAMPS)/semantic: $(STAMPS)/test
	$(PIP) 'torch==2.13.0'
	$(PIP) -e '.[test,semantic]'
	touch $@

$(STAMPS)/peers: $(STAMPS)/venv pyproject.toml tests/benchmarks/peers/requirements.txt
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check 'torch==2.13.0'
	$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check \
		-r tests/benchmarks/peers/requirements.txt -e '.[semantic]'
	touch $@

clean:
	rm -rf $(VENV)
