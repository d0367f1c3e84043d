"""Identifiers in one form, however they are written; what is none is none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sciretrieve.papers import identifiers


@pytest.mark.parametrize(
    "text",
    [
        "10.1000/ABC",
        "doi:10.1000/abc",
        "DOI: 10.1000/abc.",
        "https://doi.org/10.1000/abc",
        "http://dx.doi.org/10.1000%2Fabc",
        " doi.org/10.1000/aBc ",
        "<https://doi.org/10.1000/abc>",
        "[10.1000/abc]",
        "info:doi/10.1000/abc",
        "urn:doi:10.1000/abc",
        "doi:https://doi.org/10.1000/abc",
        "https://doi-org.proxy.example.edu/10.1000/abc",
        "https://onlinelibrary.wiley.com/doi/abs/10.1000/abc",
        "https://www.tandfonline.com/doi/full/10.1000/abc?needAccess=true",
        "https://link.springer.com/article/10.1000/abc.pdf",
        "https://journals.example.org/article?id=10.1000/abc&type=printable",
        "10.1000/abc?utm_source=x",
        "10.1000/abc; 10.1000/def",
        "10.1000/ abc",
        "10.1000/a\u200bbc",
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
        ("arXiv preprint arXiv:1706.03762", "1706.03762"),
        ("CoRR abs/1706.03762", "1706.03762"),
        ("abs/1706.03762", "1706.03762"),
        ("arXiv:1512.03385 [cs, stat]", "1512.03385"),
    ],
)
def test_arxiv_numbers(text: str, number: str) -> None:
    assert identifiers.arxiv(text) == number


@pytest.mark.parametrize(
    "text",
    [
        "31452104",
        "PMID: 31452104",
        "https://pubmed.ncbi.nlm.nih.gov/31452104/",
        "http://www.ncbi.nlm.nih.gov/pubmed/031452104",
        "31452104.0",
    ],
)
def test_pubmed_ids(text: str) -> None:
    assert identifiers.pmid(text) == "31452104"


@pytest.mark.parametrize(
    "text", ["PMC8371605", "pmcid: PMC8371605", "https://www.ncbi.nlm.nih.gov/pmc/articles/PMC8371605/", "PMC8371605.1"]
)
def test_ids_of_pubmed_central(text: str) -> None:
    assert identifiers.pmcid(text) == "PMC8371605"


def test_a_doi_of_brackets_and_dashes() -> None:
    doi = identifiers.doi("<10.1002/(SICI)1097-0258(19980815/30)17:15/16<1661::AID-SIM968>3.0.CO;2-2>")
    assert doi == "10.1002/(sici)1097-0258(19980815/30)17:15/16<1661::aid-sim968>3.0.co;2-2"
    assert identifiers.doi("10.1000/abc–def") == "10.1000/abc-def"


@pytest.mark.parametrize("text", ["", "x", "n/a", "10.1000", "12345.6789", "PMC123", "10." + "1" * 10**6])
def test_what_is_none(text: str) -> None:
    assert [read(text) for read in (identifiers.doi, identifiers.arxiv, identifiers.pmid)] == [None, None, None]


@pytest.mark.parametrize(
    ("text", "mentioned"),
    [
        ("Vaswani, A. (2017). Attention. https://doi.org/10.1000/ABC.", {"doi": ["10.1000/abc"]}),
        ("(doi:10.1000/abc(2)).", {"doi": ["10.1000/abc(2))", "10.1000/abc(2)", "10.1000/abc(2"]}),
        ("https://x.example/doi/full/10.1000/abc?download=true", {"doi": ["10.1000/abc"]}),
        ("https://x.example/10.1000/abc.pdf", {"doi": ["10.1000/abc.pdf", "10.1000/abc"]}),
        ("https://x.example/10.1000%2Fabc/full", {"doi": ["10.1000/abc/full", "10.1000/abc"]}),
        ("10.1000/a, 10.1000/b", {"doi": ["10.1000/a", "10.1000/b"]}),
        ("see arXiv:1409.0473v2 [cs.CL] and arXiv 1706.03762", {"arxiv": ["1409.0473", "1706.03762"]}),
        ("https://arxiv.org/abs/math.GT/0309136", {"arxiv": ["math/0309136"]}),
        ("1409.0473", {"arxiv": ["1409.0473"]}),
        ("as in hep-th/9711200v3, and (math.GT/0309136)", {"arxiv": ["hep-th/9711200", "math/0309136"]}),
        ("path/to/math/0309136, hep-th/97112001 or notes/9711200", {}),
        ("section 1409.0473 of it", {}),
        ("PMID 31452104; PMCID PMC1", {"pmid": ["31452104"]}),
        ("31452104", {"pmid": ["31452104"]}),
        ("2017", {}),
        ("a value of 10.1000 / 3", {}),
    ],
)
def test_what_a_text_mentions(text: str, mentioned: dict[str, list[str]]) -> None:
    columns: dict[str, list[str]] = {}
    for column, value in identifiers.mentioned(text):
        columns.setdefault(column, []).append(value)
    assert columns == mentioned


@given(
    st.from_regex(r"10\.[0-9]{4,6}/[a-z0-9][a-z0-9._;()/-]{0,12}[a-z0-9)]", fullmatch=True), st.sampled_from([".", ",", ")", "].", " and"])
)
def test_a_doi_is_mentioned_whatever_stands_around_it(doi: str, after: str) -> None:
    assert ("doi", doi) in identifiers.mentioned(f"(see https://doi.org/{doi}{after}")


@pytest.mark.parametrize(
    "text", ["10.1000/" + ")" * 10**5, "10.1000/" + "/pdf" * 10**5, "10.1" * 10**5, "arxiv" + " " * 10**5, "pmid:" * 10**5]
)
def test_long_texts_are_read_too(text: str) -> None:
    assert len(list(identifiers.mentioned(text))) < 3
