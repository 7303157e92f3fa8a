"""The commands that write, and the demonstration."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from tether.cli.common import INTERRUPTED, REFUSED, SOURCE, USAGE, Asked, refuse
from tether.cli.ingest import Tally, append_batch, progress
from tether.cli.show import cell, count, fields, put, put_json

if TYPE_CHECKING:
    from tether_schemas.answers import Covered

    from tether.compose import Home

REASONS_SHOWN = 5


def open_directory(asked: Asked) -> None:
    """Make a data directory, or check that it is one."""
    place = asked.place()
    made = not (place / "log.sqlite").exists()
    with asked.home(create=True):
        pass
    if asked.as_json:
        put_json({"path": str(place), "made": made})
    else:
        put(cell(f"{place} {'is made' if made else 'is a data directory'}"))


def ingest(
    asked: Asked,
    file: Annotated[
        typer.FileBinaryRead, typer.Argument(metavar="FILE", help="NDJSON of raw events, one on each line; - is stdin.")
    ],
) -> None:
    """Append raw events from a file. An event that names no namespace gets the one given."""
    from tether_replay.lines import batches

    from tether.memory import Memory
    from tether.store import Store

    tally = Tally()
    namespace = asked.given_namespace()
    with asked.home(create=True) as home:
        memory = None if namespace is None else Memory(home, namespace, source=SOURCE)
        store = Store(home, SOURCE)
        try:
            with progress(file, str(getattr(file, "name", "-"))) as shown:
                for batch in batches(file):
                    tally.add(append_batch(batch.lines, store, memory))
                    shown.update(shown.task_ids[0], advance=batch.size_bytes, events=tally.lines)
        except BaseException as error:
            kept = f"what was appended so far is kept ({tally.text()}); ingest it again to go on"
            if isinstance(error, KeyboardInterrupt):
                refuse(f"interrupted; {kept}", INTERRUPTED)
            typer.echo(f"tether: {kept}", err=True)
            raise
    _put_tally(asked, tally)
    if tally.rejected:
        raise typer.Exit(REFUSED)


def _put_tally(asked: Asked, tally: Tally) -> None:
    if asked.as_json:
        counts = {"accepted": tally.accepted, "duplicates": tally.duplicates, "rejected": tally.rejected}
        put_json({**counts, "reasons": dict(tally.reasons.most_common())})
        return
    put(cell(tally.text()))
    if not tally.rejected:
        return
    reasons = tally.reasons.most_common(REASONS_SHOWN)
    put(fields([(f"  {number:,} x", reason) for reason, number in reasons]))
    if (more := len(tally.reasons) - REASONS_SHOWN) > 0:
        put(cell(f"  and {count(more, 'reason')} more"))
    put(cell("rejected lines are kept whole: see tether dead-letters list"))


def forget(
    asked: Asked,
    subject: Annotated[str | None, typer.Option("--subject", help="All about this subject, at any version.")] = None,
    source: Annotated[str | None, typer.Option("--source", help="All from this source.")] = None,
    session: Annotated[str | None, typer.Option("--session", help="Of the source only this session.")] = None,
    evidence: Annotated[
        tuple[str, str] | None, typer.Option("--evidence", metavar="SOURCE ID", help="One piece of evidence.")
    ] = None,
    reason: Annotated[str, typer.Option("--reason", help="Why; kept with the deletion.")] = "",
) -> None:
    """Delete for good: never served, shown or restored again. It asks for nothing and says what it erased."""
    target = _target(subject, source, session, evidence)
    wall = asked.wall()
    with asked.home() as home:
        from tether.memory import Memory

        before, locked = _covered(home, wall, target)
        receipt = Memory(home, wall, source=SOURCE).forget(target, reason)
        after, locked = (None, locked) if before is None else _covered(home, wall, target)
    reach = None if before is None or after is None else after.erased - before.erased
    if asked.as_json:
        told = None if before is None or after is None else (after if before.statements else before).reason
        put_json({"position": receipt.position, "duplicate": receipt.duplicate, "erased": reach, "reason": told})
    elif before is None or reach is None:
        put(cell(f"the deletion is recorded; its reach cannot be read now: {locked}"))
    else:
        put(cell(f"erased {count(reach, 'statement')}{_why_none(before) if not reach else ''}"))


def _why_none(covered: "Covered") -> str:
    """Why a deletion erased nothing, given what it covered before."""
    if covered.statements:
        return ": all that it covers was erased before, or is of a later time"
    if covered.events:
        return f": nothing is asserted in the {count(covered.events, 'event')} that it covers"
    return f": {covered.reason}. The deletion is recorded: it may come before what it deletes"


def _target(subject: str | None, source: str | None, session: str | None, evidence: tuple[str, str] | None) -> Any:
    if session is not None and source is None:
        refuse("--session needs its --source", USAGE)
    if sum(each is not None for each in (subject, source, evidence)) != 1:
        refuse("give one of --subject S, --source S (with --session S or without), --evidence SOURCE ID", USAGE)
    if evidence is not None:
        return {"evidence": {"source": evidence[0], "id": evidence[1]}}
    if subject is not None:
        return {"subject": subject}
    return {"source": source} if session is None else {"source": source, "session_id": session}


def _covered(home: "Home", namespace: str, target: Any) -> "tuple[Covered | None, str]":
    """What a deletion covers; None, and why, where another process owns the view."""
    from tether_schemas.errors import ViewLocked

    from tether.store import Store

    try:
        return Store(home, SOURCE).covered(namespace, target), ""
    except ViewLocked as error:
        return None, str(error)


def demo(asked: Asked) -> None:
    """Real advisories against a real module graph, in under a minute. Keeps nothing unless --data is given."""
    from tether.demo import run

    if not run(asked.data, asked.as_json):
        raise typer.Exit(REFUSED)
