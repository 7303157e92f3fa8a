"""Lists, which are not served: what was stated in a slot, what evidence says of itself, and counts."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import orjson
from tether_schemas.answers import EvidenceId, Stance, StoreStatus
from tether_schemas.answers import Statement as Listed
from tether_schemas.policy import AUTHORITY_RANK, MODE_RANK
from tether_schemas.times import us_text
from tether_streams.core.belief import FALSE_KEY, Statement, believe

from tether_projections.governance import PUBLIC
from tether_projections.keys import digest
from tether_projections.names import Names
from tether_projections.reader import Reader
from tether_projections.rulings import Rulings
from tether_projections.slotview import SlotView
from tether_projections.snapshot import fails
from tether_projections.state import State
from tether_projections.store import Row, ViewStore

UNRESOLVED_MAX = 1_000
AUTHORITY = {rank: name for name, rank in AUTHORITY_RANK.items()}
MODE = {rank: name for name, rank in MODE_RANK.items()}
ENVELOPE = (
    "ev, namespace, source, id, kind, event_type, time, recorded_us, position, content_hash, session_id, seq, role, "
    "tool, call_id, extractor, rules"
)


@dataclass(frozen=True, slots=True)
class EvidenceView:
    """What is recorded of one piece of evidence; its payload lies in the log.

    `tombstoned`: the payload must not be shown; also where only what it says of a deleted subject is gone
    (`payload_erased`). `restricted`: the reader may see some of its assertions and not others, so not its payload.
    """

    namespace: str
    source: str
    id: str
    kind: str
    event_type: str
    time: str
    recorded_at: str
    position: str
    content_hash: str
    session_id: str | None
    seq: int | None
    role: str | None
    tool: str | None
    call_id: str | None
    extractor: str
    rules: str | None
    assertions: tuple[str, ...]
    tombstoned: bool
    payload_erased: bool
    invalidated: bool
    restricted: bool

    @property
    def payload_visible(self) -> bool:
        """Whether the caller may show the payload."""
        return not (self.tombstoned or self.payload_erased or self.restricted)


def evidence_view(store: ViewStore, state: State, reader: Reader, named: EvidenceId) -> EvidenceView | None:
    """One piece of evidence of the reader's namespace or of `*`; None when there is none that the reader may see."""
    namespace = named.namespace or reader.namespace
    node = state.keys.get(digest("evidence", namespace, named.source, named.id))
    rows = store.where(ENVELOPE, "evidence", "ev", [node]) if node else []
    if not rows:
        return None
    made = store.where("assertion_id, readers, place, a", "assertion", "ev", [node])
    seen = [row for row in made if reader.may_see(None if row[1] is None else orjson.loads(row[1]))]
    if made and not seen:
        return None
    _, space, source, identifier, kind, event_type, time, recorded_us, position, content_hash, *more = rows[0]
    session_id, seq, role, tool, call_id, extractor, rules = more
    tombstoned = Rulings(store, state, Names(store, state, reader)).gone(node)
    # One payload says all its assertions: where one of them is erased, none of its text can be shown.
    partly = not tombstoned and any(int(row[3]) in state.erased for row in made)
    return EvidenceView(
        namespace=space,
        source=source,
        id=identifier,
        kind=kind,
        event_type=event_type,
        time=time,
        recorded_at=us_text(recorded_us),
        position=str(position),
        content_hash=content_hash,
        session_id=session_id,
        seq=seq,
        role=role,
        tool=tool,
        call_id=call_id,
        extractor=extractor,
        rules=rules,
        assertions=tuple(row[0] for row in sorted(seen, key=lambda row: row[2])),
        tombstoned=tombstoned,
        payload_erased=partly or node in state.payload_erased,
        invalidated=node in state.invalid,
        restricted=len(seen) < len(made),
    )


