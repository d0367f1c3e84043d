"""`sciretrieve search`, `similar` and `batch`: opens an index, searches it, prints the answer."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from ..base.choices import Format, Help, check_choice
from ..base.errors import InvalidRequest
from ..base.wording import counted, duration_text, printable
from ..options import PAPER_TEXT, Clustered, Count, Explained, Rerank, SearchOptions, SimilarByWhat, Sorted
from .bibliography import cited
from .console import Console, given_ids, interruptible, is_for_people, page, say, say_json
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
    argument,
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
    from ..answers.answering import Answer
    from ..query.index import Index

CHUNK = 256


@dataclass(frozen=True, slots=True)
class Shown:
    """Common options of `search` and `similar`: the index, and what to show of the answer."""

    index: IndexPaths = None
    encoder: QueryEncoder = None
    k: Count = 10
    format: FormatOption = "table"
    explain: Explained = False
    sort: Sorted = None
    fields: Fields = None
    facets: Facets = None
    cluster: Clustered = False
    append: Append = None
    save: Save = None

    def check(self) -> None:
        """Raise InvalidRequest for views that the format cannot show, and for options that need one index."""
        views = [name for name in ("explain", "facets", "cluster") if getattr(self, name)]
        if views and self.format not in ("table", "json"):
            raise InvalidRequest(f"--{views[0]} is shown with --format table or json, not {self.format}")
        if self.fields and self.format not in ("table", "json", "jsonl", "csv", "tsv"):
            raise InvalidRequest(f"--fields chooses columns of --format table, json, jsonl, csv and tsv; {self.format} has its own")
        if self.fields and self.format == "table" and self.explain:
            raise InvalidRequest("--explain is not shown in a table of --fields; leave out one of them, or add --format json")
        if self.sort and self.format == "trec":
            raise InvalidRequest("a TREC run is in the order of its scores; leave out --sort")
        check_one_index(self.index, {"--save": self.save, "-f trec": "trec" if self.format == "trec" else None})

    def columns(self, index: Index) -> list[str]:
        """The fields to print of each hit. Raises UnknownName for an unknown one."""
        from ..answers.outputs import HIT_FIELDS, INDEX_FIELDS

        names = _names(self.fields)
        own = [*HIT_FIELDS, *INDEX_FIELDS] if len(index.names) > 1 else HIT_FIELDS
        for name in names:
            check_choice("field", name, [*own, *(column for column in index.snapshot.columns.names if column not in own)])
        return names

    def answer(self, index: Index, start: float, rerank: str | None = None, **asked: Any) -> None:
        """Search an index, and print, append and save the answer; `start` is the time when the command began."""
        from ..answers.answering import Request, answer

        console, fields = Console(), self.columns(index)
        views: dict[str, Any] = {"facets": _names(self.facets), "cluster": self.cluster, "explain": self.explain, "sort": self.sort}
        request = Request(**asked, k=self.k, **views)
        whole_answer = answer(index, request)
        seconds = time.perf_counter() - start
        if request.options.reranker is not None:
            console.note(f"the first {request.options.rerank_depth:,} papers ordered by {rerank}, {duration_text(seconds)} in all")
        if self.append is not None:
            cited([hit.paper for hit in whole_answer.hits], self.append, console)
        _print(index, replace(whole_answer, seconds=seconds), self.format, fields, console)
        if self.save is not None:
            from ..answers.saved import save_search

            save_search(index, request, self.save, reranker=rerank, encoder=self.encoder)
            console.note(f"saved as {self.save}; `sciretrieve news {self.save}` shows what comes to its answer from now on")


def search(
    shown: Shown,
    query: QueryWords = None,
    options: Annotated[SearchOptions, Without("reranker", "late", "depth", "k1", "b")] = SEARCHING,
    rerank: Rerank = None,
    like: Like = None,
    unlike: Unlike = None,
    generation: Generation = None,
    ray: Ray = None,
    passages: Annotated[bool, Help("Answer with passages of full texts, which must have all that the query demands.")] = False,
) -> None:
    """Find papers by meaning and by words.

    Operators: "a phrase", the beginning of a word (child*), words near each other (a NEAR/3 b), words that must not occur (-survey).
    Fields: title:attention, author:kipf, year:2015-2019. AND, OR, NOT and parentheses join all. Put the query in quotes, and -- before one
    that begins with a minus.

    In a second search, --like and --unlike name papers of the first answer. The query moves towards or away from them, and they are
    left out.
    """
    text, start = typed_query(query), time.perf_counter()
    shown.check()
    check_one_index(shown.index, {"--ray": ray})
    with chosen_workers(ray) as workers:
        opened_index = open_indexes(shown.index, shown.encoder, generation, workers)
        options = _reranked(options, rerank)
        if passages:
            _print_passages(opened_index, text, shown, options)
            return
        shown.answer(opened_index, start, rerank, query=text, like=like or [], unlike=unlike or [], options=options)


def _print_passages(index: Index, query: str, shown: Shown, options: SearchOptions) -> None:
    """Print the best passages for a query."""
    from ..answers.outputs import passage_lines

    if shown.format not in ("table", "json", "jsonl"):
        raise InvalidRequest(f"--passages are printed with --format table, json or jsonl, not {shown.format}")
    found = index.passages(query, shown.k, options)
    if shown.format == "json":
        say_json({"schema": 1, "query": query, "passages": [passage.to_dict() for passage in found]})
    elif shown.format == "jsonl":
        say(passage.to_json() for passage in found)
    else:
        page([*map(printable, passage_lines(index, found, shutil.get_terminal_size((80, 24)).columns))])


def similar(
    shown: Shown,
    ids: Annotated[
        list[str] | None, argument("ID", "Papers: an id, a DOI, a citation key, …; - reads them from stdin, one per line.", "ids")
    ] = None,
    negatives: Annotated[list[str] | None, Help("A paper to be dissimilar to. Repeatable.", "ID", completes="ids", name="not")] = None,
    text: Annotated[str | None, PAPER_TEXT] = None,
    options: Annotated[SearchOptions, Without("reranker", "rerank_depth", "late", "depth", "k1", "b")] = SEARCHING,
    by: SimilarByWhat = None,
) -> None:
    """Find papers like the given ones.

    Several papers count as their mean, less a fifth of the mean of those with --not (Rocchio). If the index has references, papers that
    share citations are similar, too. Papers that the index does not have are named, with exit code 1.
    """
    positives, start = given_ids(ids), time.perf_counter()
    shown.check()
    opened_index = open_indexes(shown.index, shown.encoder)
    with named_papers(opened_index, [*positives, *(negatives or [])]) as known:
        liked, unliked = ([name for name in names if name in known] for names in (positives, negatives or []))
        shown.answer(opened_index, start, like=liked, unlike=unliked, text=text, options=options, by=by)


def batch(
    queries: Annotated[str, argument("QUERIES", "A .jsonl, .tsv or .txt file, a BEIR directory, or - for lines on stdin.")],
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
    """The options with the value of `--rerank`: a reranker, or late interaction."""
    return replace(options, reranker=opened_reranker(rerank), late=True if rerank == TOKENS else None)


def _names(columns: list[str] | None) -> list[str]:
    """Column names, from lists with commas and from repeated options."""
    return [name.strip() for name in ",".join(columns or []).split(",") if name.strip()]


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
    """An answer's hits: with links and marked words for people, as plain lines for programs."""
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
