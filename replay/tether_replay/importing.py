"""Reads an export into a log: events and ghosts that are new, in batches of one transaction each.

A crash between two steps loses and doubles nothing: what is in is durable, and is a duplicate the next time.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import BinaryIO, cast

import orjson
from tether_projections.state import State
from tether_projections.store import ViewStore
from tether_schemas.errors import BadEvent, BadNamespace, EventConflict
from tether_schemas.facts import FactRecord
from tether_schemas.fields import BadField
from tether_schemas.ghosts import GHOST_HASH, Ghost, encode_ghost, read_ghost
from tether_schemas.reports import Imported, ImportedKind
from tether_schemas.topics import KIND_OF_TYPE, RAW, TOPIC_OF_TYPE, Kind
from tether_schemas.usual import Usual
from tether_streams.core.extract import RawPlace, extract, extract_usual
from tether_streams.core.ghosts import carried
from tether_streams.embedded.admission import (
    ENVELOPE_BYTES_MAX,
    Admitted,
    Door,
    Limits,
    admit,
    check_ahead,
    letter,
    named_namespace,
)
from tether_streams.embedded.bulk import bulk
from tether_streams.embedded.extraction import RulesInForce, rules_until
from tether_streams.ports import Appended, Letters, Log, NewLetter, NewRecord

from tether_replay.covered import Covered, learn_until_stable
from tether_replay.export import Told, nobody
from tether_replay.form import END, HEAD, End, is_ghost, read_end, read_head
from tether_replay.lines import LINE_BYTES_MAX, Batch, batches

REASONS_MAX = 100
OTHER = "other"
BODY = 2  # the number of the first line after the head
NO_PLACE = RawPlace(0, "", 0, 0, "")


@dataclass(frozen=True, slots=True)
class Target:
    """Where events go: a log with its dead letters, and the view of everything that it holds."""

    log: Log
    letters: Letters
    limits: Limits
    clock_us: Callable[[], int]
    store: ViewStore
    state: State


@dataclass(frozen=True, slots=True)
class Line:
    """One line that is an event or a ghost, with its number; `record` is what the log gets."""

    number: int
    text: bytes
    kind: Kind
    record: NewRecord
    event: Admitted | Ghost
    hash: str  # of the content as it came; of a ghost GHOST_HASH
    erased_since: bool = False


class Import:
    """One file on its way into one log."""

    def __init__(self, target: Target, namespace: str | None, told: Told = nobody) -> None:
        self._target = target
        self._namespace = namespace
        self._told = told
        self._counts: dict[str, Counter[str]] = {}
        self._skipped = 0
        self._reasons: list[str] = []
        self._letters: list[NewLetter] = []
        self._covered: Covered | None = None
        self._secret = b""
        self._rules: RulesInForce | None = None
        self._end: End | None = None
        self._lines = 0  # so far, between the first and the last

    def run(self, file: BinaryIO) -> Imported:
        """Read a whole file; where anything is erased here it must be one that can be read again.

        Raises BadRequest for a file that is no export, UnknownVersion for one of a newer Tether.
        """
        head = read_head(file.readline(LINE_BYTES_MAX))
        state = self._target.state
        if state.erased or state.payload_erased or state.deletions.any:
            start = file.tell()
            self._find_erased(file, start)
            file.seek(start)
        for batch in self._batches(file):
            with bulk():
                self._settle(batch)
            self._told(self._lines, head.events)
        whole = self._end is not None and self._end.events == self._lines == head.events
        kinds = (ImportedKind(kind, **counts) for kind, counts in sorted(self._counts.items()))
        return Imported(tuple(kinds), self._skipped, whole, tuple(self._reasons))

    def _find_erased(self, file: BinaryIO, start: int) -> None:
        """Read the file through, without writing, for what is erased by what is on record here."""
        covered = Covered(self._target.store, self._target.state)
        hashed = hashlib.sha256()

        def read() -> Iterator[FactRecord]:
            nonlocal hashed
            hashed = hashlib.sha256()
            file.seek(start)
            self._rules = self._rules_now()
            done = 0
            for batch in self._batches(file):
                for number, text in zip(batch.numbers, batch.lines, strict=True):
                    hashed.update(text + b"\n")
                    line = self._read(number, text, [])
                    if line is not None and self._is_wanted(line):
                        yield self._facts(line, covered)
                done += len(batch.lines)
                self._told(done, None)

        learn_until_stable(covered, read)
        self._rules = self._rules_now()
        self._secret = hashed.digest()  # the same whenever the same file is read, and known to nobody without it
        self._covered = covered if covered.erases else None

    def _batches(self, file: BinaryIO) -> Iterator[Batch]:
        """The lines after the first; `admit` refuses what is longer than they may be."""
        return batches(file, BODY, self._target.limits.payload_bytes_max + ENVELOPE_BYTES_MAX)

    def _rules_now(self) -> RulesInForce:
        return rules_until(self._target.log, self._target.log.end(RAW))

    def _facts(self, line: Line, covered: Covered) -> FactRecord:
        """The facts of a line, by the rules in force there."""
        event = line.event if isinstance(line.event, Ghost) else line.event.event
        assert self._rules is not None
        if not covered.is_recorded(event.namespace, event.source, event.id):
            with suppress(BadField):  # they do not compile; extraction says so
                if not isinstance(event, Usual):
                    self._rules.declare(event)
        if isinstance(event, Ghost):
            return carried(event, NO_PLACE)
        rules = self._rules.of(event.namespace)
        if isinstance(event, Usual):
            return extract_usual(event, NO_PLACE, None if rules is None else rules.version)[0]
        return extract(event, NO_PLACE, rules)[0]

    def _settle(self, batch: Batch) -> None:
        """Take in one batch: its records in one transaction, then what of it is refused."""
        refused: list[tuple[int, bytes, str]] = []
        lines: list[Line] = []
        for number, text in zip(batch.numbers, batch.lines, strict=True):
            line = self._line(number, text, refused)
            if line is not None:
                lines.append(self._as_ghost(line) if self._covered is not None else line)
        for line, answer in zip(lines, self._target.log.append([one.record for one in lines]), strict=True):
            self._count(line, answer)
        for number, text, reason in refused:
            self._refuse(OTHER, "refused", number, reason)
            self._keep(text, f"line {number}: {reason}")
        if self._letters:
            self._target.letters.add(self._letters)
            self._letters = []

    def _line(self, number: int, text: bytes, refused: list[tuple[int, bytes, str]]) -> Line | None:
        """One line of the body; None for the last line, and for what is refused or not asked for."""
        if self._end is not None:
            self._lines += 1
            refused.append((number, text, "comes after the end of the export"))
            return None
        self._end = read_end(text)
        if self._end is not None:
            return None
        self._lines += 1
        line = self._read(number, text, refused)
        if line is None or self._is_wanted(line):
            return line
        self._skipped += 1
        return None

    def _read(self, number: int, text: bytes, refused: list[tuple[int, bytes, str]]) -> Line | None:
        """One line as an event or a ghost; None for one that is refused."""
        if text.startswith((f'{{"{HEAD}":'.encode(), f'{{"{END}":'.encode())):
            refused.append((number, text, "is the first or last line of an export; import one file after the other"))
            return None
        try:
            return self._ghost(number, text) if self._is_ghost(text) else self._event(number, text)
        except (BadEvent, BadNamespace) as error:
            refused.append((number, text, str(error)))
            return None

    def _is_wanted(self, line: Line) -> bool:
        return self._namespace in (None, line.record.namespace)

    def _is_ghost(self, text: bytes) -> bool:
        if b'"ghost"' not in text:
            return False
        try:
            fields: object = orjson.loads(text)
        except ValueError:
            return False
        return isinstance(fields, dict) and is_ghost(cast(dict[str, object], fields))

    def _event(self, number: int, text: bytes) -> Line:
        admitted = admit(text, Door(), self._target.limits, self._target.clock_us())
        event = admitted.event
        kind = "tool_result" if isinstance(event, Usual) else KIND_OF_TYPE[event.__dict__["type"]]
        return Line(number, text, kind, admitted.record, admitted, admitted.record.content_hash)

    def _ghost(self, number: int, text: bytes) -> Line:
        ghost = read_ghost(text)
        check_ahead(ghost, self._target.clock_us(), self._target.limits)
        return Line(number, text, ghost.kind, ghost_record(ghost), ghost, GHOST_HASH)

    def _as_ghost(self, line: Line) -> Line:
        """A line without its content, where what is on record here erases any of it."""
        assert self._covered is not None
        ghost = self._covered.ghost(self._facts(line, self._covered), self._secret)
        if ghost is None or ghost == line.event:
            return line
        return Line(line.number, line.text, line.kind, ghost_record(ghost), ghost, line.hash, erased_since=True)

    def _count(self, line: Line, answer: Appended) -> None:
        counts = self._counts.setdefault(line.kind, Counter())
        if answer.duplicate or (answer.conflict and self._is_same(line, answer)):
            counts["duplicates"] += 1
        elif answer.conflict:
            record = line.record
            reason = str(EventConflict(record.namespace, record.source, record.id))
            self._refuse(line.kind, "conflicts", line.number, reason)
            if not line.erased_since:
                self._keep(line.text, f"line {line.number}: {reason}")
        elif isinstance(line.event, Ghost):
            counts["ghosts"] += 1
            counts["erased_since"] += line.erased_since
        else:
            counts["new"] += 1

    def _is_same(self, line: Line, answer: Appended) -> bool:
        """Whether what has the id is this: as a ghost, or with its content. Of a ghost nobody can tell what it said."""
        if line.hash == GHOST_HASH:
            return True
        [stored] = self._target.log.read(RAW, answer.offset - 1, 1)
        return stored.content_hash in (GHOST_HASH, line.hash)

    def _refuse(self, kind: str, count: str, number: int, reason: str) -> None:
        self._counts.setdefault(kind, Counter())[count] += 1
        if len(self._reasons) < REASONS_MAX:
            self._reasons.append(f"line {number}: {reason}")

    def _keep(self, text: bytes, reason: str) -> None:
        named = named_namespace(text)
        if self._namespace in (None, named) or named is None:
            self._letters.append(letter(text, reason, named))


def ghost_record(ghost: Ghost) -> NewRecord:
    """A ghost as the log keeps it: a record without payload, whose envelope carries its facts."""
    names = (ghost.namespace, ghost.source, ghost.id)
    return NewRecord(TOPIC_OF_TYPE[ghost.type], *names, GHOST_HASH, encode_ghost(ghost), None)
