"""Events as the helpers build them: what `remember`, `link`, `forget` and the others append."""

import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeAlias

import uuid_utils
from pydantic import TypeAdapter, ValidationError
from tether_projections.reader import check_text
from tether_schemas.answers import EvidenceId
from tether_schemas.errors import BadEvent, BadRequest
from tether_schemas.fields import first_fault
from tether_schemas.refs import EvidenceRef
from tether_schemas.targets import DeletionTarget
from tether_schemas.times import BadTime, time_text, us_text

from tether.forms import RefLike, Target

Event: TypeAlias = dict[str, Any]

ATTRIBUTES = ("id", "source", "time")
_DELETION_TARGET: TypeAdapter[DeletionTarget] = TypeAdapter(DeletionTarget)
_TIMES = ("valid_from", "valid_to", "observed_at", "expires_at", "review_at")


class RisingClock:
    """A clock that never gives the same microsecond twice, so that what is said later is later."""

    def __init__(self, clock_us: Callable[[], int]) -> None:
        self._clock_us = clock_us
        self._lock = threading.Lock()
        self._last_us = 0

    def __call__(self) -> int:
        with self._lock:
            self._last_us = max(self._clock_us(), self._last_us + 1)
            return self._last_us


class Drafts:
    """Builds events of one namespace and, unless they say otherwise, one source."""

    def __init__(self, namespace: str, source: str, clock_us: Callable[[], int]) -> None:
        self.namespace = namespace
        self.source = source
        self._clock_us = clock_us

    def event(self, kind: str, data: Event, attributes: Mapping[str, Any]) -> Event:
        """One CloudEvent of a kind, such as `tool_result`."""
        given = dict(attributes)
        time = given.pop("time", None)
        event = {
            "specversion": "1.0",
            "id": given.pop("id", None) or str(uuid_utils.uuid7()),
            "source": given.pop("source", None) or self.source,
            "type": f"tether.{kind}.v1",
            "time": us_text(self._clock_us()) if time is None else _time(time, "time"),
            "namespace": self.namespace,
            "data": data,
        }
        if given:
            raise BadEvent(min(given), "is no argument here; check its spelling")
        return event

    def tool_result(self, tool: str, arguments: Event, result: Any, fields: Mapping[str, Any]) -> Event:
        """A tool result."""
        attributes, more = _split(fields)
        data = {"tool": tool, "arguments": arguments, "result": result, "is_error": False, **more}
        return self.event("tool_result", data, attributes)

    def remember(self, claim: tuple[str, str, Any], fields: Mapping[str, Any]) -> Event:
        """A memory.write of (subject, predicate, value)."""
        attributes, more = _split(fields)
        subject, predicate, value = claim
        for name in _TIMES:
            if more.get(name) is not None:
                more[name] = _time(more[name], f"data.arguments.{name}")
        if "derived_from" in more:
            more["derived_from"] = refs(more["derived_from"])
        if isinstance(more.get("readers"), tuple | set | frozenset):
            more["readers"] = sorted(more["readers"])
        arguments = {"subject": subject, "predicate": predicate, "value": value, **more}
        return self.tool_result("memory.write", arguments, {"ok": True}, attributes)

    def link(self, dependent: RefLike, premises: Sequence[RefLike] | RefLike, fields: Mapping[str, Any]) -> Event:
        """A memory.link."""
        attributes, more = _split(fields)
        arguments = {"dependent": ref(dependent), "premises": refs(premises), **more}
        return self.tool_result("memory.link", arguments, {"ok": True}, attributes)

    def transcript(self, message: tuple[str, int, str, Any], fields: Mapping[str, Any]) -> Event:
        """A message (session_id, seq, role, content)."""
        attributes, more = _split(fields)
        session_id, seq, role, content = message
        data = {"session_id": session_id, "seq": seq, "role": role, "content": content, **more}
        return self.event("transcript", data, attributes)

    def advisory(self, advisory: Mapping[str, Any], form: str, attributes: Mapping[str, Any]) -> Event:
        """An advisory in the format `osv` or `revocation`."""
        return self.event("advisory", {"format": form, "advisory": dict(advisory)}, attributes)

    def forget(self, named: Target, reason: str, requested_by: str, fields: Mapping[str, Any]) -> Event:
        """A deletion; `until` is given where it is in `fields`, None included."""
        attributes = dict(fields)
        data: Event = {"target": target(named, "subject"), "reason": reason, "requested_by": requested_by}
        if "until" in attributes:
            until = attributes.pop("until")
            data["until"] = None if until is None else _time(until, "data.until")
        return self.event("deletion", data, attributes)

    def decision(self, action: str, named: Target, said: tuple[str, str], attributes: Mapping[str, Any]) -> Event:
        """A decision `invalidate` or `restore`; `said` is (reason, decided_by)."""
        data = {"action": action, "target": decided_target(named), "reason": said[0], "decided_by": said[1]}
        return self.event("decision", data, attributes)


def ref(named: RefLike) -> Any:
    """A reference as memory.write and memory.link take it."""
    if isinstance(named, EvidenceId):
        return {"source": named.source, "id": named.id}
    return named if isinstance(named, str) else dict(named)


def evidence_ref(named: EvidenceId | Mapping[str, str]) -> EvidenceRef:
    """Evidence of the own namespace as a reference. Raises BadRequest."""
    found = evidence_id(named)
    try:
        return EvidenceRef(source=found.source, id=found.id)
    except ValidationError as error:
        fault = first_fault(error).within("evidence")
        raise BadRequest(fault.field, fault.reason) from None


def evidence_id(named: EvidenceId | Mapping[str, str]) -> EvidenceId:
    """Evidence in either form. Raises BadRequest."""
    try:
        found = named if isinstance(named, EvidenceId) else EvidenceId(**named)
    except TypeError:
        raise BadRequest("evidence", "is named by its source and id: {source, id}") from None
    for field in ("source", "id", "namespace"):
        check_text(f"evidence.{field}", getattr(found, field))
    return found


def refs(named: Sequence[RefLike] | RefLike) -> list[Any]:
    """References, given as one or several."""
    if isinstance(named, str | EvidenceId | Mapping):
        return [ref(named)]
    return [ref(one) for one in named]


def target(named: Target, text_means: str) -> Event:
    """What is forgotten or decided on; a text is a `text_means`."""
    if isinstance(named, EvidenceId):
        return {"evidence": {"source": named.source, "id": named.id}}
    return {text_means: named} if isinstance(named, str) else dict(named)


def deletion_target(named: Target) -> DeletionTarget:
    """What a deletion is of; a text is a subject. Raises BadRequest naming the field."""
    try:
        return _DELETION_TARGET.validate_python(target(named, "subject"))
    except ValidationError as error:
        fault = first_fault(error).within("target")
        raise BadRequest(fault.field, fault.reason) from None


def decided_target(named: Target) -> Event:
    """What is decided on; a text is an assertion's or a link's id, or else an advisory's."""
    is_own_id = isinstance(named, str) and named.startswith(("as_", "ln_"))
    return target(named, "assertion" if is_own_id else "advisory")


def _split(fields: Mapping[str, Any]) -> tuple[Event, Event]:
    """The attributes among the fields, and the others; what is None is not given."""
    given = {name: value for name, value in fields.items() if value is not None}
    attributes = {name: given.pop(name) for name in ATTRIBUTES if name in given}
    return attributes, given


def _time(value: str | datetime, field: str) -> str:
    """RFC 3339 text; a text is left for the event's own checks."""
    if not isinstance(value, datetime):
        return value
    try:
        return time_text(value)
    except BadTime as error:
        raise BadEvent(field, str(error)) from None
