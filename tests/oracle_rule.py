"""Layers A, C and D of the rule (design, part 2) for the oracle: what counts, what is bad, what is reached."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import Any

from tether_schemas.canonical import canonical_json
from tether_schemas.events import AssertionTarget, EvidenceTarget, SessionTarget, SourceTarget
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
from tether_schemas.policy import AUTHORITY_RANK, DEFAULT, Policy
from tether_schemas.refs import Ref
from tether_schemas.subjects import Subject, package_of, parse_subject
from tether_schemas.times import time_us
from tether_streams.core.osv import covers, package_base
from tether_streams.core.versions import pep440_greater

from tests.oracle_slots import Node, Said, Slot, belief, stance

Edge = tuple[Node, Node, bool]  # dependent, premise, stated
Cause = tuple[str, ...]
PUBLIC = "*"
NO_BELIEF = {("tombstoned",), ("invalidated",)}  # badness of an assertion that rule 5 does not exempt


def node_of(ref: Ref) -> Node:
    """The node that a reference names."""
    return ("evidence", ref.source, ref.text) if ref.kind == "evidence" else (ref.kind, ref.text)


class Rule:
    """The rule over the records that one namespace sees: its own and those of `*`.

    Of a past, the records are those up to its position, and `today` is the rule over all records: what that erases is
    erased in every past, on record there or not yet.
    """

    def __init__(self, records: Iterable[FactRecord], namespace: str, today: "Rule | None" = None) -> None:
        self.namespace = namespace
        self.deleted: set[Node] = set() if today is None else set(today.deleted)
        self.erased: set[str] = set() if today is None else set(today.erased)
        first: dict[tuple[str, str, str], FactRecord] = {}
        for record in records:
            key = (record.namespace, record.source, record.id)
            if record.namespace in (namespace, PUBLIC) and (key not in first or record.rank < first[key].rank):
                first[key] = record
        self.records = list(first.values())
        self.own = [record for record in self.records if record.namespace == namespace]
        self.now_us = max((record.time_us for record in self.own), default=0)
        self.facts: dict[type, list[tuple[FactRecord, Any]]] = defaultdict(list)
        for record in self.records:
            for fact in record.facts:
                if record.namespace == namespace or isinstance(fact, AdvisoryIssued | Decided | PolicyDeclared):
                    self.facts[type(fact)].append((record, fact))
        self._read_policy()
        self._read_assertions()
        self._erase()
        slots = {said.slot for said in self.said.values()}
        self.beliefs = {slot: belief([said for said in self.of(slot) if not said.interval]) for slot in slots}
        self.bad = self._bad()
        self.edges = self._edges()
        self.reached = self._reach(possible=False)
        self.threatened = self._reach(possible=True)

    def of(self, slot: Slot) -> list[Said]:
        return [said for said in self.said.values() if said.slot == slot]

    def stance(self, said: Said) -> str:
        return "standing" if said.interval and said.counts else stance(said, self.beliefs[said.slot])

    # A. What counts.

    def _read_policy(self) -> None:
        latest: dict[bool, tuple[Any, Policy]] = {}
        ever = {name for name, scheme in DEFAULT.schemes.items() if scheme.versioned}
        for record, fact in self.facts[PolicyDeclared]:
            if fact.policy is None:
                continue
            ever |= {name for name, scheme in fact.policy.schemes.items() if scheme.versioned}
            rank, own = (record.time_us, record.source, record.id), record.namespace == self.namespace
            if own not in latest or rank > latest[own][0]:
                latest[own] = (rank, fact.policy)
        self.policy: Policy = DEFAULT
        for own in sorted(latest):
            self.policy = latest[own][1].over(self.policy)
        self.versioned = frozenset(name for name, scheme in self.policy.schemes.items() if scheme.versioned)
        # Erasure only grows: for a deletion, a scheme that any policy ever called versioned stays so.
        self.ever_versioned = frozenset(ever)

    def _invalid(self, record: FactRecord, **names: str) -> bool:
        """Whether the latest decision covering this evidence, or the claim or advisory named, invalidates."""
        if any(isinstance(fact, EvidenceDeleted | Decided | PolicyDeclared) for fact in record.facts):
            return False
        covering: list[tuple[Any, str]] = []
        for other, decided in self.facts[Decided]:
            if other.namespace == PUBLIC and record.namespace != PUBLIC:
                continue
            target = decided.target
            if isinstance(target, EvidenceTarget):
                hit = (target.evidence.source, target.evidence.id) == (record.source, record.id)
            elif isinstance(target, SourceTarget):
                hit = target.source == record.source and record.time_us <= other.time_us
            elif isinstance(target, AssertionTarget):
                hit = target.assertion == names.get("claim")
            else:
                hit = target.advisory == names.get("advisory")
            if hit:
                own = other.namespace == self.namespace
                covering.append(((other.time_us, other.source, other.id, own), decided.action))
        return bool(covering) and max(covering)[1] == "invalidate"

    def _read_assertions(self) -> None:
        self.links: list[tuple[bool, Linked]] = [
            (not self._invalid(record, claim=link.link_id), link) for record, link in self.facts[Linked]
        ]
        self.said: dict[str, Said] = {}
        self.made: dict[Node, list[Said]] = {}  # the assertions of each evidence
        for record, fact in self.facts[Asserted]:
            if fact.assertion_id not in self.said:
                said = self.said[fact.assertion_id] = self._said(record, self._valued(fact))
                self.made.setdefault(("evidence", record.source, record.id), []).append(said)

    def _valued(self, fact: Asserted) -> Asserted:
        """A ghost with a value equal to exactly what its key stands for: that of a statement, or one of its own."""
        if fact.value_key is None:
            return fact
        known: dict[str, Any] = {"true": True, "false": False}
        for _, other in self.facts[Asserted]:
            if other.value_key is None:
                known[blake2b(canonical_json(other.value), digest_size=16).hexdigest()] = other.value
        return fact.model_copy(update={"value": known.get(fact.value_key, {"ghost": fact.value_key})})

    def _said(self, record: FactRecord, fact: Asserted) -> Said:
        subject = parse_subject(fact.subject, self.versioned)
        rules, source = self.policy.predicate(fact.predicate), self.policy.sources.get(record.source)
        capped = AUTHORITY_RANK[(source and source.authority_max) or "system-of-record"]
        key = canonical_json(fact.value).decode()
        impossible = rules.verdict and (
            not isinstance(fact.value, bool)
            or bool(fact.valid_from or fact.valid_to)
            or (fact.value is False and fact.expires_at is not None)
            or (subject.scheme in self.versioned and subject.version is None)
        )
        return Said(
            fact=fact,
            source=record.source,
            event=record.id,
            subject=subject,
            rules=rules,
            issuer=("across", source.issuer) if source and source.issuer else ("within", record.source, fact.issuer),
            authority=min(AUTHORITY_RANK[fact.authority], capped),
            observed_us=time_us(fact.observed_at),
            value_key=key,
            slot=(fact.scope, subject.text, fact.predicate, key if rules.many else ""),
            counts=not impossible and not self._invalid(record, claim=fact.assertion_id),
            premises=self._premises(fact, ("evidence", record.source, record.id), invalid=False),
            on_record=self._premises(fact, ("evidence", record.source, record.id), invalid=True),
        )

    def _premises(self, fact: Asserted, evidence: Node, *, invalid: bool) -> frozenset[tuple[Node, bool]]:
        """(premise, stated) of an assertion: its own and those of links; with `invalid`, also of invalidated links."""
        found = {(node_of(ref), True) for ref in fact.premises} | {(node_of(ref), False) for ref in fact.possible}
        for counts, link in self.links:
            if (counts or invalid) and node_of(link.dependent) in (("assertion", fact.assertion_id), evidence):
                found |= {(node_of(ref), link.grade == "stated") for ref in link.premises}
        return frozenset(found)

    def _deletes(self, record: FactRecord, said: Said | None) -> bool:
        """Whether a deletion covers this evidence; with `said`, this assertion of it by its subject."""
        for _, deletion in self.facts[EvidenceDeleted]:
            target, until_us = deletion.target, deletion.until_us
            if isinstance(target, EvidenceTarget):
                hit = (target.evidence.source, target.evidence.id) == (record.source, record.id)
            elif until_us is not None and record.time_us > until_us:
                hit = False
            elif isinstance(target, SourceTarget | SessionTarget):
                sessions = {fact.session_id for fact in record.facts if isinstance(fact, EvidenceRecorded)}
                whole = isinstance(target, SourceTarget)
                hit = target.source == record.source and (whole or target.session_id in sessions)
            else:
                wanted = parse_subject(target.subject, self.ever_versioned)
                about = None if said is None else parse_subject(said.fact.subject, self.ever_versioned)
                every = wanted.version is None and wanted.scheme in self.ever_versioned
                hit = about is not None and (about.text == wanted.text or (every and about.base == wanted.base))
            if hit and (said is None) != hasattr(target, "subject"):
                return True
        return False

    def _erase(self) -> None:
        evidence: dict[Node, FactRecord] = {("evidence", record.source, record.id): record for record in self.own}
        self.deleted |= {node for node, record in evidence.items() if self._deletes(record, None)}
        came = [(record, fact) for record, fact in self.facts[EvidenceRecorded] if fact.deleted]
        self.deleted |= {("evidence", record.source, record.id) for record, _ in came}
        for _, deletion in self.facts[EvidenceDeleted]:  # by name it is deleted whether or not it is on record
            if isinstance(deletion.target, EvidenceTarget):
                self.deleted.add(("evidence", deletion.target.evidence.source, deletion.target.evidence.id))
        self.erased |= {name for name, said in self.said.items() if said.fact.value_key is not None}  # came erased
        for node, claims in self.made.items():
            self.erased |= {said.id for said in claims if node in self.deleted or self._deletes(evidence[node], said)}
        while True:
            gone: set[Node] = {("assertion", name) for name in self.erased} | self.deleted
            gone |= {node for node, claims in self.made.items() if any(said.id in self.erased for said in claims)}
            for _ in self.links:  # an assertion not on record that rests on what is gone is gone when it comes
                gone |= {node for _, node, premise, stated in self._unrecorded() if stated and premise in gone}
            derived = [said for said in self.said.values() if said.on_record & {(node, True) for node in gone}]
            if all(said.id in self.erased for said in derived):
                break
            self.erased |= {said.id for said in derived}

    # C. What is bad, and by what.

    def objects(self) -> set[Node]:
        refs = [ref for said in self.said.values() for ref in (*said.fact.premises, *said.fact.possible)]
        refs += [ref for _, link in self.links for ref in (link.dependent, *link.premises)]
        named = {node_of(ref) for ref in refs if ref.kind == "object"}
        return named | {said.own_subject for said in self.said.values()}

    def _bad(self) -> dict[Node, set[Cause]]:
        bad: dict[Node, set[Cause]] = defaultdict(set)
        for node in self.objects():
            bad[node] = self._object_causes(node)
        for said in self.said.values():
            bad[said.node] |= {("tombstoned",)} if said.id in self.erased else set()
            bad[said.node] |= {(self.stance(said),)} - {("standing",)}
        for node in self.deleted:
            bad[node].add(("tombstoned",))
        for name in self.erased - self.said.keys():  # of a past: erased today, and only named there
            bad["assertion", name].add(("tombstoned",))
        for record in self.own:
            node: Node = ("evidence", record.source, record.id)
            claims = self.made.get(node, [])
            if claims and all(said.id in self.erased for said in claims):
                bad[node].add(("tombstoned",))
            if self._invalid(record):
                bad[node].add(("invalidated",))
        return {node: causes for node, causes in bad.items() if causes}

    def _object_causes(self, node: Node) -> set[Cause]:
        subject = parse_subject(node[1], self.versioned)
        causes: set[Cause] = {("advisory", source, name) for source, name in self._advisories(subject)}
        for now in self.beliefs.values():
            for said in now.present:
                if said.rules.verdict and "false" in now.held and said.fact.value is False and said.own_subject == node:
                    causes.add(("failed", said.id))
                if said.rules.verdict and "true" in now.held and self._retires(said.subject, subject):
                    causes.add(("higher_version", said.subject.text))
        return causes

    def _retires(self, higher: Subject, lower: Subject) -> bool:
        scheme = self.policy.schemes.get(lower.scheme)
        if scheme is None or not scheme.higher_version or higher.base != lower.base:
            return False
        if higher.version is None or lower.version is None:
            return False
        return pep440_greater(higher.version, lower.version) is True

    def _advisories(self, subject: Subject) -> Iterator[tuple[str, str]]:
        latest: dict[tuple[str, str, str], tuple[Any, AdvisoryIssued]] = {}
        for record, issued in self.facts[AdvisoryIssued]:
            if self._invalid(record, advisory=issued.advisory_id):
                continue
            at_us = time_us(issued.modified) if int(issued.modified[:4]) > 1 else record.time_us
            key, rank = (record.namespace, record.source, issued.advisory_id), (at_us, record.source, record.id)
            if key not in latest or rank > latest[key][0]:
                latest[key] = (rank, issued)
        for (_, source, name), (_, issued) in latest.items():
            if issued.withdrawn is None and self._covers(issued, subject):
                yield source, name

    def _covers(self, issued: AdvisoryIssued, subject: Subject) -> bool:
        for text in issued.subjects:
            named = parse_subject(text, self.versioned)
            every = named.scheme in self.versioned and named.version is None
            if named.text == subject.text or (every and named.base == subject.base):
                return True
        package, version = package_of(subject), subject.version
        return version is not None and any(
            package_base(entry) == package and covers(entry, version).verdict == "affected" for entry in issued.affected
        )

    # D. What is reached.

    def _expanded(self, premise: Node) -> list[Node]:
        return [premise, *(said.node for said in self.made.get(premise, []))]

    def _edges(self) -> set[Edge]:
        edges = {edge for said in self.said.values() if said.counts for edge in self._edges_of(said)}
        for counts, link in self.links:
            if counts and link.dependent.kind == "object":
                for premise in (node for ref in link.premises for node in self._expanded(node_of(ref))):
                    edges.add((node_of(link.dependent), premise, link.grade == "stated"))
        return edges | {(node, premise, stated) for counts, node, premise, stated in self._unrecorded() if counts}

    def _unrecorded(self) -> Iterator[tuple[bool, Node, Node, bool]]:
        """What links say of assertions that are not on record: whether the link counts, dependent, premise, stated."""
        for counts, link in self.links:
            if link.dependent.kind == "assertion" and link.dependent.text not in self.said:
                for premise in (node for ref in link.premises for node in self._expanded(node_of(ref))):
                    yield counts, node_of(link.dependent), premise, link.grade == "stated"

    def _edges_of(self, said: Said) -> Iterator[Edge]:
        if said.rules.verdict or said.rules.rests_on_subject:
            yield said.node, said.own_subject, True
        for named, grade in said.premises:
            stated = grade or said.rules.possible == "withdraw"
            for premise in self._expanded(named):
                if not (said.rules.verdict and premise[0] == "object"):
                    yield said.node, premise, stated
                if said.rules.verdict and (premise[0] == "object" or self.speaks(said)):
                    yield said.own_subject, premise, stated

    def speaks(self, said: Said) -> bool:
        """Whether a verdict's content premises are its subject-version's: present, none of its value above it."""
        present = self.beliefs[said.slot].present
        above = [other for other in present if other.value_key == said.value_key and other.authority > said.authority]
        return said in present and not above

    def quotes(self, dependent: Node, premise: Node) -> bool:
        """Whether the premise's own badness stays behind: superseded, outranked or disputed, and quoted in its slot."""
        if premise[0] != "assertion" or self.bad.get(premise, set()) & NO_BELIEF:
            return False
        said = self.said.get(premise[1])
        if said is None:
            return False
        if dependent[0] == "assertion":
            other = self.said.get(dependent[1])
            return other is not None and other.slot == said.slot
        return said.rules.verdict and dependent == said.own_subject

    def _reach(self, *, possible: bool) -> set[Node]:
        reached: set[Node] = set()
        while True:
            more = {
                dependent
                for dependent, premise, stated in self.edges
                if (stated or possible)
                and (premise in reached or (premise in self.bad and not self.quotes(dependent, premise)))
            }
            if more <= reached:
                return reached
            reached |= more
