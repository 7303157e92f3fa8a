"""One batch of fact records on its way into the view: names become ids, facts become rows and work for later steps."""

from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

import orjson
from tether_schemas.builtin import verdict_fault
from tether_schemas.canonical import canonical_json
from tether_schemas.facts import (
    AdvisoryIssued,
    Asserted,
    Decided,
    EvidenceDeleted,
    EvidenceRecorded,
    FactRecord,
    Linked,
    PolicyDeclared,
)
from tether_schemas.ghosts import VERDICT_KEYS
from tether_schemas.policy import AUTHORITY_RANK, MODE_RANK, PredicatePolicy
from tether_schemas.refs import Ref
from tether_schemas.subjects import package_of
from tether_schemas.times import time_us
from tether_streams.core.belief import Statement

from tether_projections.advisories import Group, Object, Revision, modified_us
from tether_projections.governance import Origin
from tether_projections.keys import Digest, digest, halves, slot_key
from tether_projections.state import Info, State, as_json
from tether_projections.store import Row

KIND_CODE = {"object": 0, "assertion": 1, "evidence": 2}
STATED, POSSIBLE = 0, 1

Target = tuple[int, int]  # kind code, node
Rank = tuple[int, str, int, int]  # recorded_us, topic, partition, offset


def key_of(value: Any) -> str:
    """What stands for a value where values are compared: equal exactly when their canonical JSON is."""
    return blake2b(canonical_json(value), digest_size=16).hexdigest()


@dataclass(slots=True)
class NewEvidence:
    """One piece of evidence of this batch."""

    node: int
    origin: Origin
    kind: str
    phantom: bool
    content_hash: str
    rank: Rank
    assertions: list[int] = field(default_factory=list[int])
    links: list[int] = field(default_factory=list[int])


@dataclass(slots=True)
class NewAssertion:
    """One assertion of this batch."""

    info: Info
    statement: Statement
    assertion_id: str
    subject: str
    value: str
    phantom: bool
    fit: bool
    stated: list[Target]
    possible: list[Target]


@dataclass(slots=True)
class NewLink:
    """One link of this batch."""

    node: int
    link_id: str
    namespace: str
    evidence: int
    dependent: Target
    premises: list[Target]
    stated: bool


@dataclass(slots=True)
class SlotHead:
    """What never changes of a slot."""

    slot: int
    key: Digest
    namespace: str
    scope: str
    subject: str
    predicate: str
    many: str | None
    verdict: bool
    rests: bool
    object: int


@dataclass(slots=True)
class Batch:
    """Rows to write, and what later steps must look at."""

    position: int
    rows: dict[str, list[Row]] = field(default_factory=dict[str, list[Row]])
    evidence: dict[int, NewEvidence] = field(default_factory=dict[int, NewEvidence])
    assertions: dict[int, NewAssertion] = field(default_factory=dict[int, NewAssertion])
    links: dict[int, NewLink] = field(default_factory=dict[int, NewLink])
    slots: dict[int, SlotHead] = field(default_factory=dict[int, SlotHead])
    objects: dict[int, Object] = field(default_factory=dict[int, Object])
    groups: set[Group] = field(default_factory=set[Group])
    decided: list[tuple[str, tuple[str, ...], int]] = field(default_factory=list[tuple[str, tuple[str, ...], int]])
    deleted: list[tuple[str, EvidenceDeleted]] = field(default_factory=list[tuple[str, EvidenceDeleted]])
    policy_changed: bool = False
    disputed: list[tuple[str, str, str]] = field(default_factory=list[tuple[str, str, str]])  # ids with two contents
    reranked: dict[int, Rank] = field(default_factory=dict[int, Rank])  # evidence met again with a lesser rank
    dirty: set[int] = field(default_factory=set[int])
    lost_nodes: set[int] = field(default_factory=set[int])
    new_nodes: set[int] = field(default_factory=set[int])
    lost_edges: set[int] = field(default_factory=set[int])
    new_edges: set[int] = field(default_factory=set[int])
    ghosts: list[int] = field(default_factory=list[int])  # phantoms that are deleted by name
    carried: list[int] = field(default_factory=list[int])  # assertions and evidence that came erased

    def add(self, table: str, row: Row) -> None:
        """Add one row to write."""
        rows = self.rows.get(table)
        if rows is None:
            rows = self.rows[table] = []
        rows.append(row)


