"""The limits: what the libraries underneath do with the same bytes and rows, and nothing else."""

import sqlite3
import time
from collections.abc import Sequence
from pathlib import Path

import duckdb
import orjson

from benchmarks.bulk import fill
from benchmarks.events import batches
from benchmarks.report import Line, median
from benchmarks.shape import Shape, make_shape

ORJSON = "orjson decode"
SQLITE = "bare SQLite append"
SQLITE_ONE = "bare SQLite append of one"
DUCKDB = "bare DuckDB insert"
BATCH = 1_000


def measure(folder: Path, quick: bool) -> list[Line]:
    """Every limit."""
    count = 10_000 if quick else 50_000
    events = list(batches(0, count, BATCH))
    bare = BareLog(folder / "bare.sqlite")
    seconds = [bare.append(batch) for batch in events]
    one = [bare.append([event]) for batch in batches(count, 500, BATCH) for event in batch]
    bare.close()
    return [
        Line(ORJSON, _orjson(events), "events/s"),
        Line(SQLITE, BATCH / median(seconds), "events/s", note="WAL, synchronous FULL, unique id, batches of 1,000"),
        Line(SQLITE_ONE, median(one) * 1e3, "ms"),
        Line(DUCKDB, _duckdb(folder, count), "events/s", note="the same rows from memory to file, batches of 1,000"),
    ]


class BareLog:
    """A SQLite table of events by unique id: WAL, synchronous FULL, one transaction a batch."""

    def __init__(self, path: Path) -> None:
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = FULL")
        self._db.execute("CREATE TABLE event (position INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, bytes BLOB)")
        self._next = 0

    def append(self, events: Sequence[bytes]) -> float:
        """Append a batch; seconds that it took."""
        rows = [(f"01J9ZK3V5N8Q2R7T4W{self._next + at:08d}", event) for at, event in enumerate(events)]
        self._next += len(rows)
        started = time.perf_counter()
        self._db.execute("BEGIN IMMEDIATE")
        self._db.executemany("INSERT INTO event (id, bytes) VALUES (?, ?)", rows)
        self._db.execute("COMMIT")
        return time.perf_counter() - started

    def close(self) -> None:
        """Close the file."""
        self._db.close()


def _orjson(events: Sequence[Sequence[bytes]]) -> float:
    seconds: list[float] = []
    for batch in events:
        started = time.perf_counter()
        for event in batch:
            orjson.loads(event)
        seconds.append(time.perf_counter() - started)
    return BATCH / median(seconds)


def _duckdb(folder: Path, count: int) -> float:
    """Events a second when the rows of that many verdicts are copied from memory, one transaction for each batch."""
    shape: Shape = make_shape(count, ())
    filled = folder / "rows.duckdb"
    tables = fill(filled, shape)
    with duckdb.connect(":memory:") as db:
        db.execute(f"ATTACH '{filled}' AS filled (READ_ONLY)")
        db.execute(f"ATTACH '{folder / 'copied.duckdb'}' AS copied")
        for table in tables:
            db.execute(f"CREATE TABLE held_{table} AS SELECT *, row_number() OVER () - 1 AS nth FROM filled.{table}")
            db.execute(f"CREATE TABLE copied.{table} AS SELECT * FROM filled.{table} LIMIT 0")
        sizes = {table: db.execute(f"SELECT count(*) FROM held_{table}").fetchall()[0][0] for table in tables}
        parts = count // BATCH
        seconds = [_copy(db, sizes, part, parts) for part in range(parts)]
    return BATCH / median(seconds)


def _copy(db: duckdb.DuckDBPyConnection, sizes: dict[str, int], part: int, parts: int) -> float:
    started = time.perf_counter()
    db.execute("BEGIN")
    for table, size in sizes.items():
        span = [size * part // parts, size * (part + 1) // parts]
        db.execute(
            f"INSERT INTO copied.{table} SELECT * EXCLUDE (nth) FROM held_{table} WHERE nth >= ? AND nth < ?", span
        )
    db.execute("COMMIT")
    return time.perf_counter() - started
