"""BibTeX and BibLaTeX: each entry's fields as plain text, its names in parts, and the original entry."""

from __future__ import annotations

import logging
import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...base.wording import counted
from .. import identifiers
from ..bibliographies.author_names import MORE_AUTHORS, Name, is_group, is_suffix, parsed
from ..bibliographies.bibtex_entries import ENTRY, PARENTS
from ..bibliographies.keywords import listed
from ..dates import MONTHS, date_in, edtf
from .bibtex_syntax import BibTeXEntry, Broken, entries
from .encodings import read_text
from .journal_macros import journal
from .latex import plain_text, verbatim_text
from .people import OTHERS, People, people_in
from .raw import CutOff, Rejected, Row, free_name

LOG = logging.getLogger(__name__)
NOT_PAPERS = {"string", "preamble", "xdata"}
NAMES = {"author": "authors", "editor": "editors"}
VENUES = ("journal", "journaltitle", "booktitle")
KEYWORDS = "keywords"
VERBATIM = {"doi", "url", "eprint", "file", "pdf"}
ARCHIVE = ("eprinttype", "archiveprefix")
"""The fields that say of which archive the number in `eprint` is."""
IDENTIFIERS = {"pubmed": "pmid", "pmid": "pmid", "medline": "pmid", "pmc": "pmcid", "pmcid": "pmcid", "pubmedcentral": "pmcid"}
"""Archives whose numbers are identifiers with columns of their own."""
MONTH = re.compile(r"0?(\d{1,2})(?:\s*[-–/].*)?")
WEB_ADDRESS = re.compile(r"https?://\S+")
URLS = re.compile(r"\s+(?=https?://)")
LONGEST_NAMES = 100_000
"""Characters of names up to which braces keep names together: some 3,000 names. Looking for them takes time that grows with the
square."""
LONGEST_NAME = 2_000
"""Characters of one name up to which its parts are looked for."""
AND = re.compile(r"\s+and(?:\s+|$)", re.IGNORECASE)
TRAILING = re.compile(r"\s+and\s*$", re.IGNORECASE)
LEADING = re.compile(r"^(?:and\s+)+", re.IGNORECASE)
FOOTNOTE = re.compile(r"\$\^\s*\{?[\d,*\s]*(?:\\(?:ast|dag|ddag|dagger|star))?\}?\$")
UNLIKE_BIBTEX = re.compile(r";|,\s*$|(?:,.*){3}|,.*&.*,|\bet\.?\s*al\b|\((?:eds?\.?|editors?)\)$", re.IGNORECASE | re.DOTALL)
"""What a name in BibTeX has not: a semicolon, a comma at its end, three commas, "&" between two names, "et al."."""
INITIALS_FIRST = re.compile(r"\s*(?:[^\W\d_]\.[\s~-]*)+[^\W\d_]{2}")
DEGREE = re.compile(r"(?:ph\.?\s?d|m\.?d|esq|s\.?j|o\.?p)\.?", re.IGNORECASE)
GROUP = re.compile(r"\{[^{}]*\}")
WHOLE = re.compile(r"\{(?:[^{}]|\{[^{}]*\})*\}")
"""A name that braces keep together, as that of an institution."""
PHRASE = re.compile(r"\{[^{}\\]*\s")
NAME_PART = re.compile(r"\s*([a-z]+(?:-i)?)\s*=\s*(.*)", re.DOTALL)
"""A part of a name where BibLaTeX names the parts: `family=Berg, given=Jan, prefix=van der`."""

REFERENCE = re.compile(r"\b(?:crossref|xdata)\s*=\s*[{\"]([^}\"]*)", re.IGNORECASE)
OF_PARENT = {"abstract", "crossref", "doi", "eprint", "file", "ids", "shorttitle", "subtitle", "titleaddon", "url", "xdata", "xref"}
"""Fields that say what a parent itself is; a paper in it does not get them."""
MOST_LEVELS, MOST_PARENTS = 50, 50
"""Parents of parents that are followed, and that an entry is kept with."""


def rows(path: Path) -> Iterator[tuple[int, Row | Rejected]]:
    """Yield the entries but for `@string`, `@preamble` and `@xdata`.

    Each has its fields by their lower-cased names, as plain text, and inherits missing fields from the entries that its `crossref` and
    `xdata` name. `type` is its kind, and `bibtex` the original entry, with the file's own macros expanded.

    An entry that BibTeX does not read is mended, or rejected with its key and line, and costs no other: the next begins where a line
    says so.
    """
    text = read_text(path)
    parents = _Parents(path, text)
    papers = (item for item in entries(path, text) if isinstance(item, Broken) or item.kind.lower() not in NOT_PAPERS)
    mended: list[int] = []
    for number, item in enumerate(papers, start=1):
        if isinstance(item, Broken):
            kind = CutOff if item.is_last else Rejected
            yield number, kind(str(path), number, item.reason, item.key)
        else:
            mended += [item.line] * item.is_mended
            row = _row(item, parents.completed(item))
            own = [parent.text() for parent in parents.above(item)]
            yield number, {**row, PARENTS: own} if own else row
    if mended:
        LOG.warning(
            "%s: %s of BibTeX mended, the first in line %d; look whether titles and authors are whole",
            path,
            counted(len(mended), "broken entry", "broken entries"),
            mended[0],
        )


