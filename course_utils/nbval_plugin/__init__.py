"""The pytest plugin that judges the exercises of notebooks while nbval runs them.

`light` is loaded first and makes a run start sooner. `report` is what pytest loads: options, the table, the report.
`items` holds what is collected from a notebook, `verdicts` the tests of its exercises, `outputs` what is compared with
stored outputs; `kernel` watches the kernel that runs the notebook, and `files` reads a notebook's file as data.
"""
