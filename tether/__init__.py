"""Tether: memory for agents in which every assertion is tied to the evidence and versions it rests on.

    with Memory.open("data", namespace="acme") as memory:
        memory.remember("pkg:golang/example.com/app@v1.0.0", "passes", True)
        print(memory.recall("pkg:golang/example.com/app@v1.0.0", "passes").value)

docs/api.md describes everything that is exported here.
"""

from tether_schemas.answers import (
    Alternative,
    Answer,
    Cause,
    Change,
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
    DataDirectory,
    EventConflict,
    LogCorrupt,
    LogUnavailable,
    TetherError,
    UnknownVersion,
    ViewBehind,
    ViewLocked,
)

from tether.memory import Memory
from tether.settings import Settings
from tether.store import Store

__all__ = [
    "Alternative",
    "Answer",
    "BadEvent",
    "BadNamespace",
    "BadRequest",
    "Cause",
    "Change",
    "DataDirectory",
    "DeadLetter",
    "Dependent",
    "EventConflict",
    "EvidenceId",
    "LogCorrupt",
    "LogUnavailable",
    "Memory",
    "Receipt",
    "Settings",
    "Statement",
    "Step",
    "Store",
    "StoreStatus",
    "TetherError",
    "UnknownVersion",
    "ViewBehind",
    "ViewLocked",
    "Why",
    "to_json",
]
