"""Which index is meant, and which there are: by folder, by name, in `indexes` here and above, and where the user's settings say.

What others have put in the way, such as an index in /tmp/indexes, answers only if it is named by its folder.
"""

from __future__ import annotations

import difflib
import os
import shlex
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Literal

from ..base.choices import MODES, Mode
from ..base.errors import CorruptData, InvalidRequest, NotFound
from ..base.system import owner, user
from ..config import home, setting
from .manifest import GENERATIONS, MANIFEST, PARTS, PENDING, check_sizes, read_manifest

ROOT = 0
"""The user id of root, who may change everything in any case."""
FOLDER = "indexes"
"""The folder that indexes are built in, and looked for in, here and above."""
EVERY = "*"
"""What stands for all indexes that have names here."""
LISTED = 12
"""Names that an error lists."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """The index that is meant, and why that one: "-i acm", "$SCIRETRIEVE_INDEX", "the one built last in indexes"."""

    path: Path
    why: str


@dataclass(frozen=True, slots=True)
class FoundIndex:
    """An index that was found, as far as its manifest can be read.

    Attributes:
        state: "ready"; "unfinished", its build was interrupted; or "damaged", and `fault` says what is wrong.
        papers, encoder, modes, built, bytes: None, or no modes, unless it is ready; `encoder` also for one without vectors.
    """

    name: str
    path: Path
    state: Literal["ready", "unfinished", "damaged"]
    papers: int | None = None
    encoder: str | None = None
    modes: tuple[Mode, ...] = ()
    built: str | None = None
    bytes: int | None = None
    fault: str | None = None


def chosen(named: str | Path | None = None) -> Chosen:
    """The index that is meant by a folder or a name; by nothing, the one that the setting `index` names, else the one built last in
    `indexes` here, else in that of the nearest folder above that has one, up to the home directory or a folder of another user.
    An index in another user's `indexes` has to be the user's own, or root's.

    A name is that of an index in `indexes` here or above, the nearest first, or in the folders of the setting `indexes`.

    Raises:
        NotFound: there is none; the message names those that there are.
        InvalidRequest: several folders of the setting `indexes` have one of that name.
    """
    if named is not None:
        return Chosen(_named(str(named), ""), f"-i {shlex.quote(str(named))}")
    default = setting("index")
    if default.value is not None:
        return Chosen(_named(str(default.value), f"{default.place}: "), default.place)
    for folder, paths in _near():
        if ages := {path: age for path in paths if (age := _age(path)) is not None}:
            return Chosen(max(ages, key=lambda path: (ages[path], path.name)), f"the one built last in {folder}")
    if strange := _of_others():
        raise NotFound(
            f"the indexes in {strange[0].parent} belong to another user; name one by its folder, as in -i {shlex.quote(str(strange[0]))}"
        )
    if others := found():
        raise NotFound(f"there is no finished index in ./{FOLDER}, or in that of a folder above; name one with -i: {_names(others)}")
    raise NotFound(
        f"there is no index in ./{FOLDER}, or in that of a folder above; build one with `sciretrieve index CORPUS`, or name one with -i"
    )


def several(named: Sequence[str]) -> list[Path]:
    """The indexes that are meant by folders and names, each once, in their order; by "*" all that `found` finds, but for unfinished ones.

    Raises as `chosen`.
    """
    paths: dict[Path, Path] = {}
    for name in named:
        if name == EVERY and not (ready := [path for path in found() if listing(path).state != "unfinished"]):
            ready = [chosen().path]  # which says why there is none
        elif name != EVERY:
            ready = [chosen(name).path]
        for path in ready:
            paths.setdefault(path.resolve(), path)
    return list(paths.values())


def found() -> list[Path]:
    """All indexes that have names here, unfinished and damaged ones too: the nearest first, then those of the user's settings."""
    paths = [path for _, paths in _near() for path in paths] + list(_own())
    default = setting("index").value
    if default is not None and is_index(path := Path(str(default))):
        paths.append(path)
    distinct: dict[Path, Path] = {}
    for path in paths:
        distinct.setdefault(path.resolve(), path)
    return list(distinct.values())


