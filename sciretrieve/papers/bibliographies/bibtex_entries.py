"""BibTeX: writing entries, and papers as entries."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence

from ...base.types import Paper
from .author_names import Name, parsed
from .keys import keys_of
from .keywords import joined
from .works import ARXIV, MASTERS_THESIS, OTHER, publication_of

ENTRY = "bibtex"
"""The column with a paper's original entry from a bibliography."""
PARENTS = "bibtex_parents"
"""The column with the original entries that this one takes fields from, by `crossref` and `xdata`: without them it would lack these."""

HEAD = re.compile(r"@[^\s{}(),]+\{([^\s{},]*)(?=,|\s*\})")
ESCAPES = str.maketrans(
    {"\\": r"\textbackslash{}", "{": r"\textbraceleft{}", "}": r"\textbraceright{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {char: f"\\{char}" for char in "&%#_$"}
)

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
"""The macros that every style defines."""
FIELDS = {
    "event": "eventtitle",
    "series": "series",
    "volume": "volume",
    "number": "number",
    "edition": "edition",
    "publisher": "publisher",
    "place": "address",
    "abbreviation": "shortjournal",
    "language": "language",
    "note": "note",
    "arxiv_class": "primaryclass",
    "pmid": "pmid",
    "pmcid": "pmcid",
    "archive": "database",
    "archived": "accession-number",
    "abstract": "abstract",
}
"""What of a `Publication` is a text, and its field."""
ORDER = "year month day editor eventtitle series volume number pages eid edition publisher address howpublished type isbn issn "
ORDER += "shortjournal language note doi eprint archiveprefix primaryclass pmid pmcid url database accession-number keywords abstract"
"""The fields behind author, title and venue."""
MATHS = re.compile(r"(?<!\\)(\$\$?)((?:[^$\\]|\\.)+)\1", re.DOTALL)
FORMULA = re.compile(r".|[^\W\d]\S*|.*[\\{}_^].*", re.DOTALL)
"""What between two dollars is a formula, and not what costs so much; the same as to `corpora.latex`."""
SCRIPTS = re.compile("[\u2080-\u208e\u2090-\u209c]+|[\u00b2\u00b3\u00b9\u2070\u2071\u2074-\u207f]+")
"""Characters that stand low, or high, most of which LaTeX does not print."""
PRINTED = set("¹²³")


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
    return keys_of(papers, [(head[1] or None) if head else None for head in heads], taken)


def _head(paper: Paper) -> re.Match[str] | None:
    """The beginning of a paper's original entry, up to its key, which may be empty."""
    text = paper.extra.get(ENTRY)
    return HEAD.match(text) if isinstance(text, str) and _is_balanced(text) else None


def _new_entry(paper: Paper, key: str) -> str:
    work = publication_of(paper)
    authors = [*map(_name, work.authors), *(["others"] if work.has_more else [])]
    texts = {
        "author": " and ".join(authors),
        "title": f"{{{_latex(work.title)}}}" if work.title else "",
        work.kind.venue: "" if work.is_arxiv and work.venue == ARXIV else _latex(work.venue),
        "editor": " and ".join(map(_name, work.editors)),
        "year": str(work.year or ""),
        "month": MONTHS[work.month - 1] if work.month else "",
        "day": str(work.day or ""),
        "pages": _latex(work.page_text("\0") or work.article).replace("\0", "--"),
        "eid": _latex(work.article),
        "type": "" if work.kind in (MASTERS_THESIS, OTHER) or (work.is_arxiv and work.venue == ARXIV) else work.kind.genre,
        "isbn": ", ".join(work.isbns),
        "issn": ", ".join(work.issns),
        "eprint": work.arxiv,
        "archiveprefix": ARXIV if work.arxiv else "",
        "keywords": _latex(joined(work.keywords)),
    }
    if work.kind.venue == "series":
        texts |= {"howpublished": texts["series"], "series": ""}
    texts |= {field: _latex(getattr(work, name)) for name, field in FIELDS.items() if getattr(work, name)}
    texts |= {field: getattr(work, field).replace("{", "%7B").replace("}", "%7D") for field in ("doi", "url")}
    order = ("author", "title", work.kind.venue, *ORDER.split())
    values = ((name, texts.get(name, "")) for name in dict.fromkeys(order))
    return entry(work.kind.bibtex, key, ((name, text if name == "month" else f"{{{text}}}") for name, text in values if text))


def _name(name: Name) -> str:
    """A name in a form that BibTeX reads as the same: "John Smith", "Smith, Jr., John" and "{World Health Organization}"."""
    if name.literal:
        return f"{{{_latex(name.literal)}}}"
    if not name.suffix and parsed(name.text) == name and name.text.startswith(name.given) and " and " not in name.text:
        return _latex(name.text)
    family = f"{{{_latex(name.family)}}}" if parsed(f"{name.cited}, x").family != name.family else _latex(name.family)
    return ", ".join(filter(None, (" ".join(filter(None, (_latex(name.particle), family))), _latex(name.suffix), _latex(name.given))))


def _latex(text: str) -> str:
    """A text as LaTeX that `plain_text` reads as the same text, even if it has what LaTeX takes for dashes and quotes. Formulas stay as
    they are, and what stands low or high does."""
    text = " ".join(text.split())
    parts, place = list[str](), 0
    for match in MATHS.finditer(text):
        is_formula = len(match[1]) == 2 or FORMULA.fullmatch(match[2])
        if is_formula and _is_balanced(re.sub(r"\\.", "", match[2])):
            parts += [_escaped(text[place : match.start()]), re.sub(r"(?<!\\)[%#]", r"\\\g<0>", match[0])]
            place = match.end()
    return "".join([*parts, _escaped(text[place:])])


def _escaped(text: str) -> str:
    return SCRIPTS.sub(_script, re.sub(r"(?<=([-`']))(?=\1)", "{}", text.translate(ESCAPES)))


def _script(match: re.Match[str]) -> str:
    """Digits and signs in LaTeX's notation."""
    if PRINTED.issuperset(match[0]):
        return match[0]
    plain = unicodedata.normalize("NFKC", match[0]).replace("\u2212", "-")
    place = "super" if match[0][0] < "\u2080" else "sub"
    return f"\\text{place}script{{{plain}}}"


def _is_balanced(text: str) -> bool:
    depth = 0
    for brace in re.findall(r"[{}]", text):
        depth += 1 if brace == "{" else -1
        if depth < 0:
            return False
    return depth == 0
