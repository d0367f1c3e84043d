"""What is read as prose, in which nothing is demanded, and what is an expression, which is obeyed to the letter."""

import json
import random
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sciretrieve as sr
from sciretrieve.answers.answering import Request, answer
from sciretrieve.answers.explaining import explain
from sciretrieve.base.errors import InvalidRequest
from sciretrieve.query.narrowing.demands import Demand
from sciretrieve.query.narrowing.operators import parse
from tests.conftest import Effort
from tests.made_up import shared, write_jsonl

COLUMNS = ("id", "title", "abstract", "year", "venue", "authors", "doi", "keywords")

SENTENCES = [
    'Can you find me papers about the "gut-brain axis" and depression?',
    'Articles on text formatting systems, including "what you see is what you get" systems...',
    'papers on the "gut-brain axis" and depression',
    'What is the "gut-brain axis"?',
    'Defining "entailment" is quite difficult when dealing with expert annotators.',
    '0-dimensional "biomaterials" show inductive properties.',
    "We show that the bound is NOT tight AND that it never was",
    "is aspirin effective AND safe?",
    "how do p*q norms and wom?n behave in ch*ld care",
    "the effect of -or lack of- sleep on memory",
    'I AM INTERESTED IN "ONLINE" SYSTEMS AND NETWORKS (IN THE UK)',
    'OBJECTIVE: x. DESIGN AND METHODS: we asked "all" who came (in two towns), (or a nurse',
    '"Why should I trust you?"',
    '"Caffeine decreases sleep."',
    '"Aspirin inhibits the production of prostaglandins in platelets"',
]
TITLES = [
    "User Privacy Is NOT Preserved in Aggregated Mobility Data",
    "Q*cert: A Platform for Implementing and Verifying Query Compilers",
    "*droid: Assessment and Evaluation of Android Application Analysis Tools",
    "Emotion -and Area- Driven Topic Shift Analysis in Social Media Discussions",
    "Scalable k -Means Clustering via Lightweight Coresets",
    "Dynamical symmetry breaking in curved spacetime -review-",
    "Dirac-Born -Infeld Equations",
    "Finite-Temperature and -Density QED: Schwinger-Dyson Equation in the Real-Time Formalism",
    "Emote ~ Theatre and Movement Workshops as Research Tools",
    "Parents? And Children?S Preferences about Parents Sharing about Children on Social Media",
    "Analytics in Motion: High Performance Event-Processing AND Real-Time Analytics in the Same Database",
    "TO BE OR NOT TO BE: WHY MODELS FAIL",
    "From Single-User Architectural Design to PAC*: A Generic Software Architecture Model for CSCW",
    '"I Woke Up as a Newspaper": Designing-in Interaction Analytics',
    'Comment on "Dynamics of weak first order phase transitions in the early universe of all models we know"',
    "$\\mathcal{N}=4$ \"super\" Yang-Mills -- is it integrable for all couplings?",
]  # fmt: skip
REFERENCES = [
    'Hinton, G. "Deep learning." Nature 521 (2015): 436-444.',
    "Vaswani, A. et al. (2017). Attention is all you need. NeurIPS 30. doi:10.5555/3295222.3295349",
    "Kipf TN, Welling M. Semi-supervised classification with graph convolutional networks. ICLR 2017. url:arxiv.org/abs/1609.02907",
]
EXPRESSIONS = [
    '"a b" -c',
    "title:x",
    "a OR b",
    "(a OR b) AND c",
    "immun* response",
    'deep "graph networks" now',
    '"gut-brain axis" and depression',
    'effect of "vitamin D" on bone density',
    "quality of life AND cancer of the breast",
    "impact of climate change on biodiversity AND policy",
    "graph neural networks for molecules -survey",
    "-survey graph networks",
    "graphs -survey networks",
    'graph networks year:2015-2019 author:kipf -"systematic review"',
    "(HEART FAILURE OR CARDIAC FAILURE) AND (ASPIRIN OR WARFARIN) NOT REVIEW",
    '("heart failure" OR "cardiac failure" OR cardiomyopath* OR "heart muscle") AND (aspirin OR warfarin OR "blood thinner*") '
    'AND ("quality of life" OR wellbeing OR well-being OR "activities of daily living") NOT (child* OR infant* OR "case report" OR mice)',
    '(child* OR teenager) NEAR/3 "heart failure" AND title:(cohort OR trial) NOT letter',
    '"Graph neural networks"',
    "(what is known of all this AND that we were told)",
]


