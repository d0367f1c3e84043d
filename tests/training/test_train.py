"""Training from end to end: what is planted is found, what is frozen stays, what is interrupted goes on, and what is wrong is said."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import sciretrieve as sr
from sciretrieve.base.errors import InvalidRequest, NotFound, UnknownName
from sciretrieve.encoders import load_encoder
from sciretrieve.options import TrainingOptions
from sciretrieve.training import Trained, gain, read_training_set, train
from sciretrieve.training.learning import gradients, measuring, trainer
from sciretrieve.training.learning.demands import Ranked
from sciretrieve.training.learning.devices import Arithmetic, Processes
from sciretrieve.training.learning.students import open_student
from sciretrieve.training.learning.trainer import CHECKPOINT, Training
from sciretrieve.training.presets import plan_of
from sciretrieve.training.results import compared, is_kept
from sciretrieve.training.train import command_of
from tests.command_line import sciretrieve
from tests.training.planted import (
    SMALL,
    TOPICS,
    Stopper,
    all_is_kept,
    checkpoint_at_every_step,
    keep_chance,
    weights_in,
    write_base,
    write_labels,
    write_pairs,
    write_targets,
    write_triplets,
)

__all__ = ["all_is_kept"]

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_base(tmp_path_factory.mktemp("base") / "small")


@pytest.fixture(scope="module")
def triplets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_triplets(tmp_path_factory.mktemp("sets") / "triplets")


Learn = Callable[..., Any]


@pytest.fixture(scope="module")
def learn(base: Path, triplets: Path) -> Learn:
    """Trains on the triplets, or other sets, into a folder."""

    def learn(to: Path, *sets: Path, progress: Any = False, **changes: Any) -> Any:
        return train(sets or [triplets], to, progress=progress, **{"base": str(base), **SMALL, **changes})

    return learn


@pytest.fixture(scope="module")
def adapted(learn: Learn, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """An adapter that was trained in one go; twelve held-out queries are too few to tell its gain from chance."""
    folder = tmp_path_factory.mktemp("trained") / "adapted"
    with pytest.MonkeyPatch.context() as patch:
        keep_chance(patch)
        return folder, learn(folder)


def papers_of(folder: Path) -> list[sr.Paper]:
    return list(read_training_set(folder).papers.values())


def gained(trained: Trained) -> float:
    """What the measure gained."""
    assert trained.base is not None
    assert trained.best is not None
    return trained.best - trained.base


def nearest_share(vectors: Any) -> float:
    """How often a paper's nearest other is of its own topic."""
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    similarities = units @ units.T
    np.fill_diagonal(similarities, -2)
    return float(np.mean(similarities.argmax(1) % TOPICS == np.arange(len(vectors)) % TOPICS))


def test_an_adapter_finds_what_is_planted_and_the_base_stays(adapted: tuple[Path, Any], base: Path, triplets: Path) -> None:
    folder, trained = adapted
    assert gained(trained) > 0
    assert trained.comparison.difference == pytest.approx(trained.best - trained.base)
    papers = papers_of(triplets)
    before = load_encoder(str(base), precision="fp32").encode_papers(papers)
    encoder = load_encoder(str(folder), precision="fp32")
    after = encoder.encode_papers(papers)
    assert nearest_share(after) > nearest_share(before) + 0.03
    assert encoder.metric == "cosine"
    # what plain adapters makes of the same files
    import adapters
    from transformers import BertModel, BertTokenizerFast

    model = BertModel.from_pretrained(base, add_pooling_layer=False)
    adapters.init(model)
    model.load_adapter(str(folder), load_as="mine", set_active=True, use_safetensors=True)
    model.eval()
    tokenizer = BertTokenizerFast.from_pretrained(base)
    with torch.no_grad():
        for paper, ours in zip(papers[:5], after, strict=False):
            tokens = tokenizer(f"{paper.title} {paper.abstract}", return_tensors="pt", truncation=True, max_length=64)
            plain = model(**tokens).last_hidden_state[0].mean(0).numpy()
            np.testing.assert_allclose(ours, plain / np.linalg.norm(plain), atol=1e-4)


