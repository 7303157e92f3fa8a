"""From facts to a ghost and back. Pure: the keys that stand for values come from outside.

A ghost supersedes, disputes, withdraws and makes edges as before (design, part 2, A), so its facts keep names, times,
authority and premises. What they said goes: values, quoted texts, reasons, summaries. Of an event of which only some
assertions are erased the others keep their values, but no text that may quote what is gone.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

from tether_schemas.build import trusted
from tether_schemas.facts import (
    AdvisoryIssued,
    Asserted,
    Decided,
    EvidenceDeleted,
    EvidenceRecorded,
    Fact,
    FactRecord,
    Mentioned,
    PolicyDeclared,
)
from tether_schemas.ghosts import Carried, Ghost
from tether_schemas.times import time_us

from tether_streams.core.extract import RawPlace
from tether_streams.core.osv import EVENT_KINDS

_QUOTED = {"original_text": None, "write_reason": None}
_TEXTS = {**_QUOTED, "value": None, "memory_type": None, "sensitivity": None, "review_at": None}


def ghost_of(record: FactRecord, keys: Mapping[str, str], deleted: bool) -> Ghost:
    """The ghost of an event of which something is erased.

    `keys` gives the id of each erased assertion the key that stands for its value; `deleted`: the event itself is.
    """
    facts = (_bare(fact, keys, deleted) for fact in record.facts if not isinstance(fact, Mentioned))
    carried = Carried(extractor=record.extractor, rules=record.rules, facts=tuple(facts))
    return Ghost(
        specversion="1.0",
        id=record.id,
        source=record.source,
        type=record.event_type,
        time=record.time,
        namespace=record.namespace,
        ghost=carried,
    )


def _bare(fact: Fact, keys: Mapping[str, str], deleted: bool) -> Fact:
    """A fact without content."""
    match fact:
        case EvidenceRecorded():
            return fact.model_copy(update={"deleted": deleted})
        case Asserted():
            key = keys.get(fact.assertion_id)
            return fact.model_copy(update=_QUOTED if key is None else {**_TEXTS, "value_key": key})
        case AdvisoryIssued():
            affected = tuple(_entry(entry) for entry in fact.affected)
            return fact.model_copy(update={"aliases": (), "summary": None, "affected": affected})
        case EvidenceDeleted():
            return fact.model_copy(update={"reason": "", "requested_by": ""})
        case Decided():
            return fact.model_copy(update={"reason": "", "decided_by": ""})
        case PolicyDeclared():
            return fact.model_copy(update={"decided_by": ""})
        case _:
            return fact


def _entry(entry: dict[str, Any]) -> dict[str, Any]:
    """Of one entry of `affected`, which versions of which package are covered, and nothing beside."""
    kept: dict[str, Any] = {}
    if "package" in entry:
        kept["package"] = _only(entry["package"], ("ecosystem", "name", "purl"))
    if "versions" in entry:
        kept["versions"] = _each(entry["versions"], lambda one: one if isinstance(one, str) else 0)
    if "ranges" in entry:
        kept["ranges"] = _each(entry["ranges"], _span)
    return kept


def _span(span: Any) -> Any:
    kept = _only(span, ("type",))
    if isinstance(span, dict) and "events" in span:
        events = cast(dict[str, Any], span)["events"]
        kept["events"] = _each(events, lambda one: _only(one, EVENT_KINDS))
    return kept


def _each(value: Any, made: Callable[[Any], Any]) -> Any:
    """A list with each of its items replaced; what should be one and is none stays none."""
    return [made(one) for one in cast(list[Any], value)] if isinstance(value, list) else bool(value)


def _only(fields: Any, names: Iterable[str]) -> Any:
    """The texts of these names."""
    known = cast(dict[str, Any], fields) if isinstance(fields, dict) else {}
    return {name: known[name] for name in names if isinstance(known.get(name), str)}


def carried(ghost: Ghost, place: RawPlace) -> FactRecord:
    """The fact record of a ghost that stands in a log."""
    return trusted(
        FactRecord,
        {
            "v": 1,
            "namespace": ghost.namespace,
            "source": ghost.source,
            "id": ghost.id,
            "event_type": ghost.type,
            "time": ghost.time,
            "time_us": time_us(ghost.time),
            "recorded_us": place.recorded_us,
            "topic": place.topic,
            "partition": place.partition,
            "offset": place.offset,
            "content_hash": place.content_hash,
            "extractor": ghost.ghost.extractor,
            "rules": ghost.ghost.rules,
            "facts": ghost.ghost.facts,
        },
    )
