"""A Ray cluster of two nodes, emulated on this machine by Ray itself.

It takes seconds to start, and so does every process on its nodes, of which each build and each open index has one a node. So tests share
them.
"""

import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sciretrieve.lifecycle.distributed import RayWorkers

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="session")
def cluster() -> Iterator[Any]:
    """Two nodes with one CPU each; its address is `cluster.address`."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = str(ROOT)  # or the nodes may have another checkout installed
    warnings.simplefilter("default")  # Ray leaves sockets and processes to be collected
    from ray.cluster_utils import Cluster

    # a node that was killed is missed after two seconds instead of ten; one that is only slow has as long as ever to answer
    noticing = {"health_check_period_ms": 500, "health_check_failure_threshold": 3}
    nodes = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False, "_system_config": noticing})
    nodes.add_node(num_cpus=1)
    yield nodes
    nodes.shutdown()
    if before is None:
        del os.environ["PYTHONPATH"]
    else:
        os.environ["PYTHONPATH"] = before


@pytest.fixture(scope="module")
def workers(cluster: Any) -> Iterator[RayWorkers]:
    """Workers on all nodes."""
    with RayWorkers(cluster.address) as crew:
        yield crew
