"""The embedded runtime, over the double and over SQLite: a crash between two of its steps loses and doubles nothing."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tether_schemas.errors import BadEvent, BadNamespace, EventConflict, LogUnavailable
from tether_schemas.events import Envelope
from tether_schemas.facts import Asserted, FactRecord
from tether_schemas.topics import RAW, TOOL_RESULTS
from tether_streams.embedded.admission import Door, Limits
from tether_streams.embedded.extraction import FACT_TOPICS, history
from tether_streams.embedded.log import SqliteLog
from tether_streams.embedded.runtime import Options, Runtime
from tether_streams.memory import MemoryLog
from tether_streams.ports import Appended, Log, NewRecord, Stored

NOW_US = 1_800_000_000_000_000
ACME = Door("acme")


def clock_us() -> int:
    return NOW_US


class Crash(Exception):
    """The process ends here."""


class ViewDouble:
    """ports.View that keeps what it was given."""

    def __init__(self) -> None:
        self.at = 0
        self.records: dict[tuple[str, str, str], FactRecord] = {}
        self.batches: list[int] = []
        self.fails_at: int | None = None

    def position(self) -> int:
        return self.at

    def apply(self, records: Sequence[FactRecord], position: int) -> None:
        if self.fails_at is not None:
            self.fails_at -= 1
            if self.fails_at < 0:
                raise Crash
        assert position > self.at
        self.at = position
        self.batches.append(len(records))
        for record in records:
            self.records.setdefault((record.namespace, record.source, record.id), record)


class CrashingLog:
    """A log whose process ends just before or just after the nth append from now."""

    def __init__(self, log: Log, calls: int, after: bool) -> None:
        self._log = log
        self._calls = calls
        self._after = after

    def append(self, records: Sequence[NewRecord]) -> list[Appended]:
        self._calls -= 1
        if self._calls < 0 and not self._after:
            raise Crash
        answers = self._log.append(records)
        if self._calls < 0:
            raise Crash
        return answers

    def read(self, topics: Sequence[str], after: int, limit: int) -> list[Stored]:
        return self._log.read(topics, after, limit)

    def end(self, topics: Sequence[str]) -> int:
        return self._log.end(topics)

    def close(self) -> None:
        self._log.close()


@pytest.fixture(params=["memory", "sqlite"])
def log(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MemoryLog | SqliteLog]:
    made = MemoryLog(clock_us) if request.param == "memory" else SqliteLog.open(str(tmp_path / "l"), clock_us=clock_us)
    yield made
    made.close()


@pytest.fixture
def runtime(log: MemoryLog | SqliteLog) -> Runtime:
    return Runtime(log, log.letters, clock_us)


def write(number: int, **changed: Any) -> dict[str, Any]:
    arguments = {"subject": f"item:part{number}@1", "predicate": "passes", "value": True}
    data = {"tool": "memory.write", "arguments": arguments, "result": None, "is_error": False}
    head = {"specversion": "1.0", "id": str(number), "source": "ci", "time": "2026-01-01T00:00:00Z"}
    return {**head, "type": "tether.tool_result.v1", "data": data, **changed}


def test_facts_follow_events_and_the_view_follows_facts(runtime: Runtime, log: Log) -> None:
    receipts = runtime.append_many([write(number) for number in range(5)], ACME)
    view = ViewDouble()
    drive = runtime.drive(view)
    assert drive.catch_up() == int(receipts[-1].position or 0) == drive.position()
    assert [key[2] for key in view.records] == ["0", "1", "2", "3", "4"]
    assert view.at == log.end(FACT_TOPICS)


def test_a_read_when_nothing_is_new_applies_nothing(runtime: Runtime) -> None:
    runtime.append(write(1), ACME)
    view = ViewDouble()
    drive = runtime.drive(view)
    assert (drive.catch_up(), drive.catch_up(), view.batches) == (1, 1, [1])


def test_a_new_view_gets_the_facts_that_are_there_and_nothing_is_extracted_again(runtime: Runtime, log: Log) -> None:
    runtime.append_many([write(number) for number in range(5)], ACME)
    first, second = ViewDouble(), ViewDouble()
    runtime.drive(first).catch_up()
    end = log.end(FACT_TOPICS)
    again = runtime.drive(second)
    again.catch_up()
    assert second.records == first.records and log.end(FACT_TOPICS) == end
    assert [record for batch in history(log, 2)(end) for record in batch] == list(first.records.values())


def test_what_this_process_appended_is_what_the_log_gives(runtime: Runtime) -> None:
    """Events that are not decoded a second time make the same facts, also when a caller changes his dict afterwards."""
    value = ["a"]
    event = write(1)
    event["data"]["arguments"] |= {"predicate": "tags", "value": value}
    live = ViewDouble()
    drive = runtime.drive(live)
    runtime.append_many([event, write(2), orjson.dumps({**write(3)})], ACME)
    value.append("b")
    drive.catch_up()
    stored = ViewDouble()
    runtime.drive(stored).catch_up()
    assert live.records == stored.records
    [said] = [fact for fact in live.records["acme", "ci", "1"].facts if isinstance(fact, Asserted)]
    assert said.value == ["a"]


def test_batches_are_bounded(log: MemoryLog | SqliteLog) -> None:
    runtime = Runtime(log, log.letters, clock_us, Options(batch_records_max=3))
    runtime.append_many([write(number) for number in range(8)], ACME)
    view, late = ViewDouble(), ViewDouble()
    runtime.drive(view).catch_up()
    runtime.drive(late).catch_up()
    assert view.batches == late.batches == [3, 3, 2]


def test_an_event_that_cannot_be_decoded_is_a_dead_letter_and_nothing_waits_behind_it(
    runtime: Runtime, log: MemoryLog | SqliteLog
) -> None:
    """I-11: once, however often the process starts again."""
    foreign = NewRecord(TOOL_RESULTS, "acme", "ci", "x", "hash", b'{"type":"tether.tool_result.v1"}', b'{"tool":1}')
    runtime.append(write(1), ACME)
    log.append([foreign])
    first = runtime.drive(ViewDouble())
    assert first.catch_up() == log.end(RAW)
    runtime.drive(ViewDouble()).catch_up()
    runtime.append(write(2), ACME)
    view = ViewDouble()
    runtime.drive(view).catch_up()
    assert [key[2] for key in view.records] == ["1", "2"]
    [letter] = log.letters.list(0, 10)
    assert letter.stage == "extract" and orjson.loads(letter.payload)["data"] == {"tool": 1}


def test_a_fault_of_extraction_itself_stops_one_event_only(runtime: Runtime, log: MemoryLog | SqliteLog) -> None:
    """I-11"""
    view = ViewDouble()
    drive = runtime.drive(view)
    runtime.append_many([write(1), write(2)], ACME)
    runtime.recent.put([(log.read(RAW, 0, 1)[0], Envelope.model_construct())])
    drive.catch_up()
    assert [key[2] for key in view.records] == ["2"]
    assert log.letters.list(0, 10)[0].reason.startswith("extraction failed, ")


def test_what_others_append_in_between_is_extracted_in_its_place(runtime: Runtime, log: MemoryLog | SqliteLog) -> None:
    """What this process remembers of its own appends never passes over another's."""
    view, other = ViewDouble(), Runtime(log, log.letters, clock_us)
    drive = runtime.drive(view)
    for number in range(0, 40, 4):
        runtime.append_many([write(number), write(number + 1)], ACME)
        if number % 3 == 0:
            other.append(write(number + 2), ACME)
        runtime.append(write(number + 3), ACME)
        if number % 5 == 0:
            drive.catch_up()
    drive.catch_up()
    raw, made = log.read(RAW, 0, 100), history(log)(log.end(FACT_TOPICS))
    assert [record.offset for batch in made for record in batch] == [one.offset for one in raw]
    assert len(view.records) == len(raw) == 34


