"""Runs: TREC lines that keep our order when trec_eval reads them, and ids that stand in them."""

import itertools
import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

import sciretrieve as sr
from sciretrieve.base.errors import CorruptData, InvalidRequest
from sciretrieve.base.types import Paper, Query, Rows
from sciretrieve.runs import Ranking, Run


class NoPapers:
    """A source that is never asked."""

    def papers_at(self, rows: Rows) -> list[Paper]:
        raise AssertionError(rows)


def run_of(scores: list[float], ids: list[str] | None = None) -> Run:
    ids = ids or [f"p{number}" for number in range(len(scores))]
    return Run((Ranking(Query("q", "words"), ids, np.array(scores), np.arange(len(ids))),), "dense", NoPapers())


@given(st.lists(st.floats(-100, 100), min_size=1, max_size=40))
def test_trec_eval_sees_our_order(values: list[float]) -> None:
    scores = sorted(values, reverse=True)
    lines = [line.split() for line in run_of(scores).to_trec("tag")]
    assert [int(line[3]) for line in lines] == list(range(1, len(scores) + 1))
    # trec_eval reads scores as float32, and breaks ties by falling id: there must be none
    written_scores = [np.float32(line[4]) for line in lines]
    assert all(first > second for first, second in itertools.pairwise(written_scores))
    last = lines[-1][2]
    measures = pytrec_eval.RelevanceEvaluator({"q": {last: 1}}, {"recip_rank"}).evaluate({"q": {line[2]: float(line[4]) for line in lines}})
    assert measures["q"]["recip_rank"] == pytest.approx(1 / len(scores))


def test_lines_have_six_fields() -> None:
    assert list(run_of([2.5, 1.0], ["a b", "c%20d"]).to_trec("me")) == ["q Q0% a%20b 1 2.5 me", "q Q0% c%2520d 2 1 me"]


def test_a_run_is_a_sequence_of_rankings_and_its_slices_are_runs(index: sr.Index) -> None:
    run = index.search(["graph networks", "star dust", "market price"], 12)
    assert len(run) == 3
    assert isinstance(run, Sequence)
    assert run[1] is run.rankings[1]
    assert run[-1].query.words == "market price"
    assert [ranking.query.words for ranking in run] == ["graph networks", "star dust", "market price"]
    assert run.index(run[2]) == 2
    assert next(reversed(run)) is run[2]
    assert isinstance(run[1:], sr.Run)
    assert run[1:].rankings == run.rankings[1:]
    assert (run[1:].mode, run[1:].to_arrow()["query_id"].unique().to_pylist()) == ("hybrid", ["2", "3"])
    assert run[1:2].hits == run.hits_of(run[1])
    with pytest.raises(IndexError):
        _ = run[3]


def test_hits_are_those_of_one_query(index: sr.Index) -> None:
    run = index.search(["graph networks", "star dust"], 3)
    for several, said in ((run, "answers 2 queries"), (run[2:], "answers 0 queries")):
        with pytest.raises(InvalidRequest, match=said):
            _ = several.hits
    assert [hit.id for hit in index.search("star dust", 3).hits] == run[1].ids
    assert run[2:].to_pandas().empty
    assert list(run[2:].to_trec()) == []


def test_what_is_shown_is_short_and_has_titles(index: sr.Index) -> None:
    run = index.search(["graph networks", "star dust"] * 3, 12)
    lines = repr(run).splitlines()
    assert lines[:2] == ["<Run of 6 queries in mode hybrid, 72 hits>", "'graph networks'"]
    first = run.hits_of(run[0])[0]
    assert lines[2] == f"  1  {first.score:.3f}  {first.paper.title} ({first.paper.year}) · {first.id}"
    assert lines[5] == "     … 9 more"
    assert lines[-1] == "… 3 more queries"
    assert len(lines) == 1 + 3 * 5 + 1
    assert repr(index.search("star", 1)).startswith("<Run of 1 query in mode hybrid, 1 hit>\n'star'\n  1  ")
    assert repr(run[6:]) == "<Run of 0 queries in mode hybrid, 0 hits>"
    assert repr(run[0]).startswith(f"<Ranking of 12 papers for 'graph networks': {first.id} {first.score:.3f}, ")
    assert repr(run[0]).endswith(", …>")
    assert repr(first) == f"<Hit 1, {first.score:.3f}: {first.paper.title} ({first.paper.year}) · {first.id}>"
    answer = sr.answer(index, sr.Request("graph networks", k=12))
    assert repr(answer).splitlines() == ["<Answer to 'graph networks' in mode hybrid: 12 hits>", *lines[2:6]]
    assert answer._repr_html_() == run[:1]._repr_html_()


