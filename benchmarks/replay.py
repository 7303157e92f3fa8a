"""Rebuilding the views: from facts, and from raw events again; beside DuckDB's own reading of the same JSON."""

import time
from collections.abc import Callable
from pathlib import Path

import duckdb
from tether_replay.views import Progress
from tether_schemas.topics import fact_topics

from benchmarks.events import batches
from benchmarks.process import resident_bytes
from benchmarks.report import Line
from tether import Store

EVENTS, QUICK_EVENTS = 500_000, 50_000
SMALLER = 10  # how many times fewer events the smaller log has
BATCH = 5_000
FACTS_OF_EVENT = 2  # EvidenceRecorded and Asserted
FACTS_PER_SECOND_MIN = 150_000
EVENTS_PER_SECOND_MIN = 60_000
COST_RATIO_MAX = 1.5
PEAK_GIB_MAX = 2.0
READ_JSON = "DuckDB read_json of the facts"


class Stages:
    """How long each stage of a rebuild took, by the clock and by processor time."""

    def __init__(self) -> None:
        self.clock: dict[str, float] = {}
        self.processor: dict[str, float] = {}
        self._latest = (time.perf_counter(), time.process_time())

    def watch(self, step: Progress) -> None:
        """Count the time since the last step to this one's stage."""
        now = (time.perf_counter(), time.process_time())
        self.clock[step.stage] = self.clock.get(step.stage, 0.0) + now[0] - self._latest[0]
        self.processor[step.stage] = self.processor.get(step.stage, 0.0) + now[1] - self._latest[1]
        self._latest = now


def measure(folder: Path, quick: bool) -> list[Line]:
    """Rebuild a smaller and a larger log from their facts, and the larger one from its raw events."""
    count = QUICK_EVENTS if quick else EVENTS
    small, _ = _rebuild(folder / "small", count // SMALLER)
    large, store = _rebuild(folder / "large", count)
    again = Stages()
    with store:
        store.rebuild(again.watch, from_raw=True, promote=False)
        read_s = _read_json(folder, store)
    peak = resident_bytes("VmHWM") / 2**30
    facts, fewer = count * FACTS_OF_EVENT, count // SMALLER * FACTS_OF_EVENT
    cost = (large.clock["build"] / facts) / (small.clock["build"] / fewer)
    from_raw_s = sum(again.clock.values())
    return [
        Line(READ_JSON, facts / read_s, "facts/s", note=f"{count:,} records of two facts, into a table"),
        Line(
            "rebuild from facts", facts / large.clock["build"], "facts/s", FACTS_PER_SECOND_MIN, "at least",
            READ_JSON, processor=facts / large.processor["build"], note=f"{facts:,} facts",
        ),
        Line("rebuild, check against the log", facts / large.clock["check"], "facts/s"),
        Line("rebuild, cost a fact against a log ten times smaller", cost, "ratio", COST_RATIO_MAX),
        Line(
            "rebuild from raw events", count / from_raw_s, "events/s", EVENTS_PER_SECOND_MIN, "at least",
            processor=count / sum(again.processor.values()), note="extracted again, built and checked",
        ),
        Line("rebuild, peak memory", peak, "GiB", PEAK_GIB_MAX),
    ]  # fmt: skip


def _rebuild(data: Path, count: int) -> tuple[Stages, Store]:
    store = Store.open(data)
    for batch in batches(0, count, BATCH):
        store.append_many(batch)
    store.rebuild()  # extracts, which the next one need not
    stages = Stages()
    built = store.rebuild(stages.watch)
    _expect(built.records, count)
    return stages, store


def _expect(records: int, count: int) -> None:
    if records != count:
        raise RuntimeError(f"a rebuild applied {records} of {count} events: what is measured would be wrong")


def _read_json(folder: Path, store: Store) -> float:
    """Seconds that DuckDB takes to read the facts of a store from a file of JSON into a table of a file."""
    file = folder / "facts.ndjson"
    log, topics, after = store._home.log, fact_topics(1), 0  # pyright: ignore[reportPrivateUsage]  # its bytes are compared
    with file.open("wb") as out:
        while stored := log.read(topics, after, BATCH):
            out.writelines((one.payload or b"") + b"\n" for one in stored)
            after = stored[-1].offset
    with duckdb.connect(str(folder / "facts.duckdb"), config={"threads": 2}) as db:
        return _timed(lambda: db.execute("CREATE TABLE facts AS SELECT * FROM read_json(?)", [str(file)]))


def _timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started
