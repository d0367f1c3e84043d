"""Identifiers in one form, however they are written; what is none is none."""

from __future__ import annotations

import pytest

from sciretrieve import identifiers


@pytest.mark.parametrize(
    "text",
    [
        "10.1000/ABC",
        "doi:10.1000/abc",
        "DOI: 10.1000/abc.",
        "https://doi.org/10.1000/abc",
        "http://dx.doi.org/10.1000%2Fabc",
        " doi.org/10.1000/aBc ",
    ],
)
def test_dois(text: str) -> None:
    assert identifiers.doi(text) == "10.1000/abc"


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1409.0473", "1409.0473"),
        ("arXiv:1409.0473v2 [cs.CL]", "1409.0473"),
        ("https://arxiv.org/abs/1409.0473v7", "1409.0473"),
        ("http://arxiv.org/pdf/1409.0473.pdf", "1409.0473"),
        ("10.48550/arXiv.1409.0473", "1409.0473"),
        ("https://doi.org/10.48550/arXiv.1409.0473", "1409.0473"),
        ("hep-th/9901001v3", "hep-th/9901001"),
        ("math.GT/0309136", "math/0309136"),
    ],
)
def test_arxiv_numbers(text: str, number: str) -> None:
    assert identifiers.arxiv(text) == number


@pytest.mark.parametrize(
    "text", ["31452104", "PMID: 31452104", "https://pubmed.ncbi.nlm.nih.gov/31452104/", "http://www.ncbi.nlm.nih.gov/pubmed/031452104"]
)
def test_pubmed_ids(text: str) -> None:
    assert identifiers.pmid(text) == "31452104"


@pytest.mark.parametrize("text", ["", "x", "n/a", "10.1000", "https://example.org/10.1000/a", "12345.6789", "PMC123", "10." + "1" * 10**6])
def test_what_is_none(text: str) -> None:
    assert [read(text) for read in (identifiers.doi, identifiers.arxiv, identifiers.pmid)] == [None, None, None]
