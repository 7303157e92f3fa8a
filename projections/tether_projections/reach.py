"""What is reached: the least fixed point of layer D, kept as a support forest (design, part 7).

Each reached node keeps one witness: the edge by which it was reached. When a cause or an edge goes, the nodes whose
witnesses hung on it are orphaned and derived again from premises outside (DRed limited to that subtree). A chain of
witnesses ends at the first bad node, so cycles cannot support themselves.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tether_projections.graph import BLOCKED, LIVE, STATED, Graph

VECTOR_MIN = 48

Ints = NDArray[np.int32]


class Badness:
    """Which nodes are bad in themselves: hard passes along every edge, soft not along blocked ones."""

    def __init__(self) -> None:
        self.hard = np.zeros(1024, np.int8)
        self.soft = np.zeros(1024, np.int8)

    def fit(self, size: int) -> None:
        """Make room for node ids below `size`."""
        if size > len(self.hard):
            room = max(size, len(self.hard) * 3 // 2)
            hard, soft = np.zeros(room, np.int8), np.zeros(room, np.int8)
            hard[: len(self.hard)], soft[: len(self.soft)] = self.hard, self.soft
            self.hard, self.soft = hard, soft

    def bad(self, node: int) -> bool:
        """Whether the node is bad in itself."""
        return bool(self.hard[node] or self.soft[node])


@dataclass(slots=True)
class Moved:
    """What one update changed: nodes that became reached, and nodes that no longer are."""

    reached: list[int]
    released: list[int]


class Reach:
    """The reached nodes over stated edges, or (`possible`) over all live edges."""

    def __init__(self, graph: Graph, badness: Badness, possible: bool = False) -> None:
        self.graph = graph
        self.badness = badness
        self._needs = LIVE if possible else LIVE | STATED
        self.witness = np.full(1024, -1, np.int32)
        self.root = np.zeros(1024, np.int32)

    def fit(self, size: int) -> None:
        """Make room for node ids below `size`."""
        if size > len(self.witness):
            room = max(size, len(self.witness) * 3 // 2)
            witness, root = np.full(room, -1, np.int32), np.zeros(room, np.int32)
            witness[: len(self.witness)], root[: len(self.root)] = self.witness, self.root
            self.witness, self.root = witness, root

    def reached(self, node: int) -> bool:
        """Whether something the node derives from is bad or reached."""
        return bool(self.witness[node] >= 0)

    def down(self, node: int) -> bool:
        """Whether the node is bad or reached."""
        return bool(self.witness[node] >= 0 or self.badness.hard[node] or self.badness.soft[node])

    def cause_of(self, node: int) -> int:
        """A bad node by which a reached node is reached; the node itself when it is not reached."""
        if self.witness[node] < 0:
            return node
        root = int(self.root[node])
        if self.badness.bad(root):
            return root
        while self.witness[node] >= 0:  # the cause that was noted is gone: follow the witnesses to one that stands
            edge = int(self.witness[node])
            node = int(self.graph.premise[edge])
            if self._bad_passes(node, int(self.graph.flags[edge])):
                break
        return node

    def causes_of(self, nodes: Ints) -> Ints:
        """`cause_of` of many nodes."""
        roots = np.where(self.witness[nodes] >= 0, self.root[nodes], nodes)
        gone = (self.badness.hard[roots] == 0) & (self.badness.soft[roots] == 0) & (self.witness[nodes] >= 0)
        for at in np.flatnonzero(gone).tolist():
            roots[at] = self.cause_of(int(nodes[at]))
        return roots

    def full(self) -> None:
        """Derive everything anew from the bad nodes."""
        self.witness[:] = -1
        self.root[:] = 0
        bad = np.flatnonzero(self.badness.hard | self.badness.soft).astype(np.int32)
        self._spread(bad.tolist())

    def update(
        self, lost_nodes: Iterable[int], lost_edges: Iterable[int], new_nodes: Sequence[int], new_edges: Collection[int]
    ) -> Moved:
        """Take in changes already made to badness and flags. Lost: less bad than before, or no longer live (or newly
        blocked); new: worse than before, or newly live (or no longer blocked)."""
        orphans = self._orphan(lost_nodes, lost_edges)
        frontier = list(new_nodes)
        frontier += self._derive_many(orphans)
        fresh: list[int] = []
        for edge in self._passing(new_edges):
            dependent = int(self.graph.dependent[edge])
            if self.witness[dependent] < 0 and self._passes(edge):
                self._reach_by(edge)
                frontier.append(dependent)
                fresh.append(dependent)
        fresh += self._spread(frontier)
        was = set(orphans)
        return Moved([node for node in fresh if node not in was], [node for node in orphans if self.witness[node] < 0])

    def _passing(self, edges: Collection[int]) -> Iterable[int]:
        """Of many edges those that pass now or may do so once the frontier has been spread."""
        if len(edges) < VECTOR_MIN:
            return edges
        ids = np.fromiter(edges, np.int32, len(edges))
        premises = self.graph.premise[ids]
        bad = (self.badness.hard[premises] != 0) | (self.badness.soft[premises] != 0)
        return ids[bad | (self.witness[premises] >= 0)].tolist()

    def _passes(self, edge: int) -> bool:
        flags = int(self.graph.flags[edge])
        if flags & self._needs != self._needs:
            return False
        premise = int(self.graph.premise[edge])
        return bool(self.witness[premise] >= 0) or self._bad_passes(premise, flags)

    def _bad_passes(self, premise: int, flags: int) -> bool:
        return bool(self.badness.hard[premise] or (self.badness.soft[premise] and not flags & BLOCKED))

    def _reach_by(self, edge: int) -> None:
        dependent, premise = int(self.graph.dependent[edge]), int(self.graph.premise[edge])
        self.witness[dependent] = edge
        bad = self._bad_passes(premise, int(self.graph.flags[edge]))
        self.root[dependent] = premise if bad else self.root[premise]

    def _orphan(self, nodes: Iterable[int], edges: Iterable[int]) -> list[int]:
        witness, graph = self.witness, self.graph
        orphans: list[int] = []
        stack: list[int] = list(nodes)
        for edge in edges:
            dependent = int(graph.dependent[edge])
            if witness[dependent] == edge:
                witness[dependent] = -1
                orphans.append(dependent)
                stack.append(dependent)
        while stack:
            if len(stack) >= VECTOR_MIN:
                stack = self._orphan_many(np.array(stack, np.int32))
                orphans += stack
                continue
            node = stack.pop()
            for edge in graph.edges_to(node):
                dependent = int(graph.dependent[edge])
                if witness[dependent] != edge or self._bad_passes(node, int(graph.flags[edge])):
                    continue
                witness[dependent] = -1
                orphans.append(dependent)
                stack.append(dependent)
        return orphans

    def _orphan_many(self, nodes: Ints) -> list[int]:
        """One level below many nodes at once."""
        graph = self.graph
        edges = graph.edges_to_many(nodes)
        dependents = graph.dependent[edges]
        hung = (self.witness[dependents] == edges) & ~self._bad_pass(edges)
        found = dependents[hung]
        self.witness[found] = -1
        return found.tolist()

    def _bad_pass(self, edges: Ints) -> NDArray[np.bool_]:
        premises = self.graph.premise[edges]
        blocked = (self.graph.flags[edges] & BLOCKED) != 0
        return (self.badness.hard[premises] != 0) | ((self.badness.soft[premises] != 0) & ~blocked)

    def _derive_many(self, nodes: list[int]) -> list[int]:
        """Those of many orphans that something outside still reaches."""
        if len(nodes) < VECTOR_MIN:
            return [node for node in nodes if self._derive(node)]
        edges = self.graph.edges_from_many(np.array(nodes, np.int32))
        return self._reach_by_many(edges).tolist()

    def _reach_by_many(self, edges: Ints) -> Ints:
        """Reach by those of the edges that pass; what was reached by it."""
        graph = self.graph
        premises, dependents = graph.premise[edges], graph.dependent[edges]
        bad = self._bad_pass(edges)
        passes = (graph.flags[edges] & self._needs == self._needs) & (bad | (self.witness[premises] >= 0))
        passes &= self.witness[dependents] < 0
        edges, premises, dependents, bad = edges[passes], premises[passes], dependents[passes], bad[passes]
        self.witness[dependents] = edges
        # Of several edges to one dependent the last one written stays; its root must come from the same edge.
        kept = self.witness[dependents] == edges
        dependents, premises, bad = dependents[kept], premises[kept], bad[kept]
        self.root[dependents] = np.where(bad, premises, self.root[premises])
        return dependents.astype(np.int32)

    def _derive(self, node: int) -> bool:
        for edge in self.graph.edges_from(node):
            if self._passes(edge):
                self._reach_by(edge)
                return True
        return False

    def _spread(self, frontier: list[int]) -> list[int]:
        """Reach everything that derives from these down nodes; what was reached by it."""
        found: list[int] = []
        while frontier:
            if len(frontier) < VECTOR_MIN:
                frontier = self._spread_few(frontier)
            else:
                frontier = self._spread_many(np.array(frontier, np.int32)).tolist()
            found += frontier
        return found

    def _spread_few(self, frontier: list[int]) -> list[int]:
        graph, witness = self.graph, self.witness
        found: list[int] = []
        for node in frontier:
            edges = graph.edges_to(node)
            if len(edges) > VECTOR_MIN:
                found += self._spread_many(np.array([node], np.int32)).tolist()
                continue
            for edge in edges:
                dependent = int(graph.dependent[edge])
                if witness[dependent] < 0 and self._passes(edge):
                    self._reach_by(edge)
                    found.append(dependent)
        return found

    def _spread_many(self, frontier: Ints) -> Ints:
        return self._reach_by_many(self.graph.edges_to_many(frontier))
