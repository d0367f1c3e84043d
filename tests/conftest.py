"""What tests share: a cache for compiled encoders, small corpora made up here, and indexes built from them once.

A suite that takes long is run too seldom, so every second counts. What costs: converting an encoder takes a second, starting a process
another. So a new test takes `index` or `built` where any index will do, words alone (`encoder=None`) where no vectors are needed,
`encoder="letters"` where the vectors' values do not matter (`tests.toy_encoder`, which all tests know by that name), `models` for
weights made up here, and `tests.command_line.sciretrieve` for commands. The embedded encoder, which is taken where none is named, is
a toy in all tests but those marked `embedded_encoder`: they are about what is near in meaning, and build what they need themselves, or
are about that encoder. Processes of their own always have the real one. Encoders compute in fp32 on every processor. Nothing sleeps, and
nothing is asserted of durations.

Kept from run to run, until the package's encoders or a library are others: what was converted, and what the real weights computed.
"""

from __future__ import annotations

import gc
import hashlib
import inspect
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

# before anything imports huggingface_hub: no test reaches for the hub, or sees what its user has downloaded
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["HF_HOME"] = tempfile.mkdtemp(prefix="sciretrieve-no-hub-")
# nor its user's models, settings and saved searches
os.environ.pop("SCIRETRIEVE_MODELS", None)
os.environ["SCIRETRIEVE_CONFIG"] = os.environ["HF_HOME"] + "/config.toml"
os.environ["SCIRETRIEVE_DATA"] = os.environ["HF_HOME"] + "/data"
# nobody speaks TLS here, so clients of HTTP need not read the system's certificates, which each of them does anew
os.environ.pop("SSL_CERT_FILE", None)
os.environ["SSL_CERT_DIR"] = os.environ["HF_HOME"]
# tests write a hundred thousand files, which takes less time in memory than on a disk; where there are 8 GiB
if "PYTEST_DEBUG_TEMPROOT" not in os.environ and Path("/dev/shm").is_dir() and shutil.disk_usage("/dev/shm").free > 8 << 30:
    os.environ["PYTEST_DEBUG_TEMPROOT"] = "/dev/shm"
# and before anything imports OpenVINO: encoders compute in fp32 alone, with the same instructions on every processor
os.environ["ONEDNN_MAX_CPU_ISA"] = "AVX2"
if (worker := os.environ.get("PYTEST_XDIST_WORKER")) and hasattr(os, "sched_setaffinity"):
    # a core for each worker: threads of several libraries in several workers would wait for each other
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[int(worker.removeprefix("gw")) % len(cores)]})

import numpy as np
import pytest
from hypothesis import settings

from sciretrieve.encoders import artifact, conversion, tokens
from sciretrieve.encoders.catalogue import CATALOGUE, MINILM
from sciretrieve.encoders.openvino_runtime import OpenVinoRuntime
from sciretrieve.encoders.specs import EncoderSpec, ModelFiles
from sciretrieve.options import BuildSettings
from tests.made_up import made_up_papers, write_jsonl
from tests.ray_cluster import cluster, workers
from tests.toy_encoder import NAMED, LetterEncoder, letters_by_name
from tests.toy_weights import models, models_converted_anew, write_words

# how long an example takes says something of the machine alone; and where all changes are checked, all get the same examples
settings.register_profile("tests", deadline=None, max_examples=50, derandomize=bool(os.environ.get("CI")))
settings.register_profile("quick", settings.get_profile("tests"), max_examples=10)
settings.load_profile("tests")

__all__ = ["cluster", "models", "models_converted_anew", "workers"]

