"""How much of the text of real PDFs is read whole, in order, and without what is around it? And how fast?

The papers are those of the shared data whose PDFs and whose sentences are both there (ACL Anthology). Their sentences were themselves read
from PDFs by other programs. Where a line ended these lost blanks and hyphens or left them within words, and they kept the numbers of
footnotes. So texts are compared without blanks, hyphens and such numbers, with plain quotation marks and accents; letters count, and
their case. How many of the sentences found have all blanks where we have them is a column of its own.

Many of their sentences are none that the papers have. A sentence that is not found in the running text is

- "apart": whole in a caption, footnote, head, name or address, which we do not count as running text, but keep;
- "table": whole in what we took for a table or a figure's labels;
- "mixed": its beginning and its end follow each other in our text, and something else is between them that is not there: cells of a table,
  a caption, a footnote or a page's foot, which the other program read into the middle of a sentence; or it is made of parts that end as
  sentences or blocks do;
- "letters": nine tenths of it and more are at one place of our text, and the file's characters in their own order do not have it either:
  the other program recognised letters from pictures itself, or wrote formulas otherwise;
- "order": where it parts from our text, the file's characters, in their own order, go on as ours do: the other program took lines of two
  columns, or of a formula and a note, for one; also what is found whole, and stands in our text where it stands in the file;
- "words": it has a word that the file's own characters do not give, in whatever order: formulas, and letters recognised otherwise;
- else "lost", which may be our fault or not.

Beside other programs, seconds say little.
"""

from __future__ import annotations

import argparse
import bisect
import gzip
import html
import json
import re
import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from reporting import report

from sciretrieve.base.characters import DASHES
from sciretrieve.base.errors import InvalidRequest
from sciretrieve.papers.fulltext.columns import rows_of
from sciretrieve.papers.fulltext.document import Document
from sciretrieve.papers.fulltext.furniture import without_furniture
from sciretrieve.papers.fulltext.glyphs import title_and_pages
from sciretrieve.papers.fulltext.reading import read_document

DATA = Path(__file__).parents[2] / "shared" / "data" / "fulltext"
PLAIN = str.maketrans(
    dict.fromkeys("“”„«»", '"') | dict.fromkeys("‘’`´", "'") | {"ı": "i", "¨": ""} | dict.fromkeys(f"-\u00ad\u0095•{DASHES}", "")
)
FOOTNOTE = re.compile(r"(?<=[a-z)\]\"'][.,;:)])\d{1,2}(?=\s|$)|(?<=[a-z]{3})\d{1,2}(?=[\s.,;]|$)")
MOST_PLACES = 30
"""Places at which a sentence is looked for: those that many have are short."""
FEWEST_WORDS = 4
LABEL = re.compile(r"^\d{1,2}(?=[A-Z*])|^[*†‡]")
"""The number of a footnote."""
JOINT = 12
ALIKE = 0.92
ENDS = "\n.?!:"
LONG_PART, SHORT_PART = 25, 8
"""Characters of a sentence's part that is no chance."""
FEWEST_LETTERS = 5
"""Letters of a running head."""


def normal(text: str) -> str:
    """A text as it is compared, but for blanks."""
    text = html.unescape(text).translate(PLAIN).replace("''", '"')
    text = unicodedata.normalize("NFKD", FOOTNOTE.sub("", text))
    return " ".join("".join(char for char in text if not unicodedata.combining(char)).split())


def bare(text: str) -> str:
    """It without blanks."""
    return normal(text).replace(" ", "")


