"""A thousand made-up papers that say all that training sets are made of, sets of them, and a training set as plain lists."""

from __future__ import annotations

import csv
import json
import random
from functools import cache
from pathlib import Path
from typing import Any

from sciretrieve.evaluation.builders import CiteSettings
from sciretrieve.training import build_set
from tests.made_up import write_jsonl

PAPERS = 1000
FIELDS = ("Physics", "Biology", "Art", "Law")
WORDS = [
    first + last for first in ("cor", "mel", "tas", "vin", "gor", "pel", "dan", "sul") for last in ("ax", "ide", "on", "um", "er", "ist")
]


@cache
def library() -> list[dict[str, Any]]:
    """Papers with sentences, keywords, authors, venues, years, counts and references. Some lack an abstract or any of these; some titles,
    sentences and keywords are those of another paper, too."""
    chance = random.Random(23)
    rows: list[dict[str, Any]] = []
    for place in range(PAPERS):
        cited = {int(place * chance.random() ** 1.5) for _ in range(chance.randint(0, 8))} if place else set()
        said = [" ".join(chance.choices(WORDS, k=chance.randint(3, 9))).capitalize() + "." for _ in range(chance.randint(1, 4))]
        said += ["All of them agree with what was measured."] * (chance.random() < 0.1)
        title = " ".join(chance.sample(WORDS, 5)).capitalize() if chance.random() < 0.95 else "A short note"
        rows.append(
            {
                "id": f"p{place:04d}",
                "title": title,
                "abstract": "" if chance.random() < 0.1 else " ".join(said),
                "fieldsOfStudy": chance.sample(FIELDS, chance.choice([0, 1, 1, 2])),
                "keywords": [
                    word.title() for word in chance.sample(WORDS[:20], chance.choice([0, 1, 2, 3])) + WORDS[20:21] * (place % 4 == 0)
                ],
                "authors": chance.sample([f"Ada {word.title()}" for word in WORDS], chance.choice([0, 1, 2])),
                "venue": chance.choice([None, "Annals", "Letters", "Acta"]),
                "year": chance.choice([None, *range(1990, 2021)]),
                "citationCount": chance.choice([None, 0, 0, 1, 2, 5, 40]),
                "references": [rows[other]["id"] for other in sorted(cited)],
            }
        )
    return rows


def usable(rows: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The papers with a title and an abstract, by id."""
    return {row["id"]: row for row in rows if row["title"] and row["abstract"]}


def table(folder: Path, name: str) -> list[list[str]]:
    """The lines of a set's table, without its header."""
    with (folder / name).open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file, delimiter="\t"))[1:]


def by_id(path: Path) -> dict[str, dict[str, Any]]:
    """The objects of a file of JSON Lines, by id; none is there twice."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert len({row["_id"] for row in rows}) == len(rows)
    return {row["_id"]: row for row in rows}


def facts(folder: Path) -> dict[str, Any]:
    """How a set was made."""
    read: dict[str, Any] = json.loads((folder / "training.json").read_text(encoding="utf-8"))
    return read


def contents(folder: Path) -> dict[str, bytes]:
    """All files of a folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def beir_folder(folder: Path, *, papers_too: bool = False) -> dict[str, dict[str, dict[str, int]]]:
    """A BEIR folder of the papers, whose queries are texts, or papers, too. Judgements, by split."""
    chance = random.Random(5)
    rows = usable(library())
    write_jsonl(folder / "corpus.jsonl", [{"_id": row["id"], "title": row["title"], "text": row["abstract"]} for row in rows.values()])
    queries: list[dict[str, str]] = [{"_id": f"q{number}", "text": " ".join(chance.sample(WORDS, 3))} for number in range(120)]
    queries.append({"_id": "again", "text": queries[0]["text"].upper() + "?"})  # of the test, once more
    if papers_too:
        queries += [{"_id": id, "title": rows[id]["title"], "abstract": rows[id]["abstract"]} for id in list(rows)[:60]]
    write_jsonl(folder / "queries.jsonl", queries)
    qrels: dict[str, dict[str, dict[str, int]]] = {"train": {}, "test": {}}
    for number, query in enumerate(queries):
        names = chance.sample(list(rows), 4) + ["elsewhere"] * (number % 7 == 0)
        split = "test" if number < 30 or (papers_too and number > 150) else "train"
        qrels[split][query["_id"]] = {id: chance.choice([0, 1, 1, 2]) for id in names if id != query["_id"]}
    (folder / "qrels").mkdir()
    for split, judged in qrels.items():
        lines = [f"{query}\t{id}\t{grade}" for query, grades in judged.items() for id, grade in grades.items()]
        (folder / "qrels" / f"{split}.tsv").write_text("query-id\tcorpus-id\tscore\n" + "\n".join(lines) + "\n")
    return qrels


def search_file(path: Path) -> list[dict[str, Any]]:
    """A file of SciRepEval's searches among the papers."""
    chance = random.Random(3)
    rows = list(usable(library()).values())
    searches = []
    for number in range(300):
        shown = chance.sample(rows, chance.randint(1, 9))
        candidates = [
            {"corpus_id": row["id"], "title": row["title"], "abstract": row["abstract"], "score": chance.choice([0, 0, 1, 2])}
            for row in shown
        ]
        searches.append({"doc_id": f"s{number}", "query": " ".join(chance.sample(WORDS, 2)), "candidates": candidates})
    write_jsonl(path, searches)
    return searches


def made(
    form: Any, recipe: str, to: Path, source: Any = None, *, cited: int = 1, queries: int | None = None, seed: int = 0, **how: Any
) -> Path:
    """A set of the papers, or another source, in a folder."""
    settings = CiteSettings(cited=cited, queries=queries, seed=seed)
    build_set(form, library() if source is None else source, to, recipe, settings, progress=False, **how)
    return to


def patients_folder(folder: Path) -> Path:
    """PMC-Patients' folder for both tasks: the first papers are the train split's patients, and what they cite is relevant."""
    rows = list(usable(library()).values())
    ids = {row["id"] for row in rows}
    for task in ("PAR", "PPR"):
        (folder / task).mkdir(parents=True)
        write_jsonl(folder / task / "corpus.jsonl", [{"_id": row["id"], "title": row["title"], "text": row["abstract"]} for row in rows])
        pairs = [(row["id"], other) for row in rows[:400] for other in row["references"] if other in ids and other != row["id"]]
        lines = "".join(f"{query}\t{other}\t1\n" for query, other in pairs)
        (folder / task / "qrels_train.tsv").write_text(f"query-id\tcorpus-id\tscore\n{lines}")
    (folder / "queries").mkdir()
    write_jsonl(folder / "queries" / "train_queries.jsonl", [{"_id": row["id"], "text": row["abstract"]} for row in rows[:400]])
    return folder
