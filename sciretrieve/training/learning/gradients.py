"""The gradient of one step, for batches larger than memory: encode chunks, compute the loss of all vectors, then encode each chunk again
for its gradient (Gao et al. 2021, GradCache).

Random numbers, as for dropout, depend on seed, step and chunk alone. So a chunk is the same when encoded again, an interrupted training
goes on with the same numbers, and several processes draw the same numbers as one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from ...encoders.tokens import TokenBatch
from .demands import Reading
from .devices import Arithmetic, Processes
from .students import Student

BUDGET = 4096
"""The most tokens of a chunk, padding included."""
GRAPH_BYTES = 6 << 30
"""The most memory for a step's backward pass; beyond it, chunks are encoded twice."""


def draw(*key: object) -> None:
    """Seed torch's random numbers with these values alone."""
    digest = hashlib.sha256(repr(key).encode()).digest()
    torch.manual_seed(int.from_bytes(digest[:8], "little") >> 1)


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some of a step's texts, all in one format, with the places of their vectors."""

    format: str
    batch: TokenBatch
    places: list[int]


def chunks_of(student: Student, readings: Sequence[Reading], budget: int = BUDGET) -> list[Chunk]:
    """Texts in chunks with little padding. The chunks' order depends on the texts alone."""
    chunks = []
    for format in dict.fromkeys(format for format, _ in readings):
        places = [place for place, (other, _) in enumerate(readings) if other == format]
        tokens = student.tokens([readings[place][1] for place in places], budget)
        chunks += [Chunk(format, batch, [places[row] for row in batch.places.tolist()]) for batch in tokens.batches]
    return chunks


def encoded(student: Student, chunk: Chunk, arithmetic: Arithmetic, *, former: bool = False) -> Any:
    """The vectors of a chunk, (texts, dim) in fp32; see `Student.encode`."""
    ids, mask = (torch.from_numpy(part).to(arithmetic.device) for part in (chunk.batch.ids, chunk.batch.mask))
    with arithmetic.running():
        return student.encode(chunk.format, ids, mask, former=former).float()


def backward(
    student: Student,
    chunks: Sequence[Chunk],
    loss: Callable[[Any], tuple[Any, Mapping[str, float]]],
    key: tuple[object, ...],
    arithmetic: Arithmetic,
    processes: Processes,
    bytes_a_token: float,
) -> Mapping[str, float]:
    """Add the gradient of a step's loss to the gradients of all trained weights.

    Args:
        student: the encoder.
        chunks: the step's texts.
        loss: from vectors, (texts, dim), to the loss and its parts by name.
        key: the step's key, see `draw`.
        arithmetic: the device and precision.
        processes: share the chunks; each then has the gradient of the whole.
        bytes_a_token: the memory of a backward pass per token.

    Returns:
        The loss's parts, by name.
    """
    own = [(number, chunk) for number, chunk in enumerate(chunks) if number % processes.count == processes.rank]
    tokens = sum(chunk.batch.ids.size for chunk in chunks)
    fits = processes.count == 1 and tokens * bytes_a_token <= GRAPH_BYTES
    order = torch.tensor([place for chunk in chunks for place in chunk.places])
    places = torch.argsort(order)

    def of_own() -> Iterator[Any]:
        for number, chunk in own:
            draw(*key, number)
            yield encoded(student, chunk, arithmetic)

    if fits:
        vectors = torch.cat(list(of_own()))[places]
        draw(*key, "loss")
        value, parts = loss(vectors)
        value.backward()
        return parts
    with torch.no_grad():
        gathered = processes.gathered(list(of_own()), [len(chunk.places) for chunk in chunks])
    vectors = gathered[places.to(gathered.device)].requires_grad_()
    draw(*key, "loss")
    value, parts = loss(vectors)
    value.backward()
    gradient = vectors.grad
    assert gradient is not None
    for (_, chunk), again in zip(own, of_own(), strict=True):
        again.backward(gradient[torch.tensor(chunk.places, device=gradient.device)])
    processes.add(student.trained.values())
    return parts
