"""Appending batches of lines, and the progress of what takes long."""

import os
import stat
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TYPE_CHECKING, BinaryIO, Protocol

import orjson
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from tether.cli.show import console, count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tether_schemas.answers import Receipt

REASONS_MAX = 1_000


class Appender(Protocol):
    """What takes a batch: a Store or a Memory."""

    def append_many(self, events: "Sequence[bytes]") -> "list[Receipt]": ...


@dataclass(slots=True)
class Tally:
    """What became of the lines so far."""

    accepted: int = 0
    duplicates: int = 0
    rejected: int = 0
    reasons: Counter[str] = field(default_factory=Counter[str])

    @property
    def lines(self) -> int:
        return self.accepted + self.duplicates + self.rejected

    def add(self, receipts: "Sequence[Receipt]") -> None:
        for receipt in receipts:
            if receipt.rejected is not None:
                self.rejected += 1
                if receipt.rejected in self.reasons or len(self.reasons) < REASONS_MAX:
                    self.reasons[receipt.rejected] += 1
            elif receipt.duplicate:
                self.duplicates += 1
            else:
                self.accepted += 1

    def text(self) -> str:
        return f"{self.accepted:,} accepted, {count(self.duplicates, 'duplicate')}, {self.rejected:,} rejected"


def append_batch(lines: list[bytes], store: Appender, memory: Appender | None) -> "list[Receipt]":
    """Append lines: those that name no namespace go to the `memory` that was given for them."""
    if memory is None:
        return store.append_many(lines)
    named = [_names_namespace(line) for line in lines]
    receipts = store.append_many([line for line, own in zip(lines, named, strict=True) if own])
    return receipts + memory.append_many([line for line, own in zip(lines, named, strict=True) if not own])


def _names_namespace(line: bytes) -> bool:
    if b'"namespace"' not in line:
        return False
    try:
        event: object = orjson.loads(line)
    except ValueError:
        return False
    return isinstance(event, dict) and "namespace" in event


class _Rate(ProgressColumn):
    def render(self, task: Task) -> Text:
        elapsed = task.elapsed or 0
        rate = task.fields["events"] / elapsed if elapsed else 0
        return Text(f"{task.fields['events']:,} events  {rate:,.0f}/s")


@contextmanager
def progress(file: BinaryIO, name: str) -> "Generator[Progress]":
    """A bar with rate and remaining time on a terminal's stderr; elsewhere nothing is shown."""
    size = size_of(file)
    with _shown(size is not None and size > 0) as shown:
        shown.add_task(PurePath(name).name[-24:], total=size, events=0)
        yield shown


@contextmanager
def transfer_progress(name: str) -> "Generator[Progress]":
    """The same for work that tells how much there is of it."""
    with _shown(True) as shown:
        shown.add_task(name, total=None, events=0)
        yield shown


def _shown(sized: bool) -> Progress:
    ends = (TextColumn("left"), TimeRemainingColumn()) if sized else ()
    bar = BarColumn(bar_width=20) if sized else SpinnerColumn()
    out = console(stderr=True)
    text = TextColumn("{task.description}", markup=False)
    return Progress(text, bar, _Rate(), *ends, console=out, transient=True, disable=not out.is_terminal)


def size_of(file: BinaryIO) -> int | None:
    """The bytes of a regular file; None for a pipe or a terminal."""
    try:
        found = os.fstat(file.fileno())
    except (OSError, ValueError):
        return None
    return found.st_size if stat.S_ISREG(found.st_mode) else None
