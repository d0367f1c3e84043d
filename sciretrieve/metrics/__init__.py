"""Judgements, measures and significance: what every evaluation counts with. It knows nothing of indexes and encoders."""
