# Everything runs in an environment of its own, made on first use: only Python 3.11+ and a package index are needed.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready

PYTHONS ?= python3.11 python3.12 python3.13

.PHONY: help demo test test-fast test-all test-lowest test-scrapy-next browser test-browser screenshots chaos nightly audit lint docs profile clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-18s%s\n", $$1, $$2 }' Makefile

demo: $(READY)  ## crawl the embedded web and compare four strategies
	@$(BIN)/scrapy demo

test: $(READY)  ## run the tests; ARGS goes to pytest
	$(BIN)/python -m pytest $(ARGS)

test-fast: $(READY)  ## run the tests that start no process and do not wait: less than a minute
	$(BIN)/python -m pytest -m "not slow" --ignore tests/e2e --ignore tests/doors $(ARGS)

chaos: $(READY)  ## crawl 200 hosts, 60 of which misbehave, through kills, a full disk and a clock that jumps: two minutes
	CHAOS=full $(BIN)/python -m pytest -n 0 -s tests/e2e/test_chaos.py $(ARGS)

MINUTES ?= 60
nightly: $(READY)  ## feed random input to every door of the crawler for MINUTES
	@end=$$(( $$(date +%s) + 60 * $(MINUTES) )); \
	while [ $$(date +%s) -lt $$end ]; do \
	  HYPOTHESIS_PROFILE=nightly $(BIN)/python -m pytest tests/doors $(ARGS) || exit 1; \
	done

test-all:  ## run the tests on each of PYTHONS, in environments of their own
	@for python in $(PYTHONS); do \
	  version=$$($$python -c 'import sys; print("%d.%d" % sys.version_info[:2])') && \
	  $(MAKE) test PYTHON=$$python VENV=.venv-$$version || exit 1; \
	done

test-lowest:  ## run the tests with the oldest dependencies that pyproject.toml allows
	$(PYTHON) .ci/lowest.py > .venv-lowest.txt
	$(MAKE) test VENV=.venv-lowest INSTALL="--constraint .venv-lowest.txt"

browser: $(READY)  ## install a browser for the tests, unless there is one
	@.ci/browser $(BIN)/python

test-browser: browser  ## install a browser if there is none, and run the tests that need one
	$(BIN)/python -m pytest tests/e2e/test_dashboard.py tests/e2e/test_browser.py tests/web/test_browser.py $(ARGS)

screenshots: browser  ## photograph the dashboard for docs/images; needs a browser
	$(BIN)/python docs/screenshots.py

profile: $(READY)  ## crawl synthetic pages, and write a flame graph (build/profile.svg) and a table of shares
	$(BIN)/python benchmarks/flame.py $(ARGS)

test-scrapy-next:  ## run the tests with the newest Scrapy, pre-releases included
	$(MAKE) .venv-scrapy-next/ready VENV=.venv-scrapy-next
	.venv-scrapy-next/bin/python -m pip install --quiet --upgrade --pre Scrapy
	$(MAKE) test VENV=.venv-scrapy-next

audit: $(READY)  ## check the dependencies against known advisories; needs the network
	$(BIN)/python -m pip install --quiet pip-audit
	$(BIN)/python -m pip_audit --skip-editable

lint: $(READY)  ## style, types and spelling
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/codespell

docs: $(READY)  ## build the documentation into build/docs; a link or anchor that leads nowhere fails
	$(BIN)/python -m sphinx -q -W --keep-going -n -c docs . build/docs

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.11 demo")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	PYTHONWARNINGS=ignore $(BIN)/python -m pip install --quiet $(INSTALL) --editable '.[dev]'
	@touch $(READY)

clean:  ## remove the environment and what was built
	rm -rf .venv* $(VENV) build dist *.egg-info crawls/demo
