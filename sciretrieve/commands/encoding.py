"""`sciretrieve encode` and `encoders`: writes vectors to files, and shows and downloads encoders."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from ..base.choices import DEFAULT_ENCODER, Help
from ..base.wording import duration_text, size_text
from ..options import EncoderName, EncoderPrecision, ReadingOptions, RunsOn
from .console import Console, interruptible, say, say_json
from .parameters import ANY_COLUMNS, BUILDING, Columns, Corpus, PlainFormatOption, argument

if TYPE_CHECKING:
    from ..encoders import EncoderRequest, EncoderSpec
    from ..encoders.encoder_cache import CachedEncoder
    from ..encoders.text_encoder import TextEncoder
    from ..protocols import Encoder

AS_TRAINED = ReadingOptions()


def encode(
    papers: Corpus,
    output: Annotated[Path, Help("A .jsonl, .npy (with .ids.txt) or .parquet file.", "FILE", short="-o")],
    encoder: EncoderName = DEFAULT_ENCODER,
    reading: ReadingOptions = AS_TRAINED,
    side: Annotated[Literal["paper", "query"], Help("Encode as papers, or as queries (texts or papers).", setting=True)] = "paper",
    like: Annotated[
        Literal["scidocs", "scirepeval"], Help("The form of JSON Lines: SciDocs' paper_id, or SciRepEval's doc_id.", setting=True)
    ] = "scidocs",
    precision: EncoderPrecision = "auto",
    device: RunsOn = BUILDING.device,
    columns: Columns = ANY_COLUMNS,
    limit: Annotated[int | None, Help("Only the first N papers.", "N", least=1)] = None,
    strict: Annotated[bool, Help("Stop at the first bad row, not listing it.", setting=True)] = False,
    overwrite: Annotated[bool, Help("Replace the file.")] = False,
) -> None:
    """Turn papers or queries into vectors, in a file.

    Interrupt it whenever you like: the same command resumes where it stopped.
    """
    from ..encoders import EncoderRequest, open_encoder
    from ..lifecycle.vector_files import encode as run

    console = Console(reports_rejected=True)
    request = EncoderRequest(encoder, **asdict(reading))
    model = open_encoder(request, precision, device)
    start = time.perf_counter()
    with interruptible(console, f"finished work is kept in {output}.partial, and the same command resumes it"):
        count = run(
            papers,
            output,
            encoder=model,
            side=side,
            like=like,
            columns=columns,
            limit=limit,
            strict=strict,
            overwrite=overwrite,
            progress=console,
        )
    seconds = time.perf_counter() - start
    rate = f", {console.done / seconds:,.0f} a second" if console.done else ""
    console.note(f"{count:,} vectors of {model.dim} from {model.name} ({model.precision}), {duration_text(seconds)}{rate}: {output}")


def encoders(format: PlainFormatOption = "table") -> None:
    """List, describe and download encoders.

    By itself it lists them, and says which are ready here.
    """
    from ..base.plugins import installed
    from ..encoders import CATALOGUE
    from ..encoders.weights import status

    rows: list[dict[str, Any]] = [
        {"name": spec.name, "about": spec.about, "here": status(spec), "metric": spec.metric} for spec in CATALOGUE.values()
    ]
    rows += [
        {"name": plugin.name, "about": f"of the package {plugin.package}", "here": "plug-in", "metric": None}
        for plugin in installed("encoder", CATALOGUE)
    ]
    if format == "json":
        say_json(rows)
        return
    widths = {key: max(len(row[key]) for row in rows) for key in ("name", "here")}
    say(f"{row['name']:<{widths['name']}}  {row['here']:<{widths['here']}}  {row['about']}" for row in rows)
    say(["", "for details: sciretrieve encoders show NAME; to download: sciretrieve encoders fetch NAME"])


def show(
    name: Annotated[str, argument("NAME", "A listed encoder, a model's folder or hub id, or several encoders.", "encoders")],
    reading: ReadingOptions = AS_TRAINED,
    format: PlainFormatOption = "table",
) -> None:
    """Show all that is known about an encoder.

    Its weights, how each side becomes text, and how token states become a vector.
    """
    from ..encoders import EncoderRequest, open_encoder
    from ..encoders.resolving import is_plugged, resolve
    from ..encoders.weights import part_status, status

    request = EncoderRequest(name, **asdict(reading))
    if is_plugged(name):
        _show_plugin(open_encoder(request), format)
        return
    spec = resolve(request)
    encoder = _opened(request) if status(spec) == "ready" and not spec.pairing else None
    if encoder is not None:
        spec = replace(spec, max_length=encoder.max_length)
    rates = dict(encoder.rates()) if encoder is not None else {}
    if format == "json":
        say_json(asdict(spec) | {"here": status(spec), "tokens_per_second": rates})
        return
    rows: list[tuple[str, str]] = [("name", spec.name), ("about", spec.about), ("here", status(spec))]
    if spec.members:
        rows.append(("members", ", ".join(member.name for member in spec.members)))
        joined = {"mean": "the mean of theirs", "concat": "theirs, one after the other, each scaled to unit length"}
        rows.append(("vector", joined[spec.join]))
        rows += [(f"{member.name}: {label}", text) for member in spec.members for label, text in _sides(member)]
    else:
        rows += [(f"weights: {role}", f"{part.source}  [{part_status(part)}]") for role, part in spec.parts.items()]
        rows += _sides(spec)
        vector = {"mean": "mean of all token states", "cls": "the state of the first token", "second": "the state of the second token"}
        pairing = {"closest": "their nearest sentences", "transport": "optimal transport of their sentences"}
        if spec.pairing:
            rows.append(
                ("vector", f"of each sentence of an abstract, the mean of its token states; two papers compare by {pairing[spec.pairing]}")
            )
        else:
            rows.append(("vector", vector[spec.pooling] + (", scaled to unit length" if spec.normalise else "")))
        rows.append(("reads", f"{spec.max_length} tokens"))
        rows += [("licence", spec.licence)] if spec.licence else []
        rows += [("measured here", f"{way}: {rate:,.0f} tokens a second") for way, rate in rates.items()]
        if spec.tasks:
            rows.append(("adapters", ", ".join(spec.tasks)))
    rows += [("metric", spec.metric), ("source", spec.citation)]
    width = max(len(label) for label, _ in rows)
    say(f"{label:<{width}}  {value}" for label, value in rows)


def _show_plugin(encoder: Encoder, format: str) -> None:
    facts = {name: encoder.identity()[name] for name in ("name", "package", "identity", "dim")} | {"metric": encoder.metric}
    if format == "json":
        say_json(facts)
    else:
        say(f"{label:<8}  {value}" for label, value in facts.items())


def fetch(
    name: Annotated[str, argument("NAME", "A listed encoder, or a hub id.", "encoders")], reading: ReadingOptions = AS_TRAINED
) -> None:
    """Download an encoder's weights now, and compile it, so that it works offline later."""
    from ..encoders import EncoderRequest, golden_vectors, open_encoder, open_sentence_encoder

    console = Console()
    request = EncoderRequest(name, **asdict(reading))
    sentences = open_sentence_encoder(name, device="cpu") if request == EncoderRequest(name) else None
    encoder = sentences or open_encoder(request, device="cpu")
    golden_vectors(encoder)  # uses every side once
    console.note(f"{encoder.name} is ready: {encoder.dim} dimensions, {encoder.precision}")


