"""What the texts of tagged records mean: people, keywords, pages, numbers of books and journals, addresses, and an id made of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from hashlib import blake2b

from .. import identifiers
from ..bibliographies.author_names import INSTITUTIONS
from .people import people_in

SEVERAL = re.compile(r"\s*[;；]\s*")
SEVERAL_IN_ONE = re.compile(r",.*,| and | & ")
LATIN_SUFFIXES = {"2nd": "II", "3rd": "III", "4th": "IV"}
MEDLINE_SUFFIX = re.compile(r"(.*\S)\s+((?:Jr|Sr|II|III|IV|2nd|3rd|4th)\.?)", re.IGNORECASE)
RECORD_NUMBER = re.compile(r"\d{1,6}")
"""Numbers that programs give the records of a file or of a library, and that say nothing elsewhere."""
ISSN = re.compile(r"(?<![\dXx-])\d{4}[-‐‑–]?\d{3}[\dXx](?![\dXx-])")
DASH = re.compile(r"\w\s*[-–]+\s*\w")
SERIAL = re.compile(r"[\dXx][\dXx–‐‑-]*")
ADDRESSES = re.compile(r"[\s;,]+(?=(?:https?|ftp)://)")
WEB = re.compile(r"https?://", re.IGNORECASE)
LONGEST_OF_COMMAS = 3
"""Parts that a line of keywords has at least if commas are between them, and not within one, as in "Sleep, REM"."""


def divided(text: str) -> list[str]:
    """The parts of a text between semicolons, those of Chinese, too."""
    return SEVERAL.split(text.strip()) if ";" in text or "；" in text else [text.strip()]


def people(texts: Iterable[str]) -> list[str]:
    """Names, several in one text apart: they stand between semicolons; and in a record's only text, between commas or "and", too."""
    names = list(dict.fromkeys(name for text in texts for name in divided(text) if name.strip(", ")))
    if len(names) != 1 or not SEVERAL_IN_ONE.search(names[0]) or INSTITUTIONS & {*names[0].lower().replace(",", "").split()}:
        return names
    listed = people_in(names[0])
    return [name if isinstance(name, str) else name.inverted for name in listed.names] + ["et al."] * listed.has_more


def group(text: str) -> str:
    """An institution's name, as EndNote writes it: with a comma at its end, it is not taken for a person's."""
    return f"{text.rstrip(', ')},"


def medline_name(text: str) -> str:
    """A name with its suffix after a comma, which MEDLINE and Web of Science have after the given names: "King, Martin Luther Jr"."""
    family, _, given = text.partition(", ")
    match = MEDLINE_SUFFIX.fullmatch(given)
    return f"{family}, {match[1]}, {LATIN_SUFFIXES.get(match[2].lower(), match[2])}" if match else text


def keywords(lines: Sequence[str]) -> list[str]:
    """Keywords, one a line, or several between semicolons; between commas if there is one line of many."""
    words = [word for line in lines for word in divided(line)]
    if len(words) == 1 and words[0].count(",") >= LONGEST_OF_COMMAS - 1:
        words = [word.strip() for word in words[0].split(",")]
    return list(dict.fromkeys(filter(None, words)))


def pages(first: str, last: str) -> str:
    """The pages between two, of which one may say both already: "1-20" and "20"; "3-1" and "3-9" are pages of a manual."""
    are_ranges = [DASH.search(page) is not None for page in (first, last)]
    if not first or not last or first == last or any(are_ranges):
        return f"{first}–{last}" if all(are_ranges) and first != last else last if are_ranges[1] else first or last
    return f"{first}-{last}"


def serials(texts: Iterable[str], *, is_book: bool) -> dict[str, str]:
    """Numbers of books and of journals by their form, or by what they should be."""
    found: dict[str, dict[str, None]] = {"isbn": {}, "issn": {}}
    for number in (number for text in texts for number in SERIAL.findall(text)):
        digits = re.sub(r"[^\dXx]", "", number)
        if len(digits) > 3:
            is_issn = len(digits) == 8 if len(digits) in (8, 10, 13) else not is_book
            found["issn" if is_issn else "isbn"][number] = None
    return {name: ", ".join(numbers) for name, numbers in found.items()}


def addresses(lines: Iterable[str]) -> dict[str, object]:
    """The first address on the web, and all if there are several."""
    found = list(dict.fromkeys(part for line in lines for part in ADDRESSES.split(line) if part))
    url = next((address for address in found if WEB.match(address)), "")
    return {"url": url, "urls": found if found != [url] else []}


def doi_in(texts: Iterable[str], links: Iterable[str]) -> str:
    """The DOI that one of some texts is; else one in a link; "" if there is none."""
    found = next(filter(None, map(identifiers.doi, texts)), None)
    return found or next((value for link in links for kind, value in identifiers.mentioned(link) if kind == "doi"), "")


def id_of(own: str, doi: str, *others: str) -> str:
    """A record's own id, unless it is but the record's number; else its DOI or another id; else that number."""
    if own and not RECORD_NUMBER.fullmatch(own):
        return own
    return _bare(doi) if doi else next(filter(None, others), own)


def _bare(text: str) -> str:
    """A DOI without what stands around it, in its own letters; any other text as it is."""
    doi = identifiers.doi(text) or ""
    place = text.lower().find(doi)
    return text[place : place + len(doi)] if doi and place >= 0 else text


def digest(prefix: str, title: str, *facts: object) -> str:
    """An id made of what tells a record from others of the same title, the same on every export; "" without a title."""
    texts = "\n".join([title, *map(str, facts)])
    return f"{prefix}:{blake2b(texts.encode(errors='replace'), digest_size=6).hexdigest()}" if title else ""
