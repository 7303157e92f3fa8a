"""Random raw events in a small world, made to collide, each with texts of its own that can be looked for in files.

What is erased of such a history must be in no file that leaves the store: `planted` finds which texts these are.
"""

from dataclasses import dataclass, field
from random import Random
from typing import Any, cast

import orjson
from tether_schemas.times import us_text

from tests.raw import Json
from tests.raw import event as raw_event

HOME, OTHER, PUBLIC = "acme", "beta/ws", "*"
NAMESPACES = (HOME, OTHER)
START_US = 1_767_000_000_000_000
SUBJECTS = ("item:a@1", "item:a@2", "item:b@1", "pkg:pypi/x@1.0", "pkg:pypi/x@1.5", "doc:d@1", "doc:d@2", "user:u")
PREDICATES = ("passes", "passes", "audited", "note", "note", "tags", "tags", "licence")
SOURCES = ("ci", "hub", "chat")
AUTHORITIES = ("unknown", "unknown", "inferred", "user-direct", "system-of-record")
POLICY: Json = {
    "predicates": {"tags": {"many": True}, "audited": {"verdict": True}, "licence": {"rests_on_subject": True}},
    "schemes": {"doc": {"versioned": True}},
}
RULES: Json = {
    "version": 1,
    "rules": [
        {
            "name": "both",
            "tool": "scan",
            "each": "result.found",
            "assertion": {"subject": "{item.subject}", "predicate": "note", "value": "{item.note}"},
        }
    ],
}


@dataclass
class World:
    """What one history can name so far, and its clock."""

    random: Random
    events: list[Json] = field(default_factory=list[Json])
    now: int = 0

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def text(self) -> str:
        """A text that no other event holds."""
        return f"secret{len(self.events)}x{self.random.getrandbits(48):012x}"

    def head(self, namespace: str | None = None) -> Json:
        self.now += self.random.choice((0, 1, 1, 2))
        time = max(0, self.now - 6) if self.chance(0.15) else self.now
        named = namespace or (HOME if self.chance(0.8) else OTHER)
        source = self.random.choice(SOURCES)
        return {"id": f"e{len(self.events)}", "source": source, "namespace": named, "time": us_text(START_US + time)}

    def some(self, namespace: str) -> tuple[str, str]:
        """(source, id) of an event of a namespace: earlier, or perhaps later, or never."""
        own = [one for one in self.events if one["namespace"] == namespace]
        if own and self.chance(0.85):
            one = self.random.choice(own)
            return one["source"], one["id"]
        return self.random.choice(SOURCES), f"e{self.random.randrange(60)}"

    def ref(self, namespace: str) -> Any:
        if self.chance(0.5):
            return self.random.choice(SUBJECTS)
        source, name = self.some(namespace)
        return {"source": source, "id": name}


def _value(world: World, predicate: str) -> Any:
    if predicate in ("passes", "audited"):
        return world.chance(0.7)
    return world.random.choice(("red-kept", "blue-kept", 7, world.text(), world.text()))


def _write(world: World) -> Json:
    head, random = world.head(), world.random
    predicate = random.choice(PREDICATES)
    value = _value(world, predicate)
    arguments: Json = {"subject": random.choice(SUBJECTS), "predicate": predicate, "value": value}
    arguments["authority"] = random.choice(AUTHORITIES)
    arguments["derived_from"] = [world.ref(head["namespace"]) for _ in range(random.choice((0, 0, 1, 2)))]
    if world.chance(0.3):
        arguments |= {"original_text": world.text(), "write_reason": world.text()}
    if world.chance(0.3):
        arguments["issuer"] = random.choice("ab")
    if world.chance(0.1) and predicate == "note":
        arguments["valid_to"] = us_text(START_US + world.now + random.randint(-3, 9))
    if world.chance(0.1) and value is not False:
        arguments["expires_at"] = us_text(START_US + world.now + random.randint(-3, 9))
    if world.chance(0.1):
        arguments["readers"] = ["ana"]
    return _tool(head, "memory.write", arguments, world)


def _tool(head: Json, tool: str, arguments: Json, world: World, result: Any = None) -> Json:
    data: Json = {"tool": tool, "arguments": arguments, "result": result or {"said": world.text()}, "is_error": False}
    if world.chance(0.4):
        data["session_id"] = world.random.choice(("s1", "s2"))
    return raw_event("tool_result", data, **head)


def _scan(world: World) -> Json:
    """A tool result of which a rule makes several assertions: of some of them only may something be erased."""
    found = [{"subject": one, "note": world.text()} for one in world.random.sample(SUBJECTS, 2)]
    return _tool(world.head(), "scan", {"of": world.text()}, world, {"found": found, "log": world.text()})


