"""Authors as sources have them: lists of names, objects with parts of names, or one text with any separators, read as names."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import pyarrow as pa

from ...files.schema import letters
from ..bibliographies.author_names import Name, is_group, is_suffix, is_told_by_text, parsed
from ..printed import printed
from . import latex
from .markup import is_placeholder, plain_text

OTHERS = re.compile(r"(?:and\s+)?others\.?|et\.?\s*al\.?|…|\.\.\.", re.IGNORECASE)
"""What stands for omitted names: BibTeX's word for it, and people's."""
_TAIL = re.compile(r"[,\s]+(?:et\.?\s*al\.?|and others)\s*$", re.IGNORECASE)
_OMITTED = re.compile(r"[,\s]*(?<=[,\s])(?:…|\.\s?\.\s?\.)[,\s]*(?:&\s|and\s)?")
"""APA's sign between the first names of a long list and its last."""
NOBODY = {"[anonymous]", "anonymous", "[no authors listed]"}
_NOTE = re.compile(
    r"(?:\s*\((?:\d{4,}|(?i:eds?\.?|editors?|hrsg\.?))\)|\s*\[[\d,\s]*\]|\s*[*†‡§¶]|\s+(?:\d{4}-){3}\d{3}[\dX]|,\s+\d{4}\s*[-–](?:\s*\d{4})?"
    r")+(?=\s*(?:[,;&|\n]|and\b|$))"
)
"""What databases put behind a name: a number of the author, an ORCID, marks of footnotes, years of life, or that it is an editor's."""
_NUMBERS = re.compile(r"(?<=[a-zß-ÿ.])\d{1,2}(?:,\d{1,2})*(?=\s*(?:[,;&|\n*]|and\b|$))")
"""Numbers of affiliations right behind the names of a text. A name of a list keeps its number, as do "Author1" and "COVID19"."""
_DOCTOR = re.compile(r",\s*(?:Ph\.?\s?D|D\.?\s?Phil|Ed\.?D|Psy\.?D)\b\.?")
_DEGREE = re.compile(r"([^,]+,[^,]+?)(?:,\s*(?:M\.?D|M\.?P\.?H|M\.?Sc|R\.?N)\.?)+$")
"""Degrees behind a name. Where no given names are before it, MD may stand for them."""
_INITIALS = re.compile(r"(?:[^\W\d_]\.\s?-?\s?){1,4}|(?:[A-Z](?:[ -][A-Z])*|[A-Z]{2,3})")
_SHORT = re.compile(rf"[^\W\d_].*\s(?:{_INITIALS.pattern})|(?:[^\W\d_]\.\s?-?)+\s?[^\W\d_].*")
"""A name with its initials behind or before the family name, so that no comma is part of it: "Turing AM", "A. M. Turing"."""
_SEPARATORS = re.compile(r"\s*[;|；、\n]\s*|\s+/\s+|(?<=\.)/")
_AND = re.compile(r",?\s+(?:and|&|und|et|y)\s+|\s*,\s*&\s*")
_AND_FIRST = re.compile(r"^\s*(?:and|&)\s+", re.IGNORECASE)
_LATEX = re.compile(r"[\\{}~]")
_MARKED = re.compile(r"[^\w\s.,;'-]|\d|\b(?:Ph\.?\s?D|D\.?\s?Phil|Ed\.?D|Psy\.?D)\b")
NO_PLAIN_NAME = r"(?i)[,;|&<{\[(\\~*†‡§¶…/\d；、\n\t]|\s\s|^\s|\s$|\.\s?\.|\b(?:and|und|et|y|others|nan|none|null|anonymous)\b|n/a"
"""What makes a text more than a name in its natural order."""
FIELDS = Name.__dataclass_fields__.keys()
NAMES = pa.list_(pa.struct([(name, pa.string()) for name in Name.__dataclass_fields__]))
"""The type of the columns with the parts of names."""
FAMILY = ("family", "last", "lastname", "surname", "familyname")
GIVEN = ("given", "first", "firstname", "forename", "givenname", "givennames")
WHOLE = ("name", "displayname", "fullname", "authorname", "collectivename", "rawauthorname", "text", "author", "creator", "initials")
PARTICLES = ("nondroppingparticle", "droppingparticle", "particle", "prefix")
"""Keys of objects with a name, or with its parts, by their letters."""


