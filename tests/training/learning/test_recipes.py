"""The papers' trainings step by step in float64, beside loops written from the papers and from their authors' code."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from sciretrieve.base.types import Paper
from sciretrieve.encoders.catalogue import CATALOGUE
from sciretrieve.encoders.specs import Side
from sciretrieve.training import PRESETS, TrainingSet
from sciretrieve.training.learning import gradients
from sciretrieve.training.learning.demands import Measured, Ranked, TrainingDemand
from sciretrieve.training.learning.devices import Arithmetic, Processes
from sciretrieve.training.learning.students import Student, open_student
from sciretrieve.training.learning.trainer import Training
from sciretrieve.training.presets import Plan
from tests.toy_weights import LAYERS, random_bert, write_tokenizer
from tests.training.planted import Stopper

CPU = Arithmetic("cpu", is_bf16=False)
WORDS = ("graph paper", "citation", "vaccine", "networks of", "the title", "retrieve", "graph", "paper of vaccine")
PAPERS = {id: Paper(id, title, f"abstract {title}") for id, title in zip("abcdefgh", WORDS, strict=True)}
LINKS = TrainingSet("triplets", PAPERS, [("a", "b", "c"), ("a", "d", "e"), ("f", "a", "g"), ("b", "d", "h")])
OTHER_LINKS = TrainingSet("triplets", PAPERS, [("c", "e", "a"), ("d", "h", "f")])


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small BERT without dropout, so that nothing is random."""
    folder = tmp_path_factory.mktemp("bert")
    random_bert(3, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0).save_pretrained(folder)
    write_tokenizer(folder)
    (folder / "modules.json").write_text(
        json.dumps([{"idx": 0, "name": "0", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}])
    )
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling/config.json").write_text(json.dumps({"pooling_mode_cls_token": True}))
    return folder


@pytest.fixture(autouse=True)
def _in_float64(monkeypatch: pytest.MonkeyPatch) -> None:
    def encoded(student: Student, chunk: Any, arithmetic: Arithmetic, *, former: bool = False) -> Any:
        states = student.states(torch.from_numpy(chunk.batch.ids), torch.from_numpy(chunk.batch.mask))  # pooling is in fp32
        return states[:, 0]

    monkeypatch.setattr(gradients, "encoded", encoded)


def opened(like: str, base: Path, **changes: Any) -> tuple[Student, Plan]:
    plan = replace(PRESETS[like], **{"base": str(base), "seed": 1, **changes})
    student = open_student(plan, ["proximity"])
    if plan.method != "facets":
        student.spec = replace(student.spec, sides=CATALOGUE["scincl"].sides)
    student.module.double()
    return student, plan


def trained(student: Student, demands: list[TrainingDemand], plan: Plan, folder: Path) -> dict[str, Any]:
    """The weights after the training."""
    Training(student, demands, plan, None, CPU, Processes(), folder, "x").run(Stopper())
    return {name: value.detach() for name, value in student.trained.items()}


def looped(
    weights: Mapping[str, Any],
    steps: int,
    loss: Callable[[int], Any],
    rate: Callable[[int], float],
    *,
    decay: float = 0.0,
    clip: float | None = None,
    by_layer: float = 1.0,
    early: bool = False,
) -> None:
    """AdamW, weight by weight: `early` as transformers wrote it, else as its paper does."""
    means = {name: torch.zeros_like(value) for name, value in weights.items()}
    squares = {name: torch.zeros_like(value) for name, value in weights.items()}
    for step in range(steps):
        parts = torch.autograd.grad(loss(step), list(weights.values()), allow_unused=True)
        parts = [torch.zeros_like(value) if part is None else part for part, value in zip(parts, weights.values(), strict=True)]
        norm = float(sum((part**2).sum() for part in parts) ** 0.5)
        scale = min(1.0, clip / (norm + 1e-6)) if clip else 1.0
        for (name, value), part in zip(weights.items(), parts, strict=True):
            means[name] = 0.9 * means[name] + 0.1 * scale * part
            squares[name] = 0.999 * squares[name] + 0.001 * (scale * part) ** 2
            one, two = 1 - 0.9 ** (step + 1), 1 - 0.999 ** (step + 1)
            layer = re.search(r"layer\.(\d+)\.", name)
            lower = LAYERS + 2 - (int(layer[1]) + 1 if layer else 0)
            own = rate(step) * by_layer**lower
            if early:
                change = own * two**0.5 / one * means[name] / (squares[name].sqrt() + 1e-8)
            else:
                change = own * means[name] / one / ((squares[name] / two).sqrt() + 1e-8)
            spared = name.endswith("bias") or "LayerNorm" in name
            value.data -= change + (0.0 if spared else own * decay * value.data)


