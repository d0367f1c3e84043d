"""Papers by what names them exactly, through an index, against a look at every paper in plain Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import sciretrieve as sr
from sciretrieve.base.errors import Ambiguous, NotFound
from tests.command_line import sciretrieve
from tests.made_up import made_up_papers, write_jsonl

NAMED: list[dict[str, Any]] = [
    {"id": "W1", "title": "Alignment of sentences", "doi": "https://doi.org/10.1000/ABC", "url": "https://example.org/one/"},
    {"id": "W2", "title": "Alignment of words", "doi": "10.1000/abc(2)", "arxiv_id": "1409.0473v1", "citekey": "Bahdanau2014"},
    {
        "id": "W3",
        "title": "Attention without alignment",
        "pmid": "31452104",
        "extra": "Citation Key: vaswani:Attention\nother: x",
        "pmcid": "PMC8371605",
    },
    {"id": "10.1000/xyz", "title": "A paper whose id is its DOI"},
    {"id": "hep-th/9901001", "title": "Strings without branes"},
    {"id": "9711200", "title": "The large N limit, in a corpus of hep-th alone"},
    {"id": "W4", "title": "One work", "doi": "10.1000/twice", "year": 2001},
    {"id": "W5", "title": "One work, printed again", "doi": "10.1000/twice", "year": 2003},
    {"id": "https://openalex.org/W2741809807", "title": "The state of open access"},
    {"id": "graph", "title": "A paper whose id is a word"},
    {"id": "with blanks in it", "title": "A paper whose id has blanks"},
    {"id": "dead", "title": "A deleted paper", "doi": "10.1000/dead"},
]
CASES = [
    ("W1", "id", ["W1"]),
    ("graph", "id", ["graph"]),
    (" with blanks in it ", "id", ["with blanks in it"]),
    ("10.1000/ABC", "DOI", ["W1"]),
    ("https://doi.org/10.1000/abc", "DOI", ["W1"]),
    ("doi: 10.1000/abc.", "DOI", ["W1"]),
    ("https://publisher.example/doi/full/10.1000/abc?download=true", "DOI", ["W1"]),
    ("10.1000/abc(2)", "DOI", ["W2"]),
    ("As in Bahdanau et al. (doi:10.1000/abc(2)), attention helps.", "DOI", ["W2"]),
    ("https://dx.doi.org/10.1000/XYZ", "DOI", ["10.1000/xyz"]),
    ("10.1000/twice", "DOI", ["W4", "W5"]),
    ("10.1000/abc; 10.1000/xyz", "DOI", ["W1", "10.1000/xyz"]),
    ("1409.0473", "arXiv number", ["W2"]),
    ("arXiv:1409.0473v7 [cs.CL]", "arXiv number", ["W2"]),
    ("https://arxiv.org/pdf/1409.0473.pdf", "arXiv number", ["W2"]),
    ("arXiv:hep-th/9901001v2", "arXiv number", ["hep-th/9901001"]),
    ("hep-th/9711200", "arXiv number", ["9711200"]),
    ("Maldacena's hep-th/9711200v3 and hep-th/9901001", "arXiv number", ["hep-th/9901001"]),
    ("31452104", "PubMed id", ["W3"]),
    ("PMID: 31452104", "PubMed id", ["W3"]),
    ("PMC8371605", "PMC id", ["W3"]),
    ("w2741809807", "OpenAlex id", ["https://openalex.org/W2741809807"]),
    ("https://openalex.org/works/W2741809807", "OpenAlex id", ["https://openalex.org/W2741809807"]),
    ("http://example.org/one", "address", ["W1"]),
    ("bahdanau2014", "citation key", ["W2"]),
    ("@Bahdanau2014", "citation key", ["W2"]),
    (r"\citep[p. 3]{Bahdanau2014}", "citation key", ["W2"]),
    ("vaswani:attention", "citation key", ["W3"]),
    ("w2", "citation key", ["W2"]),
]
NONE = ["10.1000/dead", "10.1000/none", "dead", "2014", "1409.0474", "314521", "alignment", "bahdanau", "https://example.org/two", ""]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> sr.Index:
    """The papers among others, in several shards, without vectors; one is deleted."""
    folder = tmp_path_factory.mktemp("identifying")
    papers = made_up_papers(50, seed=5)
    papers[10:10] = NAMED[:4]
    sr.build(write_jsonl(folder / "papers.jsonl", papers + NAMED[4:]), folder / "index", encoder=None, shard_size=13).close()
    sr.delete(folder / "index", "dead")
    return sr.open(folder / "index")


@pytest.mark.parametrize(("text", "by", "ids"), CASES)
def test_named_papers(index: sr.Index, text: str, by: str, ids: list[str]) -> None:
    match = index.snapshot.lookup.identified(text)
    assert (match.by, index.ids(match.rows)) == (by, ids)


@pytest.mark.parametrize("text", NONE)
def test_what_names_none(index: sr.Index, text: str) -> None:
    assert not len(index.snapshot.lookup.identified(text))


def test_every_id_is_its_paper(index: sr.Index) -> None:
    for row, id in zip(index.snapshot.scope.places.tolist(), index.snapshot.live_ids(), strict=True):
        match = index.snapshot.lookup.identified(id)
        assert (match.by, match.rows.tolist()) == ("id", [row])


def test_a_search_for_an_identifier_begins_with_its_paper_and_goes_on_with_its_subject(index: sr.Index) -> None:
    ranking = index.search("https://doi.org/10.1000/ABC", 3)[0]
    assert list(ranking.ids) == ["W1", "W2", "W3"]
    assert ranking.known == {"W1": "DOI"}
    assert not ranking.weak
    assert (ranking.scores[:-1] >= ranking.scores[1:]).all()
    assert not index.search(sr.Query("1", "10.1000/ABC"))[0].known


def test_wherever_an_id_is_taken(index: sr.Index) -> None:
    assert [paper.id for paper in index.papers(["doi:10.1000/ABC", "W2", "PMID 31452104"])] == ["W1", "W2", "W3"]
    assert list(index.similar("10.1000/abc")[0].ids) == list(index.similar("W1")[0].ids)
    assert index.similar("10.1000/abc")[0].query.id == "W1"
    liked = index.search("alignment", like="arXiv:1409.0473", unlike="31452104")[0]
    assert list(liked.ids) == list(index.search("alignment", like="W2", unlike="W3")[0].ids)
    assert sr.why_not(index, "10.1000/abc", "alignment") == sr.why_not(index, "W1", "alignment")


def test_a_named_paper_is_where_why_not_says(index: sr.Index) -> None:
    for id in ("W4", "W5", "W1"):
        rank = sr.why_not(index, id, "10.1000/twice", k=50).ranks["bm25"]
        ids = list(index.search("10.1000/twice", 50, group=False)[0].ids)
        assert rank == (ids.index(id) + 1 if id in ids else None)


def test_records_of_one_work_are_named_by_the_one_that_says_most(tmp_path: Path) -> None:
    """As answers show them as one; chapters with their book's DOI are several, and what is deleted is named exactly."""
    rows: list[dict[str, Any]] = [
        {"id": "short", "title": "Tides of the northern sea", "authors": "Kim, A.", "doi": "10.1000/one", "venue": "Tides", "year": 2001},
        {"id": "whole", "title": "Tides of the Northern Sea", "authors": "Kim, Ada", "doi": "10.1000/one", "abstract": "Waves."},
        {"id": "first", "title": "Winds", "authors": "Lee, B.", "doi": "10.1000/book"},
        {"id": "second", "title": "Rains", "authors": "Roe, C.", "doi": "10.1000/book"},
        *made_up_papers(20),
    ]
    with sr.build(rows, tmp_path / "index", encoder=None) as index:
        for name in ("10.1000/ONE", "https://doi.org/10.1000/one", "tides of the northern sea"):
            assert [paper.id for paper in index.papers(name)] == ["whole"]
            assert sr.profile(index, name).paper.id == "whole"
            assert not {"short", "whole"} & set(index.similar(name, 20)[0].ids)
        assert index.search("10.1000/one", 5)[0].also[0]  # as one there, too
        with pytest.raises(Ambiguous, match="DOI of 2 papers; name one by its id: first"):
            index.papers("10.1000/book")
        rows_of, wrong = index.snapshot.named(["10.1000/one", "10.1000/book", "nothing", "p0003", "nothing"])
        assert ([*rows_of], [*wrong]) == (["p0003", "10.1000/one"], ["10.1000/book", "nothing"])
    for command, shown in (("cite", "whole,p0003"), ("show", "Waves."), ("similar", "p00")):
        result = sciretrieve(command, "nothing", "10.1000/one", "10.1000/book", "p0003", "-i", tmp_path / "index")
        assert result.returncode == 1, result.stderr
        assert shown in result.stdout
        assert [line.split("'")[1] for line in result.stderr.splitlines() if line.startswith("sciretrieve: ")] == [
            "nothing",
            "10.1000/book",
        ]
        result = sciretrieve(command, "nothing", "neither", "-i", tmp_path / "index")
        assert (result.returncode, result.stdout) == (2, "")
        assert all(name in result.stderr for name in ("'nothing'", "'neither'"))
    for names in (["10.1000/one"], ["p0003", "nothing"]):
        with pytest.raises((Ambiguous, NotFound)):
            sr.delete(tmp_path / "index", names)
    assert len(sr.open(tmp_path / "index")) == 24


