"""A service follows its indexes: what others commit is answered from soon after, and what is being answered is not disturbed."""

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import sciretrieve as sr
from sciretrieve.base.errors import CorruptData, NotFound, UnknownName
from sciretrieve.service.library import Library
from sciretrieve.storage.manifest import read_manifest
from tests.service import full_texts


def build(path: Path, *titles: str) -> Path:
    """An index of papers with these titles, searched by words."""
    papers = [{"id": title.split()[0], "title": title} for title in titles]
    sr.build(papers, path, encoder=None, progress=False).close()
    return path


def ids(index: sr.Index) -> set[str]:
    return {hit.id for hit in index.search("comet").hits}


def test_it_takes_up_what_was_committed_and_leaves_what_is_open_as_it_is(tmp_path: Path) -> None:
    library = Library([build(tmp_path / "one", "a comet", "b comet")])
    before = library.index()
    assert not library.follow()
    sr.add([{"id": "c", "title": "a third comet"}], tmp_path / "one", progress=False)
    sr.delete(tmp_path / "one", ["a"])
    assert library.follow()
    assert (ids(before), ids(library.index())) == ({"a", "b"}, {"b", "c"})
    library.close()


@pytest.mark.parametrize("names", [("one",), ("one", "two")])
def test_an_index_that_is_built_anew_in_its_place_is_another(tmp_path: Path, names: tuple[str, ...]) -> None:
    """Its generation has the same number, and what is there is made in the same second."""
    library = Library([build(tmp_path / name, f"{name}a comet", f"{name}b comet") for name in names])
    library.warm()
    for place in ("replaced", "removed"):
        before = library.index("one")
        if place == "replaced":
            shutil.move(build(tmp_path / "new", "c comet", "onea comet"), tmp_path / "moved")
            shutil.move(tmp_path / "one", tmp_path / "old")
            shutil.move(tmp_path / "moved", tmp_path / "one")
        else:
            shutil.rmtree(tmp_path / "one")
            assert not library.follow()
            build(tmp_path / "one", "d comet", "e comet")
        assert library.follow()
        assert before is not library.index("one")
        assert ids(library.index("one")) == ({"c", "onea"} if place == "replaced" else {"d", "e"})
        assert {id[:3] for id in ids(library.index())} >= {"two"} & {*names[1:]}
    shutil.copytree(tmp_path / "one", tmp_path / "copy")
    shutil.rmtree(tmp_path / "one")
    shutil.move(tmp_path / "copy", tmp_path / "one")  # the same contents, and other files: the old ones nobody keeps for readers
    assert library.follow()
    assert not library.follow()
    library.close()


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="open files are counted by /proc")
def test_snapshots_that_it_followed_on_from_are_freed_unless_somebody_has_them(tmp_path: Path) -> None:
    library = Library([build(tmp_path / "one", "a comet"), build(tmp_path / "two", "b comet")])
    library.warm()
    kept, counts = library.index(), []
    for number in range(4):
        sr.add([{"id": f"n{number}", "title": "new comet"}], tmp_path / "one", progress=False)
        sr.merge(tmp_path / "one", progress=False)
        assert library.follow()
        counts.append(len(list(Path("/proc/self/fd").iterdir())))
    assert len(set(counts)) == 1
    assert ids(kept) == {"a", "b"}
    del kept
    assert not library.follow()
    assert len(list(Path("/proc/self/fd").iterdir())) < counts[0]
    library.close()


