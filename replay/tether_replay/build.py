"""A view built from the facts of a log, beside whatever else reads and writes there."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import orjson
from tether_projections.engine import Engine
from tether_projections.erasure import NONE, Erasure
from tether_projections.store import ViewStore
from tether_schemas.errors import LogCorrupt, ReplayFailed, TetherError
from tether_schemas.events import PUBLIC
from tether_schemas.facts import FactRecord
from tether_schemas.topics import DECISIONS, RAW, FactTopics
from tether_streams.embedded.bulk import bulk
from tether_streams.embedded.extraction import FACT_TOPICS, fact_record
from tether_streams.ports import Log, Stored

BATCH_RECORDS_MAX = 20_000
POLICY = b'"PolicyDeclared"'
DECLARES = b'"policy"'  # stands in every raw decision that declares one
FORESEEN = "foreseen"  # in the table meta: up to which offset policies were taken in ahead of the facts


@dataclass(frozen=True, slots=True)
class Which:
    """Which facts go into a view: of one namespace and of `*` (None: of all), of events in these raw topics."""

    namespace: str | None = None
    topics: tuple[str, ...] | None = None

    @property
    def all(self) -> bool:
        """Whether nothing is left out."""
        return self.namespace is None and self.topics is None

    def takes(self, stored: Stored) -> bool:
        """Whether the facts of a record of the log are among them."""
        own = self.namespace is None or stored.namespace in (self.namespace, PUBLIC)
        return own and (self.topics is None or orjson.loads(stored.envelope)["raw"][0] in self.topics)


class Progress(NamedTuple):
    """How far a build is: offsets of the log done and in all, and the fact records applied so far."""

    done: int
    total: int
    records: int


Watch = Callable[[Progress], None]


def no_watch(progress: Progress) -> None:
    """Watches nothing."""


class Builder:
    """Builds one view from a log's facts. What was written is kept: a builder of the same store goes on from there.
    A view of a past is given the `erasure` of the present."""

    def __init__(
        self,
        log: Log,
        store: ViewStore,
        which: Which | None = None,
        topics: FactTopics = FACT_TOPICS,
        erasure: Erasure = NONE,
    ) -> None:
        self._log = log
        self._which = which or Which()
        self._topics = topics
        self.records = 0
        self.engine = Engine(store, self._history, told=False, erasure=erasure)

    def takes(self, stored: Stored) -> bool:
        """Whether the facts of a record of the log go into this view."""
        return self._which.takes(stored)

    def advance(self, until: int, watch: Watch = no_watch) -> None:
        """Apply the facts up to an offset, in the log's order; they are durable when this returns.

        Raises LogCorrupt for stored bytes that do not decode, ReplayFailed naming the event that cannot be applied.
        """
        with bulk():
            self._foresee(until)
            for records, position in self._batches(self.engine.position(), until):
                self._apply(records, position)
                self.records += len(records)
                watch(Progress(position, until, self.records))
            self.engine.store.commit()

    def _foresee(self, until: int) -> None:
        """Take in the policies ahead: all at the start; later only what was, since facts are applied under that."""
        store = self.engine.store
        if not self.engine.position():
            with store.transaction():
                store.set_meta(FORESEEN, str(until))
            store.commit()
        foreseen = int(store.meta(FORESEEN, "0"))
        if self.engine.position() < foreseen:
            self.engine.foresee(self._policies(foreseen))

    def _policies(self, until: int) -> Iterator[FactRecord]:
        if self._log.end(RAW) and not any(DECLARES in (one.payload or one.envelope) for one in self._decisions()):
            return  # none is declared, so the facts need not be gone through
        for stored in self._stored(0, until):
            if POLICY in (stored.payload or b"") and self._which.takes(stored):
                yield fact_record(stored)

    def _decisions(self) -> Iterator[Stored]:
        after = 0
        while batch := self._log.read([DECISIONS], after, BATCH_RECORDS_MAX):
            yield from batch
            after = batch[-1].offset

    def _batches(self, after: int, until: int) -> Iterator[tuple[list[FactRecord], int]]:
        batch: list[FactRecord] = []
        position = after
        for stored in self._stored(after, until):
            position = stored.offset
            if self._which.takes(stored):
                batch.append(fact_record(stored))
            if len(batch) >= BATCH_RECORDS_MAX:
                yield batch, position
                batch = []
        if position > after:
            yield batch, position

    def _apply(self, records: Sequence[FactRecord], position: int) -> None:
        try:
            self.engine.apply(records, position)
        except TetherError:
            raise
        except Exception as error:
            raise self._named(records, error) from error

    def _named(self, records: Sequence[FactRecord], error: Exception) -> Exception:
        """The error with the event that it comes from, found by applying the batch's records one by one."""
        for record in records:
            try:
                self.engine.apply([record], self.engine.position())
            except Exception as own:  # whatever it is: it is told with its event
                return ReplayFailed((record.namespace, record.source, record.id), str(record.offset), _words(own))
        return error

    def _history(self, position: int) -> Iterable[list[FactRecord]]:
        for records, _ in self._batches(0, position):
            yield records

    def _stored(self, after: int, until: int) -> Iterator[Stored]:
        while after < until and (batch := self._log.read(self._topics, after, BATCH_RECORDS_MAX)):
            for stored in batch:
                if stored.offset > until:
                    return
                if stored.payload is None:
                    raise LogCorrupt(str(stored.offset), "these facts have no payload")
                yield stored
            after = batch[-1].offset


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
