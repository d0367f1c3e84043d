"""What a FAISS index of many vectors will cost, going by one of few."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from ...choices import Metric
from ...types import Vectors
from .ann import LIST_ROWS, QUICK_CODES, factory_string, training_rows, trial_ann

TRIAL = 10_240
"""Vectors of which a trial is made: enough for codebooks of 8 bits."""
ROUNDS = 10
"""FAISS's rounds of k-means for the lists of an IVF."""
GRAPH_POWER = 4 / 3
"""The time of a graph grows with this power of the vectors: more of them also miss the processor's caches. Measured on two
collections of 384 dimensions, 5,000 to 70,000 vectors, one thread, 2026-11-22."""
GRAPH_OF_OTHERS = 1.6
"""A graph of real vectors takes so many times as long as one of vectors that are made up from few: 1.45 and 1.75 there."""
TRAINED_PER_LIST = 256
"""Vectors for each of these lists that FAISS trains with, at most."""


@dataclass(frozen=True, slots=True)
class AnnCosts:
    """Of one shard's index: seconds to train and fill it, and its bytes on disk."""

    seconds: float
    bytes: int


def ann_costs(sample: Vectors, dense: str, papers: int, metric: Metric) -> AnnCosts | None:
    """What a shard's FAISS index costs.

    An index of some 10,000 vectors is made. Time is taken to grow with a power of the vectors for graphs, and for inverted lists
    with their number times the vectors that train and fill them; bytes grow with the vectors, and with the lists' centroids. The
    long training of product quantisers (PQ, OPQ) is left out: it can take many times as long as all the rest.

    Args:
        sample: some of the vectors, (m, dim).
        dense: the value of `--dense`, neither "flat" nor "none".
        papers: how many vectors the shard has.
        metric: how they are compared.

    Returns:
        None if there are too few papers to train such an index: they will be searched exactly.
    """
    count = min(papers, TRIAL)
    factory = factory_string(dense, papers)
    lists = _lists(factory)
    trial_lists = lists if count == papers else min(lists, count // LIST_ROWS)
    trial_factory = re.sub(r"(?<=IVF)\d+", str(trial_lists), factory)
    for slow, quick in QUICK_CODES.items():
        trial_factory = re.sub(slow, quick, trial_factory)
    trial = trial_ann(more_like(sample, count), trial_factory, metric)
    if trial is None:
        return None
    seconds, half, whole = trial
    growth = (whole - half) / (count - count // 2)
    centroids = (lists - trial_lists) * 4 * sample.shape[1]
    if _is_graph(factory) and 2 * len(sample) < count:
        seconds *= GRAPH_OF_OTHERS
    return AnnCosts(
        seconds * _work(factory, papers) / _work(trial_factory, count),
        round(whole + growth * (papers - count) + centroids),
    )


def more_like(sample: Vectors, count: int) -> Vectors:
    """So many vectors, (count, dim), with the mean and the covariance of the sample: itself, and sums of two of its vectors each."""
    if len(sample) >= count:
        return sample[:count]
    centre = sample.mean(axis=0)
    pairs = np.random.default_rng(0).integers(0, len(sample), (2, count - len(sample)))
    sums = (sample[pairs[0]] + sample[pairs[1]] - 2 * centre) / np.float32(np.sqrt(2)) + centre
    return np.concatenate([sample, sums]).astype(np.float32, copy=False)


def _lists(factory: str) -> int:
    match = re.search(r"IVF(\d+)", factory)
    return int(match[1]) if match else 0


def _work(factory: str, papers: int) -> float:
    """To what the time of making an index is proportional."""
    if lists := _lists(factory):
        return lists * (ROUNDS * min(training_rows(papers, lists), TRAINED_PER_LIST * lists) + papers)
    return papers**GRAPH_POWER if _is_graph(factory) else papers


def _is_graph(factory: str) -> bool:
    return not _lists(factory) and re.search("HNSW|NSG", factory) is not None
