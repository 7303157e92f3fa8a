"""An engine driven batch by batch, and everything that must hold of it after each: the oracle's word for the answers,
the file's for the memory, a build of its own for the rows."""

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from copy import deepcopy
from random import Random
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray
from tether_projections.engine import Engine
from tether_projections.snapshot import snapshot
from tether_projections.state import OBJECT_KIND, State, hydrate
from tether_projections.store import Row, ViewStore
from tether_schemas.canonical import canonical_json
from tether_schemas.facts import FactRecord

from tests.histories import smallest
from tests.oracle import Oracle
from tests.records import HOME, OTHER

NAMESPACES = (HOME, OTHER)
NO_LANE = 10**9


class Injected(Exception):
    """The failure that `Breaking` injects."""


class Writes:
    """A database, or an appender of it, of which each write is counted before it is made."""

    def __init__(self, inner: Any, count: Callable[[], None]) -> None:
        self._inner = inner
        self._count = count

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def execute(self, sql: str, *parameters: Any) -> Any:
        """Run a statement; reads, and what begins or ends a transaction without writing, are not counted."""
        if sql.lstrip().partition(" ")[0].upper() in ("INSERT", "DELETE", "UPDATE", "COMMIT"):
            self._count()
        return self._inner.execute(sql, *parameters)

    def appender(self, table: str) -> "Writes":
        """An appender whose writes are counted too."""
        return Writes(self._inner.appender(table), self._count)

    def append_rows(self, rows: Sequence[Row]) -> None:
        """Append, after counting."""
        self._count()
        self._inner.append_rows(rows)


class Breaking(ViewStore):
    """A store of which one write, asked of it or made to its file, fails."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.left: int | None = None
        self._db: Any = Writes(self._db, self._count)

    @contextmanager
    def breaking(self, nth: int) -> Generator[None]:
        """Let the n-th write (from 1) inside fail."""
        self.left = nth
        try:
            yield
        finally:
            self.left = None

    def _count(self) -> None:
        if self.left is not None:
            self.left -= 1
            if not self.left:
                raise Injected

    def append(self, table: str, rows: Sequence[Row]) -> None:
        """As the store does, or fail."""
        self._count()
        super().append(table, rows)


_STORES: dict[str, Breaking] = {}  # kept, since making one takes 40 ms


def empty_store(name: str = "driven") -> Breaking:
    """An empty store in memory; the former one of the same name ends."""
    store = _STORES.get(name) or _STORES.setdefault(name, Breaking(":memory:"))
    with store.transaction():
        store.truncate(("meta",))
    return store


class Driven:
    """One engine over one store, and the records that it was given. Whatever is plain goes by the lane, unless batches
    have less than `lane_min` of it."""

    def __init__(self, store: Breaking | None = None, lane_min: int = 1) -> None:
        self.store = empty_store() if store is None else store
        self._lane_min = lane_min
        self.applied: list[FactRecord] = []
        self.engine = self._open()

    def _open(self) -> Engine:
        return Engine(self.store, lambda position: [self.applied[:position]], lane_min=self._lane_min)

    def restart(self) -> None:
        """A new engine over the same file."""
        self.engine = self._open()

    def reopen(self) -> None:
        """The same file, closed and opened again."""
        self.store.close()
        self.store = Breaking(self.store.path)
        self.restart()

    def apply(self, batch: Sequence[FactRecord]) -> None:
        """Apply one batch; where it fails, the records left are those up to the position that the view then has."""
        self.applied += batch
        try:
            self.engine.apply(batch, len(self.applied))
        except BaseException:
            del self.applied[self.engine.position() :]
            raise

    def snapshots(self) -> list[list[list[Any]]]:
        """The snapshot of every namespace."""
        return [snapshot(self.store, self.engine.state, namespace) for namespace in NAMESPACES]

    def faults(self) -> list[str]:
        """Everything that is not as it must be now."""
        return [*answer_faults(self), *memory_faults(self.store, self.engine.state)]


def told(rows: Iterable[list[Any]]) -> set[str]:
    """Rows as text, to tell which differ."""
    return {canonical_json(row).decode() for row in rows}


def answer_faults(driven: Driven) -> list[str]:
    """Rows of the snapshots, and of the view `memory_now`, that the oracle does not have."""
    found: list[str] = []
    for namespace, got in zip(NAMESPACES, driven.snapshots(), strict=True):
        oracle = Oracle(driven.applied, namespace)
        want = oracle.snapshot()
        if got != want:
            found += [f"{namespace}: the engine has {row}" for row in sorted(told(got) - told(want))]
            found += [f"{namespace}: the oracle has {row}" for row in sorted(told(want) - told(got))]
            found.append(f"{namespace}: {len(got)} rows, {len(want)} rows")
        found += view_faults(driven.store, oracle, namespace)
    return found


PLAIN_SLOTS = """
    SELECT
        n.scope, n.subject, n.predicate, n.status, n.value, n.single, n.assertion_id
    FROM memory_now AS n JOIN memory AS m USING (namespace, scope, subject, predicate)
    WHERE
        n.namespace = ? AND m.many IS NULL AND m.slot NOT IN (
            SELECT slot FROM assertion WHERE valid_from IS NOT NULL OR valid_to IS NOT NULL OR expires_at IS NOT NULL
        )
