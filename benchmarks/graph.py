"""One large derivation graph: start, failure, lifting, point reads and memory.

The view is written in bulk (bulk.py) beside an empty log. Then one process starts on it several times over, and one
takes the failures.
"""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tether_replay.directory import Current, Generations

from benchmarks import bulk, limits
from benchmarks.events import NAMESPACE, subject
from benchmarks.process import resident_bytes
from benchmarks.report import Line, Spans, p99
from benchmarks.shape import Cone, Shape, make_shape
from tether import Memory, Store

NODES, QUICK_NODES = 1_000_000, 200_000
CONES = ((10, 20), (1_000, 20), (100_000, 5))
QUICK_CONES = ((10, 10), (1_000, 10), (100_000, 1))
CHECKED = 300
READS = 20_000
FAILED_MS_MAX = {10: 5.0, 1_000: 10.0, 100_000: 200.0}
START_S_MAX = 3.0
READ_MS_MAX, READ_P99_MS_MAX = 1.0, 2.0
RESIDENT_GIB_MAX = 1.5
GIB = 1024**3
MODIFIED = "2026-02-01T00:00:00Z"
LIFTED = "2026-02-02T00:00:00Z"


def shape_of(quick: bool) -> Shape:
    """The graph that is measured; the same at every call."""
    return make_shape(QUICK_NODES, QUICK_CONES) if quick else make_shape(NODES, CONES)


def build(folder: Path, quick: bool) -> list[Line]:
    """Write the view, after holding one of a small graph equal to the engine's."""
    small = make_shape(CHECKED, ((10, 4), (100, 1)))
    bulk.fill(folder / "small-bulk.duckdb", small)
    bulk.apply(folder / "small-engine.duckdb", small)
    differ = bulk.differences(folder / "small-bulk.duckdb", folder / "small-engine.duckdb")
    if differ:
        raise RuntimeError(f"bulk.py does not write what the engine writes: {', '.join(differ)}; bring it up to date")
    store = folder / "store"
    Store.open(store).close()
    generations = Generations(store)
    started = time.perf_counter()
    shape = shape_of(quick)
    bulk.fill(generations.file("1"), shape)
    built_s = time.perf_counter() - started
    generations.point(Current("1", 1))
    return [
        *limits.measure_graph(folder, generations.file("1"), shape.nodes),
        Line("graph, subjects", shape.nodes, "nodes"),
        Line("graph, derivations", shape.edges, "edges"),
        Line("graph, view built in bulk", built_s, "s", note="not through the log"),
    ]


def start(folder: Path, quick: bool) -> list[Line]:
    """Open the store and answer one recall, in a process of its own."""
    spans = Spans()
    with spans.span():
        store = Store.open(folder / "store")
        answer = store.memory(NAMESPACE).recall(subject(77), "passes")
    store.close()
    _expect(answer.status, "current")
    [seconds], [processor] = spans.clock, spans.processor
    note = "open until the first answer"
    return [Line("start with the graph", seconds, "s", START_S_MAX, processor=processor, note=note)]


def use(folder: Path, quick: bool) -> list[Line]:
    """Point reads, failures and their lifting, and the memory all that takes."""
    shape = shape_of(quick)
    with Store.open(folder / "store") as store:
        memory = store.memory(NAMESPACE)
        memory.recall(subject(77), "passes")
        hydrated = resident_bytes("VmRSS")
        lines = _reads(memory, shape, READS // 4 if quick else READS)
        for size in FAILED_MS_MAX:
            lines += _verdicts(memory, shape.of_size(size))
        for size in FAILED_MS_MAX:
            lines += _advisories(store, memory, shape.of_size(size))
        resident, peak = resident_bytes("VmRSS"), resident_bytes("VmHWM")
    return [
        *lines,
        Line("memory after start", hydrated / GIB, "GiB"),
        Line("memory after everything", resident / GIB, "GiB"),
        Line("memory, peak", peak / GIB, "GiB", RESIDENT_GIB_MAX, note="resident, of the process"),
    ]


def _reads(memory: Memory, shape: Shape, count: int) -> list[Line]:
    numbers = np.random.default_rng(1).integers(0, shape.nodes, count).tolist()
    spans = Spans()
    for number in numbers:
        about = subject(number)
        with spans.span():
            answer = memory.recall(about, "passes")
        _expect(answer.status, "current")
    return [
        spans.line("point read", target=READ_MS_MAX, limit=limits.DUCKDB_POINT, note="with its withdrawal check"),
        Line("point read, p99", p99(spans.clock) * 1e3, "ms", READ_P99_MS_MAX, processor=p99(spans.processor) * 1e3),
    ]


def _verdicts(memory: Memory, cones: Sequence[Cone]) -> list[Line]:
    def say(cone: Cone, value: bool) -> None:
        memory.remember(subject(cone.root), "passes", value, source="audit", authority="inferred")

    return _withdrawn_and_lifted(memory, cones, "failed verdict", say)


def _advisories(store: Store, memory: Memory, cones: Sequence[Cone]) -> list[Line]:
    def say(cone: Cone, value: bool) -> None:
        store.advisory(advisory(cone.root, value), source="osv")

    return _withdrawn_and_lifted(memory, cones, "advisory", say)


def advisory(number: int, withdrawn: bool) -> dict[str, Any]:
    """An OSV advisory on one node's version, or its withdrawal."""
    made: dict[str, Any] = {
        "id": f"GO-2026-{number:07d}",
        "modified": LIFTED if withdrawn else MODIFIED,
        "summary": "a fault in one version",
        "affected": [
            {
                "package": {"ecosystem": "Go", "name": f"example.com/module{number}"},
                "ranges": [{"type": "SEMVER", "events": [{"introduced": "0"}, {"fixed": "1.4.0"}]}],
            }
        ],
    }
    return made | {"withdrawn": LIFTED} if withdrawn else made


def _withdrawn_and_lifted(
    memory: Memory, cones: Sequence[Cone], cause: str, say: Callable[[Cone, bool], None]
) -> list[Line]:
    """From appending a cause, and then what lifts it, until a recall of the farthest descendant says so."""
    down, up = Spans(), Spans()
    for cone in cones:
        for value, spans, status in ((False, down, "withdrawn"), (True, up, "current")):
            with spans.span():
                say(cone, value)
                answer = memory.recall(subject(cone.farthest), "passes")
            _expect(answer.status, status)
    size, target = cones[0].size, FAILED_MS_MAX[cones[0].size]
    told = f"{len(cones)} roots, farthest at distance {max(cone.distance for cone in cones)}"
    more = {"target": target, "limit": limits.DUCKDB_IDS if size == 100_000 else None}
    return [
        down.line(f"{cause}, {size:,}", **more, note=f"{told}; worst {max(down.clock) * 1e3:.1f} ms"),
        up.line(f"{cause} lifted, {size:,}", **more, note=f"worst {max(up.clock) * 1e3:.1f} ms"),
    ]


def _expect(status: str, wanted: str) -> None:
    if status != wanted:
        raise RuntimeError(f"a recall says {status}, not {wanted}: what is measured would be wrong")
