"""What encodes an index's queries: another encoder is noticed; and where nothing does, words alone answer, and it is said everywhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sciretrieve as sr
from sciretrieve.base.errors import EncoderMismatch, InvalidRequest, WordsAlone
from sciretrieve.base.types import Query
from tests.command_line import sciretrieve
from tests.made_up import made_up_papers, write_jsonl
from tests.toy_encoder import OwnLetters, letter_counts
from tests.toy_weights import write_words

PAPERS = made_up_papers(60)
IDS = [paper["id"] for paper in PAPERS]
GIVEN_FROM_PYTHON = "the encoder 'letters of titles, 1' is one of your own, which is given from Python"


@pytest.fixture
def without(own: sr.Index) -> sr.Index:
    """The index of an encoder of one's own, opened without it."""
    return sr.open(own.path)


# without it


@pytest.mark.parametrize("mode", ["hybrid", None])
def test_without_it_words_alone_answer_and_it_is_said(without: sr.Index, mode: Any) -> None:
    with pytest.warns(WordsAlone, match=rf"is searched by words alone: {GIVEN_FROM_PYTHON}"):
        run = without.search("star dust", mode=mode)
    assert (run.mode, run[0].lacks, run[0].note) == ("bm25", "meaning", "answered by words alone")
    assert "'star dust' (answered by words alone)" in repr(run)
    assert "<em>answered by words alone</em>" in run._repr_html_()
    assert run.to_dict()["rankings"][0]["lacks"] == "meaning"
    np.testing.assert_array_equal(run[0].scores, without.search("star dust", mode="bm25")[0].scores)
    with pytest.warns(WordsAlone):
        answer = sr.answer(without, sr.Request("star dust", explain=True, options=sr.SearchOptions(mode=mode)))
    assert answer.lacks_meaning.startswith("the encoder 'letters of titles, 1' is one of your own")
    assert "answered by words alone" in repr(answer)
    assert json.loads(answer.to_json())["lacks"] == "meaning"
    assert all(why.dense is None for why in answer.explanations)


def test_without_it_what_needs_no_vector_of_the_query_is_as_it_was(without: sr.Index) -> None:
    assert sr.answer(without, sr.Request("star", options=sr.SearchOptions(mode="bm25"))).lacks_meaning == ""
    assert without.search("star dust", vectors=np.ones((1, 26), np.float32)).mode == "hybrid"
    assert sr.profile(without, IDS[0]).similar
    assert without.corrections("galaxxy") == {"galaxxy": "galaxy"}
    for query in ("star", Query("1", "star")):
        with pytest.raises(InvalidRequest, match=GIVEN_FROM_PYTHON):
            without.search(query, mode="dense")
    with pytest.warns(WordsAlone):
        assert without.similar(text="star dust", by="text").mode == "bm25"
    assert set(sr.why_not(without, IDS[0], "telescope", k=1).ranks) == {"bm25"}


def test_without_it_feedback_moves_the_words(without: sr.Index) -> None:
    with pytest.warns(WordsAlone):
        run = without.search("star dust", 60, like=IDS[0], group=False)
    expected = without.search("star dust", 60, like=IDS[0], group=False, mode="bm25")
    assert (run[0].ids, run[0].lacks) == (expected[0].ids, "meaning")


