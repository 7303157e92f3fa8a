"""Layer B in the engine: the dirty slots of a batch are believed anew, and what follows from it is noted."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import orjson
from tether_schemas.answers import Stance, Status
from tether_schemas.times import time_us
from tether_streams.core.belief import FALSE_KEY, TRUE_KEY, Belief, Served, Statement, believe, serve

from tether_projections.batch import Batch, SlotHead
from tether_projections.edges import EdgeBuilder
from tether_projections.graph import CONTENT, LIVE
from tether_projections.keys import halves
from tether_projections.state import State
from tether_projections.store import Row, ViewStore

SOFT = ("superseded", "outranked", "disputed")
STATEMENT = (
    "slot, a, ev, source, id, place, issuer_key, authority, mode, observed_us, value_key, confidence, valid_from, "
    "valid_to, expires_at, premises_complete, readers, position"
)
HEAD = "slot, hi, lo, namespace, scope, subject, predicate, many, verdict, rests, object, status, failed, a, support"


@dataclass(slots=True)
class OldSlot:
    """What was served of a slot before the batch."""

    status: Status
    shown: int
    support: int


@dataclass(slots=True)
class Slot:
    """One dirty slot: its head, its statements, what was served, and what is believed now."""

    head: SlotHead
    statements: list[Statement]
    old: OldSlot | None = None
    belief: Belief | None = None
    base: Served | None = None
    support: int = 0  # the node whose being down means withdrawn; 0: nothing can withdraw it
    texts: dict[int, tuple[str, str | None]] = field(default_factory=dict[int, tuple[str, str | None]])  # id and value


def statement_of(row: Row) -> Statement:
    """A statement from a row of STATEMENT; counting, erasure and own say are set by `judge`."""
    return Statement(
        node=int(row[1]),
        evidence=int(row[2]),
        source=row[3],
        id=row[4],
        place=int(row[5]),
        issuer=row[6],
        authority=int(row[7]),
        mode=int(row[8]),
        observed_us=int(row[9]),
        value_key=row[10],
        confidence=-1.0 if row[11] is None else row[11],
        from_us=None if row[12] is None else time_us(row[12]),
        to_us=None if row[13] is None else time_us(row[13]),
        expires_us=None if row[14] is None else time_us(row[14]),
        complete=bool(row[15]),
        readers=None if row[16] is None else tuple(orjson.loads(row[16])),
        position=int(row[17]),
    )


def judge(state: State, one: Statement) -> None:
    """Set what the graph and layer A say of a statement."""
    one.counts = one.node not in state.invalid
    one.erased = one.node in state.erased
    graph = state.graph
    needs = CONTENT | LIVE
    one.own_say = not any(int(graph.flags[edge]) & needs == needs for edge in graph.edges_from(one.node))


def decider(state: State, head: SlotHead, node: int) -> int:
    """The node that is down exactly when a statement of this slot is reached (or about a bad object); 0: none."""
    if head.verdict or head.rests:
        return node if len(state.graph.edges_from(node)) else head.object
    return node if len(state.graph.edges_from(node)) else 0


class SlotKeeper:
    """Believes dirty slots and keeps stances, soft badness, failed verdicts and memory rows."""

    def __init__(self, store: ViewStore, state: State, batch: Batch, edges: EdgeBuilder) -> None:
        self.store = store
        self.state = state
        self.batch = batch
        self.edges = edges
        self.slots: dict[int, Slot] = {}
        self.recheck: dict[int, SlotHead] = {}  # objects whose being on record may have changed

    def load(self) -> None:
        """Bring the dirty slots' statements together: those of the batch, and those stored before."""
        batch, dirty = self.batch, sorted(self.batch.dirty)
        old = [slot for slot in dirty if slot not in batch.slots]
        for slot in dirty:
            if slot in batch.slots:
                self.slots[slot] = Slot(batch.slots[slot], [])
        self.slots.update(load_slots(self.store, self.state, old))
        for slot in old:
            one = self.slots[slot]
            for statement in one.statements:
                judge(self.state, statement)
        for made in batch.assertions.values():
            statement = made.statement
            judge(self.state, statement)
            self.slots[made.info.slot].statements.append(statement)

    def believe(self) -> None:
        """Layer B over statements without intervals; stances, presence, failures."""
        for slot in self.slots.values():
            if len(slot.statements) == 1 and slot.old is None and slot.statements[0].counts:
                self._believe_first(slot)
            else:
                self.state.note_subject(slot.head.object, slot.head.subject)
                self._believe(slot)

    def _believe_first(self, slot: Slot) -> None:
        """The common case: the one statement of a new slot holds."""
        one = slot.statements[0]
        standing = [] if one.interval else [one]
        slot.belief = Belief((one.value_key,) if standing else (), {one.node: "standing"}, standing, standing)
        self._follow(slot)

    def _believe(self, slot: Slot) -> None:
        plain = [one for one in slot.statements if not one.interval]
        slot.belief = believe(plain, slot.head.verdict)
        stances = dict(slot.belief.stances)
        for one in slot.statements:
            if one.interval:
                stances[one.node] = "standing" if one.counts else "invalidated"
        self._keep_stances(slot, stances)
        self._follow(slot)

    def _keep_stances(self, slot: Slot, stances: dict[int, Stance]) -> None:
        soft = self.state.badness.soft
        stored = [one.node for one in slot.statements if one.node not in self.batch.assertions]
        if stored:
            self.store.delete("stance", "a", stored)
        for node, stance in stances.items():
            if stance != "standing":
                self.batch.add("stance", (node, stance))
            bad = stance in SOFT
            if bool(soft[node]) != bad:
                soft[node] = bad
                (self.batch.new_nodes if bad else self.batch.lost_nodes).add(node)

    def _follow(self, slot: Slot) -> None:
        """What follows from a verdict's belief: dynamic edges, failures, and versions on record."""
        if not slot.head.verdict:
            return
        assert slot.belief is not None
        held = slot.belief.held
        if self.state.dynamic:
            dynamic = {one.node for one in slot.statements if one.node in self.state.dynamic}
            if dynamic:
                self.edges.refresh_dynamic(slot.head.object, dynamic, slot.belief.strongest_present())
        present = slot.belief.present if held == (FALSE_KEY,) else []
        failed = {one.node for one in present if one.value_key == FALSE_KEY}
        self._keep_failed(slot, failed)
        scheme = slot.head.subject.partition(":")[0]
        policy = self.state.policies.of(slot.head.namespace).schemes.get(scheme)
        if policy is not None and policy.higher_version:
            self.recheck[slot.head.object] = slot.head

    def _keep_failed(self, slot: Slot, failed: set[int]) -> None:
        about = slot.head.object
        had = self.state.causes.get(about, set())
        own = {("failed", one.node) for one in slot.statements}
        causes = (had - own) | {("failed", node) for node in failed}
        set_causes(self.store, self.state, self.batch, about, causes)

    def memory(self) -> None:
        """Write the memory rows of the dirty slots, after reach is known."""
        stale = [slot for slot, one in self.slots.items() if one.old is not None]
        for slot in stale:
            self._forget_supports(slot)
        self.store.delete("memory", "slot", stale)
        for one in self.slots.values():
            self._memory_row(one)

    def _forget_supports(self, slot: int) -> None:
        old = self.slots[slot].old
        if old is not None and old.support:
            self.state.supports_no_more(old.support, slot)
        if slot in self.state.multi:
            for (node,) in self.store.where("node", "support", "slot", [slot]):
                self.state.supports_no_more(int(node), slot)
            self.store.delete("support", "slot", [slot])
            self.state.multi.discard(slot)

    def _memory_row(self, slot: Slot) -> None:
        state, head = self.state, slot.head
        latest = max(one.observed_us for one in slot.statements)
        base = slot.base = _served_plainly(slot) or serve(slot.statements, head.verdict, latest, lambda _: False)
        shown = base.shown
        support = slot.support = self._choose_support(slot, base)
        first = slot.statements[0]
        single = len(slot.statements) == 1 and not (
            first.from_us is not None or first.to_us is not None or first.expires_us is not None or first.readers
        )
        named, value = self._told(slot, shown)
        state.shown[head.slot] = shown.node if shown is not None else 0
        complete = any(one.complete for one in base.supports) if base.supports else bool(shown and shown.complete)
        self.batch.add(
            "memory",
            (
                head.slot, *halves(head.key), head.namespace, head.scope, head.subject, head.predicate, head.many,
                head.verdict, head.rests, head.object, base.status, base.is_false or slot_failed(slot),
                None if shown is None else shown.node, named, value if base.status == "current" else None,
                None if shown is None else shown.source, None if shown is None else shown.id, support, single, complete,
                latest, max(one.position for one in slot.statements),
            ),
        )  # fmt: skip

    def _choose_support(self, slot: Slot, base: Served) -> int:
        """The node whose being down means withdrawn; of several one that is not down. Notes who decides."""
        if base.status != "current" or base.is_false:
            return 0
        nodes = list(dict.fromkeys(decider(self.state, slot.head, one.node) for one in base.supports))
        if 0 in nodes:
            return 0
        for node in nodes:
            self.state.supports(node, slot.head.slot)
        if len(nodes) > 1:
            self.state.multi.add(slot.head.slot)
            for node in nodes:
                self.batch.add("support", (slot.head.slot, node))
        return next((node for node in nodes if not self.state.fails(node)), nodes[0])

    def _told(self, slot: Slot, shown: Statement | None) -> tuple[str | None, str | None]:
        """Id and value of the statement shown; no value when it is erased."""
        if shown is None:
            return None, None
        made = self.batch.assertions.get(shown.node)
        named, value = slot.texts[shown.node] if made is None else (made.assertion_id, made.value)
        return named, None if shown.erased else value

    def reload(self, slots: list[int]) -> None:
        """Bring in slots whose supports have moved, so that their rows are written anew."""
        for slot, one in load_slots(self.store, self.state, slots).items():
            for statement in one.statements:
                judge(self.state, statement)
            one.belief = believe([each for each in one.statements if not each.interval], one.head.verdict)
            self.slots[slot] = one

    def holds_true(self, head: SlotHead) -> bool:
        """Whether a true verdict on an object holds in any slot, dirty or stored."""
        for one in self.slots.values():
            same = one.head.object == head.object and one.head.verdict
            if same and one.belief is not None and one.belief.held == (TRUE_KEY,):
                return True
        rows = self.store.rows(
            "SELECT slot FROM memory WHERE object = ? AND verdict AND NOT failed "
            "AND status IN ('current', 'tombstoned', 'expired')",
            [head.object],
        )
        return any(int(row[0]) not in self.slots for row in rows)


