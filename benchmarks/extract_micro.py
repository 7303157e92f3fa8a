"""Microseconds per event on the way from JSON bytes to facts, step by step: `python -m benchmarks.extract_micro`.

The events are verdicts with three premises each, all different: own ids, times and subjects, premises out of a
thousand. Each step runs over all of them, several times; the least processor time counts, since the machine is
shared. `orjson_loads` of the same bytes is the yardstick. `read`, `facts` and `facts_again` (from the bytes of the log)
are the steps of the runtime, without the log itself; the others make models of the event in between.
"""

import json
import time
from collections.abc import Callable, Sequence
from typing import Any

import orjson
from tether_schemas.codec import (
    Decoded,
    Read,
    decode_event,
    decode_record,
    encode_record,
    read,
    read_event,
    read_stored,
)
from tether_schemas.facts import FactRecord
from tether_schemas.topics import TOOL_RESULTS
from tether_schemas.usual import Usual
from tether_streams.core.extract import RawPlace, extract, extract_usual

EVENTS = 2_000
ROUNDS = 15


def event(number: int) -> dict[str, Any]:
    """One `memory.write` of a verdict, as a build would report it."""
    premises = [f"pkg:golang/example.com/dep{(number * 7 + step) % 1000}@v1.{step}.0" for step in range(3)]
    return {
        "specversion": "1.0",
        "id": f"01J9ZK3V5N8Q2R7T4W{number:08d}",
        "source": "ci",
        "type": "tether.tool_result.v1",
        "time": f"2026-01-31T12:{number // 60 % 60:02d}:{number % 60:02d}.{number:06d}Z",
        "namespace": "acme/build",
        "data": {
            "session_id": "s-1",
            "call_id": f"c-{number}",
            "tool": "memory.write",
            "arguments": {
                "subject": f"pkg:golang/example.com/module{number}@v1.3.6",
                "predicate": "passes",
                "value": number % 10 != 0,
                "authority": "inferred",
                "confidence": 0.9,
                "derived_from": premises,
                "premises_complete": True,
            },
            "result": {"ok": True},
            "is_error": False,
        },
    }


def per_event_us(step: Callable[[Any], object], inputs: Sequence[Any]) -> float:
    """The least time of ROUNDS passes of `step` over `inputs`, in microseconds per input."""
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.process_time()
        for each in inputs:
            step(each)
        best = min(best, time.process_time() - start)
    return round(best / len(inputs) * 1e6, 2)


def measure() -> dict[str, float]:
    """Microseconds per event of each step."""
    texts = [orjson.dumps(event(number)) for number in range(EVENTS)]
    known = [read(text) for text in texts]
    decoded = [read_event(text) for text in texts]
    records = [_extract(each)[0] for each in decoded]
    stored = [encode_record(record) for record in records]
    return {
        "orjson_loads": per_event_us(orjson.loads, texts),
        "read": per_event_us(read, texts),
        "facts": per_event_us(_facts, known),
        "facts_again": per_event_us(_facts_again, known),
        "read_event_from_bytes": per_event_us(read_event, texts),
        "read_event_from_dict": per_event_us(read_event, [each.fields for each in decoded]),
        "decode_event": per_event_us(decode_event, [each.fields for each in decoded]),
        "extract": per_event_us(_extract, decoded),
        "encode_record": per_event_us(encode_record, records),
        "decode_record": per_event_us(decode_record, stored),
    }


def _facts(known: Read) -> bytes:
    """The stored record of an event that was read."""
    assert isinstance(known.event, Usual)
    return orjson.dumps(extract_usual(known.event, RawPlace(1, TOOL_RESULTS, 0, 1, known.content_hash), None)[1])


def _facts_again(known: Read) -> bytes:
    """The same of an event as the log holds it."""
    event = read_stored(known.envelope, known.payload)
    assert isinstance(event, Usual)
    return orjson.dumps(extract_usual(event, RawPlace(1, TOOL_RESULTS, 0, 1, known.content_hash), None)[1])


def _extract(decoded: Decoded) -> tuple[FactRecord, object]:
    return extract(decoded.event, RawPlace(1, TOOL_RESULTS, 0, 1, decoded.content_hash))


if __name__ == "__main__":
    print(json.dumps(measure(), indent=2))
