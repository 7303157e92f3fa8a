"""The next generation of the views: built beside the live one, promoted, and taken over by the owner."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tether_replay import views
from tether_replay.build import Builder
from tether_replay.check import unsound
from tether_replay.directory import ReplayLock
from tether_replay.views import Progress
from tether_schemas import codec
from tether_schemas.events import ToolResultEvent
from tether_schemas.facts import Fact
from tether_schemas.topics import FactTopics
from tether_streams.core import extract
from tether_streams.core.extract import Fault
from tether_streams.core.rules import RuleSet
from tether_streams.ports import Log

from tether import BadRequest, BuildUnsound, Change, Memory, ReplayRunning, Store

NS = "acme"
PARTS = 40


def fill(store: Store) -> Memory:
    """A chain of verdicts, each resting on the one before, of which the root has failed."""
    memory = store.memory(NS)
    for number in range(PARTS):
        premises = [f"item:part{number - 1}@1"] if number else []
        memory.remember(f"item:part{number}@1", "passes", True, derived_from=premises)
    memory.remember("user:ana", "city", "Lisbon")
    memory.recall("item:part0@1", "passes")
    memory.remember("item:part0@1", "passes", False)
    return memory


def damage(store: Store, sql: str) -> None:
    """Run SQL on the live view's file, as no replay would."""
    with store._home.reading() as view:  # pyright: ignore[reportPrivateUsage]  # a fault is planted on purpose
        with view.store.transaction():
            view.store.execute(sql)
        view.store.commit()


def told(changes: list[Change]) -> list[tuple[str, str, str]]:
    return [(one.kind, one.subject, one.status) for one in changes]


def test_i2_a_rebuild_is_promoted_and_serves_the_same(store: Store) -> None:
    memory = fill(store)
    before, digest = memory.changes(), memory.digest()
    built = store.rebuild()
    assert (built.generation, built.promoted, built.lag) == ("2", True, 0)
    assert memory.digest() == digest
    assert store.status().generation == "2"
    assert memory.changes() == before


def test_the_outbox_goes_on_after_a_promotion(store: Store) -> None:
    memory = fill(store)
    last = memory.changes()[-1].seq
    store.rebuild()
    memory.remember("user:ana", "city", "Porto")
    assert [(one.seq, one.kind) for one in memory.changes(since=last)] == [(last + 1, "superseded")]


def test_i3_a_row_that_no_replay_makes_is_gone_after_a_rebuild_and_the_difference_is_told(store: Store) -> None:
    memory = fill(store)
    last = memory.changes()[-1].seq
    damage(store, "DELETE FROM down")
    damage(store, "UPDATE memory SET value = '\"Rome\"' WHERE predicate = 'city'")
    store.rebuild()
    memory.recall("item:part9@1", "passes")
    after = told(memory.changes(since=last))
    assert ("superseded", "user:ana", "current") in after
    assert ("withdrawn", "item:part9@1", "withdrawn") in after
    assert len(after) == PARTS
    assert memory.recall("user:ana", "city").value == "Lisbon"


def remove(file: Path) -> None:
    file.unlink()


def empty(file: Path) -> None:
    file.write_bytes(b"")


@pytest.mark.parametrize("spoil", [remove, empty])
def test_a_lost_view_stops_no_rebuild_and_everything_is_told_under_higher_numbers(
    data: Path, spoil: Callable[[Path], None]
) -> None:
    with Store.open(data) as store:
        memory = fill(store)
        digest, last = memory.digest(), memory.changes()[-1].seq
    spoil(data / "views-1.duckdb")
    with Store.open(data) as store:
        assert store.rebuild().generation == "2"
        memory = store.memory(NS)
        assert memory.digest() == digest
        after = memory.changes(since=last)
        assert min(one.seq for one in after) > last
        assert sorted({one.subject for one in after}) == sorted(
            [*(f"item:part{n}@1" for n in range(PARTS)), "user:ana"]
        )


def test_a_rebuild_can_be_left_unpromoted_and_promoted_later(store: Store) -> None:
    memory = fill(store)
    store.rebuild(promote=False)
    assert store.status().generation == "1"
    memory.remember("user:bob", "city", "Oslo")
    store.promote("2")
    assert memory.recall("user:bob", "city").value == "Oslo"
    assert store.status().generation == "2"


def test_going_back_to_an_older_generation_takes_the_outbox_along(store: Store) -> None:
    memory = fill(store)
    store.rebuild()
    memory.remember("user:ana", "city", "Porto")
    last = memory.changes()[-1]
    store.promote("1")
    assert memory.recall("user:ana", "city").value == "Porto"
    assert memory.changes()[-1] == last