@pytest.mark.parametrize("text", [*SENTENCES, *TITLES, *REFERENCES])
@pytest.mark.parametrize("joint", [" ", "\n"])
def test_prose_demands_nothing_and_keeps_its_words(text: str, joint: str) -> None:
    typed = parse(joint.join(text.split()), COLUMNS)
    assert typed.demands == ()
    assert typed.words == typed.free == " ".join(text.replace('"', "").split())


@pytest.mark.parametrize("text", EXPRESSIONS)
@pytest.mark.parametrize("joint", [" ", "\n"])
def test_expressions_demand_what_they_say(text: str, joint: str) -> None:
    typed = parse(joint.join(text.split()), COLUMNS)
    assert typed.demands
    assert not typed.liked
    assert not typed.ignored
    assert typed.perhaps is None


def test_fields_and_exclusions_at_the_end_of_prose_hold() -> None:
    typed = parse('what is known about "bone loss" in women? author:kipf year:2015-2019 -mice -"case report"', COLUMNS)
    assert typed.words == typed.free == "what is known about bone loss in women?"
    assert typed.liked == ("bone loss",)
    report = Demand(None, "case report", absent=True, exact=True)
    assert typed.demands == (Demand("authors", "kipf"), Demand("year", "2015-2019"), Demand(None, "mice", absent=True), report)


WORDS = st.lists(
    st.sampled_from(["what", "is", "the", "role", "of", "sleep", "in", "memory", "and", "how", "do", "we", "measure", "it"]),
    min_size=14,
    max_size=30,
)


@given(
    WORDS,
    st.sampled_from(['"{}"', "-{}", "{}*", "NOT {}", "OR {}", "mesh:{}", "ch*{}", "{}?{}", "({}", "[tiab]{}", "~{}"]),
    st.integers(0, 11),
)
def test_no_sign_within_many_words_demands_anything(words: list[str], sign: str, place: int) -> None:
    """Signs end no row of words but AND, OR and NOT, so that these stand near the beginning."""
    text = " ".join([*words[: place % 2], sign.format(words[place], words[0]), *words[place % 2 :]])
    typed = parse(text, COLUMNS)
    assert typed.demands == ()
    assert typed.words == text.replace('"', "")


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> sr.Index:
    papers: list[dict[str, Any]] = [
        {"id": f"apart{n}", "title": f"Brain signals and an axis of the gut {n}", "abstract": "Depression was measured.", "year": 2000 + n}
        for n in range(4)
    ]
    papers.append(
        {"id": "phrase", "title": "An axis of signals, the gut-brain axis", "abstract": "Depression was measured in it.", "year": 2004}
    )
    papers.append({"id": "not", "title": "User Privacy Is NOT Preserved in Aggregated Data", "abstract": "", "year": 2010})
    papers += [{"id": f"other{n}", "title": f"Sleep and memory {n}", "abstract": "Nothing of the kind.", "year": 2011} for n in range(70)]
    folder = tmp_path_factory.mktemp("prose")
    return sr.build(write_jsonl(folder / "papers.jsonl", papers), folder / "index", encoder=None)


