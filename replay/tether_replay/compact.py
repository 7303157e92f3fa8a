"""Retention: payloads of old events move from the log into Parquet segments, and history replays as before."""

from pathlib import Path

from tether_schemas.reports import Compacted
from tether_streams.embedded.log import SqliteLog

from tether_replay.directory import LOG, ReplayLock
from tether_replay.views import Progress, Watch, no_watch

KEEP_RECORDS = 100_000


def compact(log: SqliteLog, path: Path, keep: int, watch: Watch = no_watch) -> Compacted:
    """Move the payloads of all but the newest `keep` records of a data directory's log into segments.

    Raises LogUnavailable when the disk is full, ReplayRunning while another process compacts or builds there.
    """
    lock = ReplayLock(path)
    try:
        before = _log_bytes(path)
        moved, size_bytes = log.compact(keep, lambda done, total: watch(Progress("compact", done, total, done)))
        return Compacted(moved, size_bytes, before, _log_bytes(path))
    finally:
        lock.release()


def _log_bytes(path: Path) -> int:
    files = (path / LOG, path / f"{LOG}-wal")
    return sum(file.stat().st_size for file in files if file.exists())