def test_what_cannot_answer_is_not_taken_up(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    library = Library([build(tmp_path / "one", "a comet")])
    before = library.index()
    sr.add([{"id": "b", "title": "another comet"}], tmp_path / "one", progress=False)
    postings = tmp_path / "one" / "shards" / read_manifest(tmp_path / "one").shards[-1].name / "postings.arrow"
    sound = postings.read_bytes()
    postings.write_bytes(sound[:-100] + bytes([sound[-100] ^ 1]) + sound[-99:])
    assert not library.follow()
    assert library.index() is before
    assert "is damaged" in caplog.text
    postings.write_bytes(sound)
    assert library.follow()
    assert ids(library.index()) == {"a", "b"}
    library.close()


def test_several_are_followed_together_and_named_alone(tmp_path: Path) -> None:
    library = Library([build(tmp_path / "one", "a comet"), build(tmp_path / "two", "b comet")])
    assert library.names == ("one", "two")
    sr.add([{"id": "c", "title": "a third comet"}], tmp_path / "two", progress=False)
    assert library.follow()
    assert (ids(library.index()), ids(library.index("one")), ids(library.index("two"))) == ({"a", "b", "c"}, {"a"}, {"b", "c"})
    with pytest.raises(UnknownName, match="unknown index 'three'"):
        library.index("three")
    library.close()


def test_requests_go_on_while_the_index_changes_under_them(tmp_path: Path) -> None:
    path = build(tmp_path / "one", "a comet")
    library = Library([path])

    def search(_: int) -> set[str]:
        return ids(library.index())

    def change(number: int) -> Any:
        sr.add([{"id": f"n{number}", "title": "new comet"}], path, progress=False)
        sr.merge(path, progress=False)
        return library.follow()

    with ThreadPoolExecutor(3) as threads:
        searches = threads.map(search, range(200))
        changes = [change(number) for number in range(5)]
        answers = list(searches)
    assert changes == [True] * 5
    assert all("a" in answer for answer in answers)
    assert ids(library.index()) == {"a", *(f"n{number}" for number in range(5))}
    library.close()


def test_messages_have_names_in_place_of_folders(tmp_path: Path) -> None:
    library = Library([build(tmp_path / "one", "a comet")])
    with pytest.raises(NotFound) as error:
        library.index().papers("nobody")
    assert str(tmp_path) in str(error.value)
    assert str(tmp_path) not in library.public(str(error.value))
    assert "there is no paper 'nobody' in one" in library.public(str(error.value))
    assert library.public("a/b or 1/2") == "a/b or 1/2"
    library.close()


def test_one_that_is_damaged_is_not_ready_until_its_files_are_whole(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = build(tmp_path / "one", "a comet", "b comet")
    library = Library([path, build(tmp_path / "two", "c comet")])
    library.warm()
    (file,) = path.rglob("papers.parquet")
    data = file.read_bytes()
    file.write_bytes(data[:-8])
    for _ in range(2):
        assert not library.follow()
        library.warm()
        assert (library.is_ready, library.is_doubted) == (False, True)
    assert caplog.text.count("the service is not ready") == 1
    assert caplog.text.count("the indexes stay as they are") == 1  # and is not opened again before something has changed
    file.write_bytes(data)
    assert library.follow()
    assert (library.is_ready, library.is_doubted, ids(library.index())) == (True, False, {"a", "b", "c"})
    library.close()


def test_one_whose_full_texts_are_damaged_is_not_ready_either(tmp_path: Path) -> None:
    path = full_texts.build(tmp_path / "sea", full_texts.SEA, full_texts.TEXTS)
    library = Library([path])
    library.warm()
    (file,) = (path / "fulltext").rglob("papers.parquet")
    data = file.read_bytes()
    file.write_bytes(data[:-8])
    for _ in range(2):
        assert not library.follow()
        assert (library.is_ready, library.is_doubted) == (False, True)
    file.write_bytes(data)
    assert library.follow()
    assert library.is_ready
    assert len(library.index().passages("warmup")) == 3
    library.close()


def test_what_an_answer_shows_to_be_damaged_is_not_ready(tmp_path: Path) -> None:
    library = Library([build(tmp_path / "one", "a comet")])
    library.warm()
    library.doubt(CorruptData("an answer could not be read"))
    assert not library.is_ready
    assert library.follow()  # all of its files are as they were written
    assert library.is_ready
    library.close()
