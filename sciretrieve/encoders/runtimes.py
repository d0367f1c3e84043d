"""Runs one task of an encoder: runtimes in order of preference, each checked before use, and replaced when it fails.

For many texts, the speed of each runtime on this machine is measured once and stored beside its graph.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from threading import Lock
from typing import Any, Protocol

import numpy as np

from ..base.choices import Precision
from ..base.errors import InvalidRequest, SciretrieveError, Unavailable
from ..base.extras import has, need
from ..base.once import once
from ..base.system import threads
from ..base.types import Vectors
from ..files.writing import read_json, write_json
from ..protocols import Advance, ignore_advance
from .artifact import PROBES, Arithmetic, Artifact, probes
from .openvino_runtime import OpenVinoRuntime, has_bf16
from .tokens import BUDGET, TokenReader, Tokens, ignored
from .torch_runtime import ManyDevices, TorchRuntime, Weights, cuda_devices, cuda_has_bf16

LOG = logging.getLogger(__name__)
LEAST_COSINE = 0.9999
"""The least cosine of a bf16 runtime's vectors to those of plain torch in fp32."""
OF_FILES = "filesystem error"
"""How OpenVINO's errors about files begin, which say nothing of a runtime."""
LARGEST_DIFFERENCE = 1e-4
"""The largest difference of an fp32 runtime's components from those of plain torch in fp32."""
TEXT = PROBES[5]
"""A text about as long as an abstract."""
ROUNDS = 4
LONG_ENOUGH = 6.0
"""Seconds after which no further round begins."""


class Runtime(Protocol):
    """One task of an encoder in one arithmetic on one kind of machine. Nothing loads before `machine` or `run` is used.

    Attributes:
        name: the library and the arithmetic, which determine the vectors, such as "OpenVINO bf16".
        way: the name and the use of the cores, such as "OpenVINO bf16 in 2 streams".
        budget: tokens per batch, padding included.
        precision: the arithmetic.
    """

    name: str
    way: str
    budget: int
    precision: Arithmetic

    @property
    def machine(self) -> str:
        """The processor and the library's version. A check is valid while these stay the same."""

    def run(self, tokens: Tokens, read: TokenReader = ignored, advance: Advance = ignore_advance) -> tuple[Vectors, list[Any]]:
        """Encode: (texts, dim) float32; and the results of `read` for each batch's token vectors, if the artifact is for late interaction.

        Safe to call from several threads. `advance` may be called before all texts are done.
        """


