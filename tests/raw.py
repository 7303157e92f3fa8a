"""Raw events as producers write them: dicts, valid unless a test makes them otherwise."""

from typing import Any

from tether_schemas.codec import Decoded, read_event
from tether_schemas.facts import FactRecord
from tether_schemas.topics import TOPIC_OF_TYPE
from tether_streams.core.extract import Fault, RawPlace, extract
from tether_streams.core.rules import RuleSet

TIME = "2026-01-31T13:00:00.5+01:00"
Json = dict[str, Any]


def event(kind: str, data: Any, **attributes: Any) -> Json:
    """One CloudEvents record of the type tether.<kind>.v1."""
    head = {"specversion": "1.0", "id": "e-1", "source": "ci", "time": TIME, "namespace": "acme"}
    return {**head, "type": f"tether.{kind}.v1", **attributes, "data": data}


def tool_result(tool: str = "shell", arguments: Any = None, result: Any = None, **attributes: Any) -> Json:
    """What a tool answered."""
    data: Json = {"tool": tool, "arguments": arguments or {}, "result": result, "is_error": False}
    return event("tool_result", data, **attributes)


def write(**fields: Any) -> Json:
    """One `memory.write`; fields of None are left out."""
    claim = {"subject": "user:ana", "predicate": "drinks", "value": "tea", **fields}
    return tool_result("memory.write", {name: value for name, value in claim.items() if value is not None}, "ok")


def link(**fields: Any) -> Json:
    """One `memory.link`."""
    return tool_result("memory.link", fields, "ok")


def transcript(content: Any = "hello", **fields: Any) -> Json:
    """One message of a session."""
    return event("transcript", {"session_id": "s-1", "seq": 1, "role": "user", "content": content, **fields})


def osv(**fields: Any) -> Json:
    """One OSV advisory."""
    advisory = {"id": "GO-2026-0001", "modified": "2026-01-30T00:00:00Z", **fields}
    return event("advisory", {"format": "osv", "advisory": advisory})


def revocation(**fields: Any) -> Json:
    """One revocation, of item:grouse unless it names others."""
    named = {} if "subject" in fields or "subjects" in fields else {"subject": "item:grouse"}
    advisory = {"id": "R-1", "reason": "leaked", "modified": "2026-01-30T00:00:00Z", **named, **fields}
    return event("advisory", {"format": "revocation", "advisory": advisory})


def deletion(target: Any, **fields: Any) -> Json:
    """One deletion."""
    return event("deletion", {"target": target, "reason": "asked to", "requested_by": "ana", **fields})


def decision(action: str, **fields: Any) -> Json:
    """One decision; it gives a reason."""
    return event("decision", {"action": action, "reason": "wrong", "decided_by": "ana", **fields})


def policy(**fields: Any) -> Json:
    """One policy decision."""
    return event("decision", {"action": "policy", "decided_by": "ana", **fields})


def put(fields: Json, path: str, value: Any) -> Json:
    """A copy with `value` at a dotted path; `...` takes away what is there."""
    name, _, rest = path.partition(".")
    changed = dict(fields)
    if rest:
        changed[name] = put(changed[name], rest, value)
    elif value is ...:
        del changed[name]
    else:
        changed[name] = value
    return changed


def extracted(
    fields: Json, rules: RuleSet | None = None, *, arguments: bool = True
) -> tuple[FactRecord, tuple[Fault, ...]]:
    """The record and the faults of one event."""
    decoded: Decoded = read_event(fields, arguments=arguments)
    place = RawPlace(1_000, TOPIC_OF_TYPE[fields["type"]], 0, 7, decoded.content_hash)
    return extract(decoded.event, place, rules)
