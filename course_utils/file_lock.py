"""One writer at a time for what a long run keeps. A lock ends with the process that holds it, however that ends."""

from pathlib import Path

from filelock import BaseFileLock, FileLock, Timeout


def lock_for_writing(path: Path) -> BaseFileLock:
    """The lock of a file or folder, held until `.release()`. It is a separate file, `.NAME.lock`, beside `path`.

    Raises ValueError if another run holds it, in this process or in another one.
    """
    lock = FileLock(path.with_name(f".{path.name}.lock"), timeout=0)
    try:
        lock.acquire()
    except Timeout:
        raise ValueError(
            f"{path} is in use: another run is adding to it. Wait until that has ended, or give this run another name."
        ) from None
    return lock
