"""Experts, prefixes and instructions: each task changes its own, what is written reads as it was trained, experts begin as vanilla."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import torch

from sciretrieve.base.errors import InvalidRequest
from sciretrieve.base.types import Query
from sciretrieve.encoders import load_encoder
from sciretrieve.encoders.catalogue import CATALOGUE, SCIMULT_TASKS
from sciretrieve.training import read_training_set
from sciretrieve.training.forms import ranking_labels
from sciretrieve.training.learning.measuring import benchmark
from tests.made_up import write_jsonl
from tests.toy_weights import VOCABULARY, bert_config, ids_of, write_scimult, write_tokenizer
from tests.training.learning.students.toy_training import (
    Learned,
    learned,
    opened,
    reached,
    vectors_of_student,
    vectors_of_task,
    written,
)

FORMATS = {"search": "adhoc_query", "link_prediction": "proximity", "classification": "classification"}
TEXTS = ["graph networks", "a citation of the paper", "vaccine"]
LIKE = ["scimult-mhaexpert", "scimult-ffnexpert", "scimult-prefix", "scimult-instruction"]
EXPERTS = LIKE[:2]


@pytest.fixture(scope="module", params=LIKE)
def two_tasks(request: pytest.FixtureRequest, base: Path, sets: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Learned:
    """Trained on search and classification, not on links."""
    data = [sets["adhoc_query"], sets["classification"]]
    to = tmp_path_factory.mktemp("trained") / request.param
    return learned(request.param, base, data, to)


def test_what_is_written_reads_as_it_was_trained(two_tasks: Learned) -> None:
    spec = written(two_tasks.folder)
    assert spec.tasks == SCIMULT_TASKS
    assert spec.metric == "ip"
    assert spec.sides.tasks == ("search",)
    assert spec.kinds["proximity"] == "link_prediction"
    for task in SCIMULT_TASKS:
        vectors = vectors_of_student(two_tasks.student, FORMATS[task], TEXTS)
        np.testing.assert_allclose(vectors_of_task(spec, task, TEXTS), vectors, atol=1e-4)
    by_task = [vectors_of_student(two_tasks.student, format, TEXTS) for format in FORMATS.values()]
    assert np.abs(by_task[0] - by_task[2]).max() > 1e-3


def test_each_task_changes_its_own(two_tasks: Learned) -> None:
    student, changed = two_tasks.student, two_tasks.changed()
    assert changed <= set(student.trained) | {name.replace("bert.", "instructor.", 1) for name in student.trained}
    if hasattr(student, "routes"):
        for number, task in enumerate(SCIMULT_TASKS):
            own = {name for name in changed if f".experts.{number}." in name}
            assert bool(own) == (task != "link_prediction")
        assert {name for name in changed if ".experts." not in name}
        assert not any(re.search(r"layer\.[02]\..*experts", name) for name in student.trained)
    elif "bert.embeddings.word_embeddings.weight" not in changed:  # a prefix
        assert changed
        assert all(name.startswith("instructor.") for name in changed)
        assert all(name.startswith("instructor.") for name in student.trained)
    else:
        assert all(not name.startswith("instructor.") for name in student.trained)
        np.testing.assert_array_equal(
            student.states.bert.embeddings.word_embeddings.weight.detach(),
            student.states.instructor.embeddings.word_embeddings.weight.detach(),
        )


@pytest.mark.parametrize("like", EXPERTS)
def test_experts_begin_as_vanilla(base: Path, like: str) -> None:
    from transformers import BertModel

    student = opened(like, base, list(FORMATS.values()))
    vanilla = BertModel.from_pretrained(base).eval()
    tokenizer = write_tokenizer(base)
    for format in FORMATS.values():
        vectors = vectors_of_student(student, format, TEXTS)
        for text, vector in zip(TEXTS, vectors, strict=True):
            with torch.no_grad():
                np.testing.assert_allclose(vector, vanilla(ids_of(tokenizer, text)).last_hidden_state[0, 0].numpy(), atol=1e-5)


def test_vanilla_may_be_the_authors_checkpoint(models: Path) -> None:
    """The presets begin with it."""
    from transformers import BertModel

    folder = models / CATALOGUE["scimult"].parts["base"].source
    state = write_scimult(folder, models / "yuz9yuz/SciMult/scimult_vanilla.ckpt", 13)
    vanilla = BertModel(bert_config(), add_pooling_layer=False).eval()
    vanilla.load_state_dict({name: value for name, value in state.items() if "pooler" not in name and "position_ids" not in name})
    student = opened("scimult-ffnexpert", Path("scimult"), ["proximity"])
    vectors = vectors_of_student(student, "proximity", TEXTS[:1])
    with torch.no_grad():
        expected = vanilla(ids_of(write_tokenizer(folder), TEXTS[0])).last_hidden_state[0, 0].numpy()
    np.testing.assert_allclose(vectors[0], expected, atol=1e-5)
    with pytest.raises(InvalidRequest, match="scimult-mhaexpert cannot be trained so"):
        opened("scimult-ffnexpert", Path("scimult-mhaexpert"), ["proximity"])


@pytest.mark.parametrize("like", EXPERTS)
def test_a_gradient_reaches_one_expert_and_what_all_share(base: Path, like: str) -> None:
    student = opened(like, base, list(FORMATS.values()))
    own = {"scimult-mhaexpert": ("query", "key", "value", "dense"), "scimult-ffnexpert": ("intermediate", "output")}[like]
    for number, task in enumerate(SCIMULT_TASKS):
        names = reached(student, FORMATS[task])
        assert {match[1] for name in names if (match := re.search(r"experts\.(\d)", name))} == {str(number)}
        assert {match[1] for name in names if (match := re.search(r"(\w+)\.experts", name))} == set(own)
        assert "encoder.layer.0.attention.self.query.weight" in names
        assert "encoder.layer.1.attention.output.LayerNorm.weight" in names


def test_a_gradient_reaches_the_encoder_of_instructions_alone(base: Path) -> None:
    assert {name.partition(".")[0] for name in reached(opened("scimult-prefix", base, ["proximity"]), "proximity")} == {"instructor"}


def test_an_instruction_has_a_gradient_of_its_own(base: Path) -> None:
    """Words that stand in the instruction and in no text."""
    student = opened("scimult-instruction", base, list(FORMATS.values()))
    reached(student, "adhoc_query")
    words = student.model.bert.embeddings.word_embeddings.weight.grad
    assert words[student.tokenizer.token_to_id("retrieve")].abs().max() > 0
    assert words[student.tokenizer.token_to_id("vaccine")].abs().max() == 0


@pytest.mark.parametrize("two_tasks", ["scimult-mhaexpert"], indirect=True)
@pytest.mark.usefixtures("models")
def test_the_encoder_loads_by_its_folder(two_tasks: Learned) -> None:
    encoder = load_encoder(str(two_tasks.folder), adapter="classification", query_adapter="classification", precision="fp32")
    expected = vectors_of_student(two_tasks.student, "classification", TEXTS)
    np.testing.assert_allclose(encoder.encode_queries([Query(text, text) for text in TEXTS]), expected, atol=1e-4)


def test_labels_are_candidates_by_their_names(sets: dict[str, Path]) -> None:
    pairs = ranking_labels(read_training_set(sets["classification"]))
    assert pairs.task == "pairs"
    assert pairs.triplets[0] == ("a", "label:graph", "")
    assert pairs.papers["label:graph"].title == "graph"
    assert len(pairs.triplets) == 5


def test_a_benchmark_is_read_for_search_on_both_sides(base: Path, tmp_path: Path) -> None:
    write_jsonl(tmp_path / "corpus.jsonl", [{"_id": "a", "title": "graph", "text": ""}])
    write_jsonl(tmp_path / "queries.jsonl", [{"_id": "q", "text": "graphs"}])
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq\ta\t1\n")
    student = opened("scimult-mhaexpert", base, ["proximity", "adhoc_query"])
    held_out = benchmark(f"beir:{tmp_path}", student)
    assert {format for format, _ in (*held_out.queries.values(), *held_out.papers.values())} == {"adhoc_query"}


def test_numbers_are_no_task_of_scimult(base: Path) -> None:
    with pytest.raises(InvalidRequest, match="SciMult has no task of regression"):
        opened("scimult-prefix", base, ["regression"])


def test_experts_are_of_a_bert(tmp_path: Path) -> None:
    from transformers import RobertaConfig, RobertaModel

    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8}
    RobertaModel(RobertaConfig(vocab_size=len(VOCABULARY), max_position_embeddings=32, **sizes)).save_pretrained(tmp_path)
    write_tokenizer(tmp_path)
    with pytest.raises(InvalidRequest, match="is no BERT but a roberta"):
        opened("scimult-mhaexpert", tmp_path, ["proximity"])
