"""One set of pins, and an environment that is whole or is made again."""

import ast
import importlib.metadata
import importlib.util
import os
import re
import signal
import socket
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parent.parent
SPEC = importlib.util.spec_from_file_location("bootstrap", ROOT / "bootstrap.py")
bootstrap = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(bootstrap)

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
SYSTEMS = {
    "linux": {"sys_platform": "linux", "os_name": "posix", "platform_system": "Linux"},
    "windows": {"sys_platform": "win32", "os_name": "nt", "platform_system": "Windows"},
    "macos": {"sys_platform": "darwin", "os_name": "posix", "platform_system": "Darwin"},
}
PYTHONS = ("3.11", "3.12", "3.13")


def pin_lines():
    lines = (line.split("#")[0].strip() for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines())
    return [Requirement(line) for line in lines if line]


PINS = {canonicalize_name(pin.name): pin for pin in pin_lines()}


def asked_for():
    project = PROJECT["project"]
    extras = [requirement for extra in project["optional-dependencies"].values() for requirement in extra]
    return [Requirement(text) for text in [*project["dependencies"], *extras]]


def needed(system, python):
    """The names of all packages that the course needs there, directly or not, as far as installed ones tell."""
    environment = {**default_environment(), **SYSTEMS[system], "python_version": python}
    environment["python_full_version"] = f"{python}.0"
    todo, done = [(canonicalize_name(r.name), frozenset(r.extras)) for r in asked_for()], set()
    while todo:
        name, extras = item = todo.pop()
        if item in done:
            continue
        done.add(item)
        try:
            requirements = importlib.metadata.requires(name) or []
        except importlib.metadata.PackageNotFoundError:
            continue  # needed on another system only; that it is pinned is checked all the same
        for requirement in map(Requirement, requirements):
            marker, of_torch = requirement.marker, name == "torch" and "==" in str(requirement.specifier)
            if of_torch:
                continue  # torch's CUDA build pins its own parts, down to the last one
            if marker is None or any(marker.evaluate({**environment, "extra": extra}) for extra in ("", *extras)):
                todo.append((canonicalize_name(requirement.name), frozenset(requirement.extras)))
    return {name for name, _ in done}


# The pins


def test_every_pin_is_exact_and_alone():
    names = [canonicalize_name(pin.name) for pin in pin_lines()]
    assert len(names) > 50 and len(names) == len(set(names))
    for pin in PINS.values():
        [specifier] = pin.specifier
        assert specifier.operator == "==" and "*" not in specifier.version and not pin.extras and not pin.marker


def test_dependencies_are_named_without_versions_and_pinned():
    for requirement in asked_for():
        assert not requirement.specifier, f"{requirement}: the version belongs into constraints.txt"
        assert canonicalize_name(requirement.name) in PINS


def test_build_requirements_have_the_same_pins():
    # pip does not apply constraints to what it builds with, so these are pinned in pyproject.toml as well.
    for requirement in map(Requirement, PROJECT["build-system"]["requires"]):
        assert requirement.specifier == PINS[canonicalize_name(requirement.name)].specifier


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("python", PYTHONS)
def test_everything_needed_has_a_pin(system, python):
    assert needed(system, python) - set(PINS) == set()


def test_every_pin_is_needed_somewhere():
    everywhere = set().union(*(needed(system, python) for system in SYSTEMS for python in PYTHONS))
    built_with = {canonicalize_name(Requirement(text).name) for text in PROJECT["build-system"]["requires"]}
    assert set(PINS) - everywhere - built_with == set()


def test_what_runs_here_is_what_is_pinned():
    compared = 0
    for name, pin in PINS.items():
        try:
            installed = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            assert name not in needed({"nt": "windows"}.get(os.name, "macos" if sys.platform == "darwin" else "linux"),
                                      "{}.{}".format(*sys.version_info)), f"{name} is missing"  # fmt: skip
            continue
        assert Version(Version(installed).public) in pin.specifier, f"{name} {installed}, pinned {pin}"
        compared += 1
    assert compared > 50


