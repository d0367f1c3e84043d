"""Late interaction: the vectors of each token of a paper, packed into few bytes, and how well they match those of a query."""

from .matching import QueryTokens, TokenShard, match, matches
from .packing import Counts, FewBits, Packing, learn, packed_texts, read_packing, write_packing

__all__ = [
    "Counts",
    "FewBits",
    "Packing",
    "QueryTokens",
    "TokenShard",
    "learn",
    "match",
    "matches",
    "packed_texts",
    "read_packing",
    "write_packing",
]
