"""Multi2SPE (paper 004, §2.1): K tokens in place of one [CLS], each with its own linear layers, summed.

A checkpoint of the authors' training code has PyTorch Lightning's `state_dict` and `hyper_parameters`. The tokens are [CLS] and [unused1] …
[unused K-1]; linear layers follow chosen BERT layers and the last. Each setting in `hyper_parameters` that affects the vector is applied as
in `forward` of https://github.com/ronaldseoh/multi2spe, train.py, or rejected by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

import torch

from ...base.errors import InvalidRequest
from ..specs import EncoderSpec
from .loading import LoadedModel, additive_mask, fill, positions_of, read_checkpoint, stripped
from .scimult import base_of, new_bert

UNSUPPORTED = (
    "add_perturb_embeddings",
    "remove_position_embeddings_for_facets",
    "adjust_attention_mask_for_facets",
    "debug_use_cls_for_all_facets",
)
"""Settings of the authors' code for other models than the paper's; they must be false, 0 or absent."""
SUMMED = ("training_and_inference", "inference_only")
"""The values of `sum_into_single_embeddings` that give a paper one vector."""


def load(folders: Mapping[str, Path], spec: EncoderSpec, task: str) -> LoadedModel:
    """A BERT with facets. Its one token state is the sum over the K tokens, (texts, 1, dim)."""
    path, config, tokenizer, separator = base_of(folders, spec)
    checkpoint = read_checkpoint(path)
    if not isinstance(checkpoint, Mapping) or not {"state_dict", "hyper_parameters"} <= set(checkpoint):
        raise InvalidRequest(f"{path} is not a checkpoint in Multi2SPE's layout: it has no state_dict with hyper_parameters")
    parameters = checkpoint["hyper_parameters"]
    if unsupported := _unsupported(parameters):
        raise InvalidRequest(f"{path} was trained with {unsupported}, which is not read here; train it as the authors' README does")
    facets = int(parameters.get("num_facets", 1))
    layer_numbers = [int(number) for number in parameters.get("add_extra_facet_layers_after") or []]
    state = checkpoint["state_dict"]
    bert = stripped(state, "model.")
    # the paper's re-parameterisation: weights minus their mean over the facets
    less_mean = bool(parameters.get("add_bert_layer_facet_layers_alternate"))
    pairs = {number: _linears(bert, f"encoder.layer.{number}.extra_facet_layers.", facets, less_mean) for number in layer_numbers}
    last_number = config.num_hidden_layers
    if parameters.get("add_extra_facet_layers"):
        # the authors' code subtracts the mean here only for several tokens, but always after chosen layers
        less_mean = facets > 1 and bool(parameters.get("add_extra_facet_layers_alternate"))
        pairs[last_number] = _linears(state, "extra_facet_layers.", facets, less_mean)
    if missing := [number for number, pair in pairs.items() if pair is None]:
        raise InvalidRequest(f"{path} lacks the facets' linear layers after BERT layer {missing[0]}, which its own settings name")
    if pairs.get(last_number) is not None and parameters.get("add_extra_facet_layers_alternate_2"):
        pairs[last_number] = _with_differences(pairs[last_number], state, facets)
    model = new_bert(config)
    fill(model, {name: tensor for name, tensor in bert.items() if "extra_facet_layers" not in name}, path)
    add_facet_tokens(tokenizer, facets, folders["base"])
    nonlinear = bool(parameters.get("add_extra_facet_nonlinearity"))
    by_mean = parameters.get("sum_into_single_embeddings_behavior") == "mean"
    normalised = bool(parameters.get("use_facet_embs_normalize"))

    class States(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.bert = model
            for number, (weights, biases) in pairs.items():
                self.register_buffer(f"weights_{number}", weights)
                self.register_buffer(f"biases_{number}", biases)

        def forward(self, input_ids: Any, attention_mask: Any) -> Any:
            linears = {number: (getattr(self, f"weights_{number}"), getattr(self, f"biases_{number}")) for number in pairs}
            firsts = facet_states(self.bert, linears, facets, input_ids, attention_mask)
            firsts = torch.tanh(firsts) if nonlinear else firsts
            vectors = firsts.mean(dim=1, keepdim=True) if by_mean else firsts.sum(dim=1, keepdim=True)
            return torch.nn.functional.normalize(vectors, dim=-1) if normalised else vectors

    return LoadedModel(States().eval(), tokenizer, separator, positions_of(config))


def facet_states(bert: Any, linears: Mapping[int, tuple[Any, Any]], facets: int, input_ids: Any, attention_mask: Any) -> Any:
    """The states of a BERT's first tokens, its facets, (texts, facets, dim), through their own linear layers.

    Args:
        bert: without a pooler.
        linears: the facets' weights, (facets, dim, dim), and biases, (facets, dim), by the BERT layer, from 0, that they follow; the number
            of layers stands for the end.
        facets: their number.
        input_ids, attention_mask: (texts, length).
    """

    def linear(states: Any, number: int) -> Any:
        weights, biases = linears[number]
        return torch.matmul(states.unsqueeze(2), weights.transpose(1, 2)).squeeze(2) + biases

    states = bert.embeddings(input_ids)
    mask = additive_mask(attention_mask).to(states.dtype)
    for number, layer in enumerate(bert.encoder.layer):
        states = layer(states, mask)[0]
        if number in linears:
            states = torch.cat([linear(states[:, :facets], number), states[:, facets:]], dim=1)
    firsts = states[:, :facets]
    return linear(firsts, len(bert.encoder.layer)) if len(bert.encoder.layer) in linears else firsts


def _unsupported(parameters: Mapping[str, Any]) -> str:
    """The first setting for another model than is read here, as `name=value`; "" if there is none."""
    losses = parameters.get("loss_config") or []
    summed = parameters.get("sum_into_single_embeddings")
    if "sum_into_single_embeddings" in parameters and any(loss.get("sum_into_single_embeddings") for loss in losses):
        summed = summed or SUMMED[0]  # the authors' code assumes this for a missing setting with a summing loss
    single = summed in SUMMED or int(parameters.get("num_facets", 1)) == 1
    refused = {
        **{name: bool(parameters.get(name)) for name in UNSUPPORTED},
        "model_behavior": parameters.get("model_behavior", "quartermaster") != "quartermaster",
        "sum_into_single_embeddings": not single,
        "sum_into_single_embeddings_behavior": parameters.get("sum_into_single_embeddings_behavior", "sum") not in ("sum", "mean"),
    }
    if unsupported := next((name for name, is_refused in refused.items() if is_refused), None):
        return f"{unsupported}={parameters.get(unsupported)!r}"
    weighted = [loss for loss in losses if loss.get("name") == "original"] if losses else [parameters]
    is_weighted = any(loss.get("predict_facet_magnitudes") or loss.get("loss_predict_facet_magnitudes") for loss in weighted)
    return "predict_facet_magnitudes=True" if is_weighted and not parameters.get("disable_multiply_facet_magnitudes") else ""


def _linears(state: Mapping[str, Any], prefix: str, facets: int, less_mean: bool) -> Any:
    """The facets' weights (facets, dim, dim) and biases (facets, dim), as a pair; None if the checkpoint has none."""
    names = [(f"{prefix}{facet}.weight", f"{prefix}{facet}.bias") for facet in range(facets)]
    if not all(weight in state and bias in state for weight, bias in names):
        return None
    weights = torch.stack([state[weight].float() for weight, _ in names])
    if less_mean:
        weights = weights - weights.mean(dim=0)
    return weights, torch.stack([state[bias].float() for _, bias in names])


def _with_differences(pair: tuple[Any, Any], state: Mapping[str, Any], facets: int) -> tuple[Any, Any]:
    """Each token's layer, followed by those of `add_extra_facet_layers_alternate_2`: the differences between each two tokens' weights."""
    weights, biases = (tensor.double() for tensor in pair)
    for first, second in combinations(range(facets), 2):
        difference = state[f"extra_facet_layers.{first}.weight"].double() - state[f"extra_facet_layers.{second}.weight"].double()
        weights, biases = difference @ weights, biases @ difference.T
    return weights.float(), biases.float()


def add_facet_tokens(tokenizer: Any, facets: int, folder: Path) -> None:
    """Make the tokenizer put [unused1] … after [CLS], safe from truncation."""
    from tokenizers.processors import TemplateProcessing

    names = ["[CLS]", *(f"[unused{number}]" for number in range(1, facets))]
    ids = [(name, tokenizer.token_to_id(name)) for name in (*names, "[SEP]")]
    if missing := [name for name, number in ids if number is None]:
        raise InvalidRequest(f"the vocabulary in {folder} has no {missing[0]}, which this model needs")
    tokenizer.post_processor = TemplateProcessing(single=[*names, "$A", "[SEP]"], special_tokens=ids)
