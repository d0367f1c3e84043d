"""Names of authors: apart from each other, in their natural order, in parts, the part for citations, and the forms for BibTeX and RIS."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...base.types import Paper

GROUPS = {"collaboration", "collaborations", "consortium", "group", "network", "project", "team"}
LINEAGE = {"jr", "sr", "ii", "iii", "iv"}
INITIALS = re.compile(r"(?:[^\W\d_]\.-?){1,4}|[A-Z]{1,3}")
"""Initials after a family name, as PubMed has names: "Doudna JA"."""
MORE_AUTHORS = "more_authors"
"""The column that says that a paper has more authors than are listed: its bibliography ends them with "and others"."""


@dataclass(frozen=True, slots=True)
class Name:
    """A person's name in parts: given names, particles (van den), family name, suffix (Jr.). A group has only a family name."""

    given: str
    particles: str
    family: str
    suffix: str


def in_parts(name: str) -> Name:
    """A name's parts, as BibTeX finds them: particles are the words in lower case before the family name, which is one word unless a
    comma says more. Of two people in one text, those of the first; what ends with initials begins with the family name.

    >>> in_parts("Ludwig van Beethoven")
    Name(given='Ludwig', particles='van', family='Beethoven', suffix='')
    """
    if is_group(name):
        return Name("", "", " ".join(name.split()), "")
    if "," in name:
        first, *others = [part.strip() for part in name.split(",")]
        words = first.split()
        # BibTeX has the suffix before the given names, RIS after them
        is_last = len(others) > 1 and _is_suffix(others[-1])
        given, suffix = (others[0], others[1]) if is_last else (others[-1], others[0] if len(others) > 1 else "")
    else:
        words = next(people([name]), "").split()
        suffix = words.pop() if len(words) > 2 and _is_suffix(words[-1]) else ""
        if len(words) > 1 and INITIALS.fullmatch(words[-1]) and not any(map(INITIALS.fullmatch, words[:-1])):
            words = [words[-1], *words[:-1]]
        start = next((place for place, word in enumerate(words[1:-1], 1) if word[:1].islower()), max(len(words) - 1, 0))
        given, words = " ".join(words[:start]), words[start:]
    place = next((place for place, word in enumerate(words[:-1]) if not word[:1].islower()), max(len(words) - 1, 0))
    return Name(given, " ".join(words[:place]), " ".join(words[place:]), suffix)


def people(names: Sequence[str]) -> Iterator[str]:
    """Names, those of two people in one text apart: "J. Maharana and S. Mukherji", but not "Barnes and Noble"."""
    for name in names:
        parts = [name] if is_group(name) else name.split(" and ")
        yield from (part.strip() for part in parts if part.strip())


def is_group(name: str) -> bool:
    """Whether a name is that of a group or a company, which has no parts."""
    words, parts = name.split(), name.split(" and ")
    # "J. Maharana and S. Mukherji" are two people, "Barnes and Noble" are not
    is_company = len(parts) > 1 and not all(" " in part.strip() for part in parts)
    return bool((words and words[-1].lower() in GROUPS) or is_company or name.count(",") > 2)


def family(name: str) -> str:
    """The name in a citation: Lovelace of "Lovelace, Ada" and "Ada Lovelace Jr.", van den Oord of "Aäron van den Oord", the whole name of
    a group."""
    parts = in_parts(name)
    return f"{parts.particles} {parts.family}".strip()


def byline(paper: Paper) -> str:
    """Who wrote a paper, as in a citation: one or two family names, or the first and "et al."."""
    families = [family(name) for name in paper.authors]
    if len(families) > 2 or (families and paper.extra.get(MORE_AUTHORS)):
        return f"{families[0]} et al."
    return " and ".join(families)


def all_authors(paper: Paper) -> str:
    """Who wrote a paper, in one line: every name in its natural order, with semicolons between, as a name may hold a comma."""
    names = [" ".join(in_order(name).split()) for name in people(paper.authors)]
    return "; ".join([*names, "et al."] if names and paper.extra.get(MORE_AUTHORS) else names)


def in_order(name: str) -> str:
    """A name in its natural order: "Lovelace, Jr., Ada" and "Lovelace, Ada, Jr." are "Ada Lovelace Jr."; one without a comma as it is."""
    if "," not in name:
        return name.strip()
    parts = in_parts(name)
    return " ".join(filter(None, (parts.given, parts.particles, parts.family, parts.suffix)))


def for_bibtex(name: str) -> str:
    """A name in a form that BibTeX parses correctly: "Smith, Jr., John" for "John Smith Jr.", braces around groups."""
    if is_group(name):
        return f"{{{name}}}"
    if "," in name:
        return name
    parts = in_parts(name)
    # BibTeX itself takes "John Smith" apart, but neither "John Smith Jr." nor "Smith J."
    is_turned = not name.strip().startswith(parts.given)
    return ", ".join(filter(None, (family(name), parts.suffix, parts.given))) if parts.suffix or is_turned else name


def for_ris(name: str) -> str:
    """A name as RIS has it: "Smith, John, Jr." for "John Smith Jr."; a group's as it is."""
    if is_group(name):
        return name
    parts = in_parts(name)
    return ", ".join(filter(None, (family(name), parts.given, parts.suffix)))


def _is_suffix(word: str) -> bool:
    """Whether a word of a name is Jr., III or the like."""
    return word.rstrip(".").lower() in LINEAGE
