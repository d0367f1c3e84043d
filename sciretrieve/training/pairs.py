"""Pairs: a query, a text or a paper, and a paper that answers it, with or without a negative.

Sources of pairs are a paper's own texts, queries with judgements, searches with clicks, and papers with labels. For labels (Zhang et al.
2023, section 3.4 and appendix A.1) a negative comes from a near paper: one that the paper cites, one of the same author, or one of the same
venue.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from random import Random
from typing import Any, NamedTuple

import numpy as np

from ..base.errors import InvalidRequest, NotFound
from ..base.types import Paper, Query, Rows
from ..evaluation.builders.cited_corpus import read_collection
from ..evaluation.builders.negatives import shuffled
from ..evaluation.readers import beir, pmc_patients
from ..papers.bibliographies import keywords
from ..papers.corpora import Attribute, Corpus
from ..papers.references import reference_columns
from ..papers.sentences import sentences
from ..query.citations.citation_graph import Graph
from .forms import LABEL, WITHOUT, Doc
from .held_out import TRAIN, folded
from .mining import MINED, Mining, mine
from .training_papers import KEYWORDS, LABELS, DrawnSet, Recipe, SetRequest, texts_in
from .training_set import read_searches
from .triplets import joined_counts

ALONE = "none"
"""The kind of a pair without a negative."""
FEWEST_WORDS = 5
"""The fewest words of a sentence that is a query: shorter ones are headings ("Methods.") and fragments after abbreviations."""
SHOWN, JUDGED = "shown", "judged"
"""Kinds of negatives: shown to a user who did not click, and judged irrelevant."""


class Pair(NamedTuple):
    """Query id, positive, optional negative and its kind."""

    query: str
    positive: Doc
    negative: Doc | None = None
    kind: str = ""


@dataclass(frozen=True)
class DrawnPairs:
    """Pairs and their texts.

    Attributes:
        pairs: all different.
        queries: the texts of text queries, by id.
        texts: gives ids, titles and abstracts of all papers, always in the same order.
        papers: the papers to mine in.
        usable: the ids of the papers that may be a negative; None for all.
        relevant: by query, papers that cannot be negatives, besides its positives.
        labels: labels in the place of papers, by id.
        mined_form: the form of a mined negative, the same as that of positives, so that the form tells nothing.
        left_out: the number of papers and queries left out as tested.
    """

    pairs: list[Pair]
    queries: Mapping[str, str]
    texts: Callable[[], Iterable[tuple[str, str, str]]]
    papers: Corpus | Sequence[Paper]
    left_out: int
    usable: Collection[str] | None = None
    relevant: Mapping[str, Collection[str]] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    mined_form: str = ""


class OwnText(NamedTuple):
    """A text of a paper as a query: its kind, the text, and the form of the paper without it."""

    what: str
    text: str
    form: str


def _title(title: str, _abstract: str, _value: Any, _chance: Random) -> OwnText | None:
    return OwnText("title", title, "abstract")


def _sentence(_title: str, abstract: str, _value: Any, chance: Random) -> OwnText | None:
    parts = sentences(abstract)
    numbers = [number for number, part in enumerate(parts, 1) if len(part.split()) >= FEWEST_WORDS]
    if len(parts) < 2 or not numbers:
        return None
    number = chance.choice(numbers)
    return OwnText(f"sentence-{number}", parts[number - 1], f"{WITHOUT}{number}")


def _keywords(_title: str, _abstract: str, value: Any, _chance: Random) -> OwnText | None:
    return OwnText("keywords", keywords.joined(value), "") if value else None


def _own_text_pairs(
    text_of: Callable[[str, str, Any, Random], OwnText | None],
    request: SetRequest,
    attribute: Attribute | None = None,
    mined_form: str = "",
) -> DrawnPairs:
    """A text of each paper as a query, and the paper without it. Texts that several papers share are left out."""
    if attribute is None and request.column is not None:
        raise InvalidRequest("titles and sentences need no column; leave it out")
    library = request.library(attribute)
    if library.column:
        request.progress.note(f"keywords are read from {library.column!r}")
    texts: dict[str, OwnText] = {}
    left_out = library.left_out
    for row, (id, title, abstract) in enumerate(texts_in(library.corpus)):
        value = library.values[row] if attribute else None
        found = text_of(title, abstract, value, Random(f"{request.settings.seed} {id}")) if library.is_usable[row] else None
        if found is not None and request.held_out.has_text(found.text):
            left_out += 1
        elif found is not None and folded(found.text):
            texts[id] = found
    counts = Counter(folded(found.text) for found in texts.values())
    ids = request.some([id for id, found in texts.items() if counts[folded(found.text)] == 1])
    return DrawnPairs(
        [Pair(f"{id}#{texts[id].what}", Doc(id, texts[id].form)) for id in ids],
        {f"{id}#{texts[id].what}": texts[id].text for id in ids},
        lambda: texts_in(library.corpus),
        library.corpus,
        left_out,
        {id for id, is_usable in zip(library.ids, library.is_usable.tolist(), strict=True) if is_usable},
        mined_form=mined_form,
    )


def _judgement_pairs(request: SetRequest) -> DrawnPairs:
    """One pair for each relevant paper of a query in a BEIR folder's train split; a paper judged irrelevant is its negative."""
    folder = request.path("BEIR folder")
    if not (folder / "qrels" / f"{TRAIN}.tsv").is_file():
        raise NotFound(
            f"{folder} has no qrels/{TRAIN}.tsv: pairs are made of the judgements there, never of those of a test; "
            "rename the file if these are not tested"
        )
    material = beir.load(folder, TRAIN, f"beir:{folder}")
    (task,) = material.tasks
    papers = {paper.id: paper for paper in material.pool() if paper.title or paper.abstract}
    tested = {id for id, paper in papers.items() if request.held_out.has_paper(id, paper.title)}
    left_out = len(tested)
    queries: dict[str, str] = {}
    grades_of: dict[str, Mapping[str, float]] = {}
    for id in request.some([id for id in task.queries if id in task.qrels]):
        query = task.queries[id]
        paper = query.paper
        if paper is not None and not request.held_out.has_paper(id, paper.title):
            papers.setdefault(id, paper)
        elif paper is None and folded(query.text) and not request.held_out.has_text(query.text):
            queries[id] = query.text
        else:
            left_out += 1
            continue
        grades_of[id] = {other: grade for other, grade in task.qrels[id].items() if other in papers and other not in tested and other != id}
    pairs: list[Pair] = []
    for id, grades in grades_of.items():
        positives = [other for other, grade in grades.items() if grade > 0]
        negatives = [other for other, grade in grades.items() if grade <= 0]
        pairs += _with_negatives(id, positives, negatives, JUDGED, Random(f"{request.settings.seed} {id}"))
    relevant = {id: {other for other, grade in task.qrels[id].items() if grade > 0} for id in grades_of}
    return DrawnPairs(
        pairs, queries, lambda: _texts_in(papers.values()), list(papers.values()), left_out, papers.keys() - tested, relevant=relevant
    )


