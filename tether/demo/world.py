"""The bundled world: what `go mod graph` says of etcd server 3.5.9, and the dated advisories of the Go vulnerability
database on its modules, with the objects that must stand withdrawn after each.

A row is a verdict, a derivation or an advisory. `expected_withdrawn_total` is how many objects stand withdrawn after an
advisory, `expected_newly_withdrawn` and `expected_restored` name those that it changes. NOTICE gives source and
licence.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from typing import Any

NAME = "etcd-server-3.5.9"
PUBLIC = "*"

Row = dict[str, Any]
Event = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Revision:
    """One revision of an advisory, and the objects that must stand withdrawn once it is known."""

    row: Row
    standing: frozenset[str]
    newly: tuple[str, ...]
    restored: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.row["id"]

    def event(self, namespace: str = PUBLIC) -> Event:
        """The advisory wrapped as OSV, as an event at its own date."""
        osv = {"id": self.name, "modified": self.row["t"], "affected": [_affected(one) for one in self.row["affected"]]}
        if self.row["withdrawn"] is not None:
            osv["withdrawn"] = self.row["withdrawn"]
        event_id = f"{self.name}#{self.row['revision']}"
        return {
            **_head(self.row, namespace, "osv", event_id),
            "type": "tether.advisory.v1",
            "data": {"format": "osv", "advisory": osv},
        }


class World:
    """The rows of one world as events."""

    def __init__(self, name: str = NAME) -> None:
        text = files("tether.demo").joinpath("data", f"{name}.jsonl").read_text("utf-8")
        self._rows: list[Row] = [json.loads(line) for line in text.splitlines()]

    @cached_property
    def subjects(self) -> list[str]:
        """Every module at its version, as subjects."""
        return sorted(subject(row["object"]) for row in self._rows if row["type"] == "verdict")

    def verdicts(self, namespace: str) -> list[Event]:
        """A passing verdict on each module."""
        rows = [row for row in self._rows if row["type"] == "verdict"]
        return [
            _tool(row, (namespace, f"v{number}"), "memory.write", _claim(row)) for number, row in enumerate(rows, 1)
        ]

    def links(self, namespace: str) -> list[Event]:
        """What each module derives from."""
        rows = [row for row in self._rows if row["type"] == "derived_from"]
        return [
            _tool(row, (namespace, f"e{number}"), "memory.link", _derivation(row)) for number, row in enumerate(rows, 1)
        ]

    def revisions(self) -> Iterator[Revision]:
        """The advisories by date. Raises ValueError where a row contradicts its own total."""
        standing: frozenset[str] = frozenset()
        for row in self._rows:
            if row["type"] == "advisory":
                newly = tuple(subject(name) for name in row.get("expected_newly_withdrawn", ()))
                restored = tuple(subject(name) for name in row.get("expected_restored", ()))
                standing = (standing | set(newly)) - set(restored)
                if len(standing) != row["expected_withdrawn_total"]:
                    raise ValueError(f"{row['id']}: the world's expected rows contradict each other")
                yield Revision(row, standing, newly, restored)


def subject(name: str) -> str:
    """A module at its version, as a subject."""
    return f"pkg:golang/{name}"


def _head(row: Row, namespace: str, source: str, event_id: str) -> Event:
    return {"specversion": "1.0", "time": row["t"], "namespace": namespace, "source": source, "id": event_id}


def _tool(row: Row, named: tuple[str, str], tool: str, arguments: Row) -> Event:
    namespace, event_id = named
    data = {"tool": tool, "arguments": arguments, "result": {"ok": True}, "is_error": False}
    return {**_head(row, namespace, "scan", event_id), "type": "tether.tool_result.v1", "data": data}


def _claim(row: Row) -> Row:
    return {"subject": subject(row["object"]), "predicate": "passes", "value": row["verdict"] == "safe"}


def _derivation(row: Row) -> Row:
    return {"dependent": subject(row["src"]), "premise": subject(row["dst"])}


def _affected(entry: Row) -> Row:
    ranges = [{"type": "SEMVER", "events": events} for events in entry["ranges"]]
    affected: Row = {"package": {"ecosystem": "Go", "name": entry["package"]}, "ranges": ranges}
    if entry.get("custom_ranges"):
        affected["ecosystem_specific"] = {"custom_ranges": entry["custom_ranges"]}
    return affected
