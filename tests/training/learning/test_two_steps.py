"""Two steps of a training against a plain loop over transformers' BERT, in float64: variants of Multi2SPE, and SPECTER trained anew."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from sciretrieve.encoders.catalogue import SCIMULT_TASKS
from sciretrieve.options import TrainingOptions
from sciretrieve.progress import Silent
from sciretrieve.training import read_training_set
from sciretrieve.training.learning import gradients
from sciretrieve.training.learning.demands import Ranked
from sciretrieve.training.learning.devices import Processes
from sciretrieve.training.learning.students import open_student
from sciretrieve.training.learning.trainer import Training
from sciretrieve.training.presets import Plan, plan_of
from tests.made_up import write_jsonl
from tests.toy_weights import write_bert
from tests.training.learning.students.toy_training import (
    ARITHMETIC,
    PAIRED,
    PAPERS,
    learned,
    vectors_of_student,
    vectors_of_task,
    write_sets,
    written,
)

ROWS = ("abc", "bde", "cfa", "dae")
RATE = 1e-3


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    """Four triplets: two steps of two."""
    folder = tmp_path / "triplets"
    folder.mkdir()
    write_jsonl(folder / "corpus.jsonl", [{"_id": id, "title": title, "text": f"abstract {id}"} for id, title in PAPERS.items()])
    (folder / "triplets.tsv").write_text(PAIRED + "".join("\t".join((*row, "hard")) + "\n" for row in ROWS))
    return folder


def exact(student: Any, chunk: Any, _arithmetic: Any, *, former: bool = False) -> Any:
    """`gradients.encoded` in float64: facets, or the state of [CLS], which the student's own module casts."""
    ids, mask = torch.from_numpy(chunk.batch.ids), torch.from_numpy(chunk.batch.mask)
    return student.encode(chunk.format, ids, mask, former=former) if hasattr(student, "facets") else student.states(ids, mask)[:, 0]


def trained(plan: Plan, data: Path, folder: Path) -> tuple[Any, Training, dict[str, Any]]:
    """The student after two steps in float64 without dropout, its training, and its weights before."""
    training_set = read_training_set(data)
    student = open_student(plan, training_set.formats)
    student.module.double()
    for module in student.module.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
        if hasattr(module, "dropout_prob"):
            module.dropout_prob = 0.0
    before = {name: value.detach().clone() for name, value in student.trained.items()}
    folder.mkdir()
    demand = Ranked("triplets", training_set, training_set.triplets, plan)
    training = Training(student, [demand], plan, None, ARITHMETIC, Processes(), folder, "")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gradients, "encoded", exact)
        training.run(Silent())
    return student, training, before


def bert_by_hand(base: Path, inner: dict[int, Any]) -> tuple[Any, Callable[[Any, Any], Any]]:
    """transformers' BERT with `inner` functions on the first states after some layers, by number; and its forward pass."""
    from transformers import BertModel

    bert = BertModel.from_pretrained(base, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0).double().train()

    def after(change: Any) -> Callable[[Any, Any, Any], Any]:
        def hook(_module: Any, _inputs: Any, output: Any) -> Any:
            states = output[0] if isinstance(output, tuple) else output
            changed = torch.cat([change(states), states[:, change.count :]], dim=1)
            return (changed, *output[1:]) if isinstance(output, tuple) else changed

        return hook

    for number, change in inner.items():
        bert.encoder.layer[number].register_forward_hook(after(change))
    return bert, lambda ids, mask: bert(input_ids=ids, attention_mask=mask)


class Linears(torch.nn.Module):  # type: ignore[misc]
    """A linear layer for each facet, with or without their mean, by a loop."""

    def __init__(self, weights: list[Any], biases: list[Any], *, less_mean: bool) -> None:
        super().__init__()
        self.weights = torch.nn.ParameterList([value.clone() for value in weights])
        self.biases = torch.nn.ParameterList([value.clone() for value in biases])
        self.count, self.less_mean = len(weights), less_mean

    def forward(self, states: Any) -> Any:
        mean = sum(self.weights) / self.count if self.less_mean else 0.0
        pairs = zip(self.weights, self.biases, strict=True)
        return torch.stack([states[:, facet] @ (weight - mean).T + bias for facet, (weight, bias) in enumerate(pairs)], dim=1)


def multi2spe(query: Any, positive: Any, negative: Any, share: float) -> Any:
    """Equations 2 and 3 of Seoh et al. 2023 for one triplet of facets, each (facets, dim)."""

    def similarity(paper: Any) -> Any:
        greatest = torch.stack([one @ other for one in query for other in paper]).max()
        return share * greatest + (1 - share) * (query.sum(0) @ paper.sum(0))

    right, wrong = similarity(positive), similarity(negative)
    return -torch.log(torch.exp(right) / (torch.exp(right) + torch.exp(wrong)))


def specter(query: Any, positive: Any, negative: Any, _share: float) -> Any:
    """The triplet loss of Cohan et al. 2020 for one triplet, with the margin of torch's distance."""
    near, far = ((query - other + 1e-6).square().sum().sqrt() for other in (positive, negative))
    return torch.clamp(near - far + 1.0, min=0.0)


