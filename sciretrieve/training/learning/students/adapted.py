"""Trains adapters of the `adapters` library, on an encoder with frozen weights (Singh et al. 2023, §5; Pfeiffer et al. 2021).

Each format has an adapter; or each has layers that join adapters trained before (AdapterFusion).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ....base.errors import InvalidRequest
from ....encoders.layouts.bottleneck import add_adapter, open_base
from ....encoders.layouts.loading import LoadedModel, silence
from ....encoders.specs import EncoderSpec, Layout
from ....encoders.weights import obtain
from ....files.writing import read_json, write_json
from ...presets import Plan
from .student import FORMATS, Student, read_through


class OfAdapters(Student):
    """A student with one adapter per format, see `names`."""

    is_apart = True
    names: Mapping[str, str]
    layout: Layout = "adapters"

    def as_trained(self) -> EncoderSpec:
        return read_through(self.base_spec, self.names, "packed" if self.base_spec.layout == "packed" else self.layout)

    def forget_place(self, config: Path) -> None:
        """Replace the base model's path on this machine in the library's config by its name."""
        write_json(config, {**read_json(config), "model_name": Path(self.base_spec.name).name})


class Adapted(OfAdapters):
    """Trains `seq_bn` adapters, which the library can also read from the folder."""

    kept = (14, 3)  # frozen weights keep no inputs; granite's six layers, fp32: 194 kB a token of 128, 464 kB of 512
    _active: str | None = None

    def prepare(self, plan: Plan) -> None:
        import adapters

        self.names = dict(zip(self.formats, self.formats, strict=True))
        adapters.init(self.model)
        for name in self.formats:
            self.model.add_adapter(name, config=adapters.SeqBnConfig(reduction_factor=plan.reduction))
        for name, parameter in self.model.named_parameters():
            parameter.requires_grad_(any(f"adapters.{format}." in name for format in self.formats))

    def encode(self, format: str, ids: Any, mask: Any, *, former: bool = False) -> Any:
        active = None if former else format
        if active != self._active:
            with silence():  # the library warns of inactive adapters while it activates one
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
            self.forget_place(target / "adapter_config.json")


class Fused(OfAdapters):
    """Trains the layers that join frozen adapters, one set per format; the format's own adapter comes first."""

    layout = "fusion"

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
            raise InvalidRequest(f"there is only one adapter to join, for {self.formats[0]}; give sets of several formats")
        self.names = names
        for name in names.values():
            self.folders[name] = obtain(self.base_spec.parts[name], plan.base)
            add_adapter(self.model, self.folders[name], name)
        self.fusions = {name: Fuse(name, *(other for other in names.values() if other != name)) for name in names.values()}
        for fusion in self.fusions.values():
            self.model.add_adapter_fusion(fusion)
        for name, parameter in self.model.named_parameters():
            parameter.requires_grad_("adapter_fusion_layer." in name)

    def encode(self, format: str, ids: Any, mask: Any, *, former: bool = False) -> Any:
        self.model.set_active_adapters(None if former else self.fusions[self.names[format]])
        return self.module(ids, mask)

    def write_model(self, folder: Path) -> None:
        """See `Student`: each fusion has a folder; the adapters stay in theirs."""
        for name, fusion in self.fusions.items():
            target = folder / f"{name}_fusion"
            target.mkdir()
            self.model.save_adapter_fusion(str(target), fusion)
            self.forget_place(target / "adapter_fusion_config.json")
