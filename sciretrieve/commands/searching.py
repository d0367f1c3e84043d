"""`sciretrieve search`, `similar` and `batch`: open an index, search it, print the answer."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..base.choices import Format, Help, Order, check_choice
from ..base.errors import InvalidRequest
from ..base.wording import counted, in_words, printable
from ..options import PAPER_TEXT, Clustered, Count, Explained, Rerank, SearchOptions, SimilarByWhat, Sorted
from . import completing
from .bibliography import cited
from .console import Console, given_ids, interruptible, is_for_people, page, say
from .parameters import (
    SEARCHING,
    TOKENS,
    Append,
    Facets,
    Fields,
    FormatOption,
    Generation,
    IndexPath,
    IndexPaths,
    Like,
    QueryEncoder,
    QueryWords,
    Ray,
    Save,
    Unlike,
    check_one_index,
    chosen_workers,
    named_papers,
    open_index,
    open_indexes,
    opened_reranker,
    typed_query,
)
from .signatures import Without

if TYPE_CHECKING:
    from ..answers.answering import Answer, Request
    from ..query.index import Index

CHUNK = 256


def search(
    query: QueryWords = None,
    index: IndexPaths = None,
    encoder: QueryEncoder = None,
    generation: Generation = None,
    k: Count = 10,
    options: Annotated[SearchOptions, Without("reranker", "late", "depth", "k1", "b")] = SEARCHING,
    rerank: Rerank = None,
    like: Like = None,
    unlike: Unlike = None,
    facets: Facets = None,
    cluster: Clustered = False,
    explain: Explained = False,
    sort: Sorted = None,
    fields: Fields = None,
    format: FormatOption = "table",
    append: Append = None,
    save: Save = None,
    ray: Ray = None,
) -> None:
    """Find papers by meaning and by words.

    Words may have operators: "graph networks" must occur as a phrase, child* is the beginning of a word, a NEAR/3 b stand near each
    other, -survey must not occur, title:attention and author:kipf must occur in that field, year:2015-2019 is a range. AND, OR and
    NOT in capitals, with parentheses, demand what stands on both sides: '(bert OR "language model") AND protein'. Put the query in
    quotes, and -- before one that begins with a minus.

    In a second search, --like and --unlike name papers of the first answer that are what you look for, or are not: the query is moved
    towards the former and away from the latter, and both are left out.
    """
    from ..answers.answering import Request, answer

    console = Console()
    text = typed_query(query)
    start = time.perf_counter()
    _check_views(format, explain, facets, cluster, sort, fields)
    check_one_index(index, {"--ray": ray, "--save": save, "-f trec": "trec" if format == "trec" else None})
    with chosen_workers(ray) as workers:
        opened_index = open_indexes(index, encoder, generation, workers)
        names = _fields(fields, opened_index)
        options = _reranked(options, rerank)
        request = Request(
            text,
            like or [],
            unlike or [],
            k=k,
            options=options,
            facets=_names(facets),
            cluster=cluster,
            explain=explain,
            sort=sort,
        )
        whole_answer = answer(opened_index, request)
        _note_reranking(options, start, console)
        _append(whole_answer, append, console)
        _print(opened_index, replace(whole_answer, seconds=time.perf_counter() - start), format, names, console)
        _save(save, opened_index, request, console, rerank, encoder)


def similar(
    ids: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ID", help="Ids of papers to be similar to; - reads them from stdin, one per line.", autocompletion=completing.ids
        ),
    ] = None,
    index: IndexPaths = None,
    encoder: QueryEncoder = None,
    negatives: Annotated[
        list[str] | None,
        Help("A paper to be dissimilar to; may be repeated.", "ID", completes="ids", name="not"),
    ] = None,
    text: Annotated[str | None, PAPER_TEXT] = None,
    k: Count = 10,
    options: Annotated[SearchOptions, Without("reranker", "rerank_depth", "late", "depth", "k1", "b")] = SEARCHING,
    facets: Facets = None,
    cluster: Clustered = False,
    explain: Explained = False,
    sort: Sorted = None,
    fields: Fields = None,
    by: SimilarByWhat = None,
    format: FormatOption = "table",
    append: Append = None,
    save: Save = None,
) -> None:
    """Find papers like the given ones.

    The given papers are never among the answers. Several are combined by Rocchio's formula: the mean of the given papers less a fifth of
    the mean of those with --not. If the index has its papers' references, papers that cite the same works, are cited by the same papers,
    or cite each other are similar, too. Papers that the index does not have are named, with exit code 1, and the others count.
    """
    from ..answers.answering import Request, answer

    positives = given_ids(ids)
    start = time.perf_counter()
    _check_views(format, explain, facets, cluster, sort, fields)
    check_one_index(index, {"--save": save, "-f trec": "trec" if format == "trec" else None})
    opened_index = open_indexes(index, encoder)
    names = _fields(fields, opened_index)
    console = Console()
    with named_papers(opened_index, [*positives, *(negatives or [])]) as known:
        request = Request(
            like=[name for name in positives if name in known],
            unlike=[name for name in negatives or [] if name in known],
            text=text,
            k=k,
            options=options,
            facets=_names(facets),
            cluster=cluster,
            explain=explain,
            sort=sort,
            by=by,
        )
        whole_answer = replace(answer(opened_index, request), seconds=time.perf_counter() - start)
        _append(whole_answer, append, console)
        _print(opened_index, whole_answer, format, names, console)
        _save(save, opened_index, request, console, None, encoder)


def batch(
    queries: Annotated[
        str, typer.Argument(metavar="QUERIES", help="A .jsonl, .tsv or .txt file, a BEIR directory, or - for lines on stdin.")
    ],
    index: IndexPath = None,
    encoder: QueryEncoder = None,
    output: Annotated[Path, Help("Where the run goes; - is stdout.", "FILE", short="-o")] = Path("-"),
    k: Count = 1000,
    options: Annotated[SearchOptions, Without("since", "until", "reranker", "group", "diversify", "late")] = SEARCHING,
    rerank: Rerank = None,
    ray: Ray = None,
) -> None:
    """Answer many queries at once, as a TREC run file."""
    from ..answers.outputs import count_encoded_ids, undecided, words_alone
    from ..files.writing import check_parent, write_whole
    from ..papers.corpora import read_queries

    if str(output) != "-":
        check_parent(output)
    query_list = read_queries(queries)
    console = Console()
    options = replace(_reranked(options, rerank), group=False)
    lines: list[str] = []
    encoded_ids = 0
    notes: list[str] = []
    with chosen_workers(ray) as workers:
        opened_index = open_index(index, encoder, workers=workers)
        console.start(len(query_list), unit="queries")
        with interruptible(console):
            for first in range(0, len(query_list), CHUNK):
                chunk = query_list[first : first + CHUNK]
                run = opened_index.search(chunk, k, options)
                lines += run.to_trec(f"sciretrieve-{run.mode}")
                encoded_ids += count_encoded_ids(run)
                notes += undecided(run)
                if any(ranking.lacks == "meaning" for ranking in run):
                    notes += words_alone(opened_index.reader.query_encoder.lack("query"))
                console.advance(len(chunk))
    if str(output) == "-":
        say(lines)
    else:
        write_whole(output, "".join(line + "\n" for line in lines).encode())
        console.note(f"{counted(len(query_list), 'query', 'queries')}, {counted(len(lines), 'line')}: {output}")
    for note in dict.fromkeys(notes):
        console.note(note)
    if encoded_ids:
        console.note(
            f"percent-encoded {counted(encoded_ids, 'id')} that TREC files cannot hold, such as those with blanks; sciretrieve decodes them"
        )


def _reranked(options: SearchOptions, rerank: str | None) -> SearchOptions:
    """The options with what `--rerank` asks for: a reranker, or late interaction."""
    return replace(options, reranker=opened_reranker(rerank), late=True if rerank == TOKENS else None)


def _save(name: str | None, index: Index, request: Request, console: Console, rerank: str | None, encoder: str | None) -> None:
    """Save a search under a name, if one is given."""
    if name is None:
        return
    from ..answers.saved import save_search

    save_search(index, request, name, reranker=rerank, encoder=encoder)
    console.note(f"saved as {name}; `sciretrieve news {name}` shows what comes to its answer from now on")


def _note_reranking(options: SearchOptions, start: float, console: Console) -> None:
    if options.reranker is not None:
        seconds = in_words(time.perf_counter() - start)
        console.note(f"the first {options.rerank_depth:,} papers ordered by {options.reranker.name}, {seconds} in all")


def _names(columns: list[str] | None) -> list[str]:
    """Columns that may be given together, with commas, or one by one."""
    return [name.strip() for name in ",".join(columns or []).split(",") if name.strip()]


def _fields(fields: list[str] | None, index: Index) -> list[str]:
    """What is printed of each hit. Raises UnknownName for what neither a hit nor the index has."""
    from ..answers.outputs import HIT_FIELDS, INDEX_FIELDS

    names = _names(fields)
    own = [*HIT_FIELDS, *INDEX_FIELDS] if len(index.names) > 1 else HIT_FIELDS
    for name in names:
        check_choice("field", name, [*own, *(column for column in index.snapshot.columns.names if column not in own)])
    return names


def _check_views(
    format: Format, explain: bool, facets: list[str] | None, cluster: bool, sort: Order | None, fields: list[str] | None
) -> None:
    """Refuse views in formats that cannot show them."""
    views = [name for name, is_requested in (("--explain", explain), ("--facets", facets), ("--cluster", cluster)) if is_requested]
    if views and format not in ("table", "json"):
        raise InvalidRequest(f"{views[0]} is shown with --format table or json, not {format}")
    if fields and format not in ("table", "json", "jsonl", "csv", "tsv"):
        raise InvalidRequest(f"--fields chooses columns of --format table, json, jsonl, csv and tsv; {format} has its own")
    if fields and format == "table" and explain:
        raise InvalidRequest("--explain is not shown in a table of --fields; leave out one of them, or add --format json")
    if sort and format == "trec":
        raise InvalidRequest("a TREC run is in the order of its scores; leave out --sort")


def _append(answer: Answer, append: Path | None, console: Console) -> None:
    if append is not None:
        cited([hit.paper for hit in answer.hits], append, console)


def _print(index: Index, answer: Answer, format: Format, fields: Sequence[str], console: Console) -> None:
    from ..answers import outputs

    for note in outputs.notes(answer):
        console.note(note)
    if format == "trec":
        say(answer.run.to_trec())
    elif format == "json":
        say([outputs.answer(answer, fields)])
    elif format == "html":
        say(outputs.page(answer, " + ".join(index.names), date.today().isoformat()))
    elif format in outputs.TABULAR:
        say(outputs.TABULAR[format](answer.hits, fields))
    elif format != "table":
        say(outputs.FORMATS[format](answer.hits))
    else:
        lines = [*map(printable, outputs.aligned(answer.hits, fields))] if fields else [*table_lines(index, answer)]
        width = shutil.get_terminal_size((80, 24)).columns
        if answer.hits and answer.facets:
            lines += map(printable, ["", *outputs.facet_lines(answer.facets)])
        if answer.hits and answer.groups:
            lines += map(printable, ["", *outputs.cluster_lines(answer.groups, width)])
        if is_for_people() and not console.is_quiet:
            from .terminal import footer

            lines += footer(answer, index)
        page(lines)


def table_lines(index: Index, answer: Answer) -> Iterator[str]:
    """An answer's hits: for people with links and marked words, for programs as plain lines."""
    if is_for_people():
        from ..answers.snippets import query_words
        from .terminal import table

        yield from table(answer, query_words(index, answer))
        return
    from ..answers import outputs

    width = shutil.get_terminal_size((80, 24)).columns
    for position, hit in enumerate(answer.hits):
        yield from map(printable, outputs.table([hit], width))
        if answer.explanations:
            yield from map(printable, outputs.explanation(hit, answer.explanations[position], width))
