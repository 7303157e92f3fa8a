"""Why a node is bad in itself, in words, with the evidence that says so (I-9)."""

from collections.abc import Iterator
from dataclasses import dataclass

import orjson
from tether_schemas.answers import CauseKind, EvidenceId
from tether_streams.core.belief import Belief, Statement, believe

from tether_projections.governance import PUBLIC
from tether_projections.names import Names
from tether_projections.reader import Reader
from tether_projections.rulings import Rulings
from tether_projections.slotview import SlotView, view_slots
from tether_projections.state import ASSERTION_KIND, OBJECT_KIND, State
from tether_projections.store import ViewStore

DELETED = "by what has been deleted since"


@dataclass(frozen=True, slots=True)
class Reason:
    """One reason why a node is bad. `visible` is false where the reader may not see what says so."""

    kind: CauseKind
    detail: str
    evidence: EvidenceId | None
    visible: bool = True


class Reasons:
    """Names why nodes are bad, for one reader."""

    def __init__(self, store: ViewStore, state: State, reader: Reader, names: Names) -> None:
        self._store = store
        self._state = state
        self._reader = reader
        self._names = names
        self._rulings = Rulings(store, state, names)

    def of(self, node: int) -> list[Reason]:
        """Every reason why a node is bad, sorted."""
        found = [*self._object(node), *self._content(node)]
        return sorted(found, key=lambda one: (one.kind, one.detail, str(one.evidence)))

    def _object(self, node: int) -> Iterator[Reason]:
        for kind, ref in self._state.causes.get(node, ()):
            match kind:
                case "advisory" | "revocation":
                    yield self._advisory(kind, ref)
                case "failed":
                    yield self._failed(ref)
                case _:
                    yield self._higher(node, ref)

    def _advisory(self, kind: CauseKind, ref: int) -> Reason:
        revision = self._state.advisories.by_node[ref]
        fact, origin = revision.fact, revision.origin
        aliases = f" ({', '.join(fact.aliases)})" if fact.aliases else ""
        summary = f": {fact.summary}" if fact.summary else ""
        namespace = PUBLIC if origin.namespace == PUBLIC else ""
        if revision.evidence in self._state.erased:  # a ghost: it counts, what it said is not shown
            aliases, summary = "", f": {DELETED}"
        return Reason(kind, f"{fact.advisory_id}{aliases}{summary}", EvidenceId(origin.source, origin.id, namespace))

    def _failed(self, ref: int) -> Reason:
        rows = self._store.where("slot, issuer, readers", "assertion", "a", [ref])
        slot, issuer, readers = rows[0]
        predicate, scope = self._store.where("predicate, scope", "memory", "slot", [int(slot)])[0]
        where = f" in scope {scope!r}" if scope else ""
        visible = self._reader.may_see(None if readers is None else orjson.loads(readers))
        says = DELETED if ref in self._state.erased else f"{predicate} is false{where}, says {issuer}"
        return Reason("failed", says, self._names[ref].evidence, visible)

    def _higher(self, node: int, ref: int) -> Reason:
        """A higher version passes: by the least evidence of a true verdict that holds on it."""
        rows = self._store.rows("SELECT slot FROM memory WHERE object = ? AND verdict AND NOT failed", [ref])
        says: list[Statement] = []
        for view in view_slots(self._store, self._state, [int(row[0]) for row in rows]):
            says += self._belief(view).holding()
        visible = sorted(
            (EvidenceId(one.source, one.id) for one in says if self._reader.may_see(one.readers)),
            key=lambda named: (named.source, named.id),
        )
        higher, lower = self._names.text(ref), self._names.text(node)
        detail = is_above(higher, lower)
        if all(one.erased for one in says):
            detail = f"{higher} is above {lower}, {DELETED}"
        return Reason("higher_version", detail, visible[0] if visible else None, bool(visible))

    @staticmethod
    def _belief(view: SlotView) -> Belief:
        return believe([one for one in view.statements if not one.interval], view.head.verdict)

    def _content(self, node: int) -> Iterator[Reason]:
        state = self._state
        kind = state.kinds[node]
        if kind == OBJECT_KIND:
            return
        if self._rulings.gone(node):
            yield self._tombstoned(node)
        if node in state.invalid:
            yield self._invalidated(node)
        elif kind == ASSERTION_KIND and state.badness.soft[node]:
            yield self._stance(node)

    def _tombstoned(self, node: int) -> Reason:
        found = self._rulings.deletion(node)
        return Reason("tombstoned", "deleted", None) if found is None else Reason("tombstoned", *found)

    def _invalidated(self, node: int) -> Reason:
        found = self._rulings.decision(node)
        if found is not None:
            return Reason("invalidated", *found)
        return Reason("invalidated", "its predicate's policy makes it impossible", self._rulings.policy(node))

    def _stance(self, node: int) -> Reason:
        """Superseded, outranked or disputed: by which statement."""
        slot = int(self._store.where("slot", "assertion", "a", [node])[0][0])
        view = view_slots(self._store, self._state, [slot])[0]
        belief = self._belief(view)
        one = next(each for each in view.statements if each.node == node)
        stance = belief.stances[node]
        if stance == "superseded":
            by = max((other for other in view.statements if succeeds(other, one)), key=lambda other: other.order)
            return self._by(view, by, "superseded", "its issuer stated otherwise later")
        others = [other for other in belief.standing if other.value_key in belief.held and other is not one]
        rivals = [other for other in others if other.value_key != one.value_key]
        by = max(rivals, key=lambda other: other.rank)
        if stance == "disputed":
            return self._by(view, by, "disputed", "issuers of equal standing disagree")
        return self._by(view, by, "outranked", "another value is held")

    def _by(self, view: SlotView, by: Statement, kind: CauseKind, why: str) -> Reason:
        visible = self._reader.may_see(by.readers)
        return Reason(kind, f"{why}: {view.ids[by.node]}", EvidenceId(by.source, by.id), visible)


def is_above(higher: str, lower: str) -> str:
    """Why a version is bad once a higher one of its subject passes."""
    return f"{higher} passes, which is above {lower}"


def succeeds(later: Statement, earlier: Statement) -> bool:
    """Whether a statement supersedes another: its issuer's, later, of another value, of no lower authority."""
    return (
        later.counts
        and not later.interval
        and later.issuer == earlier.issuer
        and later.order > earlier.order
        and later.authority >= earlier.authority
        and later.value_key != earlier.value_key
    )
