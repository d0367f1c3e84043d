"""Tokens: who may ask."""

import base64
import stat
from pathlib import Path

import pytest
from starlette.datastructures import Headers

from sciretrieve.base.errors import InvalidRequest, NotFound
from sciretrieve.service.access import AccessTokens, new_token, token_of


def test_a_new_token_is_known_by_its_name_and_kept_as_a_hash(tmp_path: Path) -> None:
    path = tmp_path / "tokens"
    first, second = new_token(path, "ada"), new_token(path, "alan@lab")
    tokens = AccessTokens(path)
    assert (tokens.name_of(first), tokens.name_of(second), tokens.name_of(first[:-1]), tokens.name_of("")) == (
        "ada",
        "alan@lab",
        None,
        None,
    )
    assert first not in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_file_of_one_s_own_may_have_remarks_and_no_end(tmp_path: Path) -> None:
    path = tmp_path / "tokens"
    token = new_token(path, "ada")
    path.write_text(f"# who may ask\n\n{path.read_text().strip()}")
    other = new_token(path, "grace")
    assert [AccessTokens(path).name_of(each) for each in (token, other)] == ["ada", "grace"]


@pytest.mark.parametrize("name", ["", "a b", "x" * 65, "a\nb", "ada"])
def test_a_name_that_cannot_be_one_or_has_a_token_is_refused(tmp_path: Path, name: str) -> None:
    new_token(tmp_path / "tokens", "ada")
    with pytest.raises(InvalidRequest, match="has a token of ada" if name == "ada" else "cannot name a token"):
        new_token(tmp_path / "tokens", name)


@pytest.mark.parametrize(("content", "words"), [(b"ada secret\n", "line 1"), (b"\xff\xfe", "cannot be read")])
def test_a_file_that_is_none_is_refused(tmp_path: Path, content: bytes, words: str) -> None:
    (tmp_path / "tokens").write_bytes(content)
    with pytest.raises(InvalidRequest, match=words):
        AccessTokens(tmp_path / "tokens")
    with pytest.raises(NotFound, match="serve token NAME"):
        AccessTokens(tmp_path / "none")


@pytest.mark.parametrize(
    ("headers", "token"),
    [
        ({"Authorization": "Bearer abc"}, "abc"),
        ({"authorization": "bearer abc "}, "abc"),
        ({"X-API-Key": "abc"}, "abc"),
        ({"Authorization": f"Basic {base64.b64encode(b'me:a:b').decode()}"}, "a:b"),
        ({"Authorization": "Basic ###"}, None),
        ({"Authorization": f"Basic {base64.b64encode(b'me:').decode()}"}, None),
        ({"Authorization": "Digest abc"}, None),
        ({"Authorization": "Bearer"}, None),
        ({}, None),
    ],
)
def test_a_token_comes_in_any_of_the_usual_headers(headers: dict[str, str], token: str | None) -> None:
    assert token_of(Headers(headers)) == token


def test_tokens_are_read_again_and_stay_where_the_file_is_none(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "tokens"
    ada, grace = new_token(path, "ada"), new_token(path, "grace")
    tokens = AccessTokens(path)
    path.write_text(path.read_text().splitlines()[1])
    assert tokens.name_of(ada) == "ada"
    tokens.reload()
    assert [tokens.name_of(ada), tokens.name_of(grace)] == [None, "grace"]
    path.write_text("no token at all\n")
    tokens.reload()
    path.unlink()
    tokens.reload()
    assert tokens.name_of(grace) == "grace"
    assert caplog.text.count("the tokens stay as they are") == 2
