"""What every Log promises, one claim per test. A subclass gives the fixture `log`; `record` and `Clock` are for all."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from tether_schemas.errors import BadRequest, LogUnavailable
from tether_schemas.topics import ADVISORIES, CHANGES, DECISIONS, FACTS, FACTS_PUBLIC, RAW, TOOL_RESULTS, TRANSCRIPTS
from tether_streams.ports import READ_BYTES_MAX, Appended, Log, NewRecord, Stored

START_US = 1_700_000_000_000_000


@dataclass
class Clock:
    """A clock that the test sets."""

    now_us: int = START_US

    def __call__(self) -> int:
        return self.now_us


@dataclass
class BrokenClock:
    """A clock that fails where the test says so."""

    fails: bool = field(default=False)

    def __call__(self) -> int:
        if self.fails:
            raise RuntimeError("no time")
        return START_US


def record(id: str, topic: str = TOOL_RESULTS, content: str = "same", **fields: Any) -> NewRecord:
    """A record of the namespace acme and the source ci unless said otherwise; its hash is its content."""
    names: dict[str, Any] = {"namespace": "acme", "source": "ci", "payload": f'{{"of": "{content}"}}'.encode()} | fields
    return NewRecord(topic=topic, id=id, content_hash=content, envelope=b'{"specversion": "1.0"}', **names)


def read_all(log: Log, topics: Sequence[str] = (*RAW, FACTS, FACTS_PUBLIC, CHANGES), limit: int = 1000) -> list[Stored]:
    """Everything in the log, read as a consumer does: batch after batch, until one is empty."""
    found: list[Stored] = []
    while batch := log.read(topics, found[-1].offset if found else 0, limit):
        found += batch
    return found


def ids(stored: Sequence[Stored]) -> list[str]:
    return [one.id for one in stored]


class LogContract:
    """Claims about one log in one process."""

    def test_offsets_start_at_1_and_rise_in_the_order_given(self, log: Log) -> None:
        answers = log.append([record("a"), record("b")]) + log.append([record("c")])
        assert [answer.offset for answer in answers] == [1, 2, 3]

    def test_one_sequence_of_offsets_runs_over_all_topics(self, log: Log) -> None:
        log.append([record("a"), record("b", TRANSCRIPTS), record("c"), record("d", FACTS)])
        log.append([record("e", TRANSCRIPTS)])
        assert [(one.offset, one.id) for one in log.read([TRANSCRIPTS], 0, 10)] == [(2, "b"), (5, "e")]
        assert ids(read_all(log)) == ["a", "b", "c", "d", "e"]

    def test_what_is_appended_is_read_back_whole(self, log: Log, clock: Clock) -> None:
        log.append([NewRecord(DECISIONS, "acme/ws", "urn:x", "7", "hash", b"\x00envelope\xff", b"\x00payload\xff")])
        expected = Stored(
            DECISIONS, 0, 1, clock.now_us, "acme/ws", "urn:x", "7", "hash", b"\x00envelope\xff", b"\x00payload\xff"
        )
        assert log.read([DECISIONS], 0, 10) == [expected]

    def test_an_empty_batch_is_no_record(self, log: Log) -> None:
        assert log.append([]) == []
        assert log.end(RAW) == 0

    def test_an_empty_payload_is_not_a_destroyed_one(self, log: Log) -> None:
        log.append([record("a", payload=b"")])
        assert log.read([TOOL_RESULTS], 0, 10)[0].payload == b""

    def test_a_record_without_payload_is_read_back_as_one_whose_payload_was_destroyed(self, log: Log) -> None:
        log.append([record("a"), record("b", payload=None)])
        log.append([record("b", payload=None), record("c", payload=None), record("d")])
        assert [one.payload is None for one in log.read([TOOL_RESULTS], 0, 10)] == [False, True, True, False]

    @pytest.mark.parametrize("limit", [1, 2, 3, 7, 1000])
    def test_reading_batch_after_batch_gives_everything_once(self, log: Log, limit: int) -> None:
        log.append([record(str(number), RAW[number % 5]) for number in range(25)])
        assert ids(read_all(log, limit=limit)) == [str(number) for number in range(25)]

    def test_a_read_holds_no_more_than_its_limit(self, log: Log) -> None:
        log.append([record(name) for name in "abcdef"])
        assert ids(log.read([TOOL_RESULTS], 2, 3)) == ["c", "d", "e"]
        assert log.read([TOOL_RESULTS], 0, 0) == []

    def test_a_read_stops_early_at_its_bound_of_bytes_and_goes_on_from_there(self, log: Log) -> None:
        payload = b" " * (READ_BYTES_MAX // 4)
        log.append([record(name, payload=payload) for name in "abcde"])
        assert ids(log.read([TOOL_RESULTS], 0, 10)) == ["a", "b", "c", "d"]
        assert ids(log.read([TOOL_RESULTS], 4, 10)) == ["e"]

    def test_what_nobody_asked_for_is_not_read(self, log: Log) -> None:
        log.append([record("a"), record("b", FACTS)])
        assert ids(log.read([FACTS, ADVISORIES, "no-such-topic"], 0, 10)) == ["b"]
        assert ids(log.read([FACTS, FACTS], 0, 10)) == ["b"]
        assert log.read([], 0, 10) == []

    def test_the_end_is_the_highest_offset_of_the_topics_asked_for(self, log: Log) -> None:
        log.append([record("a"), record("b", FACTS), record("c", TRANSCRIPTS)])
        ends = [log.end(topics) for topics in ([TOOL_RESULTS], [TOOL_RESULTS, FACTS], RAW, [ADVISORIES], [])]
        assert ends == [1, 2, 3, 0, 0]

    def test_the_same_content_again_gets_the_same_receipt(self, log: Log, clock: Clock) -> None:
        """I-1: same id and content, same receipt, and nothing is written."""
        log.append([record("a"), record("b")])
        clock.now_us += 5
        (again,) = log.append([record("b")])
        assert again == (2, START_US, True, False)
        assert ids(read_all(log)) == ["a", "b"]

    def test_other_content_under_the_same_id_is_refused_and_the_first_stands(self, log: Log) -> None:
        """I-1: evidence is never edited; what else is in the batch is written."""
        log.append([record("a", content="first")])
        refused, new = log.append([record("a", content="second"), record("b")])
        assert (refused.offset, refused.duplicate, refused.conflict) == (1, False, True)
        assert (new.offset, new.duplicate, new.conflict) == (2, False, False)
        assert [(one.id, one.content_hash) for one in read_all(log)] == [("a", "first"), ("b", "same")]

    def test_within_one_batch_the_first_of_an_id_counts(self, log: Log) -> None:
        batch = [record("a"), record("a"), record("b"), record("a", content="other"), record("c")]
        answers = log.append(batch)
        assert [(one.offset, one.duplicate, one.conflict) for one in answers] == [
            *((1, False, False), (1, True, False), (2, False, False), (1, False, True), (3, False, False))
        ]
        assert [(one.id, one.content_hash) for one in read_all(log)] == [("a", "same"), ("b", "same"), ("c", "same")]

    def test_old_and_new_records_mix_in_a_large_batch(self, log: Log) -> None:
        log.append([record(str(number)) for number in range(0, 1000, 3)])
        answers = log.append([record(str(number)) for number in range(1000)])
        assert [number for number, answer in enumerate(answers) if answer.duplicate] == list(range(0, 1000, 3))
        stored = {one.id: one.offset for one in read_all(log)}
        assert [answer.offset for answer in answers] == [stored[str(number)] for number in range(1000)]
        assert sorted(stored.values()) == list(range(1, 1001))

    def test_all_raw_topics_share_one_space_of_ids(self, log: Log) -> None:
        log.append([record("a", TRANSCRIPTS)])
        same, other = log.append([record("a", TOOL_RESULTS), record("a", DECISIONS, content="other")])
        assert (same.offset, same.duplicate, other.offset, other.conflict) == (1, True, 1, True)

    def test_facts_and_other_topics_have_spaces_of_their_own(self, log: Log) -> None:
        answers = log.append([record("a"), record("a", FACTS), record("a", CHANGES), record("a", FACTS_PUBLIC)])
        assert [(one.offset, one.duplicate) for one in answers] == [(1, False), (2, False), (3, False), (2, True)]

    def test_facts_that_say_what_they_are_made_of_are_told_apart_as_any(self, log: Log) -> None:
        log.append([record("a"), record("b", TRANSCRIPTS)])
        made = [record("a", FACTS, made_of=1), record("a", FACTS_PUBLIC, made_of=1), record("b", FACTS, made_of=2)]
        answers = log.append([*made, record("b", FACTS, "other", made_of=2), record("c", FACTS)])
        assert answers == [
            *(Appended(3, START_US), Appended(3, START_US, duplicate=True), Appended(4, START_US)),
            *(Appended(4, START_US, conflict=True), Appended(5, START_US)),
        ]
        again = log.append([record("c", FACTS), *made, record("a")])
        assert [(answer.offset, answer.duplicate) for answer in again] == [(at, True) for at in (5, 3, 3, 4, 1)]

    def test_the_same_id_of_another_namespace_or_source_is_another_record(self, log: Log) -> None:
        batch = [record("a"), record("a", namespace="acme/ws"), record("a", source="cd"), record("i", source="ca")]
        assert [answer.offset for answer in log.append(batch)] == [1, 2, 3, 4]

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            *(("a", "A"), ("straße", "strasse"), ("\u00e9", "e\u0301"), ("\u212b", "\u00c5"), ("a", "a "), ("", " ")),
            *(("a", "a\x00"), ("a\x00b", "a\x00c"), ("1", "01"), ("1", "1.0"), ("\U0001f600", "\U0001f601")),
            *(("a", "\u200ba"), ("\uffff", "\U00010000"), ("x" * 100_000 + "a", "x" * 100_000 + "b"), ("%", "_")),
        ],
    )
    def test_ids_that_look_alike_are_distinct_and_kept_exactly(self, log: Log, one: str, other: str) -> None:
        log.append([record(one), record(other)])
        assert ids(read_all(log)) == [one, other]
        assert [answer.duplicate for answer in log.append([record(other), record(one)])] == [True, True]

    @pytest.mark.parametrize("name", ["id", "namespace", "source", "content_hash"])
    def test_text_without_utf8_refuses_the_whole_batch(self, log: Log, name: str) -> None:
        fields: dict[str, Any] = {"namespace": "acme", "source": "ci", "id": "b", "content_hash": "h"}
        fields |= {name: "lone \ud800"}
        with pytest.raises(BadRequest):
            log.append([record("a"), NewRecord(TOOL_RESULTS, **fields, envelope=b"{}", payload=b"{}")])
        assert read_all(log) == []
        assert log.append([record("a")])[0].offset == 1

    def test_recorded_time_is_the_clocks(self, log: Log, clock: Clock) -> None:
        clock.now_us += 42
        assert log.append([record("a")])[0].recorded_us == START_US + 42

    def test_recorded_time_never_decreases_when_the_clock_goes_back(self, log: Log, clock: Clock) -> None:
        log.append([record("a")])
        clock.now_us -= 1_000_000
        log.append([record("b")])
        clock.now_us += 1_000_001
        log.append([record("c")])
        assert [one.recorded_us for one in read_all(log)] == [START_US, START_US, START_US + 1]

    def test_a_closed_log_says_so(self, log: Log) -> None:
        log.close()
        log.close()
        for call in (lambda: log.append([record("a")]), lambda: log.read(RAW, 0, 1), lambda: log.end(RAW)):
            with pytest.raises(LogUnavailable, match="closed"):
                call()


class PurgeContract:
    """Claims about destroying a payload; a subclass gives `log` and `destroy` (topic, namespace, source, id)."""

    def test_history_replays_when_a_payload_is_destroyed(self, log: Log, destroy: Callable[..., bool]) -> None:
        log.append([record("a"), record("b"), record("c")])
        before = read_all(log)
        assert destroy(TOOL_RESULTS, "acme", "ci", "b")
        assert read_all(log) == [before[0], before[1]._replace(payload=None), before[2]]

    def test_appending_again_does_not_bring_a_destroyed_payload_back(
        self, log: Log, destroy: Callable[..., bool]
    ) -> None:
        """I-5, as far as it is the log's: the event is still a duplicate, or a conflict; its bytes stay destroyed."""
        log.append([record("a")])
        destroy(TOOL_RESULTS, "acme", "ci", "a")
        again, other = log.append([record("a"), record("a", content="other")])
        assert (again.duplicate, other.conflict) == (True, True)
        assert [one.payload for one in read_all(log)] == [None]

    def test_facts_that_say_what_they_are_made_of_are_destroyed_by_name(
        self, log: Log, destroy: Callable[..., bool]
    ) -> None:
        log.append([record("a"), record("a", FACTS, made_of=1)])
        assert destroy(FACTS, "acme", "ci", "a") and not destroy(FACTS, "acme", "ci", "a")
        assert [one.payload is None for one in read_all(log)] == [False, True]

    def test_destroying_what_is_not_there_says_so(self, log: Log, destroy: Callable[..., bool]) -> None:
        log.append([record("a"), record("a", FACTS)])
        assert not destroy(TOOL_RESULTS, "acme", "ci", "b")
        assert destroy(TOOL_RESULTS, "acme", "ci", "a")
        assert not destroy(TOOL_RESULTS, "acme", "ci", "a")
        assert [one.payload is None for one in read_all(log)] == [True, False]
