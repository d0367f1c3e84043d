"""`sciretrieve info`, `info log`, `info health`, `verify` and `export`: describes, checks, repairs and exports an index."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..base.choices import Help
from ..base.wording import as_json, counted, shortlist, size_text
from ..options import Passing
from .console import Console, interruptible, say, say_json
from .parameters import (
    Generation,
    IndexPath,
    IndexPaths,
    PlainFormatOption,
    SameEncoder,
    chosen_index,
    given_encoder,
    index_to_change,
    open_index,
    open_indexes,
)

if TYPE_CHECKING:
    from ..answers.health import Health
    from ..storage.manifest import Commit, Manifest


def info(index: IndexPath = None, generation: Generation = None, format: PlainFormatOption = "table") -> None:
    """Describe an index.

    Its papers, columns, encoder, sizes, and the versions that built it.
    """
    from dataclasses import asdict

    from ..lifecycle.merging import space
    from ..storage.manifest import kept_generations, read_manifest

    opened_index = open_index(index, generation=generation)
    facts = opened_index.snapshot.manifest
    others = max(space(opened_index.path) - facts.bytes, 0)
    deleted = sum(shard.deleted for shard in facts.shards)
    columns = {field.name: str(field.type) for field in opened_index.snapshot.columns}
    if format == "json":
        say_json(
            {
                "schema": 1,
                "path": str(opened_index.path),
                "bytes": facts.bytes,
                "bytes_of_others": others,
                "generations": kept_generations(opened_index.path, read_manifest(opened_index.path)),
                "modes": opened_index.modes,
                "columns": columns,
                "manifest": asdict(facts),
            }
        )
        return
    encoder, lexical = facts.encoder, facts.lexical
    found = f"; {facts.trial}" if facts.trial else ""
    rows = {
        "index": str(opened_index.path),
        "papers": f"{facts.papers:,} in {counted(len(facts.shards), 'shard')}; {counted(facts.rejected, 'row')} rejected",
        "deleted": f"{counted(deleted, 'paper')}, in the shards until the next merge",
        "on disk": f"{size_text(facts.bytes)}; {size_text(others)} more for older generations and work in progress",
        "modes": ", ".join(opened_index.modes),
        "encoder": f"{encoder['name']}, {encoder['dim']} dimensions, {_precision(encoder)}" if encoder else "none",
        "reads": _reads(facts),
        "cut": f"{counted(facts.truncated, 'paper')} longer than the encoder reads" if facts.truncated is not None else "not known",
        "dense": f"{facts.dense}, {facts.metric}{found}" if encoder else "none",
        "full text": _full_texts(facts),
        "late": _late(facts),
        "BM25": f"{lexical['variant']}, k1 {lexical['k1']}, b {lexical['b']}; {_analysis(facts)}" if lexical else "none",
        "columns": ", ".join(f"{name} ({kind})" for name, kind in columns.items()),
        "corpus": _corpora(facts) + (f"; the first {counted(facts.papers, 'paper')} alone, as --limit said" if facts.is_limited else ""),
        "built": f"{facts.created}, generation {facts.generation}, format {facts.format}",
        "with": ", ".join(f"{name} {version}" for name, version in facts.versions.items()),
    }
    say(f"{name:<9} {value}" for name, value in rows.items())


def _analysis(facts: Manifest) -> str:
    """The text analysis of the index's terms."""
    from ..matching.lexical import Analyzer

    form, newest = facts.analyzer.form if facts.analyzer else 0, Analyzer().form
    return f"text analysis {form}" + (f", of an earlier version: `sciretrieve reindex` makes terms by {newest}" if form < newest else "")


def health(index: IndexPath = None, generation: Generation = None, format: PlainFormatOption = "table") -> None:
    """Say what is wrong with an index's papers, and what to do about it.

    Empty or odd fields, duplicates, references that lead nowhere, retractions.
    """
    from ..answers.health import health as look

    with interruptible(console := Console()), open_index(index, generation=generation) as opened_index:
        found = look(opened_index, progress=console)
        say([as_json(found.to_dict(), indent=1)] if format == "json" else _health_lines(found))


def _health_lines(found: Health) -> Iterator[str]:
    yield f"{counted(found.papers, 'paper')} of {found.index}, generation {found.generation}"
    present = [finding for finding in found.findings if len(finding)]
    width = max((len(finding.label) for finding in present), default=0)
    for finding in present:
        examples = shortlist(finding.examples(), len(finding))
        yield f"{finding.label:<{width}}  {len(finding):>9,}  {100 * finding.share:>6.2f} %  {examples}"
        yield f"    {finding.remedy}"
    if found.references is not None:
        counts = found.references
        shares = [f"{100 * count / max(counts.total, 1):.1f} %" for count in (counts.in_index, counts.elsewhere, counts.nowhere)]
        total = counted(counts.total, "reference")
        yield f"{total}: {shares[0]} to papers of the index, {shares[1]} to other works, {shares[2]} lead nowhere"
    if absent := [finding.label for finding in found.findings if not len(finding)]:
        yield f"not found: {', '.join(absent)}"


def _corpora(manifest: Manifest) -> str:
    files = list(dict.fromkeys(file for source in manifest.sources for file in source.corpus))
    return ", ".join(files[:3]) + (" …" if len(files) > 3 else "")


