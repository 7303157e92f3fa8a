"""Fields of many models side by side."""

from collections.abc import Callable, Sequence
from itertools import compress
from operator import itemgetter
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel

Bools = NDArray[np.bool_]
Column = Sequence[Any]


class Table:
    """One column for each of some fields. They come from the models' dicts, which is three times as fast as by name."""

    def __init__(self, columns: dict[str, Column], count: int) -> None:
        self.columns = columns
        self.count = count

    @classmethod
    def of(cls, models: Sequence[BaseModel], names: tuple[str, ...]) -> "Table":
        """These fields (two at least) of models that all have them."""
        pick = cast(Callable[[dict[str, Any]], Column], itemgetter(*names))
        rows = map(pick, cast(list[dict[str, Any]], [one.__dict__ for one in models]))
        columns = zip(*rows, strict=True) if models else [()] * len(names)
        return cls(dict(zip(names, columns, strict=True)), len(models))

    def __getitem__(self, name: str) -> Column:
        return self.columns[name]

    def some(self, *names: str) -> dict[str, Column]:
        """Some of the columns."""
        return {name: self.columns[name] for name in names}

    def holds(self, name: str, value: Any) -> bool:
        """Whether a column has one value throughout."""
        return self.columns[name].count(value) == self.count

    def only(self, kept: Bools) -> "Table":
        """Some of the rows."""
        if kept.all():
            return self
        chosen = kept.tolist()
        columns: dict[str, Column] = {name: list(compress(column, chosen)) for name, column in self.columns.items()}
        return Table(columns, sum(chosen))
