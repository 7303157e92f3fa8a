"""Puts a data directory's parts together: the log at once, the view at the first read."""

import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import orjson
from tether_projections.engine import Engine
from tether_projections.queries import Queries
from tether_projections.store import ViewStore, interruptible
from tether_replay.directory import Generations, ViewLock, prepare
from tether_schemas.errors import DataDirectory, LogUnavailable, TetherError
from tether_schemas.facts import FactRecord
from tether_streams.embedded.admission import Limits
from tether_streams.embedded.extraction import FACT_TOPICS, history
from tether_streams.embedded.log import SqliteLog
from tether_streams.embedded.runtime import Drive, Options, Runtime
from tether_streams.ports import Letters, Log, NewLetter

from tether.settings import Settings, load_settings

Clock = Callable[[], int]


def wall_clock_us() -> int:
    """Microseconds since the epoch."""
    return time.time_ns() // 1000


@dataclass(frozen=True, slots=True)
class OpenView:
    """One open generation, driven by the log."""

    generation: str
    store: ViewStore
    engine: Engine
    queries: Queries
    drive: Drive


class _Applying:
    """ports.View over the engine; records that lost their id to another content become dead letters."""

    def __init__(self, engine: Engine, letters: Letters) -> None:
        self._engine = engine
        self._letters = letters

    def position(self) -> int:
        return self._engine.position()

    def apply(self, records: Sequence[FactRecord], position: int) -> None:
        self._engine.apply(records, position)
        if self._engine.losers:
            self._letters.add([_lost(named) for named in self._engine.losers])
            self._engine.losers.clear()


def _lost(named: tuple[str, str, str, str]) -> NewLetter:
    """What lost its id: it stays whole in its raw topic, so the letter only names it."""
    payload = orjson.dumps(dict(zip(("namespace", "source", "id", "content_hash"), named, strict=True)))
    reason = "another event with this source and id was recorded before it; evidence is never edited"
    return NewLetter(named[0], "engine", reason, payload, "engine:" + orjson.dumps(named).decode())


class Home:
    """One opened data directory. Appending is safe from many threads; whoever reads holds `reading`."""

    def __init__(self, path: Path, log: SqliteLog, settings: Settings, clock_us: Clock) -> None:
        self.path = path
        self.settings = settings
        self.clock_us = clock_us
        self.log = log
        limits = Limits(settings.payload_bytes_max, settings.future_skew_max_s)
        self.runtime = Runtime(log, log.letters, clock_us, Options(limits, settings.batch_records_max))
        self._view: OpenView | None = None
        self._view_lock: ViewLock | None = None
        self._reading = threading.RLock()
        self._closed = False

    @classmethod
    def open(
        cls, path: str | Path, settings: Settings | None = None, create: bool = True, clock_us: Clock = wall_clock_us
    ) -> Self:
        """Open a data directory, or make it. Raises DataDirectory saying what to do where it is none of ours."""
        settings = settings or load_settings()
        place = Path(path).expanduser().absolute()
        log = SqliteLog.open(
            str(prepare(place, create)),
            synchronous=settings.synchronous,
            clock_us=clock_us,
            busy_timeout_ms=settings.busy_timeout_ms,
        )
        return cls(place, log, settings, clock_us)

    @contextmanager
    def reading(self) -> Generator[OpenView]:
        """The view, for this thread alone; opened at the first call. Raises ViewLocked when another process owns it."""
        with self._reading, interruptible():
            if self._closed:
                raise LogUnavailable(str(self.path), "it was closed; open it again")
            if self._view is None:
                self._view = self._open_view()
            yield self._view

    @property
    def generation(self) -> str | None:
        """The generation that is open, or None."""
        return None if self._view is None else self._view.generation

    def close(self) -> None:
        """Close everything; closing again does nothing."""
        with self._reading:
            self._closed = True
            view, self._view = self._view, None
            if view is not None:
                view.store.close()
            if self._view_lock is not None:
                self._view_lock.release()
                self._view_lock = None
        self.log.close()

    def _open_view(self) -> OpenView:
        if self._view_lock is None:
            self._view_lock = ViewLock(self.path)
        try:
            return open_view(self.path, self.runtime, self.settings)
        except BaseException:
            self._view_lock.release()
            self._view_lock = None
            raise


def open_view(path: Path, runtime: Runtime, settings: Settings) -> OpenView:
    """Open the current generation. One that is lost, damaged or of another log is made anew from the log, in a new
    generation; only our own file that cannot be read is removed. Raises DataDirectory for one of a newer Tether."""
    generations = Generations(path)
    generation = generations.current()
    if generation is None:
        generation = generations.next()
        generations.point(generation)
    try:
        return _open_generation(generations, generation, runtime, settings)
    except DataDirectory as error:
        if "newer" in error.reason or not generations.usable(generation):
            raise
        broken, generation = generation, generations.next()
        generations.point(generation)
        generations.remove(broken)
        return _open_generation(generations, generation, runtime, settings)


def _open_generation(generations: Generations, generation: str, runtime: Runtime, settings: Settings) -> OpenView:
    place = str(generations.file(generation))
    with _readable(place):
        store = ViewStore(place, settings.view_memory_mb, settings.view_threads)
    try:
        engine = Engine(store, history(runtime.log, settings.batch_records_max))
        with _readable(place):
            position = engine.position()
        if not _is_of(runtime.log, position):
            raise DataDirectory(place, "the view was made from another log")
        drive = runtime.drive(_Applying(engine, runtime.letters))
        return OpenView(generation, store, engine, Queries(store, engine), drive)
    except BaseException:
        store.close()
        raise


@contextmanager
def _readable(place: str) -> Generator[None]:
    """Whatever DuckDB makes of damaged pages is a view that cannot be read."""
    try:
        yield
    except TetherError:
        raise
    except Exception as error:
        raise DataDirectory(place, f"the view cannot be read: {error}") from error


def _is_of(log: Log, position: int) -> bool:
    """Whether the log has facts at the offset where a view stands."""
    if not position:
        return True
    found = log.read(FACT_TOPICS, position - 1, 1)
    return bool(found) and found[0].offset == position
