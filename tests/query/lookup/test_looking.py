"""Papers by titles, references and abstracts, through an index, against a look at every paper in plain Python."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sciretrieve as sr
from sciretrieve.base.choices import Mode
from sciretrieve.base.errors import Ambiguous, NotFound
from sciretrieve.base.types import Scores
from sciretrieve.options import SearchOptions
from sciretrieve.query.lookup import looking
from sciretrieve.query.lookup.texts import TypedText
from tests.command_line import sciretrieve
from tests.made_up import TOPICS, write_jsonl
from tests.toy_encoder import LetterEncoder

ENDINGS = ["survey", "study", "approach", "framework", "evaluation"]
EDITORIALS = [{"id": f"editorial {number}", "title": "Author Index", "abstract": "", "year": 2000 + number} for number in range(3)]
PLAIN = {"id": "plain", "title": "Vaccines", "abstract": "Of vaccines and trials.", "year": None}


def papers_with_titles(count: int) -> list[dict[str, Any]]:
    """Papers whose titles are like each other: of the same few words, in parts, one beginning as another does."""
    chance = random.Random(7)
    papers: list[dict[str, Any]] = []
    for number in range(count):
        words = TOPICS[chance.choice(sorted(TOPICS))]
        title = f"{chance.choice(['A', 'The', 'Towards'])} {' '.join(chance.sample(words, 4))}: an {chance.choice(ENDINGS)}"
        title += chance.choice(
            ["", "", f", part {chance.choice(['I', 'II', '3'])}", f" of state-of-the-{chance.choice(['art', 'field'])} methods"]
        )
        abstract = ". ".join(" ".join(chance.choices(words + ENDINGS, k=9)) for _ in range(5))
        authors = chance.sample(["Lovelace, Ada", "Alan Turing", "Grace Hopper", "Jackson, Mary"], chance.randint(0, 3))
        year = chance.choice([None, *range(1990, 2020)])
        papers.append({"id": f"t{number:03d}", "title": title, "abstract": abstract, "authors": authors, "year": year})
    return papers


PAPERS = [*papers_with_titles(90), *EDITORIALS, PLAIN]
DELETED = {"t003", "editorial 1"}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> sr.Index:
    """The papers in several shards, without vectors; two are deleted."""
    folder = tmp_path_factory.mktemp("looking")
    sr.build(write_jsonl(folder / "papers.jsonl", PAPERS), folder / "index", encoder=None, shard_size=40).close()
    sr.delete(folder / "index", sorted(DELETED))
    return sr.open(folder / "index")


def seen(text: str, since: int = 0) -> tuple[str, set[str]]:
    """What a text means, by looking at every paper."""
    typed = TypedText(text)
    papers = [paper for paper in PAPERS if paper["id"] not in DELETED and (not since or (paper["year"] or 0) >= since)]

    def those(test: Callable[[dict[str, Any]], Any]) -> set[str]:
        return {paper["id"] for paper in papers if test(paper)}

    def best(rate: Callable[[dict[str, Any]], float | None]) -> set[str]:
        rates = {paper["id"]: rate(paper) for paper in papers}
        known = [value for value in rates.values() if value is not None]
        return {id for id, value in rates.items() if known and value == max(known)}

    def slips(paper: dict[str, Any]) -> float | None:
        count = typed.slips(paper["title"])
        return None if count is None else -count

    def length(paper: dict[str, Any]) -> float | None:
        return len(paper["title"]) if typed.cites(paper["title"], paper.get("authors", ()), paper["year"]) else None

    def share(paper: dict[str, Any]) -> float | None:
        value = typed.share(f"{paper['title']} {paper['abstract']}")
        return value if value >= 0.7 else None

    for by, ids, most in (
        ("title", those(lambda paper: typed.is_title(paper["title"])), 100),
        ("beginning of a title", those(lambda paper: typed.begins(paper["title"])), 5),
        ("misspelt title", best(slips), 5),
        ("reference", best(length) if re.search(r"\d{4}|\b[A-Z]\.", text) else set(), 100),
        ("text", best(share), 100),
    ):
        if 0 < len(ids) <= most:
            return by, ids
    return "", set()


def texts(paper: dict[str, Any], chance: random.Random) -> list[str]:
    """What may be typed for a paper: its title whole, in parts, misspelt, in a reference; pieces of its abstract; words out of order."""
    title, abstract = paper["title"], paper["abstract"]
    parts, sentence = title.split(), abstract.split()
    place = chance.choice([place for place in range(len(title) - 1) if title[place : place + 2].isalpha()])
    start = chance.randrange(max(len(sentence) - 20, 1))
    return [
        title,
        title.upper(),
        title.replace("-", " "),
        " ".join(parts[: chance.randrange(2, len(parts) + 1)]),
        title[:place] + title[place + 1 :],
        title[:place] + title[place + 1] + title[place] + title[place + 2 :],
        " ".join(chance.sample(parts, len(parts))),
        " ".join(sentence[start : start + 20]),
        " ".join(chance.sample(sentence, min(20, len(sentence)))),
        f"{'; '.join(paper.get('authors', ()))} ({paper.get('year')}). {title}. Journal 7.",
        f"Nobody, N. (1901). {title}. Journal 7.",
    ]


def test_all_that_may_be_typed_means_what_a_look_at_every_paper_says(index: sr.Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looking, "MOST_READ", len(PAPERS))  # all of these papers have the same words
    chance = random.Random(11)
    kinds = set()
    for paper in PAPERS[:90:7]:
        for text in texts(paper, chance):
            match = index.snapshot.lookup.meant(text, index.snapshot.scope)
            assert (match.by, set(index.ids(match.rows))) == seen(text), text
            kinds.add(match.by)
    assert kinds == {"", "title", "beginning of a title", "misspelt title", "reference", "text"}


def test_only_papers_that_may_answer_are_meant(index: sr.Index) -> None:
    assert index.search("Author index", filter="year >= 2002")[0].known == {"editorial 2": "title"}
    for paper in PAPERS[:40]:
        by, ids = seen(paper["title"], 2005)
        assert index.search(paper["title"], filter="year >= 2005", group=False)[0].known == dict.fromkeys(ids, by)


def test_a_title_of_one_word_comes_first_and_words_that_name_nothing_change_nothing(index: sr.Index) -> None:
    assert index.search("vaccines")[0].ids[0] == "plain"
    for query in ("vaccine trial", "graph networks of nodes", "planet survey dust approach", "the"):
        typed, taken = index.search(query, group=False)[0], index.search(sr.Query("1", query), group=False)[0]
        assert not typed.known
        assert list(typed.ids) == list(taken.ids)
        assert typed.scores.tolist() == taken.scores.tolist()


def test_operators_stay_what_they_are(index: sr.Index) -> None:
    title = PAPERS[5]["title"]
    assert list(index.search(f'{title} -"{PAPERS[5]["abstract"].split(".")[0]}"')[0].known) == []
    assert list(index.search(f'"{title}"')[0].known) == ["t005"]
    # what no query may say is pasted without a thought
    assert list(index.search(f"Nobody (1901). {PAPERS[5]['abstract']} AND more)", group=False)[0].known) == ["t005"]


@pytest.mark.parametrize(
    "text", ["graph " * 10**5, "x" * 10**5, ". A. " * 10**4, "10.1000/" * 10**4, "😀", "图神经网络", "\\$", "the of and"]
)
def test_whatever_is_pasted_is_read(index: sr.Index, text: str) -> None:
    assert not len(index.snapshot.lookup.identified(text))
    assert not len(index.snapshot.lookup.meant(text, index.snapshot.scope))


def test_a_title_names_a_paper_wherever_an_id_is_taken(index: sr.Index) -> None:
    title = next(paper["title"] for paper in PAPERS if seen(paper["title"]) == ("title", {paper["id"]}))
    (paper,) = index.papers(title.lower())
    assert paper.title == title
    assert list(index.similar(title)[0].ids) == list(index.similar(paper.id)[0].ids)
    with pytest.raises(
        Ambiguous, match=r"'author index' is the title of 2 papers; name one by its id: editorial 0 \(Author Index, 2000\); edit"
    ):
        index.papers("author index")
    beginning = " ".join(title.split()[:-1])
    if seen(beginning)[0] == "beginning of a title":
        with pytest.raises(NotFound, match="did you mean"):
            index.papers(beginning)


@pytest.mark.parametrize(
    ("typed", "first"),
    [
        ("large limits of superconformal theories", "b"),
        ("Superconformal Field Theries", "a"),
        ("on the limit of conformal theories", "c"),
        ("superconformal", "a"),
    ],
)
def test_an_unknown_title_suggests_near_ones(tmp_path: Path, typed: str, first: str) -> None:
    titles = {"a": "Superconformal field theories", "b": "The large N limit of superconformal field theories and supergravity"}
    titles |= {"c": "On the large N limit of conformal field theory", "d": "Vaccines", "e": "Limits"}
    sr.build([{"id": id, "title": title} for id, title in titles.items()], tmp_path / "index", encoder=None).close()
    for command in ("similar", "cite"):
        result = sciretrieve(command, typed, "-i", tmp_path / "index")
        assert result.returncode == 2
        assert f"there is no paper '{typed}' in {tmp_path / 'index'}; did you mean {first} ({titles[first]})" in result.stderr
        assert "Vaccines" not in result.stderr


def test_the_command_says_how_the_first_papers_were_found(index: sr.Index) -> None:
    result = sciretrieve("search", "author", "index", "-i", index.path, "-k", "1")
    assert result.stderr.splitlines() == ["first come the 2 papers with this title"]
    assert (
        '"known": [\n    {\n      "id": "editorial 0",\n      "by": "title"\n    }'
        in sciretrieve("search", "author", "index", "-i", index.path, "-f", "json").stdout
    )


class Backwards:
    """A reranker that puts the last first: it scores papers by their ids."""

    name = "backwards"

    def score(self, query: sr.Query, papers: Sequence[sr.Paper]) -> Scores:
        return np.array([float(paper.id.removeprefix("t")) if paper.id.startswith("t") else -1.0 for paper in papers])


@pytest.mark.parametrize("mode", ["hybrid", "dense", "bm25"])
def test_nothing_moves_what_is_meant_from_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: Mode) -> None:
    title = {"id": "t900", "title": PAPERS[5]["title"], "abstract": "", "authors": ["Another, N."], "year": 2021}
    sr.build([*PAPERS, title], tmp_path / "index", encoder="letters", shard_size=60).close()
    named = {"t005", "t900"}
    with sr.open(tmp_path / "index", encoder=LetterEncoder()) as index:
        ways: list[SearchOptions] = [SearchOptions(mode), SearchOptions(mode, group=False), SearchOptions(mode, diversify=True)]
        ways.append(SearchOptions(mode, reranker=Backwards(), rerank_depth=20))
        for options in ways:
            ranking = index.search(PAPERS[5]["title"], 6, options)[0]
            assert set(ranking.ids[:2]) == set(ranking.known) == named
            assert (np.diff(ranking.scores[:2]) == 0).all()
            assert ranking.scores[2:].max() <= ranking.scores[0]
            assert len(ranking) == len(set(ranking.ids)) == 6
            assert not ranking.weak
            others = [id for id in index.search(sr.Query("1", PAPERS[5]["title"]), 6, options)[0].ids if id not in named]
            if not options.diversify:
                assert list(ranking.ids[2:])[: len(others)] == others[:4]


ON_A_SUBJECT = [
    {"id": "holography", "title": "Anti De Sitter Space And Holography", "authors": ["Edward Witten"], "year": 1998},
    {"id": "baryons", "title": "Baryons and branes in anti de Sitter space", "authors": ["Witten, E."], "year": 1998},
    {"id": "later", "title": "Anti de Sitter space again", "authors": ["Edward Witten"], "year": 2001},
    {"id": "other", "title": "Multi-strings in anti de Sitter space", "authors": ["A. L. Larsen"], "year": 1998},
    {"id": "large", "title": "The Large N Limit of Superconformal Field Theories", "authors": ["Juan Maldacena"], "year": 1997},
    {"id": "small", "title": "Large and small black holes", "authors": ["Juan Maldacena"], "year": 1999},
    {"id": "children", "title": "Reading and children", "authors": ["Neil Young"], "year": 2010},
    # words that are mostly no names: a topic stays one
    *({"id": f"young{number}", "title": f"Young children and reading, study {number}{number}", "year": 2000} for number in range(9)),
    *({"id": f"invariants{number}", "title": f"On Seiberg-Witten invariants {number}{number}", "year": 1995} for number in range(30)),
]


def test_a_name_beside_words_of_titles_means_the_authors_papers_with_these(tmp_path: Path) -> None:
    papers = [{"abstract": "Of space, fields and children.", **paper} for paper in ON_A_SUBJECT]
    index = sr.open(sr.build(write_jsonl(tmp_path / "papers.jsonl", papers), tmp_path / "index", encoder=None).path)
    meant: dict[str, list[str]] = {
        "witten 1998 anti de sitter": ["baryons", "holography"],
        "anti de sitter witten 2001": ["later"],
        "maldacena large N": ["large"],
        "maldacena large black holes": ["small"],
        "witten anti de sitter": [],  # where it is rarely a name, a year must say so
        "witten 1998 wormholes": [],
        "young children reading": [],
        "seiberg witten invariants": [],
        "holes": [],
    }
    assert {text: sorted(index.search(text, 5, group=False)[0].known) for text in meant} == meant


def test_an_index_without_words_knows_identifiers_alone(tmp_path: Path) -> None:
    with sr.build(PAPERS[:20], tmp_path / "index", encoder="letters", lexical=None) as index:
        assert not index.search(PAPERS[5]["title"])[0].known
        assert index.search("t005")[0].known == {"t005": "id"}
