"""Whether the live view is what the log's facts make: against a view made anew of them, table by table."""

import shutil
from bisect import bisect_right
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import orjson
from tether_projections.behind import behind
from tether_projections.compare import Comparison, TableFound
from tether_projections.engine import Engine
from tether_projections.snapshot import digest_of, snapshot
from tether_projections.store import Row, ViewStore
from tether_schemas.errors import BuildUnsound, LogCorrupt
from tether_schemas.reports import DifferingRow, DigestPair, RecordedEvent, TableDifference, Verified
from tether_schemas.topics import RAW, FactTopics
from tether_streams.embedded.extraction import raw_offset
from tether_streams.ports import Log, Stored

from tether_replay.build import Builder
from tether_replay.build import Progress as BuildProgress
from tether_replay.check import unsound
from tether_replay.views import Progress, Watch, no_watch

SCRATCH = "verifying-"
READ_RECORDS_MAX = 5_000


@dataclass(frozen=True, slots=True)
class Live:
    """What is verified: a caught-up view, its generation, the facts that it is made of, and the folder that the other
    one is made in. Whoever calls owns the view for as long as it takes."""

    generation: str
    engine: Engine
    topics: FactTopics
    folder: Path
    memory_mb: int = 1024
    threads: int = 2


def verify(log: Log, live: Live, watch: Watch = no_watch) -> Verified:
    """Build a view of the log's facts up to where the live one stands, compare the two, and remove it again.

    Raises LogCorrupt for facts that do not decode, ReplayFailed naming an event that cannot be applied, BuildUnsound
    when what was built is not what the log says, ViewUnavailable when the disk is full.
    """
    until = live.engine.position()
    missing = unfounded(log, live.topics, until, watch)
    with _scratch(live.folder) as place:
        rebuilt, records = _rebuilt(log, live, place, watch)
        digests = tuple(
            DigestPair(name, _live_digest(live.engine, name), rebuilt.get(name, digest_of([])))
            for name in sorted({*rebuilt, *_namespaces(live.engine)})
        )
        tables, tables_count = _compared(live.engine.store, str(place), watch)
    same = all(one.live == one.rebuilt for one in digests)
    return Verified(
        equal=same and not tables and missing is None,
        generation=live.generation,
        position=str(raw_offset(log, until, live.topics)),
        records=records,
        digests=digests,
        tables=tables,
        tables_count=tables_count,
        unfounded=missing,
    )


@contextmanager
def _scratch(folder: Path) -> Generator[Path]:
    """A place for a view; gone afterwards, and with it what a run that was killed left (nobody else owns the view)."""
    for left in folder.glob(f"{SCRATCH}*"):
        shutil.rmtree(left)
    with TemporaryDirectory(prefix=SCRATCH, dir=folder) as directory:
        yield Path(directory) / "views.duckdb"


def _rebuilt(log: Log, live: Live, place: Path, watch: Watch) -> tuple[dict[str, str], int]:
    """Make the view anew; the digest of each namespace, and how many events' facts it holds."""
    store = ViewStore(str(place), live.memory_mb, live.threads)
    try:
        builder = Builder(log, store, topics=live.topics)

        def step(progress: BuildProgress) -> None:
            watch(Progress("build", progress.done, progress.total, progress.records))

        until = live.engine.position()
        builder.advance(until, step)
        watch(Progress("check", until, until, builder.records))
        reason = unsound(log, builder, live.topics)
        if reason is not None:
            raise BuildUnsound("made to verify", reason)
        digests = {name: _digest(builder.engine, name) for name in _namespaces(builder.engine)}
        store.checkpoint()
        return digests, builder.records
    finally:
        store.close()


def _namespaces(engine: Engine) -> list[str]:
    return [str(row[0]) for row in engine.store.rows("SELECT DISTINCT namespace FROM evidence ORDER BY 1")]


def _digest(engine: Engine, namespace: str) -> str:
    return digest_of(snapshot(engine.store, engine.state, namespace))


def _live_digest(engine: Engine, namespace: str) -> str:
    """The same, or why there is none: rows that no replay makes need not make sense, and that is for the report."""
    try:
        return _digest(engine, namespace)
    except Exception as error:
        return f"none: {type(error).__name__}: {error}"


def _compared(store: ViewStore, place: str, watch: Watch) -> tuple[tuple[TableDifference, ...], int]:
    found: list[TableDifference] = []
    with Comparison(store, place) as comparison:
        tables = comparison.tables()
        for done, table in enumerate(tables):
            watch(Progress("compare", done, len(tables), done))
            one = comparison.table(table)
            if one.only_live or one.only_rebuilt:
                found.append(_told(store, one))
        watch(Progress("compare", len(tables), len(tables), len(tables)))
    return tuple(found), len(tables)


def _told(store: ViewStore, one: TableFound) -> TableDifference:
    first = [None if row is None else _row(store, one, row) for row in (one.first_live, one.first_rebuilt)]
    return TableDifference(one.table, one.only_live, one.only_rebuilt, *first)


def _row(store: ViewStore, one: TableFound, row: Row) -> DifferingRow:
    known = behind(store, one, row)
    events = tuple(
        RecordedEvent(namespace, source, identifier, str(position))
        for namespace, source, identifier, position in known.events
    )
    return DifferingRow(known.row, events, known.events_count)


def unfounded(log: Log, topics: FactTopics, until: int, watch: Watch = no_watch) -> str | None:
    """The first facts up to an offset that are of no event in the raw topics, in words; None where all are.

    Facts stand in the order of their events but for a few, so both are read about once.
    """
    after, checked = 0, 0
    while after < until and (batch := log.read(topics, after, READ_RECORDS_MAX)):
        facts = [one for one in batch if one.offset <= until]
        after = batch[-1].offset
        known = _raw_names(log, (_place(one)[1] for one in facts))
        for one in facts:
            topic, offset = _place(one)
            if known.get(offset) != (topic, one.namespace, one.source, one.id, one.content_hash):
                return (
                    f"the facts at {one.offset} are of no event: the log holds no {one.id!r} of source {one.source!r} "
                    f"in namespace {one.namespace!r} with their content at position {offset} of {topic}"
                )
        checked += len(facts)
        watch(Progress("log", min(after, until), until, checked))
    return None


def _place(facts: Stored) -> tuple[str, int]:
    """Topic and offset of the event that facts are of."""
    try:
        topic, _, offset = orjson.loads(facts.envelope)["raw"]
        return str(topic), int(offset)
    except (ValueError, KeyError, TypeError) as error:
        raise LogCorrupt(str(facts.offset), "these facts do not say which event they are of") from error


def _raw_names(log: Log, offsets: Iterable[int]) -> dict[int, tuple[str, str, str, str, str]]:
    """Topic, names and content hash of the events that stand at some offsets."""
    left = sorted(set(offsets))
    found: dict[int, tuple[str, str, str, str, str]] = {}
    while left and (batch := log.read(RAW, left[0] - 1, READ_RECORDS_MAX)):
        wanted = set(left)
        for one in batch:
            if one.offset in wanted:
                found[one.offset] = (one.topic, one.namespace, one.source, one.id, one.content_hash)
        left = left[bisect_right(left, batch[-1].offset) :]
    return found
