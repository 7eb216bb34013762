"""Make the course's environment in .venv, or do nothing if it is whole.

Run it with the Python that the course shall use: `python3 bootstrap.py` (Windows: `py bootstrap.py`).
Only the standard library is used, and no syntax newer than Python 3.0, so that an old Python can still say
what is wrong with it.
"""

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


def fingerprint(root):
    """Changes whenever what must be installed changes: the pins, the dependencies, or the folder's place."""
    digest = hashlib.sha256(os.path.abspath(root).encode("utf-8"))
    for name in ("constraints.txt", "pyproject.toml"):
        with open(os.path.join(root, name), "rb") as file:
            digest.update(file.read())
    return digest.hexdigest()


def stamp_path(venv):
    return os.path.join(venv, "course_environment_is_whole")


def is_whole(root, venv):
    """True if an earlier run finished here for the same pins. The stamp is written last, so a run that was
    interrupted leaves none."""
    try:
        with open(stamp_path(venv), encoding="utf-8") as file:
            return file.read() == fingerprint(root) and os.path.exists(venv_python(venv))
    except OSError:
        return False


def explain_pip_failure(output):
    """One sentence for the learner, from what pip printed."""
    network = ("Failed to establish a new connection", "Temporary failure in name resolution", "ProxyError",
               "ConnectTimeoutError", "ReadTimeoutError", "Connection refused", "nodename nor servname",
               "getaddrinfo failed", "NewConnectionError", "Max retries exceeded")  # fmt: skip
    if any(mark in output for mark in network):
        return "pip cannot reach its package index. Check the network or the proxy, then run the same command again."
    if "No space left on device" in output:
        return "The disk is full: the environment needs about 2 GB. Make room, then run the same command again."
    return "pip failed; its last lines are above. Run the same command again, or see Troubleshooting in README.md."


def make_venv(venv):
    """An environment with a working pip at `venv`; one that was left half-made is begun again."""
    python = venv_python(venv)
    if os.path.exists(python) and subprocess.call(
        [python, "-m", "pip", "--version"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) == 0:  # fmt: skip
        return
    if os.path.isdir(venv):
        shutil.rmtree(venv)
    result = subprocess.run([sys.executable, "-m", "venv", venv], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if result.returncode != 0:
        sys.stderr.write(result.stdout.decode("utf-8", "replace"))
        shutil.rmtree(venv, ignore_errors=True)
        sys.exit(
            "Python's venv module is missing or incomplete. On Debian and Ubuntu: sudo apt install python3-venv. "
            "Elsewhere install Python from python.org. Then run the same command again."
        )


def install(root, venv):
    """Install the pinned packages and this project, showing pip's lines as they come."""
    command = [venv_python(venv), "-m", "pip", "install", "--disable-pip-version-check", "--progress-bar", "off",
               "-c", os.path.join(root, "constraints.txt"), "-e", root + "[test]"]  # fmt: skip
    process = subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    lines = []
    for line in process.stdout:
        text = line.decode("utf-8", "replace")
        lines.append(text)
        if text.startswith(("Collecting", "Installing", "ERROR")):
            print("  " + text.rstrip()[:160])
            sys.stdout.flush()
    if process.wait() != 0:
        sys.stderr.write("".join(lines[-15:]))
        sys.exit(explain_pip_failure("".join(lines)))


def main(root=ROOT):
    problem = python_problem(sys.version_info)
    if problem:
        sys.exit(problem)
    venv = os.path.join(root, ".venv")
    if is_whole(root, venv):
        return
    print("Making the environment in .venv. The first time takes some minutes.")
    sys.stdout.flush()
    make_venv(venv)
    install(root, venv)
    with open(stamp_path(venv), "w", encoding="utf-8") as file:
        file.write(fingerprint(root))


if __name__ == "__main__":
    main()
