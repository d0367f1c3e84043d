"""JSON documents: arrays, single records, services' answers; streamed, and whatever is wrong with them."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sciretrieve.base.errors import InvalidRequest
from sciretrieve.papers.corpora import open_corpus
from sciretrieve.papers.corpora.json_document import rows as read
from tests.made_up import read_corpus

PAPERS = [{"id": f"p{number}", "title": f"title {number}", "n": number} for number in range(5)]


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize(
    "wrap",
    [
        lambda papers: papers,
        lambda papers: {"meta": {"count": 5, "page": 1}, "results": papers, "group_by": []},
        lambda papers: {"total": 5, "offset": 0, "next": 5, "data": papers},
        lambda papers: {"status": "ok", "message-type": "work-list", "message": {"facets": {}, "total-results": 5, "items": papers}},
    ],
    ids=["array", "OpenAlex", "Semantic Scholar", "Crossref"],
)
@pytest.mark.parametrize("name", ["p.json", "p.jsonl", "p.txt"])
def test_arrays_and_answers_are_lists_of_papers(tmp_path: Path, indent: int | None, wrap: Any, name: str) -> None:
    (tmp_path / name).write_text(json.dumps(wrap(PAPERS), indent=indent))
    papers, rejected = read_corpus(tmp_path / name)
    assert papers.select(["id", "title", "n"]).to_pylist() == PAPERS
    assert rejected == []


def test_one_record_and_several_on_many_lines(tmp_path: Path) -> None:
    crossref = {"status": "ok", "message-type": "work", "message": {"DOI": "10.1000/a", "title": ["One"]}}
    (tmp_path / "one.json").write_text(json.dumps(crossref))
    assert read_corpus(tmp_path / "one.json")[0].select(["id", "title"]).to_pylist() == [{"id": "10.1000/a", "title": "One"}]
    (tmp_path / "many.json").write_text("\n".join(json.dumps(paper, indent=1) for paper in PAPERS))
    assert read_corpus(tmp_path / "many.json")[0]["n"].to_pylist() == [0, 1, 2, 3, 4]
    (tmp_path / "pages.jsonl").write_text("".join(json.dumps({"meta": {}, "results": [paper]}) + "\n" for paper in PAPERS))
    assert read_corpus(tmp_path / "pages.jsonl")[0]["n"].to_pylist() == [0, 1, 2, 3, 4]


def test_a_paper_with_such_columns_is_one(tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_text('{"status": "ok", "items": [{"a": 1}], "id": "a", "title": "t"}\n{"id": "b", "title": "u"}\n')
    assert read_corpus(tmp_path / "p.jsonl")[0]["id"].to_pylist() == ["a", "b"]


def test_bad_records_cost_themselves_alone(tmp_path: Path) -> None:
    (tmp_path / "p.json").write_bytes(
        b'[{"id": 1, "title": "x"}, 7, "text", {}, [1], null, {"id": 2, "title": "\\ud800"}, {"id": 3, "title": "br\xff"}]'
    )
    papers, rejected = read_corpus(tmp_path / "p.json")
    assert papers["id"].to_pylist() == ["1"]
    reasons = [*["not a JSON object"] * 2, "an empty object", *["not a JSON object"] * 2, "broken UTF-8", "broken UTF-8"]
    assert [(item.row, item.reason) for item in rejected] == list(enumerate(reasons, 2))


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=4), inner, max_size=3)
    ),
    max_leaves=6,
)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.dictionaries(st.sampled_from(["a", "é", "x y"]), values, min_size=1, max_size=3), min_size=1, max_size=5), st.integers(1, 9)
)
def test_however_it_is_cut_into_blocks_json_reads_the_same(rows: list[dict[str, Any]], size: int) -> None:
    data = json.dumps(rows, ensure_ascii=False).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "sciretrieve.papers.corpora.json_document.blocks", lambda path: iter([data[at : at + size] for at in range(0, len(data), size)])
        )
        assert [row for _, row in read(Path("x.json"))] == json.loads(data)


def test_a_document_is_never_held_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A document of twenty times what a value may have is read; so is one whose blocks end within values."""
    monkeypatch.setattr("sciretrieve.papers.corpora.json_document.LONGEST_LINE", 1 << 20)
    row = json.dumps({"id": "a", "title": "t", "text": "x" * 100_000})
    with gzip.open(tmp_path / "p.json.gz", "wt") as file:
        file.write("[" + ",".join([row] * 200) + "]")
    assert sum(len(batch.papers) + len(batch.rejected) for batch in open_corpus(tmp_path / "p.json.gz").batches()) == 200
    (tmp_path / "long.json").write_text('[{"id": "a", "title": "' + "x" * (4 << 20) + '"}]')
    with pytest.raises(InvalidRequest, match="a value of more than"):
        read_corpus(tmp_path / "long.json")
