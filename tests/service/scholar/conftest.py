"""The library, served once for all tests of a module, and the client that others have made for it."""

from pathlib import Path

import pytest
from semanticscholar import SemanticScholar

import sciretrieve as sr
from tests.service.conftest import Serve
from tests.service.scholar.library import PAPERS, REPORTS


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library's index, of words alone."""
    path = tmp_path_factory.mktemp("scholar") / "sea"
    sr.build([*PAPERS, *REPORTS], path, encoder=None, shard_size=1000, progress=False).close()
    return path


@pytest.fixture(scope="module")
def address(serve: Serve, library: Path) -> str:
    """Where it is served."""
    return serve(library)


@pytest.fixture(scope="module")
def client(address: str) -> SemanticScholar:
    """Semantic Scholar's own client, unchanged, which asks this service."""
    return SemanticScholar(api_url=address, timeout=30, retry=False)
