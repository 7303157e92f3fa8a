"""A view written in bulk is the engine's own, row by row."""

from pathlib import Path

from tether_projections.engine import Engine
from tether_projections.snapshot import digest_of, snapshot
from tether_projections.store import ViewStore

from benchmarks.bulk import apply, differences, fill
from benchmarks.shape import make_shape

SMALL = make_shape(400, ((10, 4), (100, 1)))


def test_a_view_in_bulk_equals_the_engines(tmp_path: Path) -> None:
    fill(tmp_path / "filled.duckdb", SMALL)
    apply(tmp_path / "applied.duckdb", SMALL)
    assert differences(tmp_path / "filled.duckdb", tmp_path / "applied.duckdb") == []


def test_its_digest_is_the_engines(tmp_path: Path) -> None:
    fill(tmp_path / "filled.duckdb", SMALL)
    apply(tmp_path / "applied.duckdb", SMALL)
    digests: set[str] = set()
    for name in ("filled", "applied"):
        store = ViewStore(str(tmp_path / f"{name}.duckdb"))
        digests.add(digest_of(snapshot(store, Engine(store, lambda position: []).state, "bench/graph")))
        store.close()
    assert len(digests) == 1


def test_a_cone_has_the_descendants_that_it_says() -> None:
    dependents: dict[int, set[int]] = {}
    for node, premises in enumerate(SMALL.premises.tolist()):
        for premise in premises:
            dependents.setdefault(premise, set()).add(node)
    for cone in SMALL.cones:
        found: set[int] = set()
        frontier = {cone.root}
        while frontier:
            frontier = {node for one in frontier for node in dependents.get(one, ())} - found
            found |= frontier
        assert found == set(range(cone.root + 1, cone.root + 1 + cone.size))
