"""What is told of work on a whole data directory: rebuilds, comparisons, copies, exports. As JSON: answers.to_json."""

from dataclasses import dataclass
from typing import Any, Literal

from tether_schemas.answers import EvidenceId, Status

DifferenceKind = Literal["added", "gone", "changed"]


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
