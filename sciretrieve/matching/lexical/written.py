"""Written forms of indexed words, for display: bekensteinhawking is shown as Bekenstein-Hawking."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache

from .analysis import Analyzer
from .words import AS_WRITTEN, parts_as_written

COMPOUND = re.compile(rf"{AS_WRITTEN}(?:[-/_^\u2010-\u2013\u2212]{AS_WRITTEN})*")
TOKENS_REMEMBERED = 16_384
"""Tokens whose words are cached."""


def written(analyzer: Analyzer, text: str) -> Iterator[tuple[str, str]]:
    """Words of a text as from `Analyzer.words`, in order, each with its written form. Words without a contiguous form in the text, such as
    LaTeX's, are left out."""
    for token in text.split():
        if token.isascii() and token.isalnum():  # most tokens: nothing to take apart
            yield token.lower(), token
        else:
            yield from _forms(analyzer, token)


def commonest_forms(analyzer: Analyzer, texts: Iterable[str], words: Collection[str]) -> dict[str, str]:
    """For each word, its most frequent form in the texts; of equally frequent forms, the lower-case one; without a form, the word
    itself."""
    counts = {word: Counter[str]() for word in words}
    for text in texts:
        for word, form in written(analyzer, text):
            if word in counts:
                counts[word][form] += 1
    return {
        word: min(forms, key=lambda form: (-forms[form], form != form.lower(), form)) if forms else word for word, forms in counts.items()
    }


def joined_forms(analyzer: Analyzer, texts: Iterable[str], words: Collection[str]) -> dict[str, str]:
    """The same, but a word whose form differs only in capitals stays unchanged, since it may begin a title."""
    forms = commonest_forms(analyzer, texts, words)
    return {word: word if form.lower() == word else form for word, form in forms.items()}


@lru_cache(TOKENS_REMEMBERED)
def _forms(analyzer: Analyzer, token: str) -> list[tuple[str, str]]:
    """Words of a token without blanks, each with its form."""
    forms = []
    for match in COMPOUND.finditer(token):
        parts = [token[start:end] for start, end in parts_as_written(token, *match.span())]
        for form in [*parts, match[0]] if len(parts) > 1 else parts:
            words = list(analyzer.words(form))  # none for a letter that is only a mark
            forms += [(word, form) for word in words[-1:]]
    return forms
