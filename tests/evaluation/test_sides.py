"""Each kind of benchmark is read by the expert that its authors read it with, on random weights in SciMult's layout."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import sciretrieve as sr
from sciretrieve.base.types import Paper, Query
from sciretrieve.commands.app import app
from sciretrieve.encoders import CODES
from sciretrieve.encoders.catalogue import CATALOGUE as ENCODERS
from sciretrieve.encoders.ensemble import member_requests, members_of
from sciretrieve.encoders.resolving import resolve
from sciretrieve.encoders.specs import EncoderRequest
from sciretrieve.evaluation import CATALOGUE, evaluate, sides
from tests.evaluation.made_up_benchmarks import paper, write_beir, write_lines
from tests.toy_weights import write_adapters, write_bert, write_scimult

IDS = [f"p{number}" for number in range(8)]
ENCODER = "scimult-ffnexpert"


@pytest.fixture(scope="module", autouse=True)
def weights(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """SciMult's feed-forward experts."""
    folder = tmp_path_factory.mktemp("weights")
    write_scimult(folder / "microsoft/BiomedNLP-BiomedBERT-base-uncased-abstract", folder / ENCODER / "scimult_ffn.ckpt", 21, experts="ffn")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SCIRETRIEVE_MODELS", str(folder))
        yield folder


def links(folder: Path) -> Path:
    rows = [{**paper(id, "paper"), "cite": [IDS[at - 1]], "co-cite": []} for at, id in enumerate(IDS)]
    write_lines(folder / "SciDocs_papers_test.json", rows)
    return folder


def search(folder: Path) -> Path:
    papers = ({"id": id, "title": f"title of {id}", "abstract": f"abstract of {id}"} for id in IDS)
    return write_beir(folder, papers, {"q": "graph networks"}, {"q": {"p1": 1}})


def labels(folder: Path) -> Path:
    for name in ("CSConference", "ChemistryMeSH", "Geography", "Psychology"):
        write_lines(folder / f"{name}_label.json", ({"label": id, "name": [f"title of {id}"], "definition": "graph"} for id in IDS))
        write_lines(folder / f"{name}_papers_test.json", [{**paper("q", "paper"), "label": ["p1"]}])
        write_lines(folder / f"{name}_matched.json", [{"candidate": []}])
    return folder


def measured(name: str, data: Path, **options: Any) -> Any:
    return evaluate(name, data, encoder=ENCODER, precision="fp32", cache=str(data / "indexes"), **options)


@pytest.mark.parametrize(
    ("name", "make", "options", "task"),
    [
        ("scidocs-cite", links, {}, "link_prediction"),
        ("beir:", search, {}, "search"),
        ("maple", labels, {"task": "Geography"}, "classification"),
    ],
)
def test_a_benchmark_is_read_by_the_expert_of_its_kind(tmp_path: Path, name: str, make: Any, options: Any, task: str) -> None:
    data = make(tmp_path)
    report = measured(f"beir:{data}" if name == "beir:" else name, data, **options)
    index = sr.open(report.facts["index"])
    expert = sr.load_encoder(ENCODER, adapter=task, query_adapter=task, precision="fp32")
    papers = [index.papers([id])[0] for id in IDS]
    np.testing.assert_allclose(np.concatenate([shard.vectors for shard in index.snapshot.vectors]), expert.encode_papers(papers), atol=1e-5)
    queries = [Query("text", "graph networks"), Query("paper", paper=Paper("q", "title of q", "abstract of q"))]
    np.testing.assert_allclose(index.reader.query_encoder.encode(queries), expert.encode_queries(queries), atol=1e-5)
    assert task in index.path.name
    assert {side["task"] for side in report.to_dict()["system"]["reads"]} == {task}
    text = "\n".join(report.lines())
    assert f"papers are read as {{title}} {{sep}} {{abstract}} through {task}" in text
    assert "do not compare" not in text


