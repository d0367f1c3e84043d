"""Mined negatives against scores of all papers, each asked for alone; and queries spread over fields, by counting."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sciretrieve as sr
from sciretrieve.base.choices import Metric
from sciretrieve.base.errors import InvalidRequest, UnknownName
from sciretrieve.base.types import Paper, Query
from sciretrieve.evaluation.builders import CiteSettings
from sciretrieve.progress import Silent
from sciretrieve.training import Mining, build_pairs, build_triplets
from sciretrieve.training.field_shares import FIELDS, PUBLISHED, parsed_shares
from sciretrieve.training.mining import Miner
from tests.command_line import sciretrieve
from tests.made_up import write_jsonl
from tests.toy_encoder import LetterEncoder
from tests.training.thousand import by_id, contents, facts, library, table, usable

SETTINGS = CiteSettings(cited=1, queries=80)


@pytest.fixture(scope="module")
def bm25(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bm25") / "index"
    sr.build(library(), folder, encoder=None, dense="none", progress=False).close()
    return folder


def ranked(index: Any, query: Query, mode: str) -> list[tuple[str, float]]:
    """All papers with their scores, best first, by id where these are the same."""
    ids = [row["id"] for row in library()]
    scores = dict(zip(ids, index.score(query, ids, mode=mode).tolist(), strict=True))
    return sorted(((id, score) for id, score in scores.items() if score > 0), key=lambda pair: (-pair[1], pair[0]))


def allowed(ranking: list[tuple[str, float]], positive: str, mining: Mining) -> list[str]:
    scores = dict(ranking[: mining.last])
    if positive not in scores:
        return []
    return [id for id, score in ranking[mining.first - 1 : mining.last] if score < mining.share * scores[positive]]


@pytest.mark.parametrize("mining", [Mining("bm25"), Mining("bm25", 5, 600, 0.8)])
def test_mined_negatives_of_triplets_take_the_place_of_hard_ones(tmp_path: Path, bm25: Path, mining: Mining) -> None:
    build_triplets(library(), tmp_path / "set", "specter", SETTINGS, mining=mining)
    build_triplets(library(), tmp_path / "plain", "specter", SETTINGS)
    rows, plain = usable(library()), table(tmp_path / "plain", "triplets.tsv")
    drawn = table(tmp_path / "set", "triplets.tsv")
    assert len(drawn) == len(plain)
    used: dict[str, set[str]] = defaultdict(set)
    own = defaultdict(set)
    for query, _, negative, _ in plain:
        own[query].add(negative)
    with sr.open(bm25) as index:
        rankings = {
            query: ranked(index, Query(query, paper=Paper(query, rows[query]["title"], rows[query]["abstract"])), "bm25") for query in own
        }
    for (query, positive, negative, kind), before in zip(drawn, plain, strict=True):
        assert [query, positive] == before[:2]
        barred = {query, *rows[query]["references"], *own[query], *used[query]}
        candidates = [id for id in allowed(rankings[query], positive, mining) if id in rows and id not in barred]
        if before[3] == "hard" and candidates:
            assert (negative, kind) == (candidates[0], "mined")
            used[query].add(negative)
        else:
            assert [negative, kind] == before[2:]
    kinds = Counter(kind for *_, kind in drawn)
    assert kinds["mined"] > 10
    assert kinds["hard"] > 10
    assert facts(tmp_path / "set")["mined"] == {"by": "bm25", "ranks": [mining.first, mining.last], "share": mining.share}
    assert list((tmp_path / "set").iterdir()) != []
    assert {path.name for path in (tmp_path / "set").iterdir()} == {"corpus.jsonl", "triplets.tsv", "training.json"}


@pytest.mark.parametrize("recipe", ["titles", "keywords", "sentences"])
def test_mined_negatives_of_pairs_have_the_form_of_positives(tmp_path: Path, bm25: Path, recipe: str) -> None:
    mining = Mining(bm25, 1, 300)
    build_pairs(library(), tmp_path / "set", recipe, SETTINGS, mining=mining)
    rows = usable(library())
    queries = by_id(tmp_path / "set" / "queries.jsonl")
    with sr.open(bm25) as index:
        rankings = {id: ranked(index, Query(id, paper=Paper("", "", row["text"])), "bm25") for id, row in queries.items()}
    mined = 0
    for query, positive, negative, kind in table(tmp_path / "set", "pairs.tsv"):
        paper = positive.split("#")[0]
        candidates = [id for id in allowed(rankings[query], paper, mining) if id in rows and id != paper]
        if candidates:
            assert (negative, kind) == (candidates[0] + "#abstract" * (recipe == "titles"), "mined")
            mined += 1
        else:
            assert negative == kind == ""
    assert mined > 15
    assert {id for _, *ids, _ in table(tmp_path / "set", "pairs.tsv") for id in ids if id} == by_id(
        tmp_path / "set" / "corpus.jsonl"
    ).keys()


def test_mined_negatives_of_a_label_have_other_labels(tmp_path: Path) -> None:
    rows = [row | {"authors": [], "venue": None, "references": []} for row in library()]
    build_pairs(rows, tmp_path / "set", "label-papers", CiteSettings(), mining=Mining("bm25", 1, 1000))
    labels = {id: {word.lower() for word in row["keywords"]} for id, row in usable(rows).items()}
    found = [pair for pair in table(tmp_path / "set", "pairs.tsv") if pair[2]]
    for label, _, negative, kind in found:
        assert kind == "mined"
        assert labels[negative]
        assert label.removeprefix("label:") not in labels[negative]
    assert found
    taken = [(label, negative) for label, _, negative, _ in found]
    assert len(set(taken)) == len(taken)


@pytest.mark.parametrize("metric", ["ip", "l2", "cosine"])
def test_vectors_mine_by_their_metric(tmp_path: Path, metric: Metric) -> None:
    """Scores below 0, as distances are, have the bound on their side: a negative is a twentieth further away."""
    encoder = LetterEncoder(metric=metric)
    rows = library()[:300]
    sr.build(rows, tmp_path / "index", encoder=encoder, progress=False).close()
    papers = [Paper(row["id"], row["title"], row["abstract"]) for row in rows]
    queries = [Query(paper.id, paper.title) for paper in papers[:40]]
    vectors = encoder.encode_papers(papers).astype(np.float64)
    asked = encoder.encode_queries(queries).astype(np.float64)
    if metric == "cosine":
        vectors, asked = (array / np.linalg.norm(array, axis=1, keepdims=True) for array in (vectors, asked))
    products = asked @ vectors.T
    distances = np.square(asked[:, None] - vectors[None]).sum(2)
    scores = -np.sqrt(distances) if metric == "l2" else products
    with sr.open(tmp_path / "index", encoder=encoder) as index:
        miner = Miner(index, "dense", Mining(tmp_path / "index", 2, 80, 0.9), {paper.id for paper in papers})
        found = dict(miner.negatives(queries, {query.id: [query.id] for query in queries}, {}, Silent()))
    compared = 0
    for place, query in enumerate(queries):
        bound = 0.9 * scores[place, place] if metric != "l2" else scores[place, place] / 0.9
        order = np.argsort(-scores[place], kind="stable")[:80].tolist()
        if place not in order:
            assert found[query.id] == {}
            continue
        sure = {papers[row].id for row in order[1:79] if scores[place, row] < bound - 1e-3 * abs(bound)} - {query.id}
        possible = {papers[row].id for row in order if scores[place, row] < bound + 1e-3 * abs(bound)} - {query.id}
        assert sure - set(found[query.id][query.id]) <= {papers[row].id for row in order[70:]}  # where ties end the ranking
        assert set(found[query.id][query.id]) - possible <= {papers[row].id for row in order[70:]}
        compared += len(found[query.id][query.id])
    assert compared > 50


def test_an_index_of_other_papers_mines_nothing(tmp_path: Path, bm25: Path) -> None:
    with pytest.raises(InvalidRequest, match="has papers that the corpus lacks"):
        build_pairs(library()[:100], tmp_path / "set", "titles", mining=Mining(bm25))
    with pytest.raises(InvalidRequest, match="`share` must be above 0"):
        Mining(bm25, share=0)


def test_the_command_mines(tmp_path: Path, bm25: Path) -> None:
    write_jsonl(tmp_path / "papers.jsonl", library())
    for name, by in (("one", "bm25"), ("other", str(bm25))):
        made = sciretrieve(
            *("train", "build", "pairs", "--recipe", "titles", "--mine", by, "--set", "ranks=2-50", "--queries", "40"),
            *("--from", tmp_path / "papers.jsonl", "--to", tmp_path / name),
        )
        assert made.returncode == 0, made.stderr
        assert "40 pairs of 40 queries; negatives: " in made.stderr
        assert facts(tmp_path / name)["mined"]["ranks"] == [2, 50]
    one, other = contents(tmp_path / "one"), contents(tmp_path / "other")
    assert one["pairs.tsv"] == other["pairs.tsv"]
    assert one["corpus.jsonl"] == other["corpus.jsonl"]


def queries_by_field(folder: Path) -> Counter[str]:
    rows = usable(library())
    return Counter((rows[query]["fieldsOfStudy"] or [""])[0] for query in {row[0] for row in table(folder, "triplets.tsv")})


def possible() -> Counter[str]:
    """Papers that may be queries, by their main field: those that cite a usable one."""
    rows = usable(library())
    known = {row["id"] for row in library()}
    return Counter((row["fieldsOfStudy"] or [""])[0] for row in rows.values() if set(row["references"]) & known)


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
    build_triplets(library(), tmp_path / "set", "scimult", CiteSettings(cited=1, queries=most), shares=shares)
    counts, there = queries_by_field(tmp_path / "set"), possible()
    total = sum(weights.values())
    # a query that cites nothing usable makes no triplet, so counts may be a little lower than what was drawn
    bound = min(there[field] * total / weight for field, weight in weights.items())
    expected = min(most or 10**9, bound)
    assert counts.keys() <= weights.keys()
    for field, weight in weights.items():
        assert expected * weight / total * 0.85 - 1 <= counts[field] < expected * weight / total + 1
    assert facts(tmp_path / "set")["shares"] == shares


def test_s2orc_asks_only_papers_of_a_known_field(tmp_path: Path) -> None:
    build_triplets(library(), tmp_path / "set", "s2orc", CiteSettings(cited=1))
    build_triplets(library(), tmp_path / "plain", "specter", CiteSettings(cited=1))
    rows = usable(library())
    assert {row[0] for row in table(tmp_path / "set", "triplets.tsv")} == {
        row[0] for row in table(tmp_path / "plain", "triplets.tsv") if rows[row[0]]["fieldsOfStudy"]
    }
    with pytest.raises(InvalidRequest, match="the corpus has no column of fields"):
        build_triplets(
            [{name: row[name] for name in ("id", "title", "abstract", "references")} for row in library()], tmp_path / "x", "s2orc"
        )


def test_published_shares_are_those_of_the_tables() -> None:
    """Their sums: Seoh et al. 2023, Table 5, without papers of no known field; percentages of three fields there and of Table 9 here."""
    sums = {name: sum(counts) for name, (_, counts) in PUBLISHED.items()}
    assert (sums["specter"], sums["s2orc"]) == (170268 - 10611, 74478)
    medicine = FIELDS.index("Medicine")
    assert PUBLISHED["s2orc"][1][medicine] / 74478 == pytest.approx(0.4072, abs=5e-5)
    assert PUBLISHED["specter"][1][FIELDS.index("Computer Science")] / 170268 == pytest.approx(0.6100, abs=5e-5)
    assert all(len(counts) == len(FIELDS) == 19 for _, counts in PUBLISHED.values())


@pytest.mark.parametrize("text", ["Medicine=", "Medicine=x", "Medicine=0", "=1", "Medicine=1,", "a=1,a=2", "a=nan", "a=inf"])
def test_shares_that_are_none_are_named(text: str) -> None:
    with pytest.raises(InvalidRequest, match="share"):
        parsed_shares(text)


def test_a_field_that_no_paper_has_is_said(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="unknown field 'Medicin'"):
        build_triplets(library(), tmp_path / "set", "scimult", CiteSettings(cited=1), shares="Medicin")
    write_jsonl(tmp_path / "papers.jsonl", library())
    made = sciretrieve(
        *("train", "build", "triplets", "--recipe", "s2orc", "--set", "shares=Law=1,Zoology=2", "--from", tmp_path / "papers.jsonl"),
        *("--to", tmp_path / "set"),
    )
    assert "spread over fields by Law=1,Zoology=2; no papers are of Zoology" in made.stderr
