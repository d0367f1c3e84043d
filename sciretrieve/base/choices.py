"""Values of options: the names of modes, metrics, fusions and others, as types and tuples; help on options; and checks of options against
their declared types and bounds."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, fields
from functools import cache
from inspect import cleandoc
from numbers import Integral, Real
from os import PathLike, fsdecode
from pathlib import Path, PurePath
from types import UnionType
from typing import Annotated, Any, Literal, TypeAlias, TypeVar, Union, get_args, get_origin, get_type_hints

from .errors import InvalidRequest, UnknownName
from .wording import shortened

Mode: TypeAlias = Literal["hybrid", "dense", "bm25"]
Metric: TypeAlias = Literal["l2", "ip", "cosine"]
SelfMatches: TypeAlias = Literal["dropped", "kept"]
DEFAULT_ENCODER = "granite"
"""Default encoder, which is embedded."""
FusionMethod: TypeAlias = Literal["convex", "rrf"]
Bm25Variant: TypeAlias = Literal["lucene", "robertson", "atire", "okapi", "bm25l", "bm25+"]
Precision: TypeAlias = Literal["auto", "bf16", "fp32"]
Format: TypeAlias = Literal["table", "json", "jsonl", "csv", "tsv", "bibtex", "ris", "csl-json", "endnote", "markdown", "html", "trec"]
"""Output formats of hits."""
Device: TypeAlias = Literal["auto", "cpu", "cuda"]
PoolingName: TypeAlias = Literal["mean", "cls"]
"""Choices for pooling token states into a vector: their mean, or the first token's state."""
SideName: TypeAlias = Literal["paper", "query", "paper_as_query"]
"""Input of an encoder: a paper of the corpus, a text query, or a paper in place of a query."""
Method: TypeAlias = Literal["adapter", "whole", "codes", "fusion", "pals", "mha-experts", "ffn-experts", "prefix", "instruction", "facets"]
"""Training methods, by the part of an encoder that is trained, see `sciretrieve.training.train.METHODS`."""
Loss: TypeAlias = Literal["triplet", "contrastive", "facets", "facets-apart", "rank", "distil"]
"""Training losses: "distil" uses all texts, the others triplets and pairs; see `sciretrieve.training.learning.losses`."""
Schedule: TypeAlias = Literal["linear", "inverse-root", "constant"]
"""Schedule of the learning rate after warm-up."""
Order: TypeAlias = Literal["year"]
"""Order of an answer's papers in place of relevance."""
SimilarBy: TypeAlias = Literal["citations", "text", "both"]
"""Basis for comparing papers."""
Filter: TypeAlias = str | Sequence[str] | None
"""A filter, or several that must all hold, see `sciretrieve.query.narrowing.filters`."""


def conditions(filter: Filter) -> tuple[str, ...]:
    """A filter as a tuple of conditions. Raises InvalidRequest unless it is a text, a list of texts or None."""
    filters = () if filter is None else (filter,) if isinstance(filter, str) else filter
    if not isinstance(filters, list | tuple) or not all(isinstance(condition, str) for condition in filters):
        raise InvalidRequest(f"a filter is a text such as 'year >= 2018', or a list of such texts, not {shortened(filter)}")
    return tuple(filters)


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
    """Help on an option, in the type of a field or argument: `limit: Annotated[int | None, Help("…", "N", least=1)]`.

    Attributes:
        text: the text in `--help`.
        unit: the placeholder for the value, such as N or YEAR.
        least: least allowed number.
        most: greatest allowed number.
        short: single letter on the command line, such as -i.
        completes: function of `sciretrieve.commands.completing` that completes values in a shell.
        advanced: whether only `--help-all` shows it.
        setting: whether it is rarely needed, and so only available as `--set NAME=VALUE`.
        name: name on the command line, if not its name in Python.
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
        """Raise InvalidRequest for a number out of bounds."""
        if (self.least is None or value >= self.least) and (self.most is None or value <= self.most):
            return
        bounds = f"be at least {self.least}" if self.most is None else f"lie between {self.least} and {self.most:,}"
        raise InvalidRequest(f"`{name}` must {bounds}, not {value}")


def check_choice(kind: str, value: str, choices: Sequence[str]) -> None:
    """Raise UnknownName for a value that is not among the choices."""
    if not isinstance(value, str) or value not in choices:
        raise UnknownName(kind, value if isinstance(value, str) else shortened(value), choices)


def is_iterable(value: object) -> bool:
    """Whether a value has items. NumPy's arrays without dimensions only look like it."""
    try:
        iter(value)  # type: ignore[call-overload]
    except TypeError:
        return False
    return True


def check_count(value: int, name: str = "k", least: int = 1) -> None:
    """Raise InvalidRequest unless a number is whole and at least `least`."""
    if not _is(value, int) or value < least:
        raise InvalidRequest(f"{name} must be a whole number, at least {least}, not {shortened(value)}")


def check_types(options: Any) -> None:
    """Check a dataclass of options against the declared types of its fields.

    Raises:
        UnknownName: a value is not among its choices.
        InvalidRequest: a value has a wrong type.
    """
    options_class: Any = type(options)
    for name, (types, help, plain, default) in _declared(options_class).items():
        if (value := getattr(options, name)) is not default and type(value) not in plain:
            check_value(name, value, types, help)


