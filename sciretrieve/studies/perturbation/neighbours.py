"""The 32 classes of textual neighbours in five categories, as data (Singh and Singh 2022, Tables 1 and 7); and the neighbours of papers."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from ...base.types import Paper
from . import changes
from .changes import Change, Draft
from .tagged_texts import TaggedText

Category: TypeAlias = Literal["LL-HS", "LO-HS", "LL-PS", "LO-PS", "LO-DS"]
CATEGORIES: dict[Category, str] = {
    "LL-HS": "nothing lost, highly similar",
    "LO-HS": "lossy, highly similar",
    "LL-PS": "nothing lost, partially similar",
    "LO-PS": "lossy, partially similar",
    "LO-DS": "lossy, dissimilar",
}
"""From the most to the least similar, in the order of §6.3."""


@dataclass(frozen=True, slots=True)
class NeighbourClass:
    """A way to change a paper.

    Attributes:
        code: the authors' name: the change of title (T), abstract (A), or both.
        category: the intended similarity of the result.
        title, abstract: the change of each; None for no change.
    """

    code: str
    category: Category
    title: Change | None
    abstract: Change | None

    def made(self, paper: Paper, draft: Draft) -> Paper | None:
        """The changed paper; None if the class cannot change it, or leaves no word."""
        title = paper.title if self.title is None else self.title(draft.title, draft)
        abstract = paper.abstract if self.abstract is None else self.abstract(draft.abstract, draft)
        is_same = (title, abstract) == (paper.title, paper.abstract)
        return None if is_same or not any(map(str.isalnum, title + abstract)) else replace(paper, title=title, abstract=abstract)


CLASSES = (
    NeighbourClass("T_ARot", "LL-PS", None, changes.rotate),
    NeighbourClass("T_AShuff", "LL-PS", None, changes.shuffle),
    NeighbourClass("T_ASortAsc", "LL-PS", None, changes.by_length(longest_first=False)),
    NeighbourClass("T_ASortDesc", "LL-PS", None, changes.by_length(longest_first=True)),
    NeighbourClass("T_ADelRand", "LO-PS", None, changes.delete_random_words),
    NeighbourClass("T_ADelADJ", "LO-PS", None, changes.delete("adjective")),
    NeighbourClass("T_ADelNN", "LO-DS", None, changes.delete("noun")),
    NeighbourClass("T_ADelVB", "LO-PS", None, changes.delete("verb")),
    NeighbourClass("T_ADelADV", "LO-PS", None, changes.delete("adverb")),
    NeighbourClass("T_ADelPR", "LO-PS", None, changes.delete("pronoun")),
    NeighbourClass("T_ADelDT", "LO-HS", None, changes.delete("determiner")),
    NeighbourClass("T_ADelNum", "LO-PS", None, changes.delete("number")),
    NeighbourClass("T_ADelNNPH", "LO-DS", None, changes.delete_phrases),
    NeighbourClass("T_ADelTopNNPH", "LO-PS", None, changes.delete_top_phrases),
    NeighbourClass("TDelADJ_A", "LO-HS", changes.delete("adjective"), None),
    NeighbourClass("TDelNN_A", "LO-HS", changes.delete("noun"), None),
    NeighbourClass("TDelVB_A", "LO-HS", changes.delete("verb"), None),
    NeighbourClass("TDelDT_A", "LO-HS", changes.delete("determiner"), None),
    NeighbourClass("TDelNN", "LO-DS", changes.delete("noun"), changes.empty),
    NeighbourClass("T_ADelQ1", "LO-PS", None, changes.delete_third(1)),
    NeighbourClass("T_ADelQ2", "LO-PS", None, changes.delete_third(2)),
    NeighbourClass("T_ADelQ3", "LO-PS", None, changes.delete_third(3)),
    NeighbourClass("TNNU_A", "LL-HS", changes.upper_case(nouns=True), None),
    NeighbourClass("TNonNNU_A", "LL-HS", changes.upper_case(nouns=False), None),
    NeighbourClass("T_ANNU", "LL-HS", None, changes.upper_case(nouns=True)),
    NeighbourClass("T_ANonNNU", "LL-HS", None, changes.upper_case(nouns=False)),
    NeighbourClass("T_A_DelNNChar", "LO-PS", changes.delete_letters_of_nouns, changes.delete_letters_of_nouns),
    NeighbourClass("TRepNNT_A", "LO-HS", changes.repeat_noun, None),
    NeighbourClass("TRepNNA_A", "LO-HS", changes.add_nouns_of_abstract, None),
    NeighbourClass("T_ADelNonNNs", "LO-DS", None, changes.keep_nouns),
    NeighbourClass("T_ARepADJ", "LO-DS", None, changes.replace_adjectives),
    NeighbourClass("T_A_WS", "LL-HS", changes.stretch_blanks, changes.stretch_blanks),
)


def neighbours(papers: Sequence[Paper], seed: int) -> dict[str, dict[int, Paper]]:
    """The neighbours of papers, by the class's code and the paper's place. A class that cannot change a paper gives no neighbour; for
    example, one that deletes numbers from a paper without numbers. Equal papers and seeds give equal neighbours. Raises MissingExtra
    without TextBlob.
    """
    top_phrases = changes.top_phrases(TaggedText(paper.abstract) for paper in papers)
    neighbours_of: dict[str, dict[int, Paper]] = {cls.code: {} for cls in CLASSES}
    for place, paper in enumerate(papers):
        title, abstract = TaggedText(paper.title), TaggedText(paper.abstract)
        plain_paper = replace(paper, title=title.raw, abstract=abstract.raw)
        for cls in CLASSES:
            chance = random.Random(f"{seed} {cls.code} {paper.id}")  # so that other papers and classes make no difference
            if (neighbour := cls.made(plain_paper, Draft(title, abstract, chance, top_phrases))) is not None:
                neighbours_of[cls.code][place] = neighbour
    return neighbours_of
