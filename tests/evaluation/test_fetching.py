"""Downloads from a local server: resumed, checked, unpacked; and what goes wrong."""

from __future__ import annotations

import dataclasses
import hashlib
import http.server
import io
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from sciretrieve.errors import CorruptData, Unavailable
from sciretrieve.evaluation.catalogue import CATALOGUE, Download
from sciretrieve.evaluation.fetching import fetch
from sciretrieve.protocols import Silent

DATA = bytes(range(256)) * 5000


class Server(http.server.BaseHTTPRequestHandler):
    """Serves DATA, and a zip of it; breaks off once where asked; resumes."""

    ranges: list[str]

    def do_GET(self) -> None:
        range_header = self.headers.get("Range", "")
        self.ranges.append(range_header)
        if self.path == "/missing":
            self.send_error(404)
            return
        body = DATA if "zip" not in self.path else zipped("../evil.txt" if "evil" in self.path else "inside/corpus.jsonl")
        start = int(range_header.removeprefix("bytes=").split("-")[0]) if range_header else 0
        if start >= len(body):
            self.send_error(416)
            return
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(body) - start))
        self.end_headers()
        self.wfile.write(body[start : len(body) // 2] if "break" in self.path and not start else body[start:])

    def log_message(self, format: str, *args: object) -> None:
        pass


def zipped(name: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(name, "content")
    return buffer.getvalue()


@pytest.fixture
def server() -> Iterator[tuple[str, list[str]]]:
    handler = type("Handler", (Server,), {"ranges": []})
    running = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=running.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{running.server_port}", handler.ranges  # type: ignore[attr-defined]
    running.shutdown()
    running.server_close()


def get(folder: Path, *downloads: Download) -> list[Path]:
    return fetch(dataclasses.replace(CATALOGUE["mdcr"], downloads=downloads), folder, Silent())


def test_a_download_that_broke_off_goes_on_where_it_stopped(server: tuple[str, list[str]], tmp_path: Path) -> None:
    url, ranges = server
    download = Download(f"{url}/break", "deep/data.bin", hashlib.md5(DATA).hexdigest(), len(DATA))
    with pytest.raises(Unavailable, match="the same command resumes it"):
        get(tmp_path, download)
    assert not (tmp_path / "deep/data.bin").exists()
    (path,) = get(tmp_path, download)
    assert path.read_bytes() == DATA
    assert ranges == ["", f"bytes={len(DATA) // 2}-"]
    get(tmp_path, download)  # it is there: nothing is asked
    assert len(ranges) == 2


def test_a_whole_partial_file_is_taken(server: tuple[str, list[str]], tmp_path: Path) -> None:
    (tmp_path / "x.bin.partial").write_bytes(DATA)
    assert get(tmp_path, Download(f"{server[0]}/x", "x.bin"))[0].read_bytes() == DATA


def test_archives_are_unpacked_and_kept_inside(server: tuple[str, list[str]], tmp_path: Path) -> None:
    get(tmp_path / "in", Download(f"{server[0]}/set.zip", "set.zip"))
    assert (tmp_path / "in/inside/corpus.jsonl").read_text() == "content"
    with pytest.raises(CorruptData, match="would write outside"):
        get(tmp_path / "evil", Download(f"{server[0]}/evil.zip", "evil.zip"))
    assert not (tmp_path / "evil.txt").exists()


@pytest.mark.parametrize(
    ("path", "md5", "size", "kind", "words"),
    [
        ("/x", "0" * 32, 0, CorruptData, "but its publisher says 000"),
        ("/x", "", 17, CorruptData, "publisher says 17"),
        ("/missing", "", 0, Unavailable, "answers 404"),
    ],
)
def test_what_is_wrong_is_said(
    server: tuple[str, list[str]], tmp_path: Path, path: str, md5: str, size: int, kind: type[Exception], words: str
) -> None:
    with pytest.raises(kind, match=words):
        get(tmp_path, Download(f"{server[0]}{path}", "x.bin", md5, size))
    assert not (tmp_path / "x.bin").exists()


def test_an_unreachable_server(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="cannot be reached"):
        get(tmp_path, Download("http://127.0.0.1:9/x", "x.bin"))
