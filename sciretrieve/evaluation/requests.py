"""Carries out requests: reads the benchmark, prepares the system, runs it, and saves the results."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Unpack

import numpy as np

from ..base.arguments import checked
from ..base.choices import DEFAULT_ENCODER
from ..base.errors import IndexExists, InvalidRequest, NotFound
from ..base.wording import counted
from ..encoders import load_encoder, must_be_given
from ..encoders.stored import StoredVectors
from ..encoders.torch_runtime import check_device, has_cuda
from ..files.writing import forbids_writing
from ..lifecycle import build
from ..lifecycle.distributed import RayWorkers
from ..metrics.judgements import check_ids, is_json, json_of, read_qrels, read_scores
from ..metrics.measures import Evaluator
from ..metrics.naming import parse_measures
from ..metrics.significance import interval
from ..options import BuildSettings, EvaluationOptions
from ..options.keywords import EvaluationKeywords
from ..papers.corpora import PaperCorpus
from ..progress import shown
from ..protocols import Encoder, Progress, Reranker
from ..query.index import Index
from ..query.opening import open_index
from ..query.ranking.reranking import EncoderReranker, open_reranker
from ..query.relevance_models import Rm3, expanding
from . import receipts, scoring, sides
from .benchmark_reading import lacking, read_for
from .benchmark_specs import Benchmark
from .costs import TimedBuild, Times, trainings_of
from .evaluation_options import NO_OBJECTS, EvaluationRequest, Objects, make_request, objects_in
from .material import Material
from .predicting import check_library
from .reports import Report, all_measures, save, versions
from .shared_work import SharedWork
from .spaces import IndexSpace, StoredSpace
from .systems import Dense, IndexSearch, RerankedSystem, StoredScores, System, settings_of

LONGEST_NAME = 200
"""The longest name of a folder; longer ones keep their beginning and a digest of the whole. File systems take 255 bytes."""


@checked
def evaluate(
    benchmark: str,
    data: str | Path | None = None,
    *,
    output: str | Path | None = None,
    progress: Progress | bool = True,
    workers: RayWorkers | None = None,
    **options: Unpack[EvaluationKeywords],
) -> Report:
    """Evaluate a system on a benchmark by its authors' protocol.

    Args:
        benchmark: a name of `sciretrieve benchmarks`, `beir:DIR`, `cite:DIR`, or `irds:ID` for a dataset of ir_datasets.
        data: the folder with the benchmark's files.
        output: a folder for the run, per-query scores, the report and a receipt.
        progress: a listener for progress; by default a bar on a terminal or in a notebook, False for none.
        workers: a cluster whose nodes search the `index`; figures are the same as on one machine.
        options: the system (an `encoder` by name, loaded or your own, an `index` by folder, by name or open, or a file of `embeddings` or
            `scores`), the options of the run and the measures: the fields of `sr.evaluation.EvaluationOptions`, with their defaults.

    Raises:
        UnknownName, InvalidRequest, NotFound: there is no such benchmark, option, system or file, or a file is invalid.
        Unavailable: a node lacks this version of sciretrieve, or does not see the index.
        ResultAwaited: S2AND's own code must be run first; the message says how.

    >>> report = sr.evaluate("beir:library", mode="bm25")
    >>> 0 < report.to_dict()["measures"]["nDCG@10"] <= 1
    True
    """
    objects, options = objects_in(options, workers)
    request = make_request(benchmark, data, options)
    with shown(progress) as listener:
        target = Path(output) if output is not None else None
        return _evaluated(request, target, listener, workers, objects)[0]


def replay(receipt: Path, progress: Progress | bool = True, workers: RayWorkers | None = None) -> tuple[Report, list[str]]:
    """Repeat the evaluation of a receipt, from any folder.

    Returns the report, whose notes name what has changed by its hashes, and the differences of figures from the receipt, with all that has
    changed; empty if there are none.

    Raises: as `evaluate`.
    """
    request, facts = receipts.read(receipt)
    if what := must_be_given(facts.get("given")):
        raise InvalidRequest(f"{receipt} cannot be computed again by itself: {what}")
    with shown(progress) as listener, TemporaryDirectory(prefix="sciretrieve-", ignore_cleanup_errors=True) as aside:
        try:
            report, materials = _evaluated(request, None, listener, workers)
        except OSError as error:
            if not forbids_writing(error):
                raise
            listener.note(f"{request.cache} cannot be written to, so papers are indexed for this replay alone")
            report, materials = _evaluated(replace(request, cache=aside), None, listener, workers)
        hashes_now = receipts.hashes(report, materials)
    figures, figures_now = facts["measures"], all_measures(report.to_dict())
    differences = [
        f"{name} was {figures[name]!r} and is {figures_now.get(name)!r}" for name in figures if figures[name] != figures_now.get(name)
    ]
    changes = receipts.changes(facts, hashes_now, versions())
    report = replace(report, notes=[*report.notes, *changes])
    return report, differences + changes if differences else []


def _evaluated(
    request: EvaluationRequest,
    output: Path | None,
    progress: Progress,
    workers: RayWorkers | None,
    objects: Objects = NO_OBJECTS,
) -> tuple[Report, list[Material]]:
    """Carry out a request, see `evaluate`, and return what was read, too."""
    if workers is not None and request.index is None:
        raise InvalidRequest("a cluster searches an index that is there already; name it with `index`, or leave out `workers`")
    spec, materials = read_for(request)
    return measure(request, spec, materials, output, progress, workers, objects=objects), materials


def measure(
    request: EvaluationRequest,
    spec: Benchmark,
    materials: list[Material],
    output: Path | None,
    progress: Progress,
    workers: RayWorkers | None = None,
    shared: SharedWork | None = None,
    objects: Objects = NO_OBJECTS,
) -> Report:
    """Carry out a request for a benchmark already read. Raises as `evaluate`.

    `shared` is work in common with other requests, which makes its own times meaningless.
    """
    split = request.split or spec.splits[0]
    own_drop_self = spec.protocol.drop_self
    if request.self_matches is not None:
        spec = replace(spec, protocol=replace(spec.protocol, drop_self=request.self_matches == "dropped"))
    if request.reads_texts and (lack := next((material.textless for material in materials if material.textless), "")):
        raise NotFound(lack)
    if predictions := [prediction for material in materials for prediction in material.predictions]:
        _check_prediction(request, spec, predictions[0].what)
    if request.measures and any(task.classes for material in materials for task in material.tasks):
        raise InvalidRequest(f"{spec.name} predicts classes, by {spec.protocol.measures[0]}; `measures` is for rankings")
    index_context: AbstractContextManager[Index | None] = nullcontext(objects.index)
    if objects.index is None and request.index is not None and shared is not None:  # `shared` closes it
        index_context = nullcontext(shared.known_index(Path(request.index)) or open_index(request.index, workers=workers))
    elif objects.index is None and request.index is not None:
        index_context = open_index(request.index, workers=workers)
    with index_context as index:
        report = _measured(request, spec, split, materials, index, output, progress, shared, objects.encoder)
    report = replace(report, notes=[*report.notes, *_of_self_matches(request, report, own_drop_self)])
    if shared is not None:
        report = replace(report, times={})
    if output is not None:
        receipts.write(output, request, report, materials, save(output, report, report.to_arrow()), objects.encoder)
    return report


def _of_self_matches(request: EvaluationRequest, report: Report, own_drop_self: bool) -> list[str]:
    """Notes on papers with a query's own id."""
    protocol, count = report.benchmark.protocol, sum(task.self_matches for task in report.result.tasks)
    if protocol.drop_self != own_drop_self:
        return [f"a paper with the query's own id is {request.self_matches}, unlike in the benchmark's protocol"]
    # it is known whether the queries of a published benchmark are papers
    if count and request.self_matches is None and request.benchmark.startswith(("beir:", "irds:")):
        return [
            f"{counted(count, 'paper')} with the query's own id dropped from the answers, as by BEIR, for which it is the query itself; "
            "if the queries are not papers of the corpus, keep them: `self_matches='kept'`"
        ]
    return []


