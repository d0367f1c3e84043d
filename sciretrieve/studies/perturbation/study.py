"""The study: alternative-self retrieval by titles and by textual neighbours, and the vectors (Singh and Singh 2022, §5, §6, App. D.1).

Where that paper is not explicit, we do this:

- Table 9 does not say whose statistics standardise the vectors, nor does the authors' code. So we measure all three: those of the
  candidates, those of titles and of papers each by themselves, and those of both together.
- AOP counts the query itself, which is one of the candidates (§6.3 leaves it in, where §5 leaves a title out).
- A category's figure is the mean of its classes' figures.

Each searched set of texts is an index in a temporary folder, so that all modes answer as they do for users. Every text is encoded once into
one file, from which each set takes its vectors; so hybrid search is without late interaction here.
"""

from __future__ import annotations

import hashlib
import random
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from ...base.arguments import checked
from ...base.choices import DEFAULT_ENCODER, Device, Mode, PoolingName, Precision
from ...base.errors import InvalidRequest
from ...base.forms import AsJson
from ...base.types import Paper, Query, Rows, Scores, Vectors
from ...encoders import reads_texts
from ...encoders.stored import IDS
from ...files.schema import texts_of
from ...files.writing import write_lines, write_vectors
from ...lifecycle import build
from ...lifecycle.building import BuildComponents
from ...options import BuildSettings, SearchOptions
from ...papers.corpora import Corpus, PaperCorpus, Sources, accepted, open_corpus
from ...progress import shown
from ...protocols import AnyEncoder, Encoder, Progress
from ...query.index import Index
from ...query.opening import AnyIndex, is_folder_of_index, opened
from .neighbours import CATEGORIES, CLASSES, Category, neighbours
from .similarities import Anisotropy, Retrieval, Similarities, anisotropy, mean_cosine, overlap, own_ranks, similarities, standardised
from .tagged_texts import check_tagger

LIMIT = 500
"""The number of papers to study; §5 has 1,000 queries, and candidates of some 5,000 to 35,000 papers."""
FEWEST = 20
"""The fewest papers, since 20 nearest neighbours are counted."""
OVERLAP_QUERIES = 2000
"""The most queries of each class for AOP (§6.3)."""
PAPERS, TITLES = "T+A", "T"
OPTIMAL: Mapping[Category, tuple[float, float]] = {
    "LL-HS": (0.75, 1.0),
    "LO-HS": (0.70, 1.0),
    "LL-PS": (0.50, 0.70),
    "LO-PS": (0.50, 0.70),
    "LO-DS": (0.0, 0.20),
}
"""The bounds of AOP-20 within which a category is represented optimally (Table 5)."""
MODES: tuple[Mode, ...] = ("dense", "bm25", "hybrid")
Texts = Sequence[Paper]
"""Queries or candidates; their ids distinguish all texts of a study."""


@dataclass(frozen=True, slots=True)
class NeighbourShares:
    """The success of a class's neighbours, as shares from 0 to 1: their paper as the first of all papers (`nn1`) or among the first ten
    (`nn10`), and the share of its own 10 and 20 nearest texts (`aop10`, `aop20`).
    """

    nn1: float
    nn10: float
    aop10: float
    aop20: float


@dataclass(frozen=True, slots=True)
class ClassResult:
    """The results of one class of neighbours.

    Attributes:
        code, category: the class.
        papers: the number of papers with a neighbour in it.
        found: the success of these neighbours, by mode.
        similarities: of the neighbours of different papers; None without vectors, or for fewer than two.
        to_original: the mean cosine of a neighbour and its paper; None without vectors.
    """

    code: str
    category: Category
    papers: int
    found: Mapping[Mode, NeighbourShares]
    similarities: Similarities | None
    to_original: float | None


