"""`sciretrieve benchmarks robustness`: whether search finds a paper again by its title, and after changes to its text."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

from ..base.choices import DEFAULT_ENCODER, Help
from ..base.errors import InvalidRequest
from ..options import EncoderPrecision, ReadingOptions, RunsOn
from .console import Console, interruptible, say, say_json
from .parameters import BUILDING, argument, open_index
from .signatures import Without

AS_TRAINED = ReadingOptions()


def robustness(
    corpus: Annotated[
        list[str] | None, argument("CORPUS", "Files, directories or globs that `index` reads; or give an index by -i.")
    ] = None,
    index: Annotated[
        Path | None, Help("Study this index: its papers, encoder, BM25 and fusion.", "NAME", short="-i", completes="indexes")
    ] = None,
    encoder: Annotated[
        str | None,
        Help(
            f"What encodes the corpus; default: {DEFAULT_ENCODER}. With -i: its own encoder, if it has moved.", "NAME", completes="encoders"
        ),
    ] = None,
    reading: Annotated[ReadingOptions, Without("query_adapter", "query_template")] = AS_TRAINED,
    limit: Annotated[int | None, Help("Study N random papers at most; default: 500.", "N")] = None,
    seed: Annotated[int, Help("Random seed.", "N", setting=True)] = 0,
    output: Annotated[Path | None, Help("Write the report there: report.md, report.json, plots as .svg.", "DIR", short="-o")] = None,
    precision: EncoderPrecision = "auto",
    device: RunsOn = BUILDING.device,
    format: Annotated[Literal["markdown", "json"], Help("How to print the report.", short="-f")] = "markdown",
) -> None:
    """Find out what changes to a paper's text do to its vectors and to answers.

    Searches with titles, and with 32 kinds of changed papers, from other letter case to deleted nouns. Prints how many find their paper
    and its neighbours, beside the figures of Singh and Singh (2022).
    """
    from ..files.writing import write_json, write_whole
    from ..studies.perturbation import robustness as study_robustness
    from ..studies.perturbation.plots import check_plots, plots
    from ..studies.perturbation.report import markdown
    from ..studies.perturbation.study import LIMIT

    if (corpus is None) == (index is None):
        raise InvalidRequest("name a corpus, or an index with -i")
    if index is not None and (given := next((name for name, value in asdict(reading).items() if value is not None), None)):
        raise InvalidRequest(f"an index's papers are read as when it was built; leave out `{given}`")
    if output is not None:
        if output.exists() and not output.is_dir():
            raise InvalidRequest(f"{output} is a file; name a directory for the report")
        output.mkdir(parents=True, exist_ok=True)
        check_plots(output)
    console = Console()
    with interruptible(console, "nothing is kept"):
        study = study_robustness(
            open_index(index, encoder) if index is not None else corpus or [],
            encoder=encoder or DEFAULT_ENCODER,
            adapter=reading.adapter,
            pooling=reading.pooling,
            template=reading.template,
            limit=LIMIT if limit is None else limit,
            seed=seed,
            precision=precision,
            device=device,
            progress=console,
        )
    if output is not None:
        write_json(output / "report.json", study.to_dict())
        write_whole(output / "report.md", markdown(study, plots(study, output)).encode())
        console.note(f"report and plots: {output}")
    if format == "json":
        say_json(study.to_dict())
    else:
        say([markdown(study, {})])