def _patient_pairs(request: SetRequest, *, task: str) -> DrawnPairs:
    """One pair for each article or patient that is relevant to a patient of PMC-Patients' train split; other pairs give the negatives."""
    material = pmc_patients.load(request.path("folder of PMC-Patients"), TRAIN, f"pmc-patients-{task.lower()}", task=task)
    (found,) = material.tasks
    patients = {id: Paper(id, "", query.text if query.paper is None else query.paper.abstract) for id, query in found.queries.items()}
    chosen = request.some([id for id in patients if id in found.qrels])
    relevant = {id: [other for other, grade in found.qrels[id].items() if grade > 0 and other != id] for id in chosen}
    named = {*patients, *(id for ids in relevant.values() for id in ids)}
    candidates = {paper.id: paper for paper in material.pool() if paper.id in named and (paper.title or paper.abstract)}
    papers = patients | candidates
    held_out = request.held_out
    tested = {id for id, paper in papers.items() if held_out.has_paper(id, paper.title) or held_out.has_text(paper.abstract)}
    kept = papers.keys() - tested
    pairs = [Pair(id, Doc(other)) for id, others in relevant.items() if id in kept for other in others if other in kept]
    mined_in = list(candidates.values())  # a patient that is asked for articles is no article
    return DrawnPairs(pairs, {}, lambda: _texts_in(papers.values()), mined_in, len(tested), candidates.keys() - tested, relevant)


