"""Layer A in the engine: what counts and what is erased, for a batch and for what it touches of the past."""

from collections.abc import Iterable

from tether_schemas.events import EvidenceTarget, SessionTarget, SourceTarget, SubjectTarget
from tether_schemas.facts import EvidenceDeleted

from tether_projections.batch import Batch, NewAssertion
from tether_projections.edges import ASSERTION, EVIDENCE, EdgeBuilder, Lookup
from tether_projections.governance import Origin
from tether_projections.graph import CONTENT
from tether_projections.keys import digest
from tether_projections.state import ASSERTION_KIND, EVIDENCE_KIND, State
from tether_projections.store import ViewStore

UNDECIDABLE = ("deletion", "decision")  # decisions do not apply to deletions, decisions or policy
ORIGIN = "ev, namespace, source, id, time_us, session_id, kind"


class Layers:
    """What counts and what is erased; marks slots dirty and nodes bad accordingly."""

    def __init__(self, store: ViewStore, state: State, batch: Batch, lookup: Lookup) -> None:
        self.store = store
        self.state = state
        self.batch = batch
        self.lookup = lookup
        self.newly_erased: set[int] = set()  # assertions, and evidence deleted by itself
        self._owners: dict[int, set[int]] = {}  # toggled owner -> dependents its edges may have

    def count(self) -> None:
        """Decide which new facts count, and which old ones a new decision touches."""
        decisions = self.state.decisions
        for evidence in self.batch.evidence.values():
            if evidence.kind in UNDECIDABLE:
                continue
            if not decisions.counts(evidence.origin.namespace, evidence.origin):
                self._set_invalid(evidence.node, True)
            for node in evidence.assertions:
                made = self.batch.assertions[node]
                if not (made.fit and decisions.counts(evidence.origin.namespace, evidence.origin, made.assertion_id)):
                    self._set_invalid(node, True)
            for node in evidence.links:
                link = self.batch.links[node]
                if not decisions.counts(evidence.origin.namespace, evidence.origin, link.link_id):
                    self._set_invalid(node, True, hard=False)
        for namespace, key, time_us in self.batch.decided:
            self._recount(self._touched(namespace, key, time_us))
            self.batch.groups |= self.state.advisories.decided_on(key)

    def _set_invalid(self, node: int, invalid: bool, hard: bool = True) -> None:
        """Note that something no longer counts, or does again. `hard`: it is then bad, as all but a link is."""
        if invalid:
            self.state.invalid.add(node)
            self.batch.add("invalidated", (node,))
        else:
            self.state.invalid.discard(node)
            self.store.delete("invalidated", "id", [node])
        if hard:
            self._set_hard(node, invalid or node in self.state.erased or self._is_hollow(node))

    def _is_hollow(self, node: int) -> bool:
        """Whether this is evidence all of whose assertions are erased: that is bad whatever is decided on it."""
        assertions = self.lookup.of_evidence(node) if self.state.kinds[node] == EVIDENCE_KIND else []
        return bool(assertions) and all(one in self.state.erased for one in assertions)

    def _set_hard(self, node: int, bad: bool) -> None:
        self.state.fit()
        hard = self.state.badness.hard
        if bool(hard[node]) == bad:
            return
        hard[node] = bad
        (self.batch.new_nodes if bad else self.batch.lost_nodes).add(node)

    def _touched(self, namespace: str, key: tuple[str, ...], time_us: int) -> list[int]:
        """The recorded evidence that a decision may touch."""
        match key:
            case (_, "evidence", source, identifier):
                node = self.state.keys.get(digest("evidence", namespace, source, identifier))
                return [node] if node and node not in self.state.phantoms else []
            case (_, "source", source):
                rows = self.store.rows(
                    "SELECT ev FROM evidence WHERE namespace = ? AND source = ? AND time_us <= ?",
                    [namespace, source, time_us],
                )
                fresh = [
                    node
                    for node, made in self.batch.evidence.items()
                    if made.origin.source == source and made.origin.namespace == namespace
                ]
                return [int(row[0]) for row in rows] + fresh
            case (_, "assertion", identifier):
                return self._evidence_of(namespace, identifier)
            case _:
                return []

    def _evidence_of(self, namespace: str, identifier: str) -> list[int]:
        kind, table, column = ("link", "link", "l") if identifier.startswith("ln_") else ("assertion", "assertion", "a")
        node = self.state.keys.get(digest(kind, namespace, identifier))
        if not node or node in self.state.phantoms:
            return []
        made = self.batch.assertions.get(node) or self.batch.links.get(node)
        if made is not None:
            return [made.info.evidence if isinstance(made, NewAssertion) else made.evidence]
        return [int(row[0]) for row in self.store.where("ev", table, column, [node])]

    def _recount(self, evidence: list[int]) -> None:
        old = [node for node in set(evidence) if node not in self.batch.evidence]
        self.lookup.fetch_evidence(old)
        self.lookup.fetch(node for one in old for node in self.lookup.of_evidence(one))
        for ev, namespace, source, identifier, us, session, kind in self.store.where(ORIGIN, "evidence", "ev", old):
            if kind in UNDECIDABLE:
                continue
            origin = Origin(namespace, source, identifier, us, session)
            self._toggle(int(ev), self.state.decisions.counts(namespace, origin))
            rows = self.store.where("a, assertion_id, fit", "assertion", "ev", [int(ev)])
            for a, assertion_id, fit in rows:
                counts = bool(fit) and self.state.decisions.counts(namespace, origin, assertion_id)
                if self._toggle(int(a), counts):
                    info = self.lookup.info(int(a))
                    assert info is not None
                    self.batch.dirty.add(info.slot)
                    self._owners[int(a)] = {int(a), info.object}
            for link, link_id, dependent, kind_code in self.store.where(
                "l, link_id, dependent, kind", "link", "ev", [int(ev)]
            ):
                if self._toggle(int(link), self.state.decisions.counts(namespace, origin, link_id), hard=False):
                    self._owners[int(link)] = self._link_dependents(int(dependent), int(kind_code))

    def _link_dependents(self, dependent: int, kind: int) -> set[int]:
        """The nodes that edges of a link may start from; the slots of assertions among them become dirty."""
        found = {dependent}
        for node in (
            self.lookup.of_evidence(dependent) if kind == EVIDENCE else [dependent] if kind == ASSERTION else []
        ):
            info = self.lookup.info(node)
            if info is not None:
                found |= {node, info.object}
                self.batch.dirty.add(info.slot)
        return found

    def _toggle(self, node: int, counts: bool, hard: bool = True) -> bool:
        if (node not in self.state.invalid) == counts:
            return False
        self._set_invalid(node, not counts, hard)
        return True

    def refresh(self, edges: EdgeBuilder) -> None:
        """Make the edges of what was toggled live or not."""
        for owner, dependents in self._owners.items():
            edges.refresh_owner(owner, dependents)

    def delete(self) -> None:
        """Find what deletions erase by themselves, among the new facts and the old."""
        for node in self.batch.carried:
            made = self.batch.evidence.get(node)
            if made is None:
                self._erase(node)
            else:
                self._erase_evidence(node, made.assertions)
        if self.state.erasure:
            self._erase_what_is_by_now()
        deletions = self.state.deletions
        if not deletions.any:
            return
        for evidence in self.batch.evidence.values():
            if deletions.covers_evidence(evidence.origin):
                self._erase_evidence(evidence.node, evidence.assertions)
            for node in evidence.assertions:
                subject = self.state.policies.erasable(evidence.origin.namespace, self.batch.assertions[node].subject)
                if deletions.covers_subject(evidence.origin, subject):
                    self._erase(node)
                    self._erase_payload(evidence.node)
        for namespace, fact in self.batch.deleted:
            self._delete_old(namespace, fact)

    def _erase_what_is_by_now(self) -> None:
        """In the view of a past: among the names of this batch, those that are erased by now."""
        erasure = self.state.erasure
        for table in ("evidence", "assertion", "node"):
            for node, high, low, *_ in self.batch.rows.get(table, ()):
                if (high, low) in erasure.nodes:
                    self._erase(node)
                if (high, low) in erasure.payloads:
                    self._erase_payload(node)

    def _delete_old(self, namespace: str, fact: EvidenceDeleted) -> None:
        until = 2**62 if fact.until_us is None else fact.until_us
        match fact.target:
            case EvidenceTarget(evidence=ref):
                node = self.state.keys.get(digest("evidence", namespace, ref.source, ref.id))
                found = [node] if node else []
            case SessionTarget(source=source, session_id=session):
                found = self._evidence_where("source = ? AND session_id = ?", [source, session], namespace, until)
            case SourceTarget(source=source):
                found = self._evidence_where("source = ?", [source], namespace, until)
            case SubjectTarget(subject=text):
                self._delete_subject(namespace, text, until)
                return
        self.lookup.fetch_evidence(found)
        for node in found:
            if node not in self.batch.evidence:
                self._erase_evidence(node, self.lookup.of_evidence(node))

    def _evidence_where(self, where: str, values: list[str], namespace: str, until: int) -> list[int]:
        rows = self.store.rows(
            f"SELECT ev FROM evidence WHERE namespace = ? AND time_us <= ? AND {where}", [namespace, until, *values]
        )
        return [int(row[0]) for row in rows]

    def _delete_subject(self, namespace: str, text: str, until: int) -> None:
        # Which versions it has is for the policies that ever were to say, not for the one that named the node's base.
        named = self.store.rows(
            "SELECT node, text FROM node WHERE kind = 'object' AND namespace = ? AND starts_with(text, ?)",
            [namespace, text.partition("?")[0].partition("#")[0]],
        )
        for node, found in named:
            subject = self.state.policies.erasable(namespace, found)
            if text not in (subject.text, subject.base):
                continue
            rows = self.store.rows(
                "SELECT s.a, s.ev FROM assertion AS s JOIN memory AS m USING (slot) JOIN evidence AS e ON e.ev = s.ev "
                "WHERE m.object = ? AND e.time_us <= ?",
                [int(node), until],
            )
            for a, ev in rows:
                self._erase(int(a))
                self._erase_payload(int(ev))

    def _erase_evidence(self, evidence: int, assertions: Iterable[int]) -> None:
        if evidence not in self.state.erased:
            self.state.erased.add(evidence)
            self.batch.add("ghost", (evidence,))
            self.newly_erased.add(evidence)
            self._set_hard(evidence, True)
        for node in assertions:
            self._erase(node)

    def _erase(self, node: int) -> None:
        if node not in self.state.erased:
            self.state.erased.add(node)
            self.batch.add("ghost", (node,))
            self.newly_erased.add(node)
            self._set_hard(node, True)

    def _erase_payload(self, evidence: int) -> None:
        if evidence not in self.state.payload_erased:
            self.state.payload_erased.add(evidence)
            self.batch.add("ghost", (-evidence,))

    def spread_erasure(self, first_new_edge: int) -> None:
        """Erase what derives from erased content, transitively, counting or not; then mark what that touches."""
        state, graph = self.state, self.state.graph
        if not state.erased:
            return
        stack = list(self.newly_erased)
        for edge in range(first_new_edge, graph.count):
            if graph.flags[edge] & CONTENT and int(graph.premise[edge]) in state.erased:
                stack.append(int(graph.premise[edge]))
        while stack:
            node = stack.pop()
            for edge in graph.edges_to(node):
                dependent = int(graph.dependent[edge])
                if graph.flags[edge] & CONTENT and dependent not in state.erased:
                    self._erase(dependent)
                    stack.append(dependent)
        self._settle_erased()

    def _settle_erased(self) -> None:
        """Slots of erased assertions become dirty, evidence without any other assertion is tombstoned."""
        self.lookup.fetch(node for node in self.newly_erased if self.state.kinds[node] == ASSERTION_KIND)
        owners: set[int] = {node for node, made in self.batch.evidence.items() if made.assertions}
        for node in self.newly_erased:
            if node in self.batch.evidence or self.state.kinds[node] == EVIDENCE_KIND:
                continue
            info = self.lookup.info(node)
            if info is not None:
                self.batch.dirty.add(info.slot)
                owners.add(info.evidence)
        for evidence in owners:
            if self._is_hollow(evidence):
                self._set_hard(evidence, True)
