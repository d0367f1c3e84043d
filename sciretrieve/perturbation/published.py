"""What Singh and Singh (2022) published of AOP and of normalised vectors, as data; Table 3 is in `evaluation.published`, under `asr`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from .neighbours import Category

MODELS = ("SciBERT", "SPECTER", "OAG-BERT")
Figures: TypeAlias = Mapping[str, Mapping[Category, float]]
"""By system: model and data set. Per cent, by category."""

_AOP10 = """
ACL-ANTH | 51.8 68.9 4.4 20.5 61.8 4.3 12.0 35.6 2.2 73.0 81.2 5.1 13.4 72.0 5.2
ICLR | 52.2 74.6 4.7 18.6 61.8 4.7 10.9 33.2 2.3 71.2 82.2 5.5 10.8 75.0 6.0
Arxiv-CS_SY | 52.8 74.8 5.2 23.2 66.0 5.1 11.6 40.9 2.6 71.7 83.4 6.0 14.5 77.6 6.6
Arxiv-MATH | 52.2 67.4 5.3 23.0 62.1 5.3 14.5 34.5 3.2 71.1 80.5 6.1 31.3 75.4 6.6
Arxiv-ECON | 59.0 75.3 5.8 27.0 66.4 5.6 14.1 40.9 2.8 71.2 83.2 6.4 21.4 76.8 6.8
Arxiv-QBIO | 55.2 74.1 5.4 23.5 65.1 4.9 12.1 38.7 2.6 71.0 82.9 5.9 17.1 76.4 6.3
Arxiv-HEP | 53.1 66.2 5.9 22.9 61.0 5.9 13.5 34.2 3.6 71.0 80.0 6.8 25.4 73.4 7.2
"""
_AOP20 = """
SciBERT | 75.04 59.62 22.6 26.28 14.35
SPECTER | 86.77 77.55 80.93 69.03 41.32
OAG-BERT | 6.84 6.24 7.31 5.95 3.17
"""
_TASK_ONE = """
Arxiv-MATH | 0.013 6.8 0.62 90.4 0.148 26.2 0.06 25.1 1 100 0.11 20.8
Arxiv-HEP | 0.01 8.2 0.693 93.8 0.181 30.2 0.07 29.5 1 100 0.126 23.7
Arxiv-QBIO | 0.007 6.8 0.795 98.0 0.182 31.0 0.144 54.5 1 100 0.127 24.1
Arxiv-ECON | 0.01 11.4 0.772 95.9 0.196 34.8 0.142 49.8 1 100 0.144 26.6
Arxiv-CS_SY | 0.007 5.9 0.856 99.4 0.183 31.3 0.116 47.9 1 100 0.132 23.9
ICLR | 0.007 5.4 0.592 91.8 0.145 29.9 0.09 41.0 1 100 0.124 25.1
ACL-ANTH | 0.002 3.1 0.74 95.1 0.123 25.2 0.034 18.2 0.99 100 0.096 18.2
"""


def _lines(block: str) -> dict[str, list[float]]:
    rows = (line.split("|") for line in block.strip().splitlines())
    return {name.strip(): [float(value) for value in values.split()] for name, values in rows}


def _aop10() -> Figures:
    categories: tuple[Category, ...] = ("LO-HS", "LO-PS", "LO-DS", "LL-HS", "LL-PS")
    lines = _lines(_AOP10)
    return {
        f"{model}, {corpus}": dict(zip(categories, values[number :: len(MODELS)], strict=True))
        for number, model in enumerate(MODELS)
        for corpus, values in lines.items()
    }


def _aop20() -> Figures:
    categories: tuple[Category, ...] = ("LL-HS", "LO-HS", "LL-PS", "LO-PS", "LO-DS")
    return {model: dict(zip(categories, values, strict=True)) for model, values in _lines(_AOP20).items()}


def _task_one() -> Mapping[str, tuple[float, float, float, float]]:
    lines = _lines(_TASK_ONE)
    return {
        f"{model}, {corpus}": (values[2 * number], values[2 * number + 1], values[2 * number + 6], values[2 * number + 7])
        for number, model in enumerate(MODELS)
        for corpus, values in lines.items()
    }


AOP10 = _aop10()
"""Table 4."""
AOP20 = _aop20()
"""Table 5, over all data sets."""
TASK_ONE = _task_one()
"""Table 9: MRR and T100 (per cent) of Task I, L2-normalised, and then standardised."""
