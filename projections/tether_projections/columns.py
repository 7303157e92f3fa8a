"""Rows and ids as arrays, which a database takes many at once."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tether_projections.waiting import FEW

NUMPY_TYPES: dict[str, type[np.generic]] = {
    "INTEGER": np.int32,
    "BIGINT": np.int64,
    "TINYINT": np.int8,
    "BOOLEAN": np.bool_,
    "DOUBLE": np.float64,
}


def as_array(values: Sequence[Any], dtype: type[np.generic] | None) -> NDArray[Any]:
    """Values of a column as an array: of numbers where all are, else of objects."""
    return np.array(values, object if dtype is None or None in values else dtype)


def insert(db: Any, table: str, columns: dict[str, NDArray[Any]], same: dict[str, Any]) -> None:
    """Insert many rows as columns of equal length; `same`: columns that have one value in all of them."""
    names, values = ", ".join([*columns, *same]), ", ".join([*columns, *("?" for _ in same)])
    db.register("rows_in", columns)
    db.execute(f"INSERT INTO {table} ({names}) SELECT {values} FROM rows_in", list(same.values()))
    db.unregister("rows_in")


def delete(db: Any, table: str, column: str, ids: Sequence[int]) -> None:
    """Delete the rows whose integer column is one of `ids`."""
    if len(ids) <= FEW:
        db.execute(f"DELETE FROM {table} WHERE {column} IN ({','.join(map(str, ids))})")
        return
    with ids_in(db, ids):
        db.execute(f"DELETE FROM {table} USING ids_in WHERE {table}.{column} = ids_in.id")


@contextmanager
def ids_in(db: Any, ids: "Sequence[int] | NDArray[np.int32]") -> Generator[None]:
    """Many ids as the table ids_in, column id."""
    db.register("ids_in", {"id": np.asarray(ids, np.int32)})
    try:
        yield
    finally:
        db.unregister("ids_in")
