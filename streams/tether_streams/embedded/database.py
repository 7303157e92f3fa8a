"""One SQLite file opened with care: whose it is and of which schema, one writer at a time, readers beside it.

SQLite's own errors leave here as TetherError: LogUnavailable (full, locked, input/output), LogCorrupt, DataDirectory.
"""

import contextlib
import os
import sqlite3
import sys
import threading
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from importlib import resources
from typing import Literal

from tether_schemas.errors import DataDirectory, LogCorrupt, LogUnavailable

Synchronous = Literal["FULL", "NORMAL"]

APPLICATION_ID = int.from_bytes(b"TETH", "big")
SCHEMA_VERSION = 1
READERS_IDLE_MAX = 8
OPEN_ATTEMPTS_MAX = 200
OPEN_RETRY_MS = 5
PAGE_BYTES = 8_192
CACHE_KIB = 32 * 1024
CHECKPOINT_PAGES = 4_000
COPY_PAGES = 2_000
VACUUM_PAGES = 2_000
WAL_BYTES_KEPT = 64 * 1024 * 1024

_SCHEMA = resources.files("tether_streams.embedded").joinpath("log.sql")
_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_CORRUPT = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_ADVICE = {
    sqlite3.SQLITE_FULL: "the disk is full; free some space and append again",
    sqlite3.SQLITE_BUSY: "another process holds the write lock; append again, or stop that process",
    sqlite3.SQLITE_LOCKED: "another process holds the write lock; append again, or stop that process",
    sqlite3.SQLITE_READONLY: "the file or its folder may not be written; check its permissions",
    sqlite3.SQLITE_CANTOPEN: "the file cannot be opened; check that it and its folder exist and may be written",
    sqlite3.SQLITE_IOERR: "reading or writing failed; check the disk and its free space, then append again",
}


@dataclass(frozen=True, slots=True)
class Options:
    """How a file is opened. `synchronous` FULL survives a crash of the machine, NORMAL only one of the process;
    `busy_timeout_ms` bounds the waiting for another process's transaction."""

    synchronous: Synchronous = "FULL"
    busy_timeout_ms: int = 30_000


