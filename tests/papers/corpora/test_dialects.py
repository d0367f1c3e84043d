"""Records of the great sources, each in its exact form: what becomes of them, and that nothing is lost."""

import json
from pathlib import Path
from typing import Any

import pytest

import sciretrieve as sr
from sciretrieve.papers.corpora import open_corpus
from tests.made_up import read_corpus, write_jsonl

CSL = {
    "id": "lovelace1843",
    "type": "article-journal",
    "title": "Notes on the <i>Analytical Engine</i> &amp; its sketch",
    "author": [
        {"family": "Lovelace", "given": "Ada"},
        {"family": "Beethoven", "given": "Ludwig", "non-dropping-particle": "van"},
        {"family": "King", "given": "Martin Luther", "suffix": "Jr."},
        {"literal": "The Engine Team"},
    ],
    "container-title": "Scientific Memoirs",
    "abstract": "Numbers with a < b only.",
    "issued": {"date-parts": [[1843, 9, 1]]},
    "DOI": "10.1000/ABC.1",
    "PMID": "31452104",
    "page": "666-731",
    "volume": "3",
    "note": "kept",
}
CROSSREF = {
    "indexed": {"date-parts": [[2024, 1, 2]], "date-time": "2024-01-02T03:04:05Z", "timestamp": 1704164645000},
    "publisher": "A Press",
    "issue": "2",
    "DOI": "10.1000/crossref.7",
    "type": "journal-article",
    "created": {"date-parts": [[2019, 5, 1]]},
    "page": "1-9",
    "prefix": "10.1000",
    "title": ["A made title", "Its translation"],
    "author": [
        {"given": "Marie", "family": "Curie", "sequence": "first", "affiliation": [{"name": "Somewhere"}], "ORCID": "http://orcid.org/0"},
        {"name": "A Consortium", "sequence": "additional", "affiliation": []},
    ],
    "member": "1",
    "container-title": ["Journal of Made Papers"],
    "abstract": "<jats:title>Abstract</jats:title><jats:p>First.</jats:p><jats:p>H<jats:sub>2</jats:sub>O &lt; 5.</jats:p>",
    "issued": {"date-parts": [[2019]]},
    "reference": [{"key": "1", "DOI": "10.1000/other", "doi-asserted-by": "publisher"}],
    "URL": "https://doi.org/10.1000/crossref.7",
    "is-referenced-by-count": 4,
}
OPENALEX = {
    "id": "https://openalex.org/W1",
    "doi": "https://doi.org/10.1000/OA.1",
    "title": None,
    "display_name": "A work",
    "publication_year": 2020,
    "ids": {"openalex": "https://openalex.org/W1", "pmid": "https://pubmed.ncbi.nlm.nih.gov/123456", "mag": "77"},
    "primary_location": {"source": {"display_name": "A Venue", "type": "journal"}, "landing_page_url": "https://doi.org/10.1000/oa.1"},
    "locations": [{"source": None, "landing_page_url": "http://arxiv.org/abs/2001.00001"}],
    "authorships": [{"author_position": "first", "author": {"id": "https://openalex.org/A1", "display_name": "Ada Lovelace"}}],
    "abstract_inverted_index": {"We": [0], "make": [1, 3], "and": [2], "things.": [4]},
    "referenced_works": ["https://openalex.org/W2", "https://openalex.org/W3"],
    "biblio": {"volume": "1", "issue": None, "first_page": "5", "last_page": "9"},
}
GRAPH = {
    "paperId": "0f1e2d",
    "externalIds": {"MAG": "1", "ArXiv": "2001.00002v3", "DOI": "10.1000/S2.1", "CorpusId": 9, "PubMed": "777"},
    "url": "https://www.semanticscholar.org/paper/0f1e2d",
    "title": "A paper of the graph",
    "abstract": "It has one.",
    "venue": "",
    "year": 2020,
    "journal": {"name": "J. of Graphs", "volume": "4", "pages": "1-2"},
    "authors": [{"authorId": "1", "name": "Ada Lovelace"}, {"authorId": None, "name": "Alan Turing"}],
    "references": [{"paperId": "aa", "title": "Cited"}],
    "tldr": {"model": "tldr@v2.0.0", "text": "Short."},
}
FULL_TEXT = "A Title of S2ORC\nWe say\nthis. And that.\nThe body."
S2ORC = {
    "corpusid": 42,
    "externalids": {
        "arxiv": "2001.00003",
        "mag": None,
        "acl": None,
        "pubmed": "888",
        "pubmedcentral": None,
        "dblp": None,
        "doi": "10.1000/orc",
    },
    "content": {
        "source": {"pdfurls": ["https://example.org/a.pdf"], "pdfsha": "ab", "oainfo": None},
        "text": FULL_TEXT,
        "annotations": {
            "title": json.dumps([{"start": 0, "end": 16}]),
            "abstract": json.dumps([{"start": 17, "end": 29}, {"start": 30, "end": 39}]),
            "author": None,
        },
    },
}
S2ORC_PARSE = {
    "paper_id": "sha1",
    "title": "An older one",
    "authors": [{"first": "Ada", "middle": ["K."], "last": "Lovelace", "suffix": ""}],
    "abstract": [{"text": "One.", "cite_spans": []}, {"text": "Two.", "cite_spans": []}],
}
ARXIV = {
    "id": "0704.0001",
    "submitter": "Pavel Nadolsky",
    "authors": "C. Bal\\'azs, E. L. Berger, Jr",
    "title": "A title over\n  two lines with $\\gamma$",
    "comments": "37 pages",
    "journal-ref": "Phys.Rev.D76:013009,2007",
    "doi": "10.1103/PhysRevD.76.013009",
    "report-no": None,
    "categories": "hep-ph cs.IR",
    "license": None,
    "abstract": "  A calculation\nis presented.\n",
    "versions": [
        {"version": "v1", "created": "Mon, 2 Apr 2007 19:18:42 GMT"},
        {"version": "v2", "created": "Tue, 24 Jul 2012 20:10:27 GMT"},
    ],
    "update_date": "2012-11-26",
    "authors_parsed": [["Bal\\'azs", "C.", ""], ["Berger", "E. L.", "Jr"]],
}
CASES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "CSL-JSON": (
        CSL,
        {
            "id": "lovelace1843",
            "title": "Notes on the Analytical Engine & its sketch",
            "abstract": "Numbers with a < b only.",
            "year": 1843,
            "venue": "Scientific Memoirs",
            "authors": ["Ada Lovelace", "Ludwig van Beethoven", "Martin Luther King Jr.", "The Engine Team"],
            "doi": "10.1000/abc.1",
            "pmid": "31452104",
        },
    ),
    "Crossref": (
        CROSSREF,
        {
            "id": "10.1000/crossref.7",
            "title": "A made title",
            "titles": ["A made title", "Its translation"],
            "abstract": "First. H₂O < 5.",
            "year": 2019,
            "venue": "Journal of Made Papers",
            "authors": ["Marie Curie", "A Consortium"],
            "doi": "10.1000/crossref.7",
        },
    ),
    "OpenAlex": (
        OPENALEX,
        {
            "id": "https://openalex.org/W1",
            "title": "A work",
            "abstract": "We make and make things.",
            "year": 2020,
            "venue": "A Venue",
            "authors": ["Ada Lovelace"],
            "doi": "10.1000/oa.1",
            "arxiv": "2001.00001",
            "pmid": "123456",
        },
    ),
    "Graph API": (
        GRAPH,
        {
            "id": "0f1e2d",
            "title": "A paper of the graph",
            "abstract": "It has one.",
            "year": 2020,
            "venue": "J. of Graphs",
            "authors": ["Ada Lovelace", "Alan Turing"],
            "doi": "10.1000/s2.1",
            "arxiv": "2001.00002",
            "pmid": "777",
        },
    ),
    "S2ORC": (
        S2ORC,
        {
            "id": "42",
            "title": "A Title of S2ORC",
            "abstract": "We say this.\n\nAnd that.",
            "doi": "10.1000/orc",
            "arxiv": "2001.00003",
            "pmid": "888",
            "content": json.dumps(S2ORC["content"]),
        },
    ),
    "S2ORC's older form": (
        S2ORC_PARSE,
        {"id": "sha1", "title": "An older one", "abstract": "One.\n\nTwo.", "authors": ["Ada K. Lovelace"]}
        | {"abstract_": json.dumps(S2ORC_PARSE["abstract"])},
    ),
    "arXiv": (
        ARXIV,
        {
            "id": "0704.0001",
            "title": "A title over two lines with $\\gamma$",
            "abstract": "A calculation is presented.",
            "year": 2007,
            "venue": "Phys.Rev.D76:013009,2007",
            "authors": ["C. Balázs", "E. L. Berger Jr"],
            "authors_": ARXIV["authors"],
            "doi": "10.1103/physrevd.76.013009",
            "arxiv": "0704.0001",
        },
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_record_becomes_a_paper(tmp_path: Path, name: str) -> None:
    record, expected = CASES[name]
    (paper,) = read_corpus(write_jsonl(tmp_path / "p.jsonl", [record]))[0].to_pylist()
    assert {column: paper.get(column) for column in expected} == expected


@pytest.mark.parametrize("name", CASES)
def test_an_array_of_records_and_a_list_in_memory_say_the_same(tmp_path: Path, name: str) -> None:
    record, _ = CASES[name]
    (tmp_path / "p.json").write_text(json.dumps([record]))
    from_lines = read_corpus(write_jsonl(tmp_path / "p.jsonl", [record]))[0].to_pylist()
    (batch,) = open_corpus([record]).batches()
    assert from_lines == read_corpus(tmp_path / "p.json")[0].to_pylist() == batch.papers.to_pylist()


@pytest.mark.parametrize("name", CASES)
def test_every_value_of_a_record_is_in_its_paper(tmp_path: Path, name: str) -> None:
    """Each text and number within the record is found in the index's paper, but for markup and what identifiers have around them."""
    record, _ = CASES[name]
    sr.build(write_jsonl(tmp_path / "p.jsonl", [record]), tmp_path / "index", encoder=None)
    (paper,) = sr.open(tmp_path / "index").papers([CASES[name][1]["id"]])
    text = squeezed(
        json.dumps(
            [paper.title, paper.abstract, paper.year, paper.venue, paper.authors, paper.doi, paper.id, paper.url, paper.extra],
            ensure_ascii=False,
        )
    )
    bare = {"title", "abstract", "doi", "DOI", "abstract_inverted_index"}  # said in other letters; compared in the test above
    for key, value in record.items():
        for part in () if key in bare else leaves(value):
            assert squeezed(json.dumps(part, ensure_ascii=False).strip('"')) in text, (key, part)


def squeezed(text: str) -> str:
    return text.replace("\\", "").replace(" ", "").lower()


def leaves(value: Any) -> list[Any]:
    if isinstance(value, dict | list):
        return [leaf for item in (value.values() if isinstance(value, dict) else value) for leaf in leaves(item)]
    return [value] if value not in (None, "") else []


def test_dialects_may_be_mixed(tmp_path: Path) -> None:
    papers, rejected = read_corpus(write_jsonl(tmp_path / "p.jsonl", [record for record, _ in CASES.values()]))
    assert rejected == []
    for paper, (_, expected) in zip(papers.to_pylist(), CASES.values(), strict=True):
        for column in {"id", "title", "abstract", "year", "venue", "authors", "doi", "arxiv", "pmid"} & expected.keys():
            assert paper[column] == expected[column]


HOSTILE: list[Any] = [None, 7, "x", [], {}, [None], [[]], [{}], {"x": 1}, [["a", None, {}]], [{"date-parts": [[None]]}], True, 1.5]


@pytest.mark.torture
@pytest.mark.parametrize("name", CASES)
def test_whatever_a_field_holds_the_record_is_read(name: str) -> None:
    record, _ = CASES[name]
    for key in record:
        for value in HOSTILE:
            (batch,) = open_corpus([{**record, key: value, "title": "t"}]).batches()
            assert len(batch.papers) + len(batch.rejected) == 1
    content = {"text": "abc", "annotations": {"title": "[", "abstract": [{"start": -1, "end": "x"}, 3, {"start": 0, "end": 10**9}]}}
    (batch,) = open_corpus([{"corpusid": 1, "content": content}]).batches()
    assert batch.papers["abstract"].to_pylist() == ["abc"]


def test_what_a_full_text_cites_becomes_references() -> None:
    entries = [{"attributes": {"id": f"b{n}", "matched_paper_id": id}} for n, id in enumerate([7, "8", None, 7, "x"])]
    content = {"text": "abc", "annotations": {"title": [{"start": 0, "end": 3}], "bibentry": json.dumps([*entries, {"start": 1}, 3])}}
    (batch,) = open_corpus([{"corpusid": 1, "content": content}]).batches()
    assert batch.papers["references"].to_pylist() == [["CorpusId:7", "CorpusId:8"]]


def test_references_in_the_graph_apis_lists_are_papers(tmp_path: Path) -> None:
    answer = {"offset": 0, "data": [{"contexts": ["as in"], "citedPaper": {"paperId": "aa", "title": "Cited", "year": 1999}}]}
    (tmp_path / "references.json").write_text(json.dumps(answer))
    (paper,) = read_corpus(tmp_path / "references.json")[0].to_pylist()
    assert (paper["id"], paper["title"], paper["year"], paper["contexts"]) == ("aa", "Cited", 1999, ["as in"])


@pytest.mark.parametrize("name", CASES)
def test_a_record_of_hostile_fields_is_read_or_rejected(name: str) -> None:
    for turn in range(len(HOSTILE)):
        hostile = {key: HOSTILE[(turn + place) % len(HOSTILE)] for place, key in enumerate(CASES[name][0])}
        (batch,) = open_corpus([{**hostile, "title": "t"}]).batches()
        assert len(batch.papers) + len(batch.rejected) == 1
