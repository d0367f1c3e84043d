"""What is trained: an encoder whose adapters, or all of whose weights, can change; how it reads, and how it is written."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...encoders.catalogue import MODEL_FILES
from ...encoders.conversion import pooled
from ...encoders.layouts import LOADERS
from ...encoders.layouts.loading import silence
from ...encoders.resolving import resolve
from ...encoders.specs import EncoderRequest, EncoderSpec, Side
from ...encoders.tokens import Tokens, tokenise
from ...encoders.trained import ENCODER, describe_trained
from ...encoders.weights import Hashes, hashes_of, obtain
from ...errors import InvalidRequest
from ...files.writing import read_json, write_json, write_whole
from ...types import Paper
from ..presets import Plan

FORMATS: Mapping[str, str] = {"proximity": "[PRX]", "adhoc_query": "[QRY]", "classification": "[CLF]", "regression": "[RGN]"}
"""The formats of tasks by the names of SPECTER2's adapters, and SciRepEval's control code of each (Singh et al. 2023, §4)."""
TRAINABLE = ("transformers", "adapters", "packed")
"""Layouts whose base is a model of transformers' own."""


class Student:
    """An encoder in training.

    Attributes:
        spec: the encoder as it is when trained: its sides read through what is trained.
        base: the request for the encoder that it began as.
        module: token ids and mask, (texts, length), to vectors, (texts, dim).
        trained: what changes, by name.
    """

    def __init__(self, plan: Plan, formats: Sequence[str]) -> None:
        """
        Args:
            plan: names the base, and what of it is trained.
            formats: those of the tasks, by the names in `FORMATS`.

        Raises:
            UnknownName, InvalidRequest, Unavailable, CorruptData: the base cannot be found, read or trained.
        """
        import torch

        self.base = EncoderRequest(plan.base)
        self._base_spec = resolve(self.base)
        if self._base_spec.layout not in TRAINABLE or self._base_spec.members or (self._base_spec.codes and plan.method != "whole"):
            raise InvalidRequest(
                f"{plan.base} cannot be trained so: begin with a single transformers model, such as specter2-base or granite"
            )
        self.folders = {"base": obtain(self._base_spec.parts["base"], plan.base)}
        with silence():
            loaded_model = LOADERS["transformers" if self._base_spec.layout == "adapters" else self._base_spec.layout](
                self.folders, replace(self._base_spec, layout="transformers"), ""
            )
        self.tokenizer, self.separator = loaded_model.tokenizer, loaded_model.separator
        self.method, self.formats = plan.method, tuple(formats)
        self._model = loaded_model.model.model
        torch.manual_seed(plan.seed)
        self._prepare(plan)
        self.spec = _as_trained(self._base_spec, plan.method, self.formats)
        self.module = pooled(loaded_model.model, self.spec.pooling, self.spec.normalise)
        longest = min(self.spec.max_length, loaded_model.positions)
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(min(plan.length or longest, longest))
        self.padding = int(getattr(self._model.config, "pad_token_id", None) or 0)
        self.trained: dict[str, Any] = {name: value for name, value in self._model.named_parameters() if value.requires_grad}

    def _prepare(self, plan: Plan) -> None:
        """Say which weights are trained, and make those that are new."""
        if plan.method == "adapter":
            import adapters

            with silence():
                adapters.init(self._model)
                for name in self.formats:
                    self._model.add_adapter(name, config=adapters.SeqBnConfig(reduction_factor=plan.reduction))
            for name, parameter in self._model.named_parameters():
                parameter.requires_grad_(any(f"adapters.{format}." in name for format in self.formats))
        elif plan.method == "codes":
            self.tokenizer.add_special_tokens([FORMATS[name] for name in self.formats])
            with silence():
                self._model.resize_token_embeddings(self.tokenizer.get_vocab_size(), mean_resizing=False)

    @property
    def dim(self) -> int:
        """The vectors' dimension."""
        return int(self._model.config.hidden_size)

    @property
    def bytes_a_token(self) -> float:
        """What a backward pass keeps of a token of the longest text, about: states of each layer, and attention of each head."""
        config = self._model.config
        states, attention = 34 * config.hidden_size, 5 * config.num_attention_heads * self.tokenizer.truncation["max_length"]
        return 4.0 * config.num_hidden_layers * (states + attention)

    def hashes(self) -> Hashes:
        """The digests of the base's files."""
        return hashes_of(self._base_spec.parts["base"], self.folders["base"], self.spec.name)

    def sizes(self) -> dict[str, int]:
        """How many weights are trained, and how many there are in all."""
        return {
            "parameters": sum(value.numel() for value in self.trained.values()),
            "parameters_in_all": sum(value.numel() for value in self._model.parameters()),
        }

    def of_paper(self, format: str, paper: Paper) -> str:
        """A paper's text as a format reads it."""
        return self._side(format, self.spec.sides.paper).filled(paper.title, paper.abstract, self.separator)

    def of_query(self, format: str, text: str) -> str:
        """A text query's text as a format reads it."""
        return self._side(format, self.spec.sides.query).filled(text, "", self.separator)

    def _side(self, format: str, side: Side) -> Side:
        return side.with_code(FORMATS[format]) if self.method == "codes" else side

    def tokens(self, texts: Sequence[str], budget: int) -> Tokens:
        """Texts in batches of at most `budget` tokens, padding included."""
        return tokenise(self.tokenizer, texts, budget=budget, padding=self.padding)

    def encode(self, format: str, ids: Any, mask: Any, *, former: bool = False) -> Any:
        """Vectors of texts as a format reads them, (texts, dim); `former`: by the encoder as it was, without adapters."""
        if self.method == "adapter":
            self._model.set_active_adapters(None if former else format)
        return self.module(ids, mask)

    def write(self, folder: Path) -> None:
        """Write what was trained into a folder, from which `--encoder` reads it: adapters, each as `adapters` saves them, beside the
        name of their base; or a whole model as transformers and sentence-transformers save them."""
        described_spec = self.spec
        if self.method == "adapter":
            for name in self.formats:
                target = folder if len(self.formats) == 1 else folder / name
                target.mkdir(exist_ok=True)
                with silence():
                    self._model.save_adapter(str(target), name, use_safetensors=True)
                _forget_the_path(target / "adapter_config.json", self._base_spec.name)
        else:
            with silence():
                self._model.save_pretrained(folder)
            self._write_tokenizer(folder)
            _write_modules(folder, described_spec)
        write_json(folder / ENCODER, describe_trained(described_spec, self.base if self.method == "adapter" else None))

    def _write_tokenizer(self, folder: Path) -> None:
        source = self.folders["base"]
        names = [name.removesuffix("?") for entry in MODEL_FILES[2:] for name in entry.split("|")]
        for name in dict.fromkeys(names):
            if (source / name).is_file():
                shutil.copyfile(source / name, folder / name)
        self.tokenizer.no_truncation()
        self.tokenizer.save(str(folder / "tokenizer.json"))
        if not (folder / "tokenizer_config.json").is_file():
            special = {"tokenizer_class": "PreTrainedTokenizerFast", "sep_token": self.separator}
            write_json(folder / "tokenizer_config.json", special)