def test_another_expert_can_be_asked_for_and_is_told(tmp_path: Path) -> None:
    report = measured("scidocs-cite", links(tmp_path), adapter="search")
    assert [(side["side"], side["task"]) for side in report.facts["reads"]] == [("paper", "search"), ("paper_as_query", "search")]
    assert any("read proximity benchmarks for link_prediction; here it read papers for search" in note for note in report.notes)


def test_an_index_of_another_expert_is_told(tmp_path: Path) -> None:
    own_index = sr.build(search(tmp_path / "data"), tmp_path / "own", encoder=ENCODER, adapter="link_prediction", precision="fp32")
    report = evaluate(f"beir:{tmp_path / 'data'}", index=str(own_index.path))
    assert any("read search benchmarks for search; here it read papers for link_prediction" in note for note in report.notes)


def test_a_reranker_reads_as_the_kind_wants(tmp_path: Path) -> None:
    data = links(tmp_path)
    measured("scidocs-cite", data, output=tmp_path / "dense")
    evaluate("scidocs-cite", data, mode="bm25", rerank=ENCODER, precision="fp32", cache=str(data), output=tmp_path / "reranked")
    orders = [[line.split()[:3] for line in (tmp_path / name / "run.trec").read_text().splitlines()] for name in ("dense", "reranked")]
    assert len(orders[0]) == len(IDS) ** 2
    assert orders[0] == orders[1]


def test_each_member_of_an_ensemble_is_read_as_its_authors_read_the_kind() -> None:
    def tasks(encoder: str, kind: Any, adapter: str | None = None) -> Any:
        return sides.tasks_for(encoder, kind, adapter, None)

    assert tasks("scirepeval-ensemble", "classification") == ("[CLF]", "[CLF]")
    assert tasks("mean:specter2+scirepeval-ctrl", "regression") == ("regression+[RGN]", "regression+[RGN]")
    assert tasks("mean:specter2+scirepeval-ctrl", "proximity") == (None, None)
    assert tasks("concat:scincl+scimult-mhaexpert", "proximity") == ("+link_prediction", "+link_prediction")
    assert tasks("mean:specter2+scirepeval-ctrl", "regression", "proximity+[PRX]")[0] == "proximity+[PRX]"


@pytest.mark.parametrize(
    ("encoder", "kind", "adapter", "expected"),
    [
        ("scirepeval-ctrl", "classification", "[CLF]", []),
        ("scirepeval-ctrl", "classification", "[PRX]", ["this encoder's authors read classification benchmarks for [CLF]"]),
        ("scirepeval-ctrl", "regression", "[QRY]", ["this encoder's authors read regression benchmarks for [RGN]"]),
        ("scirepeval-ctrl", "proximity", "[CLF]", ["this encoder's authors read proximity benchmarks for [PRX]"]),
        ("scirepeval-ctrl", "proximity", None, []),
        ("scimult-mhaexpert", "proximity", "classification", ["this encoder's authors read proximity benchmarks for link_prediction"]),
        ("scimult-mhaexpert", "regression", "classification", []),
        (
            "scirepeval-ensemble",
            "regression",
            "[CLF]",
            [f"the authors of scirepeval-{name} read regression benchmarks for [RGN]" for name in ("adapters", "ctrl")],
        ),
        ("scirepeval-ensemble", "regression", "[RGN]", []),
        ("scirepeval-ensemble", "regression", "[CLF]+[RGN]", ["the authors of scirepeval-adapters read regression benchmarks for [RGN]"]),
        (
            "specter2",
            "search",
            "./own",
            ["this encoder's authors read search benchmarks for proximity; here it read papers for an adapter"],
        ),
    ],
)
def test_off_the_diagonal_is_noted(encoder: str, kind: Any, adapter: str | None, expected: list[str]) -> None:
    """What Table 3 of SciRepEval and SciMult's tables of wrong experts do can be asked for, and the report says so."""
    request = EncoderRequest(encoder, adapter)
    spec = resolve(request)
    ensemble = members_of(encoder)
    members = list(zip(spec.members, member_requests(request, ensemble[1]), strict=True)) if ensemble else [(spec, request)]
    facts = [{"name": str(row), "asked": asdict(row), "sides": asdict(member.sides)} for member, row in members]
    identity = {"name": str(request), "members": facts} if ensemble else facts[0]
    read = sides.sides_read(identity, [])
    notes = sides.departures(identity, kind, read)
    assert [note.startswith(words) for note, words in zip(notes, expected, strict=True)] == [True] * len(expected)


