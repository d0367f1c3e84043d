"""The other side of bench/lexical.py: tantivy over the terms of papers.txt in a folder, a line a paper, asked by queries.json.

It is asked one query at a time. A line is the name of a set of queries; what they found is then in rows.json. Terms and their weights
are ours, and so are k1 and b, which tantivy has as constants: 1.2 and 0.75.
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from pathlib import Path

import tantivy

folder = Path(sys.argv[1])
queries = json.loads((folder / "queries.json").read_text(encoding="utf-8"))

schema_builder = tantivy.SchemaBuilder()
schema_builder.add_text_field("terms", tokenizer_name="terms", index_option="freq")
schema_builder.add_unsigned_field("row", stored=True)
schema = schema_builder.build()
(folder / "tantivy").mkdir()
index = tantivy.Index(schema, str(folder / "tantivy"))
index.register_tokenizer("terms", tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build())
writer = index.writer(num_threads=1)
with (folder / "papers.txt").open(encoding="utf-8") as papers:
    for row, terms in enumerate(papers):
        writer.add_document(tantivy.Document(terms=terms, row=row))
writer.commit()
writer.wait_merging_threads()
index.reload()
searcher = index.searcher()


def found_by(weights: dict[str, float]) -> list[tantivy.DocAddress]:
    """Where the ten best papers for weighted terms are."""
    clauses = []
    for term, weight in weights.items():
        query = tantivy.Query.term_query(schema, "terms", term, index_option="freq")
        clauses.append((tantivy.Occur.Should, query if weight == 1 else tantivy.Query.boost_query(query, weight)))
    return [address for _, address in searcher.search(tantivy.Query.boolean_query(clauses), 10, count=False).hits]


found: list[list[tantivy.DocAddress]] = []
print(f"tantivy {version('tantivy')}", flush=True)
for line in sys.stdin:
    if line.strip() == "rows":
        rows = [[searcher.doc(address)["row"][0] for address in addresses] for addresses in found]
        (folder / "rows.json").write_text(json.dumps(rows), encoding="utf-8")
    else:
        found = [found_by(weights) for weights in queries[line.strip()]]
    print("done", flush=True)
