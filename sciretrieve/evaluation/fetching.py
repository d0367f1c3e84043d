"""Downloading a benchmark's files: resumable, checked where a checksum is published, zip archives unpacked."""

from __future__ import annotations

import hashlib
import urllib.error
import urllib.request
import zipfile
from pathlib import Path

from ..errors import CorruptData, Unavailable
from ..protocols import Progress
from .catalogue import Benchmark, Download

BLOCK = 1 << 20


def fetch(benchmark: Benchmark, folder: Path, progress: Progress) -> list[Path]:
    """Download the files that are missing. Returns all files; none where everything must be fetched by hand.

    Raises:
        Unavailable: an address cannot be reached, or has no such file.
        CorruptData: a file does not match its published size or checksum.
    """
    files = []
    for download in benchmark.downloads:
        path = folder / download.name
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            _download(download, path, progress)
            if path.suffix == ".zip":
                _unpack(path, folder)
        files.append(path)
    return files


def _download(download: Download, path: Path, progress: Progress) -> None:
    partial = path.with_name(path.name + ".partial")
    start = partial.stat().st_size if partial.exists() else 0
    request = urllib.request.Request(download.url, headers={"Range": f"bytes={start}-"} if start else {})
    progress.note(f"{download.url}{f', from byte {start:,}' if start else ''}")
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            if start and response.status != 206:
                start = 0  # the server does not resume: start over
            with partial.open("ab" if start else "wb") as file:
                while block := response.read(BLOCK):
                    file.write(block)
            length = response.headers.get("Content-Length")
    except urllib.error.HTTPError as error:
        if error.code == 416 and start:
            length = None  # the file is complete already
        else:
            raise Unavailable(f"{download.url} answers {error.code} {error.reason}; the file may have moved") from error
    except (urllib.error.URLError, OSError) as error:
        raise Unavailable(f"{download.url} cannot be reached ({error}); the part is kept, and the same command resumes it") from error
    size = partial.stat().st_size
    if length is not None and size != start + int(length):
        raise Unavailable(f"{download.url} broke off after {size:,} bytes; the same command resumes it")
    if download.bytes and size != download.bytes:
        raise CorruptData(f"{partial} has {size:,} bytes, but its publisher says {download.bytes:,}; remove it and fetch it again")
    if download.md5:
        with partial.open("rb") as file:
            digest = hashlib.file_digest(file, "md5").hexdigest()
        if digest != download.md5:
            raise CorruptData(f"{partial} has MD5 {digest}, but its publisher says {download.md5}; remove it and fetch it again")
    partial.rename(path)


def _unpack(path: Path, folder: Path) -> None:
    try:
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                if not (folder / name).resolve().is_relative_to(folder.resolve()):
                    raise CorruptData(f"{path} would write outside {folder}: {name}")
            archive.extractall(folder)
    except zipfile.BadZipFile as error:
        raise CorruptData(f"{path} is not a zip archive ({error}); remove it and fetch it again") from error
