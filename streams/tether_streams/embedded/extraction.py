"""The extraction stage: raw topics in, facts out, in the order of raw offsets. One process at a time runs it."""

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import orjson
from tether_schemas.codec import decode_event, decode_record, encode_record
from tether_schemas.errors import BadEvent, LogCorrupt, TetherError
from tether_schemas.events import DecisionEvent, Envelope
from tether_schemas.facts import FactRecord
from tether_schemas.fields import BadField
from tether_schemas.topics import DECISIONS, RAW, FactTopics, fact_topics

from tether_streams.core.extract import RawPlace, extract
from tether_streams.core.rules import RuleSet
from tether_streams.embedded.bulk import bulk
from tether_streams.ports import Letters, Log, NewLetter, NewRecord, Stored

FACT_TOPICS = fact_topics(1)
PUBLIC = "*"
BATCH_RECORDS_MAX = 1_000
REASON_CHARS_MAX = 2_000


class Step(NamedTuple):
    """What one batch gave: its fact records, the offset of the last of them (0: none), and how far raw is extracted."""

    records: list[FactRecord]
    position: int
    extracted: int


class Recent:
    """Events that this process appended and has not extracted yet, so that they are neither read back nor decoded
    again. Bounded: when it is full it forgets, and the log has everything."""

    def __init__(self, events_max: int, bytes_max: int) -> None:
        self._events_max = events_max
        self._bytes_max = bytes_max
        self._lock = threading.Lock()
        self._bytes = 0
        self._events: dict[int, tuple[Stored, Envelope, int]] = {}
        self.wanted = False  # somebody extracts in this process

    def put(self, stored: Stored, event: Envelope) -> None:
        """Remember an event that was just appended."""
        size_bytes = len(stored.envelope) + len(stored.payload or b"")
        with self._lock:
            if len(self._events) >= self._events_max or self._bytes + size_bytes > self._bytes_max:
                self._events, self._bytes = {}, 0
            self._events[stored.offset] = stored, event, size_bytes
            self._bytes += size_bytes

    def pop(self, offset: int) -> Envelope | None:
        """The event at a raw offset, if it is still known."""
        with self._lock:
            _, event, size_bytes = self._events.pop(offset, (None, None, 0))
            self._bytes -= size_bytes
        return event

    def next(self, after: int, facts: dict[int, int], limit: int) -> list[Stored]:
        """At most `limit` records above `after` without a gap; `facts` says where runs of facts begin and end."""
        found: list[Stored] = []
        at = after + 1
        with self._lock:
            while len(found) < limit:
                if at in facts:
                    at = facts[at]
                elif at in self._events:
                    found.append(self._events[at][0])
                else:
                    break
                at += 1
        return found


class RulesInForce:
    """Extraction rules as the log declares them up to one point: the latest of `*` and of each namespace."""

    def __init__(self) -> None:
        self._own: dict[str, RuleSet] = {}
        self._of: dict[str, RuleSet | None] = {}

    def declare(self, event: Envelope) -> None:
        """Take in a decision on rules; any other event does nothing. Raises BadField where they do not compile."""
        if type(event) is DecisionEvent and event.data.rules is not None:
            self._own[event.namespace] = RuleSet.compile(event.data.rules)
            self._of.clear()

    def of(self, namespace: str) -> RuleSet | None:
        """The rules in force in a namespace: its own before those of `*`."""
        if namespace not in self._of:
            own, public = self._own.get(namespace), self._own.get(PUBLIC)
            both = own.before(public) if own is not None and namespace != PUBLIC else public
            self._of[namespace] = both
        return self._of[namespace]


Carried = Callable[[int], FactRecord | None]


def nothing_carried(offset: int) -> None:
    """No facts of an event whose payload was destroyed are known from elsewhere."""


@dataclass(frozen=True, slots=True)
class Extracting:
    """How to extract: so many records at once, into these topics. `carried` gives the facts of the event at a raw
    offset whose payload was destroyed, where an earlier extraction made them."""

    batch_records_max: int = BATCH_RECORDS_MAX
    topics: FactTopics = FACT_TOPICS
    carried: Carried = nothing_carried


