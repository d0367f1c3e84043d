"""`benchmarks build cite`, and `multi-scidocs`: against plain loops over a made-up citation graph."""

from __future__ import annotations

import csv
import gzip
import json
import random
from collections import Counter
from collections.abc import Iterable
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

import pytest

import sciretrieve as sr
from sciretrieve.base.errors import InvalidRequest, NotFound, SciretrieveError, UnknownName
from sciretrieve.base.types import Paper, Query
from sciretrieve.evaluation import evaluate, read_qrels
from sciretrieve.evaluation.builders import CiteSettings, build_cite, build_scidocs_like
from sciretrieve.evaluation.builders.cited_corpus import read_collection
from sciretrieve.papers.corpora import open_corpus, read_queries
from sciretrieve.progress import Silent
from tests.command_line import sciretrieve
from tests.evaluation.made_up_benchmarks import made_vectors, write_lines, write_text, write_vectors
from tests.made_up import made_up_papers

SETTINGS: dict[str, Any] = {"queries": 15, "cited": 3, "cocited": 3}


def papers(count: int = 150) -> list[dict[str, Any]]:
    """Made-up papers that cite earlier ones, the first ones most often; ids, twins and the paper itself are among the references too."""
    chance = random.Random(7)
    rows = made_up_papers(count)
    for place, row in enumerate(rows):
        cited = {int(place * chance.random() ** 2) for _ in range(chance.randint(0, 12))} if place else set()
        names = [rows[other]["id"] for other in sorted(cited)]
        row["references"] = [*names, *names[:1], row["id"], f"elsewhere{place}"]
    return rows


def links(rows: Iterable[dict[str, Any]]) -> dict[str, set[str]]:
    """Whom each paper cites, by a plain loop."""
    known = {row["id"] for row in rows}
    return {row["id"]: {other for other in row["references"] if other in known and other != row["id"]} for row in rows}


def made(rows: list[dict[str, Any]], to: Path, **settings: Any) -> Path:
    build_cite(rows, to, CiteSettings(**SETTINGS | settings))
    return to


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(papers(), tmp_path_factory.mktemp("cite") / "made")


def test_the_whole_corpus_is_the_pool_and_what_a_paper_cites_is_relevant(folder: Path) -> None:
    rows = papers()
    cites = links(rows)
    texts = {row["id"]: row for row in rows}
    pool = [json.loads(line) for line in (folder / "corpus.jsonl").read_text().splitlines()]
    assert pool == [{"_id": row["id"], "title": row["title"], "text": row["abstract"]} for row in rows]
    qrels = read_qrels(folder / "qrels" / "test.tsv")
    assert qrels == {id: dict.fromkeys(cites[id], 1) for id in qrels}
    queries = read_queries(folder)
    assert [query.id for query in queries] == list(qrels)
    assert len(qrels) == 15
    for query in queries:
        assert query.paper == Paper(query.id, texts[query.id]["title"], texts[query.id]["abstract"])
        assert query.paper.abstract
        assert len(cites[query.id]) >= 3


def test_co_citations_are_pairs_that_enough_papers_cite_together(folder: Path) -> None:
    rows = papers()
    pairs = Counter(pair for cited in links(rows).values() for pair in combinations(sorted(cited), 2))
    together: dict[str, set[str]] = {}
    for (one, other), count in pairs.items():
        if count >= 3:
            together.setdefault(one, set()).add(other)
            together.setdefault(other, set()).add(one)
    full = {row["id"] for row in rows if row["abstract"]}
    qrels = read_qrels(folder / "qrels" / "cocite.tsv")
    assert len(qrels) == min(15, len(full & set(together)))
    assert set(qrels) <= full
    assert qrels == {id: dict.fromkeys(together[id], 1) for id in qrels}


