"""The engine: fact records in any order in, rows out; one transaction a batch (I-10)."""

import gc
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from tether_schemas.errors import TetherError
from tether_schemas.facts import EvidenceRecorded, FactRecord, PolicyDeclared

from tether_projections.batch import Admission, Batch
from tether_projections.changes import ChangeLog, touched_slots, turned, write_turned
from tether_projections.edges import EdgeBuilder, Lookup
from tether_projections.erasure import NONE, Erasure
from tether_projections.keys import Digest, digests
from tether_projections.lane import LANE_MIN, Lane
from tether_projections.lanerows import tell, write
from tether_projections.layers import Layers
from tether_projections.objects import ObjectKeeper
from tether_projections.reach import Moved
from tether_projections.rebuild import Kept
from tether_projections.slots import SlotKeeper
from tether_projections.state import ASSERTION_KIND, EVIDENCE_KIND, OBJECT_KIND, State, hydrate
from tether_projections.store import ViewStore

IDS_MAX = 1_000
LANE_MAX = 2_000  # records taken at once

History = Callable[[int], Iterable[Sequence[FactRecord]]]


class Engine:
    """Applies fact records to one view. `history(position)` gives every record up to a position again, in batches.

    A policy that changes, or two contents for one event id, change what old facts mean; then the view is made anew from
    history, within the same transaction. With `told` False nothing goes to the outbox: that is not for a rebuild.
    A view of a past is given the `erasure` of the present. A batch of which at least `lane_min` records are plain takes
    these by columns.
    """

    def __init__(
        self,
        store: ViewStore,
        history: History,
        told: bool = True,
        erasure: Erasure = NONE,
        lane_min: int = LANE_MIN,
    ) -> None:
        self.store = store
        self._lane_min = lane_min
        self.laned = 0  # how many records were plain (lane.py)
        self._history = history
        self.told = told
        self._erasure = erasure
        self._state: State | None = None
        self._lost = store.lost
        # (namespace, source, id, content hash) of what lost its id to other content: dead letters, for the runtime.
        self.losers: list[tuple[str, str, str, str]] = []

    @property
    def state(self) -> State:
        """The in-memory half, read from the file when needed."""
        if self._state is None or self._lost != self.store.lost:
            self._lost = self.store.lost
            self._state = hydrate(self.store)
            self._state.erasure = self._erasure
        return self._state

    def position(self) -> int:
        """The offset in `facts` up to which everything is applied."""
        return self.state.position

    def foresee(self, records: Iterable[FactRecord]) -> None:
        """Take in policies that later batches declare, so that history is not read anew when they come."""
        _declare(self.state, records)

    def apply(self, records: Sequence[FactRecord], position: int) -> None:
        """Apply a batch in one transaction. On any failure nothing is applied and the state is read anew."""
        state = self.state
        enabled = gc.isenabled()
        gc.disable()  # it costs three times on bulk work, and nothing here makes cycles
        try:
            with self.store.transaction():
                self._apply(state, records, position)
        except BaseException:
            self._state = None
            raise
        finally:
            if enabled:
                gc.enable()

    def _apply(self, state: State, records: Sequence[FactRecord], position: int) -> None:
        if not self._take(state, records, position, self.told):
            self._rebuild(state, position)
            return
        recorded = max((record.recorded_us for record in records), default=0)
        self.store.append("applied", [(position, recorded)])
        state.position = position
        state.keys.settle()
        state.graph.settle()

    def _take(self, state: State, records: Sequence[FactRecord], position: int, told: bool) -> bool:
        """Take in one batch, what is plain of it first; False when history must be read anew. `told`: what is served
        otherwise goes to the outbox."""
        state.recent.trim()
        keys = digests("evidence", [(one.namespace, one.source) for one in records], [one.id for one in records])
        left = self._take_plain(state, records, keys, position if told else None)
        if len(left) < len(records):
            records, keys = [records[place] for place in left], [keys[place] for place in left]
            if not records:
                return True
        batch = Batch(position)
        if not self._admit(state, batch, records, keys):
            return False
        self._derive(state, batch, told)
        return True

    def _take_plain(
        self, state: State, records: Sequence[FactRecord], keys: Sequence[Digest], told_at: int | None
    ) -> list[int]:
        """Take in what is plain, in parts that the processor's cache holds; the places of what is left. `told_at`: the
        position for the outbox, None: it is not told."""
        parts = max(1, -(-len(records) // LANE_MAX))
        size = -(-len(records) // parts)
        left: list[int] = []
        for start in range(0, len(records), max(1, size)):
            own = slice(start, start + size)
            plain = Lane(state).take(records[own], keys[own], self._lane_min)
            if plain is None:
                left += range(len(records))[own]
                continue
            write(self.store, plain)
            if told_at is not None:
                tell(self.store, plain, state.change_seq + 1, told_at)
                state.change_seq += plain.claims.facts.count
            self.laned += len(plain.keys)
            left += [start + place for place in np.flatnonzero(~plain.taken).tolist()]
        return left

    def _admit(self, state: State, batch: Batch, records: Sequence[FactRecord], keys: Sequence[Digest]) -> bool:
        """Take in what is new; False when history must be read anew. `keys` are those of the records' evidence."""
        admission = Admission(state, batch)
        state.keys.warm(keys)
        intact = True
        for record, key in zip(records, keys, strict=True):
            named = (record.namespace, record.source, record.id)
            kept = state.contested.get(named)
            if kept is not None and kept[0] != record.content_hash and kept[1] <= record.rank:
                continue
            known = state.keys.get(key)
            if known and known not in state.phantoms:
                intact &= self._meet_again(state, batch, record, known)
                continue
            head = record.facts[0]
            if not isinstance(head, EvidenceRecorded):
                raise TetherError(f"a fact record of {named} does not begin with EvidenceRecorded")
            evidence = admission.evidence(record, head, key, known)
            admission.facts(record, evidence)
        return intact and not batch.policy_changed

    def _meet_again(self, state: State, batch: Batch, record: FactRecord, known: int) -> bool:
        """The same event id once more: the same content is a duplicate, of two contents the least rank counts."""
        made = batch.evidence.get(known)
        if made is not None:
            content, rank = made.content_hash, made.rank
        else:
            columns = "content_hash, recorded_us, topic, partition, position"
            (row,) = self.store.where(columns, "evidence", "ev", [known])
            content, rank = row[0], (int(row[1]), row[2], int(row[3]), int(row[4]))
        named = (record.namespace, record.source, record.id)
        if content == record.content_hash:
            if record.rank < rank:
                batch.reranked[known] = record.rank
                if made is not None:
                    made.rank = record.rank
                if named in state.contested:
                    state.contested[named] = (content, record.rank)
                    batch.disputed.append(named)
            return True
        kept = state.contested.get(named)
        if kept is not None and kept[0] == record.content_hash:
            state.contested[named] = (kept[0], min(kept[1], record.rank))
            return False  # another of this batch has won already; history is read anew
        rank = batch.reranked.get(known, rank)
        stays = rank <= record.rank
        state.contested[named] = (content, rank) if stays else (record.content_hash, record.rank)
        self.losers.append((*named, record.content_hash if stays else content))
        batch.disputed.append(named)
        return stays

    def _derive(self, state: State, batch: Batch, told: bool) -> None:
        """Every layer for one batch."""
        state.fit()
        _note_kinds(state, batch)
        lookup = Lookup(self.store, batch)
        layers = Layers(self.store, state, batch, lookup)
        layers.count()
        layers.delete()
        first_edge = state.graph.count
        edges = EdgeBuilder(state, batch, lookup)
        edges.build()
        layers.refresh(edges)
        layers.spread_erasure(first_edge)
        slots = SlotKeeper(self.store, state, batch, edges)
        slots.load()
        slots.believe()
        objects = ObjectKeeper(self.store, state, batch)
        objects.advisories()
        objects.versions(slots)
        self._reach(state, batch, slots, told)
        self._write(state, batch, edges, first_edge)
        gone = layers.newly_erased | (batch.assertions.keys() & state.erased)
        self._destroy(gone.difference(batch.carried))  # what came as a ghost came without any

    def _reach(self, state: State, batch: Batch, slots: SlotKeeper, told: bool) -> None:
        moved = state.reach.update(batch.lost_nodes, batch.lost_edges, list(batch.new_nodes), batch.new_edges)
        change = turned(state, batch, [moved], threatened=False)
        known = set(slots.slots)
        fallen, risen = touched_slots(state, change.down, known), touched_slots(state, change.up, known)
        slots.reload(sorted(fallen.several | risen.several))
        write_turned(self.store, state.is_down, "down", change)
        if state.has_possible:
            self._reach_possible(state, batch, moved)
        slots.memory()
        if not told:
            return
        log = ChangeLog(self.store, state, batch)
        log.withdrawn(fallen)
        log.restored(risen)
        for slot in slots.slots.values():
            log.slot(slot)
        batch.rows["change"] = log.rows

    def _reach_possible(self, state: State, batch: Batch, moved: Moved) -> None:
        if not state.possible_ready:
            state.reach_possible.full()
            state.possible_ready = True
            second = Moved(np.flatnonzero(state.reach_possible.witness >= 0).tolist(), [])
        else:
            second = state.reach_possible.update(
                batch.lost_nodes, batch.lost_edges, list(batch.new_nodes), batch.new_edges
            )
        change = turned(state, batch, [moved, second], threatened=True)
        write_turned(self.store, state.is_threatened, "threatened", change)

    def _write(self, state: State, batch: Batch, edges: EdgeBuilder, first_edge: int) -> None:
        graph = state.graph
        span = slice(first_edge, graph.count)
        columns = (graph.dependent, graph.premise, graph.via, graph.of, graph.flags)
        rows = list(zip(*(column[span].tolist() for column in columns), strict=True))
        changed = [edge for edge in edges.changed if edge < first_edge]
        if changed:
            owners = np.unique(graph.via[changed])
            stored = np.flatnonzero(np.isin(graph.via[:first_edge], owners))
            self.store.delete("edge", "via", owners.tolist())
            rows += list(zip(*(column[stored].tolist() for column in columns), strict=True))
        self.store.append("edge", rows)
        for table, made in batch.rows.items():
            self.store.append(table, made)
        for evidence, rank in batch.reranked.items():
            self.store.update(
                "evidence",
                "UPDATE evidence SET recorded_us = ?, topic = ?, partition = ?, position = ? WHERE ev = ?",
                [*rank, evidence],
            )
        for named in dict.fromkeys(batch.disputed):
            forget = "DELETE FROM contested WHERE namespace = ? AND source = ? AND id = ?"
            self.store.update("contested", forget, named)
            content, rank = state.contested[named]
            self.store.append("contested", [(*named, content, *rank)])

    def _destroy(self, nodes: set[int]) -> None:
        """The content of what was erased, before it came too, leaves the tables; its effect stays."""
        erased = sorted(nodes)
        for start in range(0, len(erased), IDS_MAX):
            ids = ", ".join(map(str, erased[start : start + IDS_MAX]))
            emptied = f"UPDATE assertion SET value = NULL, original_text = NULL, write_reason = NULL WHERE a IN ({ids})"
            self.store.update("assertion", emptied, [])

    def _rebuild(self, state: State, position: int) -> None:
        """Make everything anew from history under the policy now known."""
        kept = Kept(self.store)
        fresh = State()
        fresh.keys.inherit(state.keys)
        fresh.contested = state.contested
        fresh.erasure = self._erasure
        for records in self._history(position):
            _declare(fresh, records)
        fresh.change_seq = state.change_seq
        self._state = fresh
        self.store.append("contested", [(*named, content, *rank) for named, (content, rank) in state.contested.items()])
        for records in self._history(position):
            if not self._take(fresh, records, position, told=False):
                raise TetherError("history changed while it was read; open the store again")
            self.store.drain()
        fresh.keys.inherit(None)
        if self.told:
            kept.tell(fresh, position)
        kept.drop()
        self.store.append("applied", [(position, 0)])
        fresh.position = position


def _note_kinds(state: State, batch: Batch) -> None:
    for nodes, kind in (
        (batch.objects, OBJECT_KIND), (batch.assertions, ASSERTION_KIND), (batch.evidence, EVIDENCE_KIND)
    ):  # fmt: skip
        for node in nodes:
            state.kinds[node] = kind
    for node in batch.ghosts:
        state.badness.hard[node] = 1
        batch.new_nodes.add(node)


def _declare(state: State, records: Iterable[FactRecord]) -> None:
    """Take in the policies among records, before anything that they give a meaning to."""
    for record in records:
        kept = state.contested.get((record.namespace, record.source, record.id))
        if kept is not None and kept[0] != record.content_hash:
            continue
        for fact in record.facts:
            if isinstance(fact, PolicyDeclared) and fact.policy is not None:
                state.policies.add(record.namespace, (record.time_us, record.source, record.id), fact.policy)
