"""Pooling and texts that a user asks for, against plain transformers on small random weights, from an index to its receipts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sciretrieve as sr
from sciretrieve.base.errors import InvalidRequest, UnknownName
from sciretrieve.base.types import Paper, Query
from sciretrieve.encoders import load_encoder, reopen_encoder
from sciretrieve.encoders.resolving import resolve
from sciretrieve.encoders.specs import EncoderRequest
from sciretrieve.evaluation import evaluate, replay
from tests.command_line import answer, sciretrieve
from tests.encoders.plain import plain_states
from tests.evaluation.made_up_benchmarks import paper, write_lines
from tests.toy_weights import write_bert

PAPERS = [Paper("1", "Graph networks", "Citation of the paper"), Paper("2", "a title", ""), Paper("3", "", "only an abstract")]
TEMPLATE, QUERY_TEMPLATE = "paper {title}{sep}{abstract} {{x}}", "query: {text}"


@pytest.fixture
def folder(models: Path) -> Path:
    write_bert(models / "mine", 1)
    return models / "mine"


def plain(folder: Path, text: str, pooling: str) -> Any:
    """The vector of a text by plain transformers."""
    states = plain_states(folder, text.strip())
    return states[0] if pooling == "cls" else states.mean(0)


def read(item: Paper) -> str:
    return f"paper {item.title}[SEP]{item.abstract} {{x}}"


@pytest.mark.parametrize("pooling", ["cls", "mean"])
def test_pooling_and_texts_as_asked_for(folder: Path, pooling: Any, caplog: pytest.LogCaptureFixture) -> None:
    encoder = load_encoder(str(folder), pooling=pooling, template=TEMPLATE, query_template=QUERY_TEMPLATE, precision="fp32")
    np.testing.assert_allclose(encoder.encode_papers(PAPERS), [plain(folder, read(item), pooling) for item in PAPERS], atol=1e-4)
    queries = encoder.encode_queries([Query("q", "vaccine"), Query("1", paper=PAPERS[0])])
    np.testing.assert_allclose(queries, [plain(folder, "query: vaccine", pooling), plain(folder, read(PAPERS[0]), pooling)], atol=1e-4)
    assert encoder.symmetric
    assert "their mean is taken" not in caplog.text  # it was said how
    identity = encoder.identity()
    assert {"pooling": pooling, "template": TEMPLATE, "query_template": QUERY_TEMPLATE}.items() <= identity["asked"].items()
    again = reopen_encoder(json.loads(json.dumps(identity)), "fp32")
    np.testing.assert_array_equal(again.encode_queries([Query("q", "vaccine")]), queries[:1])


def test_rows_of_the_catalogue_take_them_where_it_makes_sense() -> None:
    spec = resolve(EncoderRequest("specter2", "classification", pooling="mean", template="{title}. {abstract}", bare_titles=True))
    assert (spec.pooling, spec.sides.paper.text, spec.sides.paper.task) == ("mean", "{title}. {abstract}", "classification")
    assert spec.sides.query.text == "{text}"
    assert resolve(EncoderRequest("e5-base-v2", query_template="q: {text}")).sides.paper_as_query.text == "query: {title} {abstract}"
    assert resolve(EncoderRequest("scimult-mhaexpert", template="{title}")).sides.paper.task == "search"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"template": "{title} {venue}"}, r"`template` '\{title\} \{venue\}' has \{venue\}.*there are: \{title\}, \{abstract\}, \{sep\}"),
        ({"template": "{text}"}, r"has \{text\}"),
        ({"template": "{title!r}"}, "which is not known"),
        ({"template": "{title.real}"}, "which is not known"),
        ({"template": "{}"}, "which is not known"),
        ({"template": "a paper"}, "would make the same text of everything"),
        ({"template": ""}, "would make the same text of everything"),
        ({"template": "{sep}"}, r"write \{title\} or \{abstract\} into it"),
        ({"template": "{title"}, "cannot be read: expected '}' before end of string"),
        ({"query_template": "query: {title}"}, r"`query_template` .* has \{title\}.*there are: \{text\}, \{sep\}"),
        ({"query_template": "query"}, r"write \{text\} into it"),
        ({"pooling": "max"}, "unknown pooling 'max'"),
    ],
)
def test_a_bad_request_is_one_line(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidRequest, match=words) as caught:
        load_encoder("minilm", **options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["scirepeval-ctrl", "scirepeval-pals", "scimult", "multi2spe"])
def test_models_with_vectors_of_their_own_keep_them(name: str) -> None:
    with pytest.raises(InvalidRequest, match=f"{name} has its own pooling"):
        resolve(EncoderRequest(name, pooling="mean"))


def test_control_codes_stay_before_texts() -> None:
    with pytest.raises(InvalidRequest, match="which `adapter` chooses; leave out `query_template`"):
        resolve(EncoderRequest("scirepeval-ctrl", query_template="{text}"))


def test_an_instruction_in_ones_own_words_is_a_task() -> None:
    words = "Find a pair of scientific papers that are co-viewed frequently."
    spec = resolve(EncoderRequest("scimult-instruction", words, "search"))
    assert [spec.sides.paper.task, spec.sides.query.task, spec.sides.paper_as_query.task] == [words, "search", words]
    with pytest.raises(UnknownName, match="did you mean 'link_prediction'"):
        resolve(EncoderRequest("scimult-instruction", "link_predicton"))
    with pytest.raises(UnknownName, match="unknown adapter of scimult-mhaexpert"):
        resolve(EncoderRequest("scimult-mhaexpert", words))


def test_an_index_reads_queries_as_it_was_built(folder: Path, tmp_path: Path) -> None:
    write_lines(tmp_path / "papers.jsonl", ({"id": item.id, "title": item.title, "abstract": item.abstract} for item in PAPERS))
    reading = [
        "--encoder",
        str(folder),
        "--set",
        f"pooling=cls,template={TEMPLATE},query_template={QUERY_TEMPLATE},precision=fp32",
    ]
    answer("index", tmp_path / "papers.jsonl", "-o", tmp_path / "index", *reading)
    index = sr.open(tmp_path / "index")
    vectors = np.stack([plain(folder, read(item), "cls") for item in PAPERS])
    np.testing.assert_allclose(
        index.reader.query_encoder.encode([Query("q", "vaccine")])[0], plain(folder, "query: vaccine", "cls"), atol=1e-4
    )
    np.testing.assert_allclose(np.concatenate([shard.vectors for shard in index.snapshot.vectors]), vectors, atol=1e-4)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    similar = [PAPERS[row].id for row in np.argsort(-(unit @ unit[0])) if row]
    assert list(index.similar(["1"], 3, mode="dense")[0].ids) == similar
    moved = folder.rename(folder.with_name("moved"))
    searched = ("vaccine", "-i", tmp_path / "index", "--mode", "dense", "-f", "trec")
    assert answer("search", *searched, "--set", f"encoder={moved}") == answer("search", *searched)
    assert json.loads(answer("verify", "-i", tmp_path / "index", "--set", f"encoder={moved}", "-f", "json"))["faults"] == []
    moved.rename(folder)
    answer("encode", tmp_path / "papers.jsonl", "-o", tmp_path / "vectors.npy", *reading)
    np.testing.assert_allclose(np.load(tmp_path / "vectors.npy"), vectors, atol=1e-4)
    bad = sciretrieve("index", tmp_path / "papers.jsonl", "-o", tmp_path / "other", "--encoder", folder, "--set", "template={venue}")
    assert (bad.returncode, len(bad.stderr.strip().splitlines()[-1:])) == (2, 1)
    assert "{venue}, which is not known" in bad.stderr


def test_an_evaluation_reads_as_asked_and_its_receipt_repeats_it(folder: Path, tmp_path: Path) -> None:
    ids = [f"p{number}" for number in range(8)]
    write_lines(
        tmp_path / "data/SciDocs_papers_test.json",
        [{**paper(id, "paper"), "cite": [ids[at - 1]], "co-cite": []} for at, id in enumerate(ids)],
    )
    options: dict[str, Any] = {"encoder": str(folder), "precision": "fp32", "cache": str(tmp_path / "cache")}
    reading: dict[str, Any] = {"pooling": "cls", "template": "{title}{sep}{abstract}"}
    report = evaluate("scidocs-cite", tmp_path / "data", output=tmp_path / "run", **options, **reading)
    usual = evaluate("scidocs-cite", tmp_path / "data", **options)
    assert report.facts["index"] != usual.facts["index"]
    index = sr.open(report.facts["index"])
    item = index.papers(["p0"])[0]
    expected = plain(folder, f"{item.title}[SEP]{item.abstract}", "cls")
    np.testing.assert_allclose(index.reader.query_encoder.encode([Query("p0", paper=item)])[0], expected, atol=1e-4)
    receipt = json.loads((tmp_path / "run/receipt.json").read_text())
    assert reading.items() <= receipt["request"].items()
    assert reading.items() <= receipt["encoder"]["asked"].items()
    assert replay(tmp_path / "run/receipt.json")[1] == []
    with pytest.raises(InvalidRequest, match=r"`template` says how an encoder reads texts, so it does not go with `index`"):
        evaluate("scidocs-cite", tmp_path / "data", index=str(index.path), template="{title}")