class Runtimes:
    """One task of an encoder on this machine, in the first of its runtimes that works.

    Each runtime is checked once against plain torch in fp32; the result is stored with the graph. In bf16 every probe text must keep a
    cosine of 0.9999, in fp32 every component must stay within 1e-4; for a cross-encoder, the scores of all pairs are treated as one vector,
    minus its mean. If a runtime fails the check, or raises anything during it or while encoding, the next one takes over and encodes the
    same texts again. Lack of memory and sciretrieve's own errors are not failures of a runtime, and are raised.
    """

    def __init__(self, encoder: str, artifact: Artifact, requested: Precision, list_runtimes: Callable[[], Sequence[Runtime]]) -> None:
        """`list_runtimes` gives the runtimes, the preferred first, and may raise InvalidRequest."""
        self.artifact = artifact
        self._encoder, self._requested, self._list_runtimes = encoder, requested, list_runtimes
        self._lock = Lock()
        self._usable: Runtime | None = None
        self._faults: list[str] = []
        self._names_used: dict[str, None] = {}

    @property
    def precision(self) -> Arithmetic:
        """The arithmetic in use. Raises as `run`."""
        return self._current().precision

    @property
    def budget(self) -> int:
        """Tokens per batch of the runtime in use. Raises as `run`."""
        return self._current().budget

    @property
    def ran_in(self) -> tuple[str, ...]:
        """The names of the runtimes that have encoded anything, in order."""
        return tuple(self._names_used)

    def run(self, tokens: Tokens, read: TokenReader = ignored, advance: Advance = ignore_advance) -> tuple[Vectors, list[Any]]:
        """See `Runtime.run`.

        Raises:
            InvalidRequest: bf16 was requested, and changes the vectors or is not supported by the machine.
            Unavailable: no runtime works.
        """
        stops: list[Exception] = []

        def tell(texts: int) -> None:
            try:
                advance(texts)
            except Exception as stop:
                stops.append(stop)
                raise

        while True:
            runtime = self._current()
            try:
                output = runtime.run(tokens, read, tell)
            except (SciretrieveError, MemoryError):
                raise
            except Exception as error:  # OpenVINO and torch raise many classes
                if error in stops:  # not a failure of the runtime
                    raise
                self._abandon(runtime, error)
            else:
                self._names_used[runtime.name] = None
                return output

    @once
    def _remaining(self) -> list[Runtime]:
        """The runtimes that have not failed, the preferred first; failed ones are dropped, with their models."""
        return list(self._list_runtimes())

    def _current(self) -> Runtime:
        """The runtime in use: the first of the remaining ones that passes its check."""
        with self._lock:
            while self._usable is None:
                runtime = self._remaining[0]
                facts, was_known = self._check(runtime)
                fault = self._fault(runtime, facts)
                if fault is None:
                    self._usable = runtime
                else:
                    self._advance(runtime, fault, warn=not was_known)
            return self._usable

    def _abandon(self, runtime: Runtime, error: Exception) -> None:
        """Go on to the next runtime, and record that this one raised; unless another thread already did."""
        with self._lock:
            if runtime is self._usable:
                facts = {"raised": _in_one_line(error)}
                self._advance(runtime, f"{runtime.way} failed ({facts['raised']})", warn=True)
                self._usable = None
                self._save_check(runtime, facts)

    def _advance(self, runtime: Runtime, fault: str, *, warn: bool) -> None:
        """Go on to the next runtime. Raises Unavailable if there is none; this one is then tried again when next needed."""
        if len(self._remaining) == 1:
            advice = "use `device='cpu'`" if "cuda" in runtime.name else "please report it, with the model's name"
            raise Unavailable(f"{self._encoder} cannot be run on this machine: {'; '.join([*self._faults, fault])}; {advice}")
        self._faults.append(fault)
        del self._remaining[0]
        if warn:
            LOG.warning("%s: %s; continuing in %s", self._encoder, fault, self._remaining[0].way)

    def _check(self, runtime: Runtime) -> tuple[Mapping[str, Any], bool]:
        """The result of a runtime's check, and whether it was stored before."""
        known_facts = self._saved_checks().get(_key(runtime))
        if known_facts is not None:
            return known_facts, True
        expected = np.load(self.artifact.folder / "probe.npy", allow_pickle=False)
        tokens = self.artifact.tokenise(probes(self.artifact.dim), BUDGET)
        facts: dict[str, Any]
        try:
            facts = comparison(runtime.run(tokens)[0], expected)
        except MemoryError:
            raise
        except SciretrieveError as error:
            if not self._faults:
                raise
            raise Unavailable(f"{self._encoder}: {'; '.join(self._faults)}; {runtime.way} would be next, but {error}") from error
        except Exception as error:  # OpenVINO and torch raise many classes
            facts = {"raised": _in_one_line(error)}
            # the last one is tried again next time, and so is one that missed a file, as when two processes compile at once
            if len(self._remaining) == 1 or isinstance(error, OSError) or OF_FILES in str(error):
                return facts, False
        self._save_check(runtime, facts)
        return facts, False

    def _fault(self, runtime: Runtime, facts: Mapping[str, Any]) -> str | None:
        """The fault of a runtime, if it has one. Raises InvalidRequest if bf16 was requested and changes the vectors."""
        if "raised" in facts:
            return f"{runtime.way} failed ({facts['raised']})"
        cosine, difference = facts["cosine"], facts["difference"]
        if difference <= LARGEST_DIFFERENCE if runtime.precision == "fp32" else cosine >= LEAST_COSINE:
            return None
        outputs = "scores" if self.artifact.dim == 1 else "vectors"
        distance = f"a difference of {difference:.1e}" if runtime.precision == "fp32" else f"cosine {cosine:.5f}"
        if runtime.precision == "bf16" and self._requested == "bf16":
            raise InvalidRequest(
                f"bf16 does not keep this encoder's {outputs} on this machine ({distance} to plain torch); use `precision='fp32'`"
            )
        return f"{runtime.way} changes the {outputs} ({distance} to plain torch)"

    def _saved_checks(self) -> dict[str, Any]:
        path = self.artifact.folder / "checked.json"
        saved = read_json(path) if path.exists() else {}
        return {name: facts for name, facts in saved.items() if OF_FILES not in facts.get("raised", "")}  # earlier versions kept these

    def _save_check(self, runtime: Runtime, facts: Mapping[str, Any]) -> None:
        with suppress(OSError):  # without a writable cache, the check is repeated next time
            write_json(self.artifact.folder / "checked.json", self._saved_checks() | {_key(runtime): facts})


