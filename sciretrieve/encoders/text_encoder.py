"""An encoder of the catalogue or of a folder: three sides, each read by the model of its task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from ..base.choices import SIDES, Device, Metric, Precision, SideName
from ..base.errors import CorruptData, EncoderMismatch
from ..base.once import once
from ..base.types import Paper, Query, Vectors
from ..protocols import Advance, Encoder, ignore_advance
from . import encoder_cache
from .artifact import FORM, Artifact
from .openvino_runtime import load_openvino
from .resolving import positions, resolve, settings_in
from .runtimes import Runtimes, for_many, on_cpu, on_gpu, rates
from .specs import FIELD_SEPARATOR, EncoderRequest, EncoderSpec, ModelFiles, Side, sides_from
from .tokens import BUDGET, Ids, TokenReader, Tokens, ignored
from .torch_runtime import GPU_BUDGET, WINDOW, Weights, check_device, cuda_devices, has_cuda
from .weights import Hashes, hashes_of, obtain

CPU_WINDOW = 512
"""Texts encoded together on a CPU."""
MANY = 2000
"""For so many papers, measuring the fastest way to encode them is worth its seconds, once per machine."""


class TextEncoder(Encoder):
    """An encoder that reads text. Files are located and models loaded when first needed.

    `known_hashes` are an index's hashes of its files; with them, a converted model in the cache is enough, without the weights. `late` says
    whether it also gives token vectors, see `with_tokens`.
    """

    def __init__(
        self,
        spec: EncoderSpec,
        request: EncoderRequest,
        precision: Precision = "auto",
        device: Device = "auto",
        known_hashes: Mapping[str, Hashes] | None = None,
        late: bool = False,
    ) -> None:
        check_device(device)
        self.spec = spec
        self.request = request
        self._precision, self._device, self._known_hashes = precision, device, known_hashes
        self._models: dict[str, Runtimes] = {}
        self._opening = Lock()
        self._many = False
        self.late = late

    @property
    def name(self) -> str:
        """The encoder's name, with the adapter if a different one was requested."""
        return str(self.request)

    @property
    def metric(self) -> Metric:
        """The similarity that the model was trained for."""
        return self.spec.metric

    @property
    def dim(self) -> int:
        """The vectors' dimension."""
        return self.artifact.dim

    @property
    def precision(self) -> str:
        """The arithmetic for papers."""
        return self._paper_model.precision

    @property
    def ran_in(self) -> tuple[str, ...]:
        """The runtimes that have encoded papers, in order; see `protocols.Encoder`."""
        return self._paper_model.ran_in

    def expect(self, papers: int) -> None:
        """See `protocols.Encoder`."""
        self._many = papers >= MANY and not self._on_gpu

    @once
    def window(self) -> int:
        """The best number of papers to encode at once."""
        return WINDOW * len(cuda_devices()) if self._on_gpu else CPU_WINDOW

    @property
    def symmetric(self) -> bool:
        """Whether a paper as a query is encoded like a paper of the corpus."""
        return self.spec.sides.paper == self.spec.sides.paper_as_query

    def identity(self) -> dict[str, Any]:
        """Everything that determines the vectors, as a manifest records it: encoders with equal identities agree."""
        spec = self.spec
        return {
            "name": self.name,
            "asked": asdict(self.request),
            "layout": spec.layout,
            "files": {role: dict(hashes) for role, hashes in self.hashes.items()},
            "sides": asdict(spec.sides),
            "tasks": list(spec.tasks),
            "pooling": spec.pooling,
            "normalise": spec.normalise,
            "max_length": self.max_length,
            "metric": spec.metric,
            "dim": self.dim,
        }

    def tokenise(self, papers: Sequence[Paper]) -> Tokens:
        """The first half of `encode_papers`. It needs no model, and may run ahead in another thread."""
        budget = self._paper_model.budget if self._many else self._budget
        return self._tokenise(self.spec.sides.paper, papers, budget)

    def encode(self, tokens: Tokens, advance: Advance = ignore_advance) -> Vectors:
        """The second half of `encode_papers`."""
        return self.encode_late(tokens, ignored, advance)[0]

    def encode_late(self, tokens: Tokens, read: TokenReader, advance: Advance = ignore_advance) -> tuple[Vectors, list[Any]]:
        """As `encode`, with the results of `read` for the token vectors of each batch; only `with_tokens`."""
        return self._paper_model.run(tokens, read, advance)

    def truncated(self, tokens: Tokens) -> int:
        """The number of tokenised papers that are longer than the model's limit."""
        return tokens.truncated

    def words(self, name: SideName, paper: Paper) -> list[str]:
        """The word of each token of a text on one side, in the order of its token vectors."""
        side = self.spec.sides.side(name)
        artifact = self._model(side.task).artifact
        return artifact.words(side.filled(paper.title, paper.abstract, artifact.separator))

    def encode_papers_late(self, papers: Sequence[Paper]) -> list[Vectors]:
        """The token vectors of each paper of a corpus, (tokens, dim) float32 of unit length; only `with_tokens`."""
        tokens = self.tokenise(papers)
        return _of_texts(tokens, self.encode_late(tokens, _by_text)[1])

    def encode_queries(self, queries: Sequence[Query]) -> Vectors:
        """Encode queries, texts or papers: shape (n, dim) float32."""
        return self._encoded(queries, ignored)[0]

    def encode_queries_late(self, queries: Sequence[Query]) -> tuple[Vectors, list[Vectors]]:
        """As `encode_queries`, with the token vectors of each query, (tokens, dim) float32 of unit length; only `with_tokens`."""
        return self._encoded(queries, _by_text)

    def _encoded(self, queries: Sequence[Query], read: TokenReader) -> tuple[Vectors, list[Vectors]]:
        """The vectors of queries, each by its side; and their token vectors, if `read` keeps them."""
        vectors = np.empty((len(queries), self.dim), np.float32)
        states = [np.empty((0, self.dim), np.float32)] * len(queries)
        for name in SIDES:
            places = [place for place, query in enumerate(queries) if query.side == name]
            if places:
                side = self.spec.sides.side(name)
                tokens = self._tokenise(side, [queries[place].paper or Paper("", queries[place].text) for place in places], self._budget)
                vectors[places], readings = self._model(side.task).run(tokens, read)
                for place, text in zip(places, _of_texts(tokens, readings) if readings else (), strict=False):
                    states[place] = text
        return vectors, states

    def encode_pairs(self, pairs: Sequence[tuple[str, str]]) -> Vectors:
        """Score pairs of texts with a cross-encoder, shape (n, 1) float32."""
        model = self._model(self.spec.sides.paper.task)
        separator = model.artifact.separator
        texts = [(first.replace(FIELD_SEPARATOR, separator), second.replace(FIELD_SEPARATOR, separator)) for first, second in pairs]
        return model.run(model.artifact.tokenise(texts, self._budget))[0]

    @property
    def artifact(self) -> Artifact:
        """The artifact in the cache that reads papers."""
        return self._model(self.spec.sides.paper.task).artifact

    def with_tokens(self) -> TextEncoder:
        """The same encoder, also with token vectors, for which its last layer computes all tokens."""
        if self.late:
            return self
        encoder = TextEncoder(self.spec, self.request, self._precision, self._device, self._known_hashes, late=True)
        encoder._many = self._many
        return encoder

    def rates(self) -> Mapping[str, float]:
        """Tokens per second of the ways to encode many papers, as measured on this machine; its files must be here."""
        folder = self._folder(self.spec.sides.paper.task)
        return rates(Artifact(folder)) if Artifact.exists(folder) else {}

    @once
    def folders(self) -> dict[str, Path]:
        """The folders of the parts for the three sides, by role. Raises Unavailable."""
        roles = dict.fromkeys(role for task in self.spec.sides.tasks for role in self.spec.roles(task))
        return {role: obtain(self.spec.parts[role], self.name) for role in roles}

    @once
    def hashes(self) -> Mapping[str, Hashes]:
        """The digests of the files, by role."""
        if self._known_hashes is not None:
            return self._known_hashes
        return {role: hashes_of(self.spec.parts[role], folder, self.name) for role, folder in self.folders.items()}

    @once
    def max_length(self) -> int:
        """The most tokens of a text that it reads, special ones included: the spec's limit, or the model's number of positions."""
        if self._known_hashes is not None or self.spec.layout == "packed":
            return self.spec.max_length  # an index's spec has the right length, and so have files that never change
        config = settings_in(self.folders["base"] / ("bert_config.json" if self.spec.layout == "oagbert" else "config.json"))
        return min(self.spec.max_length, positions(config) or self.spec.max_length)

    @property
    def _paper_model(self) -> Runtimes:
        return self._for_many if self._many else self._model(self.spec.sides.paper.task)

    def _tokenise(self, side: Side, papers: Sequence[Paper], budget: int) -> Tokens:
        artifact = self._model(side.task).artifact
        return artifact.tokenise([side.filled(paper.title, paper.abstract, artifact.separator) for paper in papers], budget)

    @property
    def _budget(self) -> int:
        return GPU_BUDGET if self._on_gpu else BUDGET

    @once
    def _on_gpu(self) -> bool:
        return self._device == "cuda" or (self._device == "auto" and has_cuda())

    def _model(self, task: str) -> Runtimes:
        """Runs a task for single texts."""
        with self._opening:
            if task not in self._models:
                self._models[task] = self._open_model(task)
            return self._models[task]

    @once
    def _for_many(self) -> Runtimes:
        """Runs the papers' task for many papers."""
        few, task = self._model(self.spec.sides.paper.task), self.spec.sides.paper.task
        if not few.artifact.has_graph:
            return few
        return Runtimes(
            self.name,
            few.artifact,
            self._precision,
            lambda: for_many(self.name, few.artifact, self._precision, few.precision, lambda: self._weights(task)),
        )

    def _folder(self, task: str) -> Path:
        """The folder of a task in the cache, which may not exist yet."""
        spec = self.spec
        hashes = {role: self.hashes[role] for role in spec.roles(task)}
        facts = [FORM, spec.layout, hashes, task, spec.pooling, spec.normalise, self.max_length, load_openvino().__version__]
        name = f"{spec.name}-{task}{'-late' * self.late}"
        return encoder_cache.folder_for(encoder_cache.graphs_directory(), name, [*facts, *(["late"] if self.late else [])])

    def _open_model(self, task: str) -> Runtimes:
        folder = self._folder(task)
        if not Artifact.exists(folder):
            from .conversion import convert

            source = self._weights(task)
            convert(source.spec, task, source.folders, folder, self.late)
        artifact, list_runtimes = Artifact(folder), on_gpu if self._on_gpu else on_cpu
        return Runtimes(self.name, artifact, self._precision, lambda: list_runtimes(artifact, self._precision, lambda: self._weights(task)))

    def _weights(self, task: str) -> Weights:
        source = self._with_weights()
        return Weights(source.spec, task, source.folders)

    def _with_weights(self) -> TextEncoder:
        """This encoder, with its files on this machine, which must be those of the index.

        Raises:
            EncoderMismatch: they are not.
        """
        if self._known_hashes is None:
            return self
        todays_encoder = TextEncoder(resolve(self.request), self.request, self._precision, self._device)
        if todays_encoder.hashes != self._known_hashes:
            raise EncoderMismatch(self.name, todays_encoder.name, "weights")
        return todays_encoder


