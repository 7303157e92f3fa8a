"""Reads of one opened data directory: catch up with the log, then ask."""

import re
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, cast

import orjson
from tether_projections.queries import Queries, Reader
from tether_projections.snapshot import digest_of, snapshot
from tether_replay.past import Moment, Question, moment_at, moment_of
from tether_schemas.answers import (
    Answer,
    Change,
    Covered,
    DeadLetter,
    Dependent,
    EvidenceId,
    Statement,
    StoreStatus,
    Why,
)
from tether_schemas.errors import BadNamespace, BadRequest, ViewBehind
from tether_schemas.events import NAMESPACE_PATTERN, PUBLIC
from tether_schemas.fields import given
from tether_schemas.refs import EvidenceRef
from tether_schemas.times import BadTime, time_text, time_us
from tether_schemas.topics import TOPIC_OF_TYPE

from tether.compose import Home, OpenView
from tether.drafts import deletion_target
from tether.forms import KnownAt, Position, Target, Waits, When

TIMEOUT_S = 5.0
POLL_INTERVAL_S = 0.01
TIMEOUT_MAX_S = 86_400
LETTERS_BATCH = 1_000


def when_text(value: When, field: str) -> str:
    """RFC 3339 text of a time in either form. Raises BadRequest naming the field."""
    try:
        if isinstance(value, datetime):
            return time_text(value)
        if not isinstance(value, str):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers need not be type-checked
            raise BadRequest(field, f"is a {type(value).__name__}; give an aware datetime or RFC 3339 text")
        time_us(value)
    except BadTime as error:
        raise BadRequest(field, str(error)) from None
    return value


def check_namespace(namespace: object) -> str:
    """A namespace that may be read and written; `*` is none. Raises BadNamespace."""
    if not isinstance(namespace, str) or namespace == PUBLIC or not re.fullmatch(NAMESPACE_PATTERN, namespace):
        raise BadNamespace(f"{namespace!r:.80} names none; give tenant or tenant/workspace")
    return namespace


@dataclass(frozen=True, slots=True)
class AsOf:
    """The times that a read names: of validity and of recording; None: now."""

    valid_at: When | None = None
    known_at: KnownAt | None = None

    @property
    def valid_at_us(self) -> int | None:
        """The time of validity. Raises BadRequest."""
        return None if self.valid_at is None else time_us(when_text(self.valid_at, "valid_at"))


def moment(view: OpenView, known_at: KnownAt, present: Moment) -> Moment:
    """The past that is named by a position or a time of recording. Raises BadRequest."""
    position = known_at
    if isinstance(position, str) and position.isascii() and position.isdigit():
        position = int(position)
    if isinstance(position, int):
        if isinstance(position, bool) or not 0 <= position < 2**63:
            raise BadRequest("known_at", f"{known_at!r:.80} is no position that this store gave")
        return moment_at(view.store, position, present.position)
    return moment_of(view.store, time_us(when_text(position, "known_at")), present)


@dataclass(frozen=True, slots=True)
class _Then:
    """What answers, at which time, and up to which position it looks."""

    queries: Queries
    now_us: int
    position: str