def read(student: Student, model: Any, texts: list[str]) -> Any:
    """The states of [CLS] by transformers, one text at a time."""
    rows = [torch.tensor([student.tokenizer.encode(text).ids]) for text in texts]
    return torch.stack([model(ids, torch.ones_like(ids)).last_hidden_state[0, 0] for ids in rows])


def bert(base: Path) -> Any:
    from transformers import BertModel

    return BertModel.from_pretrained(base, add_pooling_layer=False).eval().double()


def compared(ours: Mapping[str, Any], theirs: Mapping[str, Any], start: Mapping[str, Any]) -> None:
    """Equal to a millionth of what changed."""
    assert {name for name in ours.keys() - theirs.keys() if "pooler" not in name} == set()
    changed = max(float((theirs[name].detach() - start[name]).abs().max()) for name in theirs)
    assert changed > 0
    for name, value in theirs.items():
        np.testing.assert_allclose(ours[name].numpy(), value.detach().numpy(), rtol=0, atol=1e-6 * changed, err_msg=name)


def text(id: str) -> str:
    return f"{PAPERS[id].title} [SEP] {PAPERS[id].abstract}"


LATER = 700
"""The authors' warm-up of SciRepEval."""
RATES: Mapping[str, Callable[[int], float]] = {
    "scirepeval-codes": lambda step: 5e-5 * (min((step + 1) / LATER, (LATER / (step + 1)) ** 0.5)),
    "scirepeval-codes-code": lambda step: (
        1e-4 + (step + 1) * (5e-5 - 1e-4) / LATER if step + 1 < LATER else 5e-5 * LATER**0.5 * (step + 1) ** -0.5
    ),
    "scirepeval-adapters": lambda step: 1e-4 * (3000 - step) / 3000,
    "scirepeval-fusion": lambda step: 5e-5 * (3000 - step) / 3000,
    "scirepeval-pals": lambda step: 1e-4 * (3000 - step) / 3000,
    **dict.fromkeys(
        ("scirepeval-adapters-code", "scirepeval-fusion-code", "scirepeval-pals-code"),
        lambda step: 1e-4 * min(step / LATER, (77_500 - step) / (77_500 - LATER)),
    ),
    "specter2": lambda step: 2e-5 * min((step + 1) / 300, (300 / (step + 1)) ** 0.5),
    "specter2-adapters": lambda step: 1e-4 * min(step / 1000, (77_500 - step) / 76_500),
    **dict.fromkeys(("scimult", "scimult-code"), lambda step: 3e-4 * min(step / 150, (3000 - step) / 2850)),
    **dict.fromkeys(("multi2spe", "multi2spe-code"), lambda step: 2e-5 * min(step / 300, (3000 - step) / 2700)),
}


@pytest.mark.parametrize("like", RATES)
def test_the_rate_of_every_step_is_the_papers_or_the_codes(like: str) -> None:
    from sciretrieve.training.learning.optimising import factor

    plan = PRESETS[like]
    for step in (0, 1, 2, 149, 150, 299, 300, 698, 699, 700, 701, 2999):
        assert plan.rate * factor(plan, step, 3000) == pytest.approx(RATES[like](step), rel=1e-12), step
    if plan.horizon:
        assert plan.rate * factor(plan, 40_000, 76_641) == pytest.approx(RATES[like](40_000), rel=1e-12)


