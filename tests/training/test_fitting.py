"""An encoder fitted to an index: what it learns from, what is held out of that, what it says and refuses."""

from __future__ import annotations

import json
import shlex
import shutil
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sciretrieve as sr
from sciretrieve.base.choices import command_line
from sciretrieve.base.errors import EncoderMismatch, InvalidRequest
from sciretrieve.options import TrainingOptions
from sciretrieve.training import next_command, read_training_set, train_for_index
from tests.command_line import answer, sciretrieve
from tests.made_up import write_jsonl
from tests.training.planted import Stopper
from tests.training.synonyms import equal, knowing, rows, tensors, write_small

COUNT = 240
SETTINGS: dict[str, Any] = {"reduction": 1, "rate": 0.01, "batch": 40, "steps": 40, "epochs": 40, "every": 10, "precision": "fp32"}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a corpus, two of whose papers have one title, an encoder, and an index by it."""
    folder = tmp_path_factory.mktemp("library")
    papers = [{name: value for name, value in row.items() if name != "words"} for row in rows(COUNT)]
    papers[7]["title"] = papers[8]["title"]
    papers[9]["abstract"] = ""
    write_jsonl(folder / "papers.jsonl", papers)
    write_small(folder / "encoder")
    sr.build(folder / "papers.jsonl", folder / "index", encoder=str(folder / "encoder"), late=False, shard_size=100, progress=False).close()
    return folder


@pytest.fixture(scope="module")
def begun(library: Path) -> Path:
    """What a training for it has made when it is interrupted."""
    with pytest.raises(KeyboardInterrupt):
        train_for_index(library / "index", library / "begun", progress=Stopper(12), **SETTINGS)
    return library / "begun.partial"


def papers_in(folder: Path) -> Counter[str]:
    """The papers of which anything stands in a set: themselves, changed texts of them, texts out of them."""
    read = read_training_set(folder)
    ids = [paper.extra.get("original", {}).get("id", id) for id, paper in read.papers.items()]
    return Counter(ids + [id.partition("#")[0] for id in read.queries])


def parts(begun: Path) -> dict[str, Mapping[str, Counter[str]]]:
    return {
        part: {folder.name: papers_in(folder) for folder in (begun / "library" / part).iterdir()}
        for part in ("learning", "choosing", "judging")
    }


def test_nothing_that_is_held_out_is_learned_from(begun: Path) -> None:
    made = parts(begun)
    assert made["learning"].keys() == {"titles", "sentences", "citations", "cocitations", "rankings"}
    learning, choosing, judging = ({id for ids in sets.values() for id in ids} for sets in made.values())
    assert not learning & (choosing | judging)
    assert not choosing & judging
    assert len(choosing) >= 23
    assert len(judging) >= 23
    assert len(learning) > 180
    assert "s009" not in learning | choosing | judging
    assert sum({"s007", "s008"} <= ids for ids in (learning, choosing, judging)) == 1


def test_each_set_is_what_it_is_said_to_be(library: Path, begun: Path) -> None:
    papers = {row["id"]: row for row in map(json.loads, (library / "papers.jsonl").read_text().splitlines())}
    sets = {folder.name: read_training_set(folder) for folder in (begun / "library" / "learning").iterdir()}
    usable = {id for folder in (begun / "library" / "learning").iterdir() for id in papers_in(folder)}
    for query, positive, _ in sets["titles"].triplets:
        id = query.removesuffix("#title")
        assert sets["titles"].queries[query] == papers[id]["title"]
        assert (sets["titles"].papers[positive].title, sets["titles"].papers[positive].abstract) == ("", papers[id]["abstract"])
    for query, positive, _ in sets["sentences"].triplets:
        assert sets["sentences"].queries[query] not in sets["sentences"].papers[positive].abstract
    cited = {(id, other) for id in usable for other in papers[id]["references"] if other in usable}
    pairs = {(query, positive) for query, positive, _ in sets["citations"].triplets}
    assert pairs <= cited
    assert len(pairs) > 0.95 * len(cited)
    together = Counter((one, other) for id in usable for one in papers[id]["references"] for other in papers[id]["references"])
    for one, other, _ in sets["cocitations"].triplets:
        most = max(count for (first, second), count in together.items() if first == one and second != one and second in usable)
        assert together[one, other] == most >= 2
    with sr.open(library / "index") as index:
        for query, scores in list(sets["rankings"].rankings.items())[:20]:
            title = papers[query.removesuffix("#title")]["title"]
            ranking = index.search([sr.Query("q", title)], COUNT, mode="hybrid", group=False)[0]
            known = dict(zip(ranking.ids, ranking.scores.tolist(), strict=True))
            assert scores == pytest.approx({id: known[id] for id in scores}, abs=1e-4)
            assert query.removesuffix("#title") not in scores
            assert list(scores.values()) == sorted(scores.values(), reverse=True)


def test_the_same_index_and_seed_make_the_same_bytes(library: Path, begun: Path) -> None:
    def contents(folder: Path) -> dict[str, bytes]:
        return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    for name, seed in (("again", 42), ("other", 1)):
        with pytest.raises(KeyboardInterrupt):
            train_for_index(library / "index", library / name, progress=Stopper(0), seed=seed, **SETTINGS)
    first, again, other = (contents(library / f"{name}.partial" / "library") for name in ("begun", "again", "other"))
    assert again == first
    assert other.keys() == first.keys()
    assert other["learning/titles/pairs.tsv"] != first["learning/titles/pairs.tsv"]
    with pytest.raises(InvalidRequest, match="with the seed 1; begin anew with `overwrite`"):
        train_for_index(library / "index", library / "other", progress=False, **SETTINGS)


def test_it_goes_on_gains_and_is_taken_by_the_next_command(library: Path, begun: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(library)
    options = shlex.split(command_line(TrainingOptions, SETTINGS))
    done = sciretrieve("train", "--from-index", "index", "-o", "begun", *options)
    assert done.returncode == 0, done.stderr
    assert not begun.exists()
    whole = train_for_index("index", "whole", progress=False, **SETTINGS)
    assert equal(tensors(library / "begun"), tensors(library / "whole"))
    assert whole.comparison is not None
    assert whole.comparison.low > 0
    facts = json.loads((library / "begun" / "training.json").read_text())
    assert (facts["before"], facts["after"]) == (whole.base, whole.best)
    assert {row["name"] for row in facts["data"]} == {"titles", "sentences", "citations", "cocitations", "rankings"}
    card = (library / "begun" / "README.md").read_text()
    assert "sciretrieve train --from-index index -o begun --set reduction=1" in card
    assert "held-out papers of the same index" in card
    assert "95 % interval" in done.stdout
    (command,) = (line.partition("next: ")[2] for line in done.stderr.splitlines() if line.startswith("next: "))
    assert command == f"sciretrieve index {library / 'papers.jsonl'} --encoder begun -o index --overwrite"
    before = (library / "index" / "manifest.json").read_bytes()
    answer(*shlex.split(command)[1:])
    try:
        assert (library / "index" / "manifest.json").read_bytes() != before
        with sr.open("index") as index:
            assert index.reader.query_encoder.encoder.name == "begun"
            assert len(index.search("apple river stone", 3)[0]) == 3
        with pytest.raises(InvalidRequest, match="was built with begun, which cannot be trained for it"):
            train_for_index("index", "twice", progress=False)
    finally:
        sr.build("papers.jsonl", "index", encoder=str(library / "encoder"), late=False, overwrite=True, progress=False).close()


def test_papers_that_were_added_are_taken_from_the_index(library: Path, tmp_path: Path) -> None:
    """The corpus is no longer all of it."""
    sr.build(library / "papers.jsonl", "grown", encoder=str(library / "encoder"), late=False, dense="hnsw", progress=False).close()
    sr.add([{"id": "new", "title": "apple river"}], "grown", progress=False)
    assert next_command("grown", "my encoder") == (
        "sciretrieve export -i grown -o grown.parquet && "
        "sciretrieve index grown.parquet --encoder 'my encoder' -o grown --dense hnsw --overwrite"
    )


def test_an_encoder_has_moved(library: Path, tmp_path: Path) -> None:
    """It is named; another is refused."""
    shutil.copytree(library / "encoder", tmp_path / "moved")
    with pytest.raises(KeyboardInterrupt):
        train_for_index(library / "index", "out", base=str(tmp_path / "moved"), progress=Stopper(0), **SETTINGS)
    assert json.loads(Path("out.partial/plan.json").read_text())["base"] == str(tmp_path / "moved")
    knowing(library / "encoder", tmp_path / "other")
    with pytest.raises(EncoderMismatch):
        train_for_index(library / "index", "out", base=str(tmp_path / "other"), progress=False, **SETTINGS)


def test_what_cannot_be_fitted_is_refused(library: Path, tmp_path: Path) -> None:
    corpus, encoder = library / "papers.jsonl", str(library / "encoder")
    sr.build(corpus, "words", encoder=None, progress=False).close()
    sr.build(corpus, "few", encoder=encoder, limit=80, late=False, progress=False).close()
    sr.build(corpus, "otherwise", encoder=encoder, pooling="cls", late=False, progress=False).close()
    alike = [{"id": f"a{number}", "title": "apple river stone cloud", "abstract": "lemon"} for number in range(120)]
    sr.build(alike, "alike", encoder=encoder, late=False, progress=False).close()
    with sr.open("few") as index:
        np.save("vectors.npy", np.concatenate([shard.vectors for shard in index.snapshot.vectors]))
        Path("vectors.ids.txt").write_text("\n".join(index.snapshot.live_ids()))
    sr.build(corpus, "stored", encoder="vectors:vectors.npy", limit=80, progress=False).close()
    for name, message in {
        "words": "words has no vectors, and so no encoder to train",
        "few": "few has 79 papers with a title and an abstract, too few to hold some out: it takes 100",
        "otherwise": "cannot be trained for it: only a single model",
        "alike": "have no titles and sentences of their own",
        "stored": "cannot be trained for it: only a single model",
    }.items():
        with pytest.raises(InvalidRequest, match=message):
            train_for_index(name, "out", progress=False)
    for arguments in (("set", "--from-index", "few"), ()):
        refused = sciretrieve("train", *arguments, "-o", "out")
        assert refused.returncode == 2
        assert "name training sets or --from-index, not both" in refused.stderr
        assert len(refused.stderr.splitlines()) == 1
