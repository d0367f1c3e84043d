"""Many papers are encoded in the way that was measured to be the quickest, once; the vectors stay what they are."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sciretrieve as sr
from sciretrieve.encoders import load_encoder, quickest, runtimes, text_encoder
from sciretrieve.encoders.artifact import Artifact
from sciretrieve.encoders.quickest import quickest_first
from sciretrieve.encoders.text_encoder import TextEncoder
from sciretrieve.encoders.tokens import Tokens
from sciretrieve.protocols import Advance, unheard
from sciretrieve.types import Paper, Vectors
from tests.command_line import answer
from tests.encoders.fake_core import FakeCore
from tests.made_up import made_up_papers
from tests.toy_weights import write_bert

PAPERS = [Paper(row["id"], row["title"], row["abstract"]) for row in made_up_papers(120)]


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder of models with a small SPECTER, its cache beside it."""
    folder = tmp_path_factory.mktemp("toy")
    write_bert(folder / "models" / "allenai" / "specter", 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SCIRETRIEVE_MODELS", str(folder / "models"))
        patch.setenv("SCIRETRIEVE_CACHE", str(folder / "cache"))
        yield folder


@pytest.fixture
def artifact(toy: Path, core: FakeCore, monkeypatch: pytest.MonkeyPatch) -> Artifact:
    """The toy in the cache, with nothing measured or checked; a hundred papers are many, and the cores make up to two streams."""
    for module in (quickest, runtimes):
        monkeypatch.setattr(module, "streams", lambda: [1, 2])
    monkeypatch.setattr(text_encoder, "MANY", 100)
    artifact = opened()._model("").artifact
    for name in ("checked.json", "rates.json"):
        (artifact.folder / name).unlink(missing_ok=True)
    return artifact


def opened(papers: int = 0, precision: Any = "auto") -> TextEncoder:
    encoder = load_encoder("specter", precision=precision, device="cpu")
    assert isinstance(encoder, TextEncoder)
    encoder.expect(papers)
    return encoder


def set_rates(artifact: Artifact, **rates: float) -> None:
    """Write what a measurement might have found."""
    measured = {way.replace("_", " "): rate for way, rate in rates.items()}
    (artifact.folder / "rates.json").write_text(json.dumps({quickest._here(artifact): measured}))


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_streams_change_no_bit(artifact: Artifact, core: FakeCore, precision: str) -> None:
    expected = opened(precision=precision).encode_papers(PAPERS)
    set_rates(artifact, **{f"OpenVINO_{precision}_in_2_streams": 3, f"OpenVINO_{precision}": 2, f"torch_{precision}": 1})
    encoder, told = opened(100, precision), list[int]()
    np.testing.assert_array_equal(encoder.encode(encoder.tokenise(PAPERS), told.append), expected)
    assert core.streams[-1] == 2
    assert sum(told) < len(PAPERS)
    assert encoder.ran_in == (f"OpenVINO {precision}",)
    assert encoder.encode_papers([]).shape == (0, encoder.dim)


def test_few_papers_and_queries_are_not_measured_for(artifact: Artifact, core: FakeCore) -> None:
    opened(99).encode_papers(PAPERS)
    opened(100).encode_queries([sr.Query("q", "graph networks")])
    assert not (artifact.folder / "rates.json").exists()
    assert set(core.streams) == {1}


def test_it_is_measured_once_and_shown(artifact: Artifact, core: FakeCore, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO"):
        opened(100).encode_papers(PAPERS)
        compiled = len(core.compiled)
        opened(100).encode_papers(PAPERS)
    assert len(core.compiled) == compiled + 1
    assert [record.message for record in caplog.records] == ["measuring in which way specter runs quickest on this machine, once"]
    rates = opened().rates()
    assert set(rates) == {"OpenVINO bf16", "OpenVINO bf16 in 2 streams", "torch bf16"}
    assert all(rate > 0 for rate in rates.values())
    shown = answer("encoders", "show", "specter")
    assert all(f"{way}: {rate:,.0f} tokens a second" in shown for way, rate in rates.items())


def test_torch_may_be_the_quickest_in_bf16_alone(artifact: Artifact, core: FakeCore) -> None:
    plain = opened(precision="fp32").encode_papers(PAPERS)
    set_rates(artifact, torch_bf16=3, OpenVINO_bf16=2, OpenVINO_bf16_in_2_streams=1)
    encoder = opened(100)
    vectors = encoder.encode_papers(PAPERS)
    cosines = (vectors * plain).sum(1) / np.linalg.norm(vectors, axis=1) / np.linalg.norm(plain, axis=1)
    assert cosines.min() > 0.999
    assert encoder.precision == "bf16"
    assert encoder.ran_in in {("torch bf16",), ("OpenVINO bf16",)}  # this machine's bf16 in torch may not pass the check
    np.testing.assert_array_equal(opened(100, "fp32").encode_papers(PAPERS), plain)


def test_a_way_that_fails_is_not_taken_and_nobody_is_bothered(
    artifact: Artifact, core: FakeCore, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def refuse(settings: dict[str, str]) -> None:
        if "NUM_STREAMS" in settings:
            raise RuntimeError("too many streams")

    core.before_compiling_with = refuse
    expected, encoder = opened().encode_papers(PAPERS), opened(100)
    _ = encoder.hashes
    monkeypatch.setenv("SCIRETRIEVE_MODELS", str(tmp_path))  # so torch lacks the weights
    np.testing.assert_array_equal(encoder.encode_papers(PAPERS), expected)
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

    def run(self, tokens: Tokens, advance: Advance = unheard) -> Vectors:
        """Take the time."""
        if self._seconds < 0:
            raise RuntimeError("no such instruction")
        self._clock[0] += self._seconds * len(tokens.batches)
        return np.zeros((tokens.texts, 1), np.float32)


def test_the_quickest_is_the_first(artifact: Artifact, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr("sciretrieve.encoders.quickest.time.perf_counter", lambda: clock[0])
    seconds = {"one stream": 2.0, "two streams": 1.0, "broken": -1.0, "another library": 1.5}
    order = quickest_first(artifact, "toy", lambda: [Timed(way, time, clock) for way, time in seconds.items()])
    assert order == ["two streams", "another library", "one stream", "broken"]
    rates = quickest.rates(artifact)
    assert rates["two streams"] == pytest.approx(2 * rates["one stream"], rel=0.01)
    assert rates["broken"] == 0
    # known ones are not run again, another one is
    assert quickest_first(artifact, "toy", lambda: [Timed(way, -1, clock) for way in seconds]) == order
    assert quickest_first(artifact, "toy", lambda: [Timed("one stream", 2, clock), Timed("new", 1, clock)]) == ["new", "one stream"]
