"""Output formats, read back by the programs that they are for; a table that fits its terminal, whatever the script."""

from __future__ import annotations

import csv
import io
import json
import unicodedata
from dataclasses import replace
from typing import Any

import numpy as np
import rispy
from hypothesis import given
from hypothesis import strategies as st
from pybtex.database import parse_string

from sciretrieve.answers import outputs
from sciretrieve.answers.answering import Answer, Request
from sciretrieve.answers.explaining import Explanation, Place
from sciretrieve.answers.overview import Facet, Group
from sciretrieve.base.types import Hit, Paper, Query, Rows
from sciretrieve.query.reading.counting import CountLine
from sciretrieve.runs import Ranking, Run

AUTHORS = ("Müller, Jörg", "Marie Curie", "The LIGO Collaboration")
FIRST = Paper("doi:10.1000/a", "Graphs & trees: 100% of {A}_1", "An abstract\nof two lines.", 2019, "J. of $x$")
SECOND = Paper("p 2", "Über Wärme", "", 1905, None, AUTHORS, "10.1/b", "https://x.org/?a=1&b=2")
THIRD = Paper("p3", "Über Wärme", "Again", 1905, "Annalen", ("Müller, Jörg",), extra={"cited": 3, "tags": ["a"]})
HITS = [
    Hit(1, 0.98765, FIRST, {"dense": 0.9, "bm25": None}),
    Hit(2, 0.5, SECOND, {"dense": None, "bm25": 3.25}),
    Hit(3, 0.25, THIRD, {"dense": 0.1, "bm25": 0.0}, ("p3-v1", "p3-v2")),
    Hit(4, -1.0, Paper("p4", "", "Only an abstract"), {"dense": None, "bm25": None}),
]


class Papers:
    """Papers of hits, where only the rows are asked for."""

    def papers_at(self, rows: Rows) -> list[Paper]:
        return [HITS[row].paper for row in rows.tolist()]


def answered(query: str, mode: str, hits: list[Hit], seconds: float = 0.0, **views: Any) -> Answer:
    """An answer of these hits; what else is known of its ranking, such as corrections, and its views."""
    known = {name: views.pop(name) for name in ("corrections", "strength") if name in views}
    ranking = Ranking(
        Query("1", query), [hit.id for hit in hits], np.array([hit.score for hit in hits]), np.arange(len(hits), dtype=np.int64), **known
    )
    return Answer(Request(query), Run((ranking,), mode, Papers()), hits, seconds=seconds, **views)


def text(lines: outputs.Lines) -> str:
    return "\n".join(lines) + "\n"


def test_json_is_the_promised_shape() -> None:
    value = json.loads(outputs.answer(answered("a query", "hybrid", HITS, 0.01234567)))
    assert (value["schema"], value["query"], value["mode"], value["total_time_ms"]) == (1, "a query", "hybrid", 12.346)
    first, *_ = value["hits"]
    assert " ".join(first) == "rank score id title year venue authors abstract doi url scores also extra"
    assert value["hits"][2]["scores"] == {"dense": 0.1, "bm25": 0.0}
    assert [hit["also"] for hit in value["hits"]] == [[], [], ["p3-v1", "p3-v2"], []]
    assert value["hits"][2]["extra"] == {"cited": 3, "tags": ["a"]}
    assert not {"facets", "clusters"} & set(value)
    assert list(outputs.csv_lines([])) == [",".join(outputs.TABLE_FIELDS)]
    assert "explanation" not in first
    assert [json.loads(line) for line in outputs.jsonl(HITS)] == value["hits"]


def test_csv_as_the_csv_module_reads_it() -> None:
    rows = list(csv.DictReader(io.StringIO(text(outputs.csv_lines(HITS)), newline="")))
    assert [row["id"] for row in rows] == [hit.id for hit in HITS]
    assert rows[0]["abstract"] == "An abstract\nof two lines."
    assert rows[1]["authors"] == "Müller, Jörg; Marie Curie; The LIGO Collaboration"
    assert (rows[1]["dense"], rows[1]["bm25"]) == ("", "3.25")


FORMULAS = ['=HYPERLINK("https://evil.example","x")', "+1+cmd|' /C calc'!A0", "-2+3", "@SUM(1)", "\t=1", "\r=1", "\n=1", "--5", "-x"]


