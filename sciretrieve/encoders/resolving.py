"""Turns a user's request into a spec: from a row of the catalogue, a model on the hub, or a folder, with the requested changes.

Folders of sentence-transformers are read like that library does (modules.json, pooling, normalisation, prompts), without importing it.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from string import Formatter
from typing import Any

from ..base.choices import POOLINGS, Metric
from ..base.errors import CorruptData, InvalidRequest, UnknownName
from ..base.plugins import found, names
from .catalogue import ADAPTER_FILES, CATALOGUE, MODEL_FILES, TITLE_ABSTRACT, TITLE_SEP_ABSTRACT, same
from .ensemble import member_requests, members_of
from .specs import EncoderRequest, EncoderSpec, Join, Kind, ModelFiles, Pooling, Side, Sides, joint_metric
from .trained import ENCODER, trained_spec
from .weights import REPOSITORY, obtain

LOG = logging.getLogger(__name__)
FOLDER_FILES = (
    *MODEL_FILES,
    "modules.json?",
    "sentence_bert_config.json?",
    "config_sentence_transformers.json?",
    "1_Pooling/config.json?",
)
SIMILARITIES: dict[str, Metric] = {"cosine": "cosine", "dot": "ip", "euclidean": "l2"}
USUAL_LENGTH = 512


def resolve(request: EncoderRequest) -> EncoderSpec:
    """The spec for a request. A model on the hub that is not in the catalogue is downloaded first.

    Raises:
        UnknownName: nothing has that name.
        NotFound: there is no such folder, or no model in it.
        InvalidRequest: a folder holds something else, or the encoder has no such adapter.
        Unavailable: the hub cannot be reached.
    """
    if ensemble := members_of(request.encoder):
        join, names = ensemble
        return _ensemble(request.encoder, join, [resolve(member) for member in member_requests(request, names)])
    spec = _base(request)
    for option, name in (("adapter", request.adapter), ("query_adapter", request.query_adapter)):
        if name is not None:
            spec = _with_adapter(spec, option, name)
    if request.pooling is not None:
        if spec.layout not in ("adapters", "oagbert", "packed", "transformers") or spec.codes:
            raise InvalidRequest(f"{spec.name} has its own pooling, which `pooling` cannot change; leave it out")
        spec = replace(spec, pooling=request.pooling)
    for option, template, fields in (
        ("adapter", request.template, {"title", "abstract"}),
        ("query_adapter", request.query_template, {"text"}),
    ):
        if template is not None:
            spec = _with_template(spec, option, template, fields)
    return replace(spec, sides=spec.sides.bare()) if request.bare_titles else spec


def _ensemble(name: str, join: Join, members: Sequence[EncoderSpec]) -> EncoderSpec:
    row = CATALOGUE.get(name)
    names = " and ".join(member.name for member in members)
    return replace(
        members[0],
        name=name,
        about=row.about if row else f"the mean of {names}" if join == "mean" else f"the vectors of {names}, one after the other",
        metric=joint_metric(join, [member.metric for member in members]),
        citation="; ".join(dict.fromkeys(member.citation for member in members)),
        members=tuple(members),
        join=join,
    )


def is_path(name: str) -> bool:
    """Whether a name means a folder on this machine."""
    return name.startswith((".", "/", "~")) or Path(name).is_absolute() or Path(name).is_dir()


def may_be_plugged(name: str) -> bool:
    """Whether a name means neither a row of the catalogue nor files, so that only a plug-in may have it."""
    return not (name in CATALOGUE or is_path(name) or REPOSITORY.fullmatch(name))


def is_plugged(name: str) -> bool:
    """Whether a name is that of an encoder that is a plug-in."""
    return may_be_plugged(name) and found("encoder", name) is not None


def kinds_of(name: str) -> Mapping[Kind, str]:
    """The adapter, expert or code for each kind of benchmark, from the catalogue or a trained encoder's folder."""
    if name in CATALOGUE:
        return CATALOGUE[name].kinds
    is_trained = is_path(name) and (Path(name).expanduser() / ENCODER).is_file()
    return resolve(EncoderRequest(name)).kinds if is_trained else {}


