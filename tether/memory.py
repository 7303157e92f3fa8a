"""Memory: one namespace of a data directory, as one principal sees it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypedDict, Unpack

from tether_projections.queries import Reader
from tether_schemas.answers import Answer, Change, Covered, Dependent, EvidenceId, Receipt, Statement, StoreStatus, Why
from tether_schemas.codec import RawInput
from tether_streams.embedded.admission import Door

from tether.compose import Home
from tether.drafts import Drafts, RisingClock, evidence_id, evidence_ref
from tether.forms import Attributes, Fields, KnownAt, MessageFields, RefLike, Target, ToolFields, Until, Waits, When
from tether.reads import AsOf, Reads, check_namespace, status
from tether.settings import Settings

SOURCE = "sdk"
CHANGES_LIMIT = 1_000


class OpenOptions(TypedDict, total=False):
    """How a directory is opened: its settings (default: from `TETHER_*`), and whether one is made (default: yes)."""

    settings: Settings
    create: bool


class Memory:
    """One namespace: appends to it and reads of it. Safe from many threads. Close it, or use it in a `with`.

    Without a `principal` it is not shown assertions that name `readers`; their failure withdraws all the same.
    """

    def __init__(self, home: Home, namespace: str, principal: str | None = None, source: str = SOURCE) -> None:
        """Made by Memory.open and Store.memory. Raises BadNamespace."""
        self.namespace = check_namespace(namespace)
        self.principal = principal
        self._home = home
        self._owns_home = False
        self._door = Door(namespace)
        self._drafts = Drafts(namespace, source, RisingClock(home.clock_us))
        self._who = principal or source
        self._reads = Reads(home, Reader(namespace, principal))

    @classmethod
    def open(
        cls,
        path: str | Path,
        namespace: str,
        *,
        principal: str | None = None,
        source: str = SOURCE,
        **options: Unpack[OpenOptions],
    ) -> Self:
        """Open a data directory, made if missing, for one namespace. Raises DataDirectory, BadNamespace."""
        home = Home.open(path, **options)
        try:
            memory = cls(home, namespace, principal, source)
        except BaseException:
            home.close()
            raise
        memory._owns_home = True
        return memory

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Release the data directory, where this memory opened it; a memory of a Store ends with its Store."""
        if self._owns_home:
            self._home.close()

    def append(self, event: RawInput) -> Receipt:
        """Append one event: a CloudEvents dict, JSON, or the model. It is durable when this returns.

        The same id with the same content gets the same receipt. Raises BadEvent naming the field and the reason,
        EventConflict when the id is taken by other content, BadNamespace for an event of another namespace.
        """
        return self._home.runtime.append(event, self._door)

    def append_many(self, events: Sequence[RawInput]) -> list[Receipt]:
        """Append a batch in one transaction: one receipt per event, in order. A bad event is kept as a dead letter and
        its receipt says why in `rejected`; the others are appended."""
        return self._home.runtime.append_many(events, self._door)

    def remember(self, subject: str, predicate: str, value: Any, **fields: Unpack[Fields]) -> Receipt:
        """State that `predicate` of `subject` is `value`, with the fields of memory.write."""
        return self.append(self._drafts.remember((subject, predicate, value), fields))

    def link(
        self,
        dependent: RefLike,
        premise: RefLike | Sequence[RefLike],
        *,
        grade: str = "stated",
        **attributes: Unpack[Attributes],
    ) -> Receipt:
        """State that `dependent` derives from `premise`, or from each of several."""
        return self.append(self._drafts.link(dependent, premise, {"grade": grade, **attributes}))

    def tool_result(self, tool: str, arguments: dict[str, Any], result: Any, **fields: Unpack[ToolFields]) -> Receipt:
        """Record what a tool answered."""
        return self.append(self._drafts.tool_result(tool, arguments, result, fields))

    def transcript(
        self, session_id: str, seq: int, role: str, content: Any, **fields: Unpack[MessageFields]
    ) -> Receipt:
        """Record a message of a session; `seq` orders the session's messages."""
        return self.append(self._drafts.transcript((session_id, seq, role, content), fields))

    def advisory(
        self, advisory: Mapping[str, Any], *, format: str = "osv", **attributes: Unpack[Attributes]
    ) -> Receipt:
        """Record an advisory of this namespace: OSV JSON, or a `revocation`. For all namespaces, see Store.advisory."""
        return self.append(self._drafts.advisory(advisory, format, attributes))

    def forget(
        self, target: Target, reason: str = "", *, requested_by: str | None = None, **when: Unpack[Until]
    ) -> Receipt:
        """Delete a subject (a text), evidence, a source or a session: never served, shown or restored again.

        `until` bounds by event time what of a source, session or subject is covered: absent, the deletion's own time;
        None, for ever. It may come before what it deletes; `covered` says what is there to delete.
        """
        return self.append(self._drafts.forget(target, reason, requested_by or self._who, when))

    def invalidate(
        self, target: Target, reason: str = "", *, decided_by: str | None = None, **attributes: Unpack[Attributes]
    ) -> Receipt:
        """Declare wrong: an assertion, link or advisory (a text, its id), evidence, or a source."""
        return self.append(self._drafts.decision("invalidate", target, (reason, decided_by or self._who), attributes))

    def restore(
        self, target: Target, reason: str = "", *, decided_by: str | None = None, **attributes: Unpack[Attributes]
    ) -> Receipt:
        """Take an invalidation of the same target back."""
        return self.append(self._drafts.decision("restore", target, (reason, decided_by or self._who), attributes))

    def recall(
        self,
        subject: str,
        predicate: str,
        *,
        scope: str = "",
        valid_at: When | None = None,
        known_at: KnownAt | None = None,
        **waits: Unpack[Waits],
    ) -> Answer:
        """What memory holds for one slot now, or at `valid_at`. It always sees what this store has appended.

        `known_at`, a receipt's position or a time of recording, asks for what was believed then, on what was recorded
        by then; what is deleted by now is so there too. `min_position`, one receipt's position or several, waits until
        the log holds it: at most `timeout_s` (5 s), then ViewBehind. Raises ViewLocked when another process owns the
        view, BadRequest when an argument names nothing.
        """
        return self._reads.recall((subject, predicate, scope), AsOf(valid_at, known_at), waits)

    def why(
        self,
        subject: str,
        predicate: str,
        *,
        scope: str = "",
        valid_at: When | None = None,
        known_at: KnownAt | None = None,
    ) -> Why:
        """Why a slot is served as `recall` says: its answer, and the shortest path to each cause."""
        return self._reads.why((subject, predicate, scope), AsOf(valid_at, known_at))

    def dependents(self, subject: str | EvidenceId | Mapping[str, str]) -> list[Dependent]:
        """What derives from a subject, an assertion (its id) or evidence, at any distance; nearest first. A subject
        without its version asks for what derives from any version of it."""
        return self._reads.dependents(subject if isinstance(subject, str) else evidence_ref(subject))

    def get(self, evidence: EvidenceId | Mapping[str, str]) -> dict[str, Any] | None:
        """The event that was recorded as this evidence; without its `data` where that is deleted, or in part not for
        this memory's principal. None when there is none that it may see."""
        return self._reads.get(evidence_id(evidence))

    def covered(self, target: Target, *, until: When | None = None) -> Covered:
        """What a deletion of the same target covers of what is on record with a time up to `until` (None: of any time),
        asked before `forget` or after; where nothing matches its reason has the nearest names."""
        return self._reads.covered(target, until)

    def history(
        self,
        subject: str,
        predicate: str,
        *,
        scope: str = "",
        valid_at: When | None = None,
        known_at: KnownAt | None = None,
    ) -> list[Statement]:
        """Every statement ever made in a slot (until `known_at`; of those, the ones valid at `valid_at`), with its
        status. It serves nothing."""
        return self._reads.history((subject, predicate, scope), AsOf(valid_at, known_at))

    def changes(self, since: int = 0, limit: int = CHANGES_LIMIT) -> list[Change]:
        """At most `limit` changes of what is served, after the `seq` given; the last one's `seq` resumes."""
        return self._reads.changes(since, limit)

    def status(self) -> StoreStatus:
        """Counts of this namespace, and where log and view stand."""
        return status(self._home, self.namespace)

    def digest(self) -> str:
        """SHA-256 of the namespace's snapshot: equal for equal sets of events, whatever order they came in."""
        return self._reads.digest()