def _as_trained(spec: EncoderSpec, method: str, formats: Sequence[str]) -> EncoderSpec:
    """The encoder when it is trained: papers are read through the format of papers, text queries through that of queries, or of papers."""
    if method == "adapter":
        of_papers = "proximity" if "proximity" in formats else formats[0]
        of_queries = "adhoc_query" if "adhoc_query" in formats else of_papers
        sides = replace(
            spec.sides,
            paper=replace(spec.sides.paper, task=of_papers),
            paper_as_query=replace(spec.sides.paper_as_query, task=of_papers),
            query=replace(spec.sides.query, task=of_queries),
        )
        layout = "packed" if spec.layout == "packed" else "adapters"
        return replace(spec, layout=layout, sides=sides, tasks=tuple(formats), kinds={}, late=False)
    sides = replace(
        spec.sides,
        paper=replace(spec.sides.paper, task=""),
        paper_as_query=replace(spec.sides.paper_as_query, task=""),
        query=replace(spec.sides.query, task=""),
    )
    spec = replace(spec, layout="transformers", sides=sides, tasks=(), kinds={}, late=False)
    if method == "codes":
        of_papers = FORMATS["proximity" if "proximity" in formats else formats[0]]
        of_queries = FORMATS["adhoc_query"] if "adhoc_query" in formats else of_papers
        coded = replace(
            sides,
            paper=replace(sides.paper, text=f"{of_papers} {sides.paper.text}"),
            paper_as_query=replace(sides.paper_as_query, text=f"{of_papers} {sides.paper_as_query.text}"),
            query=replace(sides.query, text=f"{of_queries} {sides.query.text}"),
        )
        return replace(spec, sides=coded, pooling="second", codes=tuple(FORMATS[name] for name in formats))
    return spec


def _forget_the_path(config: Path, base: str) -> None:
    """The adapters library writes where the base model was on this machine; its name is enough."""
    write_json(config, {**read_json(config), "model_name": base})


def _write_modules(folder: Path, spec: EncoderSpec) -> None:
    """What sentence-transformers reads of a model: how token states become a vector, and how vectors are compared."""
    if spec.pooling == "second":
        return  # it has no such pooling
    kinds = [("", "Transformer"), ("1_Pooling", "Pooling"), *([("2_Normalize", "Normalize")] if spec.normalise else [])]
    modules = [
        {"idx": number, "name": str(number), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for number, (path, kind) in enumerate(kinds)
    ]
    (folder / "1_Pooling").mkdir()
    write_whole(folder / "modules.json", json.dumps(modules, indent=1).encode())
    modes = {"pooling_mode_mean_tokens": spec.pooling == "mean", "pooling_mode_cls_token": spec.pooling == "cls"}
    write_json(folder / "1_Pooling" / "config.json", modes)
    similarity = {"cosine": "cosine", "ip": "dot", "l2": "euclidean"}[spec.metric]
    write_json(folder / "config_sentence_transformers.json", {"similarity_fn_name": similarity})
    write_json(folder / "sentence_bert_config.json", {"max_seq_length": spec.max_length, "do_lower_case": False})
