"""One query in every form in which people type it finds the same papers, through every door, and so do texts in any script."""

from __future__ import annotations

import json
import random
import unicodedata
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

import sciretrieve as sr
from sciretrieve import strategies
from sciretrieve.service.app import make_app
from sciretrieve.service.library import Library
from sciretrieve.service.settings import ServiceSettings
from tests.command_line import answer
from tests.service.assistants import library as assistants

NAMES = {
    "il": ["IL-1β", "IL-1 beta", "IL1β", "IL-1beta", "IL 1 β", "IL1beta", "IL-1-beta", "IL-1b", "IL1B", "IL‐1β", "IL-1$\\beta$", "IL-1ß"],
    "tnf": ["TNF-α", "TNF alpha", "TNFα", "TNF-alpha", "TNFalpha", "TNF-a", "TNF–α", "TNF‑ɑ"],
    "nf": ["NF-κB", "NF-kB", "NF-kappaB", "NF kappa B", "NF-kappa B", "NFκB", "NFkB", "nf-κ B", "NF kB", "NFKB"],
    "ifn": ["IFN-γ", "IFN-g", "IFN gamma", "IFNγ", "IFN-gamma", "IFN g", "IFNG"],
    "pgc": ["PGC-1α", "PGC-1 alpha", "PGC1α", "PGC-1alpha", "PGC1A"],
    "ppar": ["PPAR-γ", "PPARγ", "PPAR gamma", "PPARG", "PPAR-g"],
}
PLAIN = {
    "marrow": ["bone marrow", "bone\u00a0marrow", "bo\u00adne mar\u200brow", "ｂｏｎｅ\u3000ｍａｒｒｏｗ", "bone\ufeff marrow"],
    "stem": ["stem-cell", "stem‑cell", "stem–cell", "stem−cell", "stem－cell"],
    "muller": ["Müller's", "Mu\u0308ller's", "Müller’s", "MÜLLER＇S", "Mül\u2060ler´s"],
    "t": ["type 2", "type\u20092", "ｔｙｐｅ ２"],
}
QUOTES = ["“{}”", "„{}“", "«{}»", "»{}«", "＂{}＂", "‘{}’", "‚{}‘", "‹{}›", "「{}」", "\ufeff“{}”"]
MINUSES = "−–‐‑﹣－"
TEMPLATES = [
    ("{0}", "{0}"),
    ('"{0}"', "Q{0}Q"),
    ('cells "{0}"', "cells Q{0}Q"),
    ('cells -"{0}"', "cells MQ{0}Q"),
    ('title:"{0}"', "title：Q{0}Q"),
    ('"{0}" AND mice', "Q{0}Q ＡＮＤ mice"),
    ('("{0}" OR "zebra fish") NOT "{1}"', "（Q{0}Q ＯＲ Qzebra fishQ） ＮＯＴ Q{1}Q"),
    ('abstract:"{0}" OR -cells', "ａｂｓｔｒａｃｔ：Q{0}Q ＯＲ Mcells"),
]
"""A query as a keyboard has it, and in other signs: Q for quotation marks, M for a minus."""
TEXTS = {
    "zh": "基于深度学习的医学图像分割方法研究综述",
    "mixed": "使用GPU的深度学习 与 transformer模型，研究癌症",
    "ja": "深層学習による画像認識とデータ解析のガイド",
    "th": "การเรียนรู้เชิงลึกสำหรับการวินิจฉัยทางการแพทย์",
    "my": "ဆေးဘက်ဆိုင်ရာ ပုံရိပ်",
    "km": "ការរៀនជ្រៅ",
    "lo": "ການຮຽນຮູ້ເລິກ",
    "hi": "हिन्दी भाषा में गहन शिक्षण के लिए मॉडल",
    "ko": "딥러닝을 이용한 의료 영상 분석",
    "ar": "التعلم العميق للصور الطبية",
    "fa": "می\u200cخواهم یادگیری عمیق",
    "ta": "ஆழ்ந்த கற்றல் முறை",
}
UNSPACED = ("zh", "mixed", "ja", "th", "my", "km", "lo")


def papers() -> Iterator[dict[str, Any]]:
    """Papers that have each name in one of its forms, in the title or in the abstract, within a compound or not."""
    for name, forms in (NAMES | PLAIN).items():
        for number, form in enumerate(forms):
            yield {"id": f"{name}-{number}", "title": f"Levels of {form} in mice", "abstract": "A study of cells"}
            yield {"id": f"{name}-{number}a", "title": f"Study {number} of zebra fish", "abstract": f"Cells ({form}) of mice"}
    yield {"id": "apart", "title": "An IL-1 receptor, a kappa light chain, a bone and its marrow", "abstract": "Gamma rays on cells"}
    for name, text in TEXTS.items():
        yield {"id": name, "title": text, "abstract": ""}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> sr.Index:
    return sr.build(list(papers()), tmp_path_factory.mktemp("forms") / "index", encoder=None)


def having(index: sr.Index, query: str) -> set[str]:
    return set(index.ids(index.matching(query)))


CASES = [
    (names, template, signs)
    for names in product(sorted(NAMES | PLAIN), repeat=2)
    for template, signs in TEMPLATES
    if names[0] != names[1] and ("{1}" in template or names[1] == min({*NAMES, *PLAIN} - {names[0]}))
]


