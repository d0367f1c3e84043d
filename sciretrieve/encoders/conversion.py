"""Converts weights into an encoder's folder in the cache, once per task. Only the embedded encoder needs no torch.

model.xml, model.bin   the model with its pooling as an OpenVINO graph in fp32, if OpenVINO can convert it
tokenizer.json         the tokenizer in its fast form
facts.json             dimension, separator, padding id, length, whether there is a graph and whether the last layer is trimmed
probe.npy              the vectors of plain torch in fp32 for `probes`, which runtimes are checked against
"""

from __future__ import annotations

import logging
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..base.errors import Unavailable
from ..base.extras import need
from ..base.types import Vectors
from ..files.writing import sync_file, write_json
from ..matching.lexical.words import STOPWORDS
from . import encoder_cache
from .artifact import probes
from .bert import graph as bert_graph
from .catalogue import GRANITE
from .openvino_runtime import load_openvino
from .packs import open_pack
from .specs import EncoderSpec, Pooling
from .tokens import open_tokenizer

LOG = logging.getLogger(__name__)
WORD_STARTS = "\u2581\u0120"
"""Prefixes of a word's first token in tokenizers other than WordPiece."""


KNOWN_VECTORS = Path(__file__).with_name("granite_probes.npy")
"""The vectors of `probes` by transformers in fp32 with granite's weights, (8, 384) float32, to check its graph without torch."""


def convert(spec: EncoderSpec, task: str, folders: Mapping[str, Path], target: Path, late: bool = False) -> None:
    """Write the folder `target` in the cache, atomically; for `late` interaction, its graph also gives token vectors.

    Raises:
        Unavailable: the cache cannot be written.
        InvalidRequest, CorruptData: the weights have another layout, or are damaged.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        work_folder = Path(tempfile.mkdtemp(prefix=".converting-", dir=target.parent))
    except OSError as error:
        parent = target.parent
        raise Unavailable(f"the cache {parent} cannot be written ({error.strerror}); name another with $SCIRETRIEVE_CACHE") from error
    LOG.info("compiling the encoder %s%s for this machine, once", spec.name, f" ({task})" if task else "")
    try:
        if spec.layout == "packed" and not task:
            facts = _write_pack(spec, folders, late, work_folder)
        else:
            facts = _write_traced(spec, task, folders, late, work_folder)
        write_json(work_folder / "facts.json", facts)
        for file in work_folder.iterdir():
            sync_file(file)
        try:
            work_folder.rename(target)
        except OSError:
            if not (target / "facts.json").exists():  # another process may have been faster
                raise
    finally:
        shutil.rmtree(work_folder, ignore_errors=True)
    encoder_cache.bound(keep=target)


def _write_pack(spec: EncoderSpec, folders: Mapping[str, Path], late: bool, work_folder: Path) -> dict[str, Any]:
    """Write the embedded encoder without torch, and return its facts."""
    openvino = load_openvino()
    bert, tokenizer = open_pack(folders["base"], spec.parts["base"])
    graph, trimmed = bert_graph(bert, spec.pooling, spec.normalise, late)
    facts = _facts(spec, tokenizer, bert.dim, bert.separator, bert.positions, late) | {"trimmed": trimmed, "graph": True}
    openvino.save_model(graph, work_folder / "model.xml", compress_to_fp16=False)
    tokenizer.save(str(work_folder / "tokenizer.json"))
    if spec.parts["base"] == GRANITE.parts["base"] and spec.pooling == GRANITE.pooling:
        shutil.copyfile(KNOWN_VECTORS, work_folder / "probe.npy")
        return facts
    compiled = openvino.Core().compile_model(graph, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})

    def run(ids: npt.NDArray[np.int64]) -> Vectors:
        vectors: Vectors = compiled({"input_ids": ids, "attention_mask": np.ones_like(ids)})[0]
        return vectors

    np.save(work_folder / "probe.npy", reference(run, work_folder / "tokenizer.json", facts))
    return facts


def _write_traced(spec: EncoderSpec, task: str, folders: Mapping[str, Path], late: bool, work_folder: Path) -> dict[str, Any]:
    """Write OpenVINO's trace of a torch model, and return its facts."""
    model, facts, tokenizer = load_model(spec, task, folders, late)
    tokenizer.save(str(work_folder / "tokenizer.json"))
    reference_vectors = reference(in_torch(model), work_folder / "tokenizer.json", facts)
    np.save(work_folder / "probe.npy", reference_vectors)
    # a trimmed last layer would lack most tokens
    trimmed = spec.pooling != "mean" and not late and _trim_if_exact(model, reference_vectors, work_folder / "tokenizer.json", facts)
    return facts | {"trimmed": trimmed, "graph": _convert(model, work_folder / "model.xml", spec.name)}