def test_a_spreadsheet_computes_nothing_of_csv_and_numbers_stay() -> None:
    extra = {"change": -4, "share": -0.5, "text": "-4", "exponent": "+1.5e-3", "list": ["=1", "b"], "=A1": "x"}
    hits = [Hit(1, -1.5, Paper(formula, formula, "", extra=extra), {"bm25": -2.25}) for formula in FORMULAS]
    rows = list(csv.reader(io.StringIO(text(outputs.csv_lines(hits, ("id", "title", "score", "bm25", *extra))), newline="")))
    assert rows[0] == ["id", "title", "score", "bm25", "change", "share", "text", "exponent", "list", "'=A1"]
    for formula, row in zip(FORMULAS, rows[1:], strict=True):
        assert row == [f"'{formula}", f"'{formula}", "-1.5", "-2.25", "-4", "-0.5", "-4", "+1.5e-3", "'=1; b", "x"]
    tabbed_rows = list(csv.reader(outputs.tsv_lines(hits, ("id", "score", "change")), delimiter="\t"))
    assert [row[0][:1] for row in tabbed_rows[1:]] == ["'" if formula.strip()[0] in "=+-@" else formula[:1] for formula in FORMULAS]
    assert [row[1:] for row in tabbed_rows[1:]] == [["-1.5", "-4"]] * len(FORMULAS)


def test_tsv_has_a_line_a_paper_whatever_its_texts() -> None:
    hits = [Hit(1, 0.5, Paper("a", 'A "quoted"\ttitle', "of\r\ntwo lines\u2028and more", venue='"V'), {}), *HITS]
    lines = list(outputs.tsv_lines(hits))
    assert len(lines) == len("\n".join(lines).splitlines()) == 1 + len(hits)
    assert {line.count("\t") for line in lines} == {11}
    row, *_ = csv.DictReader(lines, delimiter="\t")
    assert (row["title"], row["abstract"], row["venue"]) == ('A "quoted" title', "of two lines and more", '"V')


def test_chosen_fields() -> None:
    fields = ("id", "year", "tags", "cited", "dense", "also", "authors", "scores")
    values = [json.loads(line) for line in outputs.jsonl(HITS, fields)]
    assert [list(value) for value in values] == [list(fields)] * len(HITS)
    assert values[2]["tags"] == ["a"]
    assert json.loads(outputs.answer(answered("q", "bm25", HITS), fields))["hits"] == values
    rows = list(csv.reader(outputs.csv_lines(HITS, fields)))
    assert rows[0] == list(fields)
    assert rows[3] == ["p3", "1905", "a", "3", "0.1", "p3-v1; p3-v2", "Müller, Jörg", '{"dense": 0.1, "bm25": 0.0}']
    assert list(outputs.aligned(HITS[1:3], ("year", "title", "cited", "id"))) == [
        "year  title       cited  id",
        "1905  Über Wärme         p 2",
        "1905  Über Wärme  3      p3",
    ]


def test_bibtex_as_pybtex_reads_it() -> None:
    entries = parse_string(text(outputs.FORMATS["bibtex"](HITS)), "bibtex").entries
    assert list(entries) == ["anonymous2019graphs", "muller1905uber", "p3", "p4"]
    assert [entry.type for entry in entries.values()] == ["article", "misc", "article", "misc"]
    second = entries["muller1905uber"]
    assert [str(person) for person in second.persons["author"]][:2] == ["Müller, Jörg", "Curie, Marie"]
    assert (second.fields["doi"], second.fields["url"]) == ("10.1/b", "https://x.org/?a=1&b=2")
    assert entries["anonymous2019graphs"].fields["journal"] == "J. of $x$"


def test_ris_as_rispy_reads_it() -> None:
    records = rispy.loads(text(outputs.FORMATS["ris"](HITS)))
    assert [record["id"] for record in records] == [hit.id for hit in HITS]
    assert records[0]["abstract"] == "An abstract of two lines."
    assert records[1]["authors"] == ["Müller, Jörg", "Curie, Marie", "The LIGO Collaboration"]
    assert not any("notes" in record for record in records)


titles = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=120) | st.text("深度学习漢字カナ한글 é́a ", max_size=80)


def columns(line: str) -> int:
    return sum(0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in line)


