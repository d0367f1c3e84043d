"""Runtimes that fail, or change the vectors: the next one takes over, nothing is lost, and it is said and recorded. And of those that work
the quickest encodes many papers: it is measured once, and the vectors stay what they are."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sciretrieve as sr
from sciretrieve.base.choices import Precision
from sciretrieve.base.errors import IndexExists, InvalidRequest
from sciretrieve.base.types import Paper, Query, Vectors
from sciretrieve.config import cache_directory
from sciretrieve.encoders import load_encoder, runtimes, text_encoder
from sciretrieve.encoders.artifact import PROBES, Artifact
from sciretrieve.encoders.encoder_cache import graphs_directory
from sciretrieve.encoders.runtimes import quickest_first
from sciretrieve.encoders.text_encoder import TextEncoder
from sciretrieve.encoders.tokens import Tokens
from tests.command_line import answer, sciretrieve
from tests.encoders.fake_core import FakeCore
from tests.encoders.plain import plain_states
from tests.listeners import Stop, StopAfter
from tests.made_up import made_up_papers

PAPERS = [Paper(row["id"], row["title"], row["abstract"]) for row in made_up_papers(300)]
FEW = PAPERS[:120]


@pytest.fixture(scope="module")
def expected(converted: Path) -> Vectors:
    """What the plain model gives for the papers."""
    return np.stack([plain_states(converted, f"{paper.title}[SEP]{paper.abstract}")[0] for paper in PAPERS])


@pytest.fixture
def plain(expected: Vectors, core: FakeCore) -> Vectors:
    """The same, with a cache that knows of no check or measurement."""
    for path in [*graphs_directory().glob("*/checked.json"), *graphs_directory().glob("*/rates.json")]:
        path.unlink()
    return expected


def opened(precision: Precision = "auto", papers: int = 0) -> TextEncoder:
    encoder = load_encoder("specter", precision=precision, device="cpu")
    assert isinstance(encoder, TextEncoder)
    encoder.expect(papers)
    return encoder


def failing(precision: str, failing_call: int, error: type[BaseException] = RuntimeError) -> Callable[[str, int], None]:
    """Raises at the batch of that number."""

    def before_batch(running: str, number: int) -> None:
        if running == precision and number == failing_call:
            raise error("Exception from src/core\nCheck failed\nFailed to broadcast work_amount")

    return before_batch


def probing() -> int:
    """How many batches the check of a runtime takes."""
    return len(opened().artifact.tokenise(PROBES, 2048).batches)


@pytest.mark.parametrize("where", ["compiling", "check", "first", "middle", "last"])
def test_the_next_runtime_encodes_what_was_lost(core: FakeCore, plain: Vectors, where: str, caplog: pytest.LogCaptureFixture) -> None:
    check, papers = probing(), len(opened().tokenise(PAPERS).batches)
    assert papers > 4
    if where == "compiling":

        def refuse(precision: str) -> None:
            if precision == "bf16":
                raise RuntimeError("Failed to broadcast work_amount")

        core.before_compiling = refuse
    else:
        core.before_batch = failing("bf16", {"check": 0, "first": check, "middle": check + papers // 2, "last": check + papers - 1}[where])
    encoder = opened()
    assert np.abs(encoder.encode_papers(PAPERS) - plain).max() < 1e-4
    assert np.abs(encoder.encode_papers(PAPERS[:3]) - plain[:3]).max() < 1e-4
    assert (encoder.precision, encoder.ran_in) == ("fp32", ("OpenVINO fp32",))
    [record] = caplog.records
    assert record.message == ("specter: OpenVINO bf16 failed (RuntimeError: Failed to broadcast work_amount); continuing in OpenVINO fp32")
    # it is remembered, so the next process does not try again
    compiled = list(core.compiled)
    again = opened()
    np.testing.assert_array_equal(again.encode_papers(PAPERS[:3]), encoder.encode_papers(PAPERS[:3]))
    assert core.compiled == [*compiled, "f32"]
    assert len(caplog.records) == 1


def test_a_file_that_was_missing_is_not_held_against_a_runtime(core: FakeCore, plain: Vectors) -> None:
    """Two processes that compile at once may each find a file of the other gone. The next process tries again."""

    def missing(precision: str, number: int) -> None:
        if precision == "bf16":
            raise RuntimeError(f"filesystem error: cannot set permissions of batch {number}")

    core.before_batch = missing
    first = opened()
    assert np.abs(first.encode_papers(PAPERS[:3]) - plain[:3]).max() < 1e-4
    assert first.precision == "fp32"
    core.before_batch = lambda precision, number: None
    assert opened().precision == "bf16"


def test_torch_is_the_last_resort(core: FakeCore, plain: Vectors, caplog: pytest.LogCaptureFixture) -> None:
    core.before_batch = lambda precision, number: failing(precision, number)(precision, number)
    encoder = opened()
    assert np.abs(encoder.encode_papers(PAPERS) - plain).max() < 1e-4
    assert (encoder.precision, encoder.ran_in) == ("fp32", ("torch fp32",))
    assert [record.message.rpartition("; ")[2] for record in caplog.records] == ["continuing in OpenVINO fp32", "continuing in torch fp32"]


def test_without_weights_the_last_resort_says_so(
    core: FakeCore, plain: Vectors, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, corpus: Path
) -> None:
    index = sr.build(corpus, tmp_path / "index", encoder="specter", limit=20)
    monkeypatch.setenv("SCIRETRIEVE_MODELS", str(tmp_path / "nowhere"))
    core.before_batch = lambda precision, number: failing(precision, number)(precision, number)
    for _ in range(2):
        with pytest.raises(
            InvalidRequest, match=r"OpenVINO bf16 failed .*OpenVINO fp32 failed .*torch fp32 would be next, but .*config\.json"
        ) as raised:
            index.search("graph", mode="dense")
        assert "\n" not in str(raised.value)


@pytest.mark.parametrize("error", [MemoryError, KeyboardInterrupt, InvalidRequest])
def test_what_is_no_fault_of_the_runtime_is_passed_on(core: FakeCore, plain: Vectors, error: type[BaseException]) -> None:
    encoder = opened()
    assert encoder.precision == "bf16"
    core.before_batch = failing("bf16", core.batches["bf16"], error)
    with pytest.raises(error):
        encoder.encode_papers(PAPERS)
    assert np.abs(encoder.encode_papers(PAPERS) - plain).max() < 1e-4
    assert (encoder.precision, encoder.ran_in) == ("bf16", ("OpenVINO bf16",))


def test_a_build_goes_on_and_its_index_says_in_what(
    core: FakeCore, plain: Vectors, tmp_path: Path, corpus: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert opened().precision == "bf16"  # so the check is behind us
    core.batches.clear()
    # three batches are golden vectors
    core.before_batch = failing("bf16", 5)
    index = sr.build(corpus, tmp_path / "index", encoder="specter")
    assert np.abs(np.concatenate([shard.vectors for shard in index.snapshot.vectors]) - plain).max() < 1e-4
    facts = index.snapshot.manifest.encoder
    assert facts is not None
    assert (facts["precision"], facts["ran_in"]) == ("fp32", ["OpenVINO bf16", "OpenVINO fp32"])
    assert "fp32 (OpenVINO bf16, then OpenVINO fp32)" in answer("info", "-i", index.path)
    assert len(caplog.records) == 1
    assert index.search("graph networks", 3, mode="dense").hits


def test_papers_are_told_of_before_all_of_their_window_are_done(core: FakeCore, plain: Vectors) -> None:
    encoder, told = opened(), list[int]()
    tokens = encoder.tokenise(PAPERS)
    assert np.abs(encoder.encode(tokens, told.append) - plain).max() < 1e-2
    assert len(told) == len(tokens.batches) - 1 > 3
    assert min(told) > 0
    assert sum(told) == len(PAPERS) - len(tokens.batches[-1].places)  # the last are done once the caller has them


def test_who_hears_of_progress_can_stop_the_work_and_no_runtime_is_blamed(core: FakeCore, plain: Vectors) -> None:
    encoder = opened()
    listener = StopAfter(100)
    with pytest.raises(Stop):
        encoder.encode(encoder.tokenise(PAPERS), listener.advance)
    assert encoder.precision == "bf16"
    assert np.abs(opened().encode_papers(PAPERS[:2]) - plain[:2]).max() < 1e-2
    assert opened().precision == "bf16"


def test_an_interrupted_build_goes_on_in_another_runtime(core: FakeCore, plain: Vectors, tmp_path: Path, corpus: Path) -> None:
    with pytest.raises(Stop):
        sr.build(corpus, tmp_path / "index", encoder="specter", shard_size=100, progress=StopAfter(200))
    core.before_batch = failing("bf16", core.batches["bf16"])
    index = sr.build(corpus, tmp_path / "index", encoder="specter", shard_size=100)
    assert np.abs(np.concatenate([shard.vectors for shard in index.snapshot.vectors]) - plain).max() < 1e-4
    assert index.snapshot.manifest.encoder is not None
    assert index.snapshot.manifest.encoder["ran_in"] == ["OpenVINO bf16", "OpenVINO fp32"]
    # the same papers are indexed already, in any arithmetic, unless one is requested
    assert sr.build(corpus, tmp_path / "index", encoder="specter", shard_size=100).snapshot.manifest == index.snapshot.manifest
    with pytest.raises(IndexExists):
        sr.build(corpus, tmp_path / "index", encoder="specter", shard_size=100, precision="fp32")


def test_interrupted_vectors_go_on_in_another_runtime(core: FakeCore, plain: Vectors, tmp_path: Path, corpus: Path) -> None:
    first, second = opened(), opened()
    for encoder in (first, second):
        vars(encoder)["window"] = 100
    with pytest.raises(Stop):
        sr.encode(corpus, tmp_path / "v.npy", encoder=first, progress=StopAfter(200))
    core.before_batch = failing("bf16", core.batches["bf16"])
    assert sr.encode(corpus, tmp_path / "v.npy", encoder=second) == 300
    assert second.precision == "fp32"
    assert np.abs(np.load(tmp_path / "v.npy") - plain).max() < 1e-4


def test_a_search_says_what_failed_and_answers(core: FakeCore, plain: Vectors, tmp_path: Path, corpus: Path) -> None:
    sr.build(corpus, tmp_path / "index", encoder="specter", limit=50)
    core.before_batch = failing("bf16", core.batches["bf16"])
    command = ("search", "graph networks", "-i", tmp_path / "index", "--mode", "dense", "--format", "json")
    first, second = sciretrieve(*command), sciretrieve(*command)
    assert (first.returncode, second.returncode) == (0, 0)
    assert first.stderr == ("specter: OpenVINO bf16 failed (RuntimeError: Failed to broadcast work_amount); continuing in OpenVINO fp32\n")
    assert second.stderr == ""
    assert [hit["id"] for hit in json.loads(first.stdout)["hits"]] == [hit["id"] for hit in json.loads(second.stdout)["hits"]]


def test_an_interrupted_build_whose_encoder_has_changed_is_refused(core: FakeCore, plain: Vectors, tmp_path: Path, corpus: Path) -> None:
    with pytest.raises(Stop):
        sr.build(corpus, tmp_path / "index", encoder="specter", shard_size=100, progress=StopAfter(200))
    core.disturb = lambda precision, vectors: turned(vectors, 0.99)
    with pytest.raises(InvalidRequest, match="specter gives other vectors today than when the index was built"):
        sr.build(corpus, tmp_path / "index", encoder="specter", shard_size=100)
    core.disturb = lambda precision, vectors: vectors
    assert len(sr.build(corpus, tmp_path / "index", encoder="specter", shard_size=100)) == 300


def turned(vectors: Vectors, cosine: float) -> Vectors:
    """Vectors of the same lengths that have the given cosine with these."""
    across = np.random.default_rng(0).normal(size=vectors.shape)
    across -= (across * vectors).sum(1, keepdims=True) / (vectors**2).sum(1, keepdims=True) * vectors
    across *= np.linalg.norm(vectors, axis=1, keepdims=True) / np.linalg.norm(across, axis=1, keepdims=True)
    return np.asarray(cosine * vectors + np.sqrt(1 - cosine**2) * across, np.float32)


@pytest.mark.parametrize(("cosine", "precision"), [(0.99995, "bf16"), (0.9998, "fp32"), (0.992, "fp32"), (-1.0, "fp32")])
def test_bf16_must_keep_directions(core: FakeCore, plain: Vectors, cosine: float, precision: str, caplog: pytest.LogCaptureFixture) -> None:
    core.disturb = lambda running, vectors: turned(vectors, cosine) if running == "bf16" else vectors
    encoder = opened()
    assert encoder.precision == precision
    vectors = encoder.encode_papers(PAPERS)
    if precision == "fp32":
        assert np.abs(vectors - plain).max() < 1e-4
        assert f"OpenVINO bf16 changes the vectors (cosine {cosine:.5f}" in caplog.text
        with pytest.raises(InvalidRequest, match="bf16 does not keep this encoder's vectors"):
            _ = opened("bf16").precision
    else:
        assert opened("bf16").precision == "bf16"


@pytest.mark.parametrize(("difference", "name"), [(5e-5, "OpenVINO fp32"), (2e-4, "torch fp32"), (float("nan"), "torch fp32")])
def test_fp32_must_keep_every_component(core: FakeCore, plain: Vectors, difference: float, name: str) -> None:
    def disturb(running: str, vectors: Vectors) -> Vectors:
        vectors[0, 5] += difference
        return vectors

    core.disturb = disturb
    encoder = opened("fp32")
    assert np.abs(encoder.encode_papers(PAPERS) - plain).max() < 2e-4
    assert encoder.ran_in == (name,)


def test_bf16_that_was_asked_for_and_raises_is_left_too(core: FakeCore, plain: Vectors) -> None:
    core.before_batch = failing("bf16", 0)
    assert opened("bf16").precision == "fp32"


def test_a_cpu_without_bf16_runs_in_fp32(core: FakeCore, plain: Vectors) -> None:
    core._capabilities = ["FP32"]
    assert opened().precision == "fp32"
    with pytest.raises(InvalidRequest, match="this CPU has no bf16 arithmetic"):
        _ = opened("bf16").precision
    assert core.compiled == ["f32"]


def test_two_threads_encode_at_the_same_time(core: FakeCore, plain: Vectors) -> None:
    encoder = opened()
    expected = [encoder.encode_papers(PAPERS[:5]), encoder.encode_queries([Query("q", "graph networks")])]
    both = threading.Barrier(2)

    def before_batch(precision: str, number: int) -> None:
        """Wait within the first batch until the other thread is within one, too."""
        both.wait(30)

    core.before_batch = before_batch
    with ThreadPoolExecutor(2) as pool:
        papers, query = pool.submit(encoder.encode_papers, PAPERS[:5]), pool.submit(encoder.encode_queries, [Query("q", "graph networks")])
        np.testing.assert_array_equal(papers.result(60), expected[0])
        np.testing.assert_array_equal(query.result(60), expected[1])
    assert encoder.ran_in == ("OpenVINO bf16",)


def test_threads_that_meet_a_failing_runtime_leave_it_once(core: FakeCore, plain: Vectors, caplog: pytest.LogCaptureFixture) -> None:
    encoder = opened()
    assert encoder.precision == "bf16"
    all_inside = threading.Barrier(4)

    def before_batch(precision: str, number: int) -> None:
        if precision == "bf16":
            all_inside.wait(30)
            raise RuntimeError("Failed to broadcast work_amount")

    core.before_batch = before_batch
    with ThreadPoolExecutor(4) as pool:
        parts = list(pool.map(encoder.encode_papers, [PAPERS[start : start + 3] for start in range(0, 12, 3)]))
    assert np.abs(np.concatenate(parts) - plain[:12]).max() < 1e-4
    assert len(caplog.records) == 1


def test_a_check_is_not_made_twice_and_needs_no_cache_that_can_be_written(
    core: FakeCore, plain: Vectors, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, value: Any) -> None:
        raise OSError("read-only")

    with monkeypatch.context() as patch:
        patch.setattr(runtimes, "write_json", refuse)
        assert opened().precision == "bf16"
    checked = core.batches["bf16"]
    assert opened().precision == "bf16"
    assert core.batches["bf16"] == 2 * checked
    assert opened().precision == "bf16"
    assert core.batches["bf16"] == 2 * checked


CUT = """
import os, sys
from pathlib import Path
from sciretrieve.encoders import load_encoder
from sciretrieve.base.errors import CorruptData
from sciretrieve.base.types import Paper

