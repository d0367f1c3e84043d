"""BibTeX as people and programs write it: entries that are broken, odd keys and fields, comments, dates in every form."""

import logging
import re
from pathlib import Path
from typing import Any

import pytest
from pybtex.database import parse_string

from sciretrieve.files.schema import papers_of
from sciretrieve.papers.bibliographies.bibtex_entries import entries
from sciretrieve.papers.corpora import open_corpus
from tests.made_up import read_corpus

INPUTS = Path(__file__).parents[1] / "inputs"
BIBLIOGRAPHIES = sorted(path.name for path in INPUTS.glob("*.bib"))


def read(path: Path) -> tuple[list[dict[str, Any]], list[str]]:
    """The papers of a file without the columns in which they have nothing, and why its other entries are rejected."""
    papers, rejected = read_corpus(path)
    rows = [{name: value for name, value in row.items() if value not in (None, "", [])} for row in papers.to_pylist()]
    return rows, [item.reason for item in rejected]


def has(row: dict[str, Any], expected: dict[str, Any]) -> bool:
    return {name: row.get(name) for name in expected} == expected


@pytest.mark.parametrize(
    ("broken", "expected"),
    [
        ("@article{open, title = {Two {open,\n  author = {Li, Wei}\n}\n", {"id": "open", "title": "Two open", "authors": ["Wei Li"]}),
        ('@article{open, title = "No end,\n  author = {Li, Wei}\n}\n', {"title": "No end", "authors": ["Wei Li"]}),
        ("@article{open,\n  title = {Fine}\n\n", {"id": "open", "title": "Fine"}),
        ("@article{one, title = {Of {one line}, year = {2001}, note = {N}}\n", {"title": "Of one line", "year": 2001, "note": "N"}),
        ("@article{more,\n  title = {Too many}}, year = {2000}\n}\n", {"id": "more", "title": "Too many", "year": 2000}),
        ("@article{inner,\n  title = {Too} many},\n  year = {2000}\n}\n", {"title": "Too many", "year": 2000}),
        (
            "@article{comma, title = {x} year = 2000 note = {of me@example.org}}\n",
            {"title": "x", "year": 2000, "note": "of me@example.org"},
        ),
        ("@article{commas, title = {x},, year = 2000 , , note = {y},}\n", {"title": "x", "year": 2000, "note": "y"}),
        ("@article{said, % a word\n title = {x}, % another, with = {it}\n % year = 1999\n year = 2000}\n", {"title": "x", "year": 2000}),
        ("@article{, title = {No key}}\n", {"title": "No key"}),
        ("@article{title = {No key}, year = 2000}\n", {"title": "No key", "year": 2000}),
        ("@article{ two words , title = {x}}\n", {"id": "two words", "title": "x"}),
        ("@article{nocomma\n  title = {x}}\n", {"id": "nocomma", "title": "x"}),
        ("@article{Smith, 2020, title = {x}, year = {2020}}\n", {"id": "Smith", "title": "x", "year": 2020}),
        ("@article{f, title = {x}, file = {a \\{b.pdf:/c:pdf}, year = {2000}}\n", {"title": "x", "year": 2000}),
        ("@article{f, title = {x}, file = {a b\\}.pdf:/c:pdf},\n  year = {2000}\n}\n", {"title": "x", "year": 2000}),
        ("@article{f,\n  title = {x},\n  abstract = {if a } then b},\n  year = {2000},\n}\n", {"title": "x", "year": 2000}),
        ('@article{f,\n  title = "The "new" physics",\n  year = 2000\n}\n', {"title": 'The "new" physics', "year": 2000}),
        ('@article{f,\n  author = "M\\"uller, J.",\n  title = "x"\n}\n', {"title": "x", "authors": ["J. Müller"]}),
        ("@article{f,\n  title = Deep learning for all,\n  year = 2000\n}\n", {"title": "Deep learning for all", "year": 2000}),
        ("@article{f, title = {x}, year = 2000, some words, note = {y}}\n", {"title": "x", "year": 2000, "note": "y"}),
        ("@article{f, title = {x}, Early Access Date = {MAY 2020}}\n", {"title": "x", "early access date": "MAY 2020"}),
        ("@article{f, title = {x}, doi = , year = 2000, note =}\n", {"title": "x", "year": 2000, "doi": None}),
        ("@article{f,\n title = 'One, two',\n year = '2000'\n}\n", {"title": "One, two", "year": 2000}),
        ("@article{f,\n title = “One, two”,\n year = {2000}\n}\n", {"title": "One, two", "year": 2000}),
        ("@article(round, title = {x (y)}, year = 2000)\n", {"id": "round", "title": "x (y)", "year": 2000}),
    ],
)
def test_an_entry_that_people_broke_is_mended(tmp_path: Path, broken: str, expected: dict[str, Any]) -> None:
    good, after = "@article{good, title = {Good}}\n\n", "@article{after,\n  title = {After}}\n@misc{last, title = {Last}}\n"
    (tmp_path / "p.bib").write_text(good + broken + after, encoding="utf-8")
    rows, rejected = read(tmp_path / "p.bib")
    assert rejected == []
    assert [row["title"] for row in rows] == ["Good", expected["title"], "After", "Last"]
    assert has(rows[1], expected)
    # and what is written of it can be read
    (paper,) = papers_of(read_corpus(tmp_path / "p.bib")[0])[1:2]
    (entry,) = parse_string(next(entries([paper])), "bibtex").entries.values()
    assert {"title", "year"} & {*expected} <= {name.lower() for name in entry.fields}


