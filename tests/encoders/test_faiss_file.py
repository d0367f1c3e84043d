"""FAISS indexes taken in: plain FAISS makes them and says what they hold; whatever leaves a doubt which vector is whose is refused."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import faiss
import numpy as np
import pytest

import sciretrieve as sr
from sciretrieve.base.choices import Metric
from sciretrieve.base.errors import InvalidRequest, NotFound
from sciretrieve.base.types import Paper, Vectors
from sciretrieve.encoders import load_encoder
from sciretrieve.lifecycle.exporting import export
from tests.command_line import sciretrieve
from tests.made_up import made_up_papers, write_jsonl

COUNT, DIM = 400, 16
VECTORS = np.random.default_rng(0).normal(size=(COUNT, DIM)).astype(np.float32)
NAMES = [f"é/{number}" for number in range(COUNT)]
NUMBERS = np.random.default_rng(1).choice(2**62, COUNT, replace=False) - 2**61
ORDER = np.random.default_rng(2).permutation(COUNT)


def made(factory: str, metric: int = faiss.METRIC_L2) -> Any:
    """An empty FAISS index, trained."""
    index = faiss.index_factory(DIM, factory, metric)
    index.train(VECTORS)
    return index


def write(path: Path, index: Any, names: list[str] | None = None) -> Path:
    faiss.write_index(index, str(path))
    if names is not None:
        path.with_suffix(".ids.txt").write_text("\n".join(names) + "\n")
    return path


def vectors_of(path: Path, ids: list[str]) -> Vectors:
    return load_encoder(f"faiss:{path}").encode_papers([Paper(id) for id in ids])


@pytest.fixture
def flat(tmp_path: Path) -> Path:
    index = made("Flat")
    index.add(VECTORS)
    return write(tmp_path / "x.faiss", index, NAMES)


@pytest.mark.parametrize("factory", ["Flat", "HNSW8,Flat", "IVF8,Flat", "SQ8,RFlat"])
@pytest.mark.parametrize("metric", ["l2", "ip"])
def test_what_faiss_keeps_whole_is_given_back_whole(tmp_path: Path, caplog: pytest.LogCaptureFixture, factory: str, metric: str) -> None:
    index = made(factory, faiss.METRIC_L2 if metric == "l2" else faiss.METRIC_INNER_PRODUCT)
    index.add(VECTORS)
    encoder = load_encoder(f"faiss:{write(tmp_path / 'x.faiss', index, NAMES)}")
    np.testing.assert_array_equal(encoder.encode_papers([Paper(NAMES[row]) for row in ORDER]), VECTORS[ORDER])
    assert (encoder.dim, encoder.metric, encoder.identity()["layout"]) == (DIM, metric, "vectors")
    assert not caplog.messages


@pytest.mark.parametrize("factory", ["SQ8", "HNSW8,SQfp16", "IVF8,PQ8x4np", "RR16,IVF8,SQ8", "L2norm,PCAR15,Flat"])
def test_what_faiss_compresses_is_given_back_as_faiss_does(tmp_path: Path, caplog: pytest.LogCaptureFixture, factory: str) -> None:
    index = made(factory)
    index.add(VECTORS)
    path = write(tmp_path / "x.faiss", index, NAMES)
    vectors = vectors_of(path, NAMES)
    if "IVF" in factory:
        faiss.extract_index_ivf(index).make_direct_map()
    np.testing.assert_allclose(vectors, index.reconstruct_n(0, COUNT), atol=1e-5)
    distances = np.linalg.norm((VECTORS[:, None] / np.linalg.norm(VECTORS, axis=1)[:, None, None]) - _unit(vectors)[None], axis=2)
    assert (distances.argmin(axis=1) == np.arange(COUNT)).mean() > 0.9
    assert [message for message in caplog.messages if "returns its vectors only approximately" in message]


def _unit(vectors: Vectors) -> Vectors:
    unit: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit


@pytest.mark.parametrize("factory", ["IDMap,Flat", "IDMap2,HNSW8", "IVF8,Flat", "IDMap,IVF8,Flat"])
def test_numbers_that_somebody_chose_are_the_ids(tmp_path: Path, factory: str) -> None:
    index = made(factory)
    index.add_with_ids(VECTORS, NUMBERS)
    path = write(tmp_path / "x.faiss", index)
    np.testing.assert_array_equal(vectors_of(path, [str(NUMBERS[row]) for row in ORDER]), VECTORS[ORDER])
    path.with_suffix(".ids.txt").write_text("\n".join(NAMES) + "\n")
    with pytest.raises(InvalidRequest, match=rf"a vector of the number {NUMBERS.min()}, which is no line of x\.ids\.txt; .*remove"):
        vectors_of(path, NAMES)


@pytest.mark.parametrize("factory", ["IDMap,Flat", "IVF8,Flat"])
def test_a_line_of_the_ids_is_a_number_in_whatever_order_the_vectors_came(tmp_path: Path, factory: str) -> None:
    index = made(factory)
    index.add_with_ids(VECTORS[ORDER], ORDER)
    np.testing.assert_array_equal(vectors_of(write(tmp_path / "x.faiss", index, NAMES), NAMES), VECTORS)


def test_removed_vectors_are_gone(tmp_path: Path) -> None:
    for factory in ("IDMap,Flat", "IVF8,Flat"):
        index = made(factory)
        index.add_with_ids(VECTORS, NUMBERS)
        index.remove_ids(NUMBERS[:100])
        encoder = load_encoder(f"faiss:{write(tmp_path / 'x.faiss', index)}")
        np.testing.assert_array_equal(encoder.encode_papers([Paper(str(number)) for number in NUMBERS[100:]]), VECTORS[100:])
        with pytest.raises(InvalidRequest, match=f"has no vector of '{NUMBERS[0]}'"):
            encoder.encode_papers([Paper(str(NUMBERS[0]))])


def test_where_it_is_not_said_whose_vectors_they_are_nothing_is_guessed(flat: Path) -> None:
    ids = flat.with_suffix(".ids.txt")
    for text, words in (
        (None, r"does not say which paper has which vector; put x\.ids\.txt beside it"),
        ("\n".join(NAMES[1:]) + "\n", r"has 400 vectors, and x\.ids\.txt 399 ids; they must agree"),
        ("\n".join([*NAMES[1:], NAMES[7]]) + "\n", "line 400: the id 'é/7' is in line 7 already"),
    ):
        ids.unlink()
        if text is not None:
            ids.write_text(text)
        with pytest.raises(InvalidRequest, match=words):
            vectors_of(flat, NAMES)
        ids.touch()
    index = made("IVF8,Flat")
    index.add(VECTORS)
    ids.unlink()
    with pytest.raises(InvalidRequest, match="does not say which paper has which vector"):
        vectors_of(write(flat, index), NAMES)
    index = made("IDMap,Flat")
    index.add_with_ids(VECTORS, ORDER // 2)
    with pytest.raises(InvalidRequest, match="has several vectors of the number 0; add each paper once"):
        vectors_of(write(flat, index), NAMES)


def test_another_file_or_other_ids_are_another_encoder(flat: Path) -> None:
    before = load_encoder(f"faiss:{flat}").identity()
    assert load_encoder(f"faiss:{flat}").identity() == before
    flat.with_suffix(".ids.txt").write_text("\n".join(NAMES[::-1]) + "\n")
    other_ids = load_encoder(f"faiss:{flat}").identity()
    index = made("Flat")
    index.add(VECTORS[::-1].copy())
    assert load_encoder(f"faiss:{write(flat, index)}").identity() not in (before, other_ids)
    assert before != other_ids


def test_an_index_of_a_faiss_index(flat: Path, tmp_path: Path) -> None:
    corpus = write_jsonl(tmp_path / "p.jsonl", [{**paper, "id": name} for paper, name in zip(made_up_papers(COUNT), NAMES, strict=True)])
    result = sciretrieve("index", corpus, "-o", tmp_path / "index", "--encoder", f"faiss:{flat}")
    assert result.returncode == 0, result.stderr
    index, whole = sr.open(tmp_path / "index"), flat.read_bytes()
    assert index.snapshot.manifest.metric == "l2"
    assert index.similar([NAMES[3]], 5, mode="dense").rankings[0].ids == [
        NAMES[row] for row in np.argsort(np.linalg.norm(VECTORS - VECTORS[3], axis=1))[1:6]
    ]
    flat.write_bytes(b"")  # papers of the index are not looked up again
    assert sr.open(tmp_path / "index").similar([NAMES[3]], 1, mode="dense").hits
    flat.write_bytes(whole)
    with pytest.raises(InvalidRequest, match="has no vector of '1'; every paper and query needs one"):
        index.search(sr.Query("1", "graph networks"), mode="dense")
    queries = made("IDMap,Flat")
    queries.add_with_ids(VECTORS[:2] + 1, np.array([11, 12]))
    write_jsonl(tmp_path / "q.jsonl", [{"id": "12", "text": "graph"}])
    query_file = write(tmp_path / "q.faiss", queries)
    asked = (tmp_path / "q.jsonl", "-i", index.path, "--mode", "dense", "-k", "3", "--set", f"encoder=faiss:{query_file}")
    result = sciretrieve("batch", *asked, "-o", tmp_path / "run.trec")
    assert result.returncode == 0, result.stderr
    rows = np.argsort(np.linalg.norm(VECTORS - (VECTORS[1] + 1), axis=1))[:3]
    lines = [line.split(" ") for line in (tmp_path / "run.trec").read_text().splitlines()]
    assert [line[2] for line in lines] == [NAMES[row] for row in rows]
    assert "is up to date" in sciretrieve("index", corpus, "-o", tmp_path / "index", "--encoder", f"faiss:{flat}").stderr
    write(flat, made("Flat"))
    again = sciretrieve("index", corpus, "-o", tmp_path / "index", "--encoder", f"faiss:{flat}")
    assert (again.returncode, "holds no vectors" in again.stderr) == (2, True)


@pytest.mark.parametrize(("metric", "dense"), [("l2", "flat"), ("ip", "IVF4,Flat"), ("cosine", "flat"), ("l2", "hnsw")])
def test_what_export_writes_is_taken_in_again(tmp_path: Path, metric: Metric, dense: str) -> None:
    papers = [{**paper, "id": name} for paper, name in zip(made_up_papers(COUNT), NAMES, strict=True)]
    np.save(tmp_path / "v.npy", VECTORS)
    (tmp_path / "v.ids.txt").write_text("\n".join(NAMES) + "\n")
    settings: dict[str, Any] = {"lexical": None, "shard_size": 150}
    index = sr.build(papers, tmp_path / "index", encoder=f"vectors:{tmp_path / 'v.npy'}", metric=metric, **settings)
    export(index, tmp_path / "x.faiss", dense)
    again = sr.build(papers, tmp_path / "again", encoder=f"faiss:{tmp_path / 'x.faiss'}", **settings)
    assert again.snapshot.manifest.metric == ("ip" if metric == "cosine" else metric)
    vectors = np.concatenate([shard.vectors for shard in again.snapshot.vectors])
    if dense == "hnsw":  # 8 bits per dimension
        np.testing.assert_allclose(vectors, VECTORS, atol=0.02)
        return
    if metric == "cosine":
        np.testing.assert_allclose(vectors, _unit(VECTORS), atol=1e-7)
    else:
        np.testing.assert_array_equal(vectors, VECTORS)
    for paper in NAMES[::40]:
        answers = [one.similar([paper], 10, mode="dense").rankings[0].ids for one in (index, again)]
        assert answers[0] == answers[1]


def damaged_files() -> dict[str, tuple[bytes, str]]:
    """Files of which FAISS makes nothing, and what is said of each."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.faiss"
        index = made("PQ4x4np")
        index.add(VECTORS)
        data = write(path, index).read_bytes()
        wide = faiss.IndexPQ(1 << 20, 1, 1)
        wide.pq.centroids.resize(2 << 20)
        faiss.copy_array_to_vector(np.zeros(3_000_000, np.uint8), wide.codes)
        wide.is_trained, wide.ntotal = True, 3_000_000
        small_and_wide = write(path, wide).read_bytes()
        manhattan = faiss.IndexFlat(DIM, faiss.METRIC_L1)
        manhattan.add(VECTORS)
        binary = faiss.IndexBinaryFlat(64)
        binary.add(np.zeros((5, 8), np.uint8))
        faiss.write_index_binary(binary, str(path))
        return {
            "empty": (b"", "gives no vectors"),
            "text": (b"no index", 'gives no vectors .*"no i".* not recognized'),
            "cut short": (data[:-7], r"gives no vectors \((FAISS crashes on it|read error)"),
            "a size that takes all memory": (
                data.replace((16 * DIM).to_bytes(8, "little"), (1 << 31).to_bytes(8, "little")),
                r"needs more than 1\.1 GB of memory to be read",
            ),
            "a small file of many large vectors": (small_and_wide, r"gives 12,582\.9 GB of vectors, and .* has .* GB left; set TMPDIR"),
            "binary": (path.read_bytes(), "IBxF"),
            "another metric": (write(path, manhattan).read_bytes(), "neither by METRIC_L2 nor by METRIC_INNER_PRODUCT"),
            "no vectors": (write(path, made("Flat")).read_bytes(), "holds no vectors"),
        }


