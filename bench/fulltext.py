"""What does full text bring? Citing sentences, the papers that they cite, and the sentences that they refer to.

    python bench/fulltext.py [--data FOLDER] [--cache indexes/fulltext] [--papers 0] [--words 150] [--overlap 0] [--titled 1]

FOLDER has `papers.jsonl.gz`, full texts by section and sentence, and `citances.jsonl`, sentences that cite one of these papers, with the
numbers of those of its sentences that annotators found them to refer to. Queries are the citing sentences without the names, years and
brackets by which they cite. The cited paper should be found; the citing one is taken out. With `--papers N` the corpus has the cited papers
and, drawn with a fixed seed, others up to N. Papers are indexed by title and abstract, and in a second index passages by title and text.

A paper's score in each half of hybrid search is its abstract's, moved by how much its best passages score above it, beyond what is usual:

    A + w (D - U max(1, 1 + L ln(n / 2N))),  D = P - A,  P: mean of the paper's best passages

U is the mean of D over a sample of papers with full text, N the geometric mean of their numbers of passages, and n the paper's: the best of
many passages are better by chance, so books gain little by their length. A paper without full text keeps A. The halves are then fused as
usual. The table has nDCG@10 and R@10 x 100 over all queries, and nDCG@10 over the two halves of the cited papers, every second one by id:
the first is for choosing. But the rule's numbers were settled with both in sight, and with queries of `citances/`, so neither half judges
them afresh. Then full text is taken from a half of the papers, drawn a few times: the change in nDCG@10 against
abstracts alone where the cited paper has none, and where it has.

The second table says how often the first, and one of the first three passages of the cited paper hold a sentence named by annotators.
"""

from __future__ import annotations

import gzip
import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from quality import MARKERS, indexed
from reporting import arguments, report

import sciretrieve as sr
from sciretrieve.base.types import Mask, Query, Vectors
from sciretrieve.matching.dense.vectors import score_rows
from sciretrieve.matching.fusion import Fusion, unit
from sciretrieve.papers.fulltext.document import Part, document_of
from sciretrieve.papers.fulltext.passages import passages

DATA = Path(__file__).parents[2] / "shared" / "data" / "fulltext"
NAME = r"\b[A-Z][\w’'.-]*\w"
TEXTUAL = re.compile(
    rf"{NAME}(?:\s*(?:,|,?\s+and|,?\s+&)\s+{NAME})*(?:,?\s+et\.?\s+al\.?)?(?:['’]s)?,?\s*[(\[]?\s*(?:19|20)\d\d[a-z]?\b[)\]]?"
)
ET_AL = re.compile(rf"{NAME}\s*,?\s+et\.?\s+al\.?(?:['’]s)?")
WITH_YEARS = re.compile(r"\[[^\[\]]*\d\d[a-z]?\s*\]")
SAMPLE, DRAWS, LENGTH = 64, 4, 0.25
WAYS: Mapping[str, tuple[float, int, float]] = {
    **{f"best passage, {w}": (w, 1, LENGTH) for w in (0.7, 0.8, 0.9)},
    **{f"best two, {w}": (w, 2, LENGTH) for w in (0.5, 0.7, 0.8, 0.85, 0.9, 1.0)},
    **{f"best three, {w}": (w, 3, LENGTH) for w in (0.8, 0.85, 0.9)},
    "best two, 0.85, long papers as others": (0.85, 2, 0.0),
}
"""Weights w, the number of best passages, and L."""
Matrix = npt.NDArray[np.float32]
"""Scores, (queries, papers) or (queries, passages)."""


@dataclass(frozen=True)
class Text:
    """A passage: the place of its paper, the numbers of its sentences, and its row in an index."""

    paper: int
    sentences: frozenset[int]
    row: dict[str, str]


@dataclass(frozen=True)
class Scored:
    """The scores of all papers and passages in each half of hybrid search, and what should be found.

    Attributes:
        abstracts, passages: dense and BM25 scores, where no common word is 0.
        owners: the place of each passage's paper, ascending, (passages,).
        terms: the number of terms of each query.
        wanted, left_out: the places of the cited paper, and of the citing one or -1, (queries,).
        chooses: the queries that chose the parameters.
    """

    abstracts: tuple[Matrix, Matrix]
    passages: tuple[Matrix, Matrix]
    owners: npt.NDArray[np.int64]
    terms: Sequence[int]
    wanted: npt.NDArray[np.int64]
    left_out: npt.NDArray[np.int64]
    chooses: Mask

    def best(self, scores: Matrix, count: int) -> Matrix:
        """For each paper the mean of the scores of its best passages, (queries, papers); 0 without full text."""
        found = np.zeros(self.abstracts[0].shape, np.float32)
        places, starts = np.unique(self.owners, return_index=True)
        for place, own in zip(places.tolist(), np.split(scores, starts[1:], axis=1), strict=True):
            most = min(count, own.shape[1])
            found[:, place] = np.partition(own, own.shape[1] - most, axis=1)[:, -most:].mean(axis=1)
        return found

    def gains(self, dense: Matrix, bm25: Matrix) -> Vectors:
        """nDCG@10 and R@10 of each query, (queries, 2), by fused scores."""
        gains = np.zeros((len(dense), 2), np.float32)
        for place, (meaning, words) in enumerate(zip(dense, bm25, strict=True)):
            scores = Fusion().join(meaning.astype(np.float64), np.maximum(words, 0).astype(np.float64), self.terms[place])
            if self.left_out[place] >= 0:
                scores[self.left_out[place]] = -np.inf
            rank = 1 + int((scores > scores[self.wanted[place]]).sum())
            gains[place] = (1 / np.log2(1 + rank), 1) if rank <= 10 else 0
        return 100 * gains