def spelled(case: tuple[tuple[str, ...], str, str]) -> tuple[str, Iterator[str]]:
    """A query as a keyboard has it, and the same in other forms."""
    names, template, signs = case
    forms = NAMES | PLAIN
    chance = random.Random(repr(case))

    def others() -> Iterator[str]:
        for form in forms[names[0]]:
            quotes, minus = chance.choice(QUOTES), chance.choice(MINUSES)
            if "‘" in quotes and set("'’´＇") & set(form):
                quotes = QUOTES[0]
            opening, closing = quotes.split("{}")
            text = signs.replace("{0}", "\0").replace("{1}", "\1").replace("M", minus)
            for place, quote in enumerate(text.split("Q")[:-1]):
                text = text.replace("Q", closing if place % 2 else opening, 1)
                assert quote is not None
            yield text.replace("\0", form).replace("\1", chance.choice(forms[names[1]]))

    return template.format(forms[names[0]][0], forms[names[1]][0]), others()


def test_every_form_of_a_query_finds_the_same_papers(index: sr.Index, effort: Callable[[int, int], int]) -> None:
    cases = random.Random(44).sample(CASES, min(effort(60, 300), len(CASES)))
    for case in cases:
        query, others = spelled(case)
        found = having(index, query)
        for other in others:
            assert having(index, other) == found, (query, other)


@pytest.mark.parametrize("name", sorted(NAMES))
def test_a_name_finds_all_papers_that_have_it(index: sr.Index, name: str) -> None:
    for form in NAMES[name]:
        expected = {paper["id"] for paper in papers() if paper["id"].startswith(f"{name}-")}
        for query in (form, f'"{form}"', f"{form} AND cells"):
            assert having(index, query) == expected, query


def test_texts_are_read_once_for_a_phrase_without_terms(index: sr.Index, monkeypatch: pytest.MonkeyPatch) -> None:
    assert index.count("癌") == 1
    monkeypatch.setattr("sciretrieve.query.narrowing.masks.having", None)
    assert (index.count("癌"), index.count('"癌" AND transformer'), index.count('cells -"癌"')) == (1, 1, index.count("cells"))


def test_a_title_is_known_in_every_spelling(index: sr.Index) -> None:
    for name, form in [(name, form) for name, forms in NAMES.items() for form in forms]:
        ids = set(index.ids(index.snapshot.lookup.named(f"Levels of {form} in mice").rows))
        assert ids == {f"{name}-{number}" for number in range(len(NAMES[name]))}, form


def test_every_door_reads_the_same(index: sr.Index) -> None:
    queries = [other for case in CASES[:: len(CASES) // 6] for _, others in [spelled(case)] for other in list(others)[-1:]]
    app = make_app(Library([index.path]), ServiceSettings(), log=lambda _: None)
    with TestClient(app) as client, assistants.server(index.path) as server:
        for query in queries:
            expected = index.count(query)
            assert json.loads(answer("count", query, "-i", index.path, "--format", "json"))["total"] == expected
            assert client.get("/v1/count", params={"q": query}).json()["total"] == expected
            assert client.get("/graph/v1/paper/search/bulk", params={"query": query}).json()["total"] == expected, query
            strategy = strategies.parse(f"[lines]\ns1 = {json.dumps(query)}")
            assert strategies.run(strategy, [index.path]).log["lines"][0]["total"] == expected
            counts = assistants.found(server, "facets", columns=["id"], query=query)
            assert counts["columns"][0]["papers"] == expected


def test_parts_of_texts_in_any_script_are_found(index: sr.Index, effort: Callable[[int, int], int]) -> None:
    chance = random.Random(7)
    for name, text in TEXTS.items():
        for _ in range(effort(8, 100)):
            words = text.split()
            first = chance.randrange(len(words))
            part = " ".join(words[first : first + chance.randint(1, 3)])
            if name in UNSPACED:
                first = chance.randrange(len(text) - 1)
                part = text[first : first + chance.randint(1, 7)]
                after = text[first + len(part) :][:1]
                edges = [text[:first][-1:] + part[0], part[-1] + after]
                if any(edge.isascii() and edge.isalnum() and len(edge) > 1 for edge in edges) or not part.strip():
                    continue
                if unicodedata.category(part.strip()[0])[0] in "MP" or (after and unicodedata.category(after)[0] == "M"):
                    continue
            expected = {id for id, other in TEXTS.items() if part.strip() in other}
            for form in (part, unicodedata.normalize("NFD", part)):
                assert having(index, f'"{form}"') & TEXTS.keys() == expected, part
                assert having(index, form) >= expected, part


def test_an_index_of_an_earlier_analysis_answers_as_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sciretrieve.lifecycle import building
    from sciretrieve.matching.lexical import Analyzer

    monkeypatch.setattr(building, "Analyzer", lambda: Analyzer(form=3))
    sr.build(list(papers()), tmp_path / "old", encoder=None).close()
    sr.add([{"id": "new", "title": "IL-1β of mice", "abstract": ""}], tmp_path / "old")
    with sr.open(tmp_path / "old") as old:
        assert old.snapshot.analyzer.form == 3
        assert {"il-1", "il-1a"} <= having(old, "IL-1 beta") <= {f"il-{number}" for number in (1, "1a", 4, "4a", 6, "6a", 10, "10a")}
        assert having(old, '"IL-1 beta"') >= {"il-0", "il-1", "new"}
    assert "reindex" in answer("info", "-i", tmp_path / "old")
    sr.reindex(tmp_path / "old")
    with sr.open(tmp_path / "old") as new:
        assert new.snapshot.analyzer == Analyzer()
        assert "new" in having(new, "IL-1 beta")
