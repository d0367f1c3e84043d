"""`sciretrieve search`, `similar` and `batch`: open an index, search it, print the answer."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import InvalidRequest
from ..options import SearchOptions
from .console import Console, counted, in_words, interruptible, say
from .options import (
    SEARCHING,
    TOKENS,
    Address,
    Alpha,
    ClusterOption,
    Count,
    Debug,
    Distributed,
    Diverse,
    Ef,
    Explain,
    Facets,
    Filters,
    Format,
    FormatOption,
    Fusion,
    Generation,
    Group,
    IndexPath,
    Like,
    ModeOption,
    Nprobe,
    QueryEncoder,
    Quiet,
    RecallWanted,
    Rerank,
    RerankDepth,
    Since,
    Unlike,
    Until,
    chosen_workers,
    open_index,
)

if TYPE_CHECKING:
    from ..index import Index
    from ..outputs import View
    from ..protocols import Reranker
    from ..runs import Run
    from ..search import Probe

CHUNK = 256


def search(
    query: Annotated[
        list[str],
        typer.Argument(
            metavar="QUERY",
            help='Words, a question, a title; "a phrase", -word, title:word, AND, OR, NOT narrow it; - reads it from stdin.',
        ),
    ],
    index: IndexPath = None,
    encoder: QueryEncoder = None,
    generation: Generation = None,
    k: Count = 10,
    mode: ModeOption = None,
    filter: Filters = None,
    since: Since = None,
    until: Until = None,
    fusion: Fusion = None,
    alpha: Alpha = None,
    ef: Ef = None,
    nprobe: Nprobe = None,
    recall: RecallWanted = None,
    rerank: Rerank = None,
    rerank_depth: RerankDepth = SEARCHING.rerank_depth,
    like: Like = None,
    unlike: Unlike = None,
    group: Group = SEARCHING.group,
    diverse: Diverse = False,
    facets: Facets = None,
    cluster: ClusterOption = False,
    explain: Explain = False,
    format: FormatOption = "table",
    distributed: Distributed = None,
    address: Address = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Find papers by meaning and by words.

    Words may have operators: "graph networks" must occur as a phrase, -survey must not occur, title:attention and
    author:kipf must occur in that field, year:2015-2019 is a range. AND, OR and NOT in capitals, with parentheses, demand what
    stands on both sides: '(bert OR "language model") AND protein'. Put the query in quotes, and -- before one that begins with a minus.

    In a second search, --like and --unlike name papers of the first answer that are what you look for, or are not: the query is moved
    towards the former and away from the latter, and both are left out.
    """
    text = sys.stdin.read().strip() if query == ["-"] else " ".join(query)
    start = time.perf_counter()
    console = Console(quiet)
    _check_views(format, explain, facets, cluster)
    liked, disliked = like or [], unlike or []
    with chosen_workers(distributed, address) as workers:
        opened_index = open_index(index, encoder, generation, workers)
        options = SearchOptions(
            mode, filter, since, until, fusion, alpha, _reranker(rerank), rerank_depth, group, diverse, ef, nprobe, recall, _late(rerank)
        )

        def ask(count: int, plain: bool) -> Run:
            return opened_index.search(text, count, _plain(options) if plain else options, like=liked, unlike=disliked)

        run = ask(k, False)
        _note_reranking(options, start, console)
        for word, correction in run.rankings[0].corrections.items():
            console.note(f'no paper has "{word}", so "{correction}" was searched for; quote it to search for it unchanged')
        if run.rankings[0].weak:
            console.note("no paper matches well: the best of them are far from the query and have few of its words")
        if not run.rankings[0].ids:
            from ..answers.explaining import unmet

            if parts := unmet(opened_index, text):
                console.note(f"the query demands what no paper of the index has: {', '.join(parts)}")
        probe = None
        if explain:
            best = opened_index.modes[0]
            probe = opened_index.probes([text], best, options.filters, late=options.late, like=liked, unlike=disliked)[0]
        _print(run, text, start, format, console, _view(opened_index, run, ask, facets, cluster, probe))