@dataclass(slots=True)
class People:
    """The names of a paper's authors or editors.

    Attributes:
        names: each as a text in its natural order, or in parts where the source has them.
        has_more: whether the source says that there are others.
    """

    names: list[str | Name] = field(default_factory=list)
    has_more: bool = False

    @property
    def texts(self) -> list[str]:
        """The names as texts in their natural order."""
        return [name if isinstance(name, str) else name.text for name in self.names]

    @property
    def rows(self) -> list[dict[str, str]]:
        """The names as a reader hands them on: objects with the parts of a `Name`."""
        return [(parsed(name) if isinstance(name, str) else name).parts for name in self.names]

    @property
    def parts(self) -> list[dict[str, str]] | None:
        """The parts of all names, where the texts alone do not say them."""
        if all(isinstance(name, str) or is_told_by_text(name) for name in self.names):
            return None
        return self.rows


def people_in(value: Any) -> People:
    """The names that a source's value says: a list of names, a list of objects with a name or its parts, or one text.

    A text that is a list as JSON or as Python prints it is read as one. Any other has its names between semicolons, bars or lines, else
    between "and" or "&", else between commas, if the commas are not within names: the whole list decides.

    >>> people_in("Gatica, G.N., Sequeira, F.A.").texts, people_in("Lovelace, Ada").texts, people_in("Ada Lovelace, Alan Turing").texts
    (['G.N. Gatica', 'F.A. Sequeira'], ['Ada Lovelace'], ['Ada Lovelace', 'Alan Turing'])
    """
    people = People()
    _read(value, people)
    return people


def _read(value: Any, people: People) -> None:
    if value is None:
        return
    if isinstance(value, Mapping):
        if value.keys() == FIELDS:  # a reader's
            _add(_of_parts(*map(value.__getitem__, FIELDS)), people)
        elif isinstance(several := next((value[key] for key in ("author", "authors") if key in value), None), list):
            _read(several, people)
        elif name := _of_object(value):
            _add(name, people)
    elif isinstance(value, list | tuple):
        for item in value:
            if isinstance(item, str) and not item.startswith(('{"', "{'")):
                names, has_more = _of_item(item)
                people.names += names
                people.has_more |= has_more
            elif isinstance(item, list | tuple) and _is_parsed(item):
                _add(_of_parts(item[0], item[1], "", item[2], ""), people)
            else:
                _read(item, people)
    elif isinstance(value, str):
        items = printed(plain_text(value).strip())
        if items is not None:
            _read(items, people)
        else:
            text = _plain(value)
            is_numbered = len(_NUMBERS.findall(text)) > 1
            for name in _of_text(_bare(_NUMBERS.sub("", text) if is_numbered else text), people):
                _add(name, people)
    else:
        _add(str(value), people)


def _is_parsed(parts: Sequence[Any]) -> bool:
    """Whether a list is a name in arXiv's parts: family name, first names, suffix."""
    return len(parts) > 2 and all(isinstance(part, str) for part in parts) and (not parts[2] or is_suffix(parts[2]))


def _bare(text: str) -> str:
    """Names without markup, degrees, and what databases put behind names."""
    text = _plain(text)
    return (_NOTE.sub("", _DOCTOR.sub("", text)) if _MARKED.search(text) else text).strip()


def _plain(text: str) -> str:
    """A text without markup of HTML or LaTeX."""
    text = plain_text(text)
    return latex.plain_text(text) if _LATEX.search(text) else text


@lru_cache(1 << 15)
def _of_item(item: str) -> tuple[list[str | Name], bool]:
    """The names of one text of a list, which may be those of several people, and whether it says that there are more."""
    people = People()
    for part in _SEPARATORS.split(_bare(item)):
        for name in _of_part(part, people):
            _add(name, people)
    return people.names, people.has_more


def _of_part(text: str, people: People) -> list[str | Name]:
    """The names of a text that is one name, unless it has "and", or every part between its commas is a short name."""
    text = _AND_FIRST.sub("", text)
    parts = _AND.split(text) if " and " in text else [text]
    if is_group(text) and any(part.count(",") != 1 for part in parts):
        parts = [text]
    names: list[str | Name] = []
    for part in parts:
        tokens = [token.strip() for token in part.split(",")]
        are_several = len(tokens) > 1 and all(map(_SHORT.fullmatch, tokens))
        names += [_one(name, people) for name in (tokens if are_several else [part])]
    return names


@lru_cache(1 << 15)
def _of_parts(*parts: str | None) -> Name:
    return Name(*(_plain(part or "") for part in parts))


def _add(name: str | Name, people: People) -> None:
    text = name if isinstance(name, str) else name.text
    if is_placeholder(text) or text.lower() in NOBODY:
        return
    if OTHERS.fullmatch(text):
        people.has_more = True
    elif text:
        people.names.append(name)


