# `make lab` opens the course; `make test` checks everything. Both make the environment first, if needed.
PYTHON ?= python3
LAB_ARGS ?=
CHECK_ARGS ?=
NB ?=
PORT ?= 8000
FOLDER ?=
JUDGE_ARGS ?=
PY := .venv/bin/python
unexport PYTHONDONTWRITEBYTECODE # or every process compiles the packages again

.PHONY: help env engines lab page check update reset judge test test-page portability corpus notebooks exercises

help:
	@echo 'make lab              open the course in JupyterLab; LAB_ARGS="--no-browser --port 8899" passes options on'
	@echo 'make page             build the page and serve it on this machine; needs Node; PORT=8001 takes another port'
	@echo 'make check            judge the exercises in all of your notebooks; NB=03 for one of them'
	@echo 'make update NB=03     the new notebook 03 with your answers in it; yours is kept as a dated copy'
	@echo 'make reset NB=03      a fresh notebook 03; yours is kept as a dated copy'
	@echo 'make judge FOLDER=…   for teachers: judge a folder of submissions; JUDGE_ARGS="-n 2" passes options on'
	@echo 'make test             everything that is tested, as CI does it'
	@echo 'make test-page        the page, built and tried in a browser; needs Node and Chromium'
	@echo 'make portability      every notebook with one thread and two, with AVX2 and without; then whole copies with every exercise solved'
	@echo 'make notebooks        for contributors: build notebooks/ from authoring/; NB=02 for one of them'
	@echo 'make exercises NB=03  for contributors: after a change to exercises, notebook 03 and docs/checker.md'
	@echo 'make corpus           for contributors: write data/ again'
	@echo 'make engines          llama.cpp for the optional parts of notebooks 09 and 10 (8 to 34 MB)'
	@echo 'make env              only make the environment in .venv; PYTHON=python3.12 names the Python to use'

env:
	@$(PYTHON) bootstrap.py

engines: env
	@$(PY) -m pip install --quiet --require-hashes --only-binary=:all: -r engines.txt
	@$(PY) -c "from course_utils.engines import llama_cpp; llama_cpp.require(); print(llama_cpp.version(), 'is ready.')"

lab: env
	@$(PY) -m course_utils.workspace lab $(LAB_ARGS)

page: env
	@$(PY) -m webpage.build
	@$(PY) -m webpage.serve --port $(PORT)

check: env
	@$(PY) -m course_utils.workspace check $(NB) $(CHECK_ARGS)

update: env
	@$(PY) -m course_utils.workspace update $(NB)

reset: env
	@$(PY) -m course_utils.workspace reset $(NB)

judge: env
	@$(PY) -m course_utils.workspace judge "$(FOLDER)" $(JUDGE_ARGS)

test: env
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy
	$(PY) -m pytest --durations=10

test-page: env
	@$(PY) -m webpage.build
	$(PY) -m pytest webpage/tests

portability: env
	@for capability in default avx2; do for threads in 1 2; do \
	  echo "== ATEN_CPU_CAPABILITY=$$capability, $$threads thread(s)"; \
	  ATEN_CPU_CAPABILITY=$$capability OMP_NUM_THREADS=$$threads $(PY) -m pytest -q notebooks || exit 1; \
	done; done
	COURSE_COPIES=all $(PY) -m pytest -q tests/test_finished_copies.py tests/test_nbval_plugin.py tests/test_judge.py

corpus: env
	$(PY) -m course_utils.storyworld data

notebooks: env
	$(PY) authoring/build.py $(NB)

exercises: notebooks
	$(PY) tests/wrong_solutions
