"""PubMed's, the ACL Anthology's and EndNote's XML, and .nbib: made records in their exact forms, and XML that means harm."""

import gzip
import json
import tracemalloc
from pathlib import Path

import pytest

from sciretrieve.base.errors import InvalidRequest
from sciretrieve.papers.corpora import open_corpus
from tests.made_up import read_corpus

CITATION = """<PubmedArticle>
  <MedlineCitation Status="MEDLINE" Owner="NLM">
    <PMID Version="1">{number}</PMID>
    <DateRevised><Year>2021</Year><Month>01</Month><Day>02</Day></DateRevised>
    <Article PubModel="Print-Electronic">
      <Journal>
        <ISSN IssnType="Electronic">1234-5678</ISSN>
        <JournalIssue CitedMedium="Internet"><Volume>12</Volume><Issue>3</Issue>
          <PubDate><Year>2019</Year><Month>Mar</Month></PubDate></JournalIssue>
        <Title>Journal of made papers</Title><ISOAbbreviation>J Made</ISOAbbreviation>
      </Journal>
      <ArticleTitle>Effects of <i>made</i> H<sub>2</sub>O &amp; more.</ArticleTitle>
      <Pagination><MedlinePgn>100-9</MedlinePgn></Pagination>
      <ELocationID EIdType="doi" ValidYN="Y">10.1000/PM.1</ELocationID>
      <Abstract>
        <AbstractText Label="BACKGROUND" NlmCategory="BACKGROUND">It is <b>known</b>.</AbstractText>
        <AbstractText Label="RESULTS" NlmCategory="RESULTS">We saw
          more.</AbstractText>
        <CopyrightInformation>Copyright of nobody.</CopyrightInformation>
      </Abstract>
      <AuthorList CompleteYN="Y">
        <Author ValidYN="Y"><LastName>Lovelace</LastName><ForeName>Ada K</ForeName><Initials>AK</Initials>

          <Identifier Source="ORCID">0000-0000</Identifier>
          <AffiliationInfo><Affiliation>A House, London.</Affiliation></AffiliationInfo></Author>
        <Author ValidYN="Y"><LastName>King</LastName><ForeName>Martin</ForeName><Initials>M</Initials><Suffix>Jr</Suffix></Author>
        <Author ValidYN="Y"><CollectiveName>The Made Group</CollectiveName></Author>
      </AuthorList>
      <Language>eng</Language>
      <PublicationTypeList><PublicationType UI="D016428">Journal Article</PublicationType></PublicationTypeList>
    </Article>
    <MedlineJournalInfo><Country>England</Country><MedlineTA>J Made</MedlineTA></MedlineJournalInfo>
    <MeshHeadingList><MeshHeading><DescriptorName UI="D1" MajorTopicYN="N">Humans</DescriptorName></MeshHeading></MeshHeadingList>
    <KeywordList Owner="NOTNLM"><Keyword MajorTopicYN="N">making</Keyword></KeywordList>
  </MedlineCitation>
  <PubmedData>
    <PublicationStatus>ppublish</PublicationStatus>
    <ArticleIdList><ArticleId IdType="pubmed">{number}</ArticleId><ArticleId IdType="pmc">PMC77</ArticleId></ArticleIdList>
    <ReferenceList><Reference><Citation>Old one.</Citation><ArticleIdList><ArticleId IdType="pubmed">555</ArticleId>
      <ArticleId IdType="doi">10.1000/cited</ArticleId></ArticleIdList></Reference></ReferenceList>
  </PubmedData>
</PubmedArticle>
"""
HEAD = """<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle, 1st January 2024//EN" "https://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed_240101.dtd">
<PubmedArticleSet>
"""
BOOK = """<PubmedBookArticle><BookDocument><PMID Version="1">99</PMID>
<ArticleIdList><ArticleId IdType="bookaccession">NBK1</ArticleId></ArticleIdList>
<Book><Publisher><PublisherName>P</PublisherName></Publisher><BookTitle>A Book</BookTitle><PubDate><Year>2001</Year></PubDate></Book>
<ArticleTitle>A chapter</ArticleTitle><AuthorList><Author><LastName>Curie</LastName><ForeName>Marie</ForeName></Author></AuthorList>
<Abstract><AbstractText>Of it.</AbstractText></Abstract></BookDocument></PubmedBookArticle>
"""


