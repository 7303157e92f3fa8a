"""The engine against the oracle after every batch: random histories, in any order, batches, duplicates and restarts."""

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tether_schemas.facts import FactRecord

from tests.histories import histories, history_strategy
from tests.oracle import Oracle
from tests.projections.driven import (
    NAMESPACES,
    NO_LANE,
    Breaking,
    Driven,
    Injected,
    build_faults,
    cut,
    disturbed,
    explained,
)

RESTARTS = 0.2
WRITES_MAX = 300


def driven_faults(records: list[FactRecord], random: Random, lane_min: int = 1) -> list[str]:
    """What is wrong after any of some random batches, with restarts between them, or at their end.

    At the end the tables are those of a build that takes the lane where this one did not, and the other way round.
    """
    driven = Driven(lane_min=lane_min)
    for batch in cut(records, random):
        if random.random() < RESTARTS:
            driven.restart()
        driven.apply(batch)
        found = driven.faults()
        if found:
            return found
    return build_faults(driven, NO_LANE if lane_min == 1 else 1)


def file_faults(records: list[FactRecord], random: Random, path: Path) -> list[str]:
    """The same over a file that is closed and opened between the batches."""
    path.unlink(missing_ok=True)
    driven = Driven(Breaking(str(path)))
    try:
        for batch in cut(records, random, 12):
            driven.apply(batch)
            driven.reopen()
            found = driven.faults()
            if found:
                return found
        return []
    finally:
        driven.store.close()


def order_faults(records: list[FactRecord], random: Random) -> list[str]:
    """Whether another order, other batches and duplicates make another snapshot."""
    whole = Driven()
    whole.apply(records)
    want = whole.snapshots()
    for _ in range(2):
        driven = Driven()
        for batch in cut(disturbed(records, random), random, 9):
            driven.apply(batch)
        if driven.snapshots() != want:
            return ["another order gives another snapshot"]
    return []


def injected_faults(records: list[FactRecord], random: Random) -> list[str]:
    """What is wrong after each write of the last batch has failed in turn, and once it has gone through.

    A failure may take earlier batches with it that were not yet in the file: then the position says so.
    """
    driven = Driven()
    batches = cut(records, random, 12)
    for batch in batches[:-1]:
        driven.apply(batch)
    if not batches:
        return []
    for nth in range(1, WRITES_MAX):
        with driven.store.breaking(nth):
            try:
                driven.apply(records[len(driven.applied) :])
                return driven.faults()
            except Injected:
                # What was applied may have waited until a read wrote it and failed: then the view stands further back.
                del driven.applied[driven.engine.position() :]
        found = driven.faults()
        if found or driven.engine.position() != len(driven.applied) or len(driven.applied) == len(records):
            return [f"write {nth} failed and left something", *found]
    return ["more writes than expected"]


def seeded(seed: int, size: int, check: Callable[[list[FactRecord], Random], list[str]]) -> str:
    """What a check finds in the history of a seed, as the smallest history."""
    return explained(disturbed(histories(seed, size), Random(seed)), lambda records: check(records, Random(seed)))


@settings(derandomize=True, deadline=None, max_examples=8)
@given(history_strategy(24), st.integers(0, 2**16))
def test_i2_the_engine_agrees_with_the_oracle_after_every_batch(records: list[FactRecord], seed: int) -> None:
    found = driven_faults(records, Random(seed))
    assert not found, "\n".join(["", *found[:12], *map(repr, records)])


@pytest.mark.parametrize("seed", range(12))
def test_i2_so_it_does_over_seeded_histories_with_duplicates_and_restarts(seed: int) -> None:
    assert not (told := seeded(seed, 10 + seed % 30, driven_faults)), told


@pytest.mark.parametrize("seed", range(500, 506))
@pytest.mark.parametrize("lane_min", [1, NO_LANE], ids=["lane", "no lane"])
def test_i2_so_it_does_with_and_without_the_lane_where_much_is_plain(seed: int, lane_min: int) -> None:
    records = disturbed(histories(seed, 30, roomy=True), Random(seed))

    def check(some: list[FactRecord]) -> list[str]:
        return driven_faults(some, Random(seed), lane_min)

    assert not (told := explained(records, check)), told


def test_i2_a_contested_event_met_again_earlier_keeps_that_rank_over_a_restart() -> None:
    records = disturbed(histories(60685, 45, roomy=True), Random(60685))
    driven = Driven()
    for batch in cut(records, Random(60685)):
        driven.apply(batch)
    assert not driven.faults()


def test_much_of_a_roomy_history_goes_by_the_lane() -> None:
    laned = 0
    for seed in range(500, 506):
        driven = Driven()
        for record in histories(seed, 30, roomy=True):
            driven.apply([record])
        laned += driven.engine.laned
    assert laned > 6 * 30 * 0.1


@pytest.mark.parametrize("seed", range(200, 206))
def test_i2_any_order_gives_one_snapshot(seed: int) -> None:
    assert not (told := seeded(seed, 30, order_faults)), told


@pytest.mark.parametrize("seed", range(300, 302))
def test_i2_so_it_does_over_a_file_opened_anew_after_every_batch(seed: int, tmp_path: Path) -> None:
    records = disturbed(histories(seed, 25), Random(seed))
    found = file_faults(records, Random(seed), tmp_path / "view.duckdb")
    assert not found, "\n".join(["", *found[:12], *map(repr, records)])


@pytest.mark.parametrize("seed", range(400, 403))
def test_i10_a_batch_of_which_any_write_fails_leaves_nothing_and_applies_again(seed: int) -> None:
    assert not (told := seeded(seed, 20, injected_faults)), told


def test_a_longer_history_agrees_at_its_end() -> None:
    records = histories(77, 250)
    driven = Driven()
    for batch in cut(records, Random(77), 40):
        driven.apply(batch)
    assert not driven.faults()
    for namespace, rows in zip(NAMESPACES, driven.snapshots(), strict=True):
        assert rows == Oracle(records, namespace).snapshot()


@pytest.mark.slow
@pytest.mark.parametrize("block", range(100))
def test_i2_many_more_histories(block: int) -> None:
    for seed in range(10_000 + block * 20, 10_020 + block * 20):
        assert not (told := seeded(seed, 10 + seed % 50, driven_faults)), f"seed {seed}{told}"


@pytest.mark.slow
@pytest.mark.parametrize("lane_min", [1, NO_LANE], ids=["lane", "no lane"])
@pytest.mark.parametrize("block", range(75))
def test_i2_many_more_histories_of_which_much_is_plain(block: int, lane_min: int) -> None:
    for seed in range(60_000 + block * 20, 60_020 + block * 20):
        records = disturbed(histories(seed, 10 + seed % 50, roomy=True), Random(seed))
        assert not (found := driven_faults(records, Random(seed), lane_min)), f"seed {seed}: {found}"


@pytest.mark.slow
@pytest.mark.parametrize("block", range(20))
def test_i10_many_more_failed_batches(block: int) -> None:
    for seed in range(20_000 + block * 10, 20_010 + block * 10):
        assert not (told := seeded(seed, 10 + seed % 30, injected_faults)), f"seed {seed}{told}"
