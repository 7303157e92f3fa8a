"""Writes what a log holds as NDJSON: events as recorded, and ghosts in the place of what is erased (I-5)."""

import hmac
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

from tether_projections.state import State
from tether_projections.store import ViewStore
from tether_schemas.errors import LogCorrupt
from tether_schemas.events import PUBLIC
from tether_schemas.facts import FactRecord
from tether_schemas.ghosts import VERDICT_KEYS, encode_ghost
from tether_schemas.reports import Exported
from tether_schemas.times import us_text
from tether_schemas.topics import RAW, FactTopics
from tether_streams.core.ghosts import ghost_of
from tether_streams.embedded.extraction import fact_record, made_of, whole_event
from tether_streams.ports import Log, Stored

from tether_replay.form import End, Head, end_line, head_line, tether_version

BATCH_RECORDS_MAX = 5_000

Told = Callable[[int, int | None], None]  # events done, of how many (None: nobody knows)

_COUNTS = "SELECT namespace, count(*) FROM evidence GROUP BY namespace ORDER BY namespace"
_EVIDENCE = "SELECT position, ev FROM evidence WHERE position BETWEEN ? AND ?"
# Of each erased assertion also whether a statement that is not erased has the same value, under whatever policy.
_ERASED = """
SELECT
    s.position, s.assertion_id, s.value_key, m.verdict, m.namespace, m.scope, m.subject, m.predicate,
    EXISTS (
        SELECT 1 FROM assertion AS t JOIN memory AS n USING (slot)
        WHERE
            t.value_key = s.value_key AND n.namespace = m.namespace AND n.scope = m.scope
            AND n.subject = m.subject AND n.predicate = m.predicate AND t.a NOT IN (SELECT id FROM ghost)
    ) AS told
FROM assertion AS s JOIN memory AS m USING (slot)
WHERE s.position BETWEEN ? AND ? AND s.a IN (SELECT id FROM ghost)
"""


@dataclass(frozen=True, slots=True)
class Source:
    """A log, and the view of everything that it holds up to the raw offset `position`, by the facts in `topics`."""

    log: Log
    store: ViewStore
    state: State
    position: int
    topics: FactTopics


def nobody(done: int, of: int | None) -> None:
    """Takes note of no progress."""


def counted(source: Source, namespace: str | None) -> dict[str, int]:
    """How many events each namespace has that an export takes: all, or one and `*`, which every namespace reads."""
    wanted = None if namespace is None else {namespace, PUBLIC}
    return {name: int(count) for name, count in source.store.rows(_COUNTS) if wanted is None or name in wanted}


def export_events(source: Source, out: BinaryIO, namespace: str | None, now_us: int, told: Told = nobody) -> Exported:
    """Write the events of a view, of all namespaces or of one and `*`. Raises LogCorrupt where the log lacks some."""
    counts = counted(source, namespace)
    total = sum(counts.values())
    head = Head(
        tether=tether_version(),
        namespaces=tuple(counts),
        only=namespace,
        events=total,
        position=str(source.position),
        time=us_text(now_us),
    )
    out.write(head_line(head))
    events = ghosts = 0
    for line, ghost in _lines(source, set(counts)):
        out.write(line)
        events, ghosts = events + 1, ghosts + ghost
        if not events % 1_000:
            told(events, total)
    if events != total:
        raise LogCorrupt(head.position, f"the view has {total} events, the log {events} of them")
    out.write(end_line(End(events=events, ghosts=ghosts)))
    told(events, total)
    return Exported("", "ndjson", head.namespaces, events, ghosts, head.position)


def _lines(source: Source, namespaces: set[str]) -> Iterator[tuple[bytes, bool]]:
    """Each event's line, and whether it is a ghost."""
    erased, facts = Erased(source), _Facts(source.log, source.topics)
    after = 0
    while after < source.position and (batch := source.log.read(RAW, after, BATCH_RECORDS_MAX)):
        span = erased.within(batch[0].offset, batch[-1].offset)
        after = batch[-1].offset
        for stored in batch:
            # What has no facts is a dead letter, and those stay behind.
            if stored.namespace not in namespaces or stored.offset not in span.evidence:
                continue
            if stored.payload is None or stored.offset in span.ghosts:
                keys = span.keys.get(stored.offset, {})
                ghost = ghost_of(facts.of(stored.offset), keys, span.evidence[stored.offset] in source.state.erased)
                yield encode_ghost(ghost) + b"\n", True
            else:
                yield whole_event(stored) + b"\n", False


@dataclass(slots=True)
class Span:
    """Some of the log, by raw offset: its evidence, what of it is a ghost, and keys for the values of these."""

    evidence: dict[int, int]
    ghosts: set[int] = field(default_factory=set[int])
    keys: dict[int, dict[str, str]] = field(default_factory=dict[int, dict[str, str]])


class Erased:
    """What is erased, with keys for its values: nobody can guess the value from one that says nothing besides.

    A verdict's key is its effect. A value that a statement on record still has in the slot has the key of that. Any
    other is told by a key made with a secret that ends with this object, so that equal ones stay equal.
    """

    def __init__(self, source: Source) -> None:
        self._store = source.store
        self._state = source.state
        self._secret = secrets.token_bytes(32)

    def within(self, first: int, last: int) -> Span:
        """What is erased of the raw offsets from `first` to `last`."""
        state = self._state
        span = Span({int(offset): int(ev) for offset, ev in self._store.rows(_EVIDENCE, [first, last])})
        if not (state.erased or state.payload_erased):
            return span
        gone = state.erased | state.payload_erased
        span.ghosts = {offset for offset, ev in span.evidence.items() if ev in gone}
        for offset, name, value_key, verdict, *slot, told in self._store.rows(_ERASED, [first, last]):
            span.ghosts.add(int(offset))
            kept = told or (verdict and value_key in VERDICT_KEYS)
            span.keys.setdefault(int(offset), {})[name] = value_key if kept else keyed(self._secret, slot, value_key)
        return span


def keyed(secret: bytes, slot: list[str], value_key: str) -> str:
    """What stands for a value within (namespace, scope, subject, predicate), to whoever lacks the secret."""
    return hmac.new(secret, "\0".join([*slot, value_key]).encode(), "sha256").hexdigest()[:32]


class _Facts:
    """The facts of events asked for in the log's order; facts are in the order of their events."""

    def __init__(self, log: Log, topics: FactTopics) -> None:
        self._log = log
        self._topics = topics
        self._after = 0
        self._batch: list[Stored] = []

    def of(self, offset: int) -> FactRecord:
        """The facts of the event at a raw offset."""
        while True:
            for place, stored in enumerate(self._batch):
                if made_of(stored) == offset:
                    self._batch = self._batch[place:]
                    return fact_record(stored)
            self._batch = self._log.read(self._topics, max(self._after, offset), BATCH_RECORDS_MAX)
            if not self._batch:
                raise LogCorrupt(str(offset), "its facts are not in the log")
            self._after = self._batch[-1].offset
