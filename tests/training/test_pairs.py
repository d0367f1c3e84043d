"""`train build pairs`: every constraint of every recipe, by plain loops over a thousand made-up papers."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

from sciretrieve.base.errors import InvalidRequest
from sciretrieve.training import Mining, leakage, read_training_set
from tests.made_up import shared, write_jsonl
from tests.training.thousand import beir_folder, by_id, facts, library, made, search_file, table, usable

OF_CORPORA = ("titles", "sentences", "keywords", "scimult-labels", "scimult-labels-plain", "label-papers")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pairs")
    return {recipe: made("pairs", recipe, folder / recipe) for recipe in OF_CORPORA}


def keywords(row: dict[str, Any]) -> list[str]:
    return [word.lower() for word in row["keywords"]]


def alone(texts: dict[str, str]) -> dict[str, str]:
    """Those texts that no other paper has."""
    counts = Counter(text.lower().strip(".") for text in texts.values())
    return {id: text for id, text in texts.items() if counts[text.lower().strip(".")] == 1}


@pytest.mark.parametrize("recipe", OF_CORPORA)
def test_what_all_recipes_promise(folders: dict[str, Path], recipe: str) -> None:
    folder = folders[recipe]
    pairs = table(folder, "pairs.tsv")
    queries, papers = by_id(folder / "queries.jsonl"), by_id(folder / "corpus.jsonl")
    assert len(set(map(tuple, pairs))) == len(pairs) > 300
    named = {id for pair in pairs for id in pair[1:3] if id} | {pair[0] for pair in pairs if pair[0] not in queries}
    assert named == papers.keys()
    assert queries.keys() <= {pair[0] for pair in pairs}
    assert all(bool(pair[2]) == bool(pair[3]) and pair[1] != pair[2] for pair in pairs)
    said = facts(folder)
    assert (said["task"], said["recipe"], said["pairs"]) == ("pairs", recipe, len(pairs))
    assert said["kinds"] == dict(Counter(pair[3] or "none" for pair in pairs))
    assert said["queries"] == len({pair[0] for pair in pairs})
    ids = set(usable(library()))
    assert {row.get("metadata", {}).get("original", {}).get("id", id) for id, row in papers.items() if not id.startswith("label:")} <= ids
    read = read_training_set(folder)
    assert read.triplets == [tuple(pair[:3]) for pair in pairs]
    assert read.queries == {id: row["text"] for id, row in queries.items()}
    assert {id: (paper.title, paper.abstract) for id, paper in read.papers.items()} == {
        id: (row["title"], row["text"]) for id, row in papers.items()
    }


def test_a_title_asks_for_its_abstract(folders: dict[str, Path]) -> None:
    rows = usable(library())
    expected = alone({id: row["title"] for id, row in rows.items()})
    assert 500 < len(expected) < len(rows)
    queries, papers = by_id(folders["titles"] / "queries.jsonl"), by_id(folders["titles"] / "corpus.jsonl")
    assert table(folders["titles"], "pairs.tsv") == [[f"{id}#title", f"{id}#abstract", "", ""] for id in expected]
    for id, title in expected.items():
        assert queries[f"{id}#title"]["text"] == title
        original = {"original": {"id": id, "title": title}}
        assert papers[f"{id}#abstract"] == {"_id": f"{id}#abstract", "title": "", "text": rows[id]["abstract"], "metadata": original}


def test_a_sentence_asks_for_the_paper_without_it(folders: dict[str, Path]) -> None:
    rows = usable(library())
    queries, papers = by_id(folders["sentences"] / "queries.jsonl"), by_id(folders["sentences"] / "corpus.jsonl")
    drawn = table(folders["sentences"], "pairs.tsv")
    possible, numbers = set(), set()
    for id, row in rows.items():
        parts = [part + "." for part in row["abstract"].split(".")[:-1]]
        if len(parts) > 1 and any(len(part.split()) >= 5 for part in parts):
            possible.add(id)
    for query, positive, negative, kind in drawn:
        id, form = query.split("#")
        number = int(form.removeprefix("sentence-"))
        numbers.add(number)
        parts = [part.strip() + "." for part in rows[id]["abstract"].split(".")[:-1]]
        assert (positive, negative, kind) == (f"{id}#without-{number}", "", "")
        assert queries[query]["text"] == parts.pop(number - 1)
        assert len(queries[query]["text"].split()) >= 5
        assert (papers[positive]["title"], papers[positive]["text"]) == (rows[id]["title"], " ".join(parts))
    texts = Counter(row["text"] for row in queries.values())
    assert set(texts.values()) == {1}
    dropped = possible - {query.split("#")[0] for query, *_ in drawn}
    assert len(drawn) + len(dropped) == len(possible)
    # only those are missing that may have drawn the sentence that many papers have
    assert dropped
    assert all("All of them agree with what was measured." in rows[id]["abstract"] for id in dropped)
    assert {1, 2, 3} <= numbers


def test_keywords_ask_for_their_paper(folders: dict[str, Path]) -> None:
    rows = usable(library())
    expected = alone({id: ", ".join(keywords(row)) for id, row in rows.items() if row["keywords"]})
    queries, papers = by_id(folders["keywords"] / "queries.jsonl"), by_id(folders["keywords"] / "corpus.jsonl")
    assert table(folders["keywords"], "pairs.tsv") == [[f"{id}#keywords", id, "", ""] for id in expected]
    assert {id: row["text"] for id, row in queries.items()} == {f"{id}#keywords": text for id, text in expected.items()}
    assert all(papers[id] == {"_id": id, "title": rows[id]["title"], "text": rows[id]["abstract"]} for id in expected)


def near(rows: dict[str, dict[str, Any]], id: str) -> dict[str, set[str]]:
    """The papers that have labels and are near one, by how they are."""
    row = rows[id]
    others = {other for other in rows if other != id and rows[other]["keywords"]}
    return {
        "cited": {other for other in others if other in row["references"]},
        "same author": {other for other in others if set(row["authors"]) & set(rows[other]["authors"])},
        "same venue": {other for other in others if row["venue"] and row["venue"] == rows[other]["venue"]},
    }


def test_plain_labels_are_the_same_pairs_without_negatives(folders: dict[str, Path]) -> None:
    pairs = table(folders["scimult-labels"], "pairs.tsv")
    assert table(folders["scimult-labels-plain"], "pairs.tsv") == [[*pair[:2], "", ""] for pair in pairs]


@pytest.mark.parametrize("recipe", ["scimult-labels", "label-papers"])
def test_negatives_of_labels_are_of_near_papers_and_no_label_has_many_pairs(folders: dict[str, Path], recipe: str) -> None:
    rows = usable(library())
    having = defaultdict(set)
    for id, row in rows.items():
        for word in keywords(row):
            having[word].add(id)
    is_label_first = recipe == "label-papers"
    pairs = table(folders[recipe], "pairs.tsv")
    counts: Counter[str] = Counter()
    near_of = {id: near(rows, id) for id in rows if rows[id]["keywords"]}
    for query, positive, negative, kind in pairs:
        label, paper = (query, positive) if is_label_first else (positive, query)
        label = label.removeprefix("label:")
        counts[label] += 1
        assert label in keywords(rows[paper])
        if is_label_first:
            hard = {way: {other for other in others if label not in keywords(rows[other])} for way, others in near_of[paper].items()}
            assert negative in hard[kind] if kind else not any(hard.values())
        else:
            labels = {way: {word for other in others for word in keywords(rows[other])} for way, others in near_of[paper].items()}
            own = set(keywords(rows[paper]))
            assert negative.removeprefix("label:") in labels[kind] - own if kind else not any(found - own for found in labels.values())
    assert counts == {label: min(100, len(ids)) for label, ids in having.items()}
    assert max(map(len, having.values())) > 100
    kinds = Counter(pair[3] for pair in pairs)
    assert kinds.keys() >= {"cited", "same author", "same venue"}
    assert min(kinds[way] for way in ("cited", "same author", "same venue")) > len(pairs) / 10
    texts = by_id(folders[recipe] / ("queries.jsonl" if is_label_first else "corpus.jsonl"))
    assert {texts[f"label:{label}"]["text" if is_label_first else "title"] for label in counts} == set(counts)


@pytest.mark.parametrize("papers_too", [False, True])
def test_queries_that_are_judged(tmp_path: Path, papers_too: bool) -> None:
    qrels = beir_folder(tmp_path, papers_too=papers_too)
    everything = table(made("pairs", "queries", tmp_path / "all", str(tmp_path)), "pairs.tsv")
    train, known = qrels["train"], set(usable(library()))
    assert [pair[:2] for pair in everything] == [
        [query, id] for query, grades in train.items() for id, grade in grades.items() if grade > 0 and id in known
    ]
    for query, _, negative, kind in everything:
        irrelevant = {id for id, grade in train[query].items() if grade == 0 and id in known}
        assert (negative in irrelevant and kind == "judged") if irrelevant else negative == kind == ""
    name = f"beir:{tmp_path}"
    kept = table(made("pairs", "queries", tmp_path / "kept", [str(tmp_path)], without=(name,)), "pairs.tsv")
    tested = {"again"} | (qrels["test"].keys() & known)
    assert [pair[:2] for pair in kept] == [pair[:2] for pair in everything if pair[0] not in tested and pair[1] not in tested]
    assert not tested & {id for pair in kept for id in pair[:3]}
    assert leakage(tmp_path / "all", name).trained_queries
    leak = leakage(tmp_path / "kept", name)
    assert (leak.trained_queries, leak.trained_pairs) == ((), ())
    assert leak.trained_relevant


def test_searches_with_clicks(tmp_path: Path) -> None:
    searches = search_file(tmp_path / "search.jsonl")
    folder = made("pairs", "scimult-search", tmp_path / "set", tmp_path / "search.jsonl")
    clicked = {
        (search["doc_id"], one["corpus_id"]): {other["corpus_id"] for other in search["candidates"] if not other["score"]}
        for search in searches
        for one in search["candidates"]
        if one["score"]
    }
    pairs = table(folder, "pairs.tsv")
    assert [tuple(pair[:2]) for pair in pairs] == list(clicked)
    for query, positive, negative, kind in pairs:
        others = clicked[query, positive]
        assert (negative in others and kind == "shown") if others else negative == kind == ""
    texts = {search["doc_id"]: search["query"] for search in searches}
    assert all(row["text"] == texts[id] for id, row in by_id(folder / "queries.jsonl").items())


def test_leakage_finds_pairs_of_texts_and_of_papers_whose_text_is_changed(tmp_path: Path) -> None:
    rows = list(usable(library()).values())
    made("pairs", "titles", tmp_path / "set")
    (tmp_path / "qrels").mkdir()
    write_jsonl(tmp_path / "corpus.jsonl", [{"_id": f"x{row['id']}", "title": row["title"], "text": row["abstract"]} for row in rows])
    first, second = rows[0], rows[1]
    write_jsonl(tmp_path / "queries.jsonl", [{"_id": "a", "text": first["title"]}, {"_id": "b", "text": "something else"}])
    (tmp_path / "qrels" / "test.tsv").write_text(f"a\tx{first['id']}\t1\na\tx{second['id']}\t1\nb\tx{second['id']}\t1\n")
    leak = leakage(tmp_path / "set", f"beir:{tmp_path}")
    assert (leak.queries, leak.trained_queries) == (2, ("a",))
    assert (leak.relevant, set(leak.trained_relevant)) == (2, {f"x{first['id']}", f"x{second['id']}"})
    assert (leak.pairs, leak.trained_pairs) == (3, (("a", f"x{first['id']}"),))


def test_all_that_a_folder_judges_is_tested_but_what_is_to_learn_from(tmp_path: Path) -> None:
    """Also where two splits have queries of their own with the same ids."""
    rows = list(usable(library()).values())
    write_jsonl(tmp_path / "corpus.jsonl", [{"_id": row["id"], "title": row["title"], "text": row["abstract"]} for row in rows])
    (tmp_path / "qrels").mkdir()
    texts = {"test": rows[0]["title"], "dev": rows[1]["title"], "train": rows[2]["title"]}
    for number, (split, text) in enumerate(texts.items()):
        write_jsonl(tmp_path / f"queries-{split}.jsonl", [{"_id": "1", "text": text}])
        (tmp_path / "qrels" / f"{split}.tsv").write_text(f"query-id\tcorpus-id\tscore\n1\t{rows[number]['id']}\t1\n")
    whole = made("pairs", "titles", tmp_path / "whole")
    kept = made("pairs", "titles", tmp_path / "kept", without=(f"beir:{tmp_path}",))
    missing = {row["text"] for row in by_id(whole / "queries.jsonl").values()} - {
        row["text"] for row in by_id(kept / "queries.jsonl").values()
    }
    assert missing == {texts["test"], texts["dev"]}
    leak = leakage(whole, f"beir:{tmp_path}")
    assert (leak.queries, leak.relevant, leak.pairs) == (2, 2, 2)
    assert set(leak.trained_pairs) == {("1", rows[1]["id"]), ("1 (test)", rows[0]["id"])}


def test_a_paper_may_not_have_the_id_of_a_changed_text(tmp_path: Path) -> None:
    rows = [{"id": id, "title": f"title {id}", "abstract": "It is."} for id in ("a", "a#abstract", "b")]
    with pytest.raises(InvalidRequest, match="a paper has the id 'a#abstract'"):
        made("pairs", "titles", tmp_path / "set", rows)


def test_real_searches_are_read(tmp_path: Path) -> None:
    path = shared("scirepeval-sample") / "search_small.jsonl"
    folder = made("pairs", "scimult-search", tmp_path / "set", path)
    searches = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(table(folder, "pairs.tsv")) == sum(bool(one["score"]) for search in searches for one in search["candidates"])


@pytest.mark.parametrize("task", ["PAR", "PPR"])
def test_patients_are_papers_without_a_title_and_all_that_is_relevant_is_a_pair(tmp_path: Path, task: str) -> None:
    """The layout of the data's authors; a patient is never its own answer, and what nobody names is left out."""
    source, ids = tmp_path / "data", ["p1", "p2", "p3", "p4"]
    (source / "queries").mkdir(parents=True)
    (source / task).mkdir()
    write_jsonl(source / "queries" / "train_queries.jsonl", [{"_id": id, "text": f"a patient {id}"} for id in ids[:3]])
    corpus = [{"_id": f"a{at}", "title": f"an article {at}", "text": f"of {at}"} for at in range(9)] if task == "PAR" else []
    corpus += [{"_id": id, "title": "", "text": f"a patient {id}"} for id in ids] if task == "PPR" else []
    write_jsonl(source / task / f"{task}_corpus.jsonl", corpus)
    rows = [("p1", "a3"), ("p1", "a5"), ("p3", "a3")] if task == "PAR" else [("p1", "p4"), ("p2", "p2"), ("p3", "p1")]
    lines = "".join(f"{query}\t{other}\t2\n" for query, other in rows)
    (source / task / f"{task}_train_qrels.tsv").write_text(f"query-id\tcorpus-id\tscore\n{lines}")
    folder = made("pairs", f"pmc-patients-{task.lower()}", tmp_path / "set", source)
    expected = [(query, other) for query, other in rows if query != other]
    assert [tuple(row) for row in table(folder, "pairs.tsv")] == [(*pair, "", "") for pair in expected]
    found = {id: (row["title"], row["text"]) for id, row in by_id(folder / "corpus.jsonl").items()}
    texts = {row["_id"]: (row["title"], row["text"]) for row in corpus} | {id: ("", f"a patient {id}") for id in ids}
    assert found == {id: texts[id] for pair in expected for id in pair}
    read = read_training_set(folder)
    assert (read.queries, read.asked) == ({}, "proximity")


def test_what_is_mined_for_patients_is_an_article_and_no_patient(tmp_path: Path) -> None:
    """Though other patients are nearer to a patient than any wrong article is."""
    source, ids = tmp_path / "data", range(6)
    (source / "queries").mkdir(parents=True)
    (source / "PAR").mkdir()
    text = "a patient with fever and cough, number"
    write_jsonl(source / "queries" / "train_queries.jsonl", [{"_id": f"p{at}", "text": f"{text}{at}"} for at in ids])
    articles = [{"_id": f"a{at}", "title": f"of number{at}", "text": f"fever in {text}{at}"} for at in ids]
    write_jsonl(source / "PAR" / "PAR_corpus.jsonl", articles)
    judged = "".join(f"p{at}\ta{at}\t2\n" for at in ids)
    (source / "PAR" / "PAR_train_qrels.tsv").write_text(f"query-id\tcorpus-id\tscore\n{judged}")
    folder = made("pairs", "pmc-patients-par", tmp_path / "set", source, mining=Mining("bm25"))
    rows = table(folder, "pairs.tsv")
    assert {kind for *_, kind in rows} == {"mined"}
    assert {negative[0] for _, _, negative, _ in rows} == {"a"}
