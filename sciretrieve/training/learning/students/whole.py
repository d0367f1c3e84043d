"""Trains whole models: unchanged; with the format's control code before each text (Singh et al. 2023, §5); or a BERT with new parts, in the
layout of the paper's authors.
"""

from __future__ import annotations

import json
import shutil
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from ....base.errors import InvalidRequest
from ....encoders.catalogue import MODEL_FILES
from ....encoders.specs import EncoderSpec, Side, Sides
from ....encoders.trained import CHECKPOINT
from ....files.writing import write_json, write_whole
from ...presets import Plan
from .student import FORMATS, Student, read_by, read_through


class Whole(Student):
    """Trains all weights, written as transformers and sentence-transformers read them."""

    def prepare(self, plan: Plan) -> None:
        """See `Student`: all weights are trained as they are."""

    def as_trained(self) -> EncoderSpec:
        sides = read_by(self.base_spec.sides, "", "")
        return replace(self.base_spec, layout="transformers", sides=sides, tasks=(), kinds={}, late=False)

    def write_model(self, folder: Path) -> None:
        self.model.save_pretrained(folder)
        self.write_tokenizer(folder)
        self._write_modules(folder)

    def write_tokenizer(self, folder: Path) -> None:
        """Write the tokenizer as transformers reads it."""
        source = self.folders["base"]
        names = (name.removesuffix("?") for entry in MODEL_FILES[2:] for name in entry.split("|"))
        for name in dict.fromkeys(names):
            if (source / name).is_file():
                shutil.copyfile(source / name, folder / name)
        self.tokenizer.no_truncation()
        self.tokenizer.save(str(folder / "tokenizer.json"))
        if not (folder / "tokenizer_config.json").is_file():
            special = {"tokenizer_class": "PreTrainedTokenizerFast", "sep_token": self.separator}
            write_json(folder / "tokenizer_config.json", special)

    def _write_modules(self, folder: Path) -> None:
        """Write sentence-transformers' files: the pooling of token states, and the metric."""
        spec = self.spec
        kinds = [("", "Transformer"), ("1_Pooling", "Pooling"), *([("2_Normalize", "Normalize")] if spec.normalise else [])]
        modules = [
            {"idx": number, "name": str(number), "path": path, "type": f"sentence_transformers.models.{kind}"}
            for number, (path, kind) in enumerate(kinds)
        ]
        (folder / "1_Pooling").mkdir()
        write_whole(folder / "modules.json", json.dumps(modules, indent=1).encode())
        modes = {"pooling_mode_mean_tokens": spec.pooling == "mean", "pooling_mode_cls_token": spec.pooling == "cls"}
        write_json(folder / "1_Pooling" / "config.json", {"word_embedding_dimension": self.dim, **modes})
        similarity = {"cosine": "cosine", "ip": "dot", "l2": "euclidean"}[spec.metric]
        write_json(folder / "config_sentence_transformers.json", {"similarity_fn_name": similarity})
        write_json(folder / "sentence_bert_config.json", {"max_seq_length": spec.max_length, "do_lower_case": False})


class Coded(Whole):
    """Trains all weights and a control code for each format. The vector is the state of the code, the token after [CLS]."""

    def prepare(self, plan: Plan) -> None:
        """See `Student`: the codes' embeddings begin at random."""
        self.tokenizer.add_special_tokens([FORMATS[name] for name in self.formats])
        self.model.resize_token_embeddings(self.tokenizer.get_vocab_size(), mean_resizing=False)

    def as_trained(self) -> EncoderSpec:
        codes = {name: FORMATS[name] for name in self.formats}
        spec = read_through(super().as_trained(), codes, "transformers")
        sides = Sides(*(Side(f"{side.task} {side.text}") for side in (spec.sides.paper, spec.sides.query, spec.sides.paper_as_query)))
        return replace(spec, sides=sides, tasks=(), pooling="second", codes=tuple(codes.values()))

    def side(self, format: str, side: Side) -> Side:
        return side.with_code(FORMATS[format])

    def _write_modules(self, folder: Path) -> None:
        """Write nothing: sentence-transformers has no such pooling."""


class OfBert(Whole):
    """A whole BERT with new parts; its folder has the configuration, the tokenizer, and what `weights` gives."""

    weights_file = CHECKPOINT

    def prepare(self, plan: Plan) -> None:
        if self.model.config.model_type != "bert":
            raise InvalidRequest(
                f"{plan.base} is a {self.model.config.model_type}, not a BERT, and the method {plan.method!r} takes a BERT: "
                "begin with scibert, pubmedbert or another"
            )
        self.model.pooler = None
        self.extend(plan)

    @abstractmethod
    def extend(self, plan: Plan) -> None:
        """Add the new parts to the BERT, and mark the weights to train."""

    @abstractmethod
    def weights(self) -> Mapping[str, Any]:
        """The content of the file of weights."""

    def write_model(self, folder: Path) -> None:
        self.model.config.save_pretrained(folder)
        self.write_tokenizer(folder)
        torch.save(dict(self.weights()), folder / self.weights_file)
