"""`sciretrieve add`, `sync`, `delete`, `restore`, `merge` and `reindex`: changes of an index."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..base.choices import Bm25Variant, Help, Metric
from ..base.errors import CorruptData, IndexBusy, InvalidRequest, NotFound, SciretrieveError
from ..base.wording import counted, duration_text, shortlist, size_text
from ..options import ColumnMap, RunsOn
from .console import Console, given_ids, interruptible, say, say_json
from .full_texts import FullTextSource, Later, read_full_texts
from .parameters import (
    ANY_COLUMNS,
    Columns,
    Corpus,
    IndexPath,
    Memory,
    PlainFormat,
    PlainFormatOption,
    Resume,
    SameEncoder,
    SomeCorpus,
    Strict,
    argument,
    given_encoder,
    index_to_change,
    parsed_size,
)

if TYPE_CHECKING:
    from ..lifecycle import Update
    from ..protocols import AnyEncoder
    from ..storage.manifest import Manifest

WATCHING = 2.0
"""Seconds between looks at a watched corpus."""


@dataclass(frozen=True, slots=True)
class Taking:
    """Options for adding papers to an index."""

    encoder: SameEncoder = None
    device: RunsOn = "auto"
    strict: Strict = False
    resume: Resume = True
    fulltext: FullTextSource = None
    later: Later = False


def add(
    how: Taking,
    corpus: SomeCorpus = None,
    index: IndexPath = None,
    columns: Columns = ANY_COLUMNS,
    format: PlainFormatOption = "table",
) -> None:
    """Add a corpus's papers to an index, and full texts.

    Only new and changed papers are encoded; a changed one replaces the one with its id. Searches go on meanwhile, and see all of it at
    once. --fulltext reads full texts of the index's papers, also without a corpus.
    """
    from ..lifecycle import add as put

    console = Console(reports_rejected=True)
    target = index_to_change(index, console)
    if not corpus and how.fulltext is None:
        raise InvalidRequest("name a corpus to add, full texts to read by --fulltext, or both")
    if corpus:
        _update(put, corpus, target, how, columns, format, console)
    elif how.fulltext is not None:
        read_full_texts(target, how.fulltext, console, encoder=_encoder(how, target), device=how.device, later=how.later)


def sync(
    corpus: Corpus,
    how: Taking,
    index: Annotated[
        Path | None,
        Help("The index, its folder or its name; default: indexes/<name of the corpus>.", "NAME", short="-i", completes="indexes"),
    ] = None,
    columns: Columns = ANY_COLUMNS,
    watch: Annotated[bool, Help("Repeat it whenever the corpus has changed; Ctrl-C ends it.")] = False,
    allow_deletions: Annotated[bool, Help("Delete more than a tenth of the papers, also if rows without an id were unreadable.")] = False,
    dry_run: Annotated[bool, Help("Change nothing; say what would be added, replaced, deleted and kept.")] = False,
    format: PlainFormatOption = "table",
) -> None:
    """Make an index equal to a corpus, such as a bibliography that grows.

    As `add`, but papers that the corpus no longer has are deleted. A paper whose row is unreadable stays. It asks before it deletes
    more than a tenth; without a terminal, or with --watch, it refuses.
    """
    from ..lifecycle import sync as equalise

    console = Console(reports_rejected=True)
    target = _index_of(corpus, console) if index is None else index_to_change(index, console)
    if watch and "-" in corpus:
        raise InvalidRequest("standard input cannot be watched; name files or directories")
    if watch and dry_run:
        raise InvalidRequest("--dry-run looks once; leave out --watch")
    if dry_run:
        with interruptible(console):
            update = equalise(
                corpus, target, columns=columns, strict=how.strict, progress=console, allow_deletions=allow_deletions, dry_run=True
            )
        _print_plan(update, target, allow_deletions, format)
        return

    def agreed(deleted: int, papers: int) -> bool:
        return _confirmed(target, deleted, papers, is_watching=watch, console=console)

    update_all = partial(
        _update, partial(equalise, allow_deletions=allow_deletions or agreed), corpus, target, how, columns, format, console
    )
    if not watch:
        update_all()
        return
    try:
        _watch(update_all, corpus, target, console)
    except KeyboardInterrupt:
        raise typer.Exit(130) from None


def _watch(update: Callable[[], None], corpus: list[str], index: Path, console: Console) -> None:
    """Update an index whenever its corpus changes, until Ctrl-C."""
    was_busy = False
    while True:
        seen, is_done = _quiet_state(corpus), False
        try:
            update()
            is_done, was_busy = True, False
        except IndexBusy as error:
            if not was_busy:
                console.note(f"{str(error).partition(';')[0]}; trying until it has ended")
            was_busy = True
            continue
        except (SciretrieveError, OSError) as error:
            console.note(f"{error}; waiting for the next change")  # a file may be half written
        console.note("watching; Ctrl-C ends it")
        _wait_for_change(corpus, seen, index, is_done=is_done)


def _print_plan(update: Update, index: Path, allow_deletions: bool, format: PlainFormat) -> None:
    """Print the changes that a sync would make."""
    from ..lifecycle.updating import are_many

    if format == "json":
        say_json({"schema": 1, "index": str(index), "dry_run": True, **update.to_dict()})
        return
    counts = {"add": update.added, "replace": update.replaced, "delete": update.deleted, "keep": update.kept}
    for (change, count), name in zip(counts.items(), ("added", "replaced", "deleted", "kept"), strict=True):
        why = ", which may be in rows that could not be read" if change == "keep" else ""
        if count:
            say([f"would {change} {counted(count, 'paper')}{why}: {shortlist(update.examples[name], count)}"])
    if are_many(update.deleted, update.papers) and not allow_deletions:
        say(["that is more than a tenth of the papers, so sync asks first, or takes --allow-deletions"])
    if update.rejected:
        say([f"would reject {counted(update.rejected, 'row')}"])
    say([f"would leave {counted(update.unchanged, 'paper')} as they are"])


def _confirmed(index: Path, deleted: int, papers: int, *, is_watching: bool, console: Console) -> bool:
    """Ask the user whether to delete so many papers. Raises InvalidRequest if not, or without a terminal."""
    what = f"{deleted:,} of the {counted(papers, 'paper')} of {index} are not in the corpus, more than a tenth"
    if is_watching or not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise InvalidRequest(
            f"{what}, so nothing was changed; check whether a file is missing or truncated, or delete them with --allow-deletions"
        )
    console.close()
    try:
        is_agreed = typer.confirm(f"{what}. Delete them?", err=True)
    except typer.Abort:
        raise KeyboardInterrupt from None
    if not is_agreed:
        raise InvalidRequest(f"{what}; nothing was changed")
    return True


def _index_of(sources: list[str], console: Console) -> Path:
    """The index with a corpus's name. Raises InvalidRequest for an index of another corpus, whose papers would all be deleted."""
    from ..papers.corpora import open_corpus
    from ..storage.manifest import read_manifest

    corpus = open_corpus(sources)
    target = Path("indexes") / corpus.name
    names = list(dict.fromkeys(name for source in read_manifest(target).sources for name in source.corpus))
    if not {Path(name).resolve() for name in names} & {file.resolve() for file in corpus.files}:
        raise InvalidRequest(
            f"{target} is an index of {', '.join(names[:3])}; sync would make it equal to {', '.join(map(str, corpus.files[:3]))} instead: "
            f"name the index that is meant with -i"
        )
    console.note(f"the index is {target} (the name of the corpus)")
    return target


