"""Make the course's environment in .venv, or do nothing if it is whole.

Run it with the Python that the course shall use: `python3 bootstrap.py` (Windows: `py bootstrap.py`).
Only the standard library is used, and no syntax newer than Python 3.0, so that an old Python can still say
what is wrong with it.
"""
# ruff: noqa: UP032, RUF005 - f-strings came with Python 3.6, [*x, y] with 3.5

import hashlib
import os
import shutil
import signal
import subprocess
import sys
import time

if os.name == "nt":
    import msvcrt
else:
    import fcntl

ROOT = os.path.dirname(os.path.abspath(__file__))
OLDEST = (3, 11)
# Where PyTorch keeps its builds without CUDA: https://pytorch.org/get-started/locally/ names the address.
TORCH_CPU_INDEX = "https://download.pytorch.org/whl/cpu"
TORCH_CPU_SECONDS = 5  # how long an index that does not answer is waited for


def venv_python(venv):
    """The path of the interpreter inside the environment `venv`."""
    if os.name == "nt":
        return os.path.join(venv, "Scripts", "python.exe")
    return os.path.join(venv, "bin", "python")


def python_problem(version):
    """A sentence that says why this Python cannot run the course, or None. version: (major, minor, ...)."""
    if tuple(version[:2]) >= OLDEST:
        return None
    return (
        "This is Python {}.{}; the course needs {}.{} or newer. Install one from python.org, then name it: "
        "make lab PYTHON=python3.12 (Windows: py -3.12 bootstrap.py)."
    ).format(version[0], version[1], *OLDEST)


def fingerprint(root, venv):
    """Changes whenever the environment must be made or completed again: with the pins, the dependencies, the
    folder's place, and the Python that runs in it (a system's upgrade may exchange that one)."""
    digest = hashlib.sha256(os.path.abspath(root).encode("utf-8"))
    digest.update(os.path.realpath(venv_python(venv)).encode("utf-8"))
    for name in ("constraints.txt", "pyproject.toml"):
        with open(os.path.join(root, name), "rb") as file:
            digest.update(file.read())
    return digest.hexdigest()


def installed(venv):
    """The names of the folders in which pip describes each installed package, with its version, sorted."""
    library = os.path.join(venv, "Lib" if os.name == "nt" else "lib")
    found = []
    for version in [""] if os.name == "nt" else os.listdir(library):
        folder = os.path.join(library, version, "site-packages")
        if os.path.isdir(folder):
            found += [name for name in os.listdir(folder) if name.endswith(".dist-info")]
    return sorted(found)


def stamp_path(venv):
    return os.path.join(venv, "course_environment_is_whole")


def write_stamp(root, venv):
    """The stamp has two lines: for what the environment was made, and what was installed in it then."""
    contents = hashlib.sha256("\n".join(installed(venv)).encode("utf-8")).hexdigest()
    with open(stamp_path(venv), "w", encoding="utf-8", newline="\n") as file:
        file.write(fingerprint(root, venv) + "\n" + contents + "\n")


def stamp_matches(root, venv):
    """Two answers: the environment was made for these pins and its Python is there; nothing was installed since."""
    try:
        with open(stamp_path(venv), encoding="utf-8") as file:
            made_for, contents = (file.read() + "\n\n").split("\n")[:2]
        there = os.path.exists(venv_python(venv)) and base_python_exists(venv)
        now = hashlib.sha256("\n".join(installed(venv)).encode("utf-8")).hexdigest()
        return there and made_for == fingerprint(root, venv), contents == now
    except (OSError, ValueError):
        return False, False


def is_whole(root, venv):
    """True if an earlier run finished here for the same pins, and nothing was installed or removed since.

    The stamp is written last and removed first, so a run that was interrupted leaves none. No Python is started:
    that is why a later `make` begins at once.
    """
    return all(stamp_matches(root, venv))


def base_python_exists(venv):
    """False if the Python from which `venv` was made has been removed. On Windows nothing else shows it: there
    the environment's python.exe is a file of its own that starts the other."""
    with open(os.path.join(venv, "pyvenv.cfg"), encoding="utf-8") as file:
        entries = dict(line.split(" = ", 1) for line in file.read().splitlines() if " = " in line)
    return os.path.exists(entries.get("executable", entries.get("home", "")))


NO_NETWORK = ("Failed to establish a new connection", "NewConnectionError", "NameResolutionError", "ProxyError",
              "Temporary failure in name resolution", "nodename nor servname", "getaddrinfo failed",
              "Connection refused", "Connection aborted", "ConnectionResetError", "ConnectTimeout", "ReadTimeout",
              "Read timed out", "Max retries exceeded", "Proxy Authentication Required")  # fmt: skip
