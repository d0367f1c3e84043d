"""`sciretrieve index`: a corpus in, an index on disk."""

from __future__ import annotations

import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..choices import Bm25Variant, Metric
from ..errors import InvalidRequest
from ..options import LARGEST_SHARD, Bm25Parameters, BuildSettings
from ..wording import counted, in_bytes, in_words
from . import completing
from .console import Console, interruptible
from .dry_run import show_estimate
from .parameters import (
    BUILDING,
    AbstractColumn,
    Adapter,
    Address,
    BuildPrecisionOption,
    Corpus,
    Debug,
    DeviceOption,
    Distributed,
    EncoderName,
    IdColumn,
    Memory,
    PlainFormatOption,
    Pooling,
    QueryAdapter,
    QueryTemplate,
    Quiet,
    RecallBuilt,
    Resume,
    Strict,
    Template,
    TitleColumn,
    chosen_workers,
    parsed_size,
)

if TYPE_CHECKING:
    from ..lifecycle.parts import Part

BM25 = Bm25Parameters()


def index(
    corpus: Corpus,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="DIR",
            help="Where the index goes; default: indexes/<name of the corpus>, or its folder's for corpus.csv and the like.",
        ),
    ] = None,
    encoder: EncoderName = "minilm",
    adapter: Adapter = None,
    query_adapter: QueryAdapter = None,
    pooling: Pooling = None,
    template: Template = None,
    query_template: QueryTemplate = None,
    metric: Annotated[
        Metric | None, typer.Option("--metric", help="How vectors are compared; default: as the encoder was trained.")
    ] = None,
    dense: Annotated[
        str,
        typer.Option(
            "--dense",
            metavar="TYPE",
            help="auto, flat (exact), hnsw, ivf, rabitq, a FAISS factory string, or none for BM25 only.",
            autocompletion=completing.dense_types,
        ),
    ] = BUILDING.dense,
    memory: Memory = None,
    recall: RecallBuilt = BUILDING.recall,
    lexical: Annotated[bool, typer.Option("--lexical/--no-lexical", help="With or without BM25.")] = True,
    bm25: Annotated[Bm25Variant, typer.Option("--bm25", help="The variant of BM25.")] = BM25.variant,
    k1: Annotated[float, typer.Option("--k1", min=0.0, help="BM25's saturation of term frequency.")] = BM25.k1,
    b: Annotated[float, typer.Option("--b", min=0.0, max=1.0, help="BM25's normalisation of length.")] = BM25.b,
    late: Annotated[
        bool | None,
        typer.Option(
            "--late/--no-late",
            help="With or without token vectors for late interaction, some 5 kB a paper; default: with minilm, to 250,000 papers.",
        ),
    ] = None,
    shard_size: Annotated[
        int, typer.Option("--shard-size", metavar="N", min=1, max=LARGEST_SHARD, help="Papers per shard.")
    ] = BUILDING.shard_size,
    precision: BuildPrecisionOption = BUILDING.precision,
    device: DeviceOption = BUILDING.device,
    id_column: IdColumn = None,
    title_column: TitleColumn = None,
    abstract_column: AbstractColumn = None,
    year_column: Annotated[str | None, typer.Option("--year", metavar="COLUMN", help="The column with years or dates.")] = None,
    venue_column: Annotated[str | None, typer.Option("--venue", metavar="COLUMN", help="The column with the venues.")] = None,
    authors_column: Annotated[str | None, typer.Option("--authors", metavar="COLUMN", help="The column with the authors.")] = None,
    limit: Annotated[int | None, typer.Option("--limit", metavar="N", min=1, help="Index only the first N papers.")] = None,
    strict: Strict = False,
    resume: Resume = True,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the index; the old one stays in use until the new one is complete.")
    ] = False,
    distributed: Distributed = None,
    address: Address = None,
    part: Annotated[
        str | None,
        typer.Option("--part", metavar="I/N", help="Build only part I of N, on one of N machines; `join` then makes the index."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Build nothing; say what the index would cost, going by a sample: time, disk, memory.")
    ] = False,
    format: PlainFormatOption = "table",
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Build an index of a corpus of papers.

    Papers become vectors in shards, with BM25 beside them, in one directory.

    Interrupt it whenever you like: the same command resumes where it stopped.
    """
    from ..lifecycle import build, build_part
    from ..papers.corpora import ColumnMap, open_corpus

    settings = BuildSettings(
        encoder=encoder,
        adapter=adapter,
        query_adapter=query_adapter,
        pooling=pooling,
        template=template,
        query_template=query_template,
        metric=metric,
        dense=dense,
        memory=parsed_size(memory),
        recall=recall,
        precision=precision,
        device=device,
        lexical=Bm25Parameters(bm25, k1, b) if lexical else None,
        shard_size=shard_size,
        limit=limit,
        late=late,
    )
    columns = ColumnMap(id_column, title_column, abstract_column, year_column, venue_column, authors_column)
    opened_corpus = open_corpus(corpus, columns)
    if dry_run:
        if part is not None or distributed is not None:
            raise InvalidRequest("--dry-run estimates the whole build on this machine; leave out --part and --distributed")
        show_estimate(opened_corpus, settings, format, quiet)
        return
    if format != "table":
        raise InvalidRequest(f"--format {format} goes with --dry-run; `sciretrieve info -f {format}` describes an index")
    target = output or Path("indexes") / opened_corpus.name
    console = Console(quiet)
    which = f"part {part} of " if part else ""
    console.note(f"indexing {which}{opened_corpus.name} into {target}")
    start = time.perf_counter()
    with (
        interruptible(console, f"finished work is kept in {target}, and the same command resumes it"),
        chosen_workers(distributed, address) as workers,
    ):
        how: dict[str, Any] = {"strict": strict, "resume": resume, "overwrite": overwrite, "progress": console, "workers": workers}
        if part is not None:
            _tell_of_part(console, part, build_part(opened_corpus, target, part, settings, **how), target)
            return
        built_index = build(opened_corpus, target, settings, **how)
    seconds = time.perf_counter() - start
    facts = built_index.manifest
    rate = f", {console.done / seconds:,.0f} papers/s" if console.done else ""
    vectors = f"{facts.encoder['name']} ({facts.dense}, {facts.metric}, {facts.encoder['precision']})" if facts.encoder else "none"
    console.note(
        f"{counted(facts.papers, 'paper')} in {counted(len(facts.shards), 'shard')}, {in_bytes(facts.bytes)} on disk, "
        f"{in_words(seconds)}{rate}; vectors: {vectors}; BM25: {facts.lexical['variant'] if facts.lexical else 'none'}"
    )
    if facts.rejected:
        console.note(f"rejected {counted(facts.rejected, 'row')}: see {target / 'rejected.jsonl'}")
    console.note(f"next: sciretrieve search 'your words' -i {shlex.quote(str(target))}")


def _tell_of_part(console: Console, part: str, built_part: Part, target: Path) -> None:
    console.close()
    console.note(f"part {part}: {counted(built_part.papers, 'paper')} in {counted(built_part.shards, 'shard')}, in {built_part.path}")
    console.note(f"next, when all parts are in {target}: sciretrieve join {shlex.quote(str(target))}")
