"""An encoder fitted to one's own library: trained on what an index of it brings, and judged on papers of it that it never saw."""

from __future__ import annotations

import os
import shlex
from dataclasses import asdict, replace
from pathlib import Path
from typing import Unpack

from ..base.choices import command_line
from ..base.errors import InvalidRequest, SciretrieveError
from ..encoders.resolving import resolve
from ..encoders.specs import EncoderRequest
from ..options import BuildSettings, TrainingOptions
from ..options.keywords import TrainingKeywords
from ..papers.corpora import open_corpus
from ..protocols import Progress
from ..query.index import Index
from ..query.opening import open_index
from .forms import Lessons
from .index_sets import lessons_of
from .presets import plan_of
from .results import Trained
from .train import LIBRARY, check_target, learn

STEPS, MOST_EPOCHS, BATCH = 120, 20, 80
"""Where nothing else is asked for: minutes for a small encoder on a few cores. Each of five sets has 16 examples a step, and few
papers are gone through several times."""


def train_for_index(
    index: str | Path,
    to: str | Path,
    options: TrainingOptions | None = None,
    *,
    overwrite: bool = False,
    tensorboard: bool = False,
    progress: Progress | bool = True,
    **changes: Unpack[TrainingKeywords],
) -> Trained:
    """Train an index's own encoder for its papers, and write it into the folder `to`.

    It learns from titles and sentences, for which the papers without them are looked for; from citations, and papers that are cited
    together; and from the rankings of the index's hybrid search. A tenth of the papers is held out to choose weights by, and another
    tenth to say what was gained. It goes on where it stopped, as `train` does, with the papers that the index had when it began.

    Args:
        index: the index's directory. It is read, and stays as it is.
        to, options, overwrite, tensorboard, progress: as for `train`. The base is the index's encoder; `base` names it where it has moved.

    Raises:
        InvalidRequest: the index has no vectors, its encoder cannot be trained, it has too few papers; or nothing was gained on papers
            that the encoder has not seen.
        EncoderMismatch: the encoder is another than when the index was built.
        And as `train`, and `Index`.
    """
    options = replace(options or TrainingOptions(), **changes)
    plan = plan_of(options)
    check_target(to, overwrite=overwrite)
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        raise InvalidRequest("an index's sets are made by one process; start it without torchrun")
    if options.batch is None:
        plan = replace(plan, batch=BATCH)
    if options.epochs is None and options.steps is None:
        plan = replace(plan, epochs=MOST_EPOCHS, steps=STEPS)
    with open_index(index, encoder=options.base) as opened:
        plan = replace(plan, base=_base_of(opened, options.base))

        def make(folder: Path, progress: Progress) -> Lessons:
            return lessons_of(opened, plan.seed, folder / LIBRARY, progress)

        return learn(make, plan, options, to, overwrite=overwrite, tensorboard=tensorboard, progress=progress)


def _base_of(index: Index, named: str | None) -> str:
    """The name of the encoder that filled an index. Raises as `train_for_index`."""
    if index.snapshot.encoder is None:
        raise InvalidRequest(f"{index.path} has no vectors, and so no encoder to train; build it with an encoder")
    encoder = index.reader.query_encoder.encoder
    identity = encoder.identity()
    asked = identity.get("asked", {})
    name = named or asked.get("encoder", encoder.name)
    is_plain = identity["layout"] in ("transformers", "packed") and asked == asdict(EncoderRequest(asked["encoder"]))
    spec = resolve(EncoderRequest(name)) if is_plain else None
    if spec is None or spec.tasks or spec.codes:
        raise InvalidRequest(
            f"{index.path} was built with {encoder.name}, which cannot be trained for it: only a single model can, without adapters "
            "or changes of its reading, such as granite or minilm"
        )
    return str(name)


def next_command(index: str | Path, encoder: str | Path) -> str:
    """The command that builds an index anew with another encoder: of its corpus, or of its own papers if these are others by now."""
    target, name = shlex.quote(str(index)), shlex.quote(str(encoder))
    with open_index(index) as opened:
        manifest = opened.snapshot.manifest
        files = [file for source in manifest.sources for file in source.corpus]
        settings = manifest.build.get("settings", {})
    usual = asdict(BuildSettings())
    chosen = {option: settings.get(option, usual[option]) for option in ("dense", "metric", "precision", "recall")}
    changed = {option: value for option, value in chosen.items() if value != usual[option]}
    rest = " ".join(filter(None, (f"--encoder {name} -o {target}", command_line(BuildSettings, changed), "--overwrite")))
    try:
        is_whole = bool(files) and not manifest.is_limited and open_corpus(files).fingerprint() == manifest.whole
    except (SciretrieveError, OSError):
        is_whole = False
    if is_whole:
        return f"sciretrieve index {shlex.join(files)} {rest}"
    papers = shlex.quote(f"{Path(index).name}.parquet")
    return f"sciretrieve export -i {target} -o {papers} && sciretrieve index {papers} {rest}"
