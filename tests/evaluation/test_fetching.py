"""Downloads from a local server: resumed, checked, unpacked; and what goes wrong."""

from __future__ import annotations

import dataclasses
import hashlib
import http.server
import io
import json
import os
import re
import shutil
import threading
import zipfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from sciretrieve.base.errors import CorruptData, Unavailable
from sciretrieve.evaluation import fetching
from sciretrieve.evaluation.benchmark_catalogue import CATALOGUE
from sciretrieve.evaluation.benchmark_specs import Download, HubFiles
from sciretrieve.evaluation.fetching import fetch
from sciretrieve.progress import Silent
from tests.command_line import sciretrieve

DATA = bytes(range(256)) * 5000


class Server(http.server.BaseHTTPRequestHandler):
    """Serves DATA, and a zip of it; breaks off once where asked; resumes."""

    ranges: list[str]

    def do_GET(self) -> None:
        range_header = self.headers.get("Range", "")
        self.ranges.append(range_header)
        if self.path.startswith("/api/"):
            self.listing()
            return
        if self.path == "/missing":
            self.send_error(404)
            return
        if self.path.startswith("/datasets/") and "/drsm/" not in self.path:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"x")
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

    def listing(self) -> None:
        """A folder as the hub's API lists it."""
        folder = self.path.partition("/tree/main/")[2]
        names = [
            f"{folder}/{name}" for name in ("test-00000-of-00002.parquet", "test-00001-of-00002.parquet", "train-00000-of-00001.parquet")
        ]
        entries = [{"type": "file", "oid": "0", "size": len(DATA), "path": name} for name in names]
        if folder != "drsm":
            starts = ("evaluation", "train", "test", "test_hard", "test_soft", "metadata")
            entries = [{"type": "file", "oid": "0", "size": 1, "path": f"{folder}/{start}-00000-of-00001.parquet"} for start in starts]
        body = json.dumps([{"type": "directory", "oid": "0", "size": 0, "path": f"{folder}/test-old"}, *entries]).encode()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"<html>" if "broken" in folder else body)

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


def test_no_link_in_the_place_of_a_partial_file_is_followed(server: tuple[str, list[str]], tmp_path: Path) -> None:
    (tmp_path / "victim").write_bytes(DATA[:7])
    (tmp_path / "x.bin.partial").symlink_to(tmp_path / "victim")
    assert get(tmp_path, Download(f"{server[0]}/x", "x.bin"))[0].read_bytes() == DATA
    assert (tmp_path / "victim").read_bytes() == DATA[:7]


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


def test_all_parts_of_a_hub_data_set_are_fetched(server: tuple[str, list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetching, "HUB", server[0])

    def hub(folder: str, prefix: str) -> list[Path]:
        row = dataclasses.replace(CATALOGUE["drsm"], hub=(HubFiles("allenai/scirepeval_test", folder, prefix),))
        return fetch(row, tmp_path, Silent())

    paths = hub("drsm", "test-")
    assert [path.relative_to(tmp_path).as_posix() for path in paths] == [f"drsm/test-0000{part}-of-00002.parquet" for part in range(2)]
    assert all(path.read_bytes() == DATA for path in paths)
    with pytest.raises(Unavailable, match=r"lists no drsm/evaluation-\*; the data set may have changed"):
        hub("drsm", "evaluation-")
    with pytest.raises(Unavailable, match="does not list files as expected"):
        hub("broken", "test-")
    paths = [path for row in CATALOGUE.values() if row.hub and row.name != "drsm" for path in fetch(row, tmp_path, Silent())]
    assert {path.relative_to(tmp_path).as_posix() for path in paths} > {
        *("fos/evaluation-00000-of-00001.parquet", "fos/train-00000-of-00001.parquet", "fos/test-00000-of-00001.parquet"),
        *("hIndex/test-00000-of-00001.parquet", "peer_review_score_hIndex/evaluation-00000-of-00001.parquet"),
        *("paper_reviewer_matching/test_hard-00000-of-00001.parquet", "reviewers/metadata-00000-of-00001.parquet"),
    }
    assert not list((tmp_path / "relish").glob("train*"))
    monkeypatch.setattr(fetching, "HUB", "http://127.0.0.1:9")
    with pytest.raises(Unavailable, match="cannot be reached"):
        hub("drsm", "test-")


def killed(count: Iterator[int], killed_at: int, half: int, source: Any, target: Any, length: int) -> None:
    """Copies a file, but for the one at which the process dies in the middle."""
    target.write(source.read(half))
    target.flush()
    if next(count) == killed_at:
        os._exit(9)
    target.write(source.read())


@pytest.mark.parametrize("size", [3, 2 << 20])
def test_what_was_killed_while_it_unpacked_is_absent_and_then_whole(tmp_path: Path, size: int) -> None:
    """Killed in the first member and in the second; and an archive whose half somebody else unpacked."""
    with zipfile.ZipFile(tmp_path / "set.zip", "w") as archive:
        for name in ("set/corpus.jsonl", "set/qrels/test.tsv"):
            archive.writestr(name, "x" * size)
    download = Download("http://127.0.0.1:9/set.zip", "set.zip")
    for killed_at in (1, 2):
        if not (child := os.fork()):
            setattr(shutil, "copyfileobj", partial(killed, iter(range(1, 3)), killed_at, size // 2))  # noqa: B010 (no type is known of it)
            get(tmp_path, download)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
        assert not [*tmp_path.rglob("*.jsonl*"), *tmp_path.rglob("*.tsv*")]
    (tmp_path / "set").mkdir()
    (tmp_path / "set/corpus.jsonl").write_text("x" * (size // 2))
    get(tmp_path, download)
    assert {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()} == {
        *("set.zip", "set/corpus.jsonl", "set/qrels/test.tsv")
    }
    assert (tmp_path / "set/corpus.jsonl").stat().st_size == (tmp_path / "set/qrels/test.tsv").stat().st_size == size


def test_half_of_a_download_by_other_means_is_completed(server: tuple[str, list[str]], tmp_path: Path) -> None:
    (tmp_path / "x.bin").write_bytes(DATA[:1000])
    (path,) = get(tmp_path, Download(f"{server[0]}/x", "x.bin", bytes=len(DATA)))
    assert (path.read_bytes(), server[1]) == (DATA, ["bytes=1000-"])


@pytest.mark.parametrize("name", [name for name, row in CATALOGUE.items() if row.manual])
def test_what_is_to_be_had_by_hand_is_said_with_the_users_folder(name: str, tmp_path: Path) -> None:
    steps = fetching.by_hand(CATALOGUE[name], tmp_path / "a folder")
    assert steps
    assert not re.search(r"\bDIR\b", steps)


def test_a_set_that_is_to_be_had_by_hand_is_not_fetched(tmp_path: Path) -> None:
    done = sciretrieve("benchmarks", "fetch", "scidocs-rerank", "--to", tmp_path / "to")
    assert done.returncode == 1
    assert str(tmp_path / "to") in done.stdout
