"""Identifiers of papers, books and journals, each in one form however it is written: DOI, arXiv number, PubMed id, PMC id, ISBN, ISSN."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import unquote

from ..base.characters import DASHES, clean

DOI_ADDRESS = r"(?:https?://)?(?:www\.|dx\.)?doi\.org/"
REGISTRANT = r"10\.\d{4,9}(?:\.\d+)*"
"""What may stand before a DOI, and how one begins, before its slash."""
DOI = re.compile(rf"(?:(?:info:|urn:)?doi[:/]\s*|{DOI_ADDRESS}(?:doi:)?)*({REGISTRANT}/\S+)", re.IGNORECASE)
DOI_IN_ADDRESS = re.compile(rf"https?://\S*?(?<![\w.])({REGISTRANT}/[^\s?#&]+)\S*", re.IGNORECASE)
"""A publisher's address, or a library's proxy, with a DOI in it."""
AFTER_ADDRESS = re.compile(
    r"(?:/(?:e?pdf|full|fulltext|full-text|html?|abstract|meta|summary|references|figures|tables|citations)|\.pdf|/)+$", re.IGNORECASE
)
QUERY = re.compile(r"[?#&](?:utm_\w+|[a-z_]{2,20})=.*$", re.IGNORECASE)
SEVERAL = re.compile(rf"(?<=[^\s:])\s*[;,|\s]\s*(?=(?:doi:\s*|{DOI_ADDRESS})?{REGISTRANT}/)", re.IGNORECASE)
WRAPPINGS = {"<": ">", "[": "]", "(": ")", "{": "}", '"': '"', "'": "'", "“": "”"}
ARXIV_ADDRESS = r"(?:https?://)?(?:www\.|export\.)?arxiv\.org/(?:abs|pdf|html)/|(?:https?://)?(?:dx\.)?(?:doi\.org/)?10\.48550/arxiv\."
ARXIV = re.compile(
    rf"(?:(?:arxiv|corr)(?:\s+(?:preprint|e-prints?))?[:,.]?\s+)?(?:arxiv:\s*|{ARXIV_ADDRESS}|abs/)?"
    r"(\d{4}\.\d{4,5}|[a-z-]+(?:\.[a-z]{2})?/\d{7})(v\d+)?(?:\.pdf)?/?(?:\s*\[[\w., -]+\])?",
    re.IGNORECASE,
)
PMID = re.compile(
    r"(?:pmid:?\s*|(?:https?://)?(?:www\.)?(?:pubmed\.ncbi\.nlm\.nih\.gov|ncbi\.nlm\.nih\.gov/pubmed)/)?0*([1-9]\d{0,8})(?:\.0+)?/?",
    re.IGNORECASE,
)
PMCID = re.compile(r"(?:pmcid:?\s*|https?://\S*/articles/)?PMC\s?0*([1-9]\d{0,8})(?:\.\d+)?/?", re.IGNORECASE)
ISBN = re.compile(r"(?:isbn(?:-?1[03])?\W*)?((?:97[89][ -]?)?(?:\d[ -]?){9}[\dX])", re.IGNORECASE)
ISSN = re.compile(r"(?:[ep]?-?issn(?:-l)?\W*)?(\d{4}-\d{3}[\dX]|\d{6,7}[\dX])", re.IGNORECASE)
DOI_IN_TEXT = re.compile(REGISTRANT + r"(?:/|%2F)[^\s\"<>|{}“”]+", re.IGNORECASE)
ARXIV_IN_TEXT = re.compile(
    r"arxiv(?:\.org/(?:abs|pdf|html)/|[:.]?\s*)(\d{4}\.\d{4,5}|[a-z-]+(?:\.[a-z]{2})?/\d{7})(?:v\d+)?(?![\d/])", re.IGNORECASE
)
ARCHIVES = (
    "acc-phys|adap-org|alg-geom|ao-sci|astro-ph|atom-ph|bayes-an|chao-dyn|chem-ph|cmp-lg|comp-gas|cond-mat|cs|dg-ga|funct-an|gr-qc|hep-ex|"
    "hep-lat|hep-ph|hep-th|math-ph|math|mtrl-th|nlin|nucl-ex|nucl-th|patt-sol|physics|plasm-ph|q-alg|q-bio|quant-ph|solv-int|supr-con"
)
"""Those of arXiv before 2007, when a paper's number began with one."""
OLD_ARXIV_IN_TEXT = re.compile(rf"(?<![\w/.-])((?:{ARCHIVES})(?:\.[a-z]{{2}})?/\d{{7}})(?:v\d+)?(?![\d/])", re.IGNORECASE)
PMID_IN_TEXT = re.compile(r"(?:\bpmid:?\s*|pubmed\.ncbi\.nlm\.nih\.gov/|ncbi\.nlm\.nih\.gov/pubmed/)0*([1-9]\d{0,8})(?!\d)", re.IGNORECASE)
HAS_DIGIT = re.compile(r"\d")
"""What every identifier has, and few typed queries have."""
AFTER_DOI = re.compile(r"(?:[?#&].*|/(?:e?pdf|full|fulltext|html?|abstract|meta|summary)|\.pdf|[)\].,;:'’*])$", re.IGNORECASE)
"""What a publisher's address, or a sentence, has after a DOI. It may as well be of the DOI."""
PLAIN_DASHES = str.maketrans(dict.fromkeys(DASHES, "-"))
LONGEST = 2048
"""Characters above which a text is no identifier."""
LONGEST_YEAR = 4
MOST_ENDS = 6
"""Marks after a DOI that are taken off."""


