"""What does a GPU bring to encoding, full-corpus evaluation, training and FAISS, and are its answers those of the CPU? Takes some minutes.

    python bench/gpu.py --json gpu.json                                    on a machine with a GPU
    python bench/gpu.py --device cpu --papers 64 --queries 512 --corpus_papers 5000 --steps 3 --size 1024       to see whether it runs

Encoders are the embedded granite and SPECTER2's shape, a BERT-base with an active adapter and random weights; texts are a corpus's papers,
repeated. Shares are of the best product of square matrices that torch makes on the device in the same run, in the encoder's precision, and
in fp32 for evaluation. That is of SciDocs' size: each of 90,000 queries against 142,009 papers of 768 dimensions. Training is an adapter on
that BERT-base, by triplets. FAISS makes and searches an IVF index of a shard of made-up vectors around 2,000 centres, on the CPU and on the
GPU, if its build has one; `recall` is that of the ten nearest.
"""

from __future__ import annotations

import itertools
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
from encode import SIZES, make_bert_base, matrix_peak, operations, timed
from reporting import arguments, report

import sciretrieve as sr
from sciretrieve.base.types import Paper
from sciretrieve.demo import CORPUS
from sciretrieve.encoders import load_encoder
from sciretrieve.matching.dense import ann, full_corpus
from sciretrieve.matching.dense.faiss_library import load_faiss
from sciretrieve.progress import Silent
from sciretrieve.training import train

DIM, K = 768, 100
WARM = 5
"""Steps of a training that warm up."""
WIDTH, ASKED = 384, 2000
"""Dimensions, and queries, of FAISS's indexes."""
COMPARED = 64
"""Papers whose vectors, and queries whose answers, are compared with the CPU's."""


def main() -> None:
    """Measure, and print."""
    chosen = arguments(
        __doc__,
        device="cuda",
        corpus=str(CORPUS),
        papers=8192,
        queries=90_000,
        corpus_papers=142_009,
        steps=100,
        batch=32,
        size=8192,
        vectors=100_000,
    )
    if chosen.device != "cpu" and not torch.cuda.is_available():
        raise SystemExit("there is no GPU here; `--device cpu` and small numbers try the script out")
    with tempfile.TemporaryDirectory(prefix="bert-base-") as scratch:
        os.environ["SCIRETRIEVE_MODELS"] = scratch
        papers = some_papers(chosen.corpus, chosen.papers)
        make_bert_base(Path(scratch), word_pieces(papers))
        kinds = {"bf16": torch.bfloat16, "fp32": torch.float32}
        peaks = {name: matrix_peak(kind, chosen.device, chosen.size) for name, kind in kinds.items()}
        rows = [encoding(name, shape, papers, chosen.device, peaks) for name, shape in (("granite", "granite"), ("specter2", "bert-base"))]
        rows.append(evaluation(chosen.queries, chosen.corpus_papers, chosen.device, peaks["fp32"]))
        rows.append(training(papers, chosen.steps, chosen.batch, chosen.device, Path(scratch)))
        rows += list(faiss_indexes(chosen.vectors, Path(scratch)))
    name = torch.cuda.get_device_name() if chosen.device != "cpu" else "the CPU"
    print(f"{name}: {peaks['bf16'] / 1e12:,.1f} TFLOP/s in bf16, {peaks['fp32'] / 1e12:,.1f} in fp32; torch {torch.__version__}")
    report(rows, chosen.json)


def row(work: str, amount: float, unit: str, seconds: float, share: float | str, agreement: str) -> dict[str, Any]:
    """A line of the table."""
    print(f"{work}: {seconds:.2f} s", flush=True)
    return {"work": work, "s": seconds, "a second": amount / seconds, "of": unit, "share of peak": share, "beside the CPU": agreement}


def some_papers(corpus: str, count: int) -> list[Paper]:
    """So many papers of a corpus, those of a small one again and again."""
    table = next(iter(sr.open_corpus(corpus).batches())).papers
    texts = zip(*(table[name].to_pylist() for name in ("id", "title", "abstract")), strict=True)
    papers = [Paper(*text) for text in texts]
    return [replace(paper, id=f"p{number}") for number, paper in enumerate(itertools.islice(itertools.cycle(papers), count))]


