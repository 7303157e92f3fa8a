"""Golden logs: raw events of every type and version ever shipped, and the records that they must decode to, for ever.

One file per type and version, one event per line: `event` as it was published, `record` as extraction answered, and
where a line needs them the `rules` in force and the `faults`. Add lines, never edit one. To add one, leave its `record`
out: the failing test shows it.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from tether_schemas.codec import decode_record, encode_record, read_event
from tether_schemas.topics import TOPIC_OF_TYPE
from tether_streams.core.extract import RawPlace, extract
from tether_streams.core.rules import RuleSet

FOLDER = Path(__file__).parent
LINES = [
    pytest.param(json.loads(line), id=f"{path.stem}:{number}")
    for path in sorted(FOLDER.glob("*.jsonl"))
    for number, line in enumerate(path.read_text().splitlines(), 1)
]


def answer(line: dict[str, Any]) -> dict[str, Any]:
    """What a line's event becomes, at a place that is the same for all."""
    rules = RuleSet.compile(line["rules"]) if "rules" in line else None
    decoded = read_event(json.dumps(line["event"]), arguments=False)
    place = RawPlace(1_700_000_000_000_000, TOPIC_OF_TYPE[line["event"]["type"]], 0, 1, decoded.content_hash)
    record, faults = extract(decoded.event, place, rules)
    told = {"faults": [fault.reason for fault in faults]} if faults else {}
    return {**line, "record": json.loads(encode_record(record)), **told}


@pytest.mark.parametrize("line", LINES)
def test_an_event_becomes_what_it_always_became(line: dict[str, Any]) -> None:
    assert json.dumps(answer(line), sort_keys=True) == json.dumps(line, sort_keys=True)  # 1 is not 1.0


@pytest.mark.parametrize("line", LINES)
def test_a_stored_record_is_still_read(line: dict[str, Any]) -> None:
    stored = json.dumps(line["record"]).encode()
    assert json.loads(encode_record(decode_record(stored))) == line["record"]


def test_every_type_has_its_file() -> None:
    assert {path.stem for path in FOLDER.glob("*.jsonl")} >= set(TOPIC_OF_TYPE)
