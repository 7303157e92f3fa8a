"""The part of history on which the answer of one slot at a past position depends.

Everything upstream of the slot's statements in the derivation graph of the present view, whatever counts or is live
there; of each assertion on the way its slot; of each object what can make it bad. That is more than the answer needs,
never less: what the present view no longer says in one policy's words is looked for in the other's.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import orjson
from tether_schemas.facts import AdvisoryIssued, Asserted, EvidenceRecorded, FactRecord, Linked
from tether_schemas.policy import Policy
from tether_schemas.subjects import package_of

from tether_projections.advisories import Object
from tether_projections.governance import PUBLIC, Origin, PolicyBook
from tether_projections.graph import CONTENT
from tether_projections.keys import digest
from tether_projections.reader import Asked
from tether_projections.state import ASSERTION_KIND, EVIDENCE_KIND, OBJECT_KIND, State
from tether_projections.store import FEW, Row, ViewStore

OF_PREDICATE = "SELECT slot FROM memory WHERE object = ? AND scope = ? AND predicate = ?"
SAID = """
SELECT min_by(s.ev, s.position) FROM memory AS m JOIN assertion AS s USING (slot)
WHERE m.object IN (SELECT unnest(?)) AND s.position <= ? GROUP BY m.object, m.predicate, m.scope, s.readers
"""
ANY = "SELECT min_by(ev, position) FROM evidence WHERE namespace = ? AND position <= ?"
BASED = "SELECT node FROM node WHERE kind = 'object' AND namespace = ? AND base IN (SELECT unnest(?))"
BEGINNING = "SELECT node FROM node WHERE kind = 'object' AND namespace = ? AND starts_with(text, ?)"


def _where(store: ViewStore, select: str, table: str, column: str, ids: list[int]) -> list[Row]:
    """As ViewStore.where, in one statement also for a few ids."""
    if not 1 < len(ids) <= FEW:
        return store.where(select, table, column, ids)
    return store.rows(f"SELECT {select} FROM {table} WHERE {column} IN ({', '.join(map(str, ids))})", table=table)


def policies_then(store: ViewStore, namespace: str, position: int) -> tuple[PolicyBook, set[int]]:
    """The policies of a namespace and of `*` up to a position, and their evidence."""
    rows = store.rows(
        "SELECT ev, namespace, source, id, time_us, body FROM policy WHERE namespace IN (?, ?)", [namespace, PUBLIC]
    )
    since = recorded_until(store, {int(row[0]) for row in rows}, position)
    book = PolicyBook()
    for ev, space, source, identifier, us, body in rows:
        if int(ev) in since:
            book.add(space, (us, source, identifier), Policy.model_validate_json(body))
    return book, set(since)


def recorded_until(store: ViewStore, evidence: Iterable[int], position: int) -> dict[int, int]:
    """Of this evidence what was recorded up to a position: its raw offset."""
    rows = _where(store, "ev, position", "evidence", "ev", sorted(evidence))
    return {int(ev): int(offset) for ev, offset in rows if offset <= position}


@dataclass(slots=True)
class Slice:
    """Collects `evidence` of the present view, and the `nodes` that were walked on the way to it."""

    store: ViewStore
    state: State
    then: PolicyBook
    namespace: str
    position: int
    evidence_max: int
    evidence: set[int] = field(default_factory=set[int])
    nodes: set[int] = field(default_factory=set[int])
    _owners: set[int] = field(default_factory=set[int])

    @property
    def too_large(self) -> bool:
        """Whether there is more of it than was asked for at most; it is then not whole."""
        return len(self.evidence) > self.evidence_max

    def collect(self, one: Asked) -> None:
        """Take in what a slot depends on; of a predicate of many values all its slots."""
        about = self.state.keys.get(digest("object", self.namespace, one.subject))
        new = self._statements(self._of_predicate(about, one.scope, one.predicate), one)
        while new and not self.too_large:
            self.nodes |= new
            new = self._beside(self._upstream(new)) - self.nodes

    def decisions(self, records: Iterable[FactRecord]) -> set[int]:
        """The evidence of every decision that covers these records, or anything in them."""
        decisions, found = self.state.decisions, set[tuple[str, str, str]]()
        if not decisions.any:
            return set()
        for record in records:
            head = record.facts[0]
            session = head.session_id if isinstance(head, EvidenceRecorded) else None
            origin = Origin(record.namespace, record.source, record.id, record.time_us, session)
            found |= decisions.on(self.namespace, origin)
            for fact in record.facts:
                match fact:
                    case Asserted():
                        found |= decisions.on(self.namespace, origin, fact.assertion_id)
                    case Linked():
                        found |= decisions.on(self.namespace, origin, fact.link_id)
                    case AdvisoryIssued():
                        found |= decisions.on(self.namespace, origin, "", fact.advisory_id)
                    case _:
                        pass
        return {self.state.keys.get(digest("evidence", *named)) for named in found} - {0}

    def _of_predicate(self, about: int, scope: str, predicate: str) -> set[int]:
        return {int(row[0]) for row in self.store.rows(OF_PREDICATE, [about, scope, predicate])} if about else set()

    def _statements(self, slots: set[int], one: Asked | None = None) -> set[int]:
        """The statements of slots; their evidence is taken in. Where none of the asked slot is to be seen, so is what
        an answer then hints at."""
        rows = _where(self.store, "a, ev, position, readers", "assertion", "slot", sorted(slots))
        rows = [row for row in rows if row[2] <= self.position]
        self.evidence.update(int(row[1]) for row in rows)
        if one is not None and not (rows and all(_visible(one, row[3]) for row in rows)):
            self._hints(one)
        return {int(row[0]) for row in rows}

    def _hints(self, one: Asked) -> None:
        """What is said of the subject and of what is called alike, once each; and that the namespace is used at all."""
        nodes = sorted(self._based([one.subject]))
        rows = self.store.rows(SAID, [nodes, self.position])
        rows += self.store.rows(ANY, [self.namespace, self.position], "evidence")
        self.evidence.update(int(row[0]) for row in rows if row[0] is not None)

    def _upstream(self, new: set[int]) -> set[int]:
        """These nodes and everything that they derive from by any edge; notes the links that say so. An assertion that
        says so is itself the dependent, or a verdict on it."""
        graph = self.state.graph
        seen = np.zeros(len(self.state.kinds), bool)
        seen[sorted(self.nodes)] = True
        found = set(new)
        frontier = np.fromiter(new, np.int32, len(new))
        while len(frontier):
            edges = graph.edges_from_many(frontier)
            self._owners.update(np.unique(np.concatenate([graph.via[edges], graph.of[edges]])).tolist())
            premises = np.unique(graph.premise[edges])
            frontier = premises[~seen[premises]]
            seen[frontier] = True
            found.update(frontier.tolist())
        self.nodes |= found
        return found

    def _beside(self, found: set[int]) -> set[int]:
        """What is to be known of these nodes besides their edges; those of it that are to be walked too."""
        kinds = self.state.kinds
        owners, self._owners = self._owners - {0}, set()
        self.evidence.update(node for node in found if kinds[node] == EVIDENCE_KIND)
        claims = {node for node in found if kinds[node] == ASSERTION_KIND}
        self._links(node for node in owners if not kinds[node])
        objects = [node for node in found if kinds[node] == OBJECT_KIND]
        return self._of_claims(claims) | self._of_objects(objects)

    def _links(self, nodes: Iterable[int]) -> None:
        self.evidence.update(int(row[0]) for row in _where(self.store, "ev", "link", "l", sorted(nodes)))

    def _policies(self) -> tuple[Policy, Policy]:
        return self.then.of(self.namespace), self.state.policies.of(self.namespace)

    def _of_claims(self, claims: set[int]) -> set[int]:
        """Assertions: their evidence, their slots, and the objects that they rest on by either policy."""
        rows = _where(self.store, "ev, slot", "assertion", "a", sorted(claims))
        self.evidence.update(int(row[0]) for row in rows)
        heads = _where(
            self.store, "slot, object, scope, predicate", "memory", "slot", sorted({int(row[1]) for row in rows})
        )
        slots, objects = {int(row[0]) for row in heads}, set[int]()
        both = self._policies()
        for _, about, scope, predicate in heads:
            then, now = (policy.predicate(predicate) for policy in both)
            if then.verdict or then.rests_on_subject or now.verdict or now.rests_on_subject:
                objects.add(int(about))
            if now.many and not then.many:
                slots |= self._of_predicate(int(about), scope, predicate)
        self._quoting(self._statements(slots) - claims)
        return objects

    def _quoting(self, claims: set[int]) -> None:
        """Whether statements say of themselves, or by a link, that they retell content."""
        graph = self.state.graph
        edges = graph.edges_from_many(np.fromiter(claims, np.int32, len(claims)))
        links = np.unique(graph.via[edges[graph.flags[edges] & CONTENT != 0]])
        self._links(node for node in links.tolist() if not self.state.kinds[node])

    def _of_objects(self, nodes: list[int]) -> set[int]:
        """Objects: the verdicts on them, the advisories that name them, and the verdicts on their other versions."""
        both = self._policies()
        texts = [str(text) for _, text in _where(self.store, "node, text", "node", "node", nodes)]
        others: list[str] = []
        for text in texts:
            subject = self.then.subject(self.namespace, text)
            for revision in self.state.advisories.naming(Object(0, self.namespace, subject)):
                if revision.origin.namespace in (self.namespace, PUBLIC):
                    self.evidence.add(revision.evidence)
            scheme = both[0].schemes.get(subject.scheme)
            if scheme is not None and scheme.higher_version and subject.version is not None:
                others.append(text)
        beside = self._based(others) - set(nodes)
        rows = _where(self.store, "slot, object, predicate", "memory", "object", sorted({*nodes, *beside}))
        verdicts = [row for row in rows if any(policy.predicate(row[2]).verdict for policy in both)]
        self._statements({int(row[0]) for row in verdicts if int(row[1]) in beside})
        return self._statements({int(row[0]) for row in verdicts if int(row[1]) not in beside})

    def _based(self, texts: list[str]) -> set[int]:
        """The objects that may be of one base with these subjects by the policy then."""
        named = [self.then.subject(self.namespace, text) for text in texts]
        rows = self.store.rows(BASED, [self.namespace, sorted({package_of(one) for one in named})]) if named else []
        both = self._policies()
        for one in named:
            was, now = (policy.schemes.get(one.scheme) for policy in both)
            if (was is not None and was.versioned) != (now is not None and now.versioned):
                rows += self.store.rows(BEGINNING, [self.namespace, one.base.partition("?")[0].partition("#")[0]])
        return {int(row[0]) for row in rows}


def _visible(one: Asked, readers: str | None) -> bool:
    return one.reader.may_see(None if readers is None else orjson.loads(readers))
