"""Downloads a benchmark's files: resumes, checks published checksums, unpacks zip archives.

A file under its final name is complete: it is written under another name, and renamed.
"""

from __future__ import annotations

import hashlib
import json
import re
import shlex
import shutil
import urllib.error
import urllib.request
import zipfile
from pathlib import Path

from ..base.errors import CorruptData, Unavailable
from ..protocols import Progress
from .benchmark_reading import has_files
from .benchmark_specs import Benchmark, Download, HubFiles

BLOCK = 1 << 20
HUB = "https://huggingface.co"


def fetch(benchmark: Benchmark, folder: Path, progress: Progress) -> list[Path]:
    """Download the missing files. Returns all files; none if everything must be fetched by hand.

    Raises:
        Unavailable: an address cannot be reached, or has no such file or folder.
        CorruptData: a file does not match its published size or checksum.
    """
    files = []
    downloads = [*benchmark.downloads, *(download for hub_files in benchmark.hub for download in _listed(hub_files))]
    for download in downloads:
        path = folder / download.name
        if path.exists() and path.stat().st_size < download.bytes:  # truncated by another program
            path.replace(_partial(path))
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            _download(download, path, progress)
        if path.suffix == ".zip":
            _unpack(path, folder)
        files.append(path)
    return files


def by_hand(benchmark: Benchmark, folder: Path) -> str:
    """The steps to do by hand for a benchmark's files; "" if they are there, or all can be downloaded."""
    return "" if has_files(folder, benchmark) else re.sub(r"\bDIR\b", lambda _: shlex.quote(str(folder)), benchmark.manual)


def _listed(hub_files: HubFiles) -> list[Download]:
    """The files in the hub's list, with their sizes; they go into a folder of the same name."""
    url = f"{HUB}/api/datasets/{hub_files.repository}/tree/main/{hub_files.folder}"
    try:
        with urllib.request.urlopen(url, timeout=60) as response:
            entries = json.load(response)
        rows = [(str(entry["path"]), int(entry["size"])) for entry in entries if entry["type"] == "file"]
    except urllib.error.HTTPError as error:
        error.close()
        raise Unavailable(f"{url} answers {error.code} {error.reason}; the data set may have moved") from error
    except (urllib.error.URLError, OSError) as error:
        raise Unavailable(f"{url} cannot be reached ({error}); the same command goes on from there") from error
    except (ValueError, KeyError, TypeError) as error:
        raise Unavailable(f"{url} does not list files as expected ({error})") from error
    start = f"{hub_files.folder}/{hub_files.prefix}"
    files = [(path, size) for path, size in rows if path.startswith(start)]
    if not files:
        raise Unavailable(f"{url} lists no {start}*; the data set may have changed")
    home = f"{HUB}/datasets/{hub_files.repository}/resolve/main"
    return [Download(f"{home}/{path}", path, bytes=size) for path, size in files]


def _download(download: Download, path: Path, progress: Progress) -> None:
    partial = _partial(path)
    if partial.is_symlink():
        partial.unlink()  # a link, which nothing here has made: its target must not be written
    start = partial.stat().st_size if partial.exists() else 0
    request = urllib.request.Request(download.url, headers={"Range": f"bytes={start}-"} if start else {})
    progress.note(f"{download.url}{f', from byte {start:,}' if start else ''}")
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            if start and response.status != 206:
                start = 0  # the server does not resume, so start over
            with partial.open("ab" if start else "wb") as file:
                while block := response.read(BLOCK):
                    file.write(block)
            length = response.headers.get("Content-Length")
    except urllib.error.HTTPError as error:
        error.close()
        if error.code == 416 and start and error.headers.get("Content-Range", f"bytes */{start}") == f"bytes */{start}":
            length = None  # the file is complete already
        elif error.code == 416 and start:
            raise CorruptData(f"{partial} is longer than {download.url}; remove it and fetch it again") from error
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
    partial.replace(path)


def _partial(path: Path) -> Path:
    return path.with_name(path.name + ".partial")


def _unpack(path: Path, folder: Path) -> None:
    """Unpack the missing and incomplete files of an archive into a folder. None has its final name before it is complete."""
    aside = folder / f".{path.name}.unpacking"
    try:
        with zipfile.ZipFile(path) as archive:
            members = [member for member in archive.infolist() if not member.is_dir()]
            for member in members:
                if not (folder / member.filename).resolve().is_relative_to(folder.resolve()):
                    raise CorruptData(f"{path} would write outside {folder}: {member.filename}")
            there = {member: folder / member.filename for member in members}
            missing = [member for member, path in there.items() if not path.is_file() or path.stat().st_size != member.file_size]
            for place, member in enumerate(missing):
                aside.mkdir(exist_ok=True)
                with archive.open(member) as source, (aside / str(place)).open("wb") as target:
                    shutil.copyfileobj(source, target, BLOCK)
        for place, member in enumerate(missing):
            (folder / member.filename).parent.mkdir(parents=True, exist_ok=True)
            (aside / str(place)).replace(folder / member.filename)
    except zipfile.BadZipFile as error:
        raise CorruptData(f"{path} is not a zip archive ({error}); remove it and fetch it again") from error
    finally:
        shutil.rmtree(aside, ignore_errors=True)
