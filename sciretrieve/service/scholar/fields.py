"""The requested fields of papers and authors: `title,authors.name`. Unknown ones are rejected, as at Semantic Scholar."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic.alias_generators import to_camel

from ...base.errors import InvalidRequest
from .models import AuthorRecord, LinkRecord, PaperRecord

PAPER = frozenset(map(to_camel, PaperRecord.model_fields)) - {"matchScore"}
"""The fields of a paper."""
AUTHOR = frozenset(map(to_camel, AuthorRecord.model_fields))
"""The fields of an author."""
CITATION = frozenset(map(to_camel, LinkRecord.model_fields))
"""The fields of a citation, besides those of its paper."""
NESTED: Mapping[str, frozenset[str]] = {
    "authors": AUTHOR - {"papers"},
    "citations": PAPER - {"citations", "references"},
    "references": PAPER - {"citations", "references"},
    "papers": PAPER - {"citations", "references"},
}
"""Fields that are lists of papers or authors, and their fields."""
OBJECTS = frozenset(
    {"embedding", "externalIds", "journal", "openAccessPdf", "publicationVenue", "s2FieldsOfStudy", "tldr", "citationStyles"}
)
"""Fields that are objects, which are always returned whole."""
EMBEDDINGS = frozenset({"specter_v1", "specter_v2"})
MOST = 20_000
"""The most characters of a list of fields."""


@dataclass(frozen=True)
class Fields:
    """The requested fields, and those within lists of papers or authors."""

    names: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def __contains__(self, name: str) -> bool:
        return name in self.names

    def within(self, name: str, *usual: str) -> Fields:
        """The requested fields of the papers or authors in a list, with the usual ones."""
        inner = self.names.get(name, frozenset())
        nested: dict[str, frozenset[str]] = {each: frozenset() for each in usual}
        for each in sorted(inner):
            top, _, rest = each.partition(".")
            nested[top] = nested.get(top, frozenset()) | ({rest} if rest else frozenset())
        return Fields(nested)


def read(text: str | None, legal: frozenset[str], *usual: str) -> Fields:
    """The fields in a request; without any, the usual ones. The first usual one, an id, is always included.

    Raises InvalidRequest for an unknown field.
    """
    names: dict[str, frozenset[str]] = {usual[0]: frozenset()}
    parts = [part.strip() for part in (text or "")[: MOST + 1].split(",") if part.strip()]
    if len(text or "") > MOST:
        raise InvalidRequest(f"the list of fields has more than {MOST:,} characters; name each field once")
    for name in parts or usual:
        top, _, rest = name.partition(".")
        if top in ("citingPaper", "citedPaper") and rest and legal >= CITATION:
            top, _, rest = rest.partition(".")
        if top not in legal or (rest and not _is_within(top, rest)):
            raise InvalidRequest(f"there is no field {name[:60]!r}; the fields are {', '.join(sorted(legal))}")
        names[top] = names.get(top, frozenset()) | ({rest} if rest else frozenset())
    return Fields(names)


def _is_within(top: str, rest: str) -> bool:
    """Whether a list of papers or authors has a field, or an object has a part."""
    if top == "embedding":
        return rest in EMBEDDINGS
    name, _, further = rest.partition(".")
    return top in OBJECTS or (name in NESTED.get(top, ()) and (not further or _is_within(name, further)))


def pattern_of(legal: frozenset[str]) -> str:
    """The regular expression of a list of fields, for the description of the API."""
    one = "|".join(_pattern(name) for name in sorted(legal))
    return rf"^(({one})(,({one}))*)?$"


def _pattern(name: str) -> str:
    if name == "embedding":
        return rf"embedding(\.({'|'.join(sorted(EMBEDDINGS))}))?"
    inner = NESTED.get(name)
    return rf"{name}(\.({'|'.join(map(_pattern, sorted(inner)))}))?" if inner else name
