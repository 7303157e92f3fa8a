"""What two generations of the views, or those of two extractor versions, believe differently."""

from pathlib import Path

from tether_projections.beliefs import Side, beliefs
from tether_projections.store import ViewStore
from tether_schemas.errors import BadRequest
from tether_schemas.reports import BeliefDifference

from tether_replay.directory import Generations

CURRENT = "current"
EXAMPLES_MAX = 1_000


def diff(
    live: tuple[ViewStore, str],
    folder: Path,
    named: tuple[str | Path, str | Path],
    namespace: str | None,
    examples: int,
) -> BeliefDifference:
    """Compare two generations of a data directory, each a number, `current`, or the path of a view's file.

    `live` is the current generation's store, caught up, and its number: it knows what is erased by now. Raises
    BadRequest for a generation that is not there, DataDirectory for a file that is no view of this schema.
    """
    if not 0 <= examples <= EXAMPLES_MAX:
        raise BadRequest("examples", f"is a number from 0 to {EXAMPLES_MAX}")
    store, current = live
    first, second = (_side(folder, one, current, field) for one, field in zip(named, "ab", strict=True))
    return beliefs(store, (first, second), namespace, examples)


def _side(folder: Path, named: str | Path, current: str, field: str) -> Side:
    generations = Generations(folder)
    name = current if named == CURRENT else str(named)
    if name == current:
        return Side(name, None)
    if name.isdecimal():
        if name not in generations.all():
            there = ", ".join(generations.all())
            raise BadRequest(field, f"there is no generation {name}; there are {there}, or name a view's file")
        return Side(name, str(generations.file(name)))
    file = Path(name).expanduser().absolute()
    if not file.is_file():
        raise BadRequest(field, f"{name!r:.80} is neither a generation's number, {CURRENT!r}, nor a file")
    if file.samefile(generations.file(current)):
        return Side(name, None)
    return Side(name, str(file.resolve()))
