"""Dates as CSL-JSON, Crossref and tables have them: the year, and beside it all that they say more."""

import json
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sciretrieve.papers.dates import edtf
from tests.made_up import read_corpus

INPUTS = Path(__file__).parents[1] / "inputs"


@pytest.mark.parametrize(
    ("dates", "year", "exact"),
    [
        ({"issued": {"date-parts": [[2019, 5, 1]]}}, 2019, "2019-05-01"),
        ({"issued": {"date-parts": [["2018", "5"]]}}, 2018, "2018-05"),
        ({"issued": {"date-parts": [["2010-03"]]}}, 2010, "2010-03"),
        ({"issued": {"date-parts": [[2019, 13, 40]]}}, 2019, "2019-21"),
        ({"issued": {"date-parts": [[2019, 5, 40]]}}, 2019, "2019-05"),
        ({"issued": {"date-parts": [[2001, 5], [2001, 6]]}}, 2001, "2001-05/2001-06"),
        ({"issued": {"date-parts": [[2001]], "season": "2"}}, 2001, "2001-22"),
        ({"issued": {"date-parts": [[2001]], "season": "Winter"}}, 2001, "2001-24"),
        ({"issued": {"date-parts": [[1850]], "circa": True}}, 1850, "1850~"),
        ({"issued": {"date-parts": [[-343, 2]]}}, -343, "-0343-02"),
        ({"issued": {"raw": "circa 1999"}}, 1999, None),
        ({"issued": {"raw": "5 May 1999"}}, 1999, "1999-05-05"),
        ({"issued": {"literal": "2001-05-06"}}, 2001, "2001-05-06"),
        ({"issued": {"literal": "in press"}}, None, None),
        ({"issued": "2020-05/2020-06"}, 2020, "2020-05/2020-06"),
        ({"issued": "2020-05-01T10:00:00Z"}, 2020, "2020-05-01"),
        ({"issued": 2014}, 2014, None),
        ({"issued": [[2014, 3]]}, 2014, "2014-03"),
        ({"issued": {"timestamp": 1262304000000}}, 2010, "2010-01-01"),
        ({"issued": {"date-time": "2010-01-01T00:00:00Z", "timestamp": 1}}, 2010, "2010-01-01"),
        ({"issued": {"date-parts": [[None]]}, "published-print": {"date-parts": [[2015, 6]]}}, 2015, "2015-06"),
        ({"issued": {"date-parts": [[2015]]}, "published-online": {"date-parts": [[2014, 12, 1]]}}, 2015, None),
        ({"issued": {"date-parts": [[2015]]}, "published-print": {"date-parts": [[2015, 3, 1]]}}, 2015, "2015-03-01"),
        ({"issued": {"date-parts": [[2015, 5]]}, "published-online": {"date-parts": [[2015, 4, 30]]}}, 2015, "2015-05"),
        ({"issued": {"date-parts": []}, "created": {"date-parts": [[2013, 1, 1]]}}, 2013, "2013-01-01"),
        ({"created": {"date-parts": [[2013, 1, 1]]}, "issued": {"date-parts": [[2012]]}}, 2012, None),
        ({"issued": None}, None, None),
        ({"issued": {"date-parts": "2014"}}, None, None),
    ],
)
def test_dates_of_csl_keep_what_they_say(tmp_path: Path, dates: dict[str, Any], year: int | None, exact: str | None) -> None:
    items = [{"id": "a", "type": "book", "title": "T", "container-title": "J", **dates}]
    (tmp_path / "p.json").write_text(json.dumps(items), encoding="utf-8")
    (row,) = read_corpus(tmp_path / "p.json")[0].to_pylist()
    assert (row.get("year"), row.get("date")) == (year, exact)


def test_the_input_of_csl_is_read_whole() -> None:
    rows = read_corpus(INPUTS / "39-csl-issued.json")[0].to_pylist()
    assert [row["year"] for row in rows] == [2019, 2018, 1999, 2020, 2001, 2015, 2014, 2013, 2012, 2011, 2010, 2010]
    assert [row["date"] for row in rows[:5]] == ["2019-05-01", "2018-05", None, "2020-05/2020-06", "2001-22"]


@pytest.mark.parametrize(
    ("header", "value", "column", "stays"),
    [
        ("date", "2019-05-01", "date", "2019-05-01"),
        ("Publication Date", "May 2019", "Publication Date", "May 2019"),
        ("year", "2019-05-01", "date", "2019-05-01"),
        ("Cover Date", "2019.05.01", "Cover Date", "2019.05.01"),
        ("year", "2019", "date", None),
        ("date", "2019.0", "date", None),
    ],
)
def test_a_column_of_dates_stays_beside_the_year(tmp_path: Path, header: str, value: str, column: str, stays: str | None) -> None:
    extra = ",year" if header == "Cover Date" else ""
    (tmp_path / "p.csv").write_text(f"id,title,{header}{extra}\na,T,{value}{',2019' if extra else ''}\n", encoding="utf-8")
    (row,) = read_corpus(tmp_path / "p.csv")[0].to_pylist()
    assert (row["year"], row.get(column)) == (2019, stays)


@pytest.mark.parametrize("value", [date(2019, 5, 1), datetime(2019, 5, 1, 12)])
def test_dates_of_parquet_stay_dates(tmp_path: Path, value: date) -> None:
    pq.write_table(pa.table({"id": ["a"], "title": ["T"], "publication_date": [value]}), tmp_path / "p.parquet")
    (row,) = read_corpus(tmp_path / "p.parquet")[0].to_pylist()
    assert (row["year"], row["publication_date"]) == (2019, value)


@pytest.mark.parametrize("text", ["", "/", "../..", "open/open", "May 2019", "20195", "199", "2019-5", "N/A", "2019-05-01T", "~"])
def test_other_texts_are_no_edtf(text: str) -> None:
    assert edtf(text) == ("", "")