"""


def view_faults(store: ViewStore, oracle: Oracle, namespace: str) -> list[str]:
    """Slots without time dependence of which `memory_now` says something else than the oracle."""
    found: list[str] = []
    for scope, subject, predicate, status, value, single, assertion in store.rows(PLAIN_SLOTS, [namespace]):
        want = oracle.recall(subject, predicate, scope)
        shown = value if value is None else canonical_json(orjson.loads(value))
        wanted = canonical_json(want.value) if want.status == "current" else None
        if (status, shown) != (want.status, wanted) or (single and assertion != want.assertion):
            found.append(f"memory_now {scope} {subject} {predicate}: {status} {shown} {assertion}, not {want}")
    return found


def ones(array: NDArray[Any]) -> set[int]:
    """Where an array is not zero."""
    return set(np.flatnonzero(array).tolist())


def held(state: State, links: set[int]) -> dict[str, object]:
    """What a state holds in memory, in a form that can be compared; without what is bad of links."""
    size = state.keys.next_id
    supported = {node: frozenset(state.supported(node)) for node in range(1, size) if state.supported(node)}
    parts: dict[str, object] = {
        "position": state.position,
        "hard": ones(state.badness.hard) - links,
        "soft": ones(state.badness.soft),
        "reached": ones(state.reach.witness >= 0),
        "possibly reached": ones(state.reach_possible.witness >= 0) if state.has_possible else set[int](),
        "is_down": ones(state.is_down),
        "is_threatened": ones(state.is_threatened),
        "supported": supported,
        "multi": state.multi,
        "shown": {slot: int(state.shown[slot]) for slot in ones(state.shown)},
        "kinds": {node: int(state.kinds[node]) for node in ones(state.kinds)},
        "causes": {node: causes for node, causes in state.causes.items() if causes},
        "invalid": state.invalid,
        "erased": state.erased,
        "payload_erased": state.payload_erased,
        "dynamic": state.dynamic,
        "on_record": {base: versions for base, versions in state.on_record.items() if versions},
        "phantoms": state.phantoms,
        "contested": state.contested,
        "policies": state.policies.latest,
        "edges": edges_of(state),
    }
    return deepcopy(parts)


def edges_of(state: State) -> Counter[tuple[int, ...]]:
    """The edges of the graph, each as (dependent, premise, via, of, flags)."""
    graph, count = state.graph, state.graph.count
    columns = (graph.dependent, graph.premise, graph.via, graph.of, graph.flags)
    return Counter(zip(*(column[:count].tolist() for column in columns), strict=True))


def unlike(got: dict[str, object], want: dict[str, object], words: str) -> list[str]:
    """Where two of `held` differ."""
    return [f"{name} {words}: {_short(got[name], want[name])}" for name in want if got[name] != want[name]]


def _short(got: object, want: object) -> str:
    if isinstance(got, Counter) and isinstance(want, Counter):
        return f"only here {got - want}, only there {want - got}"
    return f"{got}, not {want}"


def memory_faults(store: ViewStore, state: State) -> list[str]:
    """Whatever the memory half has otherwise than a fresh one, and rows that do not follow from it."""
    links = {int(row[0]) for row in store.rows("SELECT l FROM link")}  # nothing derives from a link itself
    found = unlike(held(state, links), held(hydrate(store), links), "in memory, not as read anew")
    objects = ones(state.kinds == OBJECT_KIND)
    reached = ones(state.reach.witness >= 0)
    down = reached | (objects & ones(state.badness.hard))
    threatened = ones(state.reach_possible.witness >= 0) - down if state.has_possible else set[int]()
    found += _rows_faults(store, "down", "SELECT node FROM down", [(node,) for node in down])
    found += _rows_faults(store, "threatened", "SELECT node FROM threatened", [(node,) for node in threatened])
    causes = [(node, kind, ref) for node, causes in state.causes.items() for kind, ref in causes]
    found += _rows_faults(store, "cause", "SELECT node, kind, ref FROM cause", causes)
    found += _rows_faults(store, "invalidated", "SELECT id FROM invalidated", [(node,) for node in state.invalid])
    ghosts = [*state.erased, *(-node for node in state.payload_erased)]
    found += _rows_faults(store, "ghost", "SELECT id FROM ghost", [(node,) for node in ghosts])
    found += [f"slots without one row each: {rows}" for rows in store.rows(TWICE)]
    found += [f"support does not follow from those who decide: {rows}" for rows in store.rows(UNSUPPORTED)]
    found += [f"content of what is erased stays: {rows}" for rows in store.rows(KEPT_CONTENT)]
    return found


def _rows_faults(store: ViewStore, table: str, query: str, want: list[Row]) -> list[str]:
    rows, wanted = Counter(store.rows(query)), Counter(want)
    return [] if rows == wanted else [f"table {table}: {_short(rows, wanted)}"]


TWICE = """
    SELECT 'memory', slot FROM memory GROUP BY slot HAVING count(*) <> 1
    UNION ALL SELECT 'stance', a FROM stance GROUP BY a HAVING count(*) <> 1
    UNION ALL SELECT 'assertion', a FROM assertion GROUP BY a HAVING count(*) <> 1
    UNION ALL SELECT 'evidence', ev FROM evidence GROUP BY ev HAVING count(*) <> 1
    UNION ALL SELECT 'node', node FROM node GROUP BY node HAVING count(*) <> 1
    UNION ALL SELECT 'no memory', slot FROM assertion WHERE slot NOT IN (SELECT slot FROM memory)
    UNION ALL SELECT 'no statement', slot FROM memory WHERE slot NOT IN (SELECT slot FROM assertion)
