"""Both worlds through the front door: after every advisory exactly what must be withdrawn is, whatever the order."""

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.tether.worlds import NAMESPACE, WORLDS, Event, World, load, withdrawn
from tether import Store


@pytest.fixture(params=WORLDS)
def world(request: pytest.FixtureRequest) -> World:
    return load(request.param)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "data") as store:
        yield store


def append_all(store: Store, events: Sequence[Event]) -> None:
    receipts = store.append_many(events)
    assert [receipt.rejected for receipt in receipts if receipt.rejected] == []


def test_in_file_order_the_standing_set_is_right_after_every_advisory(world: World, store: Store) -> None:
    """I-3 and I-4 on a real module graph, with no needless withdrawal at any distance."""
    memory = store.memory(NAMESPACE)
    for row, event, expected in zip(world.rows, world.events, world.standing(), strict=True):
        store.append(event)
        if row["type"] == "advisory":
            assert withdrawn(memory, world.subjects) == expected, row["id"]


def test_the_changes_tell_what_is_withdrawn(world: World, store: Store) -> None:
    """A reader of changes alone ends with the same set."""
    memory = store.memory(NAMESPACE)
    seen: dict[str, str] = {}
    since = 0
    for event in world.events:
        store.append(event)
        for change in memory.changes(since):
            seen[change.subject], since = change.status, change.seq
    assert {subject for subject, status in seen.items() if status == "withdrawn"} == world.final
    assert [change.seq for change in store.changes()][-1:] == [since]


def orders(world: World) -> dict[str, list[Event]]:
    """The same events in other orders."""
    events = world.events
    kinds = [row["type"] for row in world.rows]
    edges = [event for event, kind in zip(events, kinds, strict=True) if kind == "derived_from"]
    verdicts = [event for event, kind in zip(events, kinds, strict=True) if kind == "verdict"]
    advisories = [event for event, kind in zip(events, kinds, strict=True) if kind == "advisory"]
    shuffled = list(events)
    random.Random(7).shuffle(shuffled)
    mixed = [*edges, *verdicts]
    random.Random(8).shuffle(mixed)
    return {
        "reversed": events[::-1],
        "shuffled": shuffled,
        "edges first": [*edges, *verdicts, *advisories],
        "edges with the verdicts": [*mixed, *advisories],
        "edges last": [*verdicts, *advisories, *edges],
        "advisories first": [*advisories, *verdicts, *edges],
    }


@pytest.mark.parametrize("order", ["reversed", "shuffled", "edges first", "edges with the verdicts", "edges last"])
def test_in_another_order_the_final_set_is_the_same(world: World, store: Store, order: str) -> None:
    """I-2, as one batch."""
    append_all(store, orders(world)[order])
    assert withdrawn(store.memory(NAMESPACE), world.subjects) == world.final


@pytest.mark.parametrize("order", ["reversed", "shuffled", "advisories first"])
def test_one_event_at_a_time_gives_the_view_of_one_batch(world: World, tmp_path: Path, order: str) -> None:
    """I-2: a read after each event, so that each is a batch of its own."""
    events = orders(world)[order]
    with Store.open(tmp_path / "one by one") as store:
        for event in events:
            store.append(event)
            store.digest(NAMESPACE) if event is events[len(events) // 2] else store.memory(NAMESPACE).recall("x:y", "z")
        one_by_one = store.digest(NAMESPACE), withdrawn(store.memory(NAMESPACE), world.subjects)
    with Store.open(tmp_path / "batch") as store:
        append_all(store, world.events)
        assert one_by_one == (store.digest(NAMESPACE), world.final)


def test_each_withdrawal_names_its_advisory_at_its_distance(world: World, store: Store) -> None:
    """I-9: every advisory that reaches an object is a cause, as many derivations away as the graph says."""
    append_all(store, world.events)
    memory = store.memory(NAMESPACE)
    reaching = {
        subject: {(name, found[subject]) for name, found in world.distances().items() if subject in found}
        for subject in world.final
    }
    for subject, expected in reaching.items():
        causes = memory.why(subject, "passes").causes
        named = {
            (cause.evidence.id.partition("#")[0], cause.distance) for cause in causes if cause.evidence is not None
        }
        assert {name for name, _ in named} == {name for name, _ in expected}
        assert all(len(cause.path) == cause.distance + 1 for cause in causes)
        nearest = {name: min(hops for other, hops in named if other == name) for name, _ in named}
        assert nearest == dict(expected)


def test_every_past_has_the_standing_set_of_then(world: World, store: Store) -> None:
    """What is recalled of a past is what was served then, whatever is known since."""
    receipts = store.append_many(world.events)
    memory = store.memory(NAMESPACE)
    chosen = random.Random(9)
    standing = list(world.standing())
    fallen = chosen.sample(sorted(world.final), min(12, len(world.final)))
    stands = chosen.sample(sorted(set(world.subjects) - world.final), 4)
    advised = [place for place, row in enumerate(world.rows) if row["type"] == "advisory"]
    for place in [advised[0], *chosen.sample(advised, 2), advised[-1]]:
        known_at = receipts[place].position
        answers = {subject: memory.recall(subject, "passes", known_at=known_at) for subject in (*fallen, *stands)}
        got = {subject for subject, answer in answers.items() if answer.status == "withdrawn"}
        assert got == standing[place] & set(answers)
        assert all(answer.value is True for subject, answer in answers.items() if subject not in got)
