"""Nothing that a learner wrote is lost, and the commands say what they did."""

import json
import os
import shutil
import signal
import subprocess
import sys
from datetime import datetime

import pytest

from course_utils import versions, workspace
from course_utils.workspace import commands, copies, judge, start_lab

NAMES = ("00_start_here.ipynb", "03_top_k_top_p.ipynb")


def notebook(*sources, outputs=()):
    cells = [
        {"cell_type": "markdown", "id": "title", "metadata": {}, "source": ["# Title\n", "“q” 中"]},
        *(
            {
                "cell_type": "code",
                "id": f"c{number}",
                "metadata": {"tags": ["t"]},
                "source": source,
                "outputs": list(outputs),
                "execution_count": 7,
            }
            for number, source in enumerate(sources)
        ),
    ]
    return {"cells": cells, "metadata": {"course": {"notebook": "x"}}, "nbformat": 4, "nbformat_minor": 5}


def write(path, content):
    path.write_text(json.dumps(content), encoding="utf-8", newline="\n")


@pytest.fixture
def folders(tmp_path):
    shipped, mine = tmp_path / "notebooks", tmp_path / "my_notebooks"
    shipped.mkdir()
    for name in NAMES:
        write(shipped / name, notebook("x = 1", outputs=[{"output_type": "stream", "name": "stdout", "text": "1"}]))
    return shipped, mine


def make_older(copy):
    """As copies were made before they said of which version they are: only the record says it."""
    content = read(copy)
    del content["metadata"]["course"]["copied_from"]
    write(copy, content)


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