def test_what_was_mended_is_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "p.bib").write_text("@misc{a, title = {A}}\n@misc{b, title = {B {c}, year = 2000}\n@misc{d, title = {D}}\n")
    with caplog.at_level(logging.WARNING):
        read(tmp_path / "p.bib")
    assert "p.bib: 1 broken entry of BibTeX mended, the first in line 2" in caplog.text


@pytest.mark.parametrize(
    "text",
    [
        "@comment{\n@article{out, title = {Out}}\n}\n",
        "@Comment{jabref-meta: grouping:\n0 AllEntriesGroup:;\n1 StaticGroup:A\\;0\\;1\\;\\;\\;\\;;\n}\n",
        "@comment{BibDesk Static Groups{\n<?xml version='1.0'?>\n<dict><string>a</string></dict>\n}}\n",
        "@comment{x-kbibtex-encoding=utf-8}\n",
        "% @article{out, title = {Out}}\n",
        "%@article{out,\n%  title = {Out},\n%}\n",
        "@comment{never closed\n",
        "@comment never in braces, by me@example.org\n",
    ],
)
def test_what_is_commented_out_is_no_paper(tmp_path: Path, text: str) -> None:
    (tmp_path / "p.bib").write_text("@misc{a, title = {A}}\n" + text + "@misc{b, title = {B}}\n")
    rows, rejected = read(tmp_path / "p.bib")
    assert [row["id"] for row in rows] == ["a", "b"]
    assert rejected == []


