"""A Ray cluster of two nodes, emulated on this machine by Ray itself."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sciretrieve.distributed import RayWorkers

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def cluster() -> Iterator[Any]:
    """Two nodes with one CPU each; its address is `cluster.address`."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = str(ROOT)  # or the nodes may have another checkout installed
    warnings.simplefilter("default")  # Ray leaves sockets and processes to be collected
    from ray.cluster_utils import Cluster

    nodes = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    nodes.add_node(num_cpus=1)
    yield nodes
    nodes.shutdown()
    if before is None:
        del os.environ["PYTHONPATH"]
    else:
        os.environ["PYTHONPATH"] = before


@pytest.fixture
def workers(cluster: Any) -> Iterator[RayWorkers]:
    """Workers on all nodes."""
    with RayWorkers(cluster.address) as crew:
        yield crew