def test_the_card_says_what_it_was_made_of(adapted: tuple[Path, Any], triplets: Path) -> None:
    folder, trained = adapted
    card = (folder / "README.md").read_text()
    assert f"{100 * trained.base:.1f} before, {100 * trained.best:.1f} after" in card
    assert "| triplets | triplets | 480 |" in card
    assert str(triplets) not in card
    facts = json.loads((folder / "training.json").read_text())
    assert {"parameters", "parameters_of_base", "seconds", "base", "seed"} <= facts.keys()
    assert facts["parameters"] < facts["parameters_of_base"]
    assert facts["base"] == facts["plan"]["base"]
    rows = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    assert [row["step"] for row in rows] == sorted(row["step"] for row in rows)
    assert rows[-1]["losses"]["triplets"] < rows[0]["losses"]["triplets"]
    assert (folder / "curves.svg").read_text().startswith("<?xml")
    assert not folder.with_name("adapted.partial").exists()


@pytest.mark.torture
@pytest.mark.usefixtures("all_is_kept")
@pytest.mark.parametrize("method", ["adapter", "whole", "codes"])
def test_an_interrupted_training_ends_with_the_same_bytes(method: Any, learn: Learn, tmp_path: Path) -> None:
    options: dict[str, Any] = {"method": method, "steps": 8, "every": 4, "rate": 2e-2 if method == "adapter" else 3e-3}
    unbroken = learn(tmp_path / "unbroken", **options)
    with checkpoint_at_every_step():
        for steps in (2, 3):
            with pytest.raises(KeyboardInterrupt):
                learn(tmp_path / "broken", progress=Stopper(steps), **options)
            assert (tmp_path / "broken.partial" / CHECKPOINT).is_file()
        again = Stopper()
        broken = learn(tmp_path / "broken", progress=again, **options)
    assert (broken.base, broken.best, broken.best_step) == (unbroken.base, unbroken.best, unbroken.best_step)
    for name in ("adapter.safetensors" if method == "adapter" else "model.safetensors", "log.jsonl"):
        assert (tmp_path / "broken" / name).read_bytes() == (tmp_path / "unbroken" / name).read_bytes()
    assert not any("before training" in note for note in again.texts)


@pytest.mark.usefixtures("all_is_kept")
def test_an_interrupted_training_with_one_task_a_step_ends_with_the_same_weights(learn: Learn, triplets: Path, tmp_path: Path) -> None:
    """Also those of experts whose task is in no step for a while: their momentum goes on."""
    sets = [triplets, write_pairs(tmp_path / "pairs")]
    options: dict[str, Any] = {"like": "scimult-mhaexpert", "steps": 6, "every": 3, "rate": 1e-3}
    learn(tmp_path / "unbroken", *sets, **options)
    with checkpoint_at_every_step():
        for steps in (1, 3):
            with pytest.raises(KeyboardInterrupt):
                learn(tmp_path / "broken", *sets, progress=Stopper(steps), **options)
        learn(tmp_path / "broken", *sets, **options)
    assert (tmp_path / "broken" / "log.jsonl").read_bytes() == (tmp_path / "unbroken" / "log.jsonl").read_bytes()
    broken, unbroken = (torch.load(tmp_path / name / "weights.ckpt")["model_dict"] for name in ("broken", "unbroken"))
    assert all(torch.equal(value, broken[name]) for name, value in unbroken.items())