def test_candidates_are_of_each_kind(folder: Path) -> None:
    rows = papers()
    cites = links(rows)
    ids = list(cites)
    near: dict[str, set[str]] = {id: set(cited) for id, cited in cites.items()}
    for id, cited in cites.items():
        for other in cited:
            near[other].add(id)
    times = Counter(other for cited in cites.values() for other in cited)
    most_cited = sorted(ids, key=lambda id: (-times[id], ids.index(id)))
    words = sr.build(rows, folder.parent / "words", encoder=None, dense="none")
    (field,) = (candidates := json.loads((folder / "candidates.json").read_text())).items()
    assert field[0] == "all"
    assert list(candidates["all"]) == list(read_qrels(folder / "qrels" / "test.tsv"))
    texts = {row["id"]: Paper(row["id"], row["title"], row["abstract"]) for row in rows}
    for query, kinds in field[1].items():
        assert list(kinds) == ["bm25", "graph", "most_cited", "random", "true"]
        assert set(kinds["true"]) <= cites[query]
        assert len(kinds["true"]) == min(10, len(cites[query]))
        barred = near[query] | {query}
        answer = words.search(Query(query, paper=texts[query]), 150, mode="bm25", group=False)[0].ids
        assert kinds["bm25"] == [id for id in answer if id not in barred][:13]
        barred |= set(kinds["bm25"])
        ways = Counter(other for one in near[query] for other in near[one] if other not in near[query] | {query})
        by_ways = sorted(ways, key=lambda id: (-ways[id], ids.index(id)))
        assert kinds["graph"] == [id for id in by_ways if id not in barred][: len(kinds["graph"])]
        assert len(kinds["graph"]) == min(13, len(set(ways) - barred))
        barred |= set(kinds["graph"])
        assert kinds["most_cited"] == [id for id in most_cited if id not in barred][: len(kinds["most_cited"])]
        barred |= set(kinds["most_cited"])
        negatives = [id for kind in kinds if kind != "true" for id in kinds[kind]]
        assert len(set(negatives)) == len(negatives) == 50
        assert not set(kinds["random"]) & barred
    draws = {tuple(kinds["random"]) for kinds in field[1].values()}
    assert len(draws) == len(field[1])


def test_random_candidates_are_drawn_evenly() -> None:
    from sciretrieve.evaluation.builders.negatives import shuffled

    counts: Counter[int] = Counter()
    for seed in range(2000):
        drawn = list(shuffled(range(5, 10), random.Random(seed)))  # type: ignore[arg-type]
        assert sorted(drawn) == [5, 6, 7, 8, 9]
        counts[drawn[0]] += 1
    assert all(330 < counts[row] < 470 for row in range(5, 10))


def test_the_same_seed_gives_the_same_files(folder: Path, tmp_path: Path) -> None:
    again = contents(made(papers(), tmp_path / "again"))
    assert again == contents(folder)
    other = contents(made(papers(), tmp_path / "other", seed=1))
    assert other["corpus.jsonl"] == again["corpus.jsonl"]
    assert all(other[name] != again[name] for name in ("candidates.json", "queries.jsonl", "qrels/test.tsv"))


def test_evaluate_runs_both_forms_on_one_index(folder: Path, tmp_path: Path) -> None:
    options: dict[str, Any] = {"mode": "bm25", "cache": tmp_path / "cache"}
    whole = evaluate(f"beir:{folder}", output=tmp_path / "whole", **options)
    evaluate(f"beir:{folder}", split="cocite", **options)
    candidates = evaluate(f"cite:{folder}", output=tmp_path / "candidates", **options)
    assert [path.name for path in (tmp_path / "cache").iterdir() if path.is_dir()] == [f"beir{str(folder).replace('/', '-')}-bm25"]
    assert set(whole.to_dict()["measures"]) == {"nDCG@10", "R@100", "MAP", "MRR"}
    measures = candidates.to_dict()["measures"]
    qrels = read_qrels(folder / "qrels" / "test.tsv")
    run = json.loads((tmp_path / "candidates" / "run.json").read_text())
    recalls = []
    true = {query: set(kinds["true"]) for query, kinds in json.loads((folder / "candidates.json").read_text())["all"].items()}
    for query, scores in run.items():
        assert len(scores) == 50 + len(true[query])
        assert true[query] == set(scores) & set(qrels[query])
        ranked = sorted(sorted(scores, reverse=True), key=lambda id: -scores[id])
        recalls.append(len(true[query] & set(ranked[:5])) / len(true[query]))
    assert measures["R@5"] == pytest.approx(sum(recalls) / len(recalls))


