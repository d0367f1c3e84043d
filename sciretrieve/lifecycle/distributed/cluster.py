"""Connection to a Ray cluster, and its nodes. Only this file handles starting Ray and its errors."""

from __future__ import annotations

import logging
import os
import socket
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ...base.errors import SciretrieveError, Unavailable
from ...base.extras import need

logger = logging.getLogger(__name__)

LONGEST_CONNECTION = 10
"""Seconds for reaching a head node, and for its greeting."""
GREETING, SETTINGS = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0]), 4
"""A client's first bytes in HTTP/2, which gRPC and so Ray's head nodes speak, and the type of the server's first frame: its settings, after
three bytes of length (RFC 9113, sections 3.4 and 4.1)."""
LONGEST_START = 60
"""Seconds for a node's first answer."""


@dataclass(frozen=True, slots=True)
class Node:
    """A machine of a cluster: its id, a name for people, and its declared CPUs and GPUs."""

    id: str
    name: str
    cpus: float
    gpus: float


def cause_of(error: Any) -> BaseException:
    """The error behind Ray's error: an error for users as it was raised, others with Ray's account."""
    return error.cause if isinstance(error.cause, SciretrieveError | OSError) else error


def check_address(address: str) -> None:
    """Check that a head node listens at an address. Ray itself would wait for many minutes. Raises Unavailable."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit() or "/" in host:
        raise Unavailable(f"{address} is not the address of a Ray cluster's head node; give HOST:PORT, as `ray start` shows it, or auto")
    try:
        with socket.create_connection((host, int(port)), LONGEST_CONNECTION) as connection:
            greets = _greets(connection)
    except (OSError, OverflowError) as error:
        raise Unavailable(f"no Ray cluster can be reached at {address} ({error}); check `address` and that its head node runs") from error
    if not greets:
        raise Unavailable(
            f"what listens at {address} is not a Ray cluster's head node; give the address that `ray start` shows there, or auto"
        )


def _greets(connection: socket.socket) -> bool:
    """Whether the listener greets like a head node. A listener that speaks TLS is accepted."""
    if os.environ.get("RAY_USE_TLS", "0").lower() in ("1", "true"):
        return True
    try:
        connection.sendall(GREETING)
        with connection.makefile("rb") as answers:
            answer = answers.read(4)
    except OSError:  # it is silent or hangs up
        return False
    return len(answer) == 4 and answer[3] == SETTINGS


class RayCluster:
    """A connection from this process to a Ray cluster."""

    def __init__(self, address: str | None) -> None:
        """Connect to the cluster at `address`. By default, connect to the one that this process or `RAY_ADDRESS` names, or start one on
        this machine.

        Raises:
            MissingExtra: Ray is not installed.
            Unavailable: there is no cluster at that address, or it has another version of Ray or Python.
        """
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # Ray would report usage to its makers
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        need("ray", "a Ray cluster")
        import ray

        self.ray: Any = ray
        self._is_ours = not ray.is_initialized()
        named = address or (os.environ.get("RAY_ADDRESS") if self._is_ours else None)
        if named not in (None, "", "auto", "local"):
            check_address(named)
        if self._is_ours:
            try:
                ray.init(address=address, log_to_driver=False, logging_level="ERROR", include_dashboard=None if address else False)
            except (ConnectionError, RuntimeError, ValueError, OSError) as error:
                reason = " ".join(str(error).split())[:300]
                raise Unavailable(f"no Ray cluster can be used: {reason}") from error

            # it would print events of nodes to standard output, where results go
            with suppress(ImportError):
                from ray._private import worker

                vars(worker)["print_to_stdstream"] = lambda *_, **__: None

    def close(self) -> None:
        """Leave the cluster. Stop it if it was started here."""
        if self._is_ours:
            self.ray.shutdown()

    def nodes(self) -> list[Node]:
        """Living nodes that offer processors."""
        nodes = [
            Node(node["NodeID"], node["NodeManagerAddress"], node["Resources"].get("CPU", 0.0), node["Resources"].get("GPU", 0.0))
            for node in self.ray.nodes()
            if node["Alive"]
        ]
        return [node for node in nodes if node.cpus or node.gpus]

    def _on(self, node: Node) -> dict[str, Any]:
        """Options that pin a task or actor to a node."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        return {"scheduling_strategy": NodeAffinitySchedulingStrategy(node.id, soft=False)}

    def started(self, kind: type, node: Node, *arguments: Any, reserves: bool, gpus: float = 0.0) -> Any:
        """Start an actor of this class on a node, with one of its GPUs and a share of its CPUs, or with all its CPUs.

        With `reserves`, waits for free CPUs; otherwise shares them.
        """
        cpus = max(int(node.cpus / max(int(gpus and node.gpus), 1)), 1)
        options = {
            "num_cpus": min(cpus, node.cpus) if reserves else 0,
            "num_gpus": gpus,
            "max_concurrency": 2,  # one call works while another reports progress
            "runtime_env": {"env_vars": {"OMP_NUM_THREADS": str(cpus)}},
        }
        return self.ray.remote(kind).options(**options, **self._on(node)).remote(*arguments)

    def check(self, node: Node, seen: Path) -> bool:
        """Whether a node answers. Raises Unavailable if it has another version of sciretrieve, or sees other contents in a file."""

        # Ray sends a nested function by value, so the node need not have it
        def look(path: str) -> tuple[str | None, bytes | None]:
            from importlib.metadata import PackageNotFoundError, version
            from pathlib import Path

            try:
                package = version("sciretrieve")
            except PackageNotFoundError:
                package = None
            return package, Path(path).read_bytes() if Path(path).is_file() else None

        looking = self.ray.remote(look).options(num_cpus=0, max_retries=0, **self._on(node)).remote(str(seen.absolute()))
        try:
            package, contents = self.ray.get(looking, timeout=LONGEST_START)
        except self.ray.exceptions.RayError as error:
            logger.warning("the node %s does not answer, so it is left out: %s", node.name, " ".join(str(error).split())[:200])
            return False
        if package != version("sciretrieve"):
            has = f"has sciretrieve {package}" if package else "has no sciretrieve"
            raise Unavailable(f"the node {node.name} {has}; install version {version('sciretrieve')} there, as here")
        if contents != seen.read_bytes():
            raise Unavailable(
                f"the node {node.name} does not see {seen.absolute().parent} as this machine does; put the index on a file system that all "
                "nodes share, under the same path"
            )
        return True
