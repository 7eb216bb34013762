"""Where there is no browser: one line that says how to get one."""

import os

import pytest

from browser.lab import HOW, find_browser

_SKIPPED = pytest.StashKey[bool]()


@pytest.fixture(scope="session")
def needs_browser(request):
    """Skip without a browser; where CI=true is set, fail."""
    if find_browser() is None:
        if os.environ.get("CI") == "true":
            pytest.fail(f"No browser, and CI=true: {HOW}.", pytrace=False)
        request.config.stash[_SKIPPED] = True
        pytest.skip(f"no browser: {HOW}")


def pytest_terminal_summary(terminalreporter, config):
    if config.stash.get(_SKIPPED, False):
        terminalreporter.write_line(f"The browser tests were skipped. To run them {HOW}.")