DAMAGED = damaged_files()


@pytest.mark.torture
@pytest.mark.parametrize("kind", DAMAGED)
def test_a_damaged_file_is_one_line_and_no_index(corpus: Path, tmp_path: Path, kind: str) -> None:
    data, words = DAMAGED[kind]
    (tmp_path / "x.faiss").write_bytes(data)
    with pytest.raises(InvalidRequest, match=words):
        _ = load_encoder(f"faiss:{tmp_path / 'x.faiss'}").dim
    result = sciretrieve("index", corpus, "-o", tmp_path / "index", "--encoder", f"faiss:{tmp_path / 'x.faiss'}", "--quiet")
    assert (result.returncode, result.stderr.count("\n")) == (2, 1)
    assert not (tmp_path / "index").exists()


def test_lists_in_another_file_are_refused(tmp_path: Path) -> None:
    index = made("IVF8,Flat")
    index.add(VECTORS)
    lists = faiss.OnDiskInvertedLists(8, 4 * DIM, str(tmp_path / "lists"))
    lists.merge_from_1(index.invlists)
    index.replace_invlists(lists)
    with pytest.raises(InvalidRequest, match="keeps its vectors in another file; read it with FAISS, and write it as one"):
        vectors_of(write(tmp_path / "x.faiss", index, NAMES), NAMES)