class _Parents:
    """The entries that others of a bibliography name in `crossref` or `xdata`. If there are any, the bibliography is parsed twice."""

    def __init__(self, path: Path, text: str) -> None:
        keys = {_folded(key) for value in REFERENCE.findall(text) for key in value.split(",")}
        items = entries(path, text) if keys else iter(())
        self._entries = {_folded(item.key): item for item in items if isinstance(item, BibTeXEntry) and _folded(item.key) in keys}
        self._values: dict[str, Mapping[str, str]] = {}

    def completed(self, child: BibTeXEntry, depth: int = 0) -> Mapping[str, str]:
        """An entry's own values, then values that it inherits.

        They are passed on as by BibTeX (Patashnik 1988, BibTeXing, section 2.1), but for `OF_PARENT`. A parent's title is also that of
        the book, journal or series that the child is in, as in BibLaTeX's manual (appendix B).
        """
        values = child.values()
        for key in values.get("xdata", "").split(","):
            values |= {name: value for name, value in self._values_of(key, depth).items() if name not in values}
        inherited = dict(self._values_of(values.get("crossref", ""), depth))
        whole = _title_of_whole(child.kind.lower())
        if "title" in inherited and (whole == "maintitle" or not any(name in values or name in inherited for name in VENUES)):
            inherited.setdefault(whole, inherited["title"])
        return values | {name: value for name, value in inherited.items() if name not in values and name not in OF_PARENT}

    def above(self, child: BibTeXEntry) -> Sequence[BibTeXEntry]:
        """The parents of an entry, and their parents, nearest first."""
        found: dict[str, BibTeXEntry] = {}
        queue = deque([child] if self._entries else [])
        while queue and len(found) < MOST_PARENTS:
            values = queue.popleft().values()
            for key in map(_folded, [*values.get("xdata", "").split(","), values.get("crossref", "")]):
                if key in self._entries and key not in found and key != _folded(child.key):
                    found[key] = self._entries[key]
                    queue.append(found[key])
        return list(found.values())[:MOST_PARENTS]

    def _values_of(self, key: str, depth: int) -> Mapping[str, str]:
        name = _folded(key)
        if name not in self._values:
            self._values[name] = {}  # what an entry gets from itself, where one leads back to it
            if name in self._entries and depth < MOST_LEVELS:
                self._values[name] = self.completed(self._entries[name], depth + 1)
        return self._values[name]


def _folded(key: str | None) -> str:
    """A key as BibTeX compares it."""
    return (key or "").strip().lower()


def _title_of_whole(kind: str) -> str:
    """The field for the title of what an entry of a kind is a part of."""
    if kind in {"article", "suppperiodical"}:
        return "journaltitle"
    return "booktitle" if kind.startswith(("in", "supp", "conference", "bookin")) else "maintitle"


def _row(item: BibTeXEntry, values: Mapping[str, str]) -> Row:
    row: dict[str, Any] = {"id": item.key or None, "type": item.kind.lower()}
    row["venue"] = plain_text(journal(next((values[name] for name in VENUES if values.get(name)), "")))
    row |= _dates(values) | _identifiers(values)
    if not values.get("url") and WEB_ADDRESS.fullmatch(address := plain_text(values.get("howpublished", "")).strip()):
        row["url"] = address
    if "langid" in values and "language" not in values:
        row["language"] = plain_text(values["langid"])
    own = [name.lower() for name, _ in item.fields]
    for name in dict.fromkeys([*own, *values]):
        value: Any = values[name]
        if name in NAMES:
            people = _people(value)
            value = people.rows
            if name == "author" and people.has_more:
                row[MORE_AUTHORS] = True
        elif name in ("year", "date"):
            continue
        else:
            value = verbatim_text(value) if name in VERBATIM else plain_text(journal(value) if name in VENUES else value)
            value = listed(value) if name == KEYWORDS else value
            if name == "url" and len(urls := URLS.split(value)) > 1:
                value, row["urls"] = urls[0], urls
        used_names = {*row, *NAMES.values(), ENTRY, PARENTS, MORE_AUTHORS}
        row[NAMES[name] if name in NAMES else free_name(name, used_names)] = value
    return row | {ENTRY: item.text()}


