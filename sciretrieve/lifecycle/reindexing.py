"""Rebuilding derived files with other settings, without encoding papers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from ..base.arguments import checked
from ..base.choices import METRICS, Metric, check_choice
from ..base.errors import InvalidRequest
from ..encoders import late as with_tokens
from ..encoders import opened_encoder, packing_of
from ..encoders.query_encoder import QueryEncoder
from ..files.writing import write_lock
from ..matching.dense.ann import NAMED, check_factory
from ..matching.dense.choosing import auto_dense
from ..matching.fusion import Fusion
from ..matching.late import Packing, write_packing
from ..matching.lexical import Analyzer, Bm25Parameters
from ..options import check_recall
from ..progress import Silent, shown
from ..protocols import AnyEncoder, Encoder, IndexPlace, Progress
from ..query.snapshot import Snapshot
from ..storage.commits import Change, IndexSettings, commit, current_passages, next_generation
from ..storage.finding import encoder_for, folder_of
from ..storage.fulltext import FULLTEXT, named_generation
from ..storage.manifest import FORMAT, TOKEN_FILES, Manifest, ShardFacts, encoder_file, read_manifest
from ..storage.pending import Pending
from ..storage.repairing import rebuild_shard
from ..storage.sweeping import sweep
from .ingest import ran_in


@checked
def reindex(
    index: IndexPlace,
    *,
    dense: str | None = None,
    metric: Metric | None = None,
    lexical: Bm25Parameters | Mapping[str, Any] | None = None,
    memory: int | None = None,
    recall: float | None = None,
    late: bool | None = None,
    encoder: AnyEncoder | None = None,
    progress: Progress | bool = True,
) -> Manifest:
    """Rebuild what spans an index's shards with other settings, as a new generation. The words of an index with an earlier text analysis
    are counted again.

    Papers are encoded again only to add token vectors. After an interruption, calling it again continues.

    Args:
        index: the index's directory.
        dense: "auto", "flat", "hnsw", "ivf", "rabitq" or any FAISS factory string; by default unchanged.
        metric: how vectors are compared; by default unchanged.
        lexical: BM25's parameters, all or some; by default unchanged.
        memory: memory limit in bytes for "auto"; None for no limit.
        recall: wanted recall of an approximate dense index: the share found of the true best 10 papers; by default unchanged.
        late: whether to have token vectors for late interaction; by default unchanged.
        encoder: the encoder that adds them, if the index's own encoder cannot be found.
        progress: receives progress; by default a progress bar on a terminal, False for none.

    Returns:
        The index's manifest.

    Raises:
        NotFound: there is no such index.
        InvalidRequest, EncoderMismatch: a setting is invalid, the index lacks vectors or terms for it, or the encoder differs.
        IndexBusy: another process is writing the index.

    >>> manifest = sr.reindex("indexes/papers", lexical={"b": 0.5})
    """
    directory, encoder = folder_of(index), encoder_for(index, encoder)
    with shown(progress) as listener:
        if metric is not None:
            check_choice("metric", metric, METRICS)
        if memory is not None and dense != "auto":
            raise InvalidRequest("`memory` limits `dense='auto'`; give both")
        if recall is not None:
            check_recall(recall)
        read_manifest(directory)  # avoids leaving a lock file in a directory that is no index
        with write_lock(directory):
            old = read_manifest(directory)
            if lexical is not None and old.bm25 is None:
                raise InvalidRequest(f"{directory} has no BM25; build it with BM25")
            if isinstance(lexical, Mapping) and old.bm25 is not None:
                for name in lexical:
                    check_choice("BM25 parameter", name, [field.name for field in fields(Bm25Parameters)])
                lexical = replace(old.bm25, **lexical)
            parameters = lexical if isinstance(lexical, Bm25Parameters) else old.bm25
            settings = IndexSettings(
                metric or old.metric, old.dense if dense is None else dense, parameters, old.recall if recall is None else recall
            )
            if old.encoder is None and (dense not in (None, "none") or metric is not None):
                raise InvalidRequest(f"{directory} has no vectors; build it with an encoder")
            if old.encoder is not None:
                if settings.dense == "none":
                    raise InvalidRequest("`dense='none'` would leave vectors that nothing searches; use `sciretrieve search --mode bm25`")
                if settings.dense == "auto":
                    dim = int(old.encoder["dim"])
                    settings = replace(settings, dense=auto_dense(old.papers, dim, memory, parameters is not None, listener.note))
                if dense not in (None, "auto", *NAMED) and settings.metric is not None:
                    check_factory(settings.dense, int(old.encoder["dim"]), settings.metric)
            changed_tokens = late is not None and late != (old.late is not None)
            outdated = old.analyzer not in (None, Analyzer())  # an index of a later form needs `repair`
            if settings == IndexSettings.of(old) and not changed_tokens and not outdated:
                listener.note(f"{directory} already has these settings")
                new = old
            else:
                build = {**old.build, "settings": {**old.build["settings"], "recall": settings.recall}}
                manifest, work = replace(old, build=build), None
                if changed_tokens and not late:
                    encoder_facts = {name: value for name, value in (old.encoder or {}).items() if name != "late"}
                    shards = tuple(shard.without(TOKEN_FILES) for shard in old.shards)
                    manifest = replace(manifest, shards=shards, encoder=encoder_facts)
                if changed_tokens and late:
                    manifest, work = _with_tokens(directory, manifest, encoder, listener)
                elif outdated:
                    manifest, work = _with_words(directory, manifest, listener)
                if old.fulltext is not None:
                    with write_lock(directory / FULLTEXT):
                        current_passages(directory, old.fulltext)
                    passages = reindex(
                        directory / FULLTEXT,
                        dense=dense,
                        metric=metric,
                        lexical=lexical,
                        memory=memory,
                        recall=recall,
                        encoder=encoder,
                        progress=listener,
                    )
                    manifest = replace(manifest, fulltext=named_generation(passages))
                new = commit(directory, old, manifest, settings, Change("reindex", work=work), listener)
            sweep(directory, listener)
        return new


def _with_tokens(directory: Path, old: Manifest, given: AnyEncoder | None, progress: Progress) -> tuple[Manifest, str]:
    """The manifest of an index with token vectors, and the work's id. Papers are encoded again, into new shards."""
    built = old.encoder
    if built is None or old.lexical is None:
        raise InvalidRequest(f"{directory} has no {'BM25' if built else 'vectors'}, and late interaction is a part of hybrid search")
    with Snapshot.of(directory) as snapshot:
        queries = QueryEncoder(directory, built, snapshot.golden, None if given is None else opened_encoder(given, built))
        encoder = with_tokens(queries.checked("paper"))
    encoder.expect(sum(facts.papers for facts in old.shards))
    plan = {"command": "reindex", "format": FORMAT, "shards": [facts.name for facts in old.shards], "encoder": {**built, "ran_in": None}}
    pending = Pending.take_up(directory, plan, progress)
    if (packing := pending.packing()) is None:
        packing = packing_of(encoder)
        write_packing(pending.late, packing)
        pending = pending.noting(late=True)
    shards = _rebuild_shards(pending, old, encoder, packing, progress)
    facts = encoder_file(directory, "late", next_generation(directory), packing.array())
    encoder_facts = {**built, "precision": encoder.precision, "late": facts, "ran_in": ran_in(pending, encoder, built.get("ran_in", ()))}
    return replace(old, shards=shards, encoder=encoder_facts).analyzed_by(Analyzer()), pending.id


