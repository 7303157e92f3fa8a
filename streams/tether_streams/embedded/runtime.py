"""The embedded runtime: appends events to a log, and drives one view over it.

A crash between any two steps loses and doubles nothing: raw events, facts and the view's rows are each durable with
what says how far they go, and each step starts from there.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from tether_schemas.answers import Receipt
from tether_schemas.codec import RawInput
from tether_schemas.errors import BadEvent, BadNamespace, EventConflict
from tether_schemas.topics import RAW, FactTopics

from tether_streams.embedded.admission import Admitted, Door, Limits, admit, letter, named_namespace
from tether_streams.embedded.bulk import bulk
from tether_streams.embedded.extraction import (
    BATCH_RECORDS_MAX,
    FACT_TOPICS,
    Event,
    Extracting,
    Extraction,
    Recent,
    facts_after,
    raw_offset,
)
from tether_streams.ports import Appended, Letters, Log, NewLetter, Stored, View

PARTITION = 0  # an embedded log has one
RECENT_EVENTS_MAX = 10_000
RECENT_BYTES_MAX = 32 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Options:
    """Limits of events, and how many records go through a stage at once."""

    limits: Limits = field(default_factory=Limits)
    batch_records_max: int = BATCH_RECORDS_MAX


class Runtime:
    """Appends to one log. Safe from many threads; needs no view. `clock_us` is the log's clock."""

    def __init__(self, log: Log, letters: Letters, clock_us: Callable[[], int], options: Options | None = None) -> None:
        self.log = log
        self.letters = letters
        self.options = options or Options()
        self.recent = Recent(RECENT_EVENTS_MAX, RECENT_BYTES_MAX)
        self._clock_us = clock_us
        self._recorded_us = 0

    def append(self, event: RawInput, door: Door) -> Receipt:
        """Append one event; it is durable when this returns.

        Raises BadEvent or BadNamespace when it is refused, EventConflict when its id is taken by other content.
        """
        admitted = admit(event, door, self.options.limits, self._now_us())
        [appended] = self.log.append([admitted.record])
        if appended.conflict:
            raise EventConflict(admitted.record.namespace, admitted.record.source, admitted.record.id)
        self._note([(admitted, appended)])
        return Receipt(str(appended.offset), appended.duplicate)

    def append_many(self, events: Sequence[RawInput], door: Door) -> list[Receipt]:
        """Append a batch in one transaction, one receipt per event in order. A bad event is kept as a dead letter and
        has the reason in its receipt; the others are appended."""
        with bulk():
            return self._append_many(events, door)

    def _append_many(self, events: Sequence[RawInput], door: Door) -> list[Receipt]:
        now_us = self._now_us()
        admitted: list[Admitted | str] = [self._try(event, door, now_us) for event in events]
        good = [one for one in admitted if not isinstance(one, str)]
        answers = self.log.append([one.record for one in good])
        self._note(zip(good, answers, strict=True))
        settled = iter(answers)
        receipts: list[Receipt] = []
        letters: list[NewLetter] = []
        for event, one in zip(events, admitted, strict=True):
            if isinstance(one, str):
                reason = one
            elif (answer := next(settled)).conflict:
                reason = str(EventConflict(one.record.namespace, one.record.source, one.record.id))
            else:
                receipts.append(Receipt(str(answer.offset), answer.duplicate))
                continue
            receipts.append(Receipt(None, False, reason))
            letters.append(letter(event, reason, door.namespace or named_namespace(event)))
        if letters:
            self.letters.add(letters)
        return receipts

    def end(self) -> int:
        """The raw offset of the last event."""
        return self.log.end(RAW)

    def drive(self, view: View, topics: FactTopics = FACT_TOPICS) -> "Drive":
        """Extract into this log's facts and keep `view` up to them. One process at a time may do so."""
        return Drive(self, view, topics)

    def _try(self, event: RawInput, door: Door, now_us: int) -> Admitted | str:
        try:
            return admit(event, door, self.options.limits, now_us)
        except (BadEvent, BadNamespace) as error:
            return str(error)

    def _note(self, appended: Iterable[tuple[Admitted, Appended]]) -> None:
        """Keep what was appended for who extracts in this process, and the time it was recorded at."""
        wanted = self.recent.wanted
        new: list[tuple[Stored, Event]] = []
        for admitted, (offset, recorded_us, duplicate, conflict) in appended:
            if not conflict:
                self._recorded_us = max(self._recorded_us, recorded_us)
            if wanted and admitted.settled and not duplicate and not conflict:
                topic, namespace, source, event_id, content_hash, envelope, payload, _ = admitted.record
                names = (namespace, source, event_id, content_hash)
                new.append((Stored(topic, PARTITION, offset, recorded_us, *names, envelope, payload), admitted.event))
        if new:
            self.recent.put(new)

    def _now_us(self) -> int:
        return max(self._clock_us(), self._recorded_us)


class Drive:
    """One view, driven: extraction, then application. Not for two threads at once."""

    def __init__(self, runtime: Runtime, view: View, topics: FactTopics) -> None:
        self._log = runtime.log
        self._batch_records_max = runtime.options.batch_records_max
        self._topics = topics
        self._view = view
        how = Extracting(self._batch_records_max, topics)
        self._extraction = Extraction(runtime.log, runtime.letters, runtime.recent, how)
        self._position = raw_offset(self._log, view.position(), topics)

    def position(self) -> int:
        """The raw offset up to which every event is in the view, or a dead letter."""
        return self._position

    def catch_up(self) -> int:
        """Bring the view to at least the log's end as it is now; the position then."""
        end = self._log.end(RAW)
        self._apply_stored()
        while self._position < end and (step := self._extraction.step()) is not None:
            if step.records:
                self._view.apply(step.records, step.position)
            self._position = step.extracted
        return self._position

    def _apply_stored(self) -> None:
        """Apply the facts that are in the log and not in the view: after a crash, a failure, or for a new view."""
        behind = False
        while (at := self._view.position()) < self._extraction.facts_end:
            records, position = facts_after(self._log, at, self._batch_records_max, self._topics)
            self._view.apply(records, position)
            behind = True
        if behind or self._position < self._extraction.extracted:
            self._position = self._extraction.extracted
