"""Lookup of the papers that a text means, surest way first. BM25's postings select a few candidates, whose texts are then read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain, islice
from math import ceil
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ...base.characters import typed
from ...base.once import once
from ...base.types import Paper, Rows
from ...files.schema import integers, papers_of
from ...matching import topk
from ...matching.lexical import Analyzer, Bm25, LexicalShard
from ...matching.lexical.analysis import parts_of
from ...matching.lexical.name_terms import YEARS
from ...matching.lexical.words import WORD
from ...matching.scope import NO_ROWS, Scope
from ...matching.search import NO_MATCH, Match
from ...matching.sharding import by_shard
from ...papers.folding import fold_name
from ...storage.shards import Shard, texts_at
from ..opened import Opened
from .identifying import identified, with_ids_like
from .texts import LEAST_WORDS, TypedText, typed_names

TITLE, BEGINNING, MISSPELT = "title", "beginning of a title", "misspelt title"
REFERENCE, TEXT, NAMES = "reference", "text", "names"

LONGEST_STOP_WORD = 5
LONGEST_COMPOUND = 4
"""Most words that a title may join and a person type apart, as in state-of-the-art."""
NEAR = 2
"""Most letters by which a misspelt term and the right term differ, counting what stemming cuts off, for a title to be read."""

FEWEST_TERMS = 3
"""Fewest terms of a title's beginning, and of a misspelt title. Fewer terms are a subject."""
LONGEST = 20_000
"""Most characters of a title, a reference or an abstract."""
LONGEST_TITLE = 60
"""Most words of a title."""
LONGEST_REFERENCE = 120
"""Most words of a reference to one paper."""
SIGN_OF_REFERENCE = re.compile(r"\b(?:1[5-9]|20)\d\d\b|\bet al\b|\b[A-Z]\.")
"""Every reference contains one of these: a year, an initial, or "et al."."""
SHORTEST_TEXT = 12
"""Fewest words of a piece of an abstract."""
RAREST, SHARED_TERMS, SHARED_RUNS = 12, 0.7, 0.7
"""For a pasted text: how many of its rarest terms are looked up, the share of these that a paper must contain to be read, and the share of
the text's runs of words that a paper must contain to match."""
MOST_WITH_TITLE = 100
"""Most papers that may share a title. A title that more papers share, such as "Editorial", names none of them."""
MOST_BEGUN = 5
"""Most papers whose titles may begin alike. A beginning that more papers share is a subject."""
MOST_READ = 30
"""Most papers whose titles are read, for each way except the whole title."""
MANY_TERMS = 6
"""Fewest terms of a title in which two terms may be misspelt as other words of the index."""
MOST_MISSPELT = 2
"""Most misspelt terms of a title."""
MOST_BY_NAME = 200
"""Most papers by authors of a name. If there are more, the search orders them."""
MOSTLY_A_NAME, LIKELY_A_NAME = 0.7, 0.1
"""Share of a word's papers that have it as an author's name: the least for a name that stands alone, and for one beside another name or a
year."""
PERHAPS_A_NAME = {False: 0.2, True: 0.05}
"""The same beside words of a title, without a year and with one. Reading the titles decides."""
LONGEST_SUBJECT = 8
"""Most words beside a name."""
MOST_ON_A_SUBJECT = 20
"""Most papers by one author on a subject."""
MOST_TRIED = 300
"""Most titles whose terms are compared for slips."""
SPARSE = 16
"""Papers per posting above which postings are sorted rather than counted for every paper of a shard."""

