"""Writes the views of a past for reading: a file that any DuckDB opens, or Parquet. Nothing that is erased by now is in
their bytes: what is written is a copy of the rows that are left."""

import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tether_projections.store import ViewStore
from tether_schemas.errors import BadRequest, DataDirectory
from tether_schemas.reports import Snapshot
from tether_schemas.times import us_text

from tether_replay.build import FORESEEN
from tether_replay.build import Progress as BuildProgress
from tether_replay.past import Moment, Prepared
from tether_replay.views import Progress, Watch

DUCKDB, PARQUET = "duckdb", "parquet"
FORMATS = (DUCKDB, PARQUET)
TABLES = (
    *("memory_now", "memory", "evidence", "assertion", "premise", "link", "node", "edge", "cause", "stance", "down"),
    *("threatened", "invalidated", "ghost", "advisory", "decision", "deletion", "policy", "unresolved", "meta"),
)
READ_ONLY = 0o444

_HIDDEN = "(SELECT abs(id) FROM ghost UNION SELECT ev FROM assertion WHERE a IN (SELECT id FROM ghost))"
# What the engine needs of erased facts, or has not come by again to empty, and a reader does not.
_EMPTIED = (
    "UPDATE assertion SET value = NULL WHERE a IN (SELECT id FROM ghost)",
    f"UPDATE assertion SET original_text = NULL, write_reason = NULL WHERE ev IN {_HIDDEN}",
    "UPDATE advisory SET summary = NULL, "
    f"""body = json_merge_patch(body, '{{"summary": null, "aliases": []}}') WHERE ev IN {_HIDDEN}""",
    f"""UPDATE decision SET body = json_merge_patch(body, '{{"reason": ""}}') WHERE ev IN {_HIDDEN}""",
    f"""UPDATE deletion SET body = json_merge_patch(body, '{{"reason": ""}}') WHERE ev IN {_HIDDEN}""",
    "DELETE FROM applied",
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to write where: one of FORMATS; `namespace` None: all; `force`: replace what is there."""

    path: Path
    format: str = DUCKDB
    namespace: str | None = None
    force: bool = False
    memory_mb: int = 1024
    threads: int = 2


def check(wanted: Wanted) -> None:
    """Raises BadRequest for a format that there is not, or where something is at the path that may not be replaced."""
    if wanted.format not in FORMATS:
        raise BadRequest("format", f"{wanted.format!r:.80} is none of {', '.join(FORMATS)}")
    path = wanted.path
    if (path.exists() or path.is_symlink()) and not wanted.force:
        raise BadRequest("out", f"{path} is there already; name another, or replace it with force")
    if path.is_dir() and wanted.format == DUCKDB:
        raise BadRequest("out", f"{path} is a directory; name a file")
    if path.is_dir() and any(entry.suffix != ".parquet" for entry in path.iterdir()):
        raise BadRequest("out", f"{path} holds more than Parquet files; name another directory")
    if not path.parent.is_dir():
        raise BadRequest("out", f"there is no directory {path.parent}; make it first")


def write_snapshot(prepared: Prepared, moment: Moment, wanted: Wanted, watch: Watch) -> Snapshot:
    """Build a past whole and write it; what is at the path is there whole or as before. Raises as `check` does,
    DataDirectory where nothing can be written there, LogCorrupt, ReplayFailed, ViewUnavailable."""
    check(wanted)

    def built(step: BuildProgress) -> None:
        watch(Progress("build", step.done, step.total, step.records))

    try:
        with tempfile.TemporaryDirectory(prefix=f".{wanted.path.name}.", dir=wanted.path.parent) as folder:
            store = ViewStore(str(Path(folder) / "building.duckdb"), wanted.memory_mb, wanted.threads)
            try:
                prepared.build(store, wanted.namespace, built)
                events = _finish(store, moment, wanted)
                made = Path(folder) / "made"
                _WRITERS[wanted.format](store, made)
            finally:
                store.close()
            size_bytes = _place(made, wanted.path)
    except OSError as error:
        raise DataDirectory(str(wanted.path), f"cannot be written: {error.strerror}; name another place") from None
    return Snapshot(str(wanted.path), wanted.format, wanted.namespace, str(moment.position), events, size_bytes)


def _finish(store: ViewStore, moment: Moment, wanted: Wanted) -> int:
    """Empty what is erased and say in the table meta what this is; how many events there are."""
    with store.transaction():
        for statement in _EMPTIED:
            store.execute(statement)
        store.execute("DELETE FROM meta WHERE name = ?", [FORESEEN])
        said = {"position": str(moment.position), "known_at": us_text(moment.now_us), "namespace": wanted.namespace}
        for name, value in said.items():
            if value is not None:
                store.set_meta(name, value)
    return int(store.rows("SELECT count(*) FROM evidence")[0][0])


def _write_duckdb(store: ViewStore, made: Path) -> None:
    store.copy_to(str(made))


def _write_parquet(store: ViewStore, made: Path) -> None:
    made.mkdir()
    for table in TABLES:
        store.copy_parquet(str(made / f"{table}.parquet"), f"SELECT * FROM {table}", {})


_WRITERS: dict[str, Callable[[ViewStore, Path], None]] = {DUCKDB: _write_duckdb, PARQUET: _write_parquet}


def _place(made: Path, path: Path) -> int:
    """Put what was made in its place; its size in bytes."""
    files = [made] if made.is_file() else sorted(made.iterdir())
    size_bytes = sum(file.stat().st_size for file in files)
    for file in files:
        file.chmod(READ_ONLY)
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    elif made.is_dir():
        path.unlink(missing_ok=True)
    made.replace(path)
    return size_bytes
