"""The commands that move a store's history: export and import."""

import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, cast

import typer

from tether.cli.common import REFUSED, USAGE, Asked, refuse
from tether.cli.ingest import transfer_progress
from tether.cli.show import cell, console, count, fields, put, put_json, table

if TYPE_CHECKING:
    from tether_schemas.reports import Exported, Imported

    from tether.transfer import Told

REASONS_SHOWN = 5
STDIO = "-"

File = Annotated[str, typer.Argument(metavar="FILE", help="The file; - is stdout (for parquet: a folder).")]


def export_events(
    asked: Asked,
    file: File,
    format: Annotated[
        str, typer.Option("--format", metavar="FORMAT", help="ndjson (raw events) or parquet (views, a folder).")
    ] = "ndjson",
    force: Annotated[bool, typer.Option("--force", help="Overwrite what is there.")] = False,
) -> None:
    """Write everything to a file: events as recorded, what is erased without content. With a namespace: it and *."""
    from tether.transfer import FORMATS, PARQUET, check_free, export_parquet, export_to

    if format not in FORMATS:
        refuse(f"--format is one of {', '.join(FORMATS)}", USAGE)
    if format == PARQUET and file == STDIO:
        refuse("parquet is a folder of files; name it", USAGE)
    place: Any = file if file != STDIO else cast(BinaryIO, sys.stdout.buffer)
    if file != STDIO:
        check_free(file, force)
    with asked.home() as home, told("export") as shown:
        namespace = asked.given_namespace()
        done = (export_parquet if format == PARQUET else export_to)(home, place, namespace, shown)
    _put_exported(asked, done, file == STDIO)


def _put_exported(asked: Asked, done: "Exported", to_stdout: bool) -> None:
    text = f"{count(done.events, 'event')}, {done.ghosts:,} of them erased and without content"
    where = ", ".join(done.namespaces) or "none"
    if to_stdout:
        console(stderr=True).print(cell(f"{text}; namespaces: {where}"))
    elif asked.as_json:
        put_json(done)
    else:
        put(cell(text), cell(f"namespaces: {where}"))


def import_events(
    asked: Asked,
    file: Annotated[str, typer.Argument(metavar="FILE", help="What tether export wrote; - is stdin.")],
) -> None:
    """Read an export in. What is deleted here comes in without content. With a namespace: only its events."""
    from tether.transfer import import_from

    place: Any = file if file != STDIO else cast(BinaryIO, sys.stdin.buffer)
    with asked.home(create=True) as home, told("import") as shown:
        done = import_from(home, place, asked.given_namespace(), shown)
    if asked.as_json:
        put_json(done)
    else:
        _put_imported(done)
    if not done.whole:
        refuse("the file ends before its end: what it had is in; get the whole of it and import that")
    if done.total("conflicts") or done.total("refused"):
        raise typer.Exit(REFUSED)


def _put_imported(done: "Imported") -> None:
    names = ("new", "ghosts", "duplicates", "conflicts", "refused")
    rows = [(kind.kind, *(f"{getattr(kind, name):,}" for name in names)) for kind in done.kinds]
    total = ("all", *(f"{done.total(name):,}" for name in names))
    put(table(("events", *names), [*rows, total], right=names))
    if ghosts := done.total("ghosts"):
        put(cell(f"{count(ghosts, 'event')} came in as ghosts, {done.total('erased_since'):,} erased since the export"))
    if done.skipped:
        put(cell(f"{count(done.skipped, 'event')} of other namespaces skipped"))
    if done.reasons:
        put(fields([("", reason) for reason in done.reasons[:REASONS_SHOWN]]))
        more = done.total("conflicts") + done.total("refused") - min(len(done.reasons), REASONS_SHOWN)
        put(*([cell(f"and {more:,} more")] if more > 0 else []))
        put(cell("what was refused is kept whole: see tether dead-letters list"))


@contextmanager
def told(name: str) -> "Generator[Told]":
    """Shows how far a transfer is, with rate and remaining time, on a terminal."""
    with transfer_progress(name) as shown:

        def tell(done: int, of: int | None) -> None:
            shown.update(shown.task_ids[0], completed=done, total=of, events=done)

        yield tell
