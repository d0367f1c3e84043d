"""SciMult's evaluation files, which are JSON Lines despite their names: links, recommendation, zero-shot PPR, search, labels, classes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...base.errors import InvalidRequest, NotFound
from ...base.types import Paper, Query
from ...base.wording import counted
from ...encoders.specs import FIELD_SEPARATOR
from ...metrics.judgements import Qrels, grade_of
from ..material import Material, Task
from .benchmark_files import corpus_of, find, fingerprint, found, paper_of, present, rows, text_of

SEARCH_SETS = ("Search", "TRECCOVID_SciRepEval", "TRECCOVID_BEIR", "SciFact", "NFCorpus")
LINKS, SEARCH = "link_prediction_retrieval", "search"
"""The folders of link prediction and of search in SciMult's archive."""
RERANKED = {"Search", "TRECCOVID_SciRepEval"}
"""Search sets whose queries rank their own candidates; the others rank the whole corpus."""
REPEAT_SUFFIX = " (again)"
"""The suffix of the id of a positive that is listed again."""
MAPLE_SETS = ("CSConference", "ChemistryMeSH", "Geography", "Psychology")
DEFINED_SETS = ("CSConference", "ChemistryMeSH")
"""The sets of MAPLE whose labels have definitions."""
COARSE_SETS = ("MAG", "MeSH")


WORDS = re.compile(r"\w+")


def label_finder(labels: Iterable[tuple[str, Sequence[str]]]) -> Callable[[str], set[str]]:
    """Returns a function that finds labels named in a text, as MAPLE (Zhang et al. 2023) matches them, for sets without a file of matches.
    All words of one of a label's names must occur one after the other; case does not matter.

    The authors' code (yuzhimanhua/MAPLE, OAGBERT/match.py and match_mesh.py) splits words at spaces, in texts already in lower case; here
    punctuation also separates words.
    """
    named: dict[tuple[str, ...], list[str]] = {}
    for label, names in labels:
        for name in names:
            named.setdefault(_words(name), []).append(label)
    named.pop((), None)
    # at a word, only the lengths of names that begin with it are tried
    lengths: dict[str, set[int]] = {}
    for words in named:
        lengths.setdefault(words[0], set()).add(len(words))

    def within(text: str) -> set[str]:
        words = _words(text)
        starts = ((start, length) for start, word in enumerate(words) for length in lengths.get(word, ()))
        return {label for start, length in starts for label in named.get(words[start : start + length], ())}

    return within


def _words(text: str) -> tuple[str, ...]:
    return tuple(WORDS.findall(text.lower()))


def load_links(folder: Path, split: str, benchmark: str, *, task: str) -> Material:
    """SciDocs' full corpus: every paper of the file is a candidate, including the query itself; `task` is cite or co-cite."""
    path = find(folder, "SciDocs_papers_test.json", benchmark=benchmark)
    queries: dict[str, Query] = {}
    qrels: Qrels = {}
    for number, row in rows(path):
        id = text_of(path, number, row, "paper")
        positives = row.get(task)
        if not isinstance(positives, list):
            raise InvalidRequest(f"{path}, line {number}: paper {id!r} has no list {task!r}; found {found(row)}")
        if positives:
            queries[id] = Query(id, paper=paper_of(row, id))
            qrels[id] = _judgements_of(positives)
    return Material(corpus_of(path, "paper"), (Task(task, queries, qrels),), benchmark, fingerprint([path]), _repeats(qrels))


def load_patients(folder: Path, split: str, benchmark: str) -> Material:
    """Zero-shot patient-to-patient retrieval; queries have no id and are numbered by their lines.

    The archive has files of the same names for PMC-Patients' own protocol, in pmc_patients.
    """
    patients, queries_file = (
        find(folder, f"{LINKS}/{name}", name, benchmark=benchmark)
        for name in ("PMCPatientsPPR_patients_test.json", "PMCPatientsPPR_queries_test.json")
    )
    queries: dict[str, Query] = {}
    qrels: Qrels = {}
    unjudged_queries = 0
    for number, row in rows(queries_file):
        positives = row.get("patient")
        if not isinstance(positives, list):
            raise InvalidRequest(f"{queries_file}, line {number}: no list 'patient'; found {found(row)}")
        if positives:
            queries[str(number)] = Query(str(number), paper=paper_of(row, ""))
            qrels[str(number)] = _judgements_of(positives)
        else:
            unjudged_queries += 1
    notes = _repeats(qrels) + (
        [f"left out, without a positive: {counted(unjudged_queries, 'query', 'queries')}"] if unjudged_queries else []
    )
    return Material(corpus_of(patients, "patient"), (Task("PPR", queries, qrels),), benchmark, fingerprint([patients]), notes)