@pytest.mark.parametrize(
    ("fields", "year", "date"),
    [
        ("date = {2020-05/2020-06}", 2020, "2020-05/2020-06"),
        ("date = {1723~}", 1723, "1723~"),
        ("date = {1723?}", 1723, "1723?"),
        ("date = {2004-06%}", 2004, "2004-06%"),
        ("date = {199X}", 1990, "199X"),
        ("date = {19XX}", 1900, "19XX"),
        ("date = {2002-21}", 2002, "2002-21"),
        ("date = {1999/}", 1999, "1999/"),
        ("date = {1999/..}", 1999, "1999/"),
        ("date = {/2001}", 2001, "/2001"),
        ("date = {1991/1992}", 1991, "1991/1992"),
        ("date = {2017-10-28T14:30:00Z}", 2017, "2017-10-28"),
        ("date = {2017-10-28T14:30:00+02:00}", 2017, "2017-10-28"),
        ("date = {-0343-02}", -343, "-0343-02"),
        ("date = {0850}", 850, None),
        ("date = {2014}, year = {2013}", 2014, None),
        ("date = {May 2019}", 2019, "2019-05"),
        ("date = {forthcoming}", None, "forthcoming"),
        ("year = {forthcoming}, date = {2024-01-01}", 2024, "2024-01-01"),
        ("year = {in press}", None, None),
        ("year = {1991/92}", 1991, None),
        ("year = {1991--92}", 1991, None),
        ("year = {c1850}", 1850, None),
        ("year = {(c. 1850)}", 1850, None),
        ("year = {[2018]}", 2018, None),
        ("year = {{2018}}", 2018, None),
        ('year = "20" # "18"', 2018, None),
        ("year = {2018-07}", 2018, "2018-07"),
        ("year = {July 2018}", 2018, "2018-07"),
        ("year = 2018, month = jul", 2018, "2018-07"),
        ("year = 2018, month = {July}", 2018, "2018-07"),
        ("year = 2018, month = 7", 2018, "2018-07"),
        ("year = 2018, month = {07}, day = {3}", 2018, "2018-07-03"),
        ('year = 2018, month = "3~" # jul', 2018, "2018-07-03"),
        ('year = 2018, month = jul # "~3"', 2018, "2018-07-03"),
        ("year = {{2018}}, month = {{JUL 3}}", 2018, "2018-07-03"),
        ('year = 2018, month = jul # "--" # aug', 2018, "2018-07"),
        ("year = 2018, month = {7-8}", 2018, "2018-07"),
        ("year = 2018, month = {Jul.-Aug.}", 2018, "2018-07"),
        ("year = 2018, month = {Summer}", 2018, None),
        ("month = {mar 2005}", 2005, "2005-03"),
        ("urldate = {2021-01-01}", None, None),
    ],
)
def test_dates_in_every_form(tmp_path: Path, fields: str, year: int | None, date: str | None) -> None:
    (tmp_path / "p.bib").write_text(f"@article{{a, title = {{T}}, {fields}}}\n@misc{{b, title = {{U}}, date = {{2001-02}}}}\n")
    (row, other), _ = read(tmp_path / "p.bib")
    assert (row.get("year"), row.get("date")) == (year, date)
    assert (other["year"], other["date"]) == (2001, "2001-02")


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ("eprint = {31452104}, eprinttype = {pubmed}, eprinttype = {pmid}", {"pmid": "31452104", "arxiv": None}),
        ("eprint = {PMC8371605}, eprinttype = {pmc}", {"pmcid": "PMC8371605"}),
        ("eprint = {hal-00000001}, eprinttype = {hal}", {"archive": "hal", "archive_location": "hal-00000001", "arxiv": None}),
        ("eprint = {2284089}, eprinttype = {jstor}", {"archive_location": "2284089", "pmid": None, "arxiv": None}),
        ("eprint = {10125/42}, eprinttype = {handle}", {"archive": "handle", "archive_location": "10125/42", "doi": None}),
        ("eprint = {1901.11390v2}, archiveprefix = {arXiv}, primaryclass = {cs.LG}", {"arxiv": "1901.11390"}),
        ("eprint = {arXiv:hep-th/9711200}", {"arxiv": "hep-th/9711200"}),
        ("pmid = {22203626}, pmcid = {PMC8371605}", {"pmid": "22203626", "pmcid": "PMC8371605"}),
        ("journal = {CoRR}, volume = {abs/1706.03763}", {"arxiv": "1706.03763", "venue": "CoRR"}),
        ("journal = {arXiv preprint arXiv:1706.03762}", {"arxiv": "1706.03762"}),
        ("doi = {https://doi.org/10.1000/ABC}", {"doi": "10.1000/abc"}),
        ("url = {http://a.org/x http://b.org/y}", {"url": "http://a.org/x", "urls": ["http://a.org/x", "http://b.org/y"]}),
        ("journal = {\\aap}", {"venue": "Astronomy and Astrophysics"}),
        ("journal = {{\\apjl}}", {"venue": "The Astrophysical Journal Letters"}),
        ('journal = "{\\mnras}"', {"venue": "Monthly Notices of the Royal Astronomical Society"}),
        ("howpublished = {\\url{https://a.org/x_y~z}}", {"url": "https://a.org/x_y~z"}),
        ("journal = JMLR", {"venue": "JMLR"}),
        ("keywords = {a, {Smart contracts}, b}", {"keywords": ["a", "Smart contracts", "b"]}),
        ("keywords = {{A; B; C}}", {"keywords": ["A", "B", "C"]}),
        ("langid = {ngerman}", {"language": "ngerman"}),
        ("ids = {old, older}", {"ids": "old, older", "id": "a"}),
        ("abstract = {<p>CO<sub>2</sub> rises &gt; 5.</p>}", {"abstract": "CO₂ rises > 5."}),
        ("abstract = {{\\textless}p{\\textgreater}Five {\\%} of {\\$}5{\\textless}/p{\\textgreater}}", {"abstract": "Five % of $5"}),
    ],
)
def test_fields_mean_what_they_say(tmp_path: Path, fields: str, expected: dict[str, Any]) -> None:
    (tmp_path / "p.bib").write_text(f"@article{{a, title = {{T}}, {fields}}}\n", encoding="utf-8")
    ((row,), _) = read(tmp_path / "p.bib")
    assert has(row, expected)


