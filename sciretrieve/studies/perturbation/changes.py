"""Small changes to a title or an abstract, from which the classes of textual neighbours are made.

Each change takes the text and the paper's `Draft`, and returns the changed text, or the same text if nothing can be changed.
"""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Set
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import TypeAlias

from .tagged_texts import Kind, TaggedText, Token, joined

DELETED_WORDS = 0.3
"""The share of its words that an abstract loses at random."""
STRETCHED = 0.5
"""The share of blanks that become several."""
BLANKS = (2, 5)
"""The fewest and the most blanks that replace one."""

_PAIRS = [line.split() for line in (files(__package__) / "antonyms.txt").read_text(encoding="utf-8").splitlines()][::-1]
ANTONYMS = {second: first for first, second in _PAIRS} | {pair[0]: pair[1] for pair in _PAIRS}
"""Antonyms of the adjectives in abstracts: a list of our own, since WordNet, which the authors of paper 003 used, is a download. Both
directions of each pair. A word's own pair wins over one in which it is second, and the first of several pairs wins.
"""


@dataclass(frozen=True)
class Draft:
    """A paper to be changed.

    Attributes:
        title, abstract: its texts.
        chance: the source of random numbers.
        top_phrases: the better half of the corpus's noun phrases, see `top_phrases`.
    """

    title: TaggedText
    abstract: TaggedText
    chance: random.Random
    top_phrases: Set[str]


Change: TypeAlias = Callable[[TaggedText, Draft], str]


def empty(text: TaggedText, draft: Draft) -> str:
    """An empty text."""
    return ""


def rotate(text: TaggedText, draft: Draft) -> str:
    """The second half of the sentences before the first."""
    middle = len(text.sentences) // 2
    return " ".join([*text.sentences[middle:], *text.sentences[:middle]])


def shuffle(text: TaggedText, draft: Draft) -> str:
    """The sentences in random order."""
    return " ".join(draft.chance.sample(text.sentences, len(text.sentences)))


def by_length(*, longest_first: bool) -> Change:
    """The sentences by their number of words."""

    def change(text: TaggedText, draft: Draft) -> str:
        return " ".join(sorted(text.sentences, key=lambda sentence: len(sentence.split()), reverse=longest_first))

    return change


def delete_third(number: int) -> Change:
    """Without the first, second or last third of the sentences (1, 2 or 3); a text of fewer than three sentences stays as it is."""

    def change(text: TaggedText, draft: Draft) -> str:
        count = len(text.sentences)
        if count < 3:
            return text.raw
        start, stop = round((number - 1) * count / 3), round(number * count / 3)
        return " ".join([*text.sentences[:start], *text.sentences[stop:]])

    return change


def delete_random_words(text: TaggedText, draft: Draft) -> str:
    """Without three words in ten."""
    places = [place for place, token in enumerate(text.tokens) if token.is_word]
    gone = set(draft.chance.sample(places, int(DELETED_WORDS * len(places))))
    return _without(text, gone)


def delete(kind: Kind) -> Change:
    """Without the words of one kind."""

    def change(text: TaggedText, draft: Draft) -> str:
        return _without(text, {place for place, token in enumerate(text.tokens) if token.kind == kind})

    return change


def delete_phrases(text: TaggedText, draft: Draft) -> str:
    """Without noun phrases."""
    return _without(text, {place for phrase in text.phrases for place in phrase})


def delete_top_phrases(text: TaggedText, draft: Draft) -> str:
    """Without the noun phrases in the better half of the corpus's."""
    return _without(text, {place for phrase in text.phrases if text.phrase(phrase) in draft.top_phrases for place in phrase})


def keep_nouns(text: TaggedText, draft: Draft) -> str:
    """The nouns alone; a text without any is unchanged."""
    return " ".join(_nouns(text)) or text.raw


def upper_case(*, nouns: bool) -> Change:
    """Nouns in capitals, or all other words."""

    def change(text: TaggedText, draft: Draft) -> str:
        return joined([replace(token, text=token.text.upper()) if (token.kind == "noun") == nouns else token for token in text.tokens])

    return change


def delete_letters_of_nouns(text: TaggedText, draft: Draft) -> str:
    """Without one random letter of each noun longer than three letters, and two of each noun longer than five."""

    def shortened(token: Token) -> Token:
        letters = list(token.text)
        if token.kind == "noun" and len(letters) > 3:
            for _ in range(2 if len(letters) > 5 else 1):
                del letters[draft.chance.randrange(len(letters))]
        return replace(token, text="".join(letters))

    return joined([shortened(token) for token in text.tokens])


def repeat_noun(text: TaggedText, draft: Draft) -> str:
    """One of its nouns, chosen at random, repeated at each occurrence."""
    nouns = _nouns(text)
    if not nouns:
        return text.raw
    noun = draft.chance.choice(nouns)
    return joined([replace(token, text=f"{noun} {noun}") if token.text == noun else token for token in text.tokens])


def add_nouns_of_abstract(text: TaggedText, draft: Draft) -> str:
    """With the more frequent half of the abstract's distinct nouns behind it."""
    counts = Counter(_nouns(draft.abstract))
    return " ".join([text.raw, *(noun for noun, _ in counts.most_common(len(counts) // 2))])


def replace_adjectives(text: TaggedText, draft: Draft) -> str:
    """Adjectives replaced by their antonyms, if known."""
    return joined([replace(token, text=antonym(token.text)) if token.kind == "adjective" else token for token in text.tokens])


def antonym(word: str) -> str:
    """The antonym, with a capital if the word has one; the word itself if none is known."""
    other = ANTONYMS.get(word.lower())
    if other is None:
        return word
    return other.capitalize() if word.istitle() else other


def stretch_blanks(text: TaggedText, draft: Draft) -> str:
    """Half of the blanks, chosen at random, replaced by two to five."""
    blanks = [match.start() for match in re.finditer(r"\s", text.raw)]
    stretched = set(draft.chance.sample(blanks, int(STRETCHED * len(blanks))))
    return "".join(" " * draft.chance.randint(*BLANKS) if place in stretched else letter for place, letter in enumerate(text.raw))


def top_phrases(abstracts: Iterable[TaggedText]) -> Set[str]:
    """The better half of the noun phrases of a corpus, by frequency times BM25's inverse document frequency (the "top 50 % NPs" in the
    authors' code).
    """
    frequencies: Counter[str] = Counter()
    papers: Counter[str] = Counter()
    count = 0
    for abstract in abstracts:
        phrases = [abstract.phrase(places) for places in abstract.phrases]
        frequencies.update(phrases)
        papers.update(set(phrases))
        count += 1

    def score(phrase: str) -> float:
        return frequencies[phrase] * math.log2(1 + (count - papers[phrase] + 0.5) / (papers[phrase] + 0.5))

    return set(sorted(frequencies, key=lambda phrase: (-score(phrase), phrase))[: len(frequencies) // 2])


def _without(text: TaggedText, gone: Set[int]) -> str:
    return joined([token for place, token in enumerate(text.tokens) if place not in gone]) if gone else text.raw


def _nouns(text: TaggedText) -> list[str]:
    return [token.text for token in text.tokens if token.kind == "noun"]
