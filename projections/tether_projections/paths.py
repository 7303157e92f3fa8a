"""Shortest paths in the derivation graph: breadth first, ties by name, so that they are a function of the facts.

The witness forest depends on the order of arrival and is never looked at.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from tether_projections.graph import BLOCKED, LIVE, STATED
from tether_projections.names import Names
from tether_projections.state import State

EDGES_MAX = 300_000  # how much of the graph one question looks at, nearest first
NEAREST_EDGES_MAX = 2_000  # how much of it a sentence of reason does

Path = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Hop:
    """One edge that is walked, with the assertion or link that states it and the assertion whose premise it is."""

    dependent: int
    premise: int
    via: int
    of: int
    bad: bool  # the premise is bad in itself and that passes along this edge


@dataclass(slots=True)
class Region:
    """The part of the graph that one question is about, by the end it is walked from."""

    starts: list[int]
    hops: dict[int, list[Hop]] = field(default_factory=dict[int, list[Hop]])

    def nodes(self) -> set[int]:
        """Everything in it that has a name, owners of edges included."""
        found = set(self.starts)
        for hops in self.hops.values():
            for hop in hops:
                found |= {hop.dependent, hop.premise, hop.via, hop.of}
        return found - {0}


def failing(state: State, starts: Iterable[int], possible: bool = False, nearest: bool = False) -> Region:
    """Everything failed that these nodes derive from, walked against the edges from dependent to premise.

    With `possible`, possible premises count; with `nearest`, it ends where the nearest bad premises are.
    """
    graph, reach = state.graph, state.reach_possible if possible else state.reach
    needs = LIVE if possible else LIVE | STATED
    region = Region(sorted(set(starts)))
    seen, frontier, count = set(region.starts), list(region.starts), 0
    while frontier and count < EDGES_MAX:
        further: list[int] = []
        found = False
        for node in frontier:
            for edge in graph.edges_from(node):
                flags, premise = int(graph.flags[edge]), int(graph.premise[edge])
                bad = bad_along(state, premise, flags)
                if flags & needs != needs or not (bad or reach.reached(premise)):
                    continue
                region.hops.setdefault(node, []).append(
                    Hop(node, premise, int(graph.via[edge]), int(graph.of[edge]), bad)
                )
                count, found = count + 1, found or bad
                if premise not in seen:
                    seen.add(premise)
                    further.append(premise)
        frontier = [] if nearest and found else further
    return region


def nearest_bad(state: State, about: int, deciders: Iterable[int]) -> tuple[int, list[int]]:
    """How far the nearest bad premises are, and which they are; none when they lie beyond NEAREST_EDGES_MAX edges.

    As `failing` with `nearest`, but without paths; `about` is the asked subject, no hop away from what rests on it.
    """
    graph, reach, needs = state.graph, state.reach, LIVE | STATED
    frontier = list(starts_of(state, about, deciders))
    if about in frontier and state.badness.hard[about]:
        return 0, [about]
    seen, distance, count = set(frontier), 0, 0
    while frontier and count < NEAREST_EDGES_MAX:
        distance += 1
        further: set[int] = set()
        found: set[int] = set()
        for node in frontier:
            for edge in graph.edges_from(node):
                flags, premise = int(graph.flags[edge]), int(graph.premise[edge])
                count += 1
                if flags & needs == needs:
                    if bad_along(state, premise, flags):
                        found.add(premise)
                    elif premise not in seen and reach.reached(premise):
                        further.add(premise)
        if found:
            return distance, sorted(found)
        seen |= further
        frontier = list(further)
    return distance, []


def _rests(state: State, node: int, about: int, needs: int = LIVE | STATED) -> bool:
    graph = state.graph
    edges = graph.edges_from(node)
    return any(int(graph.premise[edge]) == about and int(graph.flags[edge]) & needs == needs for edge in edges)


def starts_of(state: State, about: int, deciders: Iterable[int], possible: bool = False) -> set[int]:
    """The deciders, and the subject where one of them rests on it: that is no hop."""
    starts = set(deciders) - {0}
    needs = LIVE if possible else LIVE | STATED
    return starts | {about} if any(_rests(state, node, about, needs) for node in starts) else starts


def bad_along(state: State, premise: int, flags: int) -> bool:
    """Whether a premise's own badness passes along an edge with these flags."""
    badness = state.badness
    return bool(badness.hard[premise] or (badness.soft[premise] and not flags & BLOCKED))


def deriving(state: State, starts: Iterable[int]) -> Region:
    """Everything that derives from these nodes by stated premises, walked from premise to dependent."""
    graph, needs = state.graph, LIVE | STATED
    region = Region(sorted(set(starts)))
    seen, frontier, count = set(region.starts), list(region.starts), 0
    while frontier and count < EDGES_MAX:
        further: list[int] = []
        for node in frontier:
            for edge in graph.edges_to(node):
                if int(graph.flags[edge]) & needs != needs:
                    continue
                dependent = int(graph.dependent[edge])
                hop = Hop(dependent, node, int(graph.via[edge]), int(graph.of[edge]), False)
                region.hops.setdefault(node, []).append(hop)
                count += 1
                if dependent not in seen:
                    seen.add(dependent)
                    further.append(dependent)
        frontier = further
    return region


@dataclass(slots=True)
class Found:
    """Shortest paths from the starts: to every node, and to what is bad by an edge that passes it."""

    to: dict[int, Path]
    bad: dict[int, Path]


def shortest(region: Region, names: Names, follows: Callable[[Hop], bool], upstream: bool = True) -> Found:
    """The shortest path to each node of a region along the hops that `follows` admits; of several the least by names.

    Each level is walked in the order of its paths and each node's neighbours in the order of their names, so that the
    first arrival is the least.
    """
    paths: dict[int, Path] = {node: (node,) for node in sorted(region.starts, key=names.text)}
    bad: dict[int, Path] = {}
    frontier = list(paths)
    for node in frontier:  # grows while it is walked
        hops = [hop for hop in region.hops.get(node, ()) if follows(hop)]
        ends = sorted(hops, key=lambda hop: names.text(hop.premise if upstream else hop.dependent))
        for hop in ends:
            end = hop.premise if upstream else hop.dependent
            if hop.bad and end not in bad:
                bad[end] = (*paths[node], end)
            if end not in paths:
                paths[end] = (*paths[node], end)
                frontier.append(end)
    return Found(paths, bad)
