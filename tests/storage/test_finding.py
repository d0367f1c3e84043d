"""Which index is meant: by folder, by name, by nothing; and the list of them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import sciretrieve as sr
from sciretrieve.base.errors import InvalidRequest, NotFound
from sciretrieve.base.system import owner
from sciretrieve.storage import finding
from sciretrieve.storage.finding import chosen, found, listing, several


@pytest.fixture(scope="session")
def words(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of words alone, to be copied."""
    return Path(sr.build(corpus, tmp_path_factory.mktemp("words") / "index", encoder=None, limit=20).path)


@pytest.fixture
def put(words: Path) -> object:
    """Puts an index at a path, the younger the higher its `age` is."""

    def copy(path: str | Path, age: float = 0) -> Path:
        shutil.copytree(words, path)
        os.utime(Path(path) / "manifest.json", (1e9 + age, 1e9 + age))
        return Path(path)

    return copy


@pytest.fixture
def deep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory two folders below the home."""
    folder = tmp_path / "thesis" / "notes"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    return folder


def test_by_nothing_the_one_built_last_here_and_else_in_the_nearest_folder_above(put, deep, tmp_path) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(NotFound, match=r"there is no index in \./indexes, .*build one with"):
        chosen()
    far = put(tmp_path / "indexes" / "far", 9)
    assert chosen().path == far
    put(tmp_path / "thesis" / "indexes" / "old", 1)
    near = put(tmp_path / "thesis" / "indexes" / "new", 2)
    assert chosen().path == near
    assert chosen().why == f"the one built last in {near.parent}"
    here = put("indexes/here", 0)
    assert (chosen().path, chosen().why) == (here, "the one built last in indexes")
    (here / "manifest.json").unlink()
    assert chosen().path == near


def test_nothing_above_the_home_is_taken(put, deep, tmp_path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    put(tmp_path / "indexes" / "far")
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "thesis")
    with pytest.raises(NotFound):
        chosen()
    monkeypatch.setattr(Path, "home", lambda: deep)
    with pytest.raises(NotFound):
        chosen()


def test_a_home_is_the_same_by_a_link_and_the_root_where_there_is_none(put, deep, tmp_path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    far = put(tmp_path / "indexes" / "far")
    (tmp_path / "link").symlink_to(tmp_path / "thesis")
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "link")
    with pytest.raises(NotFound):
        chosen()

    def nobody() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", nobody)
    assert chosen().path == far


@pytest.fixture
def given_to(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path, int], None]:
    """Gives a file or folder to another user, as root might."""
    owners: dict[Path, int] = {}
    actual = owner
    monkeypatch.setattr(finding, "owner", lambda path: owners.get(path.absolute()) if path.absolute() in owners else actual(path))
    return owners.__setitem__


STRANGER = 4_000_000


def test_above_a_folder_of_another_user_nothing_is_looked_for(put, deep, tmp_path, given_to) -> None:  # type: ignore[no-untyped-def]
    far, near = put(tmp_path / "indexes" / "far"), put(tmp_path / "thesis" / "indexes" / "near")
    given_to(tmp_path, STRANGER)
    assert found() == [near]
    with pytest.raises(NotFound):
        chosen("far")
    given_to(tmp_path / "thesis", STRANGER)
    with pytest.raises(NotFound, match=r"name one with -i$"):
        chosen()
    assert chosen(far).path == far, "by its folder"


def test_an_index_of_another_user_answers_only_by_its_folder(put, deep, tmp_path, given_to) -> None:  # type: ignore[no-untyped-def]
    mine, theirs = put("indexes/mine", 1), put("indexes/theirs", 2)
    assert chosen().path == theirs
    given_to(deep / "indexes", STRANGER)
    given_to(deep / "indexes" / "theirs", STRANGER)
    assert found() == [mine]
    assert chosen().path == mine
    with pytest.raises(
        NotFound, match=r"^the index indexes/theirs belongs to another user; name it by its folder, as in -i indexes/theirs$"
    ):
        chosen("theirs")
    shutil.rmtree(mine)
    with pytest.raises(NotFound, match=r"^the indexes in indexes belong to another user; name one by its folder, as in -i indexes/theirs$"):
        chosen()
    assert chosen("indexes/theirs").path == theirs
    given_to(deep / "indexes", 0)  # root may do everything in any case
    assert chosen().path == theirs


def test_a_link_of_the_users_own_to_a_folder_of_others_is_followed(put, deep, tmp_path, given_to) -> None:  # type: ignore[no-untyped-def]
    put(tmp_path / "shared" / "acm")
    given_to(tmp_path / "shared", STRANGER)
    given_to(tmp_path / "shared" / "acm", STRANGER)
    Path("indexes").symlink_to(tmp_path / "shared")
    assert chosen().path == Path("indexes/acm")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_the_owner_is_the_systems(put, deep) -> None:  # type: ignore[no-untyped-def]
    put("indexes/acm")
    os.chown("indexes/acm", STRANGER, -1)
    assert chosen().path == Path("indexes/acm"), "in a folder of the user's own"
    os.chown("indexes", STRANGER, -1)
    with pytest.raises(NotFound, match="belong to another user"):
        chosen()


def test_a_name_is_found_here_above_and_in_the_settings(put, deep, tmp_path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    above, own, single = put(tmp_path / "indexes" / "acm"), put(tmp_path / "disk" / "hepth"), put(tmp_path / "lone")
    monkeypatch.setenv("SCIRETRIEVE_INDEXES", f"{tmp_path / 'disk'}{os.pathsep}{single}{os.pathsep}{tmp_path / 'away'}")
    assert [chosen(name).path for name in ("acm", "hepth", "lone")] == [above, own, single]
    assert found() == [above, own, single]
    here = put("indexes/acm")
    assert chosen("acm").path == here, "the nearest"
    assert chosen(str(above)).path == above
    folder = put("acm")
    assert chosen("acm").path == folder, "a folder that is an index is what it is"
    put(tmp_path / "disk" / "lone")
    with pytest.raises(InvalidRequest, match=r"several indexes named lone: .*disk/lone, .*/lone; give the folder"):
        chosen("lone")


def test_a_name_that_is_none_is_an_error_with_those_that_there_are(put, deep) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(NotFound, match=r"there is no index at acm; build one with `sciretrieve index CORPUS -o acm`"):
        chosen("acm")
    put("indexes/citances")
    with pytest.raises(NotFound, match=r"did you mean citances\?"):
        chosen("citanses")
    with pytest.raises(NotFound, match=r"there is no index at xyz, and none has that name; there are: citances"):
        chosen("xyz")


def test_a_default_of_the_settings_comes_first_and_is_named_when_it_is_wrong(put, deep, tmp_path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    acm = put(tmp_path / "indexes" / "acm")
    put("indexes/here")
    monkeypatch.setenv("SCIRETRIEVE_INDEX", "acm")
    assert (chosen().path, chosen().why) == (acm, "$SCIRETRIEVE_INDEX")
    assert chosen("here").path == Path("indexes/here"), "an option comes before it"
    monkeypatch.setenv("SCIRETRIEVE_INDEX", "hepth")
    with pytest.raises(NotFound, match=r"^\$SCIRETRIEVE_INDEX: there is no index at hepth"):
        chosen()


def test_without_one_here_those_of_the_settings_are_named(put, deep, tmp_path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    put(tmp_path / "disk" / "acm")
    monkeypatch.setenv("SCIRETRIEVE_INDEXES", str(tmp_path / "disk"))
    with pytest.raises(NotFound, match="name one with -i: acm"):
        chosen()


def test_unfinished_and_damaged_ones_are_listed_as_such(put, deep) -> None:  # type: ignore[no-untyped-def]
    ready = listing(put("indexes/ready"))
    index = sr.open("indexes/ready")
    assert (ready.state, ready.papers, ready.modes, ready.encoder) == ("ready", len(index), index.modes, None)
    assert ready.bytes == sum((index.path / name).stat().st_size for name, _ in index.snapshot.manifest.files())
    cut = put("indexes/cut")
    (cut / "manifest.json").write_text("{")
    lost = put("indexes/lost")
    next((lost / "shards").rglob("postings.arrow")).unlink()
    gone = put("indexes/gone")
    (gone / "manifest.json").unlink()
    Path("indexes/begun").mkdir()
    Path("indexes/begun/pending.json").write_text("{}")
    Path("indexes/no-index").mkdir()
    states = {path.name: listing(path) for path in found()}
    assert {name: row.state for name, row in states.items()} == {
        "begun": "unfinished",
        "cut": "damaged",
        "gone": "damaged",
        "lost": "damaged",
        "ready": "ready",
    }
    assert "postings.arrow is missing" in str(states["lost"].fault)


def test_a_folder_that_cannot_be_read_is_passed_over(put, deep, tmp_path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "thesis" / "indexes").write_text("a file")
    far = put(tmp_path / "indexes" / "far")
    assert chosen().path == far


def test_all_are_those_that_are_found_but_for_unfinished_ones(put, deep, tmp_path) -> None:  # type: ignore[no-untyped-def]
    far, near, other = put(tmp_path / "indexes" / "far"), put("indexes/near"), put("elsewhere")
    Path("indexes/begun").mkdir()
    Path("indexes/begun/pending.json").write_text("{}")
    assert several(["*"]) == [Path("indexes/near"), far]
    assert several([str(other), "far", "*", "near"]) == [other, far, Path("indexes/near")]
    assert near == Path("indexes/near")
    (near / "manifest.json").unlink()  # damaged, which whoever opens it is told
    assert several(["*"]) == [near, far]
    with pytest.raises(NotFound, match="none has that name"):
        several(["near", "nowhere"])


def test_all_of_none_says_why(deep) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(NotFound, match=r"there is no index in \./indexes"):
        several(["*"])
