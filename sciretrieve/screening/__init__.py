"""Screening for systematic reviews: people decide on each paper, and stopping rules tell when enough papers are read."""

from .agreement import Agreement
from .decisions import Decision, DecisionFile, Verdict
from .importing import TakenOver
from .prisma import Prisma
from .report import votes_in_words
from .rules import Status
from .screening import Screening

__all__ = ["Agreement", "Decision", "DecisionFile", "Prisma", "Screening", "Status", "TakenOver", "Verdict", "votes_in_words"]
