r"""A full text as its LaTeX source: one .tex file, and what it takes in from files beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from ...base.errors import InvalidRequest
from ...files.streams import LARGEST_TEXT
from ..corpora.encodings import read_text
from ..corpora.latex import plain_text
from .document import Document, Part, document_of

COMMENT = re.compile(r"(?<!\\)%.*\n?")
INPUT = re.compile(r"\\(?:input|include|subfile)\s*\{\s*([^{}]+?)\s*\}")
DEFINITION = re.compile(r"\\(?:new|renew|provide)command\*?\s*\{?\\([a-zA-Z]+)\}?\s*\{([^{}\\]{1,80})\}")
r"""A command that stands for some words: `\newcommand{\ours}{BirdNet}`."""
SECTION = re.compile(r"\\(part|chapter|section|subsection|subsubsection|paragraph|subparagraph)\*?\s*(?:\[[^\]]*\]\s*)?(?=\{)")
LEVELS = {"part": 1, "chapter": 1, "section": 1, "subsection": 2, "subsubsection": 3, "paragraph": 4, "subparagraph": 5}
_FLOATS = "(?:wrap|sub|side)?(?:figure|table|algorithm|listing|sidewaystable|longtable)"
FLOAT = re.compile(rf"\\begin\s*\{{({_FLOATS}\*?)\}}(.*?)\\end\s*\{{\1\}}", re.DOTALL)
_DRAWN = "tikzpicture|tabular\\*?|tabularx|comment|lstlisting|verbatim|filecontents\\*?"
NO_TEXT = re.compile(rf"\\begin\s*\{{({_DRAWN})\}}.*?\\end\s*\{{\1\}}", re.DOTALL)
_OPTIONS = r"\*?\s*(?:\[[^\]]*\]\s*)?(?=\{)"
TITLE, CAPTION = rf"\\title{_OPTIONS}", rf"\\caption{_OPTIONS}"
NOTE = rf"\\(?:footnote|footnotetext|footnotemark|thanks){_OPTIONS}"
FRONT = rf"\\(?:title|author|affiliation|institute|thanks|email|date|keywords){_OPTIONS}"
UNSEEN = rf"\\(?:label|vspace|hspace|includegraphics|bibliographystyle|bibliography){_OPTIONS}"
"""Commands that are left out with their arguments, before the brace."""
ABSTRACT = re.compile(r"\\begin\s*\{abstract\}(.*?)\\end\s*\{abstract\}", re.DOTALL)
BIBLIOGRAPHY = re.compile(r"\\begin\s*\{thebibliography\}(?:\{[^{}]*\})?(.*?)(?:\\end\s*\{thebibliography\}|\Z)", re.DOTALL)
BODY = re.compile(r"\\begin\s*\{document\}(.*?)(?:\\end\s*\{document\}|\Z)", re.DOTALL)
BIBITEM = re.compile(r"\\bibitem\s*(?:\[(?:[^\[\]]|\[[^\]]*\])*\])?\s*\{[^{}]*\}")
ENVIRONMENT = re.compile(r"\\(?:begin|end)\s*\{[^{}]*\}(?:\s*\[[^\]]*\])?")
WITHOUT_TEXT = re.compile(
    r"\\(?:label|vspace|hspace|bibliographystyle|bibliography|includegraphics|usepackage|documentclass|pagestyle|thispagestyle|setcounter|"
    r"setlength|addtolength|input|include|author|date|affiliation|institute|email|address|thanks|keywords|maketitle|tableofcontents|appendix|"
    r"newpage|clearpage|centering|noindent|smallskip|medskip|bigskip|printbibliography|ccsdesc|acmConference|today)\*?(?![a-zA-Z])"
    r"(?:\s*\[[^\]]*\])?"
)
MOST_DEPTH, MOST_FILES = 5, 200
"""Levels and files that a file takes in."""
LEFT = re.compile(r"[{}\\]+")


def read_latex(path: Path) -> Document:
    """A LaTeX source as a document. Raises InvalidRequest: it cannot be decompressed, or is too large."""
    source = _whole(path)
    for name, value in DEFINITION.findall(source)[:MOST_FILES]:
        source = re.sub(rf"\\{name}(?![a-zA-Z])(?:\{{\}})?", value, source)
        if len(source) > LARGEST_TEXT:
            raise InvalidRequest(f"{path} has commands that make too long a text of it")
    title = _without(next(_arguments_of(source, TITLE), ""), NOTE)
    body = match[1] if (match := BODY.search(source)) else source
    return document_of(_parts(source, body), title=_plain(title), front=_plain(title))


def _whole(path: Path) -> str:
    """A source with the files that it takes in, which are beside it or below, without comments."""
    count = 0
    folder = path.parent.resolve()

    def read(file: Path, depth: int) -> str:
        text = COMMENT.sub("", read_text(file))

        def taken_in(match: re.Match[str]) -> str:
            nonlocal count
            place = folder / match[1]
            place = place if place.suffix == ".tex" else place.with_name(f"{place.name}.tex")
            count += 1
            is_own = depth < MOST_DEPTH and count <= MOST_FILES and place.resolve().is_relative_to(folder)
            return f"\n\n{read(place, depth + 1)}\n\n" if is_own and place.is_file() else ""

        return INPUT.sub(taken_in, text)

    return read(path, 0)


def _parts(source: str, body: str) -> Iterator[Part]:
    if abstract := ABSTRACT.search(source):
        yield Part("head", "Abstract")
        yield from _paragraphs(abstract[1])
    references = BIBLIOGRAPHY.search(source)
    body = BIBLIOGRAPHY.sub("", ABSTRACT.sub("", _without(body, FRONT)))
    place = 0
    for match in SECTION.finditer(body):
        if match.start() < place:
            continue
        yield from _paragraphs(body[place : match.start()])
        name, place = _argument(body, match.end())
        if text := _plain(_without(_without(name, NOTE), UNSEEN)):
            yield Part("head", text, level=LEVELS[match[1]])
    yield from _paragraphs(body[place:])
    if references:
        yield from (Part("reference", text) for entry in BIBITEM.split(references[1])[1:] if (text := _plain(entry)))


def _paragraphs(source: str) -> Iterator[Part]:
    """The paragraphs of a section, then its captions and notes."""
    floats = [(match[1], caption) for match in FLOAT.finditer(source) for caption in _arguments_of(match[2], CAPTION)]
    source = NO_TEXT.sub(" ", FLOAT.sub(" ", source))
    notes = list(_arguments_of(source, NOTE))
    source = _without(source, NOTE)
    for paragraph in re.split(r"\n[ \t]*\n|\\par(?![a-zA-Z])", source):
        if text := _plain(paragraph):
            yield Part("text", text)
    for kind, caption in floats:
        if text := _plain(caption):
            yield Part("caption", f"{'Table' if 'table' in kind else 'Algorithm' if 'algorithm' in kind else 'Figure'}: {text}")
    yield from (Part("note", text) for note in notes if (text := _plain(note)))


def _plain(source: str) -> str:
    source = _without(source, UNSEEN)
    source = ENVIRONMENT.sub(" ", WITHOUT_TEXT.sub(" ", source))
    source = re.sub(r"~?\\(?:eq|page|auto|c|C|v|name)?ref\*?\s*\{[^{}]*\}", "", source)
    source = re.sub(r"\\(?:href)\s*\{[^{}]*\}", "", source)
    source = re.sub(r"\\\\(?:\s*\[[^\]]*\])?", " ", source)
    text = LEFT.sub("", plain_text(source))
    text = re.sub(r"\(\s*[,;]*\s*\)|\[\s*[,;]*\s*\]", "", text)  # references to nothing
    return re.sub(r"\s+([,.;:!?])", r"\1", " ".join(text.split()))


def _argument(source: str, place: int) -> tuple[str, int]:
    """What is between the brace at a place and the one that closes it, and where that ends."""
    depth = 0
    for match in re.compile(r"\\.|[{}]", re.DOTALL).finditer(source, place):
        depth += {"{": 1, "}": -1}.get(match[0], 0)
        if depth == 0 and match[0] == "}":
            return source[place + 1 : match.start()], match.end()
    return source[place + 1 :], len(source)


def _arguments_of(source: str, command: str) -> Iterator[str]:
    place = 0
    for match in re.finditer(command, source):
        if match.start() >= place:
            argument, place = _argument(source, match.end())
            yield argument


def _without(source: str, command: str) -> str:
    """A source without a command and its argument."""
    strings, place = [], 0
    for match in re.finditer(command, source):
        if match.start() >= place:
            strings.append(source[place : match.start()])
            _, place = _argument(source, match.end())
    return "".join([*strings, source[place:]])
