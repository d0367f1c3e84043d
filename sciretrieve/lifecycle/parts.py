"""Building in parts: several machines independently build ranges of an index's papers, which are joined afterwards.

Each machine reads the whole corpus and divides it in the same way, but writes and fills only the shards of its own range, in
`parts/I-of-N`. The result is the index that one machine would build, except that small corpora get smaller shards, see
`matching.sharding.divided`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

from ..base.arguments import checked
from ..base.errors import InvalidRequest
from ..base.forms import AsJson
from ..encoders import compared
from ..files.writing import folder_entries, remove, rename, sync_file, write_lock
from ..matching.late import write_packing
from ..matching.sharding import Share
from ..options import BuildSettings, changed
from ..options.keywords import BuildKeywords
from ..papers.corpora import ColumnMap, Corpus, Rejected, Sources, open_corpus, read_rejections, warn_of
from ..papers.corpora.rejections import REJECTED
from ..progress import shown
from ..protocols import IndexPlace, Progress, Workers
from ..storage.finding import folder_of
from ..storage.manifest import MANIFEST, PARTS, read_manifest
from ..storage.pending import Pending
from .building import PLAN, Build, check_place, publish, shard_differences
from .ingest import first_rejected


@dataclass(frozen=True, slots=True)
class IndexPart(AsJson):
    """A part of an index.

    Attributes:
        path: its folder.
        papers: number of papers.
        shards: number of shards.
        first: position of its first paper in the corpus, counted from 1.
        of: number of papers in all parts.
        rejected, rejections: number of rejected rows of the whole corpus, and the first 100 of them.
    """

    path: Path
    papers: int
    shards: int
    first: int
    of: int
    rejected: int
    rejections: Sequence[Rejected]


@checked
def build_part(
    corpus: Sources | Corpus,
    into: str | Path,
    part: str,
    settings: BuildSettings = BuildSettings(),
    *,
    columns: ColumnMap | None = None,
    strict: bool = False,
    resume: bool = True,
    overwrite: bool = False,
    progress: Progress | bool = True,
    workers: Workers | None = None,
    **changes: Unpack[BuildKeywords],
) -> IndexPart:
    """Build or resume a part of an index, such as "3/8", the third of eight. `index_parts` joins the parts.

    Arguments and errors are as in `build`. The part goes into a folder in `parts` of the index's directory `into`. Each part is a range of
    the corpus's papers. Raises InvalidRequest if there are fewer papers than parts.

    >>> sr.build_part("papers.jsonl", "indexes/halves", "1/2", encoder=None, shard_size=50).papers
    50
    """
    share, directory = Share.parse(part), Path(into)
    opened_corpus = corpus if isinstance(corpus, Corpus) else open_corpus(corpus, columns)
    check_place(directory)
    if (directory / MANIFEST).exists():
        raise InvalidRequest(f"{directory} holds an index already; choose another folder for the parts of a new one")
    folder = directory / PARTS / f"{share.number}-of-{share.of}"
    with shown(progress) as listener:
        work = Build(opened_corpus, folder, changed(settings, changes), strict, listener, workers)
        with write_lock(folder):
            pending = work.filled(resume, overwrite, share)
    cut, places, rejections = pending.cut or {}, pending.places, first_rejected(pending)
    sizes = cut["shards"]
    papers, before = sum(sizes[places[0] : places[-1] + 1]), sum(sizes[: places[0]])
    warn_of(cut["rejected"], rejections, str(folder), pending.rejected)
    return IndexPart(folder, papers, len(places), 1 + before, sum(sizes), cut["rejected"], rejections)


@dataclass(frozen=True, slots=True)
class Joined(AsJson):
    """The result of joining parts: an index's numbers of parts and shards.

    Attributes:
        rejected, rejections: number of rejected rows of the corpus, and the first 100 of them.
    """

    parts: int
    shards: int
    generation: int
    rejected: int
    rejections: Sequence[Rejected]


def has_parts(index: str | Path) -> bool:
    """Whether an index has parts to join."""
    return bool(folder_entries(Path(index) / PARTS))


@checked
def index_parts(index: IndexPlace, *, progress: Progress | bool = True) -> Joined:
    """Join an index from its parts, all of which are in the folder `parts` of its directory.

    Shards are moved, not copied. After an interruption, calling it again continues.

    Raises:
        InvalidRequest: parts are missing, unfinished, or of different corpora or settings; or there is an index already.
        IndexBusy: another process is writing the index.

    >>> for part in ("1/2", "2/2"):
    ...     _ = sr.build_part("papers.jsonl", "indexes/joined", part, encoder=None, shard_size=50)
    >>> sr.index_parts("indexes/joined").parts
    2
    """
    directory = folder_of(index)
    with shown(progress) as listener:
        with write_lock(directory):
            parts = _parts(directory)
            first = parts[0]
            plan = {name: value for name, value in first.plan.items() if name != "share"}
            pending = Pending.found(directory, listener)
            if (directory / MANIFEST).exists():
                if any(part.folder(place).exists() for part in parts for place in part.places):
                    raise InvalidRequest(
                        f"{directory} holds an index already; move its folder {PARTS} to a new directory for `sciretrieve index parts`"
                    )
                remove(directory / PARTS)  # it was interrupted here
                return _joined(directory, len(parts))
            if pending is None or pending.plan != plan or pending.cut is None:
                if pending is not None:
                    pending.give_way(plan, listener)
                runtimes = dict.fromkeys(runtime for part in parts for runtime in part.state.get("ran_in", ()))
                pending = Pending.begin(directory, plan, listener)
                if (packing := first.packing()) is not None:
                    write_packing(pending.late, packing)
                pending = pending.noting(**{**first.state, "ran_in": list(runtimes)})
            if first.rejected.exists():
                first.rejected.replace(pending.rejected)
            for part in parts:
                for place in part.places:
                    if not pending.folder(place).is_dir():
                        rename(part.folder(place), pending.folder(place))
            sync_file(pending.folder(0).parent)
            publish(pending, {name: plan[name] for name in PLAN}, first.state.get("metric"), None, listener)
            remove(directory / PARTS)
            sync_file(directory)
        return _joined(directory, len(parts))


def _joined(directory: Path, parts: int) -> Joined:
    manifest = read_manifest(directory)
    rejections = read_rejections(directory / REJECTED, manifest.rejected)
    warn_of(manifest.rejected, rejections, str(directory), directory / REJECTED)
    return Joined(parts, len(manifest.shards), manifest.generation, manifest.rejected, rejections)


def _parts(directory: Path) -> list[Pending]:
    """All parts of an index, in order. Raises InvalidRequest."""
    every_part = [part for folder in folder_entries(directory / PARTS) if (part := Pending.read(folder)) is not None]
    if not every_part:
        raise InvalidRequest(f"{directory / PARTS} holds no part that was begun; build one with `sciretrieve index CORPUS --part 1/N`")
    parts = {part.share.number: part for part in every_part}
    first = every_part[0]
    of = first.share.of
    if len({part.share.of for part in every_part}) > 1:
        raise InvalidRequest(
            f"{directory / PARTS} holds parts of several divisions: {', '.join(str(part.share) for part in every_part)}; remove one"
        )
    if missing := [f"{number}/{of}" for number in range(1, of + 1) if number not in parts]:
        raise InvalidRequest(
            f"{_part_names(missing)} of {directory} is missing; build it with `sciretrieve index CORPUS --part {missing[0]}`"
        )
    ordered = [parts[number] for number in range(1, of + 1)]
    if unfinished := [str(part.share) for part in ordered if not part.state.get("is_full")]:
        raise InvalidRequest(f"{_part_names(unfinished)} of {directory} is unfinished; run its command again")
    for part in ordered[1:]:
        if unlike := _difference(ordered[0], part):
            raise InvalidRequest(
                f"the parts {ordered[0].share} and {part.share} of {directory} have another {unlike}; "
                f"build one of them anew, with `sciretrieve index CORPUS --part {part.share} --overwrite`"
            )
    return ordered


def _part_names(shares: list[str]) -> str:
    return f"the part {shares[0]}" + (f" (and {len(shares) - 1} more)" if len(shares) > 1 else "")


def _difference(one: Pending, other: Pending) -> str:
    """Why two parts cannot belong to one index; empty if they can."""
    # paths and times of the corpus's files may differ between machines, contents must not
    unlike = shard_differences(one.plan, other.plan, _read(one) == _read(other))
    if unlike or one.golden is None or other.golden is None:
        return unlike
    if not all(agree for agree, _ in map(compared, one.golden, other.golden)):
        return "vector for the same text, though their encoder has one name; were versions of libraries different? the part"
    packings = one.packing(), other.packing()
    if (packings[0] is None) != (packings[1] is None) or (packings[0] and packings[1] and not packings[0].is_like(packings[1])):
        return "late interaction, or way to pack token vectors"
    return ""


def _read(part: Pending) -> dict[str, Any]:
    """The result of cutting the corpus, without rejected rows, whose file names may differ; their number suffices."""
    return {name: value for name, value in (part.cut or {}).items() if name != "first_rejected"}
