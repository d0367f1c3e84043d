"""Papers that are one work, such as a preprint and its journal version, or one record from two databases.

Two questions are answered. `works` says which papers show the same work, by DOI, or by title and first author alone, see `groups`;
`works_down` says it of a ranking. `same_works` says which records of a collection are of one paper, for those who take duplicates out and
must lose nothing: years and DOIs may contradict a title. To neither is a DOI always enough: some databases give all chapters of a book
that of the book.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from ..base.types import Paper
from . import identifiers
from .folding import fold, fold_name, without_digraphs

MARKS = re.compile(r"[\W_]+")
BLANKS = re.compile(r"[\s.]+")
INITIALS = re.compile(r"[A-Z]{2,3}")
"""Initials after a family name, as PubMed has names: "Doudna JA"."""
SUFFIXES = frozenset({"jr", "sr", "ii", "iii", "iv"})

DISTINCTIVE_LENGTH = 25
"""A title with more letters and digits than this identifies a paper. "Introduction" and "Book reviews" do not."""
YEARS_APART = 1
"""Years that records of one paper may differ by: it appears online, and in an issue of the next year."""

By: TypeAlias = Literal["DOI", "title and author"]
Key: TypeAlias = tuple[str, str]
"""What papers of one work share, see `key`."""


@dataclass(frozen=True, slots=True)
class SameWork:
    """Records of one paper.

    Attributes:
        places: their positions in what was given, rising; two or more.
        by: "DOI" if all have the same, else "title and author".
    """

    places: tuple[int, ...]
    by: By


def key(title: str, authors: Sequence[str]) -> Key | None:
    """The key that papers of one work share: the title and the first author's family name, both as plain letters and digits.

    Case, accents, LaTeX marks, punctuation and white space make no difference, and a Greek letter is its name. The family
    name is "" for a paper without authors. None for a paper whose title has no letter or digit.
    """
    bare = bare_title(title)
    return (bare, _family(authors[0]) if authors else "") if bare else None


def bare_title(title: str) -> str:
    """A title as plain letters and digits."""
    return MARKS.sub("", fold(title))


def groups(papers: Sequence[Paper]) -> list[list[int]]:
    """Positions of papers that are one work by title and first author: every position once, groups in order of their first member.

    Papers with equal keys are one work. A paper without authors belongs to the papers of its title only if that title is
    longer than `DISTINCTIVE_LENGTH` and they all have the same first author; else it could join papers of different authors. If they
    have several, the papers without authors are one work by themselves. A paper without authors and with a short title, or
    without a key, is alone.
    """
    return _by_key(_keys(papers))


def _by_key(keys: Sequence[Key | None]) -> list[list[int]]:
    singles: list[list[int]] = []
    members: dict[Key, list[int]] = {}
    for place, work_key in enumerate(keys):
        if work_key is None:
            singles.append([place])
        else:
            members.setdefault(work_key, []).append(place)

    families_by_title: dict[str, list[str]] = {title: [] for title, family in members if not family}
    for title, family in members:
        if family and title in families_by_title:
            families_by_title[title].append(family)
    for title, families in families_by_title.items():
        if len(title) <= DISTINCTIVE_LENGTH:
            singles += [[place] for place in members.pop((title, ""))]
        elif len(families) == 1:
            authorless = members.pop((title, ""))
            members[title, families[0]] = sorted(members[title, families[0]] + authorless)
    return sorted([*members.values(), *singles], key=lambda group: group[0])


def works(papers: Sequence[Paper]) -> list[list[int]]:
    """Positions of papers that an answer shows as one: those that `groups` puts together, and those with one DOI, unless both
    title and first author differ. Every position once, in order of their first member."""
    return _shown_as_one(_keys(papers), _dois(papers))


def _shown_as_one(keys: Sequence[Key | None], dois: Sequence[str | None]) -> list[list[int]]:
    joined = _Works(len(keys))
    for group in (*_by_key(keys), *_with_one_doi(keys, dois)):
        joined.join(group)
    return joined.groups()


def works_down(papers: Sequence[Paper]) -> list[list[int]]:
    """`works` of a ranking: whether a paper is one of an earlier work depends on the papers before it alone, so that a longer ranking
    begins with the same works."""
    keys, dois = _keys(papers), _dois(papers)
    touching = _Works(len(papers))  # only papers of one title or DOI can be one work
    first_with: dict[tuple[str, str], int] = {}
    for place, (work_key, doi) in enumerate(zip(keys, dois, strict=True)):
        for name, value in (("title", work_key and work_key[0]), ("doi", doi)):
            if value:
                touching.join([first_with.setdefault((name, value), place), place])
    found: list[list[int]] = []
    for places in touching.groups():
        work_of: dict[int, list[int]] = {}
        for count, place in enumerate(places, 1):
            before = places[:count]
            alike = _shown_as_one([keys[other] for other in before], [dois[other] for other in before])
            earlier = next(work for work in alike if work[-1] == count - 1)[0]
            if earlier == count - 1:
                found.append(work_of.setdefault(place, [place]))
            else:
                work_of[place] = work_of[places[earlier]]
                work_of[place].append(place)
    return sorted(found, key=lambda work: work[0])


def same_works(papers: Sequence[Paper]) -> list[SameWork]:
    """The works of which there are two records or more, in order of their first record.

    Records with the same DOI are one work, unless both title and first author differ. So are those of one title and first author, as
    `groups` finds them, whose years are at most `YEARS_APART`; a year that is not known contradicts none. Where the title is short
    (`DISTINCTIVE_LENGTH`), as that of an editorial, different DOIs contradict it. Which records are one work does not depend on their
    order.
    """
    keys, dois = _keys(papers), _dois(papers)
    works = _Works(len(papers))
    for group in _with_one_doi(keys, dois):
        works.join(group)
    for group in _by_key(keys):
        if len(group) > 1:
            for alike in _compatible(group, papers, dois):
                works.join(alike)
    found = []
    for places in works.groups():
        if len(places) > 1:
            has_one_doi = dois[places[0]] is not None and len({dois[place] for place in places}) == 1
            found.append(SameWork(tuple(places), "DOI" if has_one_doi else "title and author"))
    return found


def _keys(papers: Sequence[Paper]) -> list[Key | None]:
    return [key(paper.title, paper.authors) for paper in papers]


def _dois(papers: Sequence[Paper]) -> list[str | None]:
    return [identifiers.doi(paper.doi) if paper.doi else None for paper in papers]


def _with_one_doi(keys: Sequence[Key | None], dois: Sequence[str | None]) -> list[list[int]]:
    """The papers with the same DOI, but for those of which title and first author differ: they are parts of what has the DOI. A paper
    without title or author joins the others if none of them differ."""
    places_with: dict[str, list[int]] = {}
    for place, doi in enumerate(dois):
        if doi is not None:
            places_with.setdefault(doi, []).append(place)
    sets: list[list[int]] = []
    for places in places_with.values():
        known = {place: work_key for place in places if (work_key := keys[place]) is not None and work_key[1]}
        works, first_with = _Works(len(known)), dict[tuple[int, str], int]()
        for number, words in enumerate(known.values()):
            for word in enumerate(words):
                works.join([first_with.setdefault(word, number), number])
        parts = works.groups()
        sets += [places] if len(parts) < 2 else [[list(known)[number] for number in part] for part in parts]
    return sets


class _Works:
    """Sets of positions that grow together (union by the least)."""

    def __init__(self, count: int) -> None:
        self._parents = list(range(count))

    def join(self, places: Sequence[int]) -> None:
        for place in places[1:]:
            one, other = sorted((self._least(places[0]), self._least(place)))
            self._parents[other] = one

    def groups(self) -> list[list[int]]:
        groups: dict[int, list[int]] = {}
        for place in range(len(self._parents)):
            groups.setdefault(self._least(place), []).append(place)
        return list(groups.values())

    def _least(self, place: int) -> int:
        while self._parents[place] != place:
            self._parents[place] = place = self._parents[self._parents[place]]
        return place


@dataclass(slots=True)
class _Alike:
    """Records of one title and author that do not contradict each other: their positions, the year and the DOI of the first, and all of
    their years."""

    year: int | None
    doi: str | None
    places: list[int] = field(default_factory=list)
    years: set[int] = field(default_factory=set)

    def fits(self, year: int | None, doi: str | None) -> bool:
        years = self.years if year is None else self.years | {year}
        return (not years or max(years) - min(years) <= YEARS_APART) and (self.doi is None or doi in (None, self.doi))


def _compatible(group: Sequence[int], papers: Sequence[Paper], dois: Sequence[str | None]) -> list[list[int]]:
    """The records of one title and author as sets of those that do not contradict each other.

    They are taken by year and DOI. Those of which year or DOI is not known come last, and join others only where they can belong to one
    set alone; else they could join different papers.
    """
    is_short = len(bare_title(papers[group[0]].title)) <= DISTINCTIVE_LENGTH
    marks = {place: (papers[place].year, dois[place] if is_short else None) for place in group}

    def order(place: int) -> tuple[bool, bool, int, str, int]:
        year, doi = marks[place]
        return year is None, doi is None, year or 0, doi or "", place

    sets: list[_Alike] = []
    for place in sorted(group, key=order):
        year, doi = marks[place]
        fitting = [one for one in sets if one.fits(year, doi)]
        if len(fitting) > 1:
            fitting = [one for one in fitting if (one.year, one.doi) == (year, doi)]
        if not fitting:
            fitting = [_Alike(year, doi)]
            sets += fitting
        fitting[0].places.append(place)
        fitting[0].years |= set() if year is None else {year}
    return [one.places for one in sets]


def _family(author: str) -> str:
    """The last word of "Ada Lovelace", or of the part before the comma in "van Beethoven, Ludwig"; not an initial, not Jr."""
    before, comma, _ = author.partition(",")
    written = before.split()
    if not comma and len(written) > 1 and INITIALS.fullmatch(written[-1]) and not any(word.isupper() for word in written[:-1]):
        author = " ".join(written[:-1])
    words = [bare for word in BLANKS.split(fold_name(author).partition(",")[0]) if (bare := without_digraphs(MARKS.sub("", word)))]
    full = (word for word in reversed(words) if len(word) > 1 and word not in SUFFIXES)
    return next(full, words[-1] if words else "")