class Admission:
    """Takes in records: the part of `apply` that touches every fact once."""

    def __init__(self, state: State, batch: Batch) -> None:
        self.state = state
        self.batch = batch
        self.keys = state.keys

    def evidence(self, record: FactRecord, facts_head: EvidenceRecorded, key: Digest, known: int) -> NewEvidence:
        """Record one piece of evidence by its key; `known` is the id it was named by before, or 0."""
        node = known or self.keys.add(key)
        self.state.phantoms.discard(node)
        origin = Origin(record.namespace, record.source, record.id, record.time_us, facts_head.session_id)
        made = NewEvidence(node, origin, facts_head.kind, known != 0, record.content_hash, record.rank)
        self.batch.evidence[node] = made
        if facts_head.deleted:
            self.batch.carried.append(node)
        self.batch.add(
            "evidence",
            (
                node, *halves(key), record.namespace, record.source, record.id, facts_head.kind, record.event_type,
                record.time, record.time_us, record.recorded_us, record.topic, record.partition, record.offset,
                record.content_hash, facts_head.session_id, facts_head.seq, facts_head.role, facts_head.tool,
                facts_head.call_id, record.extractor, record.rules,
            ),
        )  # fmt: skip
        return made

    def facts(self, record: FactRecord, evidence: NewEvidence) -> None:
        """Take in every fact of a record."""
        for fact in record.facts:
            match fact:
                case Asserted():
                    self._assertion(record, evidence, fact)
                case Linked():
                    self._link(record, evidence, fact)
                case AdvisoryIssued():
                    self._advisory(evidence, fact)
                case Decided() | EvidenceDeleted() | PolicyDeclared():
                    self._order(evidence, fact)
                case _:
                    pass

    def object(self, namespace: str, text: str) -> int:
        """The node of a subject."""
        node = self.state.recent.of(namespace).get(text, 0)
        if node:
            return node
        key = digest("object", namespace, text)
        node = self.keys.get(key)
        if not node:
            node = self.keys.add(key)
            subject = self.state.policies.subject(namespace, text)
            self.batch.objects[node] = Object(node, namespace, subject)
            self.batch.add(
                "node",
                (node, *halves(key), "object", namespace, text, None, package_of(subject), subject.version),
            )
        self.state.recent.note([namespace], [text], [node])
        return node

    def target(self, namespace: str, ref: Ref) -> Target:
        """The node of a reference; what is not recorded yet is a phantom until it is."""
        if ref.kind == "object":
            return 0, self.object(namespace, ref.text)
        if ref.kind == "assertion":
            key = digest("assertion", namespace, ref.text)
        else:
            key = digest("evidence", namespace, ref.source, ref.text)
        node = self.keys.get(key)
        if not node:
            node = self.keys.add(key)
            self.state.phantoms.add(node)
            source = ref.source if ref.kind == "evidence" else None
            self.batch.add("node", (node, *halves(key), ref.kind, namespace, ref.text, source, None, None))
            if ref.kind == "evidence":
                self._phantom_evidence(node, namespace, ref)
        return KIND_CODE[ref.kind], node

    def _phantom_evidence(self, node: int, namespace: str, ref: Ref) -> None:
        if self.state.deletions.names(namespace, ref.source, ref.text):
            self.batch.add("ghost", (node,))
            self.state.erased.add(node)
            self.batch.ghosts.append(node)

    def _assertion(self, record: FactRecord, evidence: NewEvidence, fact: Asserted) -> None:
        key = digest("assertion", record.namespace, fact.assertion_id)
        node = self.keys.get(key)
        phantom = node in self.state.phantoms
        if node and not phantom:
            return  # the same claim twice in one piece of evidence
        node = node or self.keys.add(key)
        self.state.phantoms.discard(node)
        policy = self.state.policies.of(record.namespace).predicate(fact.predicate)
        subject = self.state.policies.subject(record.namespace, fact.subject)
        fit = True
        value = fact.value if fact.value_key is None else VERDICT_KEYS.get(fact.value_key)
        if policy.verdict:
            fault = verdict_fault(value, fact.valid_from or fact.valid_to, fact.expires_at)
            versioned = self.state.policies.of(record.namespace).schemes.get(subject.scheme)
            fit = fault is None and not (subject.version is None and versioned is not None and versioned.versioned)
        if policy.verdict and isinstance(value, bool):
            value_key = "true" if value else "false"
        elif fact.value_key is not None and value is None:
            value_key = fact.value_key
        else:
            value_key = key_of(value)
        about = self.object(record.namespace, fact.subject)
        slot = self._slot(record.namespace, fact, value_key if policy.many else None, policy, about)
        info = Info(
            node, evidence.node, slot, about, record.namespace, fact.predicate, policy.verdict, policy.rests_on_subject
        )
        statement = self._statement(record, fact, node, evidence.node, value_key)
        statement.counts = fit
        made = NewAssertion(
            info, statement, fact.assertion_id, fact.subject, orjson.dumps(fact.value).decode(), phantom, fit,
            [self.target(record.namespace, ref) for ref in fact.premises],
            [self.target(record.namespace, ref) for ref in fact.possible],
        )  # fmt: skip
        self.batch.assertions[node] = made
        if fact.value_key is not None:
            self.batch.carried.append(node)
        evidence.assertions.append(node)
        self.batch.dirty.add(slot)
        self._assertion_rows(record, fact, made, key)

    def _slot(self, namespace: str, fact: Asserted, many: str | None, policy: PredicatePolicy, about: int) -> int:
        key = slot_key(about, fact.scope, fact.predicate, many or "")
        slot = self.keys.get(key)
        if not slot:
            slot = self.keys.add(key)
            self.batch.slots[slot] = SlotHead(
                slot, key, namespace, fact.scope, fact.subject, fact.predicate, many, policy.verdict,
                policy.rests_on_subject, about,
            )  # fmt: skip
        return slot

    def _statement(self, record: FactRecord, fact: Asserted, node: int, evidence: int, value_key: str) -> Statement:
        return Statement(
            node=node,
            evidence=evidence,
            source=record.source,
            id=record.id,
            place=fact.place,
            issuer=self.state.policies.issuer_key(record.namespace, record.source, fact.issuer),
            authority=self.state.policies.authority(record.namespace, record.source, fact.authority),
            mode=MODE_RANK[fact.mode],
            observed_us=record.time_us if fact.observed_at == record.time else time_us(fact.observed_at),
            value_key=value_key,
            confidence=-1.0 if fact.confidence is None else fact.confidence,
            from_us=None if fact.valid_from is None else time_us(fact.valid_from),
            to_us=None if fact.valid_to is None else time_us(fact.valid_to),
            expires_us=None if fact.expires_at is None else time_us(fact.expires_at),
            complete=fact.premises_complete,
            readers=fact.readers,
            position=record.offset,
        )

    def _assertion_rows(self, record: FactRecord, fact: Asserted, made: NewAssertion, key: Digest) -> None:
        one, node = made.statement, made.info.node
        self.state.restricted |= fact.readers is not None
        value = made.value if fact.value_key is None else None
        self.batch.add(
            "assertion",
            (
                node, *halves(key), one.evidence, record.source, record.id, record.offset, made.info.slot, fact.place,
                fact.assertion_id, value, one.value_key, fact.issuer, one.issuer, one.mode, one.authority,
                AUTHORITY_RANK[fact.authority], one.observed_us, fact.observed_at, fact.valid_from, fact.valid_to,
                fact.expires_at, fact.review_at, fact.confidence, fact.sensitivity, fact.memory_type,
                None if fact.readers is None else as_json(fact.readers), fact.premises_complete, fact.original_text,
                fact.write_reason, made.fit,
            ),
        )  # fmt: skip
        for grade, targets in ((STATED, made.stated), (POSSIBLE, made.possible)):
            for kind, target in targets:
                self.batch.add("premise", (node, target, kind, grade))

    def _link(self, record: FactRecord, evidence: NewEvidence, fact: Linked) -> None:
        key = digest("link", record.namespace, fact.link_id)
        if self.keys.get(key):
            return
        node = self.keys.add(key)
        dependent = self.target(record.namespace, fact.dependent)
        premises = [self.target(record.namespace, ref) for ref in fact.premises]
        stated = fact.grade == "stated"
        self.batch.links[node] = NewLink(
            node, fact.link_id, record.namespace, evidence.node, dependent, premises, stated
        )
        evidence.links.append(node)
        grade = STATED if stated else POSSIBLE
        self.batch.add(
            "link",
            (node, *halves(key), evidence.node, fact.place, fact.link_id, dependent[1], dependent[0], grade),
        )
        for kind, target in premises:
            self.batch.add("premise", (node, target, kind, grade))

    def _advisory(self, evidence: NewEvidence, fact: AdvisoryIssued) -> None:
        node = evidence.node  # an event issues one revision, so its own id will do
        origin = evidence.origin
        self.batch.groups.add(self.state.advisories.add(Revision(node, evidence.node, origin, fact)))
        self.batch.add(
            "advisory",
            (
                node, evidence.node, origin.namespace, origin.source, origin.id, fact.advisory_id, fact.format,
                modified_us(fact), origin.time_us, fact.withdrawn, fact.summary, fact.model_dump_json(),
            ),
        )  # fmt: skip

    def _order(self, evidence: NewEvidence, fact: Decided | EvidenceDeleted | PolicyDeclared) -> None:
        origin = evidence.origin
        order = (origin.time_us, origin.source, origin.id)
        head = (evidence.node, origin.namespace, origin.source, origin.id, origin.time_us)
        match fact:
            case Decided():
                self.state.decisions.add(origin.namespace, order, fact)
                key = self.state.decisions.key(origin.namespace, fact)
                self.batch.decided.append((origin.namespace, key, origin.time_us))
                self.batch.add("decision", (*head, fact.model_dump_json()))
            case EvidenceDeleted():
                self.state.deletions.add(origin.namespace, fact)
                self.batch.deleted.append((origin.namespace, fact))
                self.batch.add("deletion", (*head, fact.model_dump_json()))
            case PolicyDeclared(policy=policy):
                if policy is not None:
                    self.batch.policy_changed |= self.state.policies.add(origin.namespace, order, policy)
                    self.batch.add("policy", (*head, policy.model_dump_json()))
