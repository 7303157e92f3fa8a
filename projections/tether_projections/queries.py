"""Named reads of one view (design, part 3): hard filters first, each bounded, none changes anything."""

from dataclasses import replace

import orjson
from tether_schemas.answers import Answer

from tether_projections.engine import Engine
from tether_projections.keys import digest
from tether_projections.reader import Asked, Reader, asked
from tether_projections.recall import POINT, Seen, answer_of, many_answer, see, single_answer, unknown_answer
from tether_projections.slotview import SlotView, view_slots
from tether_projections.state import State, objects_named
from tether_projections.store import ViewStore

HINTS_MAX = 8  # names that a hint lists

__all__ = ["Queries", "Reader"]


class Queries:
    """Reads one view. Like the store, not safe for use by two threads at once."""

    def __init__(self, store: ViewStore, engine: Engine) -> None:
        self._store = store
        self._engine = engine

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
        if self._state.policies.of(reader.namespace).predicate(predicate).many:
            return self._recall_many(one, valid_at_us, now_us)
        slot = self._slot(one)
        rows = self._store.rows(POINT, [slot]) if slot else []
        if not rows:
            return self._unknown(one)
        if rows[0][0] and valid_at_us is None:
            return single_answer(self._state, rows[0])[0]
        view, seen = self._see(one, slot, valid_at_us, now_us)
        if seen.status == "unknown" and seen.served is None:
            return replace(self._unknown(one), alternatives=seen.alternatives)
        return answer_of(view, seen)

    def _slot(self, one: Asked) -> int:
        return self._state.keys.get(digest("slot", one.reader.namespace, one.scope, one.subject, one.predicate, ""))

    def _see(self, one: Asked, slot: int, valid_at_us: int | None, now_us: int) -> tuple[SlotView, Seen]:
        view = view_slots(self._store, self._state, [slot])[0]
        at_us = max(now_us, view.latest_us) if valid_at_us is None else valid_at_us
        return view, see(self._state, view, one.reader, at_us)

    def _recall_many(self, one: Asked, valid_at_us: int | None, now_us: int) -> Answer:
        seen: list[tuple[SlotView, Seen]] = []
        for view in view_slots(self._store, self._state, self._slots_of(one)):
            at_us = max(now_us, view.latest_us) if valid_at_us is None else valid_at_us
            seen.append((view, see(self._state, view, one.reader, at_us)))
        known = [each for each in seen if each[1].status != "unknown" or each[1].served is not None]
        return many_answer(known) if known else self._unknown(one)

    def _slots_of(self, one: Asked) -> list[int]:
        """The slots of a predicate of many values, or the only one."""
        about = self._state.keys.get(digest("object", one.reader.namespace, one.subject))
        rows = self._store.rows(
            "SELECT slot FROM memory WHERE object = ? AND predicate = ? AND scope = ?",
            [about, one.predicate, one.scope],
        )
        return [int(row[0]) for row in rows]

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
        return f"; on record are {_list(seen)}" if seen else ""

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
