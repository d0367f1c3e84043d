"""Tables that spreadsheets open: nothing in them is computed, and all of it comes back."""

from __future__ import annotations

import csv
import io

from hypothesis import given
from hypothesis import strategies as st

from sciretrieve.files.csv_files import csv_lines, csv_rows, guarded, tsv_rows, unguarded

VALUE = st.text() | st.text("'=+-@\t\r\n1.e\"")


@given(VALUE)
def test_what_is_kept_from_spreadsheets_comes_back(value: str) -> None:
    assert unguarded(guarded(value)) == value
    assert guarded(value)[:1] not in tuple("=@\t\r\n")


@given(st.lists(st.tuples(VALUE, VALUE), min_size=1))
def test_rows_are_read_as_they_were_written(rows: list[tuple[str, str]]) -> None:
    read = list(csv.reader(io.StringIO(csv_rows(rows), newline="")))
    assert [tuple(map(unguarded, row)) for row in read] == rows
    assert [f"{line}\n" for line in csv_lines(rows)] == [csv_rows([row]) for row in rows]
    words = [tuple(value.replace("\r", " ") for value in row) for row in rows]  # no id has it
    assert [tuple(row) for row in csv.reader(io.StringIO(tsv_rows(words), newline=""), delimiter="\t")] == words
