"""The whole rule (design, part 2), naively, over the set of facts: what every implementation of it must agree with.

Everything is computed anew from the whole set, layer by layer, each a plain reading of its sentences and of
docs/decisions/0002: A, C and D in oracle_rule.py, B in oracle_slots.py, E here. It shares no code with the engine.
For histories of some dozens of events.
"""

import hashlib
from collections.abc import Iterator
from typing import Any, NamedTuple

from tether_schemas.canonical import canonical_json
from tether_schemas.facts import AdvisoryIssued, EvidenceRecorded
from tether_schemas.refs import evidence_text
from tether_schemas.subjects import parse_subject

from tests.oracle_rule import Cause, Rule
from tests.oracle_slots import Belief, Node, Said, Slot, belief, stance

BEST_FIRST = ("current", "withdrawn", "disputed", "tombstoned", "expired", "invalidated", "pending", "unknown")


class Recalled(NamedTuple):
    """What `recall` answers; `alternatives` are (value, stance, assertion) of the other standing values, best first."""

    status: str
    value: Any = None
    coverage: str = "unknown"
    assertion: str | None = None
    alternatives: tuple[tuple[Any, str, str], ...] = ()


class Oracle(Rule):
    """The rule over the records that one namespace sees: its own and those of `*`."""

    def recall(self, subject: str, predicate: str, scope: str = "", valid_at_us: int | None = None) -> Recalled:
        """The answer of one slot, or for a predicate of many values the list of its current ones."""
        text = parse_subject(subject, self.versioned).text
        slots = sorted(slot for slot in self.beliefs if slot[:3] == (scope, text, predicate))
        answers = [self.answer(slot, valid_at_us) for slot in slots] or [Recalled("unknown")]
        if not self.policy.predicate(predicate).many:
            return answers[0]
        best = min((answer.status for answer in answers), key=BEST_FIRST.index)
        if best != "current":
            return Recalled(best)
        current = [answer for answer in answers if answer.status == "current"]
        coverages = {answer.coverage for answer in current}
        coverage = "threatened" if "threatened" in coverages else "unknown" if "unknown" in coverages else "complete"
        return Recalled(best, [answer.value for answer in current], coverage)

    def answer(self, slot: Slot, valid_at_us: int | None = None) -> Recalled:
        """The answer of one slot; by default at the namespace's latest event or the slot's latest observation."""
        at_us = self.asked_us(slot) if valid_at_us is None else valid_at_us
        now = self._now(slot, at_us)
        other = tuple(self._alternatives(now))
        if not now.present:
            return Recalled("unknown" if any(said.counts for said in self.of(slot)) else "invalidated")
        if len(now.held) > 1:
            return Recalled("disputed", alternatives=other)
        held = [said for said in now.standing if said.value_key in now.held]
        whole = [said for said in held if said.id not in self.erased]
        fresh = [said for said in whole if not said.expired(at_us)]
        good = [said for said in fresh if said.node not in self.reached]  # a verdict also rests on its subject-version
        failed = held[0].rules.verdict and held[0].fact.value is False
        if not whole:
            return self._shown("tombstoned", held, other)
        if not fresh:
            return self._shown("expired", whole, other)
        if failed:
            return self._shown("current", whole, other)
        if not good:
            return self._shown("withdrawn", fresh, other)
        shown = self._shown("current", good, other)
        return shown._replace(coverage="threatened") if all(said.node in self.threatened for said in good) else shown

    def asked_us(self, slot: Slot) -> int:
        """The time that a slot is read at where none is asked for."""
        return max(self.now_us, *(said.observed_us for said in self.of(slot)))

    def _now(self, slot: Slot, at_us: int) -> Belief:
        return belief([said for said in self.of(slot) if said.valid(at_us)])

    def _shown(self, status: str, said: list[Said], other: tuple[tuple[Any, str, str], ...]) -> Recalled:
        best = max(said, key=Said.shown_rank)
        complete = any(one.fact.premises_complete for one in (said if status == "current" else [best]))
        value = best.fact.value if status == "current" else None
        return Recalled(status, value, "complete" if complete else "unknown", best.id, other)

    def _alternatives(self, now: Belief) -> Iterator[tuple[Any, str, str]]:
        listed = set(now.held) if len(now.held) == 1 else set[str]()
        for said in sorted(now.standing, key=Said.shown_rank, reverse=True):
            if said.value_key not in listed and said.id not in self.erased:
                listed.add(said.value_key)
                yield said.fact.value, stance(said, now), said.id

    def why_causes(self, subject: str, predicate: str, scope: str = "") -> set[tuple[str, str, int]]:
        """(kind, node, distance) of each cause that withdraws the slot, at its shortest distance from the subject."""
        own: Node = ("object", parse_subject(subject, self.versioned).text)
        start = [
            said.node for slot in self.beliefs if slot[:3] == (scope, own[1], predicate) for said in self._down(slot)
        ]
        if any((node, own, True) in self.edges for node in start):
            start.append(own)
        distances: dict[Node, int] = dict.fromkeys(start, 0)
        found: dict[tuple[str, Node], int] = {}
        if own in start:
            found = {(self._kind(cause), own): 0 for cause in self.bad.get(own, ())}
        for dependent in start:  # grows while it is walked, nearest first
            distance = distances[dependent] + 1
            for _, premise, _ in sorted(edge for edge in self.edges if edge[0] == dependent and edge[2]):
                if premise in self.bad and not self.quotes(dependent, premise):
                    for cause in self.bad[premise]:
                        found.setdefault((self._kind(cause), premise), distance)
                if premise not in distances:
                    distances[premise] = distance
                    start.append(premise)
        return {
            (kind, evidence_text(*node[1:]) if node[0] == "evidence" else node[1], distance)
            for (kind, node), distance in found.items()
        }

    def _down(self, slot: Slot) -> list[Said]:
        """The statements that a slot which is withdrawn would be served by."""
        at_us = self.asked_us(slot)
        now = self._now(slot, at_us)
        held = [said for said in now.standing if said.value_key in now.held and said.id not in self.erased]
        return [said for said in held if not said.expired(at_us) and self.answer(slot).status == "withdrawn"]

    def _kind(self, cause: Cause) -> str:
        formats = {(record.source, fact.advisory_id, fact.format) for record, fact in self.facts[AdvisoryIssued]}
        return "revocation" if cause[0] == "advisory" and (*cause[1:], "osv") not in formats else cause[0]

    def flags(self, said: Said) -> list[bool]:
        """Whether an assertion is erased, reached and threatened."""
        return [said.id in self.erased, said.node in self.reached, said.node in self.threatened]

    def snapshot(self) -> list[list[Any]]:
        """The rows of docs/decisions/0002, sorted by their canonical JSON."""
        rows: list[list[Any]] = []
        for slot in self.beliefs:
            answer, made = self.answer(slot), self.of(slot)
            erased = all(said.id in self.erased for said in made)
            key = None if erased and made[0].rules.many else slot[3]
            rows.append(["memory", *slot[:3], key, answer.status, answer.value, answer.coverage, answer.assertion])
        for said in self.said.values():
            rows.append(["assertion", said.id, self.stance(said), *self.flags(said)])
        for node in (node for node in self.bad.keys() | self.threatened if node[0] == "object"):
            causes = sorted(list(cause) for cause in self.bad.get(node, ()))
            rows.append(["object", node[1], causes, node in self.reached, node in self.threatened])
        for record, fact in self.facts[EvidenceRecorded]:
            causes = self.bad.get(("evidence", record.source, record.id), set[Cause]())
            flags = [("invalidated",) in causes, ("tombstoned",) in causes]
            rows.append(["evidence", record.source, record.id, fact.kind, *flags])
        return sorted(rows, key=canonical_json)

    def digest(self) -> str:
        """SHA-256 of the snapshot's rows as canonical JSON, one per line."""
        return hashlib.sha256(b"".join(canonical_json(row) + b"\n" for row in self.snapshot())).hexdigest()
