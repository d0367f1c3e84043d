"""The OpenVINO library, without its converter of models until it is called: a search needs none, and it is slow to import."""

from __future__ import annotations

import os
import sys
from functools import cache
from typing import Any

CONVERTER = "openvino.tools.ovc"


@cache
def load_openvino() -> Any:
    """OpenVINO."""
    # its telemetry package would use the network at import
    os.environ.setdefault("OPENVINO_TELEMETRY_OPT_OUT", "1")
    if "openvino" in sys.modules:
        import openvino

        return openvino
    sys.modules[CONVERTER] = None  # type: ignore[assignment] # what is None cannot be imported, and openvino does without this one
    try:
        import openvino
    finally:
        sys.modules.pop(CONVERTER, None)
    openvino.convert_model = _convert_model
    return openvino


def _convert_model(*arguments: Any, **settings: Any) -> Any:
    """What `openvino.convert_model` is."""
    from openvino.tools.ovc import convert_model

    return convert_model(*arguments, **settings)
