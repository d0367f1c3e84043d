"""How far a training is, in one file that is whole or absent: the weights that change, the optimiser's, and what was measured so far."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...errors import CorruptData
from ...files.writing import write_whole

FACTS = "facts"


def save(path: Path, tensors: Mapping[str, Any], facts: Mapping[str, Any]) -> None:
    """Write tensors by name, and facts as plain JSON values, wholly or not at all. A full disk raises OSError and leaves the old file."""
    from safetensors.torch import save as as_bytes

    whole = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    write_whole(path, as_bytes(whole, metadata={FACTS: json.dumps(facts)}))


def read(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The tensors and facts of a file that `save` wrote. Raises CorruptData if it is damaged."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="pt") as file:
            facts: dict[str, Any] = json.loads((file.metadata() or {})[FACTS])
            return {name: file.get_tensor(name) for name in file.keys()}, facts  # noqa: SIM118
    except (SafetensorError, OSError, ValueError, KeyError) as error:
        raise CorruptData(f"{path} is no checkpoint ({error}); remove the folder, or begin anew with `overwrite`") from error
