"""A backup of a data directory, taken while it is in use: itself a data directory, whole or not there at all."""

import os
import shutil
from pathlib import Path

from tether_schemas.answers import Backup
from tether_schemas.errors import DataDirectory
from tether_schemas.topics import RAW
from tether_streams.embedded.log import SqliteLog
from tether_streams.ports import Log

from tether_replay.directory import LOG
from tether_replay.views import Progress, Watch, no_watch

PART = ".part"
READ_RECORDS_MAX = 20_000


def backup(log: SqliteLog, target: Path, watch: Watch = no_watch) -> Backup:
    """Copy the log into a new data directory `target`; its views are made from it when it is opened.

    It stands under another name until it is complete and durable. Raises DataDirectory where `target` is there
    already or cannot be made, LogUnavailable when the disk is full, LogCorrupt when what was copied is damaged.
    """
    part = target.with_name(target.name + PART)
    if target.exists():
        raise DataDirectory(str(target), "is there already; name a new directory for the backup")
    try:
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
    except OSError as error:
        raise DataDirectory(str(part), f"cannot be made: {error.strerror}; name another directory") from None
    try:
        log.copy(str(part / LOG), lambda done, total: watch(Progress("copy", done, total, 0)))
        copied = SqliteLog.open(str(part / LOG), clock_us=lambda: 0)
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
    return Backup(str(target), str(position), events, (target / LOG).stat().st_size, None)


def _count(log: Log) -> tuple[int, int]:
    events, after = 0, 0
    while batch := log.read(RAW, after, READ_RECORDS_MAX):
        events += len(batch)
        after = batch[-1].offset
    return events, after


def _make_durable(folder: Path) -> None:
    for file in folder.iterdir():
        _sync(file)
    _sync(folder)


def _sync(path: Path) -> None:
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