class Extraction:
    """Extracts from where the log's facts end. What fails is a dead letter, and nothing waits behind it."""

    def __init__(self, log: Log, letters: Letters, recent: Recent, how: Extracting | None = None) -> None:
        how = how or Extracting()
        self._log = log
        self._letters = letters
        self._recent = recent
        self._batch_records_max = how.batch_records_max
        self._topics = how.topics
        self._carried = how.carried
        self.facts_end = log.end(self._topics)
        self.extracted = raw_offset(log, self.facts_end, self._topics)
        self._made: dict[int, int] = {}  # first and last offset of facts appended here, above what is extracted
        self._rules = self._recover_rules()
        recent.wanted = True

    def step(self) -> Step | None:
        """Extract one batch; its facts are durable when this returns. None when there is nothing to extract."""
        with bulk():
            return self._step()

    def _step(self) -> Step | None:
        stored = self._next()
        if not stored:
            return None
        letters: list[NewLetter] = []
        records = [record for one in stored if (record := self._extract(one, letters)) is not None]
        if letters:
            self._letters.add(letters)  # first: once the facts are there, nobody comes by again
        position = 0
        if records:
            position = self._append(records)
            self.facts_end = max(self.facts_end, position)
        self.extracted = stored[-1].offset
        self._made = {first: last for first, last in self._made.items() if last > self.extracted}
        return Step(records, position, self.extracted)

    def _next(self) -> list[Stored]:
        """The next raw records: as they were appended here, where these are all there are; else from the log."""
        limit = self._batch_records_max
        known = self._recent.next(self.extracted, self._made, limit)
        if known and (len(known) == limit or known[-1].offset >= self._log.end(RAW)):
            return known
        return self._log.read(RAW, self.extracted, limit)

    def _extract(self, stored: Stored, letters: list[NewLetter]) -> FactRecord | None:
        try:
            if stored.payload is None and (carried := self._carried(stored.offset)) is not None:
                return carried
            event = self._recent.pop(stored.offset) or _decode(stored)
            return self._facts(stored, event, letters)
        except (BadEvent, ValueError) as error:
            letters.append(_letter(stored, str(error), 0))
        except Exception as error:  # a fault of ours: it stops this event, never those behind it
            letters.append(_letter(stored, f"extraction failed, {type(error).__name__}: {error}", 0))
        return None

    def _facts(self, stored: Stored, event: Envelope, letters: list[NewLetter]) -> FactRecord:
        reasons: list[str] = []
        try:
            self._rules.declare(event)
        except BadField as error:
            reasons.append(f"these rules do not compile, the former stay in force: {error}")
        place = RawPlace(stored.recorded_us, stored.topic, stored.partition, stored.offset, stored.content_hash)
        record, faults = extract(event, place, self._rules.of(event.namespace))
        reasons += [fault.reason if fault.rule is None else f"rule {fault.rule}: {fault.reason}" for fault in faults]
        letters += [_letter(stored, reason, index) for index, reason in enumerate(reasons)]
        return record

    def _append(self, records: Sequence[FactRecord]) -> int:
        """Append facts in one transaction; facts that a crash left unnoticed are answered as duplicates."""
        appended = self._log.append([new_record(record, self._topics) for record in records])
        if any(answer.conflict for answer in appended):
            raise TetherError("the log's facts are of other events than its raw topics; restore the log from a backup")
        first, last = appended[0].offset, max(answer.offset for answer in appended)
        if last - first + 1 == len(appended):  # one transaction, so nobody else's are among them
            self._made[first] = last
        return last

    def _recover_rules(self) -> RulesInForce:
        rules = RulesInForce()
        after = 0
        while after < self.extracted and (batch := self._log.read([DECISIONS], after, self._batch_records_max)):
            for stored in batch:
                after = stored.offset
                if after <= self.extracted and stored.payload is not None and b'"rules"' in stored.payload:
                    try:
                        rules.declare(_decode(stored))
                    except (BadEvent, ValueError):
                        continue  # it is a dead letter since it was extracted
        return rules


def raw_offset(log: Log, facts_offset: int, topics: FactTopics = FACT_TOPICS) -> int:
    """The raw offset of the event whose facts stand at `facts_offset`; 0 for 0. Raises LogCorrupt where none stand."""
    if not facts_offset:
        return 0
    found = log.read(topics, facts_offset - 1, 1)
    if not found or found[0].offset != facts_offset:
        raise LogCorrupt(str(facts_offset), "the facts that should stand there do not")
    return made_of(found[0])


def made_of(stored: Stored) -> int:
    """The raw offset of the event that stored facts are of."""
    raw: Any = orjson.loads(stored.envelope)
    return int(raw["raw"][2])


def facts_after(
    log: Log, after: int, batch_records_max: int, topics: FactTopics = FACT_TOPICS
) -> tuple[list[FactRecord], int]:
    """The next fact records of the log, and the offset of the last; none when the log's facts end there."""
    stored = log.read(topics, after, batch_records_max)
    return [fact_record(one) for one in stored], stored[-1].offset if stored else after


def history(
    log: Log, batch_records_max: int = BATCH_RECORDS_MAX, topics: FactTopics = FACT_TOPICS
) -> Callable[[int], Iterable[list[FactRecord]]]:
    """What gives all fact records up to an offset, in batches, in the log's order."""

    def until(position: int) -> Iterable[list[FactRecord]]:
        after = 0
        while after < position:
            stored = log.read(topics, after, batch_records_max)
            if not stored:
                return
            after = stored[-1].offset
            if batch := [fact_record(one) for one in stored if one.offset <= position]:
                yield batch

    return until


def whole_event(stored: Stored) -> bytes:
    """The event as one JSON object again."""
    return stored.envelope[:-1] + b',"data":' + (stored.payload or b"null") + b"}"


def _decode(stored: Stored) -> Envelope:
    if stored.payload is None:
        raise BadEvent("data", "its payload was destroyed before its facts were extracted")
    fields = cast(dict[str, Any], orjson.loads(stored.envelope))
    return decode_event({**fields, "data": orjson.loads(stored.payload)}, arguments=False)


def fact_record(stored: Stored) -> FactRecord:
    """The facts of one event, read back. Raises LogCorrupt naming the offset where they do not decode."""
    if stored.payload is None:
        raise LogCorrupt(str(stored.offset), "these facts have no payload")
    try:
        return decode_record(stored.payload)
    except ValueError as error:
        raise LogCorrupt(str(stored.offset), str(error)) from error


def new_record(record: FactRecord, topics: FactTopics = FACT_TOPICS) -> NewRecord:
    """The facts of one event as a record of the log."""
    topic = topics.public if record.namespace == PUBLIC else topics.own
    envelope = orjson.dumps({"raw": [record.topic, record.partition, record.offset]})
    # The hash of the event, not of these bytes: a newer extractor's facts of the same event are the same record.
    names = (record.namespace, record.source, record.id, record.content_hash)
    return NewRecord(topic, *names, envelope, encode_record(record), record.offset)


def _letter(stored: Stored, reason: str, index: int) -> NewLetter:
    key = f"extract:{stored.offset}:{index}"
    return NewLetter(stored.namespace, "extract", reason[:REASON_CHARS_MAX], whole_event(stored), key)
