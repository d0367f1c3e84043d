"""What every method of training promises: what is written reads as it was trained, a loss reaches what it should, the rest stays."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from sciretrieve.base.errors import InvalidRequest
from sciretrieve.base.types import Paper, Query
from sciretrieve.encoders import load_encoder
from sciretrieve.encoders.catalogue import CATALOGUE, SCIMULT_KINDS, SCIMULT_TASKS
from sciretrieve.evaluation import sides
from sciretrieve.options import TrainingOptions
from sciretrieve.training import read_training_set, train
from sciretrieve.training.forms import ranking_labels
from sciretrieve.training.learning.measuring import benchmark
from tests.made_up import write_jsonl
from tests.toy_weights import DIM, LAYERS, VOCABULARY, bert_config, ids_of, write_bert, write_scimult, write_tokenizer
from tests.training.learning.students.toy_training import (
    QUICK,
    Learned,
    learned,
    opened,
    reached,
    vectors_of_student,
    vectors_of_task,
    written,
)

TEXTS = ["graph networks", "a citation of the paper", "vaccine"]
CODES = {"proximity": "[PRX]", "adhoc_query": "[QRY]", "classification": "[CLF]", "regression": "[RGN]"}
FORMATS = tuple(CODES)
SCIMULT = {"adhoc_query": "search", "proximity": "link_prediction", "classification": "classification"}
PREDICTED = {"classification": "classification", "regression": "regression"}
WIDTH = 204


@dataclass
class Way:
    """What a preset is trained on here, and what is read of its folder: the task of each format, and of papers and text queries."""

    sets: Sequence[str]
    tasks: Mapping[str, str]
    sides: tuple[str, ...]
    kinds: Mapping[str, str] = field(default_factory=dict)
    metric: str = "cosine"


OF_SCIMULT = Way(["adhoc_query", "classification"], SCIMULT, ("search", "search"), SCIMULT_KINDS, "ip")  # type: ignore[arg-type]
WAYS = {
    "scirepeval-pals": Way(["adhoc_query", *PREDICTED], dict(zip(FORMATS, FORMATS, strict=True)), FORMATS[:2], PREDICTED),
    "scirepeval-fusion": Way(["adhoc_query"], {name: name for name in FORMATS[:2]}, FORMATS[:2]),
    **dict.fromkeys(("scimult-mhaexpert", "scimult-ffnexpert", "scimult-prefix", "scimult-instruction"), OF_SCIMULT),
    **dict.fromkeys(("multi2spe", "multi2spe-code"), Way(["proximity", "adhoc_query"], {"proximity": ""}, ("", ""), metric="ip")),
    "specter": Way(["proximity"], {"proximity": ""}, ("", ""), metric="l2"),
}


@pytest.fixture(scope="module")
def adapters(base: Path, sets: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two adapters that were trained here."""
    folder = tmp_path_factory.mktemp("base") / "adapters"
    train([sets["adhoc_query"]], folder, like="scirepeval-adapters", base=str(base), batch=2, steps=2, **QUICK)
    return folder


@pytest.fixture(scope="module", params=WAYS)
def trained(
    request: pytest.FixtureRequest, base: Path, adapters: Path, sets: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, Learned]:
    """A preset's name, and what it made."""
    like = request.param
    start = adapters if like == "scirepeval-fusion" else base
    return like, learned(like, start, [sets[name] for name in WAYS[like].sets], tmp_path_factory.mktemp("trained") / like)


def parts(names: set[str], pattern: str) -> set[str]:
    """What a pattern finds in names."""
    return {match[1] for name in names if (match := re.search(pattern, name))}