def _dates(values: Mapping[str, str]) -> dict[str, str]:
    """The year, and the date where more than the year is known: BibLaTeX's `date`, else `year`, `month` and `day`, as people fill them."""
    date, text = (plain_text(values.get(name, "").replace("~", r"\~{}")) for name in ("date", "year"))
    year, exact = edtf(date)
    if not year:
        month, day = (plain_text(values.get(name, "")) for name in ("month", "day"))
        number = MONTH.fullmatch(month)
        if number and 1 <= int(number[1]) <= len(MONTHS):
            month = MONTHS[int(number[1]) - 1]
        said = date_in(text) or date_in(date) or date_in(month)
        year = said[:4]
        exact = max(said, date_in(f"{month} {day}", year), key=len)
    return {"year": year or text} | ({"date": exact or date} if (exact or date) != year else {})


def _identifiers(values: Mapping[str, str]) -> dict[str, str]:
    """What the number in `eprint` is: an identifier, where it is of PubMed or its archive, else one in another archive than arXiv."""
    archive = plain_text(next((values[name] for name in ARCHIVE if values.get(name)), ""))
    number = verbatim_text(values.get("eprint", ""))
    if not (archive and number) or identifiers.arxiv(number):
        return {}
    column = IDENTIFIERS.get(re.sub(r"\W", "", archive.lower()))
    found = {column: number} if column else {"archive": archive, "archive_location": number}
    return {name: text for name, text in found.items() if name not in values}


def _people(names: str) -> People:
    """The names of an author field, as BibTeX takes them apart. What is no name to BibTeX, such as a list with semicolons, is read as in
    any other source."""
    from pybtex.bibtex.utils import split_name_list

    names = FOOTNOTE.sub("", names)
    inner = names[1:-1]
    if WHOLE.fullmatch(names) and "," in inner and all(part.count(",") == 1 for part in AND.split(inner)) and AND.search(inner):
        names = inner  # braces around the whole list, not around a name
    is_plain = "{" not in names or len(names) > LONGEST_NAMES
    persons = AND.split(names) if is_plain else split_name_list(TRAILING.sub("", names))
    people = People()
    for person in (bare for person in persons if (bare := LEADING.sub("", person.strip()))):
        if OTHERS.fullmatch(person):
            people.has_more = True
        elif (name := None if _is_list(person) else _name(person)) is not None:
            people.names.append(name)
        else:
            others = people_in(plain_text(person))
            people.names += others.names
            people.has_more |= others.has_more
    return people


def _is_list(person: str) -> bool:
    """Whether a text is no name to BibTeX, but several, or one in another form: "Smith J, Doe J", "King, Martin, Jr.", "Acme, Inc."."""
    bare = GROUP.sub("x", GROUP.sub("x", person)) if "{" in person and len(person) <= LONGEST_NAMES else person
    if "=" in bare or ("," not in bare and not UNLIKE_BIBTEX.search(bare)):
        return False
    parts = [part.strip() for part in bare.split(",")]
    return (
        UNLIKE_BIBTEX.search(bare) is not None
        or is_suffix(parts[-1])
        or is_group(bare)
        or (len(parts) == 3 and not is_suffix(parts[1]) and not DEGREE.fullmatch(parts[1]))
        or all(map(INITIALS_FIRST.match, parts))
    )


def _name(person: str) -> Name | None:
    """A name in parts: `van den Oord, Jr., A{\\"a}ron`, `{World Health Organization}`, `family=Berg, given=Jan, prefix=van der`; None if it
    has more parts than a name."""
    from pybtex.bibtex.utils import split_tex_string
    from pybtex.database import InvalidNameString, Person

    if WHOLE.fullmatch(person):
        return Name(literal=plain_text(person))
    if len(person) > LONGEST_NAME:
        return Name(literal=plain_text(person))
    named_parts = [NAME_PART.fullmatch(part) for part in split_tex_string(person, ",")]
    if all(named_parts):
        texts = {match[1]: plain_text(match[2]) for match in named_parts if match}
        return Name(*(texts.get(name, "") for name in ("family", "given", "prefix", "suffix")))
    if len(named_parts) == 1 and not PHRASE.search(person):
        return parsed(plain_text(person))
    try:
        parts = Person(person)
    except InvalidNameString:
        return None
    texts_of = ((*parts.last_names,), (*parts.first_names, *parts.middle_names), (*parts.prelast_names,), (*parts.lineage_names,))
    return Name(*(plain_text(" ".join(words)) for words in texts_of))
