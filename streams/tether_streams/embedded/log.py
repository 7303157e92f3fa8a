"""The log of a data directory: ports.Log on one SQLite file."""

import sqlite3
from collections.abc import Callable, Sequence
from itertools import repeat
from typing import Self

from tether_schemas.errors import BadRequest

from tether_streams.embedded.compaction import Archive
from tether_streams.embedded.database import Database, Options, Synchronous
from tether_streams.embedded.group import GroupCommit
from tether_streams.embedded.letters import SqliteLetters
from tether_streams.ports import READ_BYTES_MAX, Appended, NewRecord, Segments, Stored, identity_class

GROUP_RECORDS_MAX = 10_000
LOOKUP_ROWS = 150  # per statement: five parameters each, under the 999 that every SQLite allows
MADE_ROWS = 400  # per statement and class, under the 999 as well

_LAST = "SELECT offset, recorded_us FROM records ORDER BY offset DESC LIMIT 1"
_INSERT = """
INSERT INTO records (class, topic, partition, recorded_us, namespace, source, id, content_hash, made_of, envelope)
VALUES (?, ?, 0, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT DO NOTHING
"""
_INSERT_PAYLOAD = "INSERT INTO payloads (offset, alg, key_id, bytes) VALUES (?, 'none', 'none', ?)"
_LOOKUP = """
WITH asked (class, namespace, source, id, made_of) AS (VALUES {rows})
SELECT a.class, a.namespace, a.source, a.id, a.made_of, r.offset, r.recorded_us, r.content_hash
FROM asked AS a CROSS JOIN records AS r USING (class, namespace, source, id)
WHERE a.made_of IS NULL AND r.made_of IS NULL
UNION ALL
SELECT a.class, a.namespace, a.source, a.id, a.made_of, r.offset, r.recorded_us, r.content_hash
FROM asked AS a CROSS JOIN records AS r USING (made_of, class)
WHERE r.made_of IS NOT NULL
"""
# Rows come in the order of `wanted`, since SQLite never reorders a CROSS JOIN; sorting again would hold all payloads.
_READ = """
SELECT
    r.topic, r.partition, r.offset, r.recorded_us,
    coalesce(r.namespace, o.namespace), coalesce(r.source, o.source), coalesce(r.id, o.id),
    r.content_hash, r.envelope, p.bytes
FROM ({offsets} ORDER BY offset LIMIT ?) AS wanted
CROSS JOIN records AS r USING (offset)
LEFT JOIN payloads AS p USING (offset)
LEFT JOIN records AS o ON o.offset = r.made_of
"""
_OFFSETS = "SELECT offset FROM records WHERE topic = ? AND offset > ?"
_MADE = "SELECT offset FROM records WHERE class = ? AND made_of IN ({places}) AND made_of IS NOT NULL"
_END = "SELECT coalesce(max(offset), 0) FROM records WHERE topic = ?"
_NAMED = """
SELECT offset FROM records
WHERE class = :class AND namespace = :namespace AND source = :source AND id = :id AND made_of IS NULL
UNION ALL
SELECT made.offset FROM records AS origin CROSS JOIN records AS made ON made.made_of = origin.offset
WHERE
    origin.class = 'raw' AND origin.namespace = :namespace AND origin.source = :source AND origin.id = :id
    AND origin.made_of IS NULL AND made.class = :class AND made.made_of IS NOT NULL
"""

_Identity = tuple[str, str, str, str, int | None]