@dataclass(frozen=True, slots=True)
class VectorSpace:
    """The results on the vectors.

    Attributes:
        dim: their dimension.
        anisotropy: of papers (T+A), titles (T), and papers standardised.
        similarities: of different papers (T+A), and of different titles (T).
        standardised: Tasks I and II by standardised vectors, by form and task.
        between: the mean cosine between the same paper's texts in each two sets: T+A, T, and the classes; (sets, sets). NaN if no paper has
            both.
        vectors: of papers, then titles, (2 n, dim).
    """

    dim: int
    anisotropy: Mapping[str, Anisotropy]
    similarities: Mapping[str, Similarities]
    standardised: Mapping[str, Mapping[str, Retrieval]]
    between: Scores
    vectors: Vectors


@dataclass(frozen=True, slots=True)
class Study(AsJson):
    """The result of `robustness`.

    Attributes:
        source: the corpus or the index.
        encoder: its name; None without one.
        papers: the number of studied papers, all with title and abstract, of `available` ones.
        seed: the random seed.
        tasks: Tasks I and II, by mode and task.
        classes: the classes with neighbours.
        space: None without an encoder.
    """

    source: str
    encoder: str | None
    papers: int
    available: int
    seed: int
    tasks: Mapping[Mode, Mapping[str, Retrieval]]
    classes: Sequence[ClassResult]
    space: VectorSpace | None

    @property
    def modes(self) -> list[Mode]:
        """The search modes."""
        return list(self.tasks)

    def category(self, category: Category, mode: Mode) -> NeighbourShares | None:
        """The means over a category's classes; None if none of them has a neighbour."""
        rows = [asdict(result.found[mode]) for result in self.classes if result.category == category]
        return NeighbourShares(**{name: float(np.mean([row[name] for row in rows])) for name in rows[0]}) if rows else None

    def is_optimal(self, category: Category, mode: Mode) -> bool | None:
        """Whether a category is represented optimally, by Table 5's thresholds for AOP-20; None if it has no neighbour."""
        found = self.category(category, mode)
        low, high = OPTIMAL[category]
        return None if found is None else low < found.aop20 <= high if high == 1 else low <= found.aop20 < high

    def to_dict(self) -> dict[str, Any]:
        """All figures as plain values; `between` is null without an encoder, and where no paper has both texts."""
        results = asdict(replace(self, space=None)) | {"schema": 1}
        results["categories"] = {
            category: {
                mode: asdict(found) | {"optimal": self.is_optimal(category, mode)}
                for mode in self.modes
                if (found := self.category(category, mode)) is not None
            }
            for category in CATEGORIES
        }
        if self.space is not None:
            space = self.space
            results["space"] = asdict(replace(space, between=np.empty(0), vectors=np.empty(0, np.float32)))
            del results["space"]["vectors"]
            results["space"]["between"] = {
                "sets": self.sets,
                "cosines": [[None if np.isnan(value) else value for value in row] for row in space.between.tolist()],
            }
        return results

    @property
    def sets(self) -> list[str]:
        """The sets of texts, in the order of `VectorSpace.between`."""
        return [PAPERS, TITLES, *(result.code for result in self.classes)]