Counts: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True)
class TypedTerms:
    """The terms of a typed text."""

    analyzer: Analyzer
    text: str

    @once
    def _compounds(self) -> list[list[str]]:
        return list(map(parts_of, self.analyzer.compounds(self.text)))

    @once
    def _words(self) -> list[str]:
        return [word for parts in self._compounds for word in parts]

    @once
    def plain(self) -> frozenset[str]:
        """Terms of the words, with compounds split into parts."""
        return frozenset(chain.from_iterable(map(self.analyzer.part_terms, self.analyzer.compounds(self.text))))

    @property
    def most_joined(self) -> int:
        """At least as many as are `joined`."""
        words = len(self.analyzer.words(self.text))
        return min(words * (words - 1) // 2, LONGEST_COMPOUND * words)

    @once
    def joined(self) -> frozenset[str]:
        """Further terms: of compounds written as one word, and of adjacent words that a title may join."""
        words = self._words
        spans = ((start, end) for start in range(len(words)) for end in range(start + 2, min(start + LONGEST_COMPOUND, len(words)) + 1))
        joined = ["".join(parts) for parts in self._compounds if len(parts) > 1] + ["".join(words[start:end]) for start, end in spans]
        return frozenset(self.analyzer.terms_of(joined)) - self.plain


@dataclass(frozen=True, eq=False)
class Titles:
    """Titles that share terms with a text. All arrays are (n,): rows, shared plain terms, shared joined terms, and terms in all."""

    rows: Rows
    plain: Counts
    joined: Counts
    sizes: Counts

    @property
    def others(self) -> Counts:
        """Number of further terms in each title, (n,)."""
        return self.sizes - self.plain - self.joined

    def where(self, flags: npt.NDArray[np.bool_]) -> Titles:
        """The flagged titles."""
        return Titles(self.rows[flags], self.plain[flags], self.joined[flags], self.sizes[flags])


NO_TITLES = Titles(*(np.empty(0, np.int64) for _ in range(4)))


@dataclass(frozen=True)
class Lookup:
    """Finds the papers of an index that a text means. Titles and texts are looked up by BM25's terms."""

    index: Opened

    def identified(self, text: str) -> Match:
        """Papers that a text identifies, see `each_identified`."""
        return self.each_identified([text])[0]

    def each_identified(self, texts: Sequence[str]) -> list[Match]:
        """For each text, the papers that it identifies by an id, an identifier or a key, as typed or with its signs normalised."""
        found = identified(self.index.shards, texts)
        others = {text: plain for text, (_, rows) in zip(texts, found, strict=True) if not len(rows) and (plain := typed(text)) != text}
        as_plain = dict(zip(others, identified(self.index.shards, [*others.values()]), strict=True)) if others else {}
        pairs = (as_plain.get(text, pair) for text, pair in zip(texts, found, strict=True))
        return [Match(by, rows) if len(rows) else NO_MATCH for by, rows in pairs]

    def named(self, text: str) -> Match:
        """Papers that a text identifies, or whose title it is. Used where a text has to name a paper."""
        match = self.identified(text)
        look = None if len(match) else self._look(text, self.index.scope)
        return match if look is None else look.match([(TITLE, lambda look: look.titled(dict(look.titles(look.as_title))))])

    def meant(self, text: str, scope: Scope) -> Match:
        """Papers of a scope that a typed text means: by title or its beginning, also misspelt; by a reference; by a piece of the abstract;
        by authors' names; or by an author and words of the title. A text that only states a subject means none. Without BM25 nothing is
        found."""
        return self.each_meant([text], [scope])[0]

    def each_meant(self, texts: Sequence[str], scopes: Sequence[Scope]) -> list[Match]:
        """The same for each of a batch of texts, with its scope. Titles and abstracts are read for all of them together."""
        looks = [self._look(*part) for part in zip(texts, scopes, strict=True)]
        rows = np.unique(np.concatenate([NO_ROWS, *(look.as_title for look in looks if look is not None)]))
        titles = dict(titles_at(self.index.shards, rows))
        by_title = [(TITLE, lambda look: look.titled(titles)), (BEGINNING, lambda look: look.begun(titles)), *BY_TITLE]
        matches = [NO_MATCH if look is None else look.match(by_title) for look in looks]
        rest = {place: look for place, look in enumerate(looks) if look is not None and not len(matches[place])}
        near = np.unique(np.concatenate([NO_ROWS, *(look.near for look in rest.values())]))
        texts_near = dict(papers_with(self.index.shards, near, "abstract"))
        by_text = [(TEXT, lambda look: look.quoted(texts_near)), *BY_NAMES]
        return [rest[place].match(by_text) if place in rest else match for place, match in enumerate(matches)]

    def by_names(self, text: str, scope: Scope) -> Rows:
        """Rows of a scope's papers by all of the authors that a text consists of, and of its year if it has one: "Tillmann and Ney 2000".
        None if the words may be others than names, or if there are many papers."""
        look = self._look(text, scope)
        return NO_ROWS if look is None else look.match([(NAMES, _Look.by_authors)]).rows

    def like(self, text: str, count: int) -> Rows:
        """The first `count` suggestions for a text that names no paper: papers with similar ids, else papers that a query would mean, else
        papers with similar titles."""
        rows = with_ids_like(self.index.shards, text.strip(), count)
        if not len(rows):
            rows = self.meant(text, self.index.scope).rows
        look = self._look(text, self.index.scope) if not len(rows) else None
        return (rows if look is None else np.array(look.alike(), np.int64))[:count]

    def _look(self, text: str, scope: Scope) -> _Look | None:
        """Prepare a lookup by words. Returns None without BM25, and for a text that is too long."""
        bm25 = self.index.bm25
        return None if bm25 is None or len(text) > LONGEST else _Look(self.index.shards, self.index.analyzer, bm25, TypedText(text), scope)


@dataclass(frozen=True)
class _Look:
    """One lookup of the papers that a typed text means, within a scope."""

    shards: Sequence[Shard]
    analyzer: Analyzer
    bm25: Bm25
    typed: TypedText
    scope: Scope

    def match(self, ways: Sequence[tuple[str, Way]]) -> Match:
        """Result of the first way that finds papers."""
        for by, way in ways:
            if rows := way(self):
                return Match(by, np.array(sorted(rows), np.int64))
        return NO_MATCH

    @once
    def _terms(self) -> TypedTerms:
        return TypedTerms(self.analyzer, self.typed.text)

    @once
    def _most_misspelt(self) -> int:
        """Most terms of the text that may be misspelt: all terms that no paper has, and in a longer text one or two others."""
        count = len(self._terms.plain)
        if count < FEWEST_TERMS:
            return 0
        unknown = count - len(self.bm25.known_terms(self._terms.plain))
        return min(max(unknown, (len(self.typed.words) >= LEAST_WORDS) + (count >= MANY_TERMS)), MOST_MISSPELT)

    def _titles(self, misspelt: int) -> Titles:
        """Titles that contain all of the text's terms, apart from so many. Joined terms are not counted."""
        count = len(self._terms.plain)
        if not count or len(self.typed.words) > LONGEST_TITLE:
            return NO_TITLES
        return titles_sharing(self.bm25, self._terms.plain, count - misspelt, self.scope)

    def _counted(self, titles: Titles, most: int = LONGEST) -> Titles:
        """Titles, with joined terms counted, see `with_joined`."""
        return with_joined(self.bm25, titles, lambda: self._terms.joined, most)

    @once
    def _whole(self) -> Titles:
        """Titles that contain all of the text's terms."""
        return self._titles(0)

    @once
    def _may_begin(self) -> bool:
        """Whether the text may begin a title, so that all titles with its terms are read."""
        return len(self._terms.plain) >= FEWEST_TERMS and len(self.typed.words) >= LEAST_WORDS and len(self._whole.rows) <= MOST_READ

    @once
    def as_title(self) -> Rows:
        """Papers to read for `titled` and `begun`; none if many share a title."""
        if self._may_begin:
            return self._whole.rows
        titles = self._counted(self._whole, self._terms.most_joined)
        rows = titles.rows[titles.others == 0]
        return rows if len(rows) <= MOST_WITH_TITLE else NO_ROWS

    def titled(self, titles: Mapping[int, str]) -> list[int]:
        """Papers whose title is the text. `titles` has those `as_title`, by row."""
        return [row for row in self.as_title.tolist() if self.typed.is_title(titles[row])]

    def begun(self, titles: Mapping[int, str]) -> list[int]:
        """Papers whose title begins with the text; none if there are many. `titles` is as in `titled`."""
        rows = [row for row in self.as_title.tolist() if self.typed.begins(titles[row])] if self._may_begin else []
        return rows if len(rows) <= MOST_BEGUN else []

    def misspelt(self) -> list[int]:
        """Papers whose title, or its beginning, is the text with the fewest slips; none if there are many."""
        if not self._most_misspelt:
            return []
        titles, plain = self._counted(self._titles(self._most_misspelt)), self._terms.plain
        near_rows = self._first(titles.rows, titles.plain - np.minimum(titles.others, MOST_MISSPELT + 1), MOST_TRIED)
        tried = near_rows[could_be(plain, title_terms(self.bm25, near_rows))].tolist()
        read = self.titles(np.array(sorted(tried[:MOST_READ]), np.int64))
        slips = {row: count for row, title in read if (count := self.typed.slips(title)) is not None}
        rows = [row for row in slips if slips[row] == min(slips.values())]
        return rows if len(rows) <= MOST_BEGUN else []

    def alike(self) -> list[int]:
        """A few papers whose titles share the most known terms with the text, then the most letters."""
        known = frozenset(self.bm25.known_terms(self._terms.plain))
        if not known or len(self.typed.words) > LONGEST_TITLE:
            return []
        titles = self._counted(titles_sharing(self.bm25, known, len(known) // 2 + 1, self.scope))
        # Shared terms decide first; the penalty for other terms stays below 1.
        nearest = self._first(titles.rows, titles.plain - np.minimum(titles.others, LONGEST) / LONGEST / 2, MOST_READ)
        shared = dict(zip(titles.rows.tolist(), titles.plain.tolist(), strict=True))
        read = self._papers(np.sort(nearest))
        places = [(-shared[row], -self.typed.likeness(paper.title), paper.id, row) for row, paper in read]
        return [row for *_, row in sorted(places)]

    def cited(self) -> list[int]:
        """Papers that the text refers to, by the longest title in it."""
        if not LEAST_WORDS < len(self.typed.words) <= LONGEST_REFERENCE or not SIGN_OF_REFERENCE.search(self.typed.text):
            return []
        titles = self._counted(titles_sharing(self.bm25, self._terms.plain, 1, self.scope))
        titles = titles.where((titles.others == 0) & (titles.sizes > 1))
        rows = np.sort(self._first(titles.rows, titles.sizes, MOST_READ))
        lengths = {
            row: len(TypedText(paper.title).letters)
            for row, paper in self._papers(rows, "authors", "year")
            if self.typed.cites(paper.title, paper.authors, paper.year)
        }
        return [row for row in lengths if lengths[row] == max(lengths.values())]

    @once
    def near(self) -> Rows:
        """Papers to read for `quoted`, ascending."""
        if len(self.typed.words) < SHORTEST_TEXT:
            return NO_ROWS
        return np.sort(self._first(*rows_with_most(self.bm25, self._terms.plain, RAREST, SHARED_TERMS, self.scope), MOST_READ))

    def quoted(self, papers: Mapping[int, Paper]) -> list[int]:
        """Papers whose title and abstract contain the text. `papers` has those `near` it, by row."""
        shares = {row: self.typed.share(f"{papers[row].title} {papers[row].abstract}") for row in self.near.tolist()}
        return [row for row in shares if shares[row] == max(shares.values()) >= SHARED_RUNS]

    def by_authors(self) -> list[int]:
        """Papers by the authors that the text names, of its year if it has one.

        A word that is seldom a name, such as "young", counts as one beside another name of the same author, or beside a year.
        """
        names = typed_names(self.typed.text)
        if names is None:
            return []
        shares = [self._share_of_names(word) for word in names.words]
        is_name = min(shares) >= MOSTLY_A_NAME or (names.year is not None and min(shares) >= LIKELY_A_NAME)
        if not min(shares) or (len(names.words) == 1 and not is_name) or max(shares) < LIKELY_A_NAME:
            return []  # a word that is nobody's name, first of all
        rows = self.bm25.rows_with(names.words, "authors")
        if names.year is not None:
            rows = np.intersect1d(rows, self.bm25.rows_with([str(names.year)], "year"))
        rows = self.scope.kept(rows)
        if len(rows) > MOST_BY_NAME:
            return []
        return [
            row
            for row, paper in self._papers(rows, "authors")
            if (names.are_of(paper.authors) if is_name else names.are_of_one(paper.authors))
        ]

    def by_an_author_on(self) -> list[int]:
        """Papers by an author that the text names, of its year if it has one, whose titles contain all of its other words; none if there
        are many. A text whose words all occur in one title is not read this way."""
        words = WORD.findall(fold_name(self.typed.text))
        years = [word for word in words if YEARS.fullmatch(word)]
        subject = [word for word in words if word not in years]
        if len(years) > 1 or not 2 <= len(subject) - (not years) <= LONGEST_SUBJECT or len(self._whole.rows):
            return []
        shares = {word: self._share_of_names(word) for word in subject if len(word) > 2 and not word.isdigit()}
        for name in sorted(shares, key=lambda word: -shares[word]):
            if shares[name] < PERHAPS_A_NAME[bool(years)]:
                break
            others = self.analyzer.indexed(" ".join(word for word in subject if word != name))
            rows = np.intersect1d(self.bm25.rows_with([name], "authors"), self.bm25.rows_with(others, "title"))
            if years:
                rows = np.intersect1d(rows, self.bm25.rows_with(years, "year"))
            if len(rows := self.scope.kept(rows)):
                return rows.tolist() if len(rows) <= MOST_ON_A_SUBJECT else []
        return []

    def _share_of_names(self, word: str) -> float:
        """Share of a word's papers that have it as an author's name; the others have it in their text."""
        as_name, term = sum(self.bm25.as_name(word).get("authors", {}).values()), self.analyzer.term(word)
        as_word = self.bm25.frequency(term) if term else 0
        return as_name / max(as_name + as_word, 1)

    def _first(self, rows: Rows, values: npt.NDArray[Any], count: int) -> Rows:
        """The `count` rows with the greatest values, greatest first, ties by id."""
        places = topk.best(values.astype(np.float64), count)
        ids = texts_at(self.shards, "id", rows[places])
        first: Rows = rows[places[topk.order(ids, values[places])[:count]]]
        return first

    def titles(self, rows: Rows) -> Iterator[tuple[int, str]]:
        """Rows with their papers' titles."""
        return titles_at(self.shards, rows)

    def _papers(self, rows: Rows, *columns: str) -> Iterator[tuple[int, Paper]]:
        return papers_with(self.shards, rows, *columns)


Way: TypeAlias = Callable[[_Look], list[int]]
BY_TITLE: Sequence[tuple[str, Way]] = ((MISSPELT, _Look.misspelt), (REFERENCE, _Look.cited))
BY_NAMES: Sequence[tuple[str, Way]] = ((NAMES, _Look.by_authors), (NAMES, _Look.by_an_author_on))
"""Ways in which a text can mean papers, surest first, each with its name in an answer. `_Look.titled` and `_Look.begun` are first,
`_Look.quoted` between."""


def papers_with(shards: Sequence[Shard], rows: Rows, *columns: str) -> Iterator[tuple[int, Paper]]:
    """Papers at the given rows, ascending, with their titles and the given columns."""
    for shard, _, shard_rows in by_shard(rows, shards):
        for paper_rows, table in shard.read_at(shard_rows, ["id", "title", *columns]):
            yield from zip((paper_rows + shard.first).tolist(), papers_of(table), strict=True)


def titles_at(shards: Sequence[Shard], rows: Rows) -> Iterator[tuple[int, str]]:
    """Rows with their papers' titles."""
    return zip(rows.tolist(), texts_at(shards, "title", rows), strict=True)


def titles_sharing(bm25: Bm25, plain: Iterable[str], least: int, scope: Scope) -> Titles:
    """Titles in a scope that contain at least `least` of some plain terms. There must be fewer than 256 terms, and `least` at least 1."""
    parts: list[tuple[Rows, Counts, Counts]] = []
    rarest_first = sorted(plain, key=bm25.frequency)
    for shard in bm25.shards:
        numbers = shard.numbers(rarest_first)
        if len(numbers) < least:
            continue
        places, shared = _sharing(shard, numbers, least, "title")
        if scope.mask is not None:
            is_wanted = scope.part(shard.first, shard.papers).has(places)
            places, shared = places[is_wanted], shared[is_wanted]
        if len(places):
            offsets = shard.postings.title_offsets
            parts.append((places + shard.first, shared, (offsets[places + 1] - offsets[places]).astype(np.int64)))
    if not parts:
        return NO_TITLES
    rows, shared, sizes = parts[0] if len(parts) == 1 else map(np.concatenate, zip(*parts, strict=True))
    return Titles(rows, shared, np.zeros(len(rows), np.int64), sizes)


def with_joined(bm25: Bm25, titles: Titles, joined: Callable[[], Iterable[str]], most: int) -> Titles:
    """Titles with joined terms counted where there are further terms, up to `most`. They are only computed if there is such a title."""
    others = titles.others
    places = np.flatnonzero((others > 0) & (others <= most))
    counts = np.zeros(len(others), np.int64)
    for shard, positions, shard_rows in by_shard(titles.rows[places], bm25.shards):
        for number in shard.numbers(joined()):
            counts[places[positions]] += shard.have(number, shard_rows, "title")
    return replace(titles, joined=counts) if len(places) else titles


def _sharing(shard: LexicalShard, numbers: Sequence[int], least: int, column: str | None = None) -> tuple[Rows, Counts]:
    """Places of a shard's papers with at least `least` of some terms, rarest first, as in `LexicalShard.rows_within`; ascending, and
    how many each has, both (n,)."""
    # each of these papers has one of the rarest terms, so only their postings are read
    enough = len(numbers) - least + 1
    if enough == 1:
        whole = shard.rows_with_all(numbers, column)
        return whole.astype(np.int64), np.full(len(whole), len(numbers))
    lists = [shard.rows_within(number, column) for number in numbers[:enough]]
    if SPARSE * sum(map(len, lists)) < shard.papers:
        places, shared = np.unique(np.concatenate(lists).astype(np.int64), return_counts=True)
    else:
        counts = np.zeros(shard.papers, np.uint8)
        for rows in lists:
            counts[rows] += 1
        places = np.flatnonzero(counts > 0)  # on booleans this takes a tenth of the time
        shared = counts[places].astype(np.int64)
    for rest, number in zip(range(len(numbers) - enough, 0, -1), numbers[enough:], strict=True):
        can_have_enough = shared >= least - rest
        places, shared = places[can_have_enough], shared[can_have_enough]
        if not len(places):
            break
        shared += shard.have(number, places, column)
    has_enough = shared >= least
    return places[has_enough], shared[has_enough]


def title_terms(bm25: Bm25, rows: Rows) -> list[set[str]]:
    """Terms of the titles at the given rows."""
    terms_of: list[set[str]] = [set()] * len(rows)
    for shard, positions, shard_rows in by_shard(rows, bm25.shards):
        offsets = shard.postings.title_offsets
        starts, ends = offsets[shard_rows].tolist(), offsets[shard_rows + 1].tolist()
        numbers = np.concatenate([shard.postings.title_terms[start:end] for start, end in zip(starts, ends, strict=True)])
        terms = iter(shard.postings.terms.take(integers(numbers.astype(np.int64))).to_pylist())
        for position, start, end in zip(positions.tolist(), starts, ends, strict=True):
            terms_of[position] = set(islice(terms, end - start))
    return terms_of


def rows_with_most(bm25: Bm25, terms: Iterable[str], rarest: int, share: float, scope: Scope) -> tuple[Rows, Counts]:
    """Rows in a scope that contain at least this share of a text's rarest terms, and how many each contains, both (n,)."""
    known = sorted(bm25.known_terms(terms), key=lambda term: (bm25.frequency(term), term))[:rarest]
    least = ceil(share * len(known))
    rows, shared = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for shard in bm25.shards if known else ():
        numbers = shard.numbers(known)
        if len(numbers) < least:
            continue
        places, counts = _sharing(shard, numbers, least)
        is_wanted = scope.part(shard.first, shard.papers).has(places)
        rows.append(places[is_wanted] + shard.first)
        shared.append(counts[is_wanted])
    return np.concatenate(rows), np.concatenate(shared)


def could_be(typed: Set[str], titles: Sequence[Set[str]]) -> list[int]:
    """Positions of the titles, each as its terms, in which each typed term that they lack may be a misspelling of another term, its
    beginning, or a misspelt stop word."""
    from rapidfuzz.distance import OSA

    @cache
    def is_near(term: str, other: str) -> bool:
        # stemming may have cut a right ending and kept a wrong one
        length = max(min(len(term), len(other)), 1)
        return OSA.distance(term[:length], other[:length], score_cutoff=NEAR) <= NEAR

    long = {term for term in typed if len(term) > LONGEST_STOP_WORD}
    pairs = enumerate((long - terms, terms - typed) for terms in titles)
    return [place for place, (lacking, others) in pairs if all(any(is_near(term, other) for other in others) for term in lacking)]
