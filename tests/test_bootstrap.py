"""bootstrap.py at work, from the first command to a whole environment, with a tiny project, a tiny index and a Python
of its own: whatever happens, the next run makes all well, and that Python stays as it was, byte for byte."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest
from test_environment import bootstrap
from tiny_project import FILES, PINS, Index, copy_python, digest_of, finish, start, write_project

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="copies a Python as Linux lays it out")
NO_OWN_INDEX = "bootstrap.has_own_index = lambda venv: False"  # though a variable has to name the test's index


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    return copy_python(tmp_path_factory.mktemp("own python"))


@pytest.fixture(autouse=True)
def the_learners_own_python_stays_as_it_was(python):
    before = digest_of(python.parent.parent)
    yield
    assert digest_of(python.parent.parent) == before


@pytest.fixture
def index():
    index = Index()
    yield index
    index.close()


@pytest.fixture
def project(tmp_path):
    return write_project(tmp_path / "a spåce")


@pytest.fixture(scope="module")
def whole_project(python, tmp_path_factory):
    """An environment that is whole, made once; each test that uses it leaves it whole."""
    index = Index()
    root = write_project(tmp_path_factory.mktemp("whole") / "project")
    finish(start(python, root, index))
    index.close()
    return root


@pytest.fixture
def whole(whole_project):
    assert is_whole(whole_project)
    yield whole_project
    assert is_whole(whole_project)


def is_whole(root):
    return bootstrap.is_whole(str(root), str(root / ".venv"))


def versions(root):
    """What is installed in the environment, as pip describes it."""
    found = bootstrap.installed(str(root / ".venv"))
    return dict(name.removesuffix(".dist-info").rsplit("-", 1) for name in found)


def wait_until(happened, process=None, seconds=60):
    until = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < until, "it never came to this"
        assert process is None or process.poll() is None, process.communicate()[0]
        time.sleep(0.005)


def packages(root):
    version = "python{}.{}".format(*sys.version_info)
    return root / ".venv" / "lib" / version / "site-packages"


# Two runs, and runs that are ended


def test_of_two_runs_at_once_the_second_says_that_it_waits_and_finds_all_made(python, project, index):
    index.hold("leaf-1.0")
    first = start(python, project, index)
    wait_until(lambda: any("leaf-1.0" in path for path in index.asked), first)
    second = start(python, project, index)
    said = second.stdout.readline()
    assert said == "Another run is making .venv; this one waits until that one has ended.\n"
    before = len(index.asked)
    time.sleep(0.5)
    assert second.poll() is None and len(index.asked) == before  # it waits: it asks the index for nothing
    index.release()
    finish(first)
    assert finish(second) == "" and first.returncode == second.returncode == 0
    assert is_whole(project) and versions(project).items() >= {"leaf": "1.0", "torch": "2.13.0", "twig": "1.0"}.items()


KILLED = [signal.SIGKILL] * 5
MIXED = [signal.SIGINT, signal.SIGKILL, signal.SIGTERM, signal.SIGKILL, signal.SIGINT]
INTERRUPTED = [signal.SIGINT, signal.SIGTERM, signal.SIGINT, signal.SIGTERM, signal.SIGINT]
ALL = os.environ.get("COURSE_COPIES") == "all"  # `make portability`


@pytest.mark.parametrize("signals", [MIXED, KILLED, INTERRUPTED] if ALL else [MIXED])
def test_a_run_that_is_ended_at_any_moment_is_made_good_by_the_next(python, project, index, signals):
    """At five moments, one after the other. Each run begins on what the one before has left, and begins at once,
    while the pip of a killed run may still be at work."""
    venv = project / ".venv"
    moments = {
        "the lock is taken": lambda: True,
        "venv is at work": lambda: (venv / "pyvenv.cfg").exists(),
        "a package is downloaded": lambda: any("twig-1.0" in path for path in index.asked),
        "a package is installed": lambda: (packages(project) / "leaf").exists(),
        "all is checked": lambda: (packages(project) / "tiny-0.dist-info" / "RECORD").exists(),
    }
    for (moment, happened), ending in zip(moments.items(), signals, strict=True):
        if venv.exists():
            (venv / "left over").touch()
        if moment == "a package is downloaded":
            index.hold("twig-1.0")
        process = start(python, project, index)
        while not (line := process.stdout.readline()).startswith("Making the environment"):
            assert line.startswith("Another run is making .venv"), (moment, line, process.communicate())
        wait_until(lambda: not (venv / "left over").exists() and happened(), process)  # noqa: B023
        process.send_signal(ending)
        if ending == signal.SIGKILL:
            process.wait(30)
        else:
            assert "Interrupted. Run the same command again" in finish(process), moment
            assert process.returncode == 1, moment
        assert not is_whole(project), moment
        index.release()
        index.asked.clear()
    process = start(python, project, index)
    said = finish(process)
    assert process.returncode == 0 and is_whole(project), said
    assert ".venv is not whole; it is made anew." in said
    assert versions(project).items() >= {"leaf": "1.0", "torch": "2.13.0", "twig": "1.0", "tiny": "0"}.items()
    assert len(list((packages(project) / "leaf").iterdir())) == FILES


# What is in .venv


def test_an_environment_without_pyvenv_cfg_is_made_anew_and_pip_fills_no_other_python(python, whole):
    (whole / ".venv" / "pyvenv.cfg").unlink()
    assert not is_whole(whole)
    index = Index()
    process = start(python, whole, index)
    said = finish(process)
    index.close()
    assert process.returncode == 0 and ".venv is not whole; it is made anew." in said


def test_an_environment_without_pyvenv_cfg_is_not_filled_when_its_pins_have_changed(python, whole):
    """The stamp of other pins says "to be completed", and the interpreter in .venv is the learner's own Python."""
    (whole / ".venv" / "pyvenv.cfg").unlink()
    with open(whole / "constraints.txt", "a", encoding="utf-8", newline="\n") as file:
        file.write("# changed\n")
    index = Index()
    process = start(python, whole, index)
    said = finish(process)
    index.close()
    assert process.returncode == 0 and ".venv is not whole; it is made anew." in said


