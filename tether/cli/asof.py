"""The command that writes the views of a past."""

from pathlib import Path
from typing import Annotated

import typer

from tether.cli.common import SOURCE, Asked
from tether.cli.replay import shown_progress
from tether.cli.show import count, fields, put, put_json

When = Annotated[str, typer.Argument(metavar="WHEN", help="A position, or a time of recording (RFC 3339).")]
Out = Annotated[Path, typer.Option("--out", metavar="PATH", help="The new file, or with parquet the new directory.")]
Format = Annotated[str, typer.Option("--format", metavar="NAME", help="duckdb or parquet.")]
Force = Annotated[bool, typer.Option("--force", help="Replace what is at PATH.")]


def as_of(asked: Asked, when: When, out: Out, form: Format = "duckdb", force: Force = False) -> None:
    """Write the views as they were at a position or a time, for reading; nothing deleted by now is in them."""
    from tether.store import Store

    with asked.home() as home, shown_progress() as watch:
        made = Store(home, SOURCE).as_of(when, out, watch, namespace=asked.namespace, format=form, force=force)
    if asked.as_json:
        put_json(made)
        return
    put(
        fields(
            [
                ("snapshot", out),
                ("format", made.format),
                ("of", made.namespace or "every namespace"),
                ("stands at", f"position {made.position}"),
                ("holds", count(made.events, "event")),
                ("size", f"{made.size_bytes / 1024 / 1024:,.1f} MiB"),
            ]
        )
    )
