"""Papers whose records say that they were retracted, in the ways of OpenAlex, PubMed, Crossref, Zotero and of titles."""

import json
from typing import Any

import pyarrow as pa
import pytest

from sciretrieve.papers.retractions import retracted, retracted_by_notices

RETRACTION = {"DOI": "10.1000/NOTICE", "type": "retraction", "label": "Retraction"}
CORRECTION = {"DOI": "10.1000/erratum", "type": "correction", "label": "Correction"}


def is_retracted(title: str = "Heat", **columns: Any) -> bool:
    sound = dict.fromkeys(columns)
    table = pa.Table.from_pylist([{"title": "Heat", **sound}, {"title": title, **columns}])
    before, found = retracted(table).tolist()
    assert not before
    return bool(found)


@pytest.mark.parametrize(
    "columns",
    [
        {"is_retracted": True},
        {"is_retracted": "True"},
        {"is_retracted": 1},
        {"type": ["Journal Article", "Retracted Publication"]},
        {"type": "Journal Article; Retracted Publication"},
        {"Document Type": "Retracted"},
        {"tags": ["to read", "_Retracted"]},
        {"updated-by": [CORRECTION, RETRACTION]},
        {"updated-by": json.dumps([RETRACTION])},
        {"title": "RETRACTED: Heat flows in wires"},
        {"title": "[Retracted] Heat flows in wires"},
        {"title": "Retracted Article: Heat flows in wires"},
        {"title": "RETRACTED ARTICLE — Heat flows in wires"},
        {"title": "Heat flows in wires (Retracted article. See vol. 35, pg. 2, 2010)"},
    ],
)
def test_a_record_that_says_so_is_retracted(columns: dict[str, Any]) -> None:
    assert is_retracted(**columns)


@pytest.mark.parametrize(
    "columns",
    [
        {"is_retracted": False},
        {"is_retracted": "false"},
        {"is_retracted": None},
        {"type": ["Journal Article", "Retraction of Publication"]},
        {"keywords": ["Retracted Publication"]},
        {"tags": ["retractable"]},
        {"updated-by": [CORRECTION]},
        {"updated-by": "not JSON"},
        {"update-to": [RETRACTION]},
        {"title": "Retracted scholarly publications: a count"},
        {"title": "Retraction Notice: heat flows in wires"},
        {"title": "RETRACTED PAPERS IN CHEMISTRY"},
        {"title": "Retractable displays (retracted and extended)"},
    ],
)
def test_others_are_not(columns: dict[str, Any]) -> None:
    assert not is_retracted(**columns)


def test_a_notice_names_what_it_retracts() -> None:
    table = pa.table({"title": ["Notice", "Erratum", "Heat"], "update-to": [[RETRACTION], [CORRECTION], None]})
    assert list(retracted_by_notices(table)) == ["10.1000/notice"]
    assert retracted(table).tolist() == [False, False, False]
