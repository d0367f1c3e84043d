"""Citation keys of papers, and adding papers to a bibliography."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from ..base.arguments import checked
from ..base.errors import InvalidRequest
from ..base.forms import AsJson
from ..base.types import Hit, Paper, Papers, listed
from ..base.wording import as_json, shortened, without_controls
from ..files.schema import papers_of
from ..files.writing import check_parent, claimed, replaced
from ..papers import duplicates, identifiers
from ..papers.bibliographies import bibtex_entries, csl_items, ris_records
from ..papers.bibliographies.author_names import people
from ..papers.bibliographies.works import arxiv_of, doi_of
from ..papers.corpora import ColumnMap
from ..papers.corpora.formats import BIBTEX, JSON, RIS
from ..papers.corpora.papers import papers as papers_in
from ..papers.corpora.raw import RawBatch
from ..query.opening import AnyIndex, opened


@dataclass(frozen=True, slots=True)
class Citations(AsJson):
    """The result of citing papers.

    Attributes:
        keys: the papers' citation keys, in order; with a bibliography, their keys in it.
        added: number of papers added to the bibliography.
        present: number of papers that it already had.
        unread: number of its entries that could not be read and so not be compared.

    >>> citations = sr.cite(index.papers("p0007"))  # an sr.Citations
    >>> len(citations.keys)
    1
    """

    keys: list[str]
    added: int = 0
    present: int = 0
    unread: int = 0


Reading: TypeAlias = Callable[[Path], Iterator[RawBatch]]
"""Reads a bibliography."""
Adding: TypeAlias = Callable[[str, Sequence[Paper], Collection[str]], tuple[int, str, list[str]]]
"""Formats papers as entries of a bibliography, given its text and the keys in use. Returns where to insert the entries, the entries, and
the papers' keys."""


@checked
def cite(papers: Papers, append: Path | str | None = None, *, index: AnyIndex | None = None) -> Citations:
    """Citation keys of papers: objects, or names of papers of an `index`. With `append`, those missing from that bibliography are added.

    The bibliography is a .bib or .ris file, or a .json file with a list of CSL-JSON. A missing file is created. Existing content is kept
    byte for byte. A paper is present if an entry has its DOI, arXiv number or PubMed id; or its citation key and title; or its title, first
    author and year. If another paper has the key, a letter is appended. The file is replaced atomically, and processes take turns.

    Raises:
        NoSuchPaper: a name is of no paper of the index.
        InvalidRequest: a paper is named without an index, the suffix is unknown, the folder is missing, or the file is not a UTF-8
            bibliography in this format.
        IndexBusy: another process holds the file for a minute.

    >>> sr.cite(index.papers(["p0007", "p0012"]), append="mine.bib").added
    2
    """
    items = _papers(papers, index)
    if append is None:
        return Citations(bibtex_entries.keys(items))
    path = Path(append)
    if path.suffix.lower() not in FORMATS:
        raise InvalidRequest(f"cannot append to {path.name}: name a .bib, .ris or .json file")
    check_parent(path)
    target = path.resolve()  # keeps a symbolic link
    while True:
        target.open("ab").close()  # creates the file without changing it
        with suppress(FileNotFoundError), claimed(target):  # another process may be replacing it
            return _append(items, path, target)


def _papers(given: Papers, index: AnyIndex | None) -> list[Paper]:
    """The papers that are given, of which an index reads those that are no objects."""
    papers: list[Any] = [item.paper if isinstance(item, Hit) else item for item in listed(given)]
    named = [item for item in papers if not isinstance(item, Paper)]
    if index is not None:
        with opened(index) as library:
            read = iter(library.papers(named))
        return [item if isinstance(item, Paper) else next(read) for item in papers]
    if named:
        raise InvalidRequest(f"a paper is cited as an object, or by its id with `index=`, not as {shortened(named[0])}")
    return papers


def _append(papers: Sequence[Paper], path: Path, target: Path) -> Citations:
    read, add = FORMATS[path.suffix.lower()]
    try:
        text = target.read_bytes().decode()
    except UnicodeDecodeError as error:
        raise InvalidRequest(f"{path} is not in UTF-8; convert it first, for example with `iconv -f latin1 -t utf-8`") from error
    there, unread = _contents(read(target)) if text.strip() else (_Known(), 0)
    own_keys = bibtex_entries.keys(papers)
    new, new_papers = _Known(), dict[str, Paper]()
    names: list[tuple[_Known, str]] = []
    for paper, own_key in zip(papers, own_keys, strict=True):
        if (key := there.find(paper, own_key)) is not None:
            names.append((there, key))
            continue
        if (key := new.find(paper, own_key)) is None:
            key = own_key
            new.add(paper, key)
            new_papers[key] = paper
        names.append((new, key))
    place, addition, added_keys = add(text, list(new_papers.values()), there.keys)
    if new_papers:
        addition = without_controls(addition)
        addition = addition.replace("\n", "\r\n") if "\r\n" in text else addition
        with replaced(target) as file:
            file.write((text[:place] + addition + text[place:]).encode())
    key_of = dict(zip(new_papers, added_keys, strict=True))
    keys = [key if known is there else key_of[key] for known, key in names]
    return Citations(keys, len(new_papers), len(papers) - len(new_papers), unread)


