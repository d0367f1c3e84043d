"""Why papers stand where they stand, against counting over all papers; and remedies, each tried by really searching."""

from __future__ import annotations

import json
import math
import re
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import sciretrieve as sr
from sciretrieve.answers.explaining import Absence, explain, unmet, why_not
from sciretrieve.base.choices import FusionMethod, Mode
from sciretrieve.base.errors import InvalidRequest, NotFound
from sciretrieve.base.types import Paper, Query
from sciretrieve.matching.lexical import Analyzer
from tests.edited import edited_manifest
from tests.made_up import made_up_papers, write_jsonl
from tests.toy_encoder import StandIn

PAPERS = made_up_papers(300)
IDS = [paper["id"] for paper in PAPERS]
Scores = npt.NDArray[np.float64]


def bm25_scores(query: str, papers: list[dict[str, Any]]) -> Scores:
    """BM25 in Lucene's form with k1 1.2 and b 0.75, terms in titles counted twice; 0 without a common term."""
    terms = Analyzer().terms
    counts_by_paper = [Counter(terms(paper["abstract"]) + 2 * terms(paper["title"])) for paper in papers]
    mean = sum(counts.total() for counts in counts_by_paper) / len(counts_by_paper)
    scores = np.zeros(len(papers))
    for term, frequency in Counter(terms(query)).items():
        papers_with_term = sum(term in counts for counts in counts_by_paper)
        rarity = math.log(1 + (len(papers) - papers_with_term + 0.5) / (papers_with_term + 0.5))
        for row, counts in enumerate(counts_by_paper):
            saturated = counts[term] / (counts[term] + 1.2 * (1 - 0.75 + 0.75 * counts.total() / mean))
            scores[row] += 4 * frequency / (3 + frequency) * rarity * saturated
    return scores


def dense_scores(index: sr.Index, query: str) -> Scores:
    q = index.reader.query_encoder.encoder.encode_queries([Query("q", query)])[0].astype(np.float64)
    x = np.concatenate([shard.vectors for shard in index.snapshot.vectors]).astype(np.float64)
    by_metric: dict[str, Scores] = {
        "l2": -np.linalg.norm(x - q, axis=1),
        "ip": x @ q,
        "cosine": x @ q / np.linalg.norm(x, axis=1) / np.linalg.norm(q),
    }
    return by_metric[str(index.snapshot.manifest.metric)]


def assert_place(rank: int, score: float, row: int, scores: Scores, passing: npt.NDArray[np.bool_]) -> None:
    """The score is the paper's, and the rank one more than the passing papers with a greater one, up to the last bits."""
    assert score == pytest.approx(scores[row], abs=1e-5)
    surely, perhaps = (int((scores[passing] > scores[row] + slack).sum()) for slack in (1e-5, -1e-5))
    assert surely < rank <= perhaps + 1


@pytest.mark.parametrize("query", ["graph networks", "vaccine trial of a planet vaccine"])
@pytest.mark.parametrize("filter", [None, "year >= 2012"])
@pytest.mark.parametrize("metric", ["cosine", "l2", "ip"])
def test_places_are_those_among_all_papers_that_pass(built: Callable[..., Any], metric: str, filter: str | None, query: str) -> None:
    index = built(shard_size=128, **({} if metric == "cosine" else {"metric": metric}))
    assert index.snapshot.manifest.metric == metric
    assert len(index.snapshot.shards) == 3
    passing = np.array([filter is None or (paper["year"] or 0) >= 2012 for paper in PAPERS])
    near, words = dense_scores(index, query), bm25_scores(query, PAPERS)
    ids = [id for id, passes in zip(IDS, passing, strict=True) if passes][::9]
    for why in explain(index, query, ids, filter=filter):
        row = IDS.index(why.id)
        assert why.dense is not None
        assert_place(why.dense.rank, why.dense.score, row, near, passing)
        assert (why.bm25 is None) == (words[row] == 0) == (not why.words)
        if why.bm25 is not None:
            assert_place(why.bm25.rank, why.bm25.score, row, words, passing)
            assert sum(why.words.values()) == pytest.approx(why.bm25.score, abs=1e-4)
            assert list(why.words.values()) == sorted(why.words.values(), reverse=True)
            terms = Analyzer().terms
            paper_terms = set(terms(f"{PAPERS[row]['title']} {PAPERS[row]['abstract']}"))
            assert set(why.words) == {word for word in query.split() if set(terms(word)) & paper_terms}
    assert [why.id for why in explain(index, query, ids, filter=filter)] == ids


