"""The commands that compare: the live view with the log, and two generations with each other."""

from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import ProgressColumn, Task
from rich.text import Text

from tether.cli.common import REFUSED, SOURCE, Asked
from tether.cli.replay import STAGES, Rate, shown_progress
from tether.cli.show import cell, count, evidence_text, fields, put, put_json, table, value_text

if TYPE_CHECKING:
    from tether_schemas.reports import Belief, BeliefDifference, DifferingRow, TableDifference, Verified

DIGEST_CHARS = 16
NOBODY = "none: no event of the log makes it"


class _Tables(ProgressColumn):
    """Tables while these are compared, else events."""

    def render(self, task: Task) -> Text:
        if task.description == STAGES["compare"]:
            return Text(f"{int(task.completed)} of {count(int(task.total or 0), 'table')}")
        return Rate().render(task)


def verify(asked: Asked) -> None:
    """Compare the live view with one made anew of the log's facts, table by table."""
    from tether.store import Store

    with asked.home() as home, shown_progress(_Tables()) as watch:
        found = Store(home, SOURCE).verify(watch)
    if asked.as_json:
        put_json(found)
    else:
        _put_verified(found)
    if not found.equal:
        raise typer.Exit(REFUSED)


def _put_verified(found: "Verified") -> None:
    others = [one for one in found.digests if one.live != one.rebuilt]
    rows = [
        ("generation", found.generation),
        ("stands at", f"position {found.position}"),
        ("made anew of", count(found.records, "event")),
        ("digests", f"{len(others)} of {count(len(found.digests), 'namespace')} differ"),
        ("tables", f"{len(found.tables)} of {found.tables_count} differ"),
        ("log", found.unfounded or "every fact is of an event"),
    ]
    put(fields(rows))
    if others:
        digests = [(one.namespace, one.live[:DIGEST_CHARS], one.rebuilt[:DIGEST_CHARS]) for one in others]
        put(cell(""), table(("namespace", "live digest", "rebuilt digest"), digests))
    for one in found.tables:
        _put_table(one)


def _put_table(one: "TableDifference") -> None:
    put(
        cell(""),
        cell(f"{one.table}: {count(one.only_live, 'row')} only live, {one.only_rebuilt:,} only rebuilt", "bold"),
    )
    for side, row in (("live", one.first_live), ("rebuilt", one.first_rebuilt)):
        if row is not None:
            put(cell(f"first only {side}"), fields([*_cells(row), ("(facts)", _events(row))]))


def _cells(row: "DifferingRow") -> list[tuple[str, object]]:
    return [(f"  {name}", "-" if value is None else value) for name, value in row.columns.items()]


def _events(row: "DifferingRow") -> str:
    if not row.events:
        return NOBODY
    named = [f"{one.namespace} {one.source} {one.id} at {one.position}" for one in row.events]
    more = row.events_count - len(named)
    return "; ".join([*named, *([f"{more} more"] if more else [])])


def diff(
    asked: Asked,
    a: Annotated[str, typer.Argument(metavar="A", help="A generation's number, `current`, or a view's file.")],
    b: Annotated[str, typer.Argument(metavar="B", help="Another.")],
    examples: Annotated[int, typer.Option("--examples", metavar="N", min=0, max=1000, help="How many of each.")] = 3,
) -> None:
    """What two generations believe differently, for each predicate."""
    from tether.store import Store

    with asked.home() as home:
        found = Store(home, SOURCE).diff(a, b, namespace=asked.namespace, examples=examples)
    if asked.as_json:
        put_json(found)
    else:
        _put_diff(found)
    if not found.equal:
        raise typer.Exit(REFUSED)


def _put_diff(found: "BeliefDifference") -> None:
    put(fields([("A", _side(found.a.name, found.a.position)), ("B", _side(found.b.name, found.b.position))]))
    columns = ("namespace", "predicate", "added", "gone", "changed", "same")
    rows = [
        (one.namespace, one.predicate, *(f"{number:,}" for number in (one.added, one.gone, one.changed, one.same)))
        for one in found.predicates
    ]
    put(cell(""), table(columns, rows, right=columns[2:]))
    shown = [
        (each.kind, f"{one.namespace} {each.subject} {one.predicate}{' in ' + each.scope if each.scope else ''}", *both)
        for one in found.predicates
        for each in one.examples
        for both in [(_belief(each.a), _belief(each.b))]
    ]
    if shown:
        put(cell(""), table(("", "slot", "A", "B"), shown))


def _side(name: str, position: str) -> str:
    return f"{name}, events up to position {position}"


def _belief(one: "Belief | None") -> str:
    if one is None:
        return "-"
    value = "(not shown)" if one.withheld else value_text(one.value) if one.status == "current" else ""
    said = f"({evidence_text(one.evidence)})" if one.evidence is not None else ""
    return " ".join(part for part in (value, one.status, said) if part)
