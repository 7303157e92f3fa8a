"""The facts behind a row that differs: evidence of the rebuilt view, which is made of the log alone."""

from typing import Any, NamedTuple

from tether_projections.compare import REBUILT, TableFound
from tether_projections.store import Row, ViewStore

FACTS_MAX = 3
WITHHELD = "(not shown: erased, or not for everyone)"
CONTENT = ("value", "original_text", "write_reason", "summary", "body")  # columns that say what was said
FIRST = {"edge": "via", "cause": "ref"}  # the column that says who says so, where it is not the first

# Evidence that states what an id stands for.
STATES = f"""
    SELECT ev FROM {REBUILT}.evidence WHERE ev = $id
    UNION SELECT ev FROM {REBUILT}.assertion WHERE a = $id OR slot = $id
    UNION SELECT ev FROM {REBUILT}.link WHERE l = $id
"""
# Evidence that names it: claims about an object, premises, links.
NAMES = f"""
    SELECT s.ev FROM {REBUILT}.assertion AS s JOIN {REBUILT}.memory AS m USING (slot) WHERE m.object = $id
    UNION SELECT s.ev FROM {REBUILT}.premise AS p JOIN {REBUILT}.assertion AS s ON s.a = p.owner WHERE p.node = $id
    UNION SELECT l.ev FROM {REBUILT}.premise AS p JOIN {REBUILT}.link AS l ON l.l = p.owner WHERE p.node = $id
    UNION SELECT ev FROM {REBUILT}.link WHERE dependent = $id
"""
BY_NAME = f"SELECT ev FROM {REBUILT}.evidence WHERE namespace = $namespace AND source = $source AND id = $id"
# Whether something of the evidence is erased, its payload alone included, or names its readers.
GUARDED = f"""
    WITH behind AS ({{query}}), own AS (SELECT a, readers FROM {REBUILT}.assertion SEMI JOIN behind USING (ev))
    SELECT 1 FROM {REBUILT}.ghost WHERE abs(id) IN (SELECT ev FROM behind) OR id IN (SELECT a FROM own)
    UNION ALL SELECT 1 FROM own WHERE readers IS NOT NULL
    LIMIT 1
"""


class Behind(NamedTuple):
    """The first few events, as (namespace, source, id, raw position), how many there are, and the row as it may be
    shown: names on a line each, content only where nothing of the events is erased or restricted."""

    events: list[tuple[str, str, str, int]]
    events_count: int
    row: dict[str, Any]


def behind(store: ViewStore, found: TableFound, row: Row) -> Behind:
    """What the log says of a row's names. Where no event makes it, there are no events."""
    values = dict(zip(found.columns, row, strict=True))
    query, parameters = _query(store, found.table, values)
    if query is None:
        return Behind([], 0, _shown(values))
    columns = "namespace, source, id, position"
    rows = store.rows(
        f"SELECT {columns} FROM {REBUILT}.evidence SEMI JOIN ({query}) USING (ev) ORDER BY position, {columns}",
        parameters,
    )
    if store.rows(GUARDED.format(query=query), parameters):
        values |= {name: WITHHELD for name in CONTENT if values.get(name) is not None}
    events = [(str(one[0]), str(one[1]), str(one[2]), int(one[3])) for one in rows[:FACTS_MAX]]
    return Behind(events, len(rows), _shown(values))


def _query(store: ViewStore, table: str, values: dict[str, Any]) -> tuple[str | None, Any]:
    """The first query, and its parameters, that finds evidence for one of the names of a row."""
    first = FIRST.get(table)
    names = [values[first]] if first in values else []
    for name in [*names, *values.values()]:
        known = isinstance(name, str) and store.rows(
            f"SELECT id FROM names_{REBUILT} WHERE name = ? AND id > 0", [name.removeprefix("payload of ")]
        )
        for query in (STATES, NAMES) if known else ():
            parameters = {"id": known[0][0]} if known else {}
            if store.rows(query, parameters):
                return query, parameters
    if all(name in values for name in ("namespace", "source", "id")):
        parameters = {name: values[name] for name in ("namespace", "source", "id")}
        if store.rows(BY_NAME, parameters):
            return BY_NAME, parameters
    return None, {}


def _shown(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value.replace("\n", " ") if isinstance(value, str) else value for name, value in values.items()}
