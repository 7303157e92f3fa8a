"""The next generation of the views: built beside the live one from the log alone, checked against it, then promoted.

Reading and appending go on meanwhile. A build that is interrupted, however, resumes; one that fails leaves the live
view as it is. The owner of the views notices that CURRENT is another, takes the outbox over and goes on in that one.
"""

import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

import orjson
from tether_projections.carry import FOLLOWS
from tether_projections.store import ViewStore
from tether_schemas.errors import BadRequest, BuildUnsound, DataDirectory, ViewLocked
from tether_schemas.facts import FactRecord
from tether_schemas.reports import Generation, Rebuilt
from tether_schemas.times import us_text
from tether_schemas.topics import RAW, fact_topics
from tether_streams.embedded.extraction import Extracting, Extraction, Recent, fact_record, raw_offset
from tether_streams.ports import Letters, Log, Stored

from tether_replay.build import Builder, Which
from tether_replay.build import Progress as BuildProgress
from tether_replay.check import unsound
from tether_replay.directory import Current, Generations, ReplayLock, ViewLock

PLAN = "plan"  # in the table meta of what is being built: what of
EXTRACT_RECORDS_MAX = 5_000
BEHIND_RECORDS_MAX = 1_000
LAG_EVENTS_MAX = 100_000


@dataclass(frozen=True, slots=True)
class Options:
    """What to build: `which` facts; `from_raw`: extract again first; `fresh`: drop what an interrupted build left;
    `promote`: make it the current generation; `keep`: how many older generations stay (None: all)."""

    which: Which = field(default_factory=Which)
    from_raw: bool = False
    fresh: bool = False
    promote: bool = True
    keep: int | None = None
    memory_mb: int = 1024
    threads: int = 2


class Progress(NamedTuple):
    """How far a replay is: the stage (extract, build, check), positions done and in all, events so far."""

    stage: str
    done: int
    total: int
    records: int


Watch = Callable[[Progress], None]


def no_watch(progress: Progress) -> None:
    """Watches nothing."""


def rebuild(path: Path, sources: tuple[Log, Letters], options: Options, watch: Watch = no_watch) -> Rebuilt:
    """Build the next generation in a data directory, or go on with the one whose build was interrupted.

    Raises ReplayRunning while another process does so, ReplayFailed and LogCorrupt naming the event at fault,
    ViewUnavailable when the disk is full (what was built stays, and the next call resumes), BuildUnsound when what was
    built is not what the log says, BadRequest where only a part is built and it should be promoted.
    """
    if options.keep is not None and options.keep < 0:
        raise BadRequest("keep", "is a number of generations, 0 or more")
    if options.promote and not options.which.all:
        raise BadRequest("promote", "only a part of the facts is built; say no_promote (--no-promote)")
    lock = ReplayLock(path)
    try:
        return _Rebuild(path, sources, options, watch).run()
    finally:
        lock.release()


@dataclass(frozen=True, slots=True)
class _Plan:
    """What an interrupted build must have been of, to be gone on with."""

    extraction: int
    again: bool
    namespace: str | None
    topics: list[str] | None

    def text(self) -> str:
        return orjson.dumps(self).decode()


class _Rebuild:
    def __init__(self, path: Path, sources: tuple[Log, Letters], options: Options, watch: Watch) -> None:
        self._path = path
        self._generations = Generations(path)
        self._log, self._letters = sources
        self._options = options
        self._watch = watch

    def run(self) -> Rebuilt:
        current = self._generations.current()
        before = 1 if current is None else current.extraction
        extraction = self._next_extraction() if self._options.from_raw else before
        generation, plan = self._choose(extraction, before)
        place = self._generations.building(generation)
        with self._store(place) as store:
            self._begin(store, plan)
            if self._options.from_raw:
                self._extract(plan.extraction, before)
            else:
                self._extract_unowned(before)
            built = self._build(store, generation, plan.extraction)
            if self._options.promote and current is not None:
                with store.transaction():
                    store.set_meta(FOLLOWS, current.generation)
            store.checkpoint()
        self._generations.finish(generation)
        if self._options.promote:
            self._generations.point(Current(generation, plan.extraction))
            if self._options.keep is not None:
                _prune(self._generations, self._options.keep)
        return replace(built, promoted=self._options.promote)

    def _choose(self, extraction: int, before: int) -> tuple[str, _Plan]:
        """The interrupted build of the same plan, or a new one; others that were interrupted are dropped."""
        which = self._options.which
        plan = _Plan(
            extraction, self._options.from_raw, which.namespace, None if which.topics is None else [*which.topics]
        )
        for generation in reversed(self._generations.unfinished()):
            found = None if self._options.fresh else self._planned(generation)
            if found is not None and replace(found, extraction=0) == replace(plan, extraction=0):
                same = found.extraction > before if found.again else found.extraction == before
                if same:
                    return generation, found
            self._generations.abandon(generation)
        return self._generations.next(), plan

    def _planned(self, generation: str) -> _Plan | None:
        try:
            with self._store(self._generations.building(generation)) as store:
                text = store.meta(PLAN, "")
        except DataDirectory:
            return None
        return _Plan(**orjson.loads(text)) if text else None

    @contextmanager
    def _store(self, place: Path) -> Generator[ViewStore]:
        store = ViewStore(str(place), self._options.memory_mb, self._options.threads)
        try:
            yield store
        finally:
            store.close()

    def _begin(self, store: ViewStore, plan: _Plan) -> None:
        with store.transaction():
            store.set_meta(PLAN, plan.text())
        store.commit()

    def _next_extraction(self) -> int:
        number = 2
        while self._log.end(fact_topics(number)):
            number += 1
        return number

    def _extract(self, extraction: int, before: int) -> None:
        """Extract what the raw topics hold now into an extraction's facts, from where these end."""
        carried = _Carried(self._log, before)
        how = Extracting(EXTRACT_RECORDS_MAX, fact_topics(extraction), carried)
        work = Extraction(self._log, self._letters, Recent(0, 0), how)
        records, end = 0, self._log.end(RAW)
        while work.extracted < end and (step := work.step()) is not None:
            records += len(step.records)
            self._watch(Progress("extract", step.extracted, end, records))

    def _extract_unowned(self, extraction: int) -> None:
        """Where nobody owns the views, nobody extracts: do so, as their owner, until the log's end."""
        try:
            lock = ViewLock(self._path)
        except ViewLocked:
            return
        try:
            self._extract(extraction, extraction)
        finally:
            lock.release()

    def _build(self, store: ViewStore, generation: str, extraction: int) -> Rebuilt:
        topics = fact_topics(extraction)
        builder = Builder(self._log, store, self._options.which, topics)

        def watch(progress: BuildProgress) -> None:
            self._watch(Progress("build", progress.done, progress.total, progress.records))

        end, gap = 0, sys.maxsize
        while True:
            if self._options.from_raw:
                self._extract(extraction, extraction)
            before, end = end, self._log.end(topics)
            builder.advance(end, watch)
            if end - before < BEHIND_RECORDS_MAX or end - before > gap // 2:
                break  # close enough, or what comes in is no less than what a round takes in: its owner goes on
            gap = end - before
        self._watch(Progress("check", end, end, builder.records))
        reason = unsound(self._log, builder, topics)
        if reason is not None:
            raise BuildUnsound(generation, reason)
        position = raw_offset(self._log, end, topics)
        lag = _events_between(self._log, position)
        return Rebuilt(generation, extraction, str(position), builder.records, lag, False)


