"""The commands for dead letters."""

from typing import Annotated

import typer

from tether.cli.common import SOURCE, Asked
from tether.cli.show import cell, fields, put, put_json, table

LISTED_MAX = 100

LetterId = Annotated[int, typer.Argument(metavar="ID", min=1, help="The number of the dead letter.")]


def list_letters(
    asked: Asked,
    after: Annotated[int, typer.Option("--after", min=0, metavar="ID", help="Only those after this number.")] = 0,
    limit: Annotated[int, typer.Option("--limit", min=1, help="At most so many.")] = LISTED_MAX,
) -> None:
    """Dead letters, oldest first; of every namespace where none is given."""
    with asked.home() as home:
        from tether.store import Store

        found = Store(home, SOURCE).dead_letters(after=after, limit=limit, namespace=asked.given_namespace())
    if asked.as_json:
        put_json(found)
    elif not found:
        put(cell("no dead letters"))
    else:
        rows = [
            (
                one.id,
                one.recorded_at[:19] + "Z",
                one.namespace or "-",
                one.stage,
                "yes" if one.replayed else "-",
                one.reason,
            )
            for one in found
        ]
        put(table(("id", "recorded at", "namespace", "stage", "replayed", "reason"), rows, right=("id",)))


def show(asked: Asked, letter_id: LetterId) -> None:
    """One dead letter whole, with the reason."""
    with asked.home() as home:
        from tether.store import Store

        found = Store(home, SOURCE).dead_letter(letter_id)
    if asked.as_json:
        put_json(found)
        return
    replayed = "yes" if found.replayed else "no"
    rows = [("id", found.id), ("recorded at", found.recorded_at), ("namespace", found.namespace or "-")]
    put(fields([*rows, ("stage", found.stage), ("replayed", replayed), ("reason", found.reason)]))
    put(cell(""), cell(found.payload.decode("utf-8", "backslashreplace")))


def replay(
    asked: Asked,
    letter_id: LetterId,
    event: Annotated[
        typer.FileBinaryRead | None, typer.Option("--event", help="The event as it should have been; - is stdin.")
    ] = None,
) -> None:
    """Append what a dead letter holds once more, or the corrected event."""
    corrected = None if event is None else event.read()
    with asked.home() as home:
        from tether.store import Store

        receipt = Store(home, SOURCE).replay_dead_letter(letter_id, corrected)
    if asked.as_json:
        put_json(receipt)
    else:
        put(cell(f"{'was there already' if receipt.duplicate else 'appended'} at position {receipt.position}"))
