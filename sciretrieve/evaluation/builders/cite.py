"""A citation benchmark of one's own papers: find a paper's cited or co-cited papers, among all papers or among hard candidates."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from ...base.arguments import checked
from ...base.choices import Mode
from ...base.errors import InvalidRequest
from ...base.types import Paper, Query
from ...files.csv_files import tsv_rows
from ...files.schema import texts_of
from ...files.writing import make_folder, remove, write_json, write_lines, write_whole
from ...lifecycle import build
from ...options import BuildSettings, CiteSettings
from ...papers.corpora import ColumnMap, Corpus, Sources
from ...protocols import Progress
from ...query.index import Index
from ...query.opening import open_index
from ..readers.cite import ALL, CANDIDATES, COCITE, TRUE
from .cited_corpus import Collection, building
from .negatives import NEGATIVES, Negatives

FEWEST = 10
"""The fewest queries of a field: with fewer, its mean would be chance, and weigh as much as any other's."""


CITED, COCITED = 5, 10
"""Defaults: the fewest papers that a query cites, and the fewest papers that cite two together."""


@checked
def build_cite(
    corpus: Sources | Corpus,
    to: str | Path,
    settings: CiteSettings = CiteSettings(),
    *,
    columns: ColumnMap | None = None,
    progress: Progress | bool = True,
) -> None:
    """Make a citation benchmark of a corpus, in the folder `to`, which appears when everything is written.

    It has BEIR's layout, for `beir:DIR`: all papers; queries.jsonl and qrels/test.tsv with papers and all that they cite; and
    queries-cocite.jsonl with qrels/cocite.tsv, papers and all that enough others cite together with them. And it has candidates.json, in
    MDCR's layout, for `cite:DIR`: for each query some of the papers that it cites, and hard negatives. The same corpus, settings and seed
    give the same files.

    Args:
        corpus: files, directories, globs, papers in memory, or an open `Corpus`.
        to: a new folder.
        settings: the settings of citations, queries and candidates.
        columns: the roles of the corpus's columns; by default recognised by name.
        progress: a listener for progress and for the recognised columns; by default a bar on a terminal or in a notebook, False for none.

    Raises:
        NotFound, InvalidRequest: the corpus, a file of citations, an index or a setting is invalid; `to` exists; or no paper cites enough
            others of the corpus.
        IndexBusy: another process is making the same folder.
    """
    least, together = settings.cited or CITED, settings.cocited or COCITED
    with building(corpus, columns, settings, to, progress) as (opened, collection, folder, listener):
        indexes = _opened(settings, collection)
        queries_of_field = _sampled(collection, settings, least, listener)
        cocited = _cocited(collection, settings, together)
        cite_rows = [row for rows in queries_of_field.values() for row in rows]
        listener.start(len(collection.ids))
        papers = _write_corpus(opened, folder, {collection.ids[row] for row in (*cite_rows, *cocited)}, listener)
        cited = {row: collection.graph.cites(row).tolist() for row in sorted(cite_rows)}
        _write_task(folder, "queries.jsonl", "test", collection, cited, papers)
        if cocited:
            _write_task(folder, f"queries-{COCITE}.jsonl", COCITE, collection, cocited, papers)
        else:
            listener.note(f"no co-citations: no two papers are cited together by {together} others; lower that with `cocited`")
        index = build(opened, folder / "bm25", BuildSettings(encoder=None, dense="none"), progress=False)
        negatives = Negatives(collection.graph, collection.ids, collection.fields, {"bm25": (index, "bm25"), **indexes})
        _write_candidates(folder, negatives, queries_of_field, collection, papers, settings, listener)
        for opened_index, _ in ((index, "bm25"), *indexes.values()):
            opened_index.close()
        remove(index.path)
        facts: dict[str, Any] = {
            "schema": 1,
            "papers": len(collection.ids),
            "citations": len(collection.graph),
            "queries": {field: len(rows) for field, rows in queries_of_field.items()},
            "cocite_queries": len(cocited),
            "kinds": [*negatives.kinds, TRUE],
            "cited": least,
            "cocited": together,
            "seed": settings.seed,
        }
        write_json(folder / "benchmark.json", facts)


def _opened(settings: CiteSettings, collection: Collection) -> dict[str, tuple[Index, Mode]]:
    """The indexes that choose negatives, by the name of their encoder."""
    indexes: dict[str, tuple[Index, Mode]] = {}
    ids = set(collection.ids)
    for path in settings.indexes:
        index = open_index(path)
        encoder = index.snapshot.encoder
        if encoder is None:
            raise InvalidRequest(f"{path} has no vectors, and BM25 chooses negatives anyway; name an index with an encoder, or none")
        if difference := sorted(ids.symmetric_difference(index.snapshot.live_ids())):
            raise InvalidRequest(f"{path} is not an index of this corpus: only one of them has {difference[0]!r}")
        name = Path(str(encoder["name"])).name
        if name in indexes:
            raise InvalidRequest(f"{path} has the encoder {name} of another index; name each once")
        indexes[name] = (index, "dense")
    return indexes


