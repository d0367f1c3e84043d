"""Metrics of a service, for Prometheus."""

from __future__ import annotations

import os
from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

SHARED = "PROMETHEUS_MULTIPROC_DIR"
"""The environment variable with the folder in which the processes of one service count together."""
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
OTHER = "other"
"""The label of everything unknown: labels chosen by clients could fill the memory, and reveal queries."""


def method_of(method: str) -> str:
    """A request's method as a label."""
    return method if method in METHODS else OTHER


class Measures:
    """Counts of requests, waiting requests, papers and generations."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        names = ("method", "route", "status")
        self._requests = Counter("sciretrieve_requests", "Requests answered.", names, registry=self._registry)
        self._seconds = Histogram(
            "sciretrieve_request_seconds", "Seconds of a request.", ("route",), buckets=SECONDS, registry=self._registry
        )
        self._waiting = Gauge(
            "sciretrieve_waiting", "Requests that are worked on or wait.", registry=self._registry, multiprocess_mode="livesum"
        )
        self._papers = Gauge("sciretrieve_papers", "Papers of an index.", ("index",), registry=self._registry, multiprocess_mode="max")
        self._generation = Gauge(
            "sciretrieve_generation", "The generation of an index that is answered from.", ("index",), registry=self._registry,
            multiprocess_mode="min",
        )  # fmt: skip

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request."""
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def waiting(self, count: Callable[[], int]) -> None:
        """Set the function that returns the number of waiting requests; several processes do not add these up."""
        if SHARED not in os.environ:
            self._waiting.set_function(count)

    def index(self, name: str, papers: int, generation: int) -> None:
        """Set an index's number of papers and its generation."""
        self._papers.labels(name).set(papers)
        self._generation.labels(name).set(generation)

    def text(self) -> bytes:
        """All metrics in Prometheus's text format, of all processes of the service."""
        if SHARED not in os.environ:
            return generate_latest(self._registry)
        registry = CollectorRegistry()
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return generate_latest(registry)