def check_value(name: str, value: Any, types: Sequence[Any], help: Help | None) -> None:
    """Check the value of an option. Raises as `check_types`."""
    if any(_is(value, kind) for kind in types):
        if Path in types and isinstance(value, str | PathLike) and "\0" in fsdecode(value):
            raise InvalidRequest(f"{name} is no path, since it has a null character: {shortened(value)}")
        if help is not None and isinstance(value, Real) and not isinstance(value, bool):
            help.check(name, value)
        return
    choices = next((get_args(kind) for kind in types if get_origin(kind) is Literal), None)
    if choices is not None and isinstance(value, str):
        raise UnknownName(name, value, choices)
    if str in types and hasattr(value, "encode_papers"):
        raise InvalidRequest(f"{name} is the name or folder of an encoder, by which it can be opened again, not {shortened(value)}")
    wanted = " or ".join(choices or dict.fromkeys([_word(kind) for kind in types if kind is not type(None)]))
    raise InvalidRequest(f"{name} is {wanted}, not {shortened(value)}")


_WORDS: dict[Any, str] = {
    int: "a whole number",
    float: "a number",
    bool: "True or False",
    str: "a string",
    PathLike: "a path",
    Path: "a path",
    Mapping: "a dict",
    Callable: "a function",
    Sequence[str]: "a list of strings",
}
"""Names of types in messages."""


def _word(kind: Any) -> str:
    """A type in a message."""
    kind = kind if kind in _WORDS else get_origin(kind) or kind
    if kind is Sequence:
        return "a list"
    return _WORDS.get(kind) or f"{'an' if kind.__name__[0] in 'AEIOU' else 'a'} {kind.__name__}"


def is_checkable(kind: Any) -> bool:
    """Whether values can be told to have a type. An interface says what they must be able to do."""
    origin = get_origin(kind)
    if origin is Sequence:
        return all(map(is_checkable, kinds_of(*get_args(kind))))
    if origin is None:
        return isinstance(kind, type) and kind is not object and not getattr(kind, "_is_protocol", False)
    return origin in (Literal, Mapping, Callable, PathLike)


@cache
def options_of(options_class: type) -> Mapping[str, Any]:
    """Types of a class's fields, with their help. Rerankers and encoders that are no names are only checked by type checkers, since
    importing their protocols would load NumPy."""
    return get_type_hints(options_class, localns={"OwnReranker": object, "AnyEncoder": str | object}, include_extras=True)


@cache
def _declared(options_class: Any) -> dict[str, tuple[tuple[Any, ...], Help | None, Set[type], Any]]:
    """Allowed types of each field, its help, those types of which every value is allowed, and its default: services check options at each
    request.
    """
    declared: dict[str, tuple[tuple[Any, ...], Help | None, Set[type], Any]] = {}
    defaults = {one.name: one.default for one in fields(options_class)}
    for name, hint in options_of(options_class).items():
        of_field, help = parted(hint)
        types = kinds_of(of_field)
        plain = frozenset() if Path in types else frozenset(kind for kind in types if isinstance(kind, type) and kind not in (int, float))
        declared[name] = types, help, plain, defaults[name]
    return declared


def command_line(options_class: type, values: Mapping[str, Any]) -> str:
    """Fields of a class of options as typed on the command line: `--dense flat --set metric=ip`. Paths are shortened to names."""
    words: list[str] = []
    for name, value in values.items():
        help = _declared(options_class)[name][1] or Help("")
        option, text = help.name or name.replace("_", "-"), value.name if isinstance(value, PurePath) else str(value)
        words += ["--set", f"{name}={text}"] if help.setting else [f"--{option}", text]
    return shlex.join(words)


def kinds_of(hint: Any) -> tuple[Any, ...]:
    """Types that a declared type allows."""
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def documented(options_class: Options) -> Options:
    """Add the help of each option to the class's docstring, for Python users."""
    helps = {name: parted(hint)[1] for name, hint in options_of(options_class).items()}
    lines = [f"    {name}: {help.text}" for name, help in helps.items() if help is not None]
    options_class.__doc__ = "\n".join([f"{cleandoc(options_class.__doc__ or '')}\n", "Attributes:", *lines])
    return options_class


def parted(hint: Any) -> tuple[Any, Help | None]:
    """Split a declared type from its help, if any."""
    if get_origin(hint) is not Annotated:
        return hint, None
    plain, *extras = get_args(hint)
    return plain, next((extra for extra in extras if isinstance(extra, Help)), None)


def _is(value: object, kind: Any) -> bool:
    """Whether a value has a type. A string is no list of strings, True is no number, and NumPy's numbers are numbers."""
    if type(value) is kind:
        return True
    if get_origin(kind) is Literal:
        return isinstance(value, str) and value in get_args(kind)
    if get_origin(kind) is Sequence:
        kinds = kinds_of(*get_args(kind))
        return isinstance(value, Sequence) and not isinstance(value, str) and all(any(_is(item, one) for one in kinds) for item in value)
    if kind in (int, float):
        return isinstance(value, Integral if kind is int else Real) and not isinstance(value, bool)
    return isinstance(value, PathLike if kind is Path else get_origin(kind) or kind)
