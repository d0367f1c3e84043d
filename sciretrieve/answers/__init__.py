"""Analysing answers: why a paper is in one or not, what its papers have in common, which groups they form."""
