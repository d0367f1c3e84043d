"""The manifest: what an index consists of. Written last and renamed into place, so an index is whole or absent."""

from __future__ import annotations

import platform
import re
import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from .choices import METRICS, Metric
from .errors import CorruptData, NotFound
from .files import read_json, write_json

FORMAT = 1
MANIFEST = "manifest.json"
BUILD = "build.json"
"""Marks a build in progress: what it builds, and `first_shard`, the number of its first shard."""
FileFacts = Mapping[str, Mapping[str, Any]]
"""File name -> {"bytes": size, "sha256": digest}."""

SHARD_FILES = {"papers.parquet", "ids.arrow", "postings.arrow", "vectors.npy"}
"""The files of a new shard; a FAISS index may be added."""
ANN_FILE = re.compile(r"dense(-\d{6,})?\.faiss")


@dataclass(frozen=True, slots=True)
class ShardFacts:
    """One shard: its folder's name, its number of papers, its files, and how many papers exceed the encoder's input length."""

    name: str
    papers: int
    files: FileFacts
    truncated: int | None = None

    @property
    def ann_file(self) -> str | None:
        """The name of its FAISS index; None for a shard that is searched exactly."""
        return next((name for name in self.files if ANN_FILE.fullmatch(name)), None)


@dataclass(frozen=True, slots=True)
class Manifest:
    """What an index consists of.

    `encoder` is the encoder's identity, its `precision`, what it `ran_in` and the file of `golden` vectors, or None without vectors;
    `lexical` has the BM25 parameters, the analyzer, the folder and its files, or is None; `build` is what the index was
    built from and how; `fusion` has the fields of `fusion.Fusion`, if hybrid search was tuned.
    """

    format: int
    generation: int
    created: str
    papers: int
    rejected: int
    metric: Metric | None
    dense: str
    encoder: Mapping[str, Any] | None
    lexical: Mapping[str, Any] | None
    shards: tuple[ShardFacts, ...]
    build: Mapping[str, Any]
    versions: Mapping[str, str]
    fusion: Mapping[str, Any] | None = None

    def write(self, directory: Path) -> None:
        """Commit: replace the manifest in `directory` atomically."""
        write_json(directory / MANIFEST, asdict(self))

    @property
    def truncated(self) -> int | None:
        """How many papers exceed the encoder's input length; None if unknown."""
        counts = [shard.truncated for shard in self.shards]
        return None if None in counts else sum(count or 0 for count in counts)

    @property
    def bytes(self) -> int:
        """The size on disk of all files that the manifest names."""
        files = [facts for shard in self.shards for facts in shard.files.values()]
        if self.lexical is not None:
            files += self.lexical["files"].values()
        if golden := (self.encoder or {}).get("golden"):
            files.append(golden)
        return sum(int(facts["bytes"]) for facts in files)


def read_manifest(directory: Path) -> Manifest:
    """Read and check the manifest in `directory`, and that the files it names are there at their full size.

    Raises:
        NotFound: there is no finished index.
        CorruptData: it has another format version, or is damaged.
    """
    path = directory / MANIFEST
    if not path.is_file():
        if (directory / BUILD).is_file():
            raise NotFound(f"the index {directory} is not finished; run the same `sciretrieve index` command again to resume it")
        raise NotFound(f"there is no index at {directory}; build one with `sciretrieve index CORPUS -o {shlex.quote(str(directory))}`")
    value = read_json(path)
    if value.get("format") != FORMAT:
        index_format = value.get("format")
        raise CorruptData(
            f"{directory} is an index of format version {index_format}, and this version reads {FORMAT}; build it again with --overwrite"
        )
    try:
        manifest = _manifest(value)
    except (KeyError, TypeError, ValueError) as error:
        raise CorruptData(f"{path} is damaged ({type(error).__name__}: {error}); rebuild the index with --overwrite") from error
    _check_files(directory, manifest)
    return manifest


def library_versions(libraries: Sequence[str]) -> dict[str, str]:
    """The versions of Python, of sciretrieve and of the libraries that are installed."""
    versions = {"python": platform.python_version()}
    for library in ("sciretrieve", *libraries):
        with suppress(PackageNotFoundError):
            versions[library] = version(library)
    return versions


def _manifest(value: dict[str, Any]) -> Manifest:
    shards = tuple(ShardFacts(**shard) for shard in value.pop("shards"))
    manifest = Manifest(shards=shards, **value)
    for shard in shards:
        if not re.fullmatch(r"\d{6,}", shard.name) or not set(shard.files) - {shard.ann_file} <= SHARD_FILES:
            raise ValueError(f"shard {shard.name!r}")
    if sum(shard.papers for shard in shards) != manifest.papers or manifest.metric not in (None, *METRICS):
        raise ValueError("counts or metric")
    golden = (manifest.encoder or {}).get("golden")
    if golden is not None and not re.fullmatch(r"encoder/golden-\d{6,}\.npy", golden["file"]):
        raise ValueError("golden vectors")
    if manifest.lexical is not None and not re.fullmatch(r"lexical/\d{6,}", manifest.lexical["folder"]):
        raise ValueError("lexical folder")
    return manifest


def _check_files(directory: Path, manifest: Manifest) -> None:
    files = {directory / "shards" / shard.name / name: facts for shard in manifest.shards for name, facts in shard.files.items()}
    if manifest.lexical is not None:
        files |= {directory / manifest.lexical["folder"] / name: facts for name, facts in manifest.lexical["files"].items()}
    if golden := (manifest.encoder or {}).get("golden"):
        files[directory / golden["file"]] = golden
    for path, facts in files.items():
        size = path.stat().st_size if path.is_file() else None
        if size != facts["bytes"]:
            fault = "is missing" if size is None else f"has {size} bytes where the manifest says {facts['bytes']}"
            raise CorruptData(f"{path} {fault}; restore it, or rebuild the index with --overwrite")