@checked
def robustness(
    source: Sources | Corpus | AnyIndex,
    *,
    encoder: AnyEncoder | None = DEFAULT_ENCODER,
    adapter: str | None = None,
    pooling: PoolingName | None = None,
    template: str | None = None,
    limit: int = LIMIT,
    seed: int = 0,
    precision: Precision = "auto",
    device: Device = "auto",
    progress: Progress | bool = True,
) -> Study:
    """Study whether dense, BM25 and hybrid search recognise a paper by its title, and after 32 kinds of changes to its text.

    Nothing is kept; each mode searches indexes in a temporary folder.

    Args:
        source: a corpus; or an index, open or by its folder, whose papers, encoder, and settings of BM25 and hybrid search are used.
        encoder: the encoder of a corpus's papers, as in `BuildSettings`; an index has its own.
        adapter: the encoder's adapter, expert or instruction for papers.
        pooling, template: the encoder's pooling and its text of a paper, see `load_encoder`.
        limit: the most papers to study, drawn from all with a title and an abstract.
        seed: the random seed: equal seeds give equal texts.
        precision, device: as in `BuildSettings`, for the encoder of a corpus.
        progress: a listener for progress; by default a bar on a terminal or in a notebook, False for none.

    Raises:
        InvalidRequest: too few papers have a title and an abstract, or the encoder reads no texts.
        NotFound: as `open_corpus` and `load_encoder`.
        MissingExtra: TextBlob, whose tagger finds parts of speech, is not installed.

    >>> study = sr.robustness(index, limit=500)
    >>> print(study.to_json())
    """
    if limit < FEWEST:
        raise InvalidRequest(f"{limit:,} papers are too few to study; at least {FEWEST} are needed")
    check_tagger()
    with shown(progress) as listener, ExitStack() as opening:
        library = _library(source, opening)
        if library is not None:
            name, batches = str(library.path), (texts_of(table) for table in library.snapshot.tables(["id", "title", "abstract"]))
            reader = library.reader.query_encoder.encoder if library.snapshot.encoder is not None else None
            fusion = library.snapshot.fusion
            settings = BuildSettings(metric=library.snapshot.metric, lexical=library.snapshot.manifest.bm25)
            options = SearchOptions(fusion=fusion.method, alpha=fusion.alpha if fusion.method == "convex" else None)
            modes = [mode for mode in MODES if mode in library.modes]
        else:
            corpus = source if isinstance(source, Corpus) else open_corpus(cast(Sources, source))
            name, batches = ", ".join(corpus.sources) or corpus.name, (texts_of(table) for table in accepted(corpus))
            asked = BuildSettings(
                encoder, adapter=adapter, pooling=pooling, template=template, precision=precision, device=device, late=False
            )
            reader = BuildComponents.of(asked).encoder
            settings, options = BuildSettings(metric="cosine"), SearchOptions()
            modes = [mode for mode in MODES if reader is not None or mode == "bm25"]
        if reader is not None and not reads_texts(reader):
            raise InvalidRequest(f"{reader.name} has vectors from elsewhere, and changed texts need new ones; name an encoder")
        papers, available = _drawn((paper for batch in batches for paper in batch), limit, seed)
        if len(papers) < FEWEST:
            raise InvalidRequest(f"{name} has {len(papers)} papers with a title and an abstract; at least {FEWEST} are needed")
        with tempfile.TemporaryDirectory(prefix="sciretrieve-", ignore_cleanup_errors=True) as folder:
            work = _Work(papers, seed, reader, settings, options, modes, Path(folder), listener)
            return Study(name, reader.name if reader else None, len(papers), available, seed, work.tasks(), work.classes(), work.space())


def _library(source: Any, opening: ExitStack) -> Index | None:
    """The source as an open index; None for a corpus."""
    return opening.enter_context(opened(source)) if isinstance(source, Index) or is_folder_of_index(source) else None


def _drawn(papers: Iterator[Paper], limit: int, seed: int) -> tuple[list[Paper], int]:
    """A random sample of the papers with title and abstract, in order, and the number of all (Vitter 1985, algorithm R)."""
    chance = random.Random(seed)
    sample: list[tuple[int, Paper]] = []
    count = 0
    for paper in papers:
        if not (paper.title.strip() and paper.abstract.strip()):
            continue
        if len(sample) < limit:
            sample.append((count, paper))
        elif (place := chance.randrange(count + 1)) < limit:
            sample[place] = (count, paper)
        count += 1
    return [paper for _, paper in sorted(sample, key=lambda numbered: numbered[0])], count


def labelled(label: str, papers: Mapping[int, Paper]) -> list[Paper]:
    """Papers under ids with a label and their places among the studied papers; places order ties."""
    return [replace(paper, id=f"{label} {place:09d}") for place, paper in papers.items()]