class SqliteLog:
    """ports.Log on `log.sqlite`. SQLite's one writer at a time assigns offsets inside the commit; write-ahead logging
    lets readers and the writer be. Appends of several threads that wait at the same time share one commit."""

    def __init__(self, database: Database, clock_us: Callable[[], int], segments: Segments | None = None) -> None:
        self._database = database
        self._archive = Archive(database, segments)
        self._clock_us = clock_us
        self._group = GroupCommit(self._transact, GROUP_RECORDS_MAX)
        self.letters = SqliteLetters(database, clock_us)

    @classmethod
    def open(
        cls,
        path: str,
        *,
        synchronous: Synchronous = "FULL",
        clock_us: Callable[[], int],
        busy_timeout_ms: int = 30_000,
        segments: Segments | None = None,
    ) -> Self:
        """Open or make the log at `path`. `clock_us` gives microseconds since the epoch.

        With `synchronous` NORMAL the latest appends may be lost when the machine crashes, never when the process does.
        `busy_timeout_ms` bounds the waiting for another process; `segments` are the files of old payloads, if any.
        Raises DataDirectory when the file is foreign, of a newer schema, or has no folder.
        """
        return cls(Database(path, Options(synchronous, busy_timeout_ms)), clock_us, segments)

    def append(self, records: Sequence[NewRecord]) -> list[Appended]:
        if not records:
            return []
        try:
            return self._group.submit(records)
        except (UnicodeEncodeError, sqlite3.DataError) as error:
            raise BadRequest("records", f"cannot be stored: {error}") from error

    def read(self, topics: Sequence[str], after: int, limit: int) -> list[Stored]:
        names = sorted(set(topics))
        if not names:
            return []
        sql = _READ.format(offsets=" UNION ALL ".join([_OFFSETS] * len(names)))
        found: list[Stored] = []
        held = 0
        with self._database.read() as cursor:
            for row in cursor.execute(sql, [*(value for name in names for value in (name, after)), max(limit, 0)]):
                stored = Stored._make(row)
                found.append(stored)
                held += len(stored.envelope) + len(stored.payload or b"")
                if held >= READ_BYTES_MAX:
                    break
        return self._archive.fill(found)

    def read_made(self, topics: Sequence[str], offsets: Sequence[int]) -> list[Stored]:
        """The records of `topics` that say that they are made of those at these offsets, by offset."""
        found: list[Stored] = []
        classes = sorted({identity_class(topic) for topic in topics})
        with self._database.read() as cursor:
            for start in range(0, len(offsets), MADE_ROWS):
                chunk = offsets[start : start + MADE_ROWS]
                made = _MADE.format(places=", ".join("?" * len(chunk)))
                sql = _READ.format(offsets=" UNION ALL ".join([made] * len(classes)))
                values = [value for name in classes for value in (name, *chunk)]
                found += map(Stored._make, cursor.execute(sql, [*values, len(values)]))
        found.sort(key=lambda one: one.offset)
        whole: list[Stored] = []
        while len(whole) < len(found):
            whole += self._archive.fill(found[len(whole) :])
        return whole

    def end(self, topics: Sequence[str]) -> int:
        with self._database.read() as cursor:
            return max((cursor.execute(_END, (name,)).fetchone()[0] for name in set(topics)), default=0)

    def destroy_payload(self, topic: str, namespace: str, source: str, id: str) -> bool:
        """Destroy the payload bytes of a record, in the file and in its write-ahead log; the record stays and is read
        with payload None. True when they were there; calling again is safe, and finishes what was interrupted.

        Raises LogUnavailable when a reader keeps the old bytes in the write-ahead log for longer than the busy timeout:
        they are not read any more, but not yet overwritten.
        """
        with self._database.write() as writer:
            named = {"class": identity_class(topic), "namespace": namespace, "source": source, "id": id}
            offsets = [offset for (offset,) in writer.execute(_NAMED, named)]
            places = ", ".join("?" * len(offsets))
            gone = writer.execute(f"DELETE FROM payloads WHERE offset IN ({places})", offsets).rowcount
        self._database.scrub()
        return gone + self._archive.destroy(offsets) > 0

    def compact(self, keep_records: int, watch: Callable[[int, int], None]) -> tuple[int, int]:
        """Move the payloads of all but the newest `keep_records` records into segments; how many were moved, and the
        bytes of the files. Reads go on as before, a little slower; appends too. One process at a time."""
        with self._database.read() as cursor:
            (end,) = cursor.execute("SELECT coalesce(max(offset), 0) FROM records").fetchone()
        return self._archive.compact(max(0, end - keep_records), watch)

    def copy(self, path: str, watch: Callable[[int, int], None]) -> list[str]:
        """Copy the log as it is now into a new file, while others append; `watch` is called with pages done and in
        all. What the log held when this was called is in the copy, whole transactions only, but for the segments that
        the copy refers to: their names are the answer."""
        return self._database.copy(path, watch)

    def close(self) -> None:
        self._database.close()

    def _transact(self, batches: list[Sequence[NewRecord]]) -> list[list[Appended]]:
        with self._database.write() as writer:
            return [_insert(writer, batch, self._clock_us()) for batch in batches]


def _insert(writer: sqlite3.Connection, records: Sequence[NewRecord], now_us: int) -> list[Appended]:
    """Insert one batch inside a transaction. All new, the usual case, takes no look-up."""
    last, last_us = writer.execute(_LAST).fetchone() or (0, 0)
    recorded_us = max(now_us, last_us)
    classes = {topic: identity_class(topic) for topic in {record.topic for record in records}}
    rows = [
        (classes[topic], topic, recorded_us, namespace, source, id, content_hash, made_of, envelope)
        if made_of is None
        else (classes[topic], topic, recorded_us, None, None, None, content_hash, made_of, envelope)
        for topic, namespace, source, id, content_hash, envelope, _, made_of in records
    ]
    if writer.executemany(_INSERT, rows).rowcount == len(records):
        answers = list(map(Appended, range(last + 1, last + 1 + len(records)), repeat(recorded_us)))
        new = [(offset, one.payload) for offset, one in enumerate(records, last + 1) if one.payload is not None]
    else:
        answers, new = _compare(writer, records, last)
    writer.executemany(_INSERT_PAYLOAD, new)
    return answers


def _compare(
    writer: sqlite3.Connection, records: Sequence[NewRecord], last: int
) -> tuple[list[Appended], list[tuple[int, bytes]]]:
    """The answers of a batch of which some was there before, and the payloads of what is new."""
    identities = [(identity_class(r.topic), r.namespace, r.source, r.id, r.made_of) for r in records]
    there = _look_up(writer, identities)
    answers: list[Appended] = []
    new: dict[int, bytes | None] = {}
    for record, identity in zip(records, identities, strict=True):
        offset, recorded_us, content_hash = there[identity]
        if offset > last and offset not in new:
            new[offset] = record.payload
            answers.append(Appended(offset, recorded_us))
        else:
            same = content_hash == record.content_hash
            answers.append(Appended(offset, recorded_us, duplicate=same, conflict=not same))
    return answers, [(offset, payload) for offset, payload in new.items() if payload is not None]


def _look_up(writer: sqlite3.Connection, identities: list[_Identity]) -> dict[_Identity, tuple[int, int, str]]:
    """(offset, recorded_us, content_hash) of each identity that is there."""
    found: dict[_Identity, tuple[int, int, str]] = {}
    wanted = list(dict.fromkeys(identities))
    for start in range(0, len(wanted), LOOKUP_ROWS):
        chunk = wanted[start : start + LOOKUP_ROWS]
        sql = _LOOKUP.format(rows=", ".join(["(?, ?, ?, ?, ?)"] * len(chunk)))
        for kind, namespace, source, id, made_of, *place in writer.execute(sql, [it for row in chunk for it in row]):
            offset, recorded_us, content_hash = place
            found[kind, namespace, source, id, made_of] = (offset, recorded_us, content_hash)
    return found