class Reads:
    """What one reader may ask of one data directory. Safe from many threads."""

    def __init__(self, home: Home, reader: Reader) -> None:
        self._home = home
        self.reader = reader

    def recall(self, slot: tuple[str, str, str], as_of: AsOf, waits: Waits) -> Answer:
        """The answer of a slot (subject, predicate, scope)."""
        subject, predicate, scope = slot
        at_us = as_of.valid_at_us
        with self._then(slot, as_of, waits) as then:
            answer = then.queries.recall(
                self.reader, subject, predicate, scope=scope, valid_at_us=at_us, now_us=then.now_us
            )
        return replace(answer, position=then.position)

    def why(self, slot: tuple[str, str, str], as_of: AsOf) -> Why:
        """The answer of a slot with its causes."""
        at_us = as_of.valid_at_us
        with self._then(slot, as_of) as then:
            why = then.queries.why(self.reader, *slot, then.now_us, at_us)
        return replace(why, answer=replace(why.answer, position=then.position))

    @contextmanager
    def _then(self, slot: tuple[str, str, str], as_of: AsOf, waits: Waits | None = None) -> Generator[_Then]:
        """What answers a question about a slot, now or as of the past that is named."""
        with caught_up(self._home, **_waits(waits or {})) as (view, position):
            present = Moment(int(position), self._home.clock_us())
            then = present if as_of.known_at is None else moment(view, as_of.known_at, present)
            if then.position >= present.position:
                yield _Then(view.queries, then.now_us, position)
                return
            subject, predicate, scope = slot
            question = Question(self.reader, subject, predicate, scope)
            with self._home.past(view).queries(question, then.position) as queries:
                yield _Then(queries, then.now_us, str(then.position))

    def dependents(self, named: str | EvidenceRef) -> list[Dependent]:
        """What derives from a subject, an assertion or evidence."""
        with caught_up(self._home) as (view, _):
            return view.queries.dependents(self.reader, named)

    def history(self, slot: tuple[str, str, str], as_of: AsOf) -> list[Statement]:
        """Every statement of a slot."""
        at_us = as_of.valid_at_us
        with self._then(slot, as_of) as then:
            return then.queries.history(self.reader, *slot, at_us)

    def get(self, named: EvidenceId) -> dict[str, Any] | None:
        """The event of a piece of evidence; its `data` is left out where it is deleted or not for this reader."""
        with caught_up(self._home) as (view, _):
            found = view.queries.get(self.reader, named.source, named.id, named.namespace)
            if found is None:
                return None
            [stored] = self._home.log.read([TOPIC_OF_TYPE[found.event_type]], int(found.position) - 1, 1)
        event: dict[str, Any] = orjson.loads(stored.envelope)
        if stored.payload is None and isinstance(event.get("ghost"), dict):
            del event["ghost"]  # facts that came without content, not an attribute
        if found.payload_visible and stored.payload is not None:
            event["data"] = orjson.loads(stored.payload)
        return event

    def changes(self, since: int, limit: int) -> list[Change]:
        """What changed after a `seq`."""
        with caught_up(self._home) as (view, _):
            return view.queries.changes(self.reader, since, limit)

    def covered(self, named: Target, until: When | None) -> Covered:
        """What a deletion of a target covers."""
        aimed = deletion_target(named)
        until_us = None if until is None else time_us(when_text(until, "until"))
        with caught_up(self._home) as (view, _):
            return view.queries.covered(self.reader, aimed, until_us)

    def digest(self) -> str:
        """The digest of the namespace's snapshot."""
        with caught_up(self._home) as (view, _):
            return digest_of(snapshot(view.store, view.engine.state, self.reader.namespace))


def _waits(given: Waits) -> Waits:
    unknown = sorted(given.keys() - Waits.__annotations__.keys())
    if unknown:
        raise BadRequest(unknown[0], f"is no option; there are {', '.join(Waits.__annotations__)}")
    return given


def status(home: Home, namespace: str | None) -> StoreStatus:
    """Counts of one namespace, or of the store."""
    letters = sum(not letter.replayed and namespace in (None, letter.namespace) for letter in all_letters(home))
    with caught_up(home) as (view, position):
        counted = view.queries.status(namespace)
        end = str(home.runtime.end())
    return replace(counted, log_position=end, view_position=position, generation=view.generation, dead_letters=letters)


def all_letters(home: Home) -> Iterator[DeadLetter]:
    """Every dead letter, by id."""
    after = 0
    while batch := home.log.letters.list(after, LETTERS_BATCH):
        yield from batch
        after = batch[-1].id


@contextmanager
def caught_up(
    home: Home, min_position: Position | None = None, timeout_s: float = TIMEOUT_S
) -> Generator[tuple[OpenView, str]]:
    """The view once it has everything that the log holds, and where it stands.

    With `min_position`, waits at most `timeout_s` for the log to hold it; then raises ViewBehind.
    """
    wanted = _wanted(min_position)
    if not _is_timeout(timeout_s):
        raise BadRequest("timeout_s", f"is a number of seconds from 0 to {TIMEOUT_MAX_S}, not {given(timeout_s)}")
    deadline = time.monotonic() + timeout_s
    while True:
        with home.reading() as view:
            have = view.drive.catch_up()
            if have >= wanted:
                yield view, str(have)
                return
        if time.monotonic() >= deadline:
            raise ViewBehind(str(wanted), str(have))
        time.sleep(POLL_INTERVAL_S)


def _wanted(min_position: Position | None) -> int:
    if min_position is None:
        return 0
    positions = cast(Sequence[Any], min_position if _is_list(min_position) else [min_position])
    for position in positions:
        if not (isinstance(position, str) and position.isascii() and position.isdigit() and len(position) <= 19):
            raise BadRequest("min_position", f"{given(position)} is no position that this store gave")
    return max(map(int, positions), default=0)


def _is_list(positions: object) -> bool:
    return isinstance(positions, Sequence) and not isinstance(positions, str)


def _is_timeout(value: object) -> bool:
    return isinstance(value, int | float) and 0 <= value <= TIMEOUT_MAX_S
