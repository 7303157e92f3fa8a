"""The events of the benchmarks: verdicts that a build would report, each about its own subject."""

from collections.abc import Iterator, Sequence
from typing import Any

import orjson

NAMESPACE = "bench/graph"
SOURCE = "ci"
START = "2026-01-31T12:00:00.000000"
SHARED_PREMISES = 1_000


def subject(number: int) -> str:
    """The subject of one number: a package of its own at one version."""
    return f"pkg:golang/example.com/module{number}@v1.3.6"


def verdict(identifier: str, time: str, about: str, premises: Sequence[str]) -> dict[str, Any]:
    """`memory.write` of a true verdict that names its premises."""
    return {
        "specversion": "1.0",
        "id": identifier,
        "source": SOURCE,
        "type": "tether.tool_result.v1",
        "time": time,
        "namespace": NAMESPACE,
        "data": {
            "tool": "memory.write",
            "arguments": {
                "subject": about,
                "predicate": "passes",
                "value": True,
                "authority": "inferred",
                "derived_from": list(premises),
                "premises_complete": True,
            },
            "result": {"ok": True},
            "is_error": False,
        },
    }


def identifier(number: int) -> str:
    """The event id of one number."""
    return f"01J9ZK3V5N8Q2R7T4W{number:08d}"


def ingested(number: int) -> bytes:
    """One event of the ingest benchmark, as JSON: its premises are of a thousand dependencies at three versions."""
    premises = [f"pkg:golang/example.com/dep{(number * 7 + step) % SHARED_PREMISES}@v1.{step}.0" for step in range(3)]
    time = f"2026-01-31T12:{number // 60 % 60:02d}:{number % 60:02d}.{number % 1_000_000:06d}Z"
    return orjson.dumps(verdict(identifier(number), time, subject(number), premises))


def batches(first: int, count: int, size: int) -> Iterator[list[bytes]]:
    """`count` events from number `first` on, in batches."""
    for start in range(first, first + count, size):
        yield [ingested(number) for number in range(start, min(start + size, first + count))]
