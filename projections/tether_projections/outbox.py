"""Reads the outbox: what was served otherwise after a batch, with its cause, as one reader may see it."""

from functools import partial

from tether_schemas.answers import Change
from tether_streams.core.belief import Statement

from tether_projections.causes import is_above
from tether_projections.explain import Explainer, Question, restricted
from tether_projections.names import Names
from tether_projections.reader import Reader, check_number
from tether_projections.slots import decider
from tether_projections.slotview import SlotView, view_slots
from tether_projections.state import State
from tether_projections.store import Row, ViewStore

CHANGES_MAX = 100_000
CHANGES = (
    "SELECT c.seq, c.slot, c.kind, c.status, c.a, c.cause, c.ref, c.root, c.position, m.namespace, m.scope, m.subject, "
    "m.predicate FROM change AS c JOIN (SELECT slot, namespace, scope, subject, predicate FROM memory "
    "UNION ALL SELECT slot, namespace, scope, subject, predicate FROM slot_past) AS m USING (slot) "
    "WHERE c.seq > ? AND (? IS NULL OR m.namespace = ?) "
    "ORDER BY c.seq LIMIT ?"
)


class Outbox:
    """Lists changes for one reader, or (None) for the operator, who sees every namespace and every statement."""

    def __init__(self, store: ViewStore, state: State, reader: Reader | None) -> None:
        self._store = store
        self._state = state
        self._reader = reader
        self._names = Names(store, state, reader or Reader("operator"))
        self._restricted = reader is not None and restricted(store)
        self._bad_of: dict[int, set[int]] = {}

    def since(self, seq: int, limit: int) -> list[Change]:
        """The changes after `seq`, at most `limit`. Raises BadRequest for a bad limit."""
        check_number("since", seq, 0, 2**63 - 1)
        check_number("limit", limit, 1, CHANGES_MAX)
        self._store.commit()  # a change that was told must not be told again under another number
        namespace = None if self._reader is None else self._reader.namespace
        found: list[Change] = []
        while len(found) < limit:
            rows = self._store.rows(CHANGES, [seq, namespace, namespace, limit])
            found += self._changes(rows)
            if len(rows) < limit:
                break
            seq = int(rows[-1][0])
        return found[:limit]

    def _changes(self, rows: list[Row]) -> list[Change]:
        if not rows:
            return []
        self._names.fetch({int(node) for row in rows for node in (row[4], row[7])})
        views: dict[int, SlotView] = {}
        if self._restricted:
            views = {
                view.head.slot: view for view in view_slots(self._store, self._state, {int(row[1]) for row in rows})
            }
        found = [self._change(row, views.get(int(row[1]))) for row in rows]
        return [one for one in found if one is not None]

    def _change(self, row: Row, view: SlotView | None) -> Change | None:
        """One change. Where the reader sees others of the slot's statements but not this one, only that it changed."""
        seq, _, kind, status, shown, _, _, _, position, *slot = row
        namespace, scope, subject, predicate = slot
        made = partial(Change, seq, kind, namespace, scope, subject, predicate)
        if view is None and self._restricted:
            return None  # the slot is of a past policy: whose statements it had can no longer be told
        if view is not None and self._reader is not None:
            reader = self._reader
            if not any(reader.may_see(one.readers) for one in view.statements):
                return None
            if not self._names.sees(shown):
                return made("unknown", None, None, str(position))
        assertion = self._names.text(shown) if shown else None
        return made(status, assertion, self._cause(row, view), str(position))

    def _cause(self, row: Row, view: SlotView | None) -> str | None:
        kind, ref, root = row[5], int(row[6]), int(row[7])
        if not kind:
            return None
        if view is not None and not (root in self._visible(view) and (kind != "failed" or self._names.sees(ref))):
            return "restricted"
        name = self._names.text(root)
        match kind:
            case "advisory" | "revocation":
                return f"{self._state.advisories.by_node[ref].fact.advisory_id} covers {name}"
            case "failed":
                return f"{name} failed"
            case "higher_version":
                return is_above(self._names.text(ref), name)
            case _:
                return f"{name} is {kind}"

    def _visible(self, view: SlotView) -> set[int]:
        """The bad nodes that the reader may see now to be causes of a slot."""
        slot = view.head.slot
        if slot not in self._bad_of:
            assert self._reader is not None
            explainer = Explainer(self._store, self._state, self._reader)
            deciders = {self._decider(view, one) for one in view.statements}
            self._bad_of[slot] = explainer.visible_bad(Question(view.head.object, deciders))
        return self._bad_of[slot]

    def _decider(self, view: SlotView, one: Statement) -> int:
        return decider(self._state, view.head, one.node)
