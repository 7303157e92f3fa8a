"""What the demonstration does to a store, and what it reads back. Every read is held against what is expected."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from tether_schemas.answers import Dependent, EvidenceId, Statement, Why

from tether.demo.world import Event, Revision, World, subject
from tether.memory import Memory
from tether.store import Store

EDGES, NO_EDGES, ALONE = "demo/tether", "demo/without-edges", "demo/bbolt"
NAMESPACES = (EDGES, NO_EDGES, ALONE)
DEEP = "GO-2026-5320"  # six derivations lie between it and the farthest module that it reaches
LIFTED = "GO-2026-4923"  # published on 2026-04-06, withdrawn two days later
BBOLT = subject("go.etcd.io/bbolt@v1.3.7")
SERVER = subject("go.etcd.io/etcd/server/v3@v3.5.9")
ANA = "user:ana@example.com"


@dataclass(slots=True)
class Checks:
    """Reads that were compared with what is expected, and those that differ."""

    made: int = 0
    faults: list[str] = field(default_factory=list[str])

    def same(self, what: str, found: object, expected: object) -> None:
        self.made += 1
        if found != expected:
            self.faults.append(f"{what}: read {found!s:.200}, expected {expected!s:.200}")


@dataclass(frozen=True, slots=True)
class Line:
    """After one advisory: how many passes are served, and how many of them rest on a failed module."""

    date: str
    advisory: str
    package: str
    naive: int
    naive_wrong: int
    served: int
    served_wrong: int
    withdrawn: int


@dataclass(frozen=True, slots=True)
class Lift:
    """One advisory alone: what each module is before it, while it stands, and once it is withdrawn."""

    dependents: list[Dependent]
    statuses: dict[str, list[str]]
    dates: tuple[str, str]


@dataclass(frozen=True, slots=True)
class Deletion:
    """What was said in a session and derived from it, and what deleting the session erased of it."""

    statements: list[Statement]
    erased: int
    passes: int


class Acts:
    """The acts, in their order, over one store."""

    def __init__(self, store: Store, checks: Checks) -> None:
        self.world = World()
        self.checks = checks
        self._store = store
        self._memory = store.memory(EDGES)
        self._naive = store.memory(NO_EDGES)
        self._seen: set[str] = set()
        self._since = 0
        self.deep: Why | None = None

    def fill(self) -> tuple[int, int, int]:
        """The verdicts in both namespaces, the derivations in one: how many are in, and how many pass."""
        verdicts, links = self.world.verdicts(EDGES), self.world.links(EDGES)
        self._append([*verdicts, *links, *self.world.verdicts(NO_EDGES)])
        status = self._memory.status()
        self.checks.same("verdicts", status.assertions, len(verdicts))
        self.checks.same("derivations", status.edges, len(links))
        passes = len(self._passing(self._memory))
        self.checks.same("passes at first", passes, len(verdicts))
        return status.assertions, status.edges, passes

    def replay(self, tick: Callable[[str], None]) -> tuple[int, list[Line]]:
        """Every advisory by date, with a read after each; a line where one changed what may be served."""
        lines: list[Line] = []
        revisions = list(self.world.revisions())
        for revision in revisions:
            tick(revision.row["t"][:10])
            self._append([revision.event()])
            self._follow()
            self.checks.same(f"withdrawn after {revision.name}", self._seen, revision.standing)
            if revision.newly or revision.restored:
                lines.append(self._line(revision))
            if revision.name == DEEP:
                self.deep = self._farthest(revision)
        return len(revisions), lines

    def _follow(self) -> None:
        for change in self._memory.changes(self._since):
            self._since = change.seq
            (self._seen.add if change.status == "withdrawn" else self._seen.discard)(change.subject)

    def _line(self, revision: Revision) -> Line:
        row = revision.row
        served, naive = self._passing(self._memory), self._passing(self._naive)
        wrong = len(served & revision.standing)
        self.checks.same(f"passes after {revision.name}", served, set(self.world.subjects) - revision.standing)
        self.checks.same(f"wrong passes after {revision.name}", wrong, 0)
        package = next(one["package"] for one in row["affected"] if one["package"] not in ("stdlib", "toolchain"))
        return Line(
            *(row["t"][:10], revision.name, package),
            *(len(naive), len(naive & revision.standing)),
            *(len(served), wrong, len(revision.standing)),
        )

    def _farthest(self, revision: Revision) -> Why:
        """Of what this advisory reaches, the farthest, with this cause alone."""
        found: list[Why] = []
        for name in sorted(revision.standing):
            why = self._memory.why(name, "passes")
            causes = tuple(one for one in why.causes if one.detail.startswith(revision.name))
            found += [replace(why, causes=causes)] if causes else []
        return max(found, key=lambda why: why.causes[0].distance)

    def lift(self) -> Lift:
        """One advisory alone in a namespace, before any other is known that would hold its dependents down."""
        memory = self._store.memory(ALONE)
        edge = [one for one in self.world.links(ALONE) if one["data"]["arguments"]["premise"] == BBOLT]
        verdicts = [one for one in self.world.verdicts(ALONE) if one["data"]["arguments"]["subject"] in (BBOLT, SERVER)]
        first, second = [one for one in self.world.revisions() if one.name == LIFTED]
        return self._lifted(memory, [*verdicts, *edge], (first, second))

    def _lifted(self, memory: Memory, events: list[Event], revisions: tuple[Revision, Revision]) -> Lift:
        self._append(events)
        statuses = {name: [memory.recall(name, "passes").status] for name in (BBOLT, SERVER)}
        for revision in revisions:
            self._append([{**revision.event(ALONE), "source": "osv-alone"}])
            down = {subject(name) for name in revision.row["expected_withdrawn_by_this"]}
            for name, found in statuses.items():
                found.append(memory.recall(name, "passes").status)
                expected = "withdrawn" if name in down else "current"
                self.checks.same(f"{name} after {LIFTED}, revision {revision.row['revision']}", found[-1], expected)
        return Lift(memory.dependents(BBOLT), statuses, (revisions[0].row["t"][:10], revisions[1].row["t"][:10]))

    def forget(self) -> Deletion:
        """A made-up session: a message, what was noted of it, and a summary that another source derived from that."""
        memory, session = self._memory, "session-1"
        before, erased_before = len(self._passing(memory)), memory.status().erased
        memory.transcript(session, 1, "user", "I moved to Kyoto; call me after nine.", source="chat", id="message-1")
        said = EvidenceId("chat", "message-1")
        memory.remember(ANA, "city", "Kyoto", source="notes", id="note-1", derived_from=[said])
        memory.remember(ANA, "calls_after", "09:00", source="notes", id="note-2", derived_from=[said])
        note = EvidenceId("notes", "note-1")
        memory.remember(ANA, "summary", "lives in Kyoto", source="digest", id="sum-1", derived_from=[note])
        slots = ("city", "calls_after", "summary")
        for name in slots:
            self.checks.same(f"{name} before", memory.recall(ANA, name).status, "current")
        memory.forget({"source": "chat", "session_id": session}, "Ana asked for it", requested_by=ANA)
        statements = [one for name in slots for one in memory.history(ANA, name)]
        erased = memory.status().erased - erased_before
        self.checks.same("statements erased", erased, len(slots))
        self.checks.same("status after", {memory.recall(ANA, name).status for name in slots}, {"tombstoned"})
        passes = len(self._passing(memory))
        self.checks.same("passes after the deletion", passes, before)
        return Deletion(statements, erased, passes)

    def digests(self) -> dict[str, str]:
        return {name: self._store.digest(name) for name in NAMESPACES}

    def _append(self, events: list[Event]) -> None:
        rejected = [one.rejected for one in self._store.append_many(events) if one.rejected]
        self.checks.same("rejected events", rejected, [])

    def _passing(self, memory: Memory) -> set[str]:
        """The modules that are served as passing; each is asked for."""
        return {name for name in self.world.subjects if memory.recall(name, "passes").value is True}


def as_json(lines: list[Line]) -> list[dict[str, Any]]:
    """The table as JSON objects."""
    names = ("date", "advisory", "package", "naive", "naive_wrong", "served", "served_wrong", "withdrawn")
    return [{name: getattr(line, name) for name in names} for line in lines]
