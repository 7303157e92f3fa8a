"""The outbox: what is served differently after a batch, with its cause; and the tables that say what is down."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from tether_schemas.answers import ChangeKind, Status

from tether_projections.batch import Batch
from tether_projections.reach import Moved
from tether_projections.slots import Slot
from tether_projections.state import OBJECT_KIND, State
from tether_projections.store import MANY, Row, ViewStore

Ids = NDArray[np.int32]


@dataclass(slots=True)
class Turned:
    """Nodes that went down, and nodes that came up."""

    down: Ids
    up: Ids


def turned(state: State, batch: Batch, moved: list[Moved], threatened: bool) -> Turned:
    """Which nodes' row in `down` (or in `threatened`) must change."""
    parts = [np.fromiter((*batch.new_nodes, *batch.lost_nodes), np.int32)]
    parts += [np.array(nodes, np.int32) for one in moved for nodes in (one.reached, one.released)]
    nodes = np.unique(np.concatenate(parts))
    objects = state.kinds[nodes] == OBJECT_KIND
    bad = objects & (state.badness.hard[nodes] != 0)
    now = bad | (state.reach.witness[nodes] >= 0)
    if threatened:
        now = ~now & (state.reach_possible.witness[nodes] >= 0)
    was = (state.is_threatened if threatened else state.is_down)[nodes] != 0
    return Turned(nodes[now & ~was], nodes[was & ~now])


def write_turned(store: ViewStore, flags: NDArray[np.int8], table: str, change: Turned) -> None:
    """Bring a table of nodes, and its image in memory, up to date."""
    flags[change.down] = 1
    flags[change.up] = 0
    if len(change.down) < MANY:
        store.append(table, [(node,) for node in change.down.tolist()])
    else:
        store.append_columns(table, {"node": change.down}, {})
    store.delete(table, "node", change.up.tolist())


@dataclass(slots=True)
class Touched:
    """Slots with the node that alone supports each, and slots of several supports, to look at again."""

    slots: Ids
    nodes: Ids
    several: set[int]


def touched_slots(state: State, nodes: Ids, known: set[int]) -> Touched:
    """The slots, but the known ones, over which these nodes decide."""
    only = state.slot_of[nodes]
    single = only > 0
    slots, deciders = only[single], nodes[single]
    shared = [(slot, node) for node in nodes[only < 0].tolist() for slot in state.slots_of[node]]
    if shared:
        more = np.array(shared, np.int32)
        slots, deciders = np.concatenate([slots, more[:, 0]]), np.concatenate([deciders, more[:, 1]])
    several: set[int] = set()
    if state.multi:
        found = np.isin(slots, np.fromiter(state.multi, np.int32, len(state.multi)))
        several = set(slots[found].tolist())
        slots, deciders = slots[~found], deciders[~found]
    if known:
        fresh = ~np.isin(slots, np.fromiter(known, np.int32, len(known)))
        slots, deciders = slots[fresh], deciders[fresh]
    return Touched(slots, deciders, several - known)


class ChangeLog:
    """Writes the change rows of one batch."""

    def __init__(self, store: ViewStore, state: State, batch: Batch) -> None:
        self.store = store
        self.state = state
        self.batch = batch
        self.rows: list[Row] = []

    def _add(self, slot: int, kind: ChangeKind, status: Status, cause: tuple[str, int, int]) -> None:
        self.state.change_seq += 1
        shown = int(self.state.shown[slot])
        self.rows.append((self.state.change_seq, slot, kind, status, shown, *cause, self.batch.position))

    def withdrawn(self, touched: Touched) -> None:
        """Slots whose one support went down, each with its cause."""
        roots = self.state.reach.causes_of(touched.nodes)
        for root in np.unique(roots).tolist():
            self._add_many(touched.slots[roots == root], "withdrawn", "withdrawn", self.state.cause(root))

    def restored(self, touched: Touched) -> None:
        """Slots whose one support came up."""
        self._add_many(touched.slots, "restored", "current", ("", 0, 0))

    def _add_many(self, slots: Ids, kind: ChangeKind, status: Status, cause: tuple[str, int, int]) -> None:
        if len(slots) < MANY:
            for slot in slots.tolist():
                self._add(slot, kind, status, cause)
            return
        first = self.state.change_seq + 1
        self.state.change_seq += len(slots)
        said, ref, root = cause
        self.store.append_columns(
            "change",
            {"seq": np.arange(first, first + len(slots)), "slot": slots, "a": self.state.shown[slots]},
            {"kind": kind, "status": status, "cause": said, "ref": ref, "root": root, "position": self.batch.position},
        )

    def slot(self, slot: Slot) -> None:
        """A dirty slot: compare what was served with what is."""
        assert slot.base is not None
        status, support = slot.base.status, slot.support
        if status == "current" and not slot.base.is_false and support and self.state.is_down[support]:
            status = "withdrawn"
        kind = _kind(slot, status)
        if kind is None:
            return
        cause = ("", 0, 0)
        if status == "withdrawn":
            cause = self.state.cause(self.state.reach.cause_of(support))
        self._add(slot.head.slot, kind, status, cause)


def _kind(slot: Slot, status: Status) -> ChangeKind | None:
    old = slot.old
    shown = slot.base.shown if slot.base is not None else None
    other = False
    if old is not None and shown is not None and shown.node != old.shown:
        before = next((one for one in slot.statements if one.node == old.shown), None)
        other = before is None or before.value_key != shown.value_key
    return kind_of(None if old is None else old.status, status, other)


def kind_of(before: Status | None, status: Status, other: bool) -> ChangeKind | None:
    """What a change is called: from what was served (None: nothing) to what is; `other`: another value is shown."""
    if before is None:
        return "asserted" if status == "current" else _named(status)
    if status != before:
        return "restored" if status == "current" else _named(status)
    return "superseded" if status == "current" and other else None


def _named(status: Status) -> ChangeKind | None:
    match status:
        case "withdrawn" | "disputed" | "tombstoned" | "invalidated" | "expired":
            return status
        case _:
            return None