def load_searches(folder: Path, split: str, benchmark: str) -> list[Material]:
    """The search sets with files. Raises NotFound if there are none."""
    return _sets(SEARCH_SETS, lambda name: load_search(folder, name, benchmark))


def load_search(folder: Path, name: str, benchmark: str) -> Material:
    """One of the five search sets."""
    papers = find(folder, f"{name}_papers_test.json", benchmark=benchmark)
    queries_file = find(folder, f"{name}_queries_test.json", benchmark=benchmark)
    queries: dict[str, Query] = {}
    qrels: Qrels = {}
    for number, row in rows(queries_file):
        id = text_of(queries_file, number, row, "query_id")
        grades = row.get("score")
        if not isinstance(grades, dict):
            raise InvalidRequest(f"{queries_file}, line {number}: query {id!r} has no object 'score' of grades; found {found(row)}")
        # the authors put their tokenizer's separator where a query says [SEP] (src/eval_search.py)
        queries[id] = Query(id, text_of(queries_file, number, row, "query").replace("[SEP]", FIELD_SEPARATOR))
        qrels[id] = {str(paper): grade_of(queries_file, number, grade) for paper, grade in grades.items()}
    candidates = {id: tuple(row) for id, row in qrels.items()} if name in RERANKED else None
    return Material(corpus_of(papers, "paper"), (Task(name, queries, qrels, candidates),), f"{benchmark}-{name}", fingerprint([papers]))


def load_maple(folder: Path, split: str, benchmark: str, *, by_name: bool, defined: bool = True) -> list[Material]:
    """The sets of MAPLE with files; without definitions, only the sets that have any."""
    return _sets(
        MAPLE_SETS if defined else DEFINED_SETS, lambda field: load_labels(folder, field, benchmark, by_name=by_name, defined=defined)
    )


def load_labels(folder: Path, field: str, benchmark: str, *, by_name: bool, defined: bool = True) -> Material:
    """A set of MAPLE: papers as queries, labels as candidates.

    Args:
        folder: where its files are.
        field: the set.
        benchmark: for messages.
        by_name: whether labels named in the paper are ranked first.
        defined: whether a label is read with its definition, or as its name alone.

    Raises:
        NotFound: there are no labels or papers; missing matches are computed.
        InvalidRequest: a row has another form, or there are too few matches.
    """
    labels = find(folder, f"{field}_label.json", benchmark=benchmark)
    papers = find(folder, f"{field}_papers_test.json", benchmark=benchmark)
    queries: dict[str, Query] = {}
    qrels: Qrels = {}
    for number, row in rows(papers):
        id = _new_id(papers, number, row, queries)
        queries[id] = Query(id, paper=paper_of(row, id))
        positives = row.get("label")
        if not isinstance(positives, list) or not positives:
            raise InvalidRequest(f"{papers}, line {number}: paper {id!r} has no list 'label' of labels; found {found(row)}")
        qrels[id] = _judgements_of(positives)
    notes = _repeats(qrels)
    first = None
    if by_name:
        try:
            first = _matches(find(folder, f"{field}_matched.json", benchmark=benchmark), papers, labels, queries)
        except NotFound:
            named_in = label_finder((text_of(labels, number, row, "label"), _names(row)) for number, row in rows(labels))
            first = {id: named_in(query.words) for id, query in queries.items()}
            notes.append(f"{field}: there is no {field}_matched.json, so labels' names were searched in the papers; figures may differ")
    # forms of the benchmark that read labels in the same way share one index
    name = f"maple-{field}" if defined else f"maple-names-{field}"
    return Material(_labels(labels, defined), (Task(field, queries, qrels, first=first),), name, fingerprint([labels]), notes)


def load_coarse(folder: Path, split: str, benchmark: str) -> list[Material]:
    """The sets of coarse classes with files. Raises as `_load_classes`."""
    return _sets(COARSE_SETS, lambda name: _load_classes(folder, name, benchmark))