@given(titles, titles, st.text("abc/.:0", min_size=1, max_size=30), st.lists(titles, max_size=3), st.integers(80, 120))
def test_a_table_has_two_lines_a_hit_that_fit_its_terminal_with_the_whole_id(
    title: str, venue: str, id: str, authors: list[str], width: int
) -> None:
    first, second = outputs.table([Hit(12, 0.5, Paper(id, title, "", 2020, venue, tuple(authors)), {})], width)
    assert max(map(columns, (first, second))) <= width
    assert second.endswith(id)
    shown, whole = first.removeprefix(" 12    0.500  2020  "), " ".join(title.split()) or "(no title)"
    assert shown == whole or whole.startswith(shown.removesuffix("…"))


def test_the_byline() -> None:
    def details(*authors: str) -> str:
        (_, line) = outputs.table([Hit(1, 1.0, Paper("x", "T", "", 2000, "V", authors), {})], 80)
        return line.strip()

    assert details() == "V · x"
    assert details("Ada Lovelace") == "Lovelace · V · x"
    assert details("Lovelace, Ada", "Alan Turing") == "Lovelace and Turing · V · x"
    assert details("Ada Lovelace", "B", "C") == "Lovelace et al. · V · x"
    assert details("The LIGO Collaboration") == "The LIGO Collaboration · V · x"
    assert details("John Smith Jr.", "Henry VIII", "Smith, III, Jane") == "Smith et al. · V · x"


def test_near_duplicates_are_named_behind_their_paper_or_counted() -> None:
    lines = [list(outputs.table([hit], 80))[1] for hit in (HITS[0], HITS[2], replace(HITS[2], also=("p3-of-arxiv", "p3-of-scopus")))]
    assert [line.rpartition(" · ")[2] for line in lines] == [HITS[0].id, "also p3-v1, p3-v2", "also 2 others"]


WHY = Explanation("p3", Place(1234, 0.1), Place(2, 7.5), {"wärme": 4.26, "über": 3.24}, "Heat flows from warm to cold.", {})


def said(hit: Hit, why: Explanation, width: int = 80) -> list[str]:
    """What an explanation says, its lines joined again at their arrows."""
    return [" ".join(part.split()) for part in "\n".join(outputs.explanation(hit, why, width)).split("↳")[1:]]


def test_an_explanation_says_what_there_is() -> None:
    places = "dense rank 1,234 (0.1000) · BM25 rank 2 (7.5000)"
    assert said(HITS[2], WHY) == [places, "words: wärme 4.3, über 3.2", "“Heat flows from warm to cold.”"]
    near = Explanation("p4", Place(7, 0.25), None, {}, "", {})
    assert said(HITS[3], near) == ["dense rank 7 (0.2500)"]
    by_meaning = replace(near, meanings={"warm": ("hot", 0.81), "it": ("that", 0.42)})
    assert said(HITS[3], by_meaning)[1:] == ["by meaning: warm ~ hot 0.81"]
    assert said(HITS[3], Explanation("p4", None, Place(1, 2.0), {"heat": 2.0}, "", {})) == ["BM25 rank 1 (2.0000)", "words: heat 2.0"]
    for rerank, end in ((0.125, " · reranker 0.1250"), (None, "")):
        assert said(replace(HITS[3], scores={"rerank": rerank}), near) == [f"dense rank 7 (0.2500){end}"]


@given(titles, st.dictionaries(st.text("abcé漢", min_size=1, max_size=40), st.floats(0, 99), max_size=12), st.integers(60, 120))
def test_an_explanation_fits_its_terminal_and_shows_the_whole_sentence(sentence: str, words: dict[str, float], width: int) -> None:
    lines = list(outputs.explanation(HITS[2], Explanation("p3", Place(1, 0.1), Place(1, 1.0), words, sentence, {}), width))
    assert max(map(columns, lines)) <= width
    assert all(line.startswith(" " * 20) for line in lines)
    text = "".join("".join(lines).replace("↳", "").split())
    assert "".join(f"“{sentence}”".split()) in text or not sentence
    for word in list(words)[:8]:
        assert word in text


