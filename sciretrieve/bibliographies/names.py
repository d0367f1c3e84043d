"""Names of authors: in their natural order, the part for citations, and the form for BibTeX."""

from __future__ import annotations

GROUPS = {"collaboration", "collaborations", "consortium", "group", "network", "project", "team"}
LINEAGE = {"jr", "sr", "ii", "iii", "iv"}


def family(name: str) -> str:
    """The name in a citation: the family name of "Lovelace, Ada" and "Ada Lovelace Jr.", the whole name of a group."""
    words = name.split()
    if "," in name or not words:
        return name.split(",")[0]
    return name if words[-1].lower() in GROUPS else words[-1 - _lineage(words)]


def in_order(name: str) -> str:
    """A name in its natural order: "Lovelace, Ada, Jr." is "Ada Lovelace Jr."; one without a comma as it is."""
    family, *others = [part.strip() for part in name.split(",")]
    first, lineage = others[0] if others else "", others[1:]
    return " ".join(part for part in (first, family, *lineage) if part)


def for_bibtex(name: str) -> str:
    """A name in a form that BibTeX parses correctly: "Smith, Jr., John" for "John Smith Jr.", braces around groups."""
    words, people = name.split(), name.split(" and ")
    # "J. Maharana and S. Mukherji" are two people, "Barnes and Noble" are not
    is_company = len(people) > 1 and not all(" " in person.strip() for person in people)
    if (words and words[-1].lower() in GROUPS) or is_company or name.count(",") > 2:
        return f"{{{name}}}"
    if "," not in name and _lineage(words):
        return f"{words[-2]}, {words[-1]}, {' '.join(words[:-2])}"
    return name


def _lineage(words: list[str]) -> bool:
    """Whether the last word of a name is Jr., III or the like."""
    return len(words) > 2 and words[-1].rstrip(".").lower() in LINEAGE