QUICK_FIXTURES = {"monkeypatch", "caplog", "capsys"}
"""What a quick test may ask for: it reads and writes no file, and no index is built for it."""
QUARTERS = 4
"""Into how many parts the cases of tests/torture are dealt, and of other tests marked `torture`; one of which is in each run."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--torture`: the tests in tests/torture at their full size; `--quarter`: which cases of them are run otherwise."""
    parser.addoption("--torture", action="store_true", help="run all of the torture tests at their full size")
    parser.addoption(
        "--quarter", type=int, choices=range(QUARTERS), help="which quarter of the torture tests to run; default: by the commit"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Choose the quarter: the next commit has another, and the same commit the same everywhere. And wait for no disk: what a power failure
    leaves is for tests/torture, which follow each fsync, whatever it does."""
    vars(os).update(fsync=lambda handle: None)
    if config.option.quarter is None:
        command = ["git", "-C", str(config.rootpath), "rev-list", "--count", "HEAD"]
        count = ""  # as where the sources were unpacked from a package
        if shutil.which("git"):
            count = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
        config.option.quarter = int(count or 0) % QUARTERS


def pytest_collection_finish() -> None:
    """Have the garbage collector leave alone what was imported, which is a million objects, and look for garbage less often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)


def pytest_report_header(config: pytest.Config) -> str:
    """Say which quarter it is, so that it can be repeated."""
    return "torture: all" if config.option.torture else f"torture: --quarter {config.option.quarter} of {QUARTERS}; all by `make torture`"


def pytest_unconfigure() -> None:
    """Removes the empty folder that stands for what is downloaded."""
    shutil.rmtree(os.environ["HF_HOME"], ignore_errors=True)


EMBEDDED = CATALOGUE[str(BuildSettings().encoder)]
"""The encoder that is taken where none is named."""


@cache
def toys() -> dict[str, EncoderSpec]:
    """What stands for it, and for MiniLM: read as it is, from weights made up here, which take a twentieth of the time."""
    folder = write_words(Path(os.environ["HF_HOME"]) / "words")
    toy = replace(MINILM, parts={"base": ModelFiles(str(folder), ("config.json", "model.safetensors", "tokenizer.json"))})
    return {MINILM.name: toy, EMBEDDED.name: replace(toy, name=EMBEDDED.name, about=EMBEDDED.about, late=EMBEDDED.late)}


is_kept = False
"""Whether what is computed now is kept, see `compute_once`."""


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Let the name of the embedded encoder mean the toy, but for tests that are about what is near in meaning, or start processes."""
    assert isinstance(CATALOGUE, dict)
    global is_kept
    is_real = item.get_closest_marker("embedded_encoder") is not None
    CATALOGUE.update({MINILM.name: MINILM, EMBEDDED.name: EMBEDDED} if is_real else toys())
    is_kept = is_real and "encoders" not in item.path.parts


Effort = Callable[[Any, Any], Any]


@pytest.fixture(scope="session")
def effort(request: pytest.FixtureRequest) -> Effort:
    """Picks between what a torture test does in every run and, second, what it does with `--torture`."""
    is_large = bool(request.config.getoption("--torture"))
    return lambda small, large: large if is_large else small


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what is slow, and leave out the torture of another day, unless it is asked for by name. What needs a cluster comes first and
    together, so that one worker alone starts one."""
    here = Path(__file__).parent
    items.sort(key=lambda item: not (isinstance(item, pytest.Function) and "cluster" in item.fixturenames))
    folders = {item: item.path.relative_to(here).parts[0] for item in items}
    for item in items:
        if folders[item] in ("torture", "real") or item.get_closest_marker("embedded_encoder") or is_heavy(item):
            item.add_marker("slow")
    if config.option.torture or any("::" in argument for argument in config.args):
        return
    torture = [item for item in items if folders[item] == "torture" or item.get_closest_marker("torture")]
    cases = [item for item in torture if hasattr(item, "callspec") or item.get_closest_marker("torture")]
    others = {item for number, item in enumerate(cases) if number % QUARTERS != config.option.quarter}
    config.hook.pytest_deselected(items=list(others))
    items[:] = [item for item in items if item not in others]


def is_heavy(item: pytest.Item) -> bool:
    """Whether a test has files or indexes, or is in a file that starts processes."""
    assert isinstance(item, pytest.Function)
    names = {*inspect.signature(inspect.unwrap(item.function)).parameters}
    names |= {name for marker in item.iter_markers("usefixtures") for name in marker.args}
    chosen = item.callspec.params if hasattr(item, "callspec") else {}
    return bool(names - {*chosen} - QUICK_FIXTURES) or bool({"process", "subprocess"} & vars(item.module).keys())


