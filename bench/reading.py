"""How many papers a second are read from each format? The same papers, made up here, in the forms that databases and programs export.

CPU time of this process. Run it on two versions with the same seed to compare them.
"""

from __future__ import annotations

import csv
import json
import random
import re
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq
from reporting import arguments, report

from sciretrieve.papers.corpora import open_corpus

Record: TypeAlias = Mapping[str, Any]
WORDS = re.findall(r"\S+", "graph neural naïve Bayes α-helix retrieval of the in search vivo data-driven model learning theory cell")


def records(count: int) -> list[Record]:
    """Papers with an abstract of 150 words, four authors and all that a journal's article has."""
    chance = random.Random(0)
    return [
        {
            "id": f"key{number}",
            "title": " ".join(chance.choices(WORDS, k=10)),
            "abstract": " ".join(chance.choices(WORDS, k=150)),
            "year": 1990 + number % 30,
            "venue": f"Journal of {chance.choice(WORDS)}",
            "authors": [f"{chance.choice(WORDS).title()}{'abcdefghij'[number % 10]}, {chance.choice(WORDS).title()}" for _ in range(4)],
            "doi": f"10.1000/{number}",
            "pages": f"{number}-{number + 9}",
            "volume": str(number % 50),
        }
        for number in range(count)
    ]


def _jsonl(papers: Iterable[Record]) -> str:
    return "".join(json.dumps(paper, ensure_ascii=False) + "\n" for paper in papers)


def _csl(papers: Iterable[Record]) -> str:
    return json.dumps(
        [
            {
                "id": paper["id"],
                "type": "article-journal",
                "title": paper["title"],
                "abstract": paper["abstract"],
                "container-title": paper["venue"],
                "issued": {"date-parts": [[paper["year"]]]},
                "author": [dict(zip(("family", "given"), name.split(", "), strict=True)) for name in paper["authors"]],
                "DOI": paper["doi"],
            }
            for paper in papers
        ],
        ensure_ascii=False,
    )


def _tagged(papers: Iterable[Record], tags: Mapping[str, str], line: str, end: str) -> str:
    def lines(paper: Record) -> str:
        values = ((tag, value) for name, tag in tags.items() for value in (paper[name] if isinstance(paper[name], list) else [paper[name]]))
        return "".join(line.format(tag=tag, value=value) for tag, value in values)

    return "".join(lines(paper) + end for paper in papers)


def _ris(papers: Iterable[Record]) -> str:
    tags = {"id": "ID", "title": "TI", "authors": "AU", "year": "PY", "venue": "JO", "abstract": "AB", "doi": "DO"}
    return _tagged(papers, tags, "{tag}  - {value}\n", "ER  - \n\nTY  - JOUR\n").join(["TY  - JOUR\n", ""]).removesuffix("TY  - JOUR\n")


def _nbib(papers: Iterable[Record]) -> str:
    tags = {"doi": "PMID", "title": "TI  ", "authors": "FAU ", "year": "DP  ", "venue": "JT  ", "abstract": "AB  "}
    numbered = ({**paper, "doi": str(number)} for number, paper in enumerate(papers, 1))
    return _tagged(numbered, tags, "{tag}- {value}\n", "\n")


def _bibtex(papers: Iterable[Record]) -> str:
    def entry(paper: Record) -> str:
        fields = {**{name: paper[name] for name in ("title", "abstract", "year", "doi", "pages", "volume")}, "journal": paper["venue"]}
        fields["author"] = " and ".join(paper["authors"])
        return f"@article{{{paper['id']},\n" + ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items()) + "\n}\n"

    return "\n".join(map(entry, papers)).replace("&", r"\&")


def _pubmed(papers: Iterable[Record]) -> str:
    def article(number: int, paper: Record) -> str:
        parts = [name.split(", ") for name in paper["authors"]]
        authors = "".join(f"<Author><LastName>{last}</LastName><ForeName>{first}</ForeName></Author>" for last, first in parts)
        journal = f"<Journal><JournalIssue><PubDate><Year>{paper['year']}</Year></PubDate></JournalIssue><Title>X</Title></Journal>"
        texts = f"<ArticleTitle>{paper['title']}</ArticleTitle><Abstract><AbstractText>{paper['abstract']}</AbstractText></Abstract>"
        citation = f"<PMID>{number}</PMID><Article>{journal}{texts}<AuthorList>{authors}</AuthorList></Article>"
        return f"<PubmedArticle><MedlineCitation>{citation}</MedlineCitation></PubmedArticle>"

    return f"<PubmedArticleSet>{''.join(article(number, paper) for number, paper in enumerate(papers, 1))}</PubmedArticleSet>"


FORMS: Mapping[str, Callable[[Iterable[Record]], str]] = {
    "p.jsonl": _jsonl,
    "csl.json": _csl,
    "p.ris": _ris,
    "p.nbib": _nbib,
    "p.bib": _bibtex,
    "p.xml": _pubmed,
}
"""Text formats, and what writes them."""


def write(folder: Path, papers: list[Record]) -> list[Path]:
    """The papers in a file of each format."""
    for name, form in FORMS.items():
        (folder / name).write_text(form(papers), encoding="utf-8")
    pq.write_table(
        pa.Table.from_pylist(
            [{**paper, "authors": [" ".join(reversed(name.split(", "))) for name in paper["authors"]]} for paper in papers]
        ),
        folder / "p.parquet",
    )
    with (folder / "p.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(papers[0]))
        writer.writeheader()
        writer.writerows({**paper, "authors": "; ".join(paper["authors"])} for paper in papers)
    return [folder / name for name in (*FORMS, "p.parquet", "p.csv")]


def main() -> None:
    """Measure, and print."""
    chosen = arguments(__doc__, papers=5000, rounds=3)
    rows = []
    with tempfile.TemporaryDirectory() as name:
        for path in write(Path(name), records(chosen.papers)):
            seconds = []
            for _ in range(chosen.rounds):
                start = time.process_time()
                count = sum(len(batch.papers) for batch in open_corpus(path).batches())
                seconds.append(time.process_time() - start)
            rows.append({"format": path.name, "papers": count, "seconds": min(seconds), "papers/s": count / min(seconds)})
    report(rows, chosen.json)


if __name__ == "__main__":
    main()