def load_recommendation(folder: Path, split: str, benchmark: str) -> Material:
    """Papers with graded recommendations, re-ranked; the rows are both queries and candidates. Raises NotFound, InvalidRequest."""
    path = find(folder, "Recommendation_papers_test.json", benchmark=benchmark)
    queries: dict[str, Query] = {}
    qrels: Qrels = {}
    papers = set()
    for number, row in rows(path):
        id = text_of(path, number, row, "paper")
        papers.add(id)
        grades = row.get("score")
        if not isinstance(grades, dict):
            raise InvalidRequest(f"{path}, line {number}: paper {id!r} has no object 'score' of grades; found {found(row)}")
        if grades:
            queries[id] = Query(id, paper=paper_of(row, id))
            qrels[id] = {str(other): grade_of(path, number, grade) for other, grade in grades.items()}
    if (missing_id := next((other for grades in qrels.values() for other in grades if other not in papers), None)) is not None:
        raise InvalidRequest(f"{path} judges paper {missing_id!r}, which is not in it; get the file again")
    if not queries:
        raise InvalidRequest(f"{path} has no paper with grades")
    task = Task.reranked("Recommendation", queries, qrels)
    return Material(corpus_of(path, "paper"), (task,), benchmark, fingerprint([path]))


def _load_classes(folder: Path, name: str, benchmark: str) -> Material:
    """Papers as queries, and all classes as their candidates. A paper's class is its place among the classes, from 0."""
    labels = find(folder, f"{name}_label.json", benchmark=benchmark)
    papers = find(folder, f"{name}_papers_test.json", benchmark=benchmark)
    classes = [text_of(labels, number, row, "label") for number, row in rows(labels)]
    queries: dict[str, Query] = {}
    qrels: Qrels = {}
    for number, row in rows(papers):
        id = _new_id(papers, number, row, queries)
        place = row.get("label")
        if not isinstance(place, int) or not 0 <= place < len(classes):
            raise InvalidRequest(
                f"{papers}, line {number}: the label of paper {id!r} must be the place of its class in {labels.name}, "
                f"0 to {len(classes) - 1}, not {str(place)[:40]}"
            )
        queries[id] = Query(id, paper=paper_of(row, id))
        qrels[id] = {classes[place]: 1}
    task = Task(name, queries, qrels, dict.fromkeys(queries, classes), classes=True)
    return Material(_labels(labels, defined=True), (task,), f"{benchmark}-{name}", fingerprint([labels]))


def _sets(names: tuple[str, ...], load: Callable[[str], Material]) -> list[Material]:
    """The sets with files; the first one names the missing ones."""
    sets, missing = present(names, load)
    return [replace(sets[0], missing=missing), *sets[1:]]


def _new_id(papers: Path, number: int, row: Mapping[str, Any], known: Mapping[str, Any]) -> str:
    """A paper's id, or the number of its line if it has none. Raises InvalidRequest for a repeated id."""
    id = str(row.get("paper", number))
    if id in known:
        raise InvalidRequest(f"{papers}, line {number}: paper {id!r} is listed above already")
    return id


def _matches(matched_file: Path, papers: Path, labels: Path, queries: Mapping[str, Query]) -> dict[str, set[str]]:
    """The labels that the authors found named in each paper; labels outside the set are ignored later."""
    matches = [{str(label) for label in row.get("candidate") or []} for _, row in rows(matched_file)]
    if len(matches) < len(queries):
        raise InvalidRequest(f"{matched_file} has {len(matches)} lines, fewer than the papers of {papers}")
    label_ids = {text_of(labels, number, row, "label") for number, row in rows(labels)}
    return {id: names_matched & label_ids for id, names_matched in zip(queries, matches, strict=False)}


def _labels(path: Path, defined: bool) -> Callable[[], Iterator[Paper]]:
    """Labels as papers: the first name is the title, the definition the abstract."""

    def pool() -> Iterator[Paper]:
        for number, row in rows(path):
            yield Paper(text_of(path, number, row, "label"), _names(row)[0], str(row.get("definition") or "") if defined else "")

    return pool


def _names(row: Mapping[str, Any]) -> list[str]:
    names = row.get("name") or [""]
    return [str(name) for name in names] if isinstance(names, list) else [str(names)]


def _judgements_of(positives: Iterable[Any]) -> dict[str, int]:
    """Positives as judgements. The authors divide by the number listed, so a repeated one counts as one more that is never retrieved."""
    counts = Counter(str(other) for other in positives)
    return {id + REPEAT_SUFFIX * repeat: 1 for id, count in counts.items() for repeat in range(count)}


def _repeats(qrels: Qrels) -> list[str]:
    repeat_count = sum(id.endswith(REPEAT_SUFFIX) for row in qrels.values() for id in row)
    return (
        [f"{repeat_count:,} positives are listed again for the same query; the authors' recall counts them, and so does ours"]
        if repeat_count
        else []
    )
