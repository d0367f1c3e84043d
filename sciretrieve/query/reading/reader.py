"""How typed texts become probes: operators, names, corrections, vectors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ...base.characters import clean
from ...base.characters import typed as as_typed
from ...base.choices import Filter, Mode
from ...base.errors import InvalidRequest
from ...base.once import once
from ...base.types import Half, Paper, Query, Rows, TotalIs, Vectors, floats_of
from ...base.wording import listed
from ...encoders.languages import ENGLISH, language_of, mostly_in, seems_english
from ...encoders.query_encoder import QueryEncoder
from ...files.streams import checked_text
from ...matching.dense.exact import NOT_MEASURABLE, measurable
from ...matching.dense.vectors import vectors_at
from ...matching.late import QueryTokens
from ...matching.lexical.bm25 import weigh_terms
from ...matching.lexical.name_terms import field_terms
from ...matching.lexical.spelling import Speller
from ...matching.scope import Scope
from ...matching.search import NO_MATCH, Liked, Match, Probe, Searcher
from ..lookup import NAMES
from ..narrowing import operators
from ..narrowing.combining import leaves
from ..narrowing.demands import Demand, Words, wanted
from ..narrowing.operators import TypedQuery
from ..snapshot import Snapshot, as_ids
from .rocchio import moved, moved_terms, rocchio, rocchio_terms

LACKS: Mapping[Mode, Half] = {"bm25": "meaning", "dense": "words"}
"""What a search in one mode lacks of a hybrid one."""
TEXTS = ("id", "title", "abstract")
"""The columns that a paper's words stand in."""
MOST_LIKED, LONGEST_LIKED = 10, 200
"""Quotations of a text that are looked for in papers, and their characters."""
LIKING = 0.05
"""What a liked phrase adds to a score, of the inverse document frequency of the papers that have it: enough that of papers with the same
words those with the phrase come first, and little enough that words quoted at random change no answer, see bench/typed.py."""
SAMPLED = 64
"""Papers of an index whose language is looked at."""
COMMON, UNKNOWN, SHORT = 20_000, 3, 3
"""A word is one of a library where more than one paper in so many has it; of a query in another language one word in so many is none;
and words of so few letters, such as de, are names everywhere."""
MOST_SHOWN = 3
"""Quotations and other signs that a remark names."""