def test_from_raw_extracts_again_and_records_the_extractor(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = fill(store)
    digest = memory.digest()
    monkeypatch.setattr(extract, "EXTRACTOR", "2")
    built = store.rebuild(from_raw=True)
    assert built.extraction == 2
    assert memory.digest() == digest
    memory.remember("user:bob", "city", "Oslo")
    assert memory.recall("user:bob", "city").value == "Oslo"
    with store._home.reading() as view:  # pyright: ignore[reportPrivateUsage]  # no answer names the extractor
        assert view.store.rows("SELECT DISTINCT extractor FROM evidence") == [("2",)]


def test_from_raw_carries_over_the_facts_of_events_whose_payload_is_gone(store: Store) -> None:
    memory = fill(store)
    memory.append(
        {
            "specversion": "1.0", "id": "gone", "source": "ci", "type": "tether.tool_result.v1",
            "time": "2026-01-01T00:00:00Z", "data": {
                "tool": "memory.write", "arguments": {"subject": "item:part1@1", "predicate": "passes", "value": False},
                "result": None, "is_error": False,
            },
        }
    )  # fmt: skip
    digest = memory.digest()
    log = store._home.log  # pyright: ignore[reportPrivateUsage]  # no front door destroys payloads yet
    log.destroy_payload("raw.tool-results", NS, "ci", "gone")
    store.rebuild(from_raw=True)
    assert memory.digest() == digest
    assert store.dead_letters() == []


def test_what_a_newer_extraction_no_longer_makes_is_told(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = fill(store)
    last = memory.changes()[-1].seq

    def nothing(event: ToolResultEvent, rules: RuleSet | None, faults: list[Fault]) -> list[Fact]:
        return []

    def none(fields: dict[str, Any]) -> None:
        return None

    monkeypatch.setattr(codec, "usual_of", none)
    monkeypatch.setattr(extract, "_of_tool_result", nothing)
    store.rebuild(from_raw=True)
    assert memory.recall("user:ana", "city").status == "unknown"
    assert ("superseded", "user:ana", "unknown") in told(memory.changes(since=last))


class Stop(Exception):
    """Raised in the middle of a build."""


def stopping(stage: str) -> Callable[[Progress], None]:
    def watch(step: Progress) -> None:
        if step.stage == stage:
            raise Stop

    return watch


@pytest.mark.parametrize("from_raw", [False, True])
@pytest.mark.parametrize("stage", ["extract", "build", "check"])
def test_a_build_that_was_interrupted_goes_on(data: Path, stage: str, from_raw: bool) -> None:
    with Store.open(data) as store:
        fill(store)
    with Store.open(data) as store:
        with pytest.raises(Stop):
            store.rebuild(stopping(stage), from_raw=from_raw)
        assert [(one.generation, one.finished) for one in store.generations()] == [("1", True), ("2", False)]
        seen: list[Progress] = []
        built = store.rebuild(seen.append, from_raw=from_raw)
        assert (built.generation, built.extraction) == ("2", 2 if from_raw else 1)
        if stage == "check":
            assert built.records == 0
        assert store.memory(NS).recall("item:part9@1", "passes").status == "withdrawn"


def test_an_interrupted_build_is_dropped_for_another_plan(store: Store) -> None:
    fill(store)
    with pytest.raises(Stop):
        store.rebuild(stopping("check"))
    assert store.rebuild(from_raw=True).generation == "2"
    assert [one.generation for one in store.generations()] == ["1", "2"]


def test_what_is_unsound_is_not_promoted(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = fill(store)

    def unsound(log: Log, builder: Builder, topics: FactTopics) -> str:
        return "it holds other events"

    monkeypatch.setattr(views, "unsound", unsound)
    with pytest.raises(BuildUnsound, match="other events"):
        store.rebuild()
    assert memory.recall("user:ana", "city").value == "Lisbon"
    assert store.status().generation == "1"


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("DELETE FROM evidence WHERE id IN (SELECT min(id) FROM evidence)", "events"),
        ("DELETE FROM memory WHERE predicate = 'city'", "do not match"),
        ("UPDATE edge SET flags = 0", "what is reached"),
    ],
)
def test_what_is_built_is_checked_against_the_log(
    store: Store, sql: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(store)

    def spoiled(log: Log, builder: Builder, topics: FactTopics) -> str | None:
        with builder.engine.store.transaction():
            builder.engine.store.execute(sql)
        return unsound(log, builder, topics)

    monkeypatch.setattr(views, "unsound", spoiled)
    with pytest.raises(BuildUnsound, match=words):
        store.rebuild()


def test_one_build_at_a_time(store: Store) -> None:
    fill(store)
    lock = ReplayLock(store.path)
    with pytest.raises(ReplayRunning, match="wait for it"):
        store.rebuild()
    lock.release()


def test_a_part_is_not_promoted(store: Store) -> None:
    fill(store)
    with pytest.raises(BadRequest, match="promote"):
        store.rebuild(namespace=NS)
    store.rebuild(topics=["raw.tool-results"], promote=False)
    with pytest.raises(BadRequest, match="part of the facts"):
        store.promote("2")
    with pytest.raises(BadRequest, match="none of raw"):
        store.rebuild(topics=["facts"], promote=False)


def test_old_generations_stay_by_count(store: Store) -> None:
    fill(store)
    for _ in range(3):
        store.rebuild()
    assert store.prune(keep=2) == ["1"]
    store.rebuild(keep=0)
    assert [(one.generation, one.current) for one in store.generations()] == [("5", True)]


def test_reads_and_appends_go_on_during_a_rebuild(store: Store) -> None:
    memory = fill(store)
    answers: list[str] = []
    done = threading.Event()

    def work() -> None:
        number = 0
        while not done.is_set():
            memory.remember(f"item:more{number}@1", "passes", True, derived_from=["item:part9@1"])
            answers.append(memory.recall(f"item:more{number}@1", "passes").status)
            number += 1

    worker = threading.Thread(target=work)
    worker.start()
    for _ in range(4):
        store.rebuild()
    done.set()
    worker.join()
    assert set(answers) == {"withdrawn"}
    assert store.status().generation == "5"
    digest = memory.digest()
    store.rebuild()
    assert memory.digest() == digest
    seqs = [one.seq for one in memory.changes(limit=100_000)]
    assert seqs == sorted(set(seqs))


def test_i2_policies_declared_at_any_time_are_in_force_for_everything_that_is_rebuilt(store: Store) -> None:
    memory = store.memory(NS)
    memory.remember("user:ana", "tags", "a")
    memory.remember("user:ana", "tags", "b")
    store.policy({"predicates": {"tags": {"many": True}}}, "ana")
    digest = memory.digest()
    assert memory.recall("user:ana", "tags").value == ["a", "b"]
    store.rebuild()
    assert memory.digest() == digest