def papers(path: Path) -> Iterator[Mapping[str, Any]]:
    """The papers of the shared data."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def in_order(places: Sequence[Sequence[int]]) -> set[int]:
    """Which of some sentences, each at one of some places, are in the longest series that is in order."""
    ends: list[int] = []
    tails: list[int] = []
    before: list[int] = []
    nodes: list[int] = []
    for number, own in enumerate(places):
        for place in sorted(own, reverse=True):
            at = bisect.bisect_left(ends, place)
            node = len(nodes)
            nodes.append(number)
            before.append(tails[at - 1] if at else -1)
            if at == len(ends):
                ends.append(place)
                tails.append(node)
            else:
                ends[at], tails[at] = place, node
    chosen = set()
    node = tails[-1] if tails else -1
    while node >= 0:
        chosen.add(nodes[node])
        node = before[node]
    return chosen


def found(sentence: str, text: str) -> list[int]:
    """The places of a sentence in a text, the first ones."""
    places: list[int] = []
    place = text.find(sentence)
    while place >= 0 and len(places) < MOST_PLACES:
        places.append(place)
        place = text.find(sentence, place + 1)
    return places


def judged(document: Document, paper: Mapping[str, Any], words: set[str], raw: str) -> tuple[Counter[str], list[tuple[str, str]]]:
    """How many of a paper's sentences are of each kind; and those that were not found, with their kinds."""
    sentences = [text for section in paper["sections"] for _, text in section["sentences"] if len(text.split()) >= FEWEST_WORDS]
    texts = {
        kind: " ".join(document.text[block.start : block.end] for block in blocks(document) if block.kind == kind)
        for kind in ("text", "table")
    }
    body, tables, rest = (
        bare(texts["text"]),
        bare(texts["table"]),
        bare(" ".join([document.text, document.front, document.title, *document.references])),
    )
    everything = "\n".join(
        [
            *(bare(document.text[block.start : block.end]) for block in blocks(document)),
            *(bare(section.head) for section in document.sections),
            rest[-1:],
        ]
    )
    spaced = normal(texts["text"])
    places = [found(bare(sentence), body) for sentence in sentences]
    ordered = in_order(places)
    by_place = sorted((number for number, own in enumerate(places) if own), key=lambda number: places[number][0])
    as_file = {by_place[place] for place in in_order([found(bare(sentences[number]), raw) for number in by_place])}
    counts: Counter[str] = Counter()
    missed = []
    for number, sentence in enumerate(sentences):
        if places[number]:
            kind = "in order" if number in ordered else "order" if number in as_file else "out of order"
            counts["same blanks"] += normal(sentence) in spaced
        elif bare(sentence) in tables:
            kind = "table"
        elif bare(sentence) in rest or LABEL.sub("", bare(sentence)) in rest or bare(sentence).removesuffix(".") in rest:
            kind = "apart"
        elif is_mixed(bare(sentence), body, everything):
            kind = "mixed"
        elif is_other(bare(sentence), body, raw):
            kind = "letters"
        elif is_displaced(bare(sentence), everything, raw):
            kind = "order"
        elif any(word not in words for word in re.findall(r"[A-Za-z]{2,}", normal(sentence))):
            kind = "words"
        else:
            kind = "lost"
        counts[kind] += 1
        if not places[number]:
            missed.append((kind, sentence))
    return counts, missed


def is_mixed(sentence: str, body: str, everything: str) -> bool:
    """Whether a sentence has its beginning and its end side by side in our text, and something else between them; or is several whole ones,
    or parts of such, of which each ends as a sentence or a block does."""
    head = longest(lambda size: sentence[:size] in body, len(sentence))
    tail = longest(lambda size: sentence[len(sentence) - size :] in body, len(sentence))
    for size in range(min(tail, len(sentence) - 1), SHORT_PART - 1, -1):
        if head >= SHORT_PART and head + size >= LONG_PART and sentence[:head] + sentence[len(sentence) - size :] in body:
            return True
    rest = sentence
    while rest:
        size = longest(lambda most: rest[:most] in everything, len(rest))  # noqa: B023
        place = everything.find(rest[:size])
        if size < SHORT_PART or (everything[place + size : place + size + 1] not in ENDS and everything[place + size - 1] not in ENDS):
            return False
        rest = rest[size:]
    return True


def is_displaced(sentence: str, everything: str, raw: str) -> bool:
    """Whether the file's characters, in their own order, go on as our text does where the sentence parts from it, on either side of the
    longest part that both have."""
    starts = range(0, max(len(sentence) - SHORT_PART, 1), 3)
    sizes = {start: longest(lambda size: sentence[start : start + size] in everything, len(sentence) - start) for start in starts}  # noqa: B023
    start = max(sizes, key=lambda start: sizes[start])
    size = sizes[start]
    if size < LONG_PART:
        return False
    while start and sentence[start - 1 : start + size] in everything:
        start, size = start - 1, size + 1
    place = everything.find(sentence[start : start + size])
    before, after = everything[max(place - JOINT, 0) : place], everything[place + size : place + size + JOINT]
    part = everything[place : place + size]
    is_left = start == 0 or before[-1:] in ENDS or before.rpartition("\n")[2] + part[:JOINT] in raw
    is_right = start + size == len(sentence) or part[-1] in ENDS or (after[:1] != "\n" and part[-JOINT:] + after.partition("\n")[0] in raw)
    return is_left and is_right


