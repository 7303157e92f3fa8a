"""A data directory: what lies in it, who owns its view, and which generation of the views is current.

    log.sqlite                 everything that was appended
    segments/                  payloads of old events, compacted (Parquet)
    views-<generation>.duckdb  one build of the views; can be made again from the log at any time
    building-<generation>.duckdb  one that is being built, or whose build was interrupted
    CURRENT                    the name of the one that is read, and of which extraction's facts it is
    view.lock                  held by the process that owns the views; says which
    replay.lock                held by the process that builds a generation

Made for one machine's local disk, on Linux and macOS.
"""

import contextlib
import fcntl
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from tether_schemas.errors import BadRequest, DataDirectory, ReplayRunning, ViewLocked

LOG = "log.sqlite"
SEGMENTS = "segments"
CURRENT = "CURRENT"
LOCK = "view.lock"
REPLAY_LOCK = "replay.lock"
COMMAND_CHARS_MAX = 200
MAKE_IT = "make it a data directory with `tether open` (in Python: open it without create=False)"

_VIEWS = re.compile(r"views-([1-9][0-9]{0,8})\.duckdb")
_BUILDING = re.compile(r"building-([1-9][0-9]{0,8})\.duckdb")
_EXTRACTION = re.compile(r"extraction ([1-9][0-9]{0,8})")


def prepare(path: Path, create: bool) -> Path:
    """Check that `path` is a data directory, or make one; the path of its log. Raises DataDirectory: what to do."""
    if path.exists() and not path.is_dir():
        raise DataDirectory(str(path), "is a file; name a directory")
    if not path.is_dir():
        if not create:
            raise DataDirectory(str(path), f"does not exist; check the path, or {MAKE_IT}")
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DataDirectory(str(path), f"cannot be made: {error.strerror}; name another directory") from None
    log = path / LOG
    if not log.exists():
        _check_empty(path)
        if not create:
            raise DataDirectory(str(path), f"is empty; check the path, or {MAKE_IT}")
    return log


def _check_empty(path: Path) -> None:
    """A directory without a log is ours only when it is empty: nothing of somebody else's is mixed with a store."""
    try:
        found = sorted(entry.name for entry in path.iterdir())
    except OSError as error:
        raise DataDirectory(str(path), f"cannot be read: {error.strerror}; check its permissions") from None
    if (path / LOG).exists() or not found:  # another process may be making it just now
        return
    if any(name in (CURRENT, LOCK) or _VIEWS.fullmatch(name) for name in found):
        raise DataDirectory(str(path), f"has views but no {LOG}; restore it from a backup, or name a new directory")
    listed = ", ".join(found[:3]) + (", …" if len(found) > 3 else "")
    raise DataDirectory(str(path), f"is no data directory of Tether's (it holds {listed}); name an empty or new one")


class _Held(Exception):
    """Somebody else has a lock: the owner in words, and whether that is this process itself."""

    def __init__(self, owner: str, own: bool) -> None:
        self.owner = owner
        self.own = own


class _Lock:
    """A right that one process has at a time. Freed when the process ends, however it ends."""

    def __init__(self, path: Path, name: str) -> None:
        """Take it. Raises _Held naming the process that has it."""
        self._file = os.open(path / name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            owner = os.pread(self._file, 4096, 0).decode("utf-8", "replace")
            os.close(self._file)
            raise _Held(*_owner(owner)) from None
        command = " ".join(sys.argv)[:COMMAND_CHARS_MAX] or "python"
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, f"{os.getpid()}\n{command}\n".encode("utf-8", "surrogateescape"), 0)

    def release(self) -> None:
        """Give it back."""
        os.close(self._file)


class ViewLock(_Lock):
    """The right to own the views of a data directory."""

    def __init__(self, path: Path) -> None:
        """Take it. Raises ViewLocked naming the process that has it."""
        try:
            super().__init__(path, LOCK)
        except _Held as held:
            raise ViewLocked(str(path), held.owner, held.own) from None


