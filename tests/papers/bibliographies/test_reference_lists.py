"""References out: Markdown and HTML that show what was meant, whatever characters it has."""

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from sciretrieve.base.types import Paper
from sciretrieve.papers.bibliographies.reference_lists import markdown, webpage

PAPER = Paper(
    "1",
    "Attention is all you need?",
    "We <b>propose</b> & show.",
    2017,
    "NeurIPS",
    ("Ashish Vaswani", "van den Oord, Jr., Aäron", "Barnes and Noble"),
    "10.1000/a_b(c)<1>",
    extra={"volume": 30, "issue": "2", "pages": "1--10"},
)


class Text(HTMLParser):
    """The visible text and the links of a page, and its tags."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.text, self.links, self.tags = "", list[str](), set[str]()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.links += [value or "" for name, value in attrs if name == "href"]

    def handle_data(self, data: str) -> None:
        if self.lasttag not in ("title", "style"):
            self.text += data


def rendered(lines: list[str]) -> Text:
    """A list in Markdown as CommonMark has it."""
    return Text(MarkdownIt("commonmark").render("\n".join(lines)))


def squeezed(text: str) -> str:
    return " ".join(text.split())


def test_a_reference() -> None:
    (line,) = markdown([PAPER])
    assert line == (
        "1. Ashish Vaswani, Aäron van den Oord Jr. and Barnes and Noble (2017). Attention is all you need? *NeurIPS*, 30(2), 1–10. "
        r"[doi:10.1000/a\_b(c)\<1>](https://doi.org/10.1000/a_b%28c%29%3C1%3E)"
    )
    page = "\n".join(webpage([PAPER]))
    assert "<em>NeurIPS</em>, 30(2), 1–10. " in page
    assert "<summary>Abstract</summary>We &lt;b&gt;propose&lt;/b&gt; &amp; show.</details>" in page
    assert Text(page).links == ["https://doi.org/10.1000/a_b(c)%3C1%3E"]
    assert not re.search(r"\b(src|@import|script)\b", page)


@pytest.mark.parametrize(
    ("paper", "expected"),
    [
        (Paper("1409.0473", "T", authors=("A",)), "1. A. T. [arXiv:1409.0473](https://arxiv.org/abs/1409.0473)"),
        (Paper("1", "T", url="https://x.org/a%20b?c=1&d=2"), "1. T. [https://x.org/a%20b?c=1&d=2](https://x.org/a%20b?c=1&d=2)"),
        (Paper("1", "T", url="javascript:alert(1)"), "1. T."),
        (Paper("1", "", "Only an abstract.", 1999), "1. Only an abstract. (1999)."),
        (Paper("1", "T", venue="Proc. Natl. Acad. Sci."), "1. T. *Proc. Natl. Acad. Sci.*"),
        (Paper("1", "T", venue="Nature", extra={"volume": "3"}), "1. T. *Nature*, 3."),
        (Paper("1", "T", authors=tuple(f"A{n}" for n in range(21))), f"1. {', '.join(f'A{n}' for n in range(20))} et al. T."),
        (Paper("1", "T", authors=("m. b. glauert",)), r"1. m\. b. glauert. T."),
        (Paper("1", "T", authors=("M. B. Glauert",)), "1. M. B. Glauert. T."),
        (Paper("1", "IV. Stars"), r"1. IV\. Stars."),
        (Paper("1", "(1) Stars"), r"1. \(1) Stars."),
        (Paper("1", "T", authors=("A B", "C D"), extra={"more_authors": True}), "1. A B, C D et al. T."),
        (Paper("1", "1. On *stars* & &copy; #1 me@x.org @home"), r"1. 1\. On \*stars\* & \&copy; #1 me@x.org \@home."),
        (Paper("1", ""), "1. (no title)."),
    ],
)
def test_references_are_made_of_what_a_corpus_has(paper: Paper, expected: str) -> None:
    assert list(markdown([paper])) == [expected]


texts = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), max_size=30) | st.text(
    "*_`[](){}<>#+-=!|~^$&;\\1. ab@:/", max_size=20
)


@given(st.lists(st.tuples(texts, texts, st.lists(texts, max_size=2)), min_size=1, max_size=3))
def test_whatever_the_characters_both_show_the_same_text(rows: list[tuple[str, str, list[str]]]) -> None:
    papers = [Paper(str(n), title, "", 2000, venue or None, tuple(authors)) for n, (title, venue, authors) in enumerate(rows)]
    page, text = Text("\n".join(webpage(papers))), rendered(list(markdown(papers)))
    assert squeezed(f"References {text.text}") == squeezed(page.text)
    assert text.tags <= {"ol", "li", "p", "em"}
    assert page.tags <= {"html", "head", "meta", "title", "style", "body", "h1", "ol", "li", "em"}
    assert not text.links
    for title, *_ in rows:
        assert squeezed(title) in squeezed(text.text)
