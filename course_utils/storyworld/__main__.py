"""The command that writes the corpus: python -m course_utils.storyworld data"""

import sys

from course_utils.arguments import as_path
from course_utils.storyworld.corpus import COMMAND, file_names, write_corpus

if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
    sys.exit(f"Give the folder to write the corpus into, for instance: {COMMAND}")
write_corpus(as_path(sys.argv[1]))
print(f"Wrote {', '.join(file_names())} into {sys.argv[1]}.")
