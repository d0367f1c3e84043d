"""Where papers are on the web: from their identifiers alone, and nothing that a browser or a terminal could be fooled with."""

from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sciretrieve.base.types import Paper
from sciretrieve.papers.bibliographies.addresses import addresses_of


def test_the_most_lasting_address_comes_first() -> None:
    paper = Paper("p", doi="10.1000/ABC", url="https://example.org/p?x=1&y=2", extra={"arxiv": "1710.10903", "pmid": "31452104"})
    assert list(addresses_of(paper).items()) == [
        ("DOI", "https://doi.org/10.1000/abc"),
        ("arXiv", "https://arxiv.org/abs/1710.10903"),
        ("PubMed", "https://pubmed.ncbi.nlm.nih.gov/31452104/"),
        ("URL", "https://example.org/p?x=1&y=2"),
    ]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"id": "10.1145/3397271.3401075"}, {"DOI": "https://doi.org/10.1145/3397271.3401075"}),
        (
            {"id": "https://arxiv.org/abs/1409.0473v2"},
            {"arXiv": "https://arxiv.org/abs/1409.0473v2", "URL": "https://arxiv.org/abs/1409.0473v2"},
        ),
        ({"url": "https://example.org/é?q=%20&x"}, {"URL": "https://example.org/%C3%A9?q=%20&x"}),
        ({"url": "https://doi.org/10.1/x"}, {}),
        ({"doi": "not a DOI"}, {}),
        ({"doi": '10.1000/a"b<c>#?%20'}, {"DOI": "https://doi.org/10.1000/a%22b%3Cc%3E%23%3F%2520"}),
        ({"url": "ftp://example.org/x"}, {}),
        ({"url": "javascript:alert(1)"}, {}),
        ({"url": "file:///etc/passwd"}, {}),
        ({"url": "https://example.org/\x1b]8;;evil\x07"}, {}),
        ({"url": "https://example.org/a b"}, {}),
        ({"id": "p", "pmid": 31452104}, {"PubMed": "https://pubmed.ncbi.nlm.nih.gov/31452104/"}),
        ({"id": "p", "pmid": None}, {}),
    ],
)
def test_addresses_of(fields: dict[str, Any], expected: dict[str, str]) -> None:
    extra = {"pmid": fields.pop("pmid")} if "pmid" in fields else {}
    assert addresses_of(Paper(**{"id": "p", **fields}, extra=extra)) == expected


@given(st.text(max_size=60), st.text(max_size=60), st.text(max_size=60))
def test_no_address_has_what_a_terminal_obeys(id: str, suffix: str, path: str) -> None:
    paper = Paper(id, doi=f"10.1000/{suffix}", url=f"https://example.org/{path}", extra={"arxiv": suffix, "pmid": suffix})
    for name, address in addresses_of(paper).items():
        assert address.startswith(("https://", "http://"))
        assert address.isascii()
        assert address.isprintable()
        assert " " not in address
        if name == "DOI":
            assert unquote(address).startswith("https://doi.org/10.1000/")
