# `make lab` opens the course; `make test` checks everything. Both make the environment first, if needed.
PYTHON ?= python3
LAB_ARGS ?=
CHECK_ARGS ?=
NB ?=
PY := .venv/bin/python

.PHONY: help env lab check reset test corpus notebooks

help:
	@echo 'make lab              open the course in JupyterLab; LAB_ARGS="--no-browser --port 8899" passes options on'
	@echo 'make check            judge the exercises in all of your notebooks; NB=03 for one of them'
	@echo 'make reset NB=03      a fresh notebook 03; yours is kept as a dated copy'
	@echo 'make test             everything that is tested, as CI does it'
	@echo 'make notebooks        for contributors: build notebooks/ from authoring/; NB=02 for one of them'
	@echo 'make corpus           for contributors: write data/ again'
	@echo 'make env              only make the environment in .venv; PYTHON=python3.12 names the Python to use'

env:
	@$(PYTHON) bootstrap.py

lab: env
	@$(PY) -m course_utils.workspace lab $(LAB_ARGS)

check: env
	@$(PY) -m course_utils.workspace check $(NB) $(CHECK_ARGS)

reset: env
	@$(PY) -m course_utils.workspace reset $(NB)

test: env
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	COURSE_BUDGET=small $(PY) -m pytest

corpus: env
	$(PY) -m course_utils.storyworld data

notebooks: env
	$(PY) authoring/build.py $(NB)
