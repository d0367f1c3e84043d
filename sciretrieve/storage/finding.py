"""Finding indexes: by folder, by name, in `indexes` here and in the folders above, and through the user's settings.

Indexes of other users, such as one in /tmp/indexes, are only used if named by folder.
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
from ..base.errors import CorruptData, InvalidRequest, NoSuchIndex, NotFound
from ..base.system import owner, user
from ..base.wording import shortened
from ..config import home, setting
from ..protocols import AnyEncoder, IndexPlace
from .manifest import GENERATIONS, MANIFEST, PARTS, PENDING, check_sizes, read_manifest

ROOT = 0
"""User id of root, who may change everything anyway."""
FOLDER = "indexes"
"""Folder in which indexes are built and searched for, here and above."""
EVERY = "*"
"""Stands for all named indexes."""
LISTED = 12
"""Most names that an error lists."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """The chosen index, and the reason: "-i acm", "$SCIRETRIEVE_INDEX", "the one built last in indexes"."""

    path: Path
    why: str


@dataclass(frozen=True, slots=True)
class FoundIndex:
    """An index, as far as its manifest can be read.

    Attributes:
        state: "ready"; "unfinished" after an interrupted build; or "damaged", with a `fault`.
        papers, encoder, modes, built, bytes: None or empty unless it is ready. `encoder` is also None without vectors.
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


def folder_of(index: IndexPlace) -> Path:
    """The folder of an index.

    Raises:
        NoSuchIndex: there is no such folder or name.
        InvalidRequest: it is several indexes, is closed, or is no index.
    """
    if isinstance(index, str | os.PathLike):
        return chosen(os.fspath(index)).path
    path, names = getattr(index, "path", None), getattr(index, "names", None)
    if not isinstance(path, Path) or names is None:
        raise InvalidRequest(f"an index is given open, or by its folder or name, not as {shortened(index)}")
    if len(names) > 1:
        raise InvalidRequest(f"{path} are several indexes, which are changed and checked one by one; give one of them")
    return path


def encoder_for(index: IndexPlace, encoder: AnyEncoder | None) -> AnyEncoder | None:
    """The encoder given for an index, or else the one that it was opened with; None for its own."""
    reader = getattr(index, "reader", None)
    return encoder if encoder is not None or reader is None else reader.query_encoder.given


def chosen(named: str | Path | None = None) -> Chosen:
    """Choose an index by folder or name. Without either, choose the one in the setting `index`, else the one built last in `indexes` here.
    If there is none, look in the nearest folder above with one, up to the home directory or another user's folder. An index in another
    user's `indexes` must belong to the user or to root.

    A name refers to an index in `indexes` here or above, nearest first, or in the folders of the setting `indexes`.

    Raises:
        NoSuchIndex: there is none; the message lists existing ones.
        InvalidRequest: several folders of the setting `indexes` have an index of this name.
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
        raise NoSuchIndex(
            f"the indexes in {strange[0].parent} belong to another user; name one by its folder, as in -i {shlex.quote(str(strange[0]))}"
        )
    if others := found():
        raise NoSuchIndex(f"there is no finished index in ./{FOLDER}, or in that of a folder above; name one with -i: {_names(others)}")
    raise NoSuchIndex(
        f"there is no index in ./{FOLDER}, or in that of a folder above; build one with `sciretrieve index CORPUS`, or name one with -i"
    )


def several(named: Sequence[str]) -> list[Path]:
    """The indexes with these folders and names, in order, without repeats. "*" stands for all of `found` except unfinished ones.

    Raises as `chosen`.
    """
    paths: dict[Path, Path] = {}
    for name in named:
        if name == EVERY and not (ready := [path for path in found() if listing(path).state != "unfinished"]):
            ready = [chosen().path]  # raises with the reason if there is none
        elif name != EVERY:
            ready = [chosen(name).path]
        for path in ready:
            paths.setdefault(path.resolve(), path)
    return list(paths.values())


def found() -> list[Path]:
    """All named indexes, including unfinished and damaged ones: nearest first, then those of the user's settings."""
    paths = [path for _, paths in _near() for path in paths] + list(_own())
    default = setting("index").value
    if default is not None and is_index(path := Path(str(default))):
        paths.append(path)
    distinct: dict[Path, Path] = {}
    for path in paths:
        distinct.setdefault(path.resolve(), path)
    return list(distinct.values())


def listing(path: Path) -> FoundIndex:
    """Describe an index without opening it."""
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
    """Whether a folder is an index, the remains of one, or one in progress."""
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
        raise NoSuchIndex(
            f"{place}the index {strange[0]} belongs to another user; name it by its folder, as in -i {shlex.quote(str(strange[0]))}"
        )
    others = found()
    names = list(dict.fromkeys(path.resolve().name for path in others))
    if near := difflib.get_close_matches(text, names, n=3, cutoff=0.5):
        raise NoSuchIndex(f"{place}there is no index at {text}, and none has that name; did you mean {' or '.join(near)}?")
    if names:
        raise NoSuchIndex(f"{place}there is no index at {text}, and none has that name; there are: {_names(others)}")
    raise NoSuchIndex(f"{place}there is no index at {text}; build one with `sciretrieve index CORPUS -o {shlex.quote(text)}`")


def _names(paths: list[Path]) -> str:
    names = list(dict.fromkeys(path.resolve().name for path in paths))
    rest = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return ", ".join(sorted(names)[:LISTED]) + rest


def _near() -> Iterator[tuple[Path, list[Path]]]:
    """`indexes` here and above, each with the indexes in it that may be used by name."""
    for folder in _above():
        paths = _inside(folder)
        yield folder, paths if _is_trusted(folder) else [path for path in paths if _is_trusted(path)]


def _above() -> Iterator[Path]:
    """`indexes` here, and in each folder above that belongs to the user, up to the home directory or the root."""
    yield Path(FOLDER)
    here, top = Path.cwd(), home()
    for below, folder in pairwise([here, *here.parents]):
        if below == top or owner(folder) != user():
            return
        yield folder / FOLDER


def _of_others() -> list[Path]:
    """Indexes here and above that may only be used by folder."""
    return [path for folder in _above() if not _is_trusted(folder) for path in _inside(folder) if not _is_trusted(path)]


def _is_trusted(path: Path) -> bool:
    return owner(path) in (user(), ROOT)


def _own() -> Iterator[Path]:
    """Indexes of the setting `indexes`, whose folders are indexes or contain some."""
    folders = setting("indexes").value
    for path in map(Path, folders if isinstance(folders, tuple) else ()):
        if is_index(path):
            yield path
        else:
            yield from _inside(path)


def _inside(folder: Path) -> list[Path]:
    """Indexes in a folder, by name; none if the folder is missing or unreadable."""
    with suppress(OSError):
        return sorted(path for path in folder.iterdir() if is_index(path))
    return []


def _age(path: Path) -> float | None:
    """Time of an index's last commit; None for an unfinished index."""
    with suppress(OSError):
        return (path / MANIFEST).stat().st_mtime
    return None
