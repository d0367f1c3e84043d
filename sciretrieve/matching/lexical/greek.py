"""Greek letters in names: letters and their English names match, with or without digits, hyphens and blanks: IL-1β, IL1-beta, IL 1 beta.

A name with a Greek letter becomes a compound with hyphens before the letter: il-1-beta, tnf-alpha, nf-kappab. For a few names, a table maps
a Latin letter to the Greek one: IFN-g, NF-kB.
"""

from __future__ import annotations

import re
from functools import lru_cache

from ...papers.folding import fold
from .single_characters import word_before
from .words import STOPWORDS, remembering

LETTERS = (
    *("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu"),
    *("nu", "xi", "omicron", "pi", "rho", "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega"),
)
LATIN = {"alpha": "a", "beta": "b", "gamma": "g", "delta": "d", "kappa": "k", "lambda": "l"}
TABLE = {
    **{"ifn": "abgl", "tnf": "ab", "tgf": "ab", "ppar": "abgd", "ikk": "abg", "lxr": "ab", "pdgfr": "ab"},
    **{"il-1": "ab", "pgc-1": "ab", "hif-1": "a", "hif-2": "a", "gsk-3": "ab", "mip-1": "ab", "sdf-1": "ab"},
}
"""Names whose Greek letters are often written as Latin ones, as in gene symbols (HGNC): IFNG, IL1B."""
WORDS_REMEMBERED = 65_536
NOTHING = {"", *STOPWORDS}

_ANY = "|".join(sorted(LETTERS, key=len, reverse=True))
_GREEK = "\u00b5\u0251\u0263\u0370-\u03ff\u1f00-\u1fff\u2206\U0001d6a8-\U0001d7cb"
_SYMBOLS = re.compile(rf"[{_GREEK}]+")
_SHARP_S = re.compile(r"(?<=[A-Z0-9-])ß(?![^\W_])")
"""A sharp s that stands for a beta and not in a German word."""
_FOUR = "alpha|beta|gamma|kappa"
_START, _END = r"(?<![^\W_])", r"(?![^\W\d_])"
_AFTER_NUMBER = re.compile(rf"{_START}([a-z]+-?\d+)-?({_ANY}){_END}")
_GLUED = re.compile(rf"(?<=\d)({_ANY}){_END}|{_START}(?!(?:di|tri|poly)gamma)([a-z]{{2,4}})({_FOUR})(?![^\W_])")
_STEMS = "|".join(stem.replace("-", "[-/_^]?") for stem in TABLE)
_OF_TABLE = re.compile(rf"{_START}({_STEMS})[-/_^]?({'|'.join(LATIN)}|[{''.join(LATIN.values())}]){_END}")
_KAPPA_B = re.compile(rf"{_START}(nf|i)[-/_^]?k(?:appa)?[-/_^]?b(?:[-/_^]?(alpha|beta|[ab]))?{_END}")
_ROR = re.compile(rf"{_START}ror[-/_^]?g(?:amma)?[-/_^]?t{_END}")
_AMYLOID = re.compile(rf"{_START}abeta{_END}")
_MAY_HAVE = re.compile(
    rf"\d[-/_^]?[{''.join({name[0] for name in LETTERS})}]|(?:{_FOUR})(?![^\W\d_])|[-/_^](?:{_FOUR})|kb|{_STEMS}|ror|abeta"
)
_MAY_CHANGE = re.compile(rf"\d|{_FOUR}|k[-/_^ ]?b|ror|{'|'.join(stem for stem in TABLE if stem.isalpha())}")
"""Letters without which a query is not respelled."""
_COMMON = "alpha|beta|gamma|delta"
_PART = re.compile(rf"(?:{_ANY})[bt]?\d*")
_NO_STOP_WORD = rf"(?!(?:{'|'.join(STOPWORDS)})[ -])"
_APART = re.compile(
    rf"{_START}(?:{_NO_STOP_WORD}[a-z]+[ -]\d+[ -]?(?:{_COMMON})|(?:nf|i)[ -]k(?:appa)?[ -]?b"
    rf"|(?:{_STEMS})[ -](?:{'|'.join(LATIN)}|[b-z])){_END}"
)
_NUMBERED = re.compile(rf"\d[ -]?(?:{_COMMON})")
_ALONE = re.compile(rf" ((?:{_FOUR}|delta)\d*)(?![\w^])([-/]?)")
_STARTS = {stem[:2] for stem in TABLE} | {"nf", "ik", "ro", "ab"}
_OTHERS = {("nf", "kappab"), ("i", "kappab"), ("ror", "gammat")}


def separated(text: str) -> str:
    """A text with a hyphen before each Greek letter that follows a letter or digit. More than two Greek letters in a row are a Greek
    word."""
    if text.isascii():
        return text
    if "ß" in text:
        text = _SHARP_S.sub("β", text)

    def hyphened(match: re.Match[str]) -> str:
        is_after = match.start() > 0 and text[match.start() - 1].isalnum()
        return "-" * is_after + "-".join(match[0]) if len(match[0]) < 3 else match[0]

    return _SYMBOLS.sub(hyphened, text)