def test_words_are_shown_as_they_were_typed(index: sr.Index) -> None:
    words: set[str] = set()
    for why in explain(index, "Graphing NETWORK networks", IDS[:60]):
        words |= set(why.words)
    assert words == {"graphing", "network"}


def test_demands_narrow_who_is_ranked(index: sr.Index) -> None:
    """Ranks are among the papers that the search could answer with: here, those with the phrase and without the word."""
    texts = [f"{paper['title']} | {paper['abstract']}" for paper in PAPERS]
    passing = np.array(["molecules message" in text and "graph" not in text for text in texts])
    near = dense_scores(index, "nodes molecules message")
    ids = [id for id, passes in zip(IDS, passing, strict=True) if passes]
    assert 2 < len(ids) < 60
    for why in explain(index, 'nodes "molecules message" -graph', ids):
        assert why.dense is not None
        assert_place(why.dense.rank, why.dense.score, IDS.index(why.id), near, passing)


# sentences


SENTENCES = {
    "a": ["Graph networks pass messages between nodes.", "The weather in June was cold.", "We thank our readers."],
    "b": ["A cold June opened the year.", "Messages passed along the edges of a graph tell what a node is."],
    "c": ["Vaccines protect.", "Fig. 2 shows the doses, e.g. Those of children.", "Trials with antibodies ended early."],
    "d": ["One sentence only"],
    "e": [],
}
ABSTRACTS = {id: " ".join(parts) for id, parts in SENTENCES.items()}


@pytest.fixture(scope="module")
def story_index(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., sr.Index]:
    """Indexes of papers with real sentences."""
    folder = tmp_path_factory.mktemp("sentences")
    file = write_jsonl(folder / "p.jsonl", [{"id": id, "title": f"title {id}", "abstract": text} for id, text in ABSTRACTS.items()])

    def build(name: str, **settings: Any) -> sr.Index:
        return sr.build(file, folder / name, **settings)

    return build


@pytest.mark.parametrize("query", ["messages in graph neural networks", "was it cold in early summer?", "immune response after doses"])
@pytest.mark.parametrize("metric", ["cosine", "l2"])
def test_the_sentence_is_the_nearest_of_the_abstract(story_index: Callable[..., sr.Index], metric: str, query: str) -> None:
    index = story_index(metric, metric=metric)
    q = index.reader.query_encoder.encoder.encode_queries([Query("q", query)])[0].astype(np.float64)
    for why in explain(index, query, list(ABSTRACTS)):
        sentence_list = SENTENCES[why.id]
        if not sentence_list:
            assert why.sentence == ""
            continue
        x = np.concatenate([index.reader.query_encoder.encoder.encode_papers([Paper("", part)]) for part in sentence_list]).astype(
            np.float64
        )
        near = -np.linalg.norm(x - q, axis=1) if metric == "l2" else x @ q / np.linalg.norm(x, axis=1)
        assert near[sentence_list.index(why.sentence)] > near.max() - 2e-3


@pytest.mark.embedded_encoder
def test_words_of_a_paper_answer_words_of_the_query_by_meaning(story_index: Callable[..., sr.Index]) -> None:
    """The best of all pairs of words, of each text read alone; words that both have are not among them."""
    index = story_index("late", encoder="minilm")
    query = "the chilliness of summer weather"
    encoder = index.reader.query_encoder.with_tokens
    (query_tokens,) = encoder.encode_queries_late([Query("q", query)])[1]
    query_words = encoder.words("query", Paper("", query))
    assert len(query_words) == len(query_tokens) > 3  # "chilliness" is several tokens
    for why in explain(index, query, list(ABSTRACTS)):
        paper = Paper(why.id, f"title {why.id}", ABSTRACTS[why.id])
        (tokens,) = encoder.encode_papers_late([paper])
        words = encoder.words("paper", paper)
        assert len(words) == len(tokens)
        expected = {}
        for word in ("chilliness", "summer", "weather"):
            places = [place for place, other in enumerate(query_words) if other == word]
            pairs = [[(float(query_tokens[place] @ token), other) for token, other in zip(tokens, words, strict=True)] for place in places]
            best = [max((cosine, other) for cosine, other in part if other.isalnum()) for part in pairs]
            expected[word] = max(best)[1], sum(cosine for cosine, _ in best) / len(best)
        if why.id == "a":
            expected.pop("weather")
        assert {word: other for word, (other, _) in why.meanings.items()} == {word: other for word, (other, _) in expected.items()}
        for word, (_, cosine) in why.meanings.items():
            assert cosine == pytest.approx(expected[word][1], abs=1e-3)
        assert list(why.meanings.values()) == sorted(why.meanings.values(), key=lambda pair: -pair[1])
        if why.id in "ab":
            assert why.meanings["chilliness"][0] == "cold"


