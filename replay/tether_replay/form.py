"""The form of an export: NDJSON whose first line says what it is and whose last line says that it is whole.

Between them stands one line per event, in the log's order: the event as it was recorded, or its ghost (ghosts.py).
"""

from importlib.metadata import version
from typing import Any, Literal, cast

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError
from tether_schemas.errors import BadRequest, UnknownVersion
from tether_schemas.fields import first_fault

from tether_replay.lines import BOM

FORMAT = "tether.export"
VERSION = 1
HEAD, END, GHOST = "export", "export_end", "ghost"


class Head(BaseModel):
    """What the first line says. `only`: the one namespace that was asked for, beside `*`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal["tether.export"] = FORMAT
    version: Literal[1] = VERSION
    tether: str
    namespaces: tuple[str, ...]
    only: str | None
    events: int
    position: str
    time: str


class End(BaseModel):
    """What the last line says: how many lines were events, ghosts among them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    events: int
    ghosts: int


def tether_version() -> str:
    """The version of this Tether."""
    return version("tether")


def head_line(head: Head) -> bytes:
    """The first line."""
    return orjson.dumps({HEAD: head.model_dump()}) + b"\n"


def end_line(end: End) -> bytes:
    """The last line."""
    return orjson.dumps({END: end.model_dump()}) + b"\n"


def read_head(line: bytes) -> Head:
    """Read the first line. Raises BadRequest for a file that is no export, UnknownVersion for one of a newer Tether."""
    try:
        parsed: Any = orjson.loads(line.removeprefix(BOM))
        said: Any = parsed[HEAD]
        if said["format"] == FORMAT and int(said["version"]) > VERSION:
            raise UnknownVersion("export", int(said["version"]))
        return Head.model_validate(said)
    except UnknownVersion:
        raise
    except ValidationError as error:
        raise BadRequest("file", f"its first line is no head of an export: {first_fault(error)}") from None
    except (ValueError, TypeError, KeyError, OverflowError):
        shown = "is of tether export" if line.strip() else "is empty"
        raise BadRequest(
            "file", f"line 1 {'is no JSON that' if line.strip() else ''} {shown}; plain events go in by tether ingest"
        ) from None


def read_end(line: bytes) -> End | None:
    """What the last line says; None for another line."""
    if not line.startswith(b'{"' + END.encode() + b'"'):
        return None
    try:
        return End.model_validate(cast(dict[str, Any], orjson.loads(line))[END])
    except ValueError:
        return None


def is_ghost(fields: dict[str, Any]) -> bool:
    """Whether a line is a ghost and no event."""
    return isinstance(fields.get(GHOST), dict)