class ReplayLock(_Lock):
    """The right to build a generation in a data directory."""

    def __init__(self, path: Path) -> None:
        """Take it. Raises ReplayRunning naming the process that has it."""
        try:
            super().__init__(path, REPLAY_LOCK)
        except _Held as held:
            raise ReplayRunning(str(path), held.owner) from None


def _owner(text: str) -> tuple[str, bool]:
    """Who owns the view, and whether that is this process itself."""
    pid, _, command = text.partition("\n")
    if not pid.isdigit():
        return "another process", False
    if int(pid) == os.getpid():
        return f"this very process ({pid}), through another Store or Memory", True
    return f"process {pid} ({command.strip() or 'unknown command'})", False


@dataclass(frozen=True, slots=True)
class Current:
    """What CURRENT says: the generation that is read, and the extraction whose facts it is made of."""

    generation: str
    extraction: int


class Generations:
    """The generations of the views in one data directory."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def current(self) -> Current | None:
        """The current generation, or None where CURRENT is missing or names none."""
        try:
            lines = (self._path / CURRENT).read_text("utf-8", "replace").splitlines()
        except FileNotFoundError:
            return None
        found = _VIEWS.fullmatch(lines[0].strip()) if lines else None
        said = _EXTRACTION.fullmatch(lines[1].strip()) if len(lines) > 1 else None
        return Current(found[1], int(said[1]) if said else 1) if found else None

    def stamp(self) -> tuple[int, int] | None:
        """What is another whenever CURRENT was written anew."""
        try:
            found = os.stat(self._path / CURRENT)
        except FileNotFoundError:
            return None
        return found.st_ino, found.st_mtime_ns

    def file(self, generation: str) -> Path:
        """The file of a generation, there or not."""
        return self._path / f"views-{generation}.duckdb"

    def building(self, generation: str) -> Path:
        """The file of a generation while it is built, there or not."""
        return self._path / f"building-{generation}.duckdb"

    def all(self) -> list[str]:
        """The generations that have a file, oldest first."""
        return self._named(_VIEWS)

    def unfinished(self) -> list[str]:
        """The generations whose build has not ended, oldest first."""
        return self._named(_BUILDING)

    def _named(self, pattern: re.Pattern[str]) -> list[str]:
        found = (pattern.fullmatch(entry.name) for entry in self._path.iterdir())
        return sorted((match[1] for match in found if match), key=int)

    def usable(self, generation: str) -> bool:
        """Whether this process may read and write the file of a generation; one that is lost it may make."""
        file = self.file(generation)
        return not file.exists() or os.access(file, os.R_OK | os.W_OK)

    def next(self) -> str:
        """A generation that has no file yet."""
        current = self.current()
        known = [*self.all(), *self.unfinished(), *([current.generation] if current else [])]
        return str(max(map(int, known), default=0) + 1)

    def finish(self, generation: str) -> None:
        """Make what was built a generation: durably, and whole or not at all."""
        building = self.building(generation)
        with building.open("rb") as file:
            os.fsync(file.fileno())
        building.replace(self.file(generation))
        self._settle()

    def point(self, current: Current) -> None:
        """Make a generation the current one, at once and durably."""
        temporary = self._path / f"{CURRENT}.new"
        with temporary.open("w", encoding="utf-8") as file:
            file.write(f"{self.file(current.generation).name}\nextraction {current.extraction}\n")
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(self._path / CURRENT)
        self._settle()

    def _settle(self) -> None:
        directory = os.open(self._path, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)

    def remove(self, generation: str) -> None:
        """Remove the file of a generation and what DuckDB keeps beside it. Raises BadRequest for the current one."""
        current = self.current()
        if current is not None and current.generation == generation:
            raise BadRequest("generation", f"{generation} is the current one; promote another first")
        _remove(self.file(generation))

    def abandon(self, generation: str) -> None:
        """Remove what an interrupted build left."""
        _remove(self.building(generation))


def _remove(file: Path) -> None:
    for suffix in ("", ".wal"):
        with contextlib.suppress(FileNotFoundError):
            Path(f"{file}{suffix}").unlink()
