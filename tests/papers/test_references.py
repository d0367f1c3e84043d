"""What a paper cites, in every form that columns have; and Arrow's way beside one by one."""

import json
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sciretrieve.papers.references import read, reference_columns, references_in, references_of

HASH = "0123456789abcdef0123456789abcdef01234567"


@pytest.mark.parametrize(
    ("value", "names"),
    [
        (None, []),
        ("", []),
        (["https://openalex.org/W12", "W13", " ", None], [("openalex:W12",), ("openalex:W13",)]),
        ([12, 13.0], [("12",), ("13",)]),
        (['{"doi": "10.1000/a"}', "{W13}"], [("doi:10.1000/a",), ("{W13}",)]),
        ("https://openalex.org/W1|https://openalex.org/W2", [("openalex:W1",), ("openalex:W2",)]),
        ("kipf2017semi, vaswani2017attention", [("kipf2017semi",), ("vaswani2017attention",)]),
        ("kipf2017semi vaswani2017attention", [("kipf2017semi",), ("vaswani2017attention",)]),
        ("doi: 10.1000/ABC; arXiv:1409.0473v2", [("doi:10.1000/abc",), ("arxiv:1409.0473",)]),
        ('["a", {"paperId": "b"}]', [("a",), ("b",)]),
        ("[3] Some prose", [("3",), ("Some",), ("prose",)]),
        ("17", []),  # a count of references
        (
            "Ada Lovelace, Notes, 1843, doi: 10.1000/x1; A. Turing, On numbers, arXiv: 1409.0473.",
            [("doi:10.1000/x1",), ("arxiv:1409.0473",)],
        ),
        (["Ada Lovelace: Notes. https://doi.org/10.1000/X1."], [("doi:10.1000/x1", "Ada Lovelace: Notes. https://doi.org/10.1000/X1.")]),
        ([{"key": "ref1", "DOI": "10.48550/arXiv.1409.0473"}], [("arxiv:1409.0473",)]),
        ([{"key": "ref1", "unstructured": "A. Lovelace, Notes"}, {"key": "ref2"}], [()]),
        (
            [{"paperId": HASH, "corpusId": 7, "externalIds": {"DOI": "10.1000/B", "PubMed": "31452104", "MAG": "5"}, "title": "A title"}],
            [("doi:10.1000/b", "pmid:31452104", "corpusid:7", HASH)],
        ),
        ([{"contexts": ["as in"], "citedPaper": {"paperId": "aa"}}], [("aa",)]),
        ({"id": True, "doi": "none", "pmid": "x"}, []),
    ],
)
def test_each_form(value: Any, names: list[tuple[str, ...]]) -> None:
    assert [reference.names for reference in references_in(value)] == names


def test_a_reference_says_what_it_is() -> None:
    (crossref, bare), words = references_in([{"DOI": "10.1000/a", "article-title": "On  A"}, {"DOI": "10.1000/b"}]), "A. Lovelace, Notes"
    assert [str(crossref), str(bare)] == ["On A · doi:10.1000/a", "doi:10.1000/b"]
    assert [str(reference) for reference in references_in([words])] == [words]


def test_columns_of_references_by_name_and_type() -> None:
    table = pa.table(
        {
            "cites": [3],
            "Referenced Works": [["W1"]],
            "reference": [[{"DOI": "x"}]],
            "references": ["a"],
            "title": ["t"],
            "cited_papers": [1.5],
        }
    )
    assert reference_columns(table.schema) == ["references", "Referenced Works", "reference"]


IDS = st.sampled_from(
    ["a", "W7", "https://openalex.org/W7", "10.1000/ABC", "https://doi.org/10.1000/abc", "10.48550/arXiv.1409.0473", "arXiv:1409.0473v2"]
    + ["hep-th/9901001", "1409.0473", "pmid:31452104", "31452104", "CorpusId:7", "doi:10.1000/X%2F", "", " b ", HASH, "10.1000/abc."]
    + [f"https://www.semanticscholar.org/paper/A-title/{HASH}", "https://pubmed.ncbi.nlm.nih.gov/31452104/", "10.1000/a.b"]
)
OBJECTS = st.fixed_dictionaries(
    {
        "key": st.just("ref1"),
        "DOI": st.none() | IDS,
        "paperId": st.none() | IDS,
        "corpusId": st.none() | st.integers(0, 9),
        "externalIds": st.fixed_dictionaries({"ArXiv": st.none() | IDS, "PubMed": st.none() | IDS}),
    }
)
COLUMNS = st.one_of(
    *(st.lists(st.none() | st.lists(st.none() | item, max_size=4), max_size=4) for item in (IDS, OBJECTS, st.integers(1, 99)))
)


@given(COLUMNS, st.lists(st.sampled_from(["from PubMed", "with another id", None]), min_size=4, max_size=4))
def test_arrow_finds_what_one_by_one_finds(values: list[Any], kinds: list[str | None]) -> None:
    rows = [
        {"id": f"{31 + place}" if kind == "from PubMed" else f"p{place}", "pmid": kind and f"{31 + place}", "references": value}
        for place, (value, kind) in enumerate(zip(values, kinds, strict=False))
    ]
    if not rows:
        return
    found = [
        (int(citing), tuple(dict.fromkeys(name for column in part.names if (name := column[place].as_py()) is not None)))
        for part in read(pa.Table.from_pylist(rows), ["references"])
        for place, citing in enumerate(part.citing)
    ]
    expected = [(place, reference.names) for place, row in enumerate(rows) for reference in references_of(row, ["references"])]
    assert [item for item in found if item[1]] == [item for item in expected if item[1]]


def test_json_text_beside_lists() -> None:
    values = ["a|b", json.dumps([{"doi": "10.1000/A"}]), None, "not [json"]
    (part,) = read(pa.table({"id": list("wxyz"), "references": values}), ["references", "absent"])
    assert part.citing.tolist() == [0, 0, 1, 3, 3]
    assert part.names[0].to_pylist() == ["a", "b", "doi:10.1000/a", "not", "json"]
