"""Training configurations in TOML: `data`, `output` and the options of `sciretrieve train`; a study has several trainings.

In a study, the values at the top hold for all trainings. Each table of `[[trainings]]` has a `name` and the values that differ, and is
trained into the folder of that name in `output`. With `seeds`, each is trained once per seed, into NAME/SEED. Paths are relative to the
file's folder. A `base` may name an earlier training of the study: its encoder of the same seed.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from ..base.errors import InvalidRequest, NotFound, UnknownName
from ..options import TrainingOptions

BENCHMARKS = ("beir:", "cite:")
NUMBERS = ("rate", "temperature", "facet_share", "keep", "margin", "warmup", "decay", "augment")
OF_A_FILE = ("trainings", "seeds")
OF_A_TRAINING = ("data", "output", "formats")


@dataclass(frozen=True, slots=True)
class Config:
    """One training of a file.

    Attributes:
        data: the training sets.
        output: the folder for the encoder; None if the file names none.
        options: the options of the training.
        formats: by a set's name, its format if that differs from its form's.
    """

    data: tuple[Path, ...]
    output: Path | None
    options: TrainingOptions
    formats: Mapping[str, str] = field(default_factory=dict)


def read_configs(path: str | Path) -> list[Config]:
    """Read a file with one training or a study.

    Raises:
        NotFound: there is no such file.
        InvalidRequest, UnknownName: the file is not TOML, or has a value that no training has.
    """
    path = Path(path)
    try:
        values: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise NotFound(f"there is no {path}") from error
    except (OSError, ValueError) as error:
        raise InvalidRequest(f"{path} cannot be read as TOML: {error}") from error
    trainings, seeds = values.pop("trainings", None), values.pop("seeds", None)
    if seeds is not None and not (isinstance(seeds, list) and seeds and all(type(seed) is int for seed in seeds) and "seed" not in values):
        raise InvalidRequest(f"{path}: `seeds` is a list of whole numbers, in place of `seed`")
    if trainings is None and seeds is None:
        return [_config(path, values)]
    if trainings is None:
        trainings = [{}]
    elif not isinstance(trainings, list) or not trainings or not all(_is_named(row) for row in trainings):
        raise InvalidRequest(f"{path}: each table of [[trainings]] has a `name`, which is its folder's in `output`, and no `output`")
    names = [row["name"] for row in trainings if "name" in row]
    if repeated_name := next((name for name in names if names.count(name) > 1), None):
        raise InvalidRequest(f"{path}: two trainings have the name {repeated_name!r}")
    if not isinstance(values.get("output"), str):
        raise InvalidRequest(f"{path} has several trainings: name a folder for all of them with `output`")
    configs = []
    folder_of: dict[tuple[object, int | None], Path | None] = {}
    for row in trainings:
        for seed in seeds or [None]:
            changes = {name: value for name, value in row.items() if name != "name"} | ({} if seed is None else {"seed": seed})
            place = Path(values["output"], row.get("name", ""), "" if seed is None else str(seed))
            config = _config(path, {**values, **changes, "output": str(place)})
            if earlier := folder_of.get((changes.get("base", values.get("base")), seed)):
                config = replace(config, options=replace(config.options, base=str(earlier)))
            folder_of[row.get("name"), seed] = config.output
            configs.append(config)
    return configs


def _config(path: Path, values: Mapping[str, Any]) -> Config:
    """One training from its values."""
    names = (*OF_A_TRAINING, *(item.name for item in fields(TrainingOptions)))
    for name in values:
        if name not in names:
            raise UnknownName(f"option in {path}", name, (*names, *OF_A_FILE))
    data, output, formats = values.get("data", []), values.get("output"), values.get("formats", {})
    data = [data] if isinstance(data, str) else data
    if not isinstance(data, list) or not all(isinstance(item, str) for item in data) or not (output is None or isinstance(output, str)):
        raise InvalidRequest(f"{path}: `data` is a list of folders and files, and `output` a folder")
    if not isinstance(formats, dict) or not all(isinstance(value, str) for value in formats.values()):
        raise InvalidRequest(f"{path}: `formats` is a table of sets' names and their formats, such as fos = 'regression'")
    options = {name: value for name, value in values.items() if name not in OF_A_TRAINING}
    for name in ("base", "teacher", "held_out"):
        if isinstance(options.get(name), str):
            options[name] = _from(path.parent, options[name])
    for name in NUMBERS:
        if type(options.get(name)) is int:
            options[name] = float(options[name])
    return Config(tuple(path.parent / item for item in data), path.parent / output if output else None, TrainingOptions(**options), formats)


def _is_named(row: Any) -> bool:
    return isinstance(row, dict) and isinstance(row.get("name"), str) and bool(row["name"]) and "output" not in row


def _from(folder: Path, name: str) -> str:
    """A name, with a relative path in it resolved against a folder."""
    prefix = next((prefix for prefix in BENCHMARKS if name.startswith(prefix)), "")
    place = folder / name.removeprefix(prefix)
    return f"{prefix}{place}" if prefix or place.is_dir() else name
