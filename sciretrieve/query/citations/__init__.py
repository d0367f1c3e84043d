"""Citations among the papers of an index: resolving references, and relating papers by them."""
