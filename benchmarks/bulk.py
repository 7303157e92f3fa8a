"""A view of many verdicts, written at once as the engine would have written it one event after the other.

tests/benchmarks/test_bulk.py and every run of the benchmark hold it equal to the engine's on a small graph, so that a
change of the tables or of what the engine writes is noticed.
"""

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray
from tether_projections.engine import Engine
from tether_projections.keys import digest, slot_key
from tether_projections.store import ViewStore
from tether_schemas.canonical import canonical_json
from tether_schemas.codec import decode_event, read_event
from tether_schemas.events import ToolResultEvent
from tether_schemas.facts import FactRecord
from tether_schemas.topics import TOOL_RESULTS
from tether_streams.core.extract import RawPlace, extract

from benchmarks.events import NAMESPACE, START, identifier, subject, verdict
from benchmarks.shape import Shape

CHUNK = 100_000
RECORDED_US = 1_770_000_000_000_000
IDS = 4  # of each event: evidence, assertion, node of its subject, slot
TABLES = ("evidence", "assertion", "node", "premise", "edge", "memory", "change")

_EVENT, _CLAIM = "content_hash", "assertion_id"

Columns = dict[str, NDArray[Any]]


def time_of(number: int) -> str:
    """The time of the event of one number."""
    return str(np.datetime64(START, "us") + number) + "Z"


def event_of(shape: Shape, number: int) -> dict[str, Any]:
    """The event that says of one node what it derives from."""
    premises = [subject(premise) for premise in shape.premises[number].tolist() if premise >= 0]
    return verdict(identifier(number), time_of(number), subject(number), premises)


def records_of(shape: Shape) -> list[FactRecord]:
    """The facts of every event of a graph, as extraction makes them."""
    found: list[FactRecord] = []
    for number in range(shape.nodes):
        decoded = read_event(event_of(shape, number))
        place = RawPlace(RECORDED_US, TOOL_RESULTS, 0, number + 1, decoded.content_hash)
        found.append(extract(decoded.event, place)[0])
    return found


def apply(path: Path, shape: Shape) -> None:
    """Write the view of a graph through the engine."""
    records = records_of(shape)
    store = ViewStore(str(path))
    Engine(store, lambda position: [records]).apply(records, len(records))
    store.close()


def fill(path: Path, shape: Shape) -> tuple[str, ...]:
    """Write the view of a graph in bulk, as if nothing of the log were applied; the tables that have rows."""
    ViewStore(str(path)).close()
    with duckdb.connect(str(path)) as db:
        for name, value in (("namespace", NAMESPACE), ("recorded", RECORDED_US), ("records", shape.nodes)):
            db.execute(f"SET VARIABLE {name} = ?", [value])
        for columns in _columns(shape):
            db.register("made", columns)
            db.execute("BEGIN")
            for statement in _INSERTS:
                db.execute(statement)
            db.execute("COMMIT")
            db.unregister("made")
        db.execute("CHECKPOINT")
    return TABLES


def differences(filled: Path, applied: Path) -> list[str]:
    """The tables in which two views differ, whatever the order of their rows."""
    with duckdb.connect(":memory:") as db:
        db.execute(f"ATTACH '{filled}' AS a (READ_ONLY)")
        db.execute(f"ATTACH '{applied}' AS b (READ_ONLY)")
        named = db.execute("SELECT DISTINCT table_name FROM duckdb_tables() WHERE database_name = 'a'").fetchall()
        return [table for (table,) in sorted(named) if table != "applied" and _differ(db, table)]


def _differ(db: duckdb.DuckDBPyConnection, table: str) -> bool:
    what = "* EXCLUDE (seq)" if table == "change" else "*"
    one, other = f"SELECT {what} FROM a.{table}", f"SELECT {what} FROM b.{table}"
    rows = db.execute(f"({one} EXCEPT ALL {other}) UNION ALL ({other} EXCEPT ALL {one}) LIMIT 1").fetchall()
    return bool(rows)


def _columns(shape: Shape) -> Iterator[Columns]:
    """What SQL cannot make of the numbers alone, in chunks: digests, hashes and times."""
    templates = [_templates(count) for count in range(4)]
    for start in range(0, shape.nodes, CHUNK):
        numbers = np.arange(start, min(start + CHUNK, shape.nodes))
        premises = shape.premises[numbers]
        times = np.char.add(np.datetime_as_string(np.datetime64(START, "us") + numbers), "Z")
        hashes = [
            _hashes(templates, number, time, [one for one in named if one >= 0])
            for number, time, named in zip(numbers.tolist(), times.tolist(), premises.tolist(), strict=True)
        ]
        columns: Columns = {"n": numbers, "time": times.astype(object)}
        columns |= {f"p{part}": premises[:, part] for part in range(3)}
        columns["content_hash"] = np.array([one[0] for one in hashes], object)
        columns["assertion_id"] = np.array([one[1] for one in hashes], object)
        ids = [identifier(number) for number in numbers.tolist()]
        columns |= _keys("ev", [digest("evidence", NAMESPACE, "ci", one) for one in ids])
        columns |= _keys("a", [digest("assertion", NAMESPACE, one[1]) for one in hashes])
        columns |= _keys("node", [digest("object", NAMESPACE, subject(number)) for number in numbers.tolist()])
        columns |= _keys("slot", [slot_key(number * IDS + 3, "", "passes") for number in numbers.tolist()])
        yield columns


def _keys(name: str, keys: Sequence[bytes]) -> Columns:
    pairs = np.frombuffer(b"".join(keys), np.int64).reshape(-1, 2)
    return {f"{name}_hi": pairs[:, 0].copy(), f"{name}_lo": pairs[:, 1].copy()}


