"""Trainings as files: the studies in docs/studies are what the papers say, what is none is said in a line, and a study trains."""

from __future__ import annotations

import random
import re
import tomllib
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from sciretrieve.base.errors import InvalidRequest, NotFound, UnknownName
from sciretrieve.encoders.resolving import resolve
from sciretrieve.encoders.specs import EncoderRequest
from sciretrieve.training import read_configs
from sciretrieve.training.forms import FORMATS
from sciretrieve.training.presets import plan_of
from tests.command_line import sciretrieve
from tests.training.planted import all_is_kept, weights_in, write_base, write_pairs, write_triplets

__all__ = ["all_is_kept"]

STUDIES = Path(__file__).parents[2] / "docs" / "studies"
SETS: dict[str, tuple[str, ...]] = {
    "clf": ("mesh_descriptors", "fos"),
    "rgn": ("cite_count", "pub_year"),
    "prx": ("same_author", "high_influence_cite", "cite_prediction"),
    "srch": ("search",),
}
"""SciRepEval's training sets by format (Singh et al. 2023, Table 1)."""
ALL = tuple(name for names in SETS.values() for name in names)
SEEDS = (1783, 1918, 1945, 1991)


def study(name: str) -> dict[str, tuple[Any, list[str], Any]]:
    """By its folder in that of the study: the plan, the names of the sets, and the formats of a training."""
    found = {}
    for config in read_configs(STUDIES / f"{name}.toml"):
        assert config.output is not None
        assert {path.is_relative_to(STUDIES / "data" / "training") for path in config.data} == {True}
        place = config.output.relative_to(STUDIES / "trained" / name)
        found[str(place)] = plan_of(config.options), [path.name.removesuffix(".jsonl") for path in config.data], config.formats
    return found


def differing(plans: list[Any]) -> set[str]:
    """The options that are not alike in all."""
    values = [asdict(plan) for plan in plans]
    return {name for name in values[0] if any(row[name] != values[0][name] for row in values)}


def test_every_study_is_expected_here() -> None:
    counts = {path.stem: len(read_configs(path)) for path in STUDIES.iterdir()}
    assert counts == {
        "facets": 32,
        "format-pairs": 11,
        "no-citations": 2,
        "no-hard-negatives": 2,
        "no-warm-up": 3,
        "pmc-patients": 8,
        "random-partitions": 5,
        "scimult": 5,
        "scirepeval-bases": 6,
        "single-cls": 8,
        "specter2": 25,
    }


def test_pairs_of_formats_are_table_11s() -> None:
    trainings = study("format-pairs")
    rows = ["clf", "rgn", "prx", "srch", "clf-rgn", "clf-prx", "clf-srch", "rgn-prx", "rgn-srch", "prx-srch"]
    assert list(trainings) == [*rows, "all"]
    for name, (plan, sets, formats) in trainings.items():
        assert sets == [*ALL] if name == "all" else [set for format in name.split("-") for set in SETS[format]]
        assert (plan.base, plan.method, plan.batch, plan.epochs, formats) == ("specter2-base", "codes", 256, 2, {})
    assert differing([plan for plan, _, _ in trainings.values()]) == set()


def test_random_partitions_use_all_formats_and_are_those_of_the_seed() -> None:
    text = (STUDIES / "random-partitions.toml").read_text(encoding="utf-8")
    seed = int(re.search(r"random\.Random\((\d+)\)", text)[1])  # type: ignore[index]
    trainings = study("random-partitions")
    assert list(trainings) == ["1", "2", "3", "4", "5"]
    chance = random.Random(seed)
    for plan, sets, formats in trainings.values():
        assert sets == [*ALL]
        assert list(formats) == [f"{name}.jsonl" for name in ALL]  # each set once
        assert set(formats.values()) == set(FORMATS)
        drawn: list[str] = []
        while set(drawn) != set(FORMATS):
            drawn = [chance.choice(FORMATS) for _ in ALL]
        assert list(formats.values()) == drawn
        assert plan == study("format-pairs")["all"][0]
    assert len({tuple(formats.values()) for _, _, formats in trainings.values()}) == 5


def test_without_citations_only_spectors_triplets_are_gone() -> None:
    trainings = study("no-citations")
    assert list(trainings) == ["with", "without"]
    assert trainings["with"][1] == [*ALL]
    assert trainings["without"][1] == [name for name in ALL if name != "cite_prediction"]
    assert {(plan.base, plan.method) for plan, _, _ in trainings.values()} == {("scibert", "codes")}


def test_facets_are_eight_rows_with_four_seeds() -> None:
    trainings = study("facets")
    rows = [*((*row, True, True) for row in ((3, 0.1), (3, 0.0), (3, 0.5), (3, 1.0), (1, 0.1), (5, 0.1)))]
    rows += [(3, 0.1, False, True), (3, 0.1, True, False)]
    plans = [plan for plan, _, _ in trainings.values()]
    found = [(plan.facets, plan.facet_share, plan.facet_layers, plan.facet_means, plan.seed) for plan in plans]
    assert found == [(*row, seed) for row in rows for seed in SEEDS]
    assert differing(plans) == {"facets", "facet_share", "facet_layers", "facet_means", "seed"}
    assert {(plan.base, plan.method, plan.batch, plan.epochs) for plan in plans} == {("scibert", "facets", 32, 2)}
    assert [Path(name).name for name in trainings] == [str(seed) for _ in rows for seed in SEEDS]