class Database:
    """The file and its connections. Safe from many threads; not to be used by a child that was forked after opening."""

    def __init__(self, path: str, options: Options) -> None:
        """Open the file, or make it. Raises DataDirectory when it is foreign, of a newer schema or has no folder."""
        self.path = path
        self._options = options
        self._pid = os.getpid()
        self._closed = False
        self._lock = threading.Lock()  # the writer connection
        self._idle: list[sqlite3.Connection] = []  # reader connections that nobody uses just now
        with self._named_errors():
            self._writer = self._open()

    @contextlib.contextmanager
    def write(self) -> Generator[sqlite3.Connection]:
        """One transaction, begun as a writer: it is durable when the block ends, and undone whole when it raises."""
        with self._lock, self._named_errors():
            self._check_usable()
            writer = self._writer
            writer.execute("BEGIN IMMEDIATE")
            try:
                yield writer
                writer.execute("COMMIT")
            except BaseException:
                if writer.in_transaction:
                    with contextlib.suppress(sqlite3.Error):
                        writer.execute("ROLLBACK")
                raise

    @contextlib.contextmanager
    def read(self) -> Generator[sqlite3.Cursor]:
        """A cursor that sees one committed state per statement and blocks nobody."""
        with self._named_errors():
            self._check_usable()
            try:
                reader = self._idle.pop()
            except IndexError:
                reader = self._connect()
            try:
                with contextlib.closing(reader.cursor()) as cursor:
                    yield cursor
            finally:
                if self._closed or len(self._idle) >= READERS_IDLE_MAX:
                    reader.close()
                else:
                    self._idle.append(reader)

    def copy(self, path: str, watch: Callable[[int, int], None]) -> list[str]:
        """Copy one committed state into a new file, while others write; `watch` is called with pages done and in all.
        The names of the segments that this state refers to.

        Raises LogUnavailable when the copy cannot be written, LogCorrupt when it is damaged.
        """
        with self._named_errors():
            self._check_usable()
            source = self._connect()
        try:
            with self._named_errors():
                source.execute("BEGIN")
                names = [
                    name for (name,) in source.execute("SELECT name FROM segments")
                ]  # from here on this state is read
            _copy(source, path, watch)
            return names
        finally:
            source.close()

    def release(self) -> None:
        """Give the room of what was deleted back to the disk, a little at a time so that appends come in between."""
        left = sys.maxsize
        while True:
            with self._lock, self._named_errors():
                self._check_usable()
                (free,) = self._writer.execute("PRAGMA freelist_count").fetchone()
                if not 0 < free < left:  # somebody else's deletions may fill it up again
                    break
                left = free
                self._writer.execute(f"PRAGMA incremental_vacuum({VACUUM_PAGES})").fetchall()
        self.scrub()

    def scrub(self) -> None:
        """Move everything into the main file and empty the write-ahead log, where destroyed bytes would linger.

        Raises LogUnavailable when a reader holds on to an old state for longer than the busy timeout.
        """
        with self._lock, self._named_errors():
            self._check_usable()
            busy, _, _ = self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            if busy:
                raise LogUnavailable(self.path, "a reader holds on to destroyed bytes; end it and destroy again")

    def close(self) -> None:
        """Release the file; closing again does nothing."""
        with self._lock:
            if self._closed or self._pid != os.getpid():
                return
            self._closed = True
            while self._idle:
                self._idle.pop().close()
            self._writer.close()

    def _check_usable(self) -> None:
        if self._closed:
            raise LogUnavailable(self.path, "it was closed; open it again")
        if self._pid != os.getpid():
            raise LogUnavailable(self.path, "it was opened before a fork; open it again in the child process")

    def _open(self) -> sqlite3.Connection:
        writer = self._connect()
        try:
            if not self._ours(writer):
                writer.execute("PRAGMA auto_vacuum = INCREMENTAL")  # what is moved out gives its room back
                writer.executescript(_SCHEMA.read_text("utf-8"))
                if not self._ours(writer):
                    raise DataDirectory(self.path, "could not be made a log")
            self._use_wal(writer)
        except BaseException:
            writer.close()
            raise
        return writer

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path, timeout=self._options.busy_timeout_ms / 1000, isolation_level=None, check_same_thread=False
        )
        connection.execute(f"PRAGMA page_size = {PAGE_BYTES}")  # of a new file
        connection.execute(f"PRAGMA synchronous = {self._options.synchronous}")
        connection.execute("PRAGMA fullfsync = ON")  # where fsync alone does not reach the disk (macOS)
        connection.execute("PRAGMA secure_delete = ON")  # what is destroyed is overwritten
        connection.execute("PRAGMA temp_store = MEMORY")
        connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
        connection.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")
        connection.execute(f"PRAGMA journal_size_limit = {WAL_BYTES_KEPT}")
        return connection

    def _ours(self, connection: sqlite3.Connection) -> bool:
        """Whether the file is a log of this schema; False when it is empty. Raises DataDirectory when it is neither."""
        connection.execute("BEGIN")
        try:
            (objects,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            (owner,) = connection.execute("PRAGMA application_id").fetchone()
            if not objects and owner in (0, APPLICATION_ID):
                return False
            if owner != APPLICATION_ID:
                raise DataDirectory(self.path, "is no log of Tether's; name another data directory")
            (version,) = connection.execute("SELECT max(version) FROM schema_version").fetchone()
        finally:
            connection.execute("ROLLBACK")
        if version > SCHEMA_VERSION:
            raise DataDirectory(
                self.path, f"has the newer schema {version}; this Tether knows {SCHEMA_VERSION}, so upgrade tether"
            )
        return True

    def _use_wal(self, connection: sqlite3.Connection) -> None:
        # SQLite does not wait by itself when two processes change the mode of a new file at once.
        for _ in range(OPEN_ATTEMPTS_MAX):
            try:
                (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
            except sqlite3.OperationalError as error:
                if _primary(error) not in _BUSY:
                    raise
                time.sleep(OPEN_RETRY_MS / 1000)
                continue
            if mode != "wal":
                raise DataDirectory(self.path, "lies on a file system without shared memory; use a local disk")
            return
        raise LogUnavailable(self.path, _ADVICE[sqlite3.SQLITE_BUSY])

    def _named_errors(self) -> contextlib.AbstractContextManager[None]:
        return _named_errors(self.path)


@contextlib.contextmanager
def _named_errors(path: str) -> Generator[None]:
    try:
        yield
    except sqlite3.DatabaseError as error:
        code = _primary(error)
        if code == sqlite3.SQLITE_NOTADB:
            raise DataDirectory(path, "is no SQLite file; name another data directory") from error
        if code in _CORRUPT:
            raise LogCorrupt(path, str(error)) from error
        if code == sqlite3.SQLITE_CANTOPEN and not os.path.isdir(os.path.dirname(os.path.abspath(path))):
            raise DataDirectory(path, "its folder does not exist; create it first") from error
        if isinstance(error, sqlite3.OperationalError):
            raise LogUnavailable(path, _ADVICE.get(code, str(error))) from error
        raise


def _copy(source: sqlite3.Connection, path: str, watch: Callable[[int, int], None]) -> None:
    def progress(status: int, left: int, total: int) -> None:
        watch(total - left, total)

    with _named_errors(path):
        target = sqlite3.connect(path, isolation_level=None)
        try:
            target.execute("PRAGMA synchronous = FULL")
            source.backup(target, pages=COPY_PAGES, progress=progress, sleep=0)
            (answer,) = target.execute("PRAGMA quick_check(1)").fetchone()
            if answer != "ok":
                raise LogCorrupt(path, answer)
        finally:
            target.close()


def _primary(error: sqlite3.Error) -> int:
    """The primary result code, without SQLite's extension bits."""
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
