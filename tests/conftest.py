"""Settings that all tests share."""

from hypothesis import settings

# The same examples in every run, and no deadline: a slow machine is no fault of the code.
settings.register_profile("course", derandomize=True, deadline=None, database=None, max_examples=40)
settings.load_profile("course")

# Learners' copies of earlier releases: `test_finished_copies` runs those that it names, in a folder of its own making.
collect_ignore = ["finished_copies"]
