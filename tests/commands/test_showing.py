"""`show` and `open`: all of a paper, and what a browser is given."""

from __future__ import annotations

import json
import re
import webbrowser
from pathlib import Path
from typing import Any

import pytest

import sciretrieve as sr
from tests.command_line import answer, sciretrieve
from tests.made_up import write_jsonl

PAPERS: list[dict[str, Any]] = [
    {
        "id": "gat",
        "title": "Graph\x1b[2J attention",
        "abstract": "Nodes weigh\x07 their neighbours. " * 4,
        "authors": ["Petar Veličković", "Yoshua Bengio"],
        "year": 2018,
        "venue": "Proceedings of the Sixth International Conference on Learning Representations",
        "doi": "10.1000/GAT",
        "arxiv": "1710.10903",
        "url": "https://example.org/gat",
        "keywords": ["graphs", "attention\x9b"],
        "citations": 12,
        "place": {"city": "Vancouver"},
        "empty": None,
    },
    {"id": "bare", "title": "Graph of nothing", "url": "javascript:alert(1)", "doi": "unknown"},
    {"id": "pubmed", "title": "Graph of cells", "pmid": "31452104"},
]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Papers with all that a paper may have, and with nothing."""
    folder = tmp_path_factory.mktemp("library")
    return sr.build(write_jsonl(folder / "papers.jsonl", PAPERS), folder / "index", encoder=None).path


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What a browser was given, in place of opening it."""
    addresses: list[str] = []

    def remember(address: str) -> bool:
        addresses.append(address)
        return True

    monkeypatch.setattr(webbrowser, "open", remember)
    return addresses


def test_all_of_a_paper_is_shown(library: Path) -> None:
    out = answer("show", "gat", "-i", library, COLUMNS="80")
    assert not re.search("[\x07\x1b\x9b]", out)
    head, abstract, columns, near = out.strip().split("\n\n")
    assert head.splitlines() == [
        "Graph\ufffd[2J attention",
        "Petar Veličković, Yoshua Bengio",
        "Proceedings of the Sixth International Conference on Learning Representations,",
        "2018",
    ]
    assert " ".join(abstract.split()) == ("Nodes weigh\ufffd their neighbours. " * 4).strip()
    assert columns.splitlines() == [
        "id         gat",
        "DOI        https://doi.org/10.1000/gat",
        "arXiv      https://arxiv.org/abs/1710.10903",
        "URL        https://example.org/gat",
        "keywords   graphs; attention\ufffd",
        "citations  12",
    ]
    assert near.startswith("nearest papers\n  1 ")


@pytest.mark.parametrize("width", [30, 40, 80, 200])
def test_a_paper_fits_its_terminal_and_links(library: Path, width: int) -> None:
    out = answer("show", "gat", "-i", library, COLUMNS=str(width), FORCE_COLOR="1", TERM="xterm")
    assert "\x1b]8;" in out
    assert {"https://doi.org/10.1000/gat", "https://arxiv.org/abs/1710.10903"} <= set(re.findall(r"\x1b\]8;[^;]*;([^\x1b]+)\x1b", out))
    bare = re.sub(r"\x1b(\]8;[^\x1b]*\x1b\\|\[[0-9;]*m)", "", out)
    assert max(map(len, bare.splitlines())) <= width
    assert not re.search("[\x07\x1b\x9b]", bare)


def test_several_papers_by_any_name(library: Path) -> None:
    out = answer("show", "10.1000/gat", "bare", "-i", library)
    assert re.findall(r"^id +(\w+)", out, re.MULTILINE) == ["gat", "bare"]
    assert "url  javascript:alert(1)" in out
    assert "doi  unknown" in out
    assert answer("show", "-", "-i", library, stdin="10.1000/gat\n\nbare\n") == out


def test_as_json(library: Path) -> None:
    value = json.loads(answer("show", "gat", "bare", "-i", library, "-f", "json"))
    first, second = value["papers"]
    assert (value["schema"], first["id"], first["authors"]) == (1, "gat", PAPERS[0]["authors"])
    assert first["addresses"] == {
        "DOI": "https://doi.org/10.1000/gat",
        "arXiv": "https://arxiv.org/abs/1710.10903",
        "URL": "https://example.org/gat",
    }
    assert first["extra"]["keywords"] == PAPERS[0]["keywords"]
    assert {hit["id"] for hit in first["similar"]} == {"bare", "pubmed"}
    assert second["addresses"] == {}


def test_what_a_paper_cites_and_what_cites_it(tmp_path: Path) -> None:
    names = ["10.1000/x\x1b[2J", *(f"work{number}" for number in range(25))]
    rows = [
        {"id": "a", "title": "Graphs\x1b[1m at work", "year": 2001, "references": ["b", *names]},
        {"id": "b", "title": "Graphs before", "year": 1999, "references": []},
    ]
    index = sr.build(rows, tmp_path / "index", encoder=None).path
    first, second = answer("show", "a", "-i", index), answer("show", "b", "-i", index)
    assert "cites 27 works, 1 of them in this index\n  1999  Graphs before · b\n" in first
    assert "and 7 more, which -f json has" in first
    assert "cited by 0 papers of this index" in first
    assert "references " not in first
    assert "cited by 1 paper of this index\n  2001  Graphs\ufffd[1m at work · a\n" in second
    assert "\x1b" not in first + second
    (paper,) = json.loads(answer("show", "a", "-i", index, "-f", "json"))["papers"]
    assert paper["cites"][0] == {"id": "b", "title": "Graphs before", "year": 1999}
    assert len(paper["cites"]) == 27
    assert paper["cited_by"] == []


def test_papers_are_opened_at_their_most_lasting_address(library: Path, opened: list[str]) -> None:
    result = sciretrieve("show", "gat", "pubmed", "-i", library, "--open")
    assert opened == ["https://doi.org/10.1000/gat", "https://pubmed.ncbi.nlm.nih.gov/31452104/"]
    assert (result.returncode, result.stdout) == (0, "")
    assert result.stderr.splitlines() == [f"opened {address}" for address in opened]


def test_addresses_are_printed_where_there_is_no_browser(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webbrowser, "open", lambda address: False)
    assert answer("show", "gat", "-i", library, "--open") == "https://doi.org/10.1000/gat\n"


def test_what_has_no_address_is_named_and_nothing_is_opened(library: Path, opened: list[str]) -> None:
    result = sciretrieve("show", "gat", "bare", "-i", library, "--open")
    assert result.returncode == 2
    assert result.stderr == "sciretrieve: 'bare' has no DOI, no arXiv number, no PubMed id and no web address to open\n"
    assert opened == []


def test_bad_names_are_errors(library: Path) -> None:
    result = sciretrieve("show", "nobody", "-i", library)
    assert (result.returncode, result.stdout) == (2, "")
    assert "there is no paper 'nobody'" in result.stderr
    result = sciretrieve("show", "-", "-i", library, stdin=" \n")
    assert result.returncode == 2
    assert "no paper is named on stdin" in result.stderr
