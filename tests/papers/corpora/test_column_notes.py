"""What is said of a corpus while it is read: which columns were taken for what, and what its papers lack."""

from pathlib import Path
from typing import Any

import pytest

from sciretrieve.papers.corpora import ColumnMap, Reading, open_corpus
from sciretrieve.progress import Silent
from tests.made_up import write_jsonl

LONG = 30 * "a long text "


def said(*sources: Path, **columns: str) -> tuple[list[str], str]:
    """The notes on a corpus, and what is said of its papers."""
    notes: list[str] = []
    reading = Reading(notes.append)
    for batch in open_corpus(sources, ColumnMap(**columns)).batches():
        reading(batch)
    return notes, str(reading)


def test_what_is_read_as_what(tmp_path: Path) -> None:
    row = {"Key": "k", "Title": "T", "Abstract Note": "A", "summary": "S", "Extra": LONG}
    notes, coverage = said(write_jsonl(tmp_path / "p.jsonl", [row]))
    assert notes == ["read as: id ← Key, title ← Title, abstract ← summary or Abstract Note"]
    assert coverage == "of 1 paper, 1 without year, 1 without authors"


def test_files_that_are_read_alike_are_told_of_once(tmp_path: Path) -> None:
    for name, title in (("a", "title"), ("b", "title"), ("c", "Title")):
        write_jsonl(tmp_path / f"{name}.jsonl", [{"id": name, title: "T", "year": 2000, "authors": ["A"], "abstract": "A"}])
    notes, coverage = said(tmp_path)
    assert [note.partition(", ")[2].partition(",")[0] for note in notes] == ["title ← title", "title ← Title"]
    assert coverage == "3 papers, all with abstract, year and authors"


def test_a_file_whose_rows_differ_is_told_of_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sciretrieve.papers.corpora.raw.BATCH_ROWS", 2)
    rows = [{"id": n, "title": "T"} | ({"year": 2000} if n > 3 else {}) for n in range(6)]
    notes, coverage = said(write_jsonl(tmp_path / "p.jsonl", rows))
    assert notes == ["read as: id ← id, title ← title"]
    assert coverage == "of 6 papers, 6 without abstract, 4 without year, 6 without authors"


def test_a_column_like_abstracts_that_was_not_taken_is_named(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [{"id": n, "title": "T", "abstract": "A" * (n == 0), "note": LONG, "comment": "short"} for n in range(5)]
    path = write_jsonl(tmp_path / "p.jsonl", rows)
    assert said(path)[0][1:] == [
        "most papers have no abstract, but the column 'note' looks like abstracts: name it with --columns abstract="
    ]
    assert said(path, abstract="note")[0][1:] == []
    (tmp_path / "p.bib").write_text("".join(f"@misc{{{n}, title = {{T}}, file = {{{LONG}}}}}\n" for n in range(5)))
    assert said(tmp_path / "p.bib")[0][1:] == [
        "most papers have no abstract, but the column 'file' looks like abstracts: name it with --columns abstract="
    ]


class Interrupting(Silent):
    """Notes what is said, and interrupts after the first papers if it is told to."""

    def __init__(self, interrupt: bool) -> None:
        self.notes: list[str] = []
        self.interrupt = interrupt

    def advance(self, papers: int) -> None:
        if self.interrupt:
            raise KeyboardInterrupt

    def note(self, text: str) -> None:
        self.notes.append(text)


def test_the_counts_are_of_all_papers_also_where_a_build_is_resumed(tmp_path: Path) -> None:
    import sciretrieve as sr

    rows = [{"id": n, "title": "T", "year": 2000 + n if n % 3 else None, "authors": ["A"] * (n % 2)} for n in range(9)]
    path = write_jsonl(tmp_path / "p.jsonl", rows)
    first, second = Interrupting(True), Interrupting(False)
    with pytest.raises(KeyboardInterrupt):
        sr.build(path, tmp_path / "index", encoder=None, shard_size=2, progress=first)
    sr.build(path, tmp_path / "index", encoder=None, shard_size=2, progress=second)
    for heard in (first, second):
        assert "read as: id ← id, title ← title, year ← year, authors ← authors" in heard.notes
    assert second.notes[-1] == "of 9 papers, 9 without abstract, 3 without year, 5 without authors"


def test_only_the_papers_that_are_indexed_count(tmp_path: Path) -> None:
    import sciretrieve as sr

    heard = Interrupting(False)
    path = write_jsonl(tmp_path / "p.jsonl", [{"id": n, "title": "T"} for n in range(9)])
    sr.build(path, tmp_path / "index", encoder=None, limit=4, progress=heard)
    assert heard.notes[-1] == "of 4 papers, 4 without abstract, 4 without year, 4 without authors"


def test_a_benchmarks_papers_have_no_columns_to_tell_of(tmp_path: Path) -> None:
    import sciretrieve as sr
    from sciretrieve.papers.corpora import PaperCorpus

    heard = Interrupting(False)
    corpus = PaperCorpus.of("made up", "1", lambda: iter([sr.Paper("a", "A title"), sr.Paper("b")]))
    assert len(sr.build(corpus, tmp_path / "index", encoder=None, progress=heard)) == 2
    assert heard.notes == []