def files(folder):
    """Each file's name and bytes."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def test_fill_copies_everything_but_outputs(folders):
    shipped, mine = folders
    messages = workspace.fill(shipped, mine)
    assert messages == [f"Copied to my_notebooks/: {', '.join(NAMES)}."]
    for name in NAMES:
        original, copy = (json.loads((folder / name).read_text(encoding="utf-8")) for folder in folders)
        for cell in original["cells"]:
            cell["source"] = "".join(cell["source"])
            if cell["cell_type"] == "code":
                assert cell["outputs"]
                cell.update(outputs=[], execution_count=None)
        version = copy["metadata"]["course"].pop("copied_from")
        assert copy == original and version == versions.digest(original)
        assert b"\r" not in (mine / name).read_bytes()
    assert set(files(mine)) == {*NAMES, ".copied.json"}


def test_fill_changes_nothing_that_is_there(folders):
    shipped, mine = folders
    workspace.fill(shipped, mine)
    write(mine / NAMES[1], notebook("my work"))
    before = files(mine)
    assert workspace.fill(shipped, mine) == []
    assert files(mine) == before


@pytest.mark.parametrize("content", [b"", b"<<<<<<< HEAD\n{", b"\xff\xfe broken", b"[]"])
def test_a_damaged_notebook_is_left_alone_by_fill_and_kept_by_reset(folders, content):
    shipped, mine = folders
    mine.mkdir()
    (mine / NAMES[1]).write_bytes(content)
    workspace.fill(shipped, mine)
    assert (mine / NAMES[1]).read_bytes() == content
    message = workspace.reset("03", shipped, mine)
    [kept] = mine.glob("03_top_k_top_p.*.ipynb")
    assert kept.read_bytes() == content and kept.name in message
    assert json.loads((mine / NAMES[1]).read_text(encoding="utf-8"))["cells"][1]["source"] == "x = 1"


def test_other_files_and_folders_are_left_alone(folders):
    shipped, mine = folders
    (mine / NAMES[0]).mkdir(parents=True)  # a folder with a notebook's name
    (mine / "sub").mkdir()
    (mine / "notes.txt").write_bytes(b"mine")
    (mine / "03_top_k_top_p.2026-01-02_03-04-05.ipynb").write_bytes(b"kept")
    workspace.fill(shipped, mine)
    assert (mine / NAMES[0]).is_dir() and (mine / "sub").is_dir()
    assert (mine / "notes.txt").read_bytes() == b"mine"
    assert (mine / "03_top_k_top_p.2026-01-02_03-04-05.ipynb").read_bytes() == b"kept"
    assert [path.name for path in workspace.notebooks_in(mine)] == list(NAMES)


def test_a_newer_version_is_told_until_it_is_taken(folders):
    shipped, mine = folders
    workspace.fill(shipped, mine)
    write(shipped / NAMES[1], notebook("x = 2"))
    before = files(mine)
    for _ in range(2):
        [message] = workspace.fill(shipped, mine)
        assert message.startswith(NAMES[1]) and "make update NB=03" in message
        assert files(mine) == before
    workspace.reset("03", shipped, mine)
    assert workspace.fill(shipped, mine) == []


def test_outputs_metadata_and_line_lists_make_no_newer_version(folders):
    shipped, mine = folders
    write(shipped / NAMES[1], notebook("a = 1\nb = 2"))
    workspace.fill(shipped, mine)
    again = notebook(["a = 1\n", "b = 2"], outputs=[{"output_type": "stream", "name": "stdout", "text": "other"}])
    again["metadata"]["language_info"] = {"name": "python"}
    write(shipped / NAMES[1], again)
    assert workspace.fill(shipped, mine) == []


@pytest.mark.parametrize("record", [None, b"", b"{broken", b"[1]", b"null", b"\xff"])
def test_a_lost_or_damaged_record_is_survived(folders, record):
    shipped, mine = folders
    workspace.fill(shipped, mine)
    make_older(mine / NAMES[1])
    (mine / ".copied.json").unlink()
    if record is not None:
        (mine / ".copied.json").write_bytes(record)
    write(shipped / NAMES[1], notebook("x = 2"))
    assert workspace.fill(shipped, mine) == []
    workspace.reset(3, shipped, mine)
    write(shipped / NAMES[1], notebook("x = 3"))
    assert len(workspace.fill(shipped, mine)) == 1  # the record works again


def test_reset_keeps_every_version_even_within_one_second(folders, monkeypatch):
    class Stopped(datetime):
        @classmethod
        def now(cls, tz=None):
            return cls(2026, 11, 30, 12, 34, 56)

    monkeypatch.setattr(copies, "datetime", Stopped)
    shipped, mine = folders
    workspace.fill(shipped, mine)
    for text in (b"first \r\n", b"second", b"third"):
        (mine / NAMES[1]).write_bytes(text)
        workspace.reset("03", shipped, mine)
    stem = "03_top_k_top_p.2026-11-30_12-34-56"
    kept = {name: content for name, content in files(mine).items() if name.startswith(stem)}
    assert kept == {f"{stem}.ipynb": b"first \r\n", f"{stem}-2.ipynb": b"second", f"{stem}-3.ipynb": b"third"}


def test_reset_of_a_notebook_that_is_not_there_yet(folders):
    shipped, mine = folders
    assert workspace.reset("0", shipped, mine) == "00_start_here.ipynb is fresh."
    assert set(files(mine)) == {NAMES[0], ".copied.json"}


@pytest.mark.parametrize("number", ["07", "3x", "", "-1", "030", "x"])
def test_an_unknown_number_lists_those_that_are_there(folders, number):
    shipped, mine = folders
    with pytest.raises(ValueError, match=r"Its notebooks: 00, 03\."):
        workspace.reset(number, shipped, mine)
    assert not mine.exists()


def test_numbers_may_be_written_as_one_likes(folders):
    shipped, _ = folders
    for number in ("03", "3", 3, " 03 ", "03_top_k_top_p", "03_top_k_top_p.ipynb"):
        assert [path.name for path in workspace.select([number], shipped)] == [NAMES[1]]
    assert [path.name for path in workspace.select([], shipped)] == list(NAMES)


@pytest.mark.parametrize(
    "copy", ["03_top_k_top_p_backup", "03_top_k_top_p_v2", "03_top_k_top_p-Copy1", "03_a_first_try"]
)
def test_of_two_notebooks_with_one_number_none_is_taken_silently(folders, copy):
    shipped, mine = folders
    workspace.fill(shipped, mine)
    shutil.copy(mine / NAMES[1], mine / f"{copy}.ipynb")
    with pytest.raises(ValueError, match=rf"'03' means .*{copy}.*Give the whole name"):
        workspace.select(["03"], mine)
    for name in (copy, "03_top_k_top_p"):
        assert [path.stem for path in workspace.select([name], mine)] == [name]
    assert [path.name for path in workspace.select(["00"], mine)] == [NAMES[0]]
    assert {path.stem for path in workspace.select([], mine)} == {name.removesuffix(".ipynb") for name in NAMES} | {
        copy
    }


def test_a_name_that_no_notebook_has_is_not_taken_for_its_number(folders):
    shipped, mine = folders
    workspace.fill(shipped, mine)
    for name in ("03_top_k", "03_", "3_top_k_top_p", "03_top_k_top_p.2026-01-01_00-00-00"):
        with pytest.raises(ValueError, match="There is no notebook"):
            workspace.select([name], mine)


def test_a_dated_copy_is_not_a_second_notebook(folders):
    shipped, mine = folders
    workspace.fill(shipped, mine)
    workspace.reset("03", shipped, mine)
    assert len(list(mine.glob("03_*.ipynb"))) == 2
    assert [path.name for path in workspace.select(["03"], mine)] == [NAMES[1]]


def test_a_copy_with_a_byte_order_mark_is_updated_like_any_other(folders):
    shipped, mine = folders
    workspace.fill(shipped, mine)
    copy = mine / NAMES[1]
    copy.write_bytes(b"\xef\xbb\xbf" + copy.read_bytes())
    assert "newest version already" in workspace.update("03", shipped, mine)


@pytest.mark.parametrize("content", [b"<<<<<<< HEAD\n", b"{}", b'{"cells": [{}]}'])
def test_a_damaged_shipped_notebook_is_named_and_nothing_is_moved(folders, content):
    shipped, mine = folders
    workspace.fill(shipped, mine)
    before = files(mine)
    (shipped / NAMES[1]).write_bytes(content)
    for act in (lambda: workspace.reset("03", shipped, mine), lambda: workspace.fill(shipped, mine)):
        with pytest.raises(ValueError, match=r"notebooks/03_top_k_top_p\.ipynb"):
            act()
    assert files(mine) == before


def test_an_interrupted_copy_leaves_no_half_notebook(folders, monkeypatch):
    shipped, mine = folders

    def interrupted(source, target):
        raise KeyboardInterrupt

    monkeypatch.setattr(copies.os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        workspace.fill(shipped, mine)
    assert workspace.notebooks_in(mine) == []
    monkeypatch.undo()
    workspace.fill(shipped, mine)
    assert set(files(mine)) == {*NAMES, ".copied.json"}


# update


def learners(folder, name, *, stub=None, guess=None, added=()):
    """Write the learner's answers into a copy."""
    content = read(folder / name)
    for cell in content["cells"]:
        if cell["id"] == "stub":
            cell["source"] = stub or cell["source"]
        if cell["id"] == "guess-x":
            cell["source"] = guess or cell["source"]
    content["cells"] += [
        {"cell_type": "markdown", "id": f"mine{n}", "metadata": {}, "source": s} for n, s in enumerate(added)
    ]
    write(folder / name, content)