def _wait_for_change(sources: list[str], seen: object, index: Path, *, is_done: bool) -> None:
    """Wait until the corpus changes, or another index replaces the index. After a failed update, wait until either changes."""
    before = _manifest(index)
    while _state(sources) == seen:
        now = _manifest(index)
        if now is not None and (before is None or not now.logs(before.generation, before.checksum) or (now != before and not is_done)):
            return
        time.sleep(WATCHING)


def _manifest(index: Path) -> Manifest | None:
    """The current manifest of an index; None if it cannot be read."""
    from ..storage.manifest import read_manifest

    with suppress(CorruptData, NotFound, OSError):
        return read_manifest(index)
    return None


def _quiet_state(sources: list[str]) -> object:
    """The state of a corpus's files once it is the same twice in succession: a growing file is still being written."""
    state = None
    while (latest := _state(sources)) != state:
        state = latest
        time.sleep(WATCHING)
    return state


def _state(sources: list[str]) -> object:
    """A value that changes whenever the files of a corpus do."""
    from ..papers.corpora import open_corpus

    try:
        return open_corpus(sources).fingerprint()
    except (SciretrieveError, OSError) as error:  # a file may be about to be replaced
        return str(error)


def _update(
    change: Callable[..., Update], corpus: list[str], index: Path, how: Taking, columns: ColumnMap, format: PlainFormat, console: Console
) -> None:
    """Add papers to an index, and print the changes."""
    from ..papers.corpora import open_corpus

    start = time.perf_counter()
    options = {"device": how.device, "strict": how.strict, "resume": how.resume}
    given = _encoder(how, index)
    opened_corpus = open_corpus(corpus, columns)
    with interruptible(console, f"finished work is kept in {index}, and the same command resumes it"):
        update = change(opened_corpus, index, encoder=given, progress=console, **options)
    if format == "json":
        say_json({"schema": 1, "index": str(index), **update.to_dict()})
    else:
        seconds = duration_text(time.perf_counter() - start)
        console.note(f"{index}: {_counts(update)}; {counted(update.papers, 'paper')} now, generation {update.generation}, {seconds}")
        if update.rejected:
            console.note(f"rejected {counted(update.rejected, 'row')}: see {index / 'rejected.jsonl'}")
    if how.fulltext is not None:
        read_full_texts(index, how.fulltext, console, encoder=given, device=how.device, later=how.later)


