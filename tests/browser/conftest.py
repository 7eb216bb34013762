"""Where there is no browser: one line that says how to get one."""

import os

import pytest

from browser.lab import HOW, find_browser


@pytest.fixture(scope="session")
def needs_browser():
    """Skip without a browser; where CI=true is set, fail."""
    if find_browser() is None:
        if os.environ.get("CI") == "true":
            pytest.fail(f"No browser, and CI=true: {HOW}.", pytrace=False)
        pytest.skip(f"no browser: {HOW}")
