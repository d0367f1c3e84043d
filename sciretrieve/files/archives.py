"""Files within a .zip, by paths that go on in it: `export.zip/papers/old.bib`. Nothing is unpacked under a name of its own."""

from __future__ import annotations

import io
import re
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from ..errors import InvalidRequest

if TYPE_CHECKING:
    import zipfile

SUFFIX = ".zip"
MOST_MEMBERS = 10_000
LARGEST, MOST_TIMES = 1 << 30, 250
"""Bytes that an archive may unpack to, and above that, how many times its own size. Texts make some ten, and the format allows a
thousand."""


def names(path: Path, stream: BinaryIO | None = None) -> dict[str, zipfile.ZipInfo]:
    """The files within a .zip: names without what could lead out of a folder or would not print, and where they are.

    `stream` has the contents, where these are not a file's.

    Raises:
        OSError: it is no .zip, or a damaged one.
        InvalidRequest: it has too many files, two of one name, or unpacks to far more than such a file can hold.
    """
    import zipfile

    try:
        with zipfile.ZipFile(stream or path) as archive:
            infos = [info for info in archive.infolist() if not info.is_dir() and not info.filename.startswith("__MACOSX/")]
    except _errors() as error:
        raise OSError(str(error)) from error
    if len(infos) > MOST_MEMBERS:
        raise InvalidRequest(f"{path} holds {len(infos):,} files, and at most {MOST_MEMBERS:,} are read of one .zip; unpack it")
    size, packed_size = sum(info.file_size for info in infos), sum(info.compress_size for info in infos)
    if size > LARGEST and size > MOST_TIMES * min(packed_size, path.stat().st_size if stream is None else packed_size):
        raise InvalidRequest(f"{path} would unpack to {size >> 20:,} MB, far more than its size lets expect; if it is sound, unpack it")
    found = {_shown(info.filename): info for info in infos}
    if len(found) < len(infos):
        raise InvalidRequest(f"{path} holds several files of one name; unpack it, and rename them")
    return found


def _errors() -> tuple[type[Exception], ...]:
    """What is wrong with an archive, or with a file in it."""
    import zipfile

    return zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError, ValueError


def _shown(name: str) -> str:
    parts = [part for part in re.split(r"[/\\]", name) if part not in ("", ".", "..")]
    return "/".join("".join(char if char.isprintable() else "\ufffd" for char in part) for part in parts)


def place(path: Path) -> tuple[Path, str] | None:
    """The archive of a path that goes on within one, and the rest of the path; None if it does not."""
    for folder in path.parents:
        if folder.suffix.lower() == SUFFIX and folder.is_file():
            return folder, path.relative_to(folder).as_posix()
    return None


class Member(io.RawIOBase):
    """A file within a .zip. What is wrong with it is an OSError.

    Attributes:
        name: the file's.

    Raises:
        InvalidRequest: no name was given and there are several files, or none.
        FileNotFoundError: there is no file of that name.
    """

    def __init__(self, path: Path, name: str | None = None, stream: BinaryIO | None = None) -> None:
        import zipfile

        found = names(path, stream)
        if name is None and len(found) != 1:
            raise InvalidRequest(f"{path} holds {len(found)} files, and such a .zip is read only as a corpus, from a file; unpack it")
        self.name = next(iter(found)) if name is None else name
        if self.name not in found:
            raise FileNotFoundError(f"{path} holds no {name}")
        try:
            self._archive = zipfile.ZipFile(stream or path)
            self._member = self._archive.open(found[self.name])
        except _errors() as error:
            raise OSError(str(error)) from error

    def readable(self) -> bool:
        """Yes."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Decompress the next bytes."""
        try:
            block = self._member.read(len(buffer))
        except _errors() as error:
            raise OSError(str(error)) from error
        buffer[: len(block)] = block
        return len(block)

    def close(self) -> None:
        """Close the archive, too."""
        if hasattr(self, "_member"):
            self._member.close()
        if hasattr(self, "_archive"):
            self._archive.close()
        super().close()
