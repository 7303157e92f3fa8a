"""What is SQLite's own in the log: whose file it is, full disks, locks, readers beside the writer, destroyed bytes."""

import contextlib
import multiprocessing
import os
import resource
import sqlite3
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import pytest
from tether_schemas.errors import DataDirectory, LogCorrupt, LogUnavailable
from tether_schemas.topics import FACTS, FACTS_PUBLIC, RAW, TOOL_RESULTS
from tether_streams.embedded import log as log_module
from tether_streams.embedded.log import SqliteLog
from tether_streams.ports import NewRecord

from tests.contracts.log_contract import BrokenClock, Clock, read_all, record


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "log.sqlite"


@contextlib.contextmanager
def opened(
    path: Path, clock_us: Callable[[], int] | None = None, busy_timeout_ms: int = 30_000
) -> Generator[SqliteLog]:
    log = SqliteLog.open(str(path), clock_us=clock_us or Clock(), busy_timeout_ms=busy_timeout_ms)
    try:
        yield log
    finally:
        log.close()


@pytest.fixture
def log(path: Path) -> Iterator[SqliteLog]:
    with opened(path) as log:
        yield log


@contextlib.contextmanager
def by_hand(path: Path) -> Generator[sqlite3.Connection]:
    """The file as any SQLite program opens it."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None, timeout=0)) as connection:
        yield connection


def test_a_newer_schema_says_to_upgrade(path: Path) -> None:
    with opened(path) as log:
        log.append([record("a")])
    with by_hand(path) as connection:
        connection.execute("INSERT INTO schema_version VALUES (2)")
    with pytest.raises(DataDirectory, match=r"newer schema 2.*upgrade tether"):
        SqliteLog.open(str(path), clock_us=Clock())


def test_somebody_elses_sqlite_file_is_left_as_it_is(path: Path) -> None:
    with by_hand(path) as connection:
        connection.execute("CREATE TABLE theirs (x)")
    before = path.read_bytes()
    with pytest.raises(DataDirectory, match="no log of Tether's"):
        SqliteLog.open(str(path), clock_us=Clock())
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "content", [b"not a database, and long enough to show it" * 100, b"SQLite format 3\x00" + b"x" * 99]
)
def test_what_is_no_sqlite_file_is_left_as_it_is(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(DataDirectory, match="another data directory"):
        SqliteLog.open(str(path), clock_us=Clock())
    assert path.read_bytes() == content


def test_a_missing_folder_says_so(tmp_path: Path) -> None:
    with pytest.raises(DataDirectory, match="folder does not exist"):
        SqliteLog.open(str(tmp_path / "missing" / "log.sqlite"), clock_us=Clock())
    assert not (tmp_path / "missing").exists()


def test_a_folder_in_its_place_says_so(path: Path) -> None:
    path.mkdir()
    with pytest.raises(LogUnavailable, match="cannot be opened"):
        SqliteLog.open(str(path), clock_us=Clock())


def make_empty(path: Path) -> None:
    path.touch()


def make_wal_without_tables(path: Path) -> None:
    with by_hand(path) as connection:
        connection.execute("PRAGMA journal_mode = WAL")


def make_tables_without_wal(path: Path) -> None:
    with opened(path):
        pass
    with by_hand(path) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")


@pytest.mark.parametrize("half_make", [make_empty, make_wal_without_tables, make_tables_without_wal])
def test_a_half_made_file_is_completed(path: Path, half_make: Callable[[Path], None]) -> None:
    half_make(path)
    with opened(path) as log:
        assert log.append([record("a")])[0].offset == 1
    with by_hand(path) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_an_open_reader_does_not_block_an_append_and_sees_what_it_saw(log: SqliteLog, path: Path) -> None:
    log.append([record("a")])
    with by_hand(path) as reader:
        reader.execute("BEGIN")
        assert reader.execute("SELECT count(*) FROM records").fetchone() == (1,)
        assert [answer.offset for answer in log.append([record("b"), record("c")])] == [2, 3]
        assert reader.execute("SELECT count(*) FROM records").fetchone() == (1,)
    assert log.end(RAW) == 3


def test_an_open_append_does_not_block_a_reader(log: SqliteLog, path: Path) -> None:
    log.append([record("a")])
    with by_hand(path) as writer:
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("INSERT INTO schema_version VALUES (0)")
        assert [one.id for one in log.read(RAW, 0, 10)] == ["a"]
        assert log.end(RAW) == 1


def test_a_lock_held_for_too_long_is_named_and_passes(path: Path) -> None:
    with opened(path, busy_timeout_ms=1) as log, by_hand(path) as writer:
        writer.execute("BEGIN IMMEDIATE")
        with pytest.raises(LogUnavailable, match="another process holds the write lock"):
            log.append([record("a")])
        writer.execute("ROLLBACK")
        assert log.append([record("a")])[0].offset == 1


def test_a_batch_whose_clock_fails_is_not_there(path: Path) -> None:
    clock = BrokenClock(fails=True)
    with opened(path, clock) as log:
        with pytest.raises(RuntimeError, match="no time"):
            log.append([record("a")])
        clock.fails = False
        assert log.append([record("b")])[0].offset == 1


def _append_until_the_disk_is_full(path: Path) -> None:
    """In a process of its own: files may grow to 300 kB, then a write fails as on a full disk, then space is freed."""
    with opened(path) as log:
        acknowledged: list[str] = []
        _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, hard))
        batch: list[NewRecord] = []
        with contextlib.suppress(LogUnavailable):
            for number in range(1_000):
                acknowledged += [one.id for one in batch]
                batch = [record(f"{number}:{place}", payload=b" " * 2_000) for place in range(10)]
                log.append(batch)
        assert 0 < len(acknowledged) < 9_000
        assert [one.id for one in read_all(log)] == acknowledged
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
        log.append(batch)
        assert [one.id for one in read_all(log)] == acknowledged + [one.id for one in batch]


def test_a_full_disk_is_an_error_without_half_a_batch_and_passes(path: Path) -> None:
    """I-11: what was acknowledged before is there; the batch that failed is not, and goes in when there is space."""
    child = multiprocessing.get_context("spawn").Process(target=_append_until_the_disk_is_full, args=(path,))
    child.start()
    child.join()
    assert child.exitcode == 0
    with opened(path) as log:
        assert len(read_all(log)) > 10


def test_a_damaged_file_is_named(path: Path) -> None:
    with opened(path) as log:
        log.append([record(str(number), payload=b" " * 1_000) for number in range(1_000)])
    with path.open("r+b") as file:
        file.seek(8 * 4096)
        file.write(b"\xa5" * (path.stat().st_size - 8 * 4096))
    with opened(path) as log, pytest.raises(LogCorrupt):
        read_all(log)


def test_records_are_neither_edited_nor_deleted_by_any_statement(log: SqliteLog, path: Path) -> None:
    """I-1: the file itself refuses."""
    log.append([record("a")])
    with by_hand(path) as connection:
        with pytest.raises(sqlite3.IntegrityError, match="never edited"):
            connection.execute("UPDATE records SET content_hash = 'other'")
        with pytest.raises(sqlite3.IntegrityError, match="never deleted"):
            connection.execute("DELETE FROM records")


@pytest.mark.parametrize("size", [40, 4_000, 400_000])
def test_no_byte_of_a_destroyed_payload_is_left_in_any_file(log: SqliteLog, path: Path, size: int) -> None:
    secret = os.urandom(16)
    payload = secret * (size // 16)
    for number in range(30):  # among others, so that pages split and move it
        log.append([record(f"{number}", payload=payload if number == 7 else bytes(1_000))])
    assert any(secret in file.read_bytes() for file in path.parent.iterdir())
    assert log.destroy_payload(TOOL_RESULTS, "acme", "ci", "7")
    assert not any(secret in file.read_bytes() for file in path.parent.iterdir())


def test_a_reader_of_an_old_state_delays_the_destroying_of_bytes_and_is_named(path: Path) -> None:
    secret = os.urandom(16)
    with opened(path, busy_timeout_ms=1) as log:
        log.append([record("a", payload=secret), record("b", FACTS)])
        with by_hand(path) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM payloads").fetchone()
            with pytest.raises(LogUnavailable, match="destroy again"):
                log.destroy_payload(TOOL_RESULTS, "acme", "ci", "a")
            assert log.read([TOOL_RESULTS], 0, 1)[0].payload is None
        assert not log.destroy_payload(TOOL_RESULTS, "acme", "ci", "a")
        assert not any(secret in file.read_bytes() for file in path.parent.iterdir())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_is_told_to_open_again(log: SqliteLog) -> None:
    log.append([record("a")])
    child = multiprocessing.get_context("fork").Process(target=_append_after_fork, args=(log,))
    child.start()
    child.join()
    assert child.exitcode == 0
    assert log.append([record("b")])[0].offset == 2


def _append_after_fork(log: SqliteLog) -> None:
    with pytest.raises(LogUnavailable, match="fork"):
        log.append([record("c")])
    with pytest.raises(LogUnavailable, match="fork"):
        log.end(RAW)
    log.close()


def test_facts_are_found_by_the_events_they_are_made_of(log: SqliteLog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_module, "MADE_ROWS", 3)
    raw = [answer.offset for answer in log.append([record(str(number), topic=TOOL_RESULTS) for number in range(8)])]
    made = [record(str(number), topic=FACTS)._replace(made_of=offset) for number, offset in enumerate(raw)]
    log.append(made)
    log.append([record("0", topic="facts@2")._replace(made_of=raw[0])])
    found = log.read_made([FACTS, FACTS_PUBLIC], [*raw[:5], 999])
    assert sorted(stored.id for stored in found) == ["0", "1", "2", "3", "4"]
    assert {stored.topic for stored in found} == {FACTS}
    assert [stored.topic for stored in log.read_made(["facts@2"], raw)] == ["facts@2"]
    assert log.read_made([FACTS], []) == []
