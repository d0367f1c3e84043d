"""An index and its encoder: what the manifest records, what opens it again, and what is refused."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

import sciretrieve as sr
from sciretrieve.base.choices import SIDES, SideName
from sciretrieve.base.errors import CorruptData, EncoderMismatch, InvalidRequest
from sciretrieve.encoders import load_encoder
from sciretrieve.files.writing import describe
from tests.edited import edited_manifest
from tests.toy_weights import set_models, write_adapters, write_bert


@pytest.fixture(scope="module")
def made(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the weights of SPECTER2, an index made with them, and the cache that this filled."""
    folder = tmp_path_factory.mktemp("made")
    base = folder / "models" / "allenai" / "specter2_base"
    write_bert(base, 1)
    write_adapters(base.parent, base, {"[PRX]": Path("specter2"), "[QRY]": Path("specter2_adhoc_query")}, 2)
    with pytest.MonkeyPatch.context() as patch:
        set_models(folder, patch)
        sr.build(corpus, folder / "index", encoder="specter2", precision="fp32", limit=60).close()
    return folder


@pytest.fixture
def specter2(made: Path, models: Path) -> Path:
    """The weights alone."""
    shutil.copytree(made / "models", models)
    return models / "allenai"


@pytest.fixture
def index(made: Path, specter2: Path, tmp_path: Path) -> sr.Index:
    """The index, with its weights and a full cache."""
    for name in ("index", "cache"):
        shutil.copytree(made / name, tmp_path / name)
    return sr.open(tmp_path / "index")


def test_the_manifest_says_all_of_the_encoder(index: sr.Index) -> None:
    facts = index.snapshot.manifest.encoder
    assert facts is not None
    assert (facts["name"], facts["layout"], facts["precision"], facts["dim"], index.snapshot.manifest.metric) == (
        "specter2",
        "adapters",
        "fp32",
        48,
        "l2",
    )
    assert facts["sides"]["paper"] == {"text": "{title}{sep}{abstract}", "task": "proximity", "alone": ""}
    assert set(facts["files"]) == {"base", "proximity", "adhoc_query"}
    golden = np.load(index.path / facts["golden"]["file"])
    assert golden.shape == (3, 48)
    assert np.array_equal(golden[0], golden[2])
    assert not np.allclose(golden[0], golden[1])


def test_only_a_cleared_cache_needs_the_weights(index: sr.Index, specter2: Path, tmp_path: Path) -> None:
    expected = index.search("graph networks", 5, mode="dense").rankings[0]
    for lost in (tmp_path / "cache", specter2):
        shutil.rmtree(lost)
        ranking = sr.open(index.path).search("graph networks", 5, mode="dense").rankings[0]
        assert ranking.ids == expected.ids
        np.testing.assert_allclose(ranking.scores, expected.scores, atol=1e-5)


def test_other_weights_under_the_same_name_are_refused(index: sr.Index, specter2: Path, tmp_path: Path) -> None:
    shutil.rmtree(tmp_path / "cache")
    write_bert(specter2 / "specter2_base", 99)
    with pytest.raises(EncoderMismatch, match="built with the encoder specter2, and specter2 here differs in its weights"):
        sr.open(index.path).search("graph", mode="dense")


def test_another_encoder_is_refused_and_both_are_named(index: sr.Index) -> None:
    with pytest.raises(EncoderMismatch, match="built with the encoder specter2, and minilm here differs in its dim, files"):
        sr.open(index.path, encoder=load_encoder("minilm")).search("graph", mode="dense")
    with pytest.raises(EncoderMismatch, match="specter2 with adhoc_query here differs in its files, sides"):
        sr.open(index.path, encoder=load_encoder("specter2", adapter="adhoc_query")).search("graph", mode="dense")
    same = sr.open(index.path, encoder=load_encoder("specter2")).search("graph", 3, mode="dense")
    assert same.rankings[0].ids == index.search("graph", 3, mode="dense").rankings[0].ids


def test_a_moved_folder_is_named_at_search(specter2: Path, corpus: Path, tmp_path: Path) -> None:
    folder, moved_folder = specter2 / "specter2_base", tmp_path / "moved"
    built = sr.build(corpus, tmp_path / "own", encoder=str(folder), limit=20)
    expected = built.search("graph", 3, mode="dense").rankings[0].ids
    folder.rename(moved_folder)
    shutil.rmtree(tmp_path / "cache")
    with pytest.raises(InvalidRequest, match="there is no folder"):
        sr.open(built.path).search("graph", mode="dense")
    assert sr.open(built.path, encoder=load_encoder(str(moved_folder))).search("graph", 3, mode="dense").rankings[0].ids == expected


@pytest.mark.parametrize("side", ["query", "paper_as_query"])
def test_embeddings_that_have_changed_are_caught(index: sr.Index, side: SideName) -> None:
    facts = index.snapshot.manifest.encoder
    assert facts is not None
    path = index.path / facts["golden"]["file"]
    golden = np.load(path)
    golden[SIDES.index(side)] += 0.2 * np.random.default_rng(0).normal(size=48)
    np.save(path, golden)
    with edited_manifest(index.path) as manifest:
        manifest["encoder"]["golden"] |= describe(path)
    opened = sr.open(index.path)
    with pytest.raises(InvalidRequest, match="specter2 gives other vectors today than when the index was built"):
        _ = opened.search("graph", mode="dense") if side == "query" else opened.similar(text="Graphs. Of citations", mode="dense")
    # the other side has not changed, and its searches work
    assert (opened.similar(text="Graphs. Of citations", mode="dense") if side == "query" else opened.search("graph", mode="dense")).hits


def test_damaged_golden_vectors_are_named(index: sr.Index) -> None:
    facts = index.snapshot.manifest.encoder
    assert facts is not None
    path = index.path / facts["golden"]["file"]
    path.write_bytes(b"x" * path.stat().st_size)
    with pytest.raises(CorruptData, match=r"golden-000001\.npy is damaged: it is not as it was written"):
        sr.open(index.path).search("graph", mode="dense")
    with edited_manifest(index.path) as manifest:
        manifest["encoder"]["golden"] |= describe(path)
    with pytest.raises(CorruptData, match=r"golden-000001\.npy cannot be read"):
        sr.open(index.path).search("graph", mode="dense")
    path.unlink()
    with pytest.raises(CorruptData, match=r"golden-000001\.npy is missing"):
        sr.open(index.path)


def test_a_damaged_identity_is_named(index: sr.Index) -> None:
    with edited_manifest(index.path) as manifest:
        del manifest["encoder"]["sides"]["query"]
    with pytest.raises(CorruptData, match="the manifest's encoder is damaged"):
        sr.open(index.path).search("graph", mode="dense")