def _base(request: EncoderRequest) -> EncoderSpec:
    name = request.encoder
    if name in CATALOGUE:
        return CATALOGUE[name]
    if is_path(name):
        folder = Path(name).expanduser().resolve()
        if (folder / ENCODER).is_file():
            facts = settings_in(folder / ENCODER)
            base = facts.get("base")
            # the folder's pooling also holds for the base, which then needs none
            pooling: Any = facts.get("pooling") if facts.get("pooling") in POOLINGS else None
            return trained_spec(name, folder, facts, None if base is None else resolve(EncoderRequest(str(base), pooling=pooling)))
        return _described(request, ModelFiles(str(folder), FOLDER_FILES))
    if may_be_plugged(name):
        if found("encoder", name) is not None:
            raise InvalidRequest(f"{name} is a plug-in, which has vectors, and no files that could be read here; name another encoder")
        raise UnknownName("encoder", name, names("encoder", CATALOGUE))
    for spec in CATALOGUE.values():
        adapters = {part.source for role, part in spec.parts.items() if role != "base"}
        if spec.layout in ("transformers", "sentences") and not spec.members and spec.parts["base"].source == name:
            return replace(spec, name=name)
        if spec.layout == "adapters" and name in adapters:
            base = spec.parts["base"].source
            raise InvalidRequest(
                f"{name} is an adapter, not a model (allenai/specter2 was the model until 2023): "
                f"use {spec.name} as `encoder`, or {base} with `adapter={name!r}`"
            )
    return _described(request, ModelFiles(name, FOLDER_FILES))


def _described(request: EncoderRequest, part: ModelFiles) -> EncoderSpec:
    """The spec of a model outside the catalogue, with a warning if its files define no pooling."""
    name = request.encoder
    folder = obtain(part, name)
    spec = describe(name, part, folder)
    if spec.layout == "transformers" and not (folder / "modules.json").is_file() and not (request.pooling or request.adapter):
        LOG.warning(
            "%s does not say how token states become one vector (it has no modules.json); their mean is taken. "
            "Models of SPECTER's family need [CLS]: use their names in `sciretrieve encoders`, or `pooling='cls'`",
            name,
        )
    return spec


def _with_adapter(spec: EncoderSpec, option: str, name: str) -> EncoderSpec:
    """The spec with another adapter or control code for papers ("adapter") or text queries ("query_adapter")."""
    if name in spec.codes:
        return replace(spec, sides=_changed(spec.sides, option, lambda side: side.with_code(name)))
    if spec.codes:
        raise UnknownName(f"control code of {spec.name}", name, spec.codes)
    if name in spec.tasks or (spec.layout == "instructed" and len(name.split()) > 1):  # several words are an instruction
        return replace(spec, sides=_with_task(spec.sides, option, name))
    if spec.layout not in ("adapters", "packed", "transformers") or not (is_path(name) or REPOSITORY.fullmatch(name)):
        if spec.tasks:
            raise UnknownName(f"adapter of {spec.name}", name, spec.tasks)
        raise InvalidRequest(f"{spec.name} has no adapter {name!r}; give a folder or a hub id that holds one")
    if spec.layout == "transformers":
        # adapters for papers are trained like SPECTER2's: title and abstract around the separator, [CLS], Euclidean
        spec = replace(spec, layout="adapters", sides=same(TITLE_SEP_ABSTRACT), pooling="cls", normalise=False, metric="l2")
    source = str(Path(name).expanduser().resolve()) if is_path(name) else name
    return replace(spec, parts={**spec.parts, option: ModelFiles(source, ADAPTER_FILES)}, sides=_with_task(spec.sides, option, option))


def _with_template(spec: EncoderSpec, option: str, template: str, fields: set[str]) -> EncoderSpec:
    """The spec with another template for the side that `option` names; the template must have one of `fields`."""
    name = "`query_template`" if option == "query_adapter" else "`template`"
    listing = ", ".join(f"{{{field}}}" for field in sorted(fields, reverse=True))
    try:
        parts = [part for part in Formatter().parse(template) if part[1] is not None]
    except ValueError as error:
        raise InvalidRequest(f"{name} {template!r} cannot be read: {error}; write {{{{ or }}}} for a brace") from error
    for _, field, form, conversion in parts:
        if field not in {*fields, "sep"} or form or conversion:
            raise InvalidRequest(f"{name} {template!r} has {{{field}}}, which is not known; there are: {listing}, {{sep}}")
    if not fields & {field for _, field, _, _ in parts if field}:
        raise InvalidRequest(
            f"{name} {template!r} would make the same text of everything; write {' or '.join(listing.split(', '))} into it"
        )
    if spec.codes:
        raise InvalidRequest(f"{spec.name} reads texts that begin with a control code, which `adapter` chooses; leave out {name}")
    return replace(spec, sides=_changed(spec.sides, option, lambda side: replace(side, text=template, alone="")))


def _with_task(sides: Sides, option: str, task: str) -> Sides:
    return _changed(sides, option, lambda side: replace(side, task=task))


def _changed(sides: Sides, option: str, change: Callable[[Side], Side]) -> Sides:
    """The sides, with those changed that an option names: text queries, or papers on either side."""
    if option == "query_adapter":
        return replace(sides, query=change(sides.query))
    return replace(sides, paper=change(sides.paper), paper_as_query=change(sides.paper_as_query))


