"""How an attempt at an exercise is judged. Notebooks call it through `course_utils.checking`.

`exercise` says what an exercise is, `judging` tries an attempt at it; `answers`, `attempts` and `running` are what
`judging` stands on. Nothing in here imports torch before a check runs.
"""
