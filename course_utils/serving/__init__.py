"""Many texts at once: a paged cache, shared beginnings, continuous batching.

`block_pool` decides who holds which block, `paged_cache` keeps the keys and values in them, `engine` serves requests,
`trace` says what each step did, and `load` measures how long requests wait.
"""

from course_utils.serving.block_pool import BlockPool
from course_utils.serving.engine import Engine, EngineRequest
from course_utils.serving.load import Latency, Timed, arrivals, latency, serve
from course_utils.serving.paged_cache import PagedCache, Table
from course_utils.serving.trace import Step, states

__all__ = [
    "BlockPool",
    "Engine",
    "EngineRequest",
    "Latency",
    "PagedCache",
    "Step",
    "Table",
    "Timed",
    "arrivals",
    "latency",
    "serve",
    "states",
]