def test_nothing_is_read_back_that_this_process_appended(
    log: MemoryLog | SqliteLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime, view = Runtime(log, log.letters, clock_us), ViewDouble()
    drive = runtime.drive(view)
    monkeypatch.delattr(type(log), "read")
    for number in range(3):
        runtime.append_many([write(number), write(number + 10)], ACME)
        drive.catch_up()
    assert len(view.records) == 6


def test_arguments_that_only_extraction_checks_leave_the_evidence(runtime: Runtime, log: MemoryLog | SqliteLog) -> None:
    event = write(1, namespace="acme")
    event["data"]["arguments"]["value"] = "yes"
    names = ("acme", "ci", "1", "hash")
    envelope = orjson.dumps({name: value for name, value in event.items() if name != "data"})
    log.append([NewRecord(TOOL_RESULTS, *names, envelope, orjson.dumps(event["data"]))])
    view = ViewDouble()
    runtime.drive(view).catch_up()
    assert len(view.records["acme", "ci", "1"].facts) == 1
    assert "a verdict is true or false" in log.letters.list(0, 10)[0].reason


def test_append_says_what_is_wrong(runtime: Runtime) -> None:
    limits: list[tuple[Any, type[Exception], str]] = [
        (None, BadEvent, "not NoneType"),
        (write(1, namespace="beta"), BadNamespace, "through Store"),
        (write(1, time="2099-01-01T00:00:00Z"), BadEvent, "time: "),
        (write(1, time="2026-01-01T00:00:00"), BadEvent, "no offset"),
    ]
    for event, kind, text in limits:
        with pytest.raises(kind, match=text):
            runtime.append(event, ACME)
    runtime.append(write(1), ACME)
    with pytest.raises(EventConflict):
        runtime.append(write(1, subject="other"), ACME)


def test_text_beyond_any_payload_is_refused_before_it_is_read(log: MemoryLog | SqliteLog) -> None:
    runtime = Runtime(log, log.letters, clock_us, Options(Limits(payload_bytes_max=1000)))
    with pytest.raises(BadEvent, match="over the limit"):
        runtime.append(b"[" * 1_000_000, ACME)


def test_a_view_that_fails_is_brought_up_by_the_next_read(runtime: Runtime) -> None:
    view = ViewDouble()
    drive = runtime.drive(view)
    runtime.append(write(1), ACME)
    view.fails_at = 0
    with pytest.raises(Crash):
        drive.catch_up()
    runtime.append(write(2), ACME)
    view.fails_at = None
    drive.catch_up()
    assert [key[2] for key in view.records] == ["1", "2"]


def test_a_closed_log_says_so(runtime: Runtime, log: Log) -> None:
    log.close()
    with pytest.raises(LogUnavailable):
        runtime.append(write(1), ACME)


Step = tuple[
    int, int, bool, int | None
]  # events appended, appends until a crash, just after it, applications until one


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 7), st.integers(0, 4), st.booleans(), st.none() | st.integers(0, 3)), max_size=8)
)
def test_a_crash_anywhere_loses_and_doubles_nothing(steps: list[Step]) -> None:
    """I-10 and I-11: each step is a process that crashes in appending facts or in applying them."""
    log = MemoryLog(clock_us)
    view = ViewDouble()
    appended = 0
    for count, calls, after, fails_at in steps:
        whole = Runtime(log, log.letters, clock_us, Options(batch_records_max=2))
        whole.append_many([write(appended + number) for number in range(count)], ACME)
        appended += count
        crashing = Runtime(CrashingLog(log, calls, after), log.letters, clock_us, Options(batch_records_max=2))
        view.fails_at = fails_at
        _until_crash(crashing.drive(view).catch_up)
    view.fails_at = None
    drive = Runtime(log, log.letters, clock_us).drive(view)
    assert drive.catch_up() == log.end(RAW)
    assert list(view.records) == [("acme", "ci", str(number)) for number in range(appended)]
    assert len(log.read(FACT_TOPICS, 0, 1000)) == appended
    assert log.letters.list(0, 10) == []


def _until_crash(work: Callable[[], object]) -> None:
    try:
        work()
    except Crash:
        return
