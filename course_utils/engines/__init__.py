"""Another engine beside ours: llama.cpp, in this process, on the weights of the shipped model.

It comes with the optional extra `engines` (`make engines`). `llama_cpp` starts it and asks it, `experiments` compares
its answers with ours, `ends` is about how texts end, `many` about many at once, and `recorded` gives the figures of a
recorded run where the extra is missing.
"""

from course_utils.engines.llama_cpp import LlamaCpp, installed
from course_utils.engines.recorded import EXPERIMENTS, look

__all__ = ["EXPERIMENTS", "LlamaCpp", "installed", "look"]
