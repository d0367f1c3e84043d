"""What does a GPU bring: encoding, full-corpus evaluation and training, and does it answer as the CPU does? One call of some minutes.

    python bench/gpu.py --json gpu.json                                    on a machine with a GPU
    python bench/gpu.py --device cpu --papers 64 --queries 512 --corpus_papers 5000 --steps 3 --size 1024       to see whether it runs

Encoders are the embedded MiniLM and SPECTER2's shape, a BERT-base with an active adapter and random weights; texts are a corpus's papers,
repeated. Shares are of the best product of square matrices that torch makes on the device in the same run, in the encoder's precision, and
in fp32 for evaluation. That is of SciDocs' size: each of 90,000 queries against 142,009 papers of 768 dimensions. Training is an adapter on
that BERT-base, by triplets.
"""

from __future__ import annotations

import itertools
import json
import os
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from encode import SIZES, make_bert_base, matrix_peak, operations, timed
from reporting import arguments, report

import sciretrieve as sr
from sciretrieve.base.types import Paper
from sciretrieve.demo import CORPUS
from sciretrieve.encoders import load_encoder
from sciretrieve.matching.dense import full_corpus
from sciretrieve.training import train

DIM, K = 768, 100
COMPARED = 64
"""Papers whose vectors, and queries whose answers, are compared with the CPU's."""


def main() -> None:
    """Measure, and print."""
    chosen = arguments(
        __doc__, device="cuda", corpus=str(CORPUS), papers=8192, queries=90_000, corpus_papers=142_009, steps=100, batch=32, size=8192
    )
    if chosen.device != "cpu" and not torch.cuda.is_available():
        raise SystemExit("there is no GPU here; `--device cpu` and small numbers try the script out")
    with tempfile.TemporaryDirectory(prefix="bert-base-") as scratch:
        os.environ["SCIRETRIEVE_MODELS"] = scratch
        make_bert_base(Path(scratch))
        kinds = {"bf16": torch.bfloat16, "fp32": torch.float32}
        peaks = {name: matrix_peak(kind, chosen.device, chosen.size) for name, kind in kinds.items()}
        papers = some_papers(chosen.corpus, chosen.papers)
        rows = [encoding(name, shape, papers, chosen.device, peaks) for name, shape in (("minilm", "minilm"), ("specter2", "bert-base"))]
        rows.append(evaluation(chosen.queries, chosen.corpus_papers, chosen.device, peaks["fp32"]))
        rows.append(training(papers, chosen.steps, chosen.batch, chosen.device, Path(scratch)))
    name = torch.cuda.get_device_name() if chosen.device != "cpu" else "the CPU"
    print(f"{name}: {peaks['bf16'] / 1e12:,.1f} TFLOP/s in bf16, {peaks['fp32'] / 1e12:,.1f} in fp32; torch {torch.__version__}")
    report(rows, chosen.json)


def row(work: str, amount: float, unit: str, seconds: float, share: float | str, agreement: str) -> dict[str, Any]:
    """A line of the table."""
    return {"work": work, "s": seconds, "a second": amount / seconds, "of": unit, "share of peak": share, "beside the CPU": agreement}


def some_papers(corpus: str, count: int) -> list[Paper]:
    """So many papers of a corpus, those of a small one again and again."""
    table = next(iter(sr.open_corpus(corpus).batches())).papers
    texts = zip(*(table[name].to_pylist() for name in ("id", "title", "abstract")), strict=True)
    papers = [Paper(*text) for text in texts]
    return [replace(paper, id=f"p{number}") for number, paper in enumerate(itertools.islice(itertools.cycle(papers), count))]


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
    options: dict[str, Any] = {"base": "specter2-base", "batch": batch, "device": device, "progress": False}
    seconds = [train([data], folder / f"trained-{count}", steps=count, **options).seconds for count in (2, steps + 2)]
    return row(f"training an adapter, batches of {batch}", steps * batch, "triplets", seconds[1] - seconds[0], "", "")


if __name__ == "__main__":
    main()
