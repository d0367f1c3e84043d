"""Decisions made elsewhere, as ASReview and Rayyan export them; records find their papers whatever they are called there."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook

import sciretrieve as sr
from sciretrieve.base.errors import InvalidRequest, NotFound

PAPERS: list[dict[str, Any]] = [
    {"id": "a", "title": "Vaccines for the old and the very old", "authors": ["Lovelace, Ada"], "year": 2019, "doi": "10.1000/a"},
    {"id": "b", "title": "Doses of vaccines in mice and in men", "authors": ["Turing, Alan"], "year": 2020, "pmid": "31452104"},
    {"id": "c", "title": "A review of reviews of vaccines: update", "authors": ["Hopper, Grace"], "year": 2021},
    {"id": "d", "title": "Stars", "authors": ["Jackson, Mary"], "year": 2001},
    {"id": "e", "title": "Stars", "authors": ["Jackson, Mary"], "year": 2011},
    {"id": "f", "title": "Dust and radiation of distant galaxies seen anew", "authors": ["Rubin, Vera"], "year": 1999},
    {"id": "3", "title": "A paper whose id is a number, as many are", "authors": ["Noether, Emmy"], "year": 2000},
]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> sr.Index:
    return sr.build(PAPERS, tmp_path_factory.mktemp("library") / "index", encoder=None)


def taken(library: sr.Index, file: Path) -> tuple[Mapping[str, str | None], sr.Screening, tuple[str, ...]]:
    """What is decided by a file, the session, and the records without a paper."""
    session = sr.Screening(library, file.with_suffix(".session.jsonl"), "vaccines")
    with session:
        result = session.take_over(file)
    verdicts = {id: decision.verdict for id, decision in session.decisions.items()}
    assert result.decisions == len(verdicts)
    return verdicts, session, result.unmatched


def written(path: Path, rows: Sequence[Mapping[str, Any]], delimiter: str = ",") -> Path:
    """A table, as programs write it."""
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, rows[0], delimiter=delimiter)
        table.writeheader()
        table.writerows(rows)
    return path


def asreview() -> list[dict[str, Any]]:
    """Rows as ASReview exports them; its own numbers, `record_id`, are no ids of ours."""
    columns = ("record_id", "title", "authors", "year", "doi", "included", "asreview_label", "asreview_time", "asreview_note")
    rows = [
        (3, "Vaccines for the Old & the Very Old", "", "", "https://doi.org/10.1000/A", "", "1", "2026-01-01 10:00", "good"),
        (0, "Doses of vaccines in mice, and in men", "A. Turing; B. Other", "2020", "", "1", "0", "", ""),
        (1, "A Review of Reviews of Vaccines: Update.", "Grace Hopper", "2021", "", "", "", "", ""),
        (2, "Stars", "Jackson, M.", "2011", "", "", "1.0", "", ""),
        (4, "Stars", "Jackson, M.", "", "", "", "1", "", ""),
        (5, "A paper that is not there", "Nobody", "2020", "", "", "0", "", ""),
    ]
    return [dict(zip(columns, row, strict=True)) for row in rows]


EXPECTED = {"a": "include", "b": "exclude", "e": "include"}


@pytest.mark.parametrize("name", ["export.csv", "export.tsv", "export.xlsx"])
def test_asreviews_tables(library: sr.Index, tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    if name.endswith("xlsx"):
        book, rows = Workbook(), asreview()
        assert book.active is not None
        for row in (list(rows[0]), *(list(row.values()) for row in rows)):
            book.active.append([float(value) if value in ("0", "1") else value for value in row])
        book.save(file)
    else:
        written(file, asreview(), "\t" if name.endswith("tsv") else ",")
    verdicts, session, unmatched = taken(library, file)
    assert verdicts == EXPECTED
    assert dict(session.notes) == {"a": "good"}
    assert unmatched == ("row 5", "row 6")  # of two papers, and of none


def test_asreviews_ris(library: sr.Index, tmp_path: Path) -> None:
    labels = ("ASReview_relevant", "ASReview_irrelevant", "ASReview_not_seen", "ASReview_relevant")
    records = []
    for label, paper in zip(labels, PAPERS, strict=False):
        tags = ["TY  - JOUR", f"TI  - {paper['title']}", f"AU  - {paper['authors'][0]}", f"PY  - {paper['year']}"]
        tags += ["N1  - mine", f"N1  - {label}"]
        records.append("\n".join([*tags, "ER  - ", ""]))
    (tmp_path / "export.ris").write_text("\n".join(records))
    assert taken(library, tmp_path / "export.ris")[0] == {"a": "include", "b": "exclude", "d": "include"}


RAYYAN = {
    "a": 'RAYYAN-INCLUSION: {"Ada L."=>"Included", "Ben"=>"Included"} | RAYYAN-LABELS: old, people',
    "b": 'seen | RAYYAN-INCLUSION: {"Ada L."=>"Excluded", "Ben"=>"Excluded"} | RAYYAN-EXCLUSION-REASONS: mice only,no dose '
    '| USER-NOTES: {"Ben"=>["see p. 3", "and \\"4\\""]}',
    "c": 'RAYYAN-INCLUSION: {"Ada L."=>"Maybe", "Ben"=>"Excluded"}',
    "d": 'RAYYAN-INCLUSION: {"Ben"=>"Maybe"}',
    "e": "RAYYAN-LABELS: later",
    "f": 'RAYYAN-INCLUSION: {"Ben"=>true}',
}


@pytest.mark.parametrize("name", ["articles.csv", "articles.ris"])
def test_rayyans_exports(library: sr.Index, tmp_path: Path, name: str) -> None:
    """Each reviewer's vote comes with them, and so do reasons and notes."""
    papers = {row["id"]: row for row in PAPERS}
    file = tmp_path / name
    if name.endswith("csv"):
        columns = ("key", "title", "year", "authors", "pubmed_id", "abstract", "notes")
        about = [(papers[id], notes) for id, notes in RAYYAN.items()]
        rows = [("rayyan", row["title"], row["year"], " and ".join(row["authors"]), row.get("pmid"), "", notes) for row, notes in about]
        written(file, [dict(zip(columns, row, strict=True)) for row in rows])
    else:
        records = []
        for place, (id, notes) in enumerate(RAYYAN.items()):
            paper = papers[id]
            tags = ["TY  - JOUR", f"ID  - rayyan-{place}", f"T1  - {paper['title']}", f"A1  - {paper['authors'][0]}"]
            records.append("\n".join([*tags, f"Y1  - {paper['year']}/01/01/", f"N1  - {notes}", "ER  - ", ""]))
        file.write_text("\n".join(records))
    verdicts, session, unmatched = taken(library, file)
    assert verdicts == {"a": "include", "b": "exclude", "c": None, "d": "maybe", "f": "include"}
    assert session.votes["c"] == {"Ada L.": "maybe", "Ben": "exclude"}
    assert (session.decisions["b"].reason, session.reasons) == ("mice only; no dose", ["mice only; no dose"])
    assert session.notes["b"] == 'Ben: see p. 3, and "4"'
    assert (session.decisions["b"].by, session.decisions["d"].by) == (("Ada L.", "Ben"), ("Ben",))
    assert session.agreement is not None
    assert (session.agreement.papers, session.agreement.same) == (3, 2)
    assert unmatched == ()


