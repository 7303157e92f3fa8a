"""How answers look on a terminal of 80 columns; without colour where there is no terminal."""

import sys
from collections.abc import Iterable, Sequence
from typing import Any, cast

import orjson
from rich import box
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

STYLES = {
    "current": "green",
    "restored": "green",
    "asserted": "green",
    "standing": "green",
    "withdrawn": "red",
    "failed": "red",
    "down": "red",
    "tombstoned": "magenta",
    "erased": "magenta",
    "disputed": "yellow",
    "invalidated": "yellow",
    "expired": "yellow",
    "superseded": "dim",
    "outranked": "dim",
}


def printable(text: str) -> str:
    """Text that does nothing to a terminal: what is no printable character is written as its escape."""
    if text.isprintable():
        return text
    return "".join(
        each if each.isprintable() or each == "\n" else each.encode("unicode_escape", "surrogatepass").decode()
        for each in text
    )


def cell(value: object, style: str | None = None) -> Text:
    """One piece of text, never read as markup; a known word such as a status has its colour."""
    text = printable(str(value))
    return Text(text, style=style or STYLES.get(text, ""), overflow="fold")


def console(stderr: bool = False) -> Console:
    """The terminal, or 80 columns where there is none."""
    return Console(stderr=stderr, highlight=False, markup=False, emoji=False)


def put(*shown: RenderableType) -> None:
    """Print on stdout, without the spaces that fill a line."""
    out = console()
    with out.capture() as captured:
        for each in shown:
            out.print(each)
    sys.stdout.write("".join(line.rstrip(" ") + "\n" for line in captured.get().splitlines()))
    sys.stdout.flush()


def put_json(answer: Any) -> None:
    """Print the JSON of one answer on a line, or of several on a line each."""
    from tether_schemas.answers import to_json

    several = cast(list[Any], answer) if isinstance(answer, list) else [answer]
    sys.stdout.flush()
    for each in several:
        sys.stdout.buffer.write(to_json(each) + b"\n")
    sys.stdout.buffer.flush()


def value_text(value: Any) -> str:
    """A value as JSON."""
    return orjson.dumps(value).decode()


def evidence_text(named: Any) -> str:
    """Evidence by its source and id, `*` before it where it is public."""
    if named is None:
        return "-"
    return f"{named.namespace + ' ' if named.namespace else ''}{named.source} {named.id}"


def fields(rows: Sequence[tuple[str, object]]) -> Table:
    """Names and values, one below the other."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True, style="dim")
    grid.add_column(overflow="fold")
    for name, value in rows:
        grid.add_row(name, value if isinstance(value, Text) else cell(value))
    return grid


def table(columns: Sequence[str], rows: Iterable[Sequence[object]], right: Sequence[str] = ()) -> Table:
    """A table with a line below its head."""
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    for name in columns:
        made.add_column(name, overflow="fold", justify="right" if name in right else "left")
    for row in rows:
        made.add_row(*(each if isinstance(each, Text) else cell(each) for each in row))
    return made


def count(number: int, noun: str) -> str:
    """`1 event`, `2 events`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
