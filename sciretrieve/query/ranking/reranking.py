"""Reranking the first papers of an answer by a second encoder or a cross-encoder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ...base.arguments import checked
from ...base.choices import Device, Precision
from ...base.errors import InvalidRequest, UnknownName
from ...base.plugins import Plugin, found, names
from ...base.types import Paper, Query, Scores, floats_of
from ...encoders import load_encoder, open_sentence_encoder
from ...encoders.remembered import RememberingEncoder
from ...encoders.resolving import may_be_plugged
from ...encoders.specs import FIELD_SEPARATOR
from ...encoders.text_encoder import TextEncoder
from ...matching import topk
from ...matching.dense.exact import score
from ...matching.sentence_pairs import closest, transport
from ...protocols import Encoder, OwnReranker, Reranker
from ...runs import Ranking, Run


class EncoderReranker:
    """Reranks by a second encoder, with the similarity that it was trained for. Papers are encoded on the fly and cached."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder, self.name = encoder, encoder.name
        self._remembered = RememberingEncoder(encoder)

    def score(self, query: Query, papers: Sequence[Paper]) -> Scores:
        """See `protocols.Reranker`."""
        return score(self._remembered.encode_queries([query])[0], self._remembered.encode_papers(papers), self._encoder.metric)


class PluginReranker:
    """Reranks by a plug-in. What it does wrong raises PluginFailed."""

    def __init__(self, plugin: Plugin) -> None:
        self._plugin, self._own, self.name = plugin, plugin.made(), plugin.name
        with plugin.answering():
            if not callable(getattr(self._own, "score", None)):
                raise InvalidRequest(f"{type(self._own).__name__} has no `score(query, papers)`")

    def score(self, query: Query, papers: Sequence[Paper]) -> Scores:
        """See `protocols.Reranker`."""
        with self._plugin.answering():
            return scores_of(self._own, query, papers)


class SentenceReranker:
    """Reranks by comparing the sentences of two papers (ASPIRE). A text query is an abstract without a title. Vectors are cached."""

    def __init__(self, encoder: TextEncoder) -> None:
        self._compare = transport if encoder.spec.pairing == "transport" else closest
        self._remembered, self.name = RememberingEncoder(encoder), encoder.name

    def score(self, query: Query, papers: Sequence[Paper]) -> Scores:
        """See `protocols.Reranker`. The score is a negative distance between the sentences, see `matching.sentence_pairs`."""
        title, _, abstract = query.text.rpartition(FIELD_SEPARATOR)
        query_vectors, *paper_vectors = self._remembered.sentence_vectors([query.paper or Paper("", title, abstract), *papers])
        return np.array([self._compare(query_vectors, vectors) for vectors in paper_vectors], np.float64)


@checked
def open_reranker(name: str, *, precision: Precision = "auto", device: Device = "auto") -> Reranker:
    """Open a reranker: an encoder as `load_encoder` takes it, a folder or hub id of a cross-encoder, a sentence model, or a plug-in.

    Raises: as `load_encoder`.

    >>> run = index.search("graph networks", k=3, reranker=sr.open_reranker("minilm"), rerank_depth=10)
    """
    from ...encoders.cross_encoder import open_cross_encoder

    if (sentence_encoder := open_sentence_encoder(name, precision=precision, device=device)) is not None:
        return SentenceReranker(sentence_encoder)
    if (cross_encoder := open_cross_encoder(name, precision=precision, device=device)) is not None:
        return cross_encoder
    if may_be_plugged(name) and (plugin := found("reranker", name)) is not None:
        return PluginReranker(plugin)
    try:
        return EncoderReranker(load_encoder(name, precision=precision, device=device))
    except UnknownName as error:
        if error.args[1] != name:  # a member of several
            raise
        raise UnknownName("reranker", name, names("reranker", error.args[2])) from error


def reranked(run: Run, reranker: OwnReranker, depth: int) -> Run:
    """Reorder the first `depth` papers of each ranking by the reranker. The others follow."""
    return replace(run, rankings=tuple(_reranked(ranking, reranker, run, depth) for ranking in run.rankings))


def scores_of(reranker: OwnReranker, query: Query, papers: Sequence[Paper]) -> Scores:
    """A reranker's scores of papers, (n,). Without papers, the reranker is not called. A user's reranker may return an array or a list.

    Raises InvalidRequest unless there is one finite number per paper, and whatever the reranker raises.
    """
    if not papers:
        return np.empty(0)
    what = f"`score` of the reranker {getattr(reranker, 'name', None) or type(reranker).__name__}"
    given = reranker.score(query, list(papers))  # its own list, which it may sort
    try:
        scores: Scores = floats_of(given, np.float64)
    except TypeError as error:
        raise InvalidRequest(f"{what} returned no list of {len(papers)} numbers: {error}") from error
    if scores.shape != (len(papers),):
        raise InvalidRequest(f"{what} returned numbers of shape {scores.shape}, not {(len(papers),)}; return one per paper")
    if len(wrong := np.flatnonzero(~np.isfinite(scores))):
        raise InvalidRequest(f"{what} returned {scores[wrong[0]]} for {papers[wrong[0]].id!r}; a score is a finite number")
    return scores


def stacked_scores(new_scores: Scores, old_scores: Scores) -> Scores:
    """Scores of reranked papers, then of the others, descending. The others keep their distances, below all reranked papers."""
    return np.concatenate([new_scores, old_scores - old_scores[0] - 1 + new_scores.min(initial=0.0)]) if len(old_scores) else new_scores


def _reranked(ranking: Ranking, reranker: OwnReranker, run: Run, depth: int) -> Ranking:
    first, count = min(depth, len(ranking)), len(ranking)
    new_scores = scores_of(reranker, ranking.query, run.source.papers_at(ranking.rows[:first]))
    scores = stacked_scores(new_scores, ranking.scores[first:])
    order = np.concatenate([topk.order(ranking.ids[:first], new_scores), np.arange(first, count)])
    parts: Mapping[str, Scores] = {**ranking.parts, "rerank": np.concatenate([new_scores, np.full(count - first, np.nan)])}
    return replace(ranking, scores=scores, parts=parts).take(order)
