"""The DuckDB file of one view generation. The only import of duckdb."""

import re
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

import duckdb
import numpy as np
from numpy.typing import NDArray
from tether_schemas.errors import DataDirectory, ViewLocked

SCHEMA_VERSION = 1
FEW = 12
MANY = 64
NUMPY_TYPES: dict[str, type[np.generic]] = {
    "INTEGER": np.int32,
    "BIGINT": np.int64,
    "TINYINT": np.int8,
    "BOOLEAN": np.bool_,
    "DOUBLE": np.float64,
}

Row = tuple[Any, ...]


class ViewStore:
    """One DuckDB file: transactions, batched appends, and reads. Not safe for use by two threads at once."""

    def __init__(self, path: str, memory_limit_mb: int = 1024, threads: int = 2) -> None:
        self.path = path
        fresh = path == ":memory:" or not Path(path).exists()
        try:
            self._db = duckdb.connect(path, config={"memory_limit": f"{memory_limit_mb}MB", "threads": threads})
        except duckdb.IOException as error:
            text = str(error)
            if "lock" in text.lower():
                owner = re.search(r"held in (.*?)(?: \(|$).*?PID (\d+)", text)
                raise ViewLocked(path, f"process {owner[2]} ({owner[1]})" if owner else "another process") from None
            raise DataDirectory(path, f"the view cannot be opened: {text}; rebuild it") from None
        except duckdb.Error as error:
            raise DataDirectory(path, f"the view cannot be read: {error}; rebuild it") from None
        self._appenders: dict[str, Any] = {}
        self._columns: dict[str, list[tuple[str, type[np.generic] | None]]] = {}
        if (
            fresh
            or not self._db.execute("SELECT 1 FROM information_schema.tables WHERE table_name = 'meta'").fetchall()
        ):
            self._create()
        version = int(self.meta("schema", "0"))
        if version != SCHEMA_VERSION:
            self._db.close()
            word = "newer" if version > SCHEMA_VERSION else "older"
            raise DataDirectory(
                path, f"the view has schema {version}, {word} than {SCHEMA_VERSION}; rebuild it or upgrade"
            )

    def _create(self) -> None:
        self._db.execute("BEGIN")
        self._db.execute(files("tether_projections").joinpath("tables.sql").read_text())
        self._db.execute("INSERT INTO meta VALUES ('schema', ?)", [str(SCHEMA_VERSION)])
        self._db.execute("COMMIT")

    @contextmanager
    def transaction(self) -> Generator[None]:
        """Everything inside, or nothing."""
        self._db.execute("BEGIN")
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException:
            for appender in self._appenders.values():
                appender.clear()
            self._db.execute("ROLLBACK")
            raise

    def append(self, table: str, rows: Sequence[Row]) -> None:
        """Append rows, one value per column of the table, in its order."""
        if len(rows) >= MANY:
            self._append_columns(table, rows)
        elif rows:
            appender = self._appenders.get(table)
            if appender is None:
                appender = self._appenders[table] = self._db.appender(table)
            appender.append_rows(rows)
            appender.flush()

    def _append_columns(self, table: str, rows: Sequence[Row]) -> None:
        """Append many rows as numpy columns, a third cheaper than row by row; all-NULL columns are left out."""
        columns: dict[str, NDArray[Any]] = {}
        for (name, dtype), values in zip(self._columns_of(table), zip(*rows, strict=True), strict=True):
            if dtype is not None and None not in values:
                columns[name] = np.array(values, dtype)
            elif any(value is not None for value in values):
                columns[name] = np.array(values, object)
        names = ", ".join(columns)
        self._db.register("rows_in", columns)
        self._db.execute(f"INSERT INTO {table} ({names}) SELECT {names} FROM rows_in")
        self._db.unregister("rows_in")

    def _columns_of(self, table: str) -> list[tuple[str, type[np.generic] | None]]:
        """Names of a table's columns, with the numpy type of those that are numbers."""
        found = self._columns.get(table)
        if found is None:
            query = "SELECT column_name, data_type FROM duckdb_columns() WHERE table_name = ? ORDER BY column_index"
            found = [(name, NUMPY_TYPES.get(kind)) for name, kind in self.rows(query, [table])]
            self._columns[table] = found
        return found

    def append_ids(self, table: str, ids: NDArray[np.int32]) -> None:
        """Append ids to a table of one column."""
        if len(ids):
            with self._ids(ids):
                self._db.execute(f"INSERT INTO {table} SELECT id FROM ids_in")

    def delete(self, table: str, column: str, ids: Sequence[int]) -> None:
        """Delete the rows whose integer column is one of `ids`."""
        if not ids:
            return
        if len(ids) <= FEW:
            self._db.execute(f"DELETE FROM {table} WHERE {column} IN ({','.join(map(str, ids))})")
            return
        with self._ids(ids):
            self._db.execute(f"DELETE FROM {table} USING ids_in WHERE {table}.{column} = ids_in.id")

    @contextmanager
    def _ids(self, ids: "Sequence[int] | NDArray[np.int32]") -> Generator[None]:
        self._db.register("ids_in", {"id": np.asarray(ids, np.int32)})
        try:
            yield
        finally:
            self._db.unregister("ids_in")

    def where(self, select: str, table: str, column: str, ids: Sequence[int]) -> list[Row]:
        """Rows of a table whose integer column is one of `ids`: a point read each where few, else one join."""
        if not ids:
            return []
        if len(ids) <= FEW:
            query = f"SELECT {select} FROM {table} WHERE {column} = ?"
            return [row for one in ids for row in self._db.execute(query, [int(one)]).fetchall()]
        with self._ids(ids):
            return self._db.execute(f"SELECT {select} FROM {table} SEMI JOIN ids_in ON {column} = ids_in.id").fetchall()

    def rows(self, sql: str, parameters: Iterable[Any] = ()) -> list[Row]:
        """All rows of a query with `?` parameters."""
        return self._db.execute(sql, list(parameters)).fetchall()

    def execute(self, sql: str, parameters: Iterable[Any] = ()) -> None:
        """Run a statement with `?` parameters."""
        self._db.execute(sql, list(parameters))

    def numpy(self, sql: str) -> dict[str, NDArray[Any]]:
        """The columns of a query as arrays; the query has no NULL."""
        return cast(dict[str, NDArray[Any]], cast(Any, self._db.execute(sql)).fetchnumpy())

    def meta(self, name: str, default: str) -> str:
        """One value of the meta table."""
        row = self._db.execute("SELECT value FROM meta WHERE name = ?", [name]).fetchone()
        return default if row is None else str(row[0])

    def set_meta(self, name: str, value: str) -> None:
        """Set one value of the meta table."""
        self._db.execute("DELETE FROM meta WHERE name = ?", [name])
        self._db.execute("INSERT INTO meta VALUES (?, ?)", [name, value])

    def truncate(self, keep: Sequence[str]) -> None:
        """Empty every table but those named."""
        found = self._db.execute("SELECT table_name FROM duckdb_tables() WHERE NOT temporary").fetchall()
        for (table,) in found:
            if table not in keep:
                self._db.execute(f"DELETE FROM {table}")

    def checkpoint(self) -> None:
        """Write the WAL into the file."""
        self._db.execute("CHECKPOINT")

    def close(self) -> None:
        """Close the file and free its lock."""
        self._appenders.clear()
        self._db.close()