"""

KEPT_CONTENT = """
    SELECT a, value, original_text, write_reason FROM assertion
    WHERE a IN (SELECT id FROM ghost) AND coalesce(value, original_text, write_reason) IS NOT NULL
"""

# Of several nodes that decide over a slot, the one its row names is down only when all are.
UNSUPPORTED = """
    SELECT m.slot, m.support, m.status
    FROM memory AS m JOIN support AS s USING (slot)
    GROUP BY m.slot, m.support, m.status
    HAVING
        count(*) FILTER (s.node = m.support) <> 1 OR m.status <> 'current'
        OR (m.support IN (SELECT node FROM down)) <> bool_and(s.node IN (SELECT node FROM down))
"""

NAMES = """
    SELECT node, namespace || ' ' || kind || ' ' || coalesce(source || ' ', '') || text FROM node
    UNION SELECT ev, namespace || ' evidence ' || source || ' ' || id FROM evidence
    UNION
    SELECT s.a, m.namespace || ' assertion ' || s.assertion_id FROM assertion AS s JOIN memory AS m USING (slot)
    UNION SELECT l.l, e.namespace || ' link ' || l.link_id FROM link AS l JOIN evidence AS e USING (ev)
    UNION SELECT slot, concat_ws(' ', namespace, 'slot', scope, '|', subject, predicate, many) FROM memory
    UNION SELECT 0, 'nothing'