def test_a_pubmed_id_names_a_paper(library: sr.Index, tmp_path: Path) -> None:
    rows = [{"PMID": "PMID: 31452104", "title": "By its number", "decision": "maybe", "reason": "", "reviewer": "Cleo"}]
    verdicts, session, _ = taken(library, written(tmp_path / "table.csv", rows))
    assert (verdicts, session.decisions["b"].by) == ({"b": "maybe"}, ("Cleo",))


def test_a_sheet_brings_reasons_and_notes(library: sr.Index, tmp_path: Path) -> None:
    rows = [
        {"id": "a", "relevant": "0", "reason": "No  Dose", "note": "=cmd"},
        {"id": "b", "relevant": "0", "reason": "no dose", "note": ""},
        {"id": "c", "relevant": "", "reason": "no dose", "note": "think"},
        {"id": "3", "relevant": "Maybe", "reason": "", "note": ""},
    ]
    verdicts, session, _ = taken(library, written(tmp_path / "sheet.csv", rows))
    assert verdicts == {"a": "exclude", "b": "exclude", "3": "maybe"}
    assert [session.decisions[id].reason for id in "ab"] == ["No Dose", "No Dose"]
    assert dict(session.notes) == {"a": "=cmd", "c": "think"}


def test_what_is_no_list_of_decisions_is_one_line(library: sr.Index, tmp_path: Path) -> None:
    file = tmp_path / "list.csv"
    with sr.Screening(library, tmp_path / "review.jsonl", "vaccines") as session:
        before = session.path.read_bytes()
        for text in (
            "id,title\na,Vaccines\n",
            "name,relevant\na,1\n",
            "id,relevant\na,perhaps\n",
            'id,relevant\na,"1\n',
            "title,notes\nx,RAYYAN\n",
            "id,relevant\na,1,1\n",
            "",
        ):
            file.write_text(text)
            with pytest.raises(InvalidRequest, match=r"list.csv"):
                session.take_over(file)
        (tmp_path / "list.ris").write_text("no RIS\n")
        with pytest.raises(InvalidRequest, match=r"list.ris"):
            session.take_over(tmp_path / "list.ris")
        with pytest.raises(NotFound, match="no file"):
            session.take_over(tmp_path / "nowhere.ris")
        assert session.path.read_bytes() == before


def test_a_pubmed_id_comes_before_a_title_and_a_record_of_two_papers_is_of_none(library: sr.Index, tmp_path: Path) -> None:
    rows = [
        {"pmid": "31452104", "doi": "", "title": PAPERS[2]["title"], "authors": "Hopper, Grace", "year": "2021", "relevant": "1"},
        {"pmid": "", "doi": "10.1000/a", "title": PAPERS[2]["title"], "authors": "Hopper, Grace", "year": "2021", "relevant": "1"},
    ]
    verdicts, _, unmatched = taken(library, written(tmp_path / "table.csv", rows))
    assert (verdicts, unmatched) == ({"b": "include"}, ("row 2",))