def test_a_word_in_another_case_is_the_word_itself(story_index: Callable[..., sr.Index]) -> None:
    (why,) = explain(story_index("late toy", encoder="minilm"), "june graph chilliness", ["a"])  # which has "June" and "Graph"
    assert set(why.words) == {"june", "graph"}
    assert set(why.meanings) == {"chilliness"}


def test_without_token_vectors_nothing_is_said_of_meanings(story_index: Callable[..., sr.Index]) -> None:
    index = story_index("plain", encoder="minilm", late=False)
    assert all(not why.meanings for why in explain(index, "chilly summer", list(ABSTRACTS)))


def test_an_index_without_vectors_explains_by_words(story_index: Callable[..., sr.Index]) -> None:
    why = {explanation.id: explanation for explanation in explain(story_index("words", encoder=None), "cold antibodies", list(ABSTRACTS))}
    assert {id: explanation.sentence for id, explanation in why.items() if explanation.bm25} == {
        "a": "The weather in June was cold.",
        "b": "A cold June opened the year.",
        "c": "Trials with antibodies ended early.",
    }
    assert {explanation.dense for explanation in why.values()} == {None}
    assert why["c"].bm25 is not None
    assert (why["c"].bm25.rank, list(why["c"].words)) == (1, ["antibodies"])
    assert (why["d"].bm25, why["d"].words) == (None, {})


def test_an_index_without_bm25_explains_by_meaning(built: Callable[..., Any]) -> None:
    index = built(lexical=None)
    near = dense_scores(index, "star dust")
    for why in explain(index, "star dust", IDS[:20]):
        assert (why.bm25, why.words) == (None, {})
        assert why.dense is not None
        assert_place(why.dense.rank, why.dense.score, IDS.index(why.id), near, np.ones(300, bool))


def stored(folder: Path, papers: list[dict[str, Any]], vectors: npt.NDArray[np.floating], **queries: list[float]) -> sr.Index:
    """An index of papers with these vectors. A text query has the id "1", which `queries` may have as `text`."""
    named = {paper["id"]: vector.tolist() for paper, vector in zip(papers, vectors, strict=True)}
    named |= {"1" if id == "text" else id: vector for id, vector in queries.items()}
    (folder / "v.jsonl").write_text("".join(json.dumps({"paper_id": id, "embedding": vector}) + "\n" for id, vector in named.items()))
    index = sr.build(write_jsonl(folder / "p.jsonl", papers), folder / "index", encoder=f"vectors:{folder / 'v.jsonl'}", shard_size=20)
    return sr.open(index.path, encoder=StandIn(folder / "v.jsonl"))


def test_an_index_of_stored_vectors_ranks_by_them_and_reads_by_words(tmp_path: Path) -> None:
    """Nothing can encode a sentence there, so the query's words choose it."""
    chance = np.random.default_rng(0)
    papers = [
        {"id": f"p{row:02d}", "title": "a title", "abstract": f"First something. Then w{row % 7} and w{row % 5}."} for row in range(40)
    ]
    vectors = chance.normal(size=(40, 4)).astype(np.float32)
    index = stored(tmp_path, papers, vectors, q=[1.0, 0.0, -1.0, 0.5])
    near = -np.linalg.norm(vectors.astype(np.float64) - [1.0, 0.0, -1.0, 0.5], axis=1)
    for why in explain(index, Query("q", "w1 w3"), [paper["id"] for paper in papers]):
        row = int(why.id[1:])
        assert why.dense is not None
        assert_place(why.dense.rank, why.dense.score, row, near, np.ones(40, bool))
        assert why.bm25 is None or why.sentence == papers[row]["abstract"].removeprefix("First something. ")
    absent = why_not(index, papers[int(near.argmin())]["id"], Query("q", "w1"), k=3)
    assert absent.explanation.dense is not None
    assert absent.explanation.dense.rank == 40
    with pytest.raises(InvalidRequest, match="has no vector of '1'"):
        explain(index, "a text without a vector", ["p00"])