def doi(text: str) -> str | None:
    """A DOI in lower case and without what stands around it: an address, a proxy's or a publisher's, brackets, marks after it; the first of
    several. None if the text is something else. Its letters' case means nothing.

    >>> doi("https://doi.org/10.1000/ABC"), doi("<info:doi/10.1000/abc>"), doi("https://www.example.org/doi/abs/10.1000/abc?journal=x")
    ('10.1000/abc', '10.1000/abc', '10.1000/abc')
    """
    if len(text) > LONGEST or "10." not in text:
        return None
    if "%2f" in text.lower():
        text = unquote(text)
    bare = clean(text).translate(PLAIN_DASHES).strip()
    while bare and WRAPPINGS.get(bare[0]) == bare[-1]:
        bare = bare[1:-1].strip()
    bare = SEVERAL.split(re.sub(rf"({REGISTRANT}/)\s+(?=\S+$)", r"\1", bare))[0]
    if match := DOI.fullmatch(bare):
        return QUERY.sub("", match[1]).rstrip(".,;").lower()
    if match := DOI_IN_ADDRESS.fullmatch(bare):
        return AFTER_ADDRESS.sub("", match[1]).rstrip(".,;").lower()
    return None


def arxiv(text: str) -> str | None:
    """An arXiv number without its version and, in numbers before 2007, without the subject class; None if the text is something else.

    >>> arxiv("arXiv:1409.0473v2 [cs.CL]"), arxiv("math.GT/0309136")
    ('1409.0473', 'math/0309136')
    """
    number = versioned_arxiv(text)
    return re.sub(r"v\d+$", "", number) if number else None


def versioned_arxiv(text: str) -> str | None:
    """The same with the version, where there is one."""
    match = ARXIV.fullmatch(text.strip()) if len(text) <= LONGEST else None
    return re.sub(r"\.[a-z]{2}/", "/", match[1].lower()) + (match[2] or "").lower() if match else None


def pmid(text: str) -> str | None:
    """A PubMed id as its digits; None if the text is something else.

    >>> pmid("https://pubmed.ncbi.nlm.nih.gov/31452104/")
    '31452104'
    """
    match = PMID.fullmatch(text.strip()) if len(text) <= LONGEST else None
    return match[1] if match else None


def pmcid(text: str) -> str | None:
    """An id of PubMed Central, with its letters; None if the text is something else.

    >>> pmcid("https://www.ncbi.nlm.nih.gov/pmc/articles/PMC8371605/")
    'PMC8371605'
    """
    match = PMCID.fullmatch(text.strip()) if len(text) <= LONGEST else None
    return f"PMC{match[1]}" if match else None


def isbn(text: str) -> str | None:
    """An ISBN as its thirteen digits, one of ten digits too; None if the text is something else, or its last digit does not fit.

    >>> isbn("0-306-40615-2"), isbn("ISBN 978-0-306-40615-7")
    ('9780306406157', '9780306406157')
    """
    match = ISBN.fullmatch(text.strip().translate(PLAIN_DASHES)) if len(text) <= LONGEST else None
    digits = re.sub(r"[ -]", "", match[1]).upper() if match else ""
    if len(digits) == 10 and _weighed(digits) % 11 == 0:
        digits = f"978{digits[:9]}"
        return digits + str(-_summed(digits) % 10)
    return digits if len(digits) == 13 and digits.isdigit() and _summed(digits) % 10 == 0 else None


def issn(text: str) -> str | None:
    """An ISSN with its hyphen; None if the text is something else. Without a hyphen it may lack zeros that a spreadsheet
    took, and its last digit must fit.

    >>> issn("ISSN 1063-6919"), issn("8997667")
    ('1063-6919', '0899-7667')
    """
    match = ISSN.fullmatch(text.strip().translate(PLAIN_DASHES)) if len(text) <= LONGEST else None
    digits = match[1].replace("-", "").upper().zfill(8) if match else ""
    fits = match is not None and ("-" in match[1] or _weighed(digits) % 11 == 0)
    return f"{digits[:4]}-{digits[4:]}" if fits else None


def _weighed(digits: str) -> int:
    """The digits' sum in which the last counts once, the one before it twice, and so on; X is ten."""
    return sum(weight * (10 if digit == "X" else int(digit)) for weight, digit in enumerate(reversed(digits), 1))


def _summed(digits: str) -> int:
    """The digits' sum in which every second one counts three times."""
    return sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(digits))


def mentioned(text: str) -> Iterator[tuple[str, str]]:
    """The identifiers that a text is or has, as pairs of their columns, "doi", "arxiv" or "pmid", and their one form.

    A bare number is one only if it is the whole text and, for PubMed, has more digits than a year. Where a DOI ends is not always clear:
    then the shorter ones follow the longest.

    >>> dict(mentioned("Proc. of X (https://doi.org/10.1000/ABC)."))
    {'doi': '10.1000/abc'}
    """
    if not HAS_DIGIT.search(text):
        return
    pairs = [("doi", value) for match in DOI_IN_TEXT.finditer(text) for value in _ends(unquote(match[0]))]
    matches = [match for pattern in (ARXIV_IN_TEXT, OLD_ARXIV_IN_TEXT) for match in pattern.finditer(text)]
    pairs += [("arxiv", value) for match in matches if (value := arxiv(match[1]))]
    pairs += [("pmid", match[1]) for match in PMID_IN_TEXT.finditer(text)]
    if number := arxiv(text):
        pairs.append(("arxiv", number))
    if number := pmcid(text):
        pairs.append(("pmcid", number))
    if len(text.strip()) > LONGEST_YEAR and (digits := pmid(text)):
        pairs.append(("pmid", digits))
    yield from dict.fromkeys(pairs)


def _ends(text: str) -> Iterator[str]:
    """A DOI, and shorter readings of it, without the text that may follow it."""
    for _ in range(MOST_ENDS):
        if value := doi(text):
            yield value
        text = AFTER_DOI.sub("", text)
