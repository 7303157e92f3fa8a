"""Old payloads in Parquet files: tether_streams.ports.Segments."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from tether_schemas.errors import LogCorrupt, LogUnavailable, ViewUnavailable
from tether_streams.ports import Payload

from tether_projections.scratch import Scratch

SUFFIX = ".parquet"
FETCHED_ROWS = 500
GROUP_ROWS = 10_000

TABLE = 'CREATE TABLE payload ("offset" BIGINT, alg VARCHAR, key_id VARCHAR, data BLOB)'
READ = 'SELECT "offset", alg, key_id, data FROM read_parquet(?) WHERE "offset" BETWEEN ? AND ? ORDER BY "offset"'


class ParquetSegments:
    """Files with the columns offset, alg, key_id and data, compressed with zstd, in one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def write(self, name: str, payloads: Iterable[Payload]) -> int:
        file = self._file(name)
        part = file.with_suffix(".part")
        scratch = Scratch()
        try:
            self._folder.mkdir(exist_ok=True)
            scratch.execute(TABLE)
            scratch.append("payload", payloads)
            quoted = str(part).replace("'", "''")
            scratch.execute(
                f"COPY payload TO '{quoted}' (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {GROUP_ROWS})"
            )
            _sync(part)
            part.replace(file)
            _sync(self._folder)
            return file.stat().st_size
        except (ViewUnavailable, OSError) as error:
            part.unlink(missing_ok=True)
            raise LogUnavailable(str(file), f"cannot be written: {error}; free some space and compact again") from error
        finally:
            scratch.close()

    def read(self, name: str, first: int, last: int) -> Iterator[Payload]:
        file = self._file(name)
        if not file.exists():
            raise FileNotFoundError(str(file))
        scratch = Scratch()
        try:
            for row in scratch.stream(READ, [str(file), first, last], FETCHED_ROWS):
                yield Payload._make(row)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise LogCorrupt(f"{first} to {last}", f"the segment {file} cannot be read: {error}") from error
        finally:
            scratch.close()

    def names(self) -> list[str]:
        if not self._folder.is_dir():
            return []
        for part in self._folder.glob("*.part"):
            part.unlink(missing_ok=True)
        return sorted(file.stem for file in self._folder.glob(f"*{SUFFIX}"))

    def remove(self, name: str) -> None:
        self._file(name).unlink(missing_ok=True)

    def _file(self, name: str) -> Path:
        return self._folder / f"{name}{SUFFIX}"


def _sync(path: Path) -> None:
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
