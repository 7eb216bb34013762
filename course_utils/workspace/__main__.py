"""python -m course_utils.workspace: see `commands`."""

import sys

from course_utils.workspace.commands import main

sys.exit(main())