def test_the_command_line_searches_by_words_and_names_the_encoder(own: sr.Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCIRETRIEVE_DATA", str(tmp_path / "data"))
    queries = write_jsonl(tmp_path / "q.jsonl", [{"id": "q", "text": "star dust"}])
    new = write_jsonl(tmp_path / "new.jsonl", [{"id": "new", "title": "zeta"}])
    why = "answered by words alone: the encoder 'letters of titles, 1' is one of your own"
    answering: list[tuple[str | Path, ...]] = [
        ("search", "star dust", "--explain", "--save", "mine"),
        ("similar", "--text", "star dust"),
        ("batch", queries),
        ("screen", "begin", "-d", tmp_path / "s.csv", "--query", "star dust"),
        ("screen", "next", "-d", tmp_path / "s.csv", "-n", "2"),
    ]
    for command in answering:
        result = sciretrieve(*command, "-i", own.path)
        assert (result.returncode, result.stdout != "") == (0, True), result.stderr
        assert why in result.stderr
        assert "WordsAlone" not in result.stderr
    assert why in sciretrieve("news", "mine", "--peek").stdout
    assert "letters of titles, 1, 26 dimensions, one of your own" in sciretrieve("info", "-i", own.path).stdout
    assert "is sound" in sciretrieve("verify", "-i", own.path).stderr
    changing: list[tuple[str | Path, ...]] = [("add", new), ("sync", new), ("reindex", "--set", "late=true")]
    for command in changing:
        result = sciretrieve(*command, "-i", own.path)
        assert result.returncode == 2
        assert "is one of your own, which is given from Python" in result.stderr
        assert result.stderr.count("\n") <= 2
    assert len(sr.open(own.path)) == 60


# what is another encoder


@pytest.mark.parametrize(
    ("encoder", "differs"),
    [(OwnLetters("letters of titles, 2"), "identity"), (OwnLetters(dim=25), "dim"), (OwnLetters("another", 3), "dim, identity")],
    ids=["version", "dimension", "both"],
)
def test_another_encoder_is_noticed_and_nothing_is_lost(own: sr.Index, encoder: OwnLetters, differs: str) -> None:
    before = (own.path / "manifest.json").read_bytes()
    for use in (
        lambda: sr.open(own.path, encoder=encoder).search("star"),
        lambda: sr.add([{"id": "new", "title": "zeta"}], own.path, encoder=encoder, progress=False),
        lambda: sr.sync(PAPERS[:58], own.path, encoder=encoder, progress=False),
    ):
        with pytest.raises(EncoderMismatch, match=rf"letters of titles, 1.* here differs in its {differs};"):
            use()
    assert sr.verify(own.path, encoder=encoder, progress=False).faults[0].file == "encoder"
    assert (own.path / "manifest.json").read_bytes() == before
    assert not list(own.path.glob("change.*"))
    with pytest.raises(sr.SciretrieveError, match="holds an index with another encoder"):
        sr.build(PAPERS, own.path, encoder=encoder, progress=False)


def test_an_encoder_with_a_name_is_another(own: sr.Index, index: sr.Index) -> None:
    with pytest.raises(EncoderMismatch, match=r"built with the encoder letters of titles, 1, and minilm here differs"):
        sr.open(own.path, encoder="minilm").search("star")
    with pytest.raises(EncoderMismatch, match=r"and letters of titles, 1 here differs"):
        sr.open(index.path, encoder=OwnLetters()).search("star")


def test_an_encoder_that_gives_other_vectors_than_it_gave_is_noticed(own: sr.Index) -> None:
    class Changed(OwnLetters):
        def encode_queries(self, queries: Any) -> Any:
            return np.array(super().encode_queries(queries)) + 1

    with pytest.raises(InvalidRequest, match="gives other vectors today than when the index was built"):
        sr.open(own.path, encoder=Changed()).search("star")


# encoders that are gone


def test_vectors_whose_file_is_gone_leave_the_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = {paper["id"]: letter_counts(paper["title"]) for paper in PAPERS}
    write_jsonl(tmp_path / "v.jsonl", [{"paper_id": id, "embedding": row} for id, row in vectors.items()])
    index = sr.build(PAPERS, tmp_path / "index", encoder=f"vectors:{tmp_path / 'v.jsonl'}", progress=False)
    (tmp_path / "v.jsonl").unlink()
    opened = sr.open(index.path)
    with pytest.warns(WordsAlone, match="made elsewhere, and nothing here encodes a query"):
        assert opened.search(["star", Query("q", "dust")]).mode == "bm25"
    assert opened.similar(IDS[0]).mode == "hybrid"


def test_an_encoder_whose_folder_is_gone_leaves_the_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_words(tmp_path / "encoder")
    index = sr.build(PAPERS, tmp_path / "index", encoder=str(folder), late=False, progress=False)
    asked = index.search("graph networks").mode
    folder.rename(tmp_path / "moved")
    monkeypatch.setenv("SCIRETRIEVE_CACHE", str(tmp_path / "cache"))
    opened = sr.open(index.path)
    with pytest.warns(WordsAlone, match=r"the encoder of this index is not available here: there is no folder .*/encoder"):
        assert (asked, opened.search("graph networks").mode) == ("hybrid", "bm25")
    with pytest.warns(WordsAlone, match="there is no folder"):
        assert opened.similar(text="graph networks").mode == "bm25"
    with pytest.raises(InvalidRequest, match="there is no folder"):
        opened.similar(text="graph networks", mode="dense")
    assert opened.similar(IDS[0]).mode == "hybrid"  # whose vector is there
    result = sciretrieve("search", "graph networks", "-i", index.path)
    assert (result.returncode, "answered by words alone: the encoder of this index is not" in result.stderr) == (0, True)
    assert "its vectors were not compared" in sciretrieve("verify", "-i", index.path).stderr
    assert sr.open(index.path, encoder=str(tmp_path / "moved")).search("graph networks").mode == "hybrid"
    for use in (
        lambda: opened.search("graph", mode="dense"),
        lambda: sr.open(index.path, encoder=str(tmp_path / "nowhere")).search("graph"),
        lambda: sr.add([{"id": "new", "title": "zeta"}], index.path, progress=False),
    ):
        with pytest.raises(sr.SciretrieveError, match="there is no folder"):
            use()
