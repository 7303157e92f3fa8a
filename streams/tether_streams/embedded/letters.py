"""Dead letters of a data directory: ports.Letters in the log's file."""

from collections.abc import Callable, Sequence

from tether_schemas.answers import DeadLetter
from tether_schemas.times import us_text

from tether_streams.embedded.database import Database
from tether_streams.ports import READ_BYTES_MAX, NewLetter

_INSERT = """
INSERT INTO dead_letters (letter_key, namespace, stage, reason, recorded_us, payload) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (letter_key) DO NOTHING
"""
_BY_KEY = "SELECT id FROM dead_letters WHERE letter_key = ?"
_COLUMNS = "SELECT id, namespace, stage, reason, recorded_us, payload, replayed FROM dead_letters"
_LIST = f"{_COLUMNS} WHERE id > ? ORDER BY id LIMIT ?"
_GET = f"{_COLUMNS} WHERE id = ?"
_MARK = "UPDATE dead_letters SET replayed = 1 WHERE id = ?"

_Row = tuple[int, str | None, str, str, int, bytes, int]


class SqliteLetters:
    """ports.Letters beside the records: what is added is durable as an append is."""

    def __init__(self, database: Database, clock_us: Callable[[], int]) -> None:
        self._database = database
        self._clock_us = clock_us

    def add(self, letters: Sequence[NewLetter]) -> list[int]:
        ids: list[int] = []
        with self._database.write() as writer:
            recorded_us = self._clock_us()
            for new in letters:
                row = (new.key, new.namespace, new.stage, new.reason, recorded_us, new.payload)
                added = writer.execute(_INSERT, row)
                if added.rowcount and added.lastrowid is not None:
                    ids.append(added.lastrowid)
                else:
                    ids.append(writer.execute(_BY_KEY, (new.key,)).fetchone()[0])
        return ids

    def list(self, after: int, limit: int) -> list[DeadLetter]:
        found: list[DeadLetter] = []
        held = 0
        with self._database.read() as cursor:
            for row in cursor.execute(_LIST, (after, max(limit, 0))):
                found.append(_letter(row))
                held += len(found[-1].payload)
                if held >= READ_BYTES_MAX:
                    break
        return found

    def get(self, letter_id: int) -> DeadLetter | None:
        with self._database.read() as cursor:
            row = cursor.execute(_GET, (letter_id,)).fetchone()
        return None if row is None else _letter(row)

    def mark_replayed(self, letter_id: int) -> bool:
        with self._database.write() as writer:
            return writer.execute(_MARK, (letter_id,)).rowcount > 0


def _letter(row: _Row) -> DeadLetter:
    letter_id, namespace, stage, reason, recorded_us, payload, replayed = row
    return DeadLetter(letter_id, namespace, stage, reason, us_text(recorded_us), payload, bool(replayed))
