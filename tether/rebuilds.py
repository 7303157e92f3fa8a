"""Rebuilds as callers ask for them: the options, and the trial of a backup."""

from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict

from tether_projections.queries import Reader
from tether_replay.build import Which
from tether_replay.views import Options, Watch, rebuild
from tether_schemas.errors import BadRequest
from tether_schemas.events import PUBLIC
from tether_schemas.topics import RAW

from tether.compose import Home
from tether.reads import Reads, caught_up, check_namespace
from tether.settings import Settings


class RebuildOptions(TypedDict, total=False):
    """What Store.rebuild takes by name; each has the default that rebuilds everything and promotes it."""

    from_raw: bool
    promote: bool
    fresh: bool
    keep: int | None
    namespace: str | None
    topics: Sequence[str] | None


def rebuild_options(given: RebuildOptions, settings: Settings) -> Options:
    """The options with their defaults. Raises BadRequest naming one that is unknown or makes no sense."""
    unknown = sorted(given.keys() - RebuildOptions.__annotations__.keys())
    if unknown:
        raise BadRequest(unknown[0], f"is no option; there are {', '.join(RebuildOptions.__annotations__)}")
    namespace, topics = given.get("namespace"), given.get("topics")
    for topic in topics or ():
        if topic not in RAW:
            raise BadRequest("topics", f"{topic!r:.80} is none of {', '.join(RAW)}")
    return Options(
        which=Which(
            None if namespace is None else check_namespace(namespace), None if topics is None else tuple(topics)
        ),
        from_raw=given.get("from_raw", False),
        fresh=given.get("fresh", False),
        promote=given.get("promote", True),
        keep=given.get("keep"),
        memory_mb=settings.view_memory_mb,
        threads=settings.view_threads,
    )


def try_backup(path: Path, settings: Settings, watch: Watch) -> dict[str, str]:
    """Build the views of a backup, checked against its log; the digest of each namespace. Raises as `rebuild` does."""
    home = Home.open(path, settings, create=False)
    try:
        rebuild(path, home.sources, rebuild_options({}, settings), watch)
        with caught_up(home) as (view, _):
            found = view.store.rows("SELECT DISTINCT namespace FROM evidence WHERE namespace <> ?", [PUBLIC])
        return {name: Reads(home, Reader(name)).digest() for (name,) in sorted(found)}
    finally:
        home.close()
