"""The manifest of a generation, which names its files. It is written last and renamed into place, so an index is complete or absent."""

from __future__ import annotations

import json
import platform
import re
import shlex
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from functools import cache, lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from ..base.choices import METRICS, Metric
from ..base.errors import CorruptData, InvalidRequest, NoSuchIndex, NotFound
from ..base.types import Vectors
from ..files.writing import describe, folder_entries, read_json, seal_of, sealed, sealed_bytes, write_vectors
from ..matching.effort import Trial
from ..matching.fusion import Fusion
from ..matching.lexical import Analyzer
from ..options import RECALL, Bm25Parameters

FORMAT = 2
MANIFEST = "manifest.json"
GENERATIONS = "generations"
"""Folder of the manifests of all generations that can be opened, by number."""
SHARDS = "shards"
PARTS = "parts"
"""Folder of an index's parts built by several machines, each in its own folder."""
PENDING = "pending.json"
"""Marks unfinished work, whose shards no manifest names yet."""
FileFacts = Mapping[str, Mapping[str, Any]]
"""File name -> {"bytes": size, "sha256": digest}."""

MOST_DIMENSIONS = 1 << 20
"""Most dimensions of a vector, far above any encoder's."""
LOGGED = 200
"""Most commits in a manifest's log."""

TOKEN_FILES = {"tokens.npy", "token-counts.npy"}
SHARD_FILES = {"papers.parquet", "names.arrow", "ids.arrow", "postings.arrow", "lengths.arrow", "fields.arrow", "vectors.npy", *TOKEN_FILES}
"""Files of a new shard. Generations may add a FAISS index and a list of deleted papers."""
SHARD_NAME = re.compile(r"\d{6,}")
QUOTED_NUMBER = re.compile(rb'"(\d{6,12})"')
"""Names of shards in a manifest, which contains no other text of this form."""
ANN_FILE = re.compile(r"dense-\d{6,}\.faiss")
DELETED_FILE = re.compile(r"deleted-\d{6,}\.npy")


@dataclass(frozen=True, slots=True)
class ShardFacts:
    """A shard's entry in the manifest.

    Attributes:
        name: name of its folder.
        papers: number of papers, deleted ones included.
        files: its files.
        truncated: number of papers that exceed the encoder's input length; None if unknown.
        deleted: number of deleted papers.
        sources: positions in `Manifest.sources` of the corpora that its papers came from.
    """

    name: str
    papers: int
    files: FileFacts
    truncated: int | None = None
    deleted: int = 0
    sources: tuple[int, ...] = (0,)

    @property
    def ann_file(self) -> str | None:
        """Name of its FAISS index; None if it is searched exactly."""
        return next((name for name in self.files if ANN_FILE.fullmatch(name)), None)

    @property
    def deleted_file(self) -> str | None:
        """Name of the file with the rows of its deleted papers; None if none are deleted."""
        return next((name for name in self.files if DELETED_FILE.fullmatch(name)), None)

    def without(self, names: Container[str | None]) -> ShardFacts:
        """The same without these files."""
        return replace(self, files={name: file for name, file in self.files.items() if name not in names})


@dataclass(frozen=True, slots=True)
class Source:
    """A corpus that papers came from: its files, its fingerprint then, see `Corpus.fingerprint`, and the generation that ingested it."""

    corpus: tuple[str, ...]
    fingerprint: str
    generation: int


@dataclass(frozen=True, slots=True)
class Commit:
    """An entry in an index's log: the command, the numbers of papers added, replaced, deleted and present, the generation restored if any,
    and the id of the finished work, see `pending`. The next commit adds the `checksum` of the entry's manifest; earlier versions did not.
    """

    generation: int
    created: str
    command: str
    papers: int
    added: int = 0
    replaced: int = 0
    deleted: int = 0
    restored: int | None = None
    work: str | None = None
    checksum: str | None = None


