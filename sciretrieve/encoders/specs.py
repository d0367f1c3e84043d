"""What an encoder is, as data: where its weights come from, how each side becomes text, how token states become vectors.

An encoder has three sides, since a model may read each differently: a paper of the corpus, a text query, and a paper
in place of a query.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from ..base.choices import SIDES, Metric, PoolingName, SideName, check_types
from .languages import ENGLISH

Pooling = Literal["mean", "cls", "second"]
"""Token states to one vector: their mean over the attention mask, the first ([CLS]), or the one after it (a control code's)."""

Layout = Literal[
    "transformers", "adapters", "fusion", "pals", "scimult", "instructed", "multi2spe", "packed", "mixed", "oagbert", "sentences", "cross"
]
"""How the files are laid out, which decides the module of `layouts` that reads them."""

Join = Literal["mean", "concat"]
"""How an ensemble makes one vector of its members': their mean, or all of them, one after the other, each scaled to unit length."""

Pairing = Literal["closest", "transport"]
"""How the sentences of two papers make one score: `matching.sentence_pairs` has a function for each."""

FIELD_SEPARATOR = "\x1e"
"""Stands in a text where one of its fields ends and the next begins; the encoder reads its tokenizer's separator there. It is Unicode's
own record separator, which no words have in them."""

Kind = Literal["search", "proximity", "labels", "classification", "regression"]
"""What a benchmark asks for: papers for a query, papers related to a paper, labels that are ranked by their vectors as papers are; or a
class or a number, predicted from a paper's vector."""


@dataclass(frozen=True, slots=True)
class Side:
    """How one side is read: `{title}`, `{abstract}`, `{text}` and `{sep}` (the tokenizer's separator) are filled into
    `text`, or where title or abstract is missing into `alone`, if that is not ""; `task` names the adapter, expert or instruction
    that reads it, "" the model alone."""

    text: str
    task: str = ""
    alone: str = ""

    def template(self, title: str, abstract: str) -> str:
        """The template for a paper with this title and abstract."""
        return self.text if (title and abstract) or not self.alone else self.alone

    def filled(self, title: str, abstract: str, separator: str) -> str:
        """The text by which it reads a paper, or as its title a query, with the tokenizer's separator between fields."""
        text = self.template(title, abstract).format(sep=separator, title=title, abstract=abstract, text=title)
        return text.replace(FIELD_SEPARATOR, separator).strip()

    def with_code(self, code: str) -> Side:
        """The same with another control code, up to the first space, before the text."""
        return replace(self, text=f"{code} {self.text.partition(' ')[2]}")

    def bare(self) -> Side:
        """The same with a title, or an abstract, alone where the other is missing, without what joins the two."""
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
        """One of the three."""
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
        files: what is needed; `a|b` is the first of several that exists, a trailing `?` marks what may be absent.
        revision: the repository's commit, branch or tag.
        sha256: file -> digest, where we know what the file must be.
        note: how to get the files if no repository has them; such a part is only looked up on this machine. Of a package: what else to do.
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
        name: what `--encoder` calls it.
        about: one line for the catalogue.
        layout: how its files are laid out.
        parts: its files by the role that the layout gives them; `base` is always there.
        sides: the text templates and tasks.
        pooling: how token states become one vector.
        normalise: whether vectors are scaled to unit length.
        metric: the similarity that the model was trained for.
        max_length: tokens read, special ones included; what follows is cut off, and before, where the model has fewer positions.
        citation: the paper, or the model's home.
        tasks: the tasks that the model knows, in the order of its files.
        members: for an ensemble, the encoders whose vectors are joined; what it says of files and texts is then the first one's.
        join: how.
        kinds: the task for each kind of benchmark that its sides do not fit as they are; empty where they fit every kind.
        codes: control codes, one of which each text begins with, chosen as adapters are.
        late: whether late interaction is part of the default, because it was measured to be a gain, see docs/quality.md.
        pairing: how two papers' sentences are compared, of a model that has a vector of each and none of a paper; "" for others.
        licence: that of the weights, where a package that we depend on brings them.
        languages: those that the model reads, by their English names; empty where that is not known, and where it reads most. All that have
            a name here read English.
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
        """The parts that a task needs: of a set of adapters only its own, in other layouts every part."""
        if self.layout in ("adapters", "packed"):
            return ("base", task) if task else ("base",)
        return tuple(self.parts)


@dataclass(frozen=True, slots=True)
class EncoderRequest:
    """A user's request for an encoder, from which it can be found again: see `load_encoder`.

    Attributes:
        encoder: the name, folder, hub id or ensemble.
        adapter, query_adapter: what reads papers, and text queries.
        bare_titles: whether a paper without an abstract is its title alone.
        pooling: how token states become one vector.
        template, query_template: how papers, and text queries, become text.

    None keeps what the encoder has.
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
        adapters = dict.fromkeys((self.adapter, self.query_adapter))  # one that reads both sides is named once
        return " with ".join(part for part in (self.encoder, *adapters, pooling, *templates) if part)


def joint_metric(join: Join, metrics: Sequence[Metric]) -> Metric:
    """The similarity of vectors that join those of several encoders.

    Of a mean it is the one that all members were trained for; cosine if they differ. Parts of unit length, one after the other, have the
    mean of the members' cosines as theirs.
    """
    return metrics[0] if join == "mean" and len(set(metrics)) == 1 else "cosine"


def sides_from(value: Mapping[str, Any]) -> Sides:
    """Sides from plain JSON values, as `asdict` makes them. Raises KeyError, TypeError or ValueError."""
    if set(value) != set(SIDES):
        raise ValueError("sides")
    sides: Mapping[str, Any] = {name: value[name] for name in SIDES}
    return Sides(**{name: Side(str(side["text"]), str(side["task"]), str(side.get("alone", ""))) for name, side in sides.items()})
