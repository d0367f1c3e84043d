"""From a model folder to a compiled graph: the one file that imports torch and transformers, run once an encoder."""

from __future__ import annotations

import hashlib
import warnings
from pathlib import Path
from typing import Any

from ..errors import CorruptData, Unavailable
from .catalogue import EncoderSpec


def check_files(spec: EncoderSpec, directory: Path) -> None:
    """Compare the files in `directory` with the spec's hashes.

    Raises:
        Unavailable: a file is missing.
        CorruptData: a file is not what it should be.
    """
    for name, expected in spec.files.items():
        path = directory / name
        if not path.is_file():
            raise Unavailable(f"{spec.name}: {path} is missing; install its package {spec.package} again")
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != expected:
            raise CorruptData(f"{spec.name}: {path} has SHA-256 {found[:12]}…, expected {expected[:12]}…; install its package again")


def convert(spec: EncoderSpec, directory: Path, target: Path) -> None:
    """Write the model in `directory`, with its pooling, as an OpenVINO graph (fp32) to `target`, a .xml path.

    The graph takes `input_ids` and `attention_mask`, both (texts, length) int64, and gives (texts, dim) float32.
    """
    import openvino
    import torch
    from transformers import AutoModel
    from transformers.utils import logging

    logging.set_verbosity_error()
    model = AutoModel.from_pretrained(directory, local_files_only=True).eval()

    class Pooled(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, input_ids: Any, attention_mask: Any) -> Any:
            states = self.model(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
            if spec.pooling == "cls":
                pooled = states[:, 0]
            else:
                mask = attention_mask.unsqueeze(-1).to(states.dtype)
                pooled = (states * mask).sum(1) / mask.sum(1).clamp(min=1.0)
            return torch.nn.functional.normalize(pooled, dim=-1) if spec.normalise else pooled

    example = {name: torch.ones(2, 8, dtype=torch.int64) for name in ("input_ids", "attention_mask")}
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # tracing warns about each shape that it takes as constant
        graph = openvino.convert_model(Pooled(), example_input=example)
    openvino.save_model(graph, target, compress_to_fp16=False)