def on_cpu(artifact: Artifact, requested: Precision, weights: Callable[[], Weights]) -> list[Runtime]:
    """The runtimes of a CPU: OpenVINO in bf16 if the CPU supports it, OpenVINO in fp32, and torch, if installed, which needs the weights.

    Raises:
        InvalidRequest: bf16 was requested, and the CPU does not support it.
    """
    in_torch: list[Runtime] = [TorchRuntime(weights, artifact, "cpu", "fp32")] if has("torch") else []
    if not artifact.has_graph:
        need("torch", "an encoder that OpenVINO cannot convert")
        return [TorchRuntime(weights, artifact, "cpu", "bf16"), *in_torch] if requested == "bf16" else in_torch
    bf16_available = has_bf16()
    if requested == "bf16" and not bf16_available:
        raise InvalidRequest("this CPU has no bf16 arithmetic, which would run several times slower than fp32; use `precision='fp32'`")
    bf16_runtimes = [OpenVinoRuntime(artifact, "bf16")] if bf16_available and requested != "fp32" else []
    return [*bf16_runtimes, OpenVinoRuntime(artifact, "fp32"), *in_torch]


def for_many(
    encoder: str, artifact: Artifact, requested: Precision, precision: Arithmetic, weights: Callable[[], Weights]
) -> list[Runtime]:
    """The runtimes of a CPU for thousands of texts: all ways in the working precision, the fastest first, then those of `on_cpu`.

    Args:
        encoder: its name, for messages.
        artifact, requested, weights: as in `on_cpu`.
        precision: the working precision.
    """

    def ways() -> list[Runtime]:
        # in fp32, torch was faster nowhere, and its vectors differ in their last bits
        in_torch = [TorchRuntime(weights, artifact, "cpu", "bf16")] if precision == "bf16" and has("torch") else []
        return [*(OpenVinoRuntime(artifact, precision, count) for count in streams()), *in_torch]

    by_way = {runtime.way: runtime for runtime in ways()}
    ordered = [by_way[way] for way in quickest_first(artifact, encoder, ways)]
    return [*ordered, *(runtime for runtime in on_cpu(artifact, requested, weights) if runtime.way not in by_way)]


def on_gpu(artifact: Artifact, requested: Precision, weights: Callable[[], Weights]) -> list[Runtime]:
    """The runtimes of GPUs: torch in bf16 if they support it, and in fp32.

    Raises:
        InvalidRequest: bf16 was requested, and the GPUs do not support it.
    """
    bf16_available = cuda_has_bf16()
    if requested == "bf16" and not bf16_available:
        raise InvalidRequest("this GPU has no bf16 arithmetic; use `precision='fp32'`")
    devices = cuda_devices()
    precisions: list[Arithmetic] = ["bf16", "fp32"] if bf16_available and requested != "fp32" else ["fp32"]
    if len(devices) > 1:
        return [ManyDevices(weights, artifact, devices, precision) for precision in precisions]
    return [TorchRuntime(weights, artifact, devices[0], precision) for precision in precisions]


