"""Which type of dense index fits an index's own vectors: what each finds and costs, as figures and as a plot."""

from .dense_types import Bench, Row, bench, benches
from .plot import plot

__all__ = ["Bench", "Row", "bench", "benches", "plot"]
