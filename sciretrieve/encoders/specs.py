"""Encoders as data: the source of the weights, the text of each side, the pooling of token states.

An encoder has three sides, since a model may read each differently: a paper of the corpus, a text query, and a paper as a query.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from ..base.choices import SIDES, Metric, PoolingName, SideName, check_types
from .languages import ENGLISH

Pooling = Literal["mean", "cls", "second"]
"""The pooling of token states: their mean over the attention mask, the first ([CLS]), or the one after it (a control code's)."""

Layout = Literal[
    "transformers", "adapters", "fusion", "pals", "scimult", "instructed", "multi2spe", "packed", "mixed", "oagbert", "sentences", "cross"
]
"""The layout of the files, which decides the module of `layouts` that reads them."""

Join = Literal["mean", "concat"]
"""The way to join members' vectors: their mean, or their concatenation, each scaled to unit length."""

Pairing = Literal["closest", "transport"]
"""The way to compare the sentences of two papers: `matching.sentence_pairs` has a function for each."""

FIELD_SEPARATOR = "\x1e"
"""Marks the boundary between two fields of a text; the encoder reads its tokenizer's separator there. It is Unicode's own record separator,
which no word contains.
"""

Kind = Literal["search", "proximity", "labels", "classification", "regression"]
"""The kind of a benchmark's task: papers for a query, papers related to a paper, or labels ranked by their vectors like papers; or a class
or number predicted from a paper's vector.
"""


@dataclass(frozen=True, slots=True)
class Side:
    """The text template and the task of one side.

    `text` has the fields `{title}`, `{abstract}`, `{text}` and `{sep}` (the tokenizer's separator). `alone`, if it is not "", replaces it
    for a paper without title or abstract. `task` names the adapter, expert or instruction, "" for the model alone.
    """

    text: str
    task: str = ""
    alone: str = ""

    def template(self, title: str, abstract: str) -> str:
        """The template for a paper with this title and abstract."""
        return self.text if (title and abstract) or not self.alone else self.alone

    def filled(self, title: str, abstract: str, separator: str) -> str:
        """The text of a paper, or of a query as a title, with the tokenizer's separator between fields."""
        text = self.template(title, abstract).format(sep=separator, title=title, abstract=abstract, text=title)
        return text.replace(FIELD_SEPARATOR, separator).strip()

    def with_code(self, code: str) -> Side:
        """The same with another control code, up to the first space, before the text."""
        return replace(self, text=f"{code} {self.text.partition(' ')[2]}")

    def bare(self) -> Side:
        """The same, but a lone title or abstract is read without the separator."""
        return replace(self, alone=self.text.replace("{sep}", "").replace("{title} {abstract}", "{title}{abstract}"))


@dataclass(frozen=True, slots=True)
class Sides:
    """The three sides."""

    paper: Side
    query: Side
    paper_as_query: Side

    def bare(self) -> Sides:
        """The same with `Side.bare` for papers."""
        return replace(self, paper=self.paper.bare(), paper_as_query=self.paper_as_query.bare())

    def side(self, name: SideName) -> Side:
        """One of the three sides."""
        side: Side = getattr(self, name)
        return side

    @property
    def tasks(self) -> tuple[str, ...]:
        """The distinct tasks of the three sides."""
        return tuple(dict.fromkeys(self.side(name).task for name in SIDES))


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """Some of a model's files and where they come from.

    Attributes:
        source: `package:NAME` (its `model/` folder), `package:NAME/FOLDER`, a directory, or a Hugging Face repository.
        files: the needed files; `a|b` is the first of several that exists, a trailing `?` marks an optional file.
        revision: the repository's commit, branch or tag.
        sha256: file -> digest, for files with known contents.
        note: how to get the files if no repository has them; such a part is never downloaded. For a package: an alternative.
    """

    source: str
    files: tuple[str, ...]
    revision: str = "main"
    sha256: Mapping[str, str] = field(default_factory=dict)
    note: str = ""


@dataclass(frozen=True, slots=True)
class EncoderSpec:
    """One encoder.

    Attributes:
        name: its name for `--encoder`.
        about: one line for the catalogue.
        layout: how its files are laid out.
        parts: its files by the role that the layout gives them; `base` is always there.
        sides: the text templates and tasks.
        pooling: how token states become one vector.
        normalise: whether vectors are scaled to unit length.
        metric: the similarity that the model was trained for.
        max_length: the most tokens that are read, special ones included; fewer if the model has fewer positions.
        citation: the paper, or the model's home.
        tasks: the tasks that the model knows, in the order of its files.
        members: for an ensemble, the encoders whose vectors are joined; files and texts are then the first one's.
        join: the way to join them.
        kinds: the task for each kind of benchmark that needs another than the sides'; empty if none does.
        codes: control codes; each text begins with one, chosen like an adapter.
        late: whether late interaction is on by default, since it was measured to be a gain, see docs/quality.md.
        pairing: how two papers' sentences are compared, for a sentence model; "" for others.
        licence: the licence of the weights, if a required package contains them.
        languages: the languages that the model reads, by their English names; empty if unknown, or if it reads most. All models with
            languages here read English.
    """

    name: str
    about: str
    layout: Layout
    parts: Mapping[str, ModelFiles]
    sides: Sides
    pooling: Pooling
    normalise: bool
    metric: Metric
    max_length: int
    citation: str
    tasks: tuple[str, ...] = ()
    members: tuple[EncoderSpec, ...] = ()
    join: Join = "mean"
    kinds: Mapping[Kind, str] = field(default_factory=dict)
    codes: tuple[str, ...] = ()
    late: bool = False
    pairing: Pairing | Literal[""] = ""
    licence: str = ""
    languages: tuple[str, ...] = (ENGLISH,)

    def roles(self, task: str) -> tuple[str, ...]:
        """The parts that a task needs: only its own adapter of a set of adapters, every part in other layouts."""
        if self.layout in ("adapters", "packed"):
            return ("base", task) if task else ("base",)
        return tuple(self.parts)


@dataclass(frozen=True, slots=True)
class EncoderRequest:
    """A user's request for an encoder, by which it can be found again: see `load_encoder`.

    Attributes:
        encoder: the name, folder, hub id or ensemble.
        adapter, query_adapter: the adapters for papers and for text queries.
        bare_titles: whether a paper without an abstract is its title alone.
        pooling: the pooling of token states.
        template, query_template: the texts of papers and of text queries.

    None keeps the encoder's own value.
    """

    encoder: str
    adapter: str | None = None
    query_adapter: str | None = None
    bare_titles: bool = False
    pooling: PoolingName | None = None
    template: str | None = None
    query_template: str | None = None

    def __post_init__(self) -> None:
        check_types(self)

    def __str__(self) -> str:
        pooling = self.pooling and f"{self.pooling} pooling"
        templates = [template and repr(template) for template in (self.template, self.query_template)]
        adapters = dict.fromkeys((self.adapter, self.query_adapter))  # an adapter for both sides is named once
        return " with ".join(part for part in (self.encoder, *adapters, pooling, *templates) if part)


def joint_metric(join: Join, metrics: Sequence[Metric]) -> Metric:
    """The similarity for joined vectors.

    For a mean it is the members' own, or cosine if they differ. For a concatenation it is cosine, which is the mean of the members'
    cosines.
    """
    return metrics[0] if join == "mean" and len(set(metrics)) == 1 else "cosine"


def sides_from(value: Mapping[str, Any]) -> Sides:
    """Sides from plain JSON values, as `asdict` makes them. Raises KeyError, TypeError or ValueError."""
    if set(value) != set(SIDES):
        raise ValueError("sides")
    sides: Mapping[str, Any] = {name: value[name] for name in SIDES}
    return Sides(**{name: Side(str(side["text"]), str(side["task"]), str(side.get("alone", ""))) for name, side in sides.items()})
