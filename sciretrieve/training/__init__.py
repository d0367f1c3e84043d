"""Training: sets to train on by the recipes of the papers, their overlap with benchmarks, and the training of encoders."""

from ..options import CiteSettings, TrainingOptions
from .building import RECIPES, build_set
from .configs import Config, read_configs
from .fitting import next_command, train_for_index
from .forms import TrainingSet
from .held_out import Leak, leakage
from .mining import Mining
from .presets import PRESETS, Plan
from .results import Trained, gain
from .train import train
from .training_set import read_training_set

__all__ = [
    "PRESETS",
    "RECIPES",
    "CiteSettings",
    "Config",
    "Leak",
    "Mining",
    "Plan",
    "Trained",
    "TrainingOptions",
    "TrainingSet",
    "build_set",
    "gain",
    "leakage",
    "next_command",
    "read_configs",
    "read_training_set",
    "train",
    "train_for_index",
]