def _click_pairs(request: SetRequest) -> DrawnPairs:
    """One pair for each clicked paper, with a random shown, unclicked paper as its negative (SciMult, section 3.4)."""
    searches, papers = read_searches(request.path("file of SciRepEval's searches"))
    tested = {id for id, paper in papers.items() if request.held_out.has_paper(id, paper.title)}
    left_out = len(tested)
    queries: dict[str, str] = {}
    pairs: list[Pair] = []
    relevant: dict[str, set[str]] = {}
    chosen = set(request.some(list(dict.fromkeys(search.id for search in searches))))
    for search in searches:
        if search.id not in chosen:
            continue
        if search.id in tested or (search.text is not None and (request.held_out.has_text(search.text) or not folded(search.text))):
            left_out += search.id not in tested
            continue
        positives, negatives = ([id for id in ids if id not in tested and id != search.id] for ids in (search.scored, search.others))
        queries |= {} if search.text is None or not positives else {search.id: search.text}
        relevant.setdefault(search.id, set()).update(search.scored)
        pairs += _with_negatives(search.id, positives, negatives, SHOWN, Random(f"{request.settings.seed} {search.id}"))
    pairs = list(dict.fromkeys(pairs))
    return DrawnPairs(pairs, queries, lambda: _texts_in(papers.values()), list(papers.values()), left_out, papers.keys() - tested, relevant)


def _with_negatives(query: str, positives: Sequence[str], negatives: Sequence[str], kind: str, chance: Random) -> Iterator[Pair]:
    """A pair for each positive paper, with a random negative, if there is any."""
    for positive in positives:
        yield Pair(query, Doc(positive), Doc(chance.choice(negatives)), kind) if negatives else Pair(query, Doc(positive))


def _texts_in(papers: Iterable[Paper]) -> Iterator[tuple[str, str, str]]:
    return ((paper.id, paper.title, paper.abstract) for paper in papers)


MOST_PAIRS = 100
"""The most pairs with the same label, so that general labels do not dominate (Zhang et al. 2023, appendix A.1)."""
DRAWS = 1000
"""The most near papers of a kind to look at for one with another label."""
CITED, AUTHOR, VENUE = "cited", "same author", "same venue"
"""How a negative's paper is near. Which is tried first is random, since a venue has by far the most papers."""


@dataclass(frozen=True)
class Neighbours:
    """The neighbours of each paper, by row: citations, and rows by author and by venue."""

    graph: Graph | None
    authors: Sequence[Sequence[str]]
    venues: Sequence[str]
    by_author: Mapping[str, Sequence[int]]
    by_venue: Mapping[str, Rows]

    def papers(self, row: int, chance: Random) -> Iterator[tuple[int, str]]:
        """Near papers in random order, kind by kind, with the kind of nearness."""
        sources: dict[str, Rows] = {}
        if self.graph is not None:
            sources[CITED] = self.graph.cites(row)
        others = {other for author in self.authors[row] for other in self.by_author[author]}
        sources[AUTHOR] = np.array(sorted(others), np.int64)
        if self.venues[row]:
            sources[VENUE] = self.by_venue[self.venues[row]]
        for kind in chance.sample(sorted(sources), len(sources)):
            yield from ((other, kind) for other in islice(shuffled(sources[kind], chance), DRAWS) if other != row)


def _read_near(corpus: Corpus, request: SetRequest) -> Neighbours:
    authors: list[tuple[str, ...]] = []
    venues: list[str] = []
    is_asked = request.settings.references is not None or request.settings.citations is not None
    has_references = is_asked
    for batch in corpus.batches():
        authors += [tuple(dict.fromkeys(name.lower() for name in names or () if name)) for names in batch.papers["authors"].to_pylist()]
        venues += [(venue or "").lower() for venue in batch.papers["venue"].to_pylist()]
        has_references = has_references or bool(reference_columns(batch.papers.schema))
    graph: Graph | None = None
    try:
        if has_references:
            collection = read_collection(corpus, request.settings)
            request.progress.note(collection.notes[0])
            graph = collection.graph
    except InvalidRequest as error:  # a column of references may only name papers outside the corpus
        if is_asked:
            raise
        request.progress.note(f"no paper is near for being cited: {error}")
    by_author: dict[str, list[int]] = {}
    by_venue: dict[str, list[int]] = {}
    for row, (names, venue) in enumerate(zip(authors, venues, strict=True)):
        for name in names:
            by_author.setdefault(name, []).append(row)
        by_venue.setdefault(venue, []).append(row)
    arrays = {venue: np.array(rows, np.int64) for venue, rows in by_venue.items()}
    return Neighbours(graph, authors, venues, by_author, arrays)