def course(text):
    """A notebook with a guess, an exercise and a cell of the course's own, as a version of the course has it."""
    content = notebook(text)
    code = {"cell_type": "code", "outputs": [], "execution_count": None}
    content["cells"] += [
        {**code, "id": "guess-x", "metadata": {}, "source": "my_x = ..."},
        {**code, "id": "stub", "metadata": {"tags": ["exercise:03.top_k"]}, "source": "def f(x):\n    ..."},
    ]
    return content


@pytest.fixture
def updated(folders):
    """A copy with answers in it, whose notebook has changed in the course since."""
    shipped, mine = folders
    write(shipped / NAMES[1], course("x = 1"))
    workspace.fill(shipped, mine)
    learners(mine, NAMES[1], stub="def f(x):\n    return x", guess="my_x = 5", added=["My note."])
    write(shipped / NAMES[1], course("x = 2"))
    return shipped, mine


@pytest.mark.parametrize("older", [False, True])
def test_update_brings_the_new_text_with_the_learners_cells_and_keeps_the_old_copy(updated, older):
    shipped, mine = updated
    if older:
        make_older(mine / NAMES[1])
    before = (mine / NAMES[1]).read_bytes()
    [message] = workspace.fill(shipped, mine)
    assert "make update NB=03" in message
    message = workspace.update("03", shipped, mine)
    sources = [cell["source"] for cell in read(mine / NAMES[1])["cells"]]
    assert sources[1:] == ["x = 2", "my_x = 5", "def f(x):\n    return x", "My note."]
    [kept] = mine.glob("03_top_k_top_p.*.ipynb")
    assert kept.read_bytes() == before and kept.name in message and "2 answers and 1 added cells" in message
    assert workspace.fill(shipped, mine) == []
    assert workspace.update("3", shipped, mine).endswith("nothing was changed.")
    assert len(list(mine.glob("03_*.ipynb"))) == 2