def similar(
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="ID", help="Ids of papers to be similar to; - reads them from stdin, one per line.")
    ] = None,
    index: IndexPath = None,
    encoder: QueryEncoder = None,
    generation: Generation = None,
    negatives: Annotated[
        list[str] | None, typer.Option("--not", metavar="ID", help="A paper to be dissimilar to; may be repeated.")
    ] = None,
    text: Annotated[
        str | None, typer.Option("--text", metavar="TEXT", help="'Title. Abstract' of a paper that is not in the index.")
    ] = None,
    k: Count = 10,
    mode: ModeOption = None,
    filter: Filters = None,
    since: Since = None,
    until: Until = None,
    fusion: Fusion = None,
    alpha: Alpha = None,
    ef: Ef = None,
    nprobe: Nprobe = None,
    recall: RecallWanted = None,
    group: Group = SEARCHING.group,
    diverse: Diverse = False,
    facets: Facets = None,
    cluster: ClusterOption = False,
    explain: Explain = False,
    format: FormatOption = "table",
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Find papers like the given ones.

    The given papers are never among the answers. Several are combined by Rocchio's formula: the mean of the given papers
    less a fifth of the mean of those with --not.
    """
    positives = [line.strip() for line in sys.stdin if line.strip()] if ids == ["-"] else list(ids or [])
    start = time.perf_counter()
    opened_index = open_index(index, encoder, generation)
    _check_views(format, explain, facets, cluster)
    options = SearchOptions(mode, filter, since, until, fusion, alpha, group=group, diversify=diverse, ef=ef, nprobe=nprobe, recall=recall)

    def ask(count: int, plain: bool) -> Run:
        return opened_index.similar(positives, count, _plain(options) if plain else options, text=text, negatives=negatives or [])

    run = ask(k, False)
    probe = None
    if explain:
        probe = opened_index.likeness(positives, text=text, negatives=negatives or [], mode=mode, filter=options.filters)
    _print(run, run.rankings[0].query.id, start, format, Console(quiet), _view(opened_index, run, ask, facets, cluster, probe))


def batch(
    queries: Annotated[
        str, typer.Argument(metavar="QUERIES", help="A .jsonl, .tsv or .txt file, a BEIR directory, or - for lines on stdin.")
    ],
    index: IndexPath = None,
    encoder: QueryEncoder = None,
    generation: Generation = None,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Where the run goes; - is stdout.")] = Path("-"),
    k: Count = 1000,
    mode: ModeOption = None,
    filter: Filters = None,
    fusion: Fusion = None,
    alpha: Alpha = None,
    ef: Ef = None,
    nprobe: Nprobe = None,
    recall: RecallWanted = None,
    rerank: Rerank = None,
    rerank_depth: RerankDepth = SEARCHING.rerank_depth,
    distributed: Distributed = None,
    address: Address = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Answer many queries at once, as a TREC run file."""
    from ..corpora import read_queries
    from ..files import write_whole
    from ..outputs import count_encoded_ids

    query_list = read_queries(queries)
    console = Console(quiet)
    options = SearchOptions(mode, filter, fusion=fusion, alpha=alpha, group=False, ef=ef, nprobe=nprobe, recall=recall)
    options = replace(options, reranker=_reranker(rerank), rerank_depth=rerank_depth, late=_late(rerank))
    lines: list[str] = []
    encoded_ids = 0
    with chosen_workers(distributed, address) as workers:
        opened_index = open_index(index, encoder, generation, workers)
        console.start(len(query_list), unit="queries")
        with interruptible(console):
            for first in range(0, len(query_list), CHUNK):
                chunk = query_list[first : first + CHUNK]
                run = opened_index.search(chunk, k, options)
                lines += run.to_trec(f"sciretrieve-{run.mode}")
                encoded_ids += count_encoded_ids(run)
                console.advance(len(chunk))
    if str(output) == "-":
        say(lines)
    else:
        if not output.parent.is_dir():
            raise InvalidRequest(f"there is no directory {output.parent} to write {output.name} to")
        write_whole(output, "".join(line + "\n" for line in lines).encode())
        console.note(f"{counted(len(query_list), 'query', 'queries')}, {counted(len(lines), 'line')}: {output}")
    if encoded_ids:
        console.note(f"percent-encoded {counted(encoded_ids, 'id')} with white space, which TREC files cannot hold")


def _plain(options: SearchOptions) -> SearchOptions:
    """The same papers in the search's own order, for counts and groups."""
    return replace(options, reranker=None, group=False, diversify=False)


def _late(rerank: str | None) -> bool | None:
    """Whether late interaction is asked for."""
    return True if rerank == TOKENS else None


def _reranker(name: str | None) -> Reranker | None:
    if name is None or name == TOKENS:
        return None
    from ..ranking.reranking import open_reranker

    return open_reranker(name, device="cpu")


def _note_reranking(options: SearchOptions, start: float, console: Console) -> None:
    if options.reranker is not None:
        seconds = in_words(time.perf_counter() - start)
        console.note(f"the first {options.rerank_depth:,} papers ordered by {options.reranker.name}, {seconds} in all")


def _check_views(format: Format, explain: bool, facets: list[str] | None, cluster: bool) -> None:
    """Refuse views in formats that cannot show them."""
    views = [name for name, is_requested in (("--explain", explain), ("--facets", facets), ("--cluster", cluster)) if is_requested]
    if views and format not in ("table", "json"):
        raise InvalidRequest(f"{views[0]} is shown with --format table or json, not {format}")


def _view(
    index: Index,
    run: Run,
    ask: Callable[[int, bool], Run],
    facets: list[str] | None,
    cluster: bool,
    explained_query: Probe | None,
) -> View:
    """What is shown besides the hits; counts and groups cover more papers than the hits."""
    from ..outputs import View

    explanations, counts, groups = [], [], []
    if explained_query is not None:
        from ..answers.explaining import explain

        explanations = explain(index, explained_query, run.rankings[0].ids)
    if facets or cluster:
        from ..answers import overview

        if facets:
            counts = overview.facets_of(
                index, ask(overview.FACET_DEPTH, True), [name.strip() for name in ",".join(facets).split(",") if name.strip()]
            )
        if cluster:
            groups = overview.clusters_of(index, ask(overview.CLUSTER_DEPTH, True))
    ranking = run.rankings[0]
    return View(explanations, counts, groups, ranking.corrections, ranking.strength, ranking.weak)


def _print(run: Run, query: str, start: float, format: Format, console: Console, view: View) -> None:
    from .. import outputs

    if format == "trec":
        say(outputs.trec(run))
        return
    hits = run.hits
    if format == "json":
        say([outputs.answer(query, run.mode, 1000 * (time.perf_counter() - start), hits, view)])
    elif format != "table":
        say(outputs.FORMATS[format](hits))
    elif not hits:
        console.note("no paper matches")
    else:
        width = shutil.get_terminal_size((80, 24)).columns
        for position, hit in enumerate(hits):
            say(outputs.table([hit], width))
            if view.explanations:
                say(outputs.explanation(hit, view.explanations[position], width))
        if view.facets:
            say(["", *outputs.facet_lines(view.facets)])
        if view.clusters:
            say(["", *outputs.cluster_lines(view.clusters, width)])