def _templates(premises: int) -> tuple[str, str]:
    """Canonical JSON of an event and of the claim that it makes, with places for what differs."""
    names = [f"pkg:golang/example.com/module@v{premise}" for premise in range(premises)]
    event = verdict("@ID", "2026-01-31T12:00:00.5Z", "pkg:golang/example.com/module@v9", names)
    decoded = decode_event(event)
    assert isinstance(decoded, ToolResultEvent)
    claim = dict(decoded.data.built_in.__dict__)
    del claim["derived_from"]
    claim |= {"issuer": decoded.source, "observed_at": decoded.time, "premises": names}
    content = {name: value for name, value in claim.items() if value is not None}
    evidence = [decoded.namespace, decoded.source, decoded.id]
    texts = [canonical_json(one).decode() for one in (event, {"evidence": evidence, "claim": content})]
    places = {"@ID": "%(id)s", "2026-01-31T12:00:00.5Z": "%(time)s", "pkg:golang/example.com/module@v9": "%(subject)s"}
    places |= {name: f"%({at})s" for at, name in enumerate(names)}
    for name, place in places.items():
        texts = [text.replace(name, place) for text in texts]
    return texts[0], texts[1]


def _hashes(templates: list[tuple[str, str]], number: int, time: str, premises: list[int]) -> tuple[str, str]:
    """The content hash of one event and the id of its assertion."""
    event, claim = templates[len(premises)]
    names = [subject(premise) for premise in premises]
    values = {"id": identifier(number), "time": time, "subject": subject(number)}
    content = event % (values | {str(at): name for at, name in enumerate(names)})
    said = claim % (values | {str(at): name for at, name in enumerate(sorted(names))})
    return hashlib.sha256(content.encode()).hexdigest(), "as_" + hashlib.sha256(said.encode()).hexdigest()[:32]


_INSERTS = (
    """
    INSERT INTO evidence BY NAME SELECT
        n * 4 + 1 AS ev, ev_hi AS hi, ev_lo AS lo, getvariable('namespace') AS namespace, 'ci' AS source,
        '01J9ZK3V5N8Q2R7T4W' || lpad(n::VARCHAR, 8, '0') AS id, 'tool_result' AS kind,
        'tether.tool_result.v1' AS event_type, time, epoch_us(time::TIMESTAMPTZ) AS time_us,
        getvariable('recorded') AS recorded_us, 'raw.tool-results' AS topic, 0 AS partition, n + 1 AS position,
        content_hash, 'memory.write' AS tool, '1' AS extractor
    FROM made
    """,
    """
    INSERT INTO assertion BY NAME SELECT
        n * 4 + 2 AS a, a_hi AS hi, a_lo AS lo, n * 4 + 1 AS ev, 'ci' AS source,
        '01J9ZK3V5N8Q2R7T4W' || lpad(n::VARCHAR, 8, '0') AS id, n + 1 AS position, n * 4 + 4 AS slot, 0 AS place,
        assertion_id, 'true' AS value, 'true' AS value_key, 'ci' AS issuer, 'ci' || chr(0) || 'ci' AS issuer_key,
        3 AS mode, 1 AS authority, 1 AS authority_claimed, epoch_us(time::TIMESTAMPTZ) AS observed_us,
        time AS observed_at, true AS premises_complete, true AS fit
    FROM made
    """,
    """
    INSERT INTO node BY NAME SELECT
        n * 4 + 3 AS node, node_hi AS hi, node_lo AS lo, 'object' AS kind, getvariable('namespace') AS namespace,
        'pkg:golang/example.com/module' || n || '@v1.3.6' AS text,
        'pkg:golang/example.com/module' || n AS base, 'v1.3.6' AS version
    FROM made
    """,
    """
    INSERT INTO premise BY NAME SELECT n * 4 + 2 AS owner, p * 4 + 3 AS node, 0 AS kind, 0 AS grade
    FROM (SELECT n, unnest([p0, p1, p2]) AS p FROM made)
    WHERE p >= 0
    """,
    """
    INSERT INTO edge BY NAME SELECT
        n * 4 + 3 AS dependent, p * 4 + 3 AS premise, n * 4 + 2 AS via, n * 4 + 2 AS of, 3 AS flags
    FROM (SELECT n, unnest([p0, p1, p2]) AS p FROM made)
    WHERE p >= 0
    """,
    """
    INSERT INTO memory BY NAME SELECT
        n * 4 + 4 AS slot, slot_hi AS hi, slot_lo AS lo, getvariable('namespace') AS namespace, '' AS scope,
        'pkg:golang/example.com/module' || n || '@v1.3.6' AS subject, 'passes' AS predicate, true AS verdict,
        false AS rests, n * 4 + 3 AS object, 'current' AS status, false AS failed, n * 4 + 2 AS a, assertion_id,
        'true' AS value, 'ci' AS source, '01J9ZK3V5N8Q2R7T4W' || lpad(n::VARCHAR, 8, '0') AS id,
        n * 4 + 3 AS support, true AS single, true AS complete, epoch_us(time::TIMESTAMPTZ) AS latest_us,
        n + 1 AS position
    FROM made
    """,
    """
    INSERT INTO change BY NAME SELECT
        n + 1 AS seq, n * 4 + 4 AS slot, 'asserted' AS kind, 'current' AS status, n * 4 + 2 AS a, '' AS cause,
        0 AS ref, 0 AS root, getvariable('records') AS position
    FROM made
    """,
)
