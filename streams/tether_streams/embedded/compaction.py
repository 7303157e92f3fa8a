"""Old payloads in files beside the log: moved there, read from there, and destroyed there.

A segment is a file and a range of offsets. Its row and the removal of what it holds from the log are one transaction,
so at any moment a payload is in one place. A file without a row is what a crash left; the next compaction removes it.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

from tether_schemas.errors import LogCorrupt, LogUnavailable

from tether_streams.embedded.database import Database
from tether_streams.ports import READ_BYTES_MAX, Payload, Segments, Stored

SEGMENT_RECORDS_MAX = 50_000
SEGMENT_BYTES_MAX = 64 * 1024 * 1024
ATTEMPTS_MAX = 5

_OLDEST = "SELECT offset, alg, key_id, bytes FROM payloads WHERE offset <= ? ORDER BY offset LIMIT ?"
_COVERING = "SELECT first, last, name FROM segments WHERE last >= ? AND first <= ? ORDER BY first"
_MOVED = "SELECT coalesce(max(last), 0) FROM segments"

Watch = Callable[[int, int], None]


class Archive:
    """The segments of one log. `segments` None: this process has nothing to read them with."""

    def __init__(self, database: Database, segments: Segments | None) -> None:
        self._database = database
        self._segments = segments

    @property
    def _files(self) -> Segments:
        if self._segments is None:
            raise LogUnavailable(self._database.path, "its old payloads lie in segments; open it through a Store")
        return self._segments

    def compact(self, until: int, watch: Watch) -> tuple[int, int]:
        """Move every payload up to an offset into segments; how many, and the bytes of the files.

        One process at a time; appends and reads go on. `watch` is called with offsets done and in all. A payload that
        somebody destroys meanwhile is destroyed.
        """
        self._clean()
        moved = size_bytes = 0
        while (made := self._move(until)) is not None:
            count, size, last = made
            moved, size_bytes = moved + count, size_bytes + size
            watch(last, until)
        self._database.release()
        return moved, size_bytes

    def _clean(self) -> None:
        with self._database.read() as cursor:
            known = {name for (name,) in cursor.execute("SELECT name FROM segments")}
        for name in self._files.names():
            if name not in known:
                self._files.remove(name)

    def _move(self, until: int) -> tuple[int, int, int] | None:
        for _ in range(ATTEMPTS_MAX):
            payloads = self._oldest(until)
            if not payloads:
                return None
            first, last = payloads[0].offset, payloads[-1].offset
            name = f"payloads-{first}-{last}-0"
            size = self._files.write(name, payloads)
            with self._database.write() as writer:
                within = "offset BETWEEN ? AND ?"
                (there,) = writer.execute(f"SELECT count(*) FROM payloads WHERE {within}", (first, last)).fetchone()
                if there == len(payloads):
                    writer.execute("INSERT INTO segments VALUES (?, ?, ?, ?)", (first, last, name, size))
                    writer.execute(f"DELETE FROM payloads WHERE {within}", (first, last))
                    return len(payloads), size, last
            self._files.remove(name)  # some were destroyed in between
        raise LogUnavailable(self._database.path, "payloads are being destroyed all the time; compact it later")

    def _oldest(self, until: int) -> list[Payload]:
        found: list[Payload] = []
        held = 0
        with self._database.read() as cursor:
            (after,) = cursor.execute(_MOVED).fetchone()
            for row in cursor.execute(_OLDEST, (until, SEGMENT_RECORDS_MAX)):
                if row[0] <= after:
                    raise LogCorrupt(str(row[0]), "its payload stands in the log and in a segment")
                found.append(Payload._make(row))
                held += len(row[3])
                if held >= SEGMENT_BYTES_MAX:
                    break
        return found

    def fill(self, records: Sequence[Stored]) -> list[Stored]:
        """Records with the payloads that were moved; as many from the first on as fit in READ_BYTES_MAX."""
        bare = [one.offset for one in records if one.payload is None]
        if not bare:
            return list(records)
        for _ in range(ATTEMPTS_MAX):
            try:
                return self._filled(records, self._covering(bare[0], bare[-1]))
            except FileNotFoundError:  # it was written anew, without what was destroyed
                continue
        raise LogCorrupt(str(bare[0]), "the segment that holds its payload is missing")

    def _covering(self, first: int, last: int) -> list[tuple[int, int, str]]:
        with self._database.read() as cursor:
            return cursor.execute(_COVERING, (first, last)).fetchall()

    def _filled(self, records: Sequence[Stored], covering: Iterable[tuple[int, int, str]]) -> list[Stored]:
        found: list[Stored] = []
        held = 0
        moved = self._payloads(records, covering)
        latest = next(moved, None)
        for one in records:
            if one.payload is None:
                while latest is not None and latest.offset < one.offset:
                    latest = next(moved, None)
                if latest is not None and latest.offset == one.offset:
                    one = one._replace(payload=latest.data)
            found.append(one)
            held += len(one.envelope) + len(one.payload or b"")
            if held >= READ_BYTES_MAX:
                break
        return found

    def _payloads(self, records: Sequence[Stored], covering: Iterable[tuple[int, int, str]]) -> Iterator[Payload]:
        lowest, highest = records[0].offset, records[-1].offset
        for first, last, name in covering:
            yield from self._files.read(name, max(first, lowest), min(last, highest))

    def destroy(self, offsets: Iterable[int]) -> int:
        """Destroy moved payloads: their files are written anew without them. How many were there."""
        gone = 0
        for offset in offsets:
            for _ in range(ATTEMPTS_MAX):
                done = self._destroy(offset)
                if done is not None:
                    gone += done
                    break
        return gone

    def _destroy(self, offset: int) -> int | None:
        """1 when it was there, 0 when not, None when the file changed meanwhile."""
        covering = self._covering(offset, offset)
        if not covering:
            return 0
        first, last, name = covering[0]
        try:
            kept = list(self._files.read(name, first, last))
        except FileNotFoundError:
            return None
        left = [one for one in kept if one.offset != offset]
        if len(left) == len(kept):
            return 0
        stem, _, generation = name.rpartition("-")
        new = f"{stem}-{int(generation) + 1}"
        size = self._files.write(new, left)
        with self._database.write() as writer:
            sql = "UPDATE segments SET name = ?, size_bytes = ? WHERE first = ? AND name = ?"
            changed = writer.execute(sql, (new, size, first, name)).rowcount
        if changed:
            self._files.remove(name)
            return 1
        return None
