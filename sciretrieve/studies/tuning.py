"""Fits hybrid search to your own judgements: alpha, depth, k1 and b by cross-validation, written to the index.

The reported gain is measured on queries that had no part in the choice: each fifth of the queries is scored with the best setting for the
other four. The written setting is the best for all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import numpy.typing as npt

from ..base.arguments import checked
from ..base.errors import InvalidRequest
from ..base.forms import AsJson
from ..base.types import Query
from ..lifecycle import refit
from ..matching.fusion import Fusion
from ..matching.lexical import Bm25Parameters
from ..matching.search import Candidates
from ..metrics.judgements import Qrels, check_judgements
from ..metrics.measures import Evaluator
from ..metrics.naming import parse_measure
from ..metrics.significance import FEWEST_TO_CHOOSE, Comparison, compare, held_out
from ..progress import shown
from ..protocols import Progress
from ..query.index import Index
from ..query.opening import AnyIndex, opened

ALPHAS = tuple(round(0.1 * step, 1) for step in range(1, 10))
DEPTHS = (100, 1000)
LENGTHS = ((0.9, 0.4), (1.2, 0.5), (1.2, 0.75), (1.5, 0.75), (2.0, 0.75), (1.5, 0.9))
"""Pairs of k1 and b to try besides the index's own."""
ANSWER_DEPTH = 100
"""The least depth at which a ranking is scored."""


@dataclass(frozen=True, slots=True)
class FusionSetting:
    """A setting of search: BM25's parameters and the fusion's."""

    bm25: Bm25Parameters
    fusion: Fusion


@dataclass(frozen=True, slots=True)
class TuningResult(AsJson):
    """The result of tuning.

    Attributes:
        measure: the maximised measure.
        queries: the number of judged queries.
        before, before_mean: the index's own setting, and its mean.
        after: the best setting on all queries.
        held_out: the mean over queries that had no part in the choice: the expected value of `after`.
        difference: `held_out` against `before`, query by query.
        written: whether `after` was written to the index; not without a gain on held-out queries whose 95 % interval is above zero.
    """

    measure: str
    queries: int
    before: FusionSetting
    before_mean: float
    after: FusionSetting
    held_out: float
    difference: Comparison
    written: bool


@checked
def tune(
    index: AnyIndex,
    queries: Sequence[Query],
    qrels: Qrels,
    *,
    measure: str = "nDCG@10",
    write: bool = True,
    progress: Progress | bool = True,
) -> TuningResult:
    """Find the best setting for judged queries, and write it to the index if it is better on held-out ones by more than chance.

    Raises:
        InvalidRequest: too few judged queries, or an index without both halves.
        IndexBusy: another process writes the index.

    >>> result = sr.tune(index, queries, qrels)
    >>> result.queries
    20
    """
    judgements = check_judgements(qrels)
    with opened(index) as library:
        return _tuned(library, queries, judgements, measure, write, progress)


def _tuned(index: Index, queries: Sequence[Query], qrels: Qrels, measure: str, write: bool, progress: Progress | bool) -> TuningResult:
    parameters = index.snapshot.manifest.bm25
    if "hybrid" not in index.modes or parameters is None:
        raise InvalidRequest(f"{index.path} lacks vectors or BM25, so there is nothing to tune")
    judged_queries = [query for query in queries if query.id in qrels]
    if len(judged_queries) < FEWEST_TO_CHOOSE:
        raise InvalidRequest(
            f"{len(judged_queries)} of the queries are judged, and a choice by fewer than {FEWEST_TO_CHOOSE} would be chance; judge more"
        )
    if not index.snapshot.find(list(dict.fromkeys(judged := [id for query in judged_queries for id in qrels[query.id]]))):
        known = next(iter(index.snapshot.live_ids()), None)
        raise InvalidRequest(f"{index.path} has none of the judged papers: it has {known!r}, and not {judged[0]!r}; correct the ids")
    current = FusionSetting(parameters, index.snapshot.fusion)
    settings = _grid(current)
    with shown(progress) as listener:
        values = _values(index, judged_queries, qrels, settings, measure, listener)

    chosen = held_out(values)
    best_setting = settings[int(values.mean(axis=1).argmax())]
    difference = compare(values[0], chosen)
    is_better = best_setting != current and difference.is_gain
    if is_better and write:
        refit(index.path, best_setting.bm25, best_setting.fusion)
    return TuningResult(
        measure, len(judged_queries), current, float(values[0].mean()), best_setting, float(chosen.mean()), difference, is_better and write
    )


