"""What tests share: a cache for compiled encoders, small corpora made up here, and indexes built from them once.

A suite that takes long is run too seldom, so every second counts. What costs: converting an encoder takes a second, starting a process
another, opening the embedded encoder a quarter. So a new test takes `index` or `built` where any index will do, words alone
(`encoder=None`) where no vectors are needed, `tests.toy_encoder` where the vectors' values do not matter, `models` for weights
made up here, and `tests.command_line.sciretrieve` for commands. Nothing sleeps, and nothing is asserted of durations.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

# before anything imports huggingface_hub: no test reaches for the hub, or sees what its user has downloaded
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["HF_HOME"] = tempfile.mkdtemp(prefix="sciretrieve-no-hub-")
# nor its user's models, settings and saved searches
os.environ.pop("SCIRETRIEVE_MODELS", None)
os.environ["SCIRETRIEVE_CONFIG"] = os.environ["HF_HOME"] + "/config.toml"
os.environ["SCIRETRIEVE_DATA"] = os.environ["HF_HOME"] + "/data"
if (worker := os.environ.get("PYTEST_XDIST_WORKER")) and hasattr(os, "sched_setaffinity"):
    # a core for each worker: threads of several libraries in several workers would wait for each other
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[int(worker.removeprefix("gw")) % len(cores)]})

import pytest
from hypothesis import settings

from tests.made_up import made_up_papers, write_jsonl
from tests.toy_weights import models, models_converted_anew

# how long an example takes says something of the machine alone; and where all changes are checked, all get the same examples
settings.register_profile("tests", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("tests")

__all__ = ["models", "models_converted_anew"]

SLOW = (
    *("encoders/test_bad_weights", "encoders/test_cross_encoder", "encoders/test_ensembles", "encoders/test_golden"),
    *("encoders/test_layouts", "encoders/test_readings"),
    *("encoders/test_openvino_runtime", "encoders/test_resolving", "encoders/test_runtimes", "encoders/test_weights"),
    *("encoders/test_torch_runtime", "answers/test_explaining", "commands/test_evaluating", "evaluation/test_reranked"),
    *("promises/test_light_imports", "real/", "test_demo", "lifecycle/", "test_threads", "studies/test_tuning"),
    *("query/narrowing/test_masks", "evaluation/test_sides", "query/ranking/test_reranking", "promises/test_documents"),
    *("query/test_index.py", "commands/test_cli", "torture/"),
)
"""Where tests are that `make quick` leaves out: those that convert encoders, start processes or encode much."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--torture`: the tests in tests/torture at their full size."""
    parser.addoption("--torture", action="store_true", help="run the torture tests at their full size")


def pytest_unconfigure() -> None:
    """Removes the empty folder that stands for what is downloaded."""
    shutil.rmtree(os.environ["HF_HOME"], ignore_errors=True)


Effort = Callable[[Any, Any], Any]


@pytest.fixture(scope="session")
def effort(request: pytest.FixtureRequest) -> Effort:
    """Picks between what a torture test does in every run and, second, what it does with `--torture`."""
    is_large = bool(request.config.getoption("--torture"))
    return lambda small, large: large if is_large else small


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is slow."""
    here = Path(__file__).parent
    for item in items:
        if item.path.relative_to(here).as_posix().startswith(SLOW):
            item.add_marker("slow")


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


@pytest.fixture(scope="session")
def convert_once(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., None]:
    """`conversion.convert`, which takes what it made of the same weights before in this run, in any worker, from a folder."""
    from sciretrieve.encoders.conversion import convert

    base = tmp_path_factory.getbasetemp()
    made = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "conversions"

    def copy(source: Path, target: Path) -> None:
        target.parent.mkdir(parents=True, exist_ok=True)
        work = Path(shutil.copytree(source, tempfile.mkdtemp(dir=target.parent), dirs_exist_ok=True))
        try:
            work.rename(target)
        except OSError:  # another thread or worker was first
            shutil.rmtree(work)

    def converted(spec: Any, task: str, folders: Any, target: Path, late: bool = False) -> None:
        if (made / target.name).exists():
            copy(made / target.name, target)
        else:
            convert(spec, task, folders, target, late)
            copy(target, made / target.name)

    return converted


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`indexes/` is looked for in the working directory, and above up to the home: give every test an empty one, and no settings."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    for name in ("INDEX", "INDEXES", "ENCODER", "K", "FORMAT"):
        monkeypatch.delenv(f"SCIRETRIEVE_{name}", raising=False)


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