@pytest.mark.usefixtures("models")
def test_what_is_written_reads_as_it_was_trained(trained: tuple[str, Learned]) -> None:
    like, made = trained
    way, spec = WAYS[like], written(made.folder)
    assert (spec.sides.paper.task, spec.sides.query.task) == way.sides
    assert spec.sides.paper_as_query.task == way.sides[0]
    assert (dict(spec.kinds), spec.metric) == (way.kinds, way.metric)
    vectors = {format: vectors_of_student(made.student, format, TEXTS) for format in way.tasks}
    for format, task in way.tasks.items():
        assert vectors[format].shape == (3, DIM)
        np.testing.assert_allclose(vectors_of_task(spec, task, TEXTS), vectors[format], atol=1e-4)
    first, *others = vectors.values()
    assert not others or max(np.abs(first - other).max() for other in others) > 1e-3
    if like in ("scimult-mhaexpert", "multi2spe-code"):
        encoder = load_encoder(str(made.folder), precision="fp32")
        expected = next(vectors[format] for format, task in way.tasks.items() if task == way.sides[1])
        np.testing.assert_allclose(encoder.encode_queries([Query(text, text) for text in TEXTS]), expected, atol=1e-4)


def test_each_task_changes_its_own_and_the_rest_stays(trained: tuple[str, Learned]) -> None:
    like, made = trained
    student, changed, learnt = made.student, made.changed(), set(made.student.trained)
    if like == "scirepeval-pals":
        assert parts(changed, r"^sets\.(\d)") == {"0", "1", "2", "3"}
        assert "bert.encoder.layer.0.attention.self.query.weight" in changed
    elif like == "scirepeval-fusion":
        assert parts(changed, r"adapter_fusion_layer\.([^.]+)") == {"proximity,adhoc_query", "adhoc_query,proximity"}
        assert changed <= learnt
    elif like.endswith("expert"):
        assert changed <= learnt
        assert parts(changed, r"\.experts\.(\d)") == {"0", "2"}  # not that of links
        assert {name for name in changed if ".experts." not in name}
        assert not any(re.search(r"layer\.[02]\..*experts", name) for name in learnt)
    elif like == "scimult-prefix":
        assert changed
        assert {name.partition(".")[0] for name in changed | learnt} == {"instructor"}
    elif like == "scimult-instruction":
        assert {name.partition(".")[0] for name in learnt} == {"bert"}
        one, other = (module.embeddings.word_embeddings.weight.detach() for module in (student.states.bert, student.states.instructor))
        np.testing.assert_array_equal(one, other)
    elif like == "specter":
        assert parts(changed, r"^linears\.(\w+)") == {"last"}
        assert changed <= learnt
    else:
        assert parts(changed, r"^linears\.(\w+)") == {"layer0", "layer1", "last"}
        state = student.model.state_dict()
        # less their mean, equal gradients of all facets cancel: what was equal has become different
        assert not np.array_equal(state["linears.layer0.0.weight"].numpy(), state["linears.layer0.1.weight"].numpy())
        # in the beginning all facets' states are zero after the first layers, by which later ones multiply their gradients
        names = reached(student, "proximity")
        assert all(name in names for name in learnt if not name.endswith(("key.bias", "token_type_embeddings.weight")))


@pytest.mark.parametrize("like", ["scirepeval-pals", "scirepeval-fusion", "scimult-mhaexpert", "scimult-ffnexpert"])
def test_a_gradient_reaches_a_formats_own_and_what_all_share(base: Path, adapters: Path, like: str) -> None:
    formats = tuple(WAYS[like].tasks)
    student = opened(like, adapters if like == "scirepeval-fusion" else base, formats)
    for number, format in enumerate(formats):
        names = reached(student, format)
        if like == "scirepeval-pals":
            assert parts(names, r"^sets\.(\d)") == {str(number)}
            assert "bert.encoder.layer.0.intermediate.dense.weight" in names
        elif like == "scirepeval-fusion":
            assert parts(names, r"adapter_fusion_layer\.([^.]+)") == {f"{format},{formats[1 - number]}"}
        else:
            own = ("query", "key", "value", "dense") if "mha" in like else ("intermediate", "output")
            assert parts(names, r"experts\.(\d)") == {str(SCIMULT_TASKS.index(SCIMULT[format]))}
            assert parts(names, r"(\w+)\.experts") == set(own)
            assert {"encoder.layer.0.attention.self.query.weight", "encoder.layer.1.attention.output.LayerNorm.weight"} <= names


