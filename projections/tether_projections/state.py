"""What the engine holds in memory between batches, and how it comes back from the file at start."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import orjson
from tether_schemas.facts import AdvisoryIssued, Decided, EvidenceDeleted
from tether_schemas.policy import Policy

from tether_projections.advisories import AdvisoryBook, Object, Revision
from tether_projections.erasure import NONE, Erasure
from tether_projections.governance import Decisions, Deletions, Origin, PolicyBook
from tether_projections.graph import DYNAMIC, Graph
from tether_projections.keys import KeyIndex
from tether_projections.reach import Badness, Reach
from tether_projections.store import ViewStore

Cause = tuple[str, int]  # kind, ref

OBJECT_KIND, ASSERTION_KIND, EVIDENCE_KIND = 1, 2, 3

SUBJECTS_MAX = 10_000
RECENT_MAX = 100_000

KEYED = ("evidence", "node", "assertion", "link", "memory")
ID_OF = {"evidence": "ev", "node": "node", "assertion": "a", "link": "l", "memory": "slot"}


@dataclass(frozen=True, slots=True)
class Info:
    """What the graph needs to know of one recorded assertion."""

    node: int
    evidence: int
    slot: int
    object: int
    namespace: str
    predicate: str
    verdict: bool
    rests: bool


class Recent:
    """Nodes of the subjects met lately, by namespace."""

    def __init__(self) -> None:
        self._of: dict[str, dict[str, int]] = {}
        self._size = 0

    def of(self, namespace: str) -> dict[str, int]:
        """Subject -> node. It grows by `note` until it is forgotten."""
        found = self._of.get(namespace)
        return self._of.setdefault(namespace, {}) if found is None else found

    def note(self, namespaces: Sequence[str], texts: Sequence[str], nodes: Sequence[int]) -> None:
        """Remember some."""
        self._size += len(nodes)
        if len(set(namespaces)) == 1:
            self.of(namespaces[0]).update(zip(texts, nodes, strict=True))
            return
        for namespace, text, node in zip(namespaces, texts, nodes, strict=True):
            self.of(namespace)[text] = node

    def trim(self) -> None:
        """Forget all once they are many; between two batches, since one may hold on to them."""
        if self._size >= RECENT_MAX:
            self._of.clear()
            self._size = 0


class State:
    """The in-memory half of a view: ids, graph, reach, and the small tables whole."""

    def __init__(self) -> None:
        self.keys = KeyIndex()
        self.graph = Graph()
        self.badness = Badness()
        self.reach = Reach(self.graph, self.badness)
        self.reach_possible = Reach(self.graph, self.badness, possible=True)
        self.decisions = Decisions()
        self.deletions = Deletions()
        self.policies = PolicyBook()
        self.advisories = AdvisoryBook(self.decisions)
        self.invalid: set[int] = set()
        self.erased: set[int] = set()
        self.erasure: Erasure = NONE  # what is erased besides, where this is the view of a past
        self.payload_erased: set[int] = set()
        self.causes: dict[int, set[Cause]] = {}
        self.dynamic: set[int] = set()
        self.on_record: dict[tuple[str, str], dict[int, str]] = {}
        self.recent = Recent()
        self.subjects: dict[int, str] = {}  # node -> subject, of slots believed anew lately: what fails is soon named
        self.phantoms: set[int] = set()  # named by a reference, not recorded yet
        self.contested: dict[tuple[str, str, str], tuple[str, tuple[int, str, int, int]]] = {}
        self.kinds = np.zeros(1024, np.int8)
        self.is_down = np.zeros(1024, np.int8)  # what the table `down` says
        self.is_threatened = np.zeros(1024, np.int8)
        self.slot_of = np.zeros(1024, np.int32)  # node -> the slot it alone supports, -1: see slots_of
        self.slots_of: dict[int, set[int]] = {}
        self.shown = np.zeros(1024, np.int32)  # slot -> the statement shown
        self.multi: set[int] = set()  # slots that several nodes support
        self.restricted = False  # some assertion names its readers
        self.position = 0
        self.change_seq = 0
        self.possible_ready = False  # the second reach has been derived once

    def fit(self) -> None:
        """Make room in every array for the ids given out so far."""
        size = self.keys.next_id + 1
        self.badness.fit(size)
        self.reach.fit(size)
        self.reach_possible.fit(size)
        if size > len(self.kinds):
            for name in ("kinds", "is_down", "is_threatened", "slot_of", "shown"):
                old = getattr(self, name)
                grown = np.zeros(max(size, len(old) * 3 // 2), old.dtype)
                grown[: len(old)] = old
                setattr(self, name, grown)

    def note_subject(self, node: int, text: str) -> None:
        """Remember an object's name for a while."""
        if len(self.subjects) >= SUBJECTS_MAX:
            self.subjects.clear()
        self.subjects[node] = text

    def supports(self, node: int, slot: int) -> None:
        """Note that a node decides over a slot."""
        only = int(self.slot_of[node])
        if only in (0, slot):
            self.slot_of[node] = slot
            return
        if only > 0:
            self.slots_of[node] = {only}
            self.slot_of[node] = -1
        self.slots_of[node].add(slot)

    def supports_no_more(self, node: int, slot: int) -> None:
        """Note that a node no longer decides over a slot."""
        only = int(self.slot_of[node])
        if only == slot:
            self.slot_of[node] = 0
        elif only < 0:
            self.slots_of[node].discard(slot)

    def supported(self, node: int) -> set[int]:
        """The slots over which a node decides."""
        only = int(self.slot_of[node])
        return self.slots_of[node] if only < 0 else {only} if only else set()

    @property
    def has_possible(self) -> bool:
        """Whether any possible edge is on record; without one the second reach is the first."""
        return self.graph.possible > 0

    def fails(self, node: int) -> bool:
        """Whether what a node decides over is withdrawn: it is reached, or is an object that is bad (E)."""
        return self.reach.reached(node) or bool(self.kinds[node] == OBJECT_KIND and self.badness.hard[node])

    def cause(self, root: int) -> tuple[str, int, int]:
        """What makes a bad node bad: the kind, by what (a revision, an assertion or a node; 0: by itself), the node."""
        causes = self.causes.get(root)
        if causes:
            kind, ref = min(causes)
            return kind, ref, root
        if root in self.erased:
            return "tombstoned", 0, root
        if root in self.invalid:
            return "invalidated", 0, root
        return "superseded" if self.kinds[root] == ASSERTION_KIND else "", 0, root

    def threatened(self, node: int) -> bool:
        """Whether the second reach (possible premises included) reaches a node."""
        return self.reach_possible.reached(node) if self.has_possible else self.reach.reached(node)

    def threatens(self, node: int) -> bool:
        """The same with the second reach."""
        return self.threatened(node) or bool(self.kinds[node] == OBJECT_KIND and self.badness.hard[node])


