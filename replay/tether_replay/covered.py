"""What of a file is erased by what is on record here, found before anything of it is written (I-5).

The rule's erasure (design, part 2, A; readings, 2 and 3) over two sets at once: the view, and the facts of a file that
is read again and again until nothing more is found. Only names of what is erased are held.
"""

from collections.abc import Iterable
from copy import deepcopy
from typing import Any

from tether_projections.batch import key_of
from tether_projections.edges import EVIDENCE
from tether_projections.governance import Origin
from tether_projections.graph import CONTENT
from tether_projections.keys import digest
from tether_projections.state import State
from tether_projections.store import ViewStore
from tether_schemas.facts import Asserted, EvidenceDeleted, EvidenceRecorded, FactRecord, Linked, PolicyDeclared
from tether_schemas.ghosts import Ghost
from tether_schemas.refs import Ref
from tether_schemas.targets import EvidenceTarget, SessionTarget, SourceTarget, SubjectTarget
from tether_streams.core.ghosts import ghost_of

from tether_replay.export import keyed

Node = int | bytes  # as the view numbers it, else the digest of its name

FOR_EVER = 2**62

_OWNER = "SELECT ev FROM assertion WHERE a = ?"
_OF_SOURCE = "SELECT ev FROM evidence WHERE namespace = ? AND source = ? AND time_us <= ?"
_ABOUT = """
SELECT s.a, m.subject FROM assertion AS s JOIN memory AS m USING (slot) JOIN evidence AS e ON e.ev = s.ev
WHERE m.namespace = ? AND e.time_us <= ?
"""
_LINKED = """
SELECT p.node, p.kind FROM link AS l JOIN premise AS p ON p.owner = l.l
WHERE l.dependent = ? AND l.kind = 2 AND l.grade = 0
"""
_SAME = """
SELECT 1 FROM assertion AS s JOIN memory AS m USING (slot)
WHERE m.object = ? AND m.scope = ? AND m.predicate = ? AND s.value_key = ? LIMIT 1
"""