def _sampled(collection: Collection, settings: CiteSettings, cited: int, progress: Progress) -> dict[str, list[int]]:
    """The rows of each field's queries, rising: papers with title and abstract that cite at least `cited` others."""
    is_eligible = collection.full & (collection.graph.cites_counts >= cited)
    eligible_rows = np.flatnonzero(is_eligible).tolist()
    rows_of_field: dict[str, list[int]] = {} if collection.fields is not None else {ALL: eligible_rows}
    if collection.fields is not None:
        for row in eligible_rows:
            if collection.fields[row]:
                rows_of_field.setdefault(collection.fields[row], []).append(row)
        if too_small := sorted(field for field, rows in rows_of_field.items() if len(rows) < FEWEST):
            progress.note(
                f"{len(too_small)} fields are left out, which have fewer than {FEWEST} papers that cite {cited} others: "
                f"{', '.join(too_small[:5])}{' …' * (len(too_small) > 5)}"
            )
        rows_of_field = {field: rows_of_field[field] for field in sorted(rows_of_field) if field not in too_small}
    if not any(rows_of_field.values()):
        where = f" in a field with {FEWEST} of them" if collection.fields is not None else ""
        raise InvalidRequest(f"no paper with a title and an abstract{where} cites {cited} others of the corpus; lower that with `cited`")
    count = settings.query_count(collection.fields is not None)
    return {
        field: sorted(Random(f"{settings.seed} cite {field}").sample(rows, min(count, len(rows)))) for field, rows in rows_of_field.items()
    }


def _cocited(collection: Collection, settings: CiteSettings, cocited: int) -> dict[int, list[int]]:
    """By row, rising: random papers that at least `cocited` papers cite together with another one, and these others."""
    graph = collection.graph
    rows = np.flatnonzero(collection.full & (graph.cited_counts >= cocited)).tolist()
    Random(f"{settings.seed} cocite").shuffle(rows)
    rows_of: dict[int, list[int]] = {}
    for row in rows:
        if len(rows_of) == settings.query_count(has_fields=False):
            break
        others = graph.cocited(row, cocited).tolist()
        if others:
            rows_of[row] = others
    return dict(sorted(rows_of.items()))


def _write_corpus(corpus: Corpus, folder: Path, wanted: set[str], progress: Progress) -> dict[str, Paper]:
    """Write corpus.jsonl; returns the papers with the wanted ids."""
    papers: dict[str, Paper] = {}

    def lines() -> Iterator[str]:
        for batch in corpus.batches():
            for paper in texts_of(batch.papers):
                if paper.id in wanted:
                    papers[paper.id] = paper
                yield json.dumps({"_id": paper.id, "title": paper.title, "text": paper.abstract}, ensure_ascii=False)
            progress.advance(len(batch.papers))

    write_lines(folder / "corpus.jsonl", lines())
    return papers


def _write_task(
    folder: Path, file: str, split: str, collection: Collection, positives: Mapping[int, Iterable[int]], papers: Mapping[str, Paper]
) -> None:
    """Write the queries, which are papers, and their judgements."""
    ids = collection.ids
    queries = [papers[ids[row]] for row in positives]
    write_lines(
        folder / file,
        (json.dumps({"_id": paper.id, "title": paper.title, "abstract": paper.abstract}, ensure_ascii=False) for paper in queries),
    )
    make_folder(folder / "qrels")
    rows = ((ids[row], ids[other], 1) for row, others in positives.items() for other in others)
    write_whole(folder / "qrels" / f"{split}.tsv", tsv_rows([("query-id", "corpus-id", "score"), *rows]).encode())


def _write_candidates(
    folder: Path,
    negatives: Negatives,
    queries_of_field: Mapping[str, list[int]],
    collection: Collection,
    papers: Mapping[str, Paper],
    settings: CiteSettings,
    progress: Progress,
) -> None:
    ids = collection.ids
    queries = {row: Query(ids[row], paper=papers[ids[row]]) for rows in queries_of_field.values() for row in rows}
    progress.start(len(queries), unit="queries")
    chosen = dict(negatives.choose(queries, settings.seed, progress))
    if few := sum(sum(map(len, kinds.values())) - len(kinds[TRUE]) < NEGATIVES for kinds in chosen.values()):
        progress.note(f"{few:,} queries have fewer than {NEGATIVES} hard negatives, as there are too few papers, or too few of their field")
    value = {
        field: {ids[row]: {kind: [ids[other] for other in others] for kind, others in chosen[row].items()} for row in rows}
        for field, rows in queries_of_field.items()
    }
    write_json(folder / CANDIDATES, value)
