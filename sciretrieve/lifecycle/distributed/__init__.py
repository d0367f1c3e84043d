"""Ray clusters: build tasks and searches run in processes on all nodes.

`cluster` connects to a cluster and lists its nodes, `workers` runs tasks on them, and `cluster_search` searches with them.
"""

from .workers import RayWorkers

__all__ = ["RayWorkers"]