def test_the_ensemble_is_evaluated_off_the_diagonal(weights: Path, tmp_path: Path) -> None:
    codes = {code: Path(f"scirepeval_adapters_{code[1:4].lower()}") for code in CODES}
    write_bert(weights / "malteos/scincl", 7)
    write_adapters(weights / "allenai", weights / "malteos/scincl", codes, 8)
    write_bert(weights / "allenai/scirepeval_ctrl", 6, extra=sorted(CODES))
    report = evaluate(
        "scidocs-cite", links(tmp_path), encoder="scirepeval-ensemble", adapter="[CLF]", precision="fp32", cache=str(tmp_path / "indexes")
    )
    index = sr.open(report.facts["index"])
    members = [sr.load_encoder(name, adapter="[CLF]", precision="fp32") for name in ("scirepeval-adapters", "scirepeval-ctrl")]
    papers = [index.papers([id])[0] for id in IDS]
    expected = sum(member.encode_papers(papers) for member in members) / 2
    np.testing.assert_allclose(np.concatenate([shard.vectors for shard in index.snapshot.vectors]), expected, atol=1e-5)
    assert len([note for note in report.notes if "read proximity benchmarks for [PRX]; here it read papers for [CLF]" in note]) == 2
    assert {side["encoder"] for side in report.facts["reads"]} == {"scirepeval-adapters with [CLF]", "scirepeval-ctrl with [CLF]"}


def test_how_many_tokens_are_read_is_what_the_model_has_positions_for(models: Path, tmp_path: Path) -> None:
    """The catalogue says 512 for these; the small models have 64."""
    for repository in ("allenai/specter", "malteos/scincl"):
        write_bert(models / repository, 3)
    data = tmp_path / "data"
    rows = [{"paper": id, "title": "title", "abstract": "word " * (40 if id == "p0" else 3), "cite": ["p1"]} for id in IDS]
    write_lines(data / "link_prediction_retrieval/SciDocs_papers_test.json", rows)
    for encoder in ("specter", "mean:specter+scincl"):
        report = evaluate("scidocs-cite", data, encoder=encoder, precision="fp32", cache=str(tmp_path / "cache"))
        words = f"1 of the {len(IDS)} papers of scidocs-cite are longer than the 64 tokens that the encoder reads"
        assert [note for note in report.notes if "longer than" in note] == [words]
        models.rename(tmp_path / "away")  # an index finds the model in the cache by what its manifest says
        assert sr.open(report.facts["index"]).search("title", mode="dense").hits
        (tmp_path / "away").rename(models)
    shown = CliRunner().invoke(app, ["encoders", "show", "specter", "--format", "json"])
    assert json.loads(shown.stdout)["max_length"] == 64


def test_every_kind_has_a_task_where_a_model_has_one_for_each() -> None:
    kinds = {row.kind for row in CATALOGUE.values()}
    for spec in ENCODERS.values():
        if spec.kinds:
            assert set(spec.kinds) == (kinds - {"regression"} if spec.name.startswith("scimult") else {"classification", "regression"})
            assert set(spec.kinds.values()) <= {*spec.tasks, *spec.codes}
    expected = {"scidocs-cite": "proximity", "mdcr": "proximity", "scimult-search": "search", "maple": "labels", "drsm": "classification"}
    assert {name: CATALOGUE[name].kind for name in expected} == expected
