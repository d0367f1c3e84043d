"""Judgements, measures and significance tests, independent of indexes and encoders."""
