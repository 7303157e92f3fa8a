"""What a benchmark reports: lines, a table on the terminal, and a JSON file."""

import os
import platform
import time
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

import duckdb
import numpy as np
import orjson
from rich.console import Console
from rich.table import Table


@dataclass(frozen=True, slots=True)
class Line:
    """One figure. `target` is the least or the most that it may be, as `bound` says; None: it has none.

    `ratio` sets it beside a limit measured in the same run: `limit` names that line. `processor` is the same figure by
    processor time: where the machine is busy with other work, it tells what the work itself costs.
    """

    name: str
    value: float
    unit: str
    target: float | None = None
    bound: Literal["at least", "at most"] = "at most"
    limit: str | None = None
    ratio: float | None = None
    processor: float | None = None
    note: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the target is met, None where there is none."""
        if self.target is None:
            return None
        return self.value >= self.target if self.bound == "at least" else self.value <= self.target


class Spans:
    """How long each of several pieces of work took, in seconds by the clock and of this process's processor time."""

    def __init__(self) -> None:
        self.clock: list[float] = []
        self.processor: list[float] = []

    @contextmanager
    def span(self) -> Generator[None]:
        """Time what is inside."""
        processor, clock = time.process_time(), time.perf_counter()
        yield
        self.clock.append(time.perf_counter() - clock)
        self.processor.append(time.process_time() - processor)

    def line(self, name: str, **more: Any) -> Line:
        """The median in milliseconds, as a line."""
        made = Line(name, median(self.clock) * 1e3, "ms", processor=median(self.processor) * 1e3)
        return replace(made, **more)

    def rate(self, name: str, batch: int, **more: Any) -> Line:
        """Events a second, at the median batch of so many, as a line."""
        made = Line(name, batch / median(self.clock), "events/s", processor=batch / median(self.processor))
        return replace(made, **more)


def median(values: Iterable[float]) -> float:
    """The middle one."""
    return float(np.median(np.fromiter(values, np.float64)))


def p99(values: Iterable[float]) -> float:
    """What 99 of 100 do not exceed."""
    return float(np.percentile(np.fromiter(values, np.float64), 99))


def with_ratios(lines: Sequence[Line]) -> list[Line]:
    """The lines, each that names a limit set beside it, where the run has measured both."""
    values = {line.name: line.value for line in lines}
    return [
        replace(line, ratio=line.value / values[line.limit])
        if line.ratio is None and line.limit is not None and values.get(line.limit)
        else line
        for line in lines
    ]


def as_dict(line: Line) -> dict[str, Any]:
    """A line as it stands in the JSON report."""
    return {**asdict(line), "met": line.met}


def write_report(path: Path, lines: Sequence[Line], quick: bool, seconds: float) -> None:
    """Write the report; its folder is made."""
    report = {
        "quick": quick,
        "seconds": round(seconds, 1),
        "cores": os.cpu_count(),
        "load_1m": round(os.getloadavg()[0], 2),
        "machine": platform.machine(),
        "python": platform.python_version(),
        "duckdb": duckdb.__version__,
        "lines": [as_dict(line) for line in lines],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(orjson.dumps(report, option=orjson.OPT_INDENT_2))


def show(console: Console, lines: Sequence[Line]) -> None:
    """Print the table."""
    table = Table(title="Tether benchmarks")
    table.add_column("figure", no_wrap=True)
    table.add_column("value", justify="right")
    table.add_column("by processor time", justify="right")
    table.add_column("unit")
    table.add_column("target", justify="right")
    table.add_column("met")
    table.add_column("of its limit", justify="right")
    for line in lines:
        sign = "≥" if line.bound == "at least" else "≤"
        target = "" if line.target is None else f"{sign} {_number(line.target)}"
        met = "" if line.met is None else "[green]yes[/]" if line.met else "[red]no[/]"
        ratio = "" if line.ratio is None else f"{line.ratio:.3g} x {line.limit}"
        processor = "" if line.processor is None else _number(line.processor)
        table.add_row(line.name, _number(line.value), processor, line.unit, target, met, ratio)
    console.print(table)


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
