"""Papers in place of a query, and papers that move one: what to be like, and what to be unlike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...characters import clean
from ...choices import Filter, Mode
from ...errors import InvalidRequest
from ...files.streams import checked_text
from ...matching.search import Probe
from ...types import Paper, Query, Rows
from ..snapshot import Snapshot, as_ids
from .reader import LACKS, Reader
from .rocchio import moved, moved_terms, rocchio, rocchio_terms


def likeness(
    reader: Reader, ids: str | Sequence[str], text: str | None, negatives: str | Sequence[str], mode: Mode, filter: Filter
) -> Probe:
    """What `Index.similar` searches with. Raises as it does."""
    snapshot = reader.snapshot
    if text is not None:
        text = clean(checked_text(text, "text"))
    if not as_ids(ids) and not (text or "").strip():
        raise InvalidRequest("nothing to be similar to; give ids of papers, or `text`: a title and an abstract")
    positive_rows, negative_rows = snapshot.named_rows(ids), snapshot.named_rows(negatives)
    outside = []
    if text:
        title, _, abstract = text.partition(". ")
        outside = [Paper("", title, abstract)]
    vector, wanted = None, mode
    mode = reader.mode_of_papers(mode, len(outside))
    if mode != "bm25":
        positives = np.concatenate([reader.stored_vectors(positive_rows), reader.paper_vectors(outside)])
        vector = rocchio(positives, reader.stored_vectors(negative_rows))
    groups = (*snapshot.papers_at(positive_rows), *outside), snapshot.papers_at(negative_rows)
    terms = rocchio_terms(*([_terms(reader, paper, mode) for paper in group] for group in groups))
    passing = snapshot.narrower.passing(filter)
    scope = passing.without(np.concatenate([positive_rows, negative_rows]))
    query, lacks = Query(" ".join(snapshot.ids(positive_rows)) or "text"), LACKS[mode] if mode != wanted else None
    return Probe(query, scope, vector, terms, terms, lacks=lacks, total=len(passing))


def fed_back(reader: Reader, probe: Probe, like: str | Sequence[str], unlike: str | Sequence[str], mode: Mode) -> Probe:
    """A probe moved towards papers and away from others, which no longer may answer it.

    Raises:
        NotFound: a paper is not in the index.
        InvalidRequest: one is both liked and disliked.
    """
    snapshot = reader.snapshot
    liked, disliked = (_distinct(snapshot.named_rows(names)) for names in (like, unlike))
    if both := snapshot.ids(liked[np.isin(liked, disliked)]):
        raise InvalidRequest(f"the paper {both[0]!r} is both liked and disliked; leave it out of one of them")
    vector, terms = probe.vector, probe.terms
    if vector is not None:
        vector = moved(vector, reader.stored_vectors(liked), reader.stored_vectors(disliked))
    if snapshot.bm25 is not None and mode != "dense":
        liked_terms, disliked_terms = ([_terms(reader, paper, mode) for paper in snapshot.papers_at(rows)] for rows in (liked, disliked))
        terms = moved_terms(terms, liked_terms, disliked_terms, snapshot.bm25.rarity)
    scope = probe.scope.without(np.concatenate([liked, disliked]))
    return replace(probe, vector=vector, terms=terms, scope=scope, listing=False)


def without_copies(snapshot: Snapshot, probe: Probe, *names: str | Sequence[str]) -> Probe:
    """A probe that no copy of the papers of these names may answer: where each work comes once, they do not come under another id."""
    rows = np.concatenate([snapshot.named_rows(each) for each in names])
    return replace(probe, scope=probe.scope.without(snapshot.with_copies(rows))) if len(rows) else probe


def _terms(reader: Reader, paper: Paper, mode: Mode) -> dict[str, float]:
    return reader.terms(Query("", paper=paper).words, mode)


def _distinct(rows: Rows) -> Rows:
    return np.array(list(dict.fromkeys(rows.tolist())), np.int64)