def _measured(
    request: EvaluationRequest,
    spec: Benchmark,
    split: str,
    materials: list[Material],
    opened_index: Index | None,
    output: Path | None,
    progress: Progress,
    shared: SharedWork | None,
    own: Encoder | None,
) -> Report:
    """The report of a system on sets already read."""
    times = Times()
    listener = TimedBuild(progress, times)
    systems = {material.name: _system(request, spec, material, opened_index, listener, shared, own) for material in materials}
    first_system = next(iter(systems.values()))
    notes = [note for material in materials for note in material.notes]
    if missing := [name for material in materials for name in material.missing]:
        notes.append(f"tasks whose files are missing are left out: {', '.join(missing)}")
        if spec.protocol.average != "none":
            spec = replace(spec, protocol=replace(spec.protocol, average="none"))
            notes[-1] += "; so no mean over the tasks is given"
    if not isinstance(first_system, Dense) and any(task.standardise for material in materials for task in material.tasks):
        materials = [replace(item, tasks=tuple(task for task in item.tasks if not task.standardise)) for item in materials]
        notes.append("tasks with standardised vectors are left out: this system ranks by other scores")
        if not any(material.tasks for material in materials):
            raise InvalidRequest(f"{request.task} compares standardised vectors, so it goes with `mode='dense'` or `embeddings` only")
    for material in materials:
        notes += _gaps(systems[material.name], material, spec)
        notes += _cut(systems[material.name], material)
    index = first_system.index
    encoder = index.snapshot.encoder if index is not None and request.mode != "bm25" else None
    sides_read = sides.sides_read(encoder, materials) if encoder is not None else []
    if encoder is not None:
        notes += sides.departures(encoder, spec.kind, sides_read)
    notes += [spec.note] if spec.note else []
    answered = spec.protocol.depth + 1
    if request.depth is not None and request.depth < answered and any(task.candidates is None for item in materials for task in item.tasks):
        notes.append(f"each half proposes as many papers as are answered, {answered:,}, which is more than depth {request.depth:,}")
    read_systems = list(systems.values())
    if request.rerank is not None:
        reranker = _reranker(request, spec)
        systems = {
            material.name: RerankedSystem(systems[material.name], reranker, request.rerank_depth, material) for material in materials
        }
    result = scoring.run(systems, materials, spec.protocol, request.measures, request.metric, output, progress)
    system = next(iter(systems.values()))
    metric = request.metric or spec.protocol.metric
    if isinstance(first_system, Dense):
        if metric is None and request.embeddings is not None and any(material.tasks for material in materials):
            notes.append("neither the protocol nor a file of vectors names a score: minus Euclidean distance is used, see `metric`")
        metric = metric or first_system.space.metric
    score = {"ip": "inner product", "l2": "minus Euclidean distance", "cosine": "cosine"}
    score_name = score[metric] if isinstance(first_system, Dense) and metric else "the system's own"
    if predictions := [prediction for material in materials for prediction in material.predictions]:
        score_name = predictions[0].learner
    sources = dict.fromkeys(task.prediction.source for task in result.tasks if task.prediction is not None)
    notes += [f"computed by S2AND's own code, which wrote {source}" for source in sources if source]
    if system is not first_system:
        score_name += f", then the reranker's for the first {request.rerank_depth}"
    is_overridden = request.metric is not None and request.metric != spec.protocol.metric
    encoders = {id(one): one for one in (system.index.reader.query_encoder for system in read_systems if system.index is not None)}
    times.encoded = sum(encoder.encoded for encoder in encoders.values())
    times.encoding = sum(encoder.seconds for encoder in encoders.values())
    facts = {**system.facts, "reads": sides_read}
    request_facts = encoder.get("asked", {}) if encoder is not None else {}
    if training := trainings_of(*map(request_facts.get, ("encoder", "adapter", "query_adapter"))):
        facts["training"] = training
    lacks = lacking(spec, split, request.data, materials)
    return Report(spec, split, score_name, is_overridden, system.name, facts, result, notes, times.to_dict(), lacks)


