"""Fits an encoder to a library: trains it on an index's own papers, and judges it on held-out ones.

A held-out paper is in no training set: neither as a query, nor as an answer, nor in a ranking. Papers with the same title are held out
together.
"""

from __future__ import annotations

import hashlib
import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Unpack

import numpy as np

from ..base.arguments import checked
from ..base.choices import command_line
from ..base.errors import InvalidRequest, SciretrieveError
from ..base.types import Mask, Paper, Query, Rows
from ..encoders.resolving import resolve
from ..encoders.specs import EncoderRequest
from ..evaluation.builders.folders import new_folder
from ..files.writing import folder_entries, make_folder, read_json, remove, write_json
from ..options import BuildSettings, CiteSettings, TrainingOptions
from ..options.keywords import TrainingKeywords
from ..papers.corpora import open_corpus
from ..papers.corpora.corpus import PaperCorpus
from ..protocols import Progress
from ..query.index import Index
from ..query.opening import AnyIndex, open_index
from .building import build_set
from .forms import Doc, Splits, write_facts, write_papers, write_queries, write_table
from .held_out import folded
from .presets import plan_of
from .results import Trained
from .train import LIBRARY, check_target, learn
from .training_set import read_training_set

STEPS, MOST_EPOCHS, BATCH = 120, 20, 80
"""Defaults, for minutes of training of a small encoder on a few cores. Each of five sets gives 16 examples a step, and few papers appear
several times.
"""
SHARE, MOST_CHOOSING, MOST_JUDGING = 0.1, 300, 1000
"""The share of the papers with title and abstract that is held out to choose weights by, and again to judge them by; and the largest
numbers of each.
"""
FEWEST = 100
"""The fewest papers with title and abstract for which held-out papers tell anything."""
MOST = 4000
"""The most pairs of a kind, and papers that they are made from: two cores learn from no more in some minutes."""
COCITED = 2
"""The fewest papers that cite two papers together."""
MOST_RANKINGS, DEPTH = 1000, 100
PLACES = (0, 3, 10, 31)
"""Places of a teaching answer whose papers are used: adjacent ones would be much the same."""
FEWEST_PAIRS = 5
"""The fewest pairs of a set to measure on."""
OWN = "the index itself"
FACTS = "index.json"


@checked
def train_for_index(
    index: AnyIndex,
    to: str | Path,
    options: TrainingOptions | None = None,
    *,
    overwrite: bool = False,
    tensorboard: bool = False,
    progress: Progress | bool = True,
    **changes: Unpack[TrainingKeywords],
) -> Trained:
    """Train an index's own encoder for its papers, and write it into the folder `to`.

    The encoder learns from titles and sentences, as queries for their papers without them; from citations and co-citations; and from the
    rankings of the index's hybrid search. A tenth of the papers is held out to choose weights by, and another tenth to measure the gain. An
    interrupted training goes on, as with `train`, with the papers that the index had at the start.

    Args:
        index: the index, which does not change.
        to, options, overwrite, tensorboard, progress: as for `train`. The base is the index's encoder; `base` names it if it has moved.

    Raises:
        InvalidRequest: the index has no vectors or too few papers, its encoder cannot be trained, or held-out papers show no gain.
        EncoderMismatch: the encoder has changed since the index was built.
        Others: as `train`, and `Index`.
    """
    options = replace(options or TrainingOptions(), **changes)
    plan = plan_of(options)
    check_target(to, overwrite=overwrite)
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        raise InvalidRequest("an index's sets are made by one process; start it without torchrun")
    if options.batch is None:
        plan = replace(plan, batch=BATCH)
    if options.epochs is None and options.steps is None:
        plan = replace(plan, epochs=MOST_EPOCHS, steps=STEPS)
    with open_index(index, encoder=options.base) as opened:
        plan = replace(plan, base=_base_of(opened, options.base))

        def make(folder: Path, progress: Progress) -> Splits:
            return splits_of(opened, plan.seed, folder / LIBRARY, progress)

        return learn(make, plan, options, to, overwrite=overwrite, tensorboard=tensorboard, progress=progress)


def _base_of(index: Index, named: str | None) -> str:
    """The name of the encoder that built an index. Raises as `train_for_index`."""
    if index.snapshot.encoder is None:
        raise InvalidRequest(f"{index.path} has no vectors, and so no encoder to train; build it with an encoder")
    encoder = index.reader.query_encoder.encoder
    identity = encoder.identity()
    request_facts = identity.get("asked", {})
    name = named or request_facts.get("encoder", encoder.name)
    is_plain = identity["layout"] in ("transformers", "packed") and request_facts == asdict(EncoderRequest(request_facts["encoder"]))
    spec = resolve(EncoderRequest(name)) if is_plain else None
    if spec is None or spec.tasks or spec.codes:
        raise InvalidRequest(
            f"{index.path} was built with {encoder.name}, which cannot be trained for it: only a single model can, without adapters "
            "or changes of its reading, such as granite or minilm"
        )
    return str(name)