@pytest.mark.parametrize(
    ("authors", "names"),
    [
        ("Smith, J., Doe, J., and Roe, R.", ["J. Smith", "J. Doe", "R. Roe"]),
        ("Smith J, Doe J, Roe RA", ["J Smith", "J Doe", "RA Roe"]),
        ("J. Smith, J. Doe and R. Roe", ["J. Smith", "J. Doe", "R. Roe"]),
        ("John Smith, Jane Doe, and Jim Beam", ["John Smith", "Jane Doe", "Jim Beam"]),
        ("Smith, John; Doe, Jane", ["John Smith", "Jane Doe"]),
        (r"Smith, John \& Doe, Jane", ["John Smith", "Jane Doe"]),
        ("Smith, John and Doe, Jane et al.", ["John Smith", "Jane Doe"]),
        ("Smith, John and and Doe, Jane and", ["John Smith", "Jane Doe"]),
        ("{Smith, John and Doe, Jane}", ["John Smith", "Jane Doe"]),
        ("Smith, John$^1$ and Doe, Jane$^{2,*}$", ["John Smith", "Jane Doe"]),
        ("King, Martin Luther, Jr. and Martin Luther King, Jr.", ["Martin Luther King Jr."] * 2),
        ("Smith, Ph.D., John and Smith, III, John", ["John Smith Ph.D.", "John Smith III"]),
        ("Acme, Inc. and Google LLC", ["Acme, Inc.", "Google LLC"]),
        (r"M{\"u}ller, J., H\'ajek, P.", ["J. Müller", "P. Hájek"]),
        ("{Bill and Melinda Gates Foundation}", ["Bill and Melinda Gates Foundation"]),
        ("{Department of Health, Education, and Welfare}", ["Department of Health, Education, and Welfare"]),
        ("García Márquez, Gabriel José", ["Gabriel José García Márquez"]),
    ],
)
def test_names_as_people_type_them(tmp_path: Path, authors: str, names: list[str]) -> None:
    (tmp_path / "p.bib").write_text(f"@article{{a, title = {{T}}, author = {{{authors}}}}}\n", encoding="utf-8")
    ((row,), _) = read(tmp_path / "p.bib")
    assert row["authors"] == names


@pytest.mark.parametrize(
    ("name", "count", "rejected"),
    [
        ("20-wos.bib", 2, 0),
        ("36-biblatex-dates.bib", 16, 0),
        ("37-bibtex-odd.bib", 17, 0),
        ("38-ads.bib", 4, 0),
        ("57-cr-only.bib", 2, 0),
        ("60-names.bib", 14, 0),
        ("61-empty.bib", 5, 1),
        ("62-arxiv.bib", 8, 0),
        ("67-months.bib", 3, 0),
        ("90-jabref.bib", 2, 0),
    ],
)
def test_every_entry_is_a_paper_or_rejected(name: str, count: int, rejected: int) -> None:
    rows, reasons = read(INPUTS / name)
    assert (len(rows), len(reasons)) == (count, rejected)


@pytest.mark.parametrize("name", BIBLIOGRAPHIES)
def test_a_file_that_is_cut_off_anywhere_gives_papers_or_says_what_is_wrong(tmp_path: Path, name: str) -> None:
    content = (INPUTS / name).read_bytes()
    whole = {row["title"] for row in read(INPUTS / name)[0]}
    path = tmp_path / "p.bib"
    for length in range(0, len(content), 53):
        path.write_bytes(content[:length])
        batches = list(open_corpus(path).batches())
        titles = [title for batch in batches for title in batch.papers["title"].to_pylist()]
        assert {*titles} <= whole
        rejected = sum(len(batch.rejected) for batch in batches)
        assert len(titles) + rejected >= len(re.findall(rb"^@article[{(]", content[:length], re.MULTILINE)) - (name == "90-jabref.bib")
