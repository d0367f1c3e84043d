"""AdapterFusion: for each format, layers that join adapters which were trained before (Singh et al. 2023, §5; Pfeiffer et al. 2021)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from ....encoders.layouts.bottleneck import add_adapter, open_base
from ....encoders.layouts.loading import LoadedModel, silence
from ....encoders.specs import EncoderSpec
from ....encoders.weights import obtain
from ....errors import InvalidRequest
from ....files.writing import read_json, write_json
from ...presets import Plan
from .student import FORMATS, PREDICTED, Student, chosen_formats, read_by


class Fused(Student):
    """The model and the adapters stay, and the layers that join them are trained, each by its own format, whose adapter comes first."""

    is_apart = True

    def _load(self) -> LoadedModel:
        if self.base_spec.layout != "adapters":
            raise InvalidRequest(
                f"{self.base_spec.name} has no adapters to join: begin with specter2, scirepeval-adapters, or a folder that "
                "`method='adapter'` made"
            )
        with silence():
            return open_base(self.folders["base"])[1]

    def prepare(self, plan: Plan) -> None:
        """See `Student`. Raises InvalidRequest if a format has no adapter."""
        from adapters.composition import Fuse

        known = self.base_spec.tasks
        names = {format: next((name for name in (format, FORMATS[format]) if name in known), "") for format in self.formats}
        if missing := [format for format, name in names.items() if not name]:
            raise InvalidRequest(f"{plan.base} has no adapter for {missing[0]}; it has {', '.join(known)}")
        if len(names) < 2:
            raise InvalidRequest(f"there is one adapter to join, that for {self.formats[0]}; give sets of several formats")
        self.names = names
        for name in names.values():
            self.folders[name] = obtain(self.base_spec.parts[name], plan.base)
            add_adapter(self.model, self.folders[name], name)
        self.fusions = {name: Fuse(name, *(other for other in names.values() if other != name)) for name in names.values()}
        for fusion in self.fusions.values():
            self.model.add_adapter_fusion(fusion)
        for name, parameter in self.model.named_parameters():
            parameter.requires_grad_("adapter_fusion_layer." in name)

    def as_trained(self) -> EncoderSpec:
        """See `Student`."""
        of_papers, of_queries = (self.names[format] for format in chosen_formats(self.formats))
        return replace(
            self.base_spec,
            layout="fusion",
            sides=read_by(self.base_spec.sides, of_papers, of_queries),
            tasks=tuple(self.names.values()),
            kinds={kind: self.names[kind] for kind in PREDICTED if kind in self.names},
            late=False,
        )

    def encode(self, format: str, ids: Any, mask: Any, *, former: bool = False) -> Any:
        """See `Student`."""
        self.model.set_active_adapters(None if former else self.fusions[self.names[format]])
        return self.module(ids, mask)

    def write_model(self, folder: Path) -> None:
        """See `Student`: each fusion has a folder; the adapters stay where they are."""
        for name, fusion in self.fusions.items():
            target = folder / f"{name}_fusion"
            target.mkdir()
            self.model.save_adapter_fusion(str(target), fusion)
            # the library writes where the base model was on this machine; its name is enough
            config = target / "adapter_fusion_config.json"
            write_json(config, {**read_json(config), "model_name": Path(self.base_spec.name).name})