def test_another_version_than_the_pin_is_noticed_and_put_right(python, whole):
    index = Index()
    pip(whole, index, "install", "leaf==2.0")
    assert not is_whole(whole) and versions(whole)["leaf"] == "2.0"
    problem = bootstrap.environment_problem(str(whole), str(whole / ".venv"))
    assert problem == "leaf in .venv is 2.0, but the course is pinned to 1.0"
    finish(start(python, whole, index))
    index.close()
    assert versions(whole)["leaf"] == "1.0"


def test_a_package_that_was_removed_is_noticed_and_comes_back(python, whole):
    index = Index()
    pip(whole, index, "uninstall", "--yes", "twig")
    problem = bootstrap.environment_problem(str(whole), str(whole / ".venv"))
    assert problem == "twig is not installed in .venv"
    finish(start(python, whole, index))
    index.close()
    assert versions(whole)["twig"] == "1.0"


def test_what_the_learner_installed_besides_stays_and_nothing_is_asked_of_the_index(python, whole):
    shutil.copytree(packages(whole) / "twig-1.0.dist-info", packages(whole) / "own-3.0.dist-info")
    metadata = packages(whole) / "own-3.0.dist-info" / "METADATA"
    metadata.write_text("Metadata-Version: 2.1\nName: own\nVersion: 3.0\n", encoding="utf-8", newline="\n")
    assert not is_whole(whole)
    index = Index()
    assert finish(start(python, whole, index)) == "" and index.asked == []
    index.close()
    assert versions(whole)["own"] == "3.0"


def test_packages_elsewhere_do_not_count_and_settings_send_none_elsewhere(python, whole, tmp_path):
    """PYTHONPATH shows pip a twig that is not in .venv; PIP_TARGET, PIP_PREFIX and PIP_PYTHON name other places."""
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(packages(whole) / "twig-1.0.dist-info", elsewhere / "twig-1.0.dist-info")
    index = Index()
    pip(whole, index, "uninstall", "--yes", "twig")
    before = digest_of(elsewhere)
    settings = {"PYTHONPATH": elsewhere, "PIP_TARGET": elsewhere, "PIP_PREFIX": elsewhere, "PIP_PYTHON": python}
    process = start(python, whole, index, **{name: str(value) for name, value in settings.items()})
    said = finish(process)
    index.close()
    assert process.returncode == 0, said
    assert digest_of(elsewhere) == before and versions(whole)["twig"] == "1.0"