NO_ROOM = ("No space left on device", "[Errno 28]", "[WinError 112]", "not enough space on the disk",
           "Disk quota exceeded")  # fmt: skip
AGAIN = "then run the same command again."


def explain_pip_failure(output):
    """One sentence for the learner, from what pip (or venv) printed."""
    if any(mark in output for mark in NO_ROOM):
        return "The disk is full: the environment needs about 2 GB. Make room, " + AGAIN
    if "CERTIFICATE_VERIFY_FAILED" in output:
        return (
            "pip does not trust the certificate that it was shown; often a proxy of the network replaces it. Ask for "
            "the network's certificate file, set the variable PIP_CERT to its path, " + AGAIN
        )
    if any(mark in output for mark in NO_NETWORK):
        return (
            "pip cannot reach its package index. Check the network (behind a proxy, set the variable HTTPS_PROXY), "
            + AGAIN
        )
    # The second: every version is pinned, so a pin has no build, or it contradicts another.
    if "No matching distribution found" in output or "ResolutionImpossible" in output:
        return (
            "pip found no fitting build of the package that it names above: either its index cannot be reached, or "
            "there is none for this Python ({}.{}, {}). Check the network, or name another Python: "
            "make lab PYTHON=python3.12 (Windows: py -3.12 bootstrap.py)."
        ).format(sys.version_info[0], sys.version_info[1], sys.platform)
    return "pip failed; its last lines are above. Run the same command again, or see Troubleshooting in README.md."


def explain_venv_failure(output):
    """The same for `python -m venv`."""
    if any(mark in output for mark in NO_ROOM):
        return explain_pip_failure(output)
    if "ensurepip" in output or "No module named" in output:
        return (
            "Python's venv module is missing or incomplete. On Debian and Ubuntu: sudo apt install python3-venv. "
            "Elsewhere install Python from python.org; " + AGAIN
        )
    return "Python could not make the folder .venv; what it says is above. Remove .venv, " + AGAIN


def show(text, stream=None):
    """Print what a child printed, also where the terminal lacks some of its characters."""
    stream = stream or sys.stdout
    encoding = stream.encoding or "ascii"
    stream.write(text.encode(encoding, "replace").decode(encoding))
    stream.flush()


def ask(venv, *arguments):
    """What the environment's Python answers to arguments on its command line: its exit status and its output.

    -I: whatever the variables and the current folder say. -B: it writes nothing, should it be another Python after all.
    """
    try:
        return run([venv_python(venv), "-I", "-B"] + list(arguments))
    except OSError as error:
        return 1, str(error)


def is_own_python(venv):
    """True if the environment's Python starts, is new enough, has pip, and installs into `venv`.

    Without pyvenv.cfg the same file is the Python from which the environment was made, and pip would fill that one.
    """
    question = (
        "import os, sys; sys.version_info[:2] >= {!r} and os.path.samefile(sys.prefix, sys.argv[1]) or sys.exit(1); "
        "import pip"  # of this environment: another Python's would be compiled, and leave files there
    ).format(OLDEST)
    return ask(venv, "-c", question, venv)[0] == 0


def environment_problem(root, venv):
    """What the environment lacks, as half a sentence, or None. Its own Python is asked: see `examine`."""
    if not is_own_python(venv):
        return ".venv has no Python that works in this folder"
    status, output = ask(venv, os.path.abspath(__file__), "--examine", root)
    return None if status == 0 else (output.strip().splitlines() or ["its Python does not answer"])[-1]


def examine(root):
    """Runs in the environment's Python. The first package that the project needs on this system, directly or not, and
    that is missing or has another version than its pin, as half a sentence; None if there is none.

    A local version such as 2.13.0+cpu is another build of the same version.
    """
    import tomllib
    from importlib import metadata

    from pip._vendor.packaging.requirements import Requirement
    from pip._vendor.packaging.utils import canonicalize_name
    from pip._vendor.packaging.version import Version

    pins = read_pins(root, canonicalize_name)
    with open(os.path.join(root, "pyproject.toml"), "rb") as file:
        todo = [(canonicalize_name(tomllib.load(file)["project"]["name"]), ("", "test"))]
    done = set()
    while todo:
        name, extras = item = todo.pop()
        if item in done:
            continue
        done.add(item)
        try:
            found = metadata.distribution(name)
            version = Version(found.version).public
        except metadata.PackageNotFoundError:
            return "{} is not installed in .venv".format(name)
        if name in pins and version != str(Version(pins[name])):
            return "{} in .venv is {}, but the course is pinned to {}".format(name, found.version, pins[name])
        for text in found.requires or []:
            needed = Requirement(text)
            if needed.marker is None or any(needed.marker.evaluate({"extra": extra}) for extra in extras):
                todo.append((canonicalize_name(needed.name), ("",) + tuple(sorted(needed.extras))))
    return None


