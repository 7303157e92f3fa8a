"""The DuckDB file of one view generation. The only import of duckdb."""

import re
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

import duckdb
import numpy as np
from numpy.typing import NDArray
from tether_schemas.errors import DataDirectory, ViewLocked, ViewUnavailable

from tether_projections.columns import NUMPY_TYPES, as_array, delete, ids_in, insert
from tether_projections.waiting import FEW, Append, Columns, Delete, Part, Queue, Row, Update

SCHEMA_VERSION = 1
MANY = 64
ROWS_MAX = 40_000  # rows that may wait: a large write costs two thirds a row of what one of 1,000 does
BATCHES_MAX = 64
Parameters = Iterable[Any] | dict[str, Any]
Values = Sequence[Any] | NDArray[Any]


@contextmanager
def interruptible() -> Generator[None]:
    """Ctrl-C during a statement is KeyboardInterrupt, as anywhere else; duckdb makes a RuntimeError of it."""
    try:
        yield
    except RuntimeError as error:
        if str(error) != "Query interrupted":
            raise
        raise KeyboardInterrupt from error


def in_memory() -> Any:
    """A database without a file, for work on files that are no views."""
    return duckdb.connect(":memory:", config={"threads": 1})


DuckError, DuckFileError = duckdb.Error, duckdb.IOException


@contextmanager
def named_errors(path: str) -> Generator[None]:
    """What the disk or the memory of the machine refuses is told as such, with what to do."""
    try:
        yield
    except (duckdb.IOException, duckdb.FatalException, duckdb.OutOfMemoryException) as error:
        raise ViewUnavailable(path, str(error).partition("\n")[0]) from error


def _given(parameters: Parameters) -> list[Any] | dict[str, Any]:
    return cast(dict[str, Any], parameters) if isinstance(parameters, dict) else list(parameters)


def _not_opened(path: str, error: duckdb.Error) -> Exception:
    text = str(error)
    if not isinstance(error, duckdb.IOException):
        return DataDirectory(path, f"the view cannot be read: {text}; rebuild it")
    if "lock" not in text.lower():
        return DataDirectory(path, f"the view cannot be opened: {text}; rebuild it")
    owner = re.search(r"held in (.*?)(?: \(|$).*?PID (\d+)", text)
    return ViewLocked(path, f"process {owner[2]} ({owner[1]})" if owner else "another process")


def _check_schema(path: str, version: int) -> None:
    if version != SCHEMA_VERSION:
        word = "newer" if version > SCHEMA_VERSION else "older"
        raise DataDirectory(path, f"the view has schema {version}, {word} than {SCHEMA_VERSION}; rebuild it or upgrade")