def pip(root, index, *arguments):
    """As a learner in the environment calls pip."""
    command = [root / ".venv" / "bin" / "python", "-m", "pip", *arguments]
    own = {"PIP_CONFIG_FILE": os.devnull, "PIP_INDEX_URL": f"{index.address}/simple", "PIP_NO_CACHE_DIR": "1"}
    kept = {name: value for name, value in os.environ.items() if not name.upper().startswith(("PIP_", "PYTHON"))}
    subprocess.run(command, env={**kept, **own}, check=True, capture_output=True)


# What cannot be had


def test_a_pin_that_no_index_has_is_a_sentence_and_the_environment_is_not_whole(python, whole):
    pins = whole / "constraints.txt"
    kept = pins.read_bytes()
    pins.write_text(PINS.replace("twig==1.0", "twig==9.9"), encoding="utf-8", newline="\n")
    index = Index()
    process = start(python, whole, index)
    assert "pip found no fitting build of the package that it names above" in finish(process).splitlines()[-1]
    assert process.returncode == 1 and not is_whole(whole)
    pins.write_bytes(kept)
    finish(start(python, whole, index))
    index.close()


def test_pins_that_pip_does_not_keep_leave_no_stamp(tmp_path, monkeypatch):
    root = write_project(tmp_path / "project")
    (root / ".venv" / "lib").mkdir(parents=True)
    for name in ("make_venv", "install"):
        monkeypatch.setattr(bootstrap, name, lambda *arguments: None)
    monkeypatch.setattr(bootstrap, "environment_problem", lambda root, venv: "leaf in .venv is 2.0")
    with pytest.raises(SystemExit, match=r"and yet leaf in \.venv is 2\.0\. Delete the folder \.venv, then run"):
        bootstrap.main(str(root))
    assert not os.path.exists(bootstrap.stamp_path(str(root / ".venv")))


def test_without_a_network_a_sentence(python, project, index):
    refused = {"PIP_INDEX_URL": f"http://127.0.0.1:{index.server.server_port}/simple"}
    index.close()
    process = start(python, project, None, **refused)
    said = finish(process)
    assert "pip cannot reach its package index" in said.splitlines()[-1], said
    assert process.returncode == 1 and not is_whole(project)


@pytest.fixture
def small_disk(tmp_path):
    """A file system of its own, of a size that the test names; only root can mount one."""
    place = tmp_path / "small disk"
    place.mkdir()

    def mount(size):
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", place], check=True, capture_output=True)
        return place

    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("only root can mount a small file system; the tests with NO_ROOM in their name need none")
    yield mount
    subprocess.run(["umount", place], check=False)


@pytest.mark.parametrize("size", ["3m", "40m"], ids=["while venv works", "while pip works"])
def test_a_full_disk_is_a_sentence(python, small_disk, index, size):
    root = write_project(small_disk(size) / "project")
    process = start(python, root, index)
    said = finish(process)
    assert "The disk is full: the environment needs about 2 GB. Make room" in said.splitlines()[-1], said
    assert process.returncode == 1 and not is_whole(root)


@pytest.mark.parametrize("step", ["OnlyOne", "make_venv", "install", "write_stamp"])
def test_NO_ROOM_at_any_step_is_a_sentence(tmp_path, monkeypatch, step):
    """The step fails as a full disk makes it fail."""
    root = write_project(tmp_path / "project")
    (root / ".venv" / "lib").mkdir(parents=True)

    def full(*arguments):
        raise OSError(28, "No space left on device")

    for name in ("make_venv", "install", "environment_problem"):
        monkeypatch.setattr(bootstrap, name, lambda *arguments: None)
    monkeypatch.setattr(bootstrap, step, full)
    with pytest.raises(SystemExit, match="The disk is full"):
        bootstrap.main(str(root))
    assert not os.path.exists(bootstrap.stamp_path(str(root / ".venv")))


# PyTorch's own index


def asked_for(index):
    """The packages that were asked for, for each of the two indexes."""
    pairs = {tuple(path.strip("/").split("/")[:2]) for path in index.asked}
    return {folder: {name for of, name in pairs if of == folder} for folder in ("cpu", "simple")}


