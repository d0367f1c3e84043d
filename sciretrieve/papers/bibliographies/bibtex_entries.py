"""BibTeX: writing entries, and papers as entries."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from ...base.types import Paper
from .author_names import Name, names_of, parsed
from .keys import keys_of
from .keywords import joined, keywords_of
from .works import arxiv_of, details_of, doi_of, kind_of, url_of

ENTRY = "bibtex"
"""The column with a paper's original entry from a bibliography."""
PARENTS = "bibtex_parents"
"""The column with the original entries that this one takes fields from, by `crossref` and `xdata`: without them it would lack these."""

HEAD = re.compile(r"@[^\s{}(),]+\{([^\s{},]+)(?=,|\s*\})")
ESCAPES = str.maketrans(
    {"\\": r"\textbackslash{}", "{": r"\textbraceleft{}", "}": r"\textbraceright{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {char: f"\\{char}" for char in "&%#_$"}
)


def entry(kind: str, key: str, fields: Iterable[tuple[str, str]]) -> str:
    """An entry, one field per line, with values in BibTeX's own notation: `{text}`, or a macro like `may`.

    pybtex's writer accepts only texts, expands macros, and escapes a second time what is escaped already.
    """
    return ",\n".join([f"@{kind}{{{key}", *(f"  {name} = {value}" for name, value in fields)]) + "\n}"


def entries(papers: Sequence[Paper], taken: Collection[str] = ()) -> Iterator[str]:
    """Papers as entries, in order. Those read from BibTeX are unchanged, but for a key that is `taken`; others are made from the papers'
    fields. The parents of entries follow, as BibTeX wants it, unless their keys are there or taken."""
    known_keys = {key.lower() for key in taken}
    parents: dict[str, str] = {}
    for paper, key in zip(papers, keys(papers, taken), strict=True):
        head = _head(paper)
        known_keys.add(key.lower())
        yield f"{head.string[: head.start(1)]}{key}{head.string[head.end(1) :]}" if head else _new_entry(paper, key)
        for parent in paper.extra.get(PARENTS) or () if head else ():
            if isinstance(parent, str) and (parent_head := HEAD.match(parent)) and _is_balanced(parent):
                parents.setdefault(parent_head[1].lower(), parent)
    yield from (parent for key, parent in parents.items() if key not in known_keys)


def text(papers: Sequence[Paper], taken: Collection[str] = ()) -> str:
    """The same entries as the text of a file."""
    return "\n\n".join(entries(papers, taken)) + "\n"


def keys(papers: Sequence[Paper], taken: Collection[str] = ()) -> list[str]:
    """The citation keys of the same entries."""
    heads = map(_head, papers)
    return keys_of(papers, [head[1] if head else None for head in heads], taken)


def _head(paper: Paper) -> re.Match[str] | None:
    """The beginning of a paper's original entry, up to its key."""
    text = paper.extra.get(ENTRY)
    return HEAD.match(text) if isinstance(text, str) and _is_balanced(text) else None


def _new_entry(paper: Paper, key: str) -> str:
    kind, doi, eprint = kind_of(paper), doi_of(paper), arxiv_of(paper)
    texts = {
        "author": " and ".join(map(_name, names_of(paper))),
        "title": f"{{{_latex(paper.title)}}}" if paper.title else "",
        kind.venue: _latex(paper.venue or ""),
        "year": str(paper.year or ""),
    }
    details = {field: _latex(text) for field, text in details_of(paper).items()}
    details["editor"] = " and ".join(map(_name, names_of(paper, "editors")))
    details["pages"] = re.sub(r"(?<=\d)[-–](?=\d)", "--", details.get("pages", ""))
    identifiers = {"doi": doi, "eprint": eprint, "archivePrefix": "arXiv" if eprint else None, "url": url_of(paper)}
    verbatim = {field: text.replace("{", "%7B").replace("}", "%7D") for field, text in identifiers.items() if text}
    about = {"keywords": _latex(joined(keywords_of(paper))), "abstract": _latex(paper.abstract)}
    fields = details | {field: text for field, text in texts.items() if text} | verbatim | about
    order = dict.fromkeys([*texts, *fields])
    return entry(kind.bibtex, key, ((name, f"{{{text}}}") for name in order if (text := fields.get(name))))


def _name(name: Name) -> str:
    """A name in a form that BibTeX reads as the same: "John Smith", "Smith, Jr., John" and "{World Health Organization}"."""
    if name.literal:
        return f"{{{_latex(name.literal)}}}"
    if not name.suffix and parsed(name.text) == name and name.text.startswith(name.given) and " and " not in name.text:
        return _latex(name.text)
    family = f"{{{_latex(name.family)}}}" if parsed(f"{name.cited}, x").family != name.family else _latex(name.family)
    return ", ".join(filter(None, (" ".join(filter(None, (_latex(name.particle), family))), _latex(name.suffix), _latex(name.given))))


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
