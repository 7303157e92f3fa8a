"""Named reads of one view (design, part 3): hard filters first, each bounded, none changes anything."""

from dataclasses import replace

import orjson
from tether_schemas.answers import Answer, Change, Covered, Dependent, EvidenceId, Statement, StoreStatus, Why
from tether_schemas.errors import BadNamespace
from tether_schemas.refs import EvidenceRef
from tether_schemas.targets import DeletionTarget

from tether_projections.covered import Coverage
from tether_projections.dependents import DEPENDENTS_MAX, Dependents
from tether_projections.engine import Engine
from tether_projections.explain import Explainer, Sentences
from tether_projections.governance import PUBLIC
from tether_projections.keys import digest, slot_key
from tether_projections.listing import EvidenceView, History, counts, evidence_view
from tether_projections.outbox import Outbox
from tether_projections.reader import Asked, Reader, asked
from tether_projections.recall import (
    POINT,
    Seen,
    answer_of,
    candidates,
    many_answer,
    see,
    single_answer,
    unknown_answer,
)
from tether_projections.slots import decider
from tether_projections.slotview import SlotView, view_slots
from tether_projections.state import State, objects_named
from tether_projections.store import ViewStore

OWN = ("tombstoned", "invalidated")  # statuses that the statements' own badness makes
HINTS_MAX = 8  # names that a hint lists

__all__ = ["EvidenceView", "Queries", "Reader"]


