"""Which deletion erased something, and which decision invalidated it: looked up in the rows, for answers only."""

from collections.abc import Iterator

from tether_schemas.answers import EvidenceId
from tether_schemas.events import AdvisoryTarget, AssertionTarget, EvidenceTarget, SessionTarget, SourceTarget
from tether_schemas.facts import Decided, EvidenceDeleted

from tether_projections.erasure import Key, Said
from tether_projections.governance import PUBLIC, Order, Origin
from tether_projections.graph import CONTENT
from tether_projections.names import Names
from tether_projections.state import ASSERTION_KIND, EVIDENCE_KIND, State
from tether_projections.store import ViewStore

KEY = """
SELECT hi, lo FROM evidence WHERE ev = $1 UNION ALL
SELECT hi, lo FROM assertion WHERE a = $1 UNION ALL
SELECT hi, lo FROM node WHERE node = $1
"""


class Rulings:
    """Deletions and decisions on record, asked from the side of what they cover."""

    def __init__(self, store: ViewStore, state: State, names: Names) -> None:
        self._store = store
        self._state = state
        self._names = names

    def gone(self, node: int) -> bool:
        """Whether an assertion is erased, or evidence is deleted or has all its assertions erased."""
        if node in self._state.erased or self._state.kinds[node] == ASSERTION_KIND:
            return node in self._state.erased
        made = self._made(node)
        return bool(made) and all(one in self._state.erased for one in made)

    def deletion(self, node: int) -> Said | None:
        """The deletion nearest to what is gone: its own, or that of what it derives from. In a view of a past it may be
        a later one, which the present view knows."""
        if self._state.erasure:
            return self._state.erasure.said(self._key(node))
        rows = self._store.rows("SELECT namespace, source, id, body FROM deletion ORDER BY source, id")
        deletions = [(row[0], EvidenceId(row[1], row[2]), EvidenceDeleted.model_validate_json(row[3])) for row in rows]
        frontier, seen = [node], {node}
        for each in frontier:  # grows while it is walked
            origin = self._origin(each)
            for namespace, named, fact in deletions if origin else ():
                assert origin is not None
                if namespace == origin[0].namespace and self._deletes(fact, origin[0], each):
                    return f"{fact.reason} ({fact.requested_by})", named
            fresh = [one for one in self._erased_premises(each) if one not in seen]
            seen.update(fresh)
            frontier += fresh
        return None

    def decision(self, node: int) -> Said | None:
        """The latest decision that covers a node and invalidates it; None where its policy makes it impossible."""
        origin = self._origin(node)
        found = [] if origin is None else sorted(self._covering(*origin), key=lambda one: one[0])
        if not found or found[-1][1].action != "invalidate":
            return None
        (_, source, identifier), fact = found[-1]
        return f"{fact.reason} ({fact.decided_by})", EvidenceId(source, identifier)

    def policy(self, node: int) -> EvidenceId | None:
        """The event that declared the policy of an assertion's predicate; of its schemes where none did."""
        slot = int(self._store.where("slot", "assertion", "a", [node])[0][0])
        namespace, predicate = self._store.where("namespace, predicate", "memory", "slot", [slot])[0]
        latest = self._state.policies.latest
        declared = [(name, *latest[name]) for name in (namespace, PUBLIC) if name in latest]
        declared.sort(key=lambda one: predicate not in one[2].predicates)
        for name, (_, source, identifier), _ in declared:
            return EvidenceId(source, identifier, PUBLIC if name == PUBLIC else "")
        return None

    def _covering(self, origin: Origin, assertion: str) -> Iterator[tuple[Order, Decided]]:
        query = "SELECT time_us, source, id, body FROM decision WHERE namespace = ?"
        for us, source, identifier, body in self._store.rows(query, [origin.namespace]):
            fact = Decided.model_validate_json(body)
            if decides(fact, us, origin, assertion):
                yield (us, source, identifier), fact

    def _origin(self, node: int) -> tuple[Origin, str] | None:
        """Where a node's evidence comes from, and the id of the assertion (or '')."""
        evidence, name = node, ""
        if self._state.kinds[node] == ASSERTION_KIND:
            evidence, name = self._store.where("ev, assertion_id", "assertion", "a", [node])[0]
        columns = "namespace, source, id, time_us, session_id"
        rows = self._store.where(columns, "evidence", "ev", [int(evidence)])
        if not rows:  # named and never recorded
            rows = self._store.where("namespace, source, text, 0, NULL", "node", "node", [int(evidence)])
        return (Origin(*rows[0]), name) if rows else None

    def _key(self, node: int) -> Key:
        high, low = self._store.rows(KEY, [node])[0]
        return int(high), int(low)

    def _made(self, evidence: int) -> list[int]:
        return sorted(int(row[0]) for row in self._store.where("a", "assertion", "ev", [evidence]))

    def _erased_premises(self, node: int) -> list[int]:
        graph, erased = self._state.graph, self._state.erased
        if self._state.kinds[node] == EVIDENCE_KIND:
            return [one for one in self._made(node) if one in erased]
        found = {int(graph.premise[edge]) for edge in graph.edges_from(node) if int(graph.flags[edge]) & CONTENT}
        return sorted(found & erased, key=self._names.text)

    def _deletes(self, fact: EvidenceDeleted, origin: Origin, node: int) -> bool:
        match fact.target:
            case EvidenceTarget(evidence=ref):
                return (ref.source, ref.id) == (origin.source, origin.id)
            case SourceTarget(source=source):
                hit = source == origin.source
            case SessionTarget(source=source, session_id=session):
                hit = (source, session) == (origin.source, origin.session_id)
            case _:
                hit = self._is_about(node, origin.namespace, fact.target.subject)
        return hit and (fact.until_us is None or origin.time_us <= fact.until_us)

    def _is_about(self, node: int, namespace: str, subject: str) -> bool:
        if self._state.kinds[node] != ASSERTION_KIND:
            return False
        slot = int(self._store.where("slot", "assertion", "a", [node])[0][0])
        about = self._state.policies.subject(namespace, self._store.where("subject", "memory", "slot", [slot])[0][0])
        return self._state.policies.subject(namespace, subject).text in (about.text, about.base)


def decides(fact: Decided, us: int, origin: Origin, assertion: str) -> bool:
    """Whether a decision covers evidence, or an assertion of it."""
    match fact.target:
        case EvidenceTarget(evidence=ref):
            return (ref.source, ref.id) == (origin.source, origin.id)
        case SourceTarget(source=source):
            return source == origin.source and origin.time_us <= us
        case AssertionTarget(assertion=name):
            return name == assertion
        case AdvisoryTarget():
            return False
