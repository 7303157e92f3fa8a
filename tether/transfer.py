"""Export and import of one opened data directory: files that appear whole or not at all."""

import os
import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, cast

from tether_replay.export import Source, Told, export_events, nobody
from tether_replay.importing import Import, Target
from tether_replay.parquet import export_views
from tether_schemas.errors import BadRequest
from tether_schemas.reports import Exported, Imported
from tether_streams.embedded.admission import Limits

from tether.compose import Home
from tether.reads import caught_up, check_namespace

NDJSON, PARQUET = "ndjson", "parquet"
FORMATS = (NDJSON, PARQUET)

Place = str | Path | BinaryIO


def export_to(home: Home, place: Place, namespace: str | None, told: Told = nobody) -> Exported:
    """Write every event as NDJSON to a new file, or to a stream. Other reads of this process wait meanwhile."""
    wanted = None if namespace is None else check_namespace(namespace)

    def write(out: BinaryIO) -> Exported:
        with caught_up(home) as (view, position):
            source = Source(home.log, view.store, view.engine.state, int(position), view.topics)
            return export_events(source, out, wanted, home.clock_us(), told)

    if not isinstance(place, str | Path):
        return write(place)
    path = Path(place).expanduser()
    with _new_file(path) as out:
        done = write(out)
    return replace(done, path=str(path))


def export_parquet(home: Home, place: str | Path, namespace: str | None, told: Told = nobody) -> Exported:
    """Write the views as Parquet files into a new folder, with a manifest that says what they are."""
    wanted = None if namespace is None else check_namespace(namespace)
    path = Path(place).expanduser()
    with _new_folder(path) as folder, caught_up(home) as (view, position):
        source = Source(home.log, view.store, view.engine.state, int(position), view.topics)
        done = export_views(source, folder, wanted, home.clock_us(), told)
    return replace(done, path=str(path))


def check_free(place: str | Path, force: bool) -> None:
    """Raise BadRequest where a file stands that is not to be overwritten."""
    path = Path(place).expanduser()
    if path.is_dir() and not (path / "manifest.json").is_file() and any(path.iterdir()):
        raise BadRequest("file", f"{path} is a folder and no export of Tether's; name another")
    if not force and path.exists() and not (path.is_dir() and not any(path.iterdir())):
        raise BadRequest("file", f"{path} is there already; name another, or overwrite it (force)")
    if not path.parent.is_dir():
        raise BadRequest("file", f"{path.parent} is no folder; make it first")


def import_from(home: Home, place: Place, namespace: str | None, told: Told = nobody) -> Imported:
    """Read an export into the log. Raises BadRequest for a file that is none, ViewLocked where another process owns
    the view: what is erased here must be known first."""
    wanted = None if namespace is None else check_import(namespace)
    with _opened(place) as file, caught_up(home) as (view, _):
        limits = Limits(home.settings.payload_bytes_max, home.settings.future_skew_max_s)
        state = view.engine.state
        target = Target(home.log, home.log.letters, limits, home.clock_us, view.store, state)
        if (state.erased or state.deletions.any) and not file.seekable():
            with tempfile.TemporaryFile() as kept:  # it has no name, and ends with this process
                shutil.copyfileobj(file, kept)
                kept.seek(0)
                return Import(target, wanted, told).run(cast(BinaryIO, kept))
        return Import(target, wanted, told).run(file)


def check_import(namespace: str) -> str:
    """A namespace whose lines may be taken alone; `*` is one."""
    return namespace if namespace == "*" else check_namespace(namespace)


@contextmanager
def _opened(place: Place) -> Generator[BinaryIO]:
    if not isinstance(place, str | Path):
        yield place
        return
    try:
        with Path(place).expanduser().open("rb") as file:
            yield file
    except OSError as error:
        raise BadRequest("file", f"{place}: {error.strerror or error}") from error


@contextmanager
def _new_file(path: Path) -> Generator[BinaryIO]:
    """A file that takes its name once it is whole and on disk; before, and after a failure, it has another."""
    try:
        descriptor, name = tempfile.mkstemp(".partial", f".{path.name}.", path.parent)
    except OSError as error:
        raise BadRequest("file", f"{path}: {error.strerror or error}") from error
    try:
        with os.fdopen(descriptor, "wb") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        os.replace(name, path)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(name)
        raise
    _sync_folder(path.parent)


@contextmanager
def _new_folder(path: Path) -> Generator[Path]:
    try:
        name = Path(tempfile.mkdtemp(".partial", f".{path.name}.", path.parent))
    except OSError as error:
        raise BadRequest("file", f"{path}: {error.strerror or error}") from error
    try:
        yield name
        if path.is_dir():
            shutil.rmtree(path)
        os.replace(name, path)
    except BaseException:
        shutil.rmtree(name, ignore_errors=True)
        raise
    _sync_folder(path.parent)


def _sync_folder(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