def _events_between(log: Log, after: int) -> int:
    """How many events stand above a raw offset; no more than LAG_EVENTS_MAX are counted."""
    found = 0
    while found < LAG_EVENTS_MAX and (batch := log.read(RAW, after, EXTRACT_RECORDS_MAX)):
        found += len(batch)
        after = batch[-1].offset
    return found


class _Carried:
    """Facts that an extraction made of events whose payload is destroyed since, by the events' raw offset."""

    def __init__(self, log: Log, extraction: int) -> None:
        self._log = log
        self._topics = fact_topics(extraction)
        self._places: dict[int, int] | None = None  # raw offset -> offset of its facts

    def __call__(self, offset: int) -> FactRecord | None:
        if self._places is None:
            self._places = dict(self._destroyed())
        place = self._places.get(offset)
        if place is None:
            return None
        [stored] = self._log.read(self._topics, place - 1, 1)
        return fact_record(stored)

    def _destroyed(self) -> Iterator[tuple[int, int]]:
        gone = {one.offset for one in _all(self._log, RAW) if one.payload is None}
        for stored in _all(self._log, self._topics):
            raw: int = orjson.loads(stored.envelope)["raw"][2]
            if raw in gone and stored.payload is not None:
                yield raw, stored.offset


def _all(log: Log, topics: Sequence[str]) -> Iterator[Stored]:
    after = 0
    while batch := log.read(topics, after, EXTRACT_RECORDS_MAX):
        yield from batch
        after = batch[-1].offset


def list_generations(path: Path) -> list[Generation]:
    """Every generation of a data directory, oldest first, and those whose build was interrupted."""
    generations = Generations(path)
    current = generations.current()
    files = [(name, generations.file(name), True) for name in generations.all()]
    files += [(name, generations.building(name), False) for name in generations.unfinished()]
    found: list[Generation] = []
    for name, file, finished in files:
        stat = file.stat()
        is_current = current is not None and finished and current.generation == name
        built_at = us_text(stat.st_mtime_ns // 1000)
        found.append(Generation(name, is_current, finished, stat.st_size, built_at))
    return found


def promote(path: Path, generation: str, settings: tuple[int, int]) -> None:
    """Make a generation the current one; `settings` are DuckDB's memory limit in MB and its threads.

    Raises BadRequest for one that has no file, or that holds a part of the facts only, ReplayRunning during a build.
    """
    lock = ReplayLock(path)
    try:
        generations = Generations(path)
        if generation not in generations.all():
            raise BadRequest(
                "generation", f"there is no {generation}; there are {', '.join(generations.all()) or 'none'}"
            )
        current = generations.current()
        if current is not None and current.generation == generation:
            return
        store = ViewStore(str(generations.file(generation)), *settings)
        try:
            text = store.meta(PLAN, "")
            plan = _Plan(**orjson.loads(text)) if text else _Plan(1, False, None, None)
            if plan.namespace is not None or plan.topics is not None:
                raise BadRequest(
                    "generation", f"{generation} holds only a part of the facts; build it whole to promote it"
                )
            if current is not None:
                with store.transaction():
                    store.set_meta(FOLLOWS, current.generation)
        finally:
            store.close()
        generations.point(Current(generation, plan.extraction))
    finally:
        lock.release()


def prune(path: Path, keep: int) -> list[str]:
    """Remove all but the `keep` newest generations beside the current one; those removed. Raises BadRequest for a bad
    number, ReplayRunning during a build."""
    if keep < 0:
        raise BadRequest("keep", "is a number of generations, 0 or more")
    lock = ReplayLock(path)
    try:
        return _prune(Generations(path), keep)
    finally:
        lock.release()


def _prune(generations: Generations, keep: int) -> list[str]:
    current = generations.current()
    old = [name for name in generations.all() if current is None or name != current.generation]
    gone = old[: max(0, len(old) - keep)]
    for name in gone:
        generations.remove(name)
    return gone
