"""`sciretrieve index`: builds an index of a corpus; and `index parts`, which joins parts from several machines."""

from __future__ import annotations

import shlex
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from ..base.choices import Help
from ..base.errors import InvalidRequest
from ..base.wording import counted, duration_text, size_text
from ..options import Bm25Parameters, BuildSettings
from .console import Console, interruptible, say, say_json
from .full_texts import FullTextSource, Later, read_full_texts
from .parameters import (
    ANY_COLUMNS,
    BUILDING,
    Columns,
    Corpus,
    Memory,
    PlainFormat,
    PlainFormatOption,
    Ray,
    Resume,
    Strict,
    argument,
    chosen_workers,
    parsed_size,
)
from .signatures import Without

if TYPE_CHECKING:
    from ..lifecycle.parts import IndexPart
    from ..papers.corpora import Corpus as OpenedCorpus

BM25 = Bm25Parameters()


def index(
    corpus: Corpus,
    output: Annotated[
        Path | None,
        Help(
            "Where the index goes; default: indexes/<name of the corpus>, or its folder's for corpus.csv and the like.", "DIR", short="-o"
        ),
    ] = None,
    settings: Annotated[BuildSettings, Without("bare_titles", "lexical", "memory")] = BUILDING,
    memory: Memory = None,
    lexical: Annotated[bool, Help("With or without BM25.", setting=True)] = True,
    bm25: Annotated[Bm25Parameters, Without("delta", "title")] = BM25,
    columns: Columns = ANY_COLUMNS,
    strict: Strict = False,
    resume: Resume = True,
    overwrite: Annotated[bool, Help("Replace the index when the new one is complete.")] = False,
    ray: Ray = None,
    part: Annotated[str | None, Help("Build part I of N, each on a machine; `index parts` joins them.", "I/N", advanced=True)] = None,
    fulltext: FullTextSource = None,
    later: Later = False,
    dry_run: Annotated[bool, Help("Build nothing; estimate time, disk and memory from a sample.")] = False,
    format: PlainFormatOption = "table",
) -> None:
    """Build an index of a corpus of papers. One in a folder that is called `parts` is written ./parts.

    Interrupt it whenever you like: the same command resumes where it stopped.
    """
    from ..lifecycle import build, build_part
    from ..papers.corpora import open_corpus
    from ..query.reading.reader import other_language

    settings = replace(settings, memory=parsed_size(memory), lexical=bm25 if lexical else None)
    opened_corpus = open_corpus(corpus, columns)
    if dry_run:
        if part is not None or ray is not None:
            raise InvalidRequest("--dry-run estimates the whole build on this machine; leave out --part and --ray")
        _print_estimate(opened_corpus, settings, format)
        return
    if format != "table":
        raise InvalidRequest(f"--format {format} goes with --dry-run; `sciretrieve info -f {format}` describes an index")
    if part is not None and fulltext is not None:
        raise InvalidRequest("full texts are read once the parts are joined: `sciretrieve add --fulltext`; leave out --fulltext")
    target = output or Path("indexes") / opened_corpus.name
    console = Console(reports_rejected=True)
    which = f"part {part} of " if part else ""
    console.note(f"indexing {which}{opened_corpus.name} into {target}")
    start = time.perf_counter()
    with interruptible(console, f"finished work is kept in {target}, and the same command resumes it"), chosen_workers(ray) as workers:
        how: dict[str, Any] = {"strict": strict, "resume": resume, "overwrite": overwrite, "progress": console, "workers": workers}
        if part is not None:
            _print_part(console, part, build_part(opened_corpus, target, part, settings, **how), target)
            return
        built_index = build(opened_corpus, target, settings, **how)
    seconds = time.perf_counter() - start
    facts = built_index.snapshot.manifest
    rate = f", {console.done / seconds:,.0f} papers/s" if console.done else ""
    vectors = f"{facts.encoder['name']} ({facts.dense}, {facts.metric}, {facts.encoder['precision']})" if facts.encoder else "none"
    console.note(
        f"{counted(facts.papers, 'paper')} in {counted(len(facts.shards), 'shard')}, {size_text(facts.bytes)} on disk, "
        f"{duration_text(seconds)}{rate}; vectors: {vectors}; BM25: {facts.lexical['variant'] if facts.lexical else 'none'}"
    )
    if language := other_language(built_index.reader):
        reader = f"{facts.encoder['name']} reads" if facts.encoder else "words are read as"
        console.note(
            f"most of the papers seem to be in {language}, and {reader} English: expect poor results for words that differ between them"
        )
    built_index.close()
    if fulltext is not None:
        read_full_texts(target, fulltext, console, device=settings.device, later=later)
    if facts.rejected:
        console.note(f"rejected {counted(facts.rejected, 'row')}: see {target / 'rejected.jsonl'}")
    console.note(f"next: sciretrieve search 'your words' -i {shlex.quote(str(target))}")


def _print_estimate(corpus: OpenedCorpus, settings: BuildSettings, format: PlainFormat) -> None:
    """Print the estimated cost of an index of a corpus."""
    from ..lifecycle import estimate

    with interruptible(console := Console()):
        result = estimate(corpus, settings, progress=console)
    if format == "json":
        say_json({"schema": 1, **result.to_dict()})
        return
    encoder = result.encoder
    rows = {
        "papers": f"{result.papers:,} of {counted(result.rows, 'row')}, in {counted(result.shards, 'shard')}",
        "encoder": f"{encoder['name']}, {encoder['dim']} dimensions, {encoder['precision']}" if encoder else "none",
        "dense": f"{result.dense}, {result.metric}" if encoder else "none",
        "time": duration_text(result.seconds) + ("" if result.dense in ("flat", "none") else ", and what making the dense index takes"),
        "on disk": size_text(result.bytes),
        "memory": f"{size_text(result.memory)} at the most",
        "going by": f"a sample of {counted(result.sampled, 'paper')}; nothing was built",
    }
    say(f"{name:<9} {value}" for name, value in rows.items())


def _print_part(console: Console, part: str, built_part: IndexPart, target: Path) -> None:
    console.close()
    last = built_part.first + built_part.papers - 1
    console.note(
        f"part {part}: {counted(built_part.papers, 'paper')}, {built_part.first:,} to {last:,} of {built_part.of:,}, in "
        f"{counted(built_part.shards, 'shard')}, in {built_part.path}"
    )
    if built_part.rejected:
        console.note(f"rejected {counted(built_part.rejected, 'row')}: `index parts` lists them")
    console.note(f"next, when all parts are in {target}: sciretrieve index parts {shlex.quote(str(target))}")


def parts(index: Annotated[Path, argument("DIR", "The folder in which `index --part` has built all parts.")]) -> None:
    """Make one index of its parts, which were built on several machines.

    `sciretrieve index --part 1/4` builds a part. All parts are in one folder. Nothing is encoded or copied.
    """
    from ..lifecycle import index_parts

    console = Console()
    with interruptible(console, "the parts are as they were, and the same command resumes it"):
        result = index_parts(index, progress=console)
    console.note(f"{index}: an index of {counted(result.parts, 'part')}, {counted(result.shards, 'shard')}")
