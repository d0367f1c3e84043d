"""Builds on a Ray cluster: the index is that of one machine, whatever dies meanwhile."""

from __future__ import annotations

import socket
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import sciretrieve as sr
from sciretrieve.base.errors import MissingExtra, NotFound, Unavailable
from sciretrieve.lifecycle.distributed import RayWorkers
from sciretrieve.lifecycle.distributed.cluster import RayCluster, check_address
from sciretrieve.protocols import Advance
from tests.command_line import sciretrieve
from tests.lifecycle.test_building import contents
from tests.lifecycle.test_parts import manifest
from tests.made_up import made_up_papers, write_jsonl

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_jsonl(tmp_path_factory.mktemp("corpus") / "corpus.jsonl", made_up_papers(200))


def test_what_a_task_raises_is_raised_here(workers: RayWorkers, tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text("{}")  # a finished index

    def fails(_: Advance) -> None:
        raise NotFound("there is no such thing")

    with pytest.raises(NotFound, match="no such thing"):
        list(workers.run(tmp_path, [fails], lambda _: None))


def test_a_file_that_nodes_see_otherwise(workers: RayWorkers) -> None:
    # what a process reads here is about itself
    with pytest.raises(Unavailable, match="does not see /proc/self as this machine does"):
        workers.cluster.check(workers.cluster.nodes()[0], Path("/proc/self/environ"))


def test_a_node_with_another_version(workers: RayWorkers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sciretrieve.lifecycle.distributed.cluster.version", lambda _: "99.0")
    with pytest.raises(Unavailable, match=r"has sciretrieve .*; install version 99\.0 there"):
        workers.cluster.check(workers.cluster.nodes()[0], tmp_path)


def test_an_address_without_a_cluster() -> None:
    start = time.monotonic()
    with pytest.raises(Unavailable, match=r"no Ray cluster can be reached at 127\.0\.0\.1:1 "):
        RayCluster("127.0.0.1:1")
    with pytest.raises(Unavailable, match="give HOST:PORT"):
        RayCluster("nonsense")
    assert time.monotonic() - start < 30  # Ray itself waits for many minutes


def test_an_address_of_a_web_server() -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"127.0.0.1:{server.server_port}"
        result = sciretrieve("search", "star", "-i", "anywhere", "--ray", address)
        server.shutdown()
    assert result.returncode == 4
    error = (
        f"sciretrieve: what listens at {address} is not a Ray cluster's head node; give the address that `ray start` shows there, or auto"
    )
    assert result.stderr.splitlines()[2:] == [error]  # after two lines of the server's


def test_an_address_of_something_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sciretrieve.lifecycle.distributed.cluster.LONGEST_CONNECTION", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"127.0.0.1:{listener.getsockname()[1]}"
        with pytest.raises(Unavailable, match="is not a Ray cluster's head node"):
            RayCluster(address)
        monkeypatch.setenv("RAY_ADDRESS", address)
        monkeypatch.setattr("ray.is_initialized", lambda: False)  # by another test
        with pytest.raises(Unavailable, match=f"listens at {address} is not"):
            RayCluster(None)
        monkeypatch.setenv("RAY_USE_TLS", "1")  # whose greeting would be another
        check_address(address)


def test_without_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtra, match=r'pip install "sciretrieve\[ray\]"'):
        RayWorkers()


def test_the_command(corpus: Path, cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = sr.build(corpus, tmp_path / "here", shard_size=40, dense="IVF4,SQ8")
    assert [facts.ann_file for facts in here.snapshot.manifest.shards] == ["dense-000001.faiss"] * 5
    monkeypatch.setattr("sciretrieve.lifecycle.ingest.fill", None)  # in this process
    monkeypatch.setattr("sciretrieve.storage.commits.build_ann", None)
    options = ["-o", str(tmp_path / "index"), "--set", "shard_size=40", "--dense", "IVF4,SQ8"]
    away = sciretrieve("index", corpus, *options, "--ray", "127.0.0.1:1")
    assert (away.returncode, away.stderr.count("\n")) == (4, 2)
    assert not (tmp_path / "index").exists()
    built = sciretrieve("index", corpus, *options, "--ray", cluster.address)
    assert built.returncode == 0, built.stderr
    index = sr.open(tmp_path / "index")
    assert contents(index) == contents(here)
    assert manifest(index) == manifest(here)
