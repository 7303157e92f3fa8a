"""The support forest against a naive fixed point, after every one of thousands of random changes; cycles included."""

from collections.abc import Iterable
from random import Random

import numpy as np
import pytest
from tether_projections import reach as reach_module
from tether_projections.graph import BLOCKED, LIVE, STATED, Graph
from tether_projections.reach import Badness, Moved, Reach

NODES = 30


class Forest:
    """A graph with both reaches, changed at random as the engine changes it: first the facts, then one update."""

    def __init__(self, random: Random, nodes: int = NODES) -> None:
        self.random = random
        self.nodes = nodes
        self.graph = Graph()
        self.badness = Badness()
        self.reach = Reach(self.graph, self.badness)
        self.possible = Reach(self.graph, self.badness, possible=True)
        self.lost_nodes: set[int] = set()
        self.new_nodes: set[int] = set()
        self.lost_edges: set[int] = set()
        self.new_edges: set[int] = set()

    def node(self) -> int:
        return self.random.randint(1, self.nodes)

    def add(self) -> None:
        """A new edge, live or not."""
        flags = self.random.choice((LIVE, LIVE, LIVE, 0)) | self.random.choice((STATED, STATED, STATED, 0))
        flags |= self.random.choice((0, 0, 0, BLOCKED))
        edge = self.graph.add((self.node(), self.node()), (1, 1), flags)
        if flags & LIVE:
            self.new_edges.add(edge)

    def turn(self) -> None:
        """An edge becomes live or not, blocked or not."""
        if not self.graph.count:
            return
        edge = self.random.randrange(self.graph.count)
        old = int(self.graph.flags[edge])
        flags = old ^ self.random.choice((LIVE, LIVE, BLOCKED))
        self.graph.flags[edge] = flags
        gained = flags & LIVE and (not old & LIVE or (old & BLOCKED and not flags & BLOCKED))
        (self.new_edges if gained else self.lost_edges).add(edge)

    def judge(self) -> None:
        """A node becomes bad or less so, hard or soft."""
        node = self.node()
        array = self.badness.hard if self.random.random() < 0.5 else self.badness.soft
        array[node] = 1 - array[node] if self.random.random() < 0.4 else 0
        (self.new_nodes if array[node] else self.lost_nodes).add(node)

    def change(self, times: int) -> list[Moved]:
        """Some changes, then one update of each reach."""
        for _ in range(times):
            self.random.choice((self.add, self.turn, self.turn, self.judge, self.judge))()
        moved = [
            one.update(self.lost_nodes, self.lost_edges, list(self.new_nodes), self.new_edges)
            for one in (self.reach, self.possible)
        ]
        for changed in (self.lost_nodes, self.new_nodes, self.lost_edges, self.new_edges):
            changed.clear()
        return moved


def naive(forest: Forest, needs: int) -> set[int]:
    """What is reached over the edges that have these flags: the least fixed point, by trying until nothing changes."""
    graph, hard, soft = forest.graph, forest.badness.hard, forest.badness.soft
    found: set[int] = set()
    grown = True
    while grown:
        grown = False
        for edge in range(graph.count):
            flags, premise = int(graph.flags[edge]), int(graph.premise[edge])
            bad = bool(hard[premise] or (soft[premise] and not flags & BLOCKED))
            dependent = int(graph.dependent[edge])
            if flags & needs == needs and dependent not in found and (bad or premise in found):
                found.add(dependent)
                grown = True
    return found


def reached(one: Reach) -> set[int]:
    return set(np.flatnonzero(one.witness >= 0).tolist())


def unsupported(forest: Forest, one: Reach) -> list[int]:
    """Reached nodes whose witnesses do not lead to a bad node."""
    graph, found = forest.graph, list[int]()
    for start in reached(one):
        node, steps, bad = start, 0, False
        while one.witness[node] >= 0 and steps <= forest.nodes and not bad:
            edge = int(one.witness[node])
            node, flags, steps = int(graph.premise[edge]), int(graph.flags[edge]), steps + 1
            bad = bool(forest.badness.hard[node] or (forest.badness.soft[node] and not flags & BLOCKED))
        if not bad:
            found.append(start)
    return found


def rootless(forest: Forest, one: Reach) -> list[int]:
    """Reached nodes of which the cause that is named is not bad."""
    return [node for node in reached(one) if not forest.badness.bad(one.cause_of(node))]


def held_to(forest: Forest, before: Iterable[set[int]], moved: Iterable[Moved]) -> None:
    """Both reaches are the naive ones, and `moved` says exactly what changed."""
    for one, needs, had, told in zip(
        (forest.reach, forest.possible), (LIVE | STATED, LIVE), before, moved, strict=True
    ):
        want = naive(forest, needs)
        assert reached(one) == want
        assert sorted(told.reached) == sorted(want - had)
        assert sorted(told.released) == sorted(had - want)
        assert not unsupported(forest, one)


@pytest.mark.parametrize("vector_min", [1, 4, 48])
@pytest.mark.parametrize("seed", range(12))
def test_every_change_leaves_the_least_fixed_point(seed: int, vector_min: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """I-4: exactly what only a cause reached comes back, however edges, blocks and causes come and go."""
    monkeypatch.setattr(reach_module, "VECTOR_MIN", vector_min)
    random = Random(seed)
    forest = Forest(random)
    for _ in range(120):
        before = [reached(one) for one in (forest.reach, forest.possible)]
        held_to(forest, before, forest.change(random.choice((1, 1, 1, 2, 5))))


def test_the_root_of_what_is_reached_is_bad() -> None:
    """I-9: a withdrawal names a cause that stands."""
    for seed in range(12):
        forest = Forest(Random(seed))
        for _ in range(120):
            forest.change(1)
            assert not rootless(forest, forest.reach) + rootless(forest, forest.possible)


@pytest.mark.parametrize("seed", range(4))
def test_a_full_derivation_reaches_the_same(seed: int) -> None:
    forest = Forest(Random(seed), 200)
    for _ in range(200):
        forest.change(3)
    kept = [reached(one) for one in (forest.reach, forest.possible)]
    for one in (forest.reach, forest.possible):
        one.full()
    assert [reached(one) for one in (forest.reach, forest.possible)] == kept
    assert kept == [naive(forest, LIVE | STATED), naive(forest, LIVE)]


@pytest.mark.parametrize("length", [50, 5_000])
def test_one_hop_or_thousands_are_the_same_and_a_cycle_does_not_hold_itself(length: int) -> None:
    graph, badness = Graph(), Badness()
    badness.fit(length + 2)
    one = Reach(graph, badness)
    one.fit(length + 2)
    edges = [graph.add((node + 1, node), (1, 1), LIVE | STATED) for node in range(1, length)]
    edges.append(graph.add((2, length), (1, 1), LIVE | STATED))
    one.update([], [], [], edges)
    assert not reached(one)
    for _ in range(3):
        badness.hard[1] = 1
        assert len(one.update([], [], [1], []).reached) == length - 1
        badness.hard[1] = 0
        assert len(one.update([1], [], [], []).released) == length - 1


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1_000, 1_100))
def test_many_more_changes(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reach_module, "VECTOR_MIN", 1 + seed % 6)
    random = Random(seed)
    forest = Forest(random, 10 + seed % 50)
    for _ in range(400):
        before = [reached(one) for one in (forest.reach, forest.possible)]
        held_to(forest, before, forest.change(random.choice((1, 2, 8))))
