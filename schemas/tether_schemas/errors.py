"""Every error that Tether raises on purpose.

TetherError
|-- BadEvent            an event or one of its fields is refused (field, reason)
|-- EventConflict       (namespace, source, id) is taken by other content
|-- BadRequest          a read or a setting makes no sense (field, reason)
|   `-- BadNamespace    missing or malformed namespace, or one that the handle may not touch
|-- DataDirectory       the data directory is missing, foreign or of a newer schema (path)
|-- LogUnavailable      the log cannot be read or written just now: full, locked, input/output, closed (path, reason)
|-- ViewLocked          another process, or another handle of this one, owns the view (path, owner, own)
|-- ViewUnavailable     the view cannot be written just now: disk full, memory, input/output (path, reason)
|-- BuildUnsound        what was built is not what the log says; it is not promoted (generation, reason)
|-- ReplayRunning       another process builds a generation in this data directory (path, owner)
|-- ViewBehind          the view did not reach a position in time (wanted, have)
|-- LogCorrupt          stored bytes do not decode (position)
|-- ReplayFailed        an event of the log cannot be replayed (evidence, position, reason)
`-- UnknownVersion      a stored record needs a newer Tether (type, version)

Each carries its fields as attributes; its message says what to do next.
"""


class TetherError(Exception):
    """Base of everything that Tether raises on purpose."""


class BadEvent(TetherError):
    """An event is refused: `field` is a dotted path into it, `reason` says what is wrong and what would be right."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason}")
        self.field = field
        self.reason = reason


class EventConflict(TetherError):
    """(namespace, source, id) was recorded before with other content; evidence is never edited."""

    def __init__(self, namespace: str, source: str, event_id: str) -> None:
        super().__init__(
            f"event id {event_id!r} of source {source!r} in namespace {namespace!r} is already recorded with other "
            "content; evidence is never edited, so give the new event an id of its own"
        )
        self.namespace = namespace
        self.source = source
        self.event_id = event_id


class BadRequest(TetherError):
    """A read or a setting makes no sense: `field` names the argument."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason}")
        self.field = field
        self.reason = reason


class BadNamespace(BadRequest):
    """The namespace is missing, malformed, or not one that this handle may touch."""

    def __init__(self, reason: str) -> None:
        super().__init__("namespace", reason)


class DataDirectory(TetherError):
    """The data directory is missing, foreign, or was written by a newer Tether."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


class LogUnavailable(TetherError):
    """The log cannot be read or written just now; what was asked for did not happen, and asking again is safe."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


class ViewLocked(TetherError):
    """Another process, or another handle of this one (`own`), owns the view of this data directory; appending still
    works."""

    def __init__(self, path: str, owner: str, own: bool = False) -> None:
        advice = (
            "read through that one, which threads may share, or close it first"
            if own
            else "read through that process, stop it, or read from a copy"
        )
        super().__init__(f"the view in {path} is owned by {owner}; {advice}. Appending needs no view and still works")
        self.path = path
        self.owner = owner
        self.own = own


class ViewUnavailable(TetherError):
    """The view cannot be written just now; the log has everything, and the view goes on from where it stands."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(
            f"{path} cannot be written: {reason}. Check the disk's free space and TETHER_VIEW_MEMORY_MB, then try "
            "again; nothing is lost, since the log has everything"
        )
        self.path = path
        self.reason = reason


class BuildUnsound(TetherError):
    """What was built does not agree with the log; it is not promoted."""

    def __init__(self, generation: str, reason: str) -> None:
        super().__init__(
            f"generation {generation} is not what the log says: {reason}. It is not promoted, the live view is "
            "untouched. This is a fault of Tether: report it"
        )
        self.generation = generation
        self.reason = reason


class ReplayRunning(TetherError):
    """Another process builds a generation in this data directory; reading and appending go on meanwhile."""

    def __init__(self, path: str, owner: str) -> None:
        super().__init__(f"a generation in {path} is being built by {owner}; wait for it, or stop it")
        self.path = path
        self.owner = owner


class ViewBehind(TetherError):
    """The view did not reach the wanted position within the timeout."""

    def __init__(self, wanted: str, have: str) -> None:
        super().__init__(
            f"the view is at position {have} and has not reached {wanted}; wait longer (timeout_s) or read without "
            "min_position"
        )
        self.wanted = wanted
        self.have = have


class LogCorrupt(TetherError):
    """Stored bytes do not decode; history cannot be replayed past this position."""

    def __init__(self, position: str, reason: str) -> None:
        super().__init__(f"the log is damaged at position {position}: {reason}; restore it from a backup")
        self.position = position
        self.reason = reason


class ReplayFailed(TetherError):
    """An event of the log cannot be replayed; what was being built is not promoted. `evidence` is (namespace, source,
    id), `position` its raw position."""

    def __init__(self, evidence: tuple[str, str, str], position: str, reason: str) -> None:
        namespace, source, event_id = evidence
        super().__init__(
            f"event {event_id!r} of source {source!r} in namespace {namespace!r}, at position {position}, cannot be "
            f"replayed: {reason}; the live view is untouched. This is a fault of Tether: report it with the event"
        )
        self.evidence = evidence
        self.position = position
        self.reason = reason


class UnknownVersion(TetherError):
    """A stored record was written by a newer Tether."""

    def __init__(self, type_name: str, version: int) -> None:
        super().__init__(f"{type_name} version {version} is newer than this Tether reads; upgrade tether")
        self.type_name = type_name
        self.version = version
