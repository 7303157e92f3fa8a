"""Ports of the runtimes: what a log promises, and what is driven by it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from tether_schemas.answers import DeadLetter
from tether_schemas.facts import FactRecord
from tether_schemas.topics import FACTS, FACTS_PUBLIC, RAW

READ_BYTES_MAX = 64 * 1024 * 1024


def identity_class(topic: str) -> str:
    """Within which (namespace, source, id) names one record: all raw topics are one class, both topics of facts
    another, every other topic a class of its own."""
    if topic in RAW:
        return "raw"
    return "facts" if topic in (FACTS, FACTS_PUBLIC) else topic


class NewRecord(NamedTuple):
    """One record to append. (namespace, source, id), compared by code point, identifies it within its topic's identity
    class; `content_hash` decides what is the same.

    `envelope` and `payload` are bytes that stand apart in the log, so that a payload can be destroyed and history still
    replays: payload is the event's `data`, envelope everything else (JSON each). None: it was destroyed before.

    `made_of`: of facts, the offset in this log of the record of the same (namespace, source, id) that they are made of.
    It says nothing new, so a log may tell equal facts by it; who gives it once gives it always.
    """

    topic: str
    namespace: str
    source: str
    id: str
    content_hash: str
    envelope: bytes
    payload: bytes | None
    made_of: int | None = None


class Appended(NamedTuple):
    """Where a record stands. `duplicate`: it was there before, or earlier in the batch, with the same content; offset
    and recorded time are then that one's. `conflict`: with other content, and nothing was written for it (offset and
    recorded time are those of the record which is there); the rest of its batch is written."""

    offset: int
    recorded_us: int
    duplicate: bool = False
    conflict: bool = False


class Stored(NamedTuple):
    """One record as read back. `payload` is None when it was destroyed."""

    topic: str
    partition: int
    offset: int
    recorded_us: int
    namespace: str
    source: str
    id: str
    content_hash: str
    envelope: bytes
    payload: bytes | None


class Log(Protocol):
    """An append-only log of topics. Offsets start at 1, rise within the log over all its topics and are never reused;
    recorded time never decreases, also when the clock goes back."""

    def append(self, records: Sequence[NewRecord]) -> list[Appended]:
        """Append a batch, one answer per record, in order, in one transaction.

        When it returns, every record is durable: it survives a crash of the process and of the machine. When it
        raises, none of the batch is there (after a failing disk or an interrupt in mid-call it may be, but whole:
        append again, and it is answered as a duplicate). Safe from many threads and processes at once. Raises
        BadRequest for text that has no UTF-8, LogUnavailable when the log is full, locked for too long or closed.
        """
        ...

    def read(self, topics: Sequence[str], after: int, limit: int) -> list[Stored]:
        """At most `limit` records of `topics` with an offset above `after`, by offset. Never blocks an append, and
        never shows an offset before all lower ones are settled: who has seen n can go on from n.

        It stops early once it holds READ_BYTES_MAX, so only an empty answer (with a limit above 0) means that there is
        nothing above `after`.
        """
        ...

    def end(self, topics: Sequence[str]) -> int:
        """The highest offset in `topics`; 0 when they are empty."""
        ...

    def close(self) -> None:
        """Release everything. What was appended stays; whatever is called afterwards raises LogUnavailable."""
        ...


@dataclass(frozen=True, slots=True)
class NewLetter:
    """One thing that cannot go on, whole; the caller bounds `payload`. Who may come by again after a crash gives a
    `key` (such as stage and offset): a second letter of that key is not added."""

    namespace: str | None
    stage: str
    reason: str
    payload: bytes
    key: str | None = None


class Letters(Protocol):
    """Dead letters: what could not go on, kept whole with the reason. The caller minds the wall between namespaces."""

    def add(self, letters: Sequence[NewLetter]) -> list[int]:
        """Keep letters, durably, in one transaction; their ids (rising, from 1) in order, for a key that is there
        already the id of the letter that has it."""
        ...

    def list(self, after: int, limit: int) -> list[DeadLetter]:
        """At most `limit` letters with an id above `after`, by id; stops early once it holds READ_BYTES_MAX."""
        ...

    def get(self, letter_id: int) -> DeadLetter | None:
        """One letter, or None."""
        ...

    def mark_replayed(self, letter_id: int) -> bool:
        """Note that a letter went back into the pipeline; it stays. False when there is none of that id."""
        ...


class Payload(NamedTuple):
    """The payload of one record, as it is stored: `alg` and `key_id` say how its bytes are encrypted."""

    offset: int
    alg: str
    key_id: str
    data: bytes


class Segments(Protocol):
    """Files of old payloads, each written once. Names are the caller's."""

    def write(self, name: str, payloads: Iterable[Payload]) -> int:
        """Write a file, by offset ascending; it is durable and whole when this returns its size in bytes, and under
        its name not before. Raises LogUnavailable when the disk is full."""
        ...

    def read(self, name: str, first: int, last: int) -> Iterator[Payload]:
        """The payloads with an offset from `first` to `last`, ascending. Raises FileNotFoundError where there is no
        such file, LogCorrupt where it cannot be read."""
        ...

    def names(self) -> list[str]:
        """The files that are there."""
        ...

    def remove(self, name: str) -> None:
        """Remove a file, there or not."""
        ...


class View(Protocol):
    """What the runtime drives: it takes fact records in any order and makes rows of them."""

    def position(self) -> int:
        """The offset in the topic `facts` up to which everything is applied; 0 at the start."""
        ...

    def apply(self, records: Sequence[FactRecord], position: int) -> None:
        """Apply a batch: rows, position and changes in one transaction. Applying again what was applied changes
        nothing."""
        ...
