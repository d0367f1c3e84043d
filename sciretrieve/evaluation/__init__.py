"""Full-corpus and re-ranking benchmarks by their authors' exact protocols, any run on any judgements, and comparisons."""

from .catalogue import CATALOGUE, find_benchmark
from .judgements import read_qrels, read_scores
from .measures import parse_measure
from .reports import Report
from .requests import evaluate, replay, score_run
from .specs import Benchmark

__all__ = [
    "CATALOGUE",
    "Benchmark",
    "Report",
    "evaluate",
    "find_benchmark",
    "parse_measure",
    "read_qrels",
    "read_scores",
    "replay",
    "score_run",
]
