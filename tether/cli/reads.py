"""The commands that read."""

import time
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from tether.cli.common import USAGE, Asked, note_unused, refuse
from tether.cli.show import cell, count, evidence_text, fields, put, put_json, table, value_text
from tether.cli.times import Times, timed
from tether.cli.trees import dependents_tree, why_tree

if TYPE_CHECKING:
    from tether_schemas.answers import Answer, Change


CAUSES_SHOWN = 10
DEPENDENTS_SHOWN = 100
CHANGES_MAX = 1_000
FOLLOW_INTERVAL_S = 0.5

Subject = Annotated[
    str, typer.Argument(metavar="SUBJECT", help="What it is about, such as pkg:golang/go.etcd.io/bbolt@v1.3.7.")
]
Predicate = Annotated[str, typer.Argument(metavar="PREDICATE", help="Which property, such as passes.")]
Scope = Annotated[str, typer.Option("--scope", help="The scope of the slot.")]
NOW = Times()


@timed
def recall(
    asked: Asked,
    subject: Subject,
    predicate: Predicate,
    scope: Scope = "",
    times: Times = NOW,
) -> None:
    """What memory holds for one slot."""
    with asked.memory() as memory:
        answer = memory.recall(subject, predicate, scope=scope, valid_at=times.valid_at, known_at=times.known_at)
    if asked.as_json:
        put_json(answer)
    else:
        put(fields(_answer_rows(answer)))


def _answer_rows(answer: "Answer") -> list[tuple[str, object]]:
    rows: list[tuple[str, object]] = [("value", value_text(answer.value)), ("status", answer.status)]
    rows += [("reason", answer.reason), ("coverage", answer.coverage)]
    rows += [("evidence", evidence_text(named)) for named in answer.evidence]
    for other in answer.alternatives:
        shown = f"{value_text(other.value)} is {other.stance}, says {evidence_text(other.evidence)}"
        rows.append(("otherwise", shown))
    return rows


@timed
def why(
    asked: Asked,
    subject: Subject,
    predicate: Predicate,
    scope: Scope = "",
    times: Times = NOW,
    limit: Annotated[int, typer.Option("--limit", min=1, help="Show at most so many causes.")] = CAUSES_SHOWN,
) -> None:
    """Why it is served as it is: the path to each cause, with the evidence."""
    with asked.memory() as memory:
        found = memory.why(subject, predicate, scope=scope, valid_at=times.valid_at, known_at=times.known_at)
    if asked.as_json:
        put_json(found)
        return
    put(why_tree(found, limit))
    more = len(found.causes) - limit
    if more > 0:
        put(cell(f"and {more} more {'cause' if more == 1 else 'causes'}; --limit {len(found.causes)} shows all", "dim"))


def dependents(
    asked: Asked,
    subject: Annotated[
        str | None, typer.Argument(metavar="SUBJECT", help="A subject, with or without its version, or an assertion.")
    ] = None,
    evidence: Annotated[
        tuple[str, str] | None, typer.Option("--evidence", metavar="SOURCE ID", help="Evidence, in place of a subject.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, help="Show at most so many.")] = DEPENDENTS_SHOWN,
) -> None:
    """What derives from it, at any distance."""
    if (subject is None) == (evidence is None):
        refuse("give either a SUBJECT or --evidence SOURCE ID", USAGE)
    source, event_id = evidence or ("", "")
    named = {"source": source, "id": event_id} if subject is None else subject
    with asked.memory() as memory:
        found = memory.dependents(named)
    if asked.as_json:
        put_json(found)
        return
    name = subject or f"{source} {event_id}"
    if not found:
        put(cell(f"nothing derives from {name}"))
        return
    put(*dependents_tree(found[:limit]))
    down = sum(one.down for one in found)
    shown = f" (the nearest {limit} are shown)" if len(found) > limit else ""
    put(cell(f"{count(len(found), 'dependent')}{shown}, {down} reached by a failure", "dim"))


@timed
def history(
    asked: Asked,
    subject: Subject,
    predicate: Predicate,
    scope: Scope = "",
    times: Times = NOW,
) -> None:
    """Every statement ever made in a slot. It serves nothing."""
    with asked.memory() as memory:
        found = memory.history(subject, predicate, scope=scope, valid_at=times.valid_at, known_at=times.known_at)
    if asked.as_json:
        put_json(found)
        return
    if not found:
        put(cell("nobody ever stated it" if times.valid_at is None else "nobody stated it of that time"))
        return
    rows = [
        (
            one.observed_at,
            "-" if one.erased else value_text(one.value),
            "erased" if one.erased else "withdrawn" if one.withdrawn and one.stance == "standing" else one.stance,
            one.issuer,
            one.authority,
            evidence_text(one.evidence),
        )
        for one in found
    ]
    put(table(("observed at", "value", "status", "issuer", "authority", "evidence"), rows))


def changes(
    asked: Asked,
    since: Annotated[int, typer.Option("--since", min=0, metavar="SEQ", help="Only those after this number.")] = 0,
    limit: Annotated[int, typer.Option("--limit", min=1, max=CHANGES_MAX, help="At most so many.")] = CHANGES_MAX,
    follow: Annotated[bool, typer.Option("--follow", help="Wait for more, until interrupted.")] = False,
) -> None:
    """What changed in what is served; of every namespace where none is given."""
    with asked.home() as home:
        from tether.memory import Memory
        from tether.store import Store

        namespace = asked.given_namespace()
        source = Store(home, "cli") if namespace is None else Memory(home, namespace)
        found = source.changes(since, limit)
        _put_changes(asked, found, namespace is None)
        note_unused(home, namespace)
        while follow:
            since = found[-1].seq if found else since
            found = source.changes(since, limit)
            if found:
                _put_changes(asked, found, namespace is None)
            else:
                time.sleep(FOLLOW_INTERVAL_S)


def _put_changes(asked: Asked, found: "list[Change]", everywhere: bool) -> None:
    if asked.as_json:
        put_json(found)
        return
    rows = [(one.seq, one.kind, _told(one, everywhere)) for one in found]
    if rows:
        put(table(("seq", "change", "memory, and its cause"), rows, right=("seq",)))


def _told(change: "Change", everywhere: bool) -> Text:
    scope = f" in {change.scope}" if change.scope else ""
    named = cell(f"{change.namespace + ': ' if everywhere else ''}{change.subject} {change.predicate}{scope}")
    return named if change.cause is None else Text("\n", overflow="fold").join((named, cell(change.cause, "dim")))


def status(asked: Asked) -> None:
    """Counts of the namespace, or of the whole store where none is given."""
    with asked.home() as home:
        from tether.store import Store

        found = Store(home, "cli").status(asked.given_namespace())
        note_unused(home, found.namespace)
    if asked.as_json:
        put_json(found)
        return
    rows: list[tuple[str, object]] = [("data directory", asked.place()), ("namespace", found.namespace or "(all)")]
    for name in ("events", "assertions", "slots", "edges", "advisories"):
        rows.append((name, f"{getattr(found, name):,}"))
    rows += [
        ("failed or reached", f"{found.down:,}"),
        ("erased", f"{found.erased:,}"),
        ("dead letters", f"{found.dead_letters:,}"),
    ]
    rows += [("log position", found.log_position), ("view position", found.view_position)]
    rows += [("generation", found.generation), *(("unresolved", one) for one in found.unresolved)]
    put(fields(rows))
