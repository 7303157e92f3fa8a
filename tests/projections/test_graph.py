"""The compact arrays of edges against plain lists, before and after they are merged."""

from random import Random

import numpy as np
import pytest
from tether_projections import graph as graph_module
from tether_projections.graph import LIVE, STATED, Graph

NODES = 40


def loaded(graph: Graph) -> Graph:
    """Another graph, from the rows of this one."""
    span = slice(0, graph.count)
    other = Graph()
    other.load((graph.dependent[span], graph.premise[span]), (graph.via[span], graph.of[span]), graph.flags[span])
    return other


@pytest.mark.parametrize("merge_min", [0, 9, 65_536])
@pytest.mark.parametrize("seed", range(6))
def test_edges_are_found_from_both_ends(seed: int, merge_min: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph_module, "MERGE_MIN", merge_min)
    random, graph = Random(seed), Graph()
    rows: list[tuple[int, int, int, int, int]] = []
    for _ in range(1_500):
        row = (random.randint(1, NODES), random.randint(1, NODES), random.randint(1, 9), random.randint(0, 9), LIVE)
        row = (*row[:4], random.choice((LIVE, STATED, LIVE | STATED)))
        assert graph.add(row[:2], row[2:4], row[4]) == len(rows)
        rows.append(row)
        if random.random() < 0.1:
            graph.settle()
        if random.random() < 0.01:
            graph = loaded(graph)
    columns = (graph.dependent, graph.premise, graph.via, graph.of, graph.flags)
    assert list(zip(*(column[: graph.count].tolist() for column in columns), strict=True)) == rows
    assert graph.possible == sum(not row[4] & STATED for row in rows)
    for node in range(NODES + 3):
        assert sorted(graph.edges_to(node)) == [edge for edge, row in enumerate(rows) if row[1] == node]
        assert sorted(graph.edges_from(node)) == [edge for edge, row in enumerate(rows) if row[0] == node]
    for size in (0, 1, 7, NODES + 3):
        some = random.sample(range(NODES + 3), size)
        want = [edge for edge, row in enumerate(rows) if row[1] in some]
        assert sorted(graph.edges_to_many(np.array(some, np.int32)).tolist()) == want


def test_a_graph_without_edges_loads_settles_and_finds_none() -> None:
    graph = loaded(Graph())
    graph.settle()
    assert graph.edges_to(5) == graph.edges_from(5) == graph.edges_to_many(np.array([0, 5], np.int32)).tolist() == []
