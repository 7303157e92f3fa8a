"""Durable ingest through to the view, and one event acknowledged."""

import time
from pathlib import Path

from benchmarks.events import NAMESPACE, batches, ingested, subject
from benchmarks.limits import ORJSON, SQLITE, SQLITE_ONE, BareLog
from benchmarks.report import Line, median, p99
from tether import Memory, Store

BATCH = 1_000
WARM = 2_000
ONES = 2_000
EVENTS_PER_SECOND_MIN = 20_000
SHARE_OF_SQLITE_MIN = 0.10
ACKNOWLEDGED_MS_MAX = 1.0


def measure(folder: Path, quick: bool) -> list[Line]:
    """Ingest in batches, each read back, side by side with a bare SQLite append of the same bytes."""
    count = 10_000 if quick else 50_000
    bare = BareLog(folder / "bare.sqlite")
    whole: list[float] = []
    appended: list[float] = []
    limit: list[float] = []
    with Store.open(folder / "store") as store:
        memory = store.memory(NAMESPACE)
        for at, batch in enumerate(batches(0, WARM, BATCH)):
            _through(store, memory, batch, at * BATCH + BATCH - 1)
        busy = time.process_time()
        for at, batch in enumerate(batches(WARM, count, BATCH)):
            limit.append(bare.append(batch))
            seconds, of_append = _through(store, memory, batch, WARM + at * BATCH + BATCH - 1)
            whole.append(seconds)
            appended.append(of_append)
        busy = time.process_time() - busy
        acknowledged = [_acknowledged(store, WARM + count + at) for at in range(ONES // 4 if quick else ONES)]
    bare.close()
    share = median(one / two for one, two in zip(limit, whole, strict=True))
    rate = BATCH / median(whole)
    return [
        Line("ingest", rate, "events/s", EVENTS_PER_SECOND_MIN, "at least", SQLITE, share, "durable and in the view"),
        Line("ingest, of bare SQLite", share, "share", SHARE_OF_SQLITE_MIN, "at least"),
        Line("ingest, of orjson", rate, "events/s", limit=ORJSON),
        Line("ingest, sustained", count / sum(whole), "events/s", note="all batches, the slow ones included"),
        Line("ingest, a second of processor", count / busy, "events", note="that of the bare SQLite append included"),
        Line("ingest, append alone", BATCH / median(appended), "events/s", limit=SQLITE),
        Line("ingest, a batch, p99", p99(whole) * 1e3, "ms"),
        Line("one event acknowledged", median(acknowledged) * 1e3, "ms", ACKNOWLEDGED_MS_MAX, limit=SQLITE_ONE),
        Line("one event acknowledged, p99", p99(acknowledged) * 1e3, "ms"),
    ]


def _through(store: Store, memory: Memory, batch: list[bytes], last: int) -> tuple[float, float]:
    """Append a batch and read its last event; seconds of both, and of the append."""
    started = time.perf_counter()
    receipts = store.append_many(batch)
    appended = time.perf_counter() - started
    answer = memory.recall(subject(last), "passes")
    whole = time.perf_counter() - started
    if len(receipts) != len(batch) or any(one.rejected for one in receipts) or answer.value is not True:
        raise RuntimeError(f"the batch that ends with event {last} is not in the view")
    return whole, appended


def _acknowledged(store: Store, number: int) -> float:
    event = ingested(number)
    started = time.perf_counter()
    store.append(event)
    return time.perf_counter() - started
