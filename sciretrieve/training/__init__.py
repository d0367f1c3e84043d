"""Training: sets to train on by the recipes of the papers, and what of a benchmark stands in one."""

from .label_pairs import RECIPES as PAIR_RECIPES
from .labelled import LABEL_RECIPES, TARGET_RECIPES, build_labels, build_targets
from .leakage import Leak, leakage
from .mining import Mining
from .pairs import build_pairs
from .recipes import RECIPES, Recipe
from .training_set import TrainingSet, read_training_set
from .triplets import build_triplets

__all__ = [
    "LABEL_RECIPES",
    "PAIR_RECIPES",
    "RECIPES",
    "TARGET_RECIPES",
    "Leak",
    "Mining",
    "Recipe",
    "TrainingSet",
    "build_labels",
    "build_pairs",
    "build_targets",
    "build_triplets",
    "leakage",
    "read_training_set",
]