def test_a_kept_copy_is_still_of_its_own_version(updated):
    shipped, mine = updated
    make_older(mine / NAMES[1])
    version = versions.read_record(mine)[NAMES[1]]
    workspace.update("03", shipped, mine)
    [kept] = mine.glob("03_top_k_top_p.*.ipynb")
    assert versions.version_of(kept, read(kept)) == version != versions.read_record(mine)[NAMES[1]]


@pytest.mark.parametrize(
    "content", [b"", b"<<<<<<< HEAD\n{", b"\xff\xfe broken", b"[]", b'{"cells": [{"source": "1"}]}']
)
def test_update_of_a_damaged_copy_is_a_sentence_and_changes_nothing(updated, content):
    shipped, mine = updated
    (mine / NAMES[1]).write_bytes(content)
    before = files(mine)
    with pytest.raises(ValueError, match=r"my_notebooks/03_top_k_top_p\.ipynb is not a notebook.*make reset NB=03"):
        workspace.update("03", shipped, mine)
    assert files(mine) == before


def test_an_interrupted_update_leaves_the_learners_copy(updated, monkeypatch):
    shipped, mine = updated
    before = (mine / NAMES[1]).read_bytes()

    def interrupted(source, target):
        raise KeyboardInterrupt

    monkeypatch.setattr(copies.os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        workspace.update("03", shipped, mine)
    assert (mine / NAMES[1]).read_bytes() == before


def test_update_without_a_copy_makes_one(folders):
    shipped, mine = folders
    assert workspace.update("03", shipped, mine) == "03_top_k_top_p.ipynb is fresh."


def test_update_without_a_known_version_carries_all_the_same(updated):
    shipped, mine = updated
    make_older(mine / NAMES[1])
    (mine / ".copied.json").unlink()
    assert "2 answers and 1 added cells" in workspace.update("03", shipped, mine)


@pytest.fixture
def called(folders, monkeypatch):
    """The commands run in the two folders; what they would start is kept in a list instead."""
    shipped, mine = folders
    monkeypatch.setattr(copies, "SHIPPED", shipped)
    monkeypatch.setattr(copies, "MINE", mine)
    monkeypatch.setattr(start_lab.leave_out_the_news, "__defaults__", (shipped.parent,))
    monkeypatch.setattr(start_lab.os, "geteuid", lambda: 1000, raising=False)
    calls = []

    def call(command, **options):
        calls.append(command)
        return 5

    monkeypatch.setattr(commands.subprocess, "call", call)
    return calls


def test_lab_fills_passes_options_on_and_keeps_the_token(called, folders, capsys):
    options = ["--no-browser", "--port", "8899", "--ServerApp.ip=127.0.0.1", "-y", "--help", "--", "x"]
    assert commands.main(["lab", *options]) == 5
    [command] = called
    assert command[:3] == [sys.executable, "-m", "jupyterlab"]
    assert command[-len(options) :] == options
    assert "--LabApp.default_url=/lab/tree/my_notebooks/00_start_here.ipynb" in command
    own = " ".join(command[3 : -len(options)]).lower()
    assert not any(word in own for word in ("token", "password", "disable", "allow", "xsrf", "ip="))
    assert (folders[1] / NAMES[0]).exists() and "Copied to my_notebooks/" in capsys.readouterr().out


def test_lab_starts_as_root_too_and_says_so(called, capsys, monkeypatch):
    monkeypatch.setattr(start_lab.os, "geteuid", lambda: 0, raising=False)
    commands.main(["lab", "--no-browser"])
    assert "--allow-root" in called[0] and "You are root" in capsys.readouterr().out
    commands.main(["lab", "--allow-root"])
    assert called[1].count("--allow-root") == 1


def test_lab_asks_nobody_for_news_and_leaves_a_choice_alone(called, folders):
    settings = folders[0].parent / "share" / "jupyter" / "lab" / "settings"
    settings.mkdir(parents=True)
    (settings / "overrides.json").write_bytes(b"{}")
    commands.main(["lab"])
    written = read(settings / "overrides.d" / "scores_to_answers.json")
    assert written == {"@jupyterlab/apputils-extension:notification": {"fetchNews": "false"}}
    assert (settings / "overrides.json").read_bytes() == b"{}"


def test_lab_starts_where_the_environment_cannot_be_written(called, folders):
    (folders[0].parent / "share").write_bytes(b"a file")
    assert commands.main(["lab"]) == 5


def test_check_hands_the_chosen_notebooks_to_pytest(called, folders, capsys):
    mine = folders[1]
    assert commands.main(["check"]) == 1 and not called
    assert "no notebooks in my_notebooks/" in capsys.readouterr().out
    commands.main(["lab"])
    commands.main(["check"])
    commands.main(["check", "3", "--exercises=strict"])
    pytest_command = [sys.executable, "-m", "pytest", "--nbval-lax", "-q"]
    assert called[1] == [*pytest_command, *(str(mine / name) for name in NAMES)]
    assert called[2] == [*pytest_command, "--exercises=strict", str(mine / NAMES[1])]
    with pytest.raises(SystemExit, match="There is no notebook '09'"):
        commands.main(["check", "09"])


def test_ctrl_c_is_left_to_the_child(called, monkeypatch):
    """JupyterLab asks before it stops: the parent must not kill it meanwhile."""
    before = signal.getsignal(signal.SIGINT)

    def child(command, **options):
        signal.raise_signal(signal.SIGINT)
        return 3

    monkeypatch.setattr(commands.subprocess, "call", child)
    assert commands.main(["lab"]) == 3
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.parametrize("command", ["reset", "update"])
@pytest.mark.parametrize(
    ("numbers", "sentence"),
    [([], "one notebook, got none"), (["0", "3"], "one notebook, got 0 3"), (["09"], "Its notebooks: 00, 03")],
)
def test_a_wrong_number_is_a_sentence(called, command, numbers, sentence):
    with pytest.raises(SystemExit, match=sentence):
        commands.main([command, *numbers])


def test_usage(called, capsys):
    assert commands.main(["reset", "3"]) == 0
    assert "03_top_k_top_p.ipynb is fresh." in capsys.readouterr().out
    assert commands.main(["--help"]) == 0 and commands.main([]) == 0
    assert commands.main(["open"]) == 2
    out = capsys.readouterr().out
    assert out.count("course_utils.workspace reset 03") == out.count("course_utils.workspace update 03") == 3


def test_a_folder_that_cannot_be_made_is_a_sentence(called, folders):
    folders[1].write_text("a file", encoding="utf-8", newline="\n")
    with pytest.raises(SystemExit, match="my_notebooks"):
        commands.main(["lab"])


def test_copies_are_utf8_in_every_locale(folders):
    shipped, mine = folders
    script = "import sys, pathlib; from course_utils import workspace; workspace.fill(*map(pathlib.Path, sys.argv[1:]))"
    environment = {**os.environ, "PYTHONUTF8": "0", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"}
    subprocess.run([sys.executable, "-c", script, shipped, mine], env=environment, cwd=workspace.ROOT, check=True)
    assert "“q” 中" in (mine / NAMES[0]).read_text(encoding="utf-8")


# In a learner's own folder, as on a hub


@pytest.fixture
def home(called, folders, monkeypatch):
    """A learner's folder elsewhere, with copies in it, as the current one."""
    folder = folders[0].parent / "home" / "course"
    assert commands.main(["fill", str(folder)]) == 0
    monkeypatch.chdir(folder)
    return folder


def test_fill_makes_a_learners_folder_and_can_be_repeated(home, folders, capsys):
    assert set(files(home)) == {*NAMES, ".copied.json"} and not folders[1].exists()
    before = files(home)
    assert commands.main(["fill", str(home)]) == 0 and files(home) == before
    assert "has all notebooks already" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="one folder, got none"):
        commands.main(["fill"])


def test_every_command_knows_the_home_folder(folders, monkeypatch, capsys):
    root, judged = folders[0].parent, []
    monkeypatch.chdir(root)
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(root / "home"))
    monkeypatch.setattr(commands.copies, "SHIPPED", folders[0])
    monkeypatch.setattr(judge, "judge", lambda folder, out, *rest: judged.append((folder, out)) or 0)
    assert commands.main(["fill", "~/a course"]) == 0
    assert commands.main(["judge", "~/a course", "--out=~/judged"]) == 0
    assert sorted(path.name for path in root.iterdir()) == ["home", "notebooks"]
    assert judged == [((root / "home" / "a course").resolve(), (root / "home" / "judged").resolve())]
    with pytest.raises(SystemExit, match="no such home folder"):
        commands.main(["fill", "~nobody-of-this-name/course"])


