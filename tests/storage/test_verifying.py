"""Verifying and repairing an index, as a user sees them: what is wrong is said of the file that it is in, and made right if it can be.

Files that are wrong here are as their manifest says, so that only their contents tell.
"""

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import faiss
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sciretrieve as sr
from sciretrieve import lifecycle
from sciretrieve.base.choices import SIDES
from sciretrieve.base.errors import EncoderMismatch, InvalidRequest, NotFound, SciretrieveError, Unavailable
from sciretrieve.base.types import Paper, Query, Vectors
from sciretrieve.files.writing import describe, write_array, write_sealed
from sciretrieve.matching.dense import build_ann
from sciretrieve.matching.dense.ann import Ann
from sciretrieve.storage.manifest import MANIFEST, read_manifest
from sciretrieve.storage.repairing import repair
from sciretrieve.storage.verifying import ENCODER, Fault, Verification, verify
from tests.command_line import answer, sciretrieve
from tests.edited import edit_manifests, edited_manifest, files_of
from tests.made_up import made_up_papers, write_jsonl
from tests.torture.operations import letters_for_all
from tests.toy_encoder import LetterEncoder

FIRST, SECOND = "shards/000000", "shards/000001"
Columns = dict[str, Any]


@pytest.fixture(autouse=True)
def letters() -> Iterator[None]:
    """One encoder for all."""
    with letters_for_all():
        yield


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two shards of seven papers, less one in the first, in the second generation."""
    folder = tmp_path_factory.mktemp("verified")
    with letters_for_all():
        corpus = write_jsonl(folder / "papers.jsonl", made_up_papers(14, seed=7))
        sr.build(corpus, folder / "index", encoder="letters", shard_size=7, dense="hnsw").close()
        lifecycle.delete(folder / "index", "p0002")
    return folder / "index"


@pytest.fixture
def index(sound: Path, tmp_path: Path) -> Path:
    """A copy of it, to spoil."""
    return Path(shutil.copytree(sound, tmp_path / "index"))


@contextmanager
def rewritten(index: Path, name: str) -> Iterator[Path]:
    """A file to write anew; all manifests then say that it was written so."""
    path = index / name
    kept = path.with_name("kept")
    path.rename(kept)  # an index that is open keeps what it has
    shutil.copyfile(kept, path)
    kept.unlink()
    yield path

    def change(manifest: dict[str, Any]) -> None:
        folders = {f"shards/{shard['name']}": shard["files"] for shard in manifest["shards"]}
        folders[manifest["lexical"]["folder"]] = manifest["lexical"]["files"]
        folders["encoder"] = {Path(name).name: manifest["encoder"]["golden"]}
        facts = folders.get(str(Path(name).parent), {}).get(path.name)
        if facts is not None:
            facts.update(describe(path))

    edit_manifests(index, change)


def array(index: Path, name: str, change: Callable[[Any], Any]) -> None:
    """Write an array as it is after a change."""
    with rewritten(index, name) as path:
        write_array(path, change(np.load(path)))


def columns(index: Path, name: str, change: Callable[[Columns], None]) -> None:
    """Write the columns of an Arrow file, as Python lists, as they are after a change."""
    with rewritten(index, name) as path:
        with pa.memory_map(str(path)) as source:
            table = pa.ipc.open_file(source).read_all()
            values = table.to_pydict()
        change(values)
        with path.open("wb") as file, pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(pa.table(values, table.schema))


def with_papers(index: Path, name: str, change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]) -> None:
    """Write the papers of a shard as they are after a change."""
    with rewritten(index, name) as path:
        table = pq.read_table(path)
        pq.write_table(pa.Table.from_pylist(change(table.to_pylist()), table.schema), path)


def ids_of(index: Path) -> dict[str, list[tuple[str, float]]]:
    with sr.open(index) as opened_index:
        return {mode: [(hit.id, hit.score) for hit in opened_index.search("graph star", 50, mode=mode).hits] for mode in opened_index.modes}


def test_a_sound_index_has_no_faults(index: Path) -> None:
    manifest = read_manifest(index)
    older = dict(read_manifest(index, 1).files())
    size = sum(facts["bytes"] for facts in (older | dict(manifest.files())).values())
    assert verify(index) == Verification(2, 13, len(older | dict(manifest.files())) + 1, size, ())
    before = files_of(index)
    assert repair(index) == verify(index)
    assert files_of(index) == before


def test_an_id_that_two_papers_have_is_named(index: Path) -> None:
    def with_the_same_id(ids: Sequence[str]) -> list[str]:
        return ["p0003" if id == "p0009" else id for id in ids]

    columns(index, f"{SECOND}/ids.arrow", lambda columns: columns.update(id=with_the_same_id(columns["id"])))
    assert verify(index).faults[0] == Fault(f"{SECOND}/ids.arrow", "does not have the ids of papers.parquet")
    with_papers(index, f"{SECOND}/papers.parquet", lambda papers: [paper | {"id": with_the_same_id([paper["id"]])[0]} for paper in papers])
    assert verify(index).faults == (Fault(f"{SECOND}/ids.arrow", "has the id 'p0003', which another paper has too"),)
    assert repair(index).faults == (Fault("shards/000002/ids.arrow", "has the id 'p0003', which another paper has too"),)


def test_an_id_of_a_deleted_paper_may_be_there_again(index: Path) -> None:
    columns(index, f"{SECOND}/ids.arrow", lambda columns: columns.update(id=["p0002", *columns["id"][1:]]))
    with_papers(index, f"{SECOND}/papers.parquet", lambda papers: [papers[0] | {"id": "p0002"}, *papers[1:]])
    assert verify(index).faults == ()


def spoilt(row: int, value: float) -> Callable[[Vectors], Vectors]:
    def spoil(vectors: Vectors) -> Vectors:
        vectors[row, 3] = value
        return vectors

    return spoil


def raised(place: int, by: int) -> Callable[[npt.NDArray[np.int32]], npt.NDArray[np.int32]]:
    def change(array: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
        array[place] += by
        return array

    return change


def changed(name: str, change: Callable[[list[Any]], Any]) -> Callable[[Columns], None]:
    return lambda columns: columns.update({name: change(columns[name])})


def sliced(part: slice) -> Callable[[Columns], None]:
    return lambda columns: columns.update({name: values[part] for name, values in columns.items()})


def last_of_each(lists: list[list[int]], value: int) -> list[list[int]]:
    return [*lists[:-1], [*lists[-1][:-1], value]]


def reverse(columns: Columns) -> None:
    """Terms in descending order, each with its own postings."""
    for values in columns.values():
        values.reverse()


def with_an_empty_term(columns: Columns) -> None:
    columns["term"].append("zzz")
    for name in ("rows", "counts", "titles"):
        columns[name].append([])


def one_further(titles: list[list[int]]) -> list[list[int]]:
    """The last term of the first title as the first one of the next."""
    return [titles[0][:-1], [titles[0][-1], *titles[1]], *titles[2:]]


UNORDERED = "its terms or papers are not in ascending order, or not those of the shard"
UNORDERED_WORDS = "its words or papers are not in ascending order, or not those of the shard"
DISAGREEING = "disagrees with postings.arrow"
FIELDS = "fields.arrow"
POSTINGS, LENGTHS, VECTORS, FREQUENCIES = "postings.arrow", "lengths.arrow", "vectors.npy", "lexical/000002/000001.npy"
IDS, NAMES = "ids.arrow", "names.arrow"


WRONG: dict[str, tuple[Callable[[Path, str, Any], None], str, Callable[[Any], Any], str]] = {
    "a vector with NaN": (array, f"{SECOND}/{VECTORS}", spoilt(2, np.nan), "the vector of 'p0009' is not finite"),
    "an infinite vector": (array, f"{FIRST}/{VECTORS}", spoilt(6, -np.inf), "the vector of 'p0006' is not finite"),
    "a vector too many": (array, f"{FIRST}/{VECTORS}", lambda all: np.concatenate([all, all[:1]]), "the manifest says float32(7, 28)"),
    "vectors of another type": (array, f"{FIRST}/{VECTORS}", lambda all: all.astype(float), "does not begin as an index's arrays do"),
    "vectors of another dimension": (array, f"{FIRST}/{VECTORS}", lambda all: all[:, :-1].copy(), "the manifest says float32(7, 28)"),
    "ids of other papers": (columns, f"{FIRST}/{IDS}", changed("id", lambda ids: ids[::-1]), "does not have the ids of papers.parquet"),
    "an id too few": (columns, f"{FIRST}/{IDS}", sliced(slice(-1)), "has 6 ids where the manifest says 7"),
    "a title of another paper": (columns, f"{FIRST}/{NAMES}", changed("title", lambda titles: titles[::-1]), "does not have the names of"),
    "a name too few": (columns, f"{SECOND}/{NAMES}", sliced(slice(-1)), "cannot be read"),
    "frequencies": (array, FREQUENCIES, raised(3, 1), "its frequencies disagree with the shards"),
    "frequencies of more terms": (array, FREQUENCIES, lambda all: np.append(all, all[:1]), "its frequencies disagree with the shards"),
    "a length": (columns, f"{SECOND}/{LENGTHS}", changed("terms", lambda terms: [terms[0] + 1, *terms[1:]]), DISAGREEING),
    "a title's length": (columns, f"{SECOND}/{LENGTHS}", changed("title_terms", lambda terms: [*terms[:-1], 0]), DISAGREEING),
    "a title's term": (columns, f"{FIRST}/{LENGTHS}", changed("title", lambda title: [title[1], title[0], *title[2:]]), DISAGREEING),
    "a title's term in the next title": (columns, f"{FIRST}/{LENGTHS}", changed("title", one_further), DISAGREEING),
    "a paper too few": (columns, f"{FIRST}/{LENGTHS}", sliced(slice(1, None)), "has 6 papers where the manifest says 7"),
    "a field's papers": (columns, f"{FIRST}/{FIELDS}", changed("rows", lambda rows: [[7, *rows[0][1:]], *rows[1:]]), UNORDERED_WORDS),
    "no field": (columns, f"{SECOND}/{FIELDS}", changed("fields", lambda bits: [[16, *bits[0][1:]], *bits[1:]]), UNORDERED_WORDS),
    "a field's words": (columns, f"{SECOND}/{FIELDS}", changed("word", lambda words: [words[1], words[0], *words[2:]]), UNORDERED_WORDS),
    "a count": (columns, f"{FIRST}/{POSTINGS}", changed("counts", lambda counts: last_of_each(counts, 9)), DISAGREEING),
    "a count in a title": (columns, f"{FIRST}/{POSTINGS}", changed("titles", lambda counts: last_of_each(counts, 9)), DISAGREEING),
    "no paper of the shard": (columns, f"{FIRST}/{POSTINGS}", changed("rows", lambda rows: last_of_each(rows, 7)), UNORDERED),
    "a paper before the first": (columns, f"{FIRST}/{POSTINGS}", changed("rows", lambda rows: [[-1, *rows[0][1:]], *rows[1:]]), UNORDERED),
    "papers in another order": (columns, f"{FIRST}/{POSTINGS}", changed("rows", lambda rows: [row[::-1] for row in rows]), UNORDERED),
    "terms in another order": (columns, f"{SECOND}/{POSTINGS}", reverse, UNORDERED),
    "a term that no paper has": (columns, f"{SECOND}/{POSTINGS}", with_an_empty_term, UNORDERED),
    "lists of several lengths": (columns, f"{SECOND}/{POSTINGS}", changed("counts", lambda all: [[*all[0], 1], *all[1:]]), "is damaged"),
    "other golden vectors": (array, "encoder/golden-000001.npy", lambda all: all[:, 1:].copy(), "float32(3, 27), expected float32(3, 28)"),
}
"""What makes something wrong: how a file is changed, which, and to what; and what is said. All of it can be made anew."""


@pytest.mark.torture
@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_wrong_inside_a_file_is_named_and_made_anew(wrong: str, index: Path) -> None:
    before = ids_of(index)
    write, file, change, what = WRONG[wrong]
    write(index, file, change)
    name, faults = f"{FIRST}/{LENGTHS}" if wrong.startswith("a count") else file, verify(index).faults
    assert [fault.file for fault in faults] == [name]
    assert what in faults[0].what
    assert name not in faults[0].what  # it is said once, before what is wrong
    repaired = repair(index)
    assert (repaired.faults, repaired.generation) == ((), 3)
    assert verify(index).faults == ()
    assert ids_of(index) == before


def test_a_faiss_index_of_another_shard_is_named(index: Path) -> None:
    before = ids_of(index)
    name = "dense-000001.faiss"
    other = (index / SECOND / name).read_bytes()
    with rewritten(index, f"{FIRST}/{name}") as path:
        path.write_bytes(other)
    assert verify(index).faults == (Fault(f"{FIRST}/{name}", "does not hold the vectors of its shard"),)
    assert repair(index).faults == ()
    assert ids_of(index) == before
    with rewritten(index, f"{FIRST}/dense-000003.faiss") as path:
        build_ann(path, np.ones((5, 28), np.float32), "HNSW4,Flat", "ip")
    (fault,) = verify(index).faults
    assert fault.file == f"{FIRST}/dense-000003.faiss"
    assert "holds 5 vectors where the manifest says 7" in fault.what
    with rewritten(index, f"{FIRST}/dense-000003.faiss") as path:
        path.write_bytes(b"no index")
    assert "cannot be read by FAISS" in verify(index).faults[0].what
    assert repair(index).faults == ()


@pytest.mark.parametrize(
    ("factory", "metric"),
    [
        *(("HNSW8,SQ8", "ip"), ("HNSW8,SQ8", "cosine"), ("HNSW8,SQ8", "l2"), ("IVF4,SQ8", "cosine"), ("IVF4,PQ4x4", "ip")),
        *(("RR16,IVF4,SQ8", "l2"), ("PQ4x4", "l2"), ("HNSW8,Flat", "ip"), ("IVF4,PQ4x4,RFlat", "cosine"), ("SQ4", "ip")),
    ],
)
def test_a_faiss_index_of_any_type_is_told_from_that_of_other_vectors(factory: str, metric: Any, tmp_path: Path) -> None:
    chance = np.random.default_rng(0)
    own, others = (chance.standard_normal((200, 16), np.float32) for _ in range(2))
    own[:5] = own[0]  # papers that are the same are no fault
    build_ann(tmp_path / "index.faiss", own, factory, metric)
    ann = Ann(tmp_path / "index.faiss", 200, 16)
    assert ann.is_of(own, metric)
    assert not ann.is_of(others, metric)
    assert not ann.is_of(own[::-1].copy(), metric)


def test_a_type_that_faiss_cannot_give_back_is_not_told(tmp_path: Path) -> None:
    vectors = np.random.default_rng(0).standard_normal((100, 16), np.float32)
    build_ann(tmp_path / "index.faiss", vectors, "ITQ8,LSH", "l2")
    with pytest.raises(RuntimeError):
        faiss.read_index(str(tmp_path / "index.faiss")).reconstruct(0)
    assert Ann(tmp_path / "index.faiss", 100, 16).is_of(vectors[::-1], "l2")


@pytest.mark.parametrize("is_scaled", [True, False])
def test_vectors_are_of_length_1_where_the_encoder_scales_them(is_scaled: bool, index: Path) -> None:
    def scaled(vectors: Vectors) -> Vectors:
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        lengths[3] /= 1.0004  # bf16 is no better
        scaled_vectors: Vectors = (vectors / lengths).astype(np.float32)
        return scaled_vectors

    for folder in (FIRST, SECOND):
        array(index, f"{folder}/{VECTORS}", scaled)
        with rewritten(index, f"{folder}/dense-000001.faiss") as path:
            build_ann(path, np.load(index / folder / VECTORS), "HNSW8,SQ8", "ip")
    with edited_manifest(index) as manifest:
        manifest["encoder"]["normalise"] = is_scaled
    assert verify(index).faults == ()
    array(index, f"{SECOND}/{VECTORS}", lambda vectors: vectors * np.where(np.arange(7) == 4, 1.01, 1).astype(np.float32)[:, None])
    fault = Fault(f"{SECOND}/{VECTORS}", "the vector of 'p0011' is not finite, or not of length 1")
    assert verify(index).faults == ((fault,) if is_scaled else ())


@pytest.mark.parametrize("name", ["papers", "terms", "title_terms"])
def test_statistics_that_are_not_the_shards_are_named(name: str, index: Path) -> None:
    before = ids_of(index)
    with edited_manifest(index) as manifest:
        manifest["lexical"]["statistics"][name] += 1
    assert verify(index).faults == (Fault(MANIFEST, "its statistics disagree with the shards"),)
    assert repair(index).faults == ()
    assert ids_of(index) == before


def test_terms_of_another_text_analysis_are_made_anew(index: Path) -> None:
    before = ids_of(index)
    with edited_manifest(index) as manifest:
        manifest["lexical"]["analyzer"] = {"stemmer": "none"}
    assert verify(index).faults == (Fault("lexical/000002", "was built with another version of the text analysis"),)
    with pytest.raises(InvalidRequest, match="verify --repair"):
        ids_of(index)
    assert repair(index).faults == ()
    assert ids_of(index) == before


def test_a_list_of_deleted_papers_that_does_not_fit_is_named(index: Path) -> None:
    name = f"{FIRST}/deleted-000002.npy"
    for rows, what in (
        ([1, 2], "does not match its shard"),
        ([7], "does not match its shard"),
        ([-1], "does not hold ascending rows"),
        ([2, 2], "does not hold ascending rows"),
    ):
        array(index, name, lambda _, rows=rows: np.array(rows, np.int32))  # type: ignore[misc]
        (fault,) = verify(index).faults
        assert fault.file == name
        assert what in fault.what
        (fault,) = repair(index).faults
        assert fault.file == name
        assert "it cannot be rebuilt" in fault.what


def test_papers_that_are_fewer_are_named(index: Path) -> None:
    with_papers(index, f"{SECOND}/papers.parquet", lambda papers: papers[:-1])
    for faults in (verify(index).faults, repair(index).faults):
        assert [fault.file for fault in faults] == [f"{SECOND}/papers.parquet"]
        assert "has 6 papers where the manifest says 7" in faults[0].what
    assert "it cannot be rebuilt: restore it from a copy" in repair(index).faults[0].what


@pytest.mark.parametrize(
    ("spoil", "what"),
    [
        (Path.unlink, "is missing"),
        (lambda path: path.write_bytes(path.read_bytes()[:-1]), "has 911 bytes where the manifest says 912"),
        (lambda path: path.write_bytes(path.read_bytes()[:-1] + b"\1"), "is not as it was written: its checksum differs"),
        (lambda path: (path.unlink(), path.mkdir()), "cannot be read: Is a directory"),
    ],
    ids=["missing", "short", "other", "folder"],
)
def test_a_file_that_is_not_as_it_was_written_is_named(spoil: Callable[[Path], Any], what: str, index: Path) -> None:
    spoil(index / FIRST / VECTORS)
    assert verify(index).faults == (Fault(f"{FIRST}/{VECTORS}", what),)


def test_the_manifests_of_generations_are_verified(index: Path) -> None:
    current, older = index / "generations/000002.json", index / "generations/000001.json"
    text = current.read_bytes()
    current.unlink()
    assert verify(index).faults == (Fault("generations/000002.json", f"differs from {MANIFEST}"),)
    current.write_bytes(older.read_bytes())
    assert verify(index).faults == (Fault("generations/000002.json", f"differs from {MANIFEST}"),)
    assert repair(index).faults == ()
    assert current.read_bytes() == text
    write_sealed(older, {"format": 2})
    (fault,) = verify(index).faults
    assert fault.file == "generations/000001.json"
    assert "is damaged" in fault.what
    assert repair(index).faults == ()
    assert read_manifest(index).generation == 3
    (index / MANIFEST).write_text("{")
    (fault,) = verify(index).faults
    assert (fault.file, verify(index).generation) == (MANIFEST, None)
    assert "is not valid JSON" in fault.what


class Drifted(LetterEncoder):
    """Gives other vectors on one side than it did."""

    def __init__(self, side: str) -> None:
        super().__init__()
        self.side = side

    def encode_papers(self, papers: Sequence[Paper]) -> Vectors:
        return super().encode_papers(papers)[:, :: -1 if self.side == "paper" else 1]

    def encode_queries(self, queries: Sequence[Query]) -> Vectors:
        is_other = self.side == ("query" if queries[0].paper is None else "paper_as_query")
        return super().encode_queries(queries)[:, :: -1 if is_other else 1]


@pytest.mark.parametrize("side", SIDES)
def test_an_encoder_that_gives_other_vectors_on_one_side_is_told_and_used_for_nothing(side: str, index: Path) -> None:
    (fault,) = verify(index, encoder=Drifted(side)).faults
    assert fault.file == ENCODER
    assert "gives other vectors today than when the index was built" in fault.what
    files = files_of(index)
    assert repair(index, encoder=Drifted(side)).faults == (fault,)  # what it would give now is not what the papers' vectors are
    assert files_of(index) == files


def test_lost_vectors_are_not_made_by_an_encoder_that_gives_others(index: Path) -> None:
    (index / FIRST / VECTORS).unlink()
    with pytest.raises(InvalidRequest, match="gives other vectors today"):
        repair(index, encoder=Drifted("paper"))
    with pytest.raises(EncoderMismatch):
        repair(index, encoder=LetterEncoder(scale=2))
    assert [fault.file for fault in verify(index).faults] == [f"{FIRST}/{VECTORS}"]
    assert repair(index).faults == ()


@pytest.mark.parametrize("error", [NotFound("there are no weights"), Unavailable("torch is not installed")])
def test_where_the_encoder_is_not_available_that_is_said(error: SciretrieveError, index: Path) -> None:
    with mock.patch("sciretrieve.encoders.query_encoder.reopen_encoder", side_effect=error):
        verification = verify(index)
        result = sciretrieve("verify", "-i", index)
    assert verification.faults == ()
    assert verification.unchecked == f"the encoder is not available here, so its vectors were not compared with those in the index: {error}"
    assert (result.returncode, result.stdout) == (0, "")
    assert verification.unchecked in result.stderr


def test_an_index_without_vectors_or_without_terms_is_verified(tmp_path: Path) -> None:
    corpus = write_jsonl(tmp_path / "papers.jsonl", made_up_papers(9))
    sr.build(corpus, tmp_path / "words", encoder=None).close()
    sr.build(corpus, tmp_path / "vectors", encoder="letters", lexical=None).close()
    for name, lost in (("words", "postings.arrow"), ("vectors", "vectors.npy")):
        before = ids_of(tmp_path / name)
        assert verify(tmp_path / name).faults == ()
        (tmp_path / name / FIRST / lost).unlink()
        assert verify(tmp_path / name).faults == (Fault(f"{FIRST}/{lost}", "is missing"),)
        assert repair(tmp_path / name).faults == ()
        assert ids_of(tmp_path / name) == before


def test_the_command_says_that_an_index_is_sound(index: Path) -> None:
    result = sciretrieve("verify", "-i", index)
    verification = verify(index)
    assert (result.returncode, result.stdout) == (0, "")
    assert f"{index} is sound: 13 papers, {verification.files} files, " in result.stderr
    assert result.stderr.endswith(", generation 2\n")
    assert sciretrieve("verify", "-i", index, "--quiet").stderr == ""
    told = json.loads(answer("verify", "-i", index, "--format", "json"))
    assert told == {
        **{"schema": 1, "index": str(index), "generation": 2, "papers": 13, "files": verification.files, "bytes": verification.bytes},
        **{"faults": [], "unchecked": ""},
    }


def test_the_command_lists_faults_and_repairs_them(index: Path) -> None:
    name = f"{FIRST}/{VECTORS}"
    (index / name).unlink()
    result = sciretrieve("verify", "-i", index)
    assert (result.returncode, result.stdout) == (1, f"{name}: is missing\n")
    assert result.stderr.startswith("1 fault in ")
    assert result.stderr.endswith(f"; try `sciretrieve verify --repair -i {index}`\n")
    as_json = sciretrieve("verify", "-i", index, "--format", "json", "--quiet")
    assert (as_json.returncode, as_json.stderr) == (1, "")
    assert json.loads(as_json.stdout)["faults"] == [{"file": name, "what": "is missing"}]
    repaired = sciretrieve("verify", "-i", index, "--repair")
    assert (repaired.returncode, repaired.stdout) == (0, "")
    assert repaired.stderr.endswith(", generation 3\n")
    assert sciretrieve("verify", "-i", index).returncode == 0


def test_the_command_says_what_cannot_be_repaired(index: Path) -> None:
    (index / FIRST / "papers.parquet").unlink()
    result = sciretrieve("verify", "-i", index, "--repair")
    told = "is missing; it cannot be rebuilt: restore it from a copy, or rebuild the index with `sciretrieve index --overwrite`"
    assert (result.returncode, result.stdout) == (1, f"{FIRST}/papers.parquet: {told}\n")
    assert "try `sciretrieve verify --repair" not in result.stderr