def word_pieces(papers: list[Paper]) -> Any:
    """A tokenizer of BERT's kind, whose words are those of some papers."""
    from tokenizers import BertWordPieceTokenizer
    from transformers import BertTokenizerFast

    pieces = BertWordPieceTokenizer()
    pieces.train_from_iterator([f"{paper.title} {paper.abstract}" for paper in papers[:1000]], vocab_size=31_090, show_progress=False)
    return BertTokenizerFast(tokenizer_object=pieces._tokenizer)


def encoding(name: str, shape: str, papers: list[Paper], device: str, peaks: dict[str, float]) -> dict[str, Any]:
    """Papers encoded, after a first window that warms up."""
    encoder: Any = load_encoder(name, device="cpu" if device == "cpu" else "cuda")
    encoder.expect(1_000_000)
    encoder.encode_papers(papers[: encoder.window])
    seconds = timed(lambda: encoder.encode_papers(papers), device)
    lengths = np.concatenate([batch.mask.sum(axis=1) for batch in encoder.tokenise(papers).batches])
    some = papers[:COMPARED]
    vectors, expected = encoder.encode_papers(some), load_encoder(name, precision="fp32", device="cpu").encode_papers(some)
    cosines = (vectors * expected).sum(axis=1) / np.linalg.norm(vectors, axis=1) / np.linalg.norm(expected, axis=1)
    share = operations(lengths, *SIZES[shape]) / seconds / peaks[encoder.precision]
    return row(
        f"encoding, {shape}, {encoder.precision}", float(lengths.sum()), "tokens", seconds, share, f"least cosine {cosines.min():.6f}"
    )


def evaluation(queries: int, papers: int, device: str, peak: float) -> dict[str, Any]:
    """Each query against each paper, and some of them by NumPy, too."""
    chance = np.random.default_rng(0)
    matrices = [chance.standard_normal((count, DIM), np.float32) for count in (queries, papers)]
    asked, corpus = (matrix / np.linalg.norm(matrix, axis=1, keepdims=True) for matrix in matrices)
    on_device = None if device == "cpu" else device
    sum(1 for _ in full_corpus.top(asked[: full_corpus.QUERIES], [corpus], K, "ip", on_device))
    seconds = timed(lambda: sum(1 for _ in full_corpus.top(asked, [corpus], K, "ip", on_device)), device)
    pairs = zip(
        full_corpus.top(asked[:COMPARED], [corpus], K, "ip", on_device), full_corpus.top(asked[:COMPARED], [corpus], K, "ip"), strict=True
    )
    equal = np.mean([np.array_equal(ours[0], theirs[0]) for ours, theirs in pairs])
    share = 2 * queries * papers * DIM / seconds / peak
    return row(f"evaluation, {queries:,} x {papers:,} x {DIM}", queries, "queries", seconds, share, f"{equal:.0%} of answers equal")