@pytest.mark.parametrize("like", ["scimult", "scimult-code"])
def test_steps_of_scimult_are_of_one_task_and_its_codes(like: str, base: Path, tmp_path: Path) -> None:
    """Two sets, the first with two steps an epoch and the second with one; other right papers are wrong ones, too."""
    student, plan = opened(like, base, batch=2, epochs=2, warmup=2)
    demands: list[TrainingDemand] = [Ranked(name, one, one.triplets, plan) for name, one in (("one", LINKS), ("two", OTHER_LINKS))]
    training = Training(student, demands, plan, None, CPU, Processes(), tmp_path, "x")
    turns = [training._turns(step) for step in range(training.steps)]
    assert training.steps == 6
    assert all(len(turn) == 1 for turn in turns)
    for epoch in (turns[:3], turns[3:]):
        assert sorted(number for turn in epoch for number in turn) == [0, 0, 1]
    seen = [example for turn in turns[:3] for number, at in turn.items() if number == 0 for example in training._examples(0, at)]
    assert sorted(seen) == [0, 1, 2, 3]
    model = bert(base)
    weights = dict(model.named_parameters())
    start = {name: value.detach().clone() for name, value in weights.items()}

    def loss(step: int) -> Any:
        ((number, turn),) = turns[step].items()
        rows = [(LINKS, OTHER_LINKS)[number].triplets[example] for example in training._examples(number, turn)]
        queries, *papers = (read(student, model, [text(row[place]) for row in rows]) for place in range(3))
        scores = queries @ torch.cat(papers).T
        return torch.stack([torch.logsumexp(scores[at], 0) - scores[at, at] for at in range(2)]).mean()

    of_code: dict[str, Any] = {"clip": 2.0, "by_layer": 0.8, "early": True} if like == "scimult-code" else {"clip": 1.0}
    norms = torch.autograd.grad(loss(0), list(weights.values()))
    assert float(sum((part**2).sum() for part in norms)) ** 0.5 > 2.0  # or nothing would be clipped
    looped(weights, 6, loss, lambda step: 3e-4 * min(step / 2, (6 - step) / 4), decay=0.01, **of_code)
    compared(trained(student, demands, plan, tmp_path), weights, start)


@pytest.mark.parametrize("like", ["scirepeval-codes", "scirepeval-codes-code", "scirepeval-adapters-code"])
def test_steps_of_scirepeval_are_the_papers_and_the_codes(like: str, base: Path, tmp_path: Path) -> None:
    """With all weights of a plain BERT, since what differs is not which weights learn. Some papers have a title alone."""
    student, plan = opened(like, base, method="whole", batch=2, steps=3)
    papers = {**PAPERS, "b": Paper("b", "citation"), "a": Paper("a", "graph paper")}
    links = replace(LINKS, papers=papers)
    demand = Ranked("links", links, links.triplets, plan)
    training = Training(student, [demand], plan, None, CPU, Processes(), tmp_path, "x")
    model = bert(base)
    weights = dict(model.named_parameters())
    start = {name: value.detach().clone() for name, value in weights.items()}

    def words(id: str) -> str:
        return " [SEP] ".join(part for part in (papers[id].title, papers[id].abstract) if part)

    def loss(step: int) -> Any:
        rows = [links.triplets[example] for example in training._examples(0, step)]
        queries, near, far = (read(student, model, [words(row[place]) for row in rows]) for place in range(3))
        near, far = ((queries - part + 1e-6).norm(dim=1) for part in (near, far))
        return (near - far + 1).clamp(min=0).mean()

    looped(weights, 3, loss, RATES[like], early=like.endswith("-code"))
    compared(trained(student, [demand], plan, tmp_path), weights, start)


