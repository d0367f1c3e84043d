"""The other side of bench/encode.py: run by the Python of an environment that has sentence-transformers, a turn a line."""

import sys
from pathlib import Path

import numpy as np
import sentence_transformers
from sentence_transformers import SentenceTransformer, models

folder, work, max_length, pooling = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
transformer = models.Transformer(folder, max_seq_length=max_length)
modules = [transformer, models.Pooling(transformer.get_word_embedding_dimension(), pooling_mode=pooling)]
if pooling == "mean":
    modules.append(models.Normalize())
model = SentenceTransformer(modules=modules, device="cpu")
texts = (work / "texts.txt").read_text(encoding="utf-8").split("\n")
print(sentence_transformers.__version__, flush=True)
for _ in sys.stdin:
    np.save(work / "vectors.npy", model.encode(texts, show_progress_bar=False))
    print("done", flush=True)
