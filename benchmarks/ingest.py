"""Durable ingest through to the view, and one event acknowledged."""

from pathlib import Path

from benchmarks.events import NAMESPACE, batches, ingested, subject
from benchmarks.limits import DUCKDB, ORJSON, SQLITE, SQLITE_ONE, BareLog
from benchmarks.report import Line, Spans, median, p99
from tether import Answer, Store

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
    limit, whole, appended, acknowledged, through = Spans(), Spans(), Spans(), Spans(), Spans()
    with Store.open(folder / "store") as store:
        memory = store.memory(NAMESPACE)
        for at, batch in enumerate(batches(0, WARM + count, BATCH)):
            if at * BATCH == WARM:
                limit, whole, appended = Spans(), Spans(), Spans()
            with limit.span():
                bare.append(batch)
            with whole.span():
                with appended.span():
                    store.append_many(batch)
                answer = memory.recall(subject(at * BATCH + BATCH - 1), "passes")
            _expect(answer)
        for number in _ones(WARM + count, quick):
            event = ingested(number)
            with acknowledged.span():
                store.append(event)
        memory.recall(subject(0), "passes")
        for number in _ones(WARM + count + ONES, quick):
            event = ingested(number)
            with through.span():
                store.append(event)
                answer = memory.recall(subject(number), "passes")
            _expect(answer)
    bare.close()
    share = median(one / two for one, two in zip(limit.clock, whole.clock, strict=True))
    least = {"target": EVENTS_PER_SECOND_MIN, "bound": "at least"}
    return [
        whole.rate("ingest", BATCH, **least, limit=SQLITE, ratio=share, note="durable and in the view"),
        Line("ingest, of bare SQLite", share, "share", SHARE_OF_SQLITE_MIN, "at least", note="batch beside batch"),
        whole.rate("ingest, of orjson", BATCH, limit=ORJSON),
        whole.rate("ingest, of DuckDB", BATCH, limit=DUCKDB),
        Line("ingest, sustained", count / sum(whole.clock), "events/s", note="all batches, the slow ones included"),
        appended.rate("ingest, append alone", BATCH, limit=SQLITE),
        Line("ingest, a batch, p99", p99(whole.clock) * 1e3, "ms"),
        acknowledged.line("one event acknowledged", target=ACKNOWLEDGED_MS_MAX, limit=SQLITE_ONE),
        Line("one event acknowledged, p99", p99(acknowledged.clock) * 1e3, "ms"),
        through.line("one event, appended and read"),
    ]


def _ones(first: int, quick: bool) -> range:
    return range(first, first + (ONES // 4 if quick else ONES))


def _expect(answer: Answer) -> None:
    if answer.value is not True:
        raise RuntimeError(f"what was just appended is {answer.status}: what is measured would be wrong")
