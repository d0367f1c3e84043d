r"""LaTeX as plain text: accents, symbols, escapes and braces of the markup in bibliographies.

One pass over the text, token by token, after a few commands whose arguments are not text. Text without markup costs one
regular-expression search. Of an unknown command the argument is kept, and where it has none, the command.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from functools import lru_cache

from .markup import script

MARKUP = re.compile(r"[\\{}~$]|--|``|''")
MATHS = re.compile(r"(?<!\\)(\$\$?)((?:[^$\\]|\\.)+)\1", re.DOTALL)
IN_PARENTHESES = re.compile(r"\\\((.{1,500}?)\\\)", re.DOTALL)
_ARGUMENT = r"[^{}\\$]{1,40}"
FORMULA_SCRIPT = re.compile(
    rf"([_^])\s*(?:\{{\s*(?:\\(?:mathrm|text(?:rm)?|rm)(?![a-zA-Z])\s*)?(?:\{{({_ARGUMENT})\}}|({_ARGUMENT}))\s*\}}"
    rf"|\\(?:mathrm|text)\s*\{{({_ARGUMENT})\}}|([^\s{{}}\\$_^]))"
)
"""What is low or high in a formula: `_2`, `^{-3}`, `_{\\rm eff}`."""
ORDINAL, WORD = re.compile(r"st|nd|rd|th"), re.compile(r"[^\W\d_]{3}")
DOUBLE_STRUCK = re.compile(r"\\mathbb\s*(?:\{\s*([A-Z])\s*\}|([A-Z]))")
ACCENTED = re.compile(
    r"\\(?:wide)?(hat|bar|tilde|vec|dot|ddot|check|breve|acute|grave|overline)(?![a-zA-Z])\s*(?:\{\s*([a-zA-Z]|\\[a-zA-Z]+)\s*\}|([a-zA-Z]|\\[a-zA-Z]+))"
)
ACCENTS = {"hat": "\u0302", "bar": "\u0304", "overline": "\u0305", "tilde": "\u0303", "vec": "\u20d7", "dot": "\u0307", "ddot": "\u0308"}
ACCENTS |= {"check": "\u030c", "breve": "\u0306", "acute": "\u0301", "grave": "\u0300"}
"""Accents in formulas -> the combining characters that they put on a letter."""
NAME_OF_FORMULA = re.compile(r"[^\W\d]\S*")
NO_TEXT = re.compile(
    r"~?\\[a-zA-Z]*cite[a-z]*\*?(?:\[[^\]]*\])*\{[^{}]*\}"
    r"|\\(?:href|label|[hv]space|footnote|thanks|index|(?:text)?color|[nN]oopsort|SortNoop|begin|end)\*?\s*\{[^{}]*\}"
)
"""Commands with an argument that is not printed, or not there."""
FRACTION = re.compile(r"\\[dts]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}")
DEGREE = re.compile(r"\^\s*(?:\{\s*\\circ\s*\}|\\circ(?![a-zA-Z])\s*)")
SCRIPT = re.compile(r"\\text(sub|super)script\s*\{([^{}\\$]{1,20})\}")
URL = re.compile(r"\\(?:url|nolinkurl|path)\s*\{([^{}]*)\}")
INNER_ACCENT = re.compile(
    r"(\\(?:[`'\"^~=.]|[uvHcdbrk](?![a-zA-Z]))\s*\{\s*)"
    r"(\\[`'\"^~=.]\s*(?:\{\s*[^\W\d_]\s*\}|[^\W\d_])|\\[uvHcdbrk](?:\s*\{\s*[^\W\d_]\s*\}|\s+[^\W\d_]))(?=\s*\})"
)
r"""An accent on a letter with an accent, as in `\'{\^e}`."""
TOKEN = re.compile(
    r"\\[`'\"^~=.]\s*(?:\{\s*(?:\\?[^\W\d_])?\s*\}|\\[ij](?![a-zA-Z])\s*|[^\W\d_])"  # \"u  \"{u}  \'\i  \~{}
    r"|\\[uvHcdbrk](?:\s*\{\s*\\?[^\W\d_]\s*\}|\s*\\[ij](?![a-zA-Z])\s*|\s+[^\W\d_])"  # \c{c}  \v s
    r"|\\[a-zA-Z]+\*?(?:\s*\{\}|[ \t]*)"  # \alpha  \ss{}
    r"|\\.|[{}~]|---?|``|''",
    re.DOTALL,
)
ACCENT = re.compile(r"\\(?:([`'\"^~=.])|([uvHcdbrk])(?![a-zA-Z]))\s*\{?\s*\\?([^\W\d_])?\s*\}?", re.DOTALL)
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
SPACES = dict.fromkeys("\\,;: \n\t", " ") | dict.fromkeys("-/!@()[]", "")
_NAMES = r"""
TeX TeX LaTeX LaTeX LaTeXe LaTeX2ε BibTeX BibTeX XeTeX XeTeX XeLaTeX XeLaTeX LuaTeX LuaTeX LuaLaTeX LuaLaTeX pdfTeX pdfTeX pdfLaTeX pdfLaTeX
textbackslash \ backslash \ textbraceleft { lbrace { textbraceright } rbrace } textasciitilde ~ textasciicircum ^ textdollar $
textunderscore _ textless < textgreater > textbar | textasteriskcentered * slash / vert | lvert | rvert | mid | Vert ‖ parallel ‖
textquotesingle ' textquoteleft ‘ textquoteright ’ textquotedblleft “ textquotedblright ” textquotedbl " quotedblbase „ quotesinglbase ‚
guilsinglleft ‹ guilsinglright › glqq „ grqq “ flqq « frqq » ldots … dots … dotsc … dotsb … textellipsis … cdots ⋯ vdots ⋮ ddots ⋱
textexclamdown ¡ textquestiondown ¿ textsection § textparagraph ¶ textordfeminine ª textordmasculine º textperthousand ‰ textonehalf ½
euro € texteuro € degree ° textcelsius ℃ textmu µ textohm Ω textnumero № checkmark ✓ i ı j ȷ ng ŋ NG Ŋ dh ð DH Ð dj đ DJ Đ SS ẞ
le ≤ leqslant ≤ ge ≥ geqslant ≥ ne ≠ ll ≪ gg ≫ lesssim ≲ gtrsim ≳ equiv ≡ simeq ≃ cong ≅ approxeq ≊ propto ∝ perp ⊥ to → gets ← mapsto ↦
longrightarrow ⟶ leftrightarrow ↔ Leftrightarrow ⇔ iff ⇔ implies ⇒ uparrow ↑ downarrow ↓ hookrightarrow ↪ land ∧ lor ∨ lnot ¬ mp ∓ oplus ⊕
otimes ⊗ setminus ∖ circ ∘ star ⋆ prime ′ dagger † ddagger ‡ diamond ⋄ triangle △ square □ angle ∠ varnothing ∅ sqrt √ hbar ħ Re ℜ Im ℑ
wp ℘ aleph ℵ langle ⟨ rangle ⟩ lfloor ⌊ rfloor ⌋ lceil ⌈ rceil ⌉ colon : varepsilon ε vartheta ϑ varrho ϱ varsigma ς varpi ϖ
"""
NAMES: dict[str, str] = dict(re.findall(r"(\S+)\s+(\S+)", _NAMES))
"""Commands that latexcodec does not know or reads differently, each before its text."""

STYLES = re.compile(
    r"(?:emph|text(?:it|bf|sc|tt|rm|sf|sl|up|md|normal|superscript|subscript)|math(?:it|bf|rm|sf|tt|bb|cal|frak|scr)|mbox|hbox|"
    r"ensuremath|underline|enquote|boldsymbol|em|it|bf|sc|tt|rm|sf|sl|(?:it|sc|sl)shape|bfseries|left|right|relax|protect|xspace|"
    r"[bB]igg?[lr]?|(?:display|text)style|limits|centering|noindent|nobreakdash)\*?"
)
BLANKS = re.compile(r"newline|linebreak|par|item|newblock|quad|qquad|space|enspace|thinspace|hfill")
FUNCTIONS = re.compile(r"log|ln|exp|sin|cos|tan|arg|min|max|sup|inf|lim|det|dim|ker|gcd|deg|mod|Pr|hom|argmin|argmax")
"""Functions, which are printed as their names."""


def plain_text(latex: str) -> str:
    r"""LaTeX as plain text: `Sch{\"o}dinger's $\alpha$ \emph{and} {B}ayes` is `Schödinger's α and Bayes`."""
    if not MARKUP.search(latex):
        return latex
    text = MATHS.sub(_formula, NO_TEXT.sub("", URL.sub(_url, latex)))
    if "\\" in text:
        text = IN_PARENTHESES.sub(lambda match: f"{{{_with_scripts(match[1])}}}", text)
        text = ACCENTED.sub(_accented, text)
        text = DOUBLE_STRUCK.sub(lambda match: _double_struck(match[1] or match[2]), text)
    if "script" in text:
        text = SCRIPT.sub(_script, text)
    text = DEGREE.sub("°", FRACTION.sub(r"{\1/\2}", text))
    text = INNER_ACCENT.sub(lambda match: match[1] + _text_of(match[2], False), text)
    return TOKEN.sub(lambda match: _text_of(match[0], text.startswith("{", match.end())), text)


def verbatim_text(latex: str) -> str:
    r"""A URL or DOI without escapes: LaTeX reads it verbatim, but many programs escape it anyway (`10.1/a\_b`)."""
    return VERBATIM.sub(lambda match: match[1] or ("~" if "tilde" in match[0] else ""), latex)


def _formula(match: re.Match[str]) -> str:
    """A formula without its dollars; "$5 and $" is not a formula."""
    formula = match[2]
    is_formula = len(formula) == 1 or len(match[1]) == 2 or re.search(r"[\\{}_^]", formula) or NAME_OF_FORMULA.fullmatch(formula)
    return f"{{{_with_scripts(formula)}}}" if is_formula else match[0]


def _with_scripts(formula: str) -> str:
    """A formula in which digits and letters that are low or high are Unicode's own."""
    return FORMULA_SCRIPT.sub(_formula_script, formula) if "_" in formula or "^" in formula else formula


