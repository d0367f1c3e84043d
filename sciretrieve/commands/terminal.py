"""Answers and papers for a person at a terminal: links, marked words, a sentence under each hit. For programs there is `outputs`.

Papers may contain control characters that a terminal would obey; none leaves this module.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len, chop_cells, set_cell_size
from rich.console import Console
from rich.style import Style
from rich.text import Text

from ..answers.outputs import also, passage_label, reasons, total
from ..base.types import Paper
from ..base.wording import cell, counted, duration_text, plain, printable
from ..files.schema import letters
from ..papers.bibliographies.addresses import address_of, addresses_of
from ..papers.bibliographies.author_names import byline, in_order
from ..papers.bibliographies.bibtex_entries import ENTRY, PARENTS
from ..papers.formulas import in_unicode
from ..papers.references import REFERENCES

if TYPE_CHECKING:
    from ..answers.answering import Answer
    from ..answers.profiles import Profile
    from ..answers.snippets import QueryWords
    from ..base.types import Hit, Passage
    from ..papers.references import Reference
    from ..query.index import Index

PLAIN, TITLE, MARK, ASIDE = Style(), Style(bold=True), Style(color="magenta", bold=True), Style(dim=True)
READABLE = 100
"""The widest column for a paper's whole text, even on wider terminals."""
ADDRESS_OF = {"doi": "DOI", "arxiv": "arXiv", "pmid": "PubMed", "url": "URL"}
"""Columns that are already visible as an address."""
MOST_WORKS = 20
"""The most cited and citing papers that are shown."""
NARROW = 60
"""Below this width, score and year stand under the title."""
VENUE = 12
"""The narrowest column for a venue."""
SEPARATOR = " · "
PROCEEDINGS = re.compile(r"(?:in:? )?(?:the )?proc(?:eedings|\.) of (?:the )?", re.IGNORECASE)
ACRONYM = re.compile(r" \(([^()]*[A-Z]{2}[^()]*)\)$")
LINKING = re.compile(r"(?:[\s,;:–-]|(?<=\s)(?:a|an|and|at|by|de|for|in|of|on|the|to|und|with|&))+$", re.IGNORECASE)
"""Small words and signs that a shortened venue must not end with."""


def table(answer: Answer, words: QueryWords) -> Iterator[str]:
    """Two lines per hit: rank, score, year, title; then byline, venue and id. With explanations, the whole title and the reasons for its
    rank.
    """
    console = _console()
    for position, hit in enumerate(answer.hits):
        lead, room = _lead(hit, console.width)
        if answer.explanations:
            lines = _whole(console, hit, words, room)
            for reason in reasons(hit, answer.explanations[position]):
                lines += _below("↳ ", _wrapped(console, Text(_plain(reason), ASIDE), room - 2))
        else:
            lines = [_on_a_line(console, _title(hit.paper, words), room), *_details(console, hit, room)]
            if hit.passage is not None:
                lines.append(_on_a_line(console, _passage(hit.passage, words), room))
        yield from _rendered(console, _below(lead, lines))


