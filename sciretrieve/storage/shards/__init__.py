"""Shards, the units of building and resuming. A shard is a folder whose files never change once it has its final name.

papers.parquet    the papers in row order, in small row groups
names.arrow       their titles, authors, years, venues and DOIs, memory-mapped; missing from old indexes
ids.arrow         their ids, and a hash of each paper's content, memory-mapped
vectors.npy       their vectors, (papers, dim) float32, if the index has an encoder
tokens.npy        their packed token vectors (see `late`), paper after paper, if the index has late interaction
token-counts.npy  number of token vectors of each paper
postings.arrow    their terms, if the index has BM25
lengths.arrow     number of terms of each paper, and the terms of its title
fields.arrow      words of their authors, venues and keywords, if the index has BM25

A shard is first cut (papers and ids), then filled (vectors and postings). Until it is full, its folder's name ends in `.partial`. Later
generations may add files: a FAISS index, and the rows of deleted papers.
"""

from .cutting import Cutter, cut_shard
from .filling import Filling, fill, finished_facts, store_vectors
from .reading import Shard, open_shards, read_deleted, scope_of, texts_at, write_deleted

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
    "texts_at",
    "write_deleted",
]