class Reader:
    """Reads queries of an open index.

    Attributes:
        snapshot: what is open.
    """

    def __init__(self, snapshot: Snapshot, searcher: Searcher, encoder: Callable[[], QueryEncoder]) -> None:
        """
        Args:
            snapshot: what is open.
            searcher: what tells which corrections are worth looking for.
            encoder: gives what encodes queries, when it is first needed.
        """
        self.snapshot, self._searcher, self._encoder = snapshot, searcher, encoder

    @once
    def query_encoder(self) -> QueryEncoder:
        """What encodes queries."""
        return self._encoder()

    def mode_of_papers(self, mode: Mode, papers: int) -> Mode:
        """How papers in place of a query can be searched for where `mode` is wanted: as `mode_of`; so many of them are not in the index."""
        if mode == "bm25" or not (why := "" if self._are_stored(papers) else self.query_encoder.lack("paper_as_query")):
            return mode
        if mode == "hybrid":
            return "bm25"
        raise InvalidRequest(f"{why}; search with `mode='bm25'`")

    def probes(
        self,
        queries: Sequence[str | Query],
        mode: Mode,
        filter: Filter,
        vectors: Vectors | None = None,
        late: bool | None = None,
        *,
        like: str | Sequence[str] = (),
        unlike: str | Sequence[str] = (),
        among: Rows | None = None,
    ) -> list[Probe]:
        """Queries made ready: what is typed is taken apart, and all vectors that are not given, (n, dim), are encoded at once. Only papers
        that pass the filter may answer, and of these only those `among` the given rows, if they are given. A query is moved towards the
        papers of `like`, and away from those of `unlike`, which no longer may answer it.

        Raises as `Index.search`.
        """
        self.snapshot.check_files()
        if (like or unlike) and len(queries) > 1:
            raise InvalidRequest("papers are liked and disliked as answers to one query; search for one query at a time")
        modes = [self.mode_of(mode, query, vectors is not None) for query in queries]
        allowed = self.snapshot.narrower.passing(filter)
        if among is not None:
            allowed = allowed.among(among)
        typed = [self._typed(str(number), query, allowed) for number, query in enumerate(queries, 1)]
        if not all(query.words.strip() or query.vector is not None for query, *_ in typed):
            raise InvalidRequest("the query is empty, or only leaves papers out; give some words, a sentence or a title")
        read_vectors, tokens = self._vectors([query for query, *_ in typed], modes, vectors, late)
        probes = []
        for (query, demands, match, scope), own, vector, states in zip(typed, modes, read_vectors, tokens, strict=True):
            counted, is_what = self._counted(demands, match, scope)
            probe = self._probe(query, demands, vector, scope, own)
            lacks = LACKS[own] if own != mode else None
            liked = self._liked(demands.liked, scope) if demands is not None and own != "dense" else ()
            probe = replace(probe, tokens=states, named=match, lacks=lacks, total=len(counted), total_is=is_what, liked=liked, mode=own)
            language = self._other_language(demands.words) if demands is not None and not (len(match) or demands.listing) else ""
            remarks = [] if len(match) else remarks_on(demands, liked)
            if language:
                remarks.append(f"{self._reads}, and the query seems to be in {language}: it finds little but names; ask in English")
            probes.append(replace(probe, remarks=remarks, is_foreign=bool(language)))
        return [self._fed_back(probes[0], like, unlike, mode)] if like or unlike else probes

    def matching(self, text: str, filter: Filter, *, insists: bool = True) -> tuple[TypedQuery | None, Scope]:
        """A typed text, which may be empty, taken apart, unless it names papers; and the papers that meet all that it and a filter demand,
        as a search's total counts them, but that one who `insists` demands a quotation that no paper has. Papers are read where terms alone
        cannot tell whether they have its words.

        Raises InvalidRequest as `Index.search`.
        """
        self.snapshot.check_files()
        _, typed, match, scope = self._typed("", text, self.snapshot.narrower.passing(filter), insists=insists)
        counted, is_what = self._counted(typed, match, scope)
        if typed is not None and typed.free and is_what != "has all words":
            counted = self.snapshot.narrower.meeting([Words(typed.free)], scope)
        return typed, counted

    def _counted(self, typed: TypedQuery | None, match: Match, scope: Scope) -> tuple[Scope, TotalIs]:
        """The papers that a search's total counts, and what each of them is; see `runs.Ranking`."""
        if typed is None:
            return (scope.among(match.rows), "is named") if len(match) else (scope, "passes filters")
        with_words = self.snapshot.narrower.with_terms(typed.free, scope) if typed.free else None
        if with_words is not None:
            return with_words, "has all words"
        return scope, "meets demands" if typed.demands else "passes filters"

    def _liked(self, quotations: Sequence[str], scope: Scope) -> Sequence[Liked]:
        """The phrases that one would like, each as rare as the papers that have it; of more than one word, which are words already."""
        if (bm25 := self.snapshot.bm25) is None:
            return ()
        demands = [Demand(None, text, exact=True) for text in quotations[:MOST_LIKED] if len(text) <= LONGEST_LIKED and " " in text]
        liked = []
        for demand in demands:
            if not self.snapshot.narrower.is_without_terms(demand):
                rows = self.snapshot.narrower.meeting([demand], scope).places
                liked.append(Liked(demand.text, rows, LIKING * bm25.rarity_among(len(rows))))
        return liked

    @property
    def _reads(self) -> str:
        """What the index reads, for people."""
        built = self.snapshot.encoder
        return "the words of this index are read as English" if built is None else f"{built['name']} reads English"

    def _other_language(self, text: str) -> str:
        """The language of a query that the index does not read; "" where it does, where most words are of its papers, and where none can
        be told. What is known at a glance opens no identifier."""
        snapshot, bm25 = self.snapshot, self.snapshot.bm25
        if text.isascii() and seems_english(text):
            return ""
        reads = self.query_encoder.languages if snapshot.has_vectors else (ENGLISH,)
        if not reads:
            return ""
        words = [word for word in snapshot.analyzer.words(text) if len(word) > SHORT or not word.isascii()]
        terms = [term for word in words if (term := snapshot.analyzer.term(word)) is not None]
        least = len(snapshot) / COMMON
        if bm25 is not None and UNKNOWN * sum(bm25.frequency(term) <= least for term in terms) < len(terms):
            return ""
        language = language_of(text)
        return "" if language in reads else language

    def probe(self, query: Query, mode: Mode, vector: Vectors | None, scope: Scope) -> Probe:
        """One query, taken as it is, for which the papers of a scope may answer; its vector, (dim,), is encoded unless it is given."""
        (read_vector,), (tokens,) = self._vectors([query], [mode], None if vector is None else vector[None], None)
        return replace(self._probe(query, None, read_vector, scope, mode), tokens=tokens, mode=mode)

    def likeness(
        self,
        ids: str | Sequence[str],
        *,
        text: str | None = None,
        negatives: str | Sequence[str] = (),
        mode: Mode | None = None,
        filter: Filter = None,
    ) -> Probe:
        """What `Index.similar` searches with. Raises as it does."""
        self.snapshot.check_files()
        mode = self.snapshot.checked_mode(mode)
        snapshot = self.snapshot
        if text is not None:
            text = clean(checked_text(text, "text"))
        if not as_ids(ids) and not (text or "").strip():
            raise InvalidRequest("nothing to be similar to; give ids of papers, or `text`: a title and an abstract")
        positive_rows, negative_rows = snapshot.named_rows(ids), snapshot.named_rows(negatives)
        outside = []
        if text:
            title, _, abstract = text.partition(". ")
            outside = [Paper("", title, abstract)]
        vector, wanted = None, mode
        mode = self.mode_of_papers(mode, len(outside))
        if mode != "bm25":
            positives = np.concatenate([self.stored_vectors(positive_rows), self.paper_vectors(outside)])
            vector = rocchio(positives, self.stored_vectors(negative_rows))
        groups = (*snapshot.papers_at(positive_rows), *outside), snapshot.papers_at(negative_rows)
        terms = rocchio_terms(*([self._paper_terms(paper, mode) for paper in group] for group in groups))
        passing = snapshot.narrower.passing(filter)
        scope = passing.without(np.concatenate([positive_rows, negative_rows]))
        query = Query(" ".join(snapshot.ids(positive_rows)) or "1")  # as queries without an id are numbered
        lacks = LACKS[mode] if mode != wanted else None
        return Probe(query, scope, vector, terms, terms, lacks=lacks, total=len(passing), mode=mode)

    def _fed_back(self, probe: Probe, like: str | Sequence[str], unlike: str | Sequence[str], mode: Mode) -> Probe:
        """A probe moved towards papers and away from others, which no longer may answer it.

        Raises:
            NotFound: a paper is not in the index.
            InvalidRequest: one is both liked and disliked.
        """
        snapshot = self.snapshot
        liked, disliked = (_distinct(snapshot.named_rows(names)) for names in (like, unlike))
        if both := snapshot.ids(liked[np.isin(liked, disliked)]):
            raise InvalidRequest(f"the paper {both[0]!r} is both liked and disliked; leave it out of one of them")
        vector, terms = probe.vector, probe.terms
        if vector is not None:
            vector = moved(vector, self.stored_vectors(liked), self.stored_vectors(disliked))
        if snapshot.bm25 is not None and mode != "dense":
            liked_terms, disliked_terms = (
                [self._paper_terms(paper, mode) for paper in snapshot.papers_at(rows)] for rows in (liked, disliked)
            )
            terms = moved_terms(terms, liked_terms, disliked_terms, snapshot.bm25.rarity)
        scope = probe.scope.without(np.concatenate([liked, disliked]))
        return replace(probe, vector=vector, terms=terms, scope=scope, listing=False)

    def without_copies(self, probe: Probe, *names: str | Sequence[str]) -> Probe:
        """A probe that no copy of the papers of these names may answer: where each work comes once, they do not come under another id."""
        rows = np.concatenate([self.snapshot.named_rows(each) for each in names])
        return replace(probe, scope=probe.scope.without(self.snapshot.with_copies(rows))) if len(rows) else probe

    def _paper_terms(self, paper: Paper, mode: Mode) -> dict[str, float]:
        return self.terms(Query("", paper=paper).words, mode)

    @once
    def speller(self) -> Speller:
        """What reads the words of queries; only for an index that has BM25."""
        assert self.snapshot.bm25 is not None
        return Speller(self.snapshot.analyzer, self.snapshot.bm25, self._texts)

    def terms(self, words: str, mode: Mode) -> dict[str, float]:
        """The weighted terms of words that were not typed; none where only vectors are searched."""
        return {} if mode == "dense" else weigh_terms(self.snapshot.analyzer.indexed(words))

    def stored_vectors(self, rows: Rows) -> Vectors:
        """Vectors, as queries, of papers of the index: the stored ones where the encoder makes no difference, (n, dim)."""
        if not self._are_stored(0):
            return self.paper_vectors(self.snapshot.papers_at(rows))
        return vectors_at(self.snapshot.vectors, rows)

    def paper_vectors(self, papers: Sequence[Paper]) -> Vectors:
        """Vectors of papers in place of queries, shape (n, dim)."""
        if not papers and self.snapshot.vectors:  # without opening the encoder, whose dimension this is
            return np.empty((0, self.snapshot.dim), np.float32)
        return self.query_encoder.encode([Query(paper.id, paper=paper) for paper in papers])

    def demanding(self, text: str, allowed: Scope, *, insists: bool = False) -> tuple[TypedQuery, Scope]:
        """A typed text taken apart, and the papers that meet its demands. What it demands perhaps, it does where any paper has that, or one
        `insists`. Raises InvalidRequest for what cannot be read."""
        # the columns' names are read from every shard, which a cold search can do without
        typed = operators.parse(text, self.snapshot.columns.names if ":" in text else ())
        if not typed.demands and typed.perhaps is None:
            return typed, allowed
        whole = typed if typed.perhaps is None else TypedQuery(typed.words, (*typed.demands, typed.perhaps))
        scope = self.snapshot.narrower.meeting(whole.demands, allowed)
        if whole is typed or insists or len(scope):
            return whole, scope
        return typed, self.snapshot.narrower.meeting(typed.demands, allowed)

    def _typed(
        self, id: str, query: str | Query, allowed: Scope, *, insists: bool = False
    ) -> tuple[Query, TypedQuery | None, Match, Scope]:
        """A query taken apart: its words, its demands, the papers that it names, and the papers that may answer. An identifier has no
        words, so the title of its paper is searched for: papers on the same subject follow it."""
        if isinstance(query, Query):
            checked_text(query.words, "query")
            return query if query.id else replace(query, id=id), None, NO_MATCH, allowed
        text, snapshot = checked_text(query, "query"), self.snapshot
        if len(match := snapshot.lookup.identified(text)):
            paper = min(snapshot.papers_at(match.rows), key=lambda paper: paper.id)
            return Query(id, paper.title or paper.abstract or text), None, match, allowed
        text = as_typed(text)
        try:
            typed, scope = self.demanding(text, allowed, insists=insists)
        except InvalidRequest:
            # what was pasted may have anything in it, but names are typed
            if len(match := snapshot.lookup.meant(text, allowed)) and match.by != NAMES:
                return Query(id, text), None, match, allowed
            raise
        # what AND, OR and NOT join are subjects
        is_joined = any(not isinstance(demand, Demand) for demand in typed.demands)
        return Query(id, typed.words), typed, NO_MATCH if is_joined else snapshot.lookup.meant(typed.words, scope), scope

    def mode_of(self, mode: Mode, query: str | Query, has_vector: bool = False) -> Mode:
        """How a query, whose vector may be known, can be searched for where `mode` is wanted: of hybrid, BM25 is left for a text that
        nothing here encodes, and dense for a vector without a text. Raises InvalidRequest for a query that the mode cannot take."""
        if isinstance(query, Query) and query.vector is not None:
            has_vector = True
            if not self.snapshot.vectors:
                raise InvalidRequest(f"{self.snapshot.path} has no vectors that the query's could be compared with; leave out the vector")
            if not query.words.strip():
                if mode == "bm25":
                    raise InvalidRequest("a query that is a vector alone has no words for `mode='bm25'`; give it a text, too")
                return "dense"
        if mode == "bm25" or has_vector:
            return mode
        asked = query if isinstance(query, Query) else Query()
        if (mode == "dense" and asked is query) or not (why := self.query_encoder.lack(asked.side, asked.id)):
            return mode
        if mode == "hybrid":
            return "bm25"
        raise InvalidRequest(f"{why}; give the query as a vector, name what made the vectors by `encoder`, or search with `mode='bm25'`")

    def _are_stored(self, others: int) -> bool:
        """Whether the vectors of papers in place of a query are those of the index; so many of the papers are not in it."""
        return not others and self.query_encoder.symmetric

    def _vectors(
        self, queries: Sequence[Query], modes: Sequence[Mode], vectors: Vectors | None, late: bool | None
    ) -> tuple[Sequence[Vectors | None], Sequence[QueryTokens | None]]:
        """The vectors of queries, each (dim,), encoded unless they are given, (n, dim); and for late interaction their token vectors.

        Raises InvalidRequest if `late` asks for these where they can have no part.
        """
        read: list[Vectors | None] = [None] * len(queries)
        tokens: list[QueryTokens | None] = [None] * len(queries)
        encoder = self.query_encoder
        if late and "hybrid" not in modes:
            raise InvalidRequest(f"late interaction is a part of hybrid search, not of `mode={modes[0]!r}`; leave out one of them")
        if vectors is not None and any(mode != "bm25" for mode in modes):
            read = list(self._checked_vectors(vectors, len(queries)))
        elif vectors is None:
            read = [self._own_vector(number, query) for number, query in enumerate(queries, 1)]
        takes_tokens = self.snapshot.late if late is None else late
        with_tokens = [
            place
            for place, (query, mode) in enumerate(zip(queries, modes, strict=True))
            if mode == "hybrid" and takes_tokens and (query.vector is None or late)
        ]
        if with_tokens:
            encoded, states = encoder.encode_late([queries[place] for place in with_tokens])
            for place, vector, query_states in zip(with_tokens, encoded, states, strict=True):
                read[place] = vector if read[place] is None else read[place]
                tokens[place] = None if query_states is None else self._weighed(queries[place], query_states)
        if unread := [place for place, vector in enumerate(read) if vector is None and modes[place] != "bm25"]:
            for place, vector in zip(unread, encoder.encode([queries[place] for place in unread]), strict=True):
                read[place] = vector
        return [None if mode == "bm25" else vector for mode, vector in zip(modes, read, strict=True)], tokens

    def _weighed(self, query: Query, states: Vectors) -> QueryTokens | None:
        """A query's token vectors, (tokens, dim), each weighed by how rare its word is in the corpus; None if it has only stop words."""
        analyzer, bm25 = self.snapshot.analyzer, self.snapshot.bm25
        assert bm25 is not None
        words = self.query_encoder.with_tokens.words(query.side, query.paper or Paper("", query.text))
        terms_of = {word: analyzer.terms(word) for word in dict.fromkeys(words)}
        rarities = {word: max(map(bm25.rarity, terms), default=0.0) for word, terms in terms_of.items()}
        weights = np.array([rarities[word] for word in words])
        kept = weights > 0
        return QueryTokens(states[kept], weights[kept], [words[place] for place in np.flatnonzero(kept)]) if kept.any() else None

    def _checked_vectors(self, vectors: Vectors, queries: int) -> Vectors:
        """Vectors that were given for so many queries. Raises InvalidRequest for those of another shape."""
        if np.shape(vectors) != (expected := (queries, self.snapshot.dim)):
            raise InvalidRequest(f"vectors of queries have the shape {expected}, (queries, dimension), not {np.shape(vectors)}")
        try:
            checked = floats_of(vectors, np.float32)
        except TypeError as error:
            raise InvalidRequest(f"vectors of queries are numbers: {error}") from error
        if len(wrong := np.flatnonzero(~measurable(checked))):
            raise InvalidRequest(f"the vector of query {wrong[0] + 1} {NOT_MEASURABLE}")
        return checked

    def _own_vector(self, number: int, query: Query) -> Vectors | None:
        """The vector of the n-th query, if it has one of its own. Raises InvalidRequest for one that does not compare."""
        if query.vector is None or not self.snapshot.vectors:
            return None
        vector = np.asarray(query.vector, np.float32)
        if len(vector) != (dim := self.snapshot.vectors[0].dim):
            raise InvalidRequest(f"the vector of query {number} has {len(vector)} numbers, and those of {self.snapshot.path} have {dim}")
        if not measurable(vector[None])[0]:
            raise InvalidRequest(f"the vector of query {number} {NOT_MEASURABLE}")
        return vector

    def _probe(self, query: Query, typed: TypedQuery | None, vector: Vectors | None, scope: Scope, mode: Mode) -> Probe:
        """A query with its typed form (or None), its terms, and the corrections of its unknown words."""
        listing = typed is not None and typed.listing
        if mode == "dense":
            return Probe(query, scope, vector, listing=listing)
        if query.paper is not None:  # what was published is not misspelt
            terms = self.terms(query.words, mode)
            return Probe(query, scope, vector, terms, terms)
        snapshot, demands = self.snapshot, typed.demands if typed else ()
        insisted = {word for demand in demands for leaf in leaves(demand) for word in snapshot.analyzer.words(leaf.text)}
        corrections = self.speller.corrections(query.words, insisted)
        if vector is not None:  # what the dense half contradicts is not looked for
            corrections = [correction for correction in corrections if self._searcher.believes(correction, vector)]
        terms = self.speller.terms(query.words, corrections)
        own_terms = self.speller.own(query.words, terms)
        fields = {} if listing or snapshot.bm25 is None else field_terms(snapshot.bm25, snapshot.analyzer, query.words)
        without_terms = any(snapshot.narrower.is_without_terms(leaf) for demand in demands for leaf in wanted(demand))
        listing = listing or (without_terms and not terms)
        return Probe(query, scope, vector, terms, own_terms, corrections, listing, fields=fields, without_terms=without_terms)

    def _texts(self, rows: Rows, count: int) -> list[str]:
        """Titles and abstracts of so many of the papers at the given rows."""
        return [f"{paper.title} {paper.abstract}" for paper in self.snapshot.papers_at(self.snapshot.drawn(rows, count), TEXTS)]


