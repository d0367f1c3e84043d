"""Do names in a query lead to their papers, and do words that only look like names lead astray? BM25 with and without its fields.

    python bench/names.py DIR [--cache indexes/names] [--queries 300]

Every folder in DIR with a corpus.parquet or corpus.jsonl whose papers have authors is indexed, with BM25 alone, and asked for papers drawn
with a fixed seed: by their title, its first half, its two or three rarest words; and by their first author's name, by surname and year,
surname and words of the title, venue and words. Asked for a name, all papers by that name are right. Queries that the folder has in
BEIR's layout are asked too. nDCG@10 x 100 with each weight changed by itself, and the p-value of a paired randomisation test of the default
against text alone.
"""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from quality import drawn
from reporting import arguments, report

import sciretrieve as sr
from sciretrieve.base.errors import IndexExists
from sciretrieve.base.types import Paper, Query
from sciretrieve.evaluation.readers import beir
from sciretrieve.matching.lexical import name_terms
from sciretrieve.matching.lexical.fields import field_term, name_words
from sciretrieve.matching.search import Probe
from sciretrieve.metrics.measures import Evaluator
from sciretrieve.metrics.naming import parse_measure
from sciretrieve.metrics.significance import compare

Asked = list[tuple[Query, dict[str, int]]]
"""Queries, each with the papers that answer it and how well."""
MEASURE = "nDCG@10"
FEWEST_WORDS = 4
COMMON = 20
"""Papers that must have a word of a title for it to be one that people remember."""
WAYS: dict[str, dict[str, Any]] = {
    "default": {},
    "authors 0.5": {"WEIGHTS": {**name_terms.WEIGHTS, "authors": 0.5}},
    "authors 2": {"WEIGHTS": {**name_terms.WEIGHTS, "authors": 2.0}},
    "authors from 0.5": {"LEAST_SHARES": {**name_terms.LEAST_SHARES, "authors": 0.5}},
    "no venue": {"WEIGHTS": {"authors": name_terms.WEIGHTS["authors"]}},
    "venue 1": {"WEIGHTS": {**name_terms.WEIGHTS, "venue": 1.0}},
    "venue from 0.3": {"LEAST_SHARES": {**name_terms.LEAST_SHARES, "venue": 0.3}},
    "no year": {"YEAR": 0.0},
    "keywords 0.1": {"keywords": 0.1},
}


def indexed(corpus: Path, place: Path) -> sr.Index:
    """The index of a corpus, built anew only if it has changed."""
    try:
        return sr.build(corpus, place, encoder=None)
    except IndexExists:
        return sr.build(corpus, place, encoder=None, overwrite=True)


def surname(name: str) -> str:
    """The name that an author is cited by: what stands before a comma, or the last word."""
    before, _, after = name.partition(",")
    return before if after else name.split()[-1]


def whole_name(name: str) -> str:
    """A name in the order in which it is said."""
    before, _, after = name.partition(",")
    return f"{after} {before}".strip().lower()


