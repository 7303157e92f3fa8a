"""One slot as it is read: its head, its statements as the rule sees them, and their texts."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from tether_streams.core.belief import Statement

from tether_projections.slots import STATEMENT, SlotHead, judge, statement_of
from tether_projections.state import State
from tether_projections.store import ViewStore

HEAD = "slot, namespace, scope, subject, predicate, many, verdict, rests, object"


@dataclass(slots=True)
class SlotView:
    """A slot with its statements; `ids` and `values` (JSON, None when erased) are by the statement's node."""

    head: SlotHead
    statements: list[Statement] = field(default_factory=list[Statement])
    ids: dict[int, str] = field(default_factory=dict[int, str])
    values: dict[int, str | None] = field(default_factory=dict[int, str | None])

    @property
    def latest_us(self) -> int:
        """The slot's latest observation: `now` is never before it."""
        return max(one.observed_us for one in self.statements)


def view_slots(store: ViewStore, state: State, slots: Iterable[int]) -> list[SlotView]:
    """Stored slots with their statements, by slot id."""
    wanted = sorted(set(slots))
    found: dict[int, SlotView] = {}
    for row in store.where(HEAD, "memory", "slot", wanted):
        found[int(row[0])] = SlotView(SlotHead(int(row[0]), b"", *row[1:]))
    for row in store.where(f"{STATEMENT}, assertion_id, value", "assertion", "slot", list(found)):
        one, view = statement_of(row), found[int(row[0])]
        judge(state, one)
        view.statements.append(one)
        view.ids[one.node] = row[-2]
        view.values[one.node] = None if one.erased else row[-1]
    return [found[slot] for slot in sorted(found)]