@pytest.mark.parametrize(
    ("like", "changes"),
    [
        ("multi2spe", {}),
        ("multi2spe", {"facet_layers": False}),
        ("multi2spe", {"facet_means": False}),
        ("multi2spe", {"facets": 5, "facet_share": 0.5}),
        ("specter", {}),
    ],
)
def test_two_steps_are_those_of_a_plain_loop(like: str, changes: dict[str, Any], papers: Path, tmp_path: Path) -> None:
    base = tmp_path / "bert"
    write_bert(base, 3)
    plan = plan_of(TrainingOptions(like=like, base=str(base), batch=2, epochs=1, rate=RATE, schedule="constant", warmup=0.0, **changes))
    student, training, before = trained(plan, papers, tmp_path / "run")
    names = ["layer0", "layer1", "last"] if plan.facet_layers else ["last"]
    layers = {
        name: Linears(
            *([before[f"linears.{name}.{facet}.{part}"] for facet in range(plan.facets)] for part in ("weight", "bias")),
            less_mean=plan.facet_means and plan.facets > 1,
        )
        for name in names
    }
    bert, forward = bert_by_hand(base, {int(name[-1]): layers[name] for name in names[:-1]})
    is_specter = like == "specter"
    parameters = (
        [*bert.parameters()] if is_specter else [*bert.parameters(), *(value for part in layers.values() for value in part.parameters())]
    )
    optimiser = torch.optim.AdamW(parameters, lr=RATE, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0)
    texts = read_training_set(papers)

    def vector(id: str) -> Any:
        encoding = student.tokenizer.encode(student.of_paper("proximity", texts.papers[id]))
        output = forward(torch.tensor([encoding.ids]), torch.ones(1, len(encoding.ids), dtype=torch.int64))
        return output.pooler_output if is_specter else layers["last"](output.last_hidden_state[:, : plan.facets])[0]

    for step in range(2):
        optimiser.zero_grad()
        chosen = [texts.triplets[place] for place in training._examples(0, step)]
        loss: Callable[..., Any] = specter if is_specter else multi2spe
        torch.stack([loss(*map(vector, row), plan.facet_share) for row in chosen]).mean().backward()
        optimiser.step()
    own = {name: value.detach() for name, value in student.trained.items()}
    expected = {f"bert.{name}": value for name, value in bert.named_parameters() if not name.startswith("pooler.")}
    for name, part in layers.items():
        for facet in range(plan.facets):
            weight, bias = (bert.pooler.dense.weight, bert.pooler.dense.bias) if is_specter else (part.weights[facet], part.biases[facet])
            expected |= {f"linears.{name}.{facet}.weight": weight, f"linears.{name}.{facet}.bias": bias}
    assert own.keys() == expected.keys()
    assert max(float((own[name] - before[name]).abs().max()) for name in own) > RATE / 2
    for name, value in expected.items():
        assert float((own[name] - value.detach()).abs().max()) < 1e-6, name


def test_two_steps_of_dpr_are_those_of_a_plain_loop_over_the_expert_of_links(tmp_path: Path) -> None:
    """It begins as one expert of three; negatives are the other pairs' papers, by inner product of [CLS]."""
    from transformers import BertModel

    base, experts = tmp_path / "bert", tmp_path / "experts"
    write_bert(base, 3)
    sets = {name: folder for name, folder in write_sets(tmp_path).items() if name in ("proximity", "adhoc_query")}
    learned("scimult-mhaexpert", base, list(sets.values()), experts)
    pairs = tmp_path / "pairs"
    pairs.mkdir()
    (pairs / "corpus.jsonl").write_bytes((sets["proximity"] / "corpus.jsonl").read_bytes())
    (pairs / "pairs.tsv").write_text(PAIRED + "".join(f"{query}\t{paper}\t\t\n" for query, paper in ("ab", "cd", "ef", "da")))
    plan = plan_of(TrainingOptions(like="dpr", base=str(experts), batch=2, epochs=1, rate=RATE, schedule="constant", warmup=0.0))
    student, training, _ = trained(plan, pairs, tmp_path / "run")
    state = torch.load(experts / "weights.ckpt", weights_only=True)["model_dict"]
    bert = (
        BertModel.from_pretrained(base, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, add_pooling_layer=False).double().train()
    )
    of_links = str(SCIMULT_TASKS.index("link_prediction"))
    weights = {}
    for name, value in state.items():
        place = name.removeprefix("ctx_model.encoder.")
        expert = re.search(r"\.moe_(query|key|value|dense)\.(\d)\.", place)
        if place != name and (expert is None or expert[2] == of_links):
            weights[place.replace(expert[0], f".{expert[1]}.") if expert else place] = value
    bert.load_state_dict(weights)
    optimiser = torch.optim.AdamW(bert.parameters(), lr=RATE, weight_decay=0.0)
    texts = read_training_set(pairs)

    def vector(id: str) -> Any:
        encoding = student.tokenizer.encode(student.of_paper("proximity", texts.papers[id]))
        return bert(torch.tensor([encoding.ids])).last_hidden_state[0, 0]

    before = {name: value.detach().clone() for name, value in bert.named_parameters()}
    for step in range(2):
        optimiser.zero_grad()
        (first, right, _), (second, other, _) = (texts.triplets[place] for place in training._examples(0, step))
        loss = 0.0
        for query, paper, wrong in ((first, right, other), (second, other, right)):
            near, far = (vector(query) @ vector(id) for id in (paper, wrong))
            loss = loss - torch.log(torch.exp(near) / (torch.exp(near) + torch.exp(far))) / 2
        torch.as_tensor(loss).backward()
        torch.nn.utils.clip_grad_norm_(bert.parameters(), 1.0)
        optimiser.step()
    assert student.trained.keys() == before.keys()
    assert max(float((value.detach() - before[name]).abs().max()) for name, value in bert.named_parameters()) > RATE / 2
    for name, value in bert.named_parameters():
        assert float((student.trained[name].detach() - value.detach()).abs().max()) < 1e-6, name
    student.module.float()
    expected = vectors_of_student(student, "proximity", ["graph", "citation networks"])
    student.write(tmp_path / "run")
    np.testing.assert_allclose(vectors_of_task(written(tmp_path / "run"), "", ["graph", "citation networks"]), expected, atol=1e-4)
