"""Full-corpus and re-ranking benchmarks by their authors' exact protocols, any run on any judgements, and comparisons."""

from ..metrics.judgements import read_qrels, read_runs, read_scores
from ..metrics.naming import parse_measure
from ..options import EvaluationOptions
from . import builders
from .benchmark_catalogue import CATALOGUE, SUITES, find_benchmark
from .benchmark_specs import Benchmark, Suite
from .modes import ModesReport, evaluate_modes
from .pooling import Pool
from .reports import Report
from .requests import evaluate, replay, score_run
from .suites import SuiteReport, evaluate_suite
from .trainings import TrainingsReport, compare_trainings

__all__ = [
    "CATALOGUE",
    "SUITES",
    "Benchmark",
    "EvaluationOptions",
    "ModesReport",
    "Pool",
    "Report",
    "Suite",
    "SuiteReport",
    "TrainingsReport",
    "builders",
    "compare_trainings",
    "evaluate",
    "evaluate_modes",
    "evaluate_suite",
    "find_benchmark",
    "parse_measure",
    "read_qrels",
    "read_runs",
    "read_scores",
    "replay",
    "score_run",
]
