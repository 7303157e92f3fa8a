"""Views built from records, and what they answer in the oracle's words."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, cast

from tether_projections.engine import Engine
from tether_projections.queries import Queries, Reader
from tether_projections.snapshot import snapshot
from tether_projections.store import ViewStore
from tether_schemas.answers import Answer
from tether_schemas.facts import FactRecord
from tether_schemas.times import time_us

from tests.oracle import Oracle, Recalled
from tests.records import HOME

ANA, BOB = "ana", "bob"


@dataclass
class View:
    """One view over records, and the time of the latest event of each namespace."""

    store: ViewStore
    engine: Engine
    queries: Queries
    records: list[FactRecord]

    def now_us(self, namespace: str = HOME) -> int:
        return max((time_us(one.time) for one in self.records if one.namespace == namespace), default=0)

    def recall(self, subject: str, predicate: str = "passes", principal: str | None = None, **more: Any) -> Answer:
        reader = Reader(more.pop("namespace", HOME), principal)
        return self.queries.recall(reader, subject, predicate, now_us=self.now_us(reader.namespace), **more)


_STORES: list[ViewStore] = []  # one is enough, since a test has one view at a time; making one takes 40 ms


def view_of(records: Sequence[FactRecord], cuts: Random | None = None) -> View:
    """A view over these records, in one batch or in random ones. It ends when the next is made."""
    if not _STORES:
        _STORES.append(ViewStore(":memory:"))
    store = _STORES[0]
    with store.transaction():
        store.truncate(("meta",))
    applied: list[FactRecord] = []
    engine = Engine(store, lambda position: [applied])
    left = list(records)
    while left:
        size = len(left) if cuts is None else cuts.randint(1, 6)
        batch, left = left[:size], left[size:]
        applied += batch
        engine.apply(batch, len(applied))
    return View(store, engine, Queries(store, engine), list(records))


def recalled(answer: Answer) -> Recalled:
    """An answer as the oracle gives it."""
    others = tuple((one.value, one.stance, one.assertion) for one in answer.alternatives)
    return Recalled(answer.status, answer.value, answer.coverage, answer.assertion, others)


class EngineAnswers:
    """Answers as the oracle does, from an engine; built anew only for other records."""

    _last: tuple[Sequence[FactRecord], View] | None = None

    def __init__(self, records: Sequence[FactRecord], namespace: str) -> None:
        last = EngineAnswers._last
        if last is None or last[0] is not records:
            last = EngineAnswers._last = (records, view_of(records))
        self._view, self._namespace = last[1], namespace

    def recall(self, subject: str, predicate: str, scope: str = "", valid_at_us: int | None = None) -> Recalled:
        view, reader = self._view, Reader(self._namespace)
        now_us = view.now_us(self._namespace)
        answer = view.queries.recall(reader, subject, predicate, scope=scope, valid_at_us=valid_at_us, now_us=now_us)
        return recalled(answer)

    def snapshot(self) -> list[list[Any]]:
        return snapshot(self._view.store, self._view.engine.state, self._namespace)


def engine_answers(records: Sequence[FactRecord], namespace: str) -> Oracle:
    """What the cases of the rule ask an oracle, asked an engine."""
    return cast(Oracle, EngineAnswers(records, namespace))
