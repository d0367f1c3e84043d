r"""A draft in LaTeX. Its source is masked, not converted, so that each sentence keeps its place."""

from __future__ import annotations

import re

from ..corpora.latex import plain_text
from .draft import Manuscript, Masked, Mention
from .markers import find_markers

_BRACED = r"\{(?:[^{}]|\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\})*\}"
"""An argument with up to three levels of braces within it."""
_OPTIONS = r"(?:\s*\[[^\[\]]*\])*\s*"
COMMENT = re.compile(r"(?<!\\)%.*\n?")
OUTSIDE = re.compile(r"\A.*?\\begin\s*\{document\}|\\end\s*\{document\}.*\Z", re.DOTALL)
_NO_TEXT = (
    "figure|table|wrapfigure|wraptable|subfigure|algorithm|algorithmic|listing|lstlisting|verbatim|minted|tikzpicture|tabular|tabularx|"
)
_NO_TEXT += "longtable|equation|align|eqnarray|gather|multline|displaymath|math|comment|thebibliography|filecontents"
NO_TEXT = re.compile(rf"\\begin\s*\{{((?:{_NO_TEXT})\*?)\}}.*?\\end\s*\{{\1\}}|\$\$.*?\$\$|\\\[.*?\\\]", re.DOTALL)
ABSTRACT = re.compile(r"\\begin\s*\{abstract\}|\\end\s*\{abstract\}")
HEAD = re.compile(rf"\\(?:part|chapter|(?:sub)*section|(?:sub)?paragraph)\*?{_OPTIONS}({_BRACED})")
FRONT = re.compile(rf"\\(?:title|author|affiliation|institute|thanks|email|date|keywords|address){_OPTIONS}{_BRACED}")
CITE = re.compile(rf"~?\\(?!nocite)[a-zA-Z]*[cC]ite[a-zA-Z]*\*?((?:{_OPTIONS}\{{[^{{}}]*\}})+)")
KEYS = re.compile(r"\{([^{}]*)\}")
UNSEEN = re.compile(
    rf"~?\\(?:footnote|footnotetext|label|(?:eq|page|auto|name|[cCv])?ref|nocite|url|input|include|includegraphics|bibliography|"
    rf"bibliographystyle|vspace|hspace|caption|index|todo|usepackage|newcommand|renewcommand|setlength)\*?{_OPTIONS}(?:{_BRACED})+"
)
"""Commands that are left out with their arguments."""
ADDRESS = re.compile(r"\\href\s*\{[^{}]*\}")
ITEM = re.compile(r"\\item\b(?:\s*\[[^\[\]]*\])?|\\(?:begin|end)\s*\{(?:itemize|enumerate|description|quote|quotation)\}|\\par(?![a-zA-Z])")
MATH = re.compile(r"(?<!\\)\$(?:[^$\\]|\\.)+\$|\\\(.*?\\\)", re.DOTALL)
COMMAND = re.compile(r"\\(?:begin|end)\s*\{[^{}]*\}|\\[a-zA-Z]+\*?(?:\s*\[[^\[\]]*\])?|\\.|[{}~]", re.DOTALL)
LEFT = re.compile(r"[{}\\]+")


def latex_draft(text: str) -> Manuscript:
    """Read a draft in LaTeX; without `\\begin{document}` all of it is text."""
    source = Masked(text)
    source.blank_all(COMMENT)
    source.blank_all(OUTSIDE, "\n")
    source.blank_all(NO_TEXT)
    source.blank_all(FRONT, "\n")
    for match in ABSTRACT.finditer(source.shape):
        source.head(*match.span(), "Abstract" if match[0].startswith(r"\begin") else "")
    for match in HEAD.finditer(source.shape):
        source.head(*match.span(), _plain(match[1]))
    for match in CITE.finditer(source.shape):
        keys = [key.strip() for group in KEYS.findall(match[1]) for key in group.split(",")]
        source.mention(Mention(*match.span(), keys=tuple(filter(None, keys))))
    source.blank_all(UNSEEN)
    source.blank_all(ADDRESS)
    source.blank_all(ITEM, "\n")
    for match in MATH.finditer(source.shape):
        source.stand_in(*match.span())
    for match in COMMAND.finditer(source.shape):
        source.unmark(*match.span())
    find_markers(source)
    return source.draft("latex", _plain)


def _plain(text: str) -> str:
    return LEFT.sub("", plain_text(text))