def _labels(request: SetRequest, *, to_labels: bool, is_plain: bool = False) -> DrawnPairs:
    """Pairs of a paper and one of its labels, either as the query. The negative is a label that a near paper has and this one lacks; or a
    near paper with labels, but not this one. Plain pairs are the same, without a negative.
    """
    corpus, seed = request.corpus, request.settings.seed
    library = request.library(LABELS)
    request.progress.note(f"labels are read from {library.column!r}")
    near = None if is_plain else _read_near(corpus, request)
    labels: dict[int, tuple[str, ...]] = {
        row: value
        for row, (value, is_usable) in enumerate(zip(library.values, library.is_usable.tolist(), strict=True))
        if is_usable and value
    }
    rows_of: dict[str, list[int]] = {}
    chosen = request.some([library.ids[row] for row in labels])
    row_of = {library.ids[row]: row for row in labels}
    tested = {label for value in labels.values() for label in value if request.held_out.has_text(label)}
    for id in chosen:
        for label in labels[row_of[id]]:
            if label not in tested:
                rows_of.setdefault(label, []).append(row_of[id])
    kept = {label: Random(f"{seed} {label}").sample(rows, min(MOST_PAIRS, len(rows))) for label, rows in sorted(rows_of.items())}
    pairs: list[Pair] = []
    for row, label in sorted((row, label) for label, rows in kept.items() for row in rows):
        chance = Random(f"{seed} {library.ids[row]} {label}")
        paper, name = library.ids[row], f"{LABEL}{label}"
        near_papers = ((other, kind) for other, kind in near.papers(row, chance) if other in labels) if near else iter(())
        if to_labels:
            others = ((sorted({*labels[other]} - {*labels[row]} - tested), kind) for other, kind in near_papers)
            found: Any = next(((chance.choice(names), kind) for names, kind in others if names), None)
            pairs.append(Pair(paper, Doc(name), Doc(f"{LABEL}{found[0]}"), found[1]) if found else Pair(paper, Doc(name)))
        else:
            found = next(((other, kind) for other, kind in near_papers if label not in labels[other]), None)
            pairs.append(Pair(name, Doc(paper), Doc(library.ids[found[0]]), found[1]) if found else Pair(name, Doc(paper)))
    named = {doc.id for pair in pairs for doc in (pair.positive, pair.negative) if doc} | {pair.query for pair in pairs}
    all_labels = {f"{LABEL}{label}": label for label in sorted({*kept, *(name for value in labels.values() for name in value)})}
    used = {id: label for id, label in all_labels.items() if id in named}
    relevant: dict[str, set[str]] = {}
    for row, value in labels.items():
        for label in value:
            relevant.setdefault(f"{LABEL}{label}", set()).add(library.ids[row])
    return DrawnPairs(
        pairs,
        {} if to_labels else used,
        lambda: texts_in(corpus),
        corpus,
        library.left_out + len(tested),
        {library.ids[row] for row in labels},
        relevant,
        used if to_labels else {},
    )


def drawn_pairs(about: str, draw: Callable[[SetRequest], DrawnPairs], request: SetRequest) -> DrawnSet:
    """The pairs of a recipe; `about` describes them in messages."""
    drawn, mining = draw(request), request.mining
    request.report_left_out(drawn.left_out, "papers and queries are tested")
    if not drawn.pairs:
        raise InvalidRequest(f"the recipe {request.recipe} makes no pair: the source lacks {about}")
    pairs = drawn.pairs if mining is None else _mined(drawn, mining, request)
    counts = Counter(pair.kind or ALONE for pair in pairs)
    query_ids = {pair.query for pair in pairs}
    request.progress.note(f"{len(pairs):,} pairs of {len(query_ids):,} queries; negatives: {joined_counts(counts)}")
    docs = {doc for pair in pairs for doc in (pair.positive, pair.negative) if doc is not None}
    docs |= {Doc(id) for id in query_ids if id not in drawn.queries}
    new_ids = {doc.id for doc in docs if doc.form} | drawn.labels.keys()
    if new_ids and (taken_id := next((id for id, _, _ in drawn.texts() if id in new_ids), None)):
        raise InvalidRequest(f"a paper has the id {taken_id!r}, which stands for a changed text or a label here; give it another")
    return DrawnSet(
        [(one.query, one.positive.id, one.negative.id if one.negative else "", one.kind) for one in pairs],
        docs,
        drawn.texts(),
        {
            "papers": len({doc.paper for doc in docs} - drawn.labels.keys()),
            "queries": len(query_ids),
            "pairs": len(pairs),
            "kinds": dict(sorted(counts.items())),
            **({"mined": mining.facts()} if mining else {}),
        },
        drawn.left_out,
        {id: text for id, text in drawn.queries.items() if id in query_ids},
        drawn.labels,
    )


