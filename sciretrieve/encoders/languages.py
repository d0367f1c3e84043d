"""Detects the language of a text: by its script, by English words, or by py3langid's frequencies of letters."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache

ENGLISH = "English"
SCRIPTS = {
    **{"HIRAGANA": "Japanese", "KATAKANA": "Japanese", "HANGUL": "Korean", "CJK": "Chinese", "CYRILLIC": "Russian or its kin"},
    **{"ARABIC": "Arabic or its kin", "HEBREW": "Hebrew", "GREEK": "Greek", "THAI": "Thai", "LAO": "Lao", "KHMER": "Khmer"},
    **{"DEVANAGARI": "Hindi or its kin", "BENGALI": "Bengali", "TAMIL": "Tamil", "TELUGU": "Telugu", "GEORGIAN": "Georgian"},
    **{"ARMENIAN": "Armenian", "ETHIOPIC": "Amharic", "MYANMAR": "Burmese", "GUJARATI": "Gujarati", "GURMUKHI": "Punjabi"},
}
"""Scripts, as Unicode names letters, with the language of each."""
LANGUAGES = {
    **{"af": "Afrikaans", "ca": "Catalan", "cs": "Czech", "da": "Danish", "de": "German", "es": "Spanish", "et": "Estonian"},
    **{"fi": "Finnish", "fr": "French", "gl": "Galician", "hr": "Croatian", "hu": "Hungarian", "id": "Indonesian", "it": "Italian"},
    **{"lt": "Lithuanian", "lv": "Latvian", "ms": "Malay", "nb": "Norwegian", "nl": "Dutch", "no": "Norwegian", "pl": "Polish"},
    **{"pt": "Portuguese", "ro": "Romanian", "sk": "Slovak", "sl": "Slovenian", "sv": "Swedish", "tr": "Turkish", "vi": "Vietnamese"},
}
"""Detectable languages in Latin script. Latin itself is not among them, since species have Latin names."""
LEAST_LETTERS, LEAST_WORDS = 12, 3
"""The fewest Latin letters and words of a detectable text: names and keywords are alike in all languages."""
FEW = 5
"""In texts with fewer words, words with accents may be names and do not count."""
LEAST_FOREIGN, MOST_ENGLISH = 0.5, 0.02
"""The least probability of a language, and the greatest of English, for a text to be in it."""
SHORTEST_GREEK = 8
"""The fewest Greek letters of a text that is not a formula."""
LONGEST = 1000
"""The number of characters that are examined."""
_SURE = "the and with from how what which between their through during among into this these using does role"
_LIKELY = "of for by are is on to at as can its that"
SURE, LIKELY = frozenset(_SURE.split()), frozenset(_LIKELY.split())
"""English words: one of the first, or two of the second, show that a text is English; other languages have some of the second."""
WORD = re.compile(r"[^\W\d_]+")


def seems_english(text: str) -> bool:
    """Whether a text has English words that show its language."""
    words = WORD.findall(text[:LONGEST].lower())
    return not SURE.isdisjoint(words) or len(LIKELY.intersection(words)) > 1


def language_of(text: str) -> str:
    """The English name of a text's language; "" for English, and if it is unknown."""
    text = text[:LONGEST]
    letters = [char for char in text if char.isalpha()]
    if not text.isascii() and (language := _by_script(letters)):
        return language
    words = WORD.findall(text)
    if len(words) < FEW:  # such as "Erdős–Rényi random graphs"
        words = [word for word in words if word.isascii()]
    if seems_english(text) or len(letters) < LEAST_LETTERS or len(words) < LEAST_WORDS or text.isupper():
        return ""
    ranked = _identifier()(" ".join(words))
    code, likelihood = ranked[0]
    return LANGUAGES.get(code, "") if likelihood >= LEAST_FOREIGN and dict(ranked).get("en", 0.0) <= MOST_ENGLISH else ""


def mostly_in(texts: Iterable[str]) -> str:
    """The language of more than half of some texts; "" for English and for no single language."""
    all_texts = list(texts)
    others = [text for text in all_texts if not text.isascii() or not seems_english(text)]
    if 2 * len(others) <= len(all_texts):
        return ""
    ((language, count),) = Counter(map(language_of, others)).most_common(1)
    return language if 2 * count > len(all_texts) else ""


def _by_script(letters: list[str]) -> str:
    """The language of most letters of a text; "" for Latin letters, and for letters of formulas."""
    scripts = Counter(unicodedata.name(letter, "").split(" ")[0] for letter in letters)
    counts = {script: count for script, count in scripts.items() if script in SCRIPTS}
    if 2 * sum(counts.values()) <= len(letters) or (set(counts) == {"GREEK"} and counts["GREEK"] < SHORTEST_GREEK):
        return ""
    if counts.keys() & {"HIRAGANA", "KATAKANA"}:
        return "Japanese"
    return SCRIPTS[max(counts, key=lambda script: counts[script])]


@cache
def _identifier() -> Callable[[str], list[tuple[str, float]]]:
    """Gives a text's possible languages, the likeliest first. The first use takes a third of a second."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    rank: Callable[[str], list[tuple[str, float]]] = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True).rank
    return rank
