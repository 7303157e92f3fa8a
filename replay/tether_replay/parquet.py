"""Writes the views as Parquet files: what is served now, and what it rests on, by name. Nothing erased is in them."""

from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray
from tether_projections.snapshot import digest_of, evidence_rows, slot_rows, snapshot
from tether_schemas.events import PUBLIC
from tether_schemas.reports import Exported
from tether_schemas.times import us_text

from tether_replay.export import Source, Told, nobody
from tether_replay.form import tether_version

FORMAT = "tether.views"
VERSION = 1
MANIFEST = "manifest.json"

Columns = dict[str, NDArray[Any]]

_NAMES = """
names AS (
    SELECT node AS id, namespace, kind, text AS name, source FROM node
    UNION SELECT ev, namespace, 'evidence', id, source FROM evidence
    UNION SELECT s.a, m.namespace, 'assertion', s.assertion_id, NULL FROM assertion AS s JOIN memory AS m USING (slot)
    UNION SELECT l.l, e.namespace, 'link', l.link_id, NULL FROM link AS l JOIN evidence AS e USING (ev)
)
"""
_ERASED = "(SELECT id FROM ghost WHERE id > 0)"
# Evidence of which anything is erased: none of its texts may be shown.
_HIDDEN = f"(SELECT abs(id) FROM ghost UNION SELECT ev FROM assertion WHERE a IN {_ERASED})"
_AUTHORITY = "['unknown', 'inferred', 'user-direct', 'system-of-record']"
_MODE = "['synthesized', 'inferred', 'extracted', 'explicit']"

# Each file: what it holds, and its rows. `wanted`, `served`, `judged` and `kept` are given.
TABLES: dict[str, tuple[str, str]] = {
    "memory": (
        "What is served, one row a slot: value is JSON, NULL unless status is current.",
        """
        SELECT
            s.namespace, s.scope, s.subject, s.predicate, CAST(s.value AS VARCHAR) AS value, s.status, s.coverage,
            CAST(s.assertion AS VARCHAR) AS assertion, a.source, a.id
        FROM served AS s
        LEFT JOIN (
            SELECT t.assertion_id, t.source, t.id, m.namespace FROM assertion AS t JOIN memory AS m USING (slot)
        ) AS a ON a.assertion_id = CAST(s.assertion AS VARCHAR) AND a.namespace = s.namespace
        ORDER BY ALL
        """,
    ),
    "assertions": (
        "Every statement with its stance; value is JSON, NULL where erased. reached: something it rests on failed.",
        f"""
        SELECT
            m.namespace, a.assertion_id AS assertion, a.source, a.id, a.place, m.scope, m.subject, m.predicate,
            CASE WHEN NOT j.erased THEN a.value END AS value, a.issuer, {_AUTHORITY}[a.authority + 1] AS authority,
            {_MODE}[a.mode + 1] AS mode, a.observed_at, a.valid_from, a.valid_to, a.expires_at, a.review_at,
            a.confidence, a.sensitivity, a.memory_type, a.readers, a.premises_complete,
            CASE WHEN a.ev NOT IN {_HIDDEN} THEN a.original_text END AS original_text,
            CASE WHEN a.ev NOT IN {_HIDDEN} THEN a.write_reason END AS write_reason,
            j.stance, j.erased, j.reached, j.threatened
        FROM assertion AS a JOIN memory AS m USING (slot)
        JOIN judged AS j ON j.assertion = a.assertion_id AND j.namespace = m.namespace
        ORDER BY m.namespace, a.position, a.place
        """,
    ),
    "evidence": (
        "Every event that is evidence, without its payload.",
        f"""
        SELECT
            e.namespace, e.source, e.id, e.kind, e.event_type, e.time, make_timestamp(e.recorded_us) AS recorded_at,
            CAST(e.position AS VARCHAR) AS position, e.session_id, e.seq, e.role, e.tool, e.call_id, k.invalidated,
            k.tombstoned, e.ev IN {_HIDDEN} AS payload_erased
        FROM evidence AS e
        JOIN kept AS k ON k.namespace = e.namespace AND k.source = e.source AND k.id = e.id
        ORDER BY e.position
        """,
    ),
    "premises": (
        "What each assertion and link says that it derives from; none of those that are erased.",
        f"""
        WITH {_NAMES}
        SELECT
            o.namespace, o.kind AS of, o.name AS owner, n.kind, n.name AS premise, n.source,
            CASE p.grade WHEN 0 THEN 'stated' ELSE 'possible' END AS grade
        FROM premise AS p JOIN names AS o ON o.id = p.owner JOIN names AS n ON n.id = p.node
        SEMI JOIN wanted AS w ON w.namespace = o.namespace
        WHERE p.owner NOT IN {_ERASED}
        ORDER BY ALL
        """,
    ),
    "edges": (
        "The derivation graph: dependent derives from premise, as the assertion or link via says, while it counts.",
        f"""
        WITH {_NAMES}
        SELECT DISTINCT
            d.namespace, d.kind AS dependent_kind, d.name AS dependent, d.source AS dependent_source,
            p.kind AS premise_kind, p.name AS premise, p.source AS premise_source, v.name AS via,
            (e.flags & 1) > 0 AS counts
        FROM edge AS e JOIN names AS d ON d.id = e.dependent JOIN names AS p ON p.id = e.premise
        JOIN names AS v ON v.id = e.via
        SEMI JOIN wanted AS w ON w.namespace = d.namespace
        ORDER BY ALL
        """,
    ),
    "advisories": (
        "Every revision of an advisory; summary is NULL where its event is deleted.",
        f"""
        SELECT
            a.namespace, a.source, a.id, a.advisory_id AS advisory, a.format, a.withdrawn,
            CASE WHEN a.ev NOT IN {_ERASED} THEN a.summary END AS summary,
            make_timestamp(coalesce(a.modified_us, a.time_us)) AS modified_at
        FROM advisory AS a SEMI JOIN wanted AS w ON w.namespace = a.namespace
        ORDER BY ALL
        """,
    ),
    "causes": (
        "Why a subject is bad: kind, and by which advisory, assertion or subject.",
        f"""
        WITH {_NAMES}
        SELECT
            n.namespace, n.name AS subject, c.kind, coalesce(a.advisory_id, r.name) AS by,
            coalesce(a.source, r.source) AS by_source
        FROM cause AS c JOIN names AS n ON n.id = c.node
        LEFT JOIN advisory AS a ON a.adv = c.ref AND c.kind IN ('advisory', 'revocation')
        LEFT JOIN names AS r ON r.id = c.ref AND c.kind NOT IN ('advisory', 'revocation')
        SEMI JOIN wanted AS w ON w.namespace = n.namespace
        ORDER BY ALL
        """,
    ),
}