"""

# Rows with every id as its name, of which nothing depends on the order of arrival.
BY_NAME = {
    "down": "SELECT n.name FROM down AS d JOIN names AS n ON n.id = d.node",
    "threatened": "SELECT n.name FROM threatened AS d JOIN names AS n ON n.id = d.node",
    "stance": "SELECT n.name, s.stance FROM stance AS s JOIN names AS n ON n.id = s.a",
    "cause": (
        "SELECT n.name, c.kind, r.name FROM cause AS c JOIN names AS n ON n.id = c.node JOIN names AS r ON r.id = c.ref"
    ),
    "memory": (
        "SELECT s.name, m.verdict, m.rests, o.name, m.status, m.failed, m.assertion_id, m.source, m.id, m.single, "
        "m.complete, m.latest_us, m.support = 0, d.node IS NOT NULL FROM memory AS m JOIN names AS s ON s.id = m.slot "
        "JOIN names AS o ON o.id = m.object LEFT JOIN down AS d ON d.node = m.support"
    ),
    "edge": (
        "SELECT DISTINCT d.name, p.name, v.name, o.name, e.flags FROM edge AS e JOIN names AS d ON d.id = e.dependent "
        "JOIN names AS p ON p.id = e.premise JOIN names AS v ON v.id = e.via JOIN names AS o ON o.id = e.of "
        "WHERE e.flags % 2 = 1"
    ),
}  # fmt: skip


def rows_by_name(store: ViewStore) -> dict[str, Counter[Row]]:
    """The tables of BY_NAME."""
    store.rows("CREATE OR REPLACE TEMP TABLE names (id INTEGER, name VARCHAR)")
    store.rows(f"INSERT INTO names {NAMES}")
    return {table: Counter(store.rows(query)) for table, query in BY_NAME.items()}


def build_faults(driven: Driven, lane_min: int = NO_LANE) -> list[str]:
    """Tables that differ from those of a view built of the same records in one batch, and without the lane."""
    fresh = Driven(empty_store("fresh"), lane_min)
    fresh.apply(driven.applied)
    got, want = rows_by_name(driven.store), rows_by_name(fresh.store)
    return [
        f"table {name} is not as built at once: {_short(got[name], want[name])}"
        for name in want
        if got[name] != want[name]
    ]


Check = Callable[[list[FactRecord]], list[str]]


def explained(records: list[FactRecord], check: Check) -> str:
    """The smallest part of a history that fails a check, with what it says; empty where nothing fails."""
    if not check(records):
        return ""
    left = smallest(records, lambda fewer: bool(check(fewer)))
    lines = ["", *check(left)[:12], "smallest history, in order of arrival:", *map(repr, left)]
    return "\n".join(lines)


def cut(records: Sequence[FactRecord], random: Random, size_max: int = 6) -> list[list[FactRecord]]:
    """Random batches of records, in their order."""
    left, batches = list(records), list[list[FactRecord]]()
    while left:
        size = random.randint(1, size_max)
        batches.append(left[:size])
        left = left[size:]
    return batches


def disturbed(records: Sequence[FactRecord], random: Random) -> list[FactRecord]:
    """Records in another order, some of them twice."""
    found = list(records)
    if random.random() < 0.5:
        random.shuffle(found)
    for _ in range(random.choice((0, 1, 3)) if found else 0):
        found.insert(random.randrange(len(found) + 1), random.choice(records))
    return found