def test_a_number_is_learnt_as_it_is_and_on_request_standardised(base: Path, tmp_path: Path) -> None:
    numbers = dict(zip("abcdefgh", (1.0, 2.5, 0.5, 4.0, 3.0, 2.0, 7.0, 1.5), strict=True))
    targets = TrainingSet("targets", PAPERS, [], targets=numbers)
    student, plan = opened("scirepeval-codes", base, method="whole", batch=3, steps=2)
    assert not any(plan.standardise for like, plan in PRESETS.items() if like.startswith(("specter2", "scirepeval-")))
    demand = Measured("numbers", targets, student.dim, standardise=plan.standardise)
    demand.head.double()[0].p = 0.0
    training = Training(student, [demand], plan, None, CPU, Processes(), tmp_path, "x")
    model, weight, bias = bert(base), demand.head[1].weight.detach().clone(), demand.head[1].bias.detach().clone()
    assert float(bias.abs().max()) == 0
    assert 0.01 < float(weight.std()) < 0.03
    weights = {**dict(model.named_parameters()), "weight": weight.requires_grad_(), "bias": bias.requires_grad_()}
    start = {name: value.detach().clone() for name, value in weights.items()}

    def loss(step: int) -> Any:
        ids = [demand._ids[example] for example in training._examples(0, step)]
        predicted = read(student, model, [text(id) for id in ids]) @ weight[0] + bias
        return ((predicted - torch.tensor([numbers[id] for id in ids], dtype=torch.float64)) ** 2).mean()

    looped(weights, 2, loss, RATES["scirepeval-codes"])
    ours = trained(student, [demand], plan, tmp_path)
    compared({**ours, "weight": demand.head[1].weight.detach(), "bias": demand.head[1].bias.detach()}, weights, start)
    other = Measured("numbers", targets, student.dim, standardise=True)
    values = np.array([numbers[id] for id in other._ids])
    assert (other._mean, other._deviation) == pytest.approx((values.mean(), values.std()))


def test_multi2spe_reads_a_separator_after_each_title_in_training_and_none_later(base: Path) -> None:
    """SPECTER's reader puts it after any title, even where no abstract follows."""
    student, _ = opened("multi2spe", base)
    assert student.of_paper("proximity", PAPERS["a"]) == "graph paper [SEP] abstract graph paper"
    assert student.of_paper("proximity", Paper("x", "graph")) == "graph [SEP]"
    assert student.of_paper("proximity", Paper("x", "", "graph")) == "graph"
    assert student.spec.sides.paper.text == "{title} {abstract}"


@pytest.mark.parametrize("like", [like for like in PRESETS if like.startswith(("specter2", "scirepeval-")) and "fusion" not in like])
def test_a_title_alone_has_no_separator_in_scirepevals_training(like: str, base: Path) -> None:
    student, _ = opened(like, base)
    code = "[PRX] " if "codes" in like else ""
    if code:  # the sides of `opened` have none
        student.spec = student.as_trained()
        student.spec = replace(student.spec, sides=replace(student.spec.sides, paper=Side("[PRX] {title}{sep}{abstract}")))
    assert student.of_paper("proximity", Paper("x", "graph")) == f"{code}graph"
    assert student.of_paper("proximity", Paper("x", "", "graph")) == f"{code}graph"
    assert student.of_paper("proximity", Paper("x", "graph", "paper")) == f"{code}graph[SEP]paper"


def test_steps_of_multi2spe_are_its_papers(base: Path, tmp_path: Path) -> None:
    """One facet, which has no means. Its model is the student's; texts, losses, rates and the optimiser are written anew."""
    student, plan = opened("multi2spe", base, facets=1, batch=2, steps=3, warmup=1)
    other, _ = opened("multi2spe", base, facets=1)
    other.model.load_state_dict(student.model.state_dict())
    demand = Ranked("links", LINKS, LINKS.triplets, plan)
    training = Training(student, [demand], plan, None, CPU, Processes(), tmp_path, "x")
    start = {name: value.detach().clone() for name, value in other.trained.items()}

    def loss(step: int) -> Any:
        rows = [LINKS.triplets[example] for example in training._examples(0, step)]
        ids = [[torch.tensor([student.tokenizer.encode(text(row[place])).ids]) for row in rows] for place in range(3)]
        queries, near, far = (torch.stack([other.states(one, torch.ones_like(one))[0, 0] for one in part]) for part in ids)
        near, far = ((queries * part).sum(1) for part in (near, far))
        return torch.log1p(torch.exp(far - near)).mean()

    looped(other.trained, 3, loss, lambda step: 2e-5 * (0.0, 1.0, 0.5)[step])
    compared(trained(student, [demand], plan, tmp_path), other.trained, start)
