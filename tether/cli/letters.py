"""The commands for dead letters."""

from typing import TYPE_CHECKING, Annotated

import typer

from tether.cli.common import SOURCE, Asked
from tether.cli.show import cell, fields, printable, put, put_json, table

if TYPE_CHECKING:
    from tether_schemas.answers import DeadLetter
    from tether_schemas.codec import RawInput

LISTED_MAX = 100
REPLAYABLE = "append"

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
        rows = [(one.id, one.recorded_at[:19] + "Z", one.namespace or "-", _reason(one)) for one in found]
        put(table(("id", "recorded at", "namespace", "reason"), rows, right=("id",)))


def _reason(letter: "DeadLetter") -> str:
    return f"(replayed) {letter.reason}" if letter.replayed else letter.reason


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
    typer.echo("\n" + printable(found.payload.decode("utf-8", "backslashreplace")))


def replay(
    asked: Asked,
    letter_id: LetterId,
    event: Annotated[
        typer.FileBinaryRead | None, typer.Option("--event", help="The event as it should have been; - is stdin.")
    ] = None,
) -> None:
    """Append what a dead letter holds once more, or the corrected event."""
    corrected: RawInput | None = None if event is None else event.read()
    with asked.home() as home:
        from tether_schemas.codec import event_dict

        from tether.store import Store

        store = Store(home, SOURCE)
        letter = store.dead_letter(letter_id)
        if letter.namespace is None and (corrected is not None or letter.stage == REPLAYABLE):
            corrected = event_dict(letter.payload if corrected is None else corrected, asked.given_namespace())
        receipt = store.replay_dead_letter(letter_id, corrected)
    if asked.as_json:
        put_json(receipt)
    else:
        put(cell(f"{'was there already' if receipt.duplicate else 'appended'} at position {receipt.position}"))
