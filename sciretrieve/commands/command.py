"""A command that refuses an option given twice, where the second would silently replace the first."""

from __future__ import annotations

from collections import Counter
from typing import Any

from typer.core import TyperCommand, TyperOption

from ..errors import InvalidRequest


class Command(TyperCommand):
    """Every command's class. Options that take several values (`--filter`, `--facets`, `--not`) may be repeated."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the command line as usual, if no option is repeated. Raises InvalidRequest."""
        _, _, options = self.make_parser(ctx).parse_args(args=list(args))
        for option, times in Counter(options).items():
            if times > 1 and isinstance(option, TyperOption) and not (option.multiple or option.is_flag):
                raise InvalidRequest(f"{option.opts[0]} is given {times} times; give it once")
        return super().parse_args(ctx, args)