def _formula_script(match: re.Match[str]) -> str:
    """The characters; words, and what has none, stay as typed, and the ending of 20th stands with the number."""
    bare = next(filter(None, match.groups()[1:]), "").strip()
    if match[1] == "^" and ORDINAL.fullmatch(bare):
        return bare
    changed = bare if WORD.search(bare) else script(bare, is_low=match[1] == "_")
    return match[0] if changed == bare else changed


def _accented(match: re.Match[str]) -> str:
    """A letter of a formula with its accent; that of a Greek one follows its name."""
    letter = match[2] or match[3]
    return f"{letter}{{}}{ACCENTS[match[1]]}" if letter.startswith("\\") else unicodedata.normalize("NFC", letter + ACCENTS[match[1]])


def _double_struck(letter: str) -> str:
    """A letter for a set of numbers: ℝ."""
    try:
        return unicodedata.lookup(f"DOUBLE-STRUCK CAPITAL {letter}")
    except KeyError:
        return unicodedata.lookup(f"MATHEMATICAL DOUBLE-STRUCK CAPITAL {letter}")


def _script(match: re.Match[str]) -> str:
    """What stands low or high, in Unicode's own characters: `CO\\textsubscript{2}`, but not `20\\textsuperscript{th}`."""
    text = match[2].strip()
    has_word = len(text) > 1 and any(map(str.isalpha, text))
    return match[0] if has_word else script(text, is_low=match[1] == "sub")