def _with_words(directory: Path, old: Manifest, progress: Progress) -> tuple[Manifest, str]:
    """The manifest of an index with new shards, whose words are counted again, and the work's id. Nothing is encoded."""
    progress.note(f"the words of {directory} are counted as this version counts them; nothing is encoded")
    plan = {"command": "reindex", "format": FORMAT, "base": old.generation, "shards": [facts.name for facts in old.shards]}
    pending = Pending.take_up(directory, plan, progress)
    return replace(old, shards=_rebuild_shards(pending, old, None, None, progress)).analyzed_by(Analyzer()), pending.id


def _rebuild_shards(
    pending: Pending, old: Manifest, encoder: Encoder | None, packing: Packing | None, progress: Progress
) -> tuple[ShardFacts, ...]:
    """All shards, rebuilt with this version's text analysis."""
    progress.start(sum(facts.papers for facts in old.shards))
    return tuple(rebuild_shard(pending, place, facts, encoder, Analyzer(), packing, progress) for place, facts in enumerate(old.shards))


def refit(directory: Path, parameters: Bm25Parameters, fusion: Fusion) -> Manifest:
    """Give an index other BM25 parameters and another fusion, as a new generation. No paper is encoded or read.

    Raises:
        IndexBusy: another process is writing the index.
    """
    with write_lock(directory):
        old = read_manifest(directory)
        new = commit(directory, old, old, replace(IndexSettings.of(old), lexical=parameters), Change("tune"), Silent(), fusion=fusion)
        sweep(directory, Silent())
    return new