@dataclass(frozen=True, slots=True)
class Manifest:
    """The content of a generation.

    Attributes:
        generation, previous: its number, and the number of the generation before; None for the first.
        papers: number of undeleted papers.
        rejected: number of rejected rows of the last corpus.
        encoder: the encoder's identity, its `precision`, the runtimes that it `ran_in`, the file of its `golden` vectors, and for late
            interaction the file with the packing of token vectors, as `late`; None without vectors.
        lexical: BM25's parameters, the analyzer, the corpus's `statistics`, and the folder of term frequencies with its files; None without
            BM25.
        sources: the corpora that its papers came from.
        whole: fingerprint of the corpus whose papers are exactly the index's, or whose first papers are, see `is_limited`; None if there is
            no such corpus.
        replaced: shards of the previous generation that this one lacks.
        build: settings, encoder and analyzer for new shards.
        log: the last commits, oldest first.
        fusion: the fields of `matching.fusion.Fusion`, if hybrid search was tuned.
        trial: the measurement of the dense index, if it is approximate.
        fulltext: the generation of the passages of the papers' full texts, see `storage.fulltext`; None without any.
        checksum: checksum of the rest, which distinguishes this generation from all others, also of another index in its place; "" until it
            is written.
    """

    format: int
    generation: int
    previous: int | None
    created: str
    papers: int
    rejected: int
    metric: Metric | None
    dense: str
    encoder: Mapping[str, Any] | None
    lexical: Mapping[str, Any] | None
    shards: tuple[ShardFacts, ...]
    sources: tuple[Source, ...]
    whole: str | None
    replaced: tuple[str, ...]
    build: Mapping[str, Any]
    versions: Mapping[str, str]
    log: tuple[Commit, ...]
    fusion: Mapping[str, Any] | None = None
    trial: Trial | None = None
    fulltext: Mapping[str, Any] | None = None
    checksum: str = ""

    def sealed(self) -> tuple[bytes, Manifest]:
        """The bytes of its file, and the manifest with its checksum."""
        facts = _facts(self) | {name: [*map(_facts, getattr(self, name))] for name in ("shards", "sources", "log")}
        facts["trial"] = self.trial and asdict(self.trial)
        del facts["checksum"]
        if self.fulltext is None:
            del facts["fulltext"]
        data, checksum = sealed(facts)
        return data, replace(self, checksum=checksum)

    def logs(self, generation: int, checksum: str | None = None) -> bool:
        """Whether a generation is this one or an earlier one of the same index: its number is in the log, with this checksum if both are
        known.

        A manifest outside the log was never current. Generations older than a full log are accepted by number.
        """
        if generation == self.generation:
            return checksum in (None, self.checksum)
        if len(self.log) == LOGGED and generation < self.log[0].generation:
            return True
        records = [record for record in self.log if record.generation == generation]
        return any(record.checksum is None or checksum in (None, record.checksum) for record in records)

    @property
    def is_limited(self) -> bool:
        """Whether its papers are only the first ones of the corpus `whole`, as many as the build's limit."""
        limit = self.build["settings"].get("limit")
        return self.whole is not None and limit is not None and self.papers >= limit

    @property
    def truncated(self) -> int | None:
        """Number of papers that exceed the encoder's input length; None if unknown."""
        counts = [shard.truncated for shard in self.shards]
        return None if None in counts else sum(count or 0 for count in counts)

    @property
    def bm25(self) -> Bm25Parameters | None:
        """BM25's parameters; None without BM25."""
        if self.lexical is None:
            return None
        return Bm25Parameters(**{field.name: self.lexical[field.name] for field in fields(Bm25Parameters)})

    @property
    def analyzer(self) -> Analyzer | None:
        """How its text became terms; None without BM25, and for an analysis that this version does not know."""
        return None if self.lexical is None else Analyzer.of(self.lexical["analyzer"])

    def analyzed_by(self, analyzer: Analyzer) -> Manifest:
        """The same for shards with terms from this analyzer. A commit counts the terms."""
        return replace(self, lexical=None, build={**self.build, "analyzer": analyzer.spec})

    @property
    def recall(self) -> float:
        """Wanted recall of an approximate dense index: the share found of the true best 10 papers."""
        return float(self.build["settings"].get("recall", RECALL))

    @property
    def bytes(self) -> int:
        """Size on disk of all its files, those of full texts included."""
        return sum(int(facts["bytes"]) for _, facts in self.files()) + int((self.fulltext or {"bytes": 0})["bytes"])

    def files(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """All its files, by path within the index, with size and checksum."""
        for shard in self.shards:
            yield from ((f"{SHARDS}/{shard.name}/{name}", facts) for name, facts in shard.files.items())
        if self.lexical is not None:
            yield from ((f"{self.lexical['folder']}/{name}", facts) for name, facts in self.lexical["files"].items())
        for name in ("golden", "late"):
            if facts := (self.encoder or {}).get(name):
                yield facts["file"], facts

    @property
    def late(self) -> Mapping[str, Any] | None:
        """The entry on the file with the packing of token vectors; None without late interaction."""
        return (self.encoder or {}).get("late")


def _facts(value: Manifest | ShardFacts | Source | Commit) -> dict[str, Any]:
    """Shallow dictionary of attributes. `asdict` copies deeply, which dominates the time."""
    return {field.name: getattr(value, field.name) for field in fields(value)}


def encoder_file(directory: Path, name: str, generation: int, vectors: Vectors) -> dict[str, Any]:
    """Write an encoder's array, (n, dim), as `golden` or `late`. Returns the manifest's entry on the file."""
    path = directory / "encoder" / f"{name}-{generation:06d}.npy"
    path.parent.mkdir(exist_ok=True)
    write_vectors(path, [vectors], (len(vectors), vectors.shape[1]))
    return {"file": f"encoder/{path.name}", **describe(path)}


def generation_file(directory: Path, generation: int) -> Path:
    """Path of a generation's manifest."""
    return directory / GENERATIONS / f"{generation:06d}.json"


def generations(directory: Path) -> list[int]:
    """Numbers of the generations with a manifest, ascending, unfinished commits included."""
    return sorted(int(path.stem) for path in folder_entries(directory / GENERATIONS, "*.json") if SHARD_NAME.fullmatch(path.stem))


def kept_generations(directory: Path, current: Manifest) -> list[int]:
    """Numbers of the generations that can be opened, ascending: the current one, and those in its log with a manifest."""
    return [number for number in generations(directory) if current.logs(number, seal_of(generation_file(directory, number)) or "")]


def named_shards(directory: Path) -> list[int]:
    """Numbers of the shards that any generation's manifest names, even if it is damaged or their folders are lost."""
    numbers: list[int] = []
    for path in (directory / MANIFEST, *(generation_file(directory, number) for number in generations(directory))):
        with suppress(OSError):
            numbers += map(int, QUOTED_NUMBER.findall(path.read_bytes()))
    return numbers


def said_generation(directory: Path) -> int | None:
    """Number of the current generation, read even from a damaged manifest if possible."""
    with suppress(CorruptData, FileNotFoundError, NotADirectoryError):
        number = read_json(directory / MANIFEST).get("generation")
        return number if type(number) is int else None
    return None


def read_manifest(directory: Path, generation: int | None = None) -> Manifest:
    """Read and check the manifest in `directory`: the current one, or that of another generation in its log.

    Raises:
        NotFound: there is no finished index, or it lacks this generation.
        CorruptData: the manifest is of another format version, damaged or lost.
    """
    if generation is None:
        return _checked(directory, directory / MANIFEST, None)
    current = None
    with suppress(CorruptData, NotFound):  # an index with a damaged current manifest can still be opened at a generation
        current = read_manifest(directory)
    if current is not None and not current.logs(generation):
        raise _absence(directory, generation)
    return read_generation(directory, generation, current)


def read_generation(directory: Path, generation: int, current: Manifest | None = None) -> Manifest:
    """Read and check any generation's manifest, against the log of `current` if given.

    Raises as `read_manifest`.
    """
    return _checked(directory, generation_file(directory, generation), generation, current)


def _checked(directory: Path, path: Path, generation: int | None, current: Manifest | None = None) -> Manifest:
    try:
        manifest = _read(directory, path)
        if generation is not None and manifest.generation != generation:
            raise ValueError(f"generation {manifest.generation}")
        if current is not None and not current.logs(manifest.generation, manifest.checksum):
            raise ValueError("it differs from what was committed")
        return manifest
    except (FileNotFoundError, NotADirectoryError) as error:
        raise _absence(directory, generation) from error
    except (KeyError, TypeError, ValueError, AttributeError, InvalidRequest) as error:
        raise CorruptData(
            f"{path} is damaged ({type(error).__name__}: {error}); rebuild the index with `sciretrieve index --overwrite`"
        ) from error


def _read(directory: Path, path: Path) -> Manifest:
    try:
        return _of_sealed(sealed_bytes(path))
    except (CorruptData, KeyError, TypeError, ValueError, AttributeError):
        index_format = read_json(path).get("format")
        what = f"{directory} is an index of format version {index_format}"
        if isinstance(index_format, int) and index_format > FORMAT:
            raise CorruptData(f"{what}, and this version of sciretrieve reads {FORMAT}; update sciretrieve") from None
        raise


@lru_cache(maxsize=32)
def _of_sealed(data: bytes) -> Manifest:
    """Parse a manifest's bytes. Cached, since a change of an index reads the manifests of all generations, of which one is new."""
    return _manifest(json.loads(data))


def _absence(directory: Path, generation: int | None) -> NotFound | CorruptData:
    """The error for a missing manifest."""
    if generation is not None and (kept := generations(directory)):
        with suppress(CorruptData, NotFound):
            kept = kept_generations(directory, read_manifest(directory))
        return NoSuchIndex(f"{directory} has no generation {generation}; there are: {', '.join(map(str, kept))}")
    if (directory / PENDING).is_file():
        return NoSuchIndex(f"the index {directory} is not finished; run the same `sciretrieve index` command again to resume it")
    if generations(directory):
        return CorruptData(f"{directory / MANIFEST} is missing; restore it, or try `sciretrieve verify --repair`")
    if (directory / PARTS).is_dir():
        join = f"sciretrieve index parts {shlex.quote(str(directory))}"
        return NoSuchIndex(f"{directory} has parts of an index, and none yet; `{join}` joins them")
    return NoSuchIndex(f"there is no index at {directory}; build one with `sciretrieve index CORPUS -o {shlex.quote(str(directory))}`")


def check_sizes(directory: Path, manifest: Manifest) -> None:
    """Check that the manifest's files exist with their full size. Raises CorruptData."""
    for name, facts in manifest.files():
        path = directory / name
        try:
            size = path.stat().st_size
        except (FileNotFoundError, NotADirectoryError):
            size = None
        if size != facts["bytes"]:
            fault = "is missing" if size is None else f"has {size} bytes where the manifest says {facts['bytes']}"
            raise CorruptData(
                f"{path} {fault}; restore it, try `sciretrieve verify --repair`, or rebuild the index with `sciretrieve index --overwrite`"
            )


def library_versions(libraries: Sequence[str]) -> dict[str, str]:
    """Versions of Python, sciretrieve and the installed ones of these libraries."""
    versions = {library: _version(library) for library in ("sciretrieve", *libraries)}
    return {"python": platform.python_version()} | {library: version for library, version in versions.items() if version is not None}


@cache
def _version(library: str) -> str | None:
    """Version of a library, which takes a millisecond to look up; None if it is not installed."""
    try:
        return version(library)
    except PackageNotFoundError:
        return None


def shard_facts(value: Mapping[str, Any]) -> ShardFacts:
    """Read a shard's entry from JSON. Raises ValueError for a name that shards cannot have."""
    shard = ShardFacts(**{**value, "sources": tuple(value["sources"])})
    if not SHARD_NAME.fullmatch(shard.name) or not set(shard.files) - {shard.ann_file, shard.deleted_file} <= SHARD_FILES:
        raise ValueError(f"shard {shard.name!r}")
    if not 0 <= shard.deleted <= shard.papers or (shard.deleted > 0) != (shard.deleted_file is not None):
        raise ValueError(f"deleted papers of shard {shard.name!r}")
    return shard


def _manifest(value: dict[str, Any]) -> Manifest:
    shards = tuple(shard_facts(shard) for shard in value.pop("shards"))
    sources = tuple(Source(**{**source, "corpus": tuple(source["corpus"])}) for source in value.pop("sources"))
    log = tuple(Commit(**record) for record in value.pop("log"))
    trial = None if (facts := value.pop("trial", None)) is None else Trial.of(facts)
    manifest = Manifest(shards=shards, sources=sources, log=log, replaced=tuple(value.pop("replaced")), trial=trial, **value)
    if manifest.format != FORMAT:
        raise ValueError(f"format {manifest.format!r}")
    if sum(shard.papers - shard.deleted for shard in shards) != manifest.papers or manifest.metric not in (None, *METRICS):
        raise ValueError("counts or metric")
    for name in ("golden", "late"):
        facts = (manifest.encoder or {}).get(name)
        if facts is not None and not re.fullmatch(rf"encoder/{name}-\d{{6,}}\.npy", facts["file"]):
            raise ValueError(f"{name} vectors")
    if manifest.lexical is not None and not re.fullmatch(r"lexical/\d{6,}", manifest.lexical["folder"]):
        raise ValueError("lexical folder")
    if manifest.lexical is not None and set(manifest.lexical["files"]) != {f"{shard.name}.npy" for shard in shards}:
        raise ValueError("lexical files")
    _check_values(manifest)
    return manifest


def _check_values(manifest: Manifest) -> None:
    """Check the values' types, since the manifest may come from elsewhere. Raises ValueError and others."""
    encoder, lexical, files = manifest.encoder, manifest.lexical, dict(manifest.files())
    numbers = [manifest.generation, manifest.previous or 0, manifest.papers, manifest.rejected, manifest.build["settings"]["shard_size"]]
    numbers += [number for shard in manifest.shards for number in (shard.papers, shard.deleted, shard.truncated or 0, *shard.sources)]
    numbers += [facts["bytes"] for facts in files.values()] + [source.generation for source in manifest.sources]
    numbers += [number for made in manifest.log for number in (made.generation, made.papers, made.added, made.replaced, made.deleted)]
    numbers += [made.restored or 0 for made in manifest.log] + [manifest.build["settings"].get("limit") or 0]
    texts = [manifest.created, manifest.dense, manifest.whole or "", *manifest.replaced, *manifest.versions, *manifest.versions.values()]
    texts += [facts["sha256"] for facts in files.values()]
    texts += [text for source in manifest.sources for text in (*source.corpus, source.fingerprint)]
    texts += [text for made in manifest.log for text in (made.created, made.command, made.work or "", made.checksum or "")]
    needed = {"papers.parquet", "ids.arrow"}
    if (encoder is None) != (manifest.metric is None):
        raise ValueError("an encoder without a metric, or a metric without an encoder")
    if encoder is not None:
        numbers.append(encoder["dim"])
        texts += [encoder["name"], encoder["layout"], encoder["precision"], *encoder.get("ran_in", ())]
        needed |= {"vectors.npy"}
        if not 1 <= encoder["dim"] <= MOST_DIMENSIONS:
            raise ValueError("dimensions")
    if manifest.late is not None:
        needed |= TOKEN_FILES
    if lexical is not None:
        numbers += [lexical["statistics"][name] for name in ("papers", "terms", "title_terms")]
        needed |= {"postings.arrow", "lengths.arrow", "fields.arrow"}
        texts.append(lexical["variant"])
    if manifest.fusion is not None:
        texts.append(manifest.fusion["method"])
    if manifest.fulltext is not None:
        numbers += [manifest.fulltext[name] for name in ("generation", "passages", "bytes")]
        texts.append(manifest.fulltext["checksum"])
    if not all(type(number) is int and 0 <= number < 1 << 62 for number in numbers) or not all(type(text) is str for text in texts):
        raise ValueError("a number or a text")
    if any(not needed <= set(shard.files) for shard in manifest.shards):
        raise ValueError("a shard that lacks files")
    if lexical is not None and (len(lexical["statistics"]) != 3 or "analyzer" not in lexical or manifest.bm25 is None):
        raise ValueError("statistics")
    if manifest.fusion is not None:
        Fusion.of(manifest.fusion)
