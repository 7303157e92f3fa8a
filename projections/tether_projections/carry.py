"""What a generation takes over from the one that it follows: the outbox, and the difference to what was served."""

from importlib.resources import files

from tether_schemas.errors import DataDirectory, ViewLocked

from tether_projections.rebuild import SERVED, drop_tables, tell_difference
from tether_projections.state import State
from tether_projections.store import ViewStore

FOLLOWS = "follows"  # in the table meta: the generation whose outbox this one takes over when it is opened
FORMER = "former"
EMPTY = "SELECT 0 AS slot, '' AS status, 0 AS a, '' AS value, 0 AS support WHERE false"
BEFORE = f"""
    SELECT s.now AS slot, b.* EXCLUDE (slot)
    FROM ({SERVED.format(of="former.")}) AS b JOIN slot_now AS s ON s.former = b.slot
"""
GONE = """
    INSERT INTO change
    SELECT
        ? + row_number() OVER (ORDER BY now DESC), now, 'superseded', 'unknown', 0, '', 0, 0, ?
    FROM slot_gone WHERE served
"""


def carry(store: ViewStore, state: State, former: str | None, position: int) -> None:
    """Take the outbox of the generation in the file `former` over, and append what is served otherwise since.

    Where that file is lost or cannot be read (or None), everything served is told anew, under numbers above any that
    were given: they begin at the log's recorded time in microseconds.
    """
    attached = former is not None and _attached(store, former)
    try:
        with store.transaction():
            if attached:
                _take_over(store, state)
            else:
                store.execute(f"CREATE TEMP TABLE served_before AS {EMPTY}")
                latest = store.rows("SELECT coalesce(max(recorded_us), 0) FROM applied")
                state.change_seq = max(state.change_seq, int(latest[0][0]))
            tell_difference(store, state, position)
            if attached:
                store.execute(GONE, [state.change_seq, position])
                state.change_seq = _last(store)
            drop_tables(store, "served_before", "id_now", "slot_now", "slot_gone")
            store.set_meta(FOLLOWS, "")
    finally:
        if attached:
            store.detach(FORMER)


def _attached(store: ViewStore, former: str) -> bool:
    try:
        store.attach(former, FORMER)
    except (DataDirectory, ViewLocked):
        return False
    return True


def _take_over(store: ViewStore, state: State) -> None:
    store.execute("DELETE FROM change")
    for statement in files("tether_projections").joinpath("carry.sql").read_text("utf-8").split(";\n"):
        if statement.strip():
            store.execute(statement)
    store.execute(f"CREATE TEMP TABLE served_before AS {BEFORE}")
    state.change_seq = _last(store)


def _last(store: ViewStore) -> int:
    return int(store.rows("SELECT coalesce(max(seq), 0) FROM change")[0][0])
