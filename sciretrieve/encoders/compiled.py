"""The CPU runtime: an encoder compiled to OpenVINO once, cached by content, and started without torch ever after."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import shutil
import tempfile
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ..errors import InvalidRequest, Unavailable
from ..files import sync_file
from ..types import Metric, Vectors
from .catalogue import EncoderSpec, spec_of
from .tokens import batches, open_tokenizer

Precision = Literal["auto", "bf16", "fp32"]
LOG = logging.getLogger(__name__)
HINTS = {"bf16": "bf16", "fp32": "f32"}


class CompiledEncoder:
    """An encoder of the catalogue, ready to run on this machine's CPU. Nothing loads before the first text."""

    def __init__(self, spec: EncoderSpec, precision: Precision = "auto") -> None:
        self.spec = spec
        self._asked = precision

    @property
    def name(self) -> str:
        """The encoder's name in the catalogue."""
        return self.spec.name

    @property
    def dim(self) -> int:
        """The vectors' dimension."""
        return self.spec.dim

    @property
    def metric(self) -> Metric:
        """The similarity that the model was trained for."""
        return self.spec.metric

    @property
    def symmetric(self) -> bool:
        """Whether a paper in place of a query is encoded just as a paper of the corpus is."""
        return self.spec.sides.paper == self.spec.sides.paper_as_query

    def identity(self) -> dict[str, Any]:
        """All that decides the vectors; see `EncoderSpec.identity`."""
        return self.spec.identity()

    def encode_papers(self, titles: Sequence[str], abstracts: Sequence[str], *, as_query: bool = False) -> Vectors:
        """Encode papers, shape (n, dim) float32; `as_query` takes the side of a paper that is searched with."""
        template = self.spec.sides.paper_as_query if as_query else self.spec.sides.paper
        return self._encode(
            [template.format(title=title, abstract=abstract).strip() for title, abstract in zip(titles, abstracts, strict=True)]
        )

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """Encode text queries, shape (n, dim) float32."""
        return self._encode([self.spec.sides.query.format(text=text) for text in texts])

    @cached_property
    def precision(self) -> Literal["bf16", "fp32"]:
        """The precision that the model runs in: bf16 only where the CPU computes in it, for elsewhere it is slower."""
        able = "BF16" in self._core.get_property("CPU", "OPTIMIZATION_CAPABILITIES")
        if self._asked == "bf16" and not able:
            raise InvalidRequest("this CPU has no bf16 arithmetic, which would run several times slower than fp32; use --precision fp32")
        return "bf16" if able and self._asked != "fp32" else "fp32"

    @cached_property
    def folder(self) -> Path:
        """Where the compiled graph and the tokenizer are cached; compiles them first if need be."""
        import openvino

        content = json.dumps([self.spec.identity(), openvino.__version__], sort_keys=True)
        folder = cache_directory() / "encoders" / f"{self.name}-{hashlib.sha256(content.encode()).hexdigest()[:16]}"
        if not (folder / "model.xml").exists():
            _compile(self.spec, folder)
        return folder

    @cached_property
    def _core(self) -> Any:
        import openvino

        return openvino.Core()

    @cached_property
    def _tokenizer(self) -> Any:
        return open_tokenizer(self.folder / "tokenizer.json", self.spec.max_length)

    @cached_property
    def _request(self) -> Any:
        # one synchronous request at a time: the latency hint gives it all cores
        settings = {
            "PERFORMANCE_HINT": "LATENCY",
            "INFERENCE_PRECISION_HINT": HINTS[self.precision],
            "CACHE_DIR": str(self.folder / "compiled"),
        }
        return self._core.compile_model(self.folder / "model.xml", "CPU", settings).create_infer_request()

    def _encode(self, texts: Sequence[str]) -> Vectors:
        vectors = np.empty((len(texts), self.dim), np.float32)
        for batch in batches(self._tokenizer, texts):
            result = self._request.infer({"input_ids": batch.ids, "attention_mask": batch.mask}, share_inputs=True)
            vectors[batch.places] = result[0]
        return vectors


def load_encoder(name: str, precision: Precision = "auto") -> CompiledEncoder:
    """The encoder called `name` in the catalogue. Raises UnknownName."""
    return CompiledEncoder(spec_of(name), precision)


def cache_directory() -> Path:
    """Where compiled encoders are kept: $SCIRETRIEVE_CACHE, else the user's cache directory."""
    if own := os.environ.get("SCIRETRIEVE_CACHE"):
        return Path(own)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sciretrieve"


def _compile(spec: EncoderSpec, folder: Path) -> None:
    from .convert import check_files, convert

    source = spec.directory()
    check_files(spec, source)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix=".compiling-", dir=folder.parent))
    except OSError as error:
        raise Unavailable(
            f"the cache {folder.parent} cannot be written ({error.strerror}); name another with $SCIRETRIEVE_CACHE"
        ) from error
    LOG.info("compiling the encoder %s for this machine, once: some 10 s", spec.name)
    try:
        convert(spec, source, work / "model.xml")
        shutil.copyfile(source / "tokenizer.json", work / "tokenizer.json")
        for file in work.iterdir():
            sync_file(file)
        try:
            work.rename(folder)
        except OSError:
            if not (folder / "model.xml").exists():  # another process may have been first, which is as good
                raise
    finally:
        shutil.rmtree(work, ignore_errors=True)