@pytest.mark.usefixtures("all_is_kept")
def test_a_checkpoint_of_another_training_is_refused_and_kept(learn: Learn, tmp_path: Path) -> None:
    options: dict[str, Any] = {"steps": 6, "rate": 2e-2}
    with checkpoint_at_every_step(), pytest.raises(KeyboardInterrupt):
        learn(tmp_path / "mine", progress=Stopper(2), **options)
    checkpoint = (tmp_path / "mine.partial" / CHECKPOINT).read_bytes()
    with pytest.raises(InvalidRequest, match="checkpoint of another training"):
        learn(tmp_path / "mine", **options, seed=5)
    assert (tmp_path / "mine.partial" / CHECKPOINT).read_bytes() == checkpoint
    learn(tmp_path / "mine", overwrite=True, **options, seed=5)
    with pytest.raises(InvalidRequest, match="is there already"):
        learn(tmp_path / "mine", **options)


def test_all_tasks_have_an_equal_share_of_a_batch_and_all_formats_learn(learn: Learn, tmp_path: Path, triplets: Path) -> None:
    sets = [triplets, write_pairs(tmp_path / "pairs"), write_labels(tmp_path / "labels"), write_targets(tmp_path / "targets")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(measuring, "FEWEST_QUERIES", 1000)  # nothing is measured, and so all is kept
        shares: dict[str, set[int]] = {}
        examples = Training._examples

        def counted(self: Training, number: int, turn: int) -> list[int]:
            chosen = examples(self, number, turn)
            shares.setdefault(self.demands[number].name, set()).add(len(chosen))
            return chosen

        patch.setattr(Training, "_examples", counted)
        learn(tmp_path / "all", *sets, steps=6, every=6)
    assert shares == {"triplets": {8}, "pairs": {8}, "labels": {8}, "targets": {8}}
    encoder = load_encoder(str(tmp_path / "all"), precision="fp32")
    assert encoder.spec.tasks == ("proximity", "adhoc_query", "classification", "regression")  # type: ignore[attr-defined]
    papers, queries = encoder.encode_papers([sr.Paper("1", "a b c", "graph")]), encoder.encode_queries([sr.Query("1", "a b c graph")])
    assert np.abs(papers - queries).max() > 1e-4
    weights = {name: weights_in(tmp_path / "all" / name / "adapter.safetensors") for name in encoder.spec.tasks}  # type: ignore[attr-defined]
    ups = [next(value for key, value in tensors.items() if "adapter_up" in key) for tensors in weights.values()]
    assert all(np.abs(one - other).max() > 1e-4 for at, one in enumerate(ups) for other in ups[:at])


@pytest.mark.parametrize("several", [False, True])
def test_labels_alone_are_measured_by_the_loss_of_papers_set_apart(several: bool, learn: Learn, tmp_path: Path) -> None:
    labels = write_labels(tmp_path / "labels", several=several)
    trained = learn(tmp_path / "out", labels, method="whole", rate=2e-3, epochs=6)
    assert trained.measure == "negative loss"
    assert gained(trained) > 0


def ranked(base: Path, triplets: Path, **changes: Any) -> tuple[Any, Any, Any]:
    plan = plan_of(TrainingOptions(base=str(base), **{**{k: v for k, v in SMALL.items() if k != "precision"}, **changes}))
    student = open_student(plan, ["proximity"])
    training_set = read_training_set(triplets)
    return student, Ranked("triplets", training_set, training_set.triplets, plan), plan


@pytest.mark.parametrize("loss", ["triplet", "contrastive"])
def test_gradients_in_chunks_are_those_of_the_whole_batch(loss: Any, base: Path, triplets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Dropout included, which is drawn anew in the same way; and against plain torch without chunks."""
    arithmetic = Arithmetic("cpu", is_bf16=False)
    results = []
    for limit in (gradients.GRAPH_BYTES, 0):
        student, demand, _ = ranked(base, triplets, method="whole", loss=loss)
        monkeypatch.setattr(gradients, "GRAPH_BYTES", limit)
        student.module.train()
        readings = demand.readings(student, range(24))
        distinct = list(dict.fromkeys(readings))
        chunks = gradients.chunks_of(student, distinct, budget=128)
        assert len(chunks) > 4
        rows = [distinct.index(reading) for reading in readings]

        def whole(vectors: Any, demand: Any = demand, rows: Any = rows) -> Any:
            value = demand.loss(vectors[rows], range(24))
            return value, {"triplets": float(value.detach())}

        parts = gradients.backward(student, chunks, whole, (1, 2), arithmetic, Processes(), student.bytes_a_token)
        results.append((parts["triplets"], {name: value.grad.clone() for name, value in student.trained.items() if value.grad is not None}))
    (one_loss, one), (other_loss, other) = results
    assert one_loss == pytest.approx(other_loss, abs=1e-6)
    assert one.keys() == other.keys()
    for name in one:
        np.testing.assert_allclose(one[name], other[name], atol=2e-6, err_msg=name)
    # nothing dropped out: the same as plain torch on one padded batch
    student, demand, _ = ranked(base, triplets, method="whole", loss=loss)
    student.module.eval()
    chunks = gradients.chunks_of(student, distinct, budget=128)
    gradients.backward(student, chunks, whole, (1, 2), arithmetic, Processes(), student.bytes_a_token)
    ours = {name: value.grad.clone() for name, value in student.trained.items() if value.grad is not None}
    student.model.zero_grad()
    batch = student.tokens([text for _, text in readings], 10**6).batches[0]
    vectors = student.module(torch.from_numpy(batch.ids), torch.from_numpy(batch.mask))
    vectors = vectors[np.argsort(batch.places)]
    queries, positives, negatives = vectors[:24], vectors[24:48], vectors[48:]
    if loss == "triplet":
        near, far = ((queries - part + 1e-6).norm(dim=1) for part in (positives, negatives))
        plain = (near - far + 1).clamp(min=0).mean()
    else:
        plain = _plain_contrastive(queries, torch.cat([positives, negatives]), read_training_set(triplets).triplets)
    plain.backward()
    for name, expected in ours.items():
        grad = dict(student.model.named_parameters())[name].grad
        np.testing.assert_allclose(expected, grad, atol=2e-5, err_msg=name)


def _plain_contrastive(queries: Any, papers: Any, triplets: list[tuple[str, str, str]]) -> Any:
    """The loss row by row, in loops: candidates are the batch's papers but for others that are right, and the query itself."""
    chosen = triplets[:24]
    ids = [row[1] for row in chosen] + [row[2] for row in chosen]
    right = {query: {row[1] for row in triplets if row[0] == query} for query, _, _ in triplets}

    def candidates(row: int) -> list[int]:
        query = chosen[row][0]
        return [at for at, id in enumerate(ids) if at == row or id not in right[query] | {query}]

    scores = queries @ papers.T / 0.05
    forward = [torch.logsumexp(scores[row, candidates(row)], 0) - scores[row, row] for row in range(24)]
    backward = [
        torch.logsumexp(scores[[other for other in range(24) if row in candidates(other)], row], 0) - scores[row, row] for row in range(24)
    ]
    return (torch.stack(forward).mean() + torch.stack(backward).mean()) / 2


def test_frozen_weights_stay_bit_for_bit_and_two_steps_are_adamws(base: Path, triplets: Path, tmp_path: Path) -> None:
    options: dict[str, Any] = {**SMALL, "base": str(base), "steps": 2, "every": 2, "decay": 0.1, "schedule": "constant", "warmup": 0.0}
    student, demand, plan = ranked(base, triplets, **{k: v for k, v in options.items() if k not in ("base", "precision")})
    frozen = {name: value.clone() for name, value in student.model.named_parameters() if not value.requires_grad}
    start = {name: value.detach().clone().double() for name, value in student.trained.items()}
    gradients_of: list[dict[str, Any]] = []
    step_of = torch.optim.AdamW.step

    def recorded(self: Any, closure: Any = None) -> Any:
        gradients_of.append({name: value.grad.clone().double() for name, value in student.trained.items()})
        return step_of(self, closure)

    training = Training(student, [demand], plan, None, Arithmetic("cpu", is_bf16=False), Processes(), tmp_path, "x")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.optim.AdamW, "step", recorded)
        training.run(Stopper())
    for name, value in start.items():
        mean = square = torch.zeros_like(value)
        for number, step in enumerate(gradients_of, 1):
            value = value * (1 - plan.rate * 0.1) if value.dim() > 1 else value  # biases do not decay
            mean, square = 0.9 * mean + 0.1 * step[name], 0.999 * square + 0.001 * step[name] ** 2
            value = value - plan.rate * (mean / (1 - 0.9**number)) / ((square / (1 - 0.999**number)).sqrt() + 1e-8)
        np.testing.assert_allclose(student.trained[name].detach(), value, atol=1e-6, err_msg=name)
    assert frozen
    for name, value in student.model.named_parameters():
        if name in frozen:
            assert torch.equal(value, frozen[name]), name


@pytest.mark.usefixtures("all_is_kept")
def test_a_loss_that_diverges_keeps_the_best_and_one_that_never_was_a_number_is_refused(
    learn: Learn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options: dict[str, Any] = {"every": 4, "steps": 30, "rate": 2e-2}
    loss = Ranked.loss
    calls = {"left": 20}

    def diverging(self: Ranked, vectors: Any, examples: Any) -> Any:
        calls["left"] -= 1
        return loss(self, vectors, examples) * (float("nan") if calls["left"] < 0 else 1.0)

    monkeypatch.setattr(Ranked, "loss", diverging)
    trained = learn(tmp_path / "kept", **options)
    assert trained.stopped == "the loss was not a number at step 21"
    assert trained.best_step == 20
    with pytest.raises(InvalidRequest, match="the loss is not a number at step 1; train with a lower `rate`"):
        learn(tmp_path / "refused", **options)
    assert not (tmp_path / "refused").exists()


def test_what_gains_nothing_is_not_kept(learn: Learn, tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match="nothing was gained in 2 steps"):
        learn(tmp_path / "out", rate=1e-30, steps=2)
    assert not (tmp_path / "out").exists()


def test_what_may_be_chance_is_not_kept(learn: Learn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trainer, "LEAST_GAIN", -2.0)
    with pytest.raises(InvalidRequest, match=r"the gain may be chance, so only .*out.partial is kept: nDCG@10 of held-out queries"):
        learn(tmp_path / "out", rate=1e-30, steps=2)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("shift", "supported", "words"), [(0.008, False, " queries would show"), (0.3, True, ""), (-0.1, False, "")])
def test_a_gain_is_kept_that_an_interval_supports(shift: float, supported: bool, words: str) -> None:
    """And else, if it is one, the number of queries is told that would: some 1,200 for a twelfth of a standard deviation."""
    chance = np.random.default_rng(1).normal(size=60)
    differences = 0.1 * (chance - chance.mean()) / chance.std(ddof=1) + shift
    base = {str(query): 0.4 for query in range(60)}
    best = {str(query): 0.4 + float(difference) for query, difference in enumerate(differences)}
    trained = Trained(Path("x"), "nDCG@10", 0.4, 0.4 + shift, compared(base, best), 9, 9, 1.0, "")
    assert is_kept(trained) == supported
    found = re.search(r"([\d,]+) queries would show", gain(trained))
    assert bool(found) == bool(words)
    if found:
        assert int(found[1].replace(",", "")) == pytest.approx(7.85 * (0.1 / 0.008) ** 2, rel=0.01)
    assert not is_kept(replace(trained, comparison=None))
    assert is_kept(replace(trained, base=None, best=None))


@pytest.mark.usefixtures("all_is_kept")
def test_a_disk_that_fills_costs_nothing_that_was_there(learn: Learn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options: dict[str, Any] = {"steps": 12, "every": 6, "rate": 2e-2}
    with checkpoint_at_every_step():
        with pytest.raises(KeyboardInterrupt):
            learn(tmp_path / "out", progress=Stopper(2), **options)
        kept = (tmp_path / "out.partial" / CHECKPOINT).read_bytes()

        def full(path: Path, data: bytes) -> None:
            raise OSError(28, "No space left on device", str(path))

        with monkeypatch.context() as patch:
            patch.setattr(trainer, "write_whole", full)
            with pytest.raises(OSError, match="No space left"):
                learn(tmp_path / "out", **options)
        assert (tmp_path / "out.partial" / CHECKPOINT).read_bytes() == kept
        assert learn(tmp_path / "out", **options).steps == 12


@pytest.mark.usefixtures("all_is_kept")
def test_a_training_can_be_measured_on_a_benchmark(learn: Learn, base: Path, triplets: Path, tmp_path: Path) -> None:
    folder = tmp_path / "beir"
    (folder / "qrels").mkdir(parents=True)
    (folder / "corpus.jsonl").write_text((triplets / "corpus.jsonl").read_text())
    papers = papers_of(triplets)
    (folder / "queries.jsonl").write_text("".join(json.dumps({"_id": f"q{n}", "text": papers[n].title}) + "\n" for n in range(20)))
    rows = [f"q{n}\tp{other}\t1" for n in range(20) for other in range(n % TOPICS, len(papers), TOPICS)]
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n" + "\n".join(rows) + "\n")
    trained = learn(tmp_path / "out", steps=10, rate=1e-2, held_out=f"beir:{folder}")
    report = sr.evaluate(f"beir:{folder}", encoder=str(base), precision="fp32", progress=False)
    assert report.result.means["", "nDCG@10"] == pytest.approx(trained.base, abs=0.01)
    candidates = {
        "letters": {f"p{n}": {"true": [f"p{n + TOPICS}"], "random": [f"p{n + other}" for other in range(1, 9)]} for n in range(20)}
    }
    (folder / "candidates.json").write_text(json.dumps(candidates))
    by_field = learn(tmp_path / "by-field", steps=10, rate=1e-2, held_out=f"cite:{folder}")
    report = sr.evaluate(f"cite:{folder}", encoder=str(base), precision="fp32", measures=["R@5"], progress=False)
    assert by_field.measure == "R@5"
    assert by_field.base == pytest.approx(report.result.means["", "R@5"], abs=0.01)
    with pytest.raises(InvalidRequest, match="`held_out` takes beir:DIR or cite:DIR"):
        learn(tmp_path / "other", held_out="scidocs")


def in_two_processes(*command: str) -> list[subprocess.CompletedProcess[str]]:
    """Run Python twice at once, as torchrun does."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    shared = {**os.environ, "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "OMP_NUM_THREADS": "1"}
    processes = [
        subprocess.Popen(
            [sys.executable, *command],
            env={**shared, "RANK": str(rank), "LOCAL_RANK": str(rank)},
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    outputs = [process.communicate(timeout=300) for process in processes]
    return [
        subprocess.CompletedProcess(process.args, process.returncode, *output) for process, output in zip(processes, outputs, strict=True)
    ]


@pytest.mark.torture
@pytest.mark.parametrize("method", ["adapter", "whole", "codes"])
def test_two_processes_learn_what_one_does(method: Any, base: Path, triplets: Path, tmp_path: Path) -> None:
    few = tmp_path / "few"  # of so few queries none is set apart, and so all is kept
    few.mkdir()
    (few / "corpus.jsonl").write_text((triplets / "corpus.jsonl").read_text())
    (few / "triplets.tsv").write_text("".join((triplets / "triplets.tsv").read_text().splitlines(keepends=True)[:181]))
    options = ["--base", str(base), "--method", method, "--steps", "8", "--set", "every=4", "--batch", "32", "--set", "length=32"]
    options += ["--set", "precision=fp32", "--rate", "1e-3", "--set", "seed=42"]
    first, second = in_two_processes(str(ROOT / "cli.py"), "train", str(few), *options, "-o", str(tmp_path / "two"))
    assert (first.returncode, second.returncode) == (0, 0)
    assert second.stdout == ""
    one = sciretrieve("train", few, *options, "-o", tmp_path / "one")
    assert one.returncode == 0
    name = "adapter.safetensors" if method == "adapter" else "model.safetensors"
    weights, expected = weights_in(tmp_path / "two" / name), weights_in(tmp_path / "one" / name)
    for key, value in expected.items():
        if not key.endswith("key.bias"):  # no loss depends on it, so its gradient is rounding, which AdamW makes as large as any
            np.testing.assert_allclose(weights[key], value, atol=2e-5, err_msg=key)


def test_what_no_process_has_a_gradient_of_stays_without_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Or AdamW would let experts of another task decay, as it does not in one process."""
    parameters = [torch.nn.Parameter(torch.ones(2)) for _ in range(3)]
    parameters[0].grad = torch.ones(2)

    def reduced(value: Any) -> None:
        """The other process has a gradient of the first two."""
        value += torch.tensor([1.0, 1.0, 0.0]) if len(value) == 3 else 2.0

    monkeypatch.setattr(torch.distributed, "all_reduce", reduced)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    Processes(2, 0).add(parameters)
    assert [None if one.grad is None else one.grad.tolist() for one in parameters] == [[3.0, 3.0], [2.0, 2.0], None]


@pytest.mark.torture
@pytest.mark.usefixtures("all_is_kept")
def test_two_processes_that_begin_anew_both_leave_the_old_checkpoint(learn: Learn, base: Path, triplets: Path, tmp_path: Path) -> None:
    with checkpoint_at_every_step(), pytest.raises(KeyboardInterrupt):
        learn(tmp_path / "mine", progress=Stopper(1), steps=2, rate=2e-2)
    assert (tmp_path / "mine.partial" / CHECKPOINT).is_file()
    os.mkfifo(tmp_path / "pipe")
    arguments = [str(path) for path in (tmp_path / "pipe", tmp_path / "mine", triplets, base)]
    for process in in_two_processes("-m", "tests.training.two_processes", *arguments):
        assert process.returncode == 0, process.stderr


@pytest.mark.usefixtures("all_is_kept")
def test_the_command_says_what_was_gained_and_a_file_says_the_same_training(base: Path, triplets: Path, tmp_path: Path) -> None:
    options = ["--base", str(base), "--steps", "6", "--batch", "32", "--rate", "0.02", "--set", "reduction=2", "--set", "length=32"]
    result = sciretrieve("train", triplets, *options, "--set", "precision=fp32", "-o", tmp_path / "typed")
    assert result.returncode == 0, result.stderr
    assert "of held-out queries" in result.stdout
    assert "weights of step" in result.stdout
    config = tmp_path / "training.toml"
    values = {"batch": 32, "steps": 6, "rate": 0.02, "reduction": 2, "length": 32}
    lines = [f"{name} = {value}" for name, value in values.items()]
    lines += [f'data = ["{os.path.relpath(triplets, tmp_path)}"]', f'base = "{base}"', 'precision = "fp32"', 'output = "written"']
    config.write_text("\n".join(lines))
    result = sciretrieve("train", config)
    assert result.returncode == 0, result.stderr
    name = "adapter.safetensors"
    assert (tmp_path / "written" / name).read_bytes() == (tmp_path / "typed" / name).read_bytes()
    result = sciretrieve("train", config, "--set", "seed=3")
    assert result.returncode == 2
    assert "a .toml file has all settings of a training" in result.stderr


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"like": "specter9"}, UnknownName, "specter9"),
        ({"rate": 0.0}, InvalidRequest, "`rate` must be above 0"),
        ({"base": "scirepeval-ctrl"}, InvalidRequest, "cannot be trained so"),
        ({"keep": 1.0, "method": "whole"}, InvalidRequest, "`keep` compares with the encoder before training"),
        ({"batch": 0}, InvalidRequest, "`batch` must be at least 1"),
    ],
)
def test_what_cannot_be_trained_is_said_in_a_line(
    changes: dict[str, Any], error: type[Exception], message: str, base: Path, triplets: Path, tmp_path: Path
) -> None:
    with pytest.raises(error, match=message):
        train([triplets], tmp_path / "out", progress=False, **{"base": str(base), **changes})
    assert not {"out", "out.partial"} & {path.name for path in tmp_path.iterdir()}