def from_identity(identity: Mapping[str, Any], precision: Precision, device: Device) -> TextEncoder:
    """The encoder that an index was built with, from the identity in its manifest.

    Raises:
        CorruptData: the identity is damaged.
    """
    try:
        spec = EncoderSpec(
            name=identity["asked"]["encoder"],
            about="",
            layout=identity["layout"],
            # the converted model in the cache does not depend on the source
            parts={role: ModelFiles("", tuple(hashes)) for role, hashes in identity["files"].items()},
            sides=sides_from(identity["sides"]),
            pooling=identity["pooling"],
            normalise=identity["normalise"],
            metric=identity["metric"],
            max_length=int(identity["max_length"]),
            citation="",
            tasks=tuple(identity["tasks"]),
        )
        encoder = TextEncoder(spec, EncoderRequest(**identity["asked"]), precision, device, {**identity["files"]})
    except (KeyError, TypeError, ValueError) as error:
        raise CorruptData(f"the manifest's encoder is damaged ({type(error).__name__}: {error}); rebuild the index") from error
    return encoder


def _of_texts(tokens: Tokens, readings: Sequence[Sequence[Vectors]]) -> list[Vectors]:
    """The vectors of `_by_text` for each batch, in the order of the texts."""
    texts = {
        place: text
        for batch, batch_texts in zip(tokens.batches, readings, strict=True)
        for place, text in zip(batch.places.tolist(), batch_texts, strict=True)
    }
    return [texts[place] for place in range(tokens.texts)]


def _by_text(states: Vectors, counts: Ids) -> list[Vectors]:
    """The token vectors of each text of a batch."""
    return [states[end - count : end] for end, count in zip(np.cumsum(counts).tolist(), counts.tolist(), strict=True)]