def test_fields_bound_candidates_and_are_averaged(tmp_path: Path) -> None:
    rows = papers()
    fields = {"graphs": "Mathematics", "vaccines": "Medicine", "stars": "Physics", "markets": ""}
    topics = {row["id"]: fields[row["topic"]] for row in rows}
    for row in rows:
        row["fieldsOfStudy"] = [topics[row["id"]]] if topics[row["id"]] else None
    folder = made(rows, tmp_path / "made", queries=12, cited=1)
    candidates = json.loads((folder / "candidates.json").read_text())
    assert list(candidates) == ["Mathematics", "Medicine", "Physics"]
    for field, queries in candidates.items():
        assert len(queries) == 12
        for query, kinds in queries.items():
            assert {topics[id] for id in (query, *kinds["most_cited"], *kinds["random"])} == {field}
    report = evaluate(f"cite:{folder}", mode="bm25", cache=tmp_path / "cache").to_dict()
    assert report["measures"]["MAP"] == pytest.approx(sum(task["measures"]["MAP"] for task in report["per_task"].values()) / 3)
    rare = [
        {**row, "fieldsOfStudy": None if row["fieldsOfStudy"] == ["Physics"] and place > 40 else row["fieldsOfStudy"]}
        for place, row in enumerate(rows)
    ]
    notes: list[str] = []

    class Heard(Silent):
        def note(self, text: str) -> None:
            notes.append(text)

    build_cite(rare, tmp_path / "rare", CiteSettings(cited=4), progress=Heard())
    assert "Physics" not in json.loads((tmp_path / "rare" / "candidates.json").read_text())
    assert any(note.startswith("1 fields are left out") and "Physics" in note for note in notes)
    assert any("queries have fewer than 50 hard negatives" in note for note in notes)


def test_by_default_a_query_cites_five_papers_and_ten_cite_two_together(tmp_path: Path) -> None:
    rows = papers(300)
    build_cite(rows, tmp_path / "made", CiteSettings(queries=300))
    cites, full = links(rows), [row["id"] for row in rows if row["abstract"]]
    pairs = Counter(pair for cited in cites.values() for pair in permutations(sorted(cited), 2))
    together = {id: {other: 1 for other in cites if pairs[id, other] >= 10} for id in full}
    qrels = {name: read_qrels(tmp_path / f"made/qrels/{name}.tsv") for name in ("test", "cocite")}
    assert set(qrels["test"]) == {id for id in full if len(cites[id]) >= 5}
    assert qrels["cocite"] == {id: row for id, row in together.items() if row}
    facts = json.loads((tmp_path / "made/benchmark.json").read_text())
    assert (facts["cited"], facts["cocited"]) == (5, 10)


def test_an_index_chooses_negatives(tmp_path: Path) -> None:
    rows = papers(60)
    vectors = write_vectors(tmp_path / "made.jsonl", made_vectors([row["id"] for row in rows]))
    index = sr.build(rows, tmp_path / "index", encoder=f"vectors:{vectors}")
    folder = made(rows, tmp_path / "made", indexes=(index.path,), cited=2, queries=3)
    cites = links(rows)
    texts = {row["id"]: Paper(row["id"], row["title"], row["abstract"]) for row in rows}
    for query, kinds in json.loads((folder / "candidates.json").read_text())["all"].items():
        assert list(kinds) == ["bm25", "made.jsonl", "graph", "most_cited", "random", "true"]
        barred = {query, *cites[query], *(id for id in cites if query in cites[id]), *kinds["bm25"]}
        answer = index.search(Query(query, paper=texts[query]), 60, mode="dense", group=False)[0].ids
        assert kinds["made.jsonl"] == [id for id in answer if id not in barred][: len(kinds["made.jsonl"])]
        assert len(kinds["bm25"]) == 10
    with pytest.raises(InvalidRequest, match="is not an index of this corpus: only one of them has 'p0059'"):
        made(rows[:-1], tmp_path / "other", indexes=(index.path,))


def zipped(path: Path, text: str) -> Path:
    path.write_bytes(gzip.compress(text.encode()))
    return path


def written(path: Path, form: str) -> tuple[Path, dict[str, Any]]:
    """The made-up papers with references in one text, or in a table of pairs; and what must be said of it."""
    rows = papers()
    plain = [{name: row[name] for name in ("id", "title", "abstract")} for row in rows]
    if form == "one text":
        with (path / "c.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["id", "title", "abstract", "bibliography"])
            writer.writerows([*row.values(), "; ".join(source["references"])] for row, source in zip(plain, rows, strict=True))
        return path / "c.csv", {"references": "bibliography"}
    corpus = write_lines(path / "c.jsonl", plain)
    pairs = [(row["id"], other) for row in rows for other in row["references"]]
    if form == "pairs, named, swapped":
        return corpus, {
            "citations": write_text(path / "e.csv", "cited,year,citing\n" + "".join(f"{cited},1,{citing}\n" for citing, cited in pairs))
        }
    if form == "pairs without a header":
        pairs = [pair for pair in pairs if not pair[1].startswith("elsewhere")]
        return corpus, {"citations": zipped(path / "e.tsv.gz", "".join(f"{citing}\t{cited}\n" for citing, cited in pairs))}
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"a": [citing for citing, _ in pairs], "b": [cited for _, cited in pairs]}), path / "e.parquet")
    return corpus, {"citations": path / "e.parquet"}


