"""Papers of an index as documents of paper-qa. Needs the extra `paperqa`."""

from __future__ import annotations

from collections.abc import Sequence

from paperqa import Docs, Settings
from paperqa.types import Doc, Text

from ..base.errors import InvalidRequest
from ..base.types import Paper
from ..papers.bibliographies.keys import keys_of, own_key
from ..papers.bibliographies.reference_lists import reference
from .calls import text_of


async def add_papers(docs: Docs, papers: Sequence[Paper], settings: Settings | None = None) -> int:
    """Add papers, such as those of `run.hits`, to paper-qa's documents, each as one text of title and abstract.

    A document's key is the paper's id, its name the paper's citation key. `settings` choose the embeddings.

    Returns the number of papers added, without those already present. Raises InvalidRequest for other objects than papers.
    """
    if wrong := next((paper for paper in papers if not isinstance(paper, Paper)), None):
        raise InvalidRequest(f"papers are `sr.Paper`, as in `[hit.paper for hit in run.hits]`, not of type {type(wrong).__name__}")
    added = 0
    for paper, key in zip(papers, keys_of(papers, [own_key(paper) for paper in papers]), strict=True):
        doc = Doc(docname=key, dockey=paper.id, citation=reference(paper))
        added += await docs.aadd_texts([Text(text=text_of(paper), name=key, doc=doc)], doc, settings)
    return added
