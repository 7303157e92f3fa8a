"""The contract of the log and of dead letters, over the double and over SQLite."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tether_schemas.topics import FACTS, FACTS_PUBLIC, TOOL_RESULTS, TRANSCRIPTS
from tether_streams.embedded.log import SqliteLog
from tether_streams.memory import MemoryLog
from tether_streams.ports import Letters, NewRecord

from tests.contracts.concurrent_contract import DurableContract, OpenLog, ThreadsContract
from tests.contracts.letters_contract import LettersContract
from tests.contracts.log_contract import Clock, LogContract, PurgeContract, read_all, record


def open_sqlite(place: str, clock_us: Callable[[], int]) -> SqliteLog:
    return SqliteLog.open(place, clock_us=clock_us)


@pytest.fixture
def clock() -> Clock:
    return Clock()


class TestMemoryLog(LogContract, PurgeContract, ThreadsContract, LettersContract):
    @pytest.fixture
    def log(self, clock: Clock) -> MemoryLog:
        return MemoryLog(clock)

    @pytest.fixture
    def destroy(self, log: MemoryLog) -> Callable[..., bool]:
        return log.destroy_payload

    @pytest.fixture
    def letters(self, log: MemoryLog) -> Letters:
        return log.letters


class TestSqliteLog(LogContract, PurgeContract, ThreadsContract, DurableContract, LettersContract):
    @pytest.fixture
    def place(self, tmp_path: Path) -> str:
        return str(tmp_path / "log.sqlite")

    @pytest.fixture
    def open_log(self) -> OpenLog:
        return open_sqlite

    @pytest.fixture
    def log(self, place: str, clock: Clock) -> Iterator[SqliteLog]:
        log = open_sqlite(place, clock)
        yield log
        log.close()

    @pytest.fixture
    def destroy(self, log: SqliteLog) -> Callable[..., bool]:
        return log.destroy_payload

    @pytest.fixture
    def letters(self, log: SqliteLog) -> Letters:
        return log.letters


RECORDS = st.builds(
    record,
    id=st.sampled_from(["a", "b", "c", "é", "\U0001f600"]),
    topic=st.sampled_from([TOOL_RESULTS, TRANSCRIPTS, FACTS, FACTS_PUBLIC]),
    content=st.sampled_from(["one", "two"]),
    namespace=st.sampled_from(["acme", "*"]),
)


@settings(max_examples=60, deadline=None)
@given(batches=st.lists(st.tuples(st.integers(-3, 3), st.lists(RECORDS, max_size=8)), max_size=6))
def test_the_double_and_the_file_answer_alike(
    tmp_path_factory: pytest.TempPathFactory, batches: list[tuple[int, list[NewRecord]]]
) -> None:
    clock = Clock()
    double, file = MemoryLog(clock), open_sqlite(str(tmp_path_factory.mktemp("log") / "log.sqlite"), clock)
    for step_us, batch in batches:
        clock.now_us += step_us
        assert double.append(batch) == file.append(batch)
    assert read_all(double, limit=3) == read_all(file, limit=5)
    file.close()