def test_a_paper_is_shown_on_one_line() -> None:
    assert repr(Paper("p1", "Of\n Graphs", year=2015)) == "<Paper p1: Of Graphs (2015)>"
    assert repr(Paper("p1", "", "We study graphs.")) == "<Paper p1: We study graphs.>"
    assert repr(Paper("p1")) == "<Paper p1: (no title)>"
    long = repr(Paper("p1", "word " * 100, "abstract " * 100, 2015))
    assert long.endswith("word… (2015)>")
    assert len(long) < 100


def test_a_weak_answer_says_so() -> None:
    run = run_of([0.1])
    weak = replace(run, rankings=(replace(run[0], strength=0.1),), source=Shown())
    assert repr(weak).splitlines()[1] == "'words' (no paper matches well)"
    assert "<em>no paper matches well</em>" in weak._repr_html_()
    assert "well" not in repr(replace(run, rankings=(replace(run[0], strength=0.9),), source=Shown()))


def test_a_run_whose_papers_are_gone_still_has_a_repr() -> None:
    class Gone(NoPapers):
        def papers_at(self, rows: Rows) -> list[Paper]:
            raise CorruptData("gone")

    run = replace(run_of([0.5, 0.25]), source=Gone())
    assert repr(run).splitlines() == ["<Run of 1 query in mode dense, 2 hits>", "'words'", "  1  0.500  p0", "  2  0.250  p1"]


class Shown(NoPapers):
    """A source of hostile papers."""

    papers = (
        Paper("<p1>", "<script>alert(1)</script>", doi="10.1000/a<b>"),
        Paper("p2", "No link", url='javascript:alert("x")'),
        Paper("p3", "A link", url='https://example.org/?a="1"&b=<2>'),
        Paper("p4", "", "Only an abstract.", extra={"arxiv": "1409.0473"}),
        Paper("p5", "In PubMed", extra={"pmid": "31452104"}),
    )

    def papers_at(self, rows: Rows) -> list[Paper]:
        return [self.papers[row] for row in rows]


def test_a_notebook_shows_tables_with_links_and_nothing_that_runs() -> None:
    page = replace(run_of([5, 4, 3, 2, 1]), source=Shown())._repr_html_()
    cells = [re.findall("<td>(.*?)</td>", row) for row in re.findall("<tr>(.*?)</tr>", page)[1:]]
    assert [row[0] for row in cells] == ["1", "2", "3", "4", "5"]
    assert [re.findall('href="(.*?)"', row[3]) for row in cells] == [
        ["https://doi.org/10.1000/a%3Cb%3E"],
        [],
        ["https://example.org/?a=%221%22&amp;b=%3C2%3E"],
        ["https://arxiv.org/abs/1409.0473"],
        ["https://pubmed.ncbi.nlm.nih.gov/31452104/"],
    ]
    assert cells[0][3].endswith(">&lt;script&gt;alert(1)&lt;/script&gt;</a>")
    assert cells[0][4] == "&lt;p1&gt;"
    assert cells[3][3].endswith(">Only an abstract.</a>")
    assert "javascript" not in page


def test_a_notebook_shows_the_first_of_much(index: sr.Index) -> None:
    page = index.search(["graph networks"] * 7, 12)._repr_html_()
    assert page.count("<table>") == 5
    assert page.count("<tr><td>") == 50
    assert page.count("… 2 more</p>") == 5
    assert page.endswith("<p>… 2 more queries</p>")


def test_a_table_has_titles_unless_they_are_left_out(index: sr.Index) -> None:
    run = index.search(["graph networks", "star dust"], 3)
    frame = run.to_pandas()
    assert frame["title"].tolist() == [hit.paper.title for ranking in run for hit in run.hits_of(ranking)]
    assert frame["year"].isna().tolist() == [hit.paper.year is None for ranking in run for hit in run.hits_of(ranking)]
    assert "title" not in run.to_arrow(titles=False).column_names