def moved(abstracts: Matrix, best: Matrix, counts: npt.NDArray[np.int64], has_text: Mask, weight: float, length: float) -> Matrix:
    """The rule of the first lines for one half, (queries, papers)."""
    above = best - abstracts
    sample = random.Random(0).sample(np.flatnonzero(has_text).tolist(), min(SAMPLE, int(has_text.sum())))
    logs = np.log(np.maximum(counts, 1))
    longer = np.maximum(logs - logs[sample].mean() - np.log(2), 0).astype(np.float32)
    usual = above[:, sample].mean(axis=1, keepdims=True) * (1 + length * longer)
    return np.where(has_text, abstracts + weight * (above - usual), abstracts)


def texts_of(papers: Sequence[Mapping[str, Any]], words: int, overlap: int, titled: bool) -> Iterator[Text]:
    """The passages of papers."""
    for place, paper in enumerate(papers):
        parts, numbers = [], []
        for section in paper["sections"]:
            sentences = [(number, " ".join(text.split())) for number, text in section["sentences"] if text.strip()]
            parts += [Part("head", section["head"]), Part("text", " ".join(text for _, text in sentences))]
            numbers += sentences
        document, places, end = document_of(parts), [], 0
        for number, text in numbers:
            start = document.text.index(text, end)
            end = start + len(text)
            places.append((number, start, end))
        for count, passage in enumerate(passages(document, words, overlap)):
            held = frozenset(number for number, start, end in places if passage.start < end and start < passage.end)
            yield Text(place, held, {"id": f"{paper['id']}#{count}", "title": paper["title"] if titled else "", "abstract": passage.text})


def abstract_of(paper: Mapping[str, Any]) -> str:
    """A paper's abstract, "" if none is marked."""
    return " ".join(text for section in paper["sections"] if section["head"].lower() == "abstract" for _, text in section["sentences"])


def without_citations(text: str) -> str:
    """A citing sentence without the names, years and brackets by which it cites."""
    for pattern in (TEXTUAL, MARKERS, WITH_YEARS, ET_AL):
        text = pattern.sub(" ", text)
    return " ".join(re.sub(r"[(\[][\s;,.]*[)\]]", " ", text).split())


def scores_of(index: sr.Index, queries: Sequence[Query], ids: Sequence[str]) -> tuple[Matrix, Matrix, list[int]]:
    """The dense and BM25 scores of all papers of an index, in the order of `ids`, and the number of each query's terms."""
    rows, bm25 = index.snapshot.rows(ids), index.snapshot.bm25
    assert bm25 is not None
    dense, lexical = (np.zeros((len(queries), len(rows)), np.float32) for _ in range(2))
    terms = []
    for place, probe in enumerate(index.reader.probes(list(queries), "hybrid", None)):
        assert probe.vector is not None
        order = np.argsort(rows)
        dense[place] = score_rows(index.snapshot.vectors, probe.vector, rows)
        found = bm25.best(probe.all_terms, 1, probe.scope, rows[order])[2]
        lexical[place, order] = np.where(np.isfinite(found), found, 0)
        terms.append(len(probe.terms))
    return dense, lexical, terms


def ranking_rows(scored: Scored) -> Iterator[dict[str, Any]]:
    """The first table."""
    places = np.arange(scored.abstracts[0].shape[1])
    has_text = np.isin(places, scored.owners)
    chance = np.random.default_rng(0)
    draws = [has_text & (chance.random(len(places)) < 0.5) for _ in range(DRAWS)]
    base = scored.gains(*scored.abstracts)

    def row(name: str, gains: Vectors, changes: Sequence[tuple[Mask, Vectors]] = ()) -> dict[str, Any]:
        parts = {"all": gains[:, 0], "chose": gains[scored.chooses, 0], "judges": gains[~scored.chooses, 0], "R@10": gains[:, 1]}
        without, having = (
            np.mean([change[has[scored.wanted] == wanted].mean() for has, change in changes]) if changes else np.nan for wanted in (0, 1)
        )
        return {
            "papers by": name,
            **{key: float(part.mean()) for key, part in parts.items()},
            "without": float(without),
            "with": float(having),
        }

    yield row("abstracts", base)
    best = {count: [scored.best(half, count) for half in scored.passages] for count in {count for _, count, _ in WAYS.values()}}
    yield row("passages alone", scored.gains(*best[1]))
    counts = np.bincount(scored.owners, minlength=len(places))

    def gains(has: Mask, weight: float, count: int, length: float) -> Vectors:
        halves = zip(scored.abstracts, best[count], strict=True)
        return scored.gains(*(moved(abstracts, found, counts, has, weight, length) for abstracts, found in halves))

    for name, way in WAYS.items():
        yield row(name, gains(has_text, *way), [(has, gains(has, *way)[:, 0] - base[:, 0]) for has in draws])


