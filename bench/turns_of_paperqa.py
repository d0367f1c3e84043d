"""A peer of bench/fulltext_peers.py: paper-qa's chunks and stores over the papers in a folder, with vectors that are given to it.

The line `chunks CHARACTERS OVERLAP` cuts the papers, and writes chunks.json; their vectors are then expected in chunks.npy. Other lines are
ways to search; the papers found, best first, are then in found.json: `papers`, its index of whole papers by tantivy, or its store
of chunks by `dense`, `sparse` or `hybrid` vectors.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from paperqa import HybridEmbeddingModel, NumpyVectorStore, SparseEmbeddingModel
from paperqa.agents.search import SearchIndex
from paperqa.llms import EmbeddingModel
from paperqa.readers import chunk_text
from paperqa.types import Doc, ParsedMetadata, ParsedText, Text

folder, most = Path(sys.argv[1]), int(sys.argv[2])
papers = json.loads((folder / "papers.json").read_text(encoding="utf-8"))
queries = json.loads((folder / "queries.json").read_text(encoding="utf-8"))
vectors = dict(zip(queries, np.load(folder / "queries.npy").tolist(), strict=True))
chunks: list[Text] = []


class Given(EmbeddingModel):  # type: ignore[misc]
    """Knows the vectors of all chunks and queries."""

    name: str = "given"

    async def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """The vectors of texts."""
        return [vectors[text] for text in texts]


def cut(characters: int, overlap: int) -> list[Text]:
    """The chunks of all papers."""
    found = []
    for paper in papers:
        text = f"{paper['title']}\n\n{paper['text']}"
        parsed = ParsedText(content=text, metadata=ParsedMetadata(parsing_libraries=[], total_parsed_text_length=len(text)))
        doc = Doc(docname=paper["id"], dockey=paper["id"], citation=paper["id"])
        found += chunk_text(parsed, doc, characters, overlap)
    return found


async def by_chunks(way: str) -> list[list[str]]:
    """The papers of the chunks nearest to each query."""
    model: Any = {"dense": Given, "sparse": SparseEmbeddingModel}.get(
        way, lambda: HybridEmbeddingModel(models=[Given(), SparseEmbeddingModel()])
    )()
    vectors.update(zip([chunk.text for chunk in chunks], np.load(folder / "chunks.npy").tolist(), strict=True))
    for chunk, embedding in zip(chunks, await model.embed_documents([chunk.text for chunk in chunks]), strict=True):
        chunk.embedding = embedding
    store = NumpyVectorStore()
    await store.add_texts_and_embeddings(chunks)
    return [[text.doc.dockey for text in (await store.similarity_search(query, most, model))[0]] for query in queries]


async def by_papers() -> list[list[str]]:
    """The papers that its agent's search of papers finds."""
    index = SearchIndex(fields=["file_location", "body", "title", "year"], index_directory=folder)
    for paper in papers:
        await index.add_document({"file_location": paper["id"], "body": paper["text"], "title": paper["title"], "year": ""}, paper["id"])
    await index.save_index()
    found = []
    for query in queries:
        try:
            found.append(await index.query(query, most))
        except ValueError:  # what its syntax does not take is asked without marks
            found.append(await index.query(" ".join(re.findall(r"\w+", query)), most))
    return found


print(f"paper-qa {version('paper-qa')}", flush=True)
for line in sys.stdin:
    way, *sizes = line.split()
    if way == "chunks":
        chunks = cut(*map(int, sizes))
        (folder / "chunks.json").write_text(json.dumps([chunk.text for chunk in chunks]), encoding="utf-8")
    else:
        found = asyncio.run(by_papers() if way == "papers" else by_chunks(way))
        (folder / "found.json").write_text(json.dumps(found), encoding="utf-8")
    print("done", flush=True)
