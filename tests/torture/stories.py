"""Commands that change a small index, each with what led to it, recorded; and what there is to see of an index on disk.

Indexes are encoded by `tests.toy_encoder`, and have shards of seven papers.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import sciretrieve as sr
from sciretrieve.base.errors import CorruptData, InvalidRequest, NotFound
from sciretrieve.lifecycle import add, add_full_texts, delete, merge, refit, reindex, restore, sync
from sciretrieve.matching.fusion import Fusion
from sciretrieve.matching.lexical import Bm25Parameters
from sciretrieve.storage.fulltext import FULLTEXT
from sciretrieve.storage.manifest import generation_file, generations, kept_generations, read_manifest
from sciretrieve.storage.repairing import repair
from sciretrieve.storage.verifying import Fault, verify
from tests.listeners import Stop, StopAfter
from tests.made_up import made_up_papers, write_jsonl
from tests.torture.disk import LEFT_OUT, Named, Recording, recorded
from tests.toy_encoder import LetterEncoder

QUERY = sr.Query("", paper=sr.Paper("", "graph networks of a star", "vaccine dose, price risk"))


class Corpora:
    """Files of papers: `library` has eleven, in two shards and four windows, and a row that is none."""

    def __init__(self, folder: Path) -> None:
        papers = [{**paper, "text": body(number) if number % 3 else None} for number, paper in enumerate(made_up_papers(11, seed=3))]
        changed = [{**paper, "abstract": f"{paper['abstract']} again"} for paper in papers[2:9:3]]
        others = [{**paper, "id": f"other {paper['id']}"} for paper in made_up_papers(16, seed=4)]
        no_paper = {"id": "no text"}
        self.library = write_jsonl(folder / "library.jsonl", [*papers, no_paper])
        self.others = write_jsonl(folder / "others.jsonl", others[:9])
        self.more = write_jsonl(folder / "more.jsonl", [*others[9:], *changed, no_paper, no_paper])
        self.later_library = write_jsonl(folder / "later.jsonl", [*papers[4:], *changed[:1], *others[:5]])


def body(number: int) -> str:
    """A full text of two passages."""
    heads = ("1 Introduction", "2 Methods")
    return "\n\n".join(f"{head}\n\nPaper {number} tells in its {head[2:].lower()} of networks and of a star." for head in heads)


Step = Callable[..., object]
"""A command: is given the index, the corpora and, if it takes these, `progress` and `resume`."""


def interrupted(step: Step, papers: int) -> Step:
    """A command that is stopped after so many papers."""

    def run(index: Path, corpora: Corpora) -> None:
        with pytest.raises(Stop):
            step(index, corpora, progress=StopAfter(papers))

    return run


def build(dense: str | None = "flat") -> Step:
    """Builds an index of the library, without vectors if `dense` is None."""
    settings: dict[str, Any] = {"encoder": "letters", "shard_size": 7, "dense": dense} if dense else {"encoder": None, "shard_size": 7}
    return lambda index, corpora, **options: sr.build(corpora.library, index, **settings, **options).close()


def build_others(index: Path, corpora: Corpora, **options: Any) -> None:
    sr.build(corpora.others, index, encoder="letters", shard_size=7, dense="flat", overwrite=True, **options).close()


def build_over(index: Path, corpora: Corpora, **options: Any) -> None:
    sr.build(corpora.library, index, encoder="letters", shard_size=7, dense="flat", overwrite=True, **options).close()


def add_more(index: Path, corpora: Corpora, **options: Any) -> None:
    add(corpora.more, index, encoder=LetterEncoder(), **options)


def add_others(index: Path, corpora: Corpora, **options: Any) -> None:
    add(corpora.others, index, encoder=LetterEncoder(), **options)


def add_later(index: Path, corpora: Corpora, **options: Any) -> None:
    add(corpora.later_library, index, encoder=LetterEncoder(), **options)


def sync_later(index: Path, corpora: Corpora, **options: Any) -> None:
    sync(corpora.later_library, index, encoder=LetterEncoder(), allow_deletions=True, **options)


def read_texts(index: Path, corpora: Corpora, **options: Any) -> None:
    """Read the full texts of the library's papers, if there are any."""
    with suppress(NotFound, InvalidRequest):
        add_full_texts("text", index, encoder=LetterEncoder(), **options)


def delete_papers(*ids: str) -> Step:
    return lambda index, corpora: delete(index, ids)


def delete_if_there(index: Path, corpora: Corpora) -> None:
    with suppress(NotFound):
        delete(index, "p0010")


def merge_shards(index: Path, corpora: Corpora, **options: Any) -> None:
    merge(index, **options)


def reindex_dense(index: Path, corpora: Corpora) -> None:
    reindex(index, dense="HNSW4,SQ8")


def reindex_late(index: Path, corpora: Corpora, **options: Any) -> None:
    reindex(index, late=True, encoder=LetterEncoder(), **options)


def tune(index: Path, corpora: Corpora) -> None:
    refit(index, Bm25Parameters(k1=0.9), Fusion(alpha=0.25))