def next_command(index: str | Path, encoder: str | Path) -> str:
    """The command that rebuilds an index with another encoder, from its corpus, or from its own papers if they have changed since."""
    target, name = shlex.quote(str(index)), shlex.quote(str(encoder))
    with open_index(index) as opened:
        manifest = opened.snapshot.manifest
        files = [file for source in manifest.sources for file in source.corpus]
        settings = manifest.build.get("settings", {})
    usual = asdict(BuildSettings())
    chosen = {option: settings.get(option, usual[option]) for option in ("dense", "metric", "precision", "recall")}
    changed = {option: value for option, value in chosen.items() if value != usual[option]}
    rest = " ".join(filter(None, (f"--encoder {name} -o {target}", command_line(BuildSettings, changed), "--overwrite")))
    try:
        is_whole = bool(files) and not manifest.is_limited and open_corpus(files).fingerprint() == manifest.whole
    except (SciretrieveError, OSError):
        is_whole = False
    if is_whole:
        return f"sciretrieve index {shlex.join(files)} {rest}"
    papers = shlex.quote(f"{Path(index).name}.parquet")
    return f"sciretrieve export -i {target} -o {papers} && sciretrieve index {papers} {rest}"


@dataclass(frozen=True)
class Division:
    """The rows of an index's papers with title and abstract, in three parts, each in a random order set by titles and a seed."""

    learning: Rows
    choosing: Rows
    judging: Rows


def splits_of(index: Index, seed: int, folder: Path, progress: Progress) -> Splits:
    """The sets from an index to train and measure on, in `folder`; sets that are there already are kept.

    Raises:
        InvalidRequest: the index has too few papers; or the folder has sets of another index or seed.
    """
    facts = {"index": str(index.path.resolve()), "seed": seed}
    if not folder.exists():
        with new_folder(folder) as new:
            _make(index, seed, new, progress)
            write_json(new / FACTS, facts | {"generation": index.snapshot.manifest.generation})
    record = read_json(folder / FACTS)
    if {name: record.get(name) for name in facts} != facts:
        raise InvalidRequest(
            f"{folder.parent} has a training for {record.get('index')} with the seed {record.get('seed')}; begin anew with `overwrite`"
        )
    sets = {path.name: (path, read_training_set(path)) for path in folder_entries(folder / "learning")}
    choosing, judging = ([read_training_set(path) for path in folder_entries(folder / part)] for part in ("choosing", "judging"))
    return Splits(sets, choosing, judging, ("--from-index", index.path.name))


def divided(index: Index, seed: int) -> Division:
    """The papers of an index, divided into those to train on and those held out. Raises InvalidRequest if there are too few."""
    keys: list[int] = []
    rows: list[int] = []
    place = 0
    live = index.snapshot.scope.places
    for table in index.snapshot.tables(["id", "title", "abstract"]):
        for id, title, abstract in zip(*(table[name].to_pylist() for name in ("id", "title", "abstract")), strict=True):
            if title.strip() and abstract.strip():
                words = folded(title) or id
                keys.append(int.from_bytes(hashlib.sha256(f"{seed} {words}".encode()).digest()[:8], "big") >> 1)
                rows.append(int(live[place]))
            place += 1
    if len(rows) < FEWEST:
        raise InvalidRequest(
            f"{index.path} has {len(rows):,} papers with a title and an abstract, too few to hold some out: it takes {FEWEST} at least"
        )
    all_keys, all_rows = np.array(keys, np.int64), np.array(rows, np.int64)
    order = np.lexsort((all_rows, all_keys))
    all_keys, all_rows = all_keys[order], all_rows[order]
    # papers with the same title have the same key, and so stay together
    first = min(int(SHARE * len(rows)), MOST_JUDGING)
    second = first + min(int(SHARE * len(rows)), MOST_CHOOSING)
    ends = [int(np.searchsorted(all_keys, all_keys[end - 1], side="right")) for end in (first, second)]
    judging, choosing, learning = np.split(all_rows, ends)
    return Division(learning, choosing, judging)


def _make(index: Index, seed: int, folder: Path, progress: Progress) -> None:
    division = divided(index, seed)
    progress.note(
        f"{index.path}: {len(division.learning):,} papers to learn from; {len(division.choosing):,} to choose by and "
        f"{len(division.judging):,} to judge by, which are held out"
    )
    for name in ("learning", "choosing", "judging"):
        rows: Rows = getattr(division, name)
        part = folder / name
        make_folder(part)
        _of_texts(index, rows[:MOST], seed, part, progress, is_measured=name != "learning")
        if index.snapshot.has_references:
            _of_citations(index, rows, seed, part, is_measured=name != "learning")
        if not folder_entries(part):
            raise InvalidRequest(f"the papers of {index.path} have no titles and sentences of their own, which tell them apart")
    if "hybrid" in index.modes:
        _of_rankings(index, division.learning, folder / "learning" / "rankings", progress)
    else:
        progress.note(f"{index.path} has no hybrid search to learn from")


