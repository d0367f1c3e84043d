"""Near-duplicates: papers that are one work, such as a preprint and its journal version, by title and first author."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from ...matching.lexical.words import fold
from ...runs import Ranking
from ...types import Paper

MARKS = re.compile(r"[\W_]+")
BLANKS = re.compile(r"[\s.]+")
SUFFIXES = frozenset({"jr", "sr", "ii", "iii", "iv"})

DISTINCTIVE_LENGTH = 25
"""A title with more letters and digits than this identifies a paper. "Introduction" and "Book reviews" do not."""


def key(title: str, authors: Sequence[str]) -> tuple[str, str] | None:
    """The key that papers of one work share: the title and the first author's family name, both as plain letters and digits.

    Case, accents, LaTeX marks, punctuation and white space make no difference, and a Greek letter is its name. The family
    name is "" for a paper without authors. None for a paper whose title has no letter or digit.
    """
    bare = MARKS.sub("", fold(title))
    return (bare, _family(authors[0]) if authors else "") if bare else None


def groups(papers: Sequence[Paper]) -> list[list[int]]:
    """Positions of papers that are one work: every position once, groups in order of their first member.

    Papers with equal keys are one work. A paper without authors belongs to the papers of its title only if that title is
    longer than `DISTINCTIVE_LENGTH` and they all have the same first author; else it could join papers of different authors. If they
    have several, the papers without authors are one work by themselves. A paper without authors and with a short title, or
    without a key, is alone.
    """
    singles: list[list[int]] = []
    members: dict[tuple[str, str], list[int]] = {}
    for place, paper in enumerate(papers):
        work_key = key(paper.title, paper.authors)
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


def groups_of(tables: Iterable[pa.Table]) -> list[tuple[str, list[str]]]:
    """The works with more than one paper in tables with id, title and authors: a title, and the papers' ids."""
    papers = [
        Paper(id, title, authors=tuple(authors or ()))
        for table in tables
        for id, title, authors in zip(*(_column(table, name) for name in ("id", "title", "authors")), strict=True)
    ]
    return [(papers[work[0]].title, [papers[place].id for place in work]) for work in groups(papers) if len(work) > 1]


def _column(table: pa.Table, name: str) -> list[Any]:
    values: list[Any] = table[name].to_pylist() if name in table.column_names else [None] * len(table)
    return values


def grouped(ranking: Ranking, papers: Sequence[Paper], k: int) -> Ranking:
    """The ranking's first k works, each by its best ranked paper, with the others in `also`. `papers` are the ranking's."""
    works = groups(papers)[:k]
    also = [[ranking.ids[place] for place in work[1:]] for work in works]
    return replace(ranking.take([work[0] for work in works]), also=also)


def _family(author: str) -> str:
    """The last word of "Ada Lovelace", or of the part before the comma in "van Beethoven, Ludwig"; not an initial, not Jr."""
    words = [bare for word in BLANKS.split(fold(author).partition(",")[0]) if (bare := MARKS.sub("", word))]
    full = (word for word in reversed(words) if len(word) > 1 and word not in SUFFIXES)
    return next(full, words[-1] if words else "")
