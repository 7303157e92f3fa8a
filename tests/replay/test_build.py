"""A view built from the facts of a log is the view that followed it."""

from pathlib import Path
from random import Random

import pytest
from tether_projections.engine import Engine
from tether_projections.snapshot import snapshot
from tether_projections.store import ViewStore
from tether_replay import build
from tether_replay.build import Builder, Progress, Which
from tether_schemas.errors import LogCorrupt, ReplayFailed
from tether_schemas.facts import FactRecord
from tether_streams.embedded.extraction import new_record

from tests.histories import histories
from tests.oracle import Oracle
from tests.projections.driven import NAMESPACES
from tests.records import HOME, At, passes
from tests.replay.logs import fact_log, followed, snapshots


@pytest.mark.parametrize("seed", range(60))
def test_i2_a_rebuild_equals_the_view_that_was_live(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "BATCH_RECORDS_MAX", 1 + seed % 7)
    log, records = fact_log(histories(seed, 24))
    live_store, live = followed(log, records, Random(seed))
    store = ViewStore(":memory:")
    builder = Builder(log, store)
    builder.advance(len(records))
    assert snapshots(store, builder.engine.state) == snapshots(live_store, live.state)
    assert snapshots(store, builder.engine.state) == [Oracle(records, name).snapshot() for name in NAMESPACES]


def test_what_is_built_tells_no_changes() -> None:
    log, records = fact_log([passes(At("e1", 1), "item:a@1"), passes(At("e2", 2), "item:a@1", False)])
    store = ViewStore(":memory:")
    Builder(log, store).advance(len(records))
    assert store.rows("SELECT count(*) FROM change") == [(0,)]


@pytest.mark.parametrize("seed", range(12))
def test_a_build_goes_on_where_another_stopped(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "BATCH_RECORDS_MAX", 3)
    log, records = fact_log(histories(seed, 24))
    half = ViewStore(str(tmp_path / "views.duckdb"))
    Builder(log, half).advance(len(records) // 2)
    half.close()
    store = ViewStore(str(tmp_path / "views.duckdb"))
    seen: list[Progress] = []
    builder = Builder(log, store)
    builder.advance(len(records), seen.append)
    assert snapshots(store, builder.engine.state) == [Oracle(records, name).snapshot() for name in NAMESPACES]
    assert seen[0].done > len(records) // 2
    assert seen[-1].done == len(records)
    store.close()


def test_policies_declared_late_do_not_make_a_build_begin_again(monkeypatch: pytest.MonkeyPatch) -> None:
    found = next(seed for seed in range(100) if b"PolicyDeclared" in repr(histories(seed, 24)).encode())
    monkeypatch.setattr(Engine, "_rebuild", _never)
    log, records = fact_log(histories(found, 24))
    Builder(log, ViewStore(":memory:")).advance(len(records))


def _never(*_: object) -> None:
    raise AssertionError("history was read anew")


def test_only_the_facts_asked_for_are_built() -> None:
    ours, theirs = passes(At("e1", 1), "item:a@1"), passes(At("e2", 2, namespace="beta"), "item:b@1")
    log, _ = fact_log([ours, theirs])
    store = ViewStore(":memory:")
    builder = Builder(log, store, Which(namespace=HOME))
    builder.advance(2)
    assert snapshot(store, builder.engine.state, HOME) == Oracle([ours], HOME).snapshot()
    assert snapshot(store, builder.engine.state, "beta") == []
    assert builder.engine.position() == 2


def test_an_event_that_cannot_be_applied_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    records = [passes(At(f"e{number}", number), f"item:a{number}@1") for number in range(1, 6)]
    log, _ = fact_log(records)
    apply = Engine.apply

    def failing(engine: Engine, batch: list[FactRecord], position: int) -> None:
        if any(record.id == "e3" for record in batch):
            raise ZeroDivisionError("no")
        apply(engine, batch, position)

    monkeypatch.setattr(Engine, "apply", failing)
    with pytest.raises(ReplayFailed, match=r"'e3'.*ZeroDivisionError") as caught:
        Builder(log, ViewStore(":memory:")).advance(5)
    assert caught.value.evidence[2] == "e3"


def test_facts_that_do_not_decode_are_named_by_their_place() -> None:
    log, _ = fact_log([passes(At("e1", 1), "item:a@1")])
    log.append([new_record(passes(At("e2", 2), "item:a@2"))._replace(payload=b"{", made_of=None)])
    with pytest.raises(LogCorrupt, match="position 2"):
        Builder(log, ViewStore(":memory:")).advance(2)
