"""Answers: what consumers get back. Frozen dataclasses; `to_json` gives the JSON forms of docs/api.md."""

from dataclasses import dataclass
from typing import Any, Literal

import orjson

Status = Literal["current", "withdrawn", "disputed", "tombstoned", "expired", "invalidated", "pending", "unknown"]
Coverage = Literal["complete", "unknown", "threatened"]
Stance = Literal["standing", "superseded", "outranked", "disputed", "invalidated"]
CauseKind = Literal[
    "advisory", "revocation", "failed", "higher_version", "superseded", "outranked", "disputed", "invalidated",
    "tombstoned", "restricted",
]  # fmt: skip
ChangeKind = Literal[
    "asserted", "superseded", "withdrawn", "restored", "disputed", "tombstoned", "invalidated", "expired"
]

DifferenceKind = Literal["added", "gone", "changed"]


@dataclass(frozen=True, slots=True)
class EvidenceId:
    """Names one piece of evidence of the reader's namespace, or of `*` where `namespace` says so."""

    source: str
    id: str
    namespace: str = ""


@dataclass(frozen=True, slots=True)
class Receipt:
    """What `append` answers. `position` is opaque; `duplicate` says that the same content was there before.

    `rejected` is the reason when a batch kept the event as a dead letter; then there is no position.
    """

    position: str | None
    duplicate: bool
    rejected: str | None = None


@dataclass(frozen=True, slots=True)
class Alternative:
    """One value that is stated in the slot and not served: the best statement of it, and why it is not chosen."""

    value: Any
    stance: Stance
    assertion: str
    evidence: EvidenceId


@dataclass(frozen=True, slots=True)
class Answer:
    """What memory holds for one slot. `value` is None unless `status` is `current`.

    `reason` says in a sentence why; `assertion` is the statement shown and `evidence` the evidence of every
    statement of the held value that the reader may see; `alternatives` are the other values;
    `position` is where the view stood.
    """

    value: Any
    status: Status
    reason: str
    assertion: str | None
    evidence: tuple[EvidenceId, ...]
    alternatives: tuple[Alternative, ...]
    coverage: Coverage
    position: str


@dataclass(frozen=True, slots=True)
class Step:
    """One hop of a path: `node` (a subject, an assertion id, or evidence) derives from the next step's node.

    `evidence` is what stated the derivation to the next step; None on the last step.
    """

    node: str
    evidence: EvidenceId | None


@dataclass(frozen=True, slots=True)
class Cause:
    """One reason why something is withdrawn: what failed (`node`), how (`kind`, `detail`), by what, and the path.

    `distance` counts derivations from the asked subject: 0 is the subject itself. A cause that the reader may not see
    has kind `restricted` and nothing else.
    """

    kind: CauseKind
    node: str
    detail: str
    evidence: EvidenceId | None
    distance: int
    path: tuple[Step, ...]
    possible: bool = False


@dataclass(frozen=True, slots=True)
class Why:
    """Why a slot is served as it is: its answer, and the shortest path to each cause (ties by id)."""

    subject: str
    predicate: str
    scope: str
    answer: Answer
    causes: tuple[Cause, ...]


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement of a slot's history, current or not; `value` is None when erased."""

    assertion: str
    value: Any
    stance: Stance
    erased: bool
    withdrawn: bool
    issuer: str
    authority: str
    mode: str
    observed_at: str
    valid_from: str | None
    valid_to: str | None
    expires_at: str | None
    evidence: EvidenceId
    premises: tuple[str, ...]
    position: str
    recorded_at: str


@dataclass(frozen=True, slots=True)
class Dependent:
    """One thing that derives from the asked one: `distance` hops away, `down` when it is reached by a failure."""

    node: str
    distance: int
    down: bool
    path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """One change of what is served, with its cause and position. `seq` orders a view's changes and resumes a reader."""

    seq: int
    kind: ChangeKind
    namespace: str
    scope: str
    subject: str
    predicate: str
    status: Status
    assertion: str | None
    cause: str | None
    position: str


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """One build of the views. `extraction` numbers the extraction whose facts it holds, `position` says up to which
    event, `records` how many events' facts this run applied, `lag` how many events the log holds beyond."""

    generation: str
    extraction: int
    position: str
    records: int
    lag: int
    promoted: bool


@dataclass(frozen=True, slots=True)
class Generation:
    """One generation of the views in a data directory. `finished` False: its build was interrupted, and resumes."""

    generation: str
    current: bool
    finished: bool
    size_bytes: int
    built_at: str


@dataclass(frozen=True, slots=True)
class Backup:
    """One backup: a data directory of its own. `position` is that of its last event; `digests` are of the views that
    were built in it to try it, by namespace (None where it was not tried)."""

    path: str
    position: str
    events: int
    size_bytes: int
    digests: dict[str, str] | None


@dataclass(frozen=True, slots=True)
class Compacted:
    """One compaction: payloads moved, bytes of the files that hold them, and bytes of the log before and after."""

    payloads: int
    segment_bytes: int
    log_bytes_before: int
    log_bytes_after: int


