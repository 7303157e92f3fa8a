"""Two views, table by table, with every id replaced by what it names: ids depend on the order of arrival, names do not.

The columns come from the catalogue, so a table or a column that is new is compared too: INTEGER columns are ids unless
listed in NUMBERS, all others are compared as they are.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files

from tether_projections.carry import FOLLOWS
from tether_projections.store import Row, ViewStore

REBUILT = "rebuilt"  # the name under which the other view is attached

# Not of what a rebuild can make: the outbox, and where the view stands.
LEFT_OUT = ("change", "slot_past", "applied")
META_LEFT_OUT = (FOLLOWS, "foreseen", "plan")  # notes of a build or a promotion
NUMBERS = ("partition", "place")  # INTEGER columns that are no ids

# The node that supports a slot: of several, which one is named depends on the order of arrival. That it is one of
# them, and down only when all are, follows from the facts.
SUPPORT = """
    CASE
        WHEN t.support = 0 THEN 'nothing'
        ELSE coalesce((SELECT d.name FROM deciders_{side} AS d WHERE d.slot = t.slot), '')
    END
    || CASE WHEN t.support IN (SELECT node FROM {of}down) THEN ', down' ELSE '' END
    || CASE
        WHEN t.slot IN (SELECT slot FROM {of}support)
            AND NOT EXISTS (SELECT 1 FROM {of}support AS s WHERE s.slot = t.slot AND s.node = t.support)
            THEN ', none of them named'
        ELSE ''
    END
"""

# A slot's digest begins with the id of its subject (keys.slot_key): the rest of it, where that id is right.
SLOT_KEY = "CASE WHEN (t.hi & 4294967295) = t.object THEN t.hi - (t.hi & 4294967295) END"

NORMAL = ("node", "edge", "support")  # compare.sql says what of them follows from the facts
COPIES = ("edge", "support")  # with how often a row stands there

RENDERED = {("memory", "support"): SUPPORT, ("memory", "hi"): SLOT_KEY}

NAME = """
    CASE WHEN t.{column} < 0 THEN 'payload of ' ELSE '' END
    || coalesce(n_{column}.name, 'what no row has: id ' || abs(t.{column}))
"""


@dataclass(frozen=True, slots=True)
class TableFound:
    """What differs in one table: its columns, how many rows only one of the views has, and the first of each."""

    table: str
    columns: tuple[str, ...]
    only_live: int
    only_rebuilt: int
    first_live: Row | None
    first_rebuilt: Row | None


class Comparison:
    """A view, and another's file attached to it for reading. Close it, or use it in a `with`."""

    def __init__(self, store: ViewStore, path: str) -> None:
        self._store = store
        store.attach(path, REBUILT)

    def __enter__(self) -> "Comparison":
        script = files("tether_projections").joinpath("compare.sql").read_text("utf-8")
        with self._store.transaction():
            for of, side in (("", "live"), (f"{REBUILT}.", REBUILT)):
                for statement in script.format(of=of, side=side).split(";\n"):
                    if statement.strip():
                        self._store.execute(statement)
        return self

    def __exit__(self, *_: object) -> None:
        with self._store.transaction():
            self._store.execute("DROP TABLE IF EXISTS temp.differing")
            for side in ("live", REBUILT):
                for view in NORMAL:
                    self._store.execute(f"DROP VIEW IF EXISTS temp.{view}_{side}")
                for made in ("deciders", "decides", "names"):
                    self._store.execute(f"DROP TABLE IF EXISTS temp.{made}_{side}")
        self._store.detach(REBUILT)

    def tables(self) -> list[str]:
        """The tables that are compared."""
        return [table for table in self._store.tables() if table not in LEFT_OUT]

    def table(self, table: str) -> TableFound:
        """What differs in one table."""
        columns = self._store.columns(table)
        if table in COPIES:
            columns.append(("copies", "BIGINT"))
        live = _select(table, columns, "", "live")
        rebuilt = _select(table, columns, f"{REBUILT}.", REBUILT)
        # A row that one view has more often than the other differs too; one aggregate tells both ways.
        query = f"""
            CREATE OR REPLACE TEMP TABLE differing AS
            SELECT * EXCLUDE (weight_), sum(weight_) AS surplus_
            FROM (SELECT *, 1 AS weight_ FROM ({live}) UNION ALL SELECT *, -1 FROM ({rebuilt}))
            GROUP BY ALL HAVING sum(weight_) <> 0
        """
        with self._store.transaction():
            self._store.execute(query)
        totals = "coalesce(sum(surplus_) FILTER (surplus_ > 0), 0), coalesce(sum(-surplus_) FILTER (surplus_ < 0), 0)"
        ((only_live, only_rebuilt),) = self._store.rows(f"SELECT {totals} FROM differing")
        names = tuple(name for name, _ in columns)
        first = [self._first(sign) for sign in (">", "<")]
        return TableFound(table, names, int(only_live), int(only_rebuilt), *first)

    def _first(self, sign: str) -> Row | None:
        query = f"SELECT * EXCLUDE (surplus_) FROM differing WHERE surplus_ {sign} 0 ORDER BY ALL LIMIT 1"
        return next(iter(self._store.rows(query)), None)

    def namespaces(self) -> list[str]:
        """Every namespace that has evidence in either view, sorted."""
        query = f"SELECT namespace FROM evidence UNION SELECT namespace FROM {REBUILT}.evidence ORDER BY 1"
        return [str(row[0]) for row in self._store.rows(query)]


def _select(table: str, columns: list[tuple[str, str]], of: str, side: str) -> str:
    """The rows of a table with every id as its name."""
    source, where = f"{of}{table}", ""
    if table in NORMAL:
        source = f"{table}_{side}"
    elif table == "meta":
        where = f"WHERE t.name NOT IN ({', '.join(map(repr, META_LEFT_OUT))})"
    ids = [name for name, kind in columns if kind == "INTEGER" and name not in NUMBERS]
    shown = ", ".join(f"{text} AS {name}" for name, text in _rendered(table, columns, ids, of, side))
    joins = " ".join(f"LEFT JOIN names_{side} AS n_{name} ON n_{name}.id = abs(t.{name})" for name in ids)
    return f"SELECT {shown} FROM {source} AS t {joins} {where}"


def _rendered(
    table: str, columns: list[tuple[str, str]], ids: list[str], of: str, side: str
) -> Iterator[tuple[str, str]]:
    for name, _ in columns:
        text = NAME.format(column=name) if name in ids else f"t.{name}"
        if (own := RENDERED.get((table, name))) is not None:
            text = own.format(of=of, side=side)
        yield name, text
