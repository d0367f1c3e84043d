"""Which columns of a source hold a paper's id, title, abstract …: recognised by name, or named by the user."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any

from ...base.errors import InvalidRequest, UnknownName
from ...options import ColumnMap

INVERTED = "abstract_inverted_index"
"""OpenAlex's abstracts: instead of a text, the positions of every word."""
LONGEST_ABSTRACT = 1_000_000
"""Words that an abstract may have, and 16 times as many characters: a few bytes can say that a long word is everywhere."""

ALIASES: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "_id", "paper_id", "corpus_id", "doc_id", "docno", "document_id", "ut (unique wos id)", "eid", "lens id", "publication id")
    + ("pmid", "arxiv_id", "cord_uid", "citekey", "key", "doi"),
    "title": ("title", "paper_title", "display_name", "article_title", "document_title")
    + ("item_title", "titel", "titre", "título", "titolo"),
    "abstract": ("abstract", "text", "summary", "paper_abstract", "abstract_text", "abstract_note", "description", INVERTED)
    + ("zusammenfassung", "résumé", "resumen", "resumo", "riassunto"),
    "year": ("year", "publication_year", "pub_year", "published_year", "publication_date")
    + ("publish_time", "published", "pub_date", "date", "update_date")
    + ("date_published", "jahr", "année", "año", "ano", "anno"),
    "venue": ("venue", "journal", "booktitle", "journal_name", "container_title", "journal_ref", "conference", "source_title")
    + ("publication_title", "conference_name", "publication_venue", "primary_location.source.display_name", "host_venue")
    + ("journal/book", "zeitschrift", "revue", "revista", "rivista"),
    "authors": ("author full names", "authors", "author", "author_names", "authorships", "creators")
    + ("autoren", "autor", "auteurs", "auteur", "autores", "autori", "autore"),
    "doi": ("doi", "ids.doi", "external_ids.doi", "item_doi"),
    "url": ("url", "link", "paper_url", "article_url", "dimensions_url", "source_url"),
    "arxiv": ("arxiv", "arxiv_id", "eprint", "external_ids.arxiv"),
    "pmid": ("pmid", "pubmed_id", "pubmed", "ids.pmid", "external_ids.pubmed"),
    "pmcid": ("pmcid", "pmc_id", "pmc", "ids.pmcid", "external_ids.pubmedcentral"),
}
"""Column names recognised without mapping, best first, compared ignoring case, blanks and punctuation.

A name with dots is a field of the objects in a column, or a column of exactly that name.
"""

Fields = Mapping[str, tuple[str, ...]]
"""Field of a paper -> its columns; each paper's value comes from the first that is not empty in its row."""


def resolved(named: ColumnMap, source: str, columns: Sequence[str]) -> Fields:
    """The columns of each field in one source. Ids come from a single column, or papers might share an id; a source without one
    has none, and ids are made.

    Raises:
        InvalidRequest: there is neither title nor abstract.
        UnknownName: the user named a column that does not exist.
    """
    bare = {column: _letters(column) for column in columns}
    columns_of = {field: _recognised(aliases, bare) for field, aliases in ALIASES.items()}
    columns_of["id"] = columns_of["id"][:1]
    for field in fields(named):
        column = getattr(named, field.name)
        if column is not None and column not in columns:
            raise UnknownName(f"column (for `{field.name}`) of {source}", column, columns)
        if column is not None:
            columns_of[field.name] = (column,)
    column_list = ", ".join(columns[:12])
    if not columns_of["title"] and not columns_of["abstract"]:
        raise InvalidRequest(
            f"{source} has neither a title nor an abstract column among {column_list}; name them with `title` and `abstract`"
        )
    return {field: names for field, names in columns_of.items() if names}


def _recognised(aliases: Sequence[str], columns: Mapping[str, str]) -> tuple[str, ...]:
    """The columns, given with their letters, that match one of `aliases`, or hold the objects that a dotted alias names, best first."""
    matches = [column for alias in aliases for column in columns if column.lower() == alias]
    matches += [column for alias in aliases for column, letters in columns.items() if letters == _letters(alias)]
    for first, dot, rest in (alias.partition(".") for alias in aliases):
        matches += [f"{column}.{rest}" for column, letters in columns.items() if dot and "." not in column and letters == _letters(first)]
    return tuple(dict.fromkeys(matches))


def _letters(name: str) -> str:
    """A name without inner separators; a separator at its end, as in `id_`, is kept."""
    return re.sub(r"(?<=\w)[\W_]+(?=\w)", "", name.lower())


def uninverted(value: Any) -> Any:
    """The text of an inverted index: an object, pairs, or JSON of an object. Anything else is returned unchanged.

    >>> uninverted({"to": [0, 2], "be": [1, 3]})
    'to be to be'
    """
    index = value
    if isinstance(value, str):
        if not value.startswith("{"):
            return value
        try:
            index = json.loads(value)
        except (ValueError, RecursionError):
            return value
    if isinstance(index, Mapping) and isinstance(index.get("InvertedIndex"), Mapping):
        index = index["InvertedIndex"]
    pairs: Iterable[Any] = index.items() if isinstance(index, Mapping) else index or []
    try:
        words = [(str(word), positions or []) for word, positions in pairs]
        if not all(isinstance(positions, list | tuple) for _, positions in words):
            return value
        if (
            sum(len(positions) for _, positions in words) > LONGEST_ABSTRACT
            or sum(len(word) * len(at) for word, at in words) > 16 * LONGEST_ABSTRACT
        ):
            return value
        words_at = [(position, word) for word, positions in words for position in positions]
        return " ".join(word for _, word in sorted(words_at))
    except (TypeError, ValueError):
        return value
