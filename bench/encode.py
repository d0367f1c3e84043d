"""How fast is our runtime beside plain transformers and sentence-transformers on the same real abstracts, and how near the peak?

`--model minilm` is an embedded encoder with its real weights. `--model granite` is the default encoder's shape, a small RoBERTa
that reads 512 tokens, and `--model bert-base` SPECTER2's, a BERT-base with an active `seq_bn` adapter; both have random weights,
for speed does not depend on them. The peak is the machine's best matrix product in torch in the same precision, measured in the same
run. Plain transformers (with `adapters`) gets what most scripts do: batches of 32 in file order, fp32; sentence-transformers its own
`encode` at its defaults, in an environment of its own, without the adapter, which it has no notion of.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")

import numpy as np
import numpy.typing as npt
import torch
from peers import Peer
from reporting import arguments, report, taking_turns

from sciretrieve import Paper, open_corpus
from sciretrieve.base.types import Vectors
from sciretrieve.demo import CORPUS
from sciretrieve.encoders import load_encoder
from sciretrieve.encoders.catalogue import GRANITE, MINILM
from sciretrieve.encoders.layouts.packed import config_of
from sciretrieve.encoders.packs import open_pack
from sciretrieve.encoders.text_encoder import TextEncoder
from sciretrieve.encoders.weights import obtain

SIZES = {"minilm": (6, 384, 0, False), "granite": (6, 384, 0, True), "bert-base": (12, 768, 48, True)}
"""Layers, width, width of the adapter, and whether [CLS] is the vector."""


def matrix_peak(dtype: torch.dtype, device: str = "cpu", size: int = 2048) -> float:
    """The best rate of a square matrix product, in floating-point operations a second."""
    best = 0.0
    left, right = (torch.randn(size, size, device=device).to(dtype) for _ in range(2))
    until = time.perf_counter() + 3
    while time.perf_counter() < until:
        best = max(best, 2 * size**3 / timed(lambda: left @ right, device))
    return best


def timed(work: Callable[[], object], device: str) -> float:
    """The seconds until the device has done it."""
    start = time.perf_counter()
    work()
    if device != "cpu":
        torch.cuda.synchronize()
    return time.perf_counter() - start


def operations(lengths: npt.NDArray[np.int64], layers: int, width: int, adapter: int, is_cls: bool) -> float:
    """Multiply-adds, counted twice, that a BERT needs on texts of these many tokens: products of weights and of attention.

    Where [CLS] is the vector, of the last layer only keys and values are needed of all tokens.
    """
    exact = lengths.astype(float)
    layer = 24 * exact * width**2 + 4 * exact**2 * width + 4 * exact * width * adapter
    return float(np.sum((layers - 1) * layer + (4 * exact * width**2 if is_cls else layer)))


def make_granite(folder: Path) -> None:
    """A RoBERTa of granite-embedding-30m-english's shape with random weights, and its tokenizer."""
    from transformers import PreTrainedTokenizerFast, RobertaModel

    bert, tokenizer = open_pack(obtain(GRANITE.parts["base"], "granite"), GRANITE.parts["base"])
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, cls_token="<s>", sep_token="</s>", pad_token="<pad>", model_max_length=512
    ).save_pretrained(folder)
    torch.manual_seed(0)
    RobertaModel(config_of(bert), add_pooling_layer=False).save_pretrained(folder)


def make_bert_base(folder: Path, tokenizer: Any = None) -> None:
    """SPECTER2's files with random weights: a BERT-base, and its two adapters for search. Its tokenizer is MiniLM's, unless given."""
    from adapters import AutoAdapterModel
    from transformers import AutoTokenizer, BertConfig, BertModel

    base = folder / "allenai" / "specter2_base"
    tokenizer = tokenizer or AutoTokenizer.from_pretrained(obtain(MINILM.parts["base"], "minilm"))
    tokenizer.model_max_length = 512
    tokenizer.save_pretrained(base)
    torch.manual_seed(0)
    BertModel(BertConfig(vocab_size=len(tokenizer))).save_pretrained(base)
    model = AutoAdapterModel.from_pretrained(base)
    for name, target in (("[PRX]", "specter2"), ("[QRY]", "specter2_adhoc_query")):
        model.add_adapter(name, config="seq_bn")
        for key, parameter in model.named_parameters():
            if f".{name}." in key:
                torch.nn.init.normal_(parameter, std=0.02)
        model.save_adapter(str(folder / "allenai" / target), name, with_head=False)


class Plain:
    """What most scripts do: padded batches of 32 in file order."""

    def __init__(self, encoder: TextEncoder) -> None:
        from transformers import AutoModel, AutoTokenizer

        base = encoder.folders["base"]
        self.spec, self.tokenizer = encoder.spec, AutoTokenizer.from_pretrained(base)
        if "proximity" in encoder.folders:
            from adapters import AutoAdapterModel

            self.model = AutoAdapterModel.from_pretrained(base)
            self.model.load_adapter(str(encoder.folders["proximity"]), load_as="proximity", set_active=True)
        else:
            self.model = AutoModel.from_pretrained(base)
        self.model.eval()

    def run(self, texts: list[str]) -> Vectors:
        """Encode."""
        parts = []
        for start in range(0, len(texts), 32):
            tokens = self.tokenizer(
                texts[start : start + 32], padding=True, truncation=True, max_length=self.spec.max_length, return_tensors="pt"
            )
            with torch.inference_mode():
                states = self.model(input_ids=tokens["input_ids"], attention_mask=tokens["attention_mask"]).last_hidden_state
            mask = tokens["attention_mask"].unsqueeze(-1)
            vectors = (states * mask).sum(1) / mask.sum(1) if self.spec.pooling == "mean" else states[:, 0]
            parts.append((torch.nn.functional.normalize(vectors, dim=-1) if self.spec.normalise else vectors).numpy())
        return np.concatenate(parts)


