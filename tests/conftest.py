"""What tests share: a cache for compiled encoders, small corpora made up here, and indexes built from them once."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

# before anything imports huggingface_hub: no test reaches for the hub, or sees what its user has downloaded
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["HF_HOME"] = tempfile.mkdtemp(prefix="sciretrieve-no-hub-")

import pytest

from tests.made_up import made_up_papers, write_jsonl
from tests.toy_weights import models

__all__ = ["models"]


@pytest.fixture(scope="session", autouse=True)
def encoder_cache(request: pytest.FixtureRequest) -> Iterator[Path]:
    """Compiled encoders are kept beside pytest's own cache, and never in the home of whoever runs the tests."""
    path = Path(request.config.cache.mkdir("encoders"))
    before = os.environ.get("SCIRETRIEVE_CACHE")
    os.environ["SCIRETRIEVE_CACHE"] = str(path)
    yield path
    if before is None:
        del os.environ["SCIRETRIEVE_CACHE"]
    else:
        os.environ["SCIRETRIEVE_CACHE"] = before


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`indexes/` is looked for in the working directory: give every test an empty one."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="session")
def papers() -> list[dict[str, Any]]:
    """300 made-up papers."""
    return made_up_papers(300)


@pytest.fixture(scope="session")
def corpus(papers: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The made-up papers as a JSONL file."""
    return write_jsonl(tmp_path_factory.mktemp("corpus") / "papers.jsonl", papers)


@pytest.fixture(scope="session")
def built(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Any]:
    """Builds an index of the made-up papers with given settings, each kind once a session."""
    import sciretrieve as sr

    made: dict[str, Any] = {}

    def build(**settings: Any) -> Any:
        key = repr(sorted(settings.items()))
        if key not in made:
            made[key] = sr.build(corpus, tmp_path_factory.mktemp("index") / "made-up", **settings)
        return made[key]

    return build


@pytest.fixture(scope="session")
def index(built: Callable[..., Any]) -> Any:
    """An index of the made-up papers in three shards, with both halves."""
    return built(shard_size=128)
