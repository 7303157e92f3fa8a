"""A database in memory, for work on files that are no views."""

from collections.abc import Iterable, Iterator
from typing import Any

from tether_projections.store import DuckError, DuckFileError, in_memory, named_errors
from tether_projections.waiting import Row


class Scratch:
    """A database in memory, for work on files that are no views."""

    def __init__(self) -> None:
        self._db = in_memory()

    def execute(self, sql: str, parameters: Iterable[Any] = ()) -> None:
        """Run a statement. Raises ViewUnavailable when a file cannot be written."""
        with named_errors("a file"):
            self._db.execute(sql, list(parameters))

    def append(self, table: str, rows: Iterable[Row]) -> None:
        """Append rows to a table."""
        appender = self._db.appender(table)
        appender.append_rows(list(rows))
        appender.flush()

    def stream(self, sql: str, parameters: Iterable[Any], rows_max: int) -> Iterator[Row]:
        """The rows of a query, fetched a few at a time. Raises FileNotFoundError for a file that is not there, OSError
        for one that cannot be read."""
        try:
            found = self._db.execute(sql, list(parameters))
            while rows := found.fetchmany(rows_max):
                yield from rows
        except DuckFileError as error:
            raise (FileNotFoundError if "No files found" in str(error) else OSError)(str(error)) from error
        except DuckError as error:
            raise OSError(str(error)) from error

    def close(self) -> None:
        """Let go of everything."""
        self._db.close()