def restore_first(index: Path, corpora: Corpora) -> None:
    """Make the index what it was in its first generation, if that is there and is another."""
    manifest = read_manifest(index)
    if 1 in kept_generations(index, manifest) and manifest.generation > 1:
        restore(index, 1)


def damage(index: Path, corpora: Corpora) -> None:
    """Change a byte of the first shard's postings and of the second shard's vectors."""
    for name in ("000000/postings.arrow", "000001/vectors.npy"):
        path = index / "shards" / name
        contents = bytearray(path.read_bytes())
        contents[-100] ^= 1
        with path.open("r+b") as file:
            file.write(contents)
            file.flush()
            os.fsync(file.fileno())


def repair_words(index: Path, corpora: Corpora) -> None:
    """Change a byte of the postings that come first, and repair them."""
    path = index / "shards" / read_manifest(index).shards[0].name / "postings.arrow"
    contents = bytearray(path.read_bytes())
    contents[-100] ^= 1
    path.write_bytes(contents)
    repair_all(index, corpora)


def repair_all(index: Path, corpora: Corpora, **options: Any) -> None:
    repair(index, encoder=LetterEncoder(), **options)


STORIES: dict[str, tuple[Step, ...]] = {
    "build": (build(),),
    "build, HNSW": (build("hnsw"),),
    "build, words alone": (build(None),),
    "build over another": (build(), delete_papers("p0001", "p0005"), build_others),
    "build over another, tuned meanwhile": (build(), interrupted(build_others, 17), tune, build_others),
    "add": (build(), add_more),
    "add after an interrupted sync": (build(), interrupted(sync_later, 15), add_more),
    "sync": (build("hnsw"), sync_later),
    "sync, deleted from meanwhile": (build(), interrupted(sync_later, 15), delete_papers("p0005", "p0006"), sync_later),
    "delete": (build(), add_more, delete_papers("p0001", "p0005", "p0009")),
    "full texts": (build(), read_texts),
    "full texts, merged": (build(), read_texts, add_more, delete_papers("p0001", "p0005", "p0009"), merge_shards),
    "merge": (build(), add_more, delete_papers("p0001", "p0005", "p0009"), merge_shards),
    "merge, HNSW": (build("hnsw"), sync_later, delete_papers("p0005"), merge_shards),
    "merge after another was interrupted": (
        build(),
        add_more,
        delete_papers("p0001", "other p0010"),
        interrupted(merge_shards, 8),
        delete_papers("p0005", "p0009"),
        merge_shards,
    ),
    "reindex": (build(), reindex_dense),
    "tune": (build(), tune),
    "restore": (build(), add_more, delete_papers("p0001", "other p0010"), restore_first),
    "repair": (build(), delete_papers("p0001", "p0009"), damage, repair_all),
}
"""Commands, each after those that it needs: the last one is the one that crashes."""


Texts = dict[str, tuple[str, str]]
"""Titles and abstracts of papers, by id."""
Log = dict[int, Texts]
"""What the papers of generations are."""


@dataclass(frozen=True)
class Command:
    """A command that may follow any other.

    Attributes:
        step: it; and `other`, where it is to follow another that was killed.
        texts: what the papers of an index that has the given ones are after it; it is also given the corpora, and the generations that can
            be restored.
        before: what it is done to.
    """

    step: Step
    texts: Callable[[Texts, Mapping[str, Texts], Log], Texts]
    before: tuple[Step, ...] = (build(), add_more, delete_papers("p0001"))
    other: Step | None = None


HNSW: tuple[Step, ...] = (build("hnsw"), *Command.before[1:])
"""What is usually there before, with FAISS indexes beside its vectors."""
COMMANDS: dict[str, Command] = {
    "build": Command(build_over, lambda _, corpora, __: corpora["library"], before=()),
    "build over": Command(build_others, lambda _, corpora, __: corpora["others"]),
    "add": Command(add_more, lambda texts, corpora, _: {**texts, **corpora["more"]}, before=(build(), delete_papers("p0001"))),
    "add others": Command(add_others, lambda texts, corpora, _: {**texts, **corpora["others"]}),
    "sync": Command(sync_later, lambda _, corpora, __: corpora["later_library"], before=HNSW),
    "delete": Command(delete_if_there, lambda texts, _, __: {id: text for id, text in texts.items() if id != "p0010"}, before=HNSW),
    "full texts": Command(read_texts, lambda texts, _, __: texts),
    "merge": Command(merge_shards, lambda texts, _, __: texts, before=HNSW),
    "restore": Command(restore_first, lambda texts, _, log: log.get(1, texts)),
    "reindex": Command(reindex_dense, lambda texts, _, __: texts),
    "reindex late": Command(reindex_late, lambda texts, _, __: texts),
    "repair": Command(
        repair_all, lambda texts, _, __: texts, before=(build(), add_more, delete_papers("p0001"), damage), other=repair_words
    ),
    "tune": Command(tune, lambda texts, _, __: texts),
}


@dataclass(frozen=True)
class Seen:
    """What there is to see of an index: its answers and scores in each mode, or that it is damaged; None if there is no index."""

    answers: dict[str, Any] | None
    faults: frozenset[Fault]