def spelled(word: str) -> str:
    """A folded word or compound, with names with Greek letters in one spelling: nf-kappab for nfkb."""
    if word.isalpha():  # true of most words, and fast to test
        may_have = word[:2] in _STARTS or "alpha" in word or "beta" in word or "gamma" in word or "kappa" in word
        return _respell(word) if may_have else word
    return _respell(word) if _MAY_HAVE.search(word) else word


@lru_cache(WORDS_REMEMBERED)
def _respell(word: str) -> str:
    word = _OF_TABLE.sub(_in_greek, word)
    word = _KAPPA_B.sub(lambda match: f"{match[1]}-kappab" + (f"-{_NAMES.get(match[2], match[2])}" if match[2] else ""), word)
    word = _AMYLOID.sub("a-beta", _ROR.sub("ror-gammat", word))
    word = _GLUED.sub(lambda match: f"-{match[1]}" if match[1] else f"{match[2]}-{match[3]}", word)
    return _AFTER_NUMBER.sub(r"\1-\2", word)


def together(plain: str) -> str:
    """A folded text with hyphens for blanks in names with Greek letters, if the name needs none beside it: il 1 beta, nf kappa b, ifn g."""
    if not (
        "kappa b" in plain
        or "nf k" in plain
        or "ifn " in plain
        or (("alpha" in plain or "beta" in plain or "gamma" in plain or "delta" in plain) and _NUMBERED.search(plain))
    ):
        return plain  # true of most texts, and fast to test
    return _bind(plain)


def _bind(plain: str) -> str:
    return _APART.sub(lambda match: match[0].replace(" ", "-"), plain)


def parts_apart(text: str) -> set[str]:
    """Folded words of such names in a text."""
    return {part for match in _APART.finditer(fold(separated(text))) for part in re.split("[ -]", match[0])}


@remembering
def respelled(plain: str) -> str:
    """A folded query with names with Greek letters in the spelling used for comparison: il1-beta becomes il-1-beta."""
    if _MAY_CHANGE.search(plain) is None:
        return plain
    return _COMPOUND.sub(lambda match: _in_one_spelling(match[0]), _bind(plain))


@lru_cache(WORDS_REMEMBERED)
def _in_one_spelling(word: str) -> str:
    return _BEFORE_NUMBER.sub("-", spelled(word))


def beside(plain: str) -> list[tuple[str, str]]:
    """The commonest Greek letters' names that stand alone after a word in a folded text, each with that word."""
    if not (" alpha" in plain or " beta" in plain or " gamma" in plain or " delta" in plain or " kappa" in plain):
        return []
    pairs = ((word_before(plain, match.start(1)), *match.groups()) for match in _ALONE.finditer(plain))
    # a compound may begin with the letter, unless the letter belongs to the name: Wnt beta-catenin, TNF alpha-induced
    return [
        (word, letter)
        for word, letter, joint in pairs
        if word not in NOTHING and not is_letter(word) and (not joint or word in TABLE or word[-1].isdigit())
    ]


def is_letter(part: str) -> bool:
    """Whether a part of a compound is a Greek letter's name: alpha, beta1, kappab."""
    return _PART.fullmatch(part) is not None


def names_in(parts: list[str]) -> list[tuple[int, int]]:
    """Positions in a compound where a name with its number begins, and where the Greek letter after it stands, for each such letter."""
    places = [place for place in range(1, len(parts)) if is_letter(parts[place])]
    return [(place - 1 - (place > 1 and parts[place - 1].isdecimal() and parts[place - 2].isalpha()), place) for place in places]


def merged(parts: list[str]) -> list[str]:
    """Parts of a compound. A name with a Greek letter that papers always index as a compound is one part: anti, tnfalpha."""
    names = {
        start: place
        for start, place in names_in(parts)
        if (name := "-".join(parts[start:place])) in TABLE
        or (name, parts[place]) in _OTHERS
        or (place - start > 1 and re.match(_COMMON, parts[place]))
    }
    whole, place = [], 0
    while place < len(parts):
        end = names.get(place, place) + 1
        whole.append("".join(parts[place:end]))
        place = end
    return whole


def pattern(before: str, part: str, gap: str) -> str:
    """Regular expression for a Greek letter's name after a name, in all spellings. `gap` is the expression for what may separate them."""
    name, rest = part.rstrip("0123456789bt"), part[len(part.rstrip("0123456789bt")) :]
    letter = LATIN.get(name, "")
    is_latin = letter in TABLE.get(before, "") or (before, part) in _OTHERS
    return (f"(?:{name}|{letter})" if letter and is_latin else name) + (f"{gap}{rest}" if rest[:1].isalpha() else rest)


_NAMES = {letter: name for name, letter in LATIN.items()}
_BEFORE_NUMBER = re.compile(rf"(?<=[a-z])(?=\d+-(?:{_ANY}){_END})")
_COMPOUND = re.compile(r"[^\W_]+(?:[-/_^][^\W_]+)*")


def _in_greek(match: re.Match[str]) -> str:
    stem = re.sub(r"[-/_^]?(\d)$", r"-\1", match[1])
    name = _NAMES.get(match[2], match[2])
    return f"{stem}-{name}" if LATIN[name] in TABLE[stem] or match[2] == name else match[0]