def _distinct(rows: Rows) -> Rows:
    return np.array(list(dict.fromkeys(rows.tolist())), np.int64)


def other_language(reader: Reader) -> str:
    """The language of most papers of an index, by a sample of them, that it does not read; "" where it does and where none can be told."""
    snapshot = reader.snapshot
    reads = reader.query_encoder.languages if snapshot.has_vectors else (ENGLISH,)
    rows = snapshot.scope.places
    sample = snapshot.papers_at(rows[np.linspace(0, len(rows) - 1, min(len(rows), SAMPLED)).astype(np.int64)], TEXTS) if reads else []
    language = mostly_in(f"{paper.title} {paper.abstract}" for paper in sample)
    return "" if language in reads else language


def remarks_on(typed: TypedQuery | None, liked: Sequence[Liked] = ()) -> list[str]:
    """What a person should know of a text that was read as prose and has what might have been operators."""
    if typed is None or not (typed.liked or typed.ignored):
        return []
    parts = [f'"{text}"' for text in typed.liked] + list(typed.ignored)
    shown = listed(parts[:MOST_SHOWN], len(parts))
    remarks = [f"read as a text, in which {shown} {'demands' if len(parts) == 1 else 'demand'} nothing; join by AND what papers must have"]
    if missing := [f'"{one.phrase}"' for one in liked if not len(one.rows)]:
        remarks.append(f"no paper that may answer has {' or '.join(missing[:MOST_SHOWN])}")
    return remarks