def hydrate(store: ViewStore) -> State:
    """Read the state of a stored view. A million nodes and three million edges take about a second."""
    state = State()
    if not store.rows("SELECT 1 FROM evidence LIMIT 1", table="evidence"):
        return state
    state.position = int(store.rows("SELECT coalesce(max(position), 0) FROM applied")[0][0])
    state.change_seq = int(store.rows("SELECT coalesce(max(seq), 0) FROM change")[0][0])
    state.restricted = bool(store.rows("SELECT 1 FROM assertion WHERE readers IS NOT NULL LIMIT 1"))
    _load_keys(store, state)
    _load_graph(store, state)
    _load_books(store, state)
    _load_badness(store, state)
    phantoms = store.numpy(
        "SELECT node FROM node WHERE kind <> 'object' AND node NOT IN (SELECT ev FROM evidence) "
        "AND node NOT IN (SELECT a FROM assertion)"
    )
    state.phantoms = set(phantoms["node"].tolist())
    _load_slots(store, state)
    state.reach.full()
    if state.has_possible:
        state.reach_possible.full()
        state.possible_ready = True
    return state


def _load_keys(store: ViewStore, state: State) -> None:
    parts = " UNION ALL ".join(f"SELECT hi, lo, {ID_OF[table]} AS id FROM {table}" for table in KEYED)
    found = store.numpy(parts)
    if len(found["id"]):
        ids, at = np.unique(found["id"], return_index=True)
        state.keys.load(found["hi"][at], found["lo"][at], ids.astype(np.int32))


def _load_graph(store: ViewStore, state: State) -> None:
    found = store.numpy("SELECT dependent, premise, via, of, flags FROM edge")
    if len(found["flags"]):
        state.graph.load((found["dependent"], found["premise"]), (found["via"], found["of"]), found["flags"])
        dynamic = found["of"][(found["flags"] & DYNAMIC) != 0]
        state.dynamic = set(np.unique(dynamic).tolist())


def _load_books(store: ViewStore, state: State) -> None:
    for namespace, source, identifier, us, body in store.rows(
        "SELECT namespace, source, id, time_us, body FROM decision"
    ):
        state.decisions.add(namespace, (us, source, identifier), Decided.model_validate_json(body))
    for namespace, body in store.rows("SELECT namespace, body FROM deletion"):
        state.deletions.add(namespace, EvidenceDeleted.model_validate_json(body))
    for namespace, source, identifier, us, body in store.rows(
        "SELECT namespace, source, id, time_us, body FROM policy"
    ):
        state.policies.add(namespace, (us, source, identifier), Policy.model_validate_json(body))
    rows = store.rows("SELECT adv, ev, namespace, source, id, time_us, body FROM advisory")
    for node, evidence, namespace, source, identifier, us, body in rows:
        fact = AdvisoryIssued.model_validate_json(body)
        state.advisories.add(Revision(node, evidence, Origin(namespace, source, identifier, us), fact))
    for namespace, source, identifier, kept, *rank in store.rows("SELECT * FROM contested"):
        state.contested[namespace, source, identifier] = (kept, (rank[0], rank[1], rank[2], rank[3]))


