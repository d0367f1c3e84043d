"""A damaged BM25 index: whatever byte is another, a search answers with papers or says which file is damaged."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import sciretrieve as sr
from sciretrieve.errors import CorruptData
from sciretrieve.index import Index
from tests.made_up import made_up_papers, write_jsonl
from tests.toy_encoder import LetterEncoder

PAPERS = made_up_papers(40, seed=3)
ENCODER = LetterEncoder(layout="vectors")
QUERIES = ["graph networks of molecules", "vaccin", "galaxyy star", "auction"]
BITS = (0x01, 0x80)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("index")
    corpus = write_jsonl(place / "papers.jsonl", PAPERS)
    np.save(place / "vectors.npy", ENCODER.encode_papers([sr.Paper(paper["id"], paper["title"], paper["abstract"]) for paper in PAPERS]))
    (place / "vectors.ids.txt").write_text("".join(f"{paper['id']}\n" for paper in PAPERS))
    # this variant has a file more than the others
    return sr.build(corpus, place / "index", encoder=f"vectors:{place / 'vectors.npy'}", lexical=sr.Bm25Parameters("bm25+")).path


def lexical_files(folder: Path) -> list[Path]:
    return sorted((folder / "lexical" / "000001").iterdir())


def positions(size: int) -> Iterator[int]:
    """Every byte of a short file, else the first, where NumPy's headers stand, and some of the others."""
    yield from range(0, min(size, 128), 5)
    yield from np.linspace(128, size - 1, 20, dtype=int).tolist() if size > 128 else ()


def answer(folder: Path) -> None:
    """Use every method that reads the BM25 index, and check that the results are valid."""
    index = Index(folder, encoder=ENCODER)
    for query in QUERIES:
        index.corrections(query)
    for mode in ("bm25", "hybrid"):
        for ranking in index.search(QUERIES, 5, mode=mode):
            assert len(ranking.ids) == len(set(ranking.ids)) <= 5
            assert np.isfinite(ranking.scores).all()
    sr.explain(index, QUERIES[0], ["p0000"])


@pytest.mark.parametrize("number", range(8))
def test_a_flipped_bit_is_an_answer_or_an_error_of_ours(folder: Path, number: int) -> None:
    path = lexical_files(folder)[number]
    whole = path.read_bytes()
    refusals = []
    try:
        for position in positions(len(whole)):
            for bit in BITS:
                damaged = bytearray(whole)
                damaged[position] ^= bit
                path.write_bytes(damaged)
                try:
                    answer(folder)
                except CorruptData as error:
                    refusals.append(str(error))
    finally:
        path.write_bytes(whole)
    answer(folder)
    assert refusals
    assert all("lexical" in refusal and "\n" not in refusal for refusal in refusals)


def test_there_is_a_test_for_each_file(folder: Path) -> None:
    assert len(lexical_files(folder)) == 8


@pytest.mark.parametrize("name", ["indices.csc.index.npy", "titles.indices.npy"])
@pytest.mark.parametrize("row", [-1, 40, 2**31 - 1])
def test_rows_that_no_paper_has_are_refused_by_name(folder: Path, name: str, row: int) -> None:
    path = folder / "lexical" / "000001" / name
    whole = path.read_bytes()
    rows = np.load(path)
    try:
        for place in range(0, len(rows), len(rows) // 5):
            damaged = rows.copy()
            damaged[place] = row
            np.save(path, damaged)
            index = Index(folder, encoder=ENCODER)
            with pytest.raises(CorruptData, match=name):
                index.search(" ".join(f"{paper['title']} {paper['abstract']}" for paper in PAPERS))
    finally:
        path.write_bytes(whole)