def torch_anew(python, whole, index, script, **environment):
    """Install all again but torch; gives what was said and which torch there is."""
    pip(whole, index, "uninstall", "--yes", "torch", "gpu")
    index.asked.clear()
    process = start(python, whole, index, script, **environment)
    said = finish(process)
    assert process.returncode == 0, said
    return said, versions(whole)["torch"]


def test_linux_takes_the_small_torch_from_pytorchs_index_and_nothing_else(python, whole, index):
    script = f"{NO_OWN_INDEX}\nbootstrap.TORCH_CPU_INDEX = '{index.address}/cpu'"
    pip(whole, index, "uninstall", "--yes", "twig")
    _, torch = torch_anew(python, whole, index, script)
    assert torch == "2.13.0+cpu" and "gpu" not in versions(whole)
    assert asked_for(index)["cpu"] == {"torch"}  # which has a leaf and a twig as well
    assert "twig" in asked_for(index)["simple"]
    assert not [path for path in index.asked if "simple/torch/torch" in path]


def test_an_index_of_the_learners_own_is_the_only_one(python, whole, index):
    said, torch = torch_anew(python, whole, index, f"bootstrap.TORCH_CPU_INDEX = '{index.address}/cpu'")
    assert torch == "2.13.0" and versions(whole)["gpu"] == "1.0" and asked_for(index)["cpu"] == set()
    assert "PyTorch's own index" not in said


@pytest.mark.parametrize("fault", ["refused", "silent", "without torch"])
def test_where_pytorchs_index_does_not_answer_all_goes_as_without_it(python, whole, index, fault):
    address = {"refused": "http://127.0.0.1:9", "silent": f"{index.address}/cpu", "without torch": f"{index.address}/x"}
    if fault == "silent":
        index.hold("cpu/torch")
    began = time.monotonic()
    script = f"{NO_OWN_INDEX}\nbootstrap.TORCH_CPU_INDEX = {address[fault]!r}"
    said, torch = torch_anew(python, whole, index, script)
    assert time.monotonic() - began < 50  # the index that is silent would be silent for 60
    assert torch == "2.13.0" and "PyTorch's own index does not answer, so the ordinary build is taken." in said


def test_a_download_from_pytorchs_index_that_fails_falls_back_too(python, whole, index):
    """The index lists the wheel, and has none."""
    script = f"{NO_OWN_INDEX}\nbootstrap.TORCH_CPU_INDEX = '{index.address}/broken'"
    said, torch = torch_anew(python, whole, index, script)
    assert torch == "2.13.0" and "So the ordinary build of PyTorch is taken." in said


@pytest.mark.parametrize(
    ("settings", "own"),
    [
        ("global.cert='x'\n:env:.default-timeout='180'\n", False),
        ("", False),
        ("global.index-url='https://a'\n", True),
        (":env:.extra-index-url='https://a'\n", True),
        ("install.find-links='wheels'\n", True),
        ("global.no-index='true'\n", True),
        ("global.proxy='http://index-url=x'\n", False),
    ],
)
def test_which_of_pips_settings_name_an_index(monkeypatch, settings, own):
    monkeypatch.setattr(bootstrap, "run", lambda command: (0, settings))
    assert bootstrap.has_own_index("x") is own


@pytest.mark.parametrize(("platform", "machine"), [("darwin", "arm64"), ("win32", "AMD64"), ("linux", "riscv64")])
def test_other_systems_are_left_to_the_ordinary_index(tmp_path, monkeypatch, platform, machine):
    monkeypatch.setattr(bootstrap.sys, "platform", platform)
    monkeypatch.setattr(bootstrap.os, "uname", lambda: ("", "", "", "", machine))
    monkeypatch.setattr(bootstrap, "run", lambda *arguments: pytest.fail(f"ran {arguments}"))
    bootstrap.install_small_torch(str(write_project(tmp_path / "project")), "x")


def test_the_address_is_the_one_that_condas_file_names():
    with open(bootstrap.os.path.join(bootstrap.ROOT, "environment.yml"), encoding="utf-8") as file:
        assert re.findall(r"--extra-index-url (\S+)", file.read()) == [bootstrap.TORCH_CPU_INDEX]