def test_what_is_near_is_suggested(index: sr.Index) -> None:
    with pytest.raises(NotFound, match=r"there is no paper '10.1000/xy' in .*; did you mean 10.1000/xyz \(A paper whose id is its DOI\)\?"):
        index.papers("10.1000/xy")
    with pytest.raises(NotFound, match=r"did you mean hep-th/9901001 \("):
        index.papers("hep-th/9901007")
    with pytest.raises(NotFound, match=r"did you mean hep-th/9901001 \("):  # a letter left out, and two swapped
        index.papers("he-th/9910001")


def test_the_command_says_what_came_first(index: sr.Index) -> None:
    result = sciretrieve("search", "10.1000/ABC", "-i", index.path)
    assert result.stderr.splitlines() == ["first comes the paper with this DOI"]
    assert "Alignment of sentences" in result.stdout.splitlines()[0]
    for text, note in (("doi:10.1000/NONE", "DOI 10.1000/none"), ("arXiv:1409.0474v2", "arXiv number 1409.0474")):
        assert sciretrieve("search", text, "-i", index.path).stderr.splitlines()[0] == f"no eligible paper has the {note}"
    assert sciretrieve("similar", "10.1000/abc; 10.1000/xyz", "-i", index.path).returncode == 2


def test_deleting_by_an_identifier(tmp_path: Path) -> None:
    sr.build([{**paper, "abstract": ""} for paper in NAMED], tmp_path / "index", encoder=None).close()
    with pytest.raises(Ambiguous):
        sr.delete(tmp_path / "index", ["10.1000/twice"])
    assert sr.delete(tmp_path / "index", ["https://doi.org/10.1000/abc"]).deleted == 1
    with sr.open(tmp_path / "index") as left:
        assert set(left.snapshot.live_ids()) == {paper["id"] for paper in NAMED} - {"W1"}


def test_filters_hold_for_named_papers_too(index: sr.Index) -> None:
    assert index.search("10.1000/twice", filter="year > 2001")[0].known == {"W5": "DOI"}
    assert index.search("10.1000/twice", filter="year > 2003")[0].known == {}
