"""The copies of the notebooks that learners work in, and the commands around them.

    python -m course_utils.workspace lab [JupyterLab's options]        copy the notebooks, then open JupyterLab
    python -m course_utils.workspace update 03                         the new notebook 03, with your answers in it
    python -m course_utils.workspace reset 03                          a fresh notebook 03; yours is kept, dated
    python -m course_utils.workspace check [03 ...] [pytest's options] run your notebooks and judge the exercises
    python -m course_utils.workspace fill FOLDER                       a learner's copies in a folder, wherever it lies
    python -m course_utils.workspace judge FOLDER                      for teachers: judge a folder of submissions

The copies are in `my_notebooks/`. Where the folder in which a command is given holds copies itself, as on a hub, it
means those.
"""

from course_utils.workspace.copies import MINE, ROOT, SHIPPED, fill, notebooks_in, reset, select, update

__all__ = ["MINE", "ROOT", "SHIPPED", "fill", "notebooks_in", "reset", "select", "update"]
