"""Which pairs a set has, by recipe: of a paper's own texts, of queries with judgements, or of searches with clicks.

A pair is a query, a text or a paper, and a paper that answers it; a negative may go with it. Pairs of papers and labels are in
`label_pairs`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from ..errors import InvalidRequest, NotFound
from ..evaluation.builders import CiteSettings
from ..evaluation.readers import beir
from ..matching.lexical.sentences import sentences
from ..papers.bibliographies import keywords
from ..papers.corpora import ColumnMap, Corpus, Sources, open_corpus
from ..protocols import Progress
from ..types import Paper
from .held_out import TRAIN, HeldOut, folded
from .scirepeval_files import read_searches
from .set_folder import WITHOUT, Doc
from .training_papers import KEYWORDS, Attribute, read_library

FEWEST_WORDS = 5
"""Words of a sentence that is a query: shorter ones are headings ("Methods.") and rests of abbreviations."""
SHOWN, JUDGED = "shown", "judged"
"""Kinds of negatives: shown to a user who did not click, and judged to be irrelevant."""


class Pair(NamedTuple):
    """A query's id, a paper that answers it, one that does not, if there is one, and what kind that is."""

    query: str
    positive: Doc
    negative: Doc | None = None
    kind: str = ""


@dataclass(frozen=True)
class Drawn:
    """Pairs, and what they are made of.

    Attributes:
        pairs: all different.
        queries: the texts of those queries that are no papers, by id.
        texts: ids, titles and abstracts of all papers, each time anew and in the same order.
        papers: what BM25 indexes to mine in.
        usable: the ids of the papers that may be a negative; None for all.
        relevant: by query, papers that are no negatives besides its positives.
        labels: labels that are in pairs as papers are, by id.
        mined_form: the form of a mined negative, which is that of the positives, so that the form tells nothing.
        left_out: how many papers and queries are left out as tested.
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


@dataclass(frozen=True)
class PairRequest:
    """What pairs are asked for: the source, which of it, and what is held out."""

    source: Sources | Corpus
    settings: CiteSettings
    column: str | None
    columns: ColumnMap | None
    held_out: HeldOut
    progress: Progress

    def corpus(self) -> Corpus:
        """The source as a corpus. Raises as `open_corpus`."""
        return self.source if isinstance(self.source, Corpus) else open_corpus(self.source, self.columns)

    def path(self, what: str) -> Path:
        """The source as one path. Raises InvalidRequest if it is anything else, NotFound if nothing is there."""
        source: Any = self.source
        paths = [source] if isinstance(source, str | Path) else list(source) if isinstance(source, list | tuple) else []
        if len(paths) != 1 or not isinstance(paths[0], str | Path):
            raise InvalidRequest(f"name one {what}, and nothing else, as the source")
        path = Path(paths[0])
        if not path.exists():
            raise NotFound(f"there is no {what} at {path}")
        return path

    def some(self, ids: Sequence[str]) -> list[str]:
        """As many of these as are wanted, by chance, in their order."""
        if self.settings.queries is None or self.settings.queries >= len(ids):
            return list(ids)
        places = Random(f"{self.settings.seed} queries").sample(range(len(ids)), self.settings.queries)
        return [ids[place] for place in sorted(places)]


class OwnText(NamedTuple):
    """A text out of a paper that is a query for it: what it is, the text, and the form of the paper without it."""

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


def own_texts(
    text_of: Callable[[str, str, Any, Random], OwnText | None], attribute: Attribute | None = None, mined_form: str = ""
) -> Callable[[PairRequest], Drawn]:
    """A recipe: a text out of each paper, and the paper without that text. A text that several papers have names none of them."""

    def draw(request: PairRequest) -> Drawn:
        if attribute is None and request.column is not None:
            raise InvalidRequest("titles and sentences are of no column; leave it out")
        library = read_library(request.corpus(), request.held_out, attribute, request.column)
        if library.column:
            request.progress.note(f"keywords are read from {library.column!r}")
        texts: dict[str, OwnText] = {}
        left_out = library.left_out
        for row, id, title, abstract in library.texts():
            value = library.values[row] if attribute else None
            found = text_of(title, abstract, value, Random(f"{request.settings.seed} {id}")) if library.is_usable[row] else None
            if found is not None and request.held_out.has_text(found.text):
                left_out += 1
            elif found is not None and folded(found.text):
                texts[id] = found
        counts = Counter(folded(found.text) for found in texts.values())
        ids = request.some([id for id, found in texts.items() if counts[folded(found.text)] == 1])
        return Drawn(
            [Pair(f"{id}#{texts[id].what}", Doc(id, texts[id].form)) for id in ids],
            {f"{id}#{texts[id].what}": texts[id].text for id in ids},
            lambda: (paper[1:] for paper in library.texts()),
            library.corpus,
            left_out,
            {id for id, is_usable in zip(library.ids, library.is_usable.tolist(), strict=True) if is_usable},
            mined_form=mined_form,
        )

    return draw


def _judged(request: PairRequest) -> Drawn:
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
    asked: dict[str, Mapping[str, float]] = {}
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
        asked[id] = {other: grade for other, grade in task.qrels[id].items() if other in papers and other not in tested and other != id}
    pairs: list[Pair] = []
    for id, grades in asked.items():
        positives = [other for other, grade in grades.items() if grade > 0]
        negatives = [other for other, grade in grades.items() if grade <= 0]
        pairs += _with_negatives(id, positives, negatives, JUDGED, Random(f"{request.settings.seed} {id}"))
    relevant = {id: {other for other, grade in task.qrels[id].items() if grade > 0} for id in asked}
    return Drawn(
        pairs, queries, lambda: _texts_of(papers.values()), list(papers.values()), left_out, papers.keys() - tested, relevant=relevant
    )


def _shown(request: PairRequest) -> Drawn:
    """One pair for each paper that was clicked; one by chance that was shown and not clicked is its negative (SciMult, section 3.4)."""
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
    return Drawn(pairs, queries, lambda: _texts_of(papers.values()), list(papers.values()), left_out, papers.keys() - tested, relevant)


def _with_negatives(query: str, positives: Sequence[str], negatives: Sequence[str], kind: str, chance: Random) -> Iterator[Pair]:
    """A pair for each positive paper, with a negative one by chance, if there is any."""
    for positive in positives:
        yield Pair(query, Doc(positive), Doc(chance.choice(negatives)), kind) if negatives else Pair(query, Doc(positive))


def _texts_of(papers: Iterable[Paper]) -> Iterator[tuple[str, str, str]]:
    return ((paper.id, paper.title, paper.abstract) for paper in papers)


@dataclass(frozen=True, slots=True)
class PairRecipe:
    """How pairs are drawn: what of, after whom, and the function that does it."""

    about: str
    source: str
    draw: Callable[[PairRequest], Drawn]


OWN = "self-supervision on papers alone"
PAIR_RECIPES: Mapping[str, PairRecipe] = {
    "titles": PairRecipe("a paper's title, and its abstract", OWN, own_texts(_title, mined_form="abstract")),
    "sentences": PairRecipe("a sentence of an abstract, and the paper without it", OWN, own_texts(_sentence)),
    "keywords": PairRecipe("a paper's keywords, and the paper", OWN, own_texts(_keywords, KEYWORDS)),
    "queries": PairRecipe("a query, and a paper that is judged relevant", "judgements of a BEIR folder's train split", _judged),
    "scimult-search": PairRecipe("a search, and a paper that was clicked", "Zhang et al. 2023, section 3.4", _shown),
}