def test_of_papers_with_the_same_words_those_with_the_phrase_come_first(index: sr.Index) -> None:
    query = 'Can you find me papers about the "gut-brain axis" and depression?'
    found = index.search(query)[0]
    assert found.ids[0] == "phrase"
    assert len(found) >= 5
    assert 'read as a text, in which "gut-brain axis" demands nothing' in found.remarks[0]
    why = explain(index, query, ["phrase", "apart0"])
    assert '"gut-brain axis"' in why[0].words
    assert '"gut-brain axis"' not in why[1].words
    assert [one.bm25.rank for one in why if one.bm25] == [1, 2]
    assert index.search(query, 1)[0].ids == found.ids[:1]


def test_a_phrase_that_no_paper_has_is_said_and_left_out(index: sr.Index) -> None:
    found = answer(index, Request('Are there any papers about the "gut-liver axis" and depression?'))
    assert {hit.id for hit in found.hits} > {"phrase", "apart0"}
    assert 'no eligible paper has "gut-liver axis"' in found.remarks
    assert found.to_dict()["remarks"] == list(found.remarks)


def test_an_expression_that_nothing_meets_is_obeyed_and_its_words_are_offered(index: sr.Index) -> None:
    found = answer(index, Request('"gut-liver axis" depression'))
    assert not found.hits
    assert list(found.unmet) == ['"gut-liver axis"']
    assert list(found.remarks) == ["without its operators the query is: gut-liver axis depression"]


def test_a_quoted_sentence_is_demanded_where_a_paper_has_it(index: sr.Index) -> None:
    assert index.search('"Depression was measured in it."')[0].ids == ["phrase"]
    other = '"The gut measured depression in its axis."'
    assert len(index.search(other)[0]) >= 5
    assert index.count(other) == 0  # whoever counts means it


def test_a_title_with_operators_is_its_papers(index: sr.Index) -> None:
    assert index.search("User Privacy Is NOT Preserved in Aggregated Data")[0].known == {"not": "title"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("folder", "name"), [("cranfield", "queries"), ("scifact", "queries"), ("acm", "queries"), ("acm", "queries-papers")]
)
def test_judged_queries_are_answered_alike_typed_pasted_and_in_a_batch(folder: str, name: str, effort: Effort) -> None:
    queries = [json.loads(line)["text"] for line in shared(f"{folder}/{name}.jsonl").read_text(encoding="utf-8").splitlines()]
    if folder != "cranfield" and effort(True, False):
        pytest.skip("asked of Cranfield alone, but for --torture")
    queries = random.Random(1).sample(queries, effort(30, len(queries)))
    index = sr.build(shared(folder, "corpus.jsonl" if folder == "cranfield" else "corpus.parquet"), "words", encoder=None)
    for query in queries:
        plain = index.search(sr.Query("q", query), group=False)[0]
        for text in (query, "\n".join(query.split())):
            typed = index.search(text, group=False)[0]
            if not typed.known:  # a batch looks up no paper
                same = typed.ids == plain.ids if not parse(text, COLUMNS).liked else len({*typed.ids} & {*plain.ids}) >= 8
                assert same, text


@pytest.mark.parametrize("name", ["acm", "hepth", "scifact"])
def test_no_title_is_an_error(name: str, effort: Effort) -> None:
    titles = [title for title in pq.read_table(shared(f"{name}/corpus.parquet"), columns=["title"])["title"].to_pylist() if title]
    odd = [title for title in titles if set(title) & set('"*?~[') or " -" in title or "AND" in title or "NOT" in title]
    for title in [*odd, *random.Random(1).sample(titles, effort(200, len(titles)))]:
        try:
            typed = parse(title, COLUMNS)
        except InvalidRequest as error:
            pytest.fail(f"{title}: {error}")
        assert not any(isinstance(demand, Demand) and demand.absent for demand in typed.demands), title


def test_typed_prose_is_answered_as_a_batch_answers_it(index: sr.Index) -> None:
    text = "we asked whether the brain -and gut- signals an axis NOT measured in depression*"
    typed, plain = index.search([text, sr.Query("2", text)])
    assert (typed.ids, typed.scores.tolist()) == (plain.ids, plain.scores.tolist())
