"""Many texts at once: a paged cache, shared beginnings, continuous batching.

`block_pool` decides who holds which block, `paged_cache` keeps the keys and values in them, `engine` serves requests,
and `trace` says what each step did.
"""

from course_utils.serving.block_pool import BlockPool
from course_utils.serving.engine import Engine, EngineRequest
from course_utils.serving.paged_cache import PagedCache, Table
from course_utils.serving.trace import Step

__all__ = ["BlockPool", "Engine", "EngineRequest", "PagedCache", "Step", "Table"]