def _of_texts(index: Index, rows: Rows, seed: int, folder: Path, progress: Progress, *, is_measured: bool) -> None:
    """Write sets with titles as queries for abstracts, and sentences as queries for their papers without them."""
    papers = [Paper(paper.id, paper.title, paper.abstract) for paper in index.snapshot.papers_at(rows)]
    corpus = PaperCorpus.of("the index", "", lambda: iter(papers))
    for recipe in ("titles", "sentences"):
        target = folder / recipe
        try:
            build_set("pairs", corpus, target, recipe, CiteSettings(seed=seed), progress=False)
        except InvalidRequest as error:  # for instance, if abstracts are one sentence long
            if not is_measured:
                progress.note(f"no pairs of {recipe}: {error}")
            continue
        if is_measured and len(read_training_set(target).triplets) < FEWEST_PAIRS:
            remove(target)


def _of_citations(index: Index, rows: Rows, seed: int, folder: Path, *, is_measured: bool) -> None:
    """Write a set of papers with the papers that they cite; for training, also one of the papers most often cited together."""
    graph = index.snapshot.citations.graph
    is_in: Mask = np.zeros(graph.size, bool)
    is_in[rows] = True
    cited = [(row, other) for row in rows.tolist() for other in graph.cites(row)[is_in[graph.cites(row)]].tolist()]
    order = np.random.default_rng(seed).permutation(len(cited))[:MOST]
    _write_pairs(index, folder / "citations", "citations", [cited[place] for place in np.sort(order).tolist()], is_measured=is_measured)
    if is_measured:
        return
    together = []
    for row in rows[:MOST].tolist():
        citing = graph.cited_by(row)
        lists = [graph.cites(other) for other in citing[is_in[citing]].tolist()]
        others, counts = np.unique(np.concatenate(lists), return_counts=True) if lists else (np.empty(0, np.int64),) * 2
        counts = np.where(is_in[others] & (others != row), counts, 0)
        if len(counts) and counts.max() >= COCITED:
            together.append((row, int(others[counts.argmax()])))
    _write_pairs(index, folder / "cocitations", "co-citations", together, is_measured=is_measured)


def _write_pairs(index: Index, target: Path, recipe: str, pairs: Sequence[tuple[int, int]], *, is_measured: bool) -> None:
    if len(pairs) < (FEWEST_PAIRS if is_measured else 1):
        return
    rows = sorted({row for pair in pairs for row in pair})
    ids = _write_papers(index, target, rows, {})
    write_table(target, "pairs", ((ids[row], ids[other], "", "") for row, other in pairs))
    write_facts(target, "pairs", {"recipe": recipe, "source": OWN, "papers": len(rows), "pairs": len(pairs), "without": []})


def _of_rankings(index: Index, rows: Rows, target: Path, progress: Progress) -> None:
    """Write a set of what the index's hybrid search answers to titles of training papers, without the papers themselves."""
    is_in: Mask = np.zeros(index.snapshot.scope.rows, bool)
    is_in[rows] = True
    asking = index.snapshot.papers_at(rows[:MOST_RANKINGS])
    queries = {f"{paper.id}#title": paper.title for paper in asking}
    progress.note(f"the hybrid search of {index.path} answers {len(queries):,} titles, to learn from")
    run = index.search([Query(id, title) for id, title in queries.items()], DEPTH, mode="hybrid", group=False)
    table: list[tuple[str, int, float]] = []
    for (id, own), ranking in zip(zip(queries, rows.tolist(), strict=False), run, strict=True):
        others = [place for place, row in enumerate(ranking.rows.tolist()) if is_in[row] and row != own]
        chosen = [others[place] for place in PLACES if place < len(others)]
        if len(chosen) > 1:
            table += [(id, int(ranking.rows[place]), float(ranking.scores[place])) for place in chosen]
    if not table:
        return
    query_ids = {id for id, _, _ in table}
    ranked = sorted({row for _, row, _ in table})
    ids = _write_papers(index, target, ranked, {id: text for id, text in queries.items() if id in query_ids})
    write_table(target, "rankings", ((id, ids[row], f"{score:.5f}") for id, row, score in table))
    facts = {"recipe": "hybrid search", "source": OWN, "papers": len(ranked), "queries": len(query_ids), "without": []}
    write_facts(target, "rankings", facts)


def _write_papers(index: Index, target: Path, rows: Sequence[int], queries: Mapping[str, str]) -> Mapping[int, str]:
    """Write the papers of rows, and the texts of queries, into a new folder. Returns the ids of the rows."""
    papers = index.snapshot.papers_at(np.array(rows, np.int64))
    make_folder(target)
    write_queries(target, queries)
    write_papers(target, [Doc(paper.id) for paper in papers], [(paper.id, paper.title, paper.abstract) for paper in papers])
    return {row: paper.id for row, paper in zip(rows, papers, strict=True)}
