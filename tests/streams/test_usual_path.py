"""The whole way of the usual event, from what came to durable facts, is the same as without reading it fast."""

import json
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tether_schemas import codec
from tether_schemas.topics import FACTS, FACTS_PUBLIC, RAW
from tether_streams.embedded.admission import Door
from tether_streams.embedded.extraction import BATCH_RECORDS_MAX, Extraction
from tether_streams.embedded.runtime import Runtime
from tether_streams.memory import MemoryLog

from tests.contracts.log_contract import Clock
from tests.raw import Json, put
from tests.schemas.test_codec import GOOD
from tests.schemas.test_fuzz import mutated
from tests.schemas.test_usual import USUAL, careful, written

RAWS = st.one_of(written(), mutated(), st.sampled_from([USUAL, *GOOD]))
CLOCK = Clock(1_800_000_000_000_000)  # after the events' times
NAMED = st.sampled_from(["e-1", "e-2", "e-3", "e-4"])


@st.composite
def batches(draw: st.DrawFn) -> list[Any]:
    """Events in any form, some of one id."""
    found: list[Any] = []
    for raw in draw(st.lists(RAWS, max_size=6)):
        event: Any = {**raw, "id": draw(NAMED)} if hasattr(raw, "keys") and draw(st.booleans()) else raw
        form = draw(st.sampled_from([None, orjson.dumps, json.dumps]))
        try:
            found.append(event if form is None else form(event))
        except (TypeError, ValueError):
            found.append(event)
    return found


def outcome(events: list[Any], door: Door, *, extracts: bool) -> Any:
    """Receipts, dead letters, and every record; `extracts`: by the process that appends, else by one that reads."""
    log = MemoryLog(CLOCK)
    runtime = Runtime(log, log.letters, CLOCK)
    extraction = Extraction(log, log.letters, runtime.recent) if extracts else None
    receipts = runtime.append_many(events, door)
    extraction = extraction or Extraction(log, log.letters, Runtime(log, log.letters, CLOCK).recent)
    step = extraction.step()
    records = [] if step is None else list(map(repr, step.records))
    stored = log.read([*RAW, FACTS, FACTS_PUBLIC], 0, BATCH_RECORDS_MAX)
    return receipts, records, stored, log.letters.list(0, BATCH_RECORDS_MAX)


def test_events_of_the_future_are_refused_alike() -> None:
    ahead = [
        put(USUAL, "time", "2027-02-01T00:00:00Z"),
        put(USUAL, "data.arguments.observed_at", "2027-02-01T00:00:00Z"),
    ]
    receipts = outcome([*ahead, *map(orjson.dumps, ahead)], Door(), extracts=True)[0]
    assert [(receipt.rejected or "").partition(": ")[0] for receipt in receipts] == [
        *("time", "data.arguments.observed_at") * 2
    ]


@settings(max_examples=300, deadline=None)
@given(batches(), st.sampled_from([Door(), Door("acme")]), st.booleans())
def test_any_batch_ends_in_the_same_log(events: list[Any], door: Door, extracts: bool) -> None:
    assert outcome(events, door, extracts=extracts) == careful(lambda: outcome(events, door, extracts=extracts))


@pytest.mark.parametrize("extracts", [True, False])
@pytest.mark.parametrize("raw", [USUAL, orjson.dumps(USUAL), json.dumps(USUAL), put(USUAL, "data.session_id", "s-1")])
def test_the_usual_event_makes_no_model_but_its_facts(
    raw: Json | bytes | str, extracts: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise every event would take twice the time."""

    def refuse(*_: Any) -> None:
        raise AssertionError("read slowly")

    for name in ("_validate", "model_of"):
        monkeypatch.setattr(codec, name, refuse)
    receipts, records, stored, letters = outcome([raw], Door("acme"), extracts=extracts)
    assert [receipt.rejected for receipt in receipts] == [None]
    assert (len(records), len(stored), letters) == (1, 2, [])