def test_papers_that_are_not_there_are_named(index: sr.Index) -> None:
    for call in (lambda: explain(index, "graph", ["p0000", "nobody"]), lambda: why_not(index, "nobody", "graph")):
        with pytest.raises(NotFound, match="there is no paper 'nobody'"):
            call()


# why_not: every remedy is tried


def position(index: sr.Index, id: str, query: str, k: int, **options: Any) -> int | None:
    """Where a search answers with a paper, from 1."""
    ids = list(index.search(query, k, **options, group=False).rankings[0].ids)
    return ids.index(id) + 1 if id in ids else None


def assert_true(index: sr.Index, absence: Absence, id: str, query: str, k: int, mode: Mode | None, **options: Any) -> set[str]:
    """Check that the remedies for a paper that passes agree with searches. Returns the kinds of remedies."""
    kinds = set()
    assert absence.remedies
    for remedy in absence.remedies:
        if match := re.fullmatch(r"nothing is missing: it is number (\d+) of the answer", remedy):
            kinds.add("there")
            assert position(index, id, query, k, mode=mode, **options) == int(match[1])
        elif match := re.fullmatch(r"`k=(\d+)` would show it", remedy):
            kinds.add("k")
            assert position(index, id, query, int(match[1]), mode=mode, **options) == int(match[1]) > k
        elif match := re.fullmatch(r"`mode='(\w+)'` shows it at rank (\d+)", remedy):
            kinds.add("mode")
            assert position(index, id, query, k, **(options | {"mode": match[1]})) == int(match[2])
        elif match := re.fullmatch(r"with the word '(\w+)' added it is number (\d+)", remedy):
            kinds.add("word")
            assert not set(Analyzer().terms(match[1])) & set(Analyzer().terms(query))
            assert position(index, id, f"{query} {match[1]}", k, mode=mode, **options) == int(match[2])
        else:
            kinds.add("none")
            assert remedy.startswith("no other mode and no single word of its title brings it in")
            assert len(absence.remedies) == 1
    missing = position(index, id, query, k, mode=mode, **options) is None
    assert ("there" in kinds) == (not missing)
    for other in index.modes:
        shows = position(index, id, query, k, **(options | {"mode": other})) is not None
        assert (f"`mode={other!r}` " in " ".join(absence.remedies)) == (missing and shows and other != (mode or index.modes[0]))
    return kinds


PHRASES = st.sampled_from(
    ["graph networks", "vaccine trial", "orbit of a planet", "market star", '"price" market -risk', "message", "dose dose"]
)


@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    id=st.sampled_from(IDS),
    query=PHRASES,
    k=st.sampled_from([1, 5, 20, 90]),
    mode=st.sampled_from([None, "hybrid", "dense", "bm25"]),
    filter=st.sampled_from([None, "year >= 2008"]),
    fusion=st.sampled_from([None, "rrf"]),
)
def test_what_is_told_is_so(
    index: sr.Index, id: str, query: str, k: int, mode: Mode | None, filter: str | None, fusion: FusionMethod | None
) -> None:
    absence = why_not(index, id, query, k=k, mode=mode, filter=filter, fusion=fusion)
    assume(not absence.failed)
    assert_true(index, absence, id, query, k, mode, filter=filter, fusion=fusion)
    for name, rank in absence.ranks.items():
        assert position(index, id, query, 300, mode=name, filter=filter, fusion=fusion) == rank