def _check_prediction(request: EvaluationRequest, spec: Benchmark, what: str) -> None:
    """Check that labels can be predicted, before papers are encoded. Raises InvalidRequest, MissingExtra."""
    if what == "labels":
        check_library()
    if request.mode != "dense" or request.scores is not None or request.rerank is not None:
        raise InvalidRequest(f"{spec.name} predicts {what} from vectors, so it goes with `mode='dense'` or `embeddings` only")
    if request.metric is not None or request.measures or request.self_matches is not None:
        raise InvalidRequest(
            f"{spec.name} predicts {what}, by {spec.protocol.measures[0]}; `metric`, `measures` and `self_matches` are for rankings"
        )


def _system(
    request: EvaluationRequest,
    spec: Benchmark,
    material: Material,
    opened: Index | None,
    listener: TimedBuild,
    shared: SharedWork | None,
    own: Encoder | None,
) -> System:
    """The system for a set; the building of its index, and its answers, are timed."""
    times = listener.times
    if request.scores is not None:
        path = Path(request.scores)
        is_pair_file = spec.name == "mdcr" and path.is_file() and is_json(path)
        return StoredScores(path, is_pair_file and not any(isinstance(row, dict) for row in json_of(path).values()))
    if request.embeddings is not None:
        papers = StoredVectors(Path(request.embeddings))
        queries = StoredVectors(Path(request.query_embeddings)) if request.query_embeddings else None
        about = {"embeddings": str(papers.path), "dim": papers.dim} | ({"query_embeddings": str(queries.path)} if queries else {})
        return Dense(papers.path.name, StoredSpace(papers, queries, material), about, _device(request), times)
    index = opened if opened is not None else _index(request, spec, material, listener, shared, own)
    index = index if shared is None else shared.index(index)
    encoder = index.snapshot.encoder
    if request.mode == "dense" and encoder is not None and request.knob is None:
        about = {"index": str(index.path), "mode": request.mode, "encoder": {key: encoder[key] for key in encoder if key != "golden"}}
        return Dense(str(encoder["name"]), IndexSpace(index), about, _device(request), times)
    name = "BM25" if request.mode == "bm25" else f"{request.mode} with {encoder['name'] if encoder else 'no encoder'}"
    if request.knob is not None:
        name += f", {request.knob} {getattr(request, request.knob):g}"
    usual, settings = EvaluationOptions(), settings_of(request)
    others = {key: value for key, value in settings.items() if value != getattr(usual, key)}
    name += "".join(f", {key}" if value is True else f", {key} {value:g}" for key, value in others.items())
    index.snapshot.effort(request.searching())  # raises for missing parts of the index before queries are encoded
    if request.rm3:
        rm3 = Rm3(request.fb_docs, request.fb_terms, request.original_weight)
        index = expanding(index, rm3) if shared is None else shared.expanding(index, rm3)
    return IndexSearch(name, index, request.searching(), settings, times)


