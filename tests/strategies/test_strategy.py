"""The file of a strategy: what is read, and what is said of a file that is none."""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sciretrieve.base.errors import InvalidRequest, NotFound, SciretrieveError
from sciretrieve.strategies import parse, read

WHOLE = """
indexes = ["mine", "lab"]
filter = 'venue == "ACL"'
since = 2010
until = 2020
result = "s2"

[lines]
s3 = 's1 NOT s2'  # a line may refer to lines above and below
s1 = 'title:(tumour OR neoplasm*)'
s2 = 'mouse OR rat'
"""


def test_a_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text("\ufeff" + WHOLE, encoding="utf-8")
    strategy = read(tmp_path / "s.toml")
    assert strategy.text == WHOLE
    assert list(strategy.lines) == ["s3", "s1", "s2"]
    assert strategy.order.index("s3") == 2
    assert strategy.result == "s2"
    assert strategy.indexes == ("mine", "lab")
    assert strategy.filters == ('venue == "ACL"', "year >= 2010", "year <= 2020")


def test_the_result_is_the_last_line_unless_another_is_named() -> None:
    strategy = parse("indexes = 'mine'\n[lines]\ns1 = 'mouse'\ns2 = 'rat'")
    assert (strategy.result, strategy.indexes, strategy.filters) == ("s2", ("mine",), ())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "it has no lines; write [lines]"),
        ("lines = 3", "it has no lines; write [lines]"),
        ("[lines]", "it has no lines; write [lines]"),
        ("[lines]\ns1 = 'mouse", "this is no TOML: "),
        ("[lines]\ns1 = 'mouse'\ns1 = 'rat'", "this is no TOML: "),
        ("[lines]\ns1 = mouse", "this is no TOML: Invalid value (at line 2, column 6)"),
        ("[lines]\ns1 = 3", "line s1 has no query; write it in quotes, as in s1 = 'title:cancer'"),
        ("[lines]\ns1 = ' '", "line s1 has no query"),
        ("[lines]\n1 = 'mouse'", "'1' cannot be a line's name: one begins with a letter"),
        ("[lines]\nand = 'mouse'", "'and' cannot be a line's name"),
        ('[lines]\n"a b" = "mouse"', "'a b' cannot be a line's name"),
        ("[lines]\ns1 = 'mouse'\nS1 = 'rat'", "the names s1 and S1 differ in their case alone; rename one"),
        ("[lines]\ns1 = 's2'\ns2 = 's3'\ns3 = 's1'", "lines refer to each other in a circle: s1 → s2 → s3 → s1;"),
        ("[lines]\ns1 = 's1 OR mouse'", "line s1: it refers to itself"),
        ("[lines]\ns1 = 'mouse'\ns2 = 's1 AND s9'", "line s2: it refers to s9, and no line has that name"),
        ("index = 'mine'\n[lines]\ns1 = 'mouse'", "unknown key of a strategy 'index'; did you mean 'indexes'"),
        ("indexes = 3\n[lines]\ns1 = 'mouse'", "`indexes` is a list of names or folders"),
        ("indexes = ['']\n[lines]\ns1 = 'mouse'", "`indexes` is a list of names or folders"),
        ("filter = 3\n[lines]\ns1 = 'mouse'", "`filter` is a text such as 'year >= 2018'"),
        ("since = 'then'\n[lines]\ns1 = 'mouse'", "`since` is a year"),
        ("since = 2020\nuntil = 2010\n[lines]\ns1 = 'mouse'", "no year is 2020 or later and 2010 or earlier"),
        ("result = 's2'\n[lines]\ns1 = 'mouse'", "unknown line that is the `result` 's2'; did you mean 's1'?"),
        ("[lines]\n" + "".join(f"s{number} = 'a'\n" for number in range(1001)), "it has 1,001 lines, and at most 1,000 are read"),
        ("result = 1\n[lines]\ns1 = 'mouse'", "unknown line that is the `result` '1'"),
    ],
)
def test_files_that_are_refused(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest) as error:
        parse(text)
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)
    (tmp_path / "s.toml").write_text(text)
    with pytest.raises(InvalidRequest) as error:
        read(tmp_path / "s.toml")
    assert str(error.value).startswith(f"{tmp_path / 's.toml'}: {message}")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="there is no strategy"):
        read(tmp_path / "s.toml")
    with pytest.raises(InvalidRequest, match="cannot be read as text in UTF-8"):
        read(tmp_path)
    (tmp_path / "s.toml").write_bytes(b"\xff\xfe[lines]")
    with pytest.raises(InvalidRequest, match="cannot be read as text in UTF-8"):
        read(tmp_path / "s.toml")
    with (tmp_path / "s.toml").open("wb") as file:
        file.truncate(1_000_001)
    with pytest.raises(InvalidRequest, match="is too large to be a strategy"):
        read(tmp_path / "s.toml")


def lines(*queries: str) -> str:
    return "[lines]\n" + "".join(f"s{number} = '{query}'\n" for number, query in enumerate(queries, 1))


def test_or_leaves_out_what_is_not_available_and_says_so() -> None:
    strategy = parse(lines('unavailable:"exp Stroke/"', "stroke", "s1 OR s2", 's3 OR unavailable:"review.pt."', "s2 NOT s4"))
    assert strategy.without == {
        "s1": ("exp Stroke/",),
        "s2": (),
        "s3": ("exp Stroke/",),
        "s4": ("exp Stroke/", "review.pt."),
        "s5": ("exp Stroke/", "review.pt."),
    }


@pytest.mark.parametrize(
    ("queries", "message"),
    [
        (['stroke AND unavailable:"a"'], "line s1 has AND with operands that are not available here: a;"),
        (['stroke NOT unavailable:"a"'], "line s1 has NOT with operands that are not available here: a;"),
        (
            ['unavailable:"a"', 's1 OR unavailable:"b"', "stroke AND s2"],
            "line s3 has AND with operands that are not available here: a and b;",
        ),
        (["stroke", 'unavailable:"a"'], "line s2 is the result, but nothing in it is available here: a"),
    ],
)
def test_and_and_not_cannot_do_without(queries: list[str], message: str) -> None:
    with pytest.raises(InvalidRequest) as error:
        parse(lines(*queries))
    assert str(error.value).startswith(message)


pieces = st.sampled_from(
    ["s1", "s2", "s9", "AND", "OR", "NOT", "(", ")", '"', "mouse", "title:", 'unavailable:"x"', "NEAR/3", "-", "'", "\\", "\n"]
)


@given(st.lists(st.lists(pieces, max_size=8).map(" ".join), max_size=4))
def test_whatever_is_in_a_file_is_read_or_refused(queries: list[str]) -> None:
    with suppress(SciretrieveError):
        strategy = parse(lines(*queries))
        assert set(strategy.order) == set(strategy.lines)
