"""The pytest plugin that judges the exercises of notebooks while nbval runs them.

`report` is what pytest loads: options, verdicts, the table. `items` holds what is collected from a notebook, `kernel`
watches the kernel that runs it, and `files` reads a notebook's file as data.
"""