def _grid(current: FusionSetting) -> list[FusionSetting]:
    """All settings to try, the index's own first, since the first of equal ones is chosen."""
    pairs = dict.fromkeys([(current.bm25.k1, current.bm25.b), *LENGTHS])
    depths = dict.fromkeys([current.fusion.depth, *DEPTHS])
    fusions = [current.fusion, *(replace(current.fusion, alpha=alpha, depth=depth) for depth, alpha in product(depths, ALPHAS))]
    return [FusionSetting(replace(current.bm25, k1=k1, b=b), fusion) for (k1, b), fusion in product(pairs, dict.fromkeys(fusions))]


def _values(
    index: Index, queries: Sequence[Query], qrels: Qrels, settings: Sequence[FusionSetting], measure: str, progress: Progress
) -> npt.NDArray[np.float64]:
    """Each setting's value for each query, (settings, queries), from 0 to 1."""
    parsed_measure = parse_measure(measure)
    evaluator = Evaluator({query.id: qrels[query.id] for query in queries}, [parsed_measure])
    if why := next((why for query in queries if (why := index.reader.query_encoder.lack(query.side, query.id))), ""):
        raise InvalidRequest(f"hybrid search cannot be tuned without the queries' vectors: {why}")
    probes = index.reader.probes(queries, "hybrid", None)
    values = np.zeros((len(settings), len(queries)))
    by_bm25: dict[Bm25Parameters, list[int]] = {}
    for number, setting in enumerate(settings):
        by_bm25.setdefault(setting.bm25, []).append(number)
    answer_depth = max(ANSWER_DEPTH, parsed_measure.cutoff)  # a search never proposes fewer than it answers with
    deepest = max(answer_depth, *(setting.fusion.depth for setting in settings))
    progress.start(len(by_bm25) * len(queries))
    for parameters, numbers in by_bm25.items():
        searcher = replace(index.searcher, weighted=index.snapshot.bm25 and index.snapshot.bm25.weighted(parameters))
        depths = {settings[number].fusion.depth for number in numbers}
        for place, candidates in enumerate(searcher.candidates(probes, deepest)):
            candidates_by_depth = {depth: _within(candidates, max(depth, answer_depth)) for depth in depths}
            for number in numbers:
                fusion = settings[number].fusion
                ranking = searcher.fused(candidates_by_depth[fusion.depth], answer_depth, fusion)
                values[number, place] = _value(evaluator, ranking.query.id, ranking.ids, str(parsed_measure))
            progress.advance(1)
    return values


def _value(evaluator: Evaluator, query: str, ids: Sequence[str], measure: str) -> float:
    """The value of one ranking. Falling numbers replace its scores, which float32 might not distinguish."""
    values_by_query: Mapping[str, Mapping[str, float]] = evaluator.per_query({query: {id: float(-rank) for rank, id in enumerate(ids)}})
    return values_by_query[query][measure] if query in values_by_query else 0.0


def _within(candidates: Candidates, depth: int) -> Candidates:
    """The candidates that each half would have proposed with this depth."""
    if len(candidates.rows) <= depth:
        return candidates
    in_depth = np.zeros(len(candidates.rows), bool)
    for scores in (candidates.dense, candidates.bm25):
        edge = np.partition(scores, len(scores) - depth)[len(scores) - depth]
        in_depth |= (scores >= edge) & np.isfinite(scores)
    return replace(candidates, rows=candidates.rows[in_depth], dense=candidates.dense[in_depth], bm25=candidates.bm25[in_depth])
