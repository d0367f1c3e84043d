"""Finding and downloading weights: a local server speaks the hub's protocol, and what is missing is said."""

from __future__ import annotations

import http.server
import json
import shutil
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sciretrieve.base.errors import CorruptData, InvalidRequest, NotFound, Unavailable
from sciretrieve.encoders import load_encoder, weights
from sciretrieve.encoders.specs import ModelFiles
from sciretrieve.encoders.weights import files_of, hashes_of, locate, obtain
from tests.command_line import Result, process, sciretrieve
from tests.toy_weights import write_adapters, write_bert

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class Hub(http.server.BaseHTTPRequestHandler):
    """Answers as the hub does: files with their ETag and commit, 404 with the hub's error codes."""

    root: Path
    asked: list[str]

    def do_HEAD(self) -> None:
        self.answer(body=False)

    def do_GET(self) -> None:
        self.answer(body=True)

    def answer(self, body: bool) -> None:
        self.asked.append(f"{self.command} {self.path}")
        repository, _, rest = self.path.lstrip("/").partition("/resolve/")
        path = self.root / repository / rest.partition("/")[2]
        if not path.is_file():
            self.send_response(404)
            self.send_header("X-Error-Code", "EntryNotFound" if (self.root / repository).is_dir() else "RepoNotFound")
            self.send_header("X-Repo-Commit", COMMIT)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        data = path.read_bytes()
        start = int(self.headers["Range"].removeprefix("bytes=").split("-")[0]) if "Range" in self.headers else 0
        self.send_response(206 if start else 200)
        self.send_header("ETag", f'"{hash(data) & 0xFFFFFFFF:08x}"')
        self.send_header("X-Repo-Commit", COMMIT)
        self.send_header("Content-Length", str(len(data) - start))
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
        self.end_headers()
        if body:
            self.wfile.write(data[start:])

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A folder that is served as the hub, and its address."""
    root = tmp_path / "served"
    root.mkdir()
    handler = type("Handler", (Hub,), {"root": root, "asked": []})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield root, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def run(address: str, home: Path, *arguments: str) -> Result:
    """The command line with that hub, in a home of its own. The hub's library reads the environment once, so its constants are set."""
    from huggingface_hub import constants, file_download
    from huggingface_hub.utils import reset_sessions

    settings: dict[str, Any] = {"ENDPOINT": address, "HF_HUB_CACHE": str(home / "hub" / "hub")}
    settings |= {"HF_HUB_OFFLINE": False, "HF_HUB_DISABLE_XET": True, "HF_HUB_DISABLE_TELEMETRY": True}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in settings.items():
            patch.setattr(constants, name, value)
        patch.setattr(file_download, "HUGGINGFACE_CO_URL_TEMPLATE", address + "/{repo_id}/resolve/{revision}/{filename}")
        reset_sessions()
        result = sciretrieve(*arguments, SCIRETRIEVE_CACHE=str(home / "cache"))
    reset_sessions()
    return result


def test_specter2_is_downloaded_once_and_searched_offline(hub: tuple[Path, str], tmp_path: Path, corpus: Path) -> None:
    root, address = hub
    write_bert(root / "allenai" / "specter2_base", 1)
    names = {"[PRX]": Path("specter2"), "[QRY]": Path("specter2_adhoc_query")}
    write_adapters(root / "allenai", root / "allenai" / "specter2_base", names, 2)
    listed = run(address, tmp_path, "encoders", "--format", "json")
    assert {row["name"]: row["here"] for row in json.loads(listed.stdout)}["specter2"] == "download"
    built = run(address, tmp_path, "index", str(corpus), "-o", str(tmp_path / "index"), "--encoder", "specter2", "--limit", "40")
    assert built.returncode == 0, built.stderr
    assert "downloading allenai/specter2_base" in built.stderr
    listed = run(address, tmp_path, "encoders", "--format", "json")
    assert {row["name"]: row["here"] for row in json.loads(listed.stdout)}["specter2"] == "ready"
    # neither the hub nor the weights are needed again
    shutil.rmtree(tmp_path / "hub")
    nothing = {"HF_ENDPOINT": "http://127.0.0.1:9", "HF_HOME": str(tmp_path / "hub"), "HF_HUB_OFFLINE": "0"}
    words = ("search", "graph networks", "-i", tmp_path / "index", "--mode", "dense", "--format", "json")
    result = process(*words, SCIRETRIEVE_CACHE=str(tmp_path / "cache"), **nothing)  # which remembers nothing of what was before
    assert result.returncode == 0, result.stderr
    assert len(json.loads(result.stdout)["hits"]) == 10


