"""`sciretrieve benchmarks build` and `train build`: benchmarks and training sets from one's own papers, and published benchmarks
rebuilt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from ..base.choices import Help
from ..base.errors import InvalidRequest
from ..base.wording import size_text
from ..options import CiteSettings
from .console import Console, interruptible
from .parameters import ANY_COLUMNS, Columns, argument, chosen_index
from .signatures import Without

if TYPE_CHECKING:
    from ..training import Mining

Source: TypeAlias = Annotated[
    list[str],
    Help("The corpus, as for `index`, or a folder of published files. Repeatable.", "SOURCE", name="from"),
]
Target: TypeAlias = Annotated[Path, Help("A new folder for what is made.", "DIR")]
RANKS = "1-100"
CITED = CiteSettings()


def build(
    name: Annotated[str, argument("NAME", "cite, multi-scidocs, scidocs-cite, pmc-patients-zeroshot or scimult-search.")],
    source: Source,
    to: Target,
    settings: Annotated[CiteSettings, Without("indexes")] = CITED,
    indexes: Annotated[
        list[Path] | None,
        Help(
            "An index of the corpus whose encoder chooses hard negatives. Repeatable.",
            "NAME",
            short="-i",
            completes="indexes",
            name="index",
        ),
    ] = None,
    columns: Columns = ANY_COLUMNS,
) -> None:
    """Make a benchmark from a corpus whose papers cite each other, or rebuild a published one from its sources.

    cite: papers are queries; relevant are those that they cite, or that are cited with them. Evaluate among all papers with beir:DIR
    (co-citations with --split cocite), among hard candidates with cite:DIR.

    multi-scidocs: the same with 500 random negatives, in SciDocs' layout.

    scidocs-cite (with scidocs-cocite): from SciDocs' metadata. pmc-patients-zeroshot: from PMC-Patients' queries, PPR corpus and
    judgements. scimult-search: its sets SciFact and NFCorpus, from BEIR's directories.

    The same corpus, options and seed give the same files. The folder appears when all is written.
    """
    from ..evaluation.builders import build_cite, build_published, build_scidocs_like

    settings = replace(settings, indexes=tuple(map(chosen_index, indexes or ())))
    with _reporting_files(to) as console:
        if name == "cite":
            build_cite(source, to, settings, columns=columns, progress=console)
        elif name == "multi-scidocs":
            if indexes:
                raise InvalidRequest("negatives of multi-scidocs are drawn by chance: leave out --index")
            build_scidocs_like(source, to, settings, columns=columns, progress=console)
        else:
            if settings != CITED or columns != ANY_COLUMNS:
                raise InvalidRequest(
                    f"{name} is built as it was published: besides --from and --to, options are for cite and multi-scidocs"
                )
            build_published(name, source, to, console)


def build_set(
    form: Annotated[Literal["triplets", "pairs", "labels", "targets"], argument("FORM", "triplets, pairs, labels or targets.")],
    source: Source,
    to: Target,
    recipe: Annotated[str | None, Help("How the set is drawn; the help of the command lists recipes.", "NAME")] = None,
    settings: Annotated[CiteSettings, Without("cocited", "indexes")] = CITED,
    column: Annotated[
        str | None, Help("The column with keywords, labels or a number; default: recognised by name.", "COLUMN", setting=True)
    ] = None,
    shares: Annotated[
        str | None,
        Help("Spread queries over fields: even, scirepeval, s2orc, specter, or Medicine=0.4,Biology=0.6.", "SHARES", setting=True),
    ] = None,
    mine: Annotated[str | None, Help("Take negatives from the answers of an index of the corpus, or of bm25.", "INDEX")] = None,
    ranks: Annotated[str, Help("Mine negatives among these ranks.", "A-B", setting=True)] = RANKS,
    without: Annotated[list[str] | None, Help("Leave out the queries of beir:DIR or cite:DIR. Repeatable.", "BENCHMARK")] = None,
    columns: Columns = ANY_COLUMNS,
) -> None:
    """Make a set to train on from a corpus.

    triplets: a paper, one that it cites, one that it does not. --recipe specter, specter2, scimult, scincl, s2orc.

    pairs: a query and a paper. --recipe titles, sentences, keywords, queries (--from a BEIR folder), scimult-search (--from a file of
    SciRepEval's searches), pmc-patients-par, pmc-patients-ppr (--from PMC-Patients' folder), scimult-labels, scimult-labels-plain,
    label-papers.

    labels: classes of papers. --recipe fields, keywords, venue. targets: a number. --recipe citations, year, number.

    The same corpus, options and seed give the same files. The folder appears when all is written.
    """
    from .. import training

    if recipe is None:
        raise InvalidRequest(f"name how {form} are drawn with --recipe: {', '.join(training.RECIPES[form])}")
    mining = _mining(mine, ranks)
    with _reporting_files(to) as console:
        drawn: dict[str, Any] = {"column": column, "shares": shares, "without": without or (), "mining": mining}
        training.build_set(form, source, to, recipe, settings, **drawn, columns=columns, progress=console)


@contextmanager
def _reporting_files(to: Path) -> Iterator[Console]:
    """A context for making a folder, which prints the folder's files at the end."""
    console = Console()
    with interruptible(console, "nothing was written"):
        yield console
    for path in sorted(to.rglob("*")):
        if path.is_file():
            console.note(f"{size_text(path.stat().st_size):>9}  {path}")


def _mining(mine: str | None, ranks: str) -> Mining | None:
    """The settings of mining; None without `--mine`. Raises InvalidRequest for invalid ranks."""
    from ..training import Mining

    if mine is None:
        if ranks != RANKS:
            raise InvalidRequest("--set ranks is for --mine")
        return None
    match = re.fullmatch(r"(\d{1,6})-(\d{1,6})", ranks)
    if match is None:
        raise InvalidRequest(f"--set ranks takes the first and the last rank, such as 10-100, not {ranks!r}")
    by = mine if mine == "bm25" else chosen_index(Path(mine))
    return Mining(by, int(match[1]), int(match[2]))
