"""Whether a view that was built is what the log says, told without any other view."""

from collections.abc import Sequence
from hashlib import md5

from tether_projections.recompute import differences
from tether_schemas.topics import FactTopics
from tether_streams.embedded.bulk import bulk
from tether_streams.ports import Log

from tether_replay.build import Builder

READ_RECORDS_MAX = 20_000
LISTED_MAX = 3

# Evidence as (how much, what): the exclusive or of a hash of each name, whatever the order.
EVIDENCE = """
    SELECT
        count(*),
        coalesce(bit_xor(md5_number_lower(concat_ws(chr(10), namespace, source, id, content_hash))), 0)
    FROM evidence AS e ANTI JOIN contested AS c USING (namespace, source, id)
"""
SLOTS = """
    SELECT subject || ' ' || predicate FROM memory GROUP BY slot, subject, predicate HAVING count(*) > 1
    UNION ALL
    SELECT 'assertion ' || assertion_id FROM assertion ANTI JOIN memory USING (slot)
    UNION ALL
    SELECT subject || ' ' || predicate FROM memory ANTI JOIN assertion USING (slot)
    LIMIT 3
"""


def unsound(log: Log, builder: Builder, topics: FactTopics) -> str | None:
    """What of a view is not as the log says, in words; None where it is sound.

    The evidence must be exactly that of the log's facts up to the view's position; every statement must have its slot;
    and what is reached must be what one recursive statement over the stored edges finds.
    """
    store = builder.engine.store
    (count, mixed) = store.rows(EVIDENCE)[0]
    want = _evidence(log, builder, topics)
    if (int(count), int(mixed)) != want:
        return f"it holds {count} events, the log {want[0]}, or not the same ones"
    wrong = [str(row[0]) for row in store.rows(SLOTS)]
    if wrong:
        return f"statements and memory do not match: {', '.join(wrong)}"
    nodes = differences(store, builder.engine.state)
    return f"what is reached is otherwise for nodes {_listed(nodes)}" if nodes else None


def _evidence(log: Log, builder: Builder, topics: FactTopics) -> tuple[int, int]:
    end = builder.engine.position()
    contested = builder.engine.state.contested
    seen, mixed, after = 0, 0, 0
    with bulk():
        while after < end and (batch := log.read(topics, after, READ_RECORDS_MAX)):
            for stored in batch:
                after = stored.offset
                named = (stored.namespace, stored.source, stored.id)
                if after > end or named in contested or not builder.takes(stored):
                    continue
                text = "\n".join((*named, stored.content_hash))
                mixed ^= int.from_bytes(md5(text.encode(), usedforsecurity=False).digest()[8:], "little")
                seen += 1
    return seen, mixed


def _listed(nodes: Sequence[int]) -> str:
    more = f" and {len(nodes) - LISTED_MAX} more" if len(nodes) > LISTED_MAX else ""
    return ", ".join(map(str, nodes[:LISTED_MAX])) + more
