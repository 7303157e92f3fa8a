"""What derives from a subject, an assertion or evidence, near to far."""

from tether_schemas.answers import Dependent
from tether_schemas.errors import BadRequest
from tether_schemas.fields import given
from tether_schemas.refs import ASSERTION_ID, NO_ASSERTION, EvidenceRef, is_like_id

from tether_projections.keys import digest
from tether_projections.names import Names
from tether_projections.paths import Hop, Region, deriving, shortest
from tether_projections.reader import Reader, check_text, subject_text
from tether_projections.state import ASSERTION_KIND, OBJECT_KIND, State, objects_named
from tether_projections.store import ViewStore

DEPENDENTS_MAX = 100_000


class Dependents:
    """Walks from premises to what derives from them, for one reader.

    A verdict derives through its subject-version, which is listed for it; an assertion of another kind is listed
    itself, as is a verdict that derives from content.
    """

    def __init__(self, store: ViewStore, state: State, reader: Reader) -> None:
        self._store = store
        self._state = state
        self._reader = reader
        self._names = Names(store, state, reader)
        self._rests_on: dict[int, int] = {}
        self._verdicts: set[int] = set()

    def of(self, named: str | EvidenceRef, limit: int) -> list[Dependent]:
        """Everything that derives from what is named, nearest first, then by path; at most `limit`.

        A subject without its version means all its versions on record. Raises BadRequest for a bad subject or limit.
        """
        if not 0 < limit <= DEPENDENTS_MAX:
            raise BadRequest("limit", f"is a number from 1 to {DEPENDENTS_MAX}")
        names = self._names
        region = deriving(self._state, self._starts(named))
        for hop in self._resting(region):
            region.hops.setdefault(hop.premise, []).append(hop)
            self._rests_on[hop.dependent] = hop.premise
        names.fetch(region.nodes())
        self._note_verdicts(region)
        seen = Region([node for node in region.starts if names.sees(node)], region.hops)
        found = shortest(seen, names, self._may_follow, upstream=False).to
        starts = set(seen.starts)
        listed = [path for node, path in found.items() if node not in starts]
        return [self._dependent(path) for path in listed[:limit]]

    def _dependent(self, path: tuple[int, ...]) -> Dependent:
        texts = tuple(self._names.text(node) for node in reversed(path))
        is_down, node = self._state.is_down, path[-1]
        down = bool(is_down[node] or is_down[self._rests_on.get(node, node)])
        return Dependent(texts[0], len(path) - 1, down, texts)

    def _starts(self, named: str | EvidenceRef) -> list[int]:
        keys, namespace = self._state.keys, self._reader.namespace
        if isinstance(named, EvidenceRef):
            node = keys.get(digest("evidence", namespace, named.source, named.id))
            return [node] if node else []
        check_text("subject", named)
        if ASSERTION_ID.fullmatch(named):
            node = keys.get(digest("assertion", namespace, named))
            return [node] if node else []
        if is_like_id(named):
            raise BadRequest("subject", f"{given(named)} {NO_ASSERTION}")
        text = subject_text(self._state, self._reader, named)
        node = keys.get(digest("object", namespace, text))
        exact = [node] if node else []
        subject = self._state.policies.subject(namespace, text)
        if subject.version is not None:
            return exact
        near = objects_named(self._store, self._state, {subject.base})
        return exact + [one.node for one in near if one.namespace == namespace and one.subject.base == subject.base]

    def _resting(self, region: Region) -> list[Hop]:
        """Assertions that rest on a subject by policy; an edge stands only where they derive from more."""
        objects = sorted(node for node in region.nodes() if self._state.kinds[node] == OBJECT_KIND)
        rows = self._store.where("slot, object, verdict, rests", "memory", "object", objects)
        slots = {int(slot): int(about) for slot, about, verdict, rests in rows if rests and not verdict}
        made = [
            (int(node), slots[int(slot)])
            for slot, node in self._store.where("slot, a", "assertion", "slot", sorted(slots))
            if int(node) not in self._state.invalid
        ]
        return [Hop(node, about, node, node, False) for node, about in made]

    def _note_verdicts(self, region: Region) -> None:
        """Which assertions on an object are verdicts: they rest on their subject, which is listed for them."""
        kinds = self._state.kinds
        ends = {hop.dependent for node, hops in region.hops.items() if kinds[node] == OBJECT_KIND for hop in hops}
        slot_of = dict(
            self._store.where(
                "a, slot", "assertion", "a", [end for end in sorted(ends) if kinds[end] == ASSERTION_KIND]
            )
        )
        rows = self._store.where("slot, verdict", "memory", "slot", sorted(set(map(int, slot_of.values()))))
        verdict = {int(slot) for slot, is_verdict in rows if is_verdict}
        self._verdicts = {int(node) for node, slot in slot_of.items() if int(slot) in verdict}

    def _may_follow(self, hop: Hop) -> bool:
        if hop.dependent in self._verdicts and self._state.kinds[hop.premise] == OBJECT_KIND:
            return False
        return all(self._names.sees(node) for node in (hop.premise, hop.dependent, hop.via, hop.of))