def _contents(batches: Iterator[RawBatch]) -> tuple[_Known, int]:
    """Papers of a bibliography, and the number of unreadable entries."""
    known, batches_read = _Known(), list(batches)
    for batch in papers_in(iter(batches_read), ColumnMap(), textless=True):
        for paper in papers_of(batch.papers):
            known.add(paper, paper.id)
        known.keys.update(item.id for item in batch.rejected if item.id)
    return known, sum(len(batch.rejected) for batch in batches_read)


class _Known:
    """Papers of a bibliography with their citation keys, indexed for comparison.

    Attributes:
        keys: all keys, including those of unreadable entries.
    """

    def __init__(self) -> None:
        self.keys: set[str] = set()
        self._key_of: dict[tuple[str, str], str] = {}
        self._namesakes: dict[str, list[tuple[Paper, str]]] = {}

    def add(self, paper: Paper, key: str) -> None:
        """Add a paper to the index. Of two equal papers, the first stays."""
        self.keys.add(key)
        for identifier in _identifiers(paper):
            self._key_of.setdefault(identifier, key)
        self._namesakes.setdefault(_title(paper), []).append((paper, key))

    def find(self, paper: Paper, key: str) -> str | None:
        """Key of the same paper in the bibliography; `key` is its key elsewhere, by default its id."""
        for identifier in _identifiers(paper):
            if identifier in self._key_of:
                return self._key_of[identifier]
        namesakes = self._namesakes.get(_title(paper), ())
        by_key = (other_key for _, other_key in namesakes if other_key.lower() in (key.lower(), paper.id.lower()))
        by_work = (other_key for other, other_key in namesakes if _are_one_work(paper, other))
        return next(by_key, next(by_work, None))


def _identifiers(paper: Paper) -> Iterator[tuple[str, str]]:
    if doi := doi_of(paper):
        yield "doi", identifiers.doi(doi) or doi.lower()
    if (number := arxiv_of(paper)) and (bare := identifiers.arxiv(number)):
        yield "arxiv", bare
    if pmid := paper.extra.get("pmid"):
        yield "pmid", str(pmid)


def _title(paper: Paper) -> str:
    """Title in plain letters and digits."""
    work = duplicates.key(paper.title, ())
    return work[0] if work else ""


def _are_one_work(paper: Paper, other: Paper) -> bool:
    """Whether two papers with the same title are the same work: by first author and year, where both have them. A short title without an
    author also needs the same venue."""
    works = [duplicates.key(item.title, list(people(item.authors))) for item in (paper, other)]
    if None in works or (paper.year and other.year and paper.year != other.year):
        return False
    (title, family), (_, other_family) = filter(None, works)
    if family and other_family:
        return family == other_family
    return len(title) > duplicates.DISTINCTIVE_LENGTH or (family == other_family and paper.venue == other.venue)


def _added_bibtex(text: str, papers: Sequence[Paper], taken: Collection[str]) -> tuple[int, str, list[str]]:
    every_key = {*taken, *bibtex_entries.HEAD.findall(text)}  # including keys of entries that are no papers
    return len(text), _gap(text) + bibtex_entries.text(papers, every_key), bibtex_entries.keys(papers, every_key)


def _added_ris(text: str, papers: Sequence[Paper], _taken: Collection[str]) -> tuple[int, str, list[str]]:
    return len(text), _gap(text) + ris_records.text(papers), [paper.id for paper in papers]


def _gap(text: str) -> str:
    """Line breaks that leave an empty line after a text; "" for an empty text."""
    return "" if not text.strip() else "\n" if text.endswith("\n") else "\n\n"


def _added_csl(text: str, papers: Sequence[Paper], taken: Collection[str]) -> tuple[int, str, list[str]]:
    items = list(csl_items.items(papers, taken))
    lines = ",\n".join(as_json(item, indent=2) for item in items)
    addition = re.sub("^", "  ", lines, flags=re.MULTILINE)
    keys = [str(item["id"]) for item in items]
    if not text.strip():
        return 0, f"[\n{addition}\n]\n", keys
    before = text.rstrip().removesuffix("]").rstrip()
    return len(before), ("\n" if before.strip("\ufeff") == "[" else ",\n") + addition, keys


def _read_csl(path: Path) -> Iterator[RawBatch]:
    """Items of a CSL-JSON list. Raises InvalidRequest for other JSON, such as a service's response, which cannot be extended."""
    try:
        items = json.loads(path.read_bytes().decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise InvalidRequest(f"{path} is no list of CSL-JSON: {error}") from error
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise InvalidRequest(f"{path} is no list of CSL-JSON, so nothing can be added to it")
    return JSON.read(path)


FORMATS: Mapping[str, tuple[Reading, Adding]] = {
    ".bib": (BIBTEX.read, _added_bibtex),
    ".ris": (RIS.read, _added_ris),
    ".json": (_read_csl, _added_csl),
}
"""Reader and formatter by suffix."""
