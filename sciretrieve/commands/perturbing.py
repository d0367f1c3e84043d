"""`sciretrieve benchmarks robustness`: whether a paper is known again by its title, and by changes to its text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Literal

import typer

from ..choices import DEFAULT_ENCODER
from ..errors import InvalidRequest
from ..options import Adapter, EncoderPrecision, Pooling, RunsOn, Template
from . import completing
from .console import Console, interruptible, say
from .parameters import BUILDING, Debug, Quiet, open_index
from .signatures import takes_options


@takes_options
def robustness(
    corpus: Annotated[
        list[str] | None, typer.Argument(metavar="CORPUS", help="Files, directories or globs that `index` reads; or give an index by -i.")
    ] = None,
    index: Annotated[
        Path | None,
        typer.Option(
            "--index",
            "-i",
            metavar="NAME",
            help="Study this index: its papers, encoder, BM25 and fusion.",
            autocompletion=completing.indexes,
        ),
    ] = None,
    encoder: Annotated[
        str | None,
        typer.Option(
            "--encoder",
            metavar="NAME",
            help=f"What encodes the corpus; default: {DEFAULT_ENCODER}. With -i: its own encoder, if it has moved.",
            autocompletion=completing.encoders,
        ),
    ] = None,
    adapter: Adapter = None,
    pooling: Pooling = None,
    template: Template = None,
    limit: Annotated[
        int | None, typer.Option("--limit", metavar="N", help="Study N papers at most, drawn at random; default: 500.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="What random choices come from.")] = 0,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="DIR", help="Write the report there: report.md, report.json, plots as .svg.")
    ] = None,
    precision: EncoderPrecision = "auto",
    device: RunsOn = BUILDING.device,
    format: Annotated[Literal["markdown", "json"], typer.Option("--format", "-f", help="How to print the report.")] = "markdown",
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Find out what changes to a paper's text do to its vectors and to answers.

    Asks dense, BM25 and hybrid search with titles, and with 32 kinds of changed papers, from other letter case to deleted nouns; prints how
    many find their paper and its neighbours, with the rows that Singh and Singh published in 2022.
    """
    from ..files.writing import write_json, write_whole
    from ..studies.perturbation import robustness as study_robustness
    from ..studies.perturbation.plots import check_plots, plots
    from ..studies.perturbation.report import markdown
    from ..studies.perturbation.study import LIMIT

    if (corpus is None) == (index is None):
        raise InvalidRequest("name either a corpus, or an index by -i, to study")
    reading = {"--adapter": adapter, "--pooling": pooling, "--template": template}
    if index is not None and (given := next((option for option, value in reading.items() if value is not None), None)):
        raise InvalidRequest(f"the papers of an index are read as it was built; leave out {given}")
    if output is not None:
        if output.exists() and not output.is_dir():
            raise InvalidRequest(f"{output} is a file; name a directory for the report")
        output.mkdir(parents=True, exist_ok=True)
        check_plots(output)
    console = Console(quiet)
    with interruptible(console, "nothing is kept"):
        study = study_robustness(
            open_index(index, encoder) if index is not None else corpus or [],
            encoder=encoder or DEFAULT_ENCODER,
            adapter=adapter,
            pooling=pooling,
            template=template,
            limit=LIMIT if limit is None else limit,
            seed=seed,
            precision=precision,
            device=device,
            progress=console,
        )
    if output is not None:
        write_json(output / "report.json", study.as_json())
        write_whole(output / "report.md", markdown(study, plots(study, output)).encode())
        console.note(f"report and plots: {output}")
    say([json.dumps(study.as_json(), ensure_ascii=False, indent=1)] if format == "json" else [markdown(study, {})])