def _device(request: EvaluationRequest) -> str | None:
    """The device for ranking a whole corpus: the first GPU, if there is one and the request allows it. Raises InvalidRequest."""
    check_device(request.device)
    return "cuda" if request.device != "cpu" and has_cuda() else None


def _reranker(request: EvaluationRequest, spec: Benchmark) -> Reranker:
    """The reranker, with its task for this kind of benchmark if it has one."""
    assert request.rerank is not None
    precision = request.precision
    adapter, query_adapter = sides.tasks_for(request.rerank, spec.kind, None, None)
    if adapter is None:
        return open_reranker(request.rerank, precision=precision, device=request.device)
    encoder = load_encoder(request.rerank, adapter=adapter, query_adapter=query_adapter, precision=precision, device=request.device)
    return EncoderReranker(encoder)


def _gaps(system: System, material: Material, spec: Benchmark) -> list[str]:
    """Check that a system has every paper and query that the protocol needs. Returns notes on possible gaps.

    Raises:
        InvalidRequest: a figure would cover only part of the benchmark.
    """
    notes, has_text = [], {}
    if any(task.candidates is None for task in material.tasks):
        has_text = {paper.id: bool(paper.title.strip() or paper.abstract.strip()) for paper in material.pool()}
        missing_papers = [id for id in has_text if system.known is not None and id not in system.known]
        if missing_with_text := [id for id in missing_papers if has_text[id] or not system.reads_texts]:
            raise InvalidRequest(
                f"{system.name} lacks {len(missing_with_text):,} of the {len(has_text):,} papers of {material.name}, "
                f"{missing_with_text[0]!r} first; a figure over the others would not be the benchmark's"
            )
        if missing_papers:
            notes.append(f"{counted(len(missing_papers), 'paper')} without any text left out of the candidates: {missing_papers[0]} …")
    for task in material.tasks:
        candidates = dict.fromkeys(task.queries, has_text) if task.candidates is None else task.candidates
        check_ids(candidates, f"the corpus of {spec.name}", task.qrels, f"its task {task.name}")
    if spec.protocol.skips:
        return notes
    for task in material.tasks:
        candidate_ids = {id for row in (task.candidates or {}).values() for id in row}
        if task.groups is not None:
            candidate_ids = {id for name in candidate_ids for id in task.groups[name]}
        missing = {
            "queries": [query.id for query in task.queries.values() if not system.has_query(query)],
            "candidates": sorted(id for id in candidate_ids if system.known is not None and id not in system.known),
        }
        for what, ids in missing.items():
            if ids:
                raise InvalidRequest(f"{system.name} lacks {len(ids):,} {what} of {task.name}, {ids[0]!r} first; the protocol wants all")
    return notes


