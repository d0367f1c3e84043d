"""A whole model whose weights all change; and one that reads a control code, the format's, before each text (Singh et al. 2023, §5)."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

from ....encoders.catalogue import MODEL_FILES
from ....encoders.specs import EncoderSpec, Side
from ....files.writing import write_json, write_whole
from ...presets import Plan
from .student import FORMATS, Student, chosen_formats, read_by


class Whole(Student):
    """Written as transformers and sentence-transformers read it."""

    def prepare(self, plan: Plan) -> None:
        """See `Student`: all weights are trained as they are."""

    def as_trained(self) -> EncoderSpec:
        """See `Student`."""
        sides = read_by(self.base_spec.sides, "", "")
        return replace(self.base_spec, layout="transformers", sides=sides, tasks=(), kinds={}, late=False)

    def write_model(self, folder: Path) -> None:
        """See `Student`."""
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
        """What sentence-transformers reads of a model: how token states become a vector, and how vectors are compared."""
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
    """Its vector is the state of the code, the token after [CLS]."""

    def prepare(self, plan: Plan) -> None:
        """See `Student`: the codes' embeddings begin with random numbers."""
        self.tokenizer.add_special_tokens([FORMATS[name] for name in self.formats])
        self.model.resize_token_embeddings(self.tokenizer.get_vocab_size(), mean_resizing=False)

    def as_trained(self) -> EncoderSpec:
        """See `Student`."""
        spec = super().as_trained()
        of_papers, of_queries = (FORMATS[format] for format in chosen_formats(self.formats))
        sides = replace(
            spec.sides,
            paper=_coded(spec.sides.paper, of_papers),
            paper_as_query=_coded(spec.sides.paper_as_query, of_papers),
            query=_coded(spec.sides.query, of_queries),
        )
        return replace(spec, sides=sides, pooling="second", codes=tuple(FORMATS[name] for name in self.formats))

    def side(self, format: str, side: Side) -> Side:
        """See `Student`."""
        return side.with_code(FORMATS[format])

    def _write_modules(self, folder: Path) -> None:
        """Nothing: sentence-transformers has no such pooling."""


def _coded(side: Side, code: str) -> Side:
    return replace(side, text=f"{code} {side.text}")