@pytest.mark.parametrize("form", ["one text", "pairs, named, swapped", "pairs without a header", "pairs in Parquet"])
def test_references_are_read_from_a_column_and_from_tables(tmp_path: Path, form: str) -> None:
    corpus, settings = written(tmp_path, form)
    collection = read_collection(open_corpus(corpus), CiteSettings(**SETTINGS | settings))
    cites = links(papers())
    names = collection.ids
    assert names == list(cites)
    assert {id: {names[other] for other in collection.graph.cites(row)} for row, id in enumerate(names)} == cites
    for row, id in enumerate(names):
        assert [names[other] for other in collection.graph.cited_by(row)] == [other for other in names if id in cites[other]]


class Stopped(Exception):
    """Stands for a crash."""


@pytest.mark.parametrize("at", ["papers", "queries"])
def test_nothing_is_written_half(tmp_path: Path, at: str) -> None:
    class Stop(Silent):
        def start(self, total: int | None, done: int = 0, unit: str = "papers") -> None:
            if unit == at:
                raise Stopped

    with pytest.raises(Stopped):
        build_cite(papers(), tmp_path / "made", CiteSettings(**SETTINGS), progress=Stop())
    assert list(tmp_path.iterdir()) == []
    left = tmp_path / "made.partial"  # by a process that was killed
    write_text(left / "qrels" / "old.tsv", "half")
    (left / ".lock").touch()
    made(papers(), tmp_path / "made")
    assert not left.exists()
    assert not (tmp_path / "made" / "qrels" / "old.tsv").exists()
    assert {path.name for path in (tmp_path / "made").iterdir()} == {
        *("benchmark.json", "candidates.json", "corpus.jsonl", "queries.jsonl", "queries-cocite.jsonl", "qrels")
    }
    with pytest.raises(InvalidRequest, match="is there already"):
        made(papers(), tmp_path / "made")


BARE = [{"id": row["id"], "title": row["title"], "abstract": row["abstract"]} for row in papers(20)]


@pytest.mark.parametrize(
    ("rows", "settings", "error", "message"),
    [
        (BARE, {}, InvalidRequest, "no column of references among id, title, abstract"),
        (BARE, {"references": "cites"}, UnknownName, "unknown column .for `references`. 'cites'"),
        (BARE, {"field": "area"}, UnknownName, "unknown column .for `field`. 'area'"),
        (BARE, {"citations": Path("nowhere.tsv")}, NotFound, "there are no citations at nowhere.tsv"),
        ([{**row, "references": ["x1"]} for row in BARE], {}, InvalidRequest, "it names 'x1', say, where the corpus has ids like 'p0000'"),
        ([{**row, "references": []} for row in BARE], {}, InvalidRequest, "it names none at all"),
        (papers(), {"cited": 99}, InvalidRequest, "cites 99 others of the corpus; lower that with `cited`"),
        (papers(), {"cited": 0}, InvalidRequest, "`cited` must be at least 1"),
        (papers(), {"references": "references", "citations": Path("e.tsv")}, InvalidRequest, "citations come from one place"),
    ],
)
def test_what_cannot_be_built_is_one_line(
    tmp_path: Path, rows: list[dict[str, Any]], settings: dict[str, Any], error: type[SciretrieveError], message: str
) -> None:
    with pytest.raises(error, match=message) as told:
        made(rows, tmp_path / "made", **settings)
    assert "\n" not in str(told.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("e.txt", "p0000 p0001\n", "no format that citations are read from"),
        ("e.csv.txt", "citing,cited\n", "no format that citations are read from"),
        ("e.tsv", "p0000 p0001\np0001 p0002\n", "one column, 'p0000 p0001'"),
        ("e.tsv", "citing\tcited\np0001\tp0000\np0002\n", "row 2: 1 fields where the header has 2"),
        ("e.csv", "citing,cited\np0001,p0000\np0002,\n", "row 2: a citation needs two ids"),
    ],
)
def test_a_table_that_is_none_of_citations_is_one_line(tmp_path: Path, name: str, text: str, message: str) -> None:
    with pytest.raises(InvalidRequest, match=message):
        made(BARE, tmp_path / "made", citations=write_text(tmp_path / name, text))