def _mined(drawn: DrawnPairs, mining: Mining, request: SetRequest) -> list[Pair]:
    """The same pairs; those without a negative get mined ones, each paper once per query."""
    if drawn.labels:
        raise InvalidRequest("an index has no labels to mine; leave out `mining`")
    wanted = [(pair.query, pair.positive.paper) for pair in drawn.pairs if pair.negative is None]
    barred: dict[str, set[str]] = {}
    for pair in drawn.pairs:
        no_negatives = barred.setdefault(pair.query, {pair.query, *drawn.relevant.get(pair.query, ())})
        no_negatives |= {doc.paper for doc in (pair.positive, pair.negative) if doc}
    texts = {query: drawn.queries.get(query) for query, _ in wanted}
    papers: dict[str, Paper] = {}
    known: set[str] = set()
    for id, title, abstract in drawn.texts():
        known.add(id)
        if id in texts and texts[id] is None:
            papers[id] = Paper(id, title, abstract)
    queries = [Query(id, paper=papers[id]) if text is None else Query(id, text) for id, text in texts.items()]
    usable = known if drawn.usable is None else drawn.usable
    negatives = iter(mine(mining, wanted, queries, barred, drawn.papers, known, usable, request.folder, request.progress))
    pairs: list[Pair] = []
    for pair in drawn.pairs:
        negative = next(negatives) if pair.negative is None else None
        pairs.append(pair if negative is None else pair._replace(negative=Doc(negative, drawn.mined_form), kind=MINED))
    return pairs


OWN = "self-supervision on papers alone"
SCIMULT = "Zhang et al. 2023, section 3.4 and appendix A.1"
PATIENTS = "Zhao et al. 2023 (PMC-Patients), the pairs of their dense retrievers; Zhang et al. 2023, section 4.5"


def _recipe(about: str, source: str, draw: Callable[[SetRequest], DrawnPairs]) -> Recipe:
    return Recipe(source, partial(drawn_pairs, about, draw))


RECIPES: Mapping[str, Recipe] = {
    "titles": _recipe("a paper's title, and its abstract", OWN, partial(_own_text_pairs, _title, mined_form="abstract")),
    "sentences": _recipe("a sentence of an abstract, and the paper without it", OWN, partial(_own_text_pairs, _sentence)),
    "keywords": _recipe("a paper's keywords, and the paper", OWN, partial(_own_text_pairs, _keywords, attribute=KEYWORDS)),
    "queries": _recipe("a query, and a paper that is judged relevant", "judgements of a BEIR folder's train split", _judgement_pairs),
    "pmc-patients-par": _recipe("a patient, and an article that is relevant", PATIENTS, partial(_patient_pairs, task="PAR")),
    "pmc-patients-ppr": _recipe("a patient, and a similar one", PATIENTS, partial(_patient_pairs, task="PPR")),
    "scimult-search": _recipe("a search, and a paper that was clicked", "Zhang et al. 2023, section 3.4", _click_pairs),
    "scimult-labels": _recipe("a paper, and a label of it", SCIMULT, partial(_labels, to_labels=True)),
    "scimult-labels-plain": _recipe(
        "a paper, and a label of it", "Zhang et al. 2023, appendix E.1", partial(_labels, to_labels=True, is_plain=True)
    ),
    "label-papers": _recipe("a label, and a paper of it", SCIMULT, partial(_labels, to_labels=False)),
}