def _full_texts(facts: Manifest) -> str:
    """The passages of an index's full texts, in words."""
    if facts.fulltext is None:
        return "none"
    return f"{counted(facts.fulltext['passages'], 'passage')}, {size_text(facts.fulltext['bytes'])}"


def _late(facts: Manifest) -> str:
    """The late interaction of an index, in words."""
    from ..storage.manifest import TOKEN_FILES

    if facts.late is None:
        return "no token vectors"
    size = sum(int(shard.files[name]["bytes"]) for shard in facts.shards for name in TOKEN_FILES)
    return f"token vectors, {size_text(size)}, {size_text(size // facts.papers)} a paper"


def _reads(manifest: Manifest) -> str:
    """The languages of an index's encoder and of its words."""
    from ..encoders.query_encoder import languages_of

    parts = []
    if manifest.encoder is not None:
        parts.append(f"the encoder {' and '.join(languages_of(manifest.encoder)) or 'what is not known'}")
    return "; ".join([*parts, *["words are stemmed as English"] * (manifest.lexical is not None)])


def _precision(encoder: Mapping[str, Any]) -> str:
    """The precision of the papers' vectors, and the runtimes if known."""
    from ..encoders import must_be_given

    if must_be_given(encoder):
        return "one of your own, given from Python" if encoder["layout"] == "own" else "given from Python"
    ran_in = ", then ".join(encoder.get("ran_in", ()))
    return f"{encoder['precision']} ({ran_in})" if ran_in else str(encoder["precision"])


def log(index: IndexPath = None, format: PlainFormatOption = "table") -> None:
    """List an index's commits, the last one first.

    Shows what made each, and how many papers it added, replaced and deleted. Generations that can be opened or restored are marked.
    """
    from dataclasses import asdict

    from ..storage.manifest import kept_generations, read_manifest

    path = chosen_index(index)
    manifest = read_manifest(path)
    records, openable = manifest.log, set(kept_generations(path, manifest))
    if format == "json":
        rows = [{**asdict(record), "can_be_opened": record.generation in openable} for record in reversed(records)]
        for row in rows:
            del row["work"], row["checksum"]  # needed only by the index itself
        say_json({"schema": 1, "index": str(path), "commits": rows})
        return
    say(["generation  when                       command       papers     added  replaced   deleted"])
    say(
        f"{record.generation:>9}{'*' if record.generation in openable else ' '}  {record.created:<25}  {_command(record):<10} "
        f"{record.papers:>9,} {record.added:>9,} {record.replaced:>9,} {record.deleted:>9,}"
        for record in reversed(records)
    )
    say(["* can be opened with --set generation=N, and made current again by restore"])


def _command(record: Commit) -> str:
    """The command of a commit: `sync`, or `restore 3`."""
    return record.command if record.restored is None else f"{record.command} {record.restored}"


def verify(
    index: IndexPath = None,
    encoder: SameEncoder = None,
    repair: Annotated[bool, Help("Remake all but papers and lists of deleted papers.")] = False,
    format: PlainFormatOption = "table",
) -> None:
    """Check every byte of an index, and that its parts agree.

    The exit code is 1 if anything is wrong.
    """
    from ..storage.repairing import repair as mend
    from ..storage.verifying import verify as check

    console = Console()
    path = index_to_change(index, console) if repair else chosen_index(index)
    given = given_encoder(encoder, path)
    with interruptible(console):
        result = (mend if repair else check)(path, encoder=given, progress=console)
    if format == "json":
        say_json({"schema": 1, "index": str(path), **result.to_dict()})
    else:
        say(f"{fault.file}: {fault.what}" for fault in result.faults)
        if result.unchecked:
            console.note(result.unchecked)
        size = f"{counted(result.files, 'file')}, {size_text(result.bytes)}"
        if result.faults:
            hint = "" if repair else f"; try `sciretrieve verify --repair -i {shlex.quote(str(path))}`"
            console.note(f"{counted(len(result.faults), 'fault')} in {size}{hint}")
        else:
            console.note(f"{path} is sound: {counted(result.papers, 'paper')}, {size}, generation {result.generation}")
    if result.faults:
        raise typer.Exit(1)


def export(
    output: Annotated[
        Path,
        Help(
            ".parquet (papers and vectors); .csv, .bib, .ris, CSL .json or EndNote .xml (papers); .npy or .faiss (vectors).",
            "FILE",
            short="-o",
        ),
    ],
    index: IndexPaths = None,
    query: Annotated[str, Help("Only the papers that `count` counts for it.", "QUERY")] = "",
    filter: Passing = None,
    dense: Annotated[str, Help("Type of a .faiss file: flat, hnsw, ivf, rabitq or a factory string.", setting=True)] = "flat",
    generation: Generation = None,
) -> None:
    """Write papers and vectors to a file.

    All papers, or those that meet a query and a filter; of several indexes each paper once. Entries of a bibliography stay as they were
    read. The ids of .npy and .faiss files are in a text file beside them: number n is line n + 1.
    """
    from ..answers.outputs import not_compared
    from ..lifecycle.exporting import export as write

    opened_index, console = open_indexes(index, generation=generation), Console()
    _, scope = opened_index.reader.matching(query, filter)
    for note in not_compared(opened_index, scope.undecided):
        console.note(note)
    rows = opened_index.snapshot.distinct(scope.places)
    for path in write(opened_index, output, dense, rows):
        console.note(f"{counted(len(rows), 'paper')}: {path} ({size_text(path.stat().st_size)})")
