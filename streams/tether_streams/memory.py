"""The double of the log and its dead letters: the same promises in memory, but for durability."""

import threading
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import replace

from tether_schemas.answers import DeadLetter
from tether_schemas.errors import BadRequest, LogUnavailable
from tether_schemas.times import us_text

from tether_streams.ports import READ_BYTES_MAX, Appended, NewLetter, NewRecord, Stored, identity_class

_Identity = tuple[str, str, str, str]


class MemoryLog:
    """ports.Log in memory, for tests and trials: everything is gone with the object."""

    def __init__(self, clock_us: Callable[[], int]) -> None:
        self._clock_us = clock_us
        self._lock = threading.Lock()
        self._records: list[Stored] = []  # Invariant: the record at index i has offset i + 1
        self._offset_of: dict[_Identity, int] = {}
        self._offsets_of_topic: dict[str, list[int]] = {}
        self._closed = False
        self.letters = MemoryLetters(clock_us)

    def append(self, records: Sequence[NewRecord]) -> list[Appended]:
        for record in records:
            try:
                "".join((record.topic, record.namespace, record.source, record.id, record.content_hash)).encode()
            except UnicodeEncodeError as error:
                raise BadRequest("records", str(error)) from error
        with self._lock:
            self._check_open()
            now_us = max(self._clock_us(), self._records[-1].recorded_us if self._records else 0)
            return [self._append(record, now_us) for record in records]

    def read(self, topics: Sequence[str], after: int, limit: int) -> list[Stored]:
        found: list[Stored] = []
        held = 0
        with self._lock:
            self._check_open()
            of_topics = [self._offsets_of_topic.get(topic, []) for topic in set(topics)]
            wanted = sorted(offset for of in of_topics for offset in of[bisect_right(of, after) :][: max(limit, 0)])
            for offset in wanted[: max(limit, 0)]:
                stored = self._records[offset - 1]
                found.append(stored)
                held += len(stored.envelope) + len(stored.payload or b"")
                if held >= READ_BYTES_MAX:
                    break
        return found

    def end(self, topics: Sequence[str]) -> int:
        with self._lock:
            self._check_open()
            return max((self._offsets_of_topic.get(topic, [0])[-1] for topic in topics), default=0)

    def destroy_payload(self, topic: str, namespace: str, source: str, id: str) -> bool:
        """Forget the payload of a record; the record stays and is read with payload None. True when it was there."""
        with self._lock:
            self._check_open()
            offset = self._offset_of.get((identity_class(topic), namespace, source, id))
            if offset is None or self._records[offset - 1].payload is None:
                return False
            self._records[offset - 1] = self._records[offset - 1]._replace(payload=None)
            return True

    def close(self) -> None:
        with self._lock:
            self._closed = True

    def _append(self, new: NewRecord, now_us: int) -> Appended:
        identity = (identity_class(new.topic), new.namespace, new.source, new.id)
        offset = self._offset_of.get(identity)
        if offset is not None:
            there = self._records[offset - 1]
            same = there.content_hash == new.content_hash
            return Appended(offset, there.recorded_us, duplicate=same, conflict=not same)
        offset = self._offset_of[identity] = len(self._records) + 1
        self._offsets_of_topic.setdefault(new.topic, []).append(offset)
        names = (new.namespace, new.source, new.id, new.content_hash)
        self._records.append(Stored(new.topic, 0, offset, now_us, *names, new.envelope, new.payload))
        return Appended(offset, now_us)

    def _check_open(self) -> None:
        if self._closed:
            raise LogUnavailable("memory", "it was closed; open another")


class MemoryLetters:
    """ports.Letters in memory."""

    def __init__(self, clock_us: Callable[[], int]) -> None:
        self._clock_us = clock_us
        self._lock = threading.Lock()
        self._letters: list[DeadLetter] = []  # Invariant: the letter at index i has id i + 1
        self._id_of_key: dict[str, int] = {}

    def add(self, letters: Sequence[NewLetter]) -> list[int]:
        with self._lock:
            return [self._add(new, self._clock_us()) for new in letters]

    def list(self, after: int, limit: int) -> list[DeadLetter]:
        found: list[DeadLetter] = []
        held = 0
        with self._lock:
            for letter in self._letters[max(after, 0) :][: max(limit, 0)]:
                found.append(letter)
                held += len(letter.payload)
                if held >= READ_BYTES_MAX:
                    break
        return found

    def get(self, letter_id: int) -> DeadLetter | None:
        with self._lock:
            return self._letters[letter_id - 1] if 0 < letter_id <= len(self._letters) else None

    def mark_replayed(self, letter_id: int) -> bool:
        with self._lock:
            if not 0 < letter_id <= len(self._letters):
                return False
            self._letters[letter_id - 1] = replace(self._letters[letter_id - 1], replayed=True)
            return True

    def _add(self, new: NewLetter, now_us: int) -> int:
        if new.key is not None and new.key in self._id_of_key:
            return self._id_of_key[new.key]
        letter = DeadLetter(len(self._letters) + 1, new.namespace, new.stage, new.reason, us_text(now_us), new.payload)
        self._letters.append(letter)
        if new.key is not None:
            self._id_of_key[new.key] = letter.id
        return letter.id
