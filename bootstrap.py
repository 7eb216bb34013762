"""Make the course's environment in .venv, or do nothing if it is whole.

Run it with the Python that the course shall use: `python3 bootstrap.py` (Windows: `py bootstrap.py`).
Only the standard library is used, and no syntax newer than Python 3.0, so that an old Python can still say
what is wrong with it.
"""
# ruff: noqa: UP032 - f-strings came with Python 3.6

import hashlib
import os
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.abspath(__file__))
OLDEST = (3, 11)


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


def stamp_path(venv):
    return os.path.join(venv, "course_environment_is_whole")


def is_whole(root, venv):
    """True if an earlier run finished here for the same pins, and its Python is still there.

    The stamp is written last and removed first, so a run that was interrupted leaves none.
    """
    try:
        with open(stamp_path(venv), encoding="utf-8") as file:
            stamp = file.read()
        return stamp == fingerprint(root, venv) and os.path.exists(venv_python(venv)) and base_python_exists(venv)
    except (OSError, ValueError):
        return False


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
    if "No matching distribution found" in output:
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


def runs(venv):
    """True if the environment's Python starts, is new enough and has pip."""
    probe = "import sys, pip; sys.exit(sys.version_info[:2] < {!r})".format(OLDEST)
    try:
        command = [venv_python(venv), "-c", probe]
        return subprocess.call(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) == 0
    except OSError:
        return False


def make_venv(venv):
    """An environment with a working pip at `venv`.

    One that was whole for other pins is kept, to be completed. A half-made one is begun again: in it, pip takes a
    package for installed although files of it may be missing. What pip downloaded is in its cache, so little is lost.
    """
    if os.path.exists(stamp_path(venv)) and runs(venv):
        os.remove(stamp_path(venv))
        return
    if os.path.lexists(venv):
        show(".venv is not whole; it is made anew.\n")
        remove(venv)
    result = subprocess.run([sys.executable, "-m", "venv", venv], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if result.returncode != 0:
        output = result.stdout.decode("utf-8", "replace")
        show(output, sys.stderr)
        shutil.rmtree(venv, ignore_errors=True)
        sys.exit(explain_venv_failure(output))


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
    command = [venv_python(venv), "-m", "pip", "install", "--disable-pip-version-check", "--progress-bar", "off",
               "-c", os.path.join(root, "constraints.txt"), "-e", root + "[test]"]  # fmt: skip
    # A learner's own pip settings may ask for the user's folder, which an environment refuses.
    environment = dict(os.environ, PIP_USER="0", PYTHONIOENCODING="utf-8")
    process = subprocess.Popen(command, cwd=root, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    lines = []
    try:
        for line in process.stdout:
            text = line.decode("utf-8", "replace")
            lines.append(text)
            if is_progress(text):
                show("  " + text.strip()[:160] + "\n")
    except KeyboardInterrupt:
        process.terminate()
        process.wait()
        raise
    if process.wait() != 0:
        show("".join(lines[-15:]), sys.stderr)
        sys.exit(explain_pip_failure("".join(lines)))


def is_progress(line):
    """True for the lines of pip that are worth a learner's look: each package, and each download that takes time."""
    return line.startswith(("Collecting", "Installing", "ERROR")) or ("Downloading" in line and " MB)" in line)


def main(root=ROOT):
    problem = python_problem(sys.version_info)
    if problem:
        sys.exit(problem)
    venv = os.path.join(root, ".venv")
    if is_whole(root, venv):
        return
    show("Making the environment in .venv. The first time takes some minutes.\n")
    try:
        make_venv(venv)
        install(root, venv)
        with open(stamp_path(venv), "w", encoding="utf-8", newline="\n") as file:
            file.write(fingerprint(root, venv))
    except OSError as error:
        sys.exit("{}\n{}".format(error, explain_venv_failure(str(error))))
    except KeyboardInterrupt:
        sys.exit("Interrupted. Run the same command again: it completes the environment.")


if __name__ == "__main__":
    main()