def test_baselines_of_multi2spe_differ_in_their_triplets_alone() -> None:
    trainings = study("single-cls")
    assert [(name, sets) for name, (_, sets, _) in trainings.items()] == [
        (f"{name}/{seed}", [set]) for name, set in (("specter", "s2orc"), ("scincl", "scincl")) for seed in SEEDS
    ]
    plans = [plan for plan, _, _ in trainings.values()]
    assert differing(plans) == {"seed"}
    assert {(plan.base, plan.loss, plan.facets, plan.batch, plan.epochs, plan.rate) for plan in plans} == {
        ("scibert", "triplet", 1, 32, 2, 2e-5)
    }


def test_dpr_is_trained_on_articles_and_patients_from_the_bases_of_table_6() -> None:
    trainings = study("pmc-patients")
    bases = {"scimult": "scimult-mhaexpert", "pubmedbert": "pubmedbert", "specter": "specter", "biolinkbert": "biolinkbert"}
    assert {name: (plan.base, sets) for name, (plan, sets, _) in trainings.items()} == {
        f"{name}-{task}": (base, [task]) for name, base in bases.items() for task in ("par", "ppr")
    }
    assert differing([plan for plan, _, _ in trainings.values()]) == {"base"}


def test_bases_are_table_8s() -> None:
    trainings = study("scirepeval-bases")
    methods = {"cls": ("whole", 2), "codes": ("codes", 2), "adapters": ("adapter", 6)}
    assert {name: (plan.base, plan.method, plan.epochs) for name, (plan, _, _) in trainings.items()} == {
        f"{base}-{name}": (base, *values) for base in ("specter", "scincl") for name, values in methods.items()
    }
    assert all(sets == [*ALL] for _, sets, _ in trainings.values())


def test_specter2s_are_table_2s_and_fusion_joins_the_adapters_of_its_seed() -> None:
    trainings = study("specter2")
    methods = {"cls": ("whole", 2), "codes": ("codes", 2), "adapters": ("adapter", 6), "pals": ("pals", 2), "fusion": ("fusion", 4)}
    seeds = range(42, 47)
    assert {name: (plan.method, plan.epochs, plan.seed) for name, (plan, _, _) in trainings.items()} == {
        f"{name}/{seed}": (*values, seed) for name, values in methods.items() for seed in seeds
    }
    adapters = STUDIES / "trained" / "specter2" / "adapters"
    bases = {name: plan.base for name, (plan, _, _) in trainings.items()}
    assert bases == {name: str(adapters / Path(name).name) if name.startswith("fusion") else "specter2-base" for name in trainings}
    assert all(sets == [*ALL] for _, sets, _ in trainings.values())


def test_scimults_models_begin_with_vanilla_and_read_the_same() -> None:
    trainings = study("scimult")
    assert {name: (plan.method, Path(plan.base).name) for name, (plan, _, _) in trainings.items()} == {
        "vanilla": ("whole", "pubmedbert"),
        "mhaexpert": ("mha-experts", "vanilla"),
        "ffnexpert": ("ffn-experts", "vanilla"),
        "prefix": ("prefix", "vanilla"),
        "instruction": ("instruction", "vanilla"),
    }
    assert {tuple(sets) for _, sets, _ in trainings.values()} == {tuple(study("no-hard-negatives")["with"][1])}


def test_scimults_studies_differ_in_what_they_are_about_alone() -> None:
    hard = study("no-hard-negatives")
    assert differing([plan for plan, _, _ in hard.values()]) == set()
    assert [name.removesuffix("-plain") for name in hard["without"][1]] == hard["with"][1]
    assert [name for name in hard["without"][1] if name.endswith("-plain")] == ["cs-journal-plain", "mesh-plain"]
    warm = study("no-warm-up")
    assert [(plan.method, Path(plan.base).name) for plan, _, _ in warm.values()] == [
        ("whole", "pubmedbert"),
        ("mha-experts", "vanilla"),
        ("mha-experts", "pubmedbert"),
    ]
    assert differing([warm["with"][0], warm["without"][0]]) == {"base"}
    assert {tuple(sets) for _, sets, _ in warm.values()} == {tuple(hard["with"][1])}