@pytest.mark.parametrize("name", ["pubmed24n0001.xml.gz", "search.xml", "search.txt"])
def test_pubmed(tmp_path: Path, name: str) -> None:
    data = (HEAD + CITATION.format(number=31452104) + BOOK + "<DeleteCitation><PMID>4</PMID></DeleteCitation></PubmedArticleSet>").encode()
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    table, rejected = read_corpus(tmp_path / name)
    paper, book = table.to_pylist()
    expected = {
        "id": "31452104",
        "title": "Effects of made H₂O & more",
        "abstract": "BACKGROUND: It is known.\n\nRESULTS: We saw more.",
        "year": 2019,
        "venue": "Journal of made papers",
        "authors": ["Ada K Lovelace", "Martin King Jr", "The Made Group"],
        "doi": "10.1000/pm.1",
        "pmid": "31452104",
        "pmcid": "PMC77",
        "volume": "12",
        "number": "3",
        "pages": "100-9",
        "keywords": ["making"],
        "mesh": ["Humans"],
        "references": ["555"],
        "type": ["Journal Article"],
    }
    assert {column: paper[column] for column in expected} == expected
    for part in ("A House, London.", "0000-0000", "Copyright of nobody.", "Old one.", "10.1000/cited", "ppublish", "England", "PMC77"):
        assert part in paper["pubmed"]
    assert (book["id"], book["title"], book["abstract"], book["year"], book["venue"]) == ("99", "A chapter", "Of it.", 2001, "A Book")
    assert [(item.row, item.reason) for item in rejected] == [(3, "PubMed has deleted what had the ids 4")]


NBIB = b"""
PMID- 31452104
OWN - NLM
DP  - 2019 Mar
TI  - Effects of making
      things.
LID - 10.1000/PM.1 [doi]
AB  - BACKGROUND: It is
      known.
FAU - Lovelace, Ada K
AU  - Lovelace AK
AD  - A House, London.
FAU - Curie, Marie
AU  - Curie M
CN  - The Made Group
LA  - eng
PT  - Journal Article
PT  - Review
TA  - J Made
JT  - Journal of made papers
OT  - making
AID - 10.1000/PM.1 [doi]
SO  - J Made. 2019 Mar.

PMID- 2
TI  - Another
a line of nothing

PMID- 3
TI  - A third
"""


def test_nbib(tmp_path: Path) -> None:
    (tmp_path / "p.nbib").write_bytes(NBIB.replace(b"\n", b"\r\n"))
    table, rejected = read_corpus(tmp_path / "p.nbib")
    first, third = table.to_pylist()
    expected = {
        "id": "31452104",
        "pmid": "31452104",
        "title": "Effects of making things",
        "abstract": "BACKGROUND: It is known.",
        "year": 2019,
        "venue": "Journal of made papers",
        "authors": ["Ada K Lovelace", "Marie Curie", "The Made Group"],
        "doi": "10.1000/pm.1",
        "type": ["Journal Article", "Review"],
        "keywords": ["making"],
        "nbib_ad": ["A House, London."],
        "nbib_own": ["NLM"],
        "nbib_so": ["J Made. 2019 Mar."],
    }
    assert {column: first[column] for column in expected} == expected
    assert third["id"] == "3"
    assert [(item.row, item.reason) for item in rejected] == [
        (2, "not a line of MEDLINE's format: 'a line of nothing' (the record of line 25)")
    ]


def test_an_nbib_record_that_is_too_large_is_rejected_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sciretrieve.papers.corpora.tagged.LONGEST_LINE", 1 << 20)
    more = {1: 200_000}
    (tmp_path / "p.nbib").write_text(
        "".join(f"PMID- {number}\nTI  - A title\n" + "      more\n" * more.get(number, 1) for number in range(3))
    )
    table, rejected = read_corpus(tmp_path / "p.nbib")
    assert table.select(["id", "title"]).to_pylist() == [{"id": number, "title": "A title more"} for number in ("0", "2")]
    assert [(item.row, item.reason) for item in rejected] == [(2, "more than 1 MB in one record (the record of line 4)")]


ANTHOLOGY = """<?xml version='1.0' encoding='UTF-8'?>
<collection id="2020.acl">
  <volume id="main" ingest-date="2020-06-21" type="proceedings">
    <meta><booktitle>Proceedings of a Made Meeting</booktitle><editor><first>Dan</first><last>Made</last></editor>
      <publisher>A Press</publisher><address>Online</address><month>July</month><year>2020</year><venue>acl</venue></meta>
    <frontmatter><url hash="aa">2020.acl-main.0</url><bibkey>acl-2020-made</bibkey></frontmatter>
    <paper id="1">
      <title>Learning <fixed-case>BERT</fixed-case> with <tex-math>\\alpha</tex-math></title>
      <author id="ada-lovelace"><first>Ada</first><last>Lovelace</last><affiliation>A House</affiliation></author>
      <author><last>Plato</last></author>
      <pages>1–9</pages><abstract>We <i>make</i>.</abstract><url hash="c8">2020.acl-main.1</url>
      <doi>10.18653/v1/2020.acl-main.1</doi><award>Best</award><bibkey>lovelace-plato-2020-learning</bibkey>
    </paper>
  </volume>
</collection>
"""
OLD = """<collection id="P18"><volume id="1"><meta><booktitle>B</booktitle><year>2018</year></meta>
<paper id="7"><title>Old</title></paper></volume></collection>"""


