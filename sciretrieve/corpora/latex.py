r"""LaTeX as plain text: accents, symbols, escapes and braces of the markup in bibliographies.

One pass over the text, token by token. Text without markup costs one regular-expression search; commands that are neither
accents nor known to latexcodec are kept.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from functools import lru_cache

MARKUP = re.compile(r"[\\{}~$]|--|``|''")
MATHS = re.compile(r"(?<!\\)\$((?:[^$\\]|\\.)+)\$", re.DOTALL)
CITATION = re.compile(r"~?\\[a-z]*cite[a-z]*\*?(?:\[[^\]]*\])*\{[^{}]*\}|\\href\s*\{[^{}]*\}")
TOKEN = re.compile(
    r"\\[`'\"^~=.]\s*(?:\{\s*(?:\\?[^\W\d_])?\s*\}|\\[ij](?![a-zA-Z])\s*|[^\W\d_])"  # \"u  \"{u}  \'\i  \~{}
    r"|\\[uvHcdbrk](?:\s*\{\s*\\?[^\W\d_]\s*\}|\s*\\[ij](?![a-zA-Z])\s*|\s+[^\W\d_](?![^\W\d_]))"  # \c{c}  \v s
    r"|\\[a-zA-Z]+\*?(?:\s*\{\}|[ \t]*)"  # \alpha  \ss{}
    r"|\\.|[{}~]|---?|``|''",
    re.DOTALL,
)
ACCENT = re.compile(r"\\(.)\s*\{?\s*\\?([^\W\d_])?\s*\}?", re.DOTALL)
VERBATIM = re.compile(r"\\([%_&#$~])(?:\{\})?|\{?\\textasciitilde\s*(?:\{\})?\}?|[{}]")

MARKS = {
    "`": "\u0300",
    "'": "\u0301",
    "^": "\u0302",
    "~": "\u0303",
    "=": "\u0304",
    "u": "\u0306",
    ".": "\u0307",
    '"': "\u0308",
    "r": "\u030a",
    "H": "\u030b",
    "v": "\u030c",
    "d": "\u0323",
    "c": "\u0327",
    "k": "\u0328",
    "b": "\u0331",
}
"""Accent command -> the combining character that it puts on a letter."""

TEXTS = {"{": "", "}": "", "~": " ", "--": "–", "---": "—", "``": "“", "''": "”"}
SPACES = dict.fromkeys("\\,;: \n\t", " ") | dict.fromkeys("-/!@", "")
NAMES = {
    "TeX": "TeX",
    "LaTeX": "LaTeX",
    "BibTeX": "BibTeX",
    "textbackslash": "\\",
    "textbraceleft": "{",
    "textbraceright": "}",
    "textasciitilde": "~",
    "textasciicircum": "^",
    "textdollar": "$",
    "textquotesingle": "'",
    "textquoteleft": "‘",
    "textquoteright": "’",
    "ldots": "…",
    "dots": "…",
}
"""Commands that latexcodec does not know or reads differently."""

STYLES = re.compile(
    r"(?:emph|text(?:it|bf|sc|tt|rm|sf|sl|up|md|normal|superscript|subscript)|math(?:it|bf|rm|sf|tt|bb|cal|frak|scr)|mbox|hbox|url|"
    r"ensuremath|underline|enquote|boldsymbol|em|it|bf|sc|tt|rm|sf|sl|(?:it|sc|sl)shape|bfseries|left|right|nolinkurl|path|relax)\*?"
)


def plain_text(latex: str) -> str:
    r"""LaTeX as plain text: `Sch{\"o}dinger's $\alpha$ \emph{and} {B}ayes` is `Schödinger's α and Bayes`."""
    if not MARKUP.search(latex):
        return latex
    return TOKEN.sub(lambda match: _text_of(match[0]), MATHS.sub(_formula, CITATION.sub("", latex)))


def verbatim_text(latex: str) -> str:
    r"""A URL or DOI without escapes: LaTeX reads it verbatim, but many programs escape it anyway (`10.1/a\_b`)."""
    return VERBATIM.sub(lambda match: match[1] or ("~" if "tilde" in match[0] else ""), latex)


def _formula(match: re.Match[str]) -> str:
    """A formula without its dollars; "$5 and $" is not a formula."""
    formula = match[1]
    return f"{{{formula}}}" if len(formula) == 1 or re.search(r"[\\{}_^]", formula) else match[0]


@lru_cache(4096)
def _text_of(token: str) -> str:
    if token in TEXTS:
        return TEXTS[token]
    accent = ACCENT.fullmatch(token)
    if accent and accent[1] in MARKS and len(token) > 2:
        return unicodedata.normalize("NFC", accent[2] + MARKS[accent[1]]) if accent[2] else accent[1]
    if not token[1].isalpha():
        return SPACES.get(token[1], token[1])
    name = token[1:].removesuffix("{}").strip()
    if name in NAMES:
        return NAMES[name]
    return "" if STYLES.fullmatch(name) else _symbol(name) or token


def _symbol(name: str) -> str:
    """The character of a command, in text or in a formula; empty if latexcodec knows none."""
    import latexcodec  # noqa: F401 (registers the codec, from text to text, which the types of `codecs` do not know)

    texts = [codecs.decode(latex, "ulatex") for latex in (f"\\{name}", f"$\\{name}$")]  # type: ignore[call-overload]
    symbols = (str(text).strip("$ ") for text in texts)
    return next((symbol for symbol in symbols if not symbol.startswith("\\")), "")
