# The two commands that set everything up: `make loop` (the demonstration, with a report) and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: install loop test quick fuzz kills check clean

install: $(VENV)/.installed

$(VENV)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[test]"
	touch $@

loop: install
	$(BIN)/warmkit loop --config configs/demo.yaml

# In several processes, two more than cores: what waits for Label Studio or Ray overlaps with what computes.
test: install
	$(BIN)/python -m pytest -n auto

# Without a server, Ray and a browser: under a minute.
quick: install
	$(BIN)/python -m pytest -n logical -m "not (server or ray or browser or slow)"

# What `make test` does with few cases, for as long as you like: hostile equations, files, folders and answers.
MINUTES ?= 10
fuzz: install
	FUZZ_MINUTES=$(MINUTES) $(BIN)/python -m pytest -n logical tests/fuzz

# A loop killed in every stage and resumed, against an undisturbed one; WITH=file, workers, label-studio or scans,
# SEED=… for the same again (tests/kills/campaign.py).
COUNT ?= 200
kills: install
	PYTHONPATH=tests OMP_NUM_THREADS=1 $(BIN)/python tests/kills/campaign.py --count $(COUNT) \
	  --with "$(WITH)" $(if $(SEED),--seed $(SEED))

check: install
	$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy

clean:
	rm -rf $(VENV) dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
