"""What a line of a strategy says: what joins what, which word is a line, and what is refused."""

from __future__ import annotations

import pytest

from sciretrieve.base.errors import InvalidRequest
from sciretrieve.query.narrowing.combining import Combination
from sciretrieve.strategies.lines import Expression, LineReference, TypedWords, UnavailableText, read_line

NAMES = ("s1", "s2", "s3", "Population")


def shown(expression: Expression) -> str:
    """An expression with all of its parentheses."""
    if isinstance(expression, TypedWords):
        return f"<{expression.query}>"
    if isinstance(expression, LineReference):
        return expression.name
    if isinstance(expression, UnavailableText):
        return f"!{expression.text}!"
    assert isinstance(expression, Combination)
    if expression.operator == "NOT":
        return f"-{shown(expression.parts[0])}"
    return "(" + f" {expression.operator} ".join(map(shown, expression.parts)) + ")"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("mouse model", "<mouse model>"),
        ("title:(mouse OR  rat) NOT review", "<title:(mouse OR rat) NOT review>"),
        ("s1", "s1"),
        ("S1 and more", None),
        ("(s1)", "s1"),
        ("s1 AND S2", "(s1 AND s2)"),
        ("s1 OR s2 AND s3", "(s1 OR (s2 AND s3))"),
        ("(s1 OR s2) AND s3", "((s1 OR s2) AND s3)"),
        ("(s1 OR s2) NOT s3", "((s1 OR s2) AND -s3)"),
        ("s1 AND NOT s2 OR s3", "((s1 AND -s2) OR s3)"),
        ("NOT s1 AND s2", "(-s1 AND s2)"),
        ("NOT (s1 OR s2)", "-(s1 OR s2)"),
        ("s1 AND s2 NOT s3 NOT population", "(s1 AND s2 AND -s3 AND -Population)"),
        ("s1 AND (title:(a OR b) NOT c)", "(s1 AND <(title:(a OR b) NOT c)>)"),
        ("s1 AND a OR b AND s2", "((s1 AND <a>) OR (<b> AND s2))"),
        ("s1 AND mouse model NOT (S)-ibuprofen", "(s1 AND <mouse model> AND <NOT (S)-ibuprofen>)"),
        ('s1 OR "s2 AND s3"', '(s1 OR <"s2 AND s3">)'),
        ("s1 OR title:s2", "(s1 OR <title:s2>)"),
        ('s1 OR "heart failure"~3 OR a NEAR/3 b', '(s1 OR <"heart failure"~3> OR <a NEAR/3 b>)'),
        ('s1 OR unavailable:"exp Stroke/ (and more)"', "(s1 OR !exp Stroke/ (and more)!)"),
    ],
)
def test_what_a_line_says(query: str, expected: str | None) -> None:
    if expected is None:
        with pytest.raises(InvalidRequest):
            read_line("s9", query, NAMES)
    else:
        assert shown(read_line("s9", query, NAMES).expression) == expected


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("s1 AND s9", "line s4: it refers to s9, and no line has that name; did you mean s"),
        ("mouse s12", "line s4: it refers to s12, and no line has that name"),
        ("#1 AND #2", "line s4: it refers to #1, and no line has that name"),
        ("s1 AND popluation", "line s4: it refers to popluation, and no line has that name; did you mean Population?"),
        ("s1 AND -s2", "line s4: -s2 is not read as the line s2; leave out what stands beside the name"),
        ("s1 s2", "line s4: s1 s2 joins s1 with words without AND, OR or NOT; write one between them, or put s1 in quotes"),
        ("mouse s1 AND rat", "line s4: mouse s1 joins s1 with words"),
        ("title:(s1 OR mouse)", "line s4: title:(s1 OR mouse) joins s1 with words"),
        ("s1 AND", "line s4: AND has nothing beside it"),
        ("OR s1", "line s4: OR has nothing beside it"),
        ("s1 AND (OR mouse)", "line s4: OR has nothing beside it"),
        ("s1 NOT NOT s2", "line s4: NOT has nothing beside it"),
        ("Portland OR", "line s4: OR has nothing beside it"),
        ("s1 AND ()", "line s4: there is nothing in ()"),
        ("(s1 OR s2", 'line s4: a "(" has no ")"'),
        ("s1) OR (s2", "line s4: the ) at character 3 is unmatched"),
        ('s1 OR "mouse', 'line s4: the " at character 7 is unmatched'),
        ("s4 OR mouse", "line s4: it refers to itself; put s4 in quotes if it is a word there"),
        ("(" * 101 + "s1" + ")" * 101, "line s4: it nests parentheses more than 100 levels deep"),
        ("a b c d e f g h i j k l m AND n", "line s4: it has 13 words in a row beside an operator"),
    ],
)
def test_lines_that_are_refused(query: str, message: str) -> None:
    with pytest.raises(InvalidRequest) as error:
        read_line("s4", query, (*NAMES, "s4"))
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)


def test_a_word_like_a_line_is_a_word_where_no_line_is_referred_to() -> None:
    assert shown(read_line("s4", "populations of mice", NAMES).expression) == "<populations of mice>"


def test_a_long_line_is_read_in_the_time_of_its_length() -> None:
    line = read_line("s4", " OR ".join(["s1", "mouse", "(s2 AND rat)"] * 3_000), NAMES)
    assert isinstance(line.expression, Combination)
    assert len(line.expression.parts) == 9_000
