"""Screening: all papers on a topic are to be found, a person decides on each, and it must be known when enough is read."""

from .decisions import DecisionFile, labels_of
from .session import RULES, Rule, Screening, Status

__all__ = ["RULES", "DecisionFile", "Rule", "Screening", "Status", "labels_of"]