def listing(path: Path) -> FoundIndex:
    """What is known of an index without opening it."""
    name = path.resolve().name
    try:
        manifest = read_manifest(path)
        check_sizes(path, manifest)
    except NotFound:
        return FoundIndex(name, path, "unfinished")
    except (CorruptData, OSError) as error:
        return FoundIndex(name, path, "damaged", fault=str(error))
    has = {"dense": manifest.encoder is not None, "bm25": manifest.lexical is not None}
    has["hybrid"] = all(has.values())
    encoder = manifest.encoder["name"] if manifest.encoder else None
    modes = tuple(mode for mode in MODES if has[mode])
    return FoundIndex(name, path, "ready", manifest.papers, encoder, modes, manifest.created, manifest.bytes)


def is_index(path: Path) -> bool:
    """Whether a folder is an index, or what is left of one, or will be one."""
    return any(os.path.exists(path / name) for name in (MANIFEST, PENDING, GENERATIONS, PARTS))  # noqa: PTH110 (no error if not allowed)


def _named(text: str, place: str) -> Path:
    path = Path(text)
    if path.name != text or is_index(path):
        return path
    nearest = [path for _, paths in _near() for path in paths if path.name == text][:1]
    places = nearest or list(dict.fromkeys(own for own in _own() if own.name == text))
    if len(places) > 1:
        paths = ", ".join(map(str, places[:LISTED]))
        raise InvalidRequest(f"{place}there are several indexes named {text}: {paths}; give the folder")
    if places:
        return places[0]
    if strange := [path for path in _of_others() if path.name == text]:
        raise NotFound(
            f"{place}the index {strange[0]} belongs to another user; name it by its folder, as in -i {shlex.quote(str(strange[0]))}"
        )
    others = found()
    names = list(dict.fromkeys(path.resolve().name for path in others))
    if near := difflib.get_close_matches(text, names, n=3, cutoff=0.5):
        raise NotFound(f"{place}there is no index at {text}, and none has that name; did you mean {' or '.join(near)}?")
    if names:
        raise NotFound(f"{place}there is no index at {text}, and none has that name; there are: {_names(others)}")
    raise NotFound(f"{place}there is no index at {text}; build one with `sciretrieve index CORPUS -o {shlex.quote(text)}`")


def _names(paths: list[Path]) -> str:
    names = list(dict.fromkeys(path.resolve().name for path in paths))
    rest = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return ", ".join(sorted(names)[:LISTED]) + rest


def _near() -> Iterator[tuple[Path, list[Path]]]:
    """`indexes` here and above, each with the indexes in it that may answer without being named by their folder."""
    for folder in _above():
        paths = _inside(folder)
        yield folder, paths if _is_trusted(folder) else [path for path in paths if _is_trusted(path)]


def _above() -> Iterator[Path]:
    """`indexes` here, and in each folder above that is the user's own, up to the home directory or the root."""
    yield Path(FOLDER)
    here, top = Path.cwd(), home()
    for below, folder in pairwise([here, *here.parents]):
        if below == top or owner(folder) != user():
            return
        yield folder / FOLDER


def _of_others() -> list[Path]:
    """The indexes here and above that answer only by their folder."""
    return [path for folder in _above() if not _is_trusted(folder) for path in _inside(folder) if not _is_trusted(path)]


def _is_trusted(path: Path) -> bool:
    return owner(path) in (user(), ROOT)


def _own() -> Iterator[Path]:
    """The indexes of the setting `indexes`, whose folders are indexes or have some."""
    folders = setting("indexes").value
    for path in map(Path, folders if isinstance(folders, tuple) else ()):
        if is_index(path):
            yield path
        else:
            yield from _inside(path)


def _inside(folder: Path) -> list[Path]:
    """The indexes in a folder, by name; none if there is no such folder, or it cannot be read."""
    with suppress(OSError):
        return sorted(path for path in folder.iterdir() if is_index(path))
    return []


def _age(path: Path) -> float | None:
    """When an index's current generation was committed; None for an unfinished one."""
    with suppress(OSError):
        return (path / MANIFEST).stat().st_mtime
    return None
