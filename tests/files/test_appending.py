"""A file to which lines are only added: what is read again after a crash at any byte, and who may have it open."""

import json
from pathlib import Path
from typing import Any

import pytest

from sciretrieve.base.errors import IndexBusy, InvalidRequest
from sciretrieve.files.appending import AppendedFile
from tests.read_only import read_only


def rows_of(path: Path) -> list[dict[str, Any]]:
    """What the file says, without times."""
    with AppendedFile(path) as file:
        return [{name: value for name, value in row.items() if name != "time"} for row in file.rows]


def test_a_crash_at_any_byte_costs_the_line_that_was_being_written(tmp_path: Path) -> None:
    path = tmp_path / "folder/lines.jsonl"
    with AppendedFile(path) as file:
        assert not path.exists()
        file.append([{"a": 1}])
        file.append([{"b": "é"}, {"c": [2]}])
        assert file.append([]) == []
        assert [sorted(row) for row in file.rows] == [["a", "time"], ["b", "time"], ["c", "time"]]
    whole = path.read_bytes()
    ends = [place + 1 for place, byte in enumerate(whole) if byte == ord("\n")]
    expected = [{"a": 1}, {"b": "é"}, {"c": [2]}]
    for length in range(ends[0] - 1, len(whole)):
        path.write_bytes(whole[:length])
        kept = sum(end <= length + 1 for end in ends)  # a line may lack its end alone
        assert rows_of(path) == expected[:kept], length
        with AppendedFile(path) as file:
            file.append([{"d": 3}])
        assert rows_of(path) == [*expected[:kept], {"d": 3}]
        assert all(json.loads(line) for line in path.read_text().splitlines())


def test_one_at_a_time(tmp_path: Path) -> None:
    with AppendedFile(tmp_path / "x") as file:
        file.append([{"a": 1}])
        with pytest.raises(IndexBusy):
            AppendedFile(tmp_path / "x")
    assert rows_of(tmp_path / "x") == [{"a": 1}]
    with AppendedFile(tmp_path / "y") as late:
        (tmp_path / "y").write_text('{"b": 1}\n')
        with pytest.raises(InvalidRequest, match="just been made by another process"):
            late.append([{"c": 1}])


@pytest.mark.parametrize("text", ['{"a": 1}\n[2]\n', "a, b\n1, 2\n", '{"a": 1}\n{"b"\n{"c": 1}\n'])
def test_other_lines_are_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "x").write_text(text)
    with pytest.raises(InvalidRequest, match=r"line [12]: not a JSON object"):
        AppendedFile(tmp_path / "x")


def test_a_key_that_a_line_has_twice_is_named_also_in_a_last_line_without_an_end(tmp_path: Path) -> None:
    (tmp_path / "x").write_text('{"a": 1}\n{"b": {"c": 1, "c": 2}}')
    with pytest.raises(InvalidRequest, match="line 2: 'b' → 'c' is there twice"):
        AppendedFile(tmp_path / "x")


def test_a_file_that_may_not_be_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text('{"a": 1}\n')
    assert read_only(tmp_path, lambda: rows_of(path)) == [{"a": 1}]
    with pytest.raises(PermissionError, match="x'"):
        read_only(tmp_path, lambda: AppendedFile(path).append([{"b": 2}]))
    assert path.read_text() == '{"a": 1}\n'
