"""Drafts read: sentences at their places, without markup, with their sections and what they cite."""

from __future__ import annotations

import pytest

from sciretrieve.papers.drafts.reading import draft_of

LATEX = r"""\documentclass{article}
\title{No sentence. Here}
\begin{document}
\begin{abstract}We do it.\end{abstract}
\section{Related \emph{work}} % a comment. Here
Randall showed that $x$. $Y$ is a \emph{brane} by Erd\H{o}s \& co.~\cite{a,b}, as in \citet[p.~3]{c}. \citet{d} say so.
Late cite. \cite{late} Another one. % foo
Continues here: see Table~\ref{t}.\footnote{Not this.}
\begin{itemize} \item First item. \item Second (Brants, 2000; Och et al., 2001).\end{itemize}
\begin{figure} Caption here. \end{figure}
As Tillmann and Ney (2000) show, it is 3\% better [12].
\end{document}
"""
MARKDOWN = """---
title: No sentence. Here
---
# Introduction

Graph *networks* are great [@kipf2017; @b, p. 3]. As @lee2019 [p. 2] says, `code. Here` works. Mail a@b.com now.

- Item [link text](http://x.y/z).
- Vaswani et al. (2017) showed it.

| a. B | c |

Setext
======
Text here (in 2001) of (Smith and Jones, 2001a).

References
----------
Smith. Foo. 2001.
"""


def test_latex_is_read_as_its_reader_sees_it() -> None:
    draft = draft_of(LATEX, ".tex")
    assert [(one.line, one.section, one.text) for one in draft.sentences] == [
        (4, "Abstract", "We do it."),
        (6, "Related work", "Randall showed that."),
        (6, "Related work", "is a brane by Erdős & co., as in."),
        (6, "Related work", "say so."),
        (7, "Related work", "Late cite."),
        (7, "Related work", "Another one."),
        (8, "Related work", "Continues here: see Table."),
        (9, "Related work", "First item."),
        (9, "Related work", "Second."),
        (11, "Related work", "As Tillmann and Ney show, it is 3% better."),
    ]
    cited = [[work for mention in one.mentions for work in (*mention.keys, *mention.names)] for one in draft.sentences]
    assert cited == [[], [], ["a", "b", "c"], ["d"], ["late"], [], [], [], ["Brants 2000", "Och 2001"], ["Tillmann and Ney 2000"]]
    assert len(draft.sentences[-1].mentions) == 2  # a number, whose work is unknown
    assert LATEX[draft.sentences[6].start :].startswith("Continues here")


def test_markdown_is_read_as_its_reader_sees_it() -> None:
    draft = draft_of(MARKDOWN, ".md")
    works = [(one.section, one.text, [work for each in one.mentions for work in (*each.keys, *each.names)]) for one in draft.sentences]
    assert works == [
        ("Introduction", "Graph networks are great.", ["kipf2017", "b"]),
        ("Introduction", "As says, works.", ["lee2019"]),
        ("Introduction", "Mail a@b.com now.", []),
        ("Introduction", "Item link text.", []),
        ("Introduction", "Vaswani et al. showed it.", ["Vaswani 2017"]),
        ("Setext", "Text here (in 2001) of.", ["Smith and Jones 2001"]),
    ]


def test_heads_of_plain_text_stand_alone_and_windows_ends_its_lines_otherwise() -> None:
    draft = draft_of("Introduction\r\n\r\nBirds sing\r\nin spring. Fish do not.\r\n\r\n2 Methods\r\n\r\nWe listened.\r\n", ".txt")
    found = [(one.section, one.text, one.paragraph) for one in draft.sentences]
    assert [row[:2] for row in found] == [
        ("Introduction", "Birds sing in spring."),
        ("Introduction", "Fish do not."),
        ("2 Methods", "We listened."),
    ]
    assert found[0][2] == found[1][2] != found[2][2]


@pytest.mark.parametrize("text", ["Aa, " * 4_000, "Aa and " * 4_000, "A" + "a" * 20_000, "(" * 4_000, "[@" * 4_000, "\\footnote{" * 1_000])
@pytest.mark.parametrize("suffix", [".tex", ".md"])
def test_long_texts_of_one_sign_are_read(text: str, suffix: str) -> None:
    assert draft_of(f"Birds sing. {text} x.", suffix).sentences
