"""`sciretrieve count`: counts the papers that match a query, and each of its parts."""

from __future__ import annotations

from ..base.wording import counted, printable
from ..options import Passing, SearchOptions, Since, Until
from .console import Console, say, say_json
from .parameters import Generation, IndexPaths, PlainFormatOption, QueryWords, open_indexes, typed_query


def count(
    query: QueryWords = None,
    index: IndexPaths = None,
    filter: Passing = None,
    since: Since = None,
    until: Until = None,
    generation: Generation = None,
    format: PlainFormatOption = "table",
) -> None:
    """Count the papers that meet each part of a query, and all of it.

    The query is read as by `search`. A paper must have all of its words.
    """
    from ..answers.outputs import count_table, count_value, not_compared
    from ..query.reading.reader import remarks_on

    text, filters = typed_query(query), SearchOptions(filter=filter, since=since, until=until).filters
    opened_index, console = open_indexes(index, None, generation), Console()
    lines = opened_index.count_lines(text, filters)
    typed, met = opened_index.reader.matching(text, filters)
    if opened_index.snapshot.passages is not None:
        passages = len(opened_index.reader.matching_passages(text, filters))
        console.note(f"full texts are counted, too; {counted(passages, 'passage')} of them match by themselves")
    for note in (*remarks_on(typed), *not_compared(opened_index, met.undecided)):
        console.note(note)
    if format == "json":
        say_json(count_value(text, filters, lines))
    else:
        say(map(printable, count_table(lines)))