def _link(world: World) -> Json:
    head = world.head()
    premises = [world.ref(head["namespace"])]
    grade = "possible" if world.chance(0.3) else "stated"
    return _tool(
        head, "memory.link", {"dependent": world.ref(head["namespace"]), "premises": premises, "grade": grade}, world
    )


def _message(world: World) -> Json:
    seq, session = len(world.events), world.random.choice(("s1", "s2"))
    data = {"session_id": session, "seq": seq, "role": "user", "content": world.text()}
    return raw_event("transcript", data, **world.head())


def _advisory(world: World) -> Json:
    head = world.head(PUBLIC if world.chance(0.4) else None)
    modified = us_text(START_US + world.now)
    if world.chance(0.5):
        advisory: Json = {"id": f"R-{world.random.randrange(3)}", "reason": world.text(), "modified": modified}
        advisory["subject"] = world.random.choice(SUBJECTS)
        return raw_event("advisory", {"format": "revocation", "advisory": advisory}, **head)
    affected: Json = {"package": {"ecosystem": "PyPI", "name": "x"}, "database_specific": {"note": world.text()}}
    affected["ranges"] = [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "1.5"}]}]
    osv = {"id": f"O-{world.random.randrange(3)}", "modified": modified, "summary": world.text()}
    osv |= {"affected": [affected], "details": world.text(), "aliases": [world.text()]}
    return raw_event("advisory", {"format": "osv", "advisory": osv}, **head)


def deletion(world: World, namespace: str | None = None) -> Json:
    """A deletion of something, mostly of what is there."""
    head = world.head(namespace)
    source, name = world.some(head["namespace"])
    targets: list[Json] = [{"evidence": {"source": source, "id": name}}] * 3
    targets += [{"source": source, "session_id": "s1"}, {"subject": world.random.choice((*SUBJECTS, "item:a"))}]
    targets += [{"source": source}] if world.chance(0.3) else []
    data: Json = {"target": world.random.choice(targets), "reason": world.text(), "requested_by": world.text()}
    if world.chance(0.3):
        data["until"] = world.random.choice((None, us_text(START_US + world.now + 3)))
    return raw_event("deletion", data, **head)


def _decision(world: World) -> Json:
    head = world.head()
    source, name = world.some(head["namespace"])
    target = world.random.choice(({"evidence": {"source": source, "id": name}}, {"source": source}))
    action = world.random.choice(("invalidate", "invalidate", "restore"))
    return raw_event(
        "decision", {"action": action, "target": target, "reason": world.text(), "decided_by": world.text()}, **head
    )


def _policy(world: World) -> Json:
    policy = dict(POLICY)
    if world.chance(0.5):
        policy["sources"] = {"hub": {"authority_max": "inferred"}}
    head = world.head(PUBLIC if world.chance(0.5) else HOME)
    return raw_event("decision", {"action": "policy", "policy": policy, "decided_by": world.text()}, **head)


def _rules(world: World) -> Json:
    head = world.head(PUBLIC if world.chance(0.5) else HOME)
    return raw_event("decision", {"action": "policy", "rules": RULES, "decided_by": world.text()}, **head)


MAKERS = (
    (_write, 30), (_scan, 6), (_link, 8), (_message, 5), (_advisory, 6), (_decision, 6), (_policy, 1), (_rules, 1)
)  # fmt: skip


def history(seed: int, size: int, deletions: float = 0.08) -> list[Json]:
    """`size` raw events in the order they are appended; the first of them policy and rules."""
    world = World(Random(seed))
    world.events += [_policy(world)]
    world.events += [_rules(world)]
    makers, weights = zip(*MAKERS, strict=True)
    while len(world.events) < size:
        make = deletion if world.chance(deletions) else world.random.choices(makers, weights)[0]
        world.events.append(make(world))
    return world.events


def more_deletions(seed: int, events: list[Json], count: int) -> list[Json]:
    """Deletions that come after a history."""
    world = World(Random(seed), list(events), len(events) + 10)
    for _ in range(count):
        world.events.append(deletion(world, HOME if world.chance(0.8) else None))
    return world.events[len(events) :]


def texts(value: Any) -> set[str]:
    """Every planted text in a value."""
    if isinstance(value, str):
        return {value} if value.startswith("secret") else set()
    if isinstance(value, dict):
        return texts([*cast(Json, value).values()])
    return {text for each in cast(list[Any], value) for text in texts(each)} if isinstance(value, list) else set()


def line(event: Json) -> bytes:
    """An event as it is appended."""
    return orjson.dumps(event)