def _url(match: re.Match[str]) -> str:
    """A URL within a text, where ~ and -- stand for themselves."""
    return match[1].replace("~", r"\textasciitilde{}").replace("--", "-{}-")


@lru_cache(4096)
def _text_of(token: str, has_argument: bool) -> str:
    if token in TEXTS:
        return TEXTS[token]
    accent = ACCENT.fullmatch(token)
    if accent and len(token) > 2:
        mark, letter = accent[1] or accent[2], accent[3]
        return unicodedata.normalize("NFC", letter + MARKS[mark]) if letter else mark
    if not token[1].isalpha():
        return SPACES.get(token[1], token[1])
    name = token[1:].removesuffix("{}").strip()
    if BLANKS.fullmatch(name):
        return " "
    if STYLES.fullmatch(name):
        return ""
    text = name if FUNCTIONS.fullmatch(name) else NAMES.get(name) or _symbol(name)
    if text == name or unicodedata.category(text[:1] or " ") == "Sm":  # "x \\le y" has a gap after it, "\\ss e" has none
        return text + " " * token.endswith((" ", "\t"))
    return text or token * (not has_argument)


def _symbol(name: str) -> str:
    """The character of a command, in text or in a formula; empty if latexcodec knows none."""
    import latexcodec  # noqa: F401 (registers the codec, from text to text, which the types of `codecs` do not know)

    texts = [codecs.decode(latex, "ulatex") for latex in (f"\\{name}", f"$\\{name}$")]  # type: ignore[call-overload]
    symbols = (str(text).strip("$ ") for text in texts)
    return next((symbol for symbol in symbols if not symbol.startswith("\\")), "")
