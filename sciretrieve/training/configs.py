"""A training as a file: TOML with `data`, `output` and the options of `sciretrieve train`. Paths in it start from the file's own folder."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from ..errors import InvalidRequest, NotFound, UnknownName
from ..options import TrainingOptions

BENCHMARKS = ("beir:", "cite:")


@dataclass(frozen=True, slots=True)
class Config:
    """A training as a file says it.

    Attributes:
        data: the training sets.
        output: the folder for the encoder; None if the file names none.
        options: how.
    """

    data: tuple[Path, ...]
    output: Path | None
    options: TrainingOptions


def read_config(path: str | Path) -> Config:
    """Read a training's file.

    Raises:
        NotFound: there is no such file.
        InvalidRequest, UnknownName: it is no TOML, or says something that no training has.
    """
    path = Path(path)
    try:
        values: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise NotFound(f"there is no {path}") from error
    except (OSError, ValueError) as error:
        raise InvalidRequest(f"{path} cannot be read as TOML: {error}") from error
    names = ("data", "output", *(field.name for field in fields(TrainingOptions)))
    for name in values:
        if name not in names:
            raise UnknownName(f"option in {path}", name, names)
    data, output = values.pop("data", []), values.pop("output", None)
    data = [data] if isinstance(data, str) else data
    if not isinstance(data, list) or not all(isinstance(item, str) for item in data) or not (output is None or isinstance(output, str)):
        raise InvalidRequest(f"{path}: `data` is a list of folders and files, and `output` a folder")
    for name in ("base", "held_out"):
        values |= {name: _from(path.parent, values[name])} if isinstance(values.get(name), str) else {}
    for name in ("rate", "temperature", "facet_share", "keep", "margin", "warmup", "decay"):
        if isinstance(values.get(name), int) and not isinstance(values[name], bool):
            values[name] = float(values[name])
    return Config(tuple(path.parent / item for item in data), path.parent / output if output else None, TrainingOptions(**values))


def _from(folder: Path, name: str) -> str:
    """A name whose path, if it is or has one, starts from a folder."""
    prefix = next((prefix for prefix in BENCHMARKS if name.startswith(prefix)), "")
    place = folder / name.removeprefix(prefix)
    return f"{prefix}{place}" if prefix or place.is_dir() else name
