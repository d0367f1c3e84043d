"""Which papers score how: words by BM25, meaning by vectors, tokens by late interaction; and joining these scores."""
