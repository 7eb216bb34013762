"""The repository's own rules: who imports whom, what files may hold, how they are opened."""

import ast
import io
import itertools
import json
import os
import re
import subprocess
import sys
import tokenize
import tomllib
from collections import Counter
from pathlib import Path

import pytest
from IPython.core.inputtransformer2 import TransformerManager

import course_utils

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "course_utils"
IGNORED = {".git", ".venv", ".venv.lock", "my_notebooks", "__pycache__", ".ipynb_checkpoints", ".pytest_cache",
           ".ruff_cache", ".hypothesis", ".mypy_cache", "build",
           "node_modules", "dist"}  # fmt: skip
LONGEST = 260  # lines of a module: what can be read in one sitting
TEXTS = {"course_utils/storyworld/tales.py"}  # holds sentences, not logic: as long as the corpus is rich
# A visitor's own code is what this module is for. It runs in the browser's sandbox only; nothing else may import it.
RUNS_CODE = "course_utils/live/runner.py"


def repository_files():
    """The tracked files and those about to be; without git, all that .gitignore would not leave out."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout.decode("utf-8").split("\0")
        files = [ROOT / name for name in listed if name]
    except (OSError, subprocess.CalledProcessError):
        files = []
    if not files:
        for folder, folders, names in os.walk(ROOT):
            folders[:] = [name for name in folders if not left_out(name)]
            files += [Path(folder) / name for name in names if not left_out(name)]
    return sorted(path for path in files if path.is_file())


def left_out(name):
    return name in IGNORED or name.endswith(".egg-info")


FILES = repository_files()
TEXT_FILES = [path for path in FILES if b"\0" not in path.read_bytes()[:8000]]
SOURCES = [path for path in FILES if path.suffix == ".py"]
MODULES = [path for path in SOURCES if PACKAGE in path.parents]


def relative(path):
    return path.relative_to(ROOT).as_posix()


def tree_of(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def code_cells(path):
    """The trees of a notebook's code cells, magics translated as IPython does."""
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            yield ast.parse(TransformerManager().transform_cell("".join(cell["source"])))


def all_trees():
    """Each Python source and each notebook's cell, with the file's name."""
    for path in FILES:
        if path.suffix == ".py":
            yield relative(path), tree_of(path)
        elif path.suffix == ".ipynb":
            yield from ((relative(path), tree) for tree in code_cells(path))


def test_the_walk_finds_the_repository():
    names = {relative(path) for path in FILES}
    assert {"README.md", "bootstrap.py", "course_utils/__init__.py", ".ci/run", "tests/test_structure.py"} <= names
    assert not [name for name in names if any(left_out(part) for part in name.split("/"))]


def test_without_git_the_same_files_are_walked(monkeypatch):
    def no_git(*arguments, **options):
        raise FileNotFoundError("git")

    with monkeypatch.context() as patched:
        patched.setattr(subprocess, "run", no_git)
        walked = repository_files()
    assert {*FILES} <= {*walked}
    assert not [path for path in walked if any(left_out(part) for part in path.relative_to(ROOT).parts)]


# Who imports whom