def describe(name: str, part: ModelFiles, folder: Path) -> EncoderSpec:
    """The spec of a model outside the catalogue, from the files in its folder.

    Raises:
        InvalidRequest: it needs something that is not supported.
        CorruptData: one of its files is damaged.
    """
    config = settings_in(folder / "config.json")
    if "model_type" not in config:
        raise InvalidRequest(f"{folder}/config.json names no model_type, so it is not a transformers model")
    if config.get("mult") and "hidden_size_aug" in config:
        return replace(CATALOGUE["scirepeval-pals"], name=name, parts={"base": replace(part, files=MODEL_FILES)})
    pooling: Pooling = "mean"
    normalise = False
    limits = settings_in(folder / "sentence_bert_config.json", {})
    if limits.get("do_lower_case"):
        raise InvalidRequest(f"{folder} lower-cases texts before its tokenizer does (do_lower_case), which is not supported")
    if (folder / "modules.json").is_file():
        pooling, normalise = _modules(folder)
    settings = settings_in(folder / "config_sentence_transformers.json", {})
    prompts = {key: str(text).replace("{", "{{").replace("}", "}}") for key, text in (settings.get("prompts") or {}).items()}
    query = prompts.get("query", "")
    document = next((prompts[key] for key in ("document", "passage", "corpus") if prompts.get(key)), "")
    similarity = settings.get("similarity_fn_name") or "cosine"
    if similarity not in SIMILARITIES:
        raise InvalidRequest(f"{folder} requires the similarity {similarity!r}; supported are: {', '.join(SIMILARITIES)}")
    return EncoderSpec(
        name=name,
        about="a model of your own" if is_path(name) else "a model of the hub",
        layout="transformers",
        parts={"base": part},
        sides=Sides(Side(document + TITLE_ABSTRACT), Side(query + "{text}"), Side((query or document) + TITLE_ABSTRACT)),
        pooling=pooling,
        normalise=normalise,
        metric=SIMILARITIES[similarity],
        max_length=int(limits.get("max_seq_length") or USUAL_LENGTH),
        citation=part.source if is_path(name) else f"https://huggingface.co/{name}",
        languages=(),
    )


def _modules(folder: Path) -> tuple[Pooling, bool]:
    """Pooling and normalisation from modules.json of sentence-transformers."""
    pooling: Pooling | None = None
    normalise = False
    for module in settings_in(folder / "modules.json", []):
        kind = str(module.get("type", "")).rsplit(".", 1)[-1]
        if kind == "Pooling":
            settings = settings_in(folder / module["path"] / "config.json")
            modes = [
                key.removeprefix("pooling_mode_")
                for key, enabled in settings.items()
                if key.startswith("pooling_mode_") and enabled is True
            ]
            poolings: dict[str, Pooling] = {"cls_token": "cls", "mean_tokens": "mean"}
            if len(modes) != 1 or modes[0] not in poolings:
                raise InvalidRequest(f"{folder} pools by {' and '.join(modes) or 'nothing'}; mean_tokens and cls_token are supported")
            pooling = poolings[modes[0]]
        elif kind == "Normalize":
            normalise = True
        elif kind != "Transformer" or module.get("path"):
            location = f" in {module['path']}" if module.get("path") else ""
            raise InvalidRequest(
                f"{folder} has a module {kind}{location}, which is not supported (a Transformer at the top, Pooling, Normalize are)"
            )
    if pooling is None:
        raise InvalidRequest(f"{folder}/modules.json has no Pooling, so it gives no vectors of whole texts")
    return pooling, normalise


def positions(config: Mapping[str, Any]) -> int | None:
    """The number of tokens that a model has positions for, from its config.json; None if unknown.

    RoBERTa's and MPNet's families number positions from after the padding token.
    """
    count, padding = config.get("max_position_embeddings"), config.get("pad_token_id")
    if not isinstance(count, int) or count < 1:
        return None
    numbered_after = config.get("model_type") in ("roberta", "xlm-roberta", "camembert", "mpnet")
    return count - (padding + 1 if isinstance(padding, int) else 2) if numbered_after else count


def settings_in(path: Path, default: Any = None) -> Any:
    """The contents of a model's JSON file: an object, or a list if `default` is a list. `default` is returned for a missing file.

    Raises:
        CorruptData: it holds something else, or it is missing and there is no default.
    """
    if default is not None and not path.is_file():
        return default
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CorruptData(f"{path} cannot be read as JSON ({error}); get the file again") from error
    if not isinstance(value, list if isinstance(default, list) else dict):
        raise CorruptData(f"{path} holds a {type(value).__name__} instead of settings; get the file again")
    return value
