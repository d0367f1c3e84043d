"""What does `suggest` find for sentences whose citations are taken out, and how often is it silent where nothing is cited?

    python bench/suggest.py DATA PAPERS --index DIR

DATA has papers.jsonl.gz (full texts by sentence) and citances.jsonl (citing sentences with the paper that they cite); PAPERS is a .jsonl of
the same papers with their authors and years. The index has the cited papers and others by chance, never a paper that cites them here. It is
built unless it is there. Citing papers are divided in halves: numbers were chosen by the first one, and the second one judges.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

import sciretrieve as sr
from sciretrieve.answers.draft_citations import ranked
from sciretrieve.answers.draft_context import DraftContext
from sciretrieve.answers.uncited import demanded
from sciretrieve.papers.drafts import markers
from sciretrieve.papers.drafts.draft import DraftSentence, Manuscript
from sciretrieve.papers.drafts.reading import draft_of

OTHERS = 160
"""Papers of the index beside the cited ones."""
DRAFTS = 150
"""Full texts by chance that are drafts, beside those of papers in citances.jsonl."""
K = 3
NOT_CITING = 0.05
"""Share of the sentences without a citation that are looked at."""
ET_AL = re.compile(r"[A-Z][\w’'-]+(?:\s*(?:,|and|&)\s*[A-Z][\w’'-]+)*\s*,?\s*et\.?\s+al\.?(?:['’]s)?")
IN_BRACKETS = re.compile(r"[(\[][^()\[\]]*\b(?:1[89]|20)\d\d[a-z]?\b[^()\[\]]*[)\]]")
patterns = [markers.TEXTUAL, IN_BRACKETS, markers.NUMBERS, ET_AL]
"""What is taken out of sentences."""


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("papers", type=Path)
    parser.add_argument("--index", type=Path, required=True)
    parser.add_argument("--names", action="store_true", help="leave the names that are in a sentence: Och et al. (2001) show …")
    given = parser.parse_args()
    patterns[:] = [IN_BRACKETS, markers.NUMBERS] if given.names else patterns
    texts = {paper["id"]: paper for paper in map(json.loads, gzip.decompress((given.data / "papers.jsonl.gz").read_bytes()).splitlines())}
    citances = [json.loads(line) for line in (given.data / "citances.jsonl").read_text(encoding="utf-8").splitlines()]
    citing = sorted({one["citing"] for one in citances} & set(texts))
    if not given.index.exists():
        build(given.index, texts, {one["paper"] for one in citances}, citing, given.papers)
    with sr.open(given.index) as index:
        outside = sorted(set(texts) - set(index.ids(np.arange(len(index)))))
        drafts_by_chance = sorted(set(citing) | set(random.Random(7).sample(outside, DRAFTS)))
        for half, name in enumerate(("chosen by", "judged by")):
            print(f"{name}: {alone(index, [one for one in citances if half_of(one['citing']) == half])}")
            drafts = [draft_of(markdown(texts[id]), ".md") for id in drafts_by_chance if half_of(id) == half]
            print(f"{name}: {in_drafts(index, drafts)}", flush=True)


def half_of(id: str) -> int:
    """The half of a citing paper."""
    return crc32(id.encode()) % 2


def markdown(paper: dict[str, Any]) -> str:
    """A full text as a draft."""
    return "\n\n".join(f"# {part['head'] or '-'}\n\n{' '.join(text for _, text in part['sentences'])}" for part in paper["sections"])


def build(path: Path, texts: dict[str, Any], cited: Iterable[str], citing: Sequence[str], papers: Path) -> None:
    """Build the index."""
    about = {paper["_id"]: paper for paper in map(json.loads, papers.open(encoding="utf-8"))}
    others = sorted(set(texts) - set(cited) - set(citing))
    random.Random(5).shuffle(others)
    rows = [
        {
            "id": id,
            "title": texts[id]["title"],
            "abstract": about.get(id, {}).get("text", ""),
            "authors": about.get(id, {}).get("metadata", {}).get("authors", []),
            "year": 1900 + int(id[1:3]) + 100 * (int(id[1:3]) < 50),
            "body": markdown(texts[id]),
        }
        for id in [*sorted(cited), *others[:OTHERS]]
    ]
    sr.build(rows, path, progress=False)
    sr.add_full_texts("body", path, progress=False)


def stripped(text: str) -> str:
    """A sentence without its citations and the names in them."""
    for pattern in patterns:
        text = pattern.sub(" ", text)
    return " ".join(text.split())


def alone(index: sr.Index, citances: Sequence[dict[str, Any]]) -> str:
    """Rank papers for citing sentences that stand alone."""
    sentences = [DraftSentence(0, 0, 1, stripped(one["text"]), "", place, ()) for place, one in enumerate(citances)]
    ranks, given = [], []
    answers = ranked(index, Manuscript("", "markdown", tuple(sentences)), range(len(sentences)))
    for (ranking, nearness), one, sentence in zip(answers, citances, sentences, strict=True):
        ranks.append(ranking.ids.index(one["paper"]) + 1 if one["paper"] in ranking.ids else 99)
        given.append(ids_given(ranking, nearness, sentence))
    return f"{len(ranks)} citing sentences alone: {measured(ranks)}, {told(given, [[one['paper']] for one in citances])}"


def in_drafts(index: sr.Index, drafts: Sequence[Manuscript]) -> str:
    """Rank papers for sentences of drafts whose citations are taken out, every second at a time, and for some that have none."""
    chance, ranks, given, right, silent, seconds = random.Random(3), [], [], [], [], 0.0
    for draft in drafts:
        context = DraftContext(index, draft)
        cited = [context.cited(place) for place in range(len(draft.sentences))]
        known = [place for place, rows in enumerate(cited) if len(rows)]
        without = [place for place, one in enumerate(draft.sentences) if not one.mentions and chance.random() < NOT_CITING]
        for first, others in ((0, without), (1, [])):
            hidden = known[first::2]
            sentences = list(draft.sentences)
            for place in hidden:
                text = stripped(draft.source[sentences[place].start : sentences[place].end])
                sentences[place] = replace(sentences[place], text=text, mentions=())
            changed = replace(draft, sentences=tuple(sentences))
            context = DraftContext(index, changed)
            again = [place for place in hidden if np.isin(cited[place], context.nearby(place)).all()]
            places = [place for place in [*hidden, *others] if sentences[place].text and place not in again]
            start = time.perf_counter()
            answers = list(ranked(index, changed, places))
            seconds += time.perf_counter() - start
            for place, (ranking, nearness) in zip(places, answers, strict=True):
                ids = ids_given(ranking, nearness, sentences[place])
                if place in hidden:
                    wanted = index.ids(cited[place])
                    ranks.append(min((ranking.ids.index(id) + 1 for id in wanted if id in ranking.ids), default=99))
                    given.append(ids)
                    right.append(wanted)
                else:
                    silent.append(not ids)
    each = 1000 * seconds / max(len(ranks) + len(silent), 1)
    return (
        f"{len(ranks)} citing sentences in {len(drafts)} drafts: {measured(ranks)}, {told(given, right)}; "
        f"silent for {100 * np.mean(silent):.1f} % of {len(silent)} that cite nothing; {each:.0f} ms a sentence"
    )


def ids_given(ranking: sr.Ranking, nearness: Any, sentence: DraftSentence) -> list[str]:
    """The papers that `suggest` gives for a sentence."""
    least = demanded(sentence)
    near = zip(ranking.ids, nearness, strict=True)
    return [] if least is None else [id for id, value in near if id in ranking.known or value >= least][:K]


def measured(ranks: Sequence[int]) -> str:
    """The measures of a ranking with one right paper, or the first of some."""
    gains = [1 / np.log2(1 + rank) if rank <= 10 else 0.0 for rank in ranks]
    return f"nDCG@10 {100 * np.mean(gains):.1f}, recall@10 {100 * np.mean(np.array(ranks) <= 10):.1f}"


def told(given: Sequence[Sequence[str]], right: Sequence[Sequence[str]]) -> str:
    """How many sentences get papers, and how many of these the right one."""
    some = [bool(ids) for ids in given]
    hits = [bool(set(ids) & set(wanted)) for ids, wanted in zip(given, right, strict=True)]
    firsts = [ids[0] in wanted for ids, wanted in zip(given, right, strict=True) if ids]
    share = 100 * sum(hits) / max(sum(some), 1)
    first = 100 * np.mean(firsts) if firsts else 0.0
    return f"something for {100 * np.mean(some):.1f} %, the right one among {K} for {share:.1f} % of these, first for {first:.1f} %"


if __name__ == "__main__":
    main()