def _encoder(how: Taking, index: Path) -> AnyEncoder | None:
    return given_encoder(how.encoder, index, device="auto")


def _counts(update: Update) -> str:
    """The counts of a change, in words."""
    counts = {"added": update.added, "replaced": update.replaced, "deleted": update.deleted, "unchanged": update.unchanged}
    return ", ".join(f"{count:,} {name}" for name, count in counts.items() if count) or "nothing to do"


def delete(
    ids: Annotated[list[str] | None, argument("ID", "Ids; - reads them from stdin, one per line.", "ids")] = None,
    index: IndexPath = None,
    filter: Annotated[
        list[str] | None,
        Help("Delete the papers that pass, e.g. 'year < 1990'. Repeatable: all must hold.", "EXPR", completes="columns"),
    ] = None,
    dry_run: Annotated[bool, Help("Change nothing; say how many would be deleted, and the first ones.")] = False,
    format: PlainFormatOption = "table",
) -> None:
    """Delete papers from an index, by their ids or by a filter.

    `restore` undoes it, until `merge` frees their space.
    """
    from ..lifecycle import delete as remove

    named_ids = given_ids(ids)
    console = Console()
    target = index_to_change(index, console)
    deletion = remove(target, named_ids, filter=filter, dry_run=dry_run, progress=console)
    if format == "json":
        say_json({"schema": 1, "index": str(target), **deletion.to_dict()})
        return
    if not dry_run:
        console.note(f"{target}: {deletion.deleted:,} deleted; {counted(deletion.papers, 'paper')} now, generation {deletion.generation}")
        return
    console.note(f"{target}: would delete {counted(deletion.deleted, 'paper')} and leave {deletion.papers:,}; nothing is changed")
    say(f"{id}  {' '.join(title.split())}" for id, title in deletion.first.items())
    if deletion.deleted > len(deletion.first):
        console.note(f"and {deletion.deleted - len(deletion.first):,} more")