def test_an_adapters_repository_is_told_from_a_models(hub: tuple[Path, str], tmp_path: Path) -> None:
    root, address = hub
    write_bert(root / "lab" / "base", 1)
    write_adapters(root / "lab", root / "lab" / "base", {"it": Path("adapter")}, 2)
    result = run(address, tmp_path, "encoders", "fetch", "lab/adapter")
    assert result.returncode == 2, result.stderr
    assert "lab/adapter holds an adapter, not a model" in result.stderr
    assert run(address, tmp_path, "encoders", "fetch", "lab/base", "--set", "adapter=lab/adapter").returncode == 0


@pytest.mark.parametrize(
    ("name", "code", "words"),
    [("lab/nothing", 4, "the hub has no model lab/nothing"), ("lab/empty", 4, "lab/empty on the hub has no config.json")],
)
def test_what_the_hub_has_not(hub: tuple[Path, str], tmp_path: Path, name: str, code: int, words: str) -> None:
    root, address = hub
    (root / "lab" / "empty").mkdir(parents=True)
    result = run(address, tmp_path, "encoders", "fetch", name)
    assert result.returncode == code, result.stderr
    assert words in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1 or "downloading" in result.stderr


def test_an_unreachable_hub_says_what_is_missing_and_where_it_may_be_put(models: Path) -> None:
    with pytest.raises(Unavailable) as caught:
        _ = load_encoder("specter2").dim
    assert "config.json of allenai/specter2_base" in str(caught.value)
    assert str(models / "allenai/specter2_base") in str(caught.value)
    assert "use granite as `encoder`, which needs no download" in str(caught.value)


@pytest.fixture(params=["closed", "silent"])
def dead_hub(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A hub's address where no server listens, or where one accepts connections and never answers."""
    from huggingface_hub import constants
    from huggingface_hub.utils import reset_sessions

    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        if request.param == "silent":
            listener.listen()
        else:
            listener.close()
        monkeypatch.setattr(constants, "ENDPOINT", address)
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
        monkeypatch.setattr(weights, "PATIENCE", 0.3)
        reset_sessions()
        yield
    reset_sessions()


def test_a_hub_that_does_not_answer_is_given_up_at_once(
    models: Path, dead_hub: None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def sleep(seconds: float) -> None:
        raise AssertionError("waits to try again")

    monkeypatch.setattr(time, "sleep", sleep)
    with pytest.raises(Unavailable, match=r"specter needs config\.json of allenai/specter, and the hub cannot be reached") as caught:
        _ = load_encoder("specter").dim
    assert "\n" not in str(caught.value)
    assert not caplog.records


def test_unreleased_weights_say_where_they_may_be_put(models: Path) -> None:
    write_bert(models / "microsoft/BiomedNLP-BiomedBERT-base-uncased-abstract", 1)
    with pytest.raises(Unavailable, match=rf"scimult_ffn\.ckpt in {models / 'scimult-ffnexpert'}: its authors have not released it"):
        _ = load_encoder("scimult-ffnexpert").dim


def test_the_rename_trap_on_disk(models: Path) -> None:
    write_bert(models / "base", 1)
    write_adapters(models, models / "base", {"[PRX]": Path("specter2")}, 2)
    with pytest.raises(InvalidRequest, match=r"holds an adapter, not a model.*use specter2 as `encoder`"):
        load_encoder(str(models / "specter2"))
    with pytest.raises(InvalidRequest, match="holds a model where an adapter is expected"):
        _ = load_encoder(str(models / "base"), adapter=str(models / "base")).dim
    with pytest.raises(InvalidRequest, match=r"allenai/specter2 is an adapter, not a model.*use specter2 as `encoder`"):
        load_encoder("allenai/specter2")
    with pytest.raises(NotFound, match="there is no folder"):
        load_encoder(str(models / "absent"))


def test_alternatives_and_optional_files(tmp_path: Path) -> None:
    part = ModelFiles(str(tmp_path), ("a.json", "b.safetensors|b.bin", "c.txt?"))
    (tmp_path / "a.json").write_text("{}")
    assert locate(part) is None
    with pytest.raises(NotFound, match=r"lacks b\.safetensors or b\.bin"):
        obtain(part, "it")
    (tmp_path / "b.bin").write_text("weights")
    assert [file.name for file in files_of(part, obtain(part, "it"))] == ["a.json", "b.bin"]
    (tmp_path / "b.safetensors").write_text("weights")
    (tmp_path / "c.txt").write_text("")
    assert set(hashes_of(part, tmp_path, "it")) == {"a.json", "b.safetensors", "c.txt"}
    with pytest.raises(CorruptData, match=r"a\.json has SHA-256"):
        hashes_of(ModelFiles(str(tmp_path), part.files, sha256={"a.json": "0" * 64}), tmp_path, "it")
