"""Training: sets to train on by the recipes of the papers, what of a benchmark stands in one, and encoders that learn from them."""

from .configs import Config, read_config
from .leakage import Leak, leakage
from .presets import PRESETS, Plan
from .recipes import RECIPES, Recipe
from .results import Trained, gain
from .train import train
from .training_set import TrainingSet, read_training_set
from .triplets import build_triplets

__all__ = [
    "PRESETS",
    "RECIPES",
    "Config",
    "Leak",
    "Plan",
    "Recipe",
    "Trained",
    "TrainingSet",
    "build_triplets",
    "gain",
    "leakage",
    "read_config",
    "read_training_set",
    "train",
]
