"""Vectors in a FAISS index from elsewhere, looked up by id."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np

from ..base.choices import Metric
from ..base.errors import InvalidRequest
from ..base.once import once
from ..matching.dense.exact import NOT_MEASURABLE
from ..matching.dense.given import GivenIndex, read_given
from .stored import IDS, StoredVectors, Table, first_unmeasurable, read_ids, rows_of

FAISS_PREFIX = "faiss:"
LOG = logging.getLogger(__name__)


class FaissVectors(StoredVectors):
    """Looks vectors up by the ids of papers and queries, in a FAISS index `faiss:FILE`.

    With a file of ids beside it, FAISS's number n is the vector of the id in line n + 1, as `sciretrieve export` writes it. Without one,
    the index must have explicitly chosen numbers, which are then the papers' ids.
    """

    prefix = FAISS_PREFIX

    @property
    def metric(self) -> Metric:
        """The FAISS index's metric."""
        return self._given.metric

    @property
    def ids_file(self) -> Path | None:
        """The file of ids beside the index."""
        path = self.path.with_suffix(IDS)
        return path if path.is_file() else None

    @once
    def _given(self) -> GivenIndex:
        given = read_given(self.path)
        if not given.is_exact:
            LOG.warning("%s is an %s, which returns its vectors only approximately", self.path, given.kind)
        return given

    @once
    def _table(self) -> Table:
        given = self._given
        rows = self._rows(given)
        if (row := first_unmeasurable(given.vectors)) is not None:
            raise InvalidRequest(f"{self.path}: the vector of FAISS's number {given.numbers[row]} {NOT_MEASURABLE}")
        return rows, given.vectors, set()

    def _rows(self, given: GivenIndex) -> dict[str, int]:
        """The row of each id's vector. Rejects any index in which a vector's id is in doubt."""
        row_of_number = dict(zip(given.numbers.tolist(), range(len(given.numbers)), strict=True))
        if len(row_of_number) < len(given.numbers):
            numbers, counts = np.unique(given.numbers, return_counts=True)
            raise InvalidRequest(f"{self.path} has several vectors of the number {numbers[counts.argmax()]}; add each paper once")
        if self.ids_file is None:
            if not given.is_numbered:
                raise InvalidRequest(
                    f"{self.path} does not say which paper has which vector; put {self.path.with_suffix(IDS).name} beside it, with a "
                    "paper's id in each line: line n + 1 for FAISS's number n"
                )
            return {str(number): row for number, row in row_of_number.items()}
        ids = read_ids(self.ids_file, self.path)
        if len(ids) != len(given.numbers):
            raise InvalidRequest(
                f"{self.path} has {len(given.numbers):,} vectors, and {self.ids_file.name} {len(ids):,} ids; they must agree"
            )
        if unnamed := row_of_number.keys() - range(len(ids)):
            raise InvalidRequest(
                f"{self.path} has a vector of the number {min(unnamed)}, which is no line of {self.ids_file.name}; if its numbers are "
                f"the papers' ids themselves, remove {self.ids_file.name}"
            )
        return {id: row_of_number[number] for id, number in rows_of(ids, self.ids_file).items()}
