"""The lane: what goes by it, what does not, and that its rows are those that would be written without it."""

from collections.abc import Sequence
from typing import Any

import pytest
from tether_projections import engine as engine_module
from tether_projections.store import ViewStore
from tether_schemas.codec import read_event
from tether_schemas.facts import FactRecord
from tether_schemas.refs import Ref
from tether_schemas.topics import TOOL_RESULTS
from tether_streams.core.extract import RawPlace, extract

from benchmarks.events import ingested
from tests.projections.driven import NO_LANE, Driven, empty_store
from tests.records import (
    OTHER,
    PUBLIC,
    At,
    claim,
    decided,
    deleted,
    linked,
    message,
    passes,
    policy,
    revoked,
    said,
    says,
)

BASE, NEXT = "pkg:pypi/base@1", "pkg:pypi/next@1"
ITEM = "item:a@1"


def usual(count: int) -> list[FactRecord]:
    """Events as the benchmark ingests them, extracted."""
    found: list[FactRecord] = []
    for number in range(count):
        decoded = read_event(ingested(number))
        found += extract(decoded.event, RawPlace(number, TOOL_RESULTS, 0, number, decoded.content_hash))[:1]
    return found


def plain_records() -> list[FactRecord]:
    """Plain records of many kinds: silent, of two namespaces, no verdicts, of several manners and on shared objects."""
    return [
        message(At("m1", 1, session="s")),
        passes(At("a", 2), BASE),
        passes(At("b", 3), NEXT, True, BASE, BASE, "pkg:pypi/other@2", authority="inferred", premises_complete=True),
        says(At("c", 4), "user:ana", "licence", {"b": [1.0], "a": None}, confidence=0.5, issuer="ci#a"),
        says(At("d", 5, source="hub"), "user:ana", "note", "red", premises=("doc:d@1", NEXT), mode="inferred"),
        passes(At("e", 6, namespace=OTHER), BASE, True, NEXT, scope="east"),
        message(At("m2", 7, source="hub")),
        passes(At("f", 8), NEXT, True, "pkg:pypi/late@1", scope="east"),
        says(At("g", 9), ITEM, "note", True, observed_at=3),
    ]


def tables(store: ViewStore) -> dict[str, list[Any]]:
    """Every row of every table."""
    names = store.rows("SELECT table_name FROM duckdb_tables() WHERE NOT temporary ORDER BY ALL")
    return {name: store.rows(f"SELECT * FROM {name} ORDER BY ALL") for (name,) in names}


def built(batches: Sequence[Sequence[FactRecord]], lane_min: int, name: str) -> Driven:
    """A view of these batches."""
    driven = Driven(empty_store(name), lane_min)
    for batch in batches:
        driven.apply(batch)
    return driven


def test_the_usual_events_go_by_the_lane() -> None:
    driven = Driven(lane_min=engine_module.LANE_MIN)
    driven.apply(usual(100))
    assert driven.engine.laned == 100


def test_below_its_least_batch_the_lane_is_not_taken() -> None:
    driven = Driven(lane_min=engine_module.LANE_MIN)
    driven.apply(usual(engine_module.LANE_MIN - 1))
    assert driven.engine.laned == 0


@pytest.mark.parametrize("records", [usual(40), plain_records()], ids=["usual", "various"])
@pytest.mark.parametrize("size", [1, 4, 100])
def test_every_table_is_as_without_the_lane(records: list[FactRecord], size: int) -> None:
    batches = [records[start : start + size] for start in range(0, len(records), size)]
    laned, without = built(batches, 1, "driven"), built(batches, NO_LANE, "fresh")
    assert (laned.engine.laned, without.engine.laned) == (len(records), 0)
    assert tables(laned.store) == tables(without.store)
    assert not laned.faults()


def test_large_batches_in_parts_give_the_same_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = tables(built([usual(40)], 1, "driven").store)
    monkeypatch.setattr(engine_module, "LANE_MAX", 7)
    assert tables(built([usual(40)], 1, "fresh").store) == whole


def test_the_rest_of_a_batch_sees_what_went_by_the_lane() -> None:
    driven = Driven()
    driven.apply([*plain_records(), passes(At("x", 20), BASE, False)])
    assert driven.engine.laned == len(plain_records())
    assert not driven.faults()


def test_an_event_twice_in_a_batch_is_a_duplicate() -> None:
    driven = Driven()
    driven.apply([*plain_records(), *plain_records()])
    assert driven.engine.laned == 0
    assert not driven.faults()


