"""Splits texts into sentences, words with their part of speech, and noun phrases.

The part of speech comes from TextBlob's tagger, which needs no download: a lexicon, and Brill's rules of form and context.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

from ...base.extras import need

Kind: TypeAlias = Literal["noun", "adjective", "verb", "adverb", "pronoun", "determiner", "number", "other"]

TOKEN = re.compile(r"(\s*)((?:e\.g|i\.e)\.|\d+(?:[.,]\d+)*(?!\w)|\w+(?:[-'’]\w+)*|\S)")
SENTENCE_END = re.compile(r"(?<=[.!?])[)\]\"'”’]*\s+(?=[^\sa-z])")
ABBREVIATION = re.compile(r"(e\.g|i\.e|al|figs?|eqs?|vs|cf|no|refs?|secs?|dr|prof|resp|approx|ca|st|mrs?|spp?|[A-Za-z])\.", re.IGNORECASE)
"""Words with a full stop that do not end a sentence: abbreviations in papers, and initials."""
PUNCTUATION = frozenset(".,:;()")
SUBJECTS = frozenset({"we", "they", "i", "you"})
"""After one of these, a noun of the tagger's lexicon is a verb: "we show", "we study"."""
KINDS: Mapping[Kind, tuple[str, ...]] = {
    "noun": ("NN",),
    "adjective": ("JJ",),
    "verb": ("VB", "MD"),
    "adverb": ("RB", "WRB"),
    "pronoun": ("PRP", "WP"),
    "determiner": ("DT", "PDT", "WDT", "EX"),
    "number": ("CD",),
}
"""Kinds of words, with the beginnings of their tags of the Penn Treebank, by the universal tag set (Petrov, Das and McDonald, LREC
2012).
"""


@dataclass(frozen=True, slots=True)
class Token:
    """A word or a punctuation mark, with the blanks before it."""

    blanks: str
    text: str
    kind: Kind

    @property
    def is_word(self) -> bool:
        """Whether it has a letter or a digit."""
        return any(map(str.isalnum, self.text))


class TaggedText:
    """A title or an abstract; it is split when first needed."""

    def __init__(self, raw: str) -> None:
        self.raw = raw.strip()

    @cached_property
    def sentences(self) -> list[str]:
        """Its sentences, without the blanks between them."""
        sentences, start = [], 0
        for match in SENTENCE_END.finditer(self.raw):
            last_word = self.raw[start : match.start()].split()[-1].lstrip("([\"'“‘")
            if not ABBREVIATION.fullmatch(last_word):
                sentences.append(self.raw[start : match.end()].strip())
                start = match.end()
        return [*sentences, self.raw[start:]] if self.raw[start:] else sentences

    @cached_property
    def tokens(self) -> list[Token]:
        """Its words and punctuation marks, in order. Raises MissingExtra without TextBlob."""
        tokens: list[Token] = []
        for sentence in self.sentences:
            pairs = TOKEN.findall(sentence)
            kinds = _kinds([word for _, word in pairs])
            # a sentence begins after one blank, whatever was there
            blanks = [" " if tokens else "", *(blanks for blanks, _ in pairs[1:])]
            tokens += [Token(before, word, kind) for before, (_, word), kind in zip(blanks, pairs, kinds, strict=True)]
        return tokens

    @cached_property
    def phrases(self) -> list[range]:
        """The places of its noun phrases among its tokens: the longest runs of adjectives and nouns that end with a noun, of at least two
        words.
        """
        phrases, start = [], 0
        for place, token in enumerate([*self.tokens, Token("", "", "other")]):
            if token.kind in ("noun", "adjective"):
                continue
            stop = place
            while stop > start and self.tokens[stop - 1].kind == "adjective":
                stop -= 1
            if stop - start > 1:
                phrases.append(range(start, stop))
            start = place + 1
        return phrases

    def phrase(self, places: range) -> str:
        """A phrase as one text, in lower case."""
        return " ".join(self.tokens[place].text.lower() for place in places)


def joined(tokens: Sequence[Token]) -> str:
    """Tokens as a text."""
    return "".join(token.blanks + token.text for token in tokens).strip()


def check_tagger() -> None:
    """Raise MissingExtra without a tagger."""
    _tagger()


def _kinds(words: Sequence[str]) -> list[Kind]:
    """The kind of each word of a sentence."""
    if not words:
        return []
    # the lexicon lacks capitals of titles and of first words; marks of the tagger's own format become commas
    plain_words = [_plain(word) for word in words]
    tags = [tag for _, tag in _tagger().tag(" ".join(plain_words), tokenize=False)]
    kinds: list[Kind] = [next((kind for kind, starts in KINDS.items() if tag.startswith(starts)), "other") for tag in tags]
    for place, before in enumerate(plain_words[:-1]):
        if before.lower() in SUBJECTS and kinds[place + 1] == "noun":
            kinds[place + 1] = "verb"
    return kinds


def _plain(word: str) -> str:
    if not word[-1].isalnum():
        return word if word in PUNCTUATION else ","
    return word.lower() if word.istitle() else word


def _tagger() -> Any:
    need("textblob", "changing texts by their parts of speech")
    from textblob.taggers import PatternTagger

    return PatternTagger()
