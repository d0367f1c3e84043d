# make demo: set up, index the demo corpus, search it.   make test: set up and run all tests.
# make demo-page: the same in the browser, at http://127.0.0.1:8080/.
# make site: the documents as a site, in build/site; `python -m http.server -d build/site` shows it, with its search.
# make coverage: which lines and branches the tests go through.
# make browser: the search page in a real Chromium, with axe-core; make test runs these, too, where Chromium is installed.
# make bench: ten figures of speed, in a minute; bench/README.md has the other benchmarks.
# make quick: the tests without files and indexes, in under a minute, for work in progress.   make torture: crashes, faults and hostile input by the thousand,
# of which make test has a quarter of the kinds, a few of each, and other ones at the next commit.   make mutants: do tests notice faults in the engine?
# make release-check: builds the packages, and uses the wheel in an empty environment.
# Everything runs in .venv, which any target creates when it is missing or out of date.

# bytecode is kept, or each process that a test starts would compile the package anew
export PYTHONDONTWRITEBYTECODE :=

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
LIGHT := $(VENV)/.light
# a worker a core; each takes some 2 GB
PYTEST := $(BIN)/pytest -n logical --maxprocesses 4 --dist worksteal

# the least share of lines and branches that the tests go through, in percent
FLOOR := 95

.PHONY: demo demo-page test browser quick torture mutants lint coverage bench docs site release-check clean

demo: $(LIGHT)
	$(BIN)/sciretrieve demo

demo-page: $(READY)
	$(BIN)/sciretrieve demo -q > /dev/null
	$(BIN)/sciretrieve serve -i indexes/demo --open

test: $(READY)
	$(PYTEST)

browser: $(READY)
	$(BIN)/pytest -n0 -rA tests/service/pages/test_browser.py

quick: $(READY)
	$(PYTEST) -m "not slow" --hypothesis-profile=quick

torture: $(READY)
	$(PYTEST) --torture -rP tests/torture
	$(PYTEST) --torture -m torture

mutants: $(READY)
	$(BIN)/python tests/mutants.py

lint: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/mypy --platform win32 --cache-dir .mypy_cache/win32 sciretrieve
	$(BIN)/python docs/check_types.py
	$(BIN)/python docs/build_site.py

coverage: $(READY)
	$(PYTEST) --cov=sciretrieve --cov-branch --cov-report=term:skip-covered --cov-fail-under=$(FLOOR)

bench: $(READY)
	$(BIN)/python bench/figures.py --json bench/.figures/last.json

docs: $(READY)
	$(BIN)/python docs/generate.py
	$(BIN)/python docs/screenshots.py

site: $(READY)
	$(BIN)/python docs/build_site.py

release-check: $(READY)
	$(BIN)/python tests/release_check.py

# what searching needs, without torch; the tests need all the rest, too
$(LIGHT): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	touch $(LIGHT)

$(READY): $(LIGHT)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $(READY)

clean:
	rm -rf $(VENV) build .cache .mypy_cache .pytest_cache .ruff_cache .hypothesis