def _of_object(value: Mapping[str, Any]) -> str | Name:
    """The name of an object: in parts if it has them, else as a text."""
    author = value.get("author")  # OpenAlex nests the author in an authorship
    objects = [_with_letters(one) for one in (author, value) if isinstance(one, Mapping)]
    person = objects[0]
    family, given = _first(person, FAMILY), _first(person, GIVEN)
    if family:
        middle = person.get("middle")  # S2ORC has a list
        middles = middle if isinstance(middle, list) else [middle]
        given = " ".join(str(part) for part in (given, *middles) if part)
        particle = " ".join(filter(None, (_first(person, (key,)) for key in reversed(PARTICLES) if key in person)))
        return Name(family, given, particle, _first(person, ("suffix",)))
    if literal := _first(person, ("literal",)):
        return Name(literal=literal)
    return _turned(next(filter(None, (_first(one, WHOLE) for one in objects)), given))


def _with_letters(person: Mapping[str, Any]) -> dict[str, Any]:
    """An object with its keys by their letters alone."""
    return dict(zip(_letters_of(tuple(person)), person.values(), strict=True))


@lru_cache(1 << 10)
def _letters_of(keys: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(map(letters, keys))


def _first(person: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    for key in keys:
        if key in person and (value := person[key]) and not isinstance(value, dict | list):
            return " ".join(_plain(str(value)).split())
    return ""


def _one(text: str, people: People) -> str | Name:
    """A text that is one name."""
    name, has_more = _one_name(text)
    people.has_more |= has_more
    return name


@lru_cache(1 << 15)
def _one_name(text: str) -> tuple[str | Name, bool]:
    text, count = _TAIL.subn("", text)
    return _turned(_DEGREE.sub(r"\1", text)), bool(count)


def _turned(text: str) -> str | Name:
    """A name with a comma in parts; any other as it is."""
    text = " ".join(text.split())
    if "," not in text:
        return text
    if text.count(",") == 1 and text.endswith(","):  # EndNote's sign of an institution
        return Name(literal=text[:-1].strip())
    name = parsed(text.rstrip(", "))
    return name.text if name.literal else name


def _of_text(text: str, people: People) -> list[str | Name]:
    """The names of a text."""
    text, count = _TAIL.subn("", text)
    text, omitted_count = _OMITTED.subn(", ", text)
    people.has_more |= bool(count + omitted_count)
    parts = [part for part in _SEPARATORS.split(text) if part.strip(" ,")]
    if len(parts) > 1 or (parts and _SEPARATORS.search(text)):
        return [name for part in parts for name in _of_part(part, people)]
    if is_group(text) and text.count(",") < 2:
        return [Name(literal=text)] if "," in text or " and " in text or "&" in text else [text]
    return [name for part in _AND.split(text) if part.strip(" ,") for name in _by_commas(part, people)]


def _by_commas(text: str, people: People) -> list[str | Name]:
    """The names of a text without semicolons and "and", whose commas are between names or within them."""
    parts = [bare for part in text.split(",") if (bare := " ".join(part.split()))]
    if len(parts) == 3 and (is_suffix(parts[2]) or (is_suffix(parts[1]) and not _SHORT.fullmatch(parts[0]))):
        return [_one(text, people)]
    tokens: list[str] = []
    for part in parts:
        if tokens and is_suffix(part):
            tokens[-1] += f", {part}"  # it belongs to the name before it
        else:
            tokens.append(part)
    count = len(tokens)
    if count < 2:
        return [_one(token, people) for token in tokens]
    if all(_SHORT.fullmatch(token.partition(",")[0]) for token in tokens):
        return [_one(token, people) for token in tokens]
    families, rests = tokens[::2], tokens[1::2]
    if count == 2:
        is_one = _INITIALS.fullmatch(tokens[1]) or " " not in tokens[0] or " " not in tokens[1]
        return [_one(text, people)] if is_one else [_one(token, people) for token in tokens]
    is_of_pairs = count % 2 == 0 and (
        all(_INITIALS.fullmatch(rest.partition(",")[0]) for rest in rests)
        or (any(" " not in name for name in families) and not any(_SHORT.fullmatch(token) for token in families))
    )
    if is_of_pairs:
        return [_one(f"{name}, {rest}", people) for name, rest in zip(families, rests, strict=True)]
    if " " not in tokens[0] and all(" " in token for token in tokens[2:]):  # only the first name is inverted
        return [_one(f"{tokens[0]}, {tokens[1]}", people), *(_one(token, people) for token in tokens[2:])]
    return [_one(token, people) for token in tokens]