@pytest.mark.torture
@pytest.mark.parametrize("factory", ["IDMap,HNSW4,Flat", "RR16,IVF8,PQ4x4np"])
def test_changed_bytes_give_vectors_or_an_error(tmp_path: Path, factory: str) -> None:
    index = made(factory)
    index.add_with_ids(VECTORS, NUMBERS)
    data = write(tmp_path / "x.faiss", index).read_bytes()
    random = np.random.default_rng(3)
    for _ in range(8):
        changed = bytearray(data)
        place = int(random.integers(len(data) if random.random() < 0.5 else 200))
        changed[place : place + 8] = random.bytes(8)
        (tmp_path / "x.faiss").write_bytes(changed)
        try:
            encoder = load_encoder(f"faiss:{tmp_path / 'x.faiss'}")
            vectors = encoder.encode_papers([Paper(str(number)) for number in NUMBERS[:5]])
        except InvalidRequest:
            pass
        else:
            assert vectors.shape == (5, encoder.dim)
            assert np.isfinite(vectors).all()


def test_values_that_are_no_numbers_are_refused(tmp_path: Path) -> None:
    index = made("IDMap,Flat")
    index.add_with_ids(np.where(VECTORS[5, 2] == VECTORS, np.nan, VECTORS).astype(np.float32), NUMBERS)
    with pytest.raises(InvalidRequest, match=f"the vector of FAISS's number {NUMBERS[5]} has values that are no numbers"):
        vectors_of(write(tmp_path / "x.faiss", index), ["1"])


def test_a_process_that_ends_early_is_one_line(flat: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONHOME", "/nowhere")
    with pytest.raises(InvalidRequest, match=r"^.*gives no vectors \(FAISS crashes on it: exit code 1\); it is damaged, or of a type.*$"):
        vectors_of(flat, NAMES)


def test_what_is_not_there_or_named_otherwise(flat: Path, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"there are no vectors at absent\.faiss; name their file after faiss:"):
        load_encoder("faiss:absent.faiss")
    with pytest.raises(InvalidRequest, match="a FAISS index is named by --encoder faiss:FILE"):
        _ = load_encoder(f"vectors:{flat}").dim
    shutil.copy(flat, tmp_path / "other name")
    shutil.copy(flat.with_suffix(".ids.txt"), tmp_path / "other name.ids.txt")
    np.testing.assert_array_equal(vectors_of(tmp_path / "other name", NAMES), VECTORS)
