"""Reads at a past position: the same rule over the facts up to there, with the erasure of the present.

The answer of a slot depends on a part of history, which is read from the log and put through the ordinary engine into a
view of its own; one that is too large gives way to a whole build. Nothing is kept from one read to the next.
"""

import tempfile
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from tether_projections.engine import Engine
from tether_projections.erasure import Erasure
from tether_projections.queries import Queries
from tether_projections.reader import Reader, asked
from tether_projections.slices import Slice, policies_then, recorded_until
from tether_projections.state import State
from tether_projections.store import ViewStore
from tether_projections.today import erased_among, erased_now
from tether_schemas.errors import BadRequest, LogCorrupt
from tether_schemas.facts import FactRecord
from tether_schemas.topics import FactTopics
from tether_streams.embedded.extraction import FACT_TOPICS, made_of
from tether_streams.ports import Log

from tether_replay.build import Builder, Watch, Which, no_watch

SLICE_RECORDS_MAX = 100_000
SCRATCH_USES_MAX = 1_000  # deleted rows of a database in memory take some room for as long as it lives

FactsOf = Callable[[Sequence[int]], Iterable[FactRecord]]  # of the events at these raw offsets, in any order


class Moment(NamedTuple):
    """A past: everything recorded up to `position` (a raw offset), at `now_us`."""

    position: int
    now_us: int


@dataclass(frozen=True, slots=True)
class Question:
    """One slot as it is asked for."""

    reader: Reader
    subject: str
    predicate: str
    scope: str


def moment_at(store: ViewStore, position: int, end: int) -> Moment:
    """The past at a position, at the time when it was recorded. Raises BadRequest beyond `end`."""
    if position > end:
        raise BadRequest("known_at", f"position {position} is not recorded; the log ends at {end or 'no event'}")
    latest = store.rows("SELECT max(recorded_us) FROM evidence WHERE position <= ?", [position], "evidence")[0][0]
    return Moment(position, int(latest or 0))


def moment_of(store: ViewStore, time_us: int, present: Moment) -> Moment:
    """What was recorded up to a time; a time to come is the present."""
    if time_us >= present.now_us:
        return present
    query = "SELECT max(position) FROM evidence WHERE recorded_us <= ?"
    return Moment(int(store.rows(query, [time_us], "evidence")[0][0] or 0), time_us)


class Past:
    """Reads the pasts of one view. Not safe for use by two threads at once, like the view."""

    def __init__(self, engine: Engine, log: Log, facts_of: FactsOf, topics: FactTopics = FACT_TOPICS) -> None:
        self.engine = engine
        self._log = log
        self._facts_of = facts_of
        self._topics = topics
        self._scratch: ViewStore | None = None
        self._uses = 0

    def close(self) -> None:
        """Let go of the memory."""
        if self._scratch is not None:
            self._scratch.close()
            self._scratch = None

    @contextmanager
    def queries(self, question: Question, position: int) -> Generator[Queries]:
        """What answers a question about one slot (and no other) as of a position. Raises BadRequest as `recall`."""
        store, state, reader = self.engine.store, self.engine.state, question.reader
        then, declared = policies_then(store, reader.namespace, position)
        past = State()
        past.policies = then
        one = asked(past, reader, question.subject, question.predicate, question.scope)
        needed = Slice(store, state, then, reader.namespace, position, SLICE_RECORDS_MAX)
        needed.collect(one)
        if needed.too_large:
            with self._whole(reader.namespace, position) as queries:
                yield queries
            return
        policies = self._records(declared, position)
        records = self._records(needed.evidence - declared, position)
        decided = needed.decisions(records) - needed.evidence - declared
        records += self._records(decided, position)
        erasure = erased_among(store, state, policies + records, needed.nodes)
        with self._emptied() as scratch:
            engine = Engine(scratch, lambda _: [policies, records], told=False, erasure=erasure)
            engine.foresee(policies)
            engine.apply(policies + records, position)
            yield Queries(scratch, engine)

    def _records(self, evidence: Iterable[int], position: int) -> list[FactRecord]:
        """The facts of evidence up to a position, in the order of their events."""
        places = sorted(recorded_until(self.engine.store, evidence, position).values())
        found = {record.offset: record for record in self._facts_of(places)}
        missing = [place for place in places if place not in found]
        if missing:
            raise LogCorrupt(str(missing[0]), "the facts of this event are not in the log")
        return [found[place] for place in places]

    @contextmanager
    def _emptied(self) -> Generator[ViewStore]:
        """An empty view in memory, emptied again afterwards."""
        if self._uses % SCRATCH_USES_MAX == 0:
            self.close()
        self._uses += 1
        scratch, self._scratch = self._scratch or ViewStore(":memory:"), None
        try:
            yield scratch
            scratch.clear()
        except BaseException:
            scratch.close()
            raise
        self._scratch = scratch

    @contextmanager
    def _whole(self, namespace: str, position: int) -> Generator[Queries]:
        with tempfile.TemporaryDirectory(prefix="tether-past-") as folder:
            store = ViewStore(str(Path(folder) / "past.duckdb"))
            try:
                engine = self.prepare(position).build(store, namespace)
                yield Queries(store, engine)
            finally:
                store.close()

    def prepare(self, position: int) -> "Prepared":
        """What a whole build up to a raw offset takes from the view; the build itself reads the log alone."""
        until = facts_until(self._log, self.engine.position(), position, self._topics)
        return Prepared(self._log, self._topics, until, erased_now(self.engine.store, self.engine.state))


@dataclass(frozen=True, slots=True)
class Prepared:
    """A whole view of a past, ready to be built: the facts up to an offset, with the erasure of the present."""

    log: Log
    topics: FactTopics
    until: int
    erasure: Erasure

    def build(self, store: ViewStore, namespace: str | None, watch: Watch = no_watch) -> Engine:
        """Build it (of one namespace and `*`, or of all) into an empty store. Raises LogCorrupt, ReplayFailed."""
        builder = Builder(self.log, store, Which(namespace), self.topics, self.erasure)
        builder.advance(self.until, watch)
        return builder.engine


def facts_until(log: Log, end: int, position: int, topics: FactTopics) -> int:
    """The greatest offset of facts, up to `end`, of events up to the raw offset `position`: facts are in the order of
    their events."""
    low, high = 0, end  # facts up to `low` are wanted, those above `high` are not
    while low < high:
        middle = (low + high) // 2
        found = log.read(topics, middle, 1)
        if not found or found[0].offset > end or made_of(found[0]) > position:
            high = middle
        else:
            low = found[0].offset
    return low
