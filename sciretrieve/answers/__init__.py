"""Answers and views of them: explanations, facets, groups, maps, citations and saved searches."""
