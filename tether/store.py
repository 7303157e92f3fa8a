"""Store: the operator's handle of a data directory. It appends events of any namespace, `*` included."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self, Unpack

from tether_projections.queries import Reader
from tether_replay.backup import backup
from tether_replay.compact import KEEP_RECORDS, compact
from tether_replay.diff import diff
from tether_replay.verify import Live, verify
from tether_replay.views import Watch, list_generations, no_watch, promote, prune, rebuild
from tether_schemas.answers import Change, Covered, DeadLetter, Receipt, StoreStatus
from tether_schemas.codec import RawInput, event_dict
from tether_schemas.errors import BadRequest
from tether_schemas.reports import (
    Backup,
    BeliefDifference,
    Compacted,
    Exported,
    Generation,
    Imported,
    Rebuilt,
    Snapshot,
    Verified,
)
from tether_streams.embedded.admission import Door

from tether.compose import Home
from tether.drafts import Drafts, RisingClock
from tether.forms import Attributes, KnownAt, Target, When
from tether.memory import CHANGES_LIMIT, SOURCE, Memory
from tether.reads import Reads, caught_up, check_namespace, status
from tether.rebuilds import RebuildOptions, rebuild_options, try_backup
from tether.settings import Settings
from tether.snapshots import SnapshotOptions, write
from tether.transfer import FORMATS, PARQUET, check_free, export_parquet, export_to, import_from

PUBLIC = "*"
LETTERS_LIMIT = 100
EXAMPLES = 3
REPLAYABLE = "append"


class Store:
    """One opened data directory. Safe from many threads. Close it, or use it in a `with`.

    Opening and appending need no view, so many processes may do both; the first read makes this process its owner.
    """

    def __init__(self, home: Home, source: str) -> None:
        """Made by Store.open."""
        self._home = home
        self._source = source
        self._door = Door()
        self._drafts = Drafts(PUBLIC, source, RisingClock(home.clock_us))

    @classmethod
    def open(
        cls, path: str | Path, *, source: str = SOURCE, settings: Settings | None = None, create: bool = True
    ) -> Self:
        """Open a data directory; a missing one is made unless `create` is False.

        `source` is what helpers state as the events' source; `settings` are those of the environment (`TETHER_*`)
        unless given. Raises DataDirectory saying what to do, BadRequest for a setting that makes no sense.
        """
        return cls(Home.open(path, settings, create), source)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Release the data directory; memories made here end with it. Closing again does nothing."""
        self._home.close()

    @property
    def path(self) -> Path:
        """The data directory."""
        return self._home.path

    def memory(self, namespace: str, principal: str | None = None, *, source: str | None = None) -> Memory:
        """One namespace, as one principal sees it; many may be used side by side. Raises BadNamespace."""
        return Memory(self._home, namespace, principal, self._source if source is None else source)

    def append(self, event: RawInput) -> Receipt:
        """Append one event, which names its namespace. Raises as Memory.append does."""
        return self._home.runtime.append(event, self._door)

    def append_many(self, events: Sequence[RawInput]) -> list[Receipt]:
        """Append a batch in one transaction, as Memory.append_many does."""
        return self._home.runtime.append_many(events, self._door)

    def advisory(
        self, advisory: Mapping[str, Any], *, format: str = "osv", **attributes: Unpack[Attributes]
    ) -> Receipt:
        """Record an advisory for every namespace, those born later included: OSV JSON, or a `revocation`."""
        return self.append(self._drafts.advisory(advisory, format, attributes))

    def policy(self, policy: Mapping[str, Any], decided_by: str, **attributes: Unpack[Attributes]) -> Receipt:
        """Declare a policy for every namespace; one namespace's own is appended as a decision that names it."""
        data = {"action": "policy", "policy": dict(policy), "decided_by": decided_by}
        return self.append(self._drafts.event("decision", data, attributes))

    def rules(self, rules: Mapping[str, Any], decided_by: str, **attributes: Unpack[Attributes]) -> Receipt:
        """Declare extraction rules for every namespace, in force for what is appended from here on."""
        data = {"action": "policy", "rules": dict(rules), "decided_by": decided_by}
        return self.append(self._drafts.event("decision", data, attributes))

    def status(self, namespace: str | None = None) -> StoreStatus:
        """Counts of one namespace or of everything, and where log and view stand."""
        return status(self._home, None if namespace is None else check_namespace(namespace))

    def namespaces(self) -> list[str]:
        """Every namespace that has an event, but for `*`."""
        with caught_up(self._home) as (view, _):
            return view.queries.namespaces()

    def covered(self, namespace: str, target: Target, *, until: When | None = None) -> Covered:
        """What a deletion covers in a namespace, as Memory.covered says, whoever its readers are."""
        return Reads(self._home, Reader(check_namespace(namespace), operator=True)).covered(target, until)

    def digest(self, namespace: str) -> str:
        """The digest of a namespace, as Memory.digest gives it."""
        return self._reads(namespace).digest()

    def changes(self, since: int = 0, limit: int = CHANGES_LIMIT, *, namespace: str | None = None) -> list[Change]:
        """At most `limit` changes after the `seq` given, of one namespace or of all."""
        if namespace is not None:
            return self._reads(namespace).changes(since, limit)
        with caught_up(self._home) as (view, _):
            return view.queries.changes(None, since, limit)

    def rebuild(self, watch: Watch = no_watch, **options: Unpack[RebuildOptions]) -> Rebuilt:
        """Build the next generation of the views from the log, beside the live one, and promote it.

        `from_raw`: extract again first; `namespace`, `topics`: only their facts, which needs `promote` False; `fresh`:
        do not go on with a build that was interrupted; `keep`: how many older generations stay. Reading and appending
        go on, also in other processes. Raises ReplayRunning, ReplayFailed, BuildUnsound, ViewUnavailable, LogCorrupt;
        the live view is untouched then.
        """
        self._home.settle()
        return rebuild(self.path, self._home.sources, rebuild_options(options, self._home.settings), watch)

    def generations(self) -> list[Generation]:
        """Every generation of the views, oldest first, and builds that were interrupted."""
        return list_generations(self.path)

    def promote(self, generation: str) -> None:
        """Make a generation the current one. Raises BadRequest for one that is not there or not whole."""
        settings = self._home.settings
        promote(self.path, generation, (settings.view_memory_mb, settings.view_threads))

    def prune(self, keep: int = 1) -> list[str]:
        """Remove all but the `keep` newest generations beside the current one; those removed."""
        return prune(self.path, keep)

    def backup(self, path: str | Path, watch: Watch = no_watch, *, tried: bool = False) -> Backup:
        """Back this data directory up into a new one, while it is in use. What has a receipt is in it.

        `tried`: open the backup, build its views and check them against its log. Raises DataDirectory where `path` is
        there already, LogUnavailable when the disk is full, and what `rebuild` raises.
        """
        target = Path(path).expanduser().absolute()
        made = backup(self._home.log, self.path, target, watch)
        return replace(made, digests=try_backup(target, self._home.settings, watch)) if tried else made

    def compact(self, keep: int = KEEP_RECORDS, watch: Watch = no_watch) -> Compacted:
        """Move the payloads of all but the newest `keep` records of the log (facts are records too) into Parquet
        segments, which give back the room in the log; history replays as before. Reading and appending go on.

        Raises LogUnavailable when the disk is full, ReplayRunning while another process compacts or builds.
        """
        if keep < 0:
            raise BadRequest("keep", "is a number of records, 0 or more")
        return compact(self._home.log, self.path, keep, watch)

    def as_of(
        self, known_at: KnownAt, path: str | Path, watch: Watch = no_watch, **options: Unpack[SnapshotOptions]
    ) -> Snapshot:
        """Write the views as they were at a position or a time of recording, for reading: a DuckDB file, or with
        `format` "parquet" a directory. What is deleted by now is in none of its bytes.

        `namespace`: only that one's and `*`; `force`: replace what is at `path`. Raises BadRequest.
        """
        return write(self._home, known_at, Path(path), watch, options)

    def verify(self, watch: Watch = no_watch) -> Verified:
        """Compare the live view with one made anew of the log's facts: digests, and every table row by row.

        Owns the view while it runs; appending goes on. What is made is removed again. Raises ViewLocked, LogCorrupt,
        ReplayFailed, BuildUnsound, ViewUnavailable.
        """
        settings = self._home.settings
        with caught_up(self._home) as (view, _):
            live = Live(
                *(view.generation, view.engine, view.topics, self.path),
                memory_mb=settings.view_memory_mb,
                threads=settings.view_threads,
            )
            return verify(self._home.log, live, watch)

    def diff(
        self, a: str | Path, b: str | Path, *, namespace: str | None = None, examples: int = EXAMPLES
    ) -> BeliefDifference:
        """What two generations believe differently, of one namespace or of all. Each is a number, `current`, or the
        path of a view's file. Owns the view while it runs, since that knows what is erased. Raises ViewLocked,
        BadRequest for what is not there, DataDirectory for a file that is no view of this schema."""
        wall = None if namespace is None else check_namespace(namespace)
        with caught_up(self._home) as (view, _):
            return diff((view.store, view.generation), self.path, (a, b), wall, examples)

    def dead_letters(
        self, *, after: int = 0, limit: int = LETTERS_LIMIT, namespace: str | None = None
    ) -> list[DeadLetter]:
        """At most `limit` dead letters with an id above `after`, of one namespace or of all."""
        found: list[DeadLetter] = []
        while len(found) < limit and (batch := self._home.log.letters.list(after, limit)):
            found += [letter for letter in batch if namespace in (None, letter.namespace)]
            after = batch[-1].id
        return found[: max(limit, 0)]

    def dead_letter(self, letter_id: int) -> DeadLetter:
        """One dead letter. Raises BadRequest when there is none of that id."""
        letter = self._home.log.letters.get(letter_id)
        if letter is None:
            raise BadRequest("id", f"there is no dead letter {letter_id}; list them to see which there are")
        return letter

    def replay_dead_letter(self, letter_id: int, event: RawInput | None = None) -> Receipt:
        """Append what a dead letter holds once more, or the `event` that it should have been, to the letter's namespace
        unless it names its own; it is then noted as replayed. Raises as append does when it is refused again."""
        letter = self.dead_letter(letter_id)
        if event is None and letter.stage != REPLAYABLE:
            raise BadRequest("id", f"dead letter {letter_id} is recorded as evidence; append a corrected event instead")
        receipt = self.append(event_dict(letter.payload if event is None else event, letter.namespace))
        self._home.log.letters.mark_replayed(letter_id)
        return receipt

    def export(
        self, to: str | Path | BinaryIO, *, namespace: str | None = None, format: str = "ndjson", force: bool = False
    ) -> Exported:
        """Write every event as NDJSON to a new file or a stream, or the views as `parquet` into a new folder.

        What is erased goes without content, as ghosts. With a `namespace`: its events and those of `*`; of the views
        its own alone. Raises BadRequest where a file stands already, unless `force` is given.
        """
        if format not in FORMATS or (format == PARQUET and not isinstance(to, str | Path)):
            raise BadRequest("format", f"is one of {', '.join(FORMATS)}; parquet goes into a folder")
        if isinstance(to, str | Path):
            check_free(to, force)
        if format == PARQUET and isinstance(to, str | Path):
            return export_parquet(self._home, to, namespace)
        return export_to(self._home, to, namespace)

    def import_(self, file: str | Path | BinaryIO, *, namespace: str | None = None) -> Imported:
        """Read an export in, of one namespace where one is given; what is there already is a duplicate.

        What is erased by what is on record here comes in without its content. What is no event becomes a dead letter.
        Raises BadRequest for a file that is no export, UnknownVersion for one of a newer Tether.
        """
        return import_from(self._home, file, namespace)

    def _reads(self, namespace: str) -> Reads:
        return Reads(self._home, Reader(check_namespace(namespace)))
