"""References as people read them: a numbered list in Markdown or HTML, with links by DOI, arXiv number or URL."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ...base.types import Paper
from .addresses import addresses_of
from .works import ARXIV, Publication, publication_of

MOST_NAMES = 20
"""Authors that a reference names; of more, the first and "et al.". As many as in APA's style."""
MARKS = re.compile(r"[\\`*_\[\]<~^$]|&(?=#?\w+;)|(?<!\w)@")
"""Characters with a meaning in CommonMark, GitHub's Markdown or pandoc's."""
START = re.compile(r"^(?:(?=[-+=:>#|]|\(\w{1,9}\))|(?:\d{1,9}|[a-z]|[ivxlcdm]+|[IVXLCDM]{2,})(?=[.)])|[A-Z](?=\)))")
"""Where a backslash keeps the beginning of a line from being a list, a heading or a definition; pandoc also counts by letters."""
STYLE = "body{font:1rem/1.5 serif;max-width:45rem;margin:2rem auto;padding:0 1rem}li{margin:.6rem 0}details{color:#555}"


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a reference: its text, and whether it is plain, in italics, or a link to `url`."""

    text: str
    style: Literal["plain", "italics", "link"] = "plain"
    url: str = ""


def markdown(papers: Sequence[Paper]) -> Iterator[str]:
    """A numbered list in Markdown, a line a paper, in the given order."""
    for number, paper in enumerate(papers, 1):
        text = "".join(map(_markdown, _pieces(paper)))
        yield f"{number}. " + START.sub(r"\g<0>\\", text)


def reference(paper: Paper) -> str:
    """A paper as one line of plain text."""
    return "".join(piece.text for piece in _pieces(paper))


def webpage(papers: Sequence[Paper], title: str = "References", facts: Mapping[str, str] = {}) -> Iterator[str]:
    """A whole page in HTML that loads nothing: its title, some facts by their names, and a numbered list, in the given order, with
    abstracts to unfold."""
    heading = html.escape(" ".join(title.split()))
    yield f'<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8"><title>{heading}</title><style>{STYLE}</style></head>'
    yield f"<body>\n<h1>{heading}</h1>"
    if facts:
        yield f"<p>{'<br>'.join(f'{html.escape(name)}: {html.escape(value)}' for name, value in facts.items())}</p>"
    yield "<ol>"
    for paper in papers:
        abstract = html.escape(" ".join(paper.abstract.split())) if paper.title else ""
        details = f"<details><summary>Abstract</summary>{abstract}</details>" if abstract else ""
        yield f"<li>{''.join(map(_html, _pieces(paper)))}{details}</li>"
    yield "</ol>\n</body>\n</html>"


def _pieces(paper: Paper) -> Iterator[Piece]:
    """Authors (year). Title. *Venue*, volume(number), pages. Link. Without authors, the title comes first."""
    work = publication_of(paper)
    title = work.title or work.abstract or "(no title)"
    names = [name.text for name in work.authors]
    year = f" ({work.year})" if work.year is not None else ""
    yield Piece(_sentence(f"{_and(names, work.has_more)}{year}") + f" {_sentence(title)}" if names else _sentence(f"{title}{year}"))
    volume = work.volume + (f"({work.number})" if work.number else "")
    name, address = next(iter(addresses_of(paper).items()), ("", ""))
    venue = "" if work.venue == name == ARXIV else work.venue or work.series or work.publisher
    if venue:
        yield Piece(" ")
        yield Piece(venue, "italics")
        yield Piece(_sentence(", ".join(filter(None, (venue, volume, work.page_text("–") or work.article))))[len(venue) :])
    if address:
        yield Piece(" ")
        yield Piece(_label(work, name, address), "link", address)


def _label(work: Publication, name: str, address: str) -> str:
    """What a link shows: the identifier, or the whole address."""
    if name == "PubMed":
        return f"PMID:{address.rstrip('/').rpartition('/')[2]}"
    return {"DOI": f"doi:{work.doi}", "arXiv": f"arXiv:{work.arxiv}"}.get(name, address)


def _and(names: Sequence[str], has_more: bool) -> str:
    if has_more or len(names) > MOST_NAMES:
        return f"{', '.join(names[:MOST_NAMES])} et al."
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def _sentence(text: str) -> str:
    """A text with a full stop, unless it ends with a mark like it."""
    return text if text.endswith((".", "?", "!", "…", "。")) else f"{text}."


def _markdown(piece: Piece) -> str:
    text = MARKS.sub(r"\\\g<0>", piece.text)
    if piece.style == "italics":
        return f"*{text}*"
    return f"[{text}]({piece.url.replace('(', '%28').replace(')', '%29')})" if piece.style == "link" else text


def _html(piece: Piece) -> str:
    text = html.escape(piece.text)
    if piece.style == "italics":
        return f"<em>{text}</em>"
    return f'<a href="{html.escape(piece.url)}">{text}</a>' if piece.style == "link" else text
