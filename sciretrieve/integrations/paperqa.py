"""Papers of an index as documents of paper-qa, which is installed beside."""

from __future__ import annotations

from collections.abc import Sequence

from paperqa import Docs, Settings
from paperqa.types import Doc, Text

from ..base.errors import InvalidRequest
from ..base.types import Hit, Paper, names_of
from ..papers.bibliographies.keys import keys_of, own_key
from ..papers.bibliographies.reference_lists import reference
from .calls import text_of


async def add_papers(docs: Docs, papers: Sequence[Paper | Hit], settings: Settings | None = None) -> int:
    """Add papers, or hits such as `run.hits`, to paper-qa's documents, each as one text of title and abstract.

    A document's key is the paper's id, or a hit's name, which tells papers of several indexes apart; its name is the paper's citation key.
    `settings` choose the embeddings.

    Returns the number of papers added, without those already present. Raises InvalidRequest for other objects.
    """
    if wrong := next((paper for paper in papers if not isinstance(paper, Paper | Hit)), None):
        raise InvalidRequest(f"papers are `sr.Paper` or `sr.Hit`, as in `run.hits`, not of type {type(wrong).__name__}")
    bare = [paper.paper if isinstance(paper, Hit) else paper for paper in papers]
    added = 0
    for name, paper, key in zip(names_of(papers), bare, keys_of(bare, [own_key(paper) for paper in bare]), strict=True):
        doc = Doc(docname=key, dockey=name, citation=reference(paper))
        added += await docs.aadd_texts([Text(text=text_of(paper), name=key, doc=doc)], doc, settings)
    return added
