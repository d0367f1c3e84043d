"""Encoders in training, one class for each method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ....base.choices import Method
from ...presets import Plan
from .adapted import Adapted, Fused
from .faceted import Faceted
from .scimult import AttentionExperts, FeedForwardExperts, Instruction, Prefix
from .student import FORMATS, Student
from .whole import Coded, Whole
from .with_pals import WithPals

STUDENTS: Mapping[Method, type[Student]] = {
    "adapter": Adapted,
    "whole": Whole,
    "codes": Coded,
    "fusion": Fused,
    "pals": WithPals,
    "mha-experts": AttentionExperts,
    "ffn-experts": FeedForwardExperts,
    "prefix": Prefix,
    "instruction": Instruction,
    "facets": Faceted,
}


def open_student(plan: Plan, formats: Sequence[str]) -> Student:
    """The encoder that a plan trains, for some formats. Raises as `Student`."""
    return STUDENTS[plan.method](plan, formats)


__all__ = ["FORMATS", "STUDENTS", "Student", "open_student"]
