"""Papers in int8: an encoder's graph quantised with a corpus's own papers, and the receipt for what that costs in answers there.

Weights and the inputs of matrix products become whole numbers of 8 bits, with ranges that are measured on papers (static quantisation by
NNCF). Queries are still encoded by the graph as it was.
"""

from __future__ import annotations

import contextlib
import io
import logging
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from ..choices import Metric
from ..errors import InvalidRequest, MissingExtra
from ..files.writing import sync_file
from ..matching.dense.exact import score
from ..protocols import Encoder
from ..types import Paper, Query, Rows, Vectors
from .artifact import Artifact
from .openvino_library import load_openvino
from .runtimes import comparison
from .text_encoder import TextEncoder

SAMPLE = 600
"""Papers that an encoder is quantised with and tried on, a third for the one and the rest for the other."""
LEAST_SAMPLE = 60
LARGEST_LOSS = 0.5
"""Points of nDCG@10 and of recall@100 that int8 may cost."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """What int8 cost: papers found by their titles among a sample of a corpus, encoded in int8 and as they would be without.

    Attributes:
        queries: how many titles were asked.
        papers: among how many papers.
        ndcg_loss: points (hundredths) of nDCG@10 that were lost.
        recall_loss: points of recall@100 that were lost.
        cosine: the least cosine between the two vectors of a paper.
    """

    queries: int
    papers: int
    ndcg_loss: float
    recall_loss: float
    cosine: float

    def __str__(self) -> str:
        return (
            f"nDCG@10 changes by {-self.ndcg_loss:+.2f} points and recall@100 by {-self.recall_loss:+.2f}, "
            f"for {self.queries} titles among {self.papers} papers"
        )


def check_int8(encoder: Encoder) -> TextEncoder:
    """The encoder, if papers can be encoded in int8 by it.

    Raises:
        InvalidRequest: it is not run by OpenVINO on the CPU.
        MissingExtra: NNCF is not installed.
    """
    if not isinstance(encoder, TextEncoder) or not encoder.runs_in_openvino:
        raise InvalidRequest(
            f"`precision='int8'` is for models that OpenVINO runs on the CPU, which {encoder.name} is not; use `precision='auto'`"
        )
    if find_spec("nncf") is None:
        raise MissingExtra("nncf", "int8", 'pip install "sciretrieve[int8]"')
    return encoder


def in_int8(encoder: Encoder, folder: Path) -> TextEncoder:
    """The same encoder, whose papers go through the quantised graph in a folder that `quantise` wrote."""
    assert isinstance(encoder, TextEncoder)
    return encoder.quantised(folder)


def quantise(encoder: Encoder, papers: Sequence[Paper], folder: Path) -> Receipt:
    """Write an encoder's graph in int8 into a folder, in place of what is there.

    Args:
        encoder: the encoder.
        papers: a sample of the corpus, spread over it.
        folder: where the graph goes, for `in_int8`.

    Returns:
        What it costs.

    Raises:
        InvalidRequest: there are too few papers; or int8 costs more than half a point of nDCG@10 or of recall@100.
        InvalidRequest, MissingExtra: as `check_int8`.
    """
    plain = check_int8(encoder)
    if len(papers) < LEAST_SAMPLE:
        raise InvalidRequest(
            f"`precision='int8'` needs {LEAST_SAMPLE} papers to be quantised with, not {len(papers)}; use `precision='auto'`"
        )
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    _write_graph(plain.artifact, plain.tokenise(papers[::3]).batches, folder / "model.xml")
    receipt = _receipt(plain, in_int8(plain, folder), papers)
    if max(receipt.ndcg_loss, receipt.recall_loss) > LARGEST_LOSS:
        shutil.rmtree(folder)
        raise InvalidRequest(f"int8 is too coarse for {encoder.name} on this corpus ({receipt}); use `precision='auto'`")
    return receipt


def _write_graph(artifact: Artifact, batches: Sequence[Any], target: Path) -> None:
    """Write a model's graph in int8."""
    openvino = load_openvino()
    with _quiet():
        import nncf
        from nncf.quantization.advanced_parameters import OverflowFix

    # one text at a time, without padding, which would widen the ranges
    texts = [
        {"input_ids": ids[None, mask == 1], "attention_mask": mask[None, mask == 1]}
        for batch in batches
        for ids, mask in zip(batch.ids, batch.mask, strict=True)
    ]
    with _quiet():
        graph = nncf.quantize(
            openvino.Core().read_model(artifact.folder / "model.xml"),
            nncf.Dataset(texts),
            model_type=nncf.ModelType.TRANSFORMER,
            subset_size=len(texts),
            # weights in 7 bits: at 8, sums overflow on a CPU without VNNI, and an index's graph goes from machine to machine
            advanced_parameters=nncf.AdvancedQuantizationParameters(overflow_fix=OverflowFix.ENABLE),
        )
        openvino.save_model(graph, target, compress_to_fp16=False)
    for path in (target, target.with_suffix(".bin"), target.parent, target.parent.parent):
        sync_file(path)


def _receipt(plain: TextEncoder, quantised: TextEncoder, papers: Sequence[Paper]) -> Receipt:
    exact, coarse = plain.encode_papers(papers), quantised.encode_papers(papers)
    rows = np.array([row for row, paper in enumerate(papers) if row % 3 and paper.title.strip()], np.int64)
    queries = plain.encode_queries([Query(papers[row].id, papers[row].title) for row in rows])
    before, after = (_measures(vectors, queries, rows, plain.metric) for vectors in (exact, coarse))
    losses = {name: round(100 * (before[name] - after[name]), 3) for name in before}
    return Receipt(len(rows), len(papers), losses["ndcg"], losses["recall"], round(comparison(coarse, exact)["cosine"], 5))


def _measures(vectors: Vectors, queries: Vectors, rows: Rows, metric: Metric) -> Mapping[str, float]:
    """nDCG@10 and recall@100 of queries that each have one right answer, the paper of that row."""
    scores = np.stack([score(query, vectors, metric) for query in queries])
    places = (scores > scores[np.arange(len(rows)), rows, None]).sum(axis=1)
    return {"ndcg": float(np.where(places < 10, 1 / np.log2(places + 2), 0).mean()), "recall": float((places < 100).mean())}


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Hide NNCF's progress bars and advice."""
    log = logging.getLogger("nncf")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            yield
    finally:
        log.setLevel(level)
