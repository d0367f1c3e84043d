"""The training itself: models, losses, rates and steps. Only `train` imports this package, which needs torch."""

from ...base.extras import need

need("torch", "training")