@pytest.mark.parametrize(("depth", "query"), [(5, "graph networks"), (20, "star dust")])
def test_what_is_told_is_so_where_halves_propose_few(index: sr.Index, tmp_path: Path, depth: int, query: str) -> None:
    """Where a fusion looks at few candidates, a paper's rank depends on them: a rank within them is the search's."""
    path = Path(shutil.copytree(index.path, tmp_path / "copy"))
    with edited_manifest(path) as manifest:
        manifest["fusion"] = {"method": "convex", "alpha": 0.5, "normalisation": "min-max", "depth": depth}
    shallow = sr.open(path)
    shown = list(shallow.search(query, depth, group=False).rankings[0].ids)
    for id in [*shown[::2], *shallow.search(query, 60, group=False).rankings[0].ids[depth::6]]:
        rank = why_not(shallow, id, query, k=2).ranks["hybrid"]
        if id in shown:
            assert rank == shown.index(id) + 1
        else:
            assert rank is None or rank > depth
            for remedy in why_not(shallow, id, query, k=2).remedies:
                if match := re.fullmatch(r"`k=(\d+)` would show it", remedy):
                    assert position(shallow, id, query, int(match[1])) is not None
    unheard = [id for id in IDS if id not in shallow.search(query, 2 * depth, group=False).rankings[0].ids]
    assert why_not(shallow, unheard[0], query, k=2).ranks["hybrid"] is None


@pytest.mark.parametrize("settings", [{"encoder": None}, {"lexical": None}], ids=["BM25", "dense"])
def test_what_is_told_is_so_in_one_half(built: Callable[..., Any], settings: dict[str, Any]) -> None:
    index = built(**settings)
    kinds: set[str] = set()
    for query in ("graph", "vaccine trial"):
        for id in IDS[:40:3]:
            absence = why_not(index, id, query, k=5)
            assert list(absence.ranks) == list(index.modes)
            kinds |= assert_true(index, absence, id, query, 5, None)
    assert kinds >= {"k", "word"}


@pytest.fixture(scope="module")
def ten(tmp_path_factory: pytest.TempPathFactory) -> sr.Index:
    """Ten papers: in meaning p0 is the nearest to every text, p9 the farthest."""
    papers = [
        {"id": f"p{row}", "title": f"study{row} shared", "abstract": f"w{row} common", "year": 2000 + row, "venue": "AB"[row % 2]}
        for row in range(9)
    ]
    papers.append({"id": "p9", "title": "zebra quagga", "abstract": "stripes", "venue": "B"})
    vectors = np.array([[math.cos(row / 7), math.sin(row / 7)] for row in range(10)])
    return stored(tmp_path_factory.mktemp("ten"), papers, vectors, text=[1.0, 0.0])


def test_each_kind_of_remedy(ten: sr.Index) -> None:
    there = why_not(ten, "p0", "common shared", k=3)
    assert there.remedies == ("nothing is missing: it is number 1 of the answer",)
    assert (there.ranks, there.failed) == ({"hybrid": 1, "dense": 1, "bm25": 1}, ())
    wordless = why_not(ten, "p9", "common shared", k=3, mode="bm25")
    assert (wordless.explanation.bm25, wordless.explanation.words) == (None, {})
    assert wordless.ranks == {"hybrid": 10, "dense": 10, "bm25": None}
    assert assert_true(ten, wordless, "p9", "common shared", 3, "bm25") == {"word"}
    deeper = why_not(ten, "p8", "w8", k=3, mode="dense")
    assert deeper.remedies[:1] == ("`k=9` would show it",)
    assert "`mode='bm25'` shows it at rank 1" in deeper.remedies
    assert assert_true(ten, deeper, "p8", "w8", 3, "dense") >= {"k", "mode"}
    with_a_word = why_not(ten, "p7", "common", k=1)
    assert with_a_word.remedies[-1] == "with the word 'study7' added it is number 1"
    assert assert_true(ten, with_a_word, "p7", "common", 1, None) == {"k", "word"}


def test_of_several_words_the_one_that_brings_it_highest(tmp_path: Path) -> None:
    papers = [{"id": id, "title": title} for id, title in zip("abcd", ("alpha beta", "gamma", "beta gamma", "beta"), strict=True)]
    index = sr.build(write_jsonl(tmp_path / "p.jsonl", papers), tmp_path / "index", encoder=None)
    assert [position(index, "a", f"gamma {word}", 4) for word in ("alpha", "beta")] == [1, 4]
    assert why_not(index, "a", "gamma", k=4).remedies == ("with the word 'alpha' added it is number 1",)