def test_acl_anthology(tmp_path: Path) -> None:
    (tmp_path / "2020.acl.xml").write_text(ANTHOLOGY, encoding="utf-8")
    (tmp_path / "P18.xml").write_text(OLD)
    table, rejected = read_corpus(tmp_path)
    paper, old = table.to_pylist()
    expected = {
        "id": "2020.acl-main.1",
        "title": "Learning BERT with \\alpha",
        "abstract": "We make.",
        "year": 2020,
        "venue": "Proceedings of a Made Meeting",
        "authors": ["Ada Lovelace", "Plato"],
        "editors": ["Dan Made"],
        "doi": "10.18653/v1/2020.acl-main.1",
        "url": "https://aclanthology.org/2020.acl-main.1/",
        "key": "lovelace-plato-2020-learning",
        "publisher": "A Press",
        "pages": "1–9",
    }
    assert {column: paper[column] for column in expected} == expected
    assert json.loads(paper["anthology"])["award"] == "Best"
    author = {"@id": "ada-lovelace", "first": "Ada", "last": "Lovelace", "affiliation": "A House"}
    assert json.loads(paper["anthology"])["author"][0] == author
    assert (old["id"], old["year"]) == ("P18-1007", 2018)
    assert rejected == []


def styled(text: str) -> str:
    return f'<style face="normal" font="default" size="100%">{text}</style>'


ENDNOTE = f"""<?xml version="1.0" encoding="UTF-8" ?><xml><records><record><database name="My.enl" path="C:\\My.enl">My.enl</database>
<source-app name="EndNote" version="20.0">EndNote</source-app><rec-number>12</rec-number>
<foreign-keys><key app="EN" db-id="abc123" timestamp="1">12</key></foreign-keys><ref-type name="Journal Article">17</ref-type>
<contributors><authors><author>{styled("Lovelace, Ada")}</author><author>{styled("King, Martin, Jr.")}</author></authors></contributors>
<titles><title>{styled("Notes on the ")}<style face="italic">Engine</style></title>
<secondary-title>{styled("Memoirs")}</secondary-title></titles>
<pages>{styled("1-9")}</pages><volume>{styled("3")}</volume><keywords><keyword>{styled("engines")}</keyword></keywords>
<dates><year>{styled("1843")}</year><pub-dates><date>{styled("September")}</date></pub-dates></dates>
<abstract>{styled("On numbers.")}</abstract><electronic-resource-num>{styled("10.1000/EN.1")}</electronic-resource-num>
<urls><related-urls><url>{styled("https://example.org/1")}</url></related-urls></urls><custom1>{styled("mine")}</custom1></record></records></xml>
"""


def test_endnote(tmp_path: Path) -> None:
    (tmp_path / "library.xml").write_text(ENDNOTE)
    (paper,) = read_corpus(tmp_path / "library.xml")[0].to_pylist()
    expected = {
        "id": "abc123:12",
        "title": "Notes on the Engine",
        "abstract": "On numbers.",
        "year": 1843,
        "venue": "Memoirs",
        "authors": ["Ada Lovelace", "Martin King Jr."],
        "doi": "10.1000/en.1",
        "url": "https://example.org/1",
        "keywords": ["engines"],
        "type": "Journal Article",
        "pages": "1-9",
    }
    assert {column: paper[column] for column in expected} == expected
    assert "mine" in paper["endnote"]
    assert "September" in paper["endnote"]


def test_a_record_without_end_is_refused_in_little_memory(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "p.xml.gz", "wb", 1) as file:
        file.write(b"<PubmedArticleSet><PubmedArticle><a>")
        for _ in range(80):
            file.write(b"a" * (1 << 20))
    with pytest.raises(InvalidRequest, match="more than 64 MB in one record"):
        read_corpus(tmp_path / "p.xml.gz")


def test_memory_does_not_grow_with_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sciretrieve.papers.corpora.raw.BATCH_ROWS", 20)
    peaks = []
    for count in (60, 300):
        (tmp_path / "p.xml").write_text(HEAD + "".join(CITATION.format(number=n + 1) for n in range(count)) + "</PubmedArticleSet>")
        tracemalloc.start()
        assert sum(len(batch.papers) for batch in open_corpus(tmp_path / "p.xml").batches()) == count
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 2 * peaks[0]
