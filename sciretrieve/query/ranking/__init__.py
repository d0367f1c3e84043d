"""Changing a ranking after the search: reranking its first papers, merging near-duplicates, adding variety."""
