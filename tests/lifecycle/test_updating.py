"""Adding, syncing and deleting, day by day: what is encoded, what the log says, and that answers are those of an index built afresh."""

from __future__ import annotations

import gc
import json
import os
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import faiss
import numpy as np
import pytest

import sciretrieve as sr
from sciretrieve.base.errors import BadPaper, EncoderMismatch, IndexBusy, InvalidRequest, NotFound
from sciretrieve.files.writing import write_lock
from sciretrieve.lifecycle import Update, comparison
from sciretrieve.matching.dense import vectors as dense_vectors
from sciretrieve.papers.corpora import Corpus, raw
from sciretrieve.papers.corpora import corpus as corpora
from sciretrieve.papers.corpora.formats import JSON_LINES
from sciretrieve.progress import Silent
from sciretrieve.protocols import Progress
from sciretrieve.storage.manifest import generations, read_manifest
from sciretrieve.storage.sweeping import sweep
from tests.command_line import answer, sciretrieve
from tests.edited import files_of
from tests.every_answer import every_answer, quick_answers
from tests.listeners import Notes, Stop, StopAfter
from tests.made_up import made_up_papers, write_jsonl
from tests.toy_encoder import LetterEncoder

PAPERS = made_up_papers(110, seed=11)
OLD, NEW = PAPERS[:80], PAPERS[80:]
CHANGED = [{**paper, "title": f"Revised {paper['title']}"} for paper in OLD[10:15]]

Rows = list[dict[str, Any]]


pytestmark = pytest.mark.usefixtures("letters")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An index of the old papers."""
    return built(OLD, tmp_path / "index")


def built(papers: Rows | Path, folder: Path, **settings: Any) -> Path:
    """An index of some papers, in shards of 30."""
    return sr.build(papers, folder, **{"encoder": "letters", "shard_size": 30, **settings}).path


def opened(folder: Path, **options: Any) -> sr.Index:
    return sr.open(folder, encoder=LetterEncoder(), **options)


def texts(papers: Rows) -> list[str]:
    """What is encoded of papers."""
    return [f"{paper['title']} {paper['abstract']}".strip() for paper in papers]


def encoded(letters: LetterEncoder) -> list[str]:
    """The texts encoded since the last call, without those of the probe."""
    asked = [text for text in letters.asked if "Citations" not in text and "papers cite" not in text]
    letters.asked.clear()
    return asked


def ids(papers: Rows) -> list[str]:
    return [paper["id"] for paper in papers]


def without(papers: Rows, gone: set[str]) -> Rows:
    """The papers whose ids are not among these."""
    return [paper for paper in papers if paper["id"] not in gone]


def as_afresh(folder: Path, papers: Rows, tmp_path: Path, **settings: Any) -> None:
    """Check that an index finds what one built from these papers does."""
    assert quick_answers(opened(folder)) == quick_answers(opened(built(papers, tmp_path / "afresh", overwrite=True, **settings)))


def same_as_afresh(folder: Path, papers: Rows, tmp_path: Path, **settings: Any) -> None:
    """Check that an index answers everything as one built from these papers does."""
    as_afresh(folder, papers, tmp_path, **settings)
    now, then = every_answer(opened(folder), tmp_path), every_answer(opened(tmp_path / "afresh"), tmp_path)
    assert now.keys() == then.keys()
    for name in then:
        assert now[name] == then[name], name


# what is encoded


def test_a_paper_that_says_something_else_takes_the_place_of_the_one_with_its_id(folder: Path, letters: LetterEncoder) -> None:
    encoded(letters)
    update = sr.add([*CHANGED, *OLD[:3], *NEW[:1]], folder)
    assert encoded(letters) == texts([*CHANGED, *NEW[:1]])
    assert (update.added, update.replaced, update.unchanged, update.deleted, update.papers) == (1, 5, 3, 0, 81)
    index = opened(folder)
    assert len(index) == len(index.snapshot.live_ids()) == len(set(index.snapshot.live_ids())) == 81
    assert [paper.title for paper in index.papers(ids(CHANGED))] == [paper["title"] for paper in CHANGED]
    assert set(index.search("revised", 50, mode="bm25").rankings[0].ids) == set(ids(CHANGED))


@pytest.mark.parametrize(
    "change",
    [{"year": 1999}, {"citations": 12345}, {"venue": "ICLR"}, {"authors": ["Emmy Noether"]}, {"abstract": ""}, {"another": "column"}],
    ids=lambda change: next(iter(change)),
)
def test_a_change_in_any_column_replaces_a_paper(folder: Path, change: dict[str, Any]) -> None:
    paper = {**OLD[4], **change}
    assert sr.add([paper], folder).replaced == 1
    kept = opened(folder).papers(paper["id"])[0]
    name, value = next(iter(change.items()))
    assert (getattr(kept, name) if hasattr(kept, name) else kept.extra[name]) == (tuple(value) if isinstance(value, list) else value)
    assert sr.add([paper], folder).unchanged == 1


def test_the_same_in_another_form_is_no_change(folder: Path, tmp_path: Path, letters: LetterEncoder) -> None:
    """A number may become text of the same digits, or a float, and what is missing may be empty: that is how formats differ."""
    encoded(letters)
    as_texts = [{name: str(value) if isinstance(value, int) else value for name, value in paper.items()} for paper in OLD]
    as_floats = [{**paper, "citations": None if paper["citations"] is None else float(paper["citations"])} for paper in OLD]
    empty = [{**paper, "venue": paper["venue"] or "", "authors": paper["authors"] or None, "further": None} for paper in OLD]
    from_file = write_jsonl(tmp_path / "papers.jsonl", OLD)
    for same in (OLD, as_texts, as_floats, empty, OLD[::-1], from_file):
        update = sr.add(same, folder)
        assert (update.added, update.replaced, update.unchanged) == (0, 0, 80)
    assert encoded(letters) == []
    assert {(record.added, record.replaced, record.deleted) for record in opened(folder).snapshot.manifest.log[1:]} == {(0, 0, 0)}


def test_what_other_papers_have_does_not_change_a_paper(tmp_path: Path, letters: LetterEncoder) -> None:
    """Papers that are read together share their columns' types: objects have all fields, and one fraction makes all numbers fractions."""
    papers = [{**paper, "ids": {"doi": f"10.1/{number}"}, "pages": [number, 7], "score": number} for number, paper in enumerate(OLD)]
    folder = built(papers, tmp_path / "index")
    encoded(letters)
    other = {"id": "x", "title": "Other", "ids": {"arxiv": "1", "more": {"a": 1}}, "pages": [0.5], "score": 2.5, "citations": 1.5}
    update = sr.sync([*papers, other], folder)
    assert (update.added, update.replaced, update.unchanged) == (1, 0, 80)
    assert encoded(letters) == ["Other"]
    assert sr.add([{**papers[3], "ids": {"doi": "another"}}], folder).replaced == 1


