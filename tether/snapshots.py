"""Snapshots of pasts: their options as callers write them, and how they are made beside an open view."""

from pathlib import Path
from typing import TypedDict

from tether_projections.store import interruptible
from tether_replay.asof import Wanted, check, write_snapshot
from tether_replay.past import Moment
from tether_replay.views import Watch
from tether_schemas.errors import BadRequest
from tether_schemas.reports import Snapshot

from tether.compose import Home
from tether.forms import KnownAt
from tether.reads import caught_up, check_namespace, moment


class SnapshotOptions(TypedDict, total=False):
    """What Store.as_of takes by name."""

    namespace: str | None
    format: str
    force: bool


def write(home: Home, known_at: KnownAt, path: Path, watch: Watch, given: SnapshotOptions) -> Snapshot:
    """Write a snapshot. The view is held only until it is known what is erased by now."""
    unknown = sorted(given.keys() - SnapshotOptions.__annotations__.keys())
    if unknown:
        raise BadRequest(unknown[0], f"is no option; there are {', '.join(SnapshotOptions.__annotations__)}")
    namespace = given.get("namespace")
    wanted = Wanted(
        path.expanduser().absolute(),
        format=given.get("format", "duckdb"),
        namespace=None if namespace is None else check_namespace(namespace),
        force=given.get("force", False),
        memory_mb=home.settings.view_memory_mb,
        threads=home.settings.view_threads,
    )
    check(wanted)
    with caught_up(home) as (view, position):
        then = moment(view, known_at, Moment(int(position), home.clock_us()))
        prepared = home.past(view).prepare(then.position)
    with interruptible():
        return write_snapshot(prepared, then, wanted, watch)
