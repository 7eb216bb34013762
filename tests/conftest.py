"""Settings that all tests share."""

from hypothesis import settings

# The same examples in every run, and no deadline: a slow machine is no fault of the code.
settings.register_profile("course", derandomize=True, deadline=None, database=None, max_examples=40)
settings.load_profile("course")

# Learners' copies of earlier releases: `test_finished_copies` runs those that it names, in a folder of its own making.
collect_ignore = ["finished_copies"]


def pytest_terminal_summary(terminalreporter):
    """Where tests were skipped: each reason once, since it says how to get what is missing.

    An exercise that nobody attempted is skipped too, in the shipped notebooks; nothing is missing there.
    """
    skipped = [report for report in terminalreporter.stats.get("skipped", ()) if ".ipynb" not in report.nodeid]
    reasons = [str(report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr) for report in skipped]
    for reason in dict.fromkeys(reasons):
        terminalreporter.write_line(f"{reasons.count(reason)} skipped: {reason.removeprefix('Skipped: ')}")
