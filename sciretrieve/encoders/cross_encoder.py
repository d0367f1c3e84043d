"""Cross-encoders: models that read a query and a paper together and give one score, too slow for more than a few papers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ..base.choices import Device, Precision
from ..base.types import Paper, Query
from .catalogue import CATALOGUE, MODEL_FILES, TITLE_ABSTRACT, same
from .resolving import USUAL_LENGTH, is_path, settings_in
from .specs import EncoderRequest, EncoderSpec, ModelFiles
from .text_encoder import TextEncoder
from .weights import REPOSITORY, obtain

CLASSIFIER = "ForSequenceClassification"
"""The ending of transformers' class names for models that give one list of labels for a text or pair."""


class CrossEncoder:
    """A reranker. It runs as an encoder of pairs whose vectors have one dimension."""

    def __init__(self, encoder: TextEncoder) -> None:
        self._encoder = encoder

    @property
    def name(self) -> str:
        """The requested name."""
        return self._encoder.name

    @property
    def precision(self) -> str:
        """The arithmetic of the model: "bf16" or "fp32"."""
        return self._encoder.precision

    def score(self, query: Query, papers: Sequence[Paper]) -> npt.NDArray[np.float64]:
        """A score of each paper for the query, shape (n,) float64; greater is better, the scale is the model's own.

        A paper as a query is read as its title and abstract. If the two texts are too long together, the longer one is cut at its end.

        Raises:
            InvalidRequest: the model gives no score, or cannot run on this device in this precision.
            CorruptData: its files are damaged.
            Unavailable: its files or the cache cannot be reached.
        """
        pairs = [(query.words.strip(), f"{paper.title} {paper.abstract}".strip()) for paper in papers]
        return self._encoder.encode_pairs(pairs)[:, 0].astype(np.float64)


def open_cross_encoder(name: str, *, precision: Precision = "auto", device: Device = "auto") -> CrossEncoder | None:
    """The cross-encoder in a folder or at a hub id; None for other models and names.

    Its files are downloaded now, and compiled at the first score.

    Args:
        name: a folder or a hub id with a model whose config.json names a class …ForSequenceClassification.
        precision: "bf16", "fp32", or "auto": bf16 if the machine supports it.
        device: "cpu", "cuda", or "auto": a GPU if there is one.

    Raises:
        InvalidRequest: there is no such folder or device, or the folder lacks a file.
        Unavailable: files cannot be downloaded or found.
        CorruptData: config.json or tokenizer_config.json is damaged.
    """
    if name in CATALOGUE or not (is_path(name) or REPOSITORY.fullmatch(name)):
        return None
    source = str(Path(name).expanduser().resolve()) if is_path(name) else name
    # a small file, which shows whether the weights are needed
    config = settings_in(obtain(ModelFiles(source, ("config.json",)), name) / "config.json")
    if not any(str(kind).endswith(CLASSIFIER) for kind in config.get("architectures") or ()):
        return None
    part = ModelFiles(source, MODEL_FILES)
    length = settings_in(obtain(part, name) / "tokenizer_config.json", {}).get("model_max_length")
    # 10^30 means "unknown" there
    plausible = isinstance(length, int) and 0 < length <= (config.get("max_position_embeddings") or USUAL_LENGTH)
    spec = EncoderSpec(
        name=name,
        about="a cross-encoder",
        layout="cross",
        parts={"base": part},
        sides=same(TITLE_ABSTRACT),
        pooling="cls",
        normalise=False,
        metric="ip",
        max_length=length if plausible else USUAL_LENGTH,
        citation=source if is_path(name) else f"https://huggingface.co/{name}",
    )
    return CrossEncoder(TextEncoder(spec, EncoderRequest(name), precision, device))