def load_model(spec: EncoderSpec, task: str, folders: Mapping[str, Path], late: bool = False) -> tuple[Any, dict[str, Any], Any]:
    """The torch model of `pooled`, its facts, and its tokenizer."""
    need("torch", f"the encoder {spec.name}")
    import torch

    from .layouts import LOADERS
    from .layouts.loading import silence

    with silence():
        loaded_model = LOADERS[spec.layout](folders, spec, task)
    model = pooled(loaded_model.model, spec.pooling, spec.normalise, late, unit=not spec.pairing)
    with torch.no_grad():
        output = model(*(torch.ones(1, 16, dtype=torch.int64) for _ in range(2)))
        dim = (output[0] if late else output).shape[1]
    tokenizer = loaded_model.tokenizer
    return model, _facts(spec, tokenizer, dim, loaded_model.separator, loaded_model.positions, late), tokenizer


def _facts(spec: EncoderSpec, tokenizer: Any, dim: int, separator: str, positions: int, late: bool) -> dict[str, Any]:
    """The facts in facts.json, except `trimmed` and `graph`."""
    padding = tokenizer.padding["pad_id"] if tokenizer.padding else None
    if padding is None:
        padding = next((number for token in ("[PAD]", "<pad>") if (number := tokenizer.token_to_id(token)) is not None), 0)
    facts = {"dim": dim, "separator": separator, "padding": padding, "max_length": min(spec.max_length, positions), "late": late}
    if late:
        # sentences are means of all their tokens
        facts["idle"] = [] if spec.pairing else _idle(tokenizer, padding, separator)
    return facts


def _idle(tokenizer: Any, padding: int, separator: str) -> list[int]:
    """The ids of tokens without a meaning of their own, see `Artifact.idle`."""
    ids = {padding, *tokenizer.encode("").ids, tokenizer.token_to_id(separator)} - {None}
    for token, id in tokenizer.get_vocab().items():
        word = token.lstrip(WORD_STARTS).lower()
        if word in STOPWORDS or not any(map(str.isalnum, word)):
            ids.add(id)
    return sorted(ids)


def _trim_if_exact(model: Any, reference_vectors: Vectors, tokenizer_file: Path, facts: Mapping[str, Any]) -> bool:
    """Trim the model if that leaves its vectors unchanged. Returns whether it was trimmed."""
    from .layouts.trimming import trim, untrim

    if not trim(model.model):
        return False
    if np.abs(reference(in_torch(model), tokenizer_file, facts) - reference_vectors).max() > 1e-4:
        untrim(model.model)
        return False
    return True


def pooled(model: Any, pooling: Pooling, normalise: bool, late: bool = False, *, unit: bool = True) -> Any:
    """A module that pools a model's token states, in fp32 regardless of the model's own precision.

    It takes ids and mask, (texts, length), and gives vectors, (texts, dim); for `late` interaction also the token states before pooling,
    (texts, length, dim), scaled to unit length if `unit`.
    """
    import torch

    class Pooled(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, input_ids: Any, attention_mask: Any) -> Any:
            states = self.model(input_ids, attention_mask).float()
            if pooling == "mean":
                mask = attention_mask.unsqueeze(-1).to(states.dtype)
                vectors = (states * mask).sum(1) / mask.sum(1).clamp(min=1.0)
            else:
                vectors = states[:, 0 if pooling == "cls" else 1]
            vectors = torch.nn.functional.normalize(vectors, dim=-1) if normalise else vectors
            if not late:
                return vectors
            return vectors, torch.nn.functional.normalize(states, dim=-1) if unit else states

    return Pooled().eval()


def reference(run: Callable[[npt.NDArray[np.int64]], Vectors], tokenizer_file: Path, facts: Mapping[str, Any]) -> Vectors:
    """A model's vectors for `probes`, one text at a time, without padding: (texts, dim) float32. `run` takes ids, (1, length)."""
    tokenizer = open_tokenizer(tokenizer_file, facts["max_length"])
    encodings = tokenizer.encode_batch_fast(list(probes(facts["dim"])))
    return np.concatenate([run(np.array([encoding.ids], np.int64)) for encoding in encodings]).astype(np.float32, copy=False)


def in_torch(model: Any) -> Callable[[npt.NDArray[np.int64]], Vectors]:
    """A torch model as an argument of `reference`."""
    import torch

    def run(ids: npt.NDArray[np.int64]) -> Vectors:
        with torch.no_grad():
            output = model(torch.from_numpy(ids), torch.ones(ids.shape, dtype=torch.int64))
        vectors: Vectors = (output[0] if isinstance(output, tuple) else output).numpy()
        return vectors

    return run


def _convert(model: Any, target: Path, name: str) -> bool:
    """Write the model as an OpenVINO graph in fp32. Returns False, with a warning, if OpenVINO cannot convert it."""
    import torch

    from .layouts.loading import silence

    openvino = load_openvino()
    example = {name: torch.ones(2, 16, dtype=torch.int64) for name in ("input_ids", "attention_mask")}
    try:
        # tracing warns about each shape that it treats as constant
        with torch.no_grad(), silence():
            graph = openvino.convert_model(model, example_input=example)
            openvino.save_model(graph, target, compress_to_fp16=False)
    except Exception as error:  # OpenVINO's front end raises several classes, including RuntimeError
        LOG.warning("OpenVINO cannot take %s (%s); it runs in torch, with the same batches", name, str(error).strip().splitlines()[0][:200])
        for file in (target, target.with_suffix(".bin")):
            file.unlink(missing_ok=True)
        return False
    return True