class Queries:
    """Reads one view. Like the store, not safe for use by two threads at once."""

    def __init__(self, store: ViewStore, engine: Engine) -> None:
        self._store = store
        self._engine = engine
        self._sentences = Sentences(store)
        self._used: set[str] = set()  # namespaces that are known to have an event

    @property
    def _state(self) -> State:
        return self._engine.state

    def recall(
        self,
        reader: Reader,
        subject: str,
        predicate: str,
        *,
        scope: str = "",
        valid_at_us: int | None = None,
        now_us: int,
    ) -> Answer:
        """What memory holds for one slot at a time (None: at `now_us`, and never before its latest observation).

        Raises BadRequest when subject, predicate or scope is no name. `position` is left to the caller.
        """
        one = asked(self._state, reader, subject, predicate, scope)
        if self._many(one):
            return self._recall_many(one, valid_at_us, now_us)
        slot = self._slot(one)
        rows = self._store.where(POINT, "memory", "slot", [slot]) if slot else []
        if not rows:
            return self._unknown(one)
        if rows[0][0] and valid_at_us is None:
            answer, withdrawn_by = single_answer(self._state, rows[0])
            return self._told(one, answer, int(rows[0][-1]), {withdrawn_by}) if withdrawn_by else answer
        view, seen = self._see(one, [slot], valid_at_us, now_us)[0]
        if seen.hidden:
            return replace(self._unknown(one), alternatives=seen.alternatives)
        answer = answer_of(view, seen)
        deciders = self._deciders(view, seen)
        return self._told(one, answer, view.head.object, deciders) if seen.status == "withdrawn" else answer

    def _told(self, one: Asked, answer: Answer, about: int, deciders: set[int]) -> Answer:
        """The answer with its nearest cause as reason, where one may be seen."""
        reason = self._sentences.told(self._state, one.reader, about, deciders)
        return answer if reason is None else replace(answer, reason=reason)

    def _many(self, one: Asked) -> bool:
        return self._state.policies.of(one.reader.namespace).predicate(one.predicate).many

    def _slot(self, one: Asked) -> int:
        about = self._state.keys.get(digest("object", one.reader.namespace, one.subject))
        return self._state.keys.get(slot_key(about, one.scope, one.predicate)) if about else 0

    def _slots(self, one: Asked) -> list[int]:
        """The slots of a predicate: one, or one for each value."""
        if not self._many(one):
            slot = self._slot(one)
            return [slot] if slot else []
        about = self._state.keys.get(digest("object", one.reader.namespace, one.subject))
        rows = self._store.rows(
            "SELECT slot FROM memory WHERE object = ? AND predicate = ? AND scope = ?",
            [about, one.predicate, one.scope],
        )
        return [int(row[0]) for row in rows]

    def _see(self, one: Asked, slots: list[int], valid_at_us: int | None, now_us: int) -> list[tuple[SlotView, Seen]]:
        found: list[tuple[SlotView, Seen]] = []
        for view in view_slots(self._store, self._state, slots):
            at_us = max(now_us, view.latest_us) if valid_at_us is None else valid_at_us
            found.append((view, see(self._state, view, one.reader, at_us)))
        return found

    def _deciders(self, view: SlotView, seen: Seen) -> set[int]:
        """The nodes whose support decides over what is shown."""
        deciding = [] if seen.served is None else candidates(seen.served, seen.at_us)
        return {decider(self._state, view.head, each.node) for each in deciding} - {0}

    def _recall_many(self, one: Asked, valid_at_us: int | None, now_us: int) -> Answer:
        seen = self._see(one, self._slots(one), valid_at_us, now_us)
        known = [each for each in seen if not each[1].hidden]
        return many_answer(known) if known else self._unknown(one)

    def why(
        self, reader: Reader, subject: str, predicate: str, scope: str, now_us: int, valid_at_us: int | None = None
    ) -> Why:
        """The answer of a slot, and the shortest path to each of its causes (ties by name); at most CAUSES_MAX.

        A withdrawn or threatened answer has the failures that reach it, a tombstoned or invalidated one the deletions
        and decisions, any other none. Raises BadRequest as `recall`.
        """
        one = asked(self._state, reader, subject, predicate, scope)
        answer = self.recall(reader, subject, predicate, scope=scope, valid_at_us=valid_at_us, now_us=now_us)
        explainer = Explainer(self._store, self._state, reader)
        withdrawn, threatened, own = set[int](), set[int](), list[int]()
        about = self._state.keys.get(digest("object", reader.namespace, one.subject))
        for view, seen in self._see(one, self._slots(one), valid_at_us, now_us):
            if seen.status == "withdrawn":
                withdrawn |= self._deciders(view, seen)
            elif seen.coverage == "threatened":
                threatened |= self._deciders(view, seen)
            elif seen.served is not None and seen.status == answer.status and seen.status in OWN:
                own += [each.node for each in candidates(seen.served, seen.at_us) or view.statements]
        causes = explainer.causes(about, withdrawn, threatened) if withdrawn | threatened else []
        return Why(one.subject, predicate, scope, answer, tuple(causes + explainer.own(own)))

    def dependents(self, reader: Reader, subject: str | EvidenceRef, *, limit: int = DEPENDENTS_MAX) -> list[Dependent]:
        """Everything that derives from a subject (without its version: from any version), an assertion, or evidence.

        Nearest first, then by path, which begins with the dependent and ends with what was asked for.
        """
        return Dependents(self._store, self._state, reader).of(subject, limit)

    def history(
        self, reader: Reader, subject: str, predicate: str, scope: str, valid_at_us: int | None = None
    ) -> list[Statement]:
        """Every statement of a slot that the reader may see, in statement order: current or not, it is not served.
        With `valid_at_us` those valid then, each as it stands among them."""
        one = asked(self._state, reader, subject, predicate, scope)
        views = view_slots(self._store, self._state, self._slots(one))
        return History(self._store, self._state, reader).of(views, valid_at_us)

    def changes(self, reader: Reader | None, since_seq: int, limit: int) -> list[Change]:
        """What changed after `since_seq`, oldest first. None reads every namespace, for the operator alone."""
        return Outbox(self._store, self._state, reader).since(since_seq, limit)

    def get(self, reader: Reader, source: str, id: str, namespace: str = "") -> EvidenceView | None:
        """What is recorded of one piece of evidence of the reader's namespace, or of `*`; its payload is the log's."""
        if namespace not in ("", reader.namespace, PUBLIC):
            raise BadNamespace(f"{namespace!r:.80} is not the reader's")
        return evidence_view(self._store, self._state, reader, EvidenceId(source, id, namespace))

    def covered(self, reader: Reader, target: DeletionTarget, until_us: int | None) -> Covered:
        """What a deletion of a target covers, of evidence with a time up to `until_us` (None: of any time)."""
        return Coverage(self._store, self._state, reader).of(target, until_us)

    def namespaces(self) -> list[str]:
        """Every namespace that has an event, but for `*`; for the operator alone."""
        query = "SELECT DISTINCT namespace FROM evidence WHERE namespace <> ? ORDER BY namespace"
        return [row[0] for row in self._store.rows(query, [PUBLIC])]

    def status(self, namespace: str | None) -> StoreStatus:
        """Counts of a namespace, or of the whole view; positions, generation and dead letters are the caller's."""
        return counts(self._store, namespace)

    def _unknown(self, one: Asked) -> Answer:
        return unknown_answer(one, self._hint(one))

    def _hint(self, one: Asked) -> str:
        """What is on record, and may be seen, close to a slot of which nothing is."""
        predicates = self._predicates(one, self._state.keys.get(digest("object", one.reader.namespace, one.subject)))
        if predicates:
            return f"; asserted of this subject: {_list(predicates)}"
        named = self._state.policies.subject(one.reader.namespace, one.subject)
        found = objects_named(self._store, self._state, {named.base})
        near = sorted(each.subject.text for each in found if each.namespace == one.reader.namespace)
        seen = [text for text in near if text != one.subject and self._any_visible(one, text)]
        if seen:
            return f"; on record are {_list(seen)}"
        namespace = one.reader.namespace
        return "" if self._is_used(namespace) else f"; nothing was ever appended to namespace {namespace}"

    def _is_used(self, namespace: str) -> bool:
        """Whether a namespace has an event; it is asked once, since none is ever taken away."""
        query = "SELECT 1 FROM evidence WHERE namespace = ? LIMIT 1"
        if namespace not in self._used and self._store.rows(query, [namespace], "evidence"):
            self._used.add(namespace)
        return namespace in self._used

    def _any_visible(self, one: Asked, text: str) -> bool:
        return bool(self._predicates(one, self._state.keys.get(digest("object", one.reader.namespace, text))))

    def _predicates(self, one: Asked, about: int) -> list[str]:
        if not about:
            return []
        rows = self._store.rows(
            "SELECT DISTINCT m.predicate, m.scope, s.readers FROM memory AS m JOIN assertion AS s USING (slot) "
            "WHERE m.object = ?",
            [about],
        )
        seen = [row for row in rows if one.reader.may_see(None if row[2] is None else orjson.loads(row[2]))]
        return sorted({f"{name} (scope {scope!r})" if scope else name for name, scope, _ in seen})


def _list(names: list[str]) -> str:
    more = f" and {len(names) - HINTS_MAX} more" if len(names) > HINTS_MAX else ""
    return ", ".join(names[:HINTS_MAX]) + more
