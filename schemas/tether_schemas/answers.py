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
class Covered:
    """What a deletion of a target covers: `events` on record that it names, `statements` of these or derived from
    them, and how many of the statements are `erased` by now. `reason` says so in a sentence, with the nearest names
    where nothing on record matches."""

    events: int
    statements: int
    erased: int
    reason: str


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


def to_json(answer: Any, indent: bool = False) -> bytes:
    """The JSON of an answer or of a list of answers, keys in the order of the dataclass."""
    return orjson.dumps(answer, default=_bytes_as_text, option=orjson.OPT_INDENT_2 if indent else 0)


def _bytes_as_text(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    raise TypeError(f"no JSON form for {type(value).__name__}")