def streams() -> list[int]:
    """The useful numbers of streams; one per core only up to eight cores, since each stream needs memory."""
    count = threads()
    return sorted({1, -(-count // 4), -(-count // 2), *([count] if count <= 8 else [])})


def rates(artifact: Artifact) -> Mapping[str, float]:
    """Tokens per second of each way measured on this machine with today's number of threads; empty if there is none."""
    path = artifact.folder / "rates.json"
    known: Mapping[str, Any] = read_json(path) if path.exists() else {}
    return dict(known.get(_machine_and_threads(artifact), {}))


def quickest_first(artifact: Artifact, name: str, make_ways: Callable[[], Sequence[Runtime]]) -> list[str]:
    """The names of the ways to run an encoder, the fastest first.

    Args:
        artifact: the encoder's task in the cache.
        name: the encoder's name, for messages.
        make_ways: gives the ways; they are dropped after the measurement.
    """
    ways = make_ways()
    known = dict(rates(artifact))
    if len(ways) > 1 and not known.keys() >= {way.way for way in ways}:
        LOG.info("measuring in which way %s runs quickest on this machine, once", name)
        known |= _measured(artifact, ways)
        path = artifact.folder / "rates.json"
        with suppress(OSError):  # without a writable cache, it is measured again next time
            write_json(path, (read_json(path) if path.exists() else {}) | {_machine_and_threads(artifact): known})
    return sorted((way.way for way in ways), key=lambda way: -known.get(way, 0.0))


def _measured(artifact: Artifact, ways: Sequence[Runtime]) -> dict[str, float]:
    """Tokens per second of each way, the best of several alternating rounds; 0 for a way that raises an error."""
    texts = [TEXT] * (2 * max(streams()) * BUDGET // len(TEXT.split()))
    work = {way.way: artifact.tokenise(texts, way.budget) for way in ways}
    seconds: dict[str, float] = {}
    start = time.perf_counter()
    for number in range(ROUNDS):
        for way in ways:
            if seconds.get(way.way) == float("inf"):
                continue
            try:
                if not number:
                    way.run(artifact.tokenise([TEXT], way.budget))  # compiles it
                begin = time.perf_counter()
                way.run(work[way.way])
            except Exception as error:  # OpenVINO and torch raise many classes; without its weights torch cannot run either
                LOG.debug("%s: %s", way.way, error)
                seconds[way.way] = float("inf")
            else:
                seconds[way.way] = min(seconds.get(way.way, float("inf")), time.perf_counter() - begin)
        if time.perf_counter() - start > LONG_ENOUGH:
            break
    return {way.way: round(work[way.way].size / seconds[way.way], 1) for way in ways}


def _machine_and_threads(artifact: Artifact) -> str:
    """The machine and the number of threads, for which measured rates are valid."""
    return f"{OpenVinoRuntime(artifact, 'fp32').machine}, {threads()} threads"


def _key(runtime: Runtime) -> str:
    return f"{runtime.way} on {runtime.machine}"


def comparison(actual: Vectors, expected: Vectors) -> dict[str, float]:
    """The distance of vectors, (n, dim), from the expected ones: the least cosine, the largest difference."""
    difference = float(np.abs(actual - expected).max())
    if expected.shape[1] == 1:
        # a single number has no direction, and a constant added to all scores changes no ranking, so this is their correlation
        expected, actual = (expected - expected.mean()).T, (actual - actual.mean()).T
    lengths = np.linalg.norm(expected, axis=1) * np.linalg.norm(actual, axis=1)
    cosine = float(((actual * expected).sum(axis=1) / np.maximum(lengths, 1e-30)).min())
    return {"cosine": cosine, "difference": difference}


def _in_one_line(error: Exception) -> str:
    """An error's class and the last line of its message, which has the reason in OpenVINO's long ones."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[-1][:200]}" if lines else type(error).__name__
