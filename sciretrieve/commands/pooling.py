"""`sciretrieve benchmarks pool`: judges the first papers of several runs, at the terminal or in a table, and writes qrels."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from ..base.choices import Help
from ..base.errors import InvalidRequest, NotFound
from ..base.wording import counted
from .asking import ask_each
from .console import Console, say
from .parameters import IndexPath, argument, open_index

if TYPE_CHECKING:
    from ..base.types import Paper
    from ..evaluation.pooling import Pool
    from ..metrics.judgements import RunScores

KEYS = "0 to 9: the grade, 0 is not relevant; s: skip for now, u: judge the paper before again, q: quit; everything is on disk at once"
DEPTHS = (1, 5, 10, 20, 50, 100)
"""Depths for which the share of judged papers is printed, up to the deepest run."""


def pool(
    file: Annotated[Path, Help("The pool's file, .jsonl; a new one is made.", "FILE", short="-p", name="pool")],
    runs: Annotated[list[Path] | None, argument("RUN", "Runs (TREC or JSON), or folders of `evaluate -o`; none to go on.")] = None,
    queries: Annotated[Path | None, Help("The runs' queries: .jsonl, .tsv, .txt, or a BEIR directory.", "FILE")] = None,
    depth: Annotated[int | None, Help("Papers of each run and query to judge; default: 20.", least=1, setting=True)] = None,
    index: IndexPath = None,
    corpus: Annotated[list[str] | None, Help("The papers' files, as for `index`, in place of an index.", "CORPUS")] = None,
    table: Annotated[Path | None, Help("Write what is not judged yet to a .csv; fill in its column grade.", "FILE", name="to")] = None,
    source: Annotated[Path | None, Help("Take over judgements: that .csv with grades, or qrels.", "FILE", name="from")] = None,
    output: Annotated[Path | None, Help("Write the judgements: .tsv as BEIR's, else as TREC's.", "FILE", short="-o")] = None,
) -> None:
    """Judge the first papers of several runs, and write qrels.

    Shows the runs' papers in an order that hides ranks and runs, and asks for grades; with --to and --from in a table. Each judgement
    is saved at once, and the same command resumes. Runs may be named later. The last lines say what share of each run's first papers is
    judged.
    """
    from ..evaluation.pooling import DEPTH, Pool
    from ..metrics.judgements import read_runs
    from ..papers.corpora import read_queries

    console = Console()
    if not file.exists() and not (runs and queries):
        raise NotFound(f"there is no pool {file} yet; begin one with runs and --queries")
    if queries is None and depth is not None:
        raise InvalidRequest("--set depth says how many papers go into the pool; name runs and --queries, too")
    known = read_runs(runs or [])
    with Pool(file) as opened:
        if queries is not None:
            if not known:
                raise InvalidRequest("--queries says what was asked; name the runs that answer them, too")
            console.note(f"{counted(opened.add(known, read_queries(queries), depth or DEPTH), 'new paper')} in the pool")
        if source is not None:
            console.note(f"{counted(opened.take_over(source), 'judgement')} taken over from {source}")
        if table is not None:
            count = opened.write_table(table, _papers(opened, index, corpus))
            console.note(f"{counted(count, 'paper')} to be judged in the column grade, and taken over with --from: {table}")
        elif not source and not output and sys.stdin.isatty() and sys.stdout.isatty():
            _ask(opened, _papers(opened, index, corpus), console)
        if output is not None:
            console.note(f"{counted(opened.write_qrels(output), 'judgement')}: {output}")
        _print_counts(opened, known)


def _papers(opened: Pool, index: Path | None, corpus: Sequence[str] | None) -> Mapping[str, Paper]:
    """The unjudged papers, by id, from an index or a corpus. Raises NotFound for missing ones."""
    wanted = dict.fromkeys(id for _, id in opened.unjudged())
    if corpus:
        if index is not None:
            raise InvalidRequest("the papers' texts are in an index or in a corpus: give --index or --corpus")
        from ..base.types import Paper
        from ..papers.corpora import accepted, open_corpus

        place = ", ".join(corpus)
        papers: dict[str, Paper] = {}
        for table in accepted(open_corpus(corpus)):
            rows = zip(*(table[name].to_pylist() for name in ("id", "title", "abstract")), strict=True)
            papers |= {id: Paper(id, title or "", abstract or "") for id, title, abstract in rows if id in wanted}
    else:
        with open_index(index, None) as indexed:
            place = str(indexed.path)
            found = list(indexed.snapshot.find(list(wanted)))
            papers = {paper.id: paper for paper in indexed.papers_at(indexed.snapshot.rows(found))}
    if missing := [id for id in wanted if id not in papers]:
        raise NotFound(
            f"{len(missing):,} of {counted(len(wanted), 'paper')} are not in {place}, {missing[0]!r} first; "
            "name the index, or the --corpus, of the runs"
        )
    return papers


def _ask(opened: Pool, papers: Mapping[str, Paper], console: Console) -> None:
    """Ask for grades."""

    def show(pair: tuple[str, str]) -> str:
        _show(opened.queries[pair[0]], papers[pair[1]])
        return f"[{_counts(opened)}] grade? 0 to 9, s u q"

    def answered(key: str, pair: tuple[str, str]) -> bool | None:
        if key not in "0123456789":
            return None
        opened.judge([(*pair, int(key))])
        return True

    ask_each(lambda passed: next((pair for pair in opened.unjudged() if pair not in passed), None), show, answered, KEYS, console)
    console.note(f"kept in {opened.path}; the same command continues")


def _show(query: str, paper: Paper) -> None:
    """Print a query, and below it a paper's title and abstract, without its authors."""
    from ..papers.formulas import in_unicode

    width = min(shutil.get_terminal_size((80, 24)).columns, 100)
    parts = [f"query: {query}", in_unicode(paper.title) or "(no title)", in_unicode(paper.abstract) or "(no abstract)"]
    say(line for part in parts for line in ("", *textwrap.wrap(" ".join(part.split()), max(width, 10), break_on_hyphens=False)))


def _counts(opened: Pool) -> str:
    judged = sum(map(len, opened.judgements.values()))
    return f"{judged:,} of {counted(len(opened), 'paper')} judged"


def _print_counts(opened: Pool, runs: Mapping[str, RunScores]) -> None:
    """Print the counts of judgements by grade, and for each run by depth."""
    grades = ", ".join(f"{count:,} with grade {grade}" for grade, count in opened.grades().items())
    say([f"{counted(len(opened.queries), 'query', 'queries')}; {_counts(opened)}{f': {grades}' if grades else ''}"])
    if not runs:
        return
    from ..evaluation.reports import aligned

    deepest = max(len(row) for run in runs.values() for row in run.values())
    depths = [depth for depth in DEPTHS if depth <= deepest] or [deepest]
    table = [["judged, %", *(f"@{depth}" for depth in depths), ""]]
    for name, shares in opened.coverage(runs, depths).items():
        table.append([name, *(f"{100 * shares[depth]:.1f}" if depth in shares else "" for depth in depths), ""])
    say(aligned(table))
