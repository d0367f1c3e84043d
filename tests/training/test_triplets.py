"""`train build triplets`: every constraint of every recipe, by plain loops over a thousand made-up papers."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

from sciretrieve.base.errors import InvalidRequest, UnknownName
from sciretrieve.evaluation.builders import CiteSettings, build_cite
from sciretrieve.training import leakage
from sciretrieve.training.field_shares import FIELDS, PUBLISHED
from sciretrieve.training.triplets import RECIPES
from tests.command_line import sciretrieve
from tests.made_up import SHARED, write_jsonl
from tests.training.thousand import facts, library, made, table, usable


def papers(*, has_fields: bool = True) -> list[dict[str, Any]]:
    """The made-up papers, each with a title of its own, which also cite some that are not there."""
    others = (
        {"title": f"{row['title']} {number}", "references": [*row["references"], f"x{number}"]} for number, row in enumerate(library())
    )
    rows = [row | other for row, other in zip(library(), others, strict=True)]
    return rows if has_fields else [{name: value for name, value in row.items() if name != "fieldsOfStudy"} for row in rows]


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
    return {recipe: made("triplets", recipe, folder / recipe, papers()) for recipe in RECIPES}


OF_CITATIONS = tuple(recipe for recipe in RECIPES if recipe != "scincl")
"""Recipes whose positives are cited."""


@pytest.mark.parametrize("recipe", OF_CITATIONS)
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
    made("triplets", "specter2", tmp_path / "set", papers(has_fields=False))
    assert {kind for *_, kind in triplets(tmp_path / "set")} == {"hard", "easy"}
    assert {Counter(kind for *_, kind in drawn)["easy"] for drawn in by_query(tmp_path / "set").values()} == {6}


def test_scimult_draws_one_for_each_pair_and_a_hard_one_where_there_is_any(folders: dict[str, Path]) -> None:
    rows = papers()
    full, links = {row["id"] for row in rows if row["abstract"]}, cites(rows)
    drawn = triplets(folders["scimult"])
    assert {(query, positive) for query, positive, *_ in drawn} == {(id, other) for id in full for other in links[id] & full}
    for query, positive, _, kind in drawn:
        assert (kind == "hard") == bool(links[positive] & full - links[query] - {query})


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


def test_ids_may_have_any_character(tmp_path: Path) -> None:
    """Also those that a table quotes, and those by which Unicode ends a line."""
    rows = papers()[:200]
    build_cite(rows, tmp_path / "tests", CiteSettings(queries=10, cited=3, cocited=1000))
    folder = made("triplets", "scimult", tmp_path / "set", rows)
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


def asked_by_field(folder: Path) -> Counter[str]:
    rows = usable(library())
    return Counter((rows[query]["fieldsOfStudy"] or [""])[0] for query in {row[0] for row in table(folder, "triplets.tsv")})


@pytest.mark.parametrize(
    ("shares", "weights"),
    [
        ("even", {"Physics": 1, "Biology": 1, "Art": 1, "Law": 1}),
        ("physics=0.5, Law=0.25,Art=0.25", {"Physics": 2, "Law": 1, "Art": 1}),
        ("Biology", {"Biology": 1}),
        ("scirepeval", {"Physics": 217670, "Biology": 882357, "Art": 89527}),
        ("s2orc", {"Physics": 2930, "Biology": 14561, "Art": 12}),
    ],
)
@pytest.mark.parametrize("most", [None, 50])
def test_queries_are_spread_over_fields(tmp_path: Path, shares: str, weights: dict[str, int], most: int | None) -> None:
    counts = asked_by_field(made("triplets", "scimult", tmp_path / "set", queries=most, shares=shares))
    rows, known = usable(library()), {row["id"] for row in library()}
    there = Counter((row["fieldsOfStudy"] or [""])[0] for row in rows.values() if set(row["references"]) & known)
    total = sum(weights.values())
    # a query that cites nothing usable makes no triplet, so counts may be a little lower than what was drawn
    expected = min(most or 10**9, *(there[field] * total / weight for field, weight in weights.items()))
    assert counts.keys() <= weights.keys()
    for field, weight in weights.items():
        assert expected * weight / total * 0.85 - 1 <= counts[field] < expected * weight / total + 1
    assert facts(tmp_path / "set")["shares"] == shares


def test_s2orc_asks_only_papers_of_a_known_field(tmp_path: Path) -> None:
    asked, plain = (asked_by_field(made("triplets", recipe, tmp_path / recipe)) for recipe in ("s2orc", "specter"))
    assert plain.pop("") > 0
    assert asked == plain
    with pytest.raises(InvalidRequest, match="the corpus has no column of fields"):
        made("triplets", "s2orc", tmp_path / "x", papers(has_fields=False))
    with pytest.raises(UnknownName, match="unknown field 'Medicin'"):
        made("triplets", "scimult", tmp_path / "x", shares="Medicin")


def test_published_shares_are_those_of_the_tables() -> None:
    """Their sums: Seoh et al. 2023, Table 5, without papers of no known field; percentages of two fields there."""
    sums = {name: sum(counts) for name, (_, counts) in PUBLISHED.items()}
    assert (sums["specter"], sums["s2orc"]) == (170268 - 10611, 74478)
    assert PUBLISHED["s2orc"][1][FIELDS.index("Medicine")] / 74478 == pytest.approx(0.4072, abs=5e-5)
    assert PUBLISHED["specter"][1][FIELDS.index("Computer Science")] / 170268 == pytest.approx(0.6100, abs=5e-5)
    assert all(len(counts) == len(FIELDS) == 19 for _, counts in PUBLISHED.values())