def test_views_in_json() -> None:
    whole_answer = answered(
        "q",
        "hybrid",
        HITS,
        explanations=[WHY, WHY, WHY, WHY],
        facets=[Facet("year", ((1905, 2), (2019, 1)), 0, 1, 4)],
        groups=[Group(("heat", "flow"), (Paper("p 2", "Heat"), Paper("p3")), (1, 2)), Group((), (Paper("p4", "Flow"),), (3,))],
        corrections={"haet": "heat"},
        strength=0.25,
    )
    value = json.loads(outputs.answer(whole_answer))
    assert [hit["explanation"] for hit in value["hits"]] == 4 * [
        {
            "id": "p3",
            "dense": {"rank": 1234, "score": 0.1},
            "bm25": {"rank": 2, "score": 7.5},
            "words": {"wärme": 4.26, "über": 3.24},
            "sentence": "Heat flows from warm to cold.",
            "meanings": {},
            "link": None,
        }
    ]
    assert value["facets"] == [
        {"column": "year", "values": [[1905, 2], [2019, 1]], "others": 0, "missing": 1, "papers": 4, "papers_are": "match"}
    ]
    assert value["clusters"] == [
        {"label": ["heat", "flow"], "papers": [{"id": "p 2", "title": "Heat"}, {"id": "p3", "title": ""}]},
        {"label": [], "papers": [{"id": "p4", "title": "Flow"}]},
    ]
    assert value["corrections"] == [{"word": "haet", "meant": "heat"}]
    assert (value["strength"], value["weak"]) == (0.25, True)
    assert list(outputs.notes(whole_answer)) == [
        '"haet" was taken for "heat"; quote it to search for it unchanged',
        "no paper matches well: the best of them are far from the query and have few of its words",
    ]


def test_an_empty_answer_names_what_was_demanded() -> None:
    assert list(outputs.notes(answered("q", "bm25", []))) == ["no paper matches"]
    demanding = answered("q", "bm25", [], unmet=["the word flogiston"])
    assert list(outputs.notes(demanding)) == ["no paper in the index has what the query requires: the word flogiston", "no paper matches"]
    assert json.loads(outputs.answer(demanding))["unmet"] == ["the word flogiston"]


def test_facets_are_printed_as_counts() -> None:
    facets = [
        Facet("year", ((1905, 7), (2019, 1200)), 0, 0, 1207, "has all words"),
        Facet("venue", (), 0, 3, 3, "meets demands"),
        Facet("field", (), 0, 1, 1, "has all words"),
        Facet("topic", (("a b", 2),), 1000, 4, 1007),
        Facet("tags", (), 0, 1, 1),
    ]
    assert list(outputs.facet_lines(facets)) == [
        "year, of 1,207 papers that have all of these words:",
        "      7  1905",
        "  1,200  2019",
        "venue, of 3 papers that meet the demands:",
        "  3 papers without",
        "field, of 1 paper that has all of these words:",
        "  1 paper without",
        "topic, of 1,007 papers that match, among the first 1,000:",
        "  2  a b",
        "  1,000 other values, 4 papers without",
        "tags, of 1 paper that matches, among the first 1,000:",
        "  1 paper without",
    ]


def test_a_counted_query_is_a_line_for_each_part() -> None:
    lines = [CountLine(1, "graph\tnets", "graph nets", 12), *(CountLine(n, f"#{n - 1} OR x", "…", 10**n) for n in range(2, 11))]
    assert list(outputs.count_table(lines))[:2] == ["#1               12  graph nets", "#2              100  #1 OR x"]
    assert list(outputs.count_table(lines))[-1] == "#10  10,000,000,000  #9 OR x"


def test_clusters_are_printed_with_the_titles_of_their_best_papers() -> None:
    few, many = (
        (Paper("a", "Heat\nflows"), Paper("b", "", "An abstract.")),
        tuple(Paper(f"p{number}", "Heat " * 30) for number in range(1200)),
    )
    lines = list(outputs.cluster_lines([Group(("heat", "flow"), many, tuple(range(1200))), Group((), few, (1200, 1201))], 60))
    assert lines[0].split() == ["1200", "heat,", "flow"]
    assert [line.split()[-1] for line in lines[1:4]] == ["p0", "p1", "p2"]
    assert all(line.startswith("      Heat Heat") and len(line) <= 60 for line in lines[1:4])
    assert lines[4:] == ["      and 1,197 more", "   2  ", "      Heat flows · a", "      An abstract. · b"]
