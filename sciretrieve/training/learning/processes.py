"""One process, or several that train together, as torchrun starts them: each encodes its share of a step, and all take the same step."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Processes:
    """How many processes there are, and which of them this is."""

    count: int = 1
    rank: int = 0

    def gathered(self, vectors: Sequence[Any], sizes: Sequence[int]) -> Any:
        """All chunks' vectors, (texts, dim) in the order of the chunks, from those of the chunks of each process.

        Args:
            vectors: those of this process's chunks, number `rank`, `rank + count` and so on.
            sizes: how many texts each chunk has, of all processes.
        """
        import torch

        if self.count == 1:
            return torch.cat(list(vectors))
        # each adds its own to zeros, which is exact
        starts = [sum(sizes[:number]) for number in range(len(sizes))]
        own = list(zip(range(self.rank, len(sizes), self.count), vectors, strict=True))
        dim = torch.tensor([own[0][1].shape[1] if own else 0])
        device = own[0][1].device if own else torch.device(self.device or "cpu")
        torch.distributed.all_reduce(dim := dim.to(device), op=torch.distributed.ReduceOp.MAX)
        whole = torch.zeros(sum(sizes), int(dim), device=device)
        for number, part in own:
            whole[starts[number] : starts[number] + sizes[number]] = part
        torch.distributed.all_reduce(whole)
        return whole

    def wait(self) -> None:
        """Return when all processes have come this far."""
        import torch

        if self.count > 1:
            sign = torch.zeros(1, device=self.device or "cpu")
            torch.distributed.all_reduce(sign)
            sign.item()  # a GPU's queue goes on without waiting

    def add(self, parameters: Iterable[Any]) -> None:
        """Add each parameter's gradient over all processes, in place."""
        import torch

        if self.count > 1:
            for parameter in parameters:
                if parameter.grad is None:  # by which this process encoded nothing
                    parameter.grad = torch.zeros_like(parameter)
                torch.distributed.all_reduce(parameter.grad)

    @property
    def device(self) -> str | None:
        """The GPU of this process, if there are several and it has one."""
        import torch

        return f"cuda:{os.environ.get('LOCAL_RANK', '0')}" if self.count > 1 and torch.cuda.is_available() else None

    @property
    def is_first(self) -> bool:
        """Whether this is the one that writes and speaks."""
        return self.rank == 0


@contextmanager
def joined() -> Iterator[Processes]:
    """The processes that torchrun started; this one alone where it started none."""
    count = int(os.environ.get("WORLD_SIZE", "1"))
    if count == 1:
        yield Processes()
        return
    import torch

    torch.distributed.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
    try:
        yield Processes(count, torch.distributed.get_rank())
    finally:
        torch.distributed.destroy_process_group()