def test_waiting_rows_of_several_batches_are_read_as_they_will_be_written() -> None:
    driven = Driven()
    for one in plain_records():
        driven.apply([one])
    columns = "slot, namespace, subject, verdict, status, value, many, support, latest_us, position"
    slots = list(range(1, driven.engine.state.keys.next_id))
    waiting = driven.store.where(columns, "memory", "slot", slots)
    driven.store.commit()
    stored = driven.store.where(columns, "memory", "slot", slots)
    assert len(stored) == 7
    assert sorted(map(repr, waiting)) == sorted(map(repr, stored))


FIRST = passes(At("first", 5), BASE)
GONE = Ref(kind="evidence", source="ci", text="late")
LATE = At("late", 20, session="s1")

# What was before, and a record that is not plain after it.
ODD: dict[str, tuple[list[FactRecord], FactRecord]] = {
    "a slot stated before": ([FIRST], passes(LATE, BASE)),
    "a false verdict": ([], passes(LATE, BASE, False)),
    "about what failed": ([passes(At("first", 5), BASE, False)], passes(LATE, BASE, scope="east")),
    "on what failed": ([passes(At("first", 5), BASE, False)], passes(LATE, NEXT, True, BASE)),
    "on what is reached": (
        [passes(At("first", 5), BASE, False), passes(At("second", 6), NEXT, True, BASE)],
        passes(LATE, "pkg:pypi/third@1", True, NEXT),
    ),
    "about what an advisory names": ([revoked(At("adv", 5), "ADV-1", BASE)], passes(LATE, BASE)),
    "on what a public advisory names": (
        [revoked(At("adv", 5, namespace=PUBLIC, source="osv"), "ADV-1", BASE)],
        passes(LATE, NEXT, True, BASE),
    ),
    "a verdict that puts a version on record": ([], passes(LATE, "item:a@1")),
    "on a version below one on record": ([passes(At("first", 5), "item:a@2")], passes(LATE, NEXT, True, "item:a@1")),
    "a verdict of no version": ([], passes(LATE, "pkg:pypi/base")),
    "on an assertion": ([FIRST], passes(LATE, NEXT, True, FIRST)),
    "possibly derived": ([], passes(LATE, NEXT, possible=(BASE,))),
    "on what is possibly reached": (
        [passes(At("first", 5), BASE, False), passes(At("second", 6), NEXT, possible=(BASE,))],
        passes(LATE, "pkg:pypi/third@1", True, NEXT),
    ),
    "with an expiry": ([], says(LATE, "user:ana", "note", "red", expires_at=30)),
    "with a validity": ([], says(LATE, "user:ana", "note", "red", valid_from=30)),
    "with readers": ([], says(LATE, "user:ana", "note", "red", readers=("ana",))),
    "named before": ([passes(At("first", 5), BASE, True, GONE)], passes(LATE, NEXT)),
    "of a deleted source": ([deleted(At("d", 5), {"source": "ci"}, None)], passes(LATE, NEXT)),
    "of a deleted session": ([deleted(At("d", 5), {"source": "ci", "session_id": "s1"}, None)], message(LATE)),
    "about a deleted subject": ([deleted(At("d", 5), {"subject": "pkg:pypi/base"}, None)], passes(LATE, BASE)),
    "of a source decided on": ([decided(At("c", 25), "invalidate", {"source": "ci"})], passes(LATE, NEXT)),
    "many-valued": ([policy(At("p", 1), predicates={"tags": {"many": True}})], says(LATE, "user:ana", "tags", "red")),
    "resting on its subject and more": (
        [policy(At("p", 1), predicates={"licence": {"rests_on_subject": True}})],
        says(LATE, NEXT, "licence", "MIT", premises=(BASE,)),
    ),
    "of two claims": ([], said(LATE, claim(BASE, "note", "red"), claim(NEXT, "note", "red"))),
    "a link": ([], linked(LATE, BASE, [NEXT])),
}


@pytest.mark.parametrize("case", ODD)
def test_what_is_not_plain_does_not_go_by_the_lane(case: str) -> None:
    before, late = ODD[case]
    driven = Driven()
    for one in before:
        driven.apply([one])
    laned = driven.engine.laned
    driven.apply([late])
    assert driven.engine.laned == laned
    assert not driven.faults()