class TextVectors:
    """The vectors of all texts, in a file."""

    def __init__(self, encoder: Encoder, texts: Texts, folder: Path, progress: Progress) -> None:
        """Encode the texts, as papers of a corpus."""
        self.path = folder / "vectors.npy"
        encoder.expect(len(texts))
        progress.start(len(texts), unit="texts")
        matrix = np.empty((len(texts), encoder.dim), np.float32)
        for start in range(0, len(texts), encoder.window):
            window = texts[start : start + encoder.window]
            matrix[start : start + len(window)] = encoder.encode(encoder.tokenise(window), progress.advance)
        write_vectors(self.path, [matrix], matrix.shape)
        write_lines(self.path.with_suffix(IDS), (text.id for text in texts))
        self._rows = {text.id: row for row, text in enumerate(texts)}
        self._matrix = matrix

    def of(self, texts: Texts) -> Vectors:
        """The vectors of these texts, (n, dim)."""
        return self._matrix[[self._rows[text.id] for text in texts]]


class _Work:
    """The shared state of a study: all texts, their vectors, and candidate sets of them."""

    def __init__(
        self,
        papers: Sequence[Paper],
        seed: int,
        encoder: Encoder | None,
        settings: BuildSettings,
        options: SearchOptions,
        modes: Sequence[Mode],
        folder: Path,
        progress: Progress,
    ) -> None:
        self.modes, self.seed, self.progress = modes, seed, progress
        self.settings, self.options, self.folder = settings, options, folder
        made = neighbours(papers, seed)
        self.places = {code: np.array(list(of_class), np.int64) for code, of_class in made.items()}
        self.papers = labelled(PAPERS, dict(enumerate(papers)))
        self.titles = labelled(TITLES, {place: replace(paper, abstract="") for place, paper in enumerate(papers)})
        self.neighbours = {code: labelled(code, of_class) for code, of_class in made.items() if of_class}
        texts = [*self.papers, *self.titles, *(text for of_class in self.neighbours.values() for text in of_class)]
        self.vectors = TextVectors(encoder, texts, folder, progress) if encoder is not None else None
        progress.start(len(self.neighbours) + 2, unit="sets of texts")

    def index(self, texts: Texts) -> Index:
        """An index of these texts, in the given order."""
        digest = hashlib.sha256("\n".join(text.id for text in texts).encode()).hexdigest()
        encoder = f"vectors:{self.vectors.path}" if self.vectors is not None else None
        settings = replace(self.settings, encoder=encoder, dense="none" if encoder is None else "flat")
        return build(PaperCorpus.of("texts", digest, lambda: iter(texts)), self.folder / digest[:16], settings, progress=False)

    def answers(self, index: Index, queries: Texts, k: int, mode: Mode) -> Rows:
        """The rows of the first k texts for each query, (queries, k), best first; -1 for missing answers."""
        rows = np.full((len(queries), k), -1, np.int64)
        query_list = [Query(text.id, paper=text) for text in queries]
        for place, ranking in enumerate(index.search(query_list, k, self.options, mode=mode, group=False)):
            rows[place, : len(ranking)] = ranking.rows
        return rows

    def tasks(self) -> dict[Mode, dict[str, Retrieval]]:
        """Tasks I and II (§5)."""
        count = len(self.papers)
        alone, with_titles = self.index(self.papers), self.index([*self.papers, *self.titles])
        results: dict[Mode, dict[str, Retrieval]] = {}
        for mode in self.modes:
            first = _ranks(self.answers(alone, self.titles, count, mode))
            answers = self.answers(with_titles, self.titles, 2 * count, mode)
            own_title = np.arange(count, 2 * count)[:, None]
            second = _ranks(np.array([[row for row in rows if row != title] for rows, (title,) in zip(answers, own_title, strict=True)]))
            results[mode] = {"Task I": Retrieval.of(first), "Task II": Retrieval.of(second)}
        self.progress.advance(2)
        return results

    def classes(self) -> list[ClassResult]:
        """The success of the neighbours of each class (§6.2, §6.3), and their similarity (§6.1)."""
        papers = self.index(self.papers)
        results = []
        for cls in CLASSES:
            texts = self.neighbours.get(cls.code)
            if texts is None:
                continue
            candidates = self.index([*texts, *self.papers])
            found = {mode: self._found(papers, candidates, cls.code, mode) for mode in self.modes}
            alike = to_original = None
            if self.vectors is not None:
                vectors = self.vectors.of(texts)
                alike = similarities(vectors) if len(texts) > 1 else None
                to_original = mean_cosine(vectors, self.vectors.of([self.papers[place] for place in self.places[cls.code]]))
            results.append(ClassResult(cls.code, cls.category, len(texts), found, alike, to_original))
            self.progress.advance(1)
        return results

    def _found(self, papers: Index, candidates: Index, code: str, mode: Mode) -> NeighbourShares:
        texts, places = self.neighbours[code], self.places[code]
        own = self.answers(papers, texts, 10, mode) == places[:, None]
        some = np.array(sorted(random.Random(f"{self.seed} {code}").sample(range(len(texts)), min(len(texts), OVERLAP_QUERIES))))
        nearest = self.answers(candidates, [texts[number] for number in some], 20, mode)
        originals = self.answers(candidates, [self.papers[place] for place in places[some]], 20, mode)
        return NeighbourShares(
            float(own[:, 0].mean()), float(own.any(axis=1).mean()), overlap(nearest[:, :10], originals[:, :10]), overlap(nearest, originals)
        )

    def space(self) -> VectorSpace | None:
        """The vectors of papers, titles and neighbours."""
        if self.vectors is None:
            return None
        papers, titles = self.vectors.of(self.papers), self.vectors.of(self.titles)
        both = np.concatenate([papers, titles])
        spaces = {PAPERS: papers, TITLES: titles, f"{PAPERS}, standardised": standardised(papers, papers)}
        return VectorSpace(
            papers.shape[1],
            {name: anisotropy(vectors, self.seed) for name, vectors in spaces.items()},
            {PAPERS: similarities(papers), TITLES: similarities(titles)},
            _standardised_tasks(papers, titles),
            self._between(),
            both,
        )

    def _between(self) -> Scores:
        everywhere = np.arange(len(self.papers))
        places = [everywhere, everywhere, *(self.places[code] for code in self.neighbours)]
        sets: list[Texts] = [self.papers, self.titles, *self.neighbours.values()]
        cosines = np.full((len(sets), len(sets)), np.nan)
        assert self.vectors is not None
        for one in range(len(sets)):
            for two in range(one, len(sets)):
                _, first, second = np.intersect1d(places[one], places[two], assume_unique=True, return_indices=True)
                if len(first):
                    texts = [sets[one][row] for row in first], [sets[two][row] for row in second]
                    cosines[one, two] = cosines[two, one] = mean_cosine(*map(self.vectors.of, texts))
        return cosines


def _ranks(answers: Rows) -> Rows:
    """The rank of each query's paper, whose row is the query's number; 0 if it is not answered. `answers` has rows, (queries, k)."""
    is_own = answers == np.arange(len(answers))[:, None]
    return np.where(is_own.any(axis=1), is_own.argmax(axis=1) + 1, 0)


def _standardised_tasks(papers: Vectors, titles: Vectors) -> dict[str, dict[str, Retrieval]]:
    """Tasks I and II by cosines of unchanged vectors, and of vectors standardised by the statistics of others; by form and task."""
    results: dict[str, dict[str, Retrieval]] = {}
    own, both = np.arange(len(papers)), np.concatenate([papers, titles])
    for task, candidates, left_out in (("Task I", papers, None), ("Task II", both, own + len(papers))):
        forms = {
            "as they are": None,
            "by the candidates": (candidates, candidates),
            "each set by itself": (papers, titles),
            "by both together": (both, both),
        }
        for form, like in forms.items():
            new = (papers, titles) if like is None else (standardised(papers, like[0]), standardised(titles, like[1]))
            ranks = own_ranks(new[1], new[0] if left_out is None else np.concatenate(new), own, left_out)
            results.setdefault(form, {})[task] = Retrieval.of(ranks)
    return results