class ViewStore:
    """One DuckDB file: transactions, batched appends, and reads. Not safe for use by two threads at once."""

    def __init__(self, path: str, memory_limit_mb: int = 1024, threads: int = 2) -> None:
        self.path = path
        fresh = path == ":memory:" or not Path(path).exists()
        try:
            self._db = duckdb.connect(path, config={"memory_limit": f"{memory_limit_mb}MB", "threads": threads})
        except duckdb.Error as error:
            raise _not_opened(path, error) from None
        self._appenders: dict[str, Any] = {}
        self._settled = Queue()  # of transactions that are done and wait
        self._own = Queue()  # of the transaction that is being made
        self._inside = False
        self._open = False  # the file has a transaction open: that one's
        self.lost = 0  # how often transactions that were done could not be written
        self._columns: dict[str, list[tuple[str, type[np.generic] | None]]] = {}
        if (
            fresh
            or not self._db.execute("SELECT 1 FROM information_schema.tables WHERE table_name = 'meta'").fetchall()
        ):
            self._create()
        try:
            _check_schema(path, int(self.meta("schema", "0")))
        except DataDirectory:
            self._db.close()
            raise

    def _create(self) -> None:
        self._db.execute("BEGIN")
        self._db.execute(files("tether_projections").joinpath("tables.sql").read_text())
        self._db.execute("INSERT INTO meta VALUES ('schema', ?)", [str(SCHEMA_VERSION)])
        self._db.execute("COMMIT")

    @contextmanager
    def transaction(self) -> Generator[None]:
        """Everything inside, or nothing.

        A small transaction waits, to be written together with the next ones or before a read that must see it. What a
        crash loses is applied again from the log, since its position is lost with it.
        """
        self._inside = True
        try:
            with named_errors(self.path):
                yield
                self._settle()
        except BaseException:
            self._roll_back()
            raise
        finally:
            self._own = Queue()
            self._inside = False

    def _settle(self) -> None:
        if self._open:
            self._write(self._own)
            self._db.execute("COMMIT")
            self._open = False
        else:
            self._settled.take(self._own)
            if self._settled.rows >= ROWS_MAX or self._settled.batches >= BATCHES_MAX:
                self._flush_settled()

    def commit(self) -> None:
        """Write whatever waits. Raises when it cannot be written; then it is gone, and `lost` has grown."""
        if not self._inside:
            with named_errors(self.path):
                self._flush_settled()

    def _flush_settled(self) -> None:
        if not self._settled:
            return
        waiting, self._settled = self._settled, Queue()
        try:
            self._db.execute("BEGIN")
            self._write(waiting)
            self._db.execute("COMMIT")
        except BaseException:
            self.lost += 1
            self._roll_back()
            raise

    def _roll_back(self) -> None:
        for appender in self._appenders.values():
            appender.clear()
        with suppress(duckdb.Error):  # there may be no transaction left to roll back
            self._db.execute("ROLLBACK")
        self._open = False

    def _see(self, table: str | None, column: str = "", ids: Sequence[int] = ()) -> None:
        """Write what waits, if a read of these rows (None: of anything) must see it."""
        if self._settled.touches(table, column, ids):
            self._flush_settled()
        if self._inside and self._own.touches(table, column, ids):
            self._begin()
            self._write(self._own)
            self._own = Queue()

    def _begin(self) -> None:
        assert self._inside, "writes belong in a transaction: nothing would commit this one"
        if not self._open:
            self._flush_settled()
            self._db.execute("BEGIN")
            self._open = True

    def _write(self, queue: Queue) -> None:
        for one in queue.operations():
            match one:
                case Append(table, rows):
                    self._append(table, rows)
                case Delete(table, column, ids):
                    delete(self._db, table, column, ids)
                case Columns(table, _):
                    insert(self._db, table, *one.joined())
                case Update(_, sql, parameters):
                    self._db.execute(sql, list(parameters))

    def append(self, table: str, rows: Sequence[Row]) -> None:
        """Append rows, one value per column of the table, in its order. Within a transaction, as all that writes."""
        if rows:
            self._own.append(table, rows)

    def append_columns(self, table: str, columns: Mapping[str, Values], same: dict[str, Any]) -> None:
        """Append many rows as columns of equal length; `same`: columns that have one value in all of them.

        The first is an array, as are ids. Of the others those with one value become `same`, those of NULL are left out.
        """
        arrays: dict[str, NDArray[Any]] = {}
        same = dict(same)
        types = dict(self._columns_of(table))
        for name, values in columns.items():
            if isinstance(values, np.ndarray):
                arrays[name] = values
            elif values.count(values[0]) == len(values):
                same[name] = values[0]
            else:
                arrays[name] = as_array(values, types[name])
        part = Part(arrays, {name: value for name, value in same.items() if value is not None})
        self._own.append_part(table, part)

    def delete(self, table: str, column: str, ids: Sequence[int]) -> None:
        """Delete the rows whose integer column is one of `ids`."""
        if ids:
            self._own.add(Delete(table, column, ids))

    def update(self, table: str, sql: str, parameters: Iterable[Any]) -> None:
        """Run a statement that changes one table, in order with its appends and deletions."""
        self._own.add(Update(table, sql, tuple(parameters)))

    def drain(self) -> None:
        """Write what the transaction has so far; it stays open."""
        self._see(None)

    def execute(self, sql: str, parameters: Parameters = ()) -> None:
        """Run a statement now, after everything that waits."""
        self._see(None)
        self._begin()
        self._db.execute(sql, _given(parameters))

    def _append(self, table: str, rows: Sequence[Row]) -> None:
        if len(rows) >= MANY:
            self._append_columns(table, rows)
        else:
            appender = self._appenders.get(table)
            if appender is None:
                appender = self._appenders[table] = self._db.appender(table)
            appender.append_rows(rows)
            appender.flush()

    def _append_columns(self, table: str, rows: Sequence[Row]) -> None:
        """Append many rows as numpy columns, a third cheaper than row by row; all-NULL columns are left out."""
        columns = {
            name: as_array(values, dtype)
            for (name, dtype), values in zip(self._columns_of(table), zip(*rows, strict=True), strict=True)
            if any(value is not None for value in values)
        }
        insert(self._db, table, columns, {})

    def _columns_of(self, table: str) -> list[tuple[str, type[np.generic] | None]]:
        """Names of a table's columns, with the numpy type of those that are numbers."""
        found = self._columns.get(table)
        if found is None:
            found = [(name, NUMPY_TYPES.get(kind)) for name, kind in self.columns(table)]
            self._columns[table] = found
        return found

    def where(self, select: str, table: str, column: str, ids: Sequence[int]) -> list[Row]:
        """Rows of a table whose integer column is one of `ids`: a point read each where few, else one join."""
        if not ids:
            return []
        overlay = (
            None
            if self._inside and self._own.touches(table, column, ids)
            else self._waiting(select, table, column, ids)
        )
        if overlay is None:
            self._see(table, column, ids)
            return self._stored(select, table, column, ids)
        waiting, hidden = overlay
        return self._stored(select, table, column, [one for one in ids if one not in hidden]) + waiting

    def _waiting(self, select: str, table: str, column: str, ids: Sequence[int]) -> tuple[list[Row], set[int]] | None:
        """Rows that wait, as a read gives them, and ids whose stored rows are gone; None where it cannot be told."""
        if not self._settled.touches(table, column, ids):
            return [], set()
        places = {name: place for place, (name, _) in enumerate(self._columns_of(table))}
        names = [name.strip() for name in select.split(",")]
        known = all(name in places for name in names)
        found = self._settled.overlay(table, column, ids, list(places)) if known else None
        if found is None:
            return None
        return [tuple(row[places[name]] for name in names) for row in found[0]], found[1]

    def _stored(self, select: str, table: str, column: str, ids: Sequence[int]) -> list[Row]:
        if len(ids) <= FEW:
            query = f"SELECT {select} FROM {table} WHERE {column} = ?"
            return [row for one in ids for row in self._db.execute(query, [int(one)]).fetchall()]
        with ids_in(self._db, ids):
            return self._db.execute(f"SELECT {select} FROM {table} SEMI JOIN ids_in ON {column} = ids_in.id").fetchall()

    def rows(self, sql: str, parameters: Parameters = (), table: str | None = None) -> list[Row]:
        """All rows of a query with `?` parameters, or named ones; `table` names the one table that it reads, if so."""
        self._see(table)
        return self._db.execute(sql, _given(parameters)).fetchall()

    def numpy(self, sql: str) -> dict[str, NDArray[Any]]:
        """The columns of a query as arrays; the query has no NULL."""
        self._see(None)
        return cast(dict[str, NDArray[Any]], cast(Any, self._db.execute(sql)).fetchnumpy())

    def copy_parquet(self, path: str, query: str, given: Mapping[str, Mapping[str, NDArray[Any]]]) -> int:
        """Write a query's rows into a new Parquet file; how many. `given`: columns that it reads as tables by name."""
        self._see(None)
        for name, columns in given.items():
            self._db.register(name, dict(columns))
        try:
            done = self._db.execute(f"COPY ({query}) TO ? (FORMAT parquet)", [path]).fetchone()
        finally:
            for name in given:
                self._db.unregister(name)
        return 0 if done is None else int(done[0])

    def meta(self, name: str, default: str) -> str:
        """One value of the meta table."""
        row = self._db.execute("SELECT value FROM meta WHERE name = ?", [name]).fetchone()
        return default if row is None else str(row[0])

    def set_meta(self, name: str, value: str) -> None:
        """Set one value of the meta table."""
        self.update("meta", "DELETE FROM meta WHERE name = ?", [name])
        self.update("meta", "INSERT INTO meta VALUES (?, ?)", [name, value])

    def checkpoint(self) -> None:
        """Move everything into the one file, so that nothing stands beside it any more."""
        self.commit()
        with named_errors(self.path):
            self._db.execute("CHECKPOINT")

    def attach(self, path: str, name: str) -> None:
        """Attach another view's file of this schema, for reading, as `name`. Raises ViewLocked where another process
        has it open, DataDirectory where it is no such file."""
        self.commit()
        try:
            quoted = path.replace("'", "''")
            self._db.execute(f"ATTACH '{quoted}' AS {name} (READ_ONLY)")
        except duckdb.Error as error:
            raise _not_opened(path, error) from None
        try:
            found = self._db.execute(f"SELECT value FROM {name}.meta WHERE name = 'schema'").fetchone()
            _check_schema(path, 0 if found is None else int(found[0]))
        except duckdb.Error as error:
            self.detach(name)
            raise DataDirectory(path, f"is no view: {str(error).partition(chr(10))[0]}; name another file") from None
        except DataDirectory:
            self.detach(name)
            raise

    def copy_to(self, path: str) -> None:
        """Copy everything into a new file: what is in the rows now, and nothing of what was in them before."""
        self.commit()
        quoted = path.replace("'", "''")
        (own,) = self._db.execute("SELECT current_database()").fetchall()[0]
        with named_errors(path):
            self._db.execute(f"ATTACH '{quoted}' AS copied")
            self._db.execute(f'COPY FROM DATABASE "{own}" TO copied')
            self._db.execute("CHECKPOINT copied")
            self._db.execute("DETACH copied")

    def detach(self, name: str) -> None:
        """Let go of an attached file."""
        self._db.execute(f"DETACH {name}")

    def truncate(self, keep: Sequence[str]) -> None:
        """Empty every table but those named."""
        self._see(None)
        self._begin()
        for table in self.tables():
            if table not in keep:
                self._db.execute(f"DELETE FROM {table}")

    def clear(self) -> None:
        """Drop everything, what waits unwritten: for a view in memory that is used again for another one."""
        self._settled = Queue()
        with self.transaction():
            self._begin()
            tables = "SELECT table_name FROM duckdb_tables() WHERE table_name <> 'meta' AND estimated_size > 0"
            for (table,) in self._db.execute(tables).fetchall():
                self._db.execute(f"DELETE FROM {table}")

    def tables(self) -> list[str]:
        """The view's own tables, sorted."""
        own = "NOT temporary AND database_name = current_database()"
        found = self._db.execute(f"SELECT table_name FROM duckdb_tables() WHERE {own} ORDER BY 1").fetchall()
        return [str(row[0]) for row in found]

    def columns(self, table: str) -> list[tuple[str, str]]:
        """Name and type of each column of a table, in its order."""
        own = "table_name = ? AND database_name = current_database() ORDER BY column_index"
        found = self._db.execute(f"SELECT column_name, data_type FROM duckdb_columns() WHERE {own}", [table])
        return [(str(name), str(kind)) for name, kind in found.fetchall()]

    def close(self) -> None:
        """Write what waits, close the file and free its lock."""
        self.commit()
        self._appenders.clear()
        self._db.close()
