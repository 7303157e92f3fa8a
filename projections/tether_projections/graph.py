"""The derivation graph in compact arrays: a sorted base (CSR), and lists for what came since, made when asked for.

An edge says that `dependent` derives from `premise`; `via` is the assertion or link that says so, `of` the
assertion whose premise it thereby is (0: a link of an object).
Edges are never removed, they stop being live. About 30 bytes an edge.
"""

import numpy as np
from numpy.typing import NDArray

LIVE = 1
STATED = 2
CONTENT = 4  # the dependent is an assertion and the premise is content: erasing the premise erases the dependent
BLOCKED = 8  # superseded, outranked and disputed do not pass along it (design, part 2, D, 5)
DYNAMIC = 16  # an object's edge to a verdict's content premise: live while the verdict is present and strongest (D, 3)

MERGE_MIN = 65_536

Ints = NDArray[np.int32]


class Graph:
    """Edges by id, and the edges into and out of each node."""

    def __init__(self) -> None:
        self.count = 0
        self.dependent = np.zeros(1024, np.int32)
        self.premise = np.zeros(1024, np.int32)
        self.via = np.zeros(1024, np.int32)
        self.of = np.zeros(1024, np.int32)
        self.flags = np.zeros(1024, np.int8)
        self._based = 0
        self._by_premise: Ints = np.empty(0, np.int32)
        self._premise_at: NDArray[np.int64] = np.zeros(1, np.int64)
        self._by_dependent: Ints = np.empty(0, np.int32)
        self._dependent_at: NDArray[np.int64] = np.zeros(1, np.int64)
        self._noted = 0  # edges from _based up to here are in the two dicts, later ones in no index yet
        self._new_by_premise: dict[int, list[int]] = {}
        self._new_by_dependent: dict[int, list[int]] = {}
        self.possible = 0

    def load(self, ends: tuple[Ints, Ints], owners: tuple[Ints, Ints], flags: NDArray[np.int8]) -> None:
        """Replace the content by stored rows: (dependent, premise), (via, of), flags."""
        self.count = len(flags)
        self.dependent, self.premise = ends[0].copy(), ends[1].copy()
        self.via, self.of = owners[0].copy(), owners[1].copy()
        self.flags = flags.astype(np.int8)
        self.possible = int(np.count_nonzero(self.flags & STATED == 0))
        self._rebase()

    def _rebase(self) -> None:
        dependent, premise = self.dependent[: self.count], self.premise[: self.count]
        size = int(max(dependent.max(), premise.max())) + 2 if self.count else 1
        self._by_premise = np.argsort(premise, kind="stable").astype(np.int32)
        self._by_dependent = np.argsort(dependent, kind="stable").astype(np.int32)
        self._premise_at = np.concatenate([[0], np.cumsum(np.bincount(premise, minlength=size))]).astype(np.int64)
        self._dependent_at = np.concatenate([[0], np.cumsum(np.bincount(dependent, minlength=size))]).astype(np.int64)
        self._based = self._noted = self.count
        self._new_by_premise, self._new_by_dependent = {}, {}

    def settle(self) -> None:
        """Merge what came since into the base once it is a quarter of it; what no read has asked for yet may wait."""
        if self._noted - self._based > self._many():
            self._rebase()

    def _many(self) -> int:
        return max(MERGE_MIN, self._based // 4)

    def _note(self) -> None:
        """Index the edges that came since the last read."""
        if self.count - self._based > self._many():
            self._rebase()
            return
        for ends, index in ((self.premise, self._new_by_premise), (self.dependent, self._new_by_dependent)):
            for edge, node in enumerate(ends[self._noted : self.count].tolist(), self._noted):
                index.setdefault(node, []).append(edge)
        self._noted = self.count

    def add(self, ends: tuple[int, int], owners: tuple[int, int], flags: int) -> int:
        """Add an edge from (dependent, premise) and (via, of); its id. The same edge twice is two and means one."""
        edge = self.count
        if edge >= len(self.dependent):
            self._grow(edge + 1)
        (self.dependent[edge], self.premise[edge]), self.flags[edge] = ends, flags
        self.via[edge], self.of[edge] = owners
        self.count = edge + 1
        if not flags & STATED:
            self.possible += 1
        return edge

    def add_many(self, ends: tuple[Ints, Ints], owners: Ints) -> None:
        """Add live, stated edges of assertions: dependents and premises, and the assertion that says so of each."""
        first, last = self.count, self.count + len(owners)
        if last > len(self.dependent):
            self._grow(last)
        self.dependent[first:last], self.premise[first:last] = ends
        self.via[first:last] = self.of[first:last] = owners
        self.flags[first:last] = LIVE | STATED
        self.count = last

    def _grow(self, size: int) -> None:
        for name in ("dependent", "premise", "via", "of", "flags"):
            old = getattr(self, name)
            grown = np.zeros(max(size, 1024, len(old) * 3 // 2), old.dtype)
            grown[: len(old)] = old
            setattr(self, name, grown)

    def edges_to(self, premise: int) -> list[int]:
        """Ids of all edges whose premise is this node, live or not."""
        if self._noted < self.count:
            self._note()
        base: list[int] = []
        if premise + 1 < len(self._premise_at):
            base = self._by_premise[self._premise_at[premise] : self._premise_at[premise + 1]].tolist()
        new = self._new_by_premise.get(premise)
        return base + new if new else base

    def edges_from(self, dependent: int) -> list[int]:
        """Ids of all edges whose dependent is this node, live or not."""
        if self._noted < self.count:
            self._note()
        base: list[int] = []
        if dependent + 1 < len(self._dependent_at):
            base = self._by_dependent[self._dependent_at[dependent] : self._dependent_at[dependent + 1]].tolist()
        new = self._new_by_dependent.get(dependent)
        return base + new if new else base

    def edges_to_many(self, premises: Ints) -> Ints:
        """Ids of all edges whose premise is one of these nodes."""
        if self._noted < self.count:
            self._note()
        return _edges_of(premises, (self._premise_at, self._by_premise), self._new_by_premise)

    def edges_from_many(self, dependents: Ints) -> Ints:
        """Ids of all edges whose dependent is one of these nodes."""
        if self._noted < self.count:
            self._note()
        return _edges_of(dependents, (self._dependent_at, self._by_dependent), self._new_by_dependent)


def _edges_of(nodes: Ints, base: tuple[NDArray[np.int64], Ints], new: dict[int, list[int]]) -> Ints:
    places, edges = base
    based = nodes[nodes < len(places) - 1]
    starts = places[based]
    counts = places[based + 1] - starts
    total = int(counts.sum())
    found = np.empty(0, np.int32)
    if total:
        offsets = np.repeat(starts - np.concatenate([[0], np.cumsum(counts)[:-1]]), counts)
        found = edges[offsets + np.arange(total)]
    extra = [edge for node in nodes.tolist() if node in new for edge in new[node]] if new else []
    return np.concatenate([found, np.array(extra, np.int32)]) if extra else found
