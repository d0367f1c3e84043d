"""`sciretrieve why-not`, `duplicates` and `tune`: explains an index's answers, and tunes them to judgements."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from ..base.choices import Help
from ..base.errors import NotFound
from ..base.wording import counted
from ..options import Count, Fusion, Passing, SearchMode
from .console import Console, as_options, interruptible, say, say_json
from .parameters import IndexPath, PlainFormatOption, QueryEncoder, argument, chosen_index, index_to_change, open_index

if TYPE_CHECKING:
    from ..studies.tuning import TuningResult


def why_not(
    id: Annotated[str, argument("ID", "The paper that was expected.", "ids")],
    query: Annotated[list[str], argument("QUERY", "The query as it was typed.")],
    index: IndexPath = None,
    k: Count = 10,
    mode: SearchMode = None,
    filter: Passing = None,
    fusion: Fusion = None,
    format: PlainFormatOption = "table",
) -> None:
    """Show where an expected paper was lost, and what would bring it in."""
    from ..answers.explaining import why_not as tell
    from ..papers.formulas import in_unicode

    text = " ".join(query)
    opened_index = open_index(index)
    diagnosis = tell(opened_index, id, text, k=k, mode=mode, filter=filter, fusion=fusion)
    if format == "json":
        say_json({"schema": 1, "query": text, "k": k, **asdict(diagnosis)})
        return
    paper = opened_index.papers(diagnosis.explanation.id)[0]
    lines = [f"{in_unicode(paper.title) or '(no title)'} ({paper.id})"]
    lines += [f"  {reason}" for reason in diagnosis.failed]
    for name, rank in diagnosis.ranks.items():
        place = getattr(diagnosis.explanation, name, None)
        score = f", score {place.score:.4f}" if place is not None else ""
        lines.append(f"  {name:<7} {f'rank {rank:,}{score}' if rank is not None else _absent(name)}")
    words = ", ".join(f"{word} {weight:.1f}" for word, weight in diagnosis.explanation.words.items())
    lines.append(f"  words   {words or 'none of the query'}")
    lines += [f"  → {as_options.get()(remedy)}" for remedy in diagnosis.remedies]
    say(lines)


def _absent(mode: str) -> str:
    return "not answered: it shares no word with the query" if mode == "bm25" else "not among the halves' candidates"


def duplicates(index: IndexPath = None, format: PlainFormatOption = "table") -> None:
    """List papers with the same title and first author, such as a preprint and its journal version.

    Case, accents, LaTeX and punctuation make no difference.
    """
    from ..query.opening import open_index
    from ..query.ranking.grouping import groups_of

    opened_index = open_index(chosen_index(index))
    groups = groups_of(opened_index.snapshot.tables(["id", "title", "authors"]))
    if format == "json":
        rows = [{"title": title, "papers": ids} for title, ids in groups]
        say_json({"schema": 1, "index": str(opened_index.path), "groups": rows})
        return
    say(line for title, ids in groups for line in (title, *(f"    {id}" for id in ids)))
    Console().note(f"{counted(len(groups), 'group')}, {sum(len(ids) for _, ids in groups):,} of {counted(len(opened_index), 'paper')}")


def _why_unwritten(outcome: TuningResult) -> str:
    if outcome.after == outcome.before:
        return "the index has the best setting already"
    if outcome.difference.is_gain:
        return "a dry run"
    return f"the gain may be chance; {needed}" if (needed := outcome.difference.needed) else "held-out queries gain nothing"


def tune(
    queries: Annotated[Path, Help("Judged queries: .jsonl, .tsv, or a BEIR directory.", "FILE")],
    qrels: Annotated[Path, Help("Judgements: TREC's or BEIR's columns, or JSON.", "FILE")],
    index: IndexPath = None,
    encoder: QueryEncoder = None,
    measure: Annotated[str, Help("The measure to maximise.", "M", short="-m")] = "nDCG@10",
    dry_run: Annotated[bool, Help("Only show what would be chosen.")] = False,
    format: PlainFormatOption = "table",
) -> None:
    """Fit hybrid search to your own judgements.

    Finds the best alpha, depth, k1 and b by cross-validation, and writes them to the index if held-out queries improve by more than
    chance. Nothing is encoded.
    """
    from ..metrics.judgements import read_qrels
    from ..papers.corpora import read_queries
    from ..studies.tuning import tune as fit

    if not queries.exists():
        raise NotFound(f"there are no queries at {queries}")
    console = Console()
    opened_index = open_index(chosen_index(index) if dry_run else index_to_change(index, console), encoder)
    with interruptible(console, "the index is unchanged"):
        outcome = fit(opened_index, read_queries(queries), read_qrels(qrels), measure=measure, write=not dry_run, progress=console)
    if format == "json":
        say_json({"schema": 1, "index": str(opened_index.path), **asdict(outcome)})
        return
    pair = outcome.difference
    rows = {"now": (outcome.before, outcome.before_mean), "best": (outcome.after, outcome.held_out)}
    for name, (setting, mean) in rows.items():
        fused, bm25 = setting.fusion, setting.bm25
        alpha = "by length" if fused.alpha is None else fused.alpha
        setting_text = f"alpha {alpha}, depth {fused.depth}, k1 {bm25.k1}, b {bm25.b}"
        say([f"{name:<5} {measure} {100 * mean:6.2f}{' on held-out queries' * (name == 'best')}   {setting_text}"])
    say(
        [
            f"gain  {100 * pair.difference:+.2f}, 95 % interval {100 * pair.low:+.2f} to {100 * pair.high:+.2f}, "
            f"p {pair.p_randomisation:.3f}, {counted(outcome.queries, 'query', 'queries')}",
            "written to the index" if outcome.written else f"not written: {_why_unwritten(outcome)}",
        ]
    )
