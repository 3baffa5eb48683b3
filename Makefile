# `make demo` and `make test` do all the set-up. They use uv from PATH, or bring it into .uv/ with Python's own venv and pip.
UV := $(or $(shell command -v uv 2>/dev/null),.uv/bin/uv)
RUN := $(UV) run --no-sync

PORT ?= 7860

# Tests start hundreds of processes: what one of them compiled is there for the next.
export PYTHONDONTWRITEBYTECODE =

.PHONY: demo test test-frameworks check layers format clean new-check new-mutants

demo: $(UV)
	$(UV) sync --locked --no-dev --inexact
	@$(RUN) rlx serve --demo --port $(PORT) & server=$$!; trap 'kill $$server; wait $$server; exit 0' INT TERM; wait $$server

test: check
	$(RUN) pytest -n auto -m "not frameworks"

# Connect four in every framework, each installed in an environment of its own: minutes.
test-frameworks: check
	$(RUN) pytest -n 0 -m frameworks

check: $(UV)
	$(UV) sync --locked --all-extras
	$(RUN) ruff check
	$(RUN) ruff format --check
	$(RUN) mypy
	$(RUN) lint-imports

# What agents in sandboxes are made of, for the tests that run them: about a minute once, a second when it is in the cache.
layers: check
	$(RUN) rlx sandbox prepare --agent mini-swe-agent --agent opencode --agent pi

format: $(UV)
	$(UV) sync --locked --all-extras
	$(RUN) ruff check --fix
	$(RUN) ruff format

# The example of every archetype in every framework: written, served, driven alike and played. ARCHETYPES chooses some.
new-check: $(UV)
	$(RUN) python bench/new.py $(ARCHETYPES)

new-mutants: $(UV)
	$(RUN) python bench/new.py --mutants $(ARCHETYPES)

clean:
	rm -rf .venv .uv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache dist

.uv/bin/uv:
	python3 -m venv .uv
	.uv/bin/pip install --quiet uv
