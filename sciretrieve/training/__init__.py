"""Training: sets of triplets by the recipes of the papers, and what of a benchmark stands in a training set."""

from .leakage import Leak, leakage
from .recipes import RECIPES, Recipe
from .triplets import build_triplets

__all__ = ["RECIPES", "Leak", "Recipe", "build_triplets", "leakage"]