encoder = load_encoder("specter", device="cpu")
encoder.encode_papers([Paper("a", "a title", "")])
for path in Path(os.environ["SCIRETRIEVE_CACHE"]).rglob("*"):
    if path.suffix in (".bin", ".blob"):
        os.truncate(path, 0)
try:
    encoder.encode_papers([Paper("b", "another title", "of another length")])
except CorruptData as error:
    print(error)
"""


def test_a_graph_that_is_cut_while_it_is_open_is_an_error(plain: Vectors, tmp_path: Path) -> None:
    opened().encode_papers(PAPERS[:1])
    cache = shutil.copytree(cache_directory(), tmp_path / "cache")
    environment = os.environ | {"SCIRETRIEVE_CACHE": str(cache)}
    result = subprocess.run([sys.executable, "-c", CUT], env=environment, capture_output=True, text=True, check=False)
    assert (result.returncode, "was cut; clear the cache" in result.stdout) == (0, True), result.stderr


# which way is quickest


@pytest.fixture
def artifact(plain: Vectors, monkeypatch: pytest.MonkeyPatch) -> Artifact:
    """The toy in the cache; a hundred papers are many, and the cores make up to two streams."""
    monkeypatch.setattr(runtimes, "streams", lambda: [1, 2])
    monkeypatch.setattr(text_encoder, "MANY", 100)
    return opened().artifact


def set_rates(artifact: Artifact, **rates: float) -> None:
    """Write what a measurement might have found."""
    measured = {way.replace("_", " "): rate for way, rate in rates.items()}
    (artifact.folder / "rates.json").write_text(json.dumps({runtimes._machine_and_threads(artifact): measured}))


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_streams_change_no_bit(artifact: Artifact, core: FakeCore, precision: Precision) -> None:
    expected = opened(precision).encode_papers(FEW)
    set_rates(artifact, **{f"OpenVINO_{precision}_in_2_streams": 3, f"OpenVINO_{precision}": 2, f"torch_{precision}": 1})
    encoder, told = opened(precision, 100), list[int]()
    np.testing.assert_array_equal(encoder.encode(encoder.tokenise(FEW), told.append), expected)
    assert core.streams[-1] == 2
    assert sum(told) < len(FEW)
    assert encoder.ran_in == (f"OpenVINO {precision}",)
    assert encoder.encode_papers([]).shape == (0, encoder.dim)


def test_few_papers_and_queries_are_not_measured_for(artifact: Artifact, core: FakeCore) -> None:
    opened(papers=99).encode_papers(FEW)
    opened(papers=100).encode_queries([sr.Query("q", "graph networks")])
    assert not (artifact.folder / "rates.json").exists()
    assert set(core.streams) == {1}


def test_it_is_measured_once_and_shown(artifact: Artifact, core: FakeCore, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO"):
        opened(papers=100).encode_papers(FEW)
        compiled = len(core.compiled)
        opened(papers=100).encode_papers(FEW)
    assert len(core.compiled) == compiled + 1
    assert [record.message for record in caplog.records] == ["measuring in which way specter runs quickest on this machine, once"]
    rates = opened().rates()
    assert set(rates) == {"OpenVINO bf16", "OpenVINO bf16 in 2 streams", "torch bf16"}
    assert all(rate > 0 for rate in rates.values())
    shown = answer("encoders", "show", "specter")
    assert all(f"{way}: {rate:,.0f} tokens a second" in shown for way, rate in rates.items())


def test_torch_may_be_the_quickest_in_bf16_alone(artifact: Artifact, core: FakeCore) -> None:
    plain = opened("fp32").encode_papers(FEW)
    set_rates(artifact, torch_bf16=3, OpenVINO_bf16=2, OpenVINO_bf16_in_2_streams=1)
    encoder = opened(papers=100)
    vectors = encoder.encode_papers(FEW)
    cosines = (vectors * plain).sum(1) / np.linalg.norm(vectors, axis=1) / np.linalg.norm(plain, axis=1)
    assert cosines.min() > 0.999
    assert encoder.precision == "bf16"
    assert encoder.ran_in in {("torch bf16",), ("OpenVINO bf16",)}  # this machine's bf16 in torch may not pass the check
    np.testing.assert_array_equal(opened("fp32", 100).encode_papers(FEW), plain)


def test_a_way_that_fails_is_not_taken_and_nobody_is_bothered(
    artifact: Artifact, core: FakeCore, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def refuse(settings: dict[str, str]) -> None:
        if "NUM_STREAMS" in settings:
            raise RuntimeError("too many streams")

    core.before_compiling_with = refuse
    expected, encoder = opened().encode_papers(FEW), opened(papers=100)
    _ = encoder.hashes
    monkeypatch.setenv("SCIRETRIEVE_MODELS", str(tmp_path))  # so torch lacks the weights
    np.testing.assert_array_equal(encoder.encode_papers(FEW), expected)
    assert encoder.ran_in == ("OpenVINO bf16",)
    assert encoder.rates()["OpenVINO bf16 in 2 streams"] == 0
    assert not [record for record in caplog.records if record.levelname == "WARNING"]


def test_a_build_of_many_papers_takes_it(artifact: Artifact, core: FakeCore, tmp_path: Path, corpus: Path) -> None:
    set_rates(artifact, **{"OpenVINO_fp32_in_2_streams": 2, "OpenVINO_fp32": 1})
    few = sr.build(corpus, tmp_path / "few", encoder="specter", precision="fp32", limit=90)
    assert set(core.streams) == {1}
    many = sr.build(corpus, tmp_path / "many", encoder="specter", precision="fp32", limit=200, shard_size=90)
    assert core.streams[-1] == 2
    np.testing.assert_array_equal(many.snapshot.vectors[0].vectors, few.snapshot.vectors[0].vectors)


class Timed:
    """A way of running a model that takes so many seconds a batch on the clock that the test holds."""

    budget = 2048

    def __init__(self, way: str, seconds: float, clock: list[float]) -> None:
        self.way, self._seconds, self._clock = way, seconds, clock

    def run(self, tokens: Tokens) -> tuple[Vectors, list[Any]]:
        """Take the time."""
        if self._seconds < 0:
            raise RuntimeError("no such instruction")
        self._clock[0] += self._seconds * len(tokens.batches)
        return np.zeros((tokens.texts, 1), np.float32), []


def test_the_quickest_is_the_first(artifact: Artifact, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr("sciretrieve.encoders.runtimes.time.perf_counter", lambda: clock[0])

    def ways(**seconds: float) -> Callable[[], list[Any]]:
        return lambda: [Timed(way.replace("_", " "), time, clock) for way, time in seconds.items()]

    order = quickest_first(artifact, "toy", ways(one_stream=2.0, two_streams=1.0, broken=-1.0, another_library=1.5))
    assert order == ["two streams", "another library", "one stream", "broken"]
    rates = runtimes.rates(artifact)
    assert rates["two streams"] == pytest.approx(2 * rates["one stream"], rel=0.01)
    assert rates["broken"] == 0
    # known ones are not run again, another one is
    assert quickest_first(artifact, "toy", ways(one_stream=-1, two_streams=-1, broken=-1, another_library=-1)) == order
    assert quickest_first(artifact, "toy", ways(one_stream=2, new=1)) == ["new", "one stream"]
