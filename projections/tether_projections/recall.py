"""What memory holds for a slot, as one reader sees it (design, part 2, E; readings 10 to 12).

The rule runs over everything; what a reader may not see is left out afterwards, and where that leaves none of the held
value's statements the answer is that of a slot of which nothing was ever said.
"""

from dataclasses import dataclass
from typing import Any, cast

import orjson
from tether_schemas.answers import Alternative, Answer, Coverage, EvidenceId, Status
from tether_schemas.canonical import canonical_json
from tether_schemas.times import us_text
from tether_streams.core.belief import Served, Statement, serve

from tether_projections.reader import Asked, Reader
from tether_projections.slotview import SlotView
from tether_projections.snapshot import coverage, fails
from tether_projections.state import State
from tether_projections.store import Row

POINT = "single, status, failed, value, assertion_id, source, id, support, complete, object"
BEST_FIRST: tuple[Status, ...] = (
    "current", "withdrawn", "disputed", "tombstoned", "expired", "invalidated", "pending", "unknown",
)  # fmt: skip
REASONS: dict[Status, str] = {
    "current": "current: nothing that it rests on has failed",
    "withdrawn": "withdrawn: something that it rests on has failed; see why()",
    "disputed": "disputed: issuers of equal standing say different values; see alternatives",
    "tombstoned": "tombstoned: what stated the held value was deleted",
    "expired": "expired: every statement of the held value has passed its expiry",
    "invalidated": "invalidated: every statement ever made here was declared wrong",
    "pending": "pending: it waits for review",
    "unknown": "unknown: nothing is asserted",
}
HELD_FALSE = "current: a verdict of false holds"
THREATENED = "current, but threatened: a failure reaches it if possible premises count; see why()"


@dataclass(slots=True)
class Seen:
    """One slot's answer as one reader sees it; without `served` it is as if nothing was ever said there."""

    status: Status
    served: Served | None = None
    shown: Statement | None = None
    value: Any = None
    evidence: tuple[EvidenceId, ...] = ()
    alternatives: tuple[Alternative, ...] = ()
    coverage: Coverage = "unknown"
    at_us: int = 0

    @property
    def hidden(self) -> bool:
        """Whether the reader may see none of what decides."""
        return self.served is None

    @property
    def is_false(self) -> bool:
        """Whether a false verdict is held."""
        return self.served is not None and self.served.is_false


def see(state: State, view: SlotView, reader: Reader, at_us: int) -> Seen:
    """The answer of a slot at a time."""
    served = serve(view.statements, view.head.verdict, at_us, lambda one: fails(state, view.head, one))
    alternatives = tuple(_alternatives(view, served, reader))
    hidden = Seen("unknown", alternatives=alternatives, at_us=at_us)
    held = [one for one in served.belief.standing if one.value_key in served.belief.held]
    if not any(reader.may_see(one.readers) for one in held or view.statements):
        return hidden
    seen = Seen(served.status, served, alternatives=alternatives, at_us=at_us)
    if served.shown is None:
        return seen
    shown = _shown(served, reader, at_us)
    if shown is None:
        return hidden
    seen.shown = shown
    if served.status == "current":
        seen.value = orjson.loads(view.values[shown.node] or "null")
    seen.evidence = evidence_of(one for one in _best_first(held) if reader.may_see(one.readers))
    seen.coverage = cast(Coverage, coverage(state, view.head, served.supports, served.shown, served.is_false))
    return seen


def _best_first(statements: list[Statement]) -> list[Statement]:
    return sorted(statements, key=lambda one: one.rank, reverse=True)


def candidates(served: Served, at_us: int) -> list[Statement]:
    """The statements of which the best is shown (readings, 10)."""
    holding = served.belief.holding()
    kept = [one for one in holding if not one.erased]
    match served.status:
        case "current":
            return served.supports
        case "withdrawn":
            return [one for one in kept if one.expires_us is None or at_us < one.expires_us]
        case "expired":
            return kept
        case _:
            return holding


