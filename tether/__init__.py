"""Tether: memory for agents in which every assertion is tied to the evidence and versions it rests on.

    with Memory.open("data", namespace="acme") as memory:
        memory.remember("pkg:golang/example.com/app@v1.0.0", "passes", True)
        print(memory.recall("pkg:golang/example.com/app@v1.0.0", "passes").value)

docs/api.md describes everything that is exported here.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tether_schemas.answers import (
        Alternative,
        Answer,
        Cause,
        Change,
        Covered,
        DeadLetter,
        Dependent,
        EvidenceId,
        Receipt,
        Statement,
        Step,
        StoreStatus,
        Why,
        to_json,
    )
    from tether_schemas.errors import (
        BadEvent,
        BadNamespace,
        BadRequest,
        BuildUnsound,
        DataDirectory,
        EventConflict,
        LogCorrupt,
        LogUnavailable,
        ReplayFailed,
        ReplayRunning,
        TetherError,
        UnknownVersion,
        ViewBehind,
        ViewLocked,
        ViewUnavailable,
    )
    from tether_schemas.reports import (
        Backup,
        Belief,
        BeliefDifference,
        Compacted,
        DifferingBelief,
        DifferingRow,
        DigestPair,
        Exported,
        Generation,
        GenerationSide,
        Imported,
        ImportedKind,
        PredicateDifference,
        Rebuilt,
        RecordedEvent,
        Snapshot,
        TableDifference,
        Verified,
    )

    from tether.memory import Memory
    from tether.settings import Settings
    from tether.store import Store

# Where each name lives: it is imported when first asked for, so that `tether --help` need not load a database.
_HOMES = {
    "Alternative": "tether_schemas.answers",
    "Answer": "tether_schemas.answers",
    "Backup": "tether_schemas.reports",
    "BadEvent": "tether_schemas.errors",
    "BadNamespace": "tether_schemas.errors",
    "BadRequest": "tether_schemas.errors",
    "Belief": "tether_schemas.reports",
    "BeliefDifference": "tether_schemas.reports",
    "BuildUnsound": "tether_schemas.errors",
    "Cause": "tether_schemas.answers",
    "Change": "tether_schemas.answers",
    "Compacted": "tether_schemas.reports",
    "Covered": "tether_schemas.answers",
    "DataDirectory": "tether_schemas.errors",
    "DeadLetter": "tether_schemas.answers",
    "Dependent": "tether_schemas.answers",
    "DifferingBelief": "tether_schemas.reports",
    "DifferingRow": "tether_schemas.reports",
    "DigestPair": "tether_schemas.reports",
    "EventConflict": "tether_schemas.errors",
    "EvidenceId": "tether_schemas.answers",
    "Exported": "tether_schemas.reports",
    "Generation": "tether_schemas.reports",
    "GenerationSide": "tether_schemas.reports",
    "Imported": "tether_schemas.reports",
    "ImportedKind": "tether_schemas.reports",
    "LogCorrupt": "tether_schemas.errors",
    "LogUnavailable": "tether_schemas.errors",
    "Memory": "tether.memory",
    "PredicateDifference": "tether_schemas.reports",
    "Rebuilt": "tether_schemas.reports",
    "Receipt": "tether_schemas.answers",
    "RecordedEvent": "tether_schemas.reports",
    "ReplayFailed": "tether_schemas.errors",
    "ReplayRunning": "tether_schemas.errors",
    "Settings": "tether.settings",
    "Snapshot": "tether_schemas.reports",
    "Statement": "tether_schemas.answers",
    "Step": "tether_schemas.answers",
    "Store": "tether.store",
    "StoreStatus": "tether_schemas.answers",
    "TableDifference": "tether_schemas.reports",
    "TetherError": "tether_schemas.errors",
    "UnknownVersion": "tether_schemas.errors",
    "Verified": "tether_schemas.reports",
    "ViewBehind": "tether_schemas.errors",
    "ViewLocked": "tether_schemas.errors",
    "ViewUnavailable": "tether_schemas.errors",
    "Why": "tether_schemas.answers",
    "to_json": "tether_schemas.answers",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'tether' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(home), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})


__all__ = [
    "Alternative",
    "Answer",
    "Backup",
    "BadEvent",
    "BadNamespace",
    "BadRequest",
    "Belief",
    "BeliefDifference",
    "BuildUnsound",
    "Cause",
    "Change",
    "Compacted",
    "Covered",
    "DataDirectory",
    "DeadLetter",
    "Dependent",
    "DifferingBelief",
    "DifferingRow",
    "DigestPair",
    "EventConflict",
    "EvidenceId",
    "Exported",
    "Generation",
    "GenerationSide",
    "Imported",
    "ImportedKind",
    "LogCorrupt",
    "LogUnavailable",
    "Memory",
    "PredicateDifference",
    "Rebuilt",
    "Receipt",
    "RecordedEvent",
    "ReplayFailed",
    "ReplayRunning",
    "Settings",
    "Snapshot",
    "Statement",
    "Step",
    "Store",
    "StoreStatus",
    "TableDifference",
    "TetherError",
    "UnknownVersion",
    "Verified",
    "ViewBehind",
    "ViewLocked",
    "ViewUnavailable",
    "Why",
    "to_json",
]
