"""Writes that wait: small transactions are written to the file together."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from numpy.typing import NDArray

Row = tuple[Any, ...]

# Tables of which single rows are read by an id while others wait: column -> place of the id in a row.
PLACES: dict[str, dict[str, int]] = {
    "memory": {"slot": 0},
    "assertion": {"a": 0, "ev": 3, "slot": 7},
    "evidence": {"ev": 0},
}


UNIQUE = {"memory": "slot", "assertion": "a", "evidence": "ev"}


class Append(NamedTuple):
    """Append rows to a table."""

    table: str
    rows: list[Row]


class Delete(NamedTuple):
    """Delete the rows of a table whose integer column is one of some ids."""

    table: str
    column: str
    ids: Sequence[int]


class Update(NamedTuple):
    """Change one table by a statement."""

    table: str
    sql: str
    parameters: tuple[Any, ...]


class Columns(NamedTuple):
    """Append many rows as arrays, with values that are the same in each."""

    table: str
    columns: dict[str, NDArray[Any]]
    same: dict[str, Any]


Operation = Append | Delete | Update | Columns


@dataclass(slots=True)
class Touched:
    """What waits for one table: the ids of appended rows by column; `all` when that cannot be told."""

    ids: dict[str, set[int]]
    all: bool = False


class Queue:
    """Operations in order, table by table: no operation looks at another table than its own."""

    def __init__(self) -> None:
        self._of: dict[str, list[Operation]] = {}
        self._touched: dict[str, Touched] = {}
        self.rows = 0
        self.batches = 0

    def __bool__(self) -> bool:
        return bool(self._of)

    def append(self, table: str, rows: Sequence[Row]) -> None:
        """Wait with an append; adjacent ones to one table become one."""
        self.rows += len(rows)
        waiting = self._of.setdefault(table, [])
        last = waiting[-1] if waiting else None
        if isinstance(last, Append):
            last.rows.extend(rows)
        else:
            waiting.append(Append(table, list(rows)))
        touched = self._touched.setdefault(table, Touched({}))
        for column, place in PLACES.get(table, {}).items():
            touched.ids.setdefault(column, set()).update(row[place] for row in rows)

    def add(self, operation: Operation) -> None:
        """Wait with any operation."""
        if isinstance(operation, Append):
            self.append(operation.table, operation.rows)
            return
        table = operation.table
        if isinstance(operation, Columns):
            self.rows += len(next(iter(operation.columns.values()))) // 16  # arrays are small, and written at once
        waiting = self._of.setdefault(table, [])
        last = waiting[-1] if waiting else None
        if isinstance(operation, Delete) and isinstance(last, Delete) and last.column == operation.column:
            waiting[-1] = Delete(table, last.column, [*last.ids, *operation.ids])
        else:
            waiting.append(operation)
        touched = self._touched.setdefault(table, Touched({}))
        if isinstance(operation, Delete) and operation.column in PLACES.get(table, {}):
            touched.ids.setdefault(operation.column, set()).update(operation.ids)
        else:
            touched.all = True

    def take(self, other: "Queue") -> None:
        """Wait with everything that another queue holds, as one batch more."""
        self.batches += 1
        for one in other.operations():
            self.add(one)

    def touches(self, table: str | None, column: str, ids: Sequence[int]) -> bool:
        """Whether a read of a table (None: of any), by these ids of a column, would miss what waits."""
        if table is None:
            return bool(self._of)
        touched = self._touched.get(table)
        if touched is None:
            return False
        if touched.all or column not in PLACES.get(table, {}):
            return True
        # A row deleted by one column is not known by the others.
        if len(touched.ids) < len(PLACES[table]):
            return True
        known = touched.ids[column]
        return any(one in known for one in ids)

    def overlay(self, table: str, column: str, ids: Sequence[int]) -> tuple[list[Row], set[int]] | None:
        """What waits of some rows by their ids: rows appended, and ids of which no stored row is to be seen: theirs are
        deleted, or they are unique and wait. None: it cannot be told."""
        place = PLACES.get(table, {}).get(column)
        if place is None:
            return None
        wanted = set(ids)
        rows: list[Row] = []
        hidden: set[int] = set()
        for one in self._of.get(table, []):
            match one:
                case Append(_, appended):
                    rows += [row for row in appended if row[place] in wanted]
                case Delete(_, of, gone) if of == column:
                    hidden.update(wanted.intersection(gone))
                    rows = [row for row in rows if row[place] not in hidden.intersection(gone)]
                case _:
                    return None
        if column == UNIQUE[table]:
            hidden.update(row[place] for row in rows)
        return rows, hidden

    def operations(self) -> Iterator[Operation]:
        """Everything that waits, in order for each table."""
        for waiting in self._of.values():
            yield from waiting
