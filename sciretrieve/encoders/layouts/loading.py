"""Shared by all layouts: reads weights without running code in them, and rejects those of another layout."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from ...base.errors import CorruptData, InvalidRequest, SciretrieveError
from ..resolving import USUAL_LENGTH, positions
from ..specs import EncoderSpec
from ..tokens import check_vocabulary

PROBE = "A probe text: do the weights that were loaded change what comes out?"


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A model in fp32, in evaluation mode, with its fast tokenizer (of the `tokenizers` package)."""

    model: Any
    tokenizer: Any
    separator: str
    positions: int
    """The number of tokens that the model has positions for."""


@contextmanager
def reading(folder: Path) -> Iterator[None]:
    """Turn any error while a library reads `folder` into a CorruptData that names it."""
    try:
        yield
    except SciretrieveError:
        raise
    except Exception as error:  # the libraries raise about ten classes for truncated or wrong files
        raise CorruptData(
            f"the weights in {folder} cannot be read: {type(error).__name__}: {_first_line(error)}; get the files again, whole"
        ) from error


@contextmanager
def silence() -> Iterator[None]:
    """Hide the libraries' advice to authors of models."""
    from transformers.utils import logging as transformers_logging

    saved_verbosity = transformers_logging.get_verbosity()
    transformers_logging.set_verbosity_error()
    logs = [logging.getLogger(name) for name in ("adapters", "transformers")]
    levels = [log.level for log in logs]
    for log in logs:
        log.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        transformers_logging.set_verbosity(saved_verbosity)
        for log, level in zip(logs, levels, strict=True):
            log.setLevel(level)


def open_reader(folder: Path) -> tuple[Any, Any, str]:
    """A model's configuration, its fast tokenizer, and its separator token ("" if it has none)."""
    from transformers import AutoConfig, AutoTokenizer

    with reading(folder):
        config = AutoConfig.from_pretrained(folder, local_files_only=True)
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True, config=config)
    if not tokenizer.is_fast:
        raise InvalidRequest(f"the tokenizer in {folder} has no fast form (tokenizer.json), which is needed here")
    check_vocabulary(tokenizer.backend_tokenizer, config.vocab_size, folder)
    return config, tokenizer.backend_tokenizer, str(tokenizer.sep_token or "")


def open_model(kind: Any, folder: Path, unused: tuple[str, ...] = ("pooler.", "position_ids")) -> Any:
    """A model of a class of transformers in fp32. Weights with one of `unused` in their names do not affect the output.

    transformers fills missing weights with random numbers and only warns; here, such files are rejected.
    """
    with reading(folder):
        model, report = kind.from_pretrained(folder, local_files_only=True, output_loading_info=True, dtype=torch.float32)
    if missing := [name for name in report["missing_keys"] if not any(part in name for part in unused)]:
        raise InvalidRequest(f"the weights in {folder} lack {missing[0]} and {len(missing) - 1} more: they belong to another kind of model")
    return model


def load(folders: Mapping[str, Path], spec: EncoderSpec, task: str) -> LoadedModel:
    """A model that transformers reads by itself: SPECTER, SciNCL, SciBERT, E5, MPNet, MiniLM and others. Control codes are part of the
    text.
    """
    from transformers import AutoModel

    config, tokenizer, separator = open_reader(folders["base"])
    return LoadedModel(states_of(open_model(AutoModel, folders["base"])), tokenizer, separator, positions_of(config))


def positions_of(config: Any) -> int:
    """The number of tokens that a model has positions for."""
    return positions(config.to_dict()) or USUAL_LENGTH


def read_checkpoint(path: Path) -> Any:
    """The contents of a pickled checkpoint, read by torch's restricted loader.

    Raises:
        InvalidRequest: it holds more than tensors and plain values, so that reading it might run code.
        CorruptData: it is truncated, or not a checkpoint.
    """
    import pickle

    if path.suffix == ".safetensors":
        from safetensors.torch import load_file

        return load_file(path)
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        if "Unsupported" in str(error):
            raise InvalidRequest(
                f"{path} is a pickle that holds more than tensors, so reading it could run code, and it is refused; "
                "save it again with only weights and plain values"
            ) from error
        raise CorruptData(f"{path} is cut short or not a checkpoint ({_first_line(error)}); get the file again") from error
    except Exception as error:
        raise CorruptData(f"{path} is cut short or not a checkpoint ({_first_line(error)}); get the file again") from error


def fill(module: Any, state: Mapping[str, Any], source: Path) -> None:
    """Load weights into a module with exactly these names. Raises InvalidRequest for weights of another layout."""
    tensors = module.state_dict()
    missing = sorted(set(tensors) - set(state))
    extra = sorted(set(state) - set(tensors))
    shapes = sorted(name for name in set(tensors) & set(state) if tensors[name].shape != state[name].shape)
    for problem, names in (("lacks", missing), ("also has", extra), ("has in another shape", shapes)):
        if names:
            more = f" and {len(names) - 1} more" if len(names) > 1 else ""
            raise InvalidRequest(f"{source} is not of the layout that this encoder expects: it {problem} {names[0]}{more}")
    module.load_state_dict({name: tensor.float() for name, tensor in state.items()})


def stripped(state: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """The weights whose names begin with `prefix`, without that prefix, the pooler and position ids."""
    weights = {name.removeprefix(prefix): tensor for name, tensor in state.items() if name.startswith(prefix)}
    return {name: tensor for name, tensor in weights.items() if not name.startswith("pooler.") and not name.endswith("position_ids")}


def weights_file(folder: Path) -> Path:
    """The file of a model's own weights."""
    return next(folder / name for name in ("model.safetensors", "pytorch_model.bin") if (folder / name).is_file())


def states_of(model: Any) -> Any:
    """A module that gives the last layer's token states of a transformers model, in evaluation mode."""

    class States(torch.nn.Module):  # type: ignore[misc]
        trimmable = True  # its layers are run by transformers' own loop; see `trimming`

        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, input_ids: Any, attention_mask: Any) -> Any:
            return self.model(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state

    return States().eval()


def additive_mask(attention_mask: Any) -> Any:
    """Turns a mask of ones and zeros, (texts, length), into addends for attention scores, 0 and -10,000, (texts, 1, 1, length).

    The first BERT used this number, and so did the training of the models defined here.
    """
    return (1.0 - attention_mask[:, None, None, :].float()) * -10_000.0


def attended(attention: Any, heads: int, states: Any, context: Any, mask: Any, dropout: float = 0.0) -> Any:
    """The attention of states to a context, (texts, length, dim), by the linear layers `query`, `key` and `value` of a module.

    Args:
        attention: the module.
        heads: the number of attention heads.
        states, context: (texts, length, dim); the context may have another length.
        mask: is added to the scores; None for nothing.
        dropout: the share of attention weights that is dropped.
    """
    query, key, value = (
        part(source).view(source.shape[0], source.shape[1], heads, -1).transpose(1, 2)
        for part, source in ((attention.query, states), (attention.key, context), (attention.value, context))
    )
    context = torch.nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=mask, dropout_p=dropout)
    return context.transpose(1, 2).reshape(states.shape[0], states.shape[1], -1)


def _first_line(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)[:200]