class SentenceTransformers:
    """sentence-transformers' `encode`, in an environment of its own."""

    def __init__(self, folder: Path, texts: list[str], max_length: int, pooling: str) -> None:
        self.work = Path(tempfile.mkdtemp(prefix="sentence-transformers-"))
        (self.work / "texts.txt").write_text("\n".join(" ".join(text.split()) for text in texts), encoding="utf-8")
        requirements = [f"torch=={torch.__version__.split('+')[0]}", "sentence-transformers>=5,<6"]
        script = "turns_of_sentence_transformers.py"
        self.peer = Peer("sentence-transformers", requirements, script, folder, self.work, max_length, pooling)
        self.version = self.peer.greeting

    def run(self) -> None:
        """One turn."""
        self.peer.ask("go")

    def vectors(self) -> Vectors:
        """What the last turn gave."""
        found: Vectors = np.load(self.work / "vectors.npy")
        return found


def main() -> None:
    """Measure, and print."""
    chosen = arguments(__doc__, corpus=str(CORPUS), papers=512, rounds=3, model="minilm")
    table = next(iter(open_corpus(chosen.corpus).batches())).papers.slice(0, chosen.papers)
    papers = [Paper(*row) for row in zip(*(table[name].to_pylist() for name in ("id", "title", "abstract")), strict=True)]
    name, options = "minilm", dict[str, Any]()
    if chosen.model == "bert-base":
        os.environ["SCIRETRIEVE_MODELS"] = tempfile.mkdtemp(prefix="bert-base-")
        make_bert_base(Path(os.environ["SCIRETRIEVE_MODELS"]))
        name = "specter2"
    elif chosen.model == "granite":
        name = tempfile.mkdtemp(prefix="granite-")
        make_granite(Path(name))
        options = {"pooling": "cls", "template": GRANITE.sides.paper.text}
    opened = partial(load_encoder, name, device="cpu", **options)
    first: Any = opened(precision="fp32")
    ours = {"fp32, as few": first}
    for precision in ("fp32", "bf16") if opened().precision == "bf16" else ("fp32",):
        ours[precision] = opened(precision=precision)
        ours[precision].expect(1_000_000)
    template = first.spec.sides.paper.text
    texts = [template.format(title=paper.title, abstract=paper.abstract, sep="[SEP]") for paper in papers]
    plain = Plain(first)
    theirs = SentenceTransformers(first.folders["base"], texts, first.spec.max_length, first.spec.pooling)
    contenders: dict[str, Any] = {
        "transformers fp32": lambda: plain.run(texts),
        f"sentence-transformers {theirs.version} fp32": theirs.run,
        **{f"sciretrieve {kind}": partial(encoder.encode_papers, papers) for kind, encoder in ours.items()},
    }
    reference = plain.run(texts)
    seconds = taking_turns(contenders, chosen.rounds)
    peaks = {"fp32": matrix_peak(torch.float32), "bf16": matrix_peak(torch.bfloat16)}
    tokens = first.tokenise(papers)
    lengths = np.concatenate([batch.mask.sum(axis=1) for batch in tokens.batches])
    padded = sum(batch.mask.size for batch in tokens.batches)
    base = seconds[next(name for name in seconds if name.startswith("sentence"))]
    rows = []
    for contender, run in contenders.items():
        vectors = run()
        vectors = theirs.vectors() if vectors is None else vectors
        cosine = (vectors * reference).sum(axis=1) / np.linalg.norm(vectors, axis=1) / np.linalg.norm(reference, axis=1)
        precision = "bf16" if "bf16" in contender else "fp32"
        rows.append(
            {
                "encoder": contender,
                "papers/s": len(texts) / seconds[contender],
                "tokens/s": float(lengths.sum()) / seconds[contender],
                "ratio": base / seconds[contender],
                "share of peak": operations(lengths, *SIZES[chosen.model]) / seconds[contender] / peaks[precision],
                "least cosine": "(no adapter)" if "sentence" in contender and name == "specter2" else f"{cosine.min():.6f}",
            }
        )
    report(rows, chosen.json)
    print(f"{len(texts)} papers of {lengths.mean():.0f} tokens; padding {1 - lengths.sum() / padded:.1%}; matrix peak ", end="")
    print(", ".join(f"{name} {peak / 1e9:,.0f} GFLOP/s" for name, peak in peaks.items()))
    for way, rate in first.rates().items():
        print(f"measured before: {way}: {rate:,.0f} tokens/s")


if __name__ == "__main__":
    main()
