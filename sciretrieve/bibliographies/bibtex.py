"""BibTeX: writing entries, and papers as entries."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from ..types import Paper
from .keys import keys_of
from .names import for_bibtex
from .works import arxiv_of, details_of, doi_of, kind_of, url_of

ENTRY = "bibtex"
"""The column with a paper's original entry from a bibliography."""

HEAD = re.compile(r"@[^\s{}(),]+\{([^\s{},]+)(?=,|\s*\})")
ESCAPES = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "{": r"\textbraceleft{}",
        "}": r"\textbraceright{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
    }
    | {char: f"\\{char}" for char in "&%#_$"}
)


def entry(kind: str, key: str, fields: Iterable[tuple[str, str]]) -> str:
    """An entry, one field per line, with values in BibTeX's own notation: `{text}`, or a macro like `may`.

    pybtex's writer accepts only texts, expands macros, and escapes a second time what is escaped already.
    """
    return ",\n".join([f"@{kind}{{{key}", *(f"  {name} = {value}" for name, value in fields)]) + "\n}"


def entries(papers: Sequence[Paper]) -> Iterator[str]:
    """Papers as entries, in order. Those read from BibTeX are unchanged; others are made from the papers' fields."""
    heads = [HEAD.match(text) if isinstance(text := paper.extra.get(ENTRY), str) and _is_balanced(text) else None for paper in papers]
    keys = keys_of(papers, [head[1] if head else None for head in heads])
    for paper, head, key in zip(papers, heads, keys, strict=True):
        yield head.string if head else _new_entry(paper, key)


def _new_entry(paper: Paper, key: str) -> str:
    kind, doi, eprint = kind_of(paper), doi_of(paper), arxiv_of(paper)
    texts = {
        "author": " and ".join(for_bibtex(_latex(name)) for name in paper.authors if name.strip()),
        "title": f"{{{_latex(paper.title)}}}" if paper.title else "",
        kind.venue: _latex(paper.venue or ""),
        "year": str(paper.year or ""),
    }
    details = {field: _latex(text) for field, text in details_of(paper).items()}
    details["pages"] = re.sub(r"(?<=\d)[-–](?=\d)", "--", details.get("pages", ""))
    identifiers = {"doi": doi, "eprint": eprint, "archivePrefix": "arXiv" if eprint else None, "url": url_of(paper)}
    verbatim = {field: text.replace("{", "%7B").replace("}", "%7D") for field, text in identifiers.items() if text}
    fields = details | {field: text for field, text in texts.items() if text} | verbatim | {"abstract": _latex(paper.abstract)}
    order = dict.fromkeys([*texts, *fields])
    return entry(kind.bibtex, key, ((name, f"{{{text}}}") for name in order if (text := fields.get(name))))


def _latex(text: str) -> str:
    """A text as LaTeX that `plain_text` reads as the same text, even if it has what LaTeX takes for dashes and quotes."""
    return re.sub(r"(?<=([-`']))(?=\1)", "{}", " ".join(text.split()).translate(ESCAPES))


def _is_balanced(text: str) -> bool:
    depth = 0
    for brace in re.findall(r"[{}]", text):
        depth += 1 if brace == "{" else -1
        if depth < 0:
            return False
    return depth == 0
