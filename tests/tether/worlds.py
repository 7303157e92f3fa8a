"""The worlds of tests/data/worlds: dated rows of verdicts, derivations and advisories, as the events they stand for.

After an advisory row the objects that must stand withdrawn are the union of `expected_withdrawn_by_this` over the
latest revision of every advisory so far; `expected_withdrawn_total` is how many these are.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tether import Memory

FOLDER = Path(__file__).parents[1] / "data" / "worlds"
WORLDS = ("client_golang-1.11.0", "etcd-server-3.5.9")
NAMESPACE = "acme/build"

Row = dict[str, Any]
Event = dict[str, Any]


@dataclass(frozen=True, slots=True)
class World:
    """One world: its events in file order, its objects as subjects, and the standing set after each event."""

    name: str
    rows: tuple[Row, ...]

    @property
    def events(self) -> list[Event]:
        return [_event(index, row) for index, row in enumerate(self.rows)]

    @property
    def subjects(self) -> list[str]:
        return sorted(_subject(row["object"]) for row in self.rows if row["type"] == "verdict")

    def standing(self) -> Iterator[set[str]]:
        """What must stand withdrawn after each row, by the union over the latest revisions."""
        by_advisory: dict[str, set[str]] = {}
        for row in self.rows:
            if row["type"] == "advisory":
                by_advisory[row["id"]] = {_subject(name) for name in row["expected_withdrawn_by_this"]}
                union = set[str]().union(*by_advisory.values())
                assert len(union) == row["expected_withdrawn_total"]
            yield set[str]().union(*by_advisory.values())

    @property
    def final(self) -> set[str]:
        return list(self.standing())[-1]

    def distances(self) -> dict[str, dict[str, int]]:
        """Of the last revision of each advisory: subject -> how far it is from what the advisory hits."""
        last = {row["id"]: row["expected_withdrawn_by_this"] for row in self.rows if row["type"] == "advisory"}
        return {name: {_subject(key): hops for key, hops in found.items()} for name, found in last.items()}


def load(name: str) -> World:
    lines = (FOLDER / f"{name}.jsonl").read_text("utf-8").splitlines()
    return World(name, tuple(json.loads(line) for line in lines))


def withdrawn(memory: Memory, subjects: Sequence[str]) -> set[str]:
    """Which of the subjects are withdrawn; each of the others must be served as passing."""
    found: set[str] = set()
    for subject in subjects:
        answer = memory.recall(subject, "passes")
        assert (answer.status, answer.value) in (("withdrawn", None), ("current", True)), (subject, answer)
        if answer.status == "withdrawn":
            found.add(subject)
    return found


def _subject(name: str) -> str:
    return f"pkg:golang/{name}"


def _event(index: int, row: Row) -> Event:
    head = {"specversion": "1.0", "time": row["t"], "namespace": NAMESPACE, "source": "scan", "id": f"{index:06d}"}
    match row["type"]:
        case "verdict":
            claim = {"subject": _subject(row["object"]), "predicate": "passes", "value": row["verdict"] == "safe"}
            return {**head, **_tool("memory.write", claim)}
        case "derived_from":
            return {
                **head,
                **_tool("memory.link", {"dependent": _subject(row["src"]), "premise": _subject(row["dst"])}),
            }
        case _:
            head |= {"namespace": "*", "source": "osv", "id": f"{row['id']}#{row['revision']:04d}"}
            return {**head, "type": "tether.advisory.v1", "data": {"format": "osv", "advisory": _osv(row)}}


def _tool(tool: str, arguments: Row) -> Row:
    data = {"tool": tool, "arguments": arguments, "result": {"ok": True}, "is_error": False}
    return {"type": "tether.tool_result.v1", "data": data}


def _osv(row: Row) -> Row:
    advisory = {"id": row["id"], "modified": row["t"], "affected": [_affected(entry) for entry in row["affected"]]}
    return advisory if row["withdrawn"] is None else {**advisory, "withdrawn": row["withdrawn"]}


def _affected(entry: Row) -> Row:
    ranges = [{"type": "SEMVER", "events": events} for events in entry["ranges"]]
    affected: Row = {"package": {"ecosystem": "Go", "name": entry["package"]}, "ranges": ranges}
    if entry.get("custom_ranges"):
        affected["ecosystem_specific"] = {"custom_ranges": entry["custom_ranges"]}
    return affected