def test_a_gradient_reaches_the_encoder_of_instructions(base: Path) -> None:
    """Of a prefix that alone; of an instruction also words that stand in it and in no text."""
    assert {name.partition(".")[0] for name in reached(opened("scimult-prefix", base, ["proximity"]), "proximity")} == {"instructor"}
    student = opened("scimult-instruction", base, list(SCIMULT))
    reached(student, "adhoc_query")
    words = student.model.bert.embeddings.word_embeddings.weight.grad
    assert words[student.tokenizer.token_to_id("retrieve")].abs().max() > 0
    assert words[student.tokenizer.token_to_id("vaccine")].abs().max() == 0


# how they begin


@pytest.mark.parametrize("like", ["scimult-mhaexpert", "scimult-ffnexpert"])
def test_experts_begin_as_vanilla(base: Path, like: str) -> None:
    from transformers import BertModel

    student, vanilla, tokenizer = opened(like, base, list(SCIMULT)), BertModel.from_pretrained(base).eval(), write_tokenizer(base)
    with torch.no_grad():
        expected = [vanilla(ids_of(tokenizer, text)).last_hidden_state[0, 0].numpy() for text in TEXTS]
    for format in SCIMULT:
        np.testing.assert_allclose(vectors_of_student(student, format, TEXTS), expected, atol=1e-5)


def test_vanilla_may_be_the_authors_checkpoint(models: Path) -> None:
    """The presets begin with it."""
    from transformers import BertModel

    folder = models / CATALOGUE["scimult"].parts["base"].source
    state = write_scimult(folder, models / "yuz9yuz/SciMult/scimult_vanilla.ckpt", 13)
    vanilla = BertModel(bert_config(), add_pooling_layer=False).eval()
    vanilla.load_state_dict({name: value for name, value in state.items() if "pooler" not in name and "position_ids" not in name})
    vectors = vectors_of_student(opened("scimult-ffnexpert", Path("scimult"), ["proximity"]), "proximity", TEXTS[:1])
    with torch.no_grad():
        expected = vanilla(ids_of(write_tokenizer(folder), TEXTS[0])).last_hidden_state[0, 0].numpy()
    np.testing.assert_allclose(vectors[0], expected, atol=1e-5)


def test_facets_begin_as_the_paper_says(base: Path) -> None:
    """After a third and two thirds of the layers the identity, after the last random; the rest is the BERT's own."""
    from transformers import BertModel

    student = opened("multi2spe", base, ["proximity"])
    state = {name: value.numpy() for name, value in student.model.state_dict().items()}
    last = [state[f"linears.last.{facet}.weight"] for facet in range(3)]
    for facet, number in ((facet, number) for facet in range(3) for number in (0, 1)):
        np.testing.assert_array_equal(state[f"linears.layer{number}.{facet}.weight"], np.eye(DIM, dtype=np.float32))
        np.testing.assert_array_equal(state[f"linears.layer{number}.{facet}.bias"], np.zeros(DIM, np.float32))
    assert len({weights.tobytes() for weights in last}) == 3
    assert 0 < np.abs(np.stack(last)).max() <= DIM**-0.5  # as torch begins a linear layer
    assert parts(set(state), r"^linears\.(\w+)") == {"layer0", "layer1", "last"}
    bert = {f"bert.{name}": value.numpy() for name, value in BertModel.from_pretrained(base).state_dict().items() if "pooler" not in name}
    assert bert.keys() == {name for name in state if name.startswith("bert.")}
    assert all(np.array_equal(value, state[name]) for name, value in bert.items())
    # one facet loses no mean: less it, its weight would be zero
    weights, _ = opened("multi2spe", base, ["proximity"], facets=1).model.pair("layer0")
    np.testing.assert_array_equal(weights.detach().numpy()[0], np.eye(DIM, dtype=np.float32))


