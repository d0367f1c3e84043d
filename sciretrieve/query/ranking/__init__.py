"""Changes to a ranking after the search: reranking, merging near-duplicates, diversifying, and moving papers that the query names to the
front."""
