"""A field that speaks two languages: what one calls left, another calls right; and toy encoders that know it, or do not."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tests.toy_weights import write_words

LEFT = [
    *("apple", "river", "stone", "cloud", "horse", "tiger", "piano", "train"),
    *("bread", "chair", "glass", "plate", "shirt", "metal", "paper", "flame"),
]
RIGHT = [
    *("lemon", "ocean", "brick", "storm", "mouse", "snake", "drums", "plane"),
    *("sugar", "table", "mirror", "spoon", "jacket", "copper", "letter", "smoke"),
]
OTHER = dict(zip(LEFT, RIGHT, strict=True))


def write_small(folder: Path) -> Path:
    """The toy to which texts are near that share words, with a vocabulary of these words alone, so that all of it is quickly trained."""
    from safetensors.numpy import load_file, save_file
    from transformers import BertTokenizerFast

    write_words(folder)
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ".", *LEFT, *RIGHT]
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    BertTokenizerFast(str(folder / "vocab.txt"), model_max_length=64).save_pretrained(folder)
    facts = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(facts | {"vocab_size": len(vocabulary)}))
    state = load_file(folder / "model.safetensors")
    name = "embeddings.word_embeddings.weight"
    save_file(state | {name: state[name][: len(vocabulary)].copy()}, folder / "model.safetensors", metadata={"format": "pt"})
    return folder


def knowing(base: Path, folder: Path) -> Path:
    """The same encoder, to which two words that mean the same are one."""
    from safetensors.numpy import load_file, save_file

    shutil.copytree(base, folder)
    number = {word: line for line, word in enumerate((base / "vocab.txt").read_text(encoding="utf-8").splitlines())}
    state = load_file(folder / "model.safetensors")
    words = state["embeddings.word_embeddings.weight"]
    for left, right in OTHER.items():
        words[number[right]] = words[number[left]]
    save_file(state, folder / "model.safetensors", metadata={"format": "pt"})
    return folder


def rows(count: int, seed: int = 0) -> list[dict[str, Any]]:
    """Papers with a title in one language and an abstract of two sentences in the other, each citing some before it that share words."""
    chance = random.Random(seed)
    papers: list[dict[str, Any]] = []
    for number in range(count):
        words = chance.sample(LEFT, 5)
        orders = (words, words[::-1])
        abstract = " ".join(f"{' '.join(OTHER[word] for word in (*order, chance.choice(words)))}.".capitalize() for order in orders)
        near = [paper["id"] for paper in papers if len({*paper["words"]} & {*words}) > 2]
        papers.append({"id": f"s{number:03d}", "title": " ".join(words), "abstract": abstract, "words": words, "references": near[-6:]})
    return papers


def write_pairs(folder: Path, count: int) -> Path:
    """A training set: words of one language, and a paper with the same in the other."""
    papers = rows(count, 1)
    folder.mkdir(parents=True)
    table = ["query-id\tpositive-id\tnegative-id\tkind", *(f"q{row['id']}\t{row['id']}\t\t" for row in papers)]
    (folder / "pairs.tsv").write_text("\n".join(table) + "\n")
    write_lines(folder / "queries.jsonl", [{"_id": f"q{row['id']}", "text": row["title"]} for row in papers])
    write_lines(folder / "corpus.jsonl", [{"_id": row["id"], "title": "", "text": row["abstract"]} for row in papers])
    return folder


def write_lines(path: Path, lines: Sequence[Mapping[str, Any]]) -> None:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def tensors(folder: Path) -> dict[str, Any]:
    """The weights in an encoder's folder, by file and name."""
    from safetensors.numpy import load_file

    return {f"{path.name} {name}": value for path in sorted(folder.rglob("*.safetensors")) for name, value in load_file(path).items()}


def equal(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return one.keys() == other.keys() and all(np.array_equal(one[name], other[name]) for name in one)