@pytest.fixture(scope="session")
def kept(request: pytest.FixtureRequest) -> Path:
    """A folder that lasts from run to run, until what converts encoders, or is converted with, is another."""
    package = Path(conversion.__file__).parent
    sources = [*sorted(package.rglob("*.py")), package.parent / "matching/lexical/analysis.py"]
    facts = [(path.name, path.read_text(encoding="utf-8")) for path in sources]
    facts += [(name, metadata.version(name)) for name in ("adapters", "numpy", "openvino", "tokenizers", "torch", "transformers")]
    path = Path(request.config.cache.mkdir(f"encoders-{hashlib.sha256(repr(facts).encode()).hexdigest()[:16]}"))
    for other in path.parent.glob("encoders*"):
        if other != path:
            shutil.rmtree(other, ignore_errors=True)
    return path


@pytest.fixture(scope="session", autouse=True)
def encoder_cache(kept: Path) -> Iterator[Path]:
    """Compiled encoders are kept beside pytest's own cache, and never in the home of whoever runs the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SCIRETRIEVE_CACHE", str(kept))
        yield kept


@pytest.fixture(scope="session", autouse=True)
def convert_once(kept: Path) -> Iterator[Callable[..., None]]:
    """`conversion.convert` as it is, in place of which stands one that takes what it made of the same weights before."""
    convert = conversion.convert

    def copy(source: Path, target: Path) -> None:
        target.parent.mkdir(parents=True, exist_ok=True)
        work = Path(shutil.copytree(source, tempfile.mkdtemp(dir=target.parent), dirs_exist_ok=True))
        try:
            work.rename(target)
        except OSError:  # another thread or worker was first
            shutil.rmtree(work)

    def converted(spec: Any, task: str, folders: Any, target: Path, late: bool = False) -> None:
        made = kept / "conversions" / target.name[-16:]  # the hash of all that decides it
        if made.exists():
            copy(made, target)
        else:
            convert(spec, task, folders, target, late)
            copy(target, made)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(conversion, "convert", converted)
        yield convert


@pytest.fixture(scope="session", autouse=True)
def open_once() -> Iterator[None]:
    """A tokenizer is opened once for all files that have the same bytes: it never changes, and each index that is built opens two."""
    opened: dict[tuple[bytes, int], Any] = {}

    def open_tokenizer(path: Path, max_length: int) -> Any:
        key = hashlib.sha256(path.read_bytes()).digest() if path.is_file() else b"", max_length
        if key not in opened:
            opened[key] = tokens.open_tokenizer(path, max_length)
        return opened[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(artifact, "open_tokenizer", open_tokenizer)
        yield


@pytest.fixture(scope="session", autouse=True)
def named() -> Iterator[None]:
    """`letters` is the name of an encoder."""
    with letters_by_name():
        yield


@pytest.fixture
def letters(monkeypatch: pytest.MonkeyPatch) -> LetterEncoder:
    """What is opened by that name in this test; it remembers what it encoded."""
    monkeypatch.setitem(NAMED, "letters", encoder := LetterEncoder())
    return encoder


@pytest.fixture(scope="session", autouse=True)
def compute_once(kept: Path) -> Iterator[None]:
    """What the real weights make of a batch is kept from run to run, too, but for tests of encoders: these compute."""
    compute = OpenVinoRuntime._outputs

    def outputs(self: Any, tokens: Any) -> Iterator[Any]:
        if not is_kept:
            yield from compute(self, tokens)
            return
        for number, batch in enumerate(tokens.batches):
            facts = [self._artifact.folder.name, self.machine, self.way, batch.ids.tolist(), batch.mask.tolist()]
            made = kept / "computed" / f"{hashlib.sha256(repr(facts).encode()).hexdigest()}.npz"
            if not made.exists():
                (output,) = compute(self, replace(tokens, batches=tokens.batches[number : number + 1]))
                made.parent.mkdir(exist_ok=True)
                with tempfile.NamedTemporaryFile(dir=made.parent, delete=False) as file:
                    np.savez(file, *output)
                Path(file.name).rename(made)
            with np.load(made) as stored:
                yield tuple(stored.values())

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(OpenVinoRuntime, "_outputs", outputs)
        yield


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
