# Everything runs in an environment of its own, made on first use: only Python 3.11+ and a package index are needed.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready

.PHONY: demo test lint docs clean

demo: $(READY)  ## crawl the embedded web and compare three strategies
	@$(BIN)/scrapy demo

test: $(READY)  ## run the tests; ARGS goes to pytest
	$(BIN)/python -m pytest $(ARGS)

lint: $(READY)  ## style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(READY)  ## build the documentation into build/docs; a link or anchor that leads nowhere fails
	$(BIN)/python -m sphinx -q -W --keep-going -n -c docs . build/docs

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.11 demo")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	PYTHONWARNINGS=ignore $(BIN)/python -m pip install --quiet --editable '.[dev]'
	@touch $(READY)

clean:  ## remove the environment and what was built
	rm -rf $(VENV) build dist *.egg-info crawls/demo
