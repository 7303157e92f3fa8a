"""Layer B of the rule (design, part 2) for the oracle: the statements of one slot, without looking at support."""

from collections import defaultdict
from dataclasses import dataclass
from typing import Any, NamedTuple

from tether_schemas.facts import Asserted
from tether_schemas.policy import MODE_RANK, PredicatePolicy
from tether_schemas.subjects import Subject
from tether_schemas.times import time_us

Node = tuple[str, ...]  # ("object", subject), ("assertion", id) or ("evidence", source, id)
Slot = tuple[str, str, str, str]  # scope, subject, predicate, and the value where each value has a slot of its own
Issuer = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Said:
    """One assertion on record, with what the policy makes of it."""

    fact: Asserted
    source: str
    event: str
    subject: Subject
    rules: PredicatePolicy
    issuer: Issuer
    authority: int
    observed_us: int
    value_key: str
    slot: Slot
    counts: bool
    premises: frozenset[tuple[Node, bool]]  # (premise, stated), with those of links that count
    on_record: frozenset[tuple[Node, bool]]  # and with those of links that do not

    @property
    def retold(self) -> bool:
        """Whether it has a stated content premise."""
        return any(stated and node[0] != "object" for node, stated in self.premises)

    @property
    def id(self) -> str:
        return self.fact.assertion_id

    @property
    def node(self) -> Node:
        return ("assertion", self.fact.assertion_id)

    @property
    def own_subject(self) -> Node:
        return ("object", self.subject.text)

    @property
    def order(self) -> tuple[int, str, str, int]:
        return self.observed_us, self.source, self.event, self.fact.place

    @property
    def pair(self) -> tuple[int, int]:
        return self.authority, MODE_RANK[self.fact.mode]

    @property
    def interval(self) -> bool:
        late = self.fact.valid_from is not None and time_us(self.fact.valid_from) > self.observed_us
        return self.fact.valid_to is not None or late

    def valid(self, at_us: int) -> bool:
        since = self.observed_us if self.fact.valid_from is None else time_us(self.fact.valid_from)
        return since <= at_us and (self.fact.valid_to is None or at_us < time_us(self.fact.valid_to))

    def expired(self, at_us: int) -> bool:
        return self.fact.expires_at is not None and time_us(self.fact.expires_at) <= at_us

    def shown_rank(self) -> tuple[Any, ...]:
        confidence = -1 if self.fact.confidence is None else self.fact.confidence
        return (*self.pair, self.observed_us, confidence, self.source, self.event, self.fact.place)


class Belief(NamedTuple):
    """What is superseded, present and standing among some statements of a slot, and what holds."""

    superseded: frozenset[str]
    present: list[Said]
    standing: list[Said]
    held: frozenset[str]  # one value key, or several when they are disputed, or none


def belief(statements: list[Said]) -> Belief:
    """B over these statements of one slot; the ones that do not count are left out."""
    counting = [said for said in statements if said.counts]
    superseded: set[str] = set()
    succeeded: set[str] = set()
    for one in counting:
        for other in counting:
            if other.issuer == one.issuer and other.order > one.order and other.authority >= one.authority:
                succeeded.add(one.id)
                if other.value_key != one.value_key:
                    superseded.add(one.id)
    present = [said for said in counting if said.id not in succeeded]
    standing = [said for said in counting if said.id not in superseded]
    verdict = bool(present) and present[0].rules.verdict
    held = _holding_verdict(present) if verdict else _holding_value(standing)
    return Belief(frozenset(superseded), present, standing, held)


def _holding_verdict(present: list[Said]) -> frozenset[str]:
    for said in present:
        if said.fact.value is False:
            later = [other for other in present if other.fact.value is True and other.order > said.order]
            if not any(other.authority > said.authority for other in later):
                return frozenset({"false"})
    return frozenset({"true"} if present else ())


def _holding_value(standing: list[Said]) -> frozenset[str]:
    best = max((said.pair for said in standing), default=None)
    issuers: dict[str, set[Issuer]] = defaultdict(set)
    for said in standing:
        if said.pair == best:
            issuers[said.value_key] |= set() if said.retold else {said.issuer}
    most = max((max(1, len(names)) for names in issuers.values()), default=0)
    return frozenset(value for value, names in issuers.items() if max(1, len(names)) == most)


def stance(said: Said, held: Belief) -> str:
    """How a statement stands to what holds in its slot."""
    if not said.counts:
        return "invalidated"
    if said.id in held.superseded:
        return "superseded"
    if said.value_key not in held.held:
        return "outranked"
    return "disputed" if len(held.held) > 1 else "standing"
