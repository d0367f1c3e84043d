"""A shard: the unit of building and resuming. A folder whose files never change once it has its final name.

papers.parquet    the papers in row order, in small row groups
names.arrow       what they are called: titles, authors, years, venues and DOIs, memory-mapped, if the index is not from before it was kept
ids.arrow         their ids, and a hash of what each paper says, memory-mapped
vectors.npy       their vectors, (papers, dim) float32, if the index has an encoder
tokens.npy        the vectors of their tokens, packed (see `late`), one paper after the other, if the index has late interaction
token-counts.npy  how many of these each paper has
postings.arrow    their terms, if the index has BM25
lengths.arrow     how many terms each paper has, and those of its title
fields.arrow      the words of their authors, venues and keywords, if the index has BM25

A shard is first cut (papers and ids), then filled (vectors and postings); until it is full its folder ends in `.partial`.
Later generations may add files that belong to them: a FAISS index, and the rows of deleted papers.
"""

from .cutting import Cutter, cut_shard
from .filling import Filling, fill, finished_facts, store_vectors
from .reading import Shard, open_shards, read_deleted, scope_of, write_deleted

__all__ = [
    "Cutter",
    "Filling",
    "Shard",
    "cut_shard",
    "fill",
    "finished_facts",
    "open_shards",
    "read_deleted",
    "scope_of",
    "store_vectors",
    "write_deleted",
]
