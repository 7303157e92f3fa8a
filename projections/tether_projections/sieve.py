"""Which records of a batch are plain: new evidence that says at most one thing, of which nothing but that follows.

A plain claim is of one value, valid without end, for everyone, and rests on objects alone. Whether it is about what is
bad or was said before is for the lane to see (lane.py), which looks at many at once.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from tether_schemas.facts import Asserted, EvidenceRecorded, FactRecord

from tether_projections.governance import Origin
from tether_projections.keys import Digest, slot_tail
from tether_projections.state import State

KINDS = ("tool_result", "transcript")

Mark = tuple[str, str, str, str, str, str]


@dataclass(frozen=True, slots=True)
class Manner:
    """What policy says of the claims of one issuer in one manner."""

    verdict: bool
    rests: bool
    authority: int
    issuer_key: str
    slot_tail: bytes
    unfit: frozenset[str]  # schemes whose subjects no such claim may have without a version
    retiring: frozenset[str]  # schemes of which such a claim may put a higher version on record


class Sieve:
    """Sorts records one by one; what it asks policy for is asked once."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._manners: dict[Mark, Manner | None] = {}
        decisions, deletions = state.decisions, state.deletions
        self._wary = decisions.any or deletions.any or bool(state.contested)

    def plain(self, records: Sequence[FactRecord], keys: Sequence[Digest]) -> list[int]:
        """The places of the records that may be plain; `keys` are those of their evidence."""
        known = self._state.keys.find(keys).tolist()
        if len(set(keys)) < len(keys):
            known = [node or times > 1 for node, times in zip(known, map(Counter(keys).__getitem__, keys), strict=True)]
        takes = self._takes
        return [place for place, record in enumerate(records) if not known[place] and takes(record)]

    def _takes(self, record: FactRecord) -> bool:
        facts = record.facts
        head = facts[0]
        if not isinstance(head, EvidenceRecorded) or head.kind not in KINDS or len(facts) > 2:
            return False
        if len(facts) == 1:
            return not (self._wary and self._touched(record, head, None))
        claim = facts[1]
        if not isinstance(claim, Asserted) or not self._is_simple(claim):
            return False
        manner = self.manner(record, claim)
        if manner is None or (manner.verdict and claim.value is not True) or (manner.rests and claim.premises):
            return False
        return not (self._wary and self._touched(record, head, claim))

    @staticmethod
    def _is_simple(claim: Asserted) -> bool:
        if claim.valid_from is not None or claim.valid_to is not None or claim.expires_at is not None:
            return False
        if claim.readers is not None or claim.possible:
            return False
        return all([ref.kind == "object" for ref in claim.premises])  # a list: twice as fast as a generator here

    def manner(self, record: FactRecord, claim: Asserted) -> Manner | None:
        """How policy reads a claim; None where it cannot be plain."""
        mark = (record.namespace, record.source, claim.issuer, claim.authority, claim.predicate, claim.scope)
        try:
            return self._manners[mark]
        except KeyError:
            made = self._manners[mark] = self._make(*mark)
            return made

    def _make(
        self, namespace: str, source: str, issuer: str, authority: str, predicate: str, scope: str
    ) -> Manner | None:
        policies = self._state.policies
        policy = policies.of(namespace)
        rules = policy.predicate(predicate)
        if rules.many:
            return None
        return Manner(
            rules.verdict,
            rules.rests_on_subject and not rules.verdict,
            policies.authority(namespace, source, authority),
            policies.issuer_key(namespace, source, issuer),
            slot_tail(scope, predicate),
            frozenset(name for name, one in policy.schemes.items() if rules.verdict and one.versioned),
            frozenset(name for name, one in policy.schemes.items() if rules.verdict and one.higher_version),
        )

    def _touched(self, record: FactRecord, head: EvidenceRecorded, claim: Asserted | None) -> bool:
        """Whether a decision, a deletion or another content is on record for it, as far as it is by name."""
        state = self._state
        if state.contested and (record.namespace, record.source, record.id) in state.contested:
            return True
        origin = Origin(record.namespace, record.source, record.id, record.time_us, head.session_id)
        if not state.decisions.counts(record.namespace, origin) or state.deletions.covers_evidence(origin):
            return True
        if claim is None:
            return False
        if not state.decisions.counts(record.namespace, origin, claim.assertion_id):
            return True
        return state.deletions.of_subjects and state.deletions.covers_subject(
            origin, state.policies.erasable(record.namespace, claim.subject)
        )
