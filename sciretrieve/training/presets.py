"""The trainings of the papers, as data: each preset has every setting of a training, and its source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace

from ..base.choices import DEFAULT_ENCODER, Loss, Method, Schedule, check_choice
from ..base.errors import InvalidRequest
from ..options import TrainingOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """All settings of a training except its data: the fields of `TrainingOptions`, without unknown values, and some more.

    Attributes:
        betas, epsilon: AdamW's.
        unit: whether the loss compares vectors of unit length; None: as the encoder's metric does.
        both: whether the contrastive loss also ranks the batch's queries for a paper.
        ranks_labels: whether labels are candidates, read by their names, instead of classes.
        nonlinear: whether facets are tanh of the last layer's output.
        pooler: whether the last linear layers begin as the BERT's pooler.
        bars: whether other right papers of a query, and the query itself, are no wrong papers for it.
        one_task: whether a step has examples of one task, by turns at random, and not of all.
        bare: whether a paper with a title alone is read without the separator in training.
        standardise: whether numbers to predict are standardised.
        start: the rate at which the warm-up starts, as a share of the peak.
        counts_from: the number of the first step in the warm-up; with 0, as transformers counts, the first step has the rate `start`.
        horizon: the step at which a linear schedule is at zero; None: the last one.
        layer_decay: the rate of a layer as a share of the rate of the layer above it.
        clip: the greatest norm of a step's gradient; None: any.
        early_epsilon: whether epsilon is added before the bias correction, as in transformers' AdamW until 2022.
    """

    base: str
    method: Method
    loss: Loss
    source: str
    teacher: str | None = None
    augment: float = 0.0
    reduction: int = 16
    margin: float = 1.0
    temperature: float = 1.0
    keep: float = 0.0
    facets: int = 3
    facet_share: float = 0.1
    facet_layers: bool = True
    facet_means: bool = True
    unit: bool | None = None
    both: bool = False
    ranks_labels: bool = False
    nonlinear: bool = False
    pooler: bool = False
    bars: bool = True
    one_task: bool = False
    bare: bool = False
    standardise: bool = True
    rate: float
    schedule: Schedule
    warmup: float
    start: float = 0.0
    counts_from: int = 1
    horizon: int | None = None
    layer_decay: float = 1.0
    clip: float | None = None
    early_epsilon: bool = False
    decay: float = 0.0
    betas: tuple[float, float] = (0.9, 0.999)
    epsilon: float = 1e-8
    batch: int
    epochs: int
    steps: int | None = None
    length: int | None = None
    held_out: str | None = None
    every: int | None = None
    patience: int = 3
    seed: int = 42


TAUGHT: tuple[Loss, ...] = ("distil", "rank")
"""Losses that need a teacher."""
FACET_LOSSES: tuple[Loss, ...] = ("facets", "facets-apart")
DROPOUT = 0.2
"""The dropout before a head for classes or a number (the authors' code of SciRepEval)."""
HEAD_DEVIATION = 0.02
"""The standard deviation of such a head's weights at first (the same)."""
PAL_WIDTH = 204
"""The width of projected attention layers (`hidden_size_aug` in SciRepEval's configuration, pals.config.json)."""
SINGH = "Singh et al. 2023, SciRepEval, section 4.2 and appendix B"
PFEIFFER = f"{SINGH}; rates of Pfeiffer et al. 2021, AdapterFusion, as appendix B says: those of AdapterHub's own commands"
SINGHS_CODE = "the authors' code of Singh et al. 2023, SciRepEval, training/pl_training.py"
SCIREPEVAL = Plan(
    base="scincl",
    method="codes",
    loss="triplet",
    source=SINGH,
    bare=True,
    standardise=False,
    rate=5e-5,
    schedule="inverse-root",
    warmup=700,
    batch=256,
    epochs=2,
)
OF_PARTS = replace(SCIREPEVAL, source=PFEIFFER, rate=1e-4, schedule="linear", warmup=0.0)
"""For adapters, fusion and PALs, of which the paper says no warm-up."""
OF_PARTS_IN_CODE = replace(OF_PARTS, source=SINGHS_CODE, warmup=700, counts_from=0, horizon=77_500, early_epsilon=True)
"""The code's schedule ends where six epochs of the authors' data do, whatever the epochs."""
SCIMULT = Plan(
    base="pubmedbert",
    method="whole",
    loss="contrastive",
    source="Zhang et al. 2023, SciMult, appendix C: 32 examples on each of 48 GPUs; clipping by their code's biencoder_default.yaml",
    unit=False,
    ranks_labels=True,
    bars=False,
    one_task=True,
    rate=3e-4,
    schedule="linear",
    warmup=0.05,
    counts_from=0,
    clip=1.0,
    decay=0.01,
    batch=1536,
    epochs=20,
)
SCIMULT_IN_CODE = replace(
    SCIMULT,
    source="Zhang et al. 2023, SciMult, appendix C; clipping and rates by layer of their code's biencoder_taser.yaml",
    layer_decay=0.8,
    clip=2.0,
    early_epsilon=True,
)
MULTI2SPE = Plan(
    base="scibert",
    method="facets",
    loss="facets",
    source="Seoh et al. 2023, Multi2SPE, sections 2.2 and 2.3 and appendix D: 2 triplets a step, accumulated over 16",
    unit=False,
    rate=2e-5,
    schedule="linear",
    warmup=0.1,
    counts_from=0,
    batch=32,
    epochs=2,
)
PRESETS: Mapping[str, Plan] = {
    "own": Plan(
        base=DEFAULT_ENCODER,
        method="adapter",
        loss="contrastive",
        source="ours, see docs/training.md",
        temperature=0.05,
        both=True,
        rate=1e-3,
        schedule="linear",
        warmup=0.05,
        batch=32,
        epochs=1,
        length=128,
    ),
    "specter2": replace(
        SCIREPEVAL,
        base="scibert",
        method="whole",
        source="SPECTER2's model card: batch 1,024, rate 2e-5, 2 epochs, a warm-up of 10 %; the rest as SciRepEval's",
        rate=2e-5,
        warmup=0.1,
        batch=1024,
        epochs=2,
    ),
    "specter2-adapters": replace(
        OF_PARTS_IN_CODE,
        base="specter2-base",
        source="SPECTER2's model card: batch 256, rate 1e-4, 6 epochs, a warm-up of 1,000 steps; the rest as in the code of SciRepEval",
        method="adapter",
        warmup=1000,
        epochs=6,
    ),
    "scirepeval-codes": SCIREPEVAL,
    "scirepeval-codes-code": replace(SCIREPEVAL, source=SINGHS_CODE, start=2.0, early_epsilon=True),
    "scirepeval-adapters": replace(OF_PARTS, method="adapter", epochs=6),
    "scirepeval-adapters-code": replace(OF_PARTS_IN_CODE, method="adapter", epochs=6),
    "scirepeval-fusion": replace(OF_PARTS, base="scirepeval-adapters", method="fusion", rate=5e-5, epochs=4),
    "scirepeval-fusion-code": replace(OF_PARTS_IN_CODE, base="scirepeval-adapters", method="fusion", epochs=4),
    "scirepeval-pals": replace(OF_PARTS, method="pals"),
    "scirepeval-pals-code": replace(OF_PARTS_IN_CODE, method="pals"),
    "scimult": SCIMULT,
    "scimult-code": SCIMULT_IN_CODE,
    "scimult-mhaexpert": replace(SCIMULT, base="scimult", method="mha-experts"),
    "scimult-mhaexpert-code": replace(SCIMULT_IN_CODE, base="scimult", method="mha-experts"),
    "scimult-ffnexpert": replace(SCIMULT, base="scimult", method="ffn-experts"),
    "scimult-ffnexpert-code": replace(SCIMULT_IN_CODE, base="scimult", method="ffn-experts"),
    "scimult-prefix": replace(SCIMULT, base="scimult", method="prefix"),
    "scimult-instruction": replace(SCIMULT, base="scimult", method="instruction"),
    "dpr": replace(
        SCIMULT,
        base="scimult-mhaexpert",
        source="Zhang et al. 2023, SciMult, section 4.5; the figures are DPR's (Karpukhin et al. 2020, section 5), theirs unpublished",
        rate=1e-5,
        warmup=100,
        decay=0.0,
        batch=128,
        epochs=40,
    ),
    "multi2spe": MULTI2SPE,
    "multi2spe-code": replace(
        MULTI2SPE,
        loss="facets-apart",
        nonlinear=True,
        early_epsilon=True,
        source="the command in the README of the code of Seoh et al. 2023, Multi2SPE",
    ),
    "specter": replace(
        MULTI2SPE,
        loss="triplet",
        source="Seoh et al. 2023, Multi2SPE, appendix D, and `specter` in their code: Cohan et al. 2020 trained anew, with BERT's pooler",
        facets=1,
        facet_layers=False,
        unit=None,
        nonlinear=True,
        pooler=True,
    ),
}


def plan_of(options: TrainingOptions) -> Plan:
    """The plan for some options: the preset `like`, changed by the given options. Raises UnknownName, InvalidRequest."""
    check_choice("preset", options.like, tuple(PRESETS))
    known = {field.name for field in fields(Plan)}
    changes = {name: value for name, value in asdict(options).items() if name in known and value is not None}
    plan = replace(PRESETS[options.like], **changes)
    if (plan.teacher is not None) != (plan.loss in TAUGHT):
        raise InvalidRequest(
            f"`loss={plan.loss!r}` learns from {'an encoder: name it with `teacher`' if plan.teacher is None else 'no `teacher`'}; "
            "a teacher goes with `loss='distil'`, its vectors, or `loss='rank'`, its rankings"
        )
    losses: tuple[Loss, ...] = (*FACET_LOSSES, "triplet") if plan.facets == 1 else FACET_LOSSES
    if (plan.method == "facets" and plan.loss not in losses) or (plan.method != "facets" and plan.loss in FACET_LOSSES):
        raise InvalidRequest("facets have losses of their own: train with `like='multi2spe'`, or give neither the method nor the loss")
    return plan