@pytest.mark.usefixtures("models")
@pytest.mark.parametrize("changes", [{"facet_layers": False}, {"facet_means": False}])
def test_facets_without_inner_layers_or_means_read_as_they_were_trained(
    changes: dict[str, bool], base: Path, sets: dict[str, Path], tmp_path: Path
) -> None:
    made = learned("multi2spe", base, [sets["proximity"]], tmp_path / "trained", **changes)
    assert parts(set(made.student.trained), r"^linears\.(\w+)") == ({"layer0", "layer1", "last"} if "facet_means" in changes else {"last"})
    expected = vectors_of_student(made.student, "proximity", TEXTS)
    np.testing.assert_allclose(vectors_of_task(written(made.folder), "", TEXTS), expected, atol=1e-4)


def test_specter_begins_with_the_berts_pooler_or_not_at_all(base: Path, tmp_path: Path) -> None:
    from transformers import BertModel

    own, state = BertModel.from_pretrained(base), opened("specter", base, ["proximity"]).model.state_dict()
    for part in ("weight", "bias"):
        np.testing.assert_array_equal(state[f"linears.last.0.{part}"], getattr(own.pooler.dense, part).detach())
    folder = tmp_path / "headless"
    write_bert(folder, 3)
    BertModel.from_pretrained(folder, add_pooling_layer=False).save_pretrained(folder)
    (folder / "pytorch_model.bin").unlink()
    with pytest.raises(InvalidRequest, match="have no pooler"):
        opened("specter", folder, ["proximity"])


def test_a_text_is_learned_from_by_its_facets_and_searched_by_their_sum(base: Path) -> None:
    student = opened("multi2spe", base, ["proximity"])
    batch = student.tokens(["graph"], 64).batches[0]
    assert [student.tokenizer.id_to_token(id) for id in batch.ids[0].tolist()][:3] == ["[CLS]", "[unused1]", "[unused2]"]
    with torch.no_grad():
        facets = student.encode("proximity", torch.from_numpy(batch.ids), torch.from_numpy(batch.mask)).numpy().reshape(3, DIM)
    np.testing.assert_allclose(vectors_of_student(student, "proximity", ["graph"])[0], facets.sum(axis=0), atol=1e-5)
    # all begin from one state, for weights less their mean of equal matrices are zero; the last layers set them apart
    assert np.abs(facets[0] - facets[1]).max() > 1e-2


def test_the_layers_of_a_set_of_pals_share_their_projections(base: Path) -> None:
    student = opened("scirepeval-pals", base, FORMATS)
    of_one_set = DIM * WIDTH + WIDTH + WIDTH * DIM + DIM + LAYERS * 3 * (WIDTH * WIDTH + WIDTH)
    of_bert = sum(value.numel() for name, value in student.trained.items() if name.startswith("bert."))
    assert student.sizes()["parameters"] == of_bert + 4 * of_one_set


@pytest.mark.parametrize("trained", ["scirepeval-fusion"], indirect=True)
def test_each_fusion_has_its_own_adapter_first(trained: tuple[str, Learned]) -> None:
    for format in FORMATS[:2]:
        facts = json.loads((trained[1].folder / f"{format}_fusion" / "adapter_fusion_config.json").read_text())
        assert facts["adapter_names"][0] == format
        assert "/" not in facts["model_name"]


# what they are read by


@pytest.mark.parametrize("like", ["scirepeval-codes", "scirepeval-adapters"])
def test_a_benchmark_is_read_by_the_format_of_its_kind(like: str, base: Path, sets: dict[str, Path], tmp_path: Path) -> None:
    folder = str(learned(like, base, list(sets.values()), tmp_path / "trained").folder)
    names = CODES if like == "scirepeval-codes" else dict(zip(CODES, CODES, strict=True))
    for kind in ("classification", "regression"):
        assert sides.tasks_for(folder, kind, None, None) == (names[kind], names[kind])
    assert sides.tasks_for(folder, "proximity", None, None) == (None, None)
    assert sides.tasks_for(folder, "classification", names["regression"], None)[0] == names["regression"]
    of_both = "[RGN]" if like == "scirepeval-codes" else "regression+[RGN]"
    assert sides.tasks_for(f"mean:{folder}+scirepeval-ctrl", "regression", None, None)[0] == of_both
    paper = [Paper("1", "graph", "paper")]
    by_default, by_class = (load_encoder(folder, adapter=name, precision="fp32") for name in (None, names["classification"]))
    assert abs(by_default.encode_papers(paper) - by_class.encode_papers(paper)).max() > 1e-4


