"""Training: sets to train on by the recipes of the papers, and what of a benchmark stands in one."""

from .leakage import Leak, leakage
from .recipes import RECIPES, Recipe
from .training_set import TrainingSet, read_training_set
from .triplets import build_triplets

__all__ = ["RECIPES", "Leak", "Recipe", "TrainingSet", "build_triplets", "leakage", "read_training_set"]
