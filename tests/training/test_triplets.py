"""`train build triplets`: every constraint of every recipe, by plain loops over a thousand made-up papers."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

from sciretrieve.base.errors import InvalidRequest, NotFound, UnknownName
from sciretrieve.evaluation.builders import CiteSettings, build_cite
from sciretrieve.training import RECIPES, build_triplets, leakage
from tests.command_line import sciretrieve
from tests.made_up import SHARED, write_jsonl
from tests.training.thousand import by_id, facts, library, table


def papers(*, has_fields: bool = True) -> list[dict[str, Any]]:
    """The made-up papers, each with a title of its own, which also cite some that are not there."""
    others = (
        {"title": f"{row['title']} {number}", "references": [*row["references"], f"x{number}"]} for number, row in enumerate(library())
    )
    rows = [row | other for row, other in zip(library(), others, strict=True)]
    return rows if has_fields else [{name: value for name, value in row.items() if name != "fieldsOfStudy"} for row in rows]


def made(to: Path, recipe: str, rows: list[dict[str, Any]] | None = None, *, without: tuple[str, ...] = (), **settings: Any) -> Path:
    build_triplets(papers() if rows is None else rows, to, recipe, CiteSettings(cited=1, **settings), without=without)
    return to


def triplets(folder: Path) -> list[tuple[str, str, str, str]]:
    return [(query, positive, negative, kind) for query, positive, negative, kind in table(folder, "triplets.tsv")]


def cites(rows: list[dict[str, Any]]) -> dict[str, set[str]]:
    known = {row["id"] for row in rows}
    return {row["id"]: {other for other in row["references"] if other in known} for row in rows}


def by_query(folder: Path) -> dict[str, list[tuple[str, str, str]]]:
    grouped: dict[str, list[tuple[str, str, str]]] = defaultdict(list)
    for query, *rest in triplets(folder):
        grouped[query].append((rest[0], rest[1], rest[2]))
    return grouped


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("triplets")
    return {recipe: made(folder / recipe, recipe) for recipe in RECIPES}


@pytest.mark.parametrize("recipe", RECIPES)
def test_what_all_recipes_promise(folders: dict[str, Path], recipe: str) -> None:
    rows = papers()
    full = {row["id"] for row in rows if row["abstract"]}
    links = cites(rows)
    drawn = triplets(folders[recipe])
    assert len(set(drawn)) == len(drawn) > 500
    for query, positive, negative, kind in drawn:
        assert {query, positive, negative} <= full
        assert len({query, positive, negative}) == 3
        assert positive in links[query]
        assert negative not in links[query]
        through = {positive} if recipe == "scimult" else links[query] & full
        assert (negative in set().union(*(links[other] for other in through))) == (kind == "hard")
    lines = [json.loads(line) for line in (folders[recipe] / "corpus.jsonl").read_text().splitlines()]
    assert [line["_id"] for line in lines] == sorted({id for triplet in drawn for id in triplet[:3]})
    said = facts(folders[recipe])
    assert (said["triplets"], said["queries"]) == (len(drawn), len({triplet[0] for triplet in drawn}))
    assert said["kinds"] == dict(Counter(triplet[3] for triplet in drawn))
    texts = {row["id"]: row for row in rows}
    bare = [line for line in lines if not line["text"]]
    assert all(line["title"] == texts[line["_id"]]["title"] for line in lines)
    assert all(line["text"] in ("", texts[line["_id"]]["abstract"]) for line in lines)
    assert said["title_only"] == len(bare)
    assert (0.02 < len(bare) / len(lines) < 0.09) == (recipe == "specter2")
    assert bool(bare) == (recipe == "specter2")


def reachable(links: dict[str, set[str]], full: set[str], query: str) -> set[str]:
    return set().union(*(links[other] for other in links[query] & full)) & full - links[query] - {query}


def test_specter_draws_two_hard_and_three_easy_ones(folders: dict[str, Path]) -> None:
    rows = papers()
    full, links = {row["id"] for row in rows if row["abstract"]}, cites(rows)
    grouped = by_query(folders["specter"])
    possible = {id for id in full if reachable(links, full, id)}
    assert set(grouped) == possible
    for query, drawn in grouped.items():
        kinds = Counter(kind for *_, kind in drawn)
        pairs = len(links[query] & full) * len(reachable(links, full, query))
        assert kinds == {"hard": min(2, pairs), "easy": 5 - min(2, pairs)}


def test_specter2_draws_four_hard_ones_and_two_of_each_kind_of_field(folders: dict[str, Path]) -> None:
    rows = papers()
    full, links = {row["id"] for row in rows if row["abstract"]}, cites(rows)
    fields = {row["id"]: set(row["fieldsOfStudy"]) for row in rows}
    grouped = by_query(folders["specter2"])
    assert set(grouped) == {id for id in full if reachable(links, full, id)}
    for query, drawn in grouped.items():
        hard = min(4, len(reachable(links, full, query)))
        kinds = Counter(kind for *_, kind in drawn)
        if fields[query]:
            assert kinds == {"hard": hard, "same fields": 2, "shared field": 2, "other fields": 2}
        else:
            assert kinds == {"hard": hard, "easy": 6}
        assert len({negative for _, negative, _ in drawn}) == len(drawn)
        uses = Counter(positive for positive, *_ in drawn)  # each positive in turn
        assert max(uses.values()) - min(uses[id] for id in links[query] & full) <= 1
        for _, negative, kind in drawn:
            if kind == "same fields":
                assert fields[negative] == fields[query]
            elif kind == "shared field":
                assert fields[negative] & fields[query]
            elif kind == "other fields":
                assert not fields[negative] & fields[query]


def test_specter2_without_fields_draws_six_by_chance(tmp_path: Path) -> None:
    made(tmp_path / "set", "specter2", papers(has_fields=False))
    assert {kind for *_, kind in triplets(tmp_path / "set")} == {"hard", "easy"}
    assert {Counter(kind for *_, kind in drawn)["easy"] for drawn in by_query(tmp_path / "set").values()} == {6}


def test_scimult_draws_one_for_each_pair_and_a_hard_one_where_there_is_any(folders: dict[str, Path]) -> None:
    rows = papers()
    full, links = {row["id"] for row in rows if row["abstract"]}, cites(rows)
    drawn = triplets(folders["scimult"])
    assert {(query, positive) for query, positive, *_ in drawn} == {(id, other) for id in full for other in links[id] & full}
    for query, positive, _, kind in drawn:
        assert (kind == "hard") == bool(links[positive] & full - links[query] - {query})


def test_the_seed_alone_decides(folders: dict[str, Path], tmp_path: Path) -> None:
    again, other = made(tmp_path / "again", "specter"), made(tmp_path / "other", "specter", seed=1)
    for name in ("triplets.tsv", "corpus.jsonl", "training.json"):
        assert (again / name).read_bytes() == (folders["specter"] / name).read_bytes()
    assert set(triplets(other)) != set(triplets(again))
    few = made(tmp_path / "few", "specter", queries=20)
    assert all(drawn == by_query(again)[query] for query, drawn in by_query(few).items())
    assert 10 < len(by_query(few)) <= 20


@pytest.mark.parametrize("recipe", RECIPES)
def test_no_test_query_and_none_of_its_pairs_is_ever_there(tmp_path: Path, recipe: str) -> None:
    rows = papers()
    build_cite(rows, tmp_path / "tests", CiteSettings(queries=60, cited=3, cocited=3))
    renamed = [row | {"id": "x" + row["id"], "references": ["x" + other for other in row["references"]]} for row in rows]
    for corpus, mark in ((rows, ""), (renamed, "x")):  # known by its id, and by its title
        name = f"beir:{tmp_path / 'tests'}"
        folder = made(tmp_path / f"set{mark}", recipe, corpus, without=(name,))
        tested = {mark + id for file in ("queries.jsonl", "queries-cocite.jsonl") for id in by_id(tmp_path / "tests" / file)}
        assert len(tested) > 60
        drawn = triplets(folder)
        assert len(drawn) > 200
        assert not tested & {id for triplet in drawn for id in triplet[:3]}
        leak = leakage(folder, name)
        assert (leak.queries, leak.trained_queries, leak.trained_pairs) == (len(tested), (), ())
        assert leak.trained_relevant


def test_leakage_counts_test_papers_by_id_or_title_and_pairs(tmp_path: Path, folders: dict[str, Path]) -> None:
    rows = papers()
    build_cite(rows, tmp_path / "tests", CiteSettings(queries=60, cited=3, cocited=1000))
    qrels = [line.split("\t") for line in (tmp_path / "tests" / "qrels" / "test.tsv").read_text().splitlines()[1:]]
    drawn = triplets(folders["scimult"])
    trained = {id for triplet in drawn for id in triplet[:3]}
    leak = leakage(folders["scimult"], f"beir:{tmp_path / 'tests'}")
    queries, relevant = {query for query, *_ in qrels}, {other for _, other, _ in qrels}
    assert (leak.queries, leak.relevant, leak.pairs) == (len(queries), len(relevant), len(qrels))
    assert set(leak.trained_queries) == queries & trained
    assert set(leak.trained_relevant) == relevant & trained
    pairs = {(query, other) for query, other, _ in qrels}
    assert set(leak.trained_pairs) == pairs & ({triplet[:2] for triplet in drawn} | {(triplet[1], triplet[0]) for triplet in drawn})
    assert leak.trained_pairs


def test_leakage_reads_the_format_of_scirepeval(tmp_path: Path) -> None:
    rows = papers()
    build_cite(rows, tmp_path / "tests", CiteSettings(queries=60, cited=3, cocited=1000))
    query, positive, _ = (tmp_path / "tests" / "qrels" / "test.tsv").read_text().splitlines()[1].split("\t")
    titles = {row["id"]: row["title"] for row in rows}
    row = {
        "query": {"corpus_id": 1, "title": titles[query].upper(), "abstract": ""},
        "pos": {"corpus_id": 2, "title": titles[positive] + ".", "abstract": ""},
        "neg": {"corpus_id": 3, "title": "Something else", "abstract": None},
    }
    (tmp_path / "set.json").write_text(json.dumps([row]))
    write_jsonl(tmp_path / "set.jsonl", [row])
    for name in ("set.json", "set.jsonl"):
        leak = leakage(tmp_path / name, f"beir:{tmp_path / 'tests'}")
        assert leak.trained_queries == (query,)
        assert set(leak.trained_relevant) == {positive} | ({query} & set(leak.trained_relevant))
        assert leak.trained_pairs == ((query, positive),)


@pytest.mark.skipif(not (SHARED / "scirepeval-sample").is_dir(), reason="the real data are not here")
def test_leakage_of_the_papers_own_triplets() -> None:
    leak = leakage(SHARED / "scirepeval-sample" / "specter_small.json", f"beir:{SHARED / 'acm'}")
    assert (leak.queries, leak.relevant, len(leak.trained_relevant)) == (316, 633, 4)


def test_the_commands_make_a_set_and_say_what_leaks(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "papers.jsonl", papers())
    sciretrieve(
        "benchmarks", "build", "cite", "--from", tmp_path / "papers.jsonl", "--to", tmp_path / "tests", "--queries", "50", "--quiet"
    )
    made_set = sciretrieve(
        *("train", "build", "triplets", "--recipe", "specter2", "--from", tmp_path / "papers.jsonl"),
        *("--without", f"beir:{tmp_path / 'tests'}", "--to", tmp_path / "set"),
    )
    assert "papers of the corpus are test queries, and are left out" in made_set.stderr
    assert "fields are read from 'fieldsOfStudy'" in made_set.stderr
    printed = sciretrieve("benchmarks", "leakage", tmp_path / "set", "--test", f"beir:{tmp_path / 'tests'}").stdout
    assert re.search(r"  0 of \d+ \(0\.0%\)  \d+ of [\d,]+ \(\d+\.\d%\)  0 of [\d,]+ \(0\.0%\)\n", printed)
    (leak,) = json.loads(
        sciretrieve("benchmarks", "leakage", tmp_path / "set", "--test", f"beir:{tmp_path / 'tests'}", "--format", "json").stdout
    )
    assert leak["trained_queries"] == []
    assert len(leak["trained_relevant"]) <= leak["relevant"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["triplets"], "name how triplets are drawn with --recipe: specter, specter2, scimult, s2orc"),
        (["triplets", "--recipe", "spectre"], "unknown recipe 'spectre'; did you mean"),
        (["triplets", "--recipe", "specter", "--set", "cited=500"], "the recipe specter makes no triplet"),
        (["triplets", "--recipe", "specter", "--without", "beir:nowhere"], "nowhere"),
        (["triplets", "--recipe", "specter", "--without", "mdcr"], "takes beir:DIR and cite:DIR, not 'mdcr'"),
    ],
)
def test_a_wrong_command_is_a_line(tmp_path: Path, arguments: list[str], message: str) -> None:
    write_jsonl(tmp_path / "papers.jsonl", papers()[:200])
    result = sciretrieve("train", "build", *arguments, "--from", tmp_path / "papers.jsonl", "--to", tmp_path / "set")
    assert result.returncode == 2
    assert message in result.stderr
    assert not (tmp_path / "set").exists()


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("set.json", "[{]", "is not JSON"),
        ("set.json", '{"query": 1}', "is no list of"),
        ("set.json", '[{"query": {"title": "x"}}]', "triplet 1: 'query' is no paper"),
        ("triplets.tsv", "a\tb\n", "does not begin with the columns query-id"),
        ("triplets.tsv", "query-id\tpositive-id\tnegative-id\tkind\np\tp\n", "line 2: 2 columns"),
        ("triplets.tsv", "query-id\tpositive-id\tnegative-id\tkind\np\tp\tq\thard\n", "line 2, names the paper 'q'"),
    ],
)
def test_a_broken_set_is_named(tmp_path: Path, name: str, text: str, message: str) -> None:
    (tmp_path / "corpus.jsonl").write_text('{"_id": "p", "title": "t", "text": "a"}\n')
    (tmp_path / name).write_text(text)
    with pytest.raises(InvalidRequest, match=message.replace("(", r"\(")):
        leakage(tmp_path if name == "triplets.tsv" else tmp_path / name, "beir:nowhere")


def test_ids_may_have_any_character(tmp_path: Path) -> None:
    """Also those that a table quotes, and those by which Unicode ends a line."""
    rows = papers()[:200]
    build_cite(rows, tmp_path / "tests", CiteSettings(queries=10, cited=3, cocited=1000))
    folder = made(tmp_path / "set", "scimult", rows)
    expected = leakage(folder, f"beir:{tmp_path / 'tests'}")
    odd = {row["id"]: f'{row["id"]} "a\tb"\n\u2028c' for row in rows}
    with (folder / "triplets.tsv").open(encoding="utf-8", newline="") as file:
        header, *lines = csv.reader(file, delimiter="\t")
    with (folder / "triplets.tsv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter="\t", lineterminator="\n").writerows(
            [header, *([odd.get(cell, cell) for cell in line] for line in lines)]
        )
    write_jsonl(
        folder / "corpus.jsonl",
        [row | {"_id": odd[row["_id"]]} for row in map(json.loads, (folder / "corpus.jsonl").read_text().splitlines())],
    )
    leak = leakage(folder, f"beir:{tmp_path / 'tests'}")  # known by their titles alone
    assert leak.trained_pairs == expected.trained_pairs != ()


def test_what_is_no_set_or_recipe_is_said(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"has no corpus\.jsonl"):
        leakage(tmp_path, "beir:nowhere")
    with pytest.raises(NotFound, match="there is no training set at"):
        leakage(tmp_path / "nothing", "beir:nowhere")
    with pytest.raises(UnknownName, match="recipe"):
        build_triplets(papers(), tmp_path / "set", "other")
