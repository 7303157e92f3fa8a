"""The reach that is kept equals the one that a single recursive statement computes from the stored tables."""

from random import Random

import pytest
from tether_projections import recompute
from tether_schemas.facts import FactRecord

from tests.histories import histories
from tests.projections.driven import Driven, cut, disturbed, explained
from tests.records import At, passes, revoked


def differing(records: list[FactRecord], random: Random) -> list[str]:
    """Nodes of which the forest and the statement say different things, after any batch."""
    driven = Driven()
    for batch in cut(records, random, 9):
        driven.apply(batch)
        found = recompute.differences(driven.store, driven.engine.state)
        if found:
            return [f"nodes {found}"]
    return []


@pytest.mark.parametrize("seed", range(500, 516))
def test_one_statement_reaches_what_is_kept(seed: int) -> None:
    records = disturbed(histories(seed, 35), Random(seed))
    assert not (told := explained(records, lambda some: differing(some, Random(seed)))), told


def test_it_ends_on_a_cycle_and_follows_a_long_chain() -> None:
    chain = [passes(At(f"e{hop}", hop + 1), f"key:{hop}", True, f"key:{hop - 1}") for hop in range(1, 300)]
    driven = Driven()
    driven.apply([*chain, passes(At("turn", 400), "key:0", True, "key:299")])
    assert recompute.reached(driven.store) == []
    driven.apply([revoked(At("stop", 500), "ADV", "key:150")])
    state = driven.engine.state
    assert len(recompute.reached(driven.store)) == 300  # every subject, the bad one too
    assert recompute.differences(driven.store, state) == []


def test_a_node_that_was_reached_wrongly_is_named() -> None:
    driven = Driven()
    driven.apply([passes(At("e1", 1), "key:a", True, "key:b"), revoked(At("e2", 2), "ADV", "key:b")])
    state = driven.engine.state
    node = recompute.reached(driven.store)[0]
    state.reach.witness[node] = -1
    assert recompute.differences(driven.store, state) == [node]


@pytest.mark.slow
@pytest.mark.parametrize("block", range(20))
def test_so_it_does_over_many_more_histories(block: int) -> None:
    for seed in range(30_000 + block * 20, 30_020 + block * 20):
        records = disturbed(histories(seed, 20 + seed % 40), Random(seed))
        assert not (told := explained(records, lambda some: differing(some, Random(seed)))), told  # noqa: B023 - called here
