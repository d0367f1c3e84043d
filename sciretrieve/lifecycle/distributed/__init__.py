"""Many machines, by Ray: tasks of a build are done, and shards are searched, by processes on all nodes of a cluster.

`cluster` connects to it and says what its nodes are; `workers` does tasks on them; `cluster_search` searches with them.
"""

from .workers import RayWorkers

__all__ = ["RayWorkers"]