def test_reset_and_update_mean_the_folder_in_which_they_are_given(home, folders, capsys):
    commands.main(["reset", "03"])
    assert len(list(home.glob("03_top_k_top_p.*.ipynb"))) == 1 and not folders[1].exists()
    write(folders[0] / NAMES[0], notebook("x = 3"))
    capsys.readouterr()
    commands.main(["fill", str(home)])
    told = capsys.readouterr().out
    assert "python -m course_utils.workspace update 00, in a terminal in this folder" in told and "make" not in told
    commands.main(["update", "00"])
    assert [cell["source"] for cell in read(home / NAMES[0])["cells"]][1] == "x = 3"


def test_check_runs_in_the_learners_folder_and_writes_nothing_into_the_projects(home, called, monkeypatch):
    monkeypatch.setenv("COURSE_BUDGET", "small")
    commands.main(["check", "3"])
    [command] = called
    assert command[-1] == str(home / NAMES[1]) and f"--rootdir={home}" in command
    assert command[command.index("-p") + 1] == "no:cacheprovider"
    assert command[command.index("-c") + 1] == str(workspace.ROOT / "pyproject.toml")


def test_without_permission_to_write_a_sentence_says_where(home, monkeypatch):
    def refused(source, target):
        raise PermissionError(13, "Permission denied", str(target))

    monkeypatch.setattr(copies.os, "replace", refused)
    before = files(home)
    with pytest.raises(SystemExit, match="cannot be written: you have no permission there"):
        commands.main(["fill", str(home.parent / "other")])
    assert files(home) == before