def training(papers: list[Paper], steps: int, batch: int, device: str, folder: Path) -> dict[str, Any]:
    """Steps of an adapter on a BERT-base, by triplets; the first ones, which warm up, are left out."""
    data = folder / "triplets"
    data.mkdir()
    lines = (json.dumps({"_id": paper.id, "title": paper.title, "text": paper.abstract}) for paper in papers)
    (data / "corpus.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    ids, chance = [paper.id for paper in papers], np.random.default_rng(0)
    drawn = chance.integers(len(ids), size=((steps + 10) * batch, 3))
    rows = [f"{ids[query]}\t{ids[positive]}\t{ids[negative]}\teasy" for query, positive, negative in drawn if query != positive]
    (data / "triplets.tsv").write_text("\n".join(["query-id\tpositive-id\tnegative-id\tkind", *rows]) + "\n", encoding="utf-8")
    clock = Clock()
    with suppress(sr.InvalidRequest):  # random weights gain nothing, and are not kept
        train([data], folder / "trained", steps=steps + WARM, base="specter2-base", batch=batch, device=device, progress=clock)  # type: ignore[arg-type] # checked there
    seconds = float(np.median(np.diff(clock.steps)[WARM:]))  # some steps are followed by a measurement, and training may end early
    return row(f"training an adapter, a step of {batch}", batch, "triplets", seconds, "", "")


class Clock(Silent):
    """When each step of a training was done."""

    def start(self, total: int | None, done: int = 0, unit: str = "papers") -> None:  # noqa: ARG002 # as a progress is called
        """Begin again."""
        self.steps: list[float] = []

    def advance(self, papers: int) -> None:  # noqa: ARG002
        """A step is done."""
        self.steps.append(time.perf_counter())


def faiss_indexes(count: int, folder: Path) -> Iterator[dict[str, Any]]:
    """An IVF index of a shard made and searched by FAISS on the CPU and on its GPU, if it has one; and exact search of ten shards."""
    faiss = load_faiss()
    chance = np.random.default_rng(0)
    centres = chance.standard_normal((2000, WIDTH), np.float32)
    drawn = centres[chance.integers(len(centres), size=count + ASKED)] + chance.standard_normal((count + ASKED, WIDTH), np.float32)
    vectors, asked = drawn[:count], drawn[count:]
    truth = [set(rows.tolist()) for rows, _ in full_corpus.top(asked, [vectors], 10, "cosine")]
    places = ("CPU", "GPU") if faiss.get_num_gpus() else ("CPU",)
    answers: dict[str, list[list[int]]] = {}
    for place in places:
        path = folder / f"{place}.faiss"
        with patch.object(ann, "on_gpu", lambda index: index) if place == "CPU" else nullcontext():
            ann.build_ann(path, vectors[:4096], "IVF64,SQ8", "cosine")  # warms up
            seconds = timed(partial(ann.build_ann, path, vectors, ann.factory_string("ivf", count), "cosine"), "cpu")
        opened = ann.Ann(path, count, WIDTH)
        recall = np.mean(
            [len(truth[number] & set(rows.tolist())) / 10 for number, (rows, _) in enumerate(opened.candidates(asked, 100, "cosine", None))]
        )
        yield row(f"FAISS, IVF of {count:,} vectors, made on the {place}", count, "vectors", seconds, "", f"recall {recall:.4f}")
    index = faiss.read_index(str(folder / "CPU.faiss"))
    index.nprobe = index.nlist // 16
    queries = asked / np.linalg.norm(asked, axis=1, keepdims=True)
    for place in places:
        here = index if place == "CPU" else faiss.index_cpu_to_gpu(faiss.StandardGpuResources(), 0, index)
        here.nprobe = index.nprobe
        proposed = zip(queries, here.search(queries, 100)[1], strict=True)
        answers[place] = [np.sort(rows)[np.argsort(-(vectors[np.sort(rows)] @ query))[:10]].tolist() for query, rows in proposed]
        equal = np.mean([ours == theirs for ours, theirs in zip(answers[place], answers["CPU"], strict=True)])
        for how, asked_for, seconds in paces(partial(here.search, k=100), queries, "cpu"):
            work = f"FAISS, the same IVF searched {how} on the {place}"
            yield row(work, asked_for, "queries", seconds, "", f"{equal:.2%} of answers equal")
    if "GPU" in places:
        yield from exact_on_gpu(np.concatenate([vectors] * 10), queries)


def paces(search: Callable[[Any], Any], queries: Any, device: str) -> Iterator[tuple[str, int, float]]:
    """How many queries took how long: some one by one, and all at once, each after a search that warms up."""
    few = queries[:200]
    search(queries[:1])
    yield "one by one", len(few), timed(lambda: [search(query[None]) for query in few], device)
    search(queries)
    yield "at once", len(queries), timed(lambda: search(queries), device)


def exact_on_gpu(vectors: Any, queries: Any) -> Iterator[dict[str, Any]]:
    """Every vector, by torch as `evaluate` does, and by FAISS."""
    faiss = load_faiss()
    ours = full_corpus.OnDevice([vectors], "cuda")
    flat = faiss.index_cpu_to_gpu(faiss.StandardGpuResources(), 0, faiss.IndexFlatIP(vectors.shape[1]))
    flat.add(vectors)
    ways: dict[str, Callable[[Any], Any]] = {"torch": partial(ours.greatest, k=100, metric="ip"), "FAISS": partial(flat.search, k=100)}
    for name, search in ways.items():
        for how, asked, seconds in paces(search, queries, "cuda"):
            read = f"{asked * vectors.nbytes / seconds / 1e12:.2f} TB/s" if how == "one by one" else ""
            yield row(f"exact, {len(vectors):,} vectors, {how}, by {name}", asked, "queries", seconds, "", read)


if __name__ == "__main__":
    main()
