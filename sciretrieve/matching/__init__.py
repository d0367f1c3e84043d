"""Scoring papers: BM25, vectors, late interaction, and the fusion of their scores."""
