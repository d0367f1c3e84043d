"""Which sentences of a draft should perhaps cite, and how well a paper must match for them.

A sentence's papers must be so much nearer than chance, on the scale on which papers that are neighbours have 1. Less is demanded of what
sounds like a claim about the work of others, more where the draft speaks of itself, and abstracts, conclusions and thanks, where people do
not cite, are left alone. The numbers were chosen by half of the papers of a test collection, see docs/fulltext.md.
"""

from __future__ import annotations

import re

from ..papers.drafts.draft import DraftSentence
from ..papers.fulltext.heads import bare

OTHERS = re.compile(
    r"\b(?:previous|prior|earlier|recent|existing|related|other|past) (?:\w+ )?(?:works?|stud(?:y|ies)|research|approach(?:es)?|methods?|"
    r"papers?|efforts?|systems?|models?|results)\b"
    r"|\b(?:has|have|had) (?:(?:also|recently|often|previously|long|already|successfully|all) )?been (?:\w+ly )?\w+(?:ed|en|wn|un)\b"
    r"|\b(?:proposed|introduced|developed|described|presented|suggested|reported|shown|used|given|defined|inspired) (?:by|in)\b"
    r"|\b(?:was|were) (?:first|originally|initially) \w+ed\b"
    r"|\bet al\b|\bstate[- ]of[- ]the[- ]art\b|\b(?:well|widely|commonly)[- ](?:known|used|studied|adopted)\b|\b(?:is|are) known\b"
    r"|\b(?:researchers|authors|literature|scholars|toolkit|package|corpus|parser|tagger|treebank|benchmark)\b"
    r"|\b(?:according to|as in|such as|similar to|based on|follow(?:ing|ed)?|e\.g\.|(?:approach|method|work|algorithm) of)",
    re.IGNORECASE,
)
"""Signs that a sentence speaks of the work of others."""
OWN = re.compile(
    r"\b(?:we|our|ours|us|my|this (?:paper|work|article|section|thesis|study|chapter)|(?:next|previous|following) section|in sections?|"
    r"tables?|figures?|figs?|equations?|eqs?|theorem|lemma|proposition|appendix|here)\b|\bI\b(?!-)",
    re.IGNORECASE,
)
"""Signs that it speaks of the draft itself."""
SILENT = re.compile(
    r"abstract|summary|conclu(?:sions?|ding remarks)\b.*|(?:discussions? and )?conclusions?|future works?|acknowledge?ments?|keywords|"
    r"funding|appendi(?:x|ces)\b.*|data availability|ethics statement|(?:competing|conflicts? of) interests?|references|bibliography",
    re.IGNORECASE,
)
"""Sections in which people do not cite."""
FEWEST_WORDS = 6
"""Fewest words of a sentence that can be judged."""
NEARNESS = 1.0
"""How near a paper must be to a plain sentence."""
OF_OTHERS, OF_ONESELF = -0.5, 0.2
"""What the signs change of that."""


def demanded(sentence: DraftSentence) -> float | None:
    """How near a paper must be to a sentence to be suggested for it; None if nothing is to be suggested, since it cites already, is too
    short, or stands where people do not cite."""
    if sentence.mentions or len(sentence.text.split()) < FEWEST_WORDS or SILENT.fullmatch(bare(sentence.section)):
        return None
    return NEARNESS + OF_OTHERS * bool(OTHERS.search(sentence.text)) + OF_ONESELF * bool(OWN.search(sentence.text))
