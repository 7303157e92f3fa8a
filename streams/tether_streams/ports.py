"""Ports of the runtimes: what a log promises, and what is driven by it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from tether_schemas.facts import FactRecord


@dataclass(frozen=True, slots=True)
class NewRecord:
    """One record to append. (namespace, source, id) identifies it within its topic; `content_hash` decides what is same.

    `envelope` and `payload` are bytes that stand apart in the log, so that a payload can be destroyed and history still
    replays: payload is the event's `data`, envelope everything else (JSON each).
    """

    topic: str
    namespace: str
    source: str
    id: str
    content_hash: str
    envelope: bytes
    payload: bytes


@dataclass(frozen=True, slots=True)
class Appended:
    """Where a record stands. `duplicate`: it was there before, with the same content. `conflict`: with other content,
    and nothing was written (`offset` is then that of the record which is there)."""

    offset: int
    recorded_us: int
    duplicate: bool = False
    conflict: bool = False


@dataclass(frozen=True, slots=True)
class Stored:
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
    """An append-only log of topics. Offsets rise within the log and are never reused; recorded time never decreases."""

    def append(self, records: Sequence[NewRecord]) -> list[Appended]:
        """Append a batch, one answer per record, in order, in one transaction.

        When it returns, every record is durable: it survives a crash of the process and of the machine. When it raises,
        none of the batch is there. Safe from many threads and processes at once.
        """
        ...

    def read(self, topics: Sequence[str], after: int, limit: int) -> list[Stored]:
        """At most `limit` records of `topics` with an offset above `after`, by offset. Never blocks an append, and never
        shows an offset before all lower ones are settled."""
        ...

    def end(self, topics: Sequence[str]) -> int:
        """The highest offset in `topics`; 0 when they are empty."""
        ...

    def close(self) -> None:
        """Release everything. What was appended stays."""
        ...


class View(Protocol):
    """What the runtime drives: it takes fact records in any order and makes rows of them."""

    def position(self) -> int:
        """The offset in the topic `facts` up to which everything is applied; 0 at the start."""
        ...

    def apply(self, records: Sequence[FactRecord], position: int) -> None:
        """Apply a batch: rows, position and changes in one transaction. Applying again what was applied changes nothing."""
        ...
