"""Logs that hold random facts, and views of them."""

from collections.abc import Iterable, Sequence
from random import Random

from tether_projections.engine import Engine
from tether_projections.snapshot import snapshot
from tether_projections.state import State
from tether_projections.store import ViewStore
from tether_schemas.facts import FactRecord
from tether_streams.embedded.extraction import history, new_record
from tether_streams.memory import MemoryLog
from tether_streams.ports import NewRecord

from tests.projections.driven import NAMESPACES, cut

RECORDED_US = 1_800_000_000_000_000


def fact_log(records: Iterable[FactRecord]) -> tuple[MemoryLog, list[FactRecord]]:
    """A log of facts, and those that it took: of two contents for one event id an embedded log takes the first."""
    log = MemoryLog(lambda: RECORDED_US)
    taken: list[FactRecord] = []
    for record in records:
        [appended] = log.append([new_record(record)._replace(made_of=None)])
        if not appended.duplicate and not appended.conflict:
            taken.append(record)
    return log, taken


def whole_log(records: Iterable[FactRecord]) -> tuple[MemoryLog, list[tuple[FactRecord, int]]]:
    """A log of the events that records are of, without content, and then of their facts; the records as they came to
    stand there, each with its offset."""
    log = MemoryLog(lambda: RECORDED_US)
    stand: list[FactRecord] = []
    for one in records:
        event = NewRecord(one.topic, one.namespace, one.source, one.id, one.content_hash, b"{}", b"{}")
        [appended] = log.append([event])
        if not appended.duplicate and not appended.conflict:
            stand.append(one.model_copy(update={"offset": appended.offset, "recorded_us": appended.recorded_us}))
    return log, [(one, log.append([new_record(one)])[0].offset) for one in stand]


def followed(log: MemoryLog, records: Sequence[FactRecord], random: Random) -> tuple[ViewStore, Engine]:
    """A view that was live while the log grew: it took these records in batches as they came."""
    store = ViewStore(":memory:")
    engine = Engine(store, history(log))
    position = 0
    for batch in cut(records, random):
        position += len(batch)
        engine.apply(batch, position)
    return store, engine


def snapshots(store: ViewStore, state: State) -> list[list[list[object]]]:
    """The snapshot of every namespace of the histories."""
    return [snapshot(store, state, namespace) for namespace in NAMESPACES]
