"""The snapshot of a namespace and its digest (docs/decisions/0002): what must be equal whatever order facts came in."""

import hashlib
from collections.abc import Iterable
from typing import Any

import orjson
from tether_schemas.canonical import canonical_json
from tether_streams.core.belief import Statement, serve

from tether_projections.slots import STATEMENT, SlotHead, decider, judge, statement_of
from tether_projections.state import State
from tether_projections.store import ViewStore

Row = list[Any]


def snapshot(store: ViewStore, state: State, namespace: str) -> list[Row]:
    """Rows of a namespace, read at the greatest event time among its own events; sorted by canonical JSON."""
    at = store.rows("SELECT max(time_us) FROM evidence WHERE namespace = ?", [namespace])[0][0]
    rows: list[Row] = []
    if at is not None:
        rows += slot_rows(store, state, namespace, int(at))
        rows += _objects(store, state, namespace)
        rows += evidence_rows(store, state, namespace)
    return sorted(rows, key=canonical_json)


def digest_of(rows: Iterable[Row]) -> str:
    """SHA-256 over the rows' canonical JSON, one a line, hex."""
    hashed = hashlib.sha256()
    for row in rows:
        hashed.update(canonical_json(row) + b"\n")
    return hashed.hexdigest()


def fails(state: State, head: SlotHead, one: Statement) -> bool:
    """Whether a statement is reached, or is a verdict about an object that is bad."""
    node = decider(state, head, one.node)
    return bool(node) and one.counts and state.fails(node)


def threatened(state: State, head: SlotHead, one: Statement) -> bool:
    """Whether the second reach, possible premises included, does so."""
    node = decider(state, head, one.node)
    return bool(node) and one.counts and state.threatens(node)


def slot_rows(store: ViewStore, state: State, namespace: str, at: int) -> list[Row]:
    """The rows of a namespace's slots and assertions, each slot read at `at` or its latest observation."""
    heads: dict[int, SlotHead] = {}
    for row in store.rows(
        "SELECT slot, scope, subject, predicate, many, verdict, rests, object FROM memory WHERE namespace = ?",
        [namespace],
    ):
        heads[int(row[0])] = SlotHead(
            int(row[0]), b"", namespace, row[1], row[2], row[3], row[4], row[5], row[6], row[7]
        )
    statements: dict[int, list[Statement]] = {slot: [] for slot in heads}
    texts: dict[int, tuple[str, str | None]] = {}
    query = f"SELECT {STATEMENT}, assertion_id, value FROM assertion SEMI JOIN ids ON slot = ids.id"
    query = query.replace("ids", "(SELECT slot AS id FROM memory WHERE namespace = ?) AS ids", 1)
    for row in store.rows(query, [namespace]):
        one = statement_of(row)
        judge(state, one)
        statements[int(row[0])].append(one)
        texts[one.node] = (row[-2], row[-1])
    stances = {int(a): stance for a, stance in store.rows("SELECT a, stance FROM stance")}
    rows: list[Row] = []
    for slot, head in heads.items():
        rows.append(_memory_row(state, head, statements[slot], texts, at))
        for one in statements[slot]:
            rows.append(
                [
                    "assertion", texts[one.node][0], stances.get(one.node, "standing"), one.erased,
                    fails(state, head, one), threatened(state, head, one),
                ]
            )  # fmt: skip
    return rows


def _memory_row(
    state: State, head: SlotHead, statements: list[Statement], texts: dict[int, tuple[str, str | None]], at: int
) -> Row:
    at = max(at, *(one.observed_us for one in statements))
    served = serve(statements, head.verdict, at, lambda one: fails(state, head, one))
    shown = served.shown
    value = None
    if served.status == "current" and shown is not None:
        value = orjson.loads(texts[shown.node][1] or "null")
    value_key: str | None = ""
    if head.many is not None:
        kept = next((texts[one.node][1] for one in statements if not one.erased), None)
        value_key = None if kept is None else canonical_json(orjson.loads(kept)).decode()
    return [
        "memory", head.scope, head.subject, head.predicate, value_key, served.status, value,
        coverage(state, head, served.supports, shown, served.is_false),
        None if shown is None else texts[shown.node][0],
    ]  # fmt: skip


def coverage(state: State, head: SlotHead, supports: list[Statement], shown: Statement | None, is_false: bool) -> str:
    """Coverage of an answer (readings, 11)."""
    if supports and not is_false and all(threatened(state, head, one) for one in supports):
        return "threatened"
    of = supports or ([shown] if shown is not None else [])
    return "complete" if any(one.complete for one in of) else "unknown"


def _objects(store: ViewStore, state: State, namespace: str) -> list[Row]:
    rows: list[Row] = []
    query = "SELECT node, text FROM node WHERE namespace = ? AND kind = 'object'"
    for node, text in store.rows(query, [namespace]):
        causes = state.causes.get(int(node), set())
        reached_, threatened_ = state.reach.reached(int(node)), state.threatened(int(node))
        if causes or reached_ or threatened_:
            named = sorted(_cause(store, state, kind, ref) for kind, ref in causes)
            rows.append(["object", text, named, reached_, threatened_])
    return rows


def _cause(store: ViewStore, state: State, kind: str, ref: int) -> list[str]:
    if kind in ("advisory", "revocation"):
        revision = state.advisories.by_node[ref]
        return ["advisory", revision.origin.source, revision.fact.advisory_id]
    if kind == "failed":
        return ["failed", store.where("assertion_id", "assertion", "a", [ref])[0][0]]
    return ["higher_version", store.where("text", "node", "node", [ref])[0][0]]


def evidence_rows(store: ViewStore, state: State, namespace: str) -> list[Row]:
    """The rows of a namespace's evidence."""
    rows: list[Row] = []
    for node, source, identifier, kind in store.rows(
        "SELECT ev, source, id, kind FROM evidence WHERE namespace = ?", [namespace]
    ):
        invalid = int(node) in state.invalid
        bad = bool(state.badness.hard[int(node)])
        tombstoned = int(node) in state.erased or (bad and _hollow(store, state, int(node)))
        rows.append(["evidence", source, identifier, kind, invalid, tombstoned])
    return rows


def _hollow(store: ViewStore, state: State, evidence: int) -> bool:
    assertions = [int(row[0]) for row in store.where("a", "assertion", "ev", [evidence])]
    return bool(assertions) and all(node in state.erased for node in assertions)
