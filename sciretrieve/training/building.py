"""Making a training set of a corpus, by the recipes of the papers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

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
"""By form, how a set is drawn."""


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
    """Make a training set in the folder `to`, which appears when all is written.

    It has a table that is named after its form. triplets.tsv has the ids of a query, of a paper that it cites and of one that it does not,
    and the kind of the latter; pairs.tsv those of a query, of a paper that answers it and of one that does not (or nothing), and its kind;
    labels.tsv those of a paper and a label of it, a line for each; targets.tsv those of a paper and the number to predict. corpus.jsonl has
    the papers, also those whose text is changed so that a query does not stand in it, in BEIR's layout; queries.jsonl, of pairs, the texts
    of queries that are no papers; training.json says how the set was made. Papers without a title or an abstract, and of labels and targets
    those without one, are not in it. The same corpus, recipe, settings and seed give the same files.

    Args:
        form: "triplets", "pairs", "labels" or "targets".
        corpus: files, directories, globs, papers in memory, or an open `Corpus`; for pairs by "queries" a BEIR folder, by "scimult-search"
            a file in the format of SciRepEval's searches.
        to: a new folder.
        recipe: one of the form's in `RECIPES`.
        settings: which citations and fields; how many papers or queries it is made of at most, drawn by chance, and how many others a
            query of triplets cites at least; and the seed. Its `cocited` and `indexes` choose nothing here.
        column: the column with keywords, labels or the number; by default recognised by name.
        shares: how queries of triplets are spread over fields, see `field_shares.parsed_shares`; by default as they are.
        without: benchmarks that will be tested: "beir:DIR", "cite:DIR". None of their queries, papers or texts, is in the set, by its id,
            title or words, and nothing is reached through them.
        mining: what finds negatives in place of the hard ones of triplets, and for pairs that have none; where it finds none, all stays.
        columns: which columns of the corpus are which; by default recognised by name.
        progress: what is told how far it is, and what was read as what; by default a bar where a person looks, False for none.

    Raises:
        NotFound, InvalidRequest: the corpus, a file of citations, a benchmark, an index or a setting is invalid; or `to` is there already;
            or nothing can be made.
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