def read_pins(root, name_of=str):
    """The version for each package in constraints.txt. name_of: how a name is spelled as a key."""
    with open(os.path.join(root, "constraints.txt"), encoding="utf-8") as file:
        lines = [line.split("#")[0].strip() for line in file]
    pairs = [line.split("==", 1) for line in lines if "==" in line]
    return dict((name_of(name.strip()), version.strip()) for name, version in pairs)


def clean_environment():
    """The variables for Python and pip in the environment, without those that would send packages elsewhere.

    PIP_REQUIRE_VIRTUALENV has pip itself refuse a Python that is not an environment's.
    """
    elsewhere = ("PYTHONPATH", "PYTHONHOME", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_PYTHON")
    kept = dict((name, value) for name, value in os.environ.items() if name.upper() not in elsewhere)
    # A learner's own pip settings may ask for the user's folder, which an environment refuses.
    return dict(kept, PIP_USER="0", PIP_REQUIRE_VIRTUALENV="1", PYTHONIOENCODING="utf-8")


def run(command, each_line=None, seconds=None):
    """Run a command to its end: its exit status, and what it printed. each_line: called with each line as it comes.

    It runs apart from the terminal, so that Ctrl-C comes to this process only, which then ends the command and
    all that the command started. So it does after `seconds`, with the exit status 1.
    """
    process = subprocess.Popen(
        command, env=clean_environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        close_fds=False, start_new_session=True
    )  # fmt: skip
    lines = []
    try:
        if seconds is not None:
            return process.wait(seconds), process.stdout.read().decode("utf-8", "replace")
        for line in process.stdout:
            lines.append(line.decode("utf-8", "replace"))
            if each_line:
                each_line(lines[-1])
        return process.wait(), "".join(lines)
    except subprocess.TimeoutExpired:
        end(process)
        return 1, ""
    except BaseException:
        end(process)
        raise
    finally:
        process.stdout.close()


def end(process):
    """End a process that `run` started, and what it started itself; by force if it takes longer than some seconds."""
    for name in ("SIGINT", "SIGTERM", "SIGKILL"):  # at the first, pip still removes what it has downloaded
        try:
            if os.name == "nt":
                process.terminate()
            else:
                os.killpg(process.pid, getattr(signal, name))
            process.wait(5)
        except (OSError, subprocess.TimeoutExpired):
            pass  # it has ended already, or it has not yet


class OnlyOne:
    """Lets one run at a time work on the environment; a second one says so and waits.

    The lock is the operating system's: it ends with the process that holds it, however that ends. pip inherits it,
    so a pip that outlives a killed run still holds it. Where the file system has no locks, nobody waits.
    """

    def __init__(self, root):
        self.path = os.path.join(root, ".venv.lock")

    def __enter__(self):
        self.file = open(self.path, "ab")
        if not self.taken():
            show("Another run is making .venv; this one waits until that one has ended.\n")
            while not self.taken():
                time.sleep(0.2)
        if os.name != "nt":
            os.set_inheritable(self.file.fileno(), True)

    def __exit__(self, *error):
        self.file.close()

    def taken(self):
        """True if the lock is ours now."""
        try:
            if os.name == "nt":
                self.file.seek(0)
                msvcrt.locking(self.file.fileno(), msvcrt.LK_NBLCK, 1)
            else:
                fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            return os.name != "nt" and not isinstance(error, BlockingIOError)
        return True


def make_venv(root, venv):
    """An environment with a working pip at `venv`.

    One that was whole for other pins is kept, to be completed. A half-made one is begun again: in it, pip takes a
    package for installed although files of it may be missing. What pip downloaded is in its cache, so little is lost.
    """
    if os.path.exists(stamp_path(venv)) and is_own_python(venv):
        os.remove(stamp_path(venv))
        return
    if os.path.lexists(venv):
        show(".venv is not whole; it is made anew.\n")
        remove(venv)
    status, output = run([sys.executable, "-m", "venv", venv])
    if status == 0 and is_own_python(venv):
        return
    show(output, sys.stderr)
    full = is_full(root)  # asked before the removal makes room; what venv prints does not always say so
    shutil.rmtree(venv, ignore_errors=True)
    sys.exit(explain_pip_failure(NO_ROOM[0]) if full else explain_venv_failure(output))


def is_full(root):
    """True if the disk has no room worth speaking of left."""
    return shutil.disk_usage(root).free < 2 * 1024 * 1024


def remove(venv):
    """Delete the environment, its stamp first: what is left of an interrupted removal is not whole either."""
    try:
        if os.path.islink(venv) or os.path.isfile(venv):
            os.remove(venv)
            return
        if os.path.exists(stamp_path(venv)):
            os.remove(stamp_path(venv))
        shutil.rmtree(venv)
    except OSError as error:
        message = "{}\nThe folder .venv cannot be removed. Close JupyterLab and other programs that use it, {}"
        sys.exit(message.format(error, AGAIN))


def install(root, venv):
    """Install the pinned packages and this project, showing pip's lines as they come."""
    install_small_torch(root, venv)
    status, output = pip(venv, "install", "-c", os.path.join(root, "constraints.txt"), "-e", root + "[test]")
    if status != 0:
        show("".join(output.splitlines(True)[-15:]), sys.stderr)
        sys.exit(explain_pip_failure(NO_ROOM[0] if is_full(root) else output))


def install_small_torch(root, venv):
    """On Linux, take PyTorch's build without CUDA from PyTorch's own index, which saves several GB.

    Only this one package comes from there. If the learner has set an index, or PyTorch's does not answer within some
    seconds, nothing happens here, and the ordinary build follows with the other packages.
    """
    pin = read_pins(root).get("torch")
    if not pin or not sys.platform.startswith("linux") or os.uname()[4] not in ("x86_64", "aarch64"):
        return
    there = any(name.startswith(("torch-" + pin + "+", "torch-" + pin + ".dist-info")) for name in installed(venv))
    if there or has_own_index(venv):
        return
    brief = ["--timeout", str(TORCH_CPU_SECONDS), "--retries", "0"]
    command = pip_command(venv, "index", "versions", "torch", "--index-url", TORCH_CPU_INDEX, *brief)
    if run(command, seconds=2 * TORCH_CPU_SECONDS)[0] != 0:
        show("PyTorch's own index does not answer, so the ordinary build is taken.\n")
        return
    status, output = pip(venv, "install", "--no-deps", "--index-url", TORCH_CPU_INDEX, "torch==" + pin)
    if status != 0:
        show(output.strip().splitlines()[-1] + "\nSo the ordinary build of PyTorch is taken.\n")


def has_own_index(venv):
    """True if the learner's settings say where pip looks for packages: a variable, or a file of pip's."""
    output = run(pip_command(venv, "config", "list"))[1]
    names = [line.split("=")[0].rsplit(".", 1)[-1] for line in output.splitlines() if "=" in line]
    return bool(set(names) & set(["index-url", "extra-index-url", "find-links", "no-index"]))


def pip_command(venv, *arguments):
    return [venv_python(venv), "-m", "pip", "--disable-pip-version-check", "--no-input"] + list(arguments)


def pip(venv, *arguments):
    """Run the environment's pip, showing each package and each large download; its exit status and its output."""

    def show_progress(line):
        if is_progress(line):
            show("  " + line.strip()[:160] + "\n")

    return run(pip_command(venv, *arguments) + ["--progress-bar", "off"], show_progress)


def is_progress(line):
    """True for the lines of pip that are worth a learner's look: each package, and each download that takes time."""
    return line.startswith(("Collecting", "Installing", "ERROR")) or ("Downloading" in line and " MB)" in line)


def make(root, venv):
    """Make or complete the environment. The stamp follows only when its own Python finds every pin."""
    made_for_these_pins = stamp_matches(root, venv)[0]
    if made_for_these_pins and not environment_problem(root, venv):
        write_stamp(root, venv)  # the learner has installed something besides, and all pins are still there
        return
    show("Making the environment in .venv. The first time takes some minutes.\n")
    make_venv(root, venv)
    install(root, venv)
    problem = environment_problem(root, venv)
    if problem:
        sys.exit("pip has ended well, and yet {}. Delete the folder .venv, {}".format(problem, AGAIN))
    write_stamp(root, venv)


def main(root=ROOT):
    problem = python_problem(sys.version_info)
    if problem:
        sys.exit(problem)
    venv = os.path.join(root, ".venv")
    if is_whole(root, venv):
        return
    try:
        with OnlyOne(root):
            if not is_whole(root, venv):  # while this run waited, another may have made it
                make(root, venv)
    except OSError as error:
        sys.exit("{}\n{}".format(error, explain_venv_failure(str(error))))
    except KeyboardInterrupt:
        sys.exit("Interrupted. Run the same command again: it completes the environment.")


def end_as_by_ctrl_c():
    """Have other wishes that this process ends, such as a closed terminal, end pip too."""
    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name) and signal.getsignal(getattr(signal, name)) == signal.SIG_DFL:
            signal.signal(getattr(signal, name), signal.default_int_handler)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--examine"]:
        sys.exit(examine(sys.argv[2]))
    end_as_by_ctrl_c()
    main()
