"""Dates of publication, which `papers.dates` reads."""

from ..dates import date_in, publication

__all__ = ["date_in", "publication"]