def _load_badness(store: ViewStore, state: State) -> None:
    state.fit()
    state.invalid = {int(row[0]) for row in store.rows("SELECT id FROM invalidated")}
    ghosts = store.numpy("SELECT id FROM ghost")["id"]
    state.erased = set(ghosts[ghosts > 0].tolist())
    state.payload_erased = set((-ghosts[ghosts < 0]).tolist())
    for node, kind, ref in store.rows("SELECT node, kind, ref FROM cause"):
        state.causes.setdefault(int(node), set()).add((kind, int(ref)))
    for name, nodes in (("hard", state.invalid | state.erased | set(state.causes)), ("soft", _soft(store))):
        array = state.badness.hard if name == "hard" else state.badness.soft
        if nodes:
            array[np.fromiter(nodes, np.int32, len(nodes))] = 1
    unfit = store.numpy("SELECT a FROM assertion WHERE NOT fit")["a"]
    state.badness.hard[unfit] = 1
    for evidence in _hollow(store, state):
        state.badness.hard[evidence] = 1
    _load_on_record(store, state)


def _soft(store: ViewStore) -> set[int]:
    rows = store.numpy("SELECT a FROM stance WHERE stance <> 'invalidated'")["a"]
    return set(rows.tolist())


def _hollow(store: ViewStore, state: State) -> list[int]:
    """Evidence all of whose assertions are erased."""
    if not state.erased:
        return []
    ghosts = [node for node in state.erased]
    owners = {int(row[0]) for row in store.where("ev", "assertion", "a", ghosts)}
    alive: dict[int, bool] = dict.fromkeys(owners, False)
    for evidence, node in store.where("ev, a", "assertion", "ev", list(owners)):
        if int(node) not in state.erased:
            alive[int(evidence)] = True
    return [evidence for evidence, any_alive in alive.items() if not any_alive]


def _load_on_record(store: ViewStore, state: State) -> None:
    schemes = {name for policy in state.policies.all() for name, one in policy.schemes.items() if one.higher_version}
    rows = [
        row
        for scheme in sorted(schemes)
        for row in store.rows(
            "SELECT DISTINCT namespace, subject, object FROM memory WHERE verdict AND NOT failed "
            "AND starts_with(subject, ?) AND status IN ('current', 'tombstoned', 'expired')",
            [f"{scheme}:"],
        )
    ]
    for namespace, text, node in rows:
        subject = state.policies.subject(namespace, text)
        scheme = state.policies.of(namespace).schemes.get(subject.scheme)
        if scheme is not None and scheme.higher_version and subject.version is not None:
            state.on_record.setdefault((namespace, subject.base), {})[int(node)] = subject.version


def _load_slots(store: ViewStore, state: State) -> None:
    for table, column, kind in (
        ("node", "node", OBJECT_KIND),
        ("assertion", "a", ASSERTION_KIND),
        ("evidence", "ev", EVIDENCE_KIND),
    ):
        where = " WHERE kind = 'object'" if table == "node" else ""
        state.kinds[store.numpy(f"SELECT {column} AS id FROM {table}{where}")["id"]] = kind
    state.is_down[store.numpy("SELECT node FROM down")["node"]] = 1
    state.is_threatened[store.numpy("SELECT node FROM threatened")["node"]] = 1
    found = store.numpy("SELECT slot, a FROM memory WHERE a IS NOT NULL")
    state.shown[found["slot"]] = found["a"]
    state.multi = {int(row[0]) for row in store.rows("SELECT DISTINCT slot FROM support")}
    found = store.numpy(
        "SELECT slot, support AS node FROM memory WHERE support > 0 UNION SELECT slot, node FROM support"
    )
    nodes, slots = found["node"], found["slot"]
    order = np.argsort(nodes, kind="stable")
    nodes, slots = nodes[order], slots[order]
    shared = np.zeros(len(nodes), bool)
    shared[1:] = nodes[1:] == nodes[:-1]
    shared[:-1] |= shared[1:]
    state.slot_of[nodes[~shared]] = slots[~shared]
    for node, slot in zip(nodes[shared].tolist(), slots[shared].tolist(), strict=True):
        state.supports(node, slot)


def objects_named(store: ViewStore, state: State, names: set[str]) -> list[Object]:
    """The object nodes whose package, base or whole subject is one of these names."""
    rows: list[tuple[int, str, str]] = []
    for name in names:
        rows += [
            (int(node), namespace, text)
            for node, namespace, text in store.rows(
                "SELECT node, namespace, text FROM node WHERE base = ? AND kind = 'object'", [name], "node"
            )
        ]
    return [Object(node, namespace, state.policies.subject(namespace, text)) for node, namespace, text in set(rows)]


def as_json(value: object) -> str:
    """Compact JSON text."""
    return orjson.dumps(value).decode()