def _shown(served: Served, reader: Reader, at_us: int) -> Statement | None:
    """The best statement that the reader may see: of the candidates, else any of the held value that is not erased."""
    rest = [one for one in served.belief.holding() if not one.erased]
    for pool in (candidates(served, at_us), rest):
        visible = [one for one in pool if reader.may_see(one.readers)]
        if visible:
            return max(visible, key=lambda one: one.rank)
    return None


def _alternatives(view: SlotView, served: Served, reader: Reader) -> list[Alternative]:
    """The best visible statement of each value that is standing and not served; what is erased is not shown."""
    belief = served.belief
    listed = set(belief.held) if len(belief.held) == 1 else set[str]()
    found: list[Alternative] = []
    for one in _best_first(belief.standing):
        if one.value_key in listed or one.erased or not reader.may_see(one.readers):
            continue
        listed.add(one.value_key)
        value = orjson.loads(view.values[one.node] or "null")
        found.append(Alternative(value, belief.stances[one.node], view.ids[one.node], EvidenceId(one.source, one.id)))
    return found


def evidence_of(statements: Any) -> tuple[EvidenceId, ...]:
    """The evidence of statements, each once, in their order."""
    return tuple(dict.fromkeys(EvidenceId(one.source, one.id) for one in statements))


def answer_of(view: SlotView, seen: Seen, reason: str | None = None) -> Answer:
    """The answer of one slot; `reason` where the plain sentence of its status is not enough."""
    shown = seen.shown
    return Answer(
        seen.value,
        seen.status,
        reason or plain_reason(seen),
        None if shown is None else view.ids[shown.node],
        seen.evidence,
        seen.alternatives,
        seen.coverage,
        "",
    )


def plain_reason(seen: Seen) -> str:
    """A sentence that needs no look at the graph."""
    if seen.is_false and seen.status == "current":
        return HELD_FALSE
    if seen.coverage == "threatened":
        return THREATENED
    if seen.status == "unknown" and seen.served is not None:
        return f"unknown: no statement is valid at {us_text(seen.at_us)}; see history()"
    return REASONS[seen.status]


def single_answer(state: State, row: Row) -> tuple[Answer, int]:
    """The answer of a slot of one plain statement, from its POINT row, and the node that withdraws it (else 0)."""
    _, status, failed, value, assertion, source, identifier, support, complete, _ = row
    known: Coverage = "complete" if complete else "unknown"
    reason, withdrawn_by = REASONS[status], 0
    if status == "current":
        if failed:
            reason = HELD_FALSE
        elif support and state.is_down[support]:
            status, withdrawn_by, reason = "withdrawn", int(support), REASONS["withdrawn"]
        elif support and state.threatens(int(support)):
            known, reason = "threatened", THREATENED
    served = orjson.loads(value) if status == "current" and value is not None else None
    evidence = () if assertion is None else (EvidenceId(source, identifier),)
    return Answer(served, status, reason, assertion, evidence, (), known, ""), withdrawn_by


def many_answer(views: list[tuple[SlotView, Seen]]) -> Answer:
    """The answer of a predicate of many values (readings, 12)."""
    statuses: list[Status] = [seen.status for _, seen in views]
    status: Status = min(statuses, key=BEST_FIRST.index)
    chosen = [(view, seen) for view, seen in views if seen.status == status]
    if status == "current":
        chosen.sort(key=lambda one: canonical_json(one[1].value))
    evidence = tuple(dict.fromkeys(named for _, seen in chosen for named in seen.evidence))
    if status != "current":
        return Answer(None, status, plain_reason(chosen[0][1]), None, evidence, (), "unknown", "")
    coverages = {seen.coverage for _, seen in chosen}
    worst: Coverage = "threatened" if "threatened" in coverages else "unknown" if "unknown" in coverages else "complete"
    reason = f"current: {len(chosen)} of {len(views)} values are"
    return Answer([seen.value for _, seen in chosen], status, reason, None, evidence, (), worst, "")


def unknown_answer(asked: Asked, hint: str) -> Answer:
    """The answer where nothing was ever asserted, or nothing that the reader may see."""
    scope = f" in scope {asked.scope!r}" if asked.scope else ""
    reason = f"unknown: nothing is asserted of {asked.subject} {asked.predicate}{scope}{hint}"
    return Answer(None, "unknown", reason, None, (), (), "unknown", "")