class Maker:
    """Makes queries for an index's papers."""

    def __init__(self, index: sr.Index, count: int) -> None:
        assert index.snapshot.bm25 is not None
        self.index, self.bm25, self._chance = index, index.snapshot.bm25, random.Random(0)
        rows = np.array(sorted(self._chance.sample(range(len(index)), min(len(index), 3 * count))))
        papers = [paper for paper in index.papers_at(rows) if paper.authors and len(paper.title.split()) >= FEWEST_WORDS]
        # where a corpus has all authors of a paper in one text, the first is sought
        self.papers = [
            replace(paper, authors=(re.split(r" and |, (?=\S+ \S)", paper.authors[0])[0],))
            for paper in self._chance.sample(papers, min(len(papers), count))
        ]

    def sets(self) -> dict[str, Asked]:
        """The kinds of queries, those without a name first."""
        makers: dict[str, Callable[[Paper], tuple[str, dict[str, int]] | None]] = {
            "title": lambda paper: (paper.title, {paper.id: 1}),
            "first half": lambda paper: (" ".join(paper.title.split()[: (len(paper.title.split()) + 1) // 2]), {paper.id: 1}),
            "three rarest words": lambda paper: (self._rarest(paper.title, 3), {paper.id: 1}),
            "two rarest words": lambda paper: (self._rarest(paper.title, 2), {paper.id: 1}),
            "name": lambda paper: (whole_name(paper.authors[0]), self._by(whole_name(paper.authors[0]))),
            "surname, year": self._surname_and_year,
            "surname, word, year": lambda paper: (
                f"{surname(paper.authors[0])} {self._rarest(paper.title, 1)} {paper.year}",
                {paper.id: 1},
            ),
            "surname, two words": lambda paper: (f"{surname(paper.authors[0])} {self._common(paper.title)}", {paper.id: 1}),
            "venue, year, two words": self._at_venue,
        }
        sets = {}
        for kind, make in makers.items():
            made = [(paper.id, made_query) for paper in self.papers if (made_query := make(paper)) is not None]
            sets[kind] = [(Query(id, text), right) for id, (text, right) in made if text.strip() and right]
        return sets

    def _words(self, title: str) -> dict[str, int]:
        words = re.findall(r"\w+", title.lower())
        return {word: self.bm25.frequency(term) for word in words if (term := self.index.snapshot.analyzer.term(word)) is not None}

    def _rarest(self, title: str, count: int) -> str:
        words = {word: papers for word, papers in self._words(title).items() if papers}
        chosen = sorted(words, key=lambda word: words[word])[:count]
        return " ".join(word for word in words if word in chosen)

    def _common(self, title: str) -> str:
        words = [word for word, papers in self._words(title).items() if papers > COMMON]
        return " ".join(self._chance.sample(words, min(2, len(words))))

    def _by(self, name: str, year: int | None = None) -> dict[str, int]:
        """All papers with an author of these words, but for initials, and of a year."""
        rows = self.bm25.rows_with([word for word in name_words(name) if len(word) > 1], "authors")
        if year is not None:
            rows = np.intersect1d(rows, self.bm25.rows_with([str(year)], "year"))
        return dict.fromkeys(self.index.ids(rows), 1)

    def _surname_and_year(self, paper: Paper) -> tuple[str, dict[str, int]] | None:
        name = surname(paper.authors[0])
        return (f"{name} {paper.year}", self._by(name, paper.year)) if paper.year else None

    def _at_venue(self, paper: Paper) -> tuple[str, dict[str, int]] | None:
        acronym = next((word for word in re.findall(r"\b[A-Z]{3,}\b", paper.venue or "") if word not in ("ACM", "IEEE", "AAAI")), None)
        return (f"{acronym} {paper.year} {self._common(paper.title)}", {paper.id: 1}) if acronym else None


def judged(folder: Path, queries: int) -> Iterator[tuple[str, Asked]]:
    """The queries of a folder in BEIR's layout."""
    for qrels in sorted(folder.glob("qrels/*.tsv")):
        task = beir.load(folder, qrels.stem, folder.name).tasks[0]
        yield f"judged: {qrels.stem}", [(query, dict(task.qrels[query.id])) for query in drawn(task, queries)]


def probed(index: sr.Index, queries: Sequence[Query], way: Mapping[str, Any]) -> list[Probe]:
    """The queries made ready with other weights."""
    changed = {name: value for name, value in way.items() if name != "keywords"}
    with patch.multiple(name_terms, **changed) if changed else patch.object(name_terms, "YEAR", name_terms.YEAR):
        probes = index.reader.probes(queries, "bm25", None)
    if "keywords" not in way:
        return probes
    return [
        replace(probe, fields={term: {**probe.fields.get(term, {}), field_term("keywords", term): way["keywords"]} for term in probe.terms})
        for probe in probes
    ]


def values(index: sr.Index, probes: Sequence[Probe], asked: Asked) -> np.ndarray[Any, np.dtype[np.float64]]:
    """nDCG@10 of each query."""
    rankings, right_for = {}, {query.id: right for query, right in asked}
    evaluator = Evaluator(right_for, [parse_measure(MEASURE)])
    for ranking in index.searcher.search(probes, 11):
        # a query that is a paper of the corpus finds itself first, which is right only where that paper was sought
        others = [id for id in ranking.ids if id != ranking.query.id or id in right_for[id]][:10]
        rankings[ranking.query.id] = {id: float(-rank) for rank, id in enumerate(others)}
    scored = evaluator.per_query(rankings)
    return np.array([scored.get(query.id, {}).get(MEASURE, 0.0) for query, _ in asked])


def main() -> None:
    """Measure, and print."""
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit("name a folder with corpora: python bench/names.py DIR")
    folder = Path(sys.argv.pop(1))
    chosen = arguments(__doc__, cache="indexes/names", queries=300)
    rows: list[dict[str, Any]] = []
    for corpus in sorted([*folder.glob("*/corpus.parquet"), *folder.glob("*/corpus.jsonl")]):
        index = indexed(corpus, Path(chosen.cache) / corpus.parent.name)
        maker = Maker(index, chosen.queries)
        if not maker.papers:
            continue
        for kind, asked in [*maker.sets().items(), *judged(corpus.parent, chosen.queries)]:
            if not asked:
                continue
            queries = [query for query, _ in asked]
            probes = index.reader.probes(queries, "bm25", None)
            text = values(index, [replace(probe, fields={}) for probe in probes], asked)
            row = {"corpus": corpus.parent.name, "query": kind, "queries": len(asked), "text": f"{100 * text.mean():.1f}"}
            for way, settings in WAYS.items():
                measured = values(index, probed(index, queries, settings), asked)
                row[way] = f"{100 * measured.mean():.1f}"
                if way == "default":
                    p = compare(text, measured).p_randomisation
            rows.append(row | {"p": f"{p:.4f}"})
            print(rows[-1], file=sys.stderr, flush=True)
    report(rows, chosen.json)


if __name__ == "__main__":
    main()
