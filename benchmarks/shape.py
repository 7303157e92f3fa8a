"""A derivation graph of a given size, with cones whose number of descendants is known. Made by numpy from a seed."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

PREMISES = 3
LEAVES = 64  # the first nodes have no premises
DEPTH = 12  # about so many levels in a cone

Ints = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Cone:
    """A root and everything that derives from it: nodes root + 1 to root + size. `farthest` is at `distance`."""

    root: int
    size: int
    farthest: int
    distance: int


@dataclass(frozen=True, slots=True)
class Shape:
    """For each node its premises, lower node numbers (-1: none); and the cones, which nothing else derives from."""

    premises: Ints
    cones: tuple[Cone, ...]

    @property
    def nodes(self) -> int:
        """How many nodes."""
        return len(self.premises)

    @property
    def edges(self) -> int:
        """How many edges."""
        return int(np.count_nonzero(self.premises >= 0))

    def of_size(self, size: int) -> list[Cone]:
        """The cones of one size."""
        return [cone for cone in self.cones if cone.size == size]


def make_shape(nodes: int, cones: Sequence[tuple[int, int]], seed: int = 20260131) -> Shape:
    """A graph of `nodes` nodes with three premises each, and of each (size, count) so many cones of that size."""
    random = np.random.default_rng(seed)
    ground = nodes - sum((size + 1) * count for size, count in cones)
    if ground < 2 * LEAVES:
        raise ValueError(f"{nodes} nodes are too few for these cones")
    parts = [_ground(ground, random)]
    made: list[Cone] = []
    root = ground
    for size, count in cones:
        for _ in range(count):
            part = _cone(root, size, ground, random)
            parts.append(part)
            made.append(_measured(root, part))
            root += size + 1
    return Shape(np.concatenate(parts), tuple(made))


def _ground(count: int, random: np.random.Generator) -> Ints:
    """Nodes that derive from any three before them, one of each third, so that the three differ."""
    node = np.arange(count)
    third = np.maximum(node // PREMISES, 1)
    premises = np.stack([part * third + (random.random(count) * third).astype(np.int64) for part in range(3)], axis=1)
    premises[:LEAVES] = -1
    return premises.astype(np.int32)


def _cone(root: int, size: int, ground: int, random: np.random.Generator) -> Ints:
    """A root that derives from the ground, and its descendants: of the premises of each the first is in the cone, the
    others where they reach back no further than its root."""
    place = np.arange(size + 1)
    window = max(size // DEPTH, 1)
    premises = np.empty((size + 1, PREMISES), np.int64)
    outside = random.integers(0, ground // PREMISES, (size + 1, PREMISES))
    for part in range(PREMISES):
        back = part * window + 1 + (random.random(size + 1) * window).astype(np.int64)
        if part == 0:
            back = np.minimum(back, np.maximum(place, 1))
        inside = back <= place
        premises[:, part] = np.where(inside, root + place - back, part * (ground // PREMISES) + outside[:, part])
    return premises.astype(np.int32)


def _measured(root: int, part: Ints) -> Cone:
    distance = np.zeros(len(part), np.int32)
    for at, premises in enumerate((part - root).tolist()):
        if at:
            distance[at] = 1 + min(distance[premise] for premise in premises if premise >= 0)
    farthest = int(distance.argmax())
    return Cone(root, len(part) - 1, root + farthest, int(distance[farthest]))
