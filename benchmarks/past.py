"""Recalls of a past on the large graph: what is upstream is read again and put through the engine."""

from collections.abc import Sequence
from pathlib import Path

from tether_projections.engine import Engine
from tether_projections.reader import Reader
from tether_projections.store import ViewStore
from tether_replay.directory import Generations
from tether_replay.past import Past, Question
from tether_schemas.codec import decode_record, encode_record, read_event
from tether_schemas.facts import FactRecord
from tether_schemas.topics import TOOL_RESULTS
from tether_streams.core.extract import RawPlace, extract
from tether_streams.memory import MemoryLog

from benchmarks import bulk
from benchmarks.events import NAMESPACE, subject
from benchmarks.graph import shape_of
from benchmarks.report import Line, Spans
from benchmarks.shape import Shape

NUMBERS = (100, 300, 1_000)  # nodes of the graph's ground, each with more upstream than the last
REPEATED = 15


def measure(folder: Path, quick: bool) -> list[Line]:
    """Recall nodes as of the position before the last; the facts are encoded beforehand, as a log has them."""
    shape = shape_of(quick)
    store = ViewStore(str(Generations(folder / "store").file("1")))
    engine = Engine(store, lambda position: [])
    upstream = {number: _upstream(shape, number) for number in NUMBERS}
    encoded = {place + 1: _encoded(shape, place) for places in upstream.values() for place in places}

    def facts_of(places: Sequence[int]) -> list[FactRecord]:
        return [decode_record(encoded[place]) for place in places]

    past = Past(engine, MemoryLog(lambda: 0), facts_of)
    lines = [_line(past, shape, number, len(places)) for number, places in upstream.items()]
    past.close()
    store.close()
    return lines


def _line(past: Past, shape: Shape, number: int, size: int) -> Line:
    reader, about, spans = Reader(NAMESPACE), subject(number), Spans()
    for _ in range(REPEATED):
        with spans.span(), past.queries(Question(reader, about, "passes", ""), shape.nodes - 1) as queries:
            status = queries.recall(reader, about, "passes", now_us=bulk.RECORDED_US).status
        if status != "current":
            raise RuntimeError(f"a past recall says {status}, not current: what is measured would be wrong")
    return spans.line(f"past recall, {size} upstream", note="of the position before the last")


def _upstream(shape: Shape, number: int) -> set[int]:
    found, stack = {number}, [number]
    while stack:
        for premise in shape.premises[stack.pop()].tolist():
            if premise >= 0 and premise not in found:
                found.add(premise)
                stack.append(premise)
    return found


def _encoded(shape: Shape, number: int) -> bytes:
    decoded = read_event(bulk.event_of(shape, number))
    place = RawPlace(bulk.RECORDED_US, TOOL_RESULTS, 0, number + 1, decoded.content_hash)
    return encode_record(extract(decoded.event, place)[0])
