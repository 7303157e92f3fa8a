"""A data directory: what lies in it, who owns its view, and which generation of the views is current.

    log.sqlite                 everything that was appended
    views-<generation>.duckdb  one build of the views; can be made again from the log at any time
    CURRENT                    the name of the one that is read
    view.lock                  held by the process that owns the views; says which

Made for one machine's local disk, on Linux and macOS.
"""

import contextlib
import fcntl
import os
import re
import sys
from pathlib import Path

from tether_schemas.errors import DataDirectory, ViewLocked

LOG = "log.sqlite"
CURRENT = "CURRENT"
LOCK = "view.lock"
COMMAND_CHARS_MAX = 200
MAKE_IT = "make it a data directory with `tether open` (in Python: open it without create=False)"

_VIEWS = re.compile(r"views-([1-9][0-9]{0,8})\.duckdb")


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


class ViewLock:
    """The right to own the views of a data directory. Freed when the process ends, however it ends."""

    def __init__(self, path: Path) -> None:
        """Take it. Raises ViewLocked naming the process that has it."""
        self._file = os.open(path / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            owner = os.pread(self._file, 4096, 0).decode("utf-8", "replace")
            os.close(self._file)
            raise ViewLocked(str(path), *_owner(owner)) from None
        command = " ".join(sys.argv)[:COMMAND_CHARS_MAX] or "python"
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, f"{os.getpid()}\n{command}\n".encode("utf-8", "surrogateescape"), 0)

    def release(self) -> None:
        """Give it back."""
        os.close(self._file)


def _owner(text: str) -> tuple[str, bool]:
    """Who owns the view, and whether that is this process itself."""
    pid, _, command = text.partition("\n")
    if not pid.isdigit():
        return "another process", False
    if int(pid) == os.getpid():
        return f"this very process ({pid}), through another Store or Memory", True
    return f"process {pid} ({command.strip() or 'unknown command'})", False


class Generations:
    """The generations of the views in one data directory. Only for who holds its ViewLock."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def current(self) -> str | None:
        """The current generation, or None where CURRENT is missing or names none."""
        try:
            text = (self._path / CURRENT).read_text("utf-8", "replace").strip()
        except FileNotFoundError:
            return None
        found = _VIEWS.fullmatch(text)
        return found[1] if found else None

    def file(self, generation: str) -> Path:
        """The file of a generation, there or not."""
        return self._path / f"views-{generation}.duckdb"

    def usable(self, generation: str) -> bool:
        """Whether this process may read and write the file of a generation; one that is lost it may make."""
        file = self.file(generation)
        return not file.exists() or os.access(file, os.R_OK | os.W_OK)

    def next(self) -> str:
        """A generation that has no file yet."""
        found = (_VIEWS.fullmatch(entry.name) for entry in self._path.iterdir())
        return str(max((int(match[1]) for match in found if match), default=0) + 1)

    def point(self, generation: str) -> None:
        """Make a generation the current one, at once and durably."""
        temporary = self._path / f"{CURRENT}.new"
        with temporary.open("w", encoding="utf-8") as file:
            file.write(self.file(generation).name + "\n")
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(self._path / CURRENT)
        directory = os.open(self._path, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)

    def remove(self, generation: str) -> None:
        """Remove the file of a generation and what DuckDB keeps beside it."""
        for suffix in ("", ".wal"):
            with contextlib.suppress(FileNotFoundError):
                Path(f"{self.file(generation)}{suffix}").unlink()
