"""Bottleneck adapters, one for each format, on an encoder whose own weights stay (Singh et al. 2023, §5; Pfeiffer et al. 2021)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from ....encoders.layouts.loading import silence
from ....encoders.specs import EncoderSpec
from ....files.writing import read_json, write_json
from ...presets import Plan
from .student import PREDICTED, Student, chosen_formats, read_by


class Adapted(Student):
    """Its adapters are `seq_bn` of the `adapters` library, which also reads them from the folder."""

    is_apart = True
    kept = (14, 3)  # frozen weights keep no inputs: granite's six layers, measured in fp32, 194 kB a token of 128, 464 kB of 512
    _active: str | None = None

    def prepare(self, plan: Plan) -> None:
        """See `Student`."""
        import adapters

        adapters.init(self.model)
        for name in self.formats:
            self.model.add_adapter(name, config=adapters.SeqBnConfig(reduction_factor=plan.reduction))
        for name, parameter in self.model.named_parameters():
            parameter.requires_grad_(any(f"adapters.{format}." in name for format in self.formats))

    def as_trained(self) -> EncoderSpec:
        """See `Student`."""
        of_papers, of_queries = chosen_formats(self.formats)
        spec = self.base_spec
        return replace(
            spec,
            layout="packed" if spec.layout == "packed" else "adapters",
            sides=read_by(spec.sides, of_papers, of_queries),
            tasks=self.formats,
            kinds={kind: kind for kind in PREDICTED if kind in self.formats},
            late=False,
        )

    def encode(self, format: str, ids: Any, mask: Any, *, former: bool = False) -> Any:
        """See `Student`."""
        active = None if former else format
        if active != self._active:
            with silence():  # the library warns of adapters that are not active while it makes one active
                self.model.set_active_adapters(active)
            self._active = active
        if former:
            with silence():
                return self.module(ids, mask)
        return self.module(ids, mask)

    def write_model(self, folder: Path) -> None:
        """See `Student`: several adapters have a folder each."""
        for name in self.formats:
            target = folder if len(self.formats) == 1 else folder / name
            target.mkdir(exist_ok=True)
            self.model.save_adapter(str(target), name, use_safetensors=True)
            # the library writes where the base model was on this machine; its name is enough
            config = target / "adapter_config.json"
            write_json(config, {**read_json(config), "model_name": Path(self.base_spec.name).name})