def cache(format: PlainFormatOption = "table") -> None:
    """Show the cache of compiled encoders."""
    from ..encoders import encoder_cache

    if format == "json":
        rows = [{"folder": str(entry.folder), "bytes": entry.bytes, "used": int(entry.used)} for entry in encoder_cache.entries()]
        say_json({"limit": encoder_cache.LIMIT, "entries": rows})
        return
    _list(encoder_cache.entries(), "in")


def clear(name: Annotated[str, argument("NAME", "Only what belongs to this encoder.")] = "") -> None:
    """Empty the cache of compiled encoders; downloaded weights stay."""
    from ..encoders import encoder_cache

    _list(encoder_cache.clear(name), "removed from")


def _list(entries: Sequence[CachedEncoder], location: str) -> None:
    from ..encoders import encoder_cache

    for entry in entries:
        day = time.strftime("%Y-%m-%d %H:%M", time.localtime(entry.used))
        say([f"{size_text(entry.bytes):>9}  last used {day}  {entry.folder.name}"])
    total = size_text(sum(entry.bytes for entry in entries))
    say([f"{total} {location} {encoder_cache.graphs_directory()}; it is kept below {size_text(encoder_cache.LIMIT)}"])


def _sides(spec: EncoderSpec) -> list[tuple[str, str]]:
    """Each side's name and text; none for an ensemble, since its members differ."""
    sides = (("paper", spec.sides.paper), ("query", spec.sides.query), ("paper as query", spec.sides.paper_as_query))
    return [] if spec.members else [(label, side.text + (f"  through {side.task}" if side.task else "")) for label, side in sides]


def _opened(request: EncoderRequest) -> TextEncoder | None:
    """The encoder, if it is a single one that reads texts; else None."""
    from ..encoders import open_encoder
    from ..encoders.text_encoder import TextEncoder

    encoder = open_encoder(request, device="cpu")
    return encoder if isinstance(encoder, TextEncoder) else None
