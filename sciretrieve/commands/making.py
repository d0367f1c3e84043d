"""`sciretrieve benchmarks build`: a benchmark of one's own papers, or a published one anew."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from ..choices import Help
from ..errors import InvalidRequest
from ..options import ColumnMap
from ..wording import in_bytes
from .console import Console, interruptible
from .making_sets import FORMS, RANKS, Asked, build_set
from .parameters import ANY_COLUMNS, chosen_index


def build(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="cite, multi-scidocs, scidocs-cite, pmc-patients-zeroshot or scimult-search; or, to train on, triplets, pairs, labels or "
            "targets.",
        ),
    ],
    source: Annotated[
        list[str],
        Help("The corpus, as for `index`, or the folder with the published files; may be given more than once.", "SOURCE", name="from"),
    ],
    to: Annotated[Path, Help("A new folder for the benchmark.", "DIR")],
    references: Annotated[
        str | None,
        Help("The column with the ids that a paper cites; default: recognised by name.", "COLUMN"),
    ] = None,
    citations: Annotated[
        Path | None,
        Help("A table of citing and cited ids (.tsv, .csv, .parquet), instead of a column.", "FILE"),
    ] = None,
    field: Annotated[str | None, Help("The column with the papers' fields; default: recognised by name.", "COLUMN")] = None,
    queries: Annotated[
        int | None,
        Help("Papers as queries; default: 1,000, or 200 in each field; to train on, all.", "N", least=1),
    ] = None,
    cited: Annotated[
        int | None,
        Help("A query cites at least N papers of the corpus; default: 5, multi-scidocs and to train on 1.", "N", least=1),
    ] = None,
    cocited: Annotated[
        int | None,
        Help("Papers that at least N others cite together are co-cited; default: 10, or 1.", "N", least=1),
    ] = None,
    indexes: Annotated[
        list[Path] | None,
        Help(
            "An index of the corpus, its folder or its name, whose encoder chooses hard negatives; may be given more than once.",
            "NAME",
            short="-i",
            completes="indexes",
            name="index",
        ),
    ] = None,
    recipe: Annotated[
        str | None,
        Help("Of what, and how, a training set is drawn: see above.", "NAME"),
    ] = None,
    column: Annotated[
        str | None,
        Help("The column with keywords, labels or a number to train on; default: recognised by name.", "COLUMN"),
    ] = None,
    shares: Annotated[
        str | None,
        Help("Spread a training set's queries over fields: even, scirepeval, s2orc, specter, or Medicine=0.4,Biology=0.6.", "SHARES"),
    ] = None,
    mine: Annotated[
        str | None,
        Help("Take negatives from what an index of the corpus, or bm25, answers to the query.", "INDEX"),
    ] = None,
    ranks: Annotated[str, Help("Mine negatives among these ranks.", "A-B")] = RANKS,
    without: Annotated[
        list[str] | None,
        Help("Leave out of a training set the queries of beir:DIR or cite:DIR; may be given more than once.", "BENCHMARK"),
    ] = None,
    seed: Annotated[int, Help("What is drawn by chance depends on it alone.", "N", advanced=True)] = 0,
    columns: ColumnMap = ANY_COLUMNS,
) -> None:
    """Make a benchmark or a training set from a corpus whose papers cite each other, or rebuild a published benchmark from its sources.

    cite: papers are queries, and the papers that they cite, or that are cited with them, are relevant: among all papers with
    `evaluate beir:DIR` (`--split cocite` for co-citations), and among hard candidates with `evaluate cite:DIR`.

    multi-scidocs: the same with 500 negatives by chance, in SciDocs' layout.

    scidocs-cite (with scidocs-cocite): from SciDocs' metadata. pmc-patients-zeroshot: from PMC-Patients' queries, PPR corpus
    and judgements. scimult-search: its sets SciFact and NFCorpus, from BEIR's directories.

    triplets: a training set, of papers, others that they cite, and others that they do not. --recipe specter, specter2, scimult, s2orc.

    pairs: of queries and papers. --recipe titles, sentences, keywords, queries (--from a BEIR folder), scimult-search (--from a file
    of SciRepEval's searches), scimult-labels, label-papers.

    labels: of papers to classify. --recipe fields, keywords, venue. targets: to predict a number. --recipe citations, year, number.

    The same corpus, options and seed give the same files. The folder appears when all is written.
    """
    from ..evaluation.builders import ANY, CiteSettings, build_cite, build_published, build_scidocs_like

    console = Console()
    settings = replace(
        ANY if name == "multi-scidocs" or name in FORMS else CiteSettings(),
        references=references,
        citations=citations,
        field=field,
        queries=queries,
        indexes=tuple(map(chosen_index, indexes or ())),
        seed=seed,
    )
    settings = replace(settings, cited=cited or settings.cited, cocited=cocited or settings.cocited)
    with interruptible(console, "nothing was written"):
        if name in FORMS:
            if indexes or cocited:
                raise InvalidRequest("training sets are drawn by who cites whom, and by texts: leave out --index and --cocited")
            build_set(name, source, to, Asked(recipe, column, shares, mine, ranks), settings, without or (), columns, console)
        elif any((recipe, column, shares, mine, without)) or ranks != RANKS:
            raise InvalidRequest(f"{name} is no training set: leave out --recipe, --column, --shares, --mine, --ranks and --without")
        elif name == "cite":
            build_cite(source, to, settings, columns=columns, progress=console)
        elif name == "multi-scidocs":
            if settings.indexes:
                raise InvalidRequest("negatives of multi-scidocs are drawn by chance: leave out --index")
            build_scidocs_like(source, to, settings, columns=columns, progress=console)
        else:
            if settings != CiteSettings() or columns != ANY_COLUMNS:
                raise InvalidRequest(
                    f"{name} is built as it was published: besides --from and --to, options are for cite and multi-scidocs"
                )
            build_published(name, source, to, console)
    for path in sorted(to.rglob("*")):
        if path.is_file():
            console.note(f"{in_bytes(path.stat().st_size):>9}  {path}")
