"""Training: sets to train on by the recipes of the papers, what of a benchmark stands in one, and encoders that learn from them."""

from .configs import Config, read_configs
from .fitting import next_command, train_for_index
from .labelled import LABEL_RECIPES, TARGET_RECIPES, build_labels, build_targets
from .leakage import Leak, leakage
from .mining import Mining
from .pair_recipes import RECIPES as PAIR_RECIPES
from .pairs import build_pairs
from .presets import PRESETS, Plan
from .recipes import RECIPES, Recipe
from .results import Trained, gain
from .train import train
from .training_set import TrainingSet, read_training_set
from .triplets import build_triplets

__all__ = [
    "LABEL_RECIPES",
    "PAIR_RECIPES",
    "PRESETS",
    "RECIPES",
    "TARGET_RECIPES",
    "Config",
    "Leak",
    "Mining",
    "Plan",
    "Recipe",
    "Trained",
    "TrainingSet",
    "build_labels",
    "build_pairs",
    "build_targets",
    "build_triplets",
    "gain",
    "leakage",
    "next_command",
    "read_configs",
    "read_training_set",
    "train",
    "train_for_index",
]
