"""The limits: what the libraries underneath do with the same bytes and rows, and nothing else."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path

import duckdb
import numpy as np
import orjson

from benchmarks.bulk import IDS, fill
from benchmarks.events import batches
from benchmarks.report import Line, Spans
from benchmarks.shape import Shape, make_shape

ORJSON = "orjson decode"
SQLITE = "bare SQLite append"
SQLITE_ONE = "bare SQLite append of one"
DUCKDB = "bare DuckDB insert"
DUCKDB_POINT = "bare DuckDB point select"
DUCKDB_IDS = "bare DuckDB insert of 100,000 ids"
BATCH = 1_000


def measure(folder: Path, quick: bool) -> list[Line]:
    """Every limit."""
    count = 10_000 if quick else 50_000
    events = list(batches(0, count, BATCH))
    bare = BareLog(folder / "bare.sqlite")
    whole, one = Spans(), Spans()
    for batch in events:
        with whole.span():
            bare.append(batch)
    for batch in batches(count, 500, BATCH):
        for event in batch:
            with one.span():
                bare.append([event])
    bare.close()
    return [
        _orjson(events).rate(ORJSON, BATCH),
        whole.rate(SQLITE, BATCH, note="WAL, synchronous FULL, unique id, batches of 1,000"),
        one.line(SQLITE_ONE),
        _duckdb(folder, count).rate(DUCKDB, BATCH, note="the same rows from memory to file, batches of 1,000"),
    ]


class BareLog:
    """A SQLite table of events by unique id: WAL, synchronous FULL, one transaction a batch."""

    def __init__(self, path: Path) -> None:
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = FULL")
        self._db.execute("CREATE TABLE event (position INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, bytes BLOB)")
        self._next = 0

    def append(self, events: Sequence[bytes]) -> None:
        """Append a batch."""
        rows = [(f"01J9ZK3V5N8Q2R7T4W{self._next + at:08d}", event) for at, event in enumerate(events)]
        self._next += len(rows)
        self._db.execute("BEGIN IMMEDIATE")
        self._db.executemany("INSERT INTO event (id, bytes) VALUES (?, ?)", rows)
        self._db.execute("COMMIT")

    def close(self) -> None:
        """Close the file."""
        self._db.close()


def measure_graph(folder: Path, view: Path, nodes: int) -> list[Line]:
    """What DuckDB alone takes to read one row of a large view by its key, and to write what a large failure reaches."""
    slots = np.random.default_rng(2).integers(0, nodes, 500) * IDS + IDS
    with duckdb.connect(str(view), read_only=True, config={"threads": 2}) as db:
        query = "SELECT m.value, d.node FROM memory AS m LEFT JOIN down AS d ON d.node = m.support WHERE m.slot = ?"
        reads = Spans()
        for slot in slots.tolist():
            with reads.span():
                db.execute(query, [slot]).fetchall()
    ids = np.arange(100_000, dtype=np.int32)
    with duckdb.connect(str(folder / "ids.duckdb"), config={"threads": 2}) as db:
        db.execute("CREATE TABLE down (node INTEGER)")
        db.register("ids", {"node": ids})
        writes = Spans()
        for _ in range(7):
            with writes.span():
                db.execute("INSERT INTO down SELECT node FROM ids")
    return [
        reads.line(DUCKDB_POINT, note="one row by its key, joined to what is down"),
        writes.line(DUCKDB_IDS, note="one committed statement"),
    ]


def _orjson(events: Sequence[Sequence[bytes]]) -> Spans:
    spans = Spans()
    for batch in events:
        with spans.span():
            for event in batch:
                orjson.loads(event)
    return spans


def _duckdb(folder: Path, count: int) -> Spans:
    """The rows of that many verdicts are copied from memory, one transaction for each batch."""
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
        spans, parts = Spans(), count // BATCH
        for part in range(parts):
            with spans.span():
                _copy(db, sizes, part, parts)
    return spans


def _copy(db: duckdb.DuckDBPyConnection, sizes: dict[str, int], part: int, parts: int) -> None:
    db.execute("BEGIN")
    for table, size in sizes.items():
        span = [size * part // parts, size * (part + 1) // parts]
        db.execute(
            f"INSERT INTO copied.{table} SELECT * EXCLUDE (nth) FROM held_{table} WHERE nth >= ? AND nth < ?", span
        )
    db.execute("COMMIT")
