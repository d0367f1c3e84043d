"""Zotero's CSV: a column for each field of any kind of item; several names, tags and files between semicolons."""

from __future__ import annotations

from ..people import people_in
from ..raw import Row

COLUMNS = ("Item Type", "Key", "Publication Year", "Abstract Note")
PEOPLE = {"Author": "authors", "Editor": "editors"}
LISTS = {"Manual Tags": "tags", "Automatic Tags": "automatic_tags"}
VENUES = ("Publication Title", "Conference Name", "Series Title", "Series", "University", "Publisher")


def fits(row: Row) -> bool:
    """Whether it has the columns that only such a file has."""
    return all(name in row for name in COLUMNS)


def paper(row: Row) -> Row:
    """Names in parts, where one without a comma is an institution's, and tags as lists.

    What has no value is left out: most kinds of items lack most fields."""
    plain_row = {name: value for name, value in row.items() if value}
    for source, target in PEOPLE.items():
        if names := plain_row.get(source):
            persons = [" ".join(person.split()) for person in names.split(";") if person.strip()]
            plain_row[target] = people_in([person if "," in person else {"literal": person} for person in persons]).rows
    for source, target in LISTS.items():
        if tags := plain_row.pop(source, None):
            plain_row[target] = [tag.strip() for tag in tags.split(";") if tag.strip()]
    if venue := next((row[name] for name in VENUES if row.get(name)), None):
        plain_row["venue"] = venue
    return plain_row