def test_few_co_citations_are_no_error(tmp_path: Path) -> None:
    result = sciretrieve(
        *("benchmarks", "build", "cite", "--from", write_lines(tmp_path / "c.jsonl", papers()), "--to", tmp_path / "made"),
        *("--set", "cited=3", "--set", "cocited=99", "--queries", "5"),
    )
    assert result.returncode == 0, result.stderr
    assert "no two papers are cited together by 99 others" in result.stderr
    assert not (tmp_path / "made" / "queries-cocite.jsonl").exists()


def test_damaged_candidates_are_one_line(folder: Path, tmp_path: Path) -> None:
    whole = json.loads((folder / "candidates.json").read_text())
    query = next(iter(whole["all"]))
    for value, message in (
        ({"all": {query: {"bm25": []}}}, "has no list 'true'"),
        ({"all": {}}, "has no queries"),
        ({"all": {query: {"true": ["gone"]}}}, "names paper 'gone'"),
    ):
        write_text(tmp_path / "candidates.json", json.dumps(value))
        write_text(tmp_path / "corpus.jsonl", (folder / "corpus.jsonl").read_text())
        with pytest.raises(InvalidRequest, match=message):
            evaluate(f"cite:{tmp_path}", mode="bm25", cache=tmp_path / "cache")
    result = sciretrieve("benchmarks", "build", "cites", "--from", tmp_path, "--to", tmp_path / "x")
    assert result.returncode == 2
    assert "did you mean 'cite'" in result.stderr


FIELD_OF = {"graphs": "Mathematics", "vaccines": "Medicine", "stars": "Mathematics", "markets": "Mathematics"}


def rows_with_fields() -> list[dict[str, Any]]:
    return [{**row, "field": FIELD_OF[row["topic"]]} for row in papers(620)]


def test_each_query_has_related_papers_and_500_others(tmp_path: Path) -> None:
    rows = rows_with_fields()
    settings = CiteSettings(queries=6, cited=1, cocited=2)
    build_scidocs_like(rows, tmp_path / "made", settings)
    cites = links(rows)
    near = {id: set(cited) for id, cited in cites.items()}
    for id, cited in cites.items():
        for other in cited:
            near[other].add(id)
    fields: Counter[str] = Counter()
    of = {row["id"]: row["field"] for row in rows}
    for task in ("cite", "cocite"):
        queries: list[str] = []
        for split in ("test", "val"):
            qrels = read_qrels(tmp_path / "made" / task / f"{split}.qrel")
            queries += qrels
            for query, grades in qrels.items():
                together = Counter(other for cited in cites.values() if query in cited for other in cited - {query})
                related = cites[query] if task == "cite" else {id for id, count in together.items() if count >= 2}
                positives = {id for id, grade in grades.items() if grade}
                assert positives <= related
                assert len(positives) == min(5, len(related))
                assert len(grades) - len(positives) == 500
                assert not (set(grades) - positives) & (related | near[query] | {query})
        assert len(set(queries)) == len(queries) == 12
        fields.update(of[query] for query in queries)
    assert fields == {"Mathematics": 12, "Medicine": 12}
    report = evaluate("multi-scidocs", tmp_path / "made", mode="bm25", cache=tmp_path / "cache").to_dict()
    assert {name: task["queries"] for name, task in report["per_task"].items()} == {"cite": 6, "co-cite": 6}
    build_scidocs_like(rows, tmp_path / "again", settings)
    assert contents(tmp_path / "again") == contents(tmp_path / "made")


def test_what_has_no_scidocs_layout_is_one_line(tmp_path: Path) -> None:
    corpus = write_lines(tmp_path / "c.jsonl", papers(60))
    call = ("benchmarks", "build", "multi-scidocs", "--from", corpus, "--to", tmp_path / "made")
    result = sciretrieve(*call, "--set", "cocited=60")
    assert result.returncode == 2
    assert "0 papers with a title and an abstract have others for cocite; lower --set cited or --set cocited" in result.stderr
    assert "leave out --index" in sciretrieve(*call, "--index", tmp_path).stderr
    assert not (tmp_path / "made").exists()
    made = sciretrieve(*call[:-1], tmp_path / "few")
    assert made.stderr.count("with fewer than 500 negatives") == 4
    with pytest.raises(InvalidRequest, match="cannot hold an id with a blank, such as 'a b'"):
        build_scidocs_like([{**row, "id": "a b"} if row["id"] == "p0001" else row for row in papers(60)], tmp_path / "made")