def written(folder: Path, text: str) -> Path:
    path = folder / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_paths_start_from_the_files_folder_and_names_stay(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    text = 'data = ["a", "sets/b.jsonl"]\noutput = "out"\nbase = "model"\nteacher = "specter2"\nloss = "rank"\nheld_out = "beir:tests"'
    (config,) = read_configs(written(tmp_path, text))
    assert config.data == (tmp_path / "a", tmp_path / "sets" / "b.jsonl")
    assert config.output == tmp_path / "out"
    options = config.options
    assert (options.base, options.teacher, options.held_out) == (str(tmp_path / "model"), "specter2", f"beir:{tmp_path / 'tests'}")
    (config,) = read_configs(written(tmp_path, 'data = "a"\nwarmup = 1'))
    assert (config.data, config.output, config.options.warmup) == ((tmp_path / "a",), None, 1.0)


def test_a_training_can_begin_with_what_one_further_up_made(tmp_path: Path) -> None:
    rows = ('name = "one"\nbase = "scibert"', 'name = "two"\nbase = "one"', 'name = "scincl"\nbase = "scincl"')
    text = 'data = "a"\noutput = "out"\nseeds = [1, 2]\n' + "\n".join(f"[[trainings]]\n{row}" for row in rows)
    bases = [config.options.base for config in read_configs(written(tmp_path, text))]
    assert bases == ["scibert", "scibert", *(str(tmp_path / "out" / "one" / seed) for seed in "12"), "scincl", "scincl"]


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("data = [", InvalidRequest, "cannot be read as TOML"),
        ("ephocs = 2", UnknownName, "epochs"),
        ('output = "o"\n[[trainings]]\nepochs = 2', InvalidRequest, "has a `name`"),
        ('output = "o"\n[[trainings]]\nname = ""', InvalidRequest, "has a `name`"),
        ('output = "o"\n[[trainings]]\nname = "a"\noutput = "b"', InvalidRequest, "and no `output`"),
        ('output = "o"\ntrainings = []', InvalidRequest, "has a `name`"),
        ('output = "o"\n[trainings]\nname = "a"', InvalidRequest, "has a `name`"),
        ('output = "o"\n[[trainings]]\nname = "a"\n[[trainings]]\nname = "a"', InvalidRequest, "two trainings have the name 'a'"),
        ('output = "o"\n[[trainings]]\nname = "a"\nephocs = 2', UnknownName, "epochs"),
        ('output = "o"\nseeds = [1]\nseed = 2', InvalidRequest, "in place of `seed`"),
        ('output = "o"\nseeds = []', InvalidRequest, "`seeds` is a list of whole numbers"),
        ('output = "o"\nseeds = [1.5]', InvalidRequest, "`seeds` is a list of whole numbers"),
        ('[[trainings]]\nname = "a"', InvalidRequest, "name a folder for all of them with `output`"),
        ("seeds = [1, 2]", InvalidRequest, "name a folder for all of them with `output`"),
        ("output = 5\nseeds = [1, 2]", InvalidRequest, "name a folder for all of them with `output`"),
        ('formats = "regression"', InvalidRequest, "`formats` is a table"),
        ("[formats]\nfos = 3", InvalidRequest, "`formats` is a table"),
        ("data = [3]", InvalidRequest, "`data` is a list of folders"),
        ('epochs = "two"', InvalidRequest, "epochs"),
    ],
)
def test_what_is_no_training_is_said_in_a_line(text: str, error: type[Exception], message: str, tmp_path: Path) -> None:
    with pytest.raises(error, match=message) as raised:
        read_configs(written(tmp_path, text))
    assert "\n" not in str(raised.value) or "TOML" in message


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="there is no"):
        read_configs(tmp_path / "absent.toml")


@pytest.mark.usefixtures("all_is_kept")
def test_a_study_trains_all_goes_past_one_that_fails_and_leaves_what_is_done(tmp_path: Path) -> None:
    write_base(tmp_path / "small")
    write_triplets(tmp_path / "triplets")
    text = """
        base = "small"
        output = "out"
        method = "whole"
        steps = 4
        batch = 16
        length = 16
        precision = "fp32"
        rate = 1e-3
        [[trainings]]
        name = "one"
        data = ["triplets"]
        [[trainings]]
        name = "two"
        data = ["pairs"]
        [[trainings]]
        name = "three"
        data = ["triplets"]
        rate = 2e-3
    """
    path = written(tmp_path, text)
    tomllib.loads(text)
    first = sciretrieve("train", path)
    assert first.returncode == 2
    assert f"1 of 3 trainings failed: {tmp_path / 'out' / 'two'}; the first because there is no training set" in first.stderr
    assert "the same command tries them again" in first.stderr
    weights = [weights_in(tmp_path / "out" / name / "model.safetensors") for name in ("one", "three")]
    assert any((weights[0][name] != weights[1][name]).any() for name in weights[0])
    write_pairs(tmp_path / "pairs")
    before = (tmp_path / "out" / "one" / "model.safetensors").stat().st_mtime_ns
    again = sciretrieve("train", path)
    assert again.returncode == 0, again.stderr
    notes = [line for line in again.stderr.splitlines() if line.startswith("training ") or "it is done" in line]
    assert [note for note in notes if "it is done" in note] == ["it is done"] * 2
    assert (tmp_path / "out" / "one" / "model.safetensors").stat().st_mtime_ns == before
    assert resolve(EncoderRequest(str(tmp_path / "out" / "two"))).tasks == ()
