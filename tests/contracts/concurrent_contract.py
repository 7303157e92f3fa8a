"""What every Log promises to many threads, and what a durable one promises to reopening and to many processes."""

import multiprocessing
import threading
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise

from tether_schemas.topics import FACTS, RAW, TOOL_RESULTS
from tether_streams.ports import Appended, Log

from tests.contracts.log_contract import START_US, Clock, read_all, record

THREADS = 8
PROCESSES = 4
BATCHES = 40

OpenLog = Callable[[str, Callable[[], int]], Log]


def append_own_and_shared(log: Log, writer: int) -> list[Appended]:
    """Batches of 0 to 4 records of this writer's own, each with one that every writer appends."""
    answers: list[Appended] = []
    for batch in range(BATCHES):
        own = [record(f"{writer}:{batch}:{number}") for number in range(batch % 5)]
        answers += log.append([*own, record(f"shared:{batch}", FACTS)])
    return answers


def check_writers(log: Log, answered: list[list[Appended]]) -> None:
    """Every record is there once, where its writer was told, and one writer alone was told that it is new."""
    stored = read_all(log)
    new = [answer.offset for answers in answered for answer in answers if not answer.duplicate]
    assert sorted(new) == [one.offset for one in stored]
    assert len({(one.topic, one.id) for one in stored}) == len(stored)
    assert not any(answer.conflict for answers in answered for answer in answers)
    expected = len(answered) * sum(batch % 5 for batch in range(BATCHES)) + BATCHES
    assert len(stored) == expected
    for answers in answered:
        fresh = [answer.offset for answer in answers if not answer.duplicate]
        assert fresh == sorted(fresh)


class ThreadsContract:
    """Claims about many threads; a subclass gives the fixture `log`."""

    def test_many_threads_append_at_once_and_each_record_is_there_once(self, log: Log) -> None:
        with ThreadPoolExecutor(THREADS) as pool:
            answered = list(pool.map(append_own_and_shared, [log] * THREADS, range(THREADS)))
        check_writers(log, answered)

    def test_who_has_seen_an_offset_never_sees_a_lower_one_appear(self, log: Log) -> None:
        with ThreadPoolExecutor(THREADS) as pool:
            writers = [pool.submit(append_own_and_shared, log, writer) for writer in range(THREADS - 1)]
            seen: list[int] = []
            while not all(writer.done() for writer in writers):
                seen += [one.offset for one in log.read([*RAW, FACTS], seen[-1] if seen else 0, 7)]
        seen += [one.offset for one in log.read([*RAW, FACTS], seen[-1] if seen else 0, 10_000)]
        assert seen == [one.offset for one in read_all(log)]

    def test_of_two_contents_that_race_for_one_id_one_wins(self, log: Log) -> None:
        barrier = threading.Barrier(THREADS)

        def claim(writer: int) -> list[Appended]:
            barrier.wait()
            return [log.append([record(str(number), content=str(writer))])[0] for number in range(BATCHES)]

        with ThreadPoolExecutor(THREADS) as pool:
            answered = list(pool.map(claim, range(THREADS)))
        winners = [one.content_hash for one in read_all(log)]
        for number, winner in enumerate(winners):
            told = [answers[number].conflict for answers in answered]
            assert told == [str(writer) != winner for writer in range(THREADS)]

    def test_recorded_time_never_decreases_under_threads(self, log: Log, clock: Clock) -> None:
        def append(writer: int) -> None:
            for number in range(BATCHES):
                clock.now_us += (-7, 5, 3)[(writer + number) % 3]
                log.append([record(f"{writer}:{number}")])

        with ThreadPoolExecutor(THREADS) as pool:
            list(pool.map(append, range(THREADS)))
        assert all(one.recorded_us <= two.recorded_us for one, two in pairwise(read_all(log)))


@contextmanager
def opened(open_log: OpenLog, place: str, clock: Callable[[], int]) -> Generator[Log]:
    log = open_log(place, clock)
    try:
        yield log
    finally:
        log.close()


def _append_in_a_process(open_log: OpenLog, place: str, writer: int) -> list[Appended]:
    with opened(open_log, place, Clock(START_US - writer)) as log:
        return append_own_and_shared(log, writer)


class DurableContract:
    """Claims about what outlives a process; a subclass gives `open_log`, picklable, and `place`."""

    def test_what_was_appended_is_there_after_reopening(self, open_log: OpenLog, place: str) -> None:
        with opened(open_log, place, Clock()) as log:
            log.append([record("a"), record("b", FACTS)])
            before = read_all(log)
        with opened(open_log, place, Clock()) as log:
            assert read_all(log) == before
            assert log.end([*RAW, FACTS]) == 2

    def test_offsets_ids_and_time_go_on_after_reopening(self, open_log: OpenLog, place: str) -> None:
        """I-1 across processes: the receipt of a repeated event is the one it had before."""
        with opened(open_log, place, Clock()) as log:
            log.append([record("a")])
        with opened(open_log, place, Clock(START_US - 9)) as log:
            same, other, new = log.append([record("a"), record("a", content="other"), record("b")])
        assert same == Appended(1, START_US, duplicate=True)
        assert other == Appended(1, START_US, conflict=True)
        assert new == Appended(2, START_US)

    def test_one_handle_reads_what_another_appends(self, open_log: OpenLog, place: str) -> None:
        with opened(open_log, place, Clock()) as one, opened(open_log, place, Clock()) as other:
            for number in range(5):
                one.append([record(f"{number}:one")])
                other.append([record(f"{number}:other")])
                assert one.end([TOOL_RESULTS]) == other.end([TOOL_RESULTS]) == 2 * number + 2
            assert read_all(one) == read_all(other)

    def test_many_processes_open_and_append_at_once_and_each_record_is_there_once(
        self, open_log: OpenLog, place: str
    ) -> None:
        with multiprocessing.get_context("spawn").Pool(PROCESSES) as pool:
            tasks = [(open_log, place, writer) for writer in range(PROCESSES)]
            answered = pool.starmap(_append_in_a_process, tasks, chunksize=1)
        with opened(open_log, place, Clock()) as log:
            check_writers(log, answered)
            assert {one.recorded_us for one in read_all(log)} <= {START_US - writer for writer in range(PROCESSES)}