@dataclass(frozen=True, slots=True)
class Covered:
    """What a deletion of a target covers: `events` on record that it names, `statements` of these or derived from
    them, and how many of the statements are `erased` by now. `reason` says so in a sentence, with the nearest names
    where nothing on record matches."""

    events: int
    statements: int
    erased: int
    reason: str


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A copy of the views at a past position, written for reading; `namespace` None: of all. `format`: duckdb or
    parquet."""

    path: str
    format: str
    namespace: str | None
    position: str
    events: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class RecordedEvent:
    """One event as the log holds it, and where: its raw position."""

    namespace: str
    source: str
    id: str
    position: str


@dataclass(frozen=True, slots=True)
class DifferingRow:
    """A row that one of two views has, ids replaced by what they name, and the events whose facts its names come from:
    the first few and how many there are. None: no event of the log makes it."""

    columns: dict[str, Any]
    events: tuple[RecordedEvent, ...]
    events_count: int


@dataclass(frozen=True, slots=True)
class TableDifference:
    """How many rows of a table only the live view or only the rebuilt one has, and the first of each, by name."""

    table: str
    only_live: int
    only_rebuilt: int
    first_live: DifferingRow | None
    first_rebuilt: DifferingRow | None


@dataclass(frozen=True, slots=True)
class DigestPair:
    """The digest of one namespace, live and rebuilt."""

    namespace: str
    live: str
    rebuilt: str


@dataclass(frozen=True, slots=True)
class Verified:
    """The live view against one made anew of the log's facts. `equal`: nothing differs, and `unfounded` is None.

    `position` says up to which event, `records` of how many events' facts; `tables` are those that differ, of
    `tables_count`; `unfounded` names the first facts of the log that are of no event in it.
    """

    equal: bool
    generation: str
    position: str
    records: int
    digests: tuple[DigestPair, ...]
    tables: tuple[TableDifference, ...]
    tables_count: int
    unfounded: str | None


@dataclass(frozen=True, slots=True)
class GenerationSide:
    """One of two generations that are compared: its number or file, and the latest event in it (a raw position)."""

    name: str
    position: str


@dataclass(frozen=True, slots=True)
class Belief:
    """What a generation believes of one slot, as it is served without a time. `withheld`: there is a value that is not
    shown, since something of its evidence is erased, or it is not for everyone."""

    status: Status
    value: Any
    withheld: bool
    assertion: str | None
    evidence: EvidenceId | None


@dataclass(frozen=True, slots=True)
class DifferingBelief:
    """One slot of which two generations believe something else; None where one of them has no such slot."""

    kind: DifferenceKind
    scope: str
    subject: str
    a: Belief | None
    b: Belief | None


@dataclass(frozen=True, slots=True)
class PredicateDifference:
    """How many slots of a predicate only B has (added), only A (gone), both with another status or value (changed), and
    both alike; with the first few of each that differ."""

    namespace: str
    predicate: str
    added: int
    gone: int
    changed: int
    same: int
    examples: tuple[DifferingBelief, ...]


@dataclass(frozen=True, slots=True)
class BeliefDifference:
    """What two generations believe differently; every predicate that either knows, by namespace and name."""

    equal: bool
    a: GenerationSide
    b: GenerationSide
    predicates: tuple[PredicateDifference, ...]


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """One thing that could not go on, kept whole, with the reason."""

    id: int
    namespace: str | None
    stage: str
    reason: str
    recorded_at: str
    payload: bytes
    replayed: bool = False


@dataclass(frozen=True, slots=True)
class StoreStatus:
    """Counts of one namespace (or of the store), where log and view stand, and what could not be judged.

    `erased` counts the `assertions` that are erased; nothing was ever appended where `events` is 0.
    """

    namespace: str | None
    log_position: str
    view_position: str
    generation: str
    events: int
    assertions: int
    slots: int
    edges: int
    advisories: int
    down: int
    erased: int
    dead_letters: int
    unresolved: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Exported:
    """What an export holds: how many events, `ghosts` (what is erased, without content) among them.

    `position` is the place in the log up to which it is whole; `path` is empty where it went into a stream.
    """

    path: str
    format: str
    namespaces: tuple[str, ...]
    events: int
    ghosts: int
    position: str


@dataclass(frozen=True, slots=True)
class ImportedKind:
    """What became of the events of one kind; `other`: of lines that are no events.

    `new` came in with their content, `ghosts` without it: `erased_since`, among these, were exported with it, and are
    erased by what is on record here. `duplicates` were there before; of `conflicts` the id is taken by other content;
    `refused` are no events. What is refused or conflicts is a dead letter, but for what is erased.
    """

    kind: str
    new: int = 0
    ghosts: int = 0
    erased_since: int = 0
    duplicates: int = 0
    conflicts: int = 0
    refused: int = 0


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did. `skipped` are events of namespaces that were not asked for; `whole`: the file had its end.

    `reasons` are the first of what was refused, each with its line.
    """

    kinds: tuple[ImportedKind, ...]
    skipped: int
    whole: bool
    reasons: tuple[str, ...]

    def total(self, name: str) -> int:
        """The sum of one count over all kinds."""
        return sum(int(getattr(kind, name)) for kind in self.kinds)


def to_json(answer: Any, indent: bool = False) -> bytes:
    """The JSON of an answer or of a list of answers, keys in the order of the dataclass."""
    return orjson.dumps(answer, default=_bytes_as_text, option=orjson.OPT_INDENT_2 if indent else 0)


def _bytes_as_text(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    raise TypeError(f"no JSON form for {type(value).__name__}")
