"""Forms that results have in common: plain values, JSON, tables."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

from .errors import MissingExtra
from .wording import as_json, plain

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa


class AsJson:
    """A dataclass with a form as plain JSON values."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain JSON values: dates and paths become texts, numbers that are not finite None.

        >>> run.to_dict()["mode"]
        'hybrid'
        """
        assert is_dataclass(self)
        return {field.name: plain(getattr(self, field.name)) for field in fields(self)}

    def to_json(self) -> str:
        """`to_dict` as JSON, with line breaks.

        >>> text = run.to_json()
        """
        return as_json(self.to_dict(), indent=2)


class AsJsonLine(AsJson):
    """A value of which files hold many, one on a line."""

    __slots__ = ()

    def to_json(self) -> str:
        """`to_dict` as JSON on one line."""
        return as_json(self.to_dict())


class AsTable(ABC):
    """What `to_arrow` makes a table of, for other libraries' tables."""

    __slots__ = ()

    @abstractmethod
    def to_arrow(self) -> pa.Table:
        """The rows as an Arrow table: `result.to_arrow()`.

        >>> table = run.to_arrow()
        """

    def to_pandas(self) -> pd.DataFrame:
        """`to_arrow` as a pandas data frame. Raises MissingExtra if pandas is not installed.

        >>> frame = answer.to_pandas()
        """
        return as_pandas(self.to_arrow())

    def to_polars(self) -> pl.DataFrame:
        """`to_arrow` as a polars data frame. Raises MissingExtra if polars is not installed.

        >>> frame = answer.to_polars()
        """
        return as_polars(self.to_arrow())


def as_pandas(table: pa.Table) -> pd.DataFrame:
    """A table as a pandas data frame. Raises MissingExtra if pandas is not installed."""
    try:
        frame: pd.DataFrame = table.to_pandas()
    except ImportError as error:
        raise MissingExtra("pandas", "to_pandas", "pip install pandas") from error
    return frame


def as_polars(table: pa.Table) -> pl.DataFrame:
    """A table as a polars data frame. Raises MissingExtra if polars is not installed."""
    try:
        import polars
    except ImportError as error:
        raise MissingExtra("polars", "to_polars", "pip install polars") from error
    frame = polars.from_arrow(table)
    assert isinstance(frame, polars.DataFrame)
    return frame