def module_name(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


NAMES = {module_name(path): path for path in MODULES}


def imports_of(tree):
    """The full names of what a source imports, with the names after `from`: "torch", "course_utils.text.CharVocab"."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports name the package: `from course_utils...`"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def own_imports(path):
    """The modules of the course that a source imports, each by the longest name that is one."""
    for name in imports_of(tree_of(path)):
        while name and name not in NAMES:
            name = name.rpartition(".")[0]
        if name and name != "course_utils":
            yield name


def listed_order():
    return re.findall(r"^    (\w+)  ", course_utils.__doc__, re.MULTILINE)


def test_the_packages_docstring_lists_every_module_once():
    there = {name.split(".")[1] for name in NAMES if "." in name}
    assert sorted(listed_order()) == sorted(there)


def test_imports_point_upwards_only():
    order = listed_order()
    wrong = [
        f"{name} imports {imported}"
        for name, path in NAMES.items()
        if "." in name
        for imported in own_imports(path)
        if order.index(imported.split(".")[1]) > order.index(name.split(".")[1])
    ]
    assert wrong == [], "a module builds on those above it in course_utils' docstring"


def test_no_module_imports_itself_in_a_circle():
    graph = {name: set(own_imports(path)) - {name} for name, path in NAMES.items()}
    while free := [name for name, imported in graph.items() if not imported & set(graph)]:
        for name in free:
            del graph[name]
    assert graph == {}


def test_ipywidgets_is_imported_by_widgets_only():
    users = {name for name, tree in all_trees() for module in imports_of(tree) if module.split(".")[0] == "ipywidgets"}
    assert [name for name in users if not name.startswith("course_utils/widgets")] == []


PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def without_torch():
    """storyworld, the pytest plugins, and each module that says so of itself."""
    documentation = {name: ast.get_docstring(tree_of(path)) or "" for name, path in NAMES.items()}
    says_so = {name for name, text in documentation.items() if re.search(r"not\s+import\s+torch", text)}
    plugins = set(PYPROJECT["project"].get("entry-points", {}).get("pytest11", {}).values())
    return sorted({"course_utils.storyworld", "course_utils.workspace"} | says_so | plugins)


def test_modules_that_need_no_torch_do_not_import_it():
    script = "import sys, importlib\nfor name in sys.argv[1:]:\n    importlib.import_module(name)\n    assert 'torch' not in sys.modules, name"  # noqa: E501
    result = subprocess.run([sys.executable, "-c", script, *without_torch()], capture_output=True, cwd=ROOT)
    assert result.returncode == 0, result.stderr.decode("utf-8", "replace")


def test_every_package_is_installed():
    """Each folder with modules is a package that setuptools finds by the pattern in pyproject.toml."""
    assert PYPROJECT["tool"]["setuptools"]["packages"]["find"] == {"include": ["course_utils*"]}
    assert all((path.parent / "__init__.py").is_file() for path in MODULES)


# What files hold

SLASH = "/"  # so that these patterns do not find themselves
MACHINE_PATH = re.compile(rf"(?<![\w.~-]){SLASH}(home|root|Users|tmp|work|opt){SLASH}\w|\b[A-Z]:\\+Users\b")
REGISTRY = re.compile("|".join(re.escape(name + tld) for name, tld in [
    ("pypi", ".org"), ("pythonhosted", ".org"), ("download.pytorch", ".org"), ("anaconda", ".org"),
    ("anaconda", ".com"), ("npmjs", ".org"), ("npmjs", ".com"), ("deb.debian", ".org"),
]))  # fmt: skip


def test_the_patterns_find_what_they_look_for():
    for path in ("home", "root", "Users", "tmp", "work"):
        assert MACHINE_PATH.search(f"File {SLASH}{path}{SLASH}x.py") and MACHINE_PATH.search(f"'{SLASH}{path}{SLASH}x'")
        assert not MACHINE_PATH.search(f"https:{SLASH * 2}a.b{SLASH}{path}{SLASH}x")
    assert MACHINE_PATH.search("C:" + r"\Users\x")
    assert REGISTRY.search("https://files.pythonhosted" + ".org/x")
    assert not REGISTRY.search("see pytorch" + ".org/get-started/locally")


# The one exception: the address of PyTorch's builds without CUDA. conda's file needs it as well as bootstrap.py.
TORCH_CPU_INDEX = "https://download.pytorch" + ".org/whl/cpu"
NAMES_TORCH_CPU_INDEX = {"bootstrap.py", "environment.yml"}


def test_pytorchs_own_index_is_named_where_it_is_needed():
    named = {relative(path) for path in TEXT_FILES if TORCH_CPU_INDEX in path.read_text(encoding="utf-8")}
    assert named == NAMES_TORCH_CPU_INDEX


@pytest.mark.parametrize("pattern", [MACHINE_PATH, REGISTRY], ids=["machine path", "registry"])
def test_no_file_names_a_machine_or_a_registry(pattern):
    found = []
    for path in TEXT_FILES:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if relative(path) in NAMES_TORCH_CPU_INDEX:
                line = line.replace(TORCH_CPU_INDEX, "")
            if match := pattern.search(line):
                found.append(f"{relative(path)}:{number}: {line[max(match.start() - 30, 0) : match.end() + 30]}")
    assert found == []


def test_text_is_utf8_with_unix_line_ends_and_no_bom():
    found = {relative(path): content for path in TEXT_FILES if (content := path.read_bytes())}
    assert [name for name, content in found.items() if b"\r" in content] == []
    assert [name for name, content in found.items() if b"\xef\xbb\xbf" in content] == []
    assert [name for name, content in found.items() if not content.endswith(b"\n")] == []


@pytest.mark.parametrize(("folder", "limit"), [("data", 3_000_000), ("data/tiny_llama", 5_000_000)])
def test_data_is_small(folder, limit):
    assert 0 < sum(path.stat().st_size for path in FILES if path.parent == ROOT / folder) <= limit


def test_modules_are_short_and_well_named():
    lengths = {relative(path): len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES}
    assert {name: length for name, length in lengths.items() if length > LONGEST and name not in TEXTS} == {}
    assert not [path for path in SOURCES if path.stem in ("utils", "util", "helpers", "misc", "common")]


# How sources are written


def calls(tree):
    return (node for node in ast.walk(tree) if isinstance(node, ast.Call))


def text_mode(call):
    """The mode in which the call opens a file as text ("r" unless it says another), or None if it opens none so."""
    function = call.func
    name = function.id if isinstance(function, ast.Name) else getattr(function, "attr", None)
    if name in ("read_text", "write_text"):
        return name[0]
    if name != "open" or (isinstance(function, ast.Attribute) and getattr(function.value, "id", "") in ("os", "io")):
        return None
    given = [keyword.value for keyword in call.keywords if keyword.arg == "mode"]
    given += call.args[1:2] if isinstance(function, ast.Name) else call.args[:1]
    mode = given[0].value if given and isinstance(given[0], ast.Constant) else "r"
    return None if "b" in mode else mode


def keywords(call):
    return {keyword.arg for keyword in call.keywords}


def test_every_file_is_opened_with_its_encoding():
    found = [
        f"{name}:{call.lineno}"
        for name, tree in all_trees()
        for call in calls(tree)
        if text_mode(call) and "encoding" not in keywords(call)
    ]
    assert found == [], "without encoding, Windows reads another one"


def test_every_text_file_is_written_with_unix_line_ends():
    found = [
        f"{name}:{call.lineno}"
        for name, tree in all_trees()
        for call in calls(tree)
        if (text_mode(call) or "r") != "r" and "newline" not in keywords(call)
    ]
    assert found == [], "without newline, Windows writes others"


def test_the_rules_see_what_they_should():
    modes = {
        "open('a')": "r",
        "open('a', 'rb')": None,
        "open('a', mode='w')": "w",
        "p.open()": "r",
        "p.open('wb')": None,
        "p.write_text(x)": "w",
        "p.read_text()": "r",
        "p.read_bytes()": None,
        "os.open(p, 0)": None,
    }
    assert {source: text_mode(next(calls(ast.parse(source)))) for source in modes} == modes


IGNORED_TYPE = re.compile(r"#\s*type:\s*ignore")
EXPLAINED = re.compile(r"# type: ignore\[[a-z-]+(, [a-z-]+)*\]  # \w.{9,}")


def test_an_ignored_type_error_says_which_it_is_and_why():
    found = [
        f"{relative(path)}:{number}"
        for path in MODULES
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if IGNORED_TYPE.search(line) and not EXPLAINED.search(line)
    ]
    assert found == [], "write `# type: ignore[code]  # the reason`"


def test_unexplained_ignores_would_be_found():
    explained = "x = f()  # type: ignore[arg-type]  # f takes what NumPy calls a number"
    assert EXPLAINED.search(explained)
    for line in ("x = f()  # type: ignore", "x = f()  #type:ignore[arg-type]", "x = f()  # type: ignore[arg-type]"):
        assert IGNORED_TYPE.search(line) and not EXPLAINED.search(line)


# "asked for is", "a pair, which is none", "this is no text": shorter than English, and read twice.
CLIPPED = re.compile(
    r"\basked for (is|are)\b"
    r"|\b(it|that|which|there|this) (is|are|was|were) none\b"
    r"|\b(that|which|it|this) (is|are|was|were) no (?!longer\b|more\b|less\b|other\b)\w"
    r"|\b(slider|test|file|memory|end|ways) of (its|their) own\b"
)


def prose_of(path):
    """The docstrings and comments of a source, each on one line, with the number of the line where it begins."""
    for node in ast.walk(tree_of(path)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node):
            yield node.body[0].lineno, " ".join(ast.get_docstring(node).split())
    for token in tokenize.tokenize(io.BytesIO(path.read_bytes()).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def test_docstrings_and_comments_are_whole_sentences():
    found = [
        f"{relative(path)}:{number}: {match[0]}"
        for path in MODULES
        for number, text in prose_of(path)
        if (match := CLIPPED.search(text))
    ]
    assert found == [], "say it in the words in which it would be said"


def test_clipped_phrases_would_be_found():
    for text in ("what is asked for is shown", "half a pair, which is none", "that is no JSON", "a test of its own"):
        assert CLIPPED.search(text)
    for text in ("None if it is not one", "it is no longer", "a None is not a value", "on their own"):
        assert not CLIPPED.search(text)


def test_headings_stand_over_every_module_of_the_list():
    """A newcomer reads the list by its headings: each has at least one module, and each module has a heading."""
    listed = course_utils.__doc__.partition("builds on those above it:")[2]
    kinds = ["module" if line.startswith("    ") else "heading" for line in listed.splitlines() if line.strip()]
    assert kinds[0] == "heading" and kinds[-1] == "module"
    assert kinds.count("heading") > 5 and ("heading", "heading") not in itertools.pairwise(kinds)


def test_users_get_the_types():
    assert (PACKAGE / "py.typed").is_file()
    assert "py.typed" in PYPROJECT["tool"]["setuptools"]["package-data"]["course_utils"]


def test_no_pickle_and_no_evaluated_text_in_the_package():
    found = []
    for path in MODULES:
        tree = tree_of(path)
        modules = {name.split(".")[0] for name in imports_of(tree)} & {"pickle", "cPickle", "dill", "shelve", "marshal"}
        names = {call.func.id for call in calls(tree) if isinstance(call.func, ast.Name)} & {
            "eval",
            "exec",
            "__import__",
        }
        loads = {ast.unparse(call.func) for call in calls(tree)} & {"torch.load", "torch.save", "np.load", "np.save"}
        names -= {"exec"} if relative(path) == RUNS_CODE else set()
        found += [f"{relative(path)}: {what}" for what in (*modules, *names, *loads)]
    assert found == []


def test_only_the_page_uses_what_runs_code():
    users = {name for name, path in NAMES.items() if "course_utils.live.runner" in own_imports(path)}
    outside = {name for name, path in NAMES.items() if {imported for imported in own_imports(path)
               if imported.startswith("course_utils.live")} and not name.startswith("course_utils.live")}  # fmt: skip
    assert users == {"course_utils.live.pieces"} and outside == set()


def test_no_assert_of_a_tuple():
    found = [
        f"{name}:{node.lineno}"
        for name, tree in all_trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.Assert) and isinstance(node.test, ast.Tuple)
    ]
    assert found == [], 'assert (x, "message") always passes'


def test_everything_public_has_a_docstring():
    kinds = (ast.FunctionDef, ast.ClassDef)
    missing = [
        f"{relative(path)}: {getattr(node, 'name', 'the module')}"
        for path in MODULES
        for node in [tree_of(path), *tree_of(path).body]
        if isinstance(node, ast.Module) or (isinstance(node, kinds) and not node.name.startswith(("_", "pytest_")))
        if not ast.get_docstring(node)
    ]
    assert missing == [], "pytest's own hooks need none; everything else that is public does"


def test_no_test_is_defined_twice():
    """The second would silently replace the first."""
    for path in SOURCES:
        if path.parent == ROOT / "tests":
            names = [node.name for node in tree_of(path).body if isinstance(node, ast.FunctionDef)]
            assert [name for name, count in Counter(names).items() if count > 1] == [], relative(path)
