"""Names of people and institutions: in parts, as text, and for citations, BibTeX, RIS and CSL.

A paper has its authors as texts, in the natural order of names. Where a source gave the parts of a name and the text alone would be read
otherwise ("Gabriel García Márquez"), the column `author_parts` has them, see `names_of`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ...base.types import Paper

COMPANIES = {"co", "company", "corp", "corporation", "gmbh", "inc", "limited", "llc", "ltd", "plc"}
GROUPS = {"collaboration", "collaborations", "collaborative", "consortium", "group", "investigators", "network", "project", "team"}
INSTITUTIONS = {"academy", "administration", "agency", "association", "authority", "bureau", "centre", "center", "commission", "committee"}
INSTITUTIONS |= {"council", "department", "federation", "foundation", "initiative", "institute", "institut", "laboratory", "ministry"}
INSTITUTIONS |= {"observatory", "office", "organisation", "organization", "society", "survey", "union", "universidad", "universität"}
INSTITUTIONS |= {"université", "university"}
"""Words of institutions; a person may be called Bank, Church or Group, but hardly so beside two other words."""
LINEAGE = {"jr", "sr", "ii", "iii", "iv"}
INITIALS = re.compile(r"(?:[^\W\d_]\.-?){1,4}|[A-Z]{1,3}")
"""Initials after a family name, as PubMed has names: "Doudna JA"."""
EAST_ASIAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]+")
MORE_AUTHORS = "more_authors"
"""The column that says that a paper has more authors than are listed: its bibliography ends them with "and others"."""
PARTS = {"authors": "author_parts", "editors": "editor_parts"}
"""A column of names, and the column with their parts where the texts do not say them."""


@dataclass(frozen=True, slots=True)
class Name:
    """A person's name in parts, as CSL has them: family name, given names, particle (van den), suffix (Jr.); or an institution's name,
    which is `literal`.

    >>> Name("Beethoven", "Ludwig", "van").text
    'Ludwig van Beethoven'
    """

    family: str = ""
    given: str = ""
    particle: str = ""
    suffix: str = ""
    literal: str = ""

    @property
    def parts(self) -> dict[str, str]:
        """The parts by their names."""
        return {
            "family": self.family,
            "given": self.given,
            "particle": self.particle,
            "suffix": self.suffix,
            "literal": self.literal,
        }

    @property
    def text(self) -> str:
        """The name in its natural order, which in Chinese, Japanese and Korean begins with the family name."""
        if self.family and self.given and EAST_ASIAN.fullmatch(self.family + self.given):
            return self.family + self.given
        return self.literal or " ".join(filter(None, (self.given, self.particle, self.family, self.suffix)))

    @property
    def cited(self) -> str:
        """The name in a citation: "van Beethoven", an institution's whole name."""
        return self.literal or " ".join(filter(None, (self.particle, self.family))) or self.given

    @property
    def inverted(self) -> str:
        """The name as RIS has it: "van Beethoven, Ludwig", "King, Martin Luther, Jr."; an institution's as it is."""
        return self.literal or ", ".join(filter(None, (self.cited, self.given if self.family else "", self.suffix)))


@lru_cache(1 << 15)
def parsed(text: str) -> Name:
    """The parts of a name in any order, as BibTeX finds them: particles are the words in lower case before the family name, which is one
    word unless a comma says more. What ends with initials begins with the family name.

    >>> parsed("Ludwig van Beethoven")
    Name(family='Beethoven', given='Ludwig', particle='van', suffix='', literal='')
    """
    text = " ".join(text.split())
    if is_group(text):
        return Name(literal=text)
    if "," in text:
        first, *others = [part.strip() for part in text.split(",")]
        # BibTeX has the suffix before the given names, RIS after them
        is_last = len(others) > 1 and is_suffix(others[-1])
        given, suffix = (others[0], others[1]) if is_last else (others[-1], others[0] if len(others) > 1 else "")
        if not suffix and is_suffix(given):
            return parsed(f"{first} {given}")
        words = first.split()
        place = next((place for place, word in enumerate(words[:-1]) if not word[:1].islower()), max(len(words) - 1, 0))
        return Name(" ".join(words[place:]), given, " ".join(words[:place]), suffix)
    words = text.split()
    suffix = words.pop() if len(words) > 2 and is_suffix(words[-1]) else ""
    if len(words) > 1 and INITIALS.fullmatch(words[-1]) and not any(map(INITIALS.fullmatch, words[:-1])):
        words = [words[-1], *words[:-1]]
    start = next((place for place, word in enumerate(words[1:-1], 1) if word[:1].islower()), max(len(words) - 1, 0))
    given, words = " ".join(words[:start]), words[start:]
    place = next((place for place, word in enumerate(words[:-1]) if not word[:1].islower()), max(len(words) - 1, 0))
    return Name(" ".join(words[place:]), given, " ".join(words[:place]), suffix)


