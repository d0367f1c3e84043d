"""Learning: what is trained, by which losses and rates, step by step. Only `train` imports this, since it needs torch."""

from ...base.extras import need

need("torch", "training")
