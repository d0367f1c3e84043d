"""What options may be: the names of modes, metrics, fusions and the like, each as a type and as the tuple of its values; how an option
says what it is for; and a check of options against their declared types and bounds."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from inspect import cleandoc
from numbers import Integral, Real
from pathlib import PurePath
from reprlib import repr as shortened
from types import UnionType
from typing import Annotated, Any, Literal, TypeAlias, TypeVar, Union, get_args, get_origin, get_type_hints

from .errors import InvalidRequest, UnknownName

Mode: TypeAlias = Literal["hybrid", "dense", "bm25"]
Metric: TypeAlias = Literal["l2", "ip", "cosine"]
SelfMatches: TypeAlias = Literal["dropped", "kept"]
DEFAULT_ENCODER = "granite"
"""The embedded encoder that is taken where none is named."""
FusionMethod: TypeAlias = Literal["convex", "rrf"]
Bm25Variant: TypeAlias = Literal["lucene", "robertson", "atire", "okapi", "bm25l", "bm25+"]
Precision: TypeAlias = Literal["auto", "bf16", "fp32"]
Format: TypeAlias = Literal["table", "json", "jsonl", "csv", "tsv", "bibtex", "ris", "csl-json", "markdown", "html", "trec"]
"""How hits are printed."""
Device: TypeAlias = Literal["auto", "cpu", "cuda"]
PoolingName: TypeAlias = Literal["mean", "cls"]
"""How token states become one vector, as far as it can be chosen: their mean, or the state of the first token."""
SideName: TypeAlias = Literal["paper", "query", "paper_as_query"]
"""What an encoder reads: a paper of the corpus, a text query, or a paper in place of a query."""
Method: TypeAlias = Literal["adapter", "whole", "codes", "fusion", "pals", "mha-experts", "ffn-experts", "prefix", "instruction", "facets"]
"""What of an encoder is trained, see `sciretrieve.training.train.METHODS`."""
Loss: TypeAlias = Literal["triplet", "contrastive", "facets", "facets-apart", "rank", "distil"]
"""What a training makes small: "distil" on all texts, the others on triplets and pairs; see `sciretrieve.training.learning.losses`."""
Schedule: TypeAlias = Literal["linear", "inverse-root", "constant"]
"""How the learning rate goes on after its warm-up."""
Order: TypeAlias = Literal["year"]
"""By what the papers of an answer may be sorted, in place of how well they match."""
SimilarBy: TypeAlias = Literal["citations", "text", "both"]
"""By what papers are similar."""
Filter: TypeAlias = str | Sequence[str] | None
"""A filter, or several that must all hold; see `sciretrieve.query.narrowing.filters`."""


def conditions(filter: Filter) -> tuple[str, ...]:
    """One filter, several or none, as several. Raises InvalidRequest for what is neither a text nor a list of texts."""
    listed = () if filter is None else (filter,) if isinstance(filter, str) else filter
    if not isinstance(listed, list | tuple) or not all(isinstance(condition, str) for condition in listed):
        raise InvalidRequest(f"a filter is a text such as 'year >= 2018', or a list of such texts, not {shortened(filter)}")
    return tuple(listed)


Options = TypeVar("Options", bound=type)
"""A class of options."""

MODES: tuple[Mode, ...] = get_args(Mode)
METRICS: tuple[Metric, ...] = get_args(Metric)
FUSION_METHODS: tuple[FusionMethod, ...] = get_args(FusionMethod)
FORMATS: tuple[Format, ...] = get_args(Format)
POOLINGS: tuple[PoolingName, ...] = get_args(PoolingName)
SIMILAR_BY: tuple[SimilarBy, ...] = get_args(SimilarBy)
SIDES: tuple[SideName, ...] = get_args(SideName)


@dataclass(frozen=True, slots=True)
class Help:
    """What an option is for, as the type of a field or an argument says it: `limit: Annotated[int | None, Help("…", "N", least=1)]`.

    Attributes:
        text: what `--help` prints.
        unit: what stands there for the value, such as N or YEAR.
        least: the least number that it may be.
        most: the greatest.
        short: its single letter on the command line, such as -i.
        completes: what a shell completes its values with: a function of `sciretrieve.commands.completing`.
        advanced: whether few people need it, so that only `--help-all` shows it.
        setting: whether hardly anyone needs it, so that it has no option of its own: the command line has `--set NAME=VALUE` for it.
        name: what the command line calls it, where that cannot be its name in Python.
    """

    text: str
    unit: str | None = None
    least: int | None = None
    most: int | None = None
    short: str | None = None
    completes: str | None = None
    advanced: bool = False
    setting: bool = False
    name: str | None = None

    def check(self, name: str, value: Any) -> None:
        """Raise InvalidRequest for a number that the option cannot be."""
        if (self.least is None or value >= self.least) and (self.most is None or value <= self.most):
            return
        bounds = f"be at least {self.least}" if self.most is None else f"lie between {self.least} and {self.most:,}"
        raise InvalidRequest(f"`{name}` must {bounds}, not {value}")


def check_choice(kind: str, value: str, choices: Sequence[str]) -> None:
    """Raise UnknownName for a value that is none of the choices."""
    if value not in choices:
        raise UnknownName(kind, str(value), choices)


def check_types(options: Any) -> None:
    """Check the fields of a dataclass of options against the types that they are declared with.

    Raises:
        UnknownName: a value is none of its choices.
        InvalidRequest: a value has another type.
    """
    options_class: Any = type(options)
    for name, (types, help) in _declared(options_class).items():
        check_value(name, getattr(options, name), types, help)


def check_value(name: str, value: Any, types: Sequence[Any], help: Help | None) -> None:
    """Check the value of one option. Raises as `check_types`."""
    if any(_is(value, kind) for kind in types):
        if help is not None and isinstance(value, Real) and not isinstance(value, bool):
            help.check(name, value)
        return
    choices = next((get_args(kind) for kind in types if get_origin(kind) is Literal), None)
    if choices is not None and isinstance(value, str):
        raise UnknownName(name, value, choices)
    wanted = " or ".join(choices or [_WORDS.get(kind, f"a {kind.__name__}") for kind in types if kind is not type(None)])
    raise InvalidRequest(f"{name} is {wanted}, not {shortened(value)}")


_WORDS: dict[Any, str] = {
    int: "a whole number",
    float: "a number",
    bool: "True or False",
    str: "a string",
    Sequence[str]: "a list of strings",
}
"""Types in words, for people."""


@cache
def options_of(options_class: type) -> Mapping[str, Any]:
    """The types of a class's fields, with the help of those that have it. A reranker, and an encoder that is no name, are known to type
    checkers only: to import their protocols would load NumPy."""
    return get_type_hints(options_class, localns={"Reranker": object, "AnyEncoder": str | object}, include_extras=True)


@cache
def _declared(options_class: type) -> dict[str, tuple[tuple[Any, ...], Help | None]]:
    """The types that each field may have, and its help."""
    declared = {}
    for name, hint in options_of(options_class).items():
        plain, help = parted(hint)
        declared[name] = kinds_of(plain), help
    return declared


def command_line(options_class: type, values: Mapping[str, Any]) -> str:
    """Fields of a class of options with these values, as one types them: `--dense flat --set metric=ip`; of paths the names alone."""
    words: list[str] = []
    for name, value in values.items():
        help = _declared(options_class)[name][1] or Help("")
        option, text = help.name or name.replace("_", "-"), value.name if isinstance(value, PurePath) else str(value)
        words += ["--set", f"{name}={text}"] if help.setting else [f"--{option}", text]
    return shlex.join(words)


def kinds_of(hint: Any) -> tuple[Any, ...]:
    """The types that a value may have by its declared type."""
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def documented(options_class: Options) -> Options:
    """A class of options whose docstring has the help of each, for those who read it in Python."""
    helps = {name: parted(hint)[1] for name, hint in options_of(options_class).items()}
    lines = [f"    {name}: {help.text}" for name, help in helps.items() if help is not None]
    options_class.__doc__ = "\n".join([f"{cleandoc(options_class.__doc__ or '')}\n", "Attributes:", *lines])
    return options_class


def parted(hint: Any) -> tuple[Any, Help | None]:
    """A declared type apart from its help, if it has one."""
    if get_origin(hint) is not Annotated:
        return hint, None
    plain, *extras = get_args(hint)
    return plain, next((extra for extra in extras if isinstance(extra, Help)), None)


def _is(value: object, kind: Any) -> bool:
    """Whether a value is of a type. A string is no list of strings, True is no number; NumPy's numbers are numbers."""
    if get_origin(kind) is Literal:
        return isinstance(value, str) and value in get_args(kind)
    if kind == Sequence[str]:
        return isinstance(value, Sequence) and not isinstance(value, str) and all(isinstance(item, str) for item in value)
    if kind in (int, float):
        return isinstance(value, Integral if kind is int else Real) and not isinstance(value, bool)
    return isinstance(value, kind)