def passage_rows(
    scored: Scored, texts: Sequence[Text], named: Sequence[frozenset[int]], sentences: Sequence[Matrix]
) -> Iterator[dict[str, Any]]:
    """The second table; `sentences` has each passage's best sentence in both halves."""

    def both(halves: Sequence[Matrix], place: int, own: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        return sum((unit(half[place, own].astype(np.float64)) for half in halves), np.zeros(len(own)))

    dense, words = scored.passages
    ways: dict[str, Sequence[Matrix]] = {
        "dense": [dense],
        "BM25": [words],
        "both": [dense, words],
        "both, and twice the best sentence's words": [dense, words, sentences[1], sentences[1]],
        "both, and the best sentence by both": [dense, words, *sentences],
    }
    for name, halves in ways.items():
        hits = []
        for place, wanted in enumerate(scored.wanted.tolist()):
            own = np.flatnonzero(scored.owners == wanted)
            order = own[np.argsort(-both(halves, place, own), kind="stable")]
            holds = [bool(texts[passage].sentences & named[place]) for passage in order[:3].tolist()]
            hits.append((holds[0], any(holds)))
        rates = 100 * np.array(hits, np.float64)
        parts = {
            "first": rates[:, 0],
            "three": rates[:, 1],
            "first, judges": rates[~scored.chooses, 0],
            "three, judges": rates[~scored.chooses, 1],
        }
        yield {"passages by": name, **{key: float(part.mean()) for key, part in parts.items()}}


def main() -> None:
    """Measure, and print."""
    chosen = arguments(__doc__, data=DATA, cache="indexes/fulltext", papers=0, words=150, overlap=0, titled=1, encoder="minilm")
    citances = [json.loads(line) for line in (chosen.data / "citances.jsonl").open(encoding="utf-8")]
    queries = {citance["id"]: text for citance in citances if (text := without_citations(citance["text"]))}
    citances = [citance for citance in citances if citance["id"] in queries]
    cited = sorted({citance["paper"] for citance in citances})
    with gzip.open(chosen.data / "papers.jsonl.gz", "rt", encoding="utf-8") as lines:
        papers = [json.loads(line) for line in lines]
    if chosen.papers:
        others = sorted(paper["id"] for paper in papers if paper["id"] not in cited)
        kept = {*cited, *random.Random(5).sample(others, chosen.papers - len(cited))}
        papers = [paper for paper in papers if paper["id"] in kept]
    places = {paper["id"]: place for place, paper in enumerate(papers)}
    texts = list(texts_of(papers, chosen.words, chosen.overlap, bool(chosen.titled)))
    print(f"{len(papers):,} papers, {len(texts):,} passages, {len(queries)} queries")

    asked = [Query(id, text) for id, text in queries.items()]
    cache, size = Path(chosen.cache), f"{len(papers)}"

    def scores(name: str, rows: Sequence[Mapping[str, str]]) -> tuple[Matrix, Matrix, list[int]]:
        with indexed(rows, cache / f"{name}-{size}-{chosen.encoder}", chosen.encoder) as index:
            return scores_of(index, asked, [row["id"] for row in rows])

    *of_papers, terms = scores("papers", [{"id": paper["id"], "title": paper["title"], "abstract": abstract_of(paper)} for paper in papers])
    *of_texts, _ = scores(f"passages-{chosen.words}-{chosen.overlap}-{chosen.titled}", [text.row for text in texts])
    scored = Scored(
        (of_papers[0], of_papers[1]),
        (of_texts[0], of_texts[1]),
        np.array([text.paper for text in texts]),
        terms,
        np.array([places[citance["paper"]] for citance in citances]),
        np.array([places.get(citance["citing"], -1) for citance in citances]),
        np.array([cited.index(citance["paper"]) % 2 == 0 for citance in citances]),
    )
    report(list(ranking_rows(scored)), chosen.json)

    known: dict[tuple[int, int], str] = {
        (place, number): " ".join(text.split())
        for place, paper in enumerate(papers)
        if paper["id"] in cited
        for section in paper["sections"]
        for number, text in section["sentences"]
        if text.strip()
    }
    *of_sentences, _ = scores("sentences", [{"id": f"{place}#{number}", "title": text} for (place, number), text in known.items()])
    columns = {key: column for column, key in enumerate(known)}
    best_sentences = [np.zeros_like(half) for half in scored.passages]
    for column, passage in enumerate(texts):
        own = [columns[passage.paper, number] for number in passage.sentences if (passage.paper, number) in columns]
        for best, half in zip(best_sentences, of_sentences, strict=True):
            best[:, column] = half[:, own].max(axis=1) if own else 0
    named = [frozenset(citance["sentences"]) for citance in citances]
    print()
    report(list(passage_rows(scored, texts, named, best_sentences)), None)


if __name__ == "__main__":
    main()