def portrait(profile: Profile) -> Iterator[str]:
    """All facts of a paper: title, authors, venue and year, abstract; its id, addresses and further columns; and the nearest papers."""
    console = _console()
    width, paper, addresses = min(console.width, READABLE), profile.paper, addresses_of(profile.paper)
    blank, lines = Text(""), _wrapped(console, _title(paper, None), width)
    for known in (", ".join(map(in_order, paper.authors)), ", ".join(str(part) for part in (paper.venue, paper.year) if part)):
        lines += _wrapped(console, Text(_plain(known)), width) if known else []
    if paper.title and paper.abstract:
        lines += [blank, *_wrapped(console, Text(_plain(paper.abstract)), width)]
    rows = {"id": Text(_plain(paper.id))}
    rows |= {name: Text(address, Style(link=address)) for name, address in addresses.items()}
    columns = {"doi": paper.doi, "url": paper.url, **plain(paper.extra), "also": list(profile.also)}
    printed = {ENTRY, PARENTS, *(column for column, name in ADDRESS_OF.items() if name in addresses)}
    if profile.citations is not None:
        printed |= {name for name, value in columns.items() if letters(name) in REFERENCES and isinstance(value, str | list | dict)}
    above = (None, "", paper.title, paper.venue)  # other fields repeat these, and nested ones are for programs
    shown = {name: cell(value) for name, value in columns.items() if name not in printed and not _is_nested(value)}
    rows |= {_plain(name): Text(_plain(str(value))) for name, value in shown.items() if value not in above}
    label_width = min(max(map(cell_len, rows)), width // 3)
    lines.append(blank)
    for name, value in rows.items():
        label = set_cell_size(name, label_width) + "  "
        lines += _below(label, _wrapped(console, value, width - cell_len(label)), ASIDE)
    yield from _rendered(console, lines)
    if profile.sections:
        heads = [f"{head or '(no head)'}{f' (p. {page})' if page else ''}" for head, page in profile.sections]
        yield from _rendered(console, [blank, Text("full text", TITLE), *_wrapped(console, Text(_plain(SEPARATOR.join(heads))), width)])
    if profile.citations is not None:
        cites, cited_by = profile.citations.cites, profile.citations.cited_by
        here = sum(isinstance(work, Paper) for work in cites)
        yield from _rendered(console, _works(console, f"cites {counted(len(cites), 'work')}, {here:,} of them in this index", cites, width))
        yield from _rendered(console, _works(console, f"cited by {counted(len(cited_by), 'paper')} of this index", cited_by, width))
    if profile.similar:
        yield from _rendered(console, [blank, Text("nearest papers", TITLE)])
    for hit in profile.similar:
        lead, room = _lead(hit, width)
        yield from _rendered(console, _below(lead, _whole(console, hit, None, room)))


def footer(answer: Answer, index: Index) -> Iterator[str]:
    """A summary of the answer: index, mode and time; and the number of matching papers."""
    console = _console()
    parts = [printable(str(index.path)), counted(len(index), "paper"), answer.run.mode, duration_text(answer.seconds), total(answer)]
    yield from _rendered(console, _wrapped(console, Text(SEPARATOR.join(filter(None, parts)), ASIDE), console.width))


def short_venue(venue: str, width: int) -> str:
    """A venue without "Proceedings of the", shortened between words to `width` columns; keeps an acronym in parentheses at its end.

    >>> short_venue("Proceedings of the 28th International Conference on Machine Learning (ICML 2011)", 48) '28th International Conference…
    (ICML 2011)'
    """
    whole = PROCEEDINGS.sub("", venue, count=1) if PROCEEDINGS.match(venue) else venue
    if cell_len(whole) <= width:
        return whole
    match = ACRONYM.search(whole)
    acronym = match[0] if match and cell_len(match[1]) <= width else ""
    words = whole.removesuffix(acronym).split()
    while words and cell_len(LINKING.sub("", " ".join(words))) > width - 1 - cell_len(acronym):
        words.pop()
    head = LINKING.sub("", " ".join(words))
    if acronym and len(words) < 2:  # the acronym tells more than a first word alone
        return acronym.strip(" ()")
    return f"{head}…{acronym}" if head else f"{chop_cells(whole, max(width - 1, 1))[0]}…"


def _is_nested(value: Any) -> bool:
    """Whether a column's value is an object or contains one, such as authors with affiliations."""
    return isinstance(value, dict) or (isinstance(value, list) and any(isinstance(item, dict | list) for item in value))


def _console() -> Console:
    """Standard output for rich, which respects NO_COLOR, FORCE_COLOR and TERM."""
    width = shutil.get_terminal_size((80, 24)).columns
    return Console(file=sys.stdout, width=width, markup=False, highlight=False, emoji=False, legacy_windows=False)


def _rendered(console: Console, lines: Iterable[Text]) -> Iterator[str]:
    for line in lines:
        line.rstrip()
        with console.capture() as captured:
            console.print(line, no_wrap=True, overflow="ignore", crop=False, end="")
        yield captured.get()


def _below(lead: str, lines: Sequence[Text], style: Style = PLAIN) -> list[Text]:
    """Lines with `lead` before the first, and the others indented as far."""
    return [Text.assemble((lead, style) if not number else " " * cell_len(lead), line) for number, line in enumerate(lines)]


def _wrapped(console: Console, text: Text, width: int) -> list[Text]:
    lines = list(text.wrap(console, width))
    for line in lines:
        line.rstrip()
    return lines or [Text("")]


def _works(console: Console, heading: str, works: Sequence[Paper | Reference], width: int) -> list[Text]:
    """Papers of the index and references to others, below a heading; only the first of many."""
    lines = [Text(""), Text(heading, TITLE)]
    for work in works[:MOST_WORKS]:
        if isinstance(work, Paper):
            text = Text(SEPARATOR).join([_title(work, None), Text(_plain(work.id), ASIDE)])
            lines += _below(f"{work.year or '':>6}  ", _wrapped(console, text, max(width - 8, 10)))
        else:
            lines += _below(" " * 8, _wrapped(console, Text(_plain(str(work)), ASIDE), max(width - 8, 10)))
    if len(works) > MOST_WORKS:
        lines.append(Text(f"        and {len(works) - MOST_WORKS:,} more, which -f json has", ASIDE))
    return lines


def _lead(hit: Hit, width: int) -> tuple[str, int]:
    """The text before a hit's title, and the columns left for the title."""
    lead = f"{hit.rank:>3}  "
    if width >= NARROW:
        lead += f"{hit.score:>7.3f}  {hit.paper.year or '':>4}  "
    return lead, max(width - len(lead), 10)


def _whole(console: Console, hit: Hit, words: QueryWords | None, room: int) -> list[Text]:
    """A hit with its whole title, over as many lines as necessary."""
    return [*_wrapped(console, _title(hit.paper, words), room), *_details(console, hit, room)]


def _on_a_line(console: Console, text: Text, room: int) -> Text:
    """A text cut between words to a line."""
    if text.cell_len <= room:
        return text
    line = text.wrap(console, room - 1)[0]
    line.rstrip()
    return line.append("…")


def _title(paper: Paper, words: QueryWords | None) -> Text:
    text = _marked(words, paper.title or paper.abstract) or Text("(no title)")
    address = address_of(paper)
    text.stylize_before(TITLE + Style(link=address) if address else TITLE)
    return text


def _passage(passage: Passage, words: QueryWords) -> Text:
    """The sentence of a passage with most of the query's words, after its place, which opens the file."""
    label, address = passage_label(passage), passage.address
    place = Text(_plain(label), ASIDE + Style(link=address) if address else ASIDE)
    return Text(" " * bool(label)).join([place, _marked(words, words.snippet(passage.text) or passage.text)])


def _details(console: Console, hit: Hit, room: int) -> list[Text]:
    paper, id = hit.paper, _plain(hit.name + also(hit))
    known = [f"{hit.score:.3f}", str(paper.year or "")] if console.width < NARROW else []
    known = [part for part in (*known, _plain(byline(paper))) if part]
    while known and _columns_of([*known, id]) > room:
        known.pop()
    left = room - _columns_of([*known, id]) - len(SEPARATOR)
    if paper.venue and left >= min(VENUE, cell_len(paper.venue)):
        known.append(short_venue(_plain(paper.venue), left))
    return _wrapped(console, Text(SEPARATOR).join([*map(Text, known), Text(id, ASIDE)]), room)


def _columns_of(parts: Sequence[str]) -> int:
    """The width of parts with separators between them."""
    return cell_len(SEPARATOR.join(parts))


def _marked(words: QueryWords | None, text: str) -> Text:
    """A text of a paper, with the query's words marked, if there are any."""
    line = _plain(text)
    marked = Text(line)
    for span in words.marks(line) if words else ():
        marked.stylize(MARK, *span)
    return marked


def _plain(text: str) -> str:
    """A text of a paper, on one line, with its formulas in Unicode, and without control characters."""
    return printable(in_unicode(" ".join(text.split())))