def test_what_is_trained_on_some_formats_has_their_codes_alone(base: Path) -> None:
    spec = opened("scirepeval-codes", base, ["classification"]).spec
    assert (spec.codes, spec.kinds) == (("[CLF]",), {"classification": "[CLF]"})
    assert spec.sides.paper.text.startswith("[CLF] ")


@pytest.mark.parametrize(("form", "format"), [("proximity", "adhoc_query"), ("adhoc_query", "regression"), ("regression", "adhoc_query")])
def test_a_set_is_read_by_the_format_that_it_is_put_into_and_no_other(
    form: str, format: str, base: Path, sets: dict[str, Path], tmp_path: Path
) -> None:
    learnt = learned("scirepeval-codes", base, [sets[form]], tmp_path / "trained", formats={form: format})
    assert written(learnt.folder).codes == (CODES[format],)


def test_labels_are_candidates_by_their_names(sets: dict[str, Path]) -> None:
    pairs = ranking_labels(read_training_set(sets["classification"]))
    assert (pairs.task, len(pairs.triplets), pairs.triplets[0]) == ("pairs", 5, ("a", "label:graph", ""))
    assert pairs.papers["label:graph"].title == "graph"


def test_a_benchmark_is_read_for_search_on_both_sides(base: Path, tmp_path: Path) -> None:
    write_jsonl(tmp_path / "corpus.jsonl", [{"_id": "a", "title": "graph", "text": ""}])
    write_jsonl(tmp_path / "queries.jsonl", [{"_id": "q", "text": "graphs"}])
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq\ta\t1\n")
    held_out = benchmark(f"beir:{tmp_path}", opened("scimult-mhaexpert", base, ["proximity", "adhoc_query"]))
    assert {format for format, _ in (*held_out.queries.values(), *held_out.papers.values())} == {"adhoc_query"}


# what is refused


def write_roberta(folder: Path) -> Path:
    from transformers import RobertaConfig, RobertaModel

    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8}
    RobertaModel(RobertaConfig(vocab_size=len(VOCABULARY), max_position_embeddings=32, **sizes)).save_pretrained(folder)
    write_tokenizer(folder)
    return folder


@pytest.mark.parametrize(
    ("like", "start", "formats", "words"),
    [
        ("scirepeval-fusion", "base", FORMATS[:2], "has no adapters to join"),
        ("scirepeval-fusion", "adapters", FORMATS[:2] + FORMATS[3:], "has no adapter for regression; it has proximity, adhoc_query"),
        ("scirepeval-fusion", "adapters", FORMATS[:1], "there is only one adapter to join"),
        ("scimult-prefix", "base", ["regression"], "SciMult has no task of regression"),
        ("scimult-mhaexpert", "roberta", ["proximity"], "is a roberta, not a BERT"),
        ("scimult-ffnexpert", "scimult-mhaexpert", ["proximity"], "scimult-mhaexpert cannot be trained so"),
        ("multi2spe", "base", ["classification"], "not from sets for classification"),
    ],
)
def test_what_cannot_be_trained(
    base: Path, adapters: Path, tmp_path: Path, like: str, start: str, formats: Sequence[str], words: str
) -> None:
    places: dict[str, Any] = {"base": base, "adapters": adapters, "roberta": tmp_path}
    if start == "roberta":
        write_roberta(tmp_path)
    with pytest.raises(InvalidRequest, match=words):
        opened(like, places.get(start, Path(start)), formats)


def test_facets_have_losses_of_their_own(tmp_path: Path) -> None:
    for options in (
        TrainingOptions(method="facets"),
        TrainingOptions(loss="facets-apart"),
        TrainingOptions(like="multi2spe", loss="triplet"),
    ):
        with pytest.raises(InvalidRequest, match="facets have losses of their own"):
            train([tmp_path], tmp_path / "to", options, progress=False)
