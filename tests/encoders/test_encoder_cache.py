"""The cache of compiled encoders: what is in it, clearing it, and its bound."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sciretrieve.config import cache_directory
from sciretrieve.encoders import encoder_cache
from sciretrieve.encoders.artifact import Artifact
from tests.command_line import answer


def entry(folder: Path, name: str, size: int, used: float) -> Path:
    path = folder / "cache" / "encoders" / name
    path.mkdir(parents=True)
    (path / "model.bin").write_bytes(b"x" * size)
    for item in (path / "model.bin", path):
        os.utime(item, (used, used))
    return path


def test_the_cache_knows_sizes_and_forgets_what_was_used_longest_ago(models: Path) -> None:
    old, middle, new = (
        entry(models.parent, name, size, used) for name, size, used in (("a-1", 10, 1e9), ("b-2", 20, 2e9), ("a-3", 30, 3e9))
    )
    assert [(item.folder, item.bytes, item.used) for item in encoder_cache.entries()] == [(new, 30, 3e9), (middle, 20, 2e9), (old, 10, 1e9)]
    assert [row["bytes"] for row in json.loads(answer("encoders", "cache", "-f", "json"))["entries"]] == [30, 20, 10]
    encoder_cache.bound(keep=old, limit=60)
    assert len(encoder_cache.entries()) == 3
    encoder_cache.bound(keep=old, limit=45)
    assert [item.folder for item in encoder_cache.entries()] == [new, old]
    assert [item.folder for item in encoder_cache.clear("a-1")] == [old]
    assert [item.folder for item in encoder_cache.clear()] == [new]
    assert encoder_cache.entries() == []


def test_what_another_process_removes_meanwhile_is_not_counted(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folders = [entry(models.parent, name, 10, 1e9) for name in ("a-1", "b-2")]
    journal = folders[0] / "vectors.sqlite-journal"
    journal.write_bytes(b"x" * 99)
    listed = os.walk

    def walk(folder: Path) -> Iterator[tuple[str, list[str], list[str]]]:
        for names in list(listed(folder)):
            journal.unlink(missing_ok=True)
            yield names

    monkeypatch.setattr(os, "walk", walk)
    assert sorted(item.bytes for item in encoder_cache.entries()) == [10, 10]


def test_the_cache_is_where_the_system_has_caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SCIRETRIEVE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    if sys.platform == "linux":
        assert cache_directory() == tmp_path / "xdg" / "sciretrieve"
        monkeypatch.delenv("XDG_CACHE_HOME")
        assert cache_directory() == tmp_path / "home" / ".cache" / "sciretrieve"
    monkeypatch.setenv("SCIRETRIEVE_CACHE", str(tmp_path / "own"))
    assert cache_directory() == tmp_path / "own"


def test_a_cache_that_may_only_be_read_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "facts.json").write_text('{"dim": 4, "separator": "", "graph": true, "trimmed": false}')

    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "utime", refuse)
    assert Artifact(tmp_path).dim == 4
