"""Writes that wait: small transactions are written to the file together."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

FEW = 12
ARRAYS = 16  # so many rows in arrays wait as one that is a tuple: they are smaller, and the cheaper the more at once

Row = tuple[Any, ...]
Span = tuple[int, int]  # least and greatest of some ids

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


class Part(NamedTuple):
    """Rows as arrays of equal length, the first column's that of all; `same`: values that are the same in each row."""

    columns: dict[str, NDArray[Any]]
    same: dict[str, Any]

    @property
    def size(self) -> int:
        """How many rows it has."""
        return len(next(iter(self.columns.values())))

    def values(self, name: str) -> NDArray[Any]:
        """A column as an array; NULL throughout where it is not given."""
        found = self.columns.get(name)
        if found is not None:
            return found
        one = self.same.get(name)
        return np.full(self.size, one, None if isinstance(one, int | float) else object)

    def rows(self, column: str, wanted: set[int], names: Sequence[str]) -> Iterator[Row]:
        """The rows whose integer column is one of those wanted, as values of these columns."""
        ids = self.columns[column]
        few = [np.flatnonzero(ids == one) for one in wanted] if len(wanted) <= FEW else []
        found = np.concatenate(few) if few else np.flatnonzero(np.isin(ids, list(wanted)))
        for at in found.tolist():
            yield tuple(
                _plain(self.columns[name][at]) if name in self.columns else self.same.get(name) for name in names
            )


def _plain(value: Any) -> Any:
    return cast(Any, value).item() if isinstance(value, np.generic) else value


class Columns(NamedTuple):
    """Append many rows as arrays, in parts."""

    table: str
    parts: list[Part]

    def joined(self) -> Part:
        """All parts as one."""
        if len(self.parts) == 1:
            return self.parts[0]
        names = dict.fromkeys(name for part in self.parts for name in (*part.columns, *part.same))
        first = self.parts[0]
        same = {
            name: first.same[name]
            for name in names
            if all(name in part.same and part.same[name] == first.same[name] for part in self.parts)
        }
        return Part(
            {name: np.concatenate([part.values(name) for part in self.parts]) for name in names if name not in same},
            same,
        )


Operation = Append | Delete | Update | Columns


@dataclass(slots=True)
class Touched:
    """What waits for one table: the ids of appended rows by column; `all` when that cannot be told."""

    ids: dict[str, set[int]]
    spans: dict[str, list[Span]]
    all: bool = False

    def touches(self, column: str, ids: Sequence[int]) -> bool:
        """Whether a row with one of these ids may wait."""
        known = self.ids.get(column, ())
        spans = self.spans.get(column, ())
        return any(one in known for one in ids) or any(low <= one <= high for low, high in spans for one in ids)


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
        """Wait with an append; those to one table become one, since rows have no order."""
        self.rows += len(rows)
        last = next((one for one in self._appended(table) if isinstance(one, Append)), None)
        if last is not None:
            last.rows.extend(rows)
        else:
            self._of.setdefault(table, []).append(Append(table, list(rows)))
        touched = self._touch(table)
        for column, place in PLACES.get(table, {}).items():
            touched.ids.setdefault(column, set()).update(row[place] for row in rows)

    def append_part(self, table: str, part: Part) -> None:
        """The same with rows as arrays."""
        self.rows += part.size // ARRAYS
        last = next((one for one in self._appended(table) if isinstance(one, Columns)), None)
        if last is not None:
            last.parts.append(part)
        else:
            self._of.setdefault(table, []).append(Columns(table, [part]))
        touched = self._touch(table)
        for column in PLACES.get(table, ()):
            ids = part.columns[column]
            touched.spans.setdefault(column, []).append((int(ids.min()), int(ids.max())))

    def _appended(self, table: str) -> Iterator[Operation]:
        """What is appended to a table after all else that is done to it."""
        return takewhile(lambda one: isinstance(one, Append | Columns), reversed(self._of.get(table, [])))

    def _touch(self, table: str) -> Touched:
        return self._touched.setdefault(table, Touched({}, {}))

    def add(self, operation: Operation) -> None:
        """Wait with any operation."""
        table = operation.table
        if isinstance(operation, Append):
            self.append(table, operation.rows)
            return
        if isinstance(operation, Columns):
            for part in operation.parts:
                self.append_part(table, part)
            return
        waiting = self._of.setdefault(table, [])
        last = waiting[-1] if waiting else None
        if isinstance(operation, Delete) and isinstance(last, Delete) and last.column == operation.column:
            waiting[-1] = Delete(table, last.column, [*last.ids, *operation.ids])
        else:
            waiting.append(operation)
        touched = self._touch(table)
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
        if touched.ids and len(touched.ids) < len(PLACES[table]):
            return True
        return touched.touches(column, ids)

    def overlay(
        self, table: str, column: str, ids: Sequence[int], names: Sequence[str]
    ) -> tuple[list[Row], set[int]] | None:
        """What waits of some rows by their ids: rows appended, and ids of which no stored row is to be seen: theirs are
        deleted, or they are unique and wait. None: it cannot be told. `names`: the table's columns in order."""
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
                case Columns(_, parts):
                    rows += [row for part in parts for row in part.rows(column, wanted, names)]
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
