"""A backup of a data directory, taken while it is in use: itself a data directory, whole or not there at all."""

import os
import shutil
from pathlib import Path

from tether_projections.segments import SUFFIX, ParquetSegments
from tether_schemas.errors import DataDirectory, LogUnavailable
from tether_schemas.reports import Backup
from tether_schemas.topics import RAW
from tether_streams.embedded.log import SqliteLog
from tether_streams.ports import Log

from tether_replay.directory import LOG, SEGMENTS
from tether_replay.views import Progress, Watch, no_watch

PART = ".part"
READ_RECORDS_MAX = 20_000
ATTEMPTS_MAX = 5


def backup(log: SqliteLog, source: Path, target: Path, watch: Watch = no_watch) -> Backup:
    """Copy the log of a data directory into a new one, `target`; its views are made from it when it is opened.

    It stands under another name until it is complete and durable. Raises DataDirectory where `target` is there
    already, lies within `source` or cannot be made, LogUnavailable when the disk is full, LogCorrupt when what was
    copied is damaged.
    """
    part = target.with_name(target.name + PART)
    if target.resolve().is_relative_to(source.resolve()):
        raise DataDirectory(str(target), "lies within the data directory that is backed up; name one outside of it")
    if target.exists():
        raise DataDirectory(str(target), "is there already; name a new directory for the backup")
    try:
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
    except OSError as error:
        raise DataDirectory(str(part), f"cannot be made: {error.strerror}; name another directory") from None
    try:
        _copy(log, source, part, watch)
        copied = SqliteLog.open(str(part / LOG), clock_us=lambda: 0, segments=ParquetSegments(part / SEGMENTS))
        try:
            events, position = _count(copied)
        finally:
            copied.close()
        _make_durable(part)
        part.rename(target)
        _sync(target.parent)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
    size_bytes = sum(file.stat().st_size for file in target.rglob("*") if file.is_file())
    return Backup(str(target), str(position), events, size_bytes, None)


def _copy(log: SqliteLog, source: Path, part: Path, watch: Watch) -> None:
    """Copy the log and its segments. One that was written anew meanwhile, without what was destroyed, begins again."""
    for _ in range(ATTEMPTS_MAX):
        names = log.copy(str(part / LOG), lambda done, total: watch(Progress("copy", done, total, 0)))
        (part / SEGMENTS).mkdir(exist_ok=True)
        try:
            for name in names:
                shutil.copy2(source / SEGMENTS / f"{name}{SUFFIX}", part / SEGMENTS)
        except FileNotFoundError:
            shutil.rmtree(part / SEGMENTS)
            (part / LOG).unlink()
            continue
        if not names:
            (part / SEGMENTS).rmdir()
        return
    raise LogUnavailable(str(source), "its segments are being written anew all the time; back it up later")


def _count(log: Log) -> tuple[int, int]:
    events, after = 0, 0
    while batch := log.read(RAW, after, READ_RECORDS_MAX):
        events += len(batch)
        after = batch[-1].offset
    return events, after


def _make_durable(folder: Path) -> None:
    for file in folder.rglob("*"):
        _sync(file)
    _sync(folder)


def _sync(path: Path) -> None:
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
