"""Builds training sets from a corpus, by the recipes of the papers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ..base.arguments import checked
from ..base.choices import check_choice
from ..base.errors import InvalidRequest, UnknownName
from ..evaluation.builders.folders import new_folder
from ..options import CiteSettings
from ..papers.corpora import ColumnMap, Corpus, Sources
from ..progress import shown
from ..protocols import Progress
from . import labelled, pairs, triplets
from .forms import SetTask, write_facts, write_papers, write_queries, write_table
from .held_out import HeldOut
from .mining import Mining
from .training_papers import Recipe, SetRequest

RECIPES: Mapping[SetTask, Mapping[str, Recipe]] = {
    "triplets": triplets.RECIPES,
    "pairs": pairs.RECIPES,
    "labels": labelled.LABEL_RECIPES,
    "targets": labelled.TARGET_RECIPES,
}
"""Recipes by form and name."""


@checked
def build_set(
    form: SetTask,
    corpus: Sources | Corpus,
    to: str | Path,
    recipe: str,
    settings: CiteSettings = CiteSettings(),
    *,
    column: str | None = None,
    shares: str | None = None,
    without: Sequence[str] = (),
    mining: Mining | None = None,
    columns: ColumnMap | None = None,
    progress: Progress | bool = True,
) -> None:
    """Make a training set in the folder `to`, which appears when everything is written.

    The set's table is named after its form. A line of triplets.tsv has the ids of a query, of a cited paper and of a paper not cited, and
    the kind of the latter. A line of pairs.tsv has the ids of a query, of a paper that answers it and of one that does not (or nothing),
    and its kind. A line of labels.tsv has a paper's id and one of its labels. A line of targets.tsv has a paper's id and the number to
    predict.

    corpus.jsonl has the papers in BEIR's layout; some have their text changed so that it does not contain the query. queries.jsonl, for
    pairs, has the text queries. training.json says how the set was made. The set has no papers without a title or an abstract; sets of
    labels and targets have no papers without one. The same corpus, recipe, settings and seed give the same files.

    Args:
        form: "triplets", "pairs", "labels" or "targets".
        corpus: files, directories, globs, papers in memory, or an open `Corpus`; for pairs by "queries" a BEIR folder; for pairs by
            "scimult-search" a file in the format of SciRepEval's searches.
        to: a new folder.
        recipe: one of the form's in `RECIPES`.
        settings: the citations and fields; the most papers or queries, drawn at random; the fewest citations of a query of triplets; and
            the seed. `cocited` and `indexes` have no effect here.
        column: the column with keywords, labels or the number; by default recognised by name.
        shares: how queries of triplets are spread over fields, see `field_shares.parsed_shares`; by default as in the corpus.
        without: benchmarks to be tested later: "beir:DIR", "cite:DIR". Their queries, papers or texts, are left out, by id, title or words,
            and no other paper is reached through them.
        mining: replaces hard negatives of triplets, and adds negatives to pairs without one; examples for which it finds none stay as they
            are.
        columns: the roles of the corpus's columns; by default recognised by name.
        progress: a listener for progress and for the columns that were recognised; by default a bar on a terminal or in a notebook, False
            for none.

    Raises:
        NotFound, InvalidRequest: the corpus, a file of citations, a benchmark, an index or a setting is invalid; `to` exists; or the recipe
            gives nothing.
        UnknownName: there is no such form, recipe, column or field.
        IndexBusy: another process is making the same folder.
    """
    check_choice("form", form, tuple(RECIPES))
    if recipe not in RECIPES[form]:
        raise UnknownName("recipe", recipe, RECIPES[form])
    if shares and form != "triplets":
        raise InvalidRequest("`shares` is for triplets, whose queries have fields")
    if column and form == "triplets":
        raise InvalidRequest("`column` is for pairs, labels and targets; the fields of triplets are named with `field`")
    if mining and form in ("labels", "targets"):
        raise InvalidRequest(f"{form} have no negatives, so none are mined")
    with shown(progress) as progress, new_folder(Path(to)) as folder:
        request = SetRequest(recipe, corpus, settings, column, shares, without, HeldOut.of(without), mining, columns, folder, progress)
        chosen = RECIPES[form][recipe]
        drawn = chosen.draw(request)
        write_table(folder, form, drawn.rows)
        if drawn.queries is not None:
            write_queries(folder, drawn.queries)
        write_papers(folder, drawn.docs, drawn.texts, drawn.labels)
        facts = {"recipe": recipe, "source": chosen.source, "seed": settings.seed, **drawn.made}
        write_facts(folder, form, {**facts, "without": list(without), "left_out": drawn.left_out})