def test_nothing_brings_it_in(tmp_path: Path) -> None:
    papers = [{"id": "a", "title": "graph"}, {"id": "b", "title": "", "abstract": "stripes"}]
    index = sr.build(write_jsonl(tmp_path / "p.jsonl", papers), tmp_path / "index", encoder=None)
    assert assert_true(index, why_not(index, "b", "graph"), "b", "graph", 10, None) == {"none"}


@pytest.mark.parametrize(
    ("query", "filter", "failed"),
    [
        ("common", "year >= 2007", ["it fails the filter's year >= 2007: its year is 2004"]),
        ("common", 'year < 2004 and venue == "B"', ["year < 2004: its year is 2004", 'venue == "B": its venue is "A"']),
        ("common", 'venue == "B" or year == 2001', ['(venue == "B" or year == 2001): its venue is "A", its year is 2004']),
        ("common", "doi contains '10.'", ['doi contains "10.": its doi is not known']),
        ('common "w5"', None, ['it does not meet the query\'s "w5"']),
        ("common -w4", None, ["it does not meet the query's -w4"]),
        ("common title:study5", None, ["it does not meet the query's title:study5"]),
        ("common AND w5 w6", None, ["it lacks what the query requires: w5, w6"]),
        ("common AND study4 w6", None, ["it lacks what the query requires: w6"]),
        ('w5 OR "w6 common"', None, ['it has none of these, and the query requires one: w5 OR "w6 common"']),
        ("common NOT (w3 OR w4)", None, ["it has what the query excludes: NOT (w3 OR w4)"]),
        ("common year:2005-2009", None, ["it does not meet the query's year:2005-2009"]),
        ("common AND (venue:A OR w4) AND NOT w4", None, ["it has what the query excludes: NOT w4"]),
        ("common (w5 OR w6) -w4", "year is null", ["year is null: its year is 2004", "requires one: w5 OR w6", "the query's -w4"]),
        ("common -w4 -w5", "year >= 2007 and year < 2020", ["year >= 2007: its year is 2004", "it does not meet the query's -w4"]),
    ],
)
def test_what_it_fails_is_named(ten: sr.Index, query: str, filter: str | None, failed: list[str]) -> None:
    absence = why_not(ten, "p4", query, k=10, filter=filter)
    assert position(ten, "p4", query, 10, filter=filter) is None
    assert len(absence.failed) == len(failed)
    assert all(said.endswith(expected) for said, expected in zip(absence.failed, failed, strict=True))
    assert absence.remedies[0].startswith("without that, it would be number ")
    assert not any(word in " ".join(absence.remedies) for word in ("-k", "--mode", "nothing is missing"))


def test_without_what_it_fails_the_rest_still_holds(ten: sr.Index) -> None:
    """It is the second of those of its venue that lack the word, and the fifth of all."""
    absence = why_not(ten, "p4", "common -w0", k=10, mode="dense", filter='year >= 2007 and venue == "A"')
    assert absence.failed == ("it fails the filter's year >= 2007: its year is 2004",)
    assert position(ten, "p4", "common -w0", 10, mode="dense", filter='venue == "A"') == 2
    assert absence.remedies[0] == "without that, it would be number 2"
    assert absence.ranks["dense"] == 2


def test_a_paper_that_fails_and_is_nowhere_near(ten: sr.Index) -> None:
    absence = why_not(ten, "p9", "common", k=3, mode="bm25", filter="year >= 2000")
    assert absence.failed == ("it fails the filter's year >= 2000: its year is not known",)
    assert absence.remedies[0] == "without that, it would not be among the candidates"
    assert absence.remedies[1].startswith("with the word ")


def test_a_query_as_a_query_has_no_operators(index: sr.Index) -> None:
    absence = why_not(index, "p0000", Query("q", "graph -networks"), k=300)
    assert absence.failed == ()
    assert absence.remedies[0].startswith("nothing is missing")


def test_a_filter_of_fields_explains_as_its_text_does(index: sr.Index) -> None:
    for ask in (
        lambda filter: explain(index, "graph", IDS[:3], filter=filter),
        lambda filter: why_not(index, IDS[0], "graph", filter=filter),
    ):
        assert ask(sr.field("year") >= 2008) == ask("year >= 2008")


def test_what_no_paper_meets_is_said_as_it_was_typed(index: sr.Index) -> None:
    assert unmet(index, '"zzz yyy" OR "qqq www"') == ['"zzz yyy" OR "qqq www"']
