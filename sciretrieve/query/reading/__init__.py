"""Turning queries into probes: typed texts, papers and vectors. Nothing is searched here."""