def people(names: Sequence[str]) -> Iterator[str]:
    """Names, those of two people in one text apart: "J. Maharana and S. Mukherji", but not "Barnes and Noble"."""
    for name in names:
        parts = [name] if " and " not in name or is_group(name) else name.split(" and ")
        yield from (part.strip() for part in parts if part.strip())


def is_group(name: str) -> bool:
    """Whether a name is that of an institution, a group or a company, which has no parts."""
    words = [word.strip(".,()").lower() for word in name.split()]
    if len(words) > 1 and (words[-1] in GROUPS or words[-1] in COMPANIES or words[0] == "the"):
        return True
    if name.count(",") == 1 and len(name.partition(",")[0].split()) < 3:  # "Bank, Mary Ann"
        return False
    if not INSTITUTIONS.isdisjoint(words) and (len(words) > 2 or words[-1] in INSTITUTIONS):
        return True
    if not GROUPS.isdisjoint(words) and len(words) > 3:
        return True
    parts = re.split(r" (?:and|&) ", name)
    # "J. Maharana and S. Mukherji" are two people, "Barnes and Noble" are not
    return (len(parts) > 1 and not all(" " in part.strip() for part in parts)) or name.count(",") > 2


def is_suffix(word: str) -> bool:
    """Whether a word of a name is Jr., III or the like."""
    return word.rstrip(".").lower() in LINEAGE


def names_of(paper: Paper, column: str = "authors") -> list[Name]:
    """A paper's authors, or its editors, in parts: those that its source gave, else what the texts say."""
    texts: Any = paper.authors if column == "authors" else paper.extra.get(column) or paper.extra.get("editor") or ()
    texts = [texts] if isinstance(texts, str) else [text for text in texts if isinstance(text, str)]
    parts = paper.extra.get(PARTS[column])
    if isinstance(parts, list | tuple) and len(parts) == len(texts) and all(isinstance(part, Mapping) for part in parts):
        fields = Name.__dataclass_fields__
        return [Name(**{field: str(part.get(field) or "") for field in fields}) for part in parts]
    return [parsed(text) for text in people([str(text) for text in texts])]


@lru_cache(1 << 15)
def is_told_by_text(name: Name) -> bool:
    """Whether the text of a name alone gives its parts."""
    return list(map(parsed, people([name.text]))) == [name]


def byline(paper: Paper) -> str:
    """Who wrote a paper, as in a citation: one or two family names, or the first and "et al."."""
    families = [name.cited for name in names_of(paper)]
    if len(families) > 2 or (families and paper.extra.get(MORE_AUTHORS)):
        return f"{families[0]} et al."
    return " and ".join(families)


def all_authors(paper: Paper) -> str:
    """Who wrote a paper, in one line: every name in its natural order, with semicolons between, as a name may hold a comma."""
    names = [name.text for name in names_of(paper)]
    return "; ".join([*names, "et al."] if names and paper.extra.get(MORE_AUTHORS) else names)


def family(name: str) -> str:
    """The name in a citation, of a text in any order: Lovelace of "Lovelace, Ada", van den Oord of "Aäron van den Oord"."""
    return parsed(next(people([name]), "")).cited


def in_order(name: str) -> str:
    """A name's text in its natural order: "Lovelace, Jr., Ada" and "Lovelace, Ada, Jr." are "Ada Lovelace Jr."; one without a comma as it
    is."""
    return parsed(name).text if "," in name else name.strip()
