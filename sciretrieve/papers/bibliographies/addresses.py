"""Where a paper is on the web, by its identifiers, the most lasting address first. Nothing but http and https is an address."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import quote

from ...base.types import Paper
from .. import identifiers
from .works import arxiv_of, doi_of, url_of

IN_A_DOI = "/:;().,-_~!$*+=@"
IN_A_URL = IN_A_DOI + "%?#[]&'"
"""What stands in an address as it is, besides letters and digits of ASCII."""
URL = re.compile(r"https?://[^\s\x00-\x20\x7f-\x9f]+", re.IGNORECASE)


def address_of(paper: Paper) -> str | None:
    """The first of a paper's addresses."""
    return next(iter(addresses_of(paper).values()), None)


def addresses_of(paper: Paper) -> Mapping[str, str]:
    """What a paper can be reached by ("DOI", "arXiv", "PubMed", "URL", those that it has, in this order) and the address.

    An address is plain ASCII without blanks and control characters, whatever the corpus says, so that it can be printed and opened.
    """
    doi = identifiers.doi(doi_of(paper) or "")
    arxiv = arxiv_of(paper)
    pmid = identifiers.pmid(str(paper.extra.get("pmid") or ""))
    url = url_of(paper)
    addresses = {
        "DOI": doi and f"https://doi.org/{quote(doi, safe=IN_A_DOI)}",
        "arXiv": arxiv and f"https://arxiv.org/abs/{arxiv}",
        "PubMed": pmid and f"https://pubmed.ncbi.nlm.nih.gov/{pmid}/",
        "URL": quote(url, safe=IN_A_URL) if url and URL.fullmatch(url) else None,
    }
    return {name: address for name, address in addresses.items() if address}
