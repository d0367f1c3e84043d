"""A damaged BM25 index: a file that is not as it was written is refused by its name; were it read, it would do no harm."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sciretrieve as sr
from sciretrieve.errors import CorruptData
from sciretrieve.files.verified import Verified
from sciretrieve.files.writing import describe, write_array
from sciretrieve.query.index import Index
from tests.conftest import Effort
from tests.edited import edited_manifest
from tests.made_up import made_up_papers, write_jsonl
from tests.toy_encoder import LetterEncoder

PAPERS = made_up_papers(40, seed=3)
ENCODER = LetterEncoder(layout="vectors")
QUERIES = ["graph networks of molecules", "vaccin", "galaxyy star", "auction", "lovelace 2010"]
BITS = (0x01, 0x80)
FILES = ("shards/000000/postings.arrow", "shards/000000/lengths.arrow", "shards/000000/fields.arrow", "lexical/000001/000000.npy")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("index")
    corpus = write_jsonl(place / "papers.jsonl", PAPERS)
    np.save(place / "vectors.npy", ENCODER.encode_papers([sr.Paper(paper["id"], paper["title"], paper["abstract"]) for paper in PAPERS]))
    (place / "vectors.ids.txt").write_text("".join(f"{paper['id']}\n" for paper in PAPERS))
    index = sr.build(corpus, place / "index", encoder=f"vectors:{place / 'vectors.npy'}")
    named = {
        name for name, _ in index.manifest.files() if Path(name).stem in ("postings", "lengths", "fields") or name.startswith("lexical/")
    }
    assert named == set(FILES)
    return index.path


@pytest.fixture
def unchecked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are read as they are, as if their damage had kept the checksum."""

    def passed(self: Verified, name: str, facts: Mapping[str, Any]) -> Path:
        return self.directory / name

    monkeypatch.setattr(Verified, "check", passed)


@contextmanager
def replaced(path: Path, data: bytes) -> Iterator[None]:
    """Another file in the place of one: not the same one changed, which an opened index may have mapped."""
    whole = path.with_name("whole")
    path.rename(whole)
    path.write_bytes(data)
    try:
        yield
    finally:
        whole.replace(path)


def positions(size: int) -> Iterator[int]:
    """Some bytes of the beginning and of the end, where formats describe themselves, and some between."""
    yield from range(0, min(size, 128), 5)
    yield from np.linspace(min(size, 128), size - 1, 40, dtype=int).tolist()


def answer(folder: Path) -> None:
    """Use every method that reads the BM25 index, and check that the results are valid."""
    with Index(folder, encoder=ENCODER) as index:
        assert index.bm25 is not None
        for field in ("authors", "venue"):
            index.bm25.rows_with(["lovelace"], field)
        for query in QUERIES:
            index.corrections(query)
        for mode in ("bm25", "hybrid"):
            for ranking in index.search(QUERIES, 5, mode=mode):
                assert len(ranking.ids) == len(set(ranking.ids)) <= 5
                assert np.isfinite(ranking.scores).all()
        sr.explain(index, QUERIES[0], ["p0000"])


@pytest.mark.parametrize("name", FILES)
def test_a_flipped_bit_is_refused_by_the_name_of_its_file(folder: Path, name: str) -> None:
    whole = (folder / name).read_bytes()
    for position in range(0, len(whole), max(len(whole) // 12, 1)):
        with (
            replaced(folder / name, whole[:position] + bytes([whole[position] ^ 1]) + whole[position + 1 :]),
            pytest.raises(CorruptData, match=f"{name} is damaged: it is not as it was written") as caught,
        ):
            answer(folder)
        assert "\n" not in str(caught.value)
    answer(folder)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.torture
@pytest.mark.parametrize("name", FILES)
def test_a_flipped_bit_that_no_checksum_sees_is_an_answer_or_an_error_of_ours(folder: Path, name: str, effort: Effort) -> None:
    whole = (folder / name).read_bytes()
    refusals = []
    for number, position in enumerate(positions(len(whole))):
        for bit in effort(BITS[number % 2 :][:1], BITS):
            with replaced(folder / name, whole[:position] + bytes([whole[position] ^ bit]) + whole[position + 1 :]):
                try:
                    answer(folder)
                except CorruptData as error:
                    refusals.append(str(error))
    answer(folder)
    assert refusals
    assert all(str(folder) in refusal and "\n" not in refusal for refusal in refusals)


@pytest.mark.parametrize(
    "shape", [lambda terms: (terms - 1,), lambda terms: (terms, 1), lambda terms: terms], ids=["fewer", "two axes", "another type"]
)
def test_frequencies_of_other_terms_are_refused_by_name(folder: Path, shape: Callable[[int], Any], tmp_path: Path) -> None:
    copy = Path(shutil.copytree(folder, tmp_path / "copy"))
    terms = len(np.load(copy / FILES[-1]))
    write_array(copy / FILES[-1], np.ones(shape(terms), np.float32 if shape(terms) == terms else np.int32))
    with edited_manifest(copy) as manifest:
        manifest["lexical"]["files"]["000000.npy"] = describe(copy / FILES[-1])
    with pytest.raises(CorruptData, match=rf"{FILES[-1]} does not fit its shard"):
        answer(copy)
