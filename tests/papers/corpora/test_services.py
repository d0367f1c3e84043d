"""Records as services give them: JSON of Zotero, Europe PMC, ADS, DBLP, Scopus; XML of arXiv, GROBID, journals, libraries."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.made_up import read_corpus

INPUTS = Path(__file__).parents[1] / "inputs"
LSTM = {"title": "Long short-term memory", "abstract": "Learning to store information.", "venue": "Neural Computation", "year": 1997}
ALPHAFOLD = "Highly accurate protein structure prediction with AlphaFold"
ATTENTION = {"title": "Attention Is All You Need", "abstract": "The dominant models."}
EXPECTED: dict[str, list[dict[str, Any]]] = {
    "74-bbt.json": [
        {
            **LSTM,
            "authors": ["Sepp Hochreiter", "Jürgen Schmidhuber"],
            "editors": ["MIT Group"],
            "tags": ["recurrent"],
            "date": "1997-11-15",
        }
    ],
    "75-zotero-api.json": [
        {**LSTM, "id": "ABCD2345", "authors": ["Sepp Hochreiter", "A Group"], "date": "1997-11", "type": "journalArticle"}
    ],
    "76-europepmc.json": [
        {"id": "34265844", "title": ALPHAFOLD, "authors": ["J Jumper", "R Evans"], "venue": "Nature", "pmcid": "PMC8371605"}
        | {"abstract": "Background Proteins are essential to life."}
    ],
    "77-ads.json": [{"id": "2010A&A...518L...1P", "authors": ["G. L. Pilbratt", "J. R. Riedinger"], "arxiv": "1005.5331"}],
    "78-dblp.json": [{"title": "Attention is All you Need", "authors": ["Ashish Vaswani", "Noam Shazeer"], "pages": "5998-6008"}],
    "82-arxiv-atom.xml": [{**ATTENTION, "id": "1706.03762", "authors": ["Ashish Vaswani"], "date": "2017-06-12", "venue": "arXiv"}],
    "83-grobid.tei.xml": [ATTENTION],
    "102-mixed.jsonl": [
        {"title": "Plain title"},
        {"title": "List title", "abstract": "One. Two.", "year": 2002, "venue": "K", "authors": ["Alan Turing"], "doi": "10.1000/ads.1"},
        {"title": "English title", "abstract": "text", "venue": "L", "authors": ["Grace Hopper"]},
        {"authors": ["Grace Hopper", "Ada Lovelace", "Alan Turing", "Kurt Gödel", "Emmy Noether", "John von Neumann", "WHO", "Paul Erdős"]},
    ],
}


@pytest.mark.parametrize("name", EXPECTED)
def test_a_service_s_records_are_read_whole(name: str) -> None:
    papers, rejected = read_corpus(INPUTS / name)
    assert [row.reason for row in rejected] == ["no title and no abstract"] * (name == "75-zotero-api.json")  # a note
    for paper, expected in zip(papers.to_pylist(), EXPECTED[name], strict=True):
        assert {field: paper[field] for field in expected} == expected


JATS = """<!DOCTYPE pmc-articleset PUBLIC "-//NLM//DTD ARTICLE SET 2.0//EN" "https://x.org/a.dtd">
<pmc-articleset><article article-type="research-article" xmlns:mml="http://www.w3.org/1998/Math/MathML"><front>
<journal-meta><journal-title-group><journal-title>Nature</journal-title></journal-title-group><issn>0028-0836</issn></journal-meta>
<article-meta><article-id pub-id-type="pmid">34265844</article-id><article-id pub-id-type="pmc">8371605</article-id>
<article-id pub-id-type="doi">10.1000/X</article-id>
<title-group><article-title>On CO<sub>2</sub> and <mml:math><mml:mi>k</mml:mi></mml:math>-means</article-title></title-group>
<contrib-group><contrib contrib-type="author"><name><surname>García Márquez</surname><given-names>Gabriel</given-names></name></contrib>
<contrib contrib-type="author"><collab>The Group</collab></contrib>
<contrib contrib-type="editor"><name><surname>Editor</surname><given-names>Ed</given-names></name></contrib></contrib-group>
<pub-date pub-type="ppub"><month>8</month><year>2021</year></pub-date>
<pub-date pub-type="epub"><day>5</day><month>7</month><year>2021</year></pub-date>
<volume>596</volume><issue>7873</issue><fpage>583</fpage><lpage>589</lpage>
<abstract><sec><title>Methods</title><p>We looked.</p></sec><sec><title>Results</title><p>It rises.</p></sec></abstract>
<abstract abstract-type="graphical"><p>A picture.</p></abstract><kwd-group><kwd>carbon</kwd></kwd-group></article-meta></front>
<body><p>The text.</p></body></article></pmc-articleset>"""
OF_JATS = {
    "title": "On CO₂ and k-means",
    "abstract": "Methods: We looked.\n\nResults: It rises.",
    "authors": ["Gabriel García Márquez", "The Group"],
}
OF_JATS |= {
    "editors": ["Ed Editor"],
    "date": "2021-07-05",
    "pages": "583-589",
    "pmcid": "PMC8371605",
    "doi": "10.1000/x",
    "venue": "Nature",
}
MODS = """<modsCollection xmlns:m="http://www.loc.gov/mods/v3"><m:mods ID="key1">
<m:titleInfo><m:nonSort>The</m:nonSort><m:title>Theory</m:title>
<m:subTitle>of games</m:subTitle></m:titleInfo><m:name type="personal"><m:namePart type="given">John</m:namePart>
<m:namePart type="family">von Neumann</m:namePart><m:role><m:roleTerm>aut</m:roleTerm></m:role></m:name>
<m:name type="corporate"><m:namePart>RAND Corporation</m:namePart><m:role><m:roleTerm>edt</m:roleTerm></m:role></m:name>
<m:relatedItem type="host"><m:titleInfo><m:title>Annals</m:title></m:titleInfo><m:part>
<m:detail type="volume"><m:number>3</m:number></m:detail>
<m:extent unit="page"><m:start>1</m:start><m:end>9</m:end></m:extent><m:date>1928-05</m:date></m:part></m:relatedItem>
<m:identifier type="doi">10.1000/Y</m:identifier></m:mods></modsCollection>"""
OF_MODS = {
    "id": "key1",
    "title": "The Theory: of games",
    "authors": ["John von Neumann"],
    "editors": ["RAND Corporation"],
    "venue": "Annals",
}
OF_MODS |= {"volume": "3", "pages": "1-9", "date": "1928-05", "doi": "10.1000/y"}
ENTRY = {"eid": "2-s2.0-1", "dc:title": "A title", "dc:creator": "Adams A.", "prism:publicationName": "Nature", "prism:doi": "10.1000/Z"}
ENTRY |= {"prism:coverDate": "2020-01-02", "authkeywords": "a | b"}
OF_SCOPUS = {"id": "2-s2.0-1", "title": "A title", "authors": ["A. Adams"], "doi": "10.1000/z", "year": 2020, "keywords": ["a", "b"]}


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.nxml", JATS, OF_JATS),
        ("a.xml", MODS, OF_MODS),
        ("a.json", json.dumps({"search-results": {"entry": [ENTRY]}}), OF_SCOPUS),
    ],
)
def test_the_fields_of_a_record(tmp_path: Path, name: str, text: str, expected: dict[str, Any]) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    (paper,) = read_corpus(tmp_path / name)[0].to_pylist()
    assert {field: paper[field] for field in expected} == expected
