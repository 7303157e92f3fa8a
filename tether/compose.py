"""Puts a data directory's parts together: the log at once, the view at the first read."""

import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import orjson
from tether_projections.carry import FOLLOWS, carry
from tether_projections.engine import Engine
from tether_projections.queries import Queries
from tether_projections.segments import ParquetSegments
from tether_projections.store import ViewStore, interruptible
from tether_replay.directory import SEGMENTS, Current, Generations, ViewLock, prepare
from tether_replay.past import Past
from tether_schemas.errors import DataDirectory, LogUnavailable, TetherError
from tether_schemas.facts import FactRecord
from tether_schemas.topics import FactTopics, fact_topics
from tether_streams.embedded.admission import Limits
from tether_streams.embedded.extraction import fact_record, history
from tether_streams.embedded.log import SqliteLog
from tether_streams.embedded.runtime import Drive, Options, Runtime
from tether_streams.ports import Letters, Log, NewLetter

from tether.settings import Settings, load_settings

Clock = Callable[[], int]
NOTHING = "0"  # no generation has this number


def wall_clock_us() -> int:
    """Microseconds since the epoch."""
    return time.time_ns() // 1000


@dataclass(frozen=True, slots=True)
class OpenView:
    """One open generation, driven by the log's facts of one extraction."""

    generation: str
    store: ViewStore
    engine: Engine
    queries: Queries
    drive: Drive
    topics: FactTopics


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
        self._past: Past | None = None
        self._stamp: tuple[int, int] | None = None  # of CURRENT, when the view was opened
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
            segments=ParquetSegments(place / SEGMENTS),
        )
        return cls(place, log, settings, clock_us)

    @contextmanager
    def reading(self) -> Generator[OpenView]:
        """The view, for this thread alone; opened at the first call. Raises ViewLocked when another process owns it."""
        with self._reading, interruptible():
            if self._closed:
                raise LogUnavailable(str(self.path), "it was closed; open it again")
            if self._view is not None and Generations(self.path).stamp() != self._stamp:
                self._leave_view()  # another generation was promoted
            if self._view is None:
                self._view = self._open_view()
            yield self._view

    def past(self, view: OpenView) -> Past:
        """Reads of the pasts of the open view, for whoever holds `reading`."""
        if self._past is None:

            def facts_of(places: Sequence[int]) -> list[FactRecord]:
                return [fact_record(stored) for stored in self.log.read_made(view.topics, places)]

            self._past = Past(view.engine, self.log, facts_of, view.topics)
        return self._past

    def _leave_view(self) -> None:
        view, self._view = self._view, None
        past, self._past = self._past, None
        if past is not None:
            past.close()
        if view is not None:
            view.store.close()

    @property
    def sources(self) -> tuple[Log, Letters]:
        """What a replay reads."""
        return self.log, self.runtime.letters

    def settle(self) -> None:
        """Where this process owns the views, bring them up to the log."""
        with self._reading:
            if self._view is not None:
                with self.reading() as view:
                    view.drive.catch_up()

    @property
    def generation(self) -> str | None:
        """The generation that is open, or None."""
        return None if self._view is None else self._view.generation

    def close(self) -> None:
        """Close everything; closing again does nothing."""
        with self._reading:
            self._closed = True
            self._leave_view()
            if self._view_lock is not None:
                self._view_lock.release()
                self._view_lock = None
        self.log.close()

    def _open_view(self) -> OpenView:
        if self._view_lock is None:
            self._view_lock = ViewLock(self.path)
        try:
            view = open_view(self.path, self.runtime, self.settings)
            self._stamp = Generations(self.path).stamp()
            return view
        except BaseException:
            self._view_lock.release()
            self._view_lock = None
            raise


def open_view(path: Path, runtime: Runtime, settings: Settings) -> OpenView:
    """Open the current generation. One that is lost, damaged or of another log is made anew from the log, in a new
    generation; only our own file that cannot be read is removed. Raises DataDirectory for one of a newer Tether."""
    generations = Generations(path)
    current = generations.current()
    opening = _Opening(generations, runtime, settings)
    if current is None:
        current = Current(generations.next(), 1)
        generations.point(current)
    elif not generations.file(current.generation).exists():
        return opening.open(current, lost=True)
    try:
        return opening.open(current)
    except DataDirectory as error:
        if "newer" in error.reason or not generations.usable(current.generation):
            raise
        broken, current = current, Current(generations.next(), current.extraction)
        generations.point(current)
        generations.remove(broken.generation)
        return opening.open(current, lost=True)


@dataclass(frozen=True, slots=True)
class _Opening:
    generations: Generations
    runtime: Runtime
    settings: Settings

    def open(self, current: Current, lost: bool = False) -> OpenView:
        """Open a generation. `lost`: it is made anew for one whose outbox is gone."""
        place = str(self.generations.file(current.generation))
        topics = fact_topics(current.extraction)
        with _readable(place):
            store = ViewStore(place, self.settings.view_memory_mb, self.settings.view_threads)
        try:
            if lost:
                with store.transaction():
                    store.set_meta(FOLLOWS, NOTHING)
                store.commit()
            engine = Engine(store, history(self.runtime.log, self.settings.batch_records_max, topics))
            with _readable(place):
                position = engine.position()
            if not _is_of(self.runtime.log, position, topics):
                raise DataDirectory(place, "the view was made from another log")
            drive = self.runtime.drive(_Applying(engine, self.runtime.letters), topics)
            if former := store.meta(FOLLOWS, ""):
                self._follow(former, engine, drive)
            return OpenView(current.generation, store, engine, Queries(store, engine), drive, topics)
        except BaseException:
            store.close()
            raise

    def _follow(self, former: str, engine: Engine, drive: Drive) -> None:
        """One that was promoted, or made anew, is opened first: it catches up without a word, then takes the outbox
        over and tells what is served otherwise."""
        engine.told = False
        drive.catch_up()
        engine.told = True
        file = self.generations.file(former)
        carry(engine.store, engine.state, str(file) if file.exists() else None, engine.position())


@contextmanager
def _readable(place: str) -> Generator[None]:
    """Whatever DuckDB makes of damaged pages is a view that cannot be read."""
    try:
        yield
    except TetherError:
        raise
    except Exception as error:
        raise DataDirectory(place, f"the view cannot be read: {error}") from error


def _is_of(log: Log, position: int, topics: FactTopics) -> bool:
    """Whether the log has facts at the offset where a view stands."""
    if not position:
        return True
    found = log.read(topics, position - 1, 1)
    return bool(found) and found[0].offset == position