class History:
    """Lists the statements of slots, for one reader."""

    def __init__(self, store: ViewStore, state: State, reader: Reader) -> None:
        self._store = store
        self._state = state
        self._reader = reader
        self._names = Names(store, state, reader)

    def of(self, views: Iterable[SlotView], valid_at_us: int | None = None) -> list[Listed]:
        """Every statement that the reader may see, in statement order; of those valid at a time, where one is given."""
        views = list(views)
        if valid_at_us is not None:
            views = [_valid(view, valid_at_us) for view in views]
        chosen = [(view, one) for view in views for one in view.statements if self._reader.may_see(one.readers)]
        chosen.sort(key=lambda pair: pair[1].order)
        nodes = [one.node for _, one in chosen]
        columns = "a, issuer, observed_at, valid_from, valid_to, expires_at"
        rows = {int(row[0]): row for row in self._store.where(columns, "assertion", "a", nodes)}
        stances: dict[int, Stance] = {
            int(a): stance for a, stance in self._store.where("a, stance", "stance", "a", nodes)
        }
        if valid_at_us is not None:
            for view in views:
                stances |= believe(view.statements, view.head.verdict).stances
        evidence = sorted({one.evidence for _, one in chosen})
        recorded = dict(self._store.where("ev, recorded_us", "evidence", "ev", evidence))
        premises = self._premises([one for _, one in chosen])
        return [
            self._listed(
                view, one, (rows[one.node], stances.get(one.node, "standing"), recorded[one.evidence], premises)
            )
            for view, one in chosen
        ]

    def _listed(self, view: SlotView, one: Statement, more: tuple[Row, Stance, int, dict[int, set[int]]]) -> Listed:
        row, stance, recorded_us, premises = more
        value = view.values[one.node]
        is_false = view.head.verdict and one.value_key == FALSE_KEY
        named = () if one.erased else (self._names[node] for node in premises.get(one.node, ()))
        return Listed(
            assertion=view.ids[one.node],
            value=None if value is None else orjson.loads(value),
            stance=stance,
            erased=one.erased,
            withdrawn=not is_false and fails(self._state, view.head, one),
            issuer=row[1],
            authority=AUTHORITY[one.authority],
            mode=MODE[one.mode],
            observed_at=row[2],
            valid_from=row[3],
            valid_to=row[4],
            expires_at=row[5],
            evidence=EvidenceId(one.source, one.id),
            premises=tuple(sorted(name.text for name in named if name.visible)),
            position=str(one.position),
            recorded_at=us_text(recorded_us),
        )

    def _premises(self, statements: list[Statement]) -> dict[int, set[int]]:
        """The stated premises of statements, by statement: their own, and those of links that count."""
        owners: dict[int, list[int]] = {one.node: [one.node] for one in statements}
        named: dict[int, list[int]] = {}
        for one in statements:
            named.setdefault(one.node, []).append(one.node)
            named.setdefault(one.evidence, []).append(one.node)
        for link, dependent, grade in self._store.where("l, dependent, grade", "link", "dependent", sorted(named)):
            if not grade and int(link) not in self._state.invalid:
                owners.setdefault(int(link), []).extend(named[int(dependent)])
        found: dict[int, set[int]] = {}
        for owner, node, grade in self._store.where("owner, node, grade", "premise", "owner", sorted(owners)):
            for statement in owners[int(owner)] if not grade else ():
                found.setdefault(statement, set()).add(int(node))
        self._names.fetch({node for nodes in found.values() for node in nodes})
        return found


def _valid(view: SlotView, at_us: int) -> SlotView:
    return replace(view, statements=[one for one in view.statements if one.valid_at(at_us)])


def counts(store: ViewStore, namespace: str | None) -> StoreStatus:
    """Counts of a namespace, or of everything. Positions, generation and dead letters are left to the caller."""

    def count(query: str, where: str = "namespace = ?") -> int:
        filtered = query if namespace is None else f"{query} WHERE {where}"
        needed = [] if namespace is None else [namespace] * where.count("?")
        return int(store.rows(filtered, needed)[0][0])

    of_slot = "slot IN (SELECT slot FROM memory WHERE namespace = ?)"
    nodes = (
        "(SELECT node FROM node WHERE namespace = ? UNION ALL SELECT ev FROM evidence WHERE namespace = ? "
        f"UNION ALL SELECT a FROM assertion WHERE {of_slot})"
    )
    return StoreStatus(
        namespace=namespace,
        log_position="",
        view_position="",
        generation="",
        events=count("SELECT count(*) FROM evidence"),
        assertions=count("SELECT count(*) FROM assertion", of_slot),
        slots=count("SELECT count(*) FROM memory"),
        edges=count("SELECT count(*) FROM edge", f"dependent IN {nodes}"),
        advisories=count(
            "SELECT count(DISTINCT (namespace, source, advisory_id)) FROM advisory", f"namespace IN (?, '{PUBLIC}')"
        ),
        down=count("SELECT count(*) FROM down", f"node IN {nodes}"),
        erased=count("SELECT count(*) FROM assertion JOIN ghost ON ghost.id = assertion.a", of_slot),
        dead_letters=0,
        unresolved=tuple(_unresolved(store, namespace)),
    )


def _unresolved(store: ViewStore, namespace: str | None) -> list[str]:
    """What could not be judged, at most UNRESOLVED_MAX."""
    rows = store.rows(
        "SELECT DISTINCT a.advisory_id || ': ' || n.text || ': ' || u.reason AS said FROM unresolved AS u "
        "JOIN advisory AS a USING (adv) JOIN node AS n USING (node) WHERE ? IS NULL OR n.namespace = ? "
        f"ORDER BY said LIMIT {UNRESOLVED_MAX}",
        [namespace, namespace],
    )
    return [row[0] for row in rows]