def _cut(system: System, material: Material) -> list[str]:
    """A note with the number of papers that exceed the encoder's input length."""
    index = system.index
    if index is None or index.snapshot.encoder is None or not index.snapshot.manifest.truncated:
        return []
    lengths = sides.lengths(index.snapshot.encoder)
    limit = f"the {min(lengths)} tokens that the encoder reads" if lengths else "the encoder reads"
    return [f"{index.snapshot.manifest.truncated:,} of the {len(index):,} papers of {material.name} are longer than {limit}"]


def _index(
    request: EvaluationRequest, spec: Benchmark, material: Material, progress: Progress, shared: SharedWork | None, own: Encoder | None
) -> Index:
    """The index of a set's papers, built if it does not exist yet."""
    name = None if request.mode == "bm25" else request.encoder or DEFAULT_ENCODER
    is_named = name is not None and own is None
    adapter, query_adapter = sides.tasks_for(name, spec.kind, request.adapter, request.query_adapter) if name and is_named else (None, None)
    templates = _digest_of(repr((request.template, request.query_template))) if request.template or request.query_template else None
    digest = None if own is None else _digest_of(repr(own.identity()))
    words = [material.name, *(word for word in (name, digest, adapter, query_adapter, request.pooling, templates) if word)]
    name_of = "-".join(words if name else [material.name, "bm25"])
    slug = re.sub(r"[^\w.-]+", "-", name_of, flags=re.ASCII).strip("-")
    folder = Path(request.cache) / (slug if len(slug) <= LONGEST_NAME else f"{slug[:LONGEST_NAME]}-{_digest_of(name_of)}")
    if shared is not None and (known := shared.known_index(folder)) is not None:
        return known
    corpus = PaperCorpus.of(material.name, material.fingerprint, material.pool)
    folder.parent.mkdir(parents=True, exist_ok=True)
    progress.note(f"the papers of {material.name} are indexed in {folder}")
    settings = BuildSettings(
        encoder=own if name and own is not None else name,
        adapter=adapter,
        query_adapter=query_adapter,
        bare_titles=spec.protocol.bare_titles and is_named,
        pooling=request.pooling,
        template=request.template,
        query_template=request.query_template,
        dense="flat" if name else "none",
        precision=request.precision,
        device=request.device,
    )
    try:
        return build(corpus, folder, settings, progress=progress)
    except IndexExists:  # the benchmark's or the encoder's files have changed since
        return build(corpus, folder, settings, progress=progress, overwrite=True)


def _digest_of(text: str) -> str:
    """Eight characters that differ for different texts."""
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def score_run(run: Path, qrels: Path, names: Sequence[str]) -> dict[str, Any]:
    """Score any run on any judgements: means and 95 % intervals from 0 to 1, over all judged queries, as with trec_eval's -c.

    Raises:
        NotFound, InvalidRequest: a file is missing or invalid, or there is no such measure.
    """
    parsed_measures = parse_measures(names)
    judgements = read_qrels(qrels)
    evaluator = Evaluator(judgements, parsed_measures)
    scores = read_scores(run)
    check_ids(scores, run, judgements, qrels)
    rows, counts = evaluator.complete(evaluator.per_query(scores)), evaluator.counts(scores)
    values = {name: np.array([row[name] for row in rows.values()]) for name in map(str, parsed_measures)}
    return {
        "schema": 1,
        "measures": {name: float(numbers.mean()) for name, numbers in values.items()},
        "intervals": {name: list(interval(numbers)) for name, numbers in values.items()},
        "queries": counts.judged - len(counts.unanswered),
        "judged_queries": counts.judged,
        "unanswered_queries": len(counts.unanswered),
        "unjudged_queries": counts.unjudged,
        "counted": str(counts),
        "per_query": rows,
    }