def export_views(source: Source, folder: Path, namespace: str | None, now_us: int, told: Told = nobody) -> Exported:
    """Write one file a table, and `manifest.json` saying what they are, into a folder; of one namespace or of all."""
    found = [row[0] for row in source.store.rows("SELECT DISTINCT namespace FROM evidence ORDER BY namespace")]
    namespaces = [name for name in found if namespace in (None, name)]
    digests = {name: digest_of(snapshot(source.store, source.state, name)) for name in namespaces if name != PUBLIC}
    given = _given(source, namespaces, now_us)
    tables: dict[str, dict[str, Any]] = {}
    for number, (name, (about, query)) in enumerate(TABLES.items(), 1):
        path = folder / f"{name}.parquet"
        rows = source.store.copy_parquet(str(path), query, given)
        tables[name] = {"file": path.name, "rows": rows, "about": about}
        told(number, len(TABLES))
    manifest = {
        "format": FORMAT,
        "version": VERSION,
        "tether": tether_version(),
        "time": us_text(now_us),
        "position": str(source.position),
        "about": "The views of a Tether data directory; `tether export` without --format parquet gives the events.",
        "only": namespace,
        "digests": digests,
        "tables": tables,
    }
    (folder / MANIFEST).write_bytes(orjson.dumps(manifest, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    events, ghosts = tables["evidence"]["rows"], _ghosts(source, namespaces)
    return Exported("", "parquet", tuple(namespaces), events, ghosts, str(source.position))


def _ghosts(source: Source, namespaces: list[str]) -> int:
    query = f"SELECT namespace, count(*) FROM evidence WHERE ev IN {_HIDDEN} GROUP BY namespace"
    return sum(int(count) for name, count in source.store.rows(query) if name in namespaces)


def _given(source: Source, namespaces: list[str], now_us: int) -> dict[str, Columns]:
    """What the rule says, which tables alone do not: answers and flags as of now."""
    served: list[list[Any]] = []
    judged: list[list[Any]] = []
    kept: list[list[Any]] = []
    for name in namespaces:
        for kind, *row in slot_rows(source.store, source.state, name, now_us):
            if kind == "assertion":
                judged.append([name, *row])
                continue
            scope, subject, predicate, _, status, value, coverage, assertion = row
            text = None if status != "current" else orjson.dumps(value).decode()
            served.append([name, scope, subject, predicate, text, status, coverage, assertion])
        kept += [[name, *row[1:]] for row in evidence_rows(source.store, source.state, name)]
    return {
        "wanted": _columns(["namespace"], [[name] for name in namespaces]),
        "served": _columns(
            ["namespace", "scope", "subject", "predicate", "value", "status", "coverage", "assertion"], served
        ),
        "judged": _columns(["namespace", "assertion", "stance", "erased", "reached", "threatened"], judged),
        "kept": _columns(["namespace", "source", "id", "kind", "invalidated", "tombstoned"], kept),
    }


FLAGS = ("erased", "reached", "threatened", "invalidated", "tombstoned")


def _columns(names: list[str], rows: list[list[Any]]) -> Columns:
    columns = zip(*rows, strict=True) if rows else ((),) * len(names)
    made: Columns = {}
    for name, values in zip(names, columns, strict=True):
        made[name] = np.array(values, np.bool_ if name in FLAGS else object)
    return made
