"""Many texts at once: a paged cache, shared beginnings, continuous batching.

`block_pool` decides who holds which block, `paged_cache` keeps the keys and values in them, and `engine` serves requests.
"""

from course_utils.serving.block_pool import BlockPool
from course_utils.serving.engine import Engine, EngineRequest, Step
from course_utils.serving.paged_cache import PagedCache, Table

__all__ = ["BlockPool", "Engine", "EngineRequest", "PagedCache", "Step", "Table"]