class Covered:
    """What is erased, of the view and of a file. `learn` every record of the file until `found` stays as it is."""

    def __init__(self, store: ViewStore, state: State) -> None:
        self._store = store
        self._state = state
        self._deletions = deepcopy(state.deletions)
        self._policies = deepcopy(state.policies)
        self._orders: set[bytes] = set()  # deletions and policies that the file adds
        self._gone: set[Node] = set()  # erased: assertions, and evidence deleted by itself
        self._touched: set[Node] = set()  # evidence of which some assertion is erased
        self._linked: set[Node] = set()  # evidence whose assertions a link makes derive from what is erased
        self._partly: dict[int, bool] = {}
        self._slots: set[bytes] = set()  # of values that are to be keyed
        self._values: set[bytes] = set()  # what else the file states in these

    @property
    def found(self) -> int:
        """How much is known by now."""
        return len(self._orders) + len(self._gone) + len(self._touched) + len(self._linked) + len(self._slots)

    @property
    def erases(self) -> bool:
        """Whether anything is erased that the file may name."""
        return bool(self._gone)

    def read_again(self) -> None:
        """Begin anew with the first record of the file."""
        self._values.clear()

    def learn(self, record: FactRecord) -> None:
        """Take in one record of the file."""
        namespace = record.namespace
        evidence = self._node("evidence", namespace, record.source, record.id)
        origin, deleted = self._origin(record)
        for fact in record.facts:
            match fact:
                case EvidenceDeleted() | PolicyDeclared():
                    self._order(record, fact)
                case Asserted():
                    node = self._node("assertion", namespace, fact.assertion_id)
                    if deleted or self._is_erased(origin, evidence, node, fact):
                        self._erase(node, evidence)
                    self._value(namespace, fact, node)
                case Linked(grade="stated"):
                    if any(self._is_gone(namespace, ref) for ref in fact.premises):
                        self._link(namespace, fact.dependent)
                case _:
                    pass
        if deleted:
            self._erase(evidence, None)

    def ghost(self, record: FactRecord, secret: bytes) -> Ghost | None:
        """A record of the file as the ghost that it comes in as; None where nothing of it is erased."""
        _, deleted = self._origin(record)
        claims = [fact for fact in record.facts if isinstance(fact, Asserted)]
        keys = {
            fact.assertion_id: self._key(record.namespace, fact, secret)
            for fact in claims
            if self._node("assertion", record.namespace, fact.assertion_id) in self._gone
            or self._node("assertion", record.namespace, fact.assertion_id) in self._state.erased
        }
        return ghost_of(record, keys, deleted) if deleted or keys else None

    def is_recorded(self, record_namespace: str, source: str, identifier: str) -> bool:
        """Whether the view has this evidence."""
        node = self._node("evidence", record_namespace, source, identifier)
        return isinstance(node, int) and node not in self._state.phantoms

    def _node(self, kind: str, *names: str) -> Node:
        key = digest(kind, *names)
        return self._state.keys.get(key) or key

    def _origin(self, record: FactRecord) -> tuple[Origin, bool]:
        head = record.facts[0]
        assert isinstance(head, EvidenceRecorded)
        origin = Origin(record.namespace, record.source, record.id, record.time_us, head.session_id)
        known = self._node("evidence", record.namespace, record.source, record.id) in self._state.erased
        return origin, known or head.deleted or self._deletions.covers_evidence(origin)

    def _order(self, record: FactRecord, fact: EvidenceDeleted | PolicyDeclared) -> None:
        namespace = record.namespace
        name = digest("evidence", namespace, record.source, record.id)
        if isinstance(fact, EvidenceDeleted):
            if name not in self._orders:
                self._deletions.add(namespace, fact)
                self._delete_here(namespace, fact)
            self._orders.add(name)
        elif fact.policy is not None:
            self._orders.add(name)
            self._policies.add(namespace, (record.time_us, record.source, record.id), fact.policy)

    def _delete_here(self, namespace: str, fact: EvidenceDeleted) -> None:
        """Note what a deletion of the file erases of the view."""
        until = FOR_EVER if fact.until_us is None else fact.until_us
        match fact.target:
            case EvidenceTarget(evidence=named):
                node = self._node("evidence", namespace, named.source, named.id)
                self._erase(node, None)
                found = [node] if isinstance(node, int) else []
            case SessionTarget(source=source, session_id=session):
                found = self._ids(f"{_OF_SOURCE} AND session_id = ?", [namespace, source, until, session])
            case SourceTarget(source=source):
                found = self._ids(_OF_SOURCE, [namespace, source, until])
            case SubjectTarget(subject=text):
                for node, about in self._store.rows(_ABOUT, [namespace, until]):
                    subject = self._policies.erasable(namespace, about)
                    if text in (subject.text, subject.base):
                        self._erase(int(node), None)
                return
        for evidence in found:
            self._erase(evidence, None)
            for node in self._made(evidence):
                self._erase(node, evidence)

    def _ids(self, query: str, values: list[Any]) -> list[int]:
        return [int(row[0]) for row in self._store.rows(query, values)]

    def _is_erased(self, origin: Origin, evidence: Node, node: Node, fact: Asserted) -> bool:
        return (
            fact.value_key is not None
            or node in self._gone
            or node in self._state.erased
            or evidence in self._linked
            or (isinstance(evidence, int) and evidence in self._state.phantoms and self._is_linked_here(evidence))
            or self._deletions.covers_subject(origin, self._policies.erasable(origin.namespace, fact.subject))
            or any(self._is_gone(origin.namespace, ref) for ref in fact.premises)
        )

    def _is_gone(self, namespace: str, ref: Ref) -> bool:
        """Whether what a reference names is erased, or evidence of which any assertion is."""
        if ref.kind == "object":
            return False
        if ref.kind == "assertion":
            node = self._node("assertion", namespace, ref.text)
            return node in self._gone or node in self._state.erased
        node = self._node("evidence", namespace, ref.source, ref.text)
        return (
            node in self._gone
            or node in self._touched
            or node in self._state.erased
            or self._deletions.names(namespace, ref.source, ref.text)
            or (isinstance(node, int) and self._is_partly(node))
        )

    def _is_linked_here(self, evidence: int) -> bool:
        """Whether a link of the view says of evidence that is still to come that it derives from what is erased."""
        premises = self._store.rows(_LINKED, [evidence])
        return any(self._is_gone_node(int(node), int(kind)) for node, kind in premises)

    def _is_gone_node(self, node: int, kind: int) -> bool:
        if node in self._gone or node in self._state.erased:
            return True
        return kind == EVIDENCE and (node in self._touched or self._is_partly(node))

    def _is_partly(self, evidence: int) -> bool:
        if evidence not in self._partly:
            self._partly[evidence] = any(node in self._state.erased for node in self._made(evidence))
        return self._partly[evidence]

    def _made(self, evidence: int) -> list[int]:
        return [int(row[0]) for row in self._store.where("a", "assertion", "ev", [evidence])]

    def _link(self, namespace: str, dependent: Ref) -> None:
        if dependent.kind == "assertion":
            self._erase(self._node("assertion", namespace, dependent.text), None)
        elif dependent.kind == "evidence":
            node = self._node("evidence", namespace, dependent.source, dependent.text)
            self._linked.add(node)
            for made in self._made(node) if isinstance(node, int) else ():
                self._erase(made, node)

    def _erase(self, node: Node, evidence: Node | None) -> None:
        """Note something as erased, with the evidence that it is of, and what the view has that derives from it."""
        stack = [node]
        if evidence is not None and evidence not in self._touched:
            self._touched.add(evidence)
            stack += self._deriving(evidence)
        while stack:
            one = stack.pop()
            if one in self._gone:
                continue
            self._gone.add(one)
            stack += self._deriving(one)
            for owner in self._ids(_OWNER, [one]) if isinstance(one, int) else ():
                if owner not in self._touched:
                    self._touched.add(owner)
                    stack += self._deriving(owner)

    def _deriving(self, node: Node) -> list[int]:
        """What the view has that derives from the content of a node."""
        graph = self._state.graph
        edges = graph.edges_to(node) if isinstance(node, int) else ()
        found = (int(graph.dependent[edge]) for edge in edges if graph.flags[edge] & CONTENT)
        return [dependent for dependent in found if dependent not in self._state.erased]

    def _value(self, namespace: str, fact: Asserted, node: Node) -> None:
        """Note which slots have a value that is to be keyed, and the other values in these."""
        erased = node in self._gone or node in self._state.erased
        if erased and fact.value_key is None:
            self._slots.add(_slot(namespace, fact))
        elif _slot(namespace, fact) in self._slots:
            self._values.add(_value(namespace, fact, fact.value_key or key_of(fact.value)))

    def _key(self, namespace: str, fact: Asserted, secret: bytes) -> str:
        """What stands for a value that is erased: as in export.Erased, with what the view has beside the file."""
        if fact.value_key is not None:
            return fact.value_key
        if isinstance(fact.value, bool) and self._policies.of(namespace).predicate(fact.predicate).verdict:
            return "true" if fact.value else "false"
        key = key_of(fact.value)
        about = self._state.keys.get(digest("object", namespace, fact.subject))
        if _value(namespace, fact, key) in self._values or (
            about and self._store.rows(_SAME, [about, fact.scope, fact.predicate, key])
        ):
            return key
        return keyed(secret, [namespace, fact.scope, fact.subject, fact.predicate], key)


def _slot(namespace: str, fact: Asserted) -> bytes:
    return digest("slot", namespace, fact.scope, fact.subject, fact.predicate)


def _value(namespace: str, fact: Asserted, key: str) -> bytes:
    return digest("value", namespace, fact.scope, fact.subject, fact.predicate, key)


def learn_until_stable(covered: Covered, read: Any) -> None:
    """Give `covered` every record that `read()` gives, again and again until a reading adds nothing."""
    before = -1
    while covered.found != before:
        before = covered.found
        covered.read_again()
        records: Iterable[FactRecord] = read()
        for record in records:
            covered.learn(record)
