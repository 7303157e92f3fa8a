"""What a rebuild keeps: ids where it is made in place, the outbox, and the difference it makes to what is served."""

from tether_projections.changes import kind_of
from tether_projections.state import State
from tether_projections.store import Row, ViewStore

KEPT = ("meta", "change", "slot_past")

# What a view serves of each slot, without a time. {of}: the database that holds it.
SERVED = """
    SELECT
        m.slot,
        CASE
            WHEN m.status = 'current' AND NOT m.failed AND d.node IS NOT NULL THEN 'withdrawn' ELSE m.status
        END AS status,
        m.a, m.value, m.support
    FROM {of}memory AS m LEFT JOIN {of}down AS d ON d.node = m.support
"""

# A slot that the new policy no longer makes keeps its names, for the changes that were told of it.
PAST = """
    INSERT INTO slot_past
    SELECT slot, namespace, scope, subject, predicate FROM memory_before
    WHERE slot NOT IN (SELECT slot FROM memory) AND slot IN (SELECT slot FROM change)
"""

DIFFERENCE = """
    SELECT n.slot, n.status, b.status, n.a, n.support, n.value IS DISTINCT FROM b.value
    FROM served_now AS n LEFT JOIN served_before AS b USING (slot)
    WHERE b.slot IS NULL OR n.status <> b.status OR n.value IS DISTINCT FROM b.value
    ORDER BY n.slot
"""


class Kept:
    """Remembers what was served, empties the view, and tells afterwards what is served otherwise."""

    def __init__(self, store: ViewStore) -> None:
        self._store = store
        store.execute(f"CREATE TEMP TABLE served_before AS {SERVED.format(of='')}")
        store.execute(
            "CREATE TEMP TABLE memory_before AS SELECT slot, namespace, scope, subject, predicate FROM memory"
        )
        store.truncate(KEPT)

    def tell(self, state: State, position: int) -> None:
        """Append the difference to the outbox."""
        self._store.execute("DELETE FROM slot_past WHERE slot IN (SELECT slot FROM memory)")
        self._store.execute(PAST)
        tell_difference(self._store, state, position)

    def drop(self) -> None:
        """Let go of what was remembered."""
        drop_tables(self._store, "served_before", "memory_before")


def tell_difference(store: ViewStore, state: State, position: int) -> None:
    """Append to the outbox what is served otherwise than the temporary table served_before says."""
    store.execute(f"CREATE TEMP TABLE served_now AS {SERVED.format(of='')}")
    rows: list[Row] = []
    for slot, status, before, shown, support, other in store.rows(DIFFERENCE):
        kind = kind_of(before, status, bool(other))
        if kind is not None:
            state.change_seq += 1
            cause = state.cause(state.reach.cause_of(int(support))) if status == "withdrawn" else ("", 0, 0)
            rows.append((state.change_seq, slot, kind, status, shown or 0, *cause, position))
    store.append("change", rows)
    drop_tables(store, "served_now")


def drop_tables(store: ViewStore, *tables: str) -> None:
    """Drop temporary tables, there or not."""
    for table in tables:
        store.execute(f"DROP TABLE IF EXISTS temp.{table}")