def seen(index: Path) -> Seen:
    """Open an index, search it, and verify it."""
    try:
        opened = sr.open(index, encoder=LetterEncoder())
    except NotFound:
        return Seen(None, frozenset())
    answers: dict[str, Any] = {}
    with opened:
        for mode in opened.modes:
            try:
                ranking = opened.search(QUERY, 100, mode=mode, group=False).rankings[0]
                answers[mode] = dict(zip(ranking.ids, ranking.scores.tolist(), strict=True))
            except CorruptData:
                answers[mode] = "damaged"
        answers["papers"] = opened.papers(opened.snapshot.live_ids())
        answers["passages"] = {paper.id: [passage.text for passage in opened.full_text(paper.id)] for paper in answers["papers"]}
    return Seen(answers, frozenset(verify(index, encoder=LetterEncoder()).faults))


def files_of(index: Path) -> dict[str, bytes]:
    """The bytes of all that the current generation names, and of the rejected rows: shards by their places, files without generations."""
    manifest = read_manifest(index)
    paths: dict[str, Path] = {}
    for place, facts in enumerate(manifest.shards):
        paths |= {f"{place}/{re.sub('[0-9]+', 'N', name)}": index / "shards" / facts.name / name for name in facts.files}
        if manifest.lexical is not None:
            paths[f"{place}/frequencies"] = index / manifest.lexical["folder"] / f"{facts.name}.npy"
    if manifest.encoder is not None:
        paths["golden"] = index / manifest.encoder["golden"]["file"]
    if manifest.rejected:
        paths["rejected"] = index / "rejected.jsonl"
    files = {name: path.read_bytes() for name, path in paths.items()}
    if manifest.fulltext is not None:
        assert read_manifest(index / FULLTEXT).generation == manifest.fulltext["generation"]
        files |= {f"{FULLTEXT}/{name}": contents for name, contents in files_of(index / FULLTEXT).items()}
    return files


def strays(index: Path) -> set[str]:
    """What is in an index that nothing accounts for, and what is missing: files, and folders, which end with a slash."""
    manifests = [read_manifest(index, number) for number in generations(index)]
    names = {"manifest.json"} | {f"generations/{generation_file(index, manifest.generation).name}" for manifest in manifests}
    for manifest in manifests:
        names |= {name for name, _ in manifest.files()} | {f"shards/{facts.name}/shard.json" for facts in manifest.shards}
    if read_manifest(index).rejected:
        names.add("rejected.jsonl")
    names |= {f"{folder}/" for name in names for folder in map(str, Path(name).parents) if folder != "."}
    there = {str(path.relative_to(index)) + "/" * path.is_dir() for path in index.rglob("*")}
    of_passages: set[str] = set()
    if any(manifest.fulltext for manifest in manifests):
        there = {name for name in there if not name.startswith(f"{FULLTEXT}/")}
        of_passages = {f"{FULLTEXT}/{name}" for name in strays(index / FULLTEXT)}
    return ((there - {LEFT_OUT}) ^ names) | of_passages


@dataclass(frozen=True)
class Story:
    """What came of the commands of one of STORIES when nothing crashed.

    Attributes:
        name: of STORIES.
        disk: the folder where it was told, as it is after it.
        recording: all that was done.
        first: how many operations were done when the last command began.
        commits: after how many operations the last command had made a generation current.
        states: what was to be seen before it, and after each of its commits.
        files: the index's files after it.
    """

    name: str
    disk: Path
    recording: Recording
    first: int
    commits: list[int]
    states: list[Seen]
    files: dict[str, bytes]

    @property
    def last(self) -> int:
        """How many operations were done in all."""
        return len(self.recording.operations)

    def run(self, index: Path, corpora: Corpora, **options: Any) -> None:
        """Run the last command again. A paper that was deleted cannot be deleted again."""
        try:
            STORIES[self.name][-1](index, corpora, **options)
        except NotFound:
            assert self.name == "delete"
            assert seen(index) == self.states[-1]


def told(name: str, folder: Path, corpora: Corpora) -> Story:
    """Run the commands of a story in a folder, to their end."""
    disk = folder / "disk"
    disk.mkdir()
    *earlier_steps, last_step = STORIES[name]
    with recorded(disk) as recording:
        for step in earlier_steps:
            step(disk / "index", corpora)
    first, states = len(recording.operations), [seen(disk / "index")]
    with recorded(disk, recording) as recording:
        last_step(disk / "index", corpora)
    commits = commits_of(recording, first)
    for place in commits[:-1]:
        recording.crashed("killed", place).tree.put(folder / str(place))
        states.append(seen(folder / str(place) / "index"))
    return Story(name, disk, recording, first, commits, [*states, seen(disk / "index")], files_of(disk / "index"))


def commits_of(recording: Recording, first: int = 0) -> list[int]:
    """After how many operations a manifest had just become the current one."""
    places = enumerate(recording.operations[first:], first + 1)
    return [place for place, operation in places if isinstance(operation, Named) and operation.name == "manifest.json"]
