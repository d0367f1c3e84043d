"""How fast is the compiled encoder beside plain transformers on the same real abstracts, and how near the machine's peak?

The peak is this machine's best matrix product in torch, in the same precision, measured in the same run. Plain
transformers gets what most scripts do: batches of 32 in file order, fp32. Its batches are also timed sorted by length.
"""

from __future__ import annotations

import os
import time
from typing import Any

os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")

import numpy as np
import torch
from reporting import arguments, report, taking_turns
from transformers import AutoModel, AutoTokenizer

from sciretrieve import open_corpus
from sciretrieve.demo import CORPUS
from sciretrieve.encoders import load_encoder
from sciretrieve.encoders.tokens import batches
from sciretrieve.types import Vectors


def matrix_peak(dtype: torch.dtype) -> float:
    """The best rate of a square matrix product, in floating-point operations a second."""
    size, best = 2048, 0.0
    left, right = torch.randn(size, size).to(dtype), torch.randn(size, size).to(dtype)
    until = time.perf_counter() + 3
    while time.perf_counter() < until:
        start = time.perf_counter()
        left @ right
        best = max(best, 2 * size**3 / (time.perf_counter() - start))
    return best


def operations(lengths: Any) -> float:
    """Multiply-adds, counted twice, of MiniLM's 6 layers of 384 on texts of these many tokens."""
    layers, width = 6, 384
    return float(np.sum(layers * (24 * lengths * width**2 + 4 * lengths.astype(float) ** 2 * width)))


def plain(model: Any, tokenizer: Any, texts: list[str]) -> Vectors:
    """Mean pooling over batches of 32."""
    parts = []
    for start in range(0, len(texts), 32):
        tokens = tokenizer(texts[start : start + 32], padding=True, truncation=True, max_length=256, return_tensors="pt")
        with torch.inference_mode():
            states = model(**tokens).last_hidden_state
        mask = tokens["attention_mask"].unsqueeze(-1)
        parts.append(torch.nn.functional.normalize((states * mask).sum(1) / mask.sum(1), dim=-1).numpy())
    return np.concatenate(parts)


def main() -> None:
    """Measure, and print."""
    chosen = arguments(__doc__, corpus=str(CORPUS), papers=512, rounds=3)
    table = next(iter(open_corpus(chosen.corpus).batches()))[0].slice(0, chosen.papers)
    titles, abstracts = table["title"].to_pylist(), table["abstract"].to_pylist()
    texts = [f"{title} {abstract}" for title, abstract in zip(titles, abstracts, strict=True)]
    encoders = {precision: load_encoder("minilm", precision) for precision in ("fp32", "auto")}
    folder = encoders["fp32"].spec.directory()
    model, tokenizer = AutoModel.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)
    by_length = sorted(texts, key=len)
    best = encoders["auto"].precision
    contenders: dict[str, Any] = {
        "transformers fp32": lambda: plain(model, tokenizer, texts),
        "transformers fp32, sorted": lambda: plain(model, tokenizer, by_length),
        "sciretrieve fp32": lambda: encoders["fp32"].encode_papers(titles, abstracts),
    }
    if best == "bf16":
        contenders["sciretrieve bf16"] = lambda: encoders["auto"].encode_papers(titles, abstracts)
    reference = plain(model, tokenizer, texts)
    seconds = taking_turns(contenders, chosen.rounds)
    peaks = {"fp32": matrix_peak(torch.float32), "bf16": matrix_peak(torch.bfloat16)}
    lengths = np.array([int(row.sum()) for batch in batches(encoders["fp32"]._tokenizer, texts) for row in batch.mask])
    padded = sum(batch.mask.size for batch in batches(encoders["fp32"]._tokenizer, texts))
    rows = []
    for name, run in contenders.items():
        vectors = run()
        cosine = float((vectors * reference).sum(axis=1).min()) if "sorted" not in name else 1.0
        precision = "bf16" if "bf16" in name else "fp32"
        rows.append(
            {
                "encoder": name,
                "papers/s": len(texts) / seconds[name],
                "tokens/s": float(lengths.sum()) / seconds[name],
                "ratio": seconds["transformers fp32"] / seconds[name],
                "share of peak": operations(lengths) / seconds[name] / peaks[precision],
                "least cosine": cosine,
            }
        )
    report(rows, chosen.json)
    print(f"{len(texts)} papers of {lengths.mean():.0f} tokens; padding {1 - lengths.sum() / padded:.1%}; matrix peak ", end="")
    print(", ".join(f"{name} {peak / 1e9:,.0f} GFLOP/s" for name, peak in peaks.items()))


if __name__ == "__main__":
    main()
