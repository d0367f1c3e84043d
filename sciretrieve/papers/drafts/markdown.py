"""A draft in Markdown or plain text. Its source is masked, not converted, so that each sentence keeps its place."""

from __future__ import annotations

import re

from ..fulltext.heads import REFERENCES, LineLook, bare, is_head
from .draft import Manuscript, Masked, Mention, paragraphs
from .markers import find_markers

FRONT_MATTER = re.compile(r"\A---[^\S\n]*\n.*?\n(?:---|\.\.\.)[^\S\n]*(?:\n|\Z)", re.DOTALL)
CODE = re.compile(r"^(`{3,}|~{3,}).*?(?:^\1[^\S\n]*$|\Z)|<!--.*?-->|\$\$.*?\$\$", re.DOTALL | re.MULTILINE)
UNDERLINED = re.compile(r"^(?P<text>\S.*)\n(?:=+|-{2,})[^\S\n]*$", re.MULTILINE)
HEAD = re.compile(r"^#{1,6}[^\S\n]+(?P<text>.*?)[^\S\n]*#*[^\S\n]*$", re.MULTILINE)
SET_APART = LineLook(is_bold=False, is_large=False, above=2.0, below=2.0, width=0.5)
TABLE = re.compile(r"^[^\S\n]*\|.*$|^\[\^[^\]]+\]:.*$|^\[[^\]]+\]:\s*\S+.*$", re.MULTILINE)
"""Rows of tables, notes and addresses."""
BULLET = re.compile(r"^[^\S\n]*(?:[-*+]|\d{1,2}[.)])[^\S\n]+|^[^\S\n]*>+[^\S\n]?$|<br\s*/?>", re.MULTILINE)
QUOTE = re.compile(r"^[^\S\n]*>+[^\S\n]?", re.MULTILINE)
CITED = re.compile(r"\[(?=[^\[\]]*(?<![\w.])-?@)[^\[\]]*\]|(?<![\w.@/\\])-?@[A-Za-z_](?:[\w:.#$%&+/-]*\w)?(?:\s*\[[^\[\]@]*\])?")
KEY = re.compile(r"(?<![\w.])@\{?([A-Za-z0-9_](?:[\w:.#$%&+?/-]*\w)?)")
IMAGE = re.compile(r"!\[[^\]]*\]\([^()\s]*(?:\s[^()]*)?\)")
LINK = re.compile(r"\[([^\[\]]*)\](\([^()\s]*(?:\s[^()]*)?\))")
FORMULA = re.compile(r"`[^`\n]+`|(?<![\\\w$])\$(?=\S)[^$\n]+(?<=\S)\$(?!\d)")
SIGN = re.compile(r"\*+|(?<!\w)_+|_+(?!\w)|\[\^[^\]]+\]|<[/a-zA-Z][^<>\n]*>")


def markdown_draft(text: str, *, heads_alone: bool = False) -> Manuscript:
    """Read a draft in Markdown or plain text; with `heads_alone` a line alone may be a head without a sign."""
    source = Masked(text)
    source.blank_all(FRONT_MATTER, "\n")
    source.blank_all(CODE, "\n")
    for pattern in (UNDERLINED, HEAD):
        for match in pattern.finditer(source.shape):
            source.head(*match.span(), match["text"])
    if heads_alone:
        shape = source.shape
        for start, end in paragraphs(shape):
            if "\n" not in (text := shape[start:end].strip()) and is_head(text, SET_APART):
                source.head(start, end, text)
    _leave_out_references(source)
    source.blank_all(TABLE, "\n")
    source.blank_all(IMAGE)
    source.blank_all(BULLET, "\n")
    source.blank_all(QUOTE)
    for match in CITED.finditer(source.shape):
        if keys := KEY.findall(match[0]):
            source.mention(Mention(*match.span(), keys=tuple(keys)))
    for match in LINK.finditer(source.shape):
        source.blank(match.start(), match.start() + 1)
        source.blank(match.end(1), match.end())
    for match in FORMULA.finditer(source.shape):
        source.stand_in(*match.span())
    source.blank_all(SIGN)
    find_markers(source)
    return source.draft("markdown")


def _leave_out_references(source: Masked) -> None:
    heads = sorted(source.heads)
    for number, (place, name) in enumerate(heads):
        if REFERENCES.fullmatch(bare(name)):
            source.blank(place, heads[number + 1][0] if number + 1 < len(heads) else len(source.text), "\n")
