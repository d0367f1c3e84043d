"""BM25 indexes put together as an opened index does it, of papers that are texts alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sciretrieve.matching.lexical import (
    Analyzer,
    Bm25,
    Bm25Parameters,
    FieldPostings,
    FieldsBuilder,
    LexicalShard,
    Postings,
    PostingsBuilder,
)
from sciretrieve.matching.lexical.corpus_statistics import frequencies, statistics
from sciretrieve.matching.lexical.lexical_shard import RememberedWeights
from sciretrieve.matching.scope import Scope

TitleAndAbstract = tuple[str, str]


def postings_of(folder: Path, papers: Sequence[TitleAndAbstract], batch: int = 50) -> Postings:
    """The postings of one shard's papers, which have no authors or venues, counted a batch at a time, in a new folder."""
    folder.mkdir()
    builder = PostingsBuilder(Analyzer())
    for start in range(0, len(papers), batch):
        titles, abstracts = zip(*papers[start : start + batch], strict=True)
        builder.add(titles, abstracts)
    builder.write(folder)
    FieldsBuilder(Analyzer()).write(folder)
    return Postings(folder, len(papers))


def joined(postings: Sequence[Postings], parameters: Bm25Parameters, scope: Scope | None = None) -> Bm25:
    """An index of shards with these postings; `scope` says which papers are not deleted, by default all."""
    everything = scope or Scope(sum(part.papers for part in postings))
    firsts = [sum(part.papers for part in postings[:number]) for number in range(len(postings))]
    scopes = [everything.part(first, part.papers) for first, part in zip(firsts, postings, strict=True)]
    parts = [(part, None if everything.mask is None else live.places) for part, live in zip(postings, scopes, strict=True)]
    sums, remembered = statistics(parts), RememberedWeights()
    shards = [
        LexicalShard(part, FieldPostings(part.folder, part.papers), counts, live, first, sums, parameters, remembered)
        for part, counts, live, first in zip(postings, frequencies(parts), scopes, firsts, strict=True)
    ]
    return Bm25(shards, sums, parameters)