def _served_plainly(slot: Slot) -> Served | None:
    """What `serve` says in the common case: one plain statement that counts and is not erased."""
    if len(slot.statements) != 1 or slot.belief is None:
        return None
    one = slot.statements[0]
    if not one.counts or one.erased or one.expires_us is not None or one.interval:
        return None
    return Served("current", one, [one], slot.belief, slot.head.verdict and one.value_key == FALSE_KEY)


def slot_failed(slot: Slot) -> bool:
    """Whether a false verdict holds, erased or not."""
    return slot.head.verdict and slot.belief is not None and slot.belief.held == (FALSE_KEY,)


def load_slots(store: ViewStore, state: State, slots: Iterable[int]) -> dict[int, Slot]:
    """Stored slots with their statements and what is served of them now."""
    wanted = list(slots)
    found: dict[int, Slot] = {}
    for row in store.where(HEAD, "memory", "slot", wanted):
        slot, hi, lo, namespace, scope, subject, predicate, many, verdict, rests, about = row[:11]
        status, failed, shown, support = row[11:15]
        key = hi.to_bytes(8, "little", signed=True) + lo.to_bytes(8, "little", signed=True)
        head = SlotHead(slot, key, namespace, scope, subject, predicate, many, verdict, rests, about)
        if status == "current" and not failed and support and state.is_down[support]:
            status = "withdrawn"
        found[int(slot)] = Slot(head, [], OldSlot(status, shown or 0, support))
    for row in store.where(f"{STATEMENT}, assertion_id, value", "assertion", "slot", wanted):
        found[int(row[0])].statements.append(statement_of(row))
        found[int(row[0])].texts[int(row[1])] = (row[-2], row[-1])
    return found


def set_causes(store: ViewStore, state: State, batch: Batch, node: int, causes: set[tuple[str, int]]) -> None:
    """Set why an object is bad, in memory and in rows."""
    had = state.causes.get(node, set())
    if causes == had:
        return
    if had - causes:
        store.delete("cause", "node", [node])
        batch.rows["cause"] = [row for row in batch.rows.get("cause", []) if row[0] != node]
        fresh = causes
    else:
        fresh = causes - had
    for kind, ref in fresh:
        batch.add("cause", (node, kind, ref))
    if causes:
        state.causes[node] = causes
    else:
        state.causes.pop(node, None)
    state.badness.hard[node] = bool(causes)
    if causes and not had:
        batch.new_nodes.add(node)
    elif had and not causes:
        batch.lost_nodes.add(node)