def restore(
    generation: Annotated[int, Help("One that `sciretrieve info log` marks.", "N", least=1, advanced=True)],
    index: IndexPath = None,
) -> None:
    """Make an index what it was in an earlier generation.

    It undoes all changes since, by a commit that can be undone, too. `merge` drops earlier generations.
    """
    from ..lifecycle import restore as bring_back

    console = Console()
    target = index_to_change(index, console)
    update = bring_back(target, generation)
    now = f"{counted(update.papers, 'paper')} now, generation {update.generation}"
    console.note(f"{target}: as in generation {generation}; {_counts(update)}; {now}")


def merge(index: IndexPath = None, format: PlainFormatOption = "table") -> None:
    """Join small shards, and free the space of what was deleted.

    Nothing is encoded. Searches go on meanwhile; a generation that is open stays.
    """
    from ..lifecycle import merge as rewrite

    console = Console()
    target = index_to_change(index, console)
    with interruptible(console, "the index is as it was, and the same command resumes it"):
        result = rewrite(target, progress=console)
    if format == "json":
        say_json({"schema": 1, "index": str(target), **result.to_dict()})
        return
    shards = f"{counted(result.shards_before, 'shard')} before, {result.shards_after:,} now"
    console.note(f"{target}: {shards}; {size_text(max(result.freed, 0))} freed")


def reindex(
    index: IndexPath = None,
    dense: Annotated[
        str | None,
        Help("auto, flat (exact), hnsw, ivf, rabitq, a FAISS factory string; default: as it is.", "TYPE", completes="dense_types"),
    ] = None,
    memory: Memory = None,
    recall: Annotated[
        float | None, Help("An approximate index's recall of the true best 10; default: as it is.", "SHARE", setting=True)
    ] = None,
    metric: Annotated[Metric | None, Help("How vectors are compared; default: as it is.", setting=True)] = None,
    variant: Annotated[Bm25Variant | None, Help("The variant of BM25; default: as it is.", setting=True)] = None,
    k1: Annotated[float | None, Help("BM25's saturation of term frequency; default: the index's.", least=0.0, setting=True)] = None,
    b: Annotated[float | None, Help("BM25's normalisation of length; default: the index's.", least=0.0, most=1.0, setting=True)] = None,
    late: Annotated[bool | None, Help("Add token vectors for late interaction, or remove them; default: as it is.", setting=True)] = None,
    encoder: SameEncoder = None,
) -> None:
    """Rebuild an index with other settings, from its stored vectors and terms.

    Nothing is encoded, except with --set late=true, which resumes after an interruption. It also counts the words anew of an index with
    an older text analysis.
    """
    from ..lifecycle import reindex as rebuild

    console = Console()
    target = index_to_change(index, console)
    changes: dict[str, Any] = {name: value for name, value in (("variant", variant), ("k1", k1), ("b", b)) if value is not None}
    start = time.perf_counter()
    with interruptible(console, "the index is as it was"):
        manifest = rebuild(
            target,
            dense=dense,
            metric=metric,
            lexical=changes or None,
            memory=parsed_size(memory),
            recall=recall,
            late=late,
            encoder=given_encoder(encoder, target),
            progress=console,
        )
    vectors = f"{manifest.dense}, {manifest.metric}" if manifest.encoder else "none"
    parameters = f"{manifest.bm25.variant}, k1 {manifest.bm25.k1}, b {manifest.bm25.b}" if manifest.bm25 else "none"
    console.note(
        f"{target}: dense {vectors}; BM25 {parameters}; generation {manifest.generation}, {duration_text(time.perf_counter() - start)}"
    )