def test_the_pins_run_on_the_oldest_python():
    """The first patch version too: Debian's Python stays at 3.11.2."""
    oldest = "{}.{}.0".format(*bootstrap.OLDEST)
    for name in PINS:
        try:
            wanted = importlib.metadata.metadata(name)["Requires-Python"]
        except importlib.metadata.PackageNotFoundError:
            continue
        assert wanted is None or oldest in SpecifierSet(wanted), f"{name} wants Python {wanted}"


def test_environment_yml_installs_the_same():
    conda = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    assert conda["name"] == PROJECT["project"]["name"]
    python, pip, with_pip = conda["dependencies"]
    assert python.startswith("python=") and pip == "pip"
    wanted = SpecifierSet(PROJECT["project"]["requires-python"])
    assert f"{python.removeprefix('python=')}.0" in wanted
    # PyTorch's index holds one package that the course needs, and the pins hold for what else it has.
    index = f"--extra-index-url {bootstrap.TORCH_CPU_INDEX}"
    assert with_pip == {"pip": [index, "-c constraints.txt", "-e .[test]"]}


def test_readme_names_the_oldest_python():
    [specifier] = SpecifierSet(PROJECT["project"]["requires-python"])
    assert specifier.operator == ">=" and specifier.version == "{}.{}".format(*bootstrap.OLDEST)
    assert f"Python {specifier.version} or newer" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_ci_runs_the_readmes_command():
    assert (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()[-1] == "make test"
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8"))
    [job] = workflow["jobs"].values()
    assert workflow["permissions"] == {"contents": "read"} and job["timeout-minutes"] == 40
    assert {key: len(values) for key, values in job["strategy"]["matrix"].items()} == {"os": 3, "python": 2}
    runs = [step.get("run", "") for step in job["steps"]]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    recipe = re.search(r"^test: env\n((?:\t.*\n)+)", makefile, re.MULTILINE)[1]
    on_windows = next(run for run in runs if "Scripts" in run)
    for line in recipe.splitlines():
        assert line.strip().replace("$(PY)", r".venv\Scripts\python") in on_windows
    assert "make test" in runs


def test_the_changelog_begins_with_the_version_that_pyproject_names():
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    released = re.findall(r"^## \[(\d+\.\d+\.\d+)\]$", changelog, re.MULTILINE)
    assert released[0] == PROJECT["project"]["version"] == importlib.metadata.version("scores-to-answers")
    assert released == sorted(released, key=Version, reverse=True) and released[-1] == "0.1.0"


# bootstrap.py


def test_bootstrap_is_readable_by_old_pythons():
    source = (ROOT / "bootstrap.py").read_bytes()
    source.decode("ascii")  # without a declaration, Python 2 reads nothing else
    tree = ast.parse(source, feature_version=(3, 4))
    new = (ast.JoinedStr, ast.NamedExpr, ast.AnnAssign, ast.AsyncFunctionDef, ast.Match, ast.YieldFrom, ast.Nonlocal)
    assert not [node.lineno for node in ast.walk(tree) if isinstance(node, new)]
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            arguments = node.args
            assert not arguments.kwonlyargs and not arguments.posonlyargs and not node.returns
        if isinstance(node, ast.Raise):
            assert node.cause is None
    in_examine = next(node for node in tree.body if getattr(node, "name", "") == "examine")  # runs in .venv's Python
    nodes = set(ast.walk(tree)) - set(ast.walk(in_examine))
    assert not [node.lineno for node in nodes if isinstance(node, ast.ImportFrom)]
    imported = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    assert imported == {
        "fcntl",
        "hashlib",
        "msvcrt",
        "os",
        "shutil",
        "signal",
        "subprocess",
        "sys",
        "time",
    }  # in 2.7 too


@pytest.mark.parametrize("version", [(2, 7, 18), (3, 6, 0), (3, 10, 99), (3, 11, 0), (3, 12, 1), (4, 0, 0)])
def test_an_old_python_is_told_what_to_do(version):
    problem = bootstrap.python_problem(version)
    good = ".".join(map(str, version)) in SpecifierSet(PROJECT["project"]["requires-python"])
    assert (problem is None) == good
    if problem:
        for part in ("Python {}.{}".format(*version), "3.11 or newer", "PYTHON=python3.12", "py -3.12"):
            assert part in problem


def test_an_old_python_changes_nothing(tiny, monkeypatch):
    before = sorted(tiny.rglob("*"))
    monkeypatch.setattr(bootstrap.sys, "version_info", (3, 9, 1))
    with pytest.raises(SystemExit, match=r"This is Python 3\.9"):
        bootstrap.main(str(tiny))
    assert sorted(tiny.rglob("*")) == before


@pytest.fixture
def tiny(tmp_path):
    """A project that needs nothing, in a folder with a space and a letter beyond ASCII."""
    root = tmp_path / "a spåce"
    (root / "empty").mkdir(parents=True)
    (root / "constraints.txt").write_text("setuptools==84.2.1\n", encoding="utf-8", newline="\n")
    (root / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["setuptools==84.2.1"]\nbuild-backend = "setuptools.build_meta"\n'
        '[project]\nname = "tiny"\nversion = "0"\noptional-dependencies = {test = []}\n'
        "[tool.setuptools]\npackages = []\n",
        encoding="utf-8",
        newline="\n",
    )
    return root


@pytest.fixture
def made(tiny):
    """The tiny project with an environment that is whole, as if pip had run: nothing is downloaded."""
    venv = str(tiny / ".venv")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    stamp(tiny)
    assert bootstrap.is_whole(str(tiny), venv)
    return tiny


def stamp(root, made_for=None):
    """The stamp, or one for other pins."""
    bootstrap.write_stamp(str(root), str(root / ".venv"))
    path = root / ".venv" / "course_environment_is_whole"
    if made_for:
        lines = [made_for, *path.read_text(encoding="utf-8").splitlines()[1:]]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


@pytest.fixture
def steps(monkeypatch):
    """What main does, in order, without a subprocess: `make_venv` and `install` are only noted."""
    done = []
    monkeypatch.setattr(bootstrap, "make_venv", lambda root, venv: done.append("make_venv"))
    monkeypatch.setattr(bootstrap, "install", lambda root, venv: done.append("install"))
    monkeypatch.setattr(bootstrap, "environment_problem", lambda root, venv: None)
    return done


def test_a_second_run_starts_nothing(made, monkeypatch):
    def nothing(*arguments, **options):
        raise AssertionError(f"started {arguments}")

    for name in ("Popen", "run", "call"):
        monkeypatch.setattr(bootstrap.subprocess, name, nothing)
    bootstrap.main(str(made))


def test_no_stamp_is_not_whole(made, steps):
    os.remove(bootstrap.stamp_path(str(made / ".venv")))
    bootstrap.main(str(made))
    assert steps == ["make_venv", "install"]
    bootstrap.main(str(made))
    assert len(steps) == 2  # now it is whole


@pytest.mark.parametrize("name", ["constraints.txt", "pyproject.toml"])
def test_other_pins_are_not_whole(made, steps, name):
    with open(made / name, "a", encoding="utf-8", newline="\n") as file:
        file.write("# changed\n")
    bootstrap.main(str(made))
    assert steps == ["make_venv", "install"]


def test_a_moved_folder_is_not_whole(made, steps):
    moved = made.rename(made.with_name("moved"))
    bootstrap.main(str(moved))
    assert steps == ["make_venv", "install"]


@pytest.mark.parametrize("damage", ["python", "base", "pyvenv.cfg", "unreadable"])
def test_a_broken_python_is_not_whole(made, steps, damage):
    venv = made / ".venv"
    configuration = venv / "pyvenv.cfg"
    if damage == "python":
        os.remove(bootstrap.venv_python(str(venv)))
    elif damage == "base":
        text = configuration.read_text(encoding="utf-8")
        gone = re.sub(r"^(home|executable) = .*$", r"\1 = nowhere", text, flags=re.MULTILINE)
        configuration.write_text(gone, encoding="utf-8", newline="\n")
    elif damage == "pyvenv.cfg":
        configuration.unlink()
    else:
        configuration.write_bytes(b"\xff\xfe")
    bootstrap.main(str(made))
    assert steps == ["make_venv", "install"]


def test_a_run_that_fails_leaves_no_stamp(made, monkeypatch):
    """Not even the old one: pins that are changed and changed back must not look whole."""
    stamp(made, "other pins")

    def interrupted(root, venv):
        raise KeyboardInterrupt

    monkeypatch.setattr(bootstrap, "is_own_python", lambda venv: True)
    monkeypatch.setattr(bootstrap, "install", interrupted)
    with pytest.raises(SystemExit, match=r"Interrupted\. Run the same command again"):
        bootstrap.main(str(made))
    assert not os.path.exists(bootstrap.stamp_path(str(made / ".venv")))
    assert not bootstrap.is_whole(str(made), str(made / ".venv"))


def test_an_environment_for_other_pins_is_kept_and_completed(made, monkeypatch):
    stamp(made, "other pins")
    (made / ".venv" / "witness").touch()
    monkeypatch.setattr(bootstrap, "is_own_python", lambda venv: True)
    bootstrap.make_venv(str(made), str(made / ".venv"))
    assert (made / ".venv" / "witness").exists()


@pytest.mark.parametrize("state", ["no stamp", "python does not run", "a file", "a link"])
def test_a_half_made_environment_is_begun_again(made, monkeypatch, state):
    venv = made / ".venv"
    (venv / "witness").touch()
    if state == "no stamp":
        os.remove(bootstrap.stamp_path(str(venv)))
    elif state != "python does not run":  # which is so already: this environment has no pip
        elsewhere = venv.rename(made / "elsewhere")
        if state == "a file" or os.name == "nt":  # on Windows, links need a right that few have
            venv.touch()
        else:
            venv.symlink_to(elsewhere)
    made_anew = []

    def venv_module(command):
        assert not os.path.lexists(venv)
        made_anew.append(command)
        return 0, ""

    monkeypatch.setattr(bootstrap, "is_own_python", lambda venv: bool(made_anew))
    monkeypatch.setattr(bootstrap, "run", venv_module)
    bootstrap.make_venv(str(made), str(venv))
    assert made_anew == [[sys.executable, "-m", "venv", str(venv)]]
    if state == "a link" and os.name != "nt":
        assert (elsewhere / "witness").exists()  # what the link showed is not ours to delete


@pytest.mark.parametrize(
    ("output", "sentence"),
    [
        ("The virtual environment was not created successfully because ensurepip is not\navailable.", "python3-venv"),
        ("/usr/bin/python3: No module named venv", "python3-venv"),
        ("Error: [Errno 28] No space left on device: '/x/.venv'", "disk is full"),
        ("Error: [Errno 13] Permission denied: '.venv'", "Remove .venv"),
    ],
)
def test_a_venv_that_cannot_be_made_is_explained(tiny, monkeypatch, capsys, output, sentence):
    def venv_module(command):
        (tiny / ".venv").mkdir()
        return 1, output

    monkeypatch.setattr(bootstrap, "run", venv_module)
    with pytest.raises(SystemExit, match=sentence):
        bootstrap.main(str(tiny))
    assert output in capsys.readouterr().err
    assert not (tiny / ".venv").exists()


PIP_SAYS = {
    "refused": ("WARNING: Retrying (Retry(total=0)) after connection broken by 'NewConnectionError('<x>: Failed to "
                "establish a new connection: [Errno 111] Connection refused')': /simple/a/", "reach its package index"),
    "names": ("HTTPSConnectionPool(host='x', port=443): Max retries exceeded with url: /simple/a/ (Caused by "
              "NameResolutionError(\"<x>: Failed to resolve 'x' ([Errno 11001] getaddrinfo failed)\"))",
              "reach its package index"),
    "proxy": ("connection broken by 'ProxyError('Cannot connect to proxy.', OSError('Tunnel connection failed: 407 "
              "Proxy Authentication Required'))': /simple/a/", "reach its package index"),
    "timeout": ("pip._vendor.urllib3.exceptions.ReadTimeoutError: HTTPSConnectionPool: Read timed out.",
                "reach its package index"),
    "reset": ("('Connection aborted.', ConnectionResetError(104, 'Connection reset by peer'))",
              "reach its package index"),
    "certificate": ("Max retries exceeded with url: /simple/a/ (Caused by SSLError(SSLCertVerificationError(1, '[SSL: "
                    "CERTIFICATE_VERIFY_FAILED] certificate verify failed')))", "PIP_CERT"),
    "disk": ("ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device", "disk is full"),
    "disk on Windows": ("OSError: [WinError 112] There is not enough space on the disk", "disk is full"),
    "quota": ("OSError: [Errno 122] Disk quota exceeded", "disk is full"),
    "no build": ("ERROR: Could not find a version that satisfies the requirement torch (from versions: none)\n"
                 "ERROR: No matching distribution found for torch==2.13.0", "no fitting build"),
    "no such version": ("The user requested (constraint) leaf==9.9\nERROR: ResolutionImpossible: for help",
                        "no fitting build"),
    "other": ("error: subprocess-exited-with-error", "its last lines are above"),
}  # fmt: skip


@pytest.mark.parametrize("case", PIP_SAYS)
def test_pip_failures_are_explained(case):
    output, sentence = PIP_SAYS[case]
    explained = bootstrap.explain_pip_failure(output)
    assert "\n" not in explained
    assert {text for _, text in PIP_SAYS.values() if text in explained} == {sentence}


def run_bootstrap(root, **environment):
    """A real run in another folder, away from this machine's pip settings.

    Ctrl-C is listened to even if this run was started in the background, where a shell has it ignored.
    """
    listen = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    start = f"import sys; sys.path.insert(0, {str(ROOT)!r}); import bootstrap; bootstrap.main({str(root)!r})"
    script = f"{listen}; {start}"
    kept = {name: value for name, value in os.environ.items() if not name.upper().startswith("PIP_")}
    return subprocess.Popen(
        [sys.executable, "-c", script],
        env={**kept, "PIP_CONFIG_FILE": os.devnull, "PIP_NO_CACHE_DIR": "1", **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


def closed_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_without_network_a_sentence_and_no_whole_environment(tiny):
    process = run_bootstrap(tiny, PIP_INDEX_URL=f"http://127.0.0.1:{closed_port()}/simple", PIP_RETRIES="1")
    output = process.communicate(timeout=120)[0].decode("utf-8", "replace")
    assert process.returncode == 1
    assert "pip cannot reach its package index" in output.splitlines()[-1]
    assert "Traceback" not in output
    assert not bootstrap.is_whole(str(tiny), str(tiny / ".venv"))


@pytest.mark.skipif(os.name == "nt", reason="Windows has no signal that reaches one process only as Ctrl-C does")
def test_ctrl_c_while_pip_works_is_a_sentence(tiny):
    """The index accepts the connection and never answers; Ctrl-C comes meanwhile."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/simple"
        process = run_bootstrap(tiny, PIP_INDEX_URL=address)
        silent.settimeout(60)
        connection, _ = silent.accept()
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        output = process.communicate(timeout=60)[0].decode("utf-8", "replace")
        connection.close()
    assert "Interrupted. Run the same command again" in output and "Traceback (most recent" not in output
    assert process.returncode == 1 and not bootstrap.is_whole(str(tiny), str(tiny / ".venv"))


def test_what_pip_prints_can_be_shown_on_any_terminal(tmp_path):
    class Old:
        encoding, text = "cp1252", ""

        def write(self, text):
            text.encode(self.encoding)
            self.text += text

        def flush(self):
            pass

    terminal = Old()
    bootstrap.show("Installing 中 \ufffd ü\n", terminal)
    assert terminal.text == "Installing ? ? ü\n"


def test_progress_shows_packages_and_large_downloads_only():
    shown = ["Collecting torch==2.13.0", "  Downloading torch-2.13.0-cp311.whl (190.0 MB)", "Installing collected x",
             "ERROR: no"]  # fmt: skip
    hidden = ["  Downloading six-1.17.0-py2.py3-none-any.whl.metadata (1.7 kB)", "Requirement already satisfied: six",
              "Looking in indexes: https://somewhere"]  # fmt: skip
    assert [line for line in shown + hidden if bootstrap.is_progress(line)] == shown
