# `make lab` opens the course; `make test` checks everything. Both make the environment first, if needed.
PYTHON ?= python3
LAB_ARGS ?=
PY := .venv/bin/python

.PHONY: env lab test notebooks corpus

env:
	@$(PYTHON) bootstrap.py

lab: env
	@$(PY) -m course_utils.workspace lab $(LAB_ARGS)

test: env
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m pytest

# For contributors: write data/ again, build notebooks/ from authoring/.
corpus: env
	$(PY) -m course_utils.storyworld data

notebooks: env
	$(PY) authoring/build.py