def is_other(sentence: str, body: str, raw: str) -> bool:
    """Whether our text has a sentence but for some letters, and the file itself does not have it, in the order of its characters."""
    if sentence in raw:
        return False
    step = max(len(sentence) // 12, 1)
    starts = {body.find(sentence[place : place + 12]) - place for place in range(0, max(len(sentence) - 12, 1), step)} - {-1}
    return any(
        SequenceMatcher(None, sentence, body[max(start, 0) : start + len(sentence)], autojunk=False).ratio() >= ALIKE
        for start in list(starts)[:MOST_PLACES]
        if start >= 0
    )


def longest(fits: Callable[[int], bool], most: int) -> int:
    """The largest number that fits, of those of which all smaller ones fit, too."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


def blocks(document: Document) -> Iterator[Any]:
    """All blocks of a document."""
    return (block for section in document.sections for block in section.blocks)


def left_over(path: Path, document: Document) -> Counter[str]:
    """How many running heads and page numbers a PDF has, and how many were left in its text: known by themselves, the first row and the
    last of each page, which several pages have, or which are numbers that grow with the pages."""
    _, pages = title_and_pages(path)
    body = bare(" ".join(document.text[block.start : block.end] for block in blocks(document) if block.kind == "text"))
    rows = [rows_of(page.pieces) for page in pages]
    outer = [{text_of_row(row) for row in (*own[:1], *own[-1:])} for own in rows]
    heads = Counter(letters for texts in outer for letters in {re.sub(r"[^a-z]", "", text.lower()) for text in texts})
    common = {letters for letters, count in heads.items() if count > 2 and len(letters) > FEWEST_LETTERS}
    told = {text for texts in outer for text in texts if re.sub(r"[^a-z]", "", text.lower()) in common}
    offsets = Counter(int(text) - number for number, texts in enumerate(outer) for text in texts if text.isdigit() and len(text) < 5)
    offset, count = offsets.most_common(1)[0] if offsets else (0, 0)
    kept, _ = without_furniture(pages)
    numbers = [
        any(text_of_row(row) == str(offset + number) for row in (*own[:1], *own[-1:]))
        for number, own in enumerate(rows_of(page.pieces) for page in kept)
    ]
    return Counter(
        {
            "heads": len(told),
            "heads left": sum(bare(text) in body for text in told),
            "numbers": count if count > 2 else 0,
            "numbers left": sum(numbers) if count > 2 else 0,
        }
    )


def text_of_row(row: Sequence[Any]) -> str:
    """The text of pieces that stand beside each other."""
    return " ".join(" ".join(atom.text for atom in piece.atoms) for piece in row)


def words_of(path: Path) -> tuple[set[str], str]:
    """All words that a PDF's characters give, those at the ends of lines joined with those at the beginning of the next as well; and its
    characters, as texts are compared, in the file's own order."""
    _, pages = title_and_pages(path)
    pieces = [" ".join(atom.text for atom in piece.atoms) for page in pages for piece in page.pieces]
    text = " ".join(pieces)
    joined = re.sub(r"[-\ufffe]\s+", "", text)
    glued = re.sub(r"[-\ufffe]", "", text)
    words = {word for variant in (text, joined, glued) for word in re.findall(r"[A-Za-z]{2,}", normal(variant))}
    return words, bare(glued)


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA, help="the folder with papers.jsonl.gz and pdf/")
    parser.add_argument("--missed", type=Path, help="write the sentences that were not found here")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    parser.add_argument("--only", help="one paper's id")
    chosen = parser.parse_args()
    paths = {path.stem: path for path in sorted((chosen.data / "pdf").iterdir())}
    if chosen.only:
        paths = {chosen.only: paths[chosen.only]}
    documents: dict[str, Document] = {}
    start = time.process_time()
    for name, path in paths.items():
        try:
            documents[name] = read_document(path)
        except InvalidRequest as error:
            print(error)
    seconds = time.process_time() - start
    rows, lines = [], []
    for paper in papers(chosen.data / "papers.jsonl.gz"):
        if paper["id"] in documents:
            counts, missed = judged(documents[paper["id"]], paper, *words_of(paths[paper["id"]]))
            rows.append({"paper": paper["id"], **row(counts)})
            lines += [f"{paper['id']}\t{kind}\t{sentence}" for kind, sentence in missed]
    rows.append({"paper": "all", **row({name: sum(int(line[name]) for line in rows) for name in (*KINDS, "same blanks")})})
    report(rows, chosen.json)
    left = Counter[str]()
    for name, document in documents.items():
        left += left_over(paths[name], document)
    pages = sum(document.page_count for document in documents.values())
    print(f"\nrunning heads: {left['heads']} on three pages and more, {left['heads left']} of them within the text")
    print(f"page numbers: {left['numbers']}, {left['numbers left']} of them left on their pages")
    speed = f"{seconds / len(documents):.2f} s a PDF, {pages / seconds:.0f} pages/s"
    print(f"{len(documents)} PDFs, {pages} pages in {seconds:.1f} s of CPU: {speed}")
    if chosen.missed:
        chosen.missed.write_text("\n".join(lines) + "\n", encoding="utf-8")


KINDS = ("in order", "out of order", "apart", "table", "mixed", "letters", "order", "words", "lost")


def row(counts: Mapping[str, int]) -> dict[str, Any]:
    """A line of the table: the number of sentences of each kind; the share that is whole and in order of all, and of those that are running
    text and no slips of the other reading: without apart, table, mixed, letters, order and words."""
    total = sum(counts[kind] for kind in KINDS)
    own = total - counts["apart"] - counts["table"] - counts["mixed"] - counts["letters"] - counts["order"] - counts["words"]
    return {
        "sentences": total,
        **{kind: counts[kind] for kind in (*KINDS, "same blanks")},
        "% of all": round(100 * counts["in order"] / max(total, 1), 1),
        "% of own": round(100 * counts["in order"] / max(own, 1), 1),
    }


if __name__ == "__main__":
    main()