# sync


def test_sync_makes_an_index_equal_to_a_corpus(folder: Path, letters: LetterEncoder, tmp_path: Path) -> None:
    encoded(letters)
    corpus = [*OLD[:10], *CHANGED, *OLD[20:], *NEW]
    update = sr.sync(corpus, folder)
    assert encoded(letters) == texts([*CHANGED, *NEW])
    assert (update.added, update.replaced, update.unchanged, update.deleted, update.papers) == (30, 5, 70, 5, 105)
    same_as_afresh(folder, corpus, tmp_path)


def test_sync_refuses_a_corpus_without_papers(folder: Path, tmp_path: Path) -> None:
    before = files_of(folder)
    for empty in (write_jsonl(tmp_path / "empty.jsonl", []), write_jsonl(tmp_path / "bad.jsonl", [{"id": "a", "title": ""}])):
        with pytest.raises(InvalidRequest, match="has no paper"):
            sr.sync(empty, folder)
        assert files_of(folder) == before
    assert sr.sync(OLD, folder).unchanged == 80


def test_a_corpus_whose_files_have_not_changed_is_not_read(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = write_jsonl(tmp_path / "papers.jsonl", PAPERS)
    generation = sr.sync(corpus, folder).generation
    monkeypatch.setattr(Corpus, "batches", lambda self: pytest.fail("the corpus was read"))
    for change in (sr.sync, sr.add):
        notes = Notes()
        update = change(corpus, folder, progress=notes)
        assert (update.unchanged, update.papers, update.generation) == (110, 110, generation)
        assert any("is up to date" in note for note in notes.texts)


def test_index_on_a_corpus_that_grew_offers_sync_and_add(tmp_path: Path, folder: Path) -> None:
    corpus = write_jsonl(tmp_path / "papers.jsonl", OLD)
    target = sr.build(corpus, tmp_path / "from file", encoder="letters").path
    write_jsonl(corpus, PAPERS)
    refused = sciretrieve("index", corpus, "-o", target, "--encoder", "letters")
    assert refused.returncode == 2
    assert "`sciretrieve sync`" in refused.stderr
    assert "`sciretrieve add`" in refused.stderr
    answer("sync", corpus, "-i", target)
    again = sciretrieve("index", corpus, "-o", target, "--encoder", "letters")
    assert again.returncode == 0
    assert "is up to date" in again.stderr
    assert len(opened(target)) == 110


# what sync deletes


def words(papers: Rows | Path, folder: Path, **settings: Any) -> Path:
    """An index of words alone."""
    return built(papers, folder, encoder=None, **settings)


def broken_jsonl(path: Path, papers: Rows) -> Path:
    """Ends in the middle of a line."""
    path.write_text(jsonl_text(papers) + '{"id": "p0078", "title": "The first ha')
    return path


def broken_bibtex(path: Path, papers: Rows) -> Path:
    """Ends in the middle of an entry, whose key can be read."""
    path.write_text(bibtex(papers) + "@article{p0078, title = {The first ha")
    return path


def broken_csv(path: Path, papers: Rows) -> Path:
    """Has a row of fewer fields."""
    rows = [f'{paper["id"]},"{paper["title"]}","{paper["abstract"]}"' for paper in papers]
    path.write_text("\n".join(["id,title,abstract", "p0078,The first", *rows]))
    return path


def test_a_paper_whose_row_cannot_be_a_paper_stays(folder: Path, tmp_path: Path) -> None:
    corpus = write_jsonl(tmp_path / "papers.jsonl", [{"id": "p0003", "title": " "}, *OLD[5:]])
    notes = Notes()
    update = sr.sync(corpus, folder, progress=notes)
    assert (update.deleted, update.kept, update.unchanged, update.rejected) == (4, 1, 75, 1)
    assert update.examples["kept"] == ["p0003"]
    assert "kept 1 paper whose row could not be read: p0003" in notes.texts
    assert set(opened(folder).snapshot.live_ids()) == {"p0003", *ids(OLD[5:])}
    write_jsonl(corpus, OLD[5:])
    assert sr.sync(corpus, folder).deleted == 1


@pytest.mark.parametrize(("broken", "suffix"), [(broken_jsonl, "jsonl"), (broken_bibtex, "bib"), (broken_csv, "csv")])
def test_no_paper_is_deleted_while_there_is_a_row_that_may_be_its(
    broken: Callable[[Path, Rows], Path], suffix: str, tmp_path: Path
) -> None:
    papers = [{"id": paper["id"], "title": f"{paper['title']} of {paper['id']}", "abstract": "", "year": ""} for paper in OLD]
    corpus, folder = tmp_path / f"papers.{suffix}", tmp_path / "index"
    broken(corpus, papers)
    sr.build(corpus, folder, encoder=None)
    broken(corpus, papers[3:])
    notes = Notes()
    update = sr.sync(corpus, folder, progress=notes)
    assert (update.deleted, update.kept, update.papers) == (0, 3, 80)
    told = "kept 3 papers that are missing from the corpus, since 1 row of it could not be read and may be theirs: p0000, p0001, p0002"
    assert told in notes.texts
    assert sr.sync(corpus, folder).kept == 3  # and again, since the file is not what the index has
    told = answer("sync", corpus, "-i", folder, "--allow-deletions", "-f", "json")
    assert json.loads(told)["deleted"] == 3
    assert len(sr.open(folder)) == 77


def test_a_broken_row_is_of_no_id_where_another_column_has_these(tmp_path: Path) -> None:
    papers = [{**paper, "abstract": "doi", "year": f"D{number}"} for number, paper in enumerate(OLD)]
    (tmp_path / "papers.bib").write_text(bibtex(papers))
    columns = sr.ColumnMap(id="year")
    folder = sr.build(tmp_path / "papers.bib", tmp_path / "index", encoder=None, columns=columns).path
    (tmp_path / "papers.bib").write_text("@article{p0000, title = }\n" + bibtex(papers[1:]))
    assert sr.sync(tmp_path / "papers.bib", folder, columns=columns).kept == 1


def test_what_a_source_says_is_gone_is_deleted(tmp_path: Path) -> None:
    article = "<MedlineCitation><PMID>{0}</PMID><Article><ArticleTitle>Title {0}</ArticleTitle></Article></MedlineCitation>"
    corpus = tmp_path / "pubmed.xml"
    corpus.write_text(f"<MedlineCitationSet>{''.join(map(article.format, range(1, 21)))}</MedlineCitationSet>")
    folder = sr.build(corpus, tmp_path / "index", encoder=None).path
    gone = "<DeleteCitation><PMID>1</PMID></DeleteCitation>"
    corpus.write_text(f"<MedlineCitationSet>{''.join(map(article.format, range(2, 21)))}{gone}</MedlineCitationSet>")
    update = sr.sync(corpus, folder)
    assert (update.deleted, update.kept, update.rejected) == (1, 0, 0)


def test_more_than_a_tenth_is_deleted_only_if_that_is_allowed(folder: Path, tmp_path: Path) -> None:
    corpora_folder = tmp_path / "papers"
    corpora_folder.mkdir()
    write_jsonl(corpora_folder / "a.jsonl", OLD[:71])
    write_jsonl(corpora_folder / "b.jsonl", OLD[71:])
    answer("sync", corpora_folder, "-i", folder)
    (corpora_folder / "b.jsonl").unlink()
    before = files_of(folder)
    refused = sciretrieve("sync", corpora_folder, "-i", folder)
    assert refused.returncode == 2
    assert refused.stderr.splitlines()[-1].startswith(f"sciretrieve: 9 of the 80 papers of {folder} are not in the corpus")
    assert "--allow-deletions" in refused.stderr
    for allowed in (False, lambda deleted, papers: False):
        with pytest.raises(InvalidRequest, match=r"^9 of the 80 papers .*allow_deletions=True"):
            sr.sync(corpora_folder, folder, allow_deletions=allowed)
    wrong: list[Any] = ["no", 0.5, None, lambda deleted, papers: None, lambda deleted, papers: "yes"]
    for no_answer in wrong:
        with pytest.raises(InvalidRequest, match=r"allow_deletions`? (is|answers) True.* False.*not (None|'no'|0\.5|'yes')"):
            sr.sync(corpora_folder, folder, allow_deletions=no_answer)
    assert files_of(folder) == before
    asked: list[tuple[int, ...]] = []

    def agreed(*counts: int) -> bool:
        asked.append(counts)
        return True

    assert sr.sync(corpora_folder, folder, allow_deletions=agreed).deleted == 9
    assert asked == [(9, 80)]
    assert sr.sync(OLD[:64], folder, allow_deletions=agreed).deleted == 7
    assert asked == [(9, 80)]  # 7 of 71 are no more than a tenth


class AtTerminal(SimpleNamespace):
    """Stands for `sys` where somebody sits at a terminal."""

    stdin = stderr = SimpleNamespace(isatty=lambda: True)


@pytest.mark.parametrize(("typed", "code", "papers"), [("y\n", 0, 60), ("n\n", 2, 80), ("\n", 2, 80), ("", 130, 80)])
def test_a_person_at_a_terminal_is_asked(
    typed: str, code: int, papers: int, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sciretrieve.commands.changing.sys", AtTerminal())
    corpus = write_jsonl(tmp_path / "papers.jsonl", OLD[20:])
    result = sciretrieve("sync", corpus, "-i", folder, stdin=typed)
    assert f"20 of the 80 papers of {folder} are not in the corpus, more than a tenth. Delete them? [y/N]" in result.stderr
    assert (result.returncode, len(opened(folder))) == (code, papers)
    assert "Traceback" not in result.stderr
    assert sr.sync(OLD, folder).papers == 80


def test_a_dry_run_says_what_would_be_done_and_does_nothing(folder: Path, tmp_path: Path, letters: LetterEncoder) -> None:
    corpus = write_jsonl(tmp_path / "papers.jsonl", [{"id": "p0000"}, *OLD[3:10], *CHANGED, *OLD[15:], *NEW])
    before = files_of(folder)
    encoded(letters)
    told = answer("sync", corpus, "-i", folder, "--dry-run")
    assert told.splitlines() == [
        "would add 30 papers: p0080, p0081, p0082, p0083, p0084, …",
        "would replace 5 papers: p0010, p0011, p0012, p0013, p0014",
        "would delete 2 papers: p0001, p0002",
        "would keep 1 paper, which may be in rows that could not be read: p0000",
        "would reject 1 row",
        "would leave 72 papers as they are",
    ]
    counts = json.loads(answer("sync", corpus, "-i", folder, "--dry-run", "-f", "json"))
    update = sr.sync(corpus, folder, dry_run=True)
    assert letters.asked == []
    assert files_of(folder) == before
    done = sr.sync(corpus, folder)
    for name in ("added", "replaced", "deleted", "kept", "unchanged", "rejected", "examples"):
        assert counts[name] == getattr(update, name) == getattr(done, name), name
    assert (update.papers, update.generation) == (80, 1)
    write_jsonl(corpus, OLD[:60])
    assert "more than a tenth" in answer("sync", corpus, "-i", folder, "--dry-run")
    assert "more than a tenth" not in answer("sync", corpus, "-i", folder, "--dry-run", "--allow-deletions")
    for arguments in (
        [corpus, "--watch"],
        [write_jsonl(tmp_path / "empty.jsonl", [])],
        [broken_jsonl(tmp_path / "b.jsonl", OLD), "--set", "strict=true"],
    ):
        assert sciretrieve("sync", *arguments, "-i", folder, "--dry-run").returncode == 2


def test_an_index_of_the_first_papers_takes_in_the_rest(tmp_path: Path) -> None:
    corpus = write_jsonl(tmp_path / "papers.jsonl", OLD)
    for number, change in enumerate((sr.add, sr.sync)):
        folder = words(corpus, tmp_path / f"index {number}", limit=30)
        assert "the first 30 papers alone, as --limit said" in answer("info", "-i", folder)
        assert words(corpus, folder, limit=30) == folder  # the same build again
        refused = sciretrieve("index", corpus, "-o", folder, "--dense", "none", "--set", "shard_size=30")
        assert refused.returncode == 2
        assert "`sciretrieve add` takes in the rest" in refused.stderr
        assert (update := change(corpus, folder)).added == 50, update
        assert "--limit" not in answer("info", "-i", folder)
        notes = Notes()
        change(corpus, folder, progress=notes)
        assert any("is up to date" in note for note in notes.texts)
        answer("index", corpus, "-o", folder, "--dense", "none", "--set", "shard_size=30")
    whole = words(corpus, tmp_path / "whole", limit=81)  # which was not reached
    assert "--limit" not in answer("info", "-i", whole)
    assert sr.sync(corpus, whole).generation == 1


def test_papers_are_told_apart_whose_ids_have_one_hash(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparison, "FEW", 0)  # a table is made at once
    monkeypatch.setattr(comparison, "_hashes", lambda ids: np.fromiter((hash(id) % 3 for id in ids), np.int64))
    sr.delete(folder, "p0040")
    corpus = [*OLD[:10], *CHANGED, *OLD[15:50], *OLD[52:], *NEW]
    update = sr.sync(corpus, folder)
    assert (update.added, update.replaced, update.unchanged, update.deleted, update.papers) == (31, 5, 72, 2, 108)
    as_afresh(folder, corpus, tmp_path)


# delete


def test_papers_are_deleted_by_ids_by_a_filter_and_from_standard_input(folder: Path) -> None:
    answer("delete", "p0000", "p0001", "-i", folder)
    answer("delete", "-", "-i", folder, stdin="p0002\n\n p0003 \n")
    before = set(opened(folder).snapshot.live_ids())
    assert before == set(ids(OLD[4:]))
    young = {paper["id"] for paper in OLD[4:] if (paper["year"] or 0) >= 2015}
    told = json.loads(answer("delete", "--filter", "year >= 2015", "-i", folder, "--format", "json"))
    assert (told["deleted"], told["papers"]) == (len(young), 76 - len(young))
    assert set(opened(folder).snapshot.live_ids()) == before - young
    with pytest.raises(NotFound, match="p0001"):
        opened(folder).papers("p0001")


def test_a_deletion_that_is_refused_changes_nothing(folder: Path) -> None:
    before = files_of(folder)
    for arguments in (
        ["p0000", "no such paper"],
        [],
        ["p0000", "--filter", "year > 2000"],
        ["--filter", "year >"],
        ["--filter", "nothing == 3"],
        ids(OLD),
        ["--filter", "year >= 0 or not year >= 0"],
    ):
        result = sciretrieve("delete", *arguments, "-i", folder)
        assert result.returncode == 2, arguments
        assert len(result.stderr.splitlines()) == 1
    assert "would leave no paper" in result.stderr
    assert json.loads(answer("delete", "--filter", "year > 3000", "-i", folder, "--format", "json"))["deleted"] == 0
    assert files_of(folder) == before


def test_what_would_be_deleted_is_told_and_nothing_changes(folder: Path) -> None:
    before = files_of(folder)
    old = sorted(paper["id"] for paper in OLD if paper["year"] is not None and paper["year"] < 2010)
    told = json.loads(answer("delete", "--filter", "year < 2010", "--dry-run", "-i", folder, "--format", "json"))
    assert (told["dry_run"], told["deleted"], told["papers"]) == (True, len(old), 80 - len(old))
    titles = {paper["id"]: paper["title"] for paper in OLD}
    assert told["first"] == {id: titles[id] for id in old[:5]}
    said = sciretrieve("delete", "p0003", "--dry-run", "-i", folder)
    assert said.stdout == f"p0003  {titles['p0003']}\n"
    assert "would delete 1 paper and leave 79; nothing is changed" in said.stderr
    assert sr.delete(folder, "p0003", dry_run=True).dry_run
    assert sciretrieve("delete", *ids(OLD), "--dry-run", "-i", folder).returncode == 2
    assert files_of(folder) == before
    assert sr.delete(folder, filter="year < 2010").deleted == len(old)
    assert not set(opened(folder).snapshot.live_ids()) & set(old)


def test_nothing_is_deleted_while_some_papers_cannot_be_compared(tmp_path: Path) -> None:
    rows = [{"id": f"c{count}", "title": "graphs", "citations": count} for count in (5, 50, 500)]
    folder = sr.build(rows, tmp_path / "index", encoder=None).path
    sr.add([{"id": f"x{place}", "title": "graphs", "citations": "n/a", "year": 2000} for place in range(7)], folder)
    for _ in range(2):
        before = files_of(folder)
        result = sciretrieve("delete", "--filter", "citations < 6", "-i", folder)
        assert result.returncode == 2
        assert '7 papers cannot be compared as the filter asks, so nothing is deleted: x0 (citations: "n/a"), x1' in result.stderr
        assert " and 2 more; leave such values out, as in: (…) and not citations in (VALUE, …)" in result.stderr
        assert len(result.stderr.splitlines()) == 1
        assert files_of(folder) == before
        searched = sciretrieve("search", "graphs", "--filter", "citations < 6", "-i", folder, "--set", "group=false")
        assert "7 papers left out, since their values do not compare with the filter's" in searched.stderr
        assert "x0, x1, x2, x3, x4 and 2 more" in searched.stderr
        sr.merge(folder)
    assert sr.delete(folder, filter="citations < 6 and year is null").deleted == 1
    assert sr.delete(folder, filter='citations < 51 and not citations in ("n/a")').deleted == 1
    assert opened(folder).snapshot.live_ids()[0] == "c500"


def test_a_deleted_paper_can_come_back(folder: Path, letters: LetterEncoder, tmp_path: Path) -> None:
    sr.delete(folder, "p0007")
    encoded(letters)
    assert sr.add(OLD, folder).added == 1
    assert encoded(letters) == texts([OLD[7]])
    as_afresh(folder, OLD, tmp_path)


# answers


@pytest.fixture
def one_thread() -> Iterator[None]:
    """FAISS's threads wait for each other longer than they search so few papers."""
    threads = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    yield
    faiss.omp_set_num_threads(threads)


@pytest.mark.parametrize(("dense", "shard_size"), [("flat", 19), ("HNSW16", 40)])
@pytest.mark.usefixtures("one_thread")
def test_answers_are_those_of_an_index_built_afresh(dense: str, shard_size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # a graph is used for shards of any size, and finds all papers of one so small
    monkeypatch.setattr(dense_vectors, "SCANS_PER_CANDIDATE", 0)
    monkeypatch.setattr(dense_vectors, "SELECTIVE", 0)
    settings = {"dense": dense, "shard_size": shard_size}
    folder = built(OLD, tmp_path / "index", **settings)
    gone = {"p0003", "p0033", "p0079"}
    sr.delete(folder, sorted(gone))
    as_afresh(folder, without(OLD, gone), tmp_path, **settings)
    sr.add([*CHANGED, *NEW[:15]], folder)
    left = [*without(OLD, gone | set(ids(CHANGED))), *CHANGED, *NEW[:15]]
    as_afresh(folder, left, tmp_path, **settings)
    sr.delete(folder, filter="year == 2012")
    left = [paper for paper in left if paper["year"] != 2012]
    as_afresh(folder, left, tmp_path, **settings)
    left = [*left[20:], *NEW[15:]]
    sr.sync(left, folder, allow_deletions=True)
    as_afresh(folder, left, tmp_path, **settings)
    sr.merge(folder)
    same_as_afresh(folder, left, tmp_path, **settings)
    assert (opened(folder).snapshot.vectors[0].ann is None) == (dense == "flat")


@pytest.mark.parametrize("settings", [{"encoder": None, "lexical": sr.Bm25Parameters("bm25+")}, {"lexical": None, "metric": "l2"}], ids=str)
def test_an_index_with_one_half_or_other_scores_is_kept_as_well(settings: dict[str, Any], tmp_path: Path) -> None:
    folder = built(OLD, tmp_path / "index", **settings)
    sr.add([*CHANGED, *NEW], folder)
    sr.delete(folder, "p0000")
    left = [*without(PAPERS[1:], set(ids(CHANGED))), *CHANGED]
    same_as_afresh(folder, left, tmp_path, **settings)


# the log and older generations


def test_the_log_lists_commits_and_older_generations_open(folder: Path, tmp_path: Path) -> None:
    answers = {1: quick_answers(opened(folder))}
    changes: list[Callable[[], Update]] = [
        lambda: sr.add(NEW, folder),
        lambda: sr.add(CHANGED, folder),
        lambda: sr.delete(folder, "p0000"),
        lambda: sr.sync([*CHANGED, *NEW], folder, allow_deletions=True),
    ]
    for number, change in enumerate(changes, start=2):
        assert change().generation == number
        answers[number] = quick_answers(opened(folder))
    for number, expected in answers.items():
        assert quick_answers(opened(folder, generation=number)) == expected
        shown = json.loads(answer("info", "-i", folder, "--set", f"generation={number}", "--format", "json"))
        assert shown["manifest"]["papers"] == expected["papers"]
    commits = json.loads(answer("info", "log", "-i", folder, "--format", "json"))["commits"]
    rows = [[row[name] for name in ("generation", "command", "papers", "added", "replaced", "deleted", "can_be_opened")] for row in commits]
    assert rows == [
        [5, "sync", 35, 0, 0, 74, True],
        [4, "delete", 109, 0, 0, 1, True],
        [3, "add", 110, 0, 5, 0, True],
        [2, "add", 110, 30, 0, 0, True],
        [1, "index", 80, 80, 0, 0, True],
    ]
    lines = answer("info", "log", "-i", folder).splitlines()
    assert [line.split()[0] for line in lines[1:6]] == ["5*", "4*", "3*", "2*", "1*"]
    found = answer("search", "graph networks", "-i", folder, "--set", "generation=2", "--mode", "bm25", "-k", "200", "--format", "trec")
    assert len(found.splitlines()) == len(answers[2]["bm25"][0][0])
    gc.collect()  # whatever was opened here is let go of, as where processes end
    answer("merge", "-i", folder)
    commits = json.loads(answer("info", "log", "-i", folder, "--format", "json"))["commits"]
    assert [row["can_be_opened"] for row in commits] == [True, False, False, False, False]
    for generation in ("2", "99"):
        refused = sciretrieve("search", "graph", "-i", folder, "--set", f"generation={generation}")
        assert refused.returncode == 2
        assert "there are: 5" in refused.stderr


def test_commands_say_what_they_did(folder: Path, tmp_path: Path) -> None:
    corpus = write_jsonl(tmp_path / "papers.jsonl", [*OLD[:10], *OLD[15:20], *CHANGED, *NEW, {"id": "nothing"}])
    result = sciretrieve("add", corpus, "-i", folder)
    assert f"{folder}: 30 added, 5 replaced, 15 unchanged; 110 papers now, generation 2" in result.stderr
    assert f"rejected 1 row: see {folder / 'rejected.jsonl'}" in result.stderr
    told = json.loads(answer("add", corpus, "-i", folder, "--format", "json", "--quiet"))
    assert (told["added"], told["replaced"], told["unchanged"], told["papers"], told["generation"]) == (0, 0, 50, 110, 2)
    deleted = sciretrieve("delete", "p0001", "-i", folder)
    assert f"{folder}: 1 deleted; 109 papers now, generation 3" in deleted.stderr
    assert sciretrieve("delete", "p0002", "-i", folder, "--quiet").stderr == ""
    # five were replaced, and are in the shards still
    assert "7 papers, in the shards until the next merge" in answer("info", "-i", folder)


# going back


def test_an_earlier_generation_is_restored(folder: Path, letters: LetterEncoder) -> None:
    answers = {1: quick_answers(opened(folder))}
    sr.delete(folder, filter="year >= 2015")
    sr.sync([*CHANGED, *NEW], folder, allow_deletions=True)
    answers[3] = quick_answers(opened(folder))
    encoded(letters)
    result = sciretrieve("restore", "--generation", "1", "-i", folder)
    assert result.returncode == 0
    assert f"{folder}: as in generation 1; 75 added, 5 replaced, 30 deleted; 80 papers now, generation 4" in result.stderr
    assert quick_answers(opened(folder)) == answers[1]
    update = sr.restore(folder, generation=3)
    assert (update.added, update.replaced, update.unchanged, update.deleted, update.generation) == (30, 5, 0, 75, 5)
    assert quick_answers(opened(folder)) == answers[3]
    assert letters.asked == []
    commits = json.loads(answer("info", "log", "-i", folder, "-f", "json"))["commits"]
    assert [(row["command"], row["restored"], row["papers"]) for row in commits[:2]] == [("restore", 3, 35), ("restore", 1, 80)]
    assert "restore 1" in answer("info", "log", "-i", folder)
    gc.collect()
    assert not sr.verify(folder, encoder=letters).faults
    sr.merge(folder)
    assert sr.add(PAPERS, folder).papers == 110


def test_what_was_restored_is_changed_and_swept_like_any_other(folder: Path, tmp_path: Path) -> None:
    sr.add(NEW, folder)
    sr.delete(folder, ids(NEW[5:]))
    sr.restore(folder, 2)
    assert sr.delete(folder, "p0000").papers == 109
    sr.reindex(folder, lexical={"k1": 0.5})
    sr.restore(folder, 4)
    gc.collect()
    with write_lock(folder):
        sweep(folder, Silent(), keep=1)
    assert generations(folder) == [6, 7]
    as_afresh(folder, PAPERS, tmp_path)


def test_a_generation_that_cannot_be_restored_is_refused_in_one_line(folder: Path) -> None:
    sr.add(NEW, folder)
    sr.delete(folder, "p0000")
    before = files_of(folder)
    for number, why in ((3, "is the current one"), (7, "is not there, or not any more")):
        refused = sciretrieve("restore", "--generation", str(number), "-i", folder)
        assert refused.returncode == 2
        assert refused.stderr == f"sciretrieve: generation {number} of {folder} {why}; those that can be restored: 1, 2\n"
        with pytest.raises(NotFound, match="those that can be restored: 1, 2"):
            sr.restore(folder, number)
    assert files_of(folder) == before
    gc.collect()
    sr.merge(folder)
    with pytest.raises(NotFound, match="those that can be restored: none"):
        sr.restore(folder, 1)


# encoders


def test_another_encoder_is_refused_before_anything_is_written(folder: Path) -> None:
    before = files_of(folder)
    with pytest.raises(EncoderMismatch):
        sr.add(NEW, folder, encoder=LetterEncoder(scale=2))
    with pytest.raises(EncoderMismatch):
        sr.sync(NEW, folder, encoder=LetterEncoder("others", layout="bottleneck"))
    assert files_of(folder) == before


def test_an_encoder_whose_vectors_have_changed_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = files_of(folder)
    plain = LetterEncoder.encode
    monkeypatch.setattr(LetterEncoder, "encode", lambda self, tokens: plain(self, tokens) + np.float32(3))
    with pytest.raises(InvalidRequest):
        sr.add(NEW, folder)
    assert files_of(folder) == before


def vectors_file(path: Path, papers: Rows, dim: int = 4) -> Path:
    """Made-up vectors of papers."""
    chance = np.random.default_rng(7)
    rows = [{"paper_id": paper["id"], "embedding": chance.integers(0, 9, dim).tolist()} for paper in papers]
    return write_jsonl(path, rows)


def test_papers_with_vectors_made_elsewhere_are_added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old, new, wide = (
        vectors_file(tmp_path / "old.jsonl", OLD),
        vectors_file(tmp_path / "new.jsonl", NEW),
        vectors_file(tmp_path / "wide.jsonl", NEW, 5),
    )
    folder = sr.build(OLD, tmp_path / "index", encoder=f"vectors:{old}").path
    corpus, others = write_jsonl(tmp_path / "papers.jsonl", NEW[:15]), NEW[15:]
    with pytest.raises(InvalidRequest, match="no vector of 'p0080'"):
        sr.add(corpus, folder)
    assert sciretrieve("add", corpus, "-i", folder, "--set", f"encoder=vectors:{wide}").returncode == 2
    answer("add", corpus, "-i", folder, "--set", f"encoder=vectors:{new}")
    assert sr.add(others, folder, encoder=sr.load_encoder(f"vectors:{new}")).added == 15
    assert len(sr.open(folder)) == 110
    stored = dict(zip(ids(NEW), (json.loads(line)["embedding"] for line in new.read_text().splitlines()), strict=True))
    index = sr.open(folder)
    assert dense_vectors.vectors_at(index.snapshot.vectors, index.snapshot.rows(ids(NEW))).tolist() == [stored[id] for id in ids(NEW)]
    found = index.similar(["p0005"], 200, mode="dense").rankings[0]
    assert len(found.ids) == 109


# interruptions


@pytest.mark.torture
@pytest.mark.parametrize(("change", "left"), [(sr.add, 29), (sr.sync, 22), (sr.add, 5), (sr.sync, 1)])
def test_an_interrupted_change_goes_on_where_it_stopped(
    change: Any, left: int, folder: Path, tmp_path: Path, letters: LetterEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the whole corpus was read, and before so many of the 30 new papers were encoded, in windows of four."""
    monkeypatch.setattr(LetterEncoder, "window", 4)
    papers = PAPERS if change is sr.add else PAPERS[5:]
    corpus = write_jsonl(tmp_path / "papers.jsonl", papers)
    reads: list[Path] = []

    def read(path: Path) -> Any:
        reads.append(path)
        return JSON_LINES.read(path)

    monkeypatch.setattr(corpora, "format_of", lambda path: replace(JSON_LINES, read=read))
    before = opened(folder)
    then = quick_answers(before)
    encoded(letters)
    with pytest.raises(Stop):
        change(corpus, folder, progress=StopAfter(len(papers) + 30 - left))
    done = set(encoded(letters))
    assert reads == [corpus]
    assert quick_answers(before) == quick_answers(opened(folder)) == then
    update = change(corpus, folder)
    assert reads == [corpus]
    assert (update.added, update.replaced, update.unchanged, update.deleted) == (30, 0, len(papers) - 30, 110 - len(papers))
    again = set(encoded(letters))
    assert done | again == set(texts(NEW))
    # of the windows that were done, the last may not be wholly on disk
    assert len(texts(NEW)) - len(again) >= (30 - left) // 4 * 4 - 4
    as_afresh(folder, papers, tmp_path)


def interrupted(corpus: Path, folder: Path, papers: int) -> None:
    """An add that was stopped after so many papers were read and encoded."""
    with pytest.raises(Stop):
        sr.add(corpus, folder, progress=StopAfter(papers))


def test_what_was_encoded_is_finished_before_something_else_is_begun(
    folder: Path, tmp_path: Path, letters: LetterEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LetterEncoder, "window", 4)
    corpus, other = write_jsonl(tmp_path / "papers.jsonl", NEW), write_jsonl(tmp_path / "other.jsonl", CHANGED)
    sr.delete(folder, "p0079")
    encoded(letters)
    interrupted(corpus, folder, 50)
    done = encoded(letters)
    merged = sciretrieve("merge", "-i", folder)
    assert (merged.returncode, "dropped" in merged.stderr) == (0, False)
    result = sciretrieve("add", other, "-i", folder)
    assert "first finishing the interrupted add" in result.stderr
    assert [(record.command, record.added, record.replaced) for record in opened(folder).snapshot.manifest.log[2:]] == [
        ("merge", 0, 0),
        ("add", 30, 0),
        ("add", 0, 5),
    ]
    assert len(encoded(letters)) <= 30 - len(done) + 4 + 5
    as_afresh(folder, [*without(PAPERS, {"p0079", *ids(CHANGED)}), *CHANGED], tmp_path)


def test_interrupted_work_can_be_dropped(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LetterEncoder, "window", 4)
    interrupted(write_jsonl(tmp_path / "papers.jsonl", NEW), folder, 50)
    answer("add", write_jsonl(tmp_path / "other.jsonl", CHANGED), "-i", folder, "--set", "resume=false")
    assert set(opened(folder).snapshot.live_ids()) == set(ids(OLD))
    assert sr.merge(folder).generation == 3


def test_a_strict_change_stops_at_the_first_bad_row(folder: Path, tmp_path: Path) -> None:
    before = files_of(folder)
    corpus = write_jsonl(tmp_path / "papers.jsonl", [*NEW, {"id": "bad"}])
    for change in (sr.add, sr.sync):
        with pytest.raises(BadPaper, match="row 31"):
            change(corpus, folder, strict=True)
    assert files_of(folder) == before
    assert sr.add(corpus, folder).rejected == 1
    assert json.loads((folder / "rejected.jsonl").read_text())["id"] == "bad"


# the lock


WRITING: dict[str, list[Any]] = {
    "add": [OLD],
    "sync": [OLD],
    "delete": ["p0000"],
    "merge": [],
    "reindex": ["--dense", "ivf"],
    "restore": ["--generation", "1"],
    "verify": ["--repair"],
}
"""The commands that write an index, with arguments; papers stand for a file of them."""


@pytest.mark.parametrize("command", WRITING)
def test_a_second_writer_is_told_who_the_first_is(command: str, folder: Path, tmp_path: Path) -> None:
    before = files_of(folder)
    arguments = [write_jsonl(tmp_path / "papers.jsonl", NEW) if one is OLD else one for one in WRITING[command]]
    with write_lock(folder):
        refused = sciretrieve(command, *arguments, "-i", folder)
    assert refused.returncode == 4
    assert refused.stderr.splitlines()[-1].startswith(
        f"sciretrieve: {folder} is being written by process {os.getpid()} on {socket.gethostname()};"
    )
    assert files_of(folder) == before
    assert len(opened(folder)) == 80  # readers are not in its way


def test_a_change_holds_the_lock_to_its_end(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also while it sweeps: a change that was committed must not end with a refusal."""
    sweeps: list[Path] = []
    locks: list[Path] = []

    def sweeping(directory: Path, progress: Progress) -> None:
        sweeps.append(directory)
        with pytest.raises(IndexBusy), write_lock(directory):
            pass
        sweep(directory, progress)

    def locking(directory: Path) -> Any:
        locks.append(directory)
        return write_lock(directory)

    monkeypatch.setattr("sciretrieve.lifecycle.updating.sweep", sweeping)
    monkeypatch.setattr("sciretrieve.lifecycle.updating.write_lock", locking)
    sr.add(NEW, folder)
    sr.delete(folder, "p0000")
    sr.sync(OLD, folder, allow_deletions=True)
    assert sweeps == locks == [folder] * 3


@pytest.mark.parametrize("command", WRITING)
def test_nothing_is_made_where_there_is_no_index(command: str, tmp_path: Path) -> None:
    arguments = [write_jsonl(tmp_path / "papers.jsonl", NEW) if one is OLD else one for one in WRITING[command]]
    listed = sorted(tmp_path.iterdir())
    for folder in (tmp_path / "none", tmp_path):
        refused = sciretrieve(command, *arguments, "-i", folder)
        assert refused.returncode == 2
        assert f"there is no index at {folder}" in refused.stderr
    assert sorted(tmp_path.iterdir()) == listed


@pytest.mark.parametrize(("gone", "unreadable"), [(0, 0), (1, 0), (0, 1), (1, 1), (2, 1)])
def test_an_added_corpus_is_the_index_only_if_it_shows_all_of_it(gone: int, unreadable: int, tmp_path: Path) -> None:
    """Else a sync to it, later, would find nothing to do."""
    folder = built(OLD[:8], tmp_path / "index", encoder=None)
    rows = [*({"id": paper["id"]} for paper in OLD[:unreadable]), *OLD[unreadable : 8 - gone], NEW[0]]
    corpus = write_jsonl(tmp_path / "papers.jsonl", rows)
    assert sr.add(corpus, folder).added == 1
    assert (read_manifest(folder).whole is not None) == (gone + unreadable == 0)
    plan = sr.sync(corpus, folder, dry_run=True)
    assert (plan.deleted, plan.kept, plan.unchanged) == (gone, unreadable, 9 - gone - unreadable)


# watching


BIBTEX = "@article{{{id},\n title = {{{title}}},\n abstract = {{{abstract}}},\n year = {{{year}}}\n}}\n"


def bibtex(papers: Rows) -> str:
    return "".join(BIBTEX.format_map(paper) for paper in papers)


def jsonl_text(papers: Rows) -> str:
    return "".join(json.dumps(paper) + "\n" for paper in papers)


class Looks:
    """Stands for `time` where a corpus is watched: each pause is the next thing that happens to it; after the last, Ctrl-C."""

    def __init__(self, *events: Callable[[], object]) -> None:
        self.events = list(events)

    perf_counter = staticmethod(time.perf_counter)

    def sleep(self, seconds: float) -> None:
        if not self.events:
            raise KeyboardInterrupt
        self.events.pop(0)()


def watched(
    corpus: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, *events: Callable[[], object], options: tuple[str, ...] = ()
) -> str:
    """What is told while a corpus is watched, to which these things happen, each between two looks; then Ctrl-C is pressed."""
    monkeypatch.setattr("sciretrieve.commands.changing.time", Looks(lambda: None, *events, lambda: None))
    result = sciretrieve("sync", corpus, "-i", folder, "--watch", *options)
    assert result.returncode == 130
    assert "Traceback" not in result.stderr
    assert result.stderr.count("watching; Ctrl-C ends it") >= 1
    return result.stderr


def added(folder: Path) -> list[int]:
    return [record.added for record in sr.open(folder).snapshot.manifest.log]


def test_a_watched_folder_is_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files come, go and are broken for a while."""
    papers = tmp_path / "papers"
    papers.mkdir()
    (papers / "old.bib").write_text(bibtex(OLD))
    folder = words(papers, tmp_path / "index")

    def changed() -> None:
        (papers / "old.bib").write_text(bibtex(OLD[5:]))
        (papers / "new.bib").write_text(bibtex(NEW))

    def broken() -> None:
        assert set(sr.open(folder).snapshot.live_ids()) == set(ids(PAPERS[5:]))
        (papers / "old.bib").write_text("@article{half, title = {An entry that is not wri")
        (papers / "new.bib").unlink()

    still = [lambda: None] * 2
    events = [changed, *still, broken, *still, lambda: (papers / "old.bib").write_text(bibtex(CHANGED)), *still]
    told = watched(papers, folder, monkeypatch, *events, options=("--allow-deletions",))
    assert "waiting for the next change" in told
    assert "30 added" in told
    assert set(sr.open(folder).snapshot.live_ids()) == set(ids(CHANGED))
    assert sr.open(folder).snapshot.manifest.generation == 3


def test_a_watched_file_is_read_when_it_is_quiet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = tmp_path / "papers.bib"
    corpus.write_text(bibtex(OLD))
    folder = words(corpus, tmp_path / "index")
    counts: list[int] = []

    def written(text: str) -> Callable[[], object]:
        def write() -> None:
            corpus.write_text(text)
            counts.append(len(sr.open(folder)))

        return write

    whole = bibtex(PAPERS)
    watched(corpus, folder, monkeypatch, written(whole[:-3000]), written(whole[:-300]), written(whole))
    assert counts == [80, 80, 80]
    assert len(sr.open(folder)) == 110
    assert added(folder) == [80, 30]


def test_a_deletion_that_is_refused_is_waited_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = write_jsonl(tmp_path / "papers.jsonl", OLD)
    folder = words(corpus, tmp_path / "index")
    monkeypatch.setattr("sciretrieve.commands.changing.sys", AtTerminal())
    events = [lambda: write_jsonl(corpus, OLD[:40]), lambda: None, lambda: write_jsonl(corpus, PAPERS)]
    told = watched(corpus, folder, monkeypatch, *events)
    assert f"40 of the 80 papers of {folder} are not in the corpus" in told
    assert "waiting for the next change" in told
    assert [record.deleted for record in sr.open(folder).snapshot.manifest.log] == [0, 0]
    assert len(sr.open(folder)) == 110


def test_a_watched_file_that_cannot_be_opened_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = write_jsonl(tmp_path / "papers.jsonl", OLD)
    folder = words(corpus, tmp_path / "index")
    refusals = [PermissionError(13, "Permission denied", str(corpus))]

    def read(path: Path) -> Any:
        if refusals:
            raise refusals.pop()
        return JSON_LINES.read(path)

    monkeypatch.setattr(corpora, "format_of", lambda path: replace(JSON_LINES, read=read))
    events = [lambda: write_jsonl(corpus, PAPERS[:100]), lambda: None, lambda: write_jsonl(corpus, PAPERS)]
    assert "Permission denied" in watched(corpus, folder, monkeypatch, *events)
    assert added(folder) == [80, 30]


def test_papers_are_the_same_whatever_types_others_give_their_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows: Rows = [{"id": f"i{place}", "title": "graphs", "tags": ["a", "b"], "open": True, "share": 1.0} for place in range(6)]
    rows += [{"id": f"j{place}", "title": "graphs", "tags": "a", "open": "maybe", "share": "n/a"} for place in range(4)]
    monkeypatch.setattr(raw, "BATCH_ROWS", 2)
    corpus = write_jsonl(tmp_path / "papers.jsonl", rows)
    folder = sr.build(corpus, tmp_path / "index", encoder=None).path
    for change in (lambda: None, lambda: sr.merge(folder)):
        change()
        with sr.open(folder) as index:
            assert [paper.extra["tags"] for paper in index.papers(["i0", "j0"])] == [["a", "b"], ["a"]]
        write_jsonl(corpus, [*rows, {"id": "new", "title": "graphs"}])
        update = sr.sync(corpus, folder)
        assert (update.replaced, update.unchanged + update.added) == (0, 11)