def test_sets_that_do_not_fit_are_said_in_a_line(base: Path, triplets: Path, tmp_path: Path) -> None:
    pairs = write_pairs(tmp_path / "pairs")
    with pytest.raises(InvalidRequest, match="pairs without a negative, which the loss 'triplet' needs"):
        train([pairs], tmp_path / "out", base=str(base), loss="triplet", progress=False)
    with pytest.raises(NotFound, match="there is no training set"):
        train([tmp_path / "absent"], tmp_path / "out", base=str(base), progress=False)
    with pytest.raises(InvalidRequest, match="there is nothing to train on"):
        train([], tmp_path / "out", progress=False)
    (pairs / "pairs.tsv").write_text("query-id\tpositive-id\tnegative-id\tkind\nq1\tp99999\t\tx\n")
    with pytest.raises(InvalidRequest, match="line 2, names the paper 'p99999'"):
        train([pairs], tmp_path / "out", base=str(base), progress=False)


@pytest.mark.usefixtures("all_is_kept")
def test_curves_for_tensorboard_are_those_of_the_log(learn: Learn, tmp_path: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    options: dict[str, Any] = {"steps": 8, "every": 2, "rate": 2e-2, "tensorboard": True}
    with checkpoint_at_every_step():
        with pytest.raises(KeyboardInterrupt):
            learn(tmp_path / "out", progress=Stopper(5), **options)
        learn(tmp_path / "out", **options)
    rows = [json.loads(line) for line in (tmp_path / "out" / "log.jsonl").read_text().splitlines()]
    events = EventAccumulator(str(tmp_path / "out" / "tensorboard")).Reload()
    assert [event.step for event in events.Scalars("loss/triplets")] == [2, 4, 6, 8]
    np.testing.assert_allclose([event.value for event in events.Scalars("held out")], [row["value"] for row in rows], rtol=1e-6)


def test_staying_near_keeps_vectors_near(learn: Learn, base: Path, triplets: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "FEWEST_QUERIES", 1000)
    papers = papers_of(triplets)[:60]
    before = load_encoder(str(base), precision="fp32").encode_papers(papers)
    moved: list[float] = []
    for number, keep in enumerate((0.0, 200.0)):
        folder = learn(tmp_path / str(number), steps=10, keep=keep).folder
        moved.append(float(np.abs(load_encoder(str(folder), precision="fp32").encode_papers(papers) - before).mean()))
    assert moved[1] < 0.5 * moved[0]


def test_a_card_has_no_folders_of_this_machine(tmp_path: Path) -> None:
    options = TrainingOptions(base=str(tmp_path / "base"), held_out=f"beir:{tmp_path / 'tests'}", reduction=8)
    assert command_of(["triplets"], tmp_path / "encoder", options) == (
        "sciretrieve train triplets -o encoder --base base --set reduction=8 --held-out beir:tests"
    )
    assert "--base allenai/specter2_base" in command_of(["triplets"], tmp_path, TrainingOptions(base="allenai/specter2_base"))
